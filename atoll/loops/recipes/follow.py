"""What follows a product row by row is joined to it: the matrix kernel does it for every piece of rows while that is in the cache.

    product of n by m over k: c = a b          becomes      product of n by m over k: c = a b
    pieces lo..hi of n:  r[i, j] = f(c[i, j])                 then, for finished rows lo..hi:  r[i, j] = f(c[i, j])

Anything in pieces over the same rows will do (a bias, an activation, a softmax of every row) if it reads the product at its own rows
only and writes nothing that the product reads. Results are the same: pieces of rows do not depend on each other. When every element of
the product is read once, to make the element of another array in its place, the product goes into that array and has no memory of its own.
"""

from __future__ import annotations

from dataclasses import replace

from atoll.loops import ir as lp
from atoll.loops.questions import loads
from atoll.loops.transform.copier import Copier, copyable
from atoll.loops.transform.walk import every_block, outermost_first, without_memory
from atoll.sizes import Poly, Sym, poly

Pairs = list[tuple[lp.Product, lp.Chunks, lp.Buffer | None]]  # the array that the product may go into
_INSIDE = (lp.Let, lp.Declare, lp.Assign, lp.Store, lp.Update, lp.Alloc, lp.Free, lp.For, lp.Accumulate, lp.Add, lp.If, lp.Check, lp.Note)


def followers(stmts: lp.Stmts) -> Pairs:
    """Products with the pieces that can be joined to them. Seen before other rewrites, which change how indices are written."""
    found: Pairs = []
    for k, stmt in enumerate(stmts):
        if isinstance(stmt, lp.Product):
            after = _next_pieces(stmt, stmts[k + 1 :])
            if after is not None and _by_rows(stmt, after):
                found.append((stmt, after, _made_of(stmt, after)))
        elif not isinstance(stmt, lp.Chunks):  # inside pieces, products are small and one thread's own
            for body in lp.bodies(stmt):
                found += followers(body)
    return found


def join(stmts: lp.Stmts, pairs: Pairs, decisions: list[str]) -> lp.Stmts:
    """The same statements, with the pieces in their products. What stood between goes before the product, memory is freed after it."""

    def block(out: lp.Stmts) -> lp.Stmts:
        for found, pieces, _ in pairs:
            first = next((k for k, s in enumerate(out) if _is(s, found)), None)
            product = None if first is None else out[first]
            after = _next_pieces(product, out[first + 1 :]) if first is not None and isinstance(product, lp.Product) else None
            if first is None or not isinstance(product, lp.Product) or after is None or after.low is not pieces.low:
                continue
            last = next(k for k, s in enumerate(out) if s is after)
            between = out[first + 1 : last]
            frees = [s for s in between if isinstance(s, lp.Free)]
            out = [*out[:first], *(s for s in between if not isinstance(s, lp.Free)), replace(product, after=[after]), *frees, *out[last + 1 :]]
            decisions.append(f"what follows the product {product.target.buffer.shown} is done with its rows as they are finished")
        return out

    return every_block(stmts, block, lambda stmt: not isinstance(stmt, (lp.Chunks, lp.Product)))


def _is(stmt: lp.Stmt, found: lp.Product) -> bool:
    """The product that was found first, whatever became of the loops that say what it is."""
    return isinstance(stmt, lp.Product) and stmt.target is found.target


def in_place(stmts: lp.Stmts, pairs: Pairs) -> lp.Stmts:
    """Products into the memory of what is made of them, when nobody else reads them. After `join`."""
    for found, _, made in pairs:
        product = next((s for s in lp.walk(stmts) if _is(s, found)), None)
        own = found.target.buffer
        if not isinstance(product, lp.Product) or not product.after or made is None or own.kind != "temp":
            continue
        pieces = product.after[0]
        assert isinstance(pieces, lp.Chunks)
        if not copyable([*product.body, *pieces.body]):
            continue
        inside = {id(s) for s in (*lp.walk(product.body), *lp.walk([pieces]), product)}
        if any(_mentions(s, own) and not isinstance(s, (lp.Alloc, lp.Free)) and id(s) not in inside for s in lp.walk(stmts)):
            continue
        moved = _Moved(own, made)
        body, after = moved.stmts(product.body), replace(pieces, body=moved.stmts(pieces.body))
        there = replace(product, body=body, target=lp.Load(made, product.target.index), after=[after])
        stmts = without_memory(_exchanged(stmts, product, there), (own,))
    return stmts


def _exchanged(stmts: lp.Stmts, old: lp.Stmt, new: lp.Stmt) -> lp.Stmts:
    return outermost_first(stmts, lambda stmt, known: [new] if stmt is old else None)


