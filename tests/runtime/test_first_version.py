"""The version that answers the first call while the good one is compiled: the same bits, once, and only where that is sure."""

from __future__ import annotations

import os
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll.backends.c import lengths
from atoll.backends.c.headers import words
from atoll.backends.c.jit import with_support
from atoll.runtime import first_version
from atoll.runtime.first_version import is_exact, levels

HEAD = "import atoll as at\nfrom atoll import f32, f64, i64\nn, m = at.sizes('n m')\n"

PROGRAMS = {
    "sums": "def f(a: f32[n, m], x: f64[n]):\n    return sum(a * a), sum(x), max(x), [sum(a[i, j] / (1.0 + j) for j in range(m)) for i in range(n)]\n",
    "exp beside plain loops": "def f(a: f32[n, m], x: f64[n]):\n    e = exp(a)\n    return e / sum(e, axis=0), tanh(x) * log(1.0 + x * x), a.T @ a, sum(a, axis=0)\n",
    "log outside of units": "def f(a: f32[n, m], x: f64[n]):\n    s = log(sum(a, axis=None))\n    return exp(s) * x, a.T @ a, sort(x), cumsum(x), [sum(a[i, j] / (1.0 + j) for j in range(m)) for i in range(n)]\n",
    "state": "def f(a: f32[n, m], x: f64[n]):\n    y = x\n    for k in range(m):\n        y[k % n] = y[k % n] / 3.0 + x[(k + 1) % n] * 0.1\n    return y, a[:, 0] / a[:, 1]\n",
    "best of rows": "def f(a: f32[n, m], x: f64[n]):\n    return [(argmax(r), sum(exp(r - max(r)))) for r in a], [argmin(r / 3.0) for r in a], sqrt(x)\n",
    "sorting": "def f(a: f32[n, m], x: f64[n]):\n    return sort(x), argsort(a[0]), cumsum(x), sqrt(x * x) / 7.0\n",
}


def leaves(value: Any) -> list[Any]:
    return [leaf for part in value for leaf in leaves(part)] if isinstance(value, tuple) else [np.asarray(value)]


@pytest.fixture(autouse=True)
def everything_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_version, "_SHORT", 0)
    monkeypatch.delenv("ATOLL_FIRST", raising=False)
    monkeypatch.setattr(first_version, "cache", SimpleNamespace(find=lambda key: None))


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_bits(name: str) -> None:
    rng = np.random.default_rng(0)
    a, x = rng.random((67, 41), np.float32), rng.random(67)
    f = at.fn(source=HEAD + PROGRAMS[name])
    first = leaves(f(a, x))
    good = leaves(f.compile().call(a, x))
    assert [v.tobytes() for v in first] == [v.tobytes() for v in good]
    assert all(np.isfinite(v).all() for v in first)


def test_a_search_is_not_optimised_with_what_calls_exp() -> None:
    """It is a unit of its own, which is exact."""
    from atoll.lower.make import chosen
    from atoll.runtime.program import identity, prepare

    f = at.fn(source=HEAD + PROGRAMS["best of rows"])
    _, spans = identity(f.core, chosen(f.core), "3")
    generated = prepare(f.core, spans, chosen(f.core)).generated
    searches = [text for text in generated.units if "nearest__" in text]
    assert searches and all(is_exact(generated.with_support(text)) for text in searches)
    found = levels(generated)
    assert found is not None
    optimised = "".join(text for text, level in zip(*found, strict=True) if level == "3")
    assert "expf(" in optimised and "nearest__" not in optimised


def generated(text: str) -> Any:
    from atoll.lower.make import chosen
    from atoll.runtime.program import identity, prepare

    f = at.fn(source=HEAD + text)
    _, spans = identity(f.core, chosen(f.core), "3")
    return prepare(f.core, spans, chosen(f.core)).generated


def test_a_function_of_one_number_is_the_same_with_every_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """log of a row's sum stands in a loop that looks: no compiler makes vectors of it, and the text says so."""
    monkeypatch.setattr(lengths, "LARGE", 0)
    made = generated("def f(a: f32[m, n]):\n    return [log(sum(row)) for row in a]\n")
    assert "at_one_logf(" in made.text and all(is_exact(made.with_support(text)) for text in [*made.units, made.main])
    made = generated("def f(a: f32[m, n]):\n    return [[log(v) for v in row] for row in a]\n")
    assert "at_one_logf(" not in made.text and not all(is_exact(made.with_support(text)) for text in made.units)


