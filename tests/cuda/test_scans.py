"""Scans in one launch: the bits are those of one tree whatever order blocks run in, elements are read once, and what would be a race is found."""

from __future__ import annotations

import ctypes
import dataclasses

import numpy as np
import pytest

import atoll as at
from atoll.backends.cuda import execute as ex
from atoll.backends.cuda import language as k
from atoll.backends.cuda import scans
from atoll.backends.cuda.check import check
from atoll.backends.cuda.generate import lowered
from atoll.backends.cuda.text import kernels_text
from atoll.loops import ir as lp
from atoll.loops.execute import Stuck
from atoll.loops.questions import loads
from atoll.runtime.cuda.devices import EMULATED, device
from atoll.sizes import poly
from atoll.types.dtypes import U32
from tests.agreement import same
from tests.cuda.test_emulated import LAUNCH
from tests.fuzz.stages import leaves

HEAD = "import atoll as at\nfrom atoll import f64, i64\nn = at.sizes('n')\n@at.fn\n"
TILE = 256  # small, for these tests


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(scans, "ROUNDS", 1)
    monkeypatch.setattr(scans, "PLAIN", 1)


def sums() -> at.Function:
    """A function of its own for these tests: programs in the cache know nothing of tiles."""
    return at.fn(source=HEAD + "def sums_in_small_tiles(x: f64[n]):\n    return scan(add, 0.0, x)\n")


def _halves(values: np.ndarray) -> float:
    """32 numbers as the lanes of a warp add them: l and l + 16, then + 8, 4, 2, 1."""
    while len(values) > 1:
        half = len(values) // 2
        values = values[:half] + values[half:]
    return float(values[0])


def _of_32(values: np.ndarray) -> float:
    return _halves(np.concatenate([values, np.zeros(32 - len(values))]))