def _made_of(product: lp.Product, pieces: lp.Chunks) -> lp.Buffer | None:
    """The array whose elements are made of those of the product, each of the one at its place."""
    body = pieces.body
    first: list[tuple[Sym, Poly, Poly]] = []
    while len(body) == 1 and isinstance(body[0], lp.For):
        first.append((body[0].sym, body[0].low, body[0].high))
        body = body[0].body
    stores = [s for s in body if isinstance(s, lp.Store)]
    if len(stores) != 1 or not all(isinstance(s, (lp.Let, lp.Store)) for s in body) or not copyable(pieces.body) or len(first) != 2:
        return None
    target, store = product.target.buffer, stores[0]
    row, column = first
    ranges = row[1:] == (poly(pieces.low), poly(pieces.high)) and column[1:] == (poly(0), product.columns)
    read = loads(body)
    same = all(x.index == store.index for x in read if x.buffer is target) and not any(x.buffer is store.buffer for x in read)
    alike = store.buffer.dtype is target.dtype and store.buffer.extents == target.extents and store.buffer.rows is None
    if not ranges or not same or not alike or store.buffer is target or not _element(product, store.index, row[0], column[0]):
        return None
    return store.buffer


def _element(product: lp.Product, index: tuple[Poly, ...], row: Sym, column: Sym) -> bool:
    """The index is that of the product's element in this row and column."""
    nest = [s for s in lp.walk(product.body) if isinstance(s, lp.For)]
    stores = [s.index for s in lp.walk(product.body) if isinstance(s, lp.Store)]
    names = {nest[0].sym: poly(row), nest[1].sym: poly(column)}
    return len(stores) == 1 and nest[0].high == product.rows and nest[1].high == product.columns and tuple(p.subst(names) for p in stores[0]) == index


class _Moved(Copier):
    """A copy with another array in the place of one."""

    def __init__(self, old: lp.Buffer, new: lp.Buffer) -> None:
        super().__init__({})
        self.old, self.new = old, new

    def buffer(self, b: lp.Buffer) -> lp.Buffer:
        return self.new if b is self.old else b

    def expr(self, e: lp.Expr) -> lp.Expr:
        made = super().expr(e)
        return lp.Load(self.buffer(made.buffer), made.index) if isinstance(made, lp.Load) else made

    def stmt(self, s: lp.Stmt) -> list[lp.Stmt]:
        return [replace(x, buffer=self.buffer(x.buffer)) if isinstance(x, (lp.Store, lp.Update)) else x for x in super().stmt(s)]


def _mentions(s: lp.Stmt, buffer: lp.Buffer) -> bool:
    """The statement itself, not the statements inside it."""
    inner = [x for body in lp.bodies(s) for x in lp.walk(body)]
    if isinstance(s, lp.Product):
        return buffer in (s.left.buffer, s.right.buffer, s.target.buffer)
    return any(b is buffer for b in _buffers(s, {id(x) for x in inner}))


def _buffers(x: object, skip: set[int]) -> list[lp.Buffer]:
    if isinstance(x, lp.Buffer):
        return [x]
    if isinstance(x, (list, tuple)):
        return [b for item in x if id(item) not in skip for b in _buffers(item, skip)]
    return [b for name in lp.FIELDS.get(type(x), ()) for b in _buffers(getattr(x, name), skip)]


def _next_pieces(product: lp.Product, rest: lp.Stmts) -> lp.Chunks | None:
    """The next statement that is pieces, if what stands between may go elsewhere."""
    target = product.target.buffer
    for stmt in rest:
        if isinstance(stmt, lp.Chunks):
            return stmt
        checks = isinstance(stmt, lp.If) and all(isinstance(s, (lp.Check, lp.If)) for s in lp.walk([stmt]))
        if not checks and not isinstance(stmt, (lp.Alloc, lp.Free, lp.Let, lp.Check, lp.Note)):
            return None
        if any(x.buffer is target for x in loads(stmt)) or (isinstance(stmt, (lp.Alloc, lp.Free)) and stmt.buffer is target):
            return None
    return None


def _by_rows(product: lp.Product, after: lp.Chunks) -> bool:
    rows = product.body[0]
    inside = list(lp.walk(after.body))
    if after.accs or after.buffers or not isinstance(rows, lp.For) or rows.high != product.rows or after.extent != product.rows:
        return False
    if not all(isinstance(s, _INSIDE) for s in inside):
        return False
    written = [(s.buffer, s.index) for s in inside if isinstance(s, (lp.Store, lp.Update))]
    if any(buffer in (product.left.buffer, product.right.buffer) for buffer, _ in written):
        return False
    target = product.target.buffer
    axis = _row_axis(product, rows.sym)
    own: set[Sym] = {s.sym for s in inside if isinstance(s, (lp.For, lp.Accumulate)) and s.low == poly(after.low) and s.high == poly(after.high)}
    touched: list[tuple[Poly, ...]] = [x.index for x in loads(after.body) if x.buffer is target] + [index for buffer, index in written if buffer is target]
    return axis is not None and bool(touched) and all(index[axis] in map(poly, own) for index in touched)


def _row_axis(product: lp.Product, row: Sym) -> int | None:
    """The axis of the target that is its row, and nothing else."""
    stores = [s.index for s in lp.walk(product.body) if isinstance(s, lp.Store)]
    if len(stores) != 1:
        return None
    axes = [k for k, p in enumerate(stores[0]) if row in p.leaves()]
    return axes[0] if len(axes) == 1 and stores[0][axes[0]] == poly(row) else None
