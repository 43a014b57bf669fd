"""The condition of an element that an equation picks was tested before the element was known to exist: of an empty array its first element was read.

Happened (fuzz_ad seed 10264): a masked array, padded, of which one element is read. Ranges come first, as in condition_read_out_of_range.
"""

import numpy as np

import atoll as at
from atoll import bool_, f64
from atoll.ad.api import _reverse
from tests.agreement import agree

n = at.sizes("n")


@at.fn
def f(c: bool_[n], x: f64) -> f64:
    return pad(where(scan(or_, False, c), 0.0, x), 2)[2]


def check() -> None:
    agree(_reverse(f, "vjp"), np.zeros(0, bool), 3.0, 5.0, expected=(np.zeros(0, bool), 0.0))
    agree(_reverse(f, "vjp"), np.array([False, True]), 3.0, 5.0, expected=(np.zeros(2, bool), 5.0))
