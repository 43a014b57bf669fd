"""Arrays that are reshaped and read as they were flattened have no quotients in their indices: heads of attention are products of matrices."""

from __future__ import annotations

import re

import numpy as np
import pytest

import atoll as at
from tests.agreement import agree

_HEAD = "import numpy as np\nimport atoll as at\nfrom atoll import *\nt, c, m, k, b = at.sizes('t c m k b')\n"

PROGRAMS = {
    "heads": ("y: f64[t, 4 * c], z: f64[4, t, c]", "sum(y.reshape(t, 4, c).transpose(1, 0, 2) * z, axis=None)", ((3, 8), (4, 3, 2))),
    "scores": ("y: f64[t, 4 * c], z: f64[m, 4 * c]", "y.reshape(t, 4, c).transpose(1, 0, 2) @ z.reshape(m, 4, c).transpose(1, 2, 0)", ((3, 8), (2, 8))),
    "there and back": ("y: f64[t, c]", "np.sin(y).reshape(-1).reshape(t, c) * 2", ((3, 4),)),
    "three axes": ("y: f64[t, c, m]", "y.reshape(t * c, m).reshape(t, c * m).reshape(t, c, m).sum(axis=1)", ((2, 3, 4),)),
    "patches": ("y: f64[2 * t, 2 * c]", "y.reshape(t, 2, c, 2).max(axis=(1, 3))", ((4, 6),)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_quotients(name: str) -> None:
    signature, text, shapes = PROGRAMS[name]
    f = at.fn(source=f"{_HEAD}def f({signature}):\n    return {text}\n")
    loops = [line for line in f.show("ainf").splitlines() if " r:" not in line]  # sums of several axes go over one
    assert not [line for line in loops if "//" in line], f.show("ainf")
    rng = np.random.default_rng(0)
    agree(f, *(rng.random(shape) for shape in shapes))


def test_gradient_has_none_either() -> None:
    """The adjoint of a product of heads adds at places without quotients: no division in the innermost loops."""
    f = at.fn(source=f"{_HEAD}def f(y: f64[t, 4 * c], z: f64[m, 4 * c]):\n    s = y.reshape(t, 4, c).transpose(1, 0, 2) @ z.reshape(m, 4, c).transpose(1, 2, 0)\n    return sum(exp(s), axis=None)\n")
    text = at.grad(f, wrt=(0, 1)).show("ainf")
    assert not re.findall(r"^.*scatter.*//.*$", text, re.M), text


def test_what_is_not_known_stays() -> None:
    """Rows of another length: the quotient is not determined, and the values are right."""
    f = at.fn(source=f"{_HEAD}def f(y: f64[t, 6]):\n    return y.reshape(2 * t, 3) + y.reshape(-1)[0]\n")
    agree(f, np.arange(12.0).reshape(2, 6))
