"""Pieces over the rows of a product, done with its rows as they are finished (fusion of a kernel with what reads it).

    product of n by m over k: c = a b                     product of n by m over k: c = a b
    pieces lo..hi of n:  r[i, j] = f(c[i, j])   becomes      then, for finished rows lo..hi:  r[i, j] = f(c[i, j])

    follower(product, after)         the next pieces after a product, where they may be joined to it
    joined(block, found)             the block with the pieces in the product
    into_its_reader(stmts, found)    the product in the memory of what is made of it: c is gone

The pieces may be joined where they run through its rows, touch of it their own rows only, write nothing that the product reads and add nothing up; what they are made of is seen,
so none of them is a product or prints. What stands between makes names or memory, frees, or checks, and does not know the product: it goes before the product,
memory is freed after it. That is looked for in the program as it stands when the pieces are found; rewrites in between keep what a piece reads and writes, and that the pieces are
the next ones is looked for again.

The product may be where its reader writes if the element r[i, j] is made of c[i, j], once, and of no other element of the two, nobody else knows c, and both arrays are alike.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from atoll.loops import ir as lp
from atoll.loops.questions import loads, mentions
from atoll.loops.transform.copier import Copier, copyable
from atoll.loops.transform.refused import Made, Refused
from atoll.loops.transform.walk import outermost_first, without_memory
from atoll.sizes import Poly, Sym, poly

Index = tuple[Poly, ...]
_SEEN = (lp.Let, lp.Declare, lp.Assign, lp.Store, lp.Update, lp.Alloc, lp.Free, lp.For, lp.Accumulate, lp.Add, lp.If, lp.Check, lp.Note)
_MOVES = (lp.Alloc, lp.Free, lp.Let, lp.Check, lp.Note)


@dataclass(frozen=True, slots=True)
class Follower:
    """A product, the pieces that may be joined to it, and the array that it may go into."""

    product: lp.Product
    pieces: lp.Chunks
    into: lp.Buffer | None

    def is_of(self, stmt: lp.Stmt) -> bool:
        """The statement is the product, whatever became of the loops that say what it is."""
        return isinstance(stmt, lp.Product) and stmt.target is self.product.target


# -- pieces after a product


def follower(product: lp.Product, after: lp.Stmts) -> Follower | Refused:
    pieces = _next_pieces(product, after)
    if pieces is None:
        return Refused("no pieces come next")
    why = _not_by_rows(product, pieces)
    return Refused(why) if why is not None else Follower(product, pieces, _made_of(product, pieces))


def joined(block: lp.Stmts, found: Follower) -> Made:
    first = next((k for k, s in enumerate(block) if found.is_of(s)), None)
    product = None if first is None else block[first]
    if first is None or not isinstance(product, lp.Product):
        return Refused("the product is not in this block")
    pieces = _next_pieces(product, block[first + 1 :])
    if pieces is None or pieces.low is not found.pieces.low:
        return Refused("other pieces come next")
    last = next(k for k, s in enumerate(block) if s is pieces)
    between = block[first + 1 : last]
    frees = [s for s in between if isinstance(s, lp.Free)]
    return [*block[:first], *(s for s in between if not isinstance(s, lp.Free)), replace(product, after=[pieces]), *frees, *block[last + 1 :]]


def _next_pieces(product: lp.Product, after: lp.Stmts) -> lp.Chunks | None:
    """The next statement that is pieces, if what stands between may go elsewhere."""
    target = product.target.buffer
    for stmt in after:
        if isinstance(stmt, lp.Chunks):
            return stmt
        checks = isinstance(stmt, lp.If) and all(isinstance(s, (lp.Check, lp.If)) for s in lp.walk([stmt]))
        if not checks and not isinstance(stmt, _MOVES):
            return None
        if any(x.buffer is target for x in loads(stmt)) or (isinstance(stmt, (lp.Alloc, lp.Free)) and stmt.buffer is target):
            return None
    return None


def _not_by_rows(product: lp.Product, pieces: lp.Chunks) -> str | None:
    """Why a piece may not be done as soon as its rows of the product are."""
    rows = product.body[0]
    if pieces.accs or pieces.buffers:
        return "pieces add up what they have"
    if not isinstance(rows, lp.For) or rows.high != product.rows or pieces.extent != product.rows:
        return "these are no pieces of its rows"
    inside = list(lp.walk(pieces.body))
    if not all(isinstance(s, _SEEN) for s in inside):
        return "something in the pieces is told as a whole, not by elements"
    written = [(s.buffer, s.index) for s in inside if isinstance(s, (lp.Store, lp.Update))]
    if any(buffer in (product.left.buffer, product.right.buffer) for buffer, _ in written):
        return "the product reads what the pieces write"
    target, axis = product.target.buffer, _row_axis(product, rows.sym)
    touched = [x.index for x in loads(pieces.body) if x.buffer is target] + [index for buffer, index in written if buffer is target]
    own = [poly(s.sym) for s in inside if isinstance(s, (lp.For, lp.Accumulate)) and (s.low, s.high) == (poly(pieces.low), poly(pieces.high))]
    if axis is None or not touched or any(index[axis] not in own for index in touched):
        return "the pieces touch rows of it that are not theirs, or none"
    return None


def _row_axis(product: lp.Product, row: Sym) -> int | None:
    """The axis of the target that is its row, and nothing else."""
    stores = [s.index for s in lp.walk(product.body) if isinstance(s, lp.Store)]
    if len(stores) != 1:
        return None
    axes = [k for k, p in enumerate(stores[0]) if row in p.leaves()]
    return axes[0] if len(axes) == 1 and stores[0][axes[0]] == poly(row) else None


# -- the product in the memory of its reader


def into_its_reader(stmts: lp.Stmts, found: Follower) -> Made:
    """Of a whole program, after `joined`."""
    product = next((s for s in lp.walk(stmts) if found.is_of(s)), None)
    own, there = found.product.target.buffer, found.into
    if not isinstance(product, lp.Product) or not product.after:
        return Refused("nothing is joined to it")
    if there is None or own.kind != "temp":
        return Refused("no array is made of it element by element")
    pieces = product.after[0]
    assert isinstance(pieces, lp.Chunks)
    if not copyable([*product.body, *pieces.body]):
        return Refused("not everything in it is seen")
    if mentions(stmts)[own] != mentions(product)[own]:
        return Refused("others know the product")
    moved = _Moved(own, there)
    body, after = moved.stmts(product.body), replace(pieces, body=moved.stmts(pieces.body))
    new = replace(product, body=body, target=lp.Load(there, product.target.index), after=[after])
    return without_memory(outermost_first(stmts, lambda stmt, known: [new] if stmt is product else None), (own,))


def _made_of(product: lp.Product, pieces: lp.Chunks) -> lp.Buffer | None:
    """The array whose elements are made of those of the product, each of the one at its place."""
    nest: list[lp.For] = []
    body = pieces.body
    while len(body) == 1 and isinstance(body[0], lp.For):
        nest.append(body[0])
        body = body[0].body
    stores = [s for s in body if isinstance(s, lp.Store)]
    if len(nest) != 2 or len(stores) != 1 or not all(isinstance(s, (lp.Let, lp.Store)) for s in body) or not copyable(pieces.body):
        return None
    row, column = nest
    if (row.low, row.high, column.low, column.high) != (poly(pieces.low), poly(pieces.high), poly(0), product.columns):
        return None
    own, (store,), read = product.target.buffer, stores, loads(body)
    alike = store.buffer.dtype is own.dtype and store.buffer.extents == own.extents and store.buffer.rows is None
    at_its_place = all(x.index == store.index for x in read if x.buffer is own) and not any(x.buffer is store.buffer for x in read)
    if not alike or not at_its_place or store.buffer is own or not _is_element(product, store.index, row.sym, column.sym):
        return None
    return store.buffer


def _is_element(product: lp.Product, index: Index, row: Sym, column: Sym) -> bool:
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
