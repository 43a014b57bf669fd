"""bits="portable": the same bytes from every processor that can be had here, at every level of optimisation, by every compiler, on the emulated GPU, and from the interpreter."""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

import atoll as at
from tests.portable import rounds
from tests.portable.corpus import WAYS, outcome
from tests.portable.programs import Case, cases, energy, functions, matrices, sums, turned

CASES = {f.name: (f, calls) for f, calls in cases()}
OTHERS = ("-O0", "emulated", "interpreter")  # the first without fma and AVX


@pytest.mark.parametrize("name", CASES)
def test_the_same_bytes(name: str) -> None:
    f, calls = CASES[name]
    for args in calls:
        expected = outcome("as usual", f, args)
        assert expected[0] == "value", expected
        for way in OTHERS:
            slow = way == "interpreter" and max(np.size(x) for x in args) > 10_000
            if not slow and (way, name) != ("interpreter", "grad_energy"):  # the interpreter differentiates forwards
                assert outcome(way, f, args) == expected, way


@pytest.mark.parametrize("way", ["any x86", pytest.param("clang", marks=pytest.mark.skipif(shutil.which("clang") is None, reason="there is no clang here"))])
def test_other_compilers(way: str) -> None:
    for f in (functions, turned):
        for args in CASES[f.name][1]:
            assert outcome(way, f, args) == outcome("as usual", f, args), f.name


_THREADS = """
import sys
from tests.portable.corpus import bytes_of
from tests.portable.programs import cases, sums, matrices
for f, calls in cases():
    if f in (sums, matrices):
        for args in calls:
            sys.stdout.write(repr(bytes_of(f(*args))))
"""


def test_threads() -> None:
    def printed(threads: str) -> bytes:
        return subprocess.run([sys.executable, "-W", "ignore", "-c", _THREADS], env={**os.environ, "ATOLL_NUM_THREADS": threads}, check=True, capture_output=True).stdout

    assert printed("1") == printed("3") != b""


def test_what_inherits_it() -> None:
    assert at.grad(energy).options.bits == "portable"
    assert energy.on("cuda-emulated").options.bits == "portable"
    plain = energy.with_options(dataclasses.replace(energy.options, bits="processor"))
    assert plain.core.portable == "" and "portable_" not in plain.show("loops")
    assert "at_portable_tanh_f64" in energy.show("c") and "at_portable_tanh_f64" in energy.on("cuda").show("cuda")
    assert "IEEE 754" in energy.assumptions() and "IEEE 754" not in plain.assumptions()


def test_left_to_right_too() -> None:
    """reassociate=False says it of sums as well, whatever their length."""
    ordered = sums.with_options(dataclasses.replace(sums.options, reassociate=False))
    args = CASES["sums"][1][-2]
    assert ordered(*args)[1] == np.cumsum(args[1])[-1] != sums(*args)[1]
    assert outcome("as usual", ordered, args) == outcome("emulated", ordered, args) == outcome("interpreter", ordered, args)


def test_shape_of_a_sum() -> None:
    """The definition of docs/bits.md, written once more."""
    x = CASES["sums"][1][-1][1]

    def in_order(values: list[np.float32]) -> np.float32:
        total = np.float32(0.0)
        for v in values:
            total = total + v
        return total

    def blocks(values: list[np.float32]) -> list[np.float32]:
        return [in_order(values[k : k + 256]) for k in range(0, len(values), 256)]

    assert sums(*CASES["sums"][1][-1])[1] == in_order(blocks(blocks(list(x))))


def test_sums_of_columns() -> None:
    """On a CPU by rows, in memory, where a thread of a GPU has a sum of its own: the same sums."""
    here, there = matrices.show("loops"), matrices.on("cuda").show("cuda")
    assert "sums of some rounds" in here and "sums of some rounds" not in there


def test_schedules_are_refused() -> None:
    with pytest.raises(at.ScheduleError, match="portable"):
        at.schedule(energy)


def test_recursion() -> None:
    @at.fn(bits="portable")
    def down(x: at.f64, k: at.i64) -> at.f64:
        return exp(x) if k < 2 else down(sin(x), k - 1) * x + down(x * 0.5, k - 2)  # type: ignore[name-defined]

    assert outcome("as usual", down, [0.7, 9]) == outcome("-O0", down, [0.7, 9]) == outcome("interpreter", down, [0.7, 9])


assert set(OTHERS) < set(WAYS)
__all__ = ["Case"]


@pytest.mark.parametrize("gpu", ["", "1"])
def test_the_corpus_is_asked_in_all_ways(gpu, monkeypatch):
    """What `make portable` starts understands what it is told: names of ways that begin with a dash too."""
    from tests.portable import corpus

    monkeypatch.setenv("ATOLL_TEST_CUDA", gpu)
    asked, ways = [], []
    monkeypatch.setattr(corpus, "ask", lambda command, names, jobs: asked.append(command) or {})
    monkeypatch.setattr(corpus, "tried", lambda f, given: ways.append(given))
    monkeypatch.setattr(corpus, "answer", lambda each, till, patience: each(None))
    monkeypatch.setattr(corpus, "bounded", lambda: None)
    monkeypatch.setattr("sys.argv", ["corpus"])
    assert corpus.main() == 0
    (command,) = asked
    monkeypatch.setattr("sys.argv", ["corpus", *command[command.index("tests.portable.corpus") + 1 :]])
    assert corpus.main() == 0
    assert ways == [[w for w in WAYS if (w != "clang" or corpus.shutil.which("clang")) and (w != "cuda" or gpu)]] and "-O1" in ways[0]


@pytest.mark.parametrize("seed", [0, 2, 7])
def test_rounds_with_memory_of_their_own(seed: int) -> None:
    """Arrays, calls and loops that end when they like, in the rounds of sums in blocks; both rewrites that count names from 1 see these."""
    assert rounds.wrong(seed, ("as usual", "emulated", "interpreter")) == ""


def test_memory_inside_a_sum_in_pieces() -> None:
    """What is made in a round stays there, once for every block, and its size may be told by the bounds of the piece."""
    from atoll.loops import ir as lp
    from atoll.lower.make import make_loops

    made = 0
    for seed in range(12):
        pieces = [s for s in lp.walk(make_loops(at.fn(source=rounds.program(seed)[0]).core).body) if isinstance(s, lp.Chunks)]
        made += any(isinstance(inside, lp.Alloc) for s in pieces for inside in lp.walk(s.body))
    assert made >= 6
