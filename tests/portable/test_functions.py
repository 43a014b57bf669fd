"""The functions of bits="portable" against exact values (tests/portable/reference.py, made with 200 bits by tools/portable_errors.py), at the ends of their domains, and in CUDA's text."""

from __future__ import annotations

import math

import numpy as np
import pytest

from atoll.core.portable import COMPLEX, REAL
from atoll.runtime.cuda.nvrtc import cubin
from atoll.runtime.portable_functions import computed, table
from tests.cuda.test_nvrtc import needs
from tests.portable.reference import POINTS

MOST = {"digamma": 12, "trigamma": 6, "erfc": 4}  # units in the last place; others 3


def value(op: str, *args: float, dtype: type = np.float64) -> float:
    out = np.zeros(1, dtype)
    computed(op, np.asarray(args, dtype), out)
    return float(out[0])


@pytest.mark.parametrize("op", POINTS)
def test_near_the_exact_value(op: str) -> None:
    for *args, exact in POINTS[op]:
        wanted = float.fromhex(exact)
        given = [float.fromhex(x) for x in args]
        assert abs(value(op, *given) - wanted) <= MOST.get(op, 3) * math.ulp(wanted), given
        with np.errstate(all="ignore"):
            single = np.asarray(given, np.float32)
        if np.isfinite(single).all() and single.tolist() == given:
            assert abs(value(op, *given, dtype=np.float32) - np.float32(wanted)) <= np.spacing(np.float32(wanted))


inf, nan = math.inf, math.nan
ENDS = {
    "exp": [(inf, inf), (-inf, 0.0), (0.0, 1.0), (-0.0, 1.0), (1e4, inf), (-1e4, 0.0)],
    "log": [(0.0, -inf), (inf, inf), (1.0, 0.0), (-1.0, nan)],
    "sin": [(-0.0, -0.0), (inf, nan)],
    "tanh": [(inf, 1.0), (-inf, -1.0), (-0.0, -0.0)],
    "cbrt": [(-0.0, -0.0), (inf, inf), (-8.0, -2.0), (27.0, 3.0)],
    "arctan2": [(0.0, 1.0, 0.0), (-0.0, 1.0, -0.0), (0.0, -1.0, math.pi), (-0.0, -1.0, -math.pi), (1.0, 0.0, math.pi / 2), (inf, inf, math.pi / 4), (0.0, 0.0, 0.0), (0.0, -0.0, math.pi), (1.0, -inf, math.pi), (nan, 1.0, nan)],
    "hypot": [(inf, nan, inf), (3.0, 4.0, 5.0), (0.0, -0.0, 0.0), (1e300, 1e300, math.hypot(1e300, 1e300)), (nan, 1.0, nan)],
    "pow": [(2.0, 10.0, 1024.0), (nan, 0.0, 1.0), (1.0, nan, 1.0), (-8.0, 1.0 / 3.0, nan), (-2.0, 3.0, -8.0), (0.0, -1.0, inf), (-0.0, -1.0, -inf), (-0.0, 3.0, -0.0), (-1.0, inf, 1.0), (0.5, -inf, inf), (inf, -2.0, 0.0), (-inf, 3.0, -inf), (10.0, 400.0, inf), (10.0, -400.0, 0.0)],
    "erf": [(inf, 1.0), (-inf, -1.0), (-0.0, -0.0), (nan, nan)],
    "erfc": [(inf, 0.0), (-inf, 2.0), (0.0, 1.0)],
    "lgamma": [(1.0, 0.0), (2.0, 0.0), (0.0, inf), (-3.0, inf), (inf, inf), (-inf, inf)],
    "tgamma": [(5.0, 24.0), (0.0, inf), (-0.0, -inf), (-1.0, nan), (172.5, inf), (-inf, nan), (1.0, 1.0)],
    "arcsin": [(1.0, math.pi / 2), (-1.0, -math.pi / 2), (1.5, nan), (-0.0, -0.0)],
    "arccos": [(1.0, 0.0), (-1.0, math.pi), (2.0, nan)],
    "arccosh": [(1.0, 0.0), (0.5, nan), (inf, inf)],
    "arctanh": [(1.0, inf), (-1.0, -inf), (2.0, nan), (-0.0, -0.0)],
    "arcsinh": [(inf, inf), (-inf, -inf), (-0.0, -0.0)],
    "arctan": [(inf, math.pi / 2), (-inf, -math.pi / 2), (-0.0, -0.0)],
    "log1p": [(-1.0, -inf), (-0.0, -0.0), (inf, inf), (-2.0, nan)],
    "copysign": [(2.0, -0.0, -2.0), (-2.0, nan, 2.0), (-2.0, -nan, 2.0)],
    "signbit": [(-0.0, 1.0), (0.0, 0.0), (nan, 0.0), (-nan, 0.0)],
}


@pytest.mark.parametrize("op", ENDS)
def test_ends(op: str) -> None:
    for *args, wanted in ENDS[op]:
        found = value(op, *args)
        assert (math.isnan(found) and math.isnan(wanted)) or (found == wanted and math.copysign(1.0, found) == math.copysign(1.0, wanted)), (args, found)


def test_no_function_of_the_library_is_called() -> None:
    """But those that IEEE 754 fixes."""
    import re

    text = re.sub(r"/\*.*?\*/", "", table())
    called = {name for name in re.findall(r"\b([a-z]\w*)\(", text) if not name.startswith("at_")}
    assert called <= {"fma", "sqrt", "fabs", "fabsf", "floor", "rint", "copysign", "signbit", "memcpy", "creal", "cimag", "crealf", "cimagf", "if", "for", "while", "return", "sqrtf", "defined", "__builtin_assoc_barrier", "__attribute__"}, called


def test_every_inexact_primitive_has_one() -> None:
    from atoll.core.prims import PRIMS

    exact = {"sqrt", "floor", "ceil", "round", "trunc", "fma", "abs", "fmod"}
    assert {name for name, p in PRIMS.items() if p.c} - exact <= set(REAL) and {name for name, p in PRIMS.items() if p.c_complex} <= set(COMPLEX)


@needs
def test_nvrtc_takes_the_same_text() -> None:
    """Machine code of the functions for a GPU, nothing of it fused by the compiler (--fmad=false): what is fused is written."""
    from atoll.backends.cuda.generate import generate
    from tests.portable.programs import more, turned

    for f in (more, turned):
        made = cubin(generate(f.core).kernels_text, "sm_90", f.name)
        assert made.image[:4] == b"\x7fELF" and all(use.spilled == 0 for use in made.uses.values())
