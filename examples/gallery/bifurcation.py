"""The logistic map: where it settles for each growth rate, counted in a histogram."""

import numpy as np

import atoll as at
from atoll import f64, i64

m = at.sizes("m")


@at.fn
def bifurcation(rates: f64[m]) -> i64[240, m]:
    counts = zeros((240, m), dtype=i64)
    for j in range(m):
        x = 0.5
        for k in range(600):
            x = rates[j] * x * (1.0 - x)
            if k > 200:
                counts[i64(x * 239.0), j] += 1
    return counts


def picture() -> np.ndarray:
    return np.log1p(bifurcation(np.linspace(2.8, 4.0, 320))[::-1])
