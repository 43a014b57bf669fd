"""The logarithm of a sum of exponentials."""

from __future__ import annotations

from typing import Any

import numpy as np

import atoll as at
from atoll import f64
from bench.gradbench.tool import Entry

n = at.sizes("n")


@at.fn
def primal(x: f64[n]) -> f64:
    top = at.stop(max(x))  # the result does not depend on what is subtracted
    return log(sum(exp(v - top) for v in x)) + top


def arguments(given: Any) -> tuple[Any, ...]:
    return (np.array(given["x"], np.float64),)


ENTRIES = {"primal": Entry(primal, arguments, float), "gradient": Entry(at.grad(primal), arguments, np.ndarray.tolist)}
