"""Filters (stream compaction): the elements that pass a test, next to each other in their order.

    for in order r in 0..n:  if p(r):  y[c] = v(r);  c = c + 1

    filter_of(loop, around)              the parts of such a loop, whose stores may be made in every round; `around` is where it stands
    without_branch(found)                its body with every element stored at the next free place, which moves on only when the element is kept
    compacted(found, size, after)        the loop in blocks: every block keeps its own elements in order, then what the blocks kept is put together

    pieces over blocks b:  flag[j] = p(b * B + j);  y[b * B ...] = v(b * B + j) where flag[j];  starts[b] = how many
    for in order b:  starts[b], c = c, c + starts[b]
    for in order b:  y[starts[b] ...] = y[b * B ...]

Both store elements that are not kept, or where they do not stay. Right where
  * the count begins at 0 and goes up by one for each element kept, so that a place is never beyond its round, and y is as long as the range: the place is there;
  * nobody can see what lies behind the last element kept: y is memory without values before the loop, or an array of this block alone, of which only elements below the count are read;
  * what is stored has a value in every round, and is read from elements that are there in every round, none of them of y.
A result that is a copy of y, which nothing else reads, is copied from the blocks by all threads. What is kept, and in which order, does not depend on the blocks.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from atoll.loops import ir as lp
from atoll.loops.dependence import Access, accesses
from atoll.loops.questions import begins_as, changed, loads, mentions
from atoll.loops.transform.copier import Copier, copyable, fresh_like
from atoll.loops.transform.forward import by_elements_only
from atoll.loops.transform.pieces import pieces
from atoll.loops.transform.predicate import defined
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.split import begun
from atoll.sizes import Poly, Sym, poly
from atoll.types.dtypes import BOOL, I64


@dataclass(frozen=True, slots=True)
class Around:
    """What stands before and after a loop in its block, and how often the whole function mentions each array."""

    before: lp.Stmts
    after: lp.Stmts = ()
    everywhere: Counter[lp.Buffer] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Filter:
    """A loop that keeps some elements: what comes first, when one is kept, what of it is stored where, and the variable that counts them."""

    loop: lp.For
    lets: list[lp.Stmt]
    tests: tuple[lp.Test, ...]
    stores: list[lp.Store]
    counter: lp.Var


def filter_of(loop: lp.For, around: Around) -> Filter | Refused:
    """The parts of a filter whose stores can be made in every round."""
    choice = loop.body[-1] if loop.body else None
    if loop.parallel or loop.low.const() != 0 or not isinstance(choice, lp.If) or choice.orelse or len(choice.then) < 2 or not all(isinstance(s, lp.Let) for s in loop.body[:-1]):
        return Refused("it is no loop in order from 0 on that ends with one choice")
    *kept, step = choice.then
    if not isinstance(step, lp.Assign) or step.value != lp.Index(poly(step.var.atom) + 1) or not begins_as(step.var, lp.Const(0, I64), around.before):
        return Refused("it does not count what it keeps, from 0 on")
    lets, stores = [s for s in kept if isinstance(s, lp.Let)], [s for s in kept if isinstance(s, lp.Store)]
    if not stores or len(lets) + len(stores) != len(kept) or len({s.buffer for s in stores}) != len(stores):
        return Refused("it does more with an element than to store it, once into each array")
    counted = [*loop.body[:-1], *lets, *(s.value for s in stores), *choice.tests, *(s.index[:-1] for s in stores)]
    if any(step.var in set(lp.used_vars(x)) for x in counted):
        return Refused("the count is used for more than the place of an element")
    for store in stores:
        if not store.index or store.index[-1] != poly(step.var.atom) or store.buffer.extents[-1] != loop.high:
            return Refused("an element is not stored at the next place of an array as long as the range")
        if not _has_no_values(store.buffer, around.before) and not _seen_below(store.buffer, step.var, loop, around):
            return Refused("what lies behind the elements kept may be read")
    if not all(_in_every_round(s.value, loop) for s in kept if isinstance(s, (lp.Let, lp.Store))):
        return Refused("what is stored may have no value where it is not kept")
    if any(x.buffer in {s.buffer for s in stores} for s in loop.body for x in loads(s)):
        return Refused("what was kept is read")
    tests = _apart(choice.tests)
    return Filter(loop, [*loop.body[:-1], *lets], tests, [lp.Store(s.buffer, s.index, _where(s.value, tests)) for s in stores], step.var)


def _has_no_values(array: lp.Buffer, before: lp.Stmts) -> bool:
    """Its memory was made in this block, and nothing has mentioned it since."""
    made = next((k for k, s in enumerate(before) if isinstance(s, lp.Alloc) and s.buffer is array), None)
    return made is not None and not mentions(before[made:])[array]


def _seen_below(array: lp.Buffer, counter: lp.Var, loop: lp.For, around: Around) -> bool:
    """Nothing outside of this block knows the array, nothing in it before the loop, and what comes after it reads elements below the count only."""
    alone = array.kind == "temp" and not mentions(around.before)[array] and mentions([loop, *around.after])[array] == around.everywhere[array]
    if not alone or not by_elements_only(around.after, array) or counter in changed(around.after)[0]:
        return False
    written, read = accesses(around.after)
    return not any(x.buffer is array for x in written) and all(_below(x, poly(counter.atom)) for x in read if x.buffer is array)


def _below(x: Access, count: Poly) -> bool:
    """The element's last index is that of a loop up to the count, or over a piece of what is below it."""
    ends = {poly(sym): high for sym, _, high in x.loops}
    until = ends.get(x.index[-1])
    return until is not None and (until == count or ends.get(until) == count + 1)


