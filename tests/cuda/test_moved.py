"""Bytes that kernels move through the device's memory, as the checked executor counts them: passes over arrays that are not needed are not made."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at
from atoll.backends.cuda import group, jam, reduce
from atoll.backends.cuda.generate import lowered
from atoll.core.binding import bind_call
from atoll.core.values import leaves as inside
from atoll.runtime.arguments import from_python
from tests.agreement import same
from tests.cuda import programs
from tests.fuzz.stages import leaves

HEAD = "import atoll as at\nfrom atoll import f32, f64, i64\nn, m = at.sizes('n m')\n@at.fn\n"


def moved(f: at.Function, *args) -> tuple[int, int]:
    """Bytes read and written by all kernels of a call, which gives what the interpreter does."""
    from atoll.backends.cuda.execute import Host

    values = from_python(f.core, args)
    host = Host(lowered(f.core), [x for v in values for x in inside(v)], bind_call(f.core, values))
    same(tuple(host.run()), tuple(leaves(f.interpret(*args))), f.name)
    return sum(read for read, _ in host.moved.values()), sum(written for _, written in host.moved.values())


def function(text: str) -> at.Function:
    return at.fn(source=HEAD + text)


REDUCED = [("sum(x)", 8), ("sum(x * y)", 16), ("max(x, default=0.0)", 8), ("(argmax(x) if n > 0 else 0)", 8)]


@pytest.mark.parametrize(("size", "body", "width"), [*((size, *row) for size in (0, 1, 7, 300) for row in REDUCED), (2500, *REDUCED[0])])
def test_a_reduction_reads_every_element_once(size, body, width, monkeypatch):
    """By copies that take turns: rounds that are left over, threads that have none."""
    monkeypatch.setattr(reduce, "MOST_BLOCKS", 2)  # several rounds for a thread
    rng = np.random.default_rng(size)
    f = function(f"def reduced(x: f64[n], y: f64[n]):\n    return {body}\n")
    read, written = moved(f, rng.normal(size=size), rng.normal(size=size))
    few = 200  # sums of blocks, cells, one element again
    assert width * size <= read <= width * size + few and written <= few, (read, written)


def test_copies_have_accumulators_of_their_own():
    assert jam.BYTES // 8 == 4 and jam.BYTES // 4 == jam.MOST
    text = function("def total(x: f32[n]):\n    return sum(x)\n").on("cuda").show("cuda")
    assert text.count("x[") == 9  # eight together, and one where fewer are left


@pytest.mark.parametrize("room, passes", [(group.ROOM, 0), (0, 2)])
def test_arrays_of_points_stay_in_the_block(room, passes, monkeypatch):
    """Exponentials of a row are neither written to the device's memory nor read from there."""
    monkeypatch.setattr(group, "SHORT", 1)
    monkeypatch.setattr(group, "FEW", -1)
    monkeypatch.setattr(group, "ROOM", room)
    a = np.random.default_rng(0).normal(size=(3, 40))
    read, written = moved(programs.softmax, a)
    assert written == a.nbytes * (1 + bool(passes)) and read == a.nbytes * (2 + passes), (read, written)
