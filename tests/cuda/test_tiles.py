"""Tiles of products: whichever is taken, an element is the same sum in the same order, so results have the bits of the definition done with fma."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import atoll as at
from atoll import f32, f64
from atoll.backends.cuda import language as k
from atoll.backends.cuda import matrix
from atoll.backends.cuda.generate import generate, lowered
from atoll.loops import ir as lp
from atoll.runtime.cuda.nvrtc import cubin
from atoll.sizes import Sym, poly
from tests.cuda.test_nvrtc import needs
from tests.cuda.test_runtime import TARGETS

n, m, p, q = at.sizes("n m p q")
TILES = {name: getattr(matrix, name) for name in ("LARGE", "SMALL", "TINY", "LOW", "LONG")}


@at.fn
def many(a: f32[q, n, p], b: f32[q, p, m]) -> f32[q, n, m]:
    return [a[i] @ b[i] for i in range(q)]


@at.fn
def filtered(x: f32[p, n, m + 2], w: f32[q, p, 3]) -> f32[q, n, m]:
    return [[[sum(x[r, i, j + t] * w[o, r, t] for r in range(p) for t in range(3)) for j in range(m)] for i in range(n)] for o in range(q)]


@at.fn
def wide(a: f64[q, n, p], b: f64[q, p, m]) -> f64[q, n, m]:
    return [a[i] @ b[i] for i in range(q)]


@pytest.mark.parametrize("tile", TILES.values(), ids=TILES)
def test_a_tile_has_room_for_every_number_once(tile):
    """Threads bring all numbers of both sides, each once, and own all elements of the tile, each once."""
    assert tile.down * tile.beside == matrix.THREADS
    made = matrix._Kernel.__new__(matrix._Kernel)
    made.thread, made.tile = poly(k.THREAD), tile

    def at_all(each, rounds):
        return [tuple(x.evaluate({k.THREAD: t, **where}) for x in each) for t in range(matrix.THREADS) for where in rounds]

    e, f = Sym("e"), Sym("f")
    for length, rounds in ((tile.height, tile.height * tile.depth // matrix.THREADS), (tile.width, tile.width * tile.depth // matrix.THREADS), (tile.depth, tile.height * tile.depth // matrix.THREADS)):
        places = at_all(made.numbered(poly(e), length), [{e: v} for v in range(rounds)])
        assert sorted(places) == sorted(itertools.product(range(length), range(matrix.THREADS * rounds // length)))
    elements = at_all((made.row(poly(e)), made.column(poly(f))), [{e: u, f: v} for u in range(tile.each) for v in range(tile.across)])
    assert sorted(elements) == sorted(itertools.product(range(tile.height), range(tile.width)))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("rows, columns, depth", [(16, 600, 17), (5, 513, 3), (17, 520, 33), (16, 300, 16), (3, 70, 40), (20, 20, 40), (32, 32, 64), (40, 70, 20), (1, 1, 1), (16, 512, 0)])
def test_the_same_bits_from_every_tile(rows, columns, depth, target):
    rng = np.random.default_rng(rows + columns)
    a, b = (rng.normal(size=s).astype(np.float32) for s in ((2, rows, depth), (2, depth, columns)))
    found = many.on(target)(a, b)
    for i, j in {(0, 0), (rows - 1, columns - 1), (rows // 2, columns // 3)}:
        total = np.float32(0)
        for l in range(depth):
            total = np.float32(np.float64(a[1, i, l]) * np.float64(b[1, l, j]) + np.float64(total))  # a product of f32 is exact, and so nearly always is the sum in f64
        assert abs(found[1, i, j] - total) <= np.spacing(abs(total))
    assert np.allclose(found, a @ b, rtol=1e-4, atol=1e-5)
    fewer = many.on(target)(a[:, :3], b[:, :, :40])  # by another tile
    assert found[:, :3, :40].tobytes() == fewer.tobytes()
    assert wide.on(target)(a.astype(float), b.astype(float)).shape == found.shape


def test_sums_over_several_indices():
    """A product for every row of an image, whose sums go over channels and places."""
    rng = np.random.default_rng(3)
    x, w = rng.normal(size=(5, 3, 602)).astype(np.float32), rng.normal(size=(9, 5, 3)).astype(np.float32)
    found = filtered.on("cuda-emulated")(x, w)
    assert np.allclose(found, filtered(x, w), rtol=1e-4, atol=1e-5)
    assert found[:, :, :90].tobytes() == filtered.on("cuda-emulated")(np.ascontiguousarray(x[:, :, :92]), w).tobytes()
    assert any(isinstance(s, lp.If) and len(s.tests) == 1 and any(isinstance(y, k.Launch) and "16 by 256" in y.kernel.note for y in s.then) for s in k.walk(lowered(filtered.core).body))


@needs
def test_registers_of_tiles():
    """None spilled (NVRTC 13.0 puts one number of 4 bytes away in one of them), and few enough that threads of several blocks are at work while others wait for memory."""
    most = {"128 by 128": 128, "64 by 64": 80, "32 by 32": 64, "16 by 128": 80, "16 by 256": 80}
    for f in (many, filtered):
        made = generate(f.core)
        uses = cubin(made.kernels_text, "sm_90", f.name).uses
        for kernel in made.program.kernels:
            assert uses[kernel.name].spilled <= 4 and uses[kernel.name].registers <= next(most[x] for x in most if x in kernel.note), (f.name, kernel.note, uses[kernel.name])