def _in_every_round(e: lp.Expr, loop: lp.For) -> bool:
    """It has a value in every round: operations that always have one, of elements of the round itself."""
    if not all(map(defined, lp.subexprs(e))):
        return False
    return all(x.index == (poly(loop.sym),) and x.buffer.extents == (loop.high,) for x in loads(e))


def _apart(tests: tuple[lp.Test, ...]) -> tuple[lp.Test, ...]:
    """Tests of truth values as the tests these are made of."""
    found: list[lp.Test] = []
    for t in tests:
        e = t.expr
        if t.kind == "true" and isinstance(e, lp.Choose) and isinstance(e.then, lp.Const) and isinstance(e.orelse, lp.Const) and e.then.value and not e.orelse.value:
            found += _apart(e.tests)
        elif t.kind == "true" and isinstance(e, lp.Truth):
            found += _apart(e.tests)
        else:
            found.append(t)
    return tuple(dict.fromkeys(found))


def _where(e: lp.Expr, tests: tuple[lp.Test, ...]) -> lp.Expr:
    """A value that only counts where the tests hold: C compilers make a branch of a choice by the same tests. What the program made may have elements where they hold only."""
    given = isinstance(e, lp.Choose) and all(x.buffer.kind == "in" for x in loads(e.then))
    return _where(e.then, tests) if given and isinstance(e, lp.Choose) and set(_apart(e.tests)) <= set(tests) else e


def without_branch(found: Filter) -> list[lp.Stmt]:
    """The body of the loop, its stores made in every round."""
    one = lp.Choose(found.tests, lp.Const(1, I64), lp.Const(0, I64))
    return [*found.lets, *found.stores, lp.Assign(found.counter, lp.Call("add", (lp.Use(found.counter), one), I64))]


# -- in blocks


@dataclass(frozen=True, slots=True)
class Compacted:
    """The statements instead of the loop, and how many of those after it they do as well."""

    stmts: list[lp.Stmt]
    used: int


def compacted(found: Filter, size: int, after: lp.Stmts) -> Compacted | Refused:
    if not copyable(found.lets) or any(s.buffer.dtype.size > 8 or len(s.index) != 1 for s in found.stores):
        return Refused("elements are too wide to be moved together, or the arrays are no rows")
    blocks = begun(found.loop.high, size)
    starts = lp.Buffer(f"{found.counter.name}_starts", I64, (blocks + 1,), "temp", "where the blocks of a filter begin")
    out: list[lp.Stmt] = [lp.Alloc(starts), pieces(_kept_in_block(found, size, blocks, starts), poly(4 * size))]
    each, kept_here = Sym("block"), fresh_like("kept", I64)
    kept_here.small = True
    counting: list[lp.Stmt] = [
        lp.Let(kept_here, lp.Load(starts, (poly(each),))),
        lp.Store(starts, (poly(each),), lp.Use(found.counter)),
        lp.Assign(found.counter, lp.Index(poly(found.counter.atom) + poly(kept_here.atom))),
    ]
    out += [lp.For(each, poly(0), blocks, counting, False), lp.Store(starts, (blocks,), lp.Use(found.counter))]
    copies, rest = _copied(found, after), Sym("block")
    if copies is None:
        moved = [s for store in found.stores for s in _put(store.buffer, store, starts, poly(rest), size, False)]
        return Compacted([*out, lp.For(rest, poly(0), blocks, moved, False), lp.Free(starts)], 0)
    made_first, copy = copies
    put = [s for store, to in copy for s in _put(to, store, starts, poly(rest), size, True)]
    whole = pieces(lp.For(rest, poly(0), blocks, put, True), poly(size))
    return Compacted([*out, *made_first, whole, lp.Free(starts)], len(made_first) + len(copy))