def tree(x: np.ndarray) -> np.ndarray:
    """The definition: what is added to what in a scan of tiles of eight warps with one round each (docs/sources.md G3)."""
    tiles = -(-len(x) // TILE)
    padded = np.concatenate([x, np.zeros(tiles * TILE - len(x))]).reshape(tiles, 8, 32)
    lanes = padded.copy()
    for distance in (1, 2, 4, 8, 16):
        lanes[..., distance:] = lanes[..., :-distance] + lanes[..., distance:]
    lanes = 0.0 + lanes
    totals = np.zeros(tiles)
    for w in range(8):
        totals = totals + lanes[:, w, 31]
    groups = [_of_32(totals[g : g + 31]) + totals[g + 31] for g in range(0, tiles - 31, 32)]
    after, out = [0.0], np.zeros((tiles, 8, 32))
    for t in range(tiles):
        group, thousand = t // 32, t // 1024
        within, before = _of_32(totals[32 * group : t]), _of_32(np.array(groups[32 * thousand : group]))
        first = (after[thousand] + before) + within
        for w in range(8):
            out[t, w] = first + lanes[t, w]
            first = first + lanes[t, w, 31]
        if t % 1024 == 1023:
            after.append(after[thousand] + (before + (within + totals[t])))
    return out.reshape(-1)[: len(x)]


@pytest.mark.parametrize("order", ["0", "5", pytest.param("1", marks=pytest.mark.long)])
def test_the_bits_are_those_of_the_definition(order, small, monkeypatch):
    """More than 1024 tiles, so that every level of what is told is used."""
    monkeypatch.setenv("ATOLL_EMULATED_ORDER", order)
    there = sums().on("cuda-emulated")
    for size in (1, 255, 257, 33 * TILE + 5, 1061 * TILE + 17):
        x = np.random.default_rng(size).normal(size=size)
        assert there(x).tobytes() == tree(x).tobytes(), size


def run(program: k.Program, f: at.Function, args: tuple, backwards: bool = False) -> ex.Host:
    from atoll.core.binding import bind_call
    from atoll.core.values import leaves as inside
    from atoll.runtime.arguments import from_python

    values = from_python(f.core, args)
    return ex.Host(program, [x for v in values for x in inside(v)], bind_call(f.core, values), backwards)


@pytest.mark.parametrize("backwards", [False, True])
def test_no_race_and_every_element_read_once(backwards, small):
    """Filters too, whose running value is how many were kept: the test reads an element, and so does the round that keeps it."""
    size = 2 * TILE + 3
    x = np.random.default_rng(0).normal(size=size)
    f = sums()
    host = run(lowered(f.core), f, (x,), backwards)
    assert np.allclose(host.run()[0], np.cumsum(x))
    (name, (read, written)) = next(iter(host.moved.items()))
    few = 3 * 8 * 4  # what three tiles tell each other
    assert name.endswith("_scan") and 8 * size <= read <= 8 * size + few and 8 * size <= written <= 8 * size + few, host.moved
    kept = at.fn(source=HEAD + "def kept_in_small_tiles(x: f64[n]):\n    return [v for v in x if v > 0.0]\n")
    host = run(lowered(kept.core), kept, (x,), backwards)
    assert np.array_equal(host.run()[0], x[x > 0])


def _without(stmts, gone):
    """The statements without those of a kind."""
    out = []
    for s in stmts:
        if isinstance(s, gone):
            continue
        if isinstance(s, k.Region):
            s = k.Region(tuple(_without(s.body, gone)))
        elif isinstance(s, lp.If):
            s = dataclasses.replace(s, then=_without(s.then, gone), orelse=_without(s.orelse, gone))
        out.append(s)
    return out


def test_waiting_is_needed(small):
    """Without it the executor finds a race; without telling, a wait that never ends."""
    f, x = sums(), np.ones(2 * TILE)
    program = lowered(f.core)
    (kernel,) = program.kernels
    for gone, words in ((k.Await, "a race on"), (k.Tell, "no block that began before this one tells it")):
        other = dataclasses.replace(kernel, body=tuple(_without(kernel.body, gone)))
        body = [dataclasses.replace(s, kernel=other) if isinstance(s, k.Launch) else s for s in program.body]
        with pytest.raises(Stuck, match=words):
            run(check(dataclasses.replace(program, kernels=(other,), body=tuple(body))), f, (x,)).run()


def test_waiting_for_a_later_block_is_reported():
    """By the emulation: on a GPU a block may wait for ever for one that has no room to begin."""
    flags = lp.Buffer("flags", U32, (poly(4),), "out")
    kernel = k.Kernel("late", (flags,), 1, (k.Await(flags, (poly(k.BLOCK) + 1,)), k.Tell(flags, (poly(k.BLOCK),))))
    function = lp.Function("f", (), [], [], [], [])
    text, table, _ = kernels_text(check(k.Program(function, (kernel,), (), ())))
    queue = device(EMULATED).queue(device(EMULATED).load(text, [(name, list(types)) for name, types in table], "late"))
    there, nothing = np.zeros(4, np.uint32), ctypes.c_void_p()
    pointer = ctypes.c_void_p(there.ctypes.data)
    status = LAUNCH(queue.launch)(queue, 0, 2, 1, 1, 1, 1, 1, 0, (ctypes.c_void_p * 2)(ctypes.addressof(nothing), ctypes.addressof(pointer)))
    assert status == -3 and b"waits for what no block that began before its own has told" in queue.doing


@pytest.mark.parametrize("what", ["scan(maximum, -inf, x, exclusive=True)", *(pytest.param(w, marks=pytest.mark.long) for w in ("scan(mul, 1.0, x)", "scan(add, 0, [i64(v) for v in x])", "scan(or_, False, x > 2.0)", "scan(add, 0j, x * 1j)"))])
def test_every_operator(what):
    f = at.fn(source=HEAD + f"def scanned(x: f64[n]):\n    return {what}\n")
    for size in (0, 1, 2, 4099):
        x = 1.0 + np.random.default_rng(size).normal(size=size) / 50
        same(tuple(leaves(f.on("cuda-emulated")(x))), tuple(leaves(f.interpret(x))), what)


def test_one_launch():
    assert [kernel.name for kernel in lowered(sums().core).kernels] == ["k0_scan"]


def test_what_blocks_hand_over_is_not_restricted():
    """A compiler that is told nobody else writes to an array may read it before it waits."""
    text = sums().on("cuda").show("cuda")
    (head,) = [line for line in text.splitlines() if "__global__" in line]
    given = head[head.index("(at_failure") :].split(", ")
    assert not any("__restrict__" in p for p in given) and "const double *x" in given and "at_await(" in text  # nor x: totals of its type are read back


def test_elements_are_read_before_lanes_wait():
    """A shuffle keeps reads that stand after it behind it: all of a thread's are asked for first."""
    (kernel,) = lowered(sums().core).kernels
    together = [s for s in k.walk(kernel.body) if isinstance(s, lp.For) and any(isinstance(x, k.Shuffle) for x in k.walk(s.body))]
    assert together and not any(x.buffer.kind == "in" for s in together for x in loads(s.body))


def test_a_group_is_told_before_more_is_awaited():
    """Else all groups of 32 tiles would wait for each other, one after the other."""
    (kernel,) = lowered(sums().core).kernels
    order = [type(s) for s in k.walk(kernel.body) if isinstance(s, (k.Tell, k.Await))]
    assert order == [k.Tell, k.Await, k.Tell, k.Await, k.Await, k.Tell]  # tile; tiles; group; groups; a thousand; the next thousand
