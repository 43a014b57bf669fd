"""The bench: enough kernels, right results, a page that needs nothing."""

import json

import numpy as np
import pytest

from bench.kernels import all_kernels
from bench.measure import difference, growth, one, widened
from bench.page import page
from bench.run import fraction, ratio, row, summary

KERNELS = {k.name: k for k in all_kernels()}
SMALL = ["chain 64K f32", "histogram 256 bins 1M", "gmm gradient", "mandelbrot", "max pool f32", "fft 64K", "adi, 4 steps", "nussinov", "k-means step"]


def test_there_are_enough_of_every_kind():
    assert len(KERNELS) >= 40
    text = " ".join(KERNELS)
    for kind in ["chain", "transcendental", "black-scholes", "softmax", "layer norm", "attention", "mlp forward", "mlp gradient", "conv", "pool", "jacobi 1-d", "jacobi 2-d", "heat 3-d", "adi", "tridiagonal", "lu", "cholesky", "triangular", "gram-schmidt", "correlation", "floyd", "n-body", "mandelbrot", "k-means", "histogram", "prefix", "segmented", "sparse", "sort", "fft", "nussinov", "smith-waterman", "monte carlo", "lattice-boltzmann", "gmm gradient"]:
        assert kind in text


@pytest.mark.parametrize("name", SMALL)
def test_results_are_numpys(name):
    kernel = KERNELS[name]
    args = kernel.data({"fft 64K": 512, "gmm gradient": 50}.get(name, max(8, kernel.size >> 6)))
    reference = kernel.numpy or (lambda *a: kernel.shared(np, *a))
    assert difference(kernel.atoll(*args), reference(*widened(args)), kernel.rtol) is None


def test_a_wrong_result_is_seen():
    assert difference(np.array([1.0, 2.0]), np.array([1.0, 2.1]), 1e-9) is not None
    assert difference(np.ones(2), np.ones(3), 1e-9) is not None
    assert difference((np.ones(2), 1), np.ones(2), 1e-9) is not None
    assert difference(np.array([np.nan]), np.ones(1), 1e-9) is not None


def test_one_kernel_and_the_page():
    import time

    kernel = KERNELS["argsort 256K f64"]
    kernel.size, size = 400, kernel.size
    try:
        result = one(kernel, 1, 0.01, False, False, False, time.perf_counter)
        assert not result["errors"] and {"atoll", "numpy"} <= set(result["seconds"])
        fitted = growth(kernel)
        assert len(fitted["seconds"]) == 4 and np.isfinite(fitted["exponent"])
    finally:
        kernel.size = size
    limits = {"copy": 1e10, "copy_cache": 1e11, "flops_f32": 1e11, "flops_f64": 5e10, "call": 1e-7}
    data = {"date": "today", "runs": {"1": {"limits": limits, "kernels": {"argsort 256K f64": result}}}}
    text = page(json.loads(json.dumps(data)))
    assert "<svg" in text and "argsort 256K f64" in text and "http" not in text
    assert ratio(result) > 0 and fraction(result, limits) is None
    assert "argsort" in row("argsort 256K f64", result, limits)
    assert "geometric mean" in summary({"argsort 256K f64": result})
