"""Products of matrices: a block computes a tile of the result, a thread a few rows and columns of the tile.

    for k in steps of DEPTH: tiles of both sides come to shared memory; every thread multiplies its rows by its columns in registers

Sums go through k in order, by fused multiply-add. Large products take tiles of 128 by 128 with 8 by 8 elements a thread, small ones 64 by 64 with 4 by 4,
so that there are blocks for all multiprocessors, and tiny ones 32 by 32; many products of few rows 16 by 128, of long rows 16 by 256 with 8 by 2 elements a thread: a number of the
wide side is then used eight times when it comes from shared memory. Whether a tile lies inside its matrix is asked once for a block (docs/sources.md G6).
Where the device has a library for them (cuBLAS, brought by PyTorch, JAX or a toolkit), it is asked first, and says whether it has made the product; not for few tiles of f32.
Where few tiles have long sums, blocks make pieces of the sums, and a second kernel adds them up in their order.
Products inside parallel loops are one launch: blocks are numbered by tile and by product. A sum over several indices is one over their numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from atoll.backends.cuda import language as k
from atoll.backends.cuda.points import Nest, indices
from atoll.backends.cuda.threads import Names
from atoll.loops import ir as lp
from atoll.sizes import Poly, Sym, poly
from atoll.sizes.poly import product
from atoll.types.dtypes import F32, F64, I64, DType

THREADS = 256


@dataclass(frozen=True, slots=True)
class Tile:
    each: int  # rows of a thread
    across: int  # columns of a thread
    depth: int
    down: int = 16  # threads along its height

    @property
    def beside(self) -> int:
        """Threads along its width."""
        return THREADS // self.down

    @property
    def height(self) -> int:
        return self.down * self.each

    @property
    def width(self) -> int:
        return self.beside * self.across


LARGE, SMALL, TINY, LOW, LONG = Tile(8, 8, 8), Tile(4, 4, 16), Tile(2, 2, 32), Tile(1, 8, 16), Tile(8, 2, 16, down=2)
_RESIDENT = {LARGE: 2, LONG: 3}  # blocks of f32 at once on a multiprocessor: the compiler takes more registers than that leaves where it is not told
MANY = 264  # tiles of the large kind that fill a GPU
FEW = 66  # tiles of the small kind that leave most of it idle: then sums are cut
LEAST = 64  # terms of a piece of a sum
SHORT = 512  # terms of a sum


def has_kernel(p: lp.Product) -> bool:
    """Of floats, and no product of a matrix and a vector, which is sums of rows."""
    return p.target.dtype.is_float and p.rows != poly(1) and p.columns != poly(1)


def batched(nest: Nest) -> lp.Product | None:
    """The product that every point of a nest is."""
    body = [s for s in nest.body if not isinstance(s, lp.Note)]
    product = body[0] if len(body) == 1 else None
    return product if isinstance(product, lp.Product) and not product.after and has_kernel(product) else None


def rows_of_product(chunk: lp.Chunks) -> bool:
    """Pieces of the rows of a product, perhaps inside loops over several of them."""
    body = chunk.body
    inside = 0
    while len(body) == 1 and isinstance(body[0], lp.For) and body[0].parallel and not {chunk.low, chunk.high} & (body[0].high - body[0].low).leaves():
        body, inside = body[0].body, inside + 1
    return inside > 0 and len(body) == 1 and isinstance(body[0], lp.Product) and not body[0].after and has_kernel(body[0]) and body[0].rows == poly(chunk.high) - poly(chunk.low)


def position(load: lp.Load) -> Poly:
    """Where an element is in memory."""
    at = poly(0)
    for n, (i, extent) in enumerate(zip(load.index, load.buffer.extents, strict=True)):
        at = i if n == 0 else at * extent + i
    return at


def matrix_product(lowering: Any, p: lp.Product, nest: Nest | None = None, extents: tuple[Poly, ...] = ()) -> list[k.Statement]:
    """The launch of a kernel for the product, or for those of all points of a nest; which one depends on its size."""
    names: Names = lowering.names
    out: list[k.Statement] = []
    if nest is not None:
        p = _substituted(p, nest.env)
    rows, columns = lowering.extent(p.rows, out), lowering.extent(p.columns, out)
    sums = tuple(lowering.extent(q, out) for q in p.sums)
    out += lowering.known((p.left_row, p.right_column, p.target_row, p.left_sums, p.right_sums))
    tiles, batch = names.var("tiles", I64, True), names.var("batch", I64, True)
    lowering.host |= {tiles, batch}
    out.append(lp.Let(batch, lp.Index(product(extents))))
    out.append(lp.Let(tiles, lp.Index(_tiles(rows, LARGE.height) * _tiles(columns, LARGE.width) * poly(batch.atom))))

    def launch(tile: Tile) -> Any:
        made = _Kernel(names, p, rows, columns, sums, tile, nest, extents)
        resident = _RESIDENT.get(tile, 0) if p.target.dtype.size == 4 else 0
        note = f"a product of matrices, {tile.height} by {tile.width} elements a block"
        grid = (_tiles(columns, tile.width) * poly(batch.atom), _tiles(rows, tile.height))
        return lowering.launch("product", [k.Region(tuple(made.statements()))], THREADS, grid[0], (made.left, made.right, *made.places), note=note, grid_y=grid[1], resident=resident)

    found = launch(SMALL)
    if p.target.dtype.size == 4:  # else its sums would take all registers
        found = [lp.If((lp.Test("ge", poly(tiles.atom) - MANY),), launch(LARGE), found)] if nest is None else found
    if nest is None and lowering.library:
        found = _cut(lowering, p, (rows, columns, sums), found)
    if nest is not None:
        low = launch(LOW)
        if p.target.dtype.size == 4:
            low = [lp.If((lp.Test("ge", columns - 2 * LONG.width),), launch(LONG), low)]
        found = [lp.If((lp.Test("ge", LOW.height - rows), lp.Test("ge", columns - SMALL.width)), low, found)]
        found = [lp.If((lp.Test("ge", TINY.height - rows), lp.Test("ge", TINY.width - columns)), launch(TINY), found)]
    elif lowering.library and len(sums) == 1 and _same_type(p):
        done = names.var("done", I64, True)
        lowering.host.add(done)
        left = k.Side(p.left.buffer, position(p.left), p.left_row, p.left_sums[0])
        right = k.Side(p.right.buffer, position(p.right), p.right_column, p.right_sums[0])
        target = k.Side(p.target.buffer, position(p.target), p.target_row, poly(1))
        out += lowering.known((left.first, right.first, target.first))
        ask: list[Any] = [k.Multiply(done, rows, columns, sums[0], left, right, target, p.adds)]
        if p.target.dtype.size == 4:  # a library takes longer to be asked than few tiles take; of f64 it has faster instructions
            few = _tiles(rows, SMALL.height) * _tiles(columns, SMALL.width)
            ask = [lp.If((lp.Test("ge", FEW - few), lp.Test("ge", SHORT - sums[0])), [], ask)]
        out += [lp.Declare(done, lp.Const(0, I64)), *ask]
        found = [lp.If((lp.Test("eq", poly(done.atom)),), found)]
    return [*out, *found]


def _cut(lowering: Any, p: lp.Product, sizes: tuple[Poly, Poly, tuple[Poly, ...]], whole: list[Any]) -> list[Any]:
    """Few tiles and long sums: a block makes a piece of the sums of its tile, and pieces are added up in their order. `whole`: otherwise."""
    names: Names = lowering.names
    rows, columns, sums = sizes
    pieces, length = names.var("pieces", I64, True), names.var("length", I64, True)
    lowering.host |= {pieces, length}
    few, depth = _tiles(rows, SMALL.height) * _tiles(columns, SMALL.width), product(sums)
    many = lp.Call("min", (lp.Index(poly(MANY) // (few + 1)), lp.Index(depth // LEAST)), I64)
    out: list[Any] = [lp.Let(pieces, lp.Call("max", (many, lp.Const(1, I64)), I64))]
    count = poly(pieces.atom)
    out.append(lp.Let(length, lp.Index(SMALL.depth * ((depth + SMALL.depth * count - 1) // (SMALL.depth * count)))))
    parts = names.buffer("parts", p.target.dtype, (count, rows, columns), "temp", "pieces of the sums of a product")
    piece = replace(p, target=lp.Load(parts, (poly(0), poly(0), poly(0))), target_row=columns, adds=False)
    made = _Kernel(names, piece, rows, columns, sums, SMALL, None, (), poly(length.atom))
    grid = (_tiles(columns, SMALL.width), count * _tiles(rows, SMALL.height))
    note = "pieces of the sums of a product of matrices"
    cut: list[Any] = [lp.Alloc(parts), *lowering.launch("product", [k.Region(tuple(made.statements()))], THREADS, grid[0], (made.left, made.right, *made.places), note=note, grid_y=grid[1])]
    cut += lowering.launch("sums", _added(names, p, parts), THREADS, (rows * columns + (THREADS - 1)) // THREADS, note="pieces of the sums of a product, added up")
    return [*out, lp.If((lp.Test("ge", count - 2), lp.Test("ge", FEW - few)), [*cut, lp.Free(parts)], whole)]


def _added(names: Names, p: lp.Product, parts: lp.Buffer) -> list[k.Statement]:
    """A thread for every element of a product whose sums are in pieces: [piece, row, column]."""
    count, rows, columns = parts.extents
    to = p.target.buffer
    c = names.buffer("c", to.dtype, (product(to.extents) - position(p.target),), "part")
    at, row, total, q = names.var("p", I64, True), names.var("row", I64, True), names.var("sum", to.dtype), names.sym("q")
    i, j = poly(row.atom), poly(at.atom) - poly(row.atom) * columns
    place, more = (i * p.target_row + j,), lp.Call("add", (lp.Use(total), lp.Load(parts, (poly(q), i, j))), to.dtype)
    last: lp.Expr = lp.Call("add", (lp.Load(c, place), lp.Use(total)), to.dtype) if p.adds else lp.Use(total)
    add = lp.For(q, poly(1), count, [lp.Assign(total, more)], parallel=False, unroll=True)
    body: list[lp.Stmt] = [lp.Let(row, lp.Index(poly(at.atom) // columns)), lp.Declare(total, lp.Load(parts, (poly(0), i, j))), add, lp.Store(c, place, last)]
    there = lp.If((lp.Test("ge", rows * columns - 1 - poly(at.atom)),), body)
    return [k.Region((k.Part(c, to, position(p.target)), lp.Let(at, lp.Index(THREADS * poly(k.BLOCK) + poly(k.THREAD))), there))]


def _same_type(p: lp.Product) -> bool:
    """Of numbers that a library has, in memory that the host knows."""
    return all(x.buffer.dtype in (F32, F64) and x.buffer.dtype is p.target.buffer.dtype and x.buffer.kind != "const" and x.buffer.rows is None for x in (p.left, p.right, p.target))


def _substituted(p: lp.Product, env: dict[Any, Poly]) -> lp.Product:
    """Sizes and steps of a product as they are at the points of a nest."""

    def sub(x: Any) -> Any:
        return tuple(map(sub, x)) if isinstance(x, tuple) else x.subst(env)

    return replace(
        p, rows=sub(p.rows), columns=sub(p.columns), sums=sub(p.sums), left_row=sub(p.left_row), left_sums=sub(p.left_sums), right_column=sub(p.right_column), right_sums=sub(p.right_sums),
        target_row=sub(p.target_row), left=lp.Load(p.left.buffer, sub(p.left.index)), right=lp.Load(p.right.buffer, sub(p.right.index)), target=lp.Load(p.target.buffer, sub(p.target.index)),
    )  # fmt: skip


def _tiles(n: Poly, side: int) -> Poly:
    return (n + (side - 1)) // side


def _spaced(thread: Poly, e: Poly, each: int, threads: int) -> Poly:
    """The e-th of a thread's rows or columns: groups of four neighbours, four times the number of threads apart."""
    return min(each, 4) * thread + (e if each <= 4 else (e // 4) * (4 * threads) + e % 4)


class _Kernel:
    """The text of one kernel."""

    def __init__(self, names: Names, p: lp.Product, rows: Poly, columns: Poly, sums: tuple[Poly, ...], tile: Tile, nest: Nest | None, extents: tuple[Poly, ...], length: Poly | None = None) -> None:
        """`length`: sums are in pieces of so many terms, and the target is one matrix for each."""
        self.rows, self.columns, self.extents, self.depth, self.tile = rows, columns, sums, product(sums), tile
        self.from_, self.end = poly(0), self.depth
        self.names, self.block = names, poly(k.BLOCK)
        self.first: list[k.Statement] = []
        if nest is not None:  # which product, and which of its tiles
            which, tiles = names.var("which", I64, True), _tiles(columns, tile.width)
            self.first.append(lp.Let(which, lp.Index(poly(k.BLOCK) // tiles)))
            self.block = poly(k.BLOCK) - poly(which.atom) * tiles
            index, env = indices(names, nest, extents, poly(which.atom))
            self.first += index
            p = _substituted(p, env)
        self.p = p
        self.dtype: DType = p.target.dtype
        t = self.dtype
        self.a, self.b, self.c = (names.buffer(x, t, (product(load.buffer.extents) - position(load),), "part") for x, load in (("left", p.left), ("right", p.right), ("target", p.target)))
        self.left, self.right = (names.buffer(x, t, (poly(tile.depth), poly(side)), "shared") for x, side in (("a_tile", tile.height + 4), ("b_tile", tile.width)))
        several = len(sums) > 1  # then where rounds of the sum lie is made once for a block
        self.places = tuple(names.buffer(x, I64, (poly(tile.depth),), "shared") for x in ("a_places", "b_places")) if several else ()
        self.sums = names.buffer("sums", t, (poly(tile.each), poly(tile.across)), "temp")
        self.sums.local = True
        self.thread = poly(k.THREAD)
        self.first_row, self.first_column = tile.height * poly(k.BLOCK_Y), tile.width * self.block
        if length is not None:
            down = _tiles(rows, tile.height)
            which, end = names.var("piece", I64, True), names.var("end", I64, True)
            self.first_row, self.from_, self.end = self.first_row - tile.height * down * poly(which.atom), length * poly(which.atom), poly(end.atom)
            self.first += [lp.Let(which, lp.Index(poly(k.BLOCK_Y) // down)), lp.Let(end, lp.Call("min", (lp.Index(self.from_ + length), lp.Index(self.depth)), I64))]
            self.p = p = replace(p, target=lp.Load(p.target.buffer, (poly(which.atom), poly(0), poly(0))))
            self.c = names.buffer("c", p.target.dtype, (rows * columns,), "part")

    def row(self, e: Poly) -> Poly:
        """The e-th row of a thread in its tile."""
        return _spaced(self.thread // self.tile.beside, e, self.tile.each, self.tile.down)

    def column(self, e: Poly) -> Poly:
        return _spaced(self.thread % self.tile.beside, e, self.tile.across, self.tile.beside)

    def statements(self) -> list[k.Statement]:
        p, tile, names = self.p, self.tile, self.names
        out: list[k.Statement] = [*self.first, *(k.Part(b, load.buffer, position(load)) for b, load in ((self.a, p.left), (self.b, p.right), (self.c, p.target)))]
        out.append(lp.Alloc(self.sums))
        x, y = names.sym("x"), names.sym("y")
        zero = lp.Const(0.0, self.dtype)
        out.append(self.unrolled(x, tile.each, [self.unrolled(y, tile.across, [lp.Store(self.sums, (poly(x), poly(y)), zero)])]))
        inside = (lp.Test("ge", self.rows - self.first_row - tile.height), lp.Test("ge", self.columns - self.first_column - tile.width))
        full = names.var("inside", I64, True)
        out.append(lp.Let(full, lp.Choose(inside, lp.Const(1, I64), lp.Const(0, I64))))
        step = names.sym("step")
        k0 = self.from_ + tile.depth * poly(step)
        whole = (lp.Test("ne", poly(full.atom)), lp.Test("ge", self.end - k0 - tile.depth))
        body: list[Any] = [*self.placed(k0), lp.If(whole, self.bring(k0, False), self.bring(k0, True)), k.Barrier(), *self.multiply(), k.Barrier()]
        out.append(lp.For(step, poly(0), (self.end - self.from_ + (tile.depth - 1)) // tile.depth, body, parallel=False))
        out.append(lp.If((lp.Test("ne", poly(full.atom)),), self.store(False), self.store(True)))
        return out

    def unrolled(self, sym: Sym, count: int, body: list[Any]) -> lp.For:
        return lp.For(sym, poly(0), poly(count), body, parallel=False, unroll=True)

    def bring(self, k0: Poly, guarded: bool) -> list[lp.Stmt]:
        """Tiles to shared memory: neighbouring threads take neighbouring elements along the axis that is closest in memory."""
        p, tile = self.p, self.tile
        out: list[lp.Stmt] = []
        sides = (
            (self.a, self.left, p.left_row, p.left_sums, self.first_row, self.rows, tile.height),
            (self.b, self.right, p.right_column, p.right_sums, self.first_column, self.columns, tile.width),
        )
        for which, (source, target, across, along, first, extent, side) in enumerate(sides):
            e = self.names.sym("e")
            # where k is next to k in memory, threads go through k first
            if along[-1] == poly(1) and across != poly(1):
                deep, line = self.numbered(poly(e), tile.depth)
            else:
                line, deep = self.numbered(poly(e), side)
            steps: list[lp.Stmt] = []
            place = (k0 + deep) * along[0]
            if self.places:
                known = self.names.var("place", I64, True)
                steps, place = [lp.Let(known, lp.Load(self.places[which], (deep,)))], poly(known.atom)
            load = lp.Load(source, ((first + line) * across + place,))
            value: lp.Expr = load
            if guarded:
                there = (lp.Test("ge", extent - 1 - first - line), lp.Test("ge", self.end - 1 - k0 - deep))
                value = lp.Choose(there, load, lp.Const(0.0, self.dtype))
            out.append(self.unrolled(e, side * tile.depth // THREADS, [*steps, lp.Store(target, (deep, line), value)]))
        return out

    def numbered(self, e: Poly, length: int) -> tuple[Poly, Poly]:
        """The number thread + THREADS * e modulo a power of two, and divided by it, written so that as much as possible is the same for all e."""
        if length <= THREADS:
            return self.thread % length, self.thread // length + (THREADS // length) * e
        return self.thread + THREADS * (e % (length // THREADS)), e // (length // THREADS)

    def placed(self, k0: Poly) -> list[Any]:
        """Where the next rounds of a sum over several indices lie in both sides."""
        if not self.places:
            return []
        digits, steps = self.digits(k0 + self.thread)
        sides = zip(self.places, (self.p.left_sums, self.p.right_sums), strict=True)
        put = [lp.Store(b, (self.thread,), lp.Index(sum((d * s for d, s in zip(digits, along, strict=True)), poly(0)))) for b, along in sides]
        return [lp.If((lp.Test("ge", self.tile.depth - 1 - self.thread),), [*steps, *put]), k.Barrier()]

    def digits(self, number: Poly) -> tuple[list[Poly], list[lp.Stmt]]:
        """The indices of a sum over several, of the round with this number."""
        found: list[Poly] = []
        made: list[lp.Stmt] = []
        for extent in reversed(self.extents[1:]):
            before, here = self.names.var("q", I64, True), self.names.var("r", I64, True)
            made += [lp.Let(before, lp.Index(number // extent)), lp.Let(here, lp.Index(number - poly(before.atom) * extent))]
            found.insert(0, poly(here.atom))
            number = poly(before.atom)
        return [number, *found], made

    def multiply(self) -> list[lp.Stmt]:
        names, tile = self.names, self.tile
        d, x, y = names.sym("d"), names.sym("x"), names.sym("y")
        mine, theirs = (names.buffer(n, self.dtype, (poly(each),), "temp") for n, each in (("column", tile.each), ("row", tile.across)))
        mine.local = theirs.local = True
        i, j = names.sym("x"), names.sym("y")
        body: list[lp.Stmt] = [lp.Alloc(mine), lp.Alloc(theirs)]
        body.append(self.unrolled(i, tile.each, [lp.Store(mine, (poly(i),), lp.Load(self.left, (poly(d), self.row(poly(i)))))]))
        body.append(self.unrolled(j, tile.across, [lp.Store(theirs, (poly(j),), lp.Load(self.right, (poly(d), self.column(poly(j)))))]))
        old = lp.Load(self.sums, (poly(x), poly(y)))
        fused = lp.Call("fma", (lp.Load(mine, (poly(x),)), lp.Load(theirs, (poly(y),)), old), self.dtype)
        body.append(self.unrolled(x, tile.each, [self.unrolled(y, tile.across, [lp.Store(self.sums, (poly(x), poly(y)), fused)])]))
        return [self.unrolled(d, tile.depth, body)]

    def store(self, guarded: bool) -> list[lp.Stmt]:
        names, tile = self.names, self.tile
        x, y = names.sym("x"), names.sym("y")
        row, column = self.first_row + self.row(poly(x)), self.first_column + self.column(poly(y))
        place = (row * self.p.target_row + column,)
        value: lp.Expr = lp.Load(self.sums, (poly(x), poly(y)))
        if self.p.adds:
            value = lp.Call("add", (lp.Load(self.c, place), value), self.dtype)
        put: list[lp.Stmt] = [lp.Store(self.c, place, value)]
        if guarded:
            put = [lp.If((lp.Test("ge", self.rows - 1 - row), lp.Test("ge", self.columns - 1 - column)), put)]
        return [self.unrolled(x, tile.each, [self.unrolled(y, tile.across, put)])]