def test_a_loop_of_exp_is_optimised_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands around it in the same function is exact then. A short program stays as it is: it has no first version, and a call for a short row takes long."""
    text = "def f(a: f32[m, n]):\n    e = [exp(row - max(row)) for row in a]\n    return [row / sum(row) for row in e]\n"
    assert not any("_nest" in unit for unit in generated(text).units)
    monkeypatch.setattr(lengths, "LARGE", 0)
    made = generated(text)
    found = [text for text in made.units if not is_exact(made.with_support(text))]
    assert found and all("expf(" in text and "_nest" in text.split("(")[0] for text in found)


@pytest.mark.parametrize("body", ["exp(x)", "sqrt(abs(x)) + floor(x)", "isnan(x)", "x ** 2.5 + inf", "c128(x, x).real"])
def test_what_is_used_of_the_library_is_declared(body: str) -> None:
    """Programs include no header of the C library that they can do without: nothing in them is used before it is declared."""
    import subprocess

    from atoll.runtime.toolchain import compiler

    made = generated(f"def f(x: f64):\n    return {body}\n")
    command = [*compiler().command, "-std=gnu11", "-fsyntax-only", "-Werror=implicit-function-declaration", "-x", "c", "-"]
    assert subprocess.run(command, input=made.text, text=True, check=False, capture_output=True).returncode == 0


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_file_of_a_program_with_pieces_reads_the_headers_of_the_library(name: str) -> None:
    """Structs of the arguments of pieces are no strings of <string.h>; and every file declares what it calls."""
    import subprocess

    from atoll.runtime.toolchain import compiler

    made = generated(PROGRAMS[name])
    split = levels(made)
    for text in (made.text, *made.files, *(split[0] if split else ())):
        assert "<math.h>" not in text and "<string.h>" not in text
        command = [*compiler().command, "-std=gnu11", "-fsyntax-only", "-Werror=implicit-function-declaration", "-x", "c", "-"]
        assert subprocess.run(command, input=text, text=True, check=False, capture_output=True).returncode == 0


def test_a_version_that_is_needed_once_is_compiled_with_less() -> None:
    """Only passes that come after vectors are made are left out, and only of gcc, which has these options."""
    from atoll.runtime.toolchain import Compiler

    gcc, clang = Compiler(("gcc",), "gcc", ""), Compiler(("clang",), "clang", "")
    assert gcc.flags_sooner("3")[: len(gcc.flags("3"))] == gcc.flags("3")
    assert not any("tree" in f or "vect" in f for f in gcc.flags_sooner("3")[len(gcc.flags("3")) :])
    assert [clang.flags_sooner(level) for level in "03"] == [clang.flags(level) for level in "03"]


def test_long_scans_have_the_same_bits() -> None:
    """A scan of more than 4096 elements is grouped as the vectors of the C compiler are."""
    f = at.fn(source=HEAD + "def f(x: f64[n]):\n    return cumsum(x), scan(mul, 1.0, x)\n")
    x = np.random.default_rng(0).random(9001) + 0.5
    assert [v.tobytes() for v in leaves(f(x))] == [v.tobytes() for v in leaves(f.compile().call(x))]


def test_the_second_call_is_the_good_version() -> None:
    f = at.fn(source=HEAD + PROGRAMS["sums"])
    a, x = np.ones((3, 4), np.float32), np.ones(3)
    f(a, x)
    assert f._beginning is not None and not f._programs and f._ready is None
    f(a, x)
    assert f._programs["3"] is f._beginning.result() and f._ready is f._programs["3"].call


def test_a_long_first_call_ends_when_the_good_version_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    f = at.fn(source=HEAD + "def f(x: f64[n], rounds: i64):\n    y = x\n    for r in range(rounds):\n        for i in range(n):\n            y[i] = y[i] / 3.0 + x[n - 1 - i]\n    return y\n")
    monkeypatch.setattr(first_version.Beginning, "is_there", lambda self: True)
    found = f(np.ones(1000), 500_000)  # ten times as long as a look takes to come (0.05 s)
    assert f._programs, "the first version went on"
    np.testing.assert_allclose(found, 1.5)


def test_what_is_given_away_is_overwritten_once() -> None:
    f = at.fn(source=HEAD + "def f(x: at.own[f64[n]]):\n    x[0] = x[0] + 1.0\n    return x\n")
    assert f(at.donate(np.zeros(3)))[0] == 1.0
    assert f._programs


def test_errors_of_a_first_call_are_the_usual_ones() -> None:
    f = at.fn(source=HEAD + "def f(x: f64[n], i: i64):\n    return x[i]\n")
    with pytest.raises(IndexError, match="E07"):
        f(np.ones(3), 3)
    assert f(np.ones(3), 2) == 1.0


def test_what_prints_is_not_begun_twice() -> None:
    from atoll.lower.make import chosen
    from atoll.runtime.program import identity, prepare

    f = at.fn(source=HEAD + "def f(x: f64[n]):\n    print(x)\n    return x\n")
    _, spans = identity(f.core, chosen(f.core), "3")
    assert levels(prepare(f.core, spans, chosen(f.core)).generated) is None


@pytest.mark.parametrize("text", ["y = expf(x);", "y = pow (x, 2.0);", "double complex z;", "csqrt(z)", "atan2f(y, x)"])
def test_what_the_library_computes_is_not_exact(text: str) -> None:
    assert not is_exact(words(text))


@pytest.mark.parametrize("text", ["y = x / z + sqrt(x);", "fabs(x) * floor(x) + ceil(x)", "copysign(x, y)", "fma(a, b, c)", "at_export(x)"])
def test_arithmetic_is_exact(text: str) -> None:
    assert is_exact(words(text))


def test_support_code_counts() -> None:
    """A function of ours that calls the library is no more exact than the library."""
    assert is_exact(with_support(words("y = at_fdiv(x, z);")))
    assert not is_exact(with_support(words("y = at_digamma_f64(x);")))


def test_a_process_that_ends_waits_for_the_good_version(tmp_path: Any) -> None:
    text = f"""
import numpy as np, atoll as at
from atoll.runtime import first_version
first_version._SHORT = 0
f = at.fn(source={HEAD + PROGRAMS["state"]!r})
f(np.ones((3, 4), np.float32), np.ones(3))
assert f._beginning is not None
print(at.cache.stats()["entries"])
"""
    env = {**os.environ, "ATOLL_CACHE_DIR": str(tmp_path)}
    env.pop("ATOLL_FIRST", None)
    run = subprocess.run([sys.executable, "-c", text], env=env, capture_output=True, text=True, check=True)
    entries = [p for p in tmp_path.iterdir() if (p / "program.c").exists() and "at_program" in (p / "program.c").read_text()]
    assert len(entries) == 1, run
