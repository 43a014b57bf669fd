"""Derivatives through complex numbers: functions of floats that give floats, whatever is between, in both modes, against differences; transforms among them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import atoll as at
from tests.cost.ratio import ratios

HEAD = "import numpy as np\nimport atoll as at\nfrom atoll import *\nn, m = at.sizes('n m')\n@at.fn\n"
PROGRAMS = {
    "products": ("x: f64[n]", "    z = np.exp(1j * x) * (x + 2j)\n    return np.sum((z * np.conj(z)).real) + np.sum(np.abs(z - 1.5))\n"),
    "quotients, roots": ("x: f64[n]", "    z = x + 1j * x**2\n    w = (z**2 + 1) / (z + 2) - np.sqrt(z + 3)\n    return np.sum(np.sin(w).real * np.cos(w).imag + np.log(w + 5).imag)\n"),
    "a loop": ("x: f64[n]", "    z = 0j\n    for i in range(n):\n        z = z * z * 0.3 + c128(x[i], x[n - 1 - i])\n    return abs(z)\n"),
    "powers, angles": ("x: f64[n]", "    return np.sum(np.abs([c128(x[i], 1.0)**2.5 for i in range(n)])) + np.prod(x + 1j).real + np.angle(np.sum(x * 1j + x**2))\n"),
    "updates, branches": (
        "x: f64[n]",
        "    z = x + 1j * x[::-1]\n    y = np.zeros(n, dtype=complex)\n    y[0] = z[1] * 2\n    for i in range(1, n):\n        if x[i] > 0:\n            y[i] = y[i - 1] * z[i]\n        else:\n            y[i] += 1j * x[i]\n"
        "    return np.sum(np.cumsum(z).imag) + np.sum(np.where(x > 0, z, z * 1j).real**3) + np.sum(np.abs(y)**2)\n",
    ),
    "a solution": ("x: f64[n]", "    a = np.diag(x + 3j) + 0.1\n    return np.sum(np.abs(np.linalg.solve(a, x + 1j))**2)\n"),
    "power spectrum": ("x: f64[n]", "    return np.sum(np.abs(np.fft.fft(x))**3)\n"),
    "filter": ("x: f64[n]", "    z = np.fft.rfft(x)\n    k = np.arange(len(z))\n    return np.sum(np.fft.irfft(z * np.exp(-0.1 * k**2), n=n)**3)\n"),
    "convolution": ("x: f64[n]", "    z = np.fft.ifft(np.fft.fft(x) * np.fft.fft(x[::-1]))\n    return np.sum(z.real**2 * np.arange(n))\n"),
    "norms, lengths": ("x: f64[n]", "    return np.sum(np.fft.hfft(x)**3) + np.sum(np.fft.fft(x, norm='ortho').imag**3) + np.sum(np.fft.fftshift(np.fft.fft(x, n=3)).real**2)\n"),
    "two axes": (
        "x: f64[n, m]",
        "    z = np.fft.fft2(x)\n    return np.sum(np.abs(z)**3) + np.sum(np.fft.ifft2(z * z).real**2) + np.sum(np.fft.irfft2(np.fft.rfft2(x))**3) + np.sum(np.fft.fftn(x, axes=(0,)).imag**3)\n",
    ),
}
COMPILED = ("updates, branches", "filter")  # of each kind one: the C compiler takes most of the time


def made(name: str) -> at.Function:
    params, body = PROGRAMS[name]
    return at.fn(source=HEAD + f"def f({params}):\n{body}")


def slopes(f: Any, x: np.ndarray) -> np.ndarray:
    found = np.zeros_like(x)
    for i in np.ndindex(*x.shape):
        step = np.zeros_like(x)
        step[i] = 1e-6
        found[i] = (f(x + step) - f(x - step)) / 2e-6
    return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.long if name == "two axes" else ()) for name in PROGRAMS])
def test_both_modes(name: str) -> None:
    f = made(name)
    rng = np.random.default_rng(3)
    for shape in [(3, 4)] if "m]" in PROGRAMS[name][0] else [(4,), (5,)]:
        x, dx = rng.normal(size=shape), rng.normal(size=shape)
        wanted = slopes(f.interpret, x)
        most = 1e-6 * (1 + np.max(np.abs(wanted)))
        if name in COMPILED:
            np.testing.assert_allclose(at.grad(f)(x), wanted, atol=most)
            np.testing.assert_allclose(at.jvp(f, x, dx), np.sum(wanted * dx), atol=most * x.size)
        else:
            np.testing.assert_allclose(at.grad(f).interpret(x), wanted, atol=most)


def test_second_derivatives() -> None:
    f = made("power spectrum")
    x = np.random.default_rng(1).normal(size=4)
    gradient = at.grad(f)
    wanted = np.array([slopes(lambda y, i=i: gradient(y)[i], x) for i in range(4)])
    np.testing.assert_allclose(at.hessian(f)(x), wanted, atol=1e-5)


def test_abs_has_slope_zero_at_zero() -> None:
    f = at.fn(source=HEAD + "def f(x: f64):\n    return abs(c128(x, x))\n")
    assert at.grad(f)(0.0) == at.grad(f).interpret(0.0) == at.jvp(f, 0.0, 1.0) == 0.0


def test_a_complex_result() -> None:
    """A tangent is a complex number; a seed s stands for the real part of s times the change."""
    f = at.fn(source=HEAD + "def f(x: f64):\n    return np.exp(1j * x)\n")
    assert np.isclose(at.jvp(f, 0.3, 1.0), 1j * np.exp(0.3j))
    assert np.isclose(at.vjp(f, 0.3, 2 - 1j), ((2 - 1j) * 1j * np.exp(0.3j)).real)
    assert np.isclose(at.vjp(f, 0.3, 2 - 1j), at.fn(source=HEAD + "def g(x: f64):\n    return at.vjp(lambda y: np.exp(1j * y), x, 2 - 1j)\n").interpret(0.3))


@pytest.mark.parametrize("name", ["filter"])
def test_a_transform_back_is_a_transform(name: str) -> None:
    """A gradient costs a few times its function, at every length: counted, not timed."""
    f = made(name)
    rng = np.random.default_rng(0)
    found = ratios(f, at.grad(f), [(rng.normal(size=n),) for n in (8, 32)])
    assert max(found.operations) <= 5.0 and found.growth <= 1.25, found