def _kept_in_block(found: Filter, size: int, blocks: Poly, starts: lp.Buffer) -> lp.For:
    """What every block keeps, at its beginning, and how many these are."""
    flags = lp.Buffer(f"{found.counter.name}_flags", BOOL, (poly(size),), "temp", "what a filter keeps")
    flags.local = True
    b, j = Sym("block"), Sym(found.loop.sym.name)
    count, length = fresh_like("count", I64), fresh_like("length", I64)
    length.small = count.small = True
    first = poly(b) * size
    copier = Copier({found.loop.sym: first + poly(j)})
    marks = copier.stmts(found.lets)
    marks.append(lp.Store(flags, (poly(j),), lp.Truth(copier.tests(found.tests) or ())))
    moves: list[lp.Stmt] = []
    local: list[lp.Stmt] = [lp.Alloc(flags)]
    for store in found.stores:
        value = store.value
        source = (value.buffer, (first,)) if isinstance(value, lp.Load) else None
        if source is None:
            made = lp.Buffer(fresh_like(f"{store.buffer.name}_block", store.buffer.dtype).name, store.buffer.dtype, (poly(size),), "temp", "the elements of a block")
            made.local = True
            local.append(lp.Alloc(made))
            marks.append(lp.Store(made, (poly(j),), copier.expr(value)))
            source = (made, (poly(0),))
        moves.append(lp.Helper("compress", (source, (flags, (poly(0),)), (store.buffer, (first,))), (poly(length.atom),), count if not moves else None, dtype=store.buffer.dtype))
    left = lp.Call("min", (lp.Const(size, I64), lp.Index(found.loop.high - first)), I64)
    here = lp.For(j, poly(0), poly(length.atom), marks, True)
    return lp.For(b, poly(0), blocks, [lp.Let(length, left), *local, here, *moves, lp.Store(starts, (poly(b),), lp.Use(count))], True)


def _put(to: lp.Buffer, store: lp.Store, starts: lp.Buffer, block: Poly, size: int, apart: bool) -> list[lp.Stmt]:
    """What a block kept, where it belongs."""
    begin, end = fresh_like("begin", I64), fresh_like("end", I64)
    begin.small = end.small = True
    k = Sym("k")
    move = lp.Store(to, (poly(begin.atom) + poly(k),), lp.Load(store.buffer, (block * size + poly(k),)))
    return [
        lp.Let(begin, lp.Load(starts, (block,))),
        lp.Let(end, lp.Load(starts, (block + 1,))),
        lp.For(k, poly(0), poly(end.atom) - poly(begin.atom), [move], apart),
    ]


def _copied(found: Filter, after: lp.Stmts) -> tuple[list[lp.Stmt], list[tuple[lp.Store, lp.Buffer]]] | None:
    """Results as long as what is kept, each a copy of one of its arrays, which are not used otherwise: their making, and which is which."""
    made = [s for s in after if isinstance(s, lp.Alloc) and s.buffer.kind == "out" and s.buffer.extents == (poly(found.counter.atom),)]
    if after[: len(made)] != made:
        return None
    rest = after[len(made) :]
    copies = [copy for s in rest[: len(found.stores)] if (copy := _copy_of(s, found)) is not None]
    arrays = {store.buffer for store in found.stores}
    used_later = mentions(rest[len(copies) :])
    if len(copies) != len(arrays) or {c.buffer for c, _ in copies} != arrays or any(used_later[b] for b in arrays):
        return None
    return list(made), copies


def _copy_of(s: lp.Stmt, found: Filter) -> tuple[lp.Store, lp.Buffer] | None:
    count = poly(found.counter.atom)
    if not isinstance(s, lp.Chunks) or s.extent != count or s.accs or s.buffers or len(s.body) != 1:
        return None
    loop = s.body[0]
    if not isinstance(loop, lp.For) or (loop.low, loop.high) != (poly(s.low), poly(s.high)) or len(loop.body) != 1 or not isinstance(loop.body[0], lp.Store):
        return None
    store, i = loop.body[0], poly(loop.sym)
    return next(((of, store.buffer) for of in found.stores if store.index == (i,) and store.value == lp.Load(of.buffer, (i,))), None)
