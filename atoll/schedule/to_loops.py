"""Terms to loops: destination passing through reindexers (ATL figure 3). No reshape makes code; it only moves where stores go.

    gen i lo hi b     for i in lo..hi: b                             the place is entered at (i - lo, hi - lo)
    sum i lo hi b     the place is set to zeros first, then for i: b, adding
    [p] b             if p: b (and zeros elsewhere, where the place has room for them)
    let x := e in b   memory for x; e into it; b; the memory is given back.  Rank 0: a variable
    a ++ b, a (+) b   a, then b
    reshape           nothing: the pairs of (index, extent) on the way to the place are pushed through it
    scalar            place = e, or place += e

A `Reach` carries pairs from a node to its place; on the way it collects what must hold for a truncation to cut off nothing but padding
(obligation C4). Where all of that is proved, every reindexer is injective on what is stored and the arms of a concatenation cannot
meet: pairs in range stay in range, and flatten, split, transpose, pad, concat and reverse are one-to-one on pairs in range.

Beside the statements, lowering says how each cell of a place comes to be written (`Cover`): the index of a cell is pulled back through the
same nodes to the store that writes it. check/ turns that into proofs that nothing is read or added to before it is written (C9);
where a cell is not covered, the memory is filled with zeros first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from atoll.core.prims import MONOIDS
from atoll.loops import ir as lp
from atoll.lower.function import FunctionLowerer
from atoll.schedule import term as tm
from atoll.schedule.context import Context, top
from atoll.schedule.cover import Cover, Hit, Lowering, Tree, both, nowhere, under
from atoll.schedule.from_ainf import Source
from atoll.schedule.kernel import sizes_of
from atoll.schedule.nest_loops import nest_loops
from atoll.schedule.place import HERE, NotLowered, Place
from atoll.schedule.reshapes import RESHAPES, amount_or_zero
from atoll.schedule.rolled import rolled_let
from atoll.schedule.scalar_code import Scalars, is_pure
from atoll.schedule.zeros import Zeros, elements, zeros
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.types.dtypes import DType

_STACK = 64 * 1024  # bytes of literal size that are put on the stack


Section = tuple[str, tuple[Poly, ...], tuple[lp.Buffer | lp.Var, ...]]  # what it is, at which indices, and what it reads
Advance = tuple[tuple[Sym, Poly], tuple[Sym, Poly]]  # the loop that reads a rolled value and the one before it


@dataclass
class Notes:
    """What a user asked of loops and values: by binder, never by position."""

    vector: dict[Sym, int] = field(default_factory=dict)
    unroll: set[Sym] = field(default_factory=set)
    parallel: set[Sym] = field(default_factory=set)
    register: set[tm.Tensor] = field(default_factory=set)


@dataclass
class Lowered:
    """Loops, and what lowering knows about them: how buffers and updates are covered, which memory is filled with zeros."""

    function: lp.Function
    covers: dict[lp.Buffer, Cover]
    firsts: dict[int, tuple[Cover, tuple[Poly, ...]]]  # by id of a statement that adds
    drops: dict[int, list[Poly]]  # C4, by id of a store
    arms: dict[int, tuple[tuple[int, int], ...]]  # by id of a store: which halves of concatenations it is in
    finals: list[tuple[lp.Buffer, Cover, tuple[Poly, ...], Context, bool]]  # the last: not the program for other sizes
    known: tuple[Poly, ...]  # what holds everywhere, in the unknowns of the loops
    filled: set[tuple[lp.Buffer, bool]]  # with whether it is in the program proper, not that for other sizes
    rolled: dict[lp.Buffer, Advance]  # the loops that advance, and how far ahead of them rows are computed
    params: dict[Sym, Poly] = field(default_factory=dict)  # integer arguments, as variables of the loops
    places: dict[tm.Tensor, Any] = field(default_factory=dict)  # where arrays live
    sections: dict[int, Section] = field(default_factory=dict)  # what an opaque section is, by id
    other: Any = None  # the term for other sizes, when there is one
    alive: list[lp.Stmt] = field(default_factory=list)  # keeps the identities above valid
    work: Any = None  # the schedule these loops are of
    report: Any = None  # what check/ proved of them




class Lowerer(Scalars):
    def __init__(self, source: Source, notes: Notes, fill: set[tm.Tensor | int]) -> None:
        super().__init__(FunctionLowerer(source.program))
        self.source, self.notes, self.fill = source, notes, fill
        for sym in source.program.sizes:
            self.fl.names[sym.name] = 1
        self.covers: dict[lp.Buffer, Cover] = {}
        self.firsts: dict[int, tuple[Cover, tuple[Poly, ...]]] = {}
        self.drops: dict[int, list[Poly]] = {}
        self.arms: dict[int, tuple[tuple[int, int], ...]] = {}
        self.filled: set[tuple[lp.Buffer, bool]] = set()
        self.rolled: dict[lp.Buffer, Advance] = {}
        self.sections: dict[int, Section] = {}
        self.alive: list[lp.Stmt] = []  # statements stay referenced: tables are keyed by their identity
        self.in_parallel = False
        self.variant, self.main = 0, True
        self.finals: list[tuple[lp.Buffer, Cover, tuple[Poly, ...], Context, bool]] = []  # results, when all is done
        self.asked: list[tuple[tm.Tensor | int, Cover, tuple[Poly, ...], Context]] = []

    def uncovered(self) -> set[tm.Tensor | int]:
        """Arrays some cell of which no store is known to write."""
        missing: set[tm.Tensor | int] = set()
        for key, cover, extents, context in self.asked:
            syms = [Sym(f"u{k}") for k in range(len(extents))]
            index = tuple(poly(s) for s in syms)
            inside = context.know(*(p for u, n in zip(index, extents, strict=True) for p in (u, n - 1 - u)))
            if key not in self.fill and cover(index, inside, {}) is None:
                missing.add(key)
        return missing

    # -- the whole function

    def function(self, facts: tuple[Poly, ...], variants: list[tuple[tuple[Poly, ...], tm.Term]]) -> lp.Function:
        """One body per (tests, term), taken in order; the last has no tests. `facts` hold in all of them."""
        inputs: list[lp.Buffer | lp.Var] = []
        for line in self.source.program.inputs:
            result = line.results[0]
            if line in self.source.params:
                sym = self.source.params[line]
                var = self.fl.var(sym.name, result.dtype)
                self.params[sym] = poly(var.atom)
                inputs.append(var)
                continue
            x = self.source.tensors[line]
            place = self.fl.var(x.name, x.dtype) if not result.axes else self.fl.buffer(x.name, x.dtype, self.source.inputs[x], "in")
            self.places[x] = place
            inputs.append(place)
        for p in inputs:
            if isinstance(p, lp.Buffer):
                p.extents = tuple(self.poly(n) for n in p.extents)
        for x, extents in self.source.inputs.items():
            if x.value is not None:
                self.places[x] = self.fl.buffer(x.name, x.dtype, extents, "const", value=x.value)
                self.fl.consts.append(self.places[x])  # type: ignore[arg-type]
        shapes = {x: tuple(self.poly(n) for n in extents) for x, extents in self.source.inputs.items()}
        self.known = tuple(self.poly(p) for p in facts)
        self.sizes = sizes_of(self.known, shapes) | frozenset(leaf for p in self.params.values() for leaf in p.leaves())
        outputs = self.outputs(tm.substitute(self.source.term, self.params), top(self.known, shapes))
        body: list[lp.Stmt] = []
        for k, (tests, t) in enumerate(reversed(variants)):
            self.variant, self.main = k, bool(tests) or len(variants) == 1
            context = top((*self.known, *(self.poly(p) for p in tests)), shapes)
            stmts = self.results(tm.substitute(t, self.params), context, [o.buffer for o in outputs])
            if tests:
                body = [lp.If(tuple(lp.Test("ge", self.poly(p)) for p in tests), stmts, body)]
            else:
                body = stmts
        return lp.Function(self.source.name, self.source.program.sizes, inputs, outputs, body, self.fl.consts)

    def outputs(self, t: tm.Term, context: Context) -> list[lp.Output]:
        while isinstance(t, (tm.Let, tm.Nest)):
            context, t = context.down(t, 1 if isinstance(t, tm.Let) else 0), t.body
        items = t.items if isinstance(t, tm.Many) else (t,)
        found = []
        for k, item in enumerate(items):
            extents = tuple(self.poly(p) for p in tm.shape(item, context.shapes))
            buffer = self.fl.buffer("result" if len(items) == 1 else f"result{k}", tm.dtype(item), extents, "out")
            found.append(lp.Output(buffer, len(extents)))
        return found

    def results(self, t: tm.Term, context: Context, buffers: list[lp.Buffer]) -> list[lp.Stmt]:
        match t:
            case tm.Let():
                return self.let(t, context, lambda inner: (self.results(t.body, inner, buffers), nowhere))[0]
            case tm.Nest():
                return self.nest(t, context, lambda inner: (self.results(t.body, inner, buffers), nowhere))[0]
            case tm.Many():
                return [stmt for item, b in zip(t.items, buffers, strict=True) for stmt in self.result(item, context, b)]
        return self.result(t, context, buffers[0])

    def result(self, t: tm.Term, context: Context, buffer: lp.Buffer) -> list[lp.Stmt]:
        stmts, cover = self.lower(t, context, Place(buffer, HERE))
        key = -1 - self.variant * 64 - int(buffer.name.removeprefix("result") or 0)
        extents = buffer.extents  # as declared, which the checker knows; the term's own may be written in another way
        self.asked.append((key, cover, extents, context))
        filling, cover = self.filling(buffer, key, cover, extents)
        self.finals.append((buffer, cover, extents, context, self.main))
        return filling + stmts

    def filling(self, buffer: lp.Buffer, key: Any, cover: Cover, extents: tuple[Poly, ...]) -> Lowering:
        """Zeros before anything else, when the terms do not reach every cell."""
        if key not in self.fill:
            return [], cover
        self.filled.add((buffer, self.main))
        syms = [Sym("z") for _ in extents]
        store = self.keep(lp.Store(buffer, tuple(poly(s) for s in syms), self.constant(0, buffer.dtype)))
        body: list[lp.Stmt] = [store]
        for sym, n in zip(reversed(syms), reversed(extents), strict=True):
            body = [lp.For(sym, poly(0), self.poly(n), body, True)]
        return body, lambda index, context, env: Hit(store, dict(zip(syms, index, strict=True)))

    # -- terms

    def lower(self, t: tm.Term, context: Context, place: Place) -> Lowering:
        match t:
            case tm.Gen():
                return self.gen(t, context, place)
            case tm.Sum():
                return self.sum(t, context, place)
            case tm.Plus():
                left, cover = self.lower(t.left, context.down(t, 0), self.same_monoid(t, place))
                right, _ = self.lower(t.right, context.down(t, 1), self.same_monoid(t, place).adding(t.monoid, cover))
                return left + right, cover
            case tm.Guard() if not is_pure(t):
                return self.guard(t, context, place)
            case tm.Let():
                return self.let(t, context, lambda inner: self.lower(t.body, inner, place))
            case tm.Nest():
                return self.nest(t, context, lambda inner: self.lower(t.body, inner, place))
            case tm.Cat():
                return self.cat(t, context, place)
            case tm.Reshape():
                return self.reshape(t, context, place)
            case tm.Choose() if not is_pure(t):
                return self.choose(t, context, place)
            case tm.Zero():
                if place.mode == "add":
                    return [], nowhere
                if place.mode == "=":
                    return zeros(self, t, context, place, self.constant(0, t.dtype)) or ([], nowhere)
                if t.shape:  # a zero is an element like others of a maximum
                    return self.lower(elements(t), context, place)
        if not is_pure(t):
            raise NotLowered("a sum inside an operation has to be bound to a name first")
        return self.store(t, context, place)

    def same_monoid(self, t: tm.Sum | tm.Plus, place: Place) -> Place:
        if place.mode not in ("=", t.monoid):
            raise NotLowered(f"a {t.monoid} inside a {place.mode} has to be bound to a name first")
        return place

    def gen(self, t: tm.Gen, context: Context, place: Place) -> Lowering:
        parallel = t.sym in self.notes.parallel and not self.in_parallel
        saved, self.in_parallel = self.in_parallel, self.in_parallel or parallel
        pair = (self.poly(poly(t.sym) - t.low), self.poly(t.high - t.low))
        body, inner = self.lower(t.body, context.down(t, 0), place.moved(place.reach.enter(pair), place.local.enter(pair)))
        self.in_parallel = saved

        def cover(index: tuple[Poly, ...], here: Context, env: dict[Sym, Poly]) -> Tree | None:
            return inner(index[1:], here, {**env, t.sym: self.poly(t.low) + index[0]})

        return self.loop(t, body, parallel), cover

    def loop(self, t: tm.Gen | tm.Sum, body: lp.Stmts, parallel: bool = False) -> list[lp.Stmt]:
        if not body:
            return []
        low, high = self.poly(t.low), self.poly(t.high)
        independent = isinstance(t, tm.Gen)
        how = independent, self.notes.vector.get(t.sym, 0), t.sym in self.notes.unroll
        if not parallel:
            return [lp.For(t.sym, low, high, body, *how)]
        first, last = Sym(f"{t.sym.name}_lo"), Sym(f"{t.sym.name}_hi")
        return [lp.Chunks(first, last, high - low, work(t.body, self.sizes), [lp.For(t.sym, low + first, low + last, body, *how)])]

    def sum(self, t: tm.Sum, context: Context, place: Place) -> Lowering:
        place = self.same_monoid(t, place)
        start: list[lp.Stmt] = []
        cover: Cover = nowhere
        if place.mode == "=":
            neutral = self.constant(MONOIDS[t.monoid][1](tm.dtype(t)), tm.dtype(t))
            if isinstance(place.target, lp.Var):
                start = [lp.Assign(place.target, neutral)]
            else:
                made = zeros(self, t.body, context.down(t, 0), place, neutral, frozenset((t.sym,)))
                if made is None:  # something is cut off that is no padding: the obligations will say what
                    made = Zeros(self, neutral, anyway=True).made(t.body, context.down(t, 0), place, frozenset((t.sym,)))
                assert made is not None
                start, cover = made
        body, _ = self.lower(t.body, context.down(t, 0), place.adding(t.monoid, cover))
        return start + self.loop(t, body), cover

    def guard(self, t: tm.Guard, context: Context, place: Place) -> Lowering:
        tests = tuple(lp.Test("ge", self.poly(c)) for c in t.conds)
        body, inner = self.lower(t.body, context.down(t, 0), place)
        other: list[lp.Stmt] = []
        beyond: Cover = nowhere
        if place.mode == "=":
            made = zeros(self, t.body, context, place, self.constant(0, tm.dtype(t)))
            if made is not None:
                other, beyond = made
        elif place.mode != "add":
            raise NotLowered("a guard inside another operator than a sum has to be bound to a name first")
        return [lp.If(tests, body, other)] if body or other else [], both(tuple(self.poly(c) for c in t.conds), inner, beyond)

    def cat(self, t: tm.Cat, context: Context, place: Place) -> Lowering:
        n = self.poly(tm.shape(t.left, context.shapes)[t.axis])
        m = self.poly(tm.shape(t.right, context.shapes)[t.axis])
        halves = []
        for side, (arm, shift, more) in enumerate(((t.left, poly(0), m), (t.right, n, n))):
            reach, local = place.reach.beside(t.axis, shift, more), place.local.beside(t.axis, shift, more)
            halves.append(self.lower(arm, context, place.moved(reach, local, (id(t), side))))
        (left, in_left), (right, in_right) = halves

        def cover(index: tuple[Poly, ...], here: Context, env: dict[Sym, Poly]) -> Tree | None:
            test = n - 1 - index[t.axis]
            beyond = (*index[: t.axis], index[t.axis] - n, *index[t.axis + 1 :])
            return under(
                test, here, lambda c: in_left(index, c, env), lambda c: in_right(beyond, c, env)
            )

        return left + right, cover

    def reshape(self, t: tm.Reshape, context: Context, place: Place) -> Lowering:
        body, inner = self.lower(t.body, context, place.moved(place.reach.through(t), place.local.through(t)))
        row = RESHAPES[t.op]
        extents = tuple(self.poly(p) for p in tm.shape(t.body, context.shapes)[t.axis : t.axis + row.takes])
        k = self.poly(amount_or_zero(t.amount))

        def cover(index: tuple[Poly, ...], here: Context, env: dict[Sym, Poly]) -> Tree | None:
            conds, source = row.pull(extents, k, index[t.axis : t.axis + row.gives])
            if not all(here.facts.proves(c) for c in conds):
                return None
            return inner((*index[: t.axis], *source, *index[t.axis + row.gives :]), here, env)

        return body, cover

    def choose(self, t: tm.Choose, context: Context, place: Place) -> Lowering:
        """A choice between parts that have loops of their own; one of them always stores."""
        tests = self.tests(t.tests)
        before = self.numbers()
        then, in_then = self.lower(t.then, context.down(t, 0), place)
        orelse, in_else = self.lower(t.orelse, context.down(t, 1), place)

        def cover(index: tuple[Poly, ...], here: Context, env: dict[Sym, Poly]) -> Tree | None:
            if len(tests) != 1 or tests[0].kind != "ge" or tests[0].poly is None:
                return None
            return under(tests[0].poly.subst(dict(env)), here, lambda c: in_then(index, c, env), lambda c: in_else(index, c, env))

        return [*before, lp.If(tests, then, orelse)], cover

    # -- named values

    def let(self, t: tm.Let, context: Context, rest: Callable[[Context], Lowering]) -> Lowering:
        extents = tm.shape(t.bound, context.shapes)
        inside = context.down(t, 1)
        if not extents:
            return self.scalar_let(t, context, rest, inside)
        buffer = self.fl.buffer(t.name.name, t.name.dtype, tuple(self.poly(p) for p in extents), "temp", "kept by the schedule")
        total = poly(t.name.dtype.size)
        for n in extents:
            total = total * n
        literal = total.const()
        buffer.local = literal is not None and literal <= _STACK
        self.places[t.name] = buffer
        if t.rolled is not None:
            return rolled_let(self, t, context, buffer, rest, inside)
        stmts, cover = self.lower(t.bound, context.down(t, 0), Place(buffer, HERE))
        self.asked.append((t.name, cover, extents, context))
        filling, cover = self.filling(buffer, t.name, cover, extents)
        self.covers[buffer] = cover
        body, inner = rest(inside)
        return [lp.Alloc(buffer), *filling, *stmts, *body, lp.Free(buffer)], inner

    def scalar_let(self, t: tm.Let, context: Context, rest: Callable[[Context], Lowering], inside: Context) -> Lowering:
        var = self.fl.var(t.name.name, t.name.dtype)
        self.places[t.name] = var
        if is_pure(t.bound):
            value = self.expr(t.bound)
            made: list[lp.Stmt] = [*self.numbers(), lp.Let(var, value)]
        else:
            stmts, _ = self.lower(t.bound, context.down(t, 0), Place(var, HERE))
            made = [lp.Declare(var, None), *stmts]
            if len(made) > 1 and isinstance(made[1], lp.Assign) and made[1].var is var and not _reads(made[1].value, var):
                made[:2] = [lp.Declare(var, made[1].value)]
        body, cover = rest(inside)
        return made + body, cover

    def nest(self, t: tm.Nest, context: Context, rest: Callable[[Context], Lowering]) -> Lowering:
        made: list[lp.Stmt] = []
        buffers = []
        for x, extents in zip(t.names, t.shapes, strict=True):
            buffer = self.fl.buffer(x.name, x.dtype, tuple(self.poly(p) for p in extents), "temp", "the result of an opaque part")
            self.places[x] = buffer
            made.append(lp.Alloc(buffer))
            buffers.append(buffer)
        at = tuple(self.poly(p) for p in t.at)
        section = nest_loops(self.fl, t.routine, [self.places[a] for a in t.args], buffers, self.source, self.params, at)
        self.sections[id(self.keep(section))] = t.routine.digest, at, tuple(self.places[a] for a in t.args)
        made.append(section)
        body, cover = rest(context.down(t, 0))
        return [*made, *body, *(lp.Free(b) for b in buffers)], cover

    # -- scalars

    def store(self, t: tm.Term, context: Context, place: Place) -> Lowering:
        """A scalar into its place. A guarded one is stored as a choice, unless the place has no room where the guard is false."""
        if isinstance(t, tm.Guard):
            _, drops = place.reach.push([])
            roomy = isinstance(place.target, lp.Var) or all(context.facts.proves(d) for d in drops)
            if not roomy and place.mode not in ("=", "add"):
                raise NotLowered("a guard inside another operator than a sum has to be bound to a name first")
            if not roomy or place.mode == "add":
                tests = tuple(lp.Test("ge", self.poly(c)) for c in t.conds)
                made, cover = self.store(t.body, context.down(t, 0), place)
                return [lp.If(tests, made)], both(tuple(self.poly(c) for c in t.conds), cover, nowhere)
        if isinstance(t, tm.Op) and t.name == "mulacc" and place.mode == "add":
            made, cover = self.write(tuple(self.expr(a) for a in t.args), place)
        else:
            made, cover = self.write(self.expr(t), place)
        return [*self.numbers(), *made], cover

    def write(self, value: lp.Expr | tuple[lp.Expr, ...], place: Place) -> Lowering:
        target = place.target
        if isinstance(target, lp.Var):
            return [lp.Assign(target, self.combined(value, lp.Use(target), place.mode, target.dtype))], nowhere
        pairs, drops = place.reach.push([])
        index = tuple(i for i, _ in pairs)
        made: lp.Store | lp.Update
        if place.mode == "=" or isinstance(value, tuple):
            assert place.mode in ("=", "add")
            made = lp.Store(target, index, self.combined(value, lp.Load(target, index), place.mode, target.dtype))
        else:
            made = lp.Update(target, index, MONOIDS[place.mode][0], value)
        self.keep(made)
        self.drops[id(made)] = drops
        self.arms[id(made)] = place.arms
        if place.mode != "=" and place.first is not None:
            cells, _ = place.local.push([])
            self.firsts[id(made)] = (place.first, tuple(i for i, _ in cells))
        return [made], lambda index, here, env: Hit(made, env)

    def combined(self, value: lp.Expr | tuple[lp.Expr, ...], old: lp.Expr, mode: str, d: DType) -> lp.Expr:
        if isinstance(value, tuple):
            return lp.Call("fma", (*value, old), d)
        return value if mode == "=" else lp.Call(MONOIDS[mode][0], (old, value), d)

    def keep(self, stmt: Any) -> Any:
        self.alive.append(stmt)
        return stmt

def _reads(e: Any, var: lp.Var) -> bool:
    return var in set(lp.used_vars(e))


def work(t: tm.Term, sizes: frozenset[Atom]) -> Poly:
    """An estimate of operations, in the sizes."""
    match t:
        case tm.Gen() | tm.Sum():
            n = t.high - t.low
            return (n if n.leaves() <= sizes else poly(16)) * work(t.body, sizes)
        case tm.Guard() | tm.Reshape() | tm.Nest():
            return work(t.body, sizes)
        case tm.Let() | tm.Cat() | tm.Plus() | tm.Many():
            return sum((work(k, sizes) for k in tm.kids(t)), poly(0))
        case tm.Op() | tm.Look() | tm.Cast() | tm.Choose():
            return sum((work(k, sizes) for k in tm.kids(t)), poly(1))
    return poly(1)
