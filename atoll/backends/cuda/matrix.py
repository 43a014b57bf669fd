"""Products of matrices: a block computes a tile of the result, a thread a few rows and columns of the tile.

    for k in steps of DEPTH: tiles of both sides come to shared memory; every thread multiplies its rows by its columns in registers

Sums go through k in order, by fused multiply-add. Large products take tiles of 128 by 128 with 8 by 8 elements a thread, small ones 64 by 64 with 4 by 4,
so that there are blocks for all multiprocessors. Whether a tile lies inside its matrix is asked once for a block (notes/cuda_shapes.md 6).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from atoll.backends.cuda import language as k
from atoll.backends.cuda.threads import Names
from atoll.loops import ir as lp
from atoll.sizes import Poly, Sym, poly
from atoll.sizes.poly import product
from atoll.types.dtypes import I64, DType

SIDE = 16  # threads along each side of a tile
THREADS = SIDE * SIDE


@dataclass(frozen=True, slots=True)
class Tile:
    each: int  # rows, and columns, of a thread
    depth: int

    @property
    def side(self) -> int:
        return SIDE * self.each


LARGE, SMALL = Tile(8, 8), Tile(4, 16)
MANY = 264  # tiles of the large kind that fill a GPU


def has_kernel(p: lp.Product) -> bool:
    """One sum, of floats."""
    return len(p.sums) == 1 and p.target.dtype.is_float


def position(load: lp.Load) -> Poly:
    """Where an element is in memory."""
    at = poly(0)
    for n, (i, extent) in enumerate(zip(load.index, load.buffer.extents, strict=True)):
        at = i if n == 0 else at * extent + i
    return at


def matrix_product(lowering: Any, p: lp.Product) -> list[k.Statement]:
    """The launch of a kernel for the product; which one depends on its size."""
    names: Names = lowering.names
    out: list[k.Statement] = []
    rows, columns = lowering.extent(p.rows, out), lowering.extent(p.columns, out)
    depth = lowering.extent(p.sums[0], out)
    out += lowering.known((p.left_row, p.right_column, p.target_row, p.left_sums, p.right_sums))
    tiles = names.var("tiles", I64, True)
    lowering.host.add(tiles)
    out.append(lp.Let(tiles, lp.Index(_tiles(rows, LARGE) * _tiles(columns, LARGE))))
    small = _launch(lowering, p, rows, columns, depth, SMALL)
    if p.target.dtype.size > 4:  # its sums would take all registers
        return [*out, *small]
    large = _launch(lowering, p, rows, columns, depth, LARGE)
    return [*out, lp.If((lp.Test("ge", poly(tiles.atom) - MANY),), large, small)]  # type: ignore[arg-type]


def _tiles(n: Poly, tile: Tile) -> Poly:
    return (n + (tile.side - 1)) // tile.side


class _Kernel:
    """The text of one kernel."""

    def __init__(self, names: Names, p: lp.Product, rows: Poly, columns: Poly, depth: Poly, tile: Tile) -> None:
        self.names, self.p, self.rows, self.columns, self.depth, self.tile = names, p, rows, columns, depth, tile
        self.dtype: DType = p.target.dtype
        t = self.dtype
        self.a, self.b, self.c = (names.buffer(x, t, (product(load.buffer.extents) - position(load),), "part") for x, load in (("left", p.left), ("right", p.right), ("target", p.target)))
        self.left, self.right = (names.buffer(x, t, (poly(tile.depth), poly(tile.side + pad)), "shared") for x, pad in (("a_tile", 4), ("b_tile", 0)))
        self.sums = names.buffer("sums", t, (poly(tile.each), poly(tile.each)), "temp")
        self.sums.local = True
        self.thread = poly(k.THREAD)
        self.row, self.column = self.thread // SIDE, self.thread % SIDE
        self.first_row, self.first_column = tile.side * poly(k.BLOCK_Y), tile.side * poly(k.BLOCK)

    def offset(self, e: Poly) -> Poly:
        """The e-th row or column of a thread in its tile, without the thread: groups of four, SIDE * 4 apart."""
        return e if self.tile.each <= 4 else (e // 4) * (4 * SIDE) + e % 4

    def statements(self) -> list[k.Statement]:
        p, tile, names = self.p, self.tile, self.names
        out: list[k.Statement] = [k.Part(b, load.buffer, position(load)) for b, load in ((self.a, p.left), (self.b, p.right), (self.c, p.target))]
        out.append(lp.Alloc(self.sums))
        x, y = names.sym("x"), names.sym("y")
        zero = lp.Const(0.0, self.dtype)
        out.append(self.unrolled(x, tile.each, [self.unrolled(y, tile.each, [lp.Store(self.sums, (poly(x), poly(y)), zero)])]))
        inside = (lp.Test("ge", self.rows - self.first_row - tile.side), lp.Test("ge", self.columns - self.first_column - tile.side))
        full = names.var("inside", I64, True)
        out.append(lp.Let(full, lp.Choose(inside, lp.Const(1, I64), lp.Const(0, I64))))
        step = names.sym("step")
        k0 = tile.depth * poly(step)
        whole = (lp.Test("ne", poly(full.atom)), lp.Test("ge", self.depth - k0 - tile.depth))
        body: list[Any] = [lp.If(whole, self.bring(k0, False), self.bring(k0, True)), k.Barrier(), *self.multiply(), k.Barrier()]
        out.append(lp.For(step, poly(0), (self.depth + (tile.depth - 1)) // tile.depth, body, parallel=False))
        out.append(lp.If((lp.Test("ne", poly(full.atom)),), self.store(False), self.store(True)))
        return out

    def unrolled(self, sym: Sym, count: int, body: list[Any]) -> lp.For:
        return lp.For(sym, poly(0), poly(count), body, parallel=False, unroll=True)

    def bring(self, k0: Poly, guarded: bool) -> list[lp.Stmt]:
        """Tiles to shared memory: neighbouring threads take neighbouring elements along the axis that is closest in memory."""
        p, tile = self.p, self.tile
        each = tile.side * tile.depth // THREADS
        out: list[lp.Stmt] = []
        sides = (
            (self.a, self.left, p.left_row, p.left_sums[0], self.first_row, self.rows),
            (self.b, self.right, p.right_column, p.right_sums[0], self.first_column, self.columns),
        )
        for source, target, across, along, first, extent in sides:
            e = self.names.sym("e")
            number = self.names.var("number", I64, True)
            at = poly(number.atom)
            # where k is next to k in memory, threads go through k first
            if along == poly(1):
                line, deep = at // tile.depth, at % tile.depth
            else:
                line, deep = at % tile.side, at // tile.side
            load = lp.Load(source, ((first + line) * across + (k0 + deep) * along,))
            value: lp.Expr = load
            if guarded:
                there = (lp.Test("ge", extent - 1 - first - line), lp.Test("ge", self.depth - 1 - k0 - deep))
                value = lp.Choose(there, load, lp.Const(0.0, self.dtype))
            body: list[lp.Stmt] = [lp.Let(number, lp.Index(self.thread + THREADS * poly(e))), lp.Store(target, (deep, line), value)]
            out.append(self.unrolled(e, each, body))
        return out

    def multiply(self) -> list[lp.Stmt]:
        names, tile = self.names, self.tile
        d, x, y = names.sym("d"), names.sym("x"), names.sym("y")
        mine, theirs = (names.buffer(n, self.dtype, (poly(tile.each),), "temp") for n in ("column", "row"))
        mine.local = theirs.local = True
        i, j = names.sym("x"), names.sym("y")
        body: list[lp.Stmt] = [lp.Alloc(mine), lp.Alloc(theirs)]
        body.append(self.unrolled(i, tile.each, [lp.Store(mine, (poly(i),), lp.Load(self.left, (poly(d), 4 * self.row + self.offset(poly(i)))))]))
        body.append(self.unrolled(j, tile.each, [lp.Store(theirs, (poly(j),), lp.Load(self.right, (poly(d), 4 * self.column + self.offset(poly(j)))))]))
        old = lp.Load(self.sums, (poly(x), poly(y)))
        fused = lp.Call("fma", (lp.Load(mine, (poly(x),)), lp.Load(theirs, (poly(y),)), old), self.dtype)
        body.append(self.unrolled(x, tile.each, [self.unrolled(y, tile.each, [lp.Store(self.sums, (poly(x), poly(y)), fused)])]))
        return [self.unrolled(d, tile.depth, body)]

    def store(self, guarded: bool) -> list[lp.Stmt]:
        names, tile = self.names, self.tile
        x, y = names.sym("x"), names.sym("y")
        row = self.first_row + 4 * self.row + self.offset(poly(x))
        column = self.first_column + 4 * self.column + self.offset(poly(y))
        place = (row * self.p.target_row + column,)
        value: lp.Expr = lp.Load(self.sums, (poly(x), poly(y)))
        if self.p.adds:
            value = lp.Call("add", (lp.Load(self.c, place), value), self.dtype)
        put: list[lp.Stmt] = [lp.Store(self.c, place, value)]
        if guarded:
            put = [lp.If((lp.Test("ge", self.rows - 1 - row), lp.Test("ge", self.columns - 1 - column)), put)]
        return [self.unrolled(x, tile.each, [self.unrolled(y, tile.each, put)])]


def _launch(lowering: Any, p: lp.Product, rows: Poly, columns: Poly, depth: Poly, tile: Tile) -> list[k.Statement]:
    made = _Kernel(lowering.names, p, rows, columns, depth, tile)
    body = [k.Region(tuple(made.statements()))]
    note = f"a product of matrices, {tile.side} by {tile.side} elements a block"
    grid = (_tiles(columns, tile), _tiles(rows, tile))
    resident = 2 if tile is LARGE and p.target.dtype.size == 4 else 0
    return lowering.launch("product", body, THREADS, grid[0], (made.left, made.right), note=note, grid_y=grid[1], resident=resident)  # type: ignore[no-any-return]
