"""The functions that stand in for libmvec where it is not: within 4 units in the last place over all arguments, and in vectors."""

import ctypes
import math
import os
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from atoll.backends.c import vector_math
from atoll.runtime import toolchain
from tests.speed.test_transcendental import exact, samples, units

NAMES = [name for name in vector_math.FUNCTIONS if name in vector_math._KERNELS]
HEAD = "#include <math.h>\n#include <stdint.h>\n#include <string.h>\n"


def source(names):
    calls = "".join(f"{name}(x);{name}f(x);" for name in names)
    loops = [
        f"void {t}_{name}({t} *restrict y, const {t} *restrict x, int64_t n) {{ for (int64_t i = 0; i < n; i++) y[i] = {name}{f}(x[i]); }}"
        for name in names
        for t, f in (("double", ""), ("float", "f"))
    ]
    return HEAD + "\n".join([vector_math.declarations(calls), *loops]) + "\n"


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")
    (folder / "own.c").write_text(source(NAMES) + "#ifdef __FP_FAST_FMA\nconst int fused = 1;\n#else\nconst int fused = 0;\n#endif\n")
    toolchain.compile_c(folder / "own.c", folder / "own.so", extra=["-DAT_OWN_MATH"])
    loaded = ctypes.CDLL(str(folder / "own.so"))
    if not ctypes.c_int.in_dll(loaded, "fused").value:
        pytest.skip("this processor has no fused multiply-add, so the C library's functions are used")
    return loaded


def apply(library, name, x):
    y = np.empty_like(x)
    t = "double" if x.dtype == np.float64 else "float"
    getattr(library, f"{t}_{name}")(y.ctypes.data_as(ctypes.c_void_p), x.ctypes.data_as(ctypes.c_void_p), ctypes.c_int64(x.size))
    return y


def distance(name, got, x):
    """Sine and its kin against the C library's scalar functions, which are right to less than a unit for every argument."""
    if name in ("sin", "cos", "tan"):
        finite = np.isfinite(x)
        assert np.isnan(got[~finite]).all()
        wanted = np.array([getattr(math, name)(float(v)) for v in x[finite]])
        return units(got[finite], wanted, x.dtype.type)
    return units(got, exact(name, x), x.dtype.type)


@pytest.mark.parametrize("name", NAMES)
def test_all_exponents(library, name):
    x = samples(np.float64, 12)
    assert distance(name, apply(library, name, x), x) <= 3.0
    narrow = samples(np.float32, 40)
    assert distance(name, apply(library, name, narrow), narrow) <= 1.0


RANGES = {
    "exp": (-745.2, 709.8), "exp2": (-1074, 1024), "expm1": (-40, 709.8), "log": (0.4, 2.5), "log2": (0.4, 2.5), "log10": (0.4, 2.5), "log1p": (-0.99, 2.0),
    "sin": (-10, 10), "cos": (-10, 10), "tan": (-10, 10), "sinh": (-710.4, 710.4), "cosh": (-710.4, 710.4), "tanh": (-20, 20),
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_where_it_is_used(library, name):
    low, high = RANGES[name]
    x = np.concatenate([np.linspace(low, high, 20001), np.linspace(max(low, -1.5), min(high, 1.5), 20001)])
    got = apply(library, name, x)
    if name in ("exp", "exp2"):  # where results have fewer digits: to the last of them
        with np.errstate(all="ignore"):
            few = np.abs(exact(name, x)) < 2.3e-308
        assert np.max(np.abs(got[few] - exact(name, x[few])) / 5e-324) <= 1.0
        x, got = x[~few], got[~few]
    assert distance(name, got, x) <= 3.0


def test_subnormal_numbers(library):
    x = np.array([5e-324, 1e-310, 2.2e-308])
    for name in ("log", "log2", "log10"):
        assert units(apply(library, name, x), exact(name, x), np.float64) <= 1.0
    for name in ("sin", "tan", "sinh", "tanh", "expm1", "log1p"):
        assert (apply(library, name, x) == x).all() and (apply(library, name, -x) == -x).all()


def test_near_multiples_of_a_quarter_turn(library):
    quarters = np.random.default_rng(3).integers(1, 2**45, 20000).astype(float) * (math.pi / 2)
    for name in ("sin", "cos", "tan"):
        assert distance(name, apply(library, name, quarters), quarters) <= 3.0


def test_the_double_nearest_to_a_multiple_of_a_quarter_turn(library):
    x = np.array([6381956970095103 * 2.0**797])  # glibc 2.36 is off by 8 units here
    turns = Fraction(x[0]) * 2 / vector_math._pi()
    assert round(turns) % 4 == 1
    rest = float((turns - round(turns)) * vector_math._pi() / 2)
    assert apply(library, "cos", x) == -rest and apply(library, "sin", x) == 1.0 and abs(apply(library, "tan", x) * rest + 1.0) < 1e-15


@pytest.mark.parametrize("name", NAMES)
def test_special_values(library, name):
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -1.0, -2.0, 1e300, -1e300])
    got = apply(library, name, x)
    with np.errstate(all="ignore"):
        wanted = getattr(np, name)(x[:7])
    assert np.array_equal(np.isnan(got[:7]), np.isnan(wanted))
    assert (np.signbit(got[:2]) == np.signbit(wanted[:2])).all() and (got[:4][np.isinf(wanted[:4])] == wanted[:4][np.isinf(wanted[:4])]).all()


@pytest.mark.parametrize("name", NAMES)
def test_they_run_in_vectors(tmp_path, name):
    cc = toolchain.compiler()
    if cc.kind != "gcc" or "fma" not in _processor():
        pytest.skip("gcc says what it puts in vectors; the functions need fused multiply-add")
    path = tmp_path / "own.c"
    path.write_text(source([name]))
    done = subprocess.run([*cc.command, *cc.flags("3"), "-DAT_OWN_MATH", "-fopt-info-vec", "-o", str(tmp_path / "own.so"), str(path)], capture_output=True, text=True, check=True)
    lines = {line.split(":")[1] for line in done.stderr.splitlines() if "loop vectorized" in line}
    assert len(lines) == 2, done.stderr


def _processor():
    try:
        return open("/proc/cpuinfo").read()
    except OSError:
        return ""


def test_a_program_uses_them(tmp_path):
    """The whole way: the compiler told to do without libmvec."""
    program = """
import numpy as np, atoll as at
from atoll import f32, f64
n = at.sizes("n")
@at.fn
def f(x: f64[n], y: f32[n]):
    return exp(x) * sin(x) + log1p(abs(x)), cos(y) + tanh(y), sum(exp(-x * x))
x = np.linspace(-3, 3, 1001)
a, b, c = f(x, x.astype(np.float32))
assert np.allclose(a, np.exp(x) * np.sin(x) + np.log1p(abs(x)), rtol=1e-14, atol=1e-15)
assert np.allclose(b, np.cos(x) + np.tanh(x), rtol=1e-6, atol=1e-6) and np.isclose(c, np.exp(-x * x).sum())
assert "at_own_sin" in f.show("c")
"""
    command = " ".join(toolchain.compiler().command)
    environment = {**os.environ, "ATOLL_CC": f"{command} -DAT_OWN_MATH", "ATOLL_CACHE_DIR": str(tmp_path)}
    (tmp_path / "program.py").write_text(program)
    done = subprocess.run([sys.executable, str(tmp_path / "program.py")], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
