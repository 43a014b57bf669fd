"""The way down to kernels: every shape of kernel against the interpreter, checked for races; compiled by NVRTC without spills."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at
from atoll.backends.cuda import group, held, matrix, pieces, radix, scans
from atoll.backends.cuda import language as k
from atoll.backends.cuda.check import Malformed, check
from atoll.backends.cuda.generate import generate, lowered
from atoll.loops import ir as lp
from atoll.sizes import poly
from atoll.types.dtypes import F64
from tests.agreement import same
from tests.cuda import programs
from tests.cuda.test_nvrtc import needs
from tests.fuzz.stages import Stages

PROGRAMS = {f.name: f for f, _ in programs.arguments(np.random.default_rng(0), 1, 1)}


@pytest.mark.parametrize("rows, width", [(0, 2), (3, 5)])
def test_every_kernel_by_threads(rows, width, monkeypatch):
    """Tiles of scans are small here, and products are left to the emulation: the executor takes a while for so many threads."""
    monkeypatch.setattr(scans, "ROUNDS", 1)
    monkeypatch.setattr(scans, "PLAIN", 1)
    for f, args in programs.arguments(np.random.default_rng(1), rows, width):
        if f in (programs.product, programs.batches, programs.convolved) and rows:
            continue
        same(tuple(Stages(f).run_kernels(args)), tuple(_flat(f.interpret(*args))), f.name)


def test_sums_in_pieces(monkeypatch):
    """Columns and rows cut into pieces of two rounds, and columns that are not cut."""
    monkeypatch.setattr(pieces, "SHORT", 0)
    for least in (2, 1000):
        monkeypatch.setattr(pieces, "LEAST_COLUMN", least)
        monkeypatch.setattr(pieces, "LEAST_ROW", least)
        for f, args in [*programs.arguments(np.random.default_rng(4), 5, 3), *programs.arguments(np.random.default_rng(4), 5, 0)]:
            if f in (programs.columns, programs.slope, programs.spread, programs.two_columns):
                assert any("parts" in repr(kernel.parameters) for kernel in lowered(f.core).kernels), f.name
                for backwards in (False, True):
                    same(tuple(Stages(f).run_kernels(args, backwards)), tuple(_flat(f.interpret(*args))), f.name)


@pytest.mark.parametrize("lanes, room", [("warps", group.ROOM), ("warps", 0), ("blocks", group.ROOM)])
def test_rows_by_groups(lanes, room, monkeypatch):
    """Sizes that would be done by threads, done by warps and blocks, with arrays of points in shared memory and not; no race, no barrier that some threads miss."""
    monkeypatch.setattr(group, "ROOM", room)
    monkeypatch.setattr(group, "SHORT", 1)
    monkeypatch.setattr(group, "LONG", 0 if lanes == "blocks" else 1 << 40)
    monkeypatch.setattr(group, "FEW", -1)
    monkeypatch.setattr(group, "LEAST", 2 if lanes == "blocks" else 1 << 40)
    monkeypatch.setattr(held, "CLASSES", ())  # those have tests of their own
    done, most = 0, 3 if lanes == "blocks" else 1000  # a thousand threads each: `python -m tests.hunt --only groups` has many
    for f, args in programs.arguments(np.random.default_rng(2), 2, 5):
        if room == 0 and f is not programs.softmax:
            continue
        if done < most and any(lanes in kernel.name for kernel in lowered(f.core).kernels):
            same(tuple(Stages(f).run_kernels(args)), tuple(_flat(f.interpret(*args))), f.name)
            done += 1
    assert done >= (3 if room else 1)


@pytest.mark.parametrize("most", [group.A_BLOCK, -1])
def test_loops_in_order(most, monkeypatch):
    """By one block, where the loops inside are short; else by the host, which launches a kernel for each. Sums over all earlier rounds have a kernel of their own."""
    monkeypatch.setattr(group, "A_BLOCK", most)
    for f, args in programs.arguments(np.random.default_rng(5), 2, 7):
        if f in (programs.substituted, programs.factored):
            kind = "_history" if f is programs.substituted else "_loop"
            assert any(kernel.name.endswith(kind) for kernel in lowered(f.core).kernels)
            for backwards in (False, True):
                same(tuple(Stages(f).run_kernels(args, backwards)), tuple(_flat(f.interpret(*args))), f.name)


@pytest.mark.parametrize("name", ["slope", "product", "scans"])
def test_the_text_of_kernels_on_the_cpu(name):
    """At sizes of several blocks, with rows for threads, warps and blocks."""
    wanted = getattr(programs, name)
    for rows, width in [(5000, 3), (70, 130), (2, 2500)] if name == "slope" else [(5000, 3), (70, 130)]:
        for f, args in programs.arguments(np.random.default_rng(3), rows, width):
            if f is wanted:
                same(f.on("cuda-emulated")(*args), f(*args), f"{name} {rows} {width}")


def test_large_products(monkeypatch):
    monkeypatch.setattr(matrix, "MANY", 1)
    program = lowered(programs.product.core)
    assert sorted(kernel.resident for kernel in program.kernels if kernel.name.endswith("_product")) == [0, 0, 2]  # small tiles, pieces of sums, large tiles
    large = next(kernel for kernel in program.kernels if kernel.resident == 2)
    assert k.shared_bytes(large) == 4 * 8 * (132 + 128)


def test_a_sum_is_one_launch():
    assert len(lowered(programs.loss.core).kernels) <= 4  # three ways to make the rows, one sum
    one = lowered(at.fn(source="import atoll as at\nn = at.sizes('n')\n@at.fn\ndef f(x: at.f64[n]):\n    return 2.0 * sum(x)\n").core)
    assert [kernel.name for kernel in one.kernels] == ["k0_reduce"]


def test_failed_checks_tell_the_first():
    x, places = np.arange(5.0), np.array([1, 9, 7, 2])
    texts = []
    for f in (programs.picked, programs.picked.on("cuda-emulated")):
        with pytest.raises(at.RunError) as caught:
            f(x, places)
        texts.append(str(caught.value))
    assert texts[0] == texts[1] and "9" in texts[0]


@needs
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_kernels_compile_without_spills(arch):
    from atoll.runtime.cuda.nvrtc import cubin

    for name in ("total", "scans", "counts", "waves", "converted"):
        made = cubin(generate(PROGRAMS[name].core).kernels_text, arch, name)
        for kernel, use in made.uses.items():
            assert use.registers <= 128 and use.spilled == 0, (name, kernel, use)


def test_rules_of_the_language():
    """Kernels that are not well formed are found."""
    out = lp.Buffer("out", F64, (poly(4),), "out")
    given = lp.Buffer("x", F64, (poly(4),), "in")
    unknown = lp.Var("unknown", F64)
    one = lp.Const(1.0, F64)
    shared = lp.Buffer("s", F64, (poly(10000),), "shared")
    wrong = {
        "x is written": k.Kernel("k", (given,), 32, (lp.Store(given, (poly(0),), one),)),
        "unknown is not known here": k.Kernel("k", (out,), 32, (lp.Store(out, (poly(0),), lp.Use(unknown)),)),
        "a parallel loop in a thread": k.Kernel("k", (out,), 32, (lp.For(k.Sym("i"), poly(0), poly(4), [], True),)),
        "too much shared memory": k.Kernel("k", (), 32, (), (shared,)),
        "blocks of 2048 threads": k.Kernel("k", (), 2048, ()),
        "shuffles without whole warps": k.Kernel("k", (), 40, (k.Shuffle(unknown, one, poly(0)),)),
    }
    for words, kernel in wrong.items():
        with pytest.raises(Malformed, match=words):
            check(k.Program(lp.Function("f", (), [given], [], [], []), (kernel,), (), ()))


def _flat(value):
    return [x for item in value for x in _flat(item)] if isinstance(value, tuple) else [value]


def test_sorts_by_digits(monkeypatch):
    """Short arrays by the way of long ones, in several tiles: the order of a stable sort, NaN last, zeros equal."""
    monkeypatch.setattr(radix, "LEAST", 1)
    monkeypatch.setattr(radix, "EACH", 2)
    rng = np.random.default_rng(3)
    x = rng.choice([np.nan, -0.0, 0.0, -np.inf, np.inf, 1.5, -1.5, 1e-310, -2e300], 1200)
    small = rng.integers(-5, 5, 1200).astype(np.int8)
    assert any(kernel.name.endswith("move") for kernel in lowered(programs.ordered.core).kernels)
    for order in ("0", "1"):
        monkeypatch.setenv("ATOLL_EMULATED_ORDER", order)
        places, values, few = programs.ordered.on("cuda-emulated")(x, small)
        assert np.array_equal(places, np.argsort(x, kind="stable")) and values.tobytes() == x[places].tobytes() and np.array_equal(few, np.sort(small))
