"""Who touches what: elements that rounds read and write, and whether two of them can be the same.

    accesses(stmts)              every element written and read, with the loops around it
    place(access, round)         one of them in a given round, its indices named apart
    never_meet(a, b, known)      two places are different, whatever their indices are
    Order(known).apart(xs, ys)   what one does and what the other does may be done in any order
    rounds_apart(loop, known)    no round touches what another one writes
    small_for_apart(loop, known) the same, if some variables are small
    apart_if(loop, known)        the same, if some numbers are not negative; checks may stand in the loop
    own_elements(index, inner, outer)  rounds of an inner loop have an element each, the same in every round of an outer one
    out_of_reach(p, loop, start, ctx)  an index is none of those the rounds of a loop have

What is not proved is not so. Every rewrite that changes the order of rounds asks here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.questions import loads, told
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.meeting import differ, outside, tells
from atoll.sizes.prover import Facts, facts

_NEST = (lp.Let, lp.Declare, lp.Assign, lp.Store, lp.Update, lp.For, lp.Accumulate, lp.Add, lp.If, lp.Note)
Loop = tuple[Sym, Poly, Poly]


@dataclass(frozen=True)
class Access:
    """An element that a round touches, and the loops inside the round around it."""

    buffer: lp.Buffer
    index: tuple[Poly, ...]
    loops: tuple[Loop, ...]


def accesses(stmts: lp.Stmts, loops: tuple[Loop, ...] = ()) -> tuple[dict[Access, None], dict[Access, None]]:
    """What statements write, and what they read. The ends of pieces are somewhere in the range that is cut."""
    written: dict[Access, None] = {}
    read: dict[Access, None] = {}
    for s in stmts:
        inner = list(lp.bodies(s))
        below = loops
        match s:
            case lp.Store() | lp.Update():
                written[Access(s.buffer, s.index, loops)] = None
            case lp.For() | lp.Accumulate():
                below = (*loops, (s.sym, s.low, s.high))
            case lp.Chunks():
                below = (*loops, (s.low, poly(0), s.extent + 1), (s.high, poly(0), s.extent + 1))
        for body in inner:
            more, also = accesses(body, below)
            written |= more
            read |= also
        own = s.tests if isinstance(s, lp.If) else s if not inner else ()
        read |= dict.fromkeys(Access(x.buffer, x.index, loops) for x in loads(own))
    return written, read


@dataclass(frozen=True, slots=True)
class Place:
    """An element touched in some round, its indices named apart from those of other places, and what is known of them."""

    buffer: lp.Buffer
    index: tuple[Poly, ...]
    known: tuple[Poly, ...]
    written: bool


def place(access: Access, env: Mapping[Atom, Poly], written: bool = False) -> Place | None:
    """The element where `env` says which round it is; None where a loop inside has the name of one outside."""
    env = dict(env)
    known: list[Poly] = []
    for s, low, high in access.loops:
        if s in env:
            return None
        new = Sym(s.name)
        known += [p for p in (poly(new) - low.subst(env), high.subst(env) - poly(new) - 1) if plain(p)]
        env[s] = poly(new)
    return Place(access.buffer, tuple(p.subst(env) for p in access.index), tuple(known), written)


def plain(p: Poly) -> bool:
    """It is made of sizes and indices: nothing in it is data."""
    return not any(isinstance(a, lp.VarAtom) for a in p.leaves())


def never_meet(first: Place | None, second: Place | None, known: tuple[Poly, ...]) -> bool:
    """Some index of two places of one array is seen never to be equal."""
    if first is None or second is None:
        return False
    ctx = facts((*known, *first.known, *second.known))
    return any(plain(p) and plain(q) and differ(p, q, ctx) for p, q in zip(first.index, second.index, strict=True))


Places = list[Place | None]


class Order:
    """May two groups of statements be done in another order? For those who move some past others: what is known of their rounds, and how many pairs were looked at."""

    def __init__(self, known: tuple[Poly, ...]) -> None:
        self.known = known
        self.pairs = 0

    def touched(self, stmts: lp.Stmts, env: Mapping[Atom, Poly]) -> Places:
        """The elements that statements write and read in the round that `env` says."""
        written, read = accesses(stmts)
        return [place(x, env, True) for x in written] + [place(x, env) for x in read]

    def apart(self, mine: Places, theirs: Places, here: tuple[Poly, ...] = ()) -> bool:
        """Neither touches an element that the other writes."""
        for x in mine:
            for y in theirs:
                if x is None or y is None:
                    return False
                if x.buffer is not y.buffer or not (x.written or y.written):
                    continue
                self.pairs += 1
                if self.pairs > profit.PAIRS_PASSED or x.buffer.rows is not None or x.buffer.local or not never_meet(x, y, (*self.known, *here)):
                    return False
        return True


def rounds_apart(loop: lp.For, known: tuple[Poly, ...], private: frozenset[lp.Buffer] = frozenset()) -> bool:
    """No round touches an element that another one writes, but of arrays that every round has for itself (`private`)."""
    return _apart(loop, known, private, False) is not None


def small_for_apart(loop: lp.For, known: tuple[Poly, ...]) -> frozenset[lp.VarAtom] | None:
    """The variables that have to be small, so that their arithmetic does not wrap around, for no round to touch what another one writes (often
    none); or None where rounds are not seen to be apart at all."""
    return _apart(loop, known, frozenset(), True)


def apart_if(loop: lp.For, known: tuple[Poly, ...]) -> frozenset[Poly] | None:
    """What has to be at least 0 for no round to touch what another one writes, often nothing; or None where rounds are not seen to be apart at all. Checks may stand in
    the loop: where one fails, the caller has to find out which is the first. A variable that is the number of rounds of a loop is as good as an index: nobody
    goes through 2**60 rounds."""
    found = _pairs(loop, known, frozenset(), (*_NEST, lp.Check))
    if found is None:
        return None
    asked: frozenset[Poly] = frozenset()
    for pair in found:
        if pair.apart((*known, *told(loop))) is None:
            more = pair.asked((*known, *told(loop)))
            if more is None:
                return None
            asked |= more
    return asked


def _apart(loop: lp.For, known: tuple[Poly, ...], private: frozenset[lp.Buffer], wide: bool) -> frozenset[lp.VarAtom] | None:
    found = _pairs(loop, known, private, _NEST, wide)
    if found is None:
        return None
    small: frozenset[lp.VarAtom] = frozenset()
    for pair in found:
        more = pair.apart((*known, *told(loop)))
        if more is None:
            return None
        small |= more
    return small


def _pairs(loop: lp.For, known: tuple[Poly, ...], private: frozenset[lp.Buffer], may_be: tuple[type, ...], wide: bool = False) -> list[_Pair] | None:
    """Elements written and touched in two rounds; None where the loop has more in it than that."""
    every = list(lp.walk(loop.body))
    if not all(isinstance(s, may_be) for s in every):
        return None
    made = {s.var for s in every if isinstance(s, (lp.Let, lp.Declare))} | {a.var for s in every if isinstance(s, lp.Accumulate) for a in s.accs}
    if any(isinstance(s, (lp.Assign, lp.Add)) and s.var not in made for s in every):
        return None
    written, read = accesses(loop.body)
    written = {a: None for a in written if a.buffer not in private}
    buffers = {a.buffer for a in written}
    touched = [a for a in {**written, **read} if a.buffer in buffers]
    if not written or len(written) > profit.STORES or any(b.rows is not None or b.local for b in buffers):
        return None
    pairs = [(w, t) for w in written for t in touched if t.buffer is w.buffer]
    outside = {leaf for p in known for leaf in p.leaves()} | {loop.sym}
    if len(pairs) > profit.PAIRS or any(len({s for s, _, _ in a.loops} - outside) != len(a.loops) for a in touched):
        return None
    atoms: set[Atom] = {v.atom for v in made}
    return [_Pair(loop, w, t, atoms, wide) for w, t in pairs]


def own_elements(index: tuple[Poly, ...], inner: Sym, outer: Sym) -> bool:
    """Different rounds of the inner loop touch different elements, whatever the round of the outer one; no index is data."""
    return not any(outer in p.leaves() or not plain(p) for p in index) and tells(index, inner)


def out_of_reach(p: Poly, loop: lp.For | lp.Accumulate, start: Poly, ctx: Facts) -> bool:
    """An index is none of those that the rounds of a loop have, which are start + the round."""
    return outside(p, start + loop.low, start + loop.high, ctx)


class _Pair:
    """An element that one round writes, and one that another round touches."""

    def __init__(self, loop: lp.For, written: Access, touched: Access, made: set[Atom], wide: bool) -> None:
        self.wide = wide  # variables may be asked to be small
        self.loop, self.written, self.touched = loop, written, touched
        self.changing: set[Atom] = made | {s for s, _, _ in written.loops} | {s for s, _, _ in touched.loops}
        other = self.other = Sym(f"{loop.sym.name}_other")
        self.there: dict[Atom, Poly] = {loop.sym: poly(other)}
        self.facts = [poly(other) - loop.low, loop.high - poly(other) - 1]
        for s, low, high in written.loops:
            self.facts += [poly(s) - low, high - poly(s) - 1]
        for s, low, high in touched.loops:
            new = Sym(f"{s.name}_other")
            self.facts += [poly(new) - low.subst(self.there), high.subst(self.there) - poly(new) - 1]
            self.there[s] = poly(new)
        self.made = made

    def apart(self, known: tuple[Poly, ...]) -> frozenset[lp.VarAtom] | None:
        mine = facts((*known, *(p for p in self.facts if not self.made & p.leaves())))
        found = (self.never_equal(w, t, mine) for w, t in zip(self.written.index, self.touched.index, strict=True))
        return next((small for small in found if small is not None), None)

    def never_equal(self, w: Poly, t: Poly, ctx: Facts) -> frozenset[lp.VarAtom] | None:
        """These indices are different in different rounds, if these variables are small."""
        sym = self.loop.sym
        step = w.slope(sym)
        by = None if step is None else step.const()
        rest = None if not by else (w - by * poly(sym)).leaves()
        if rest is not None and sym not in rest and not self.changing & rest:
            apart = (w - t).const()
            if apart is not None and (apart == 0 or (by is not None and apart % by != 0)):
                return frozenset()  # it moves with the round; or one is at multiples of the step where the other is between them
        if self.made & (w.leaves() | t.leaves()):
            return None
        there = t.subst(self.there)
        wide = {a for a in (*w.leaves(), *there.leaves()) if isinstance(a, lp.VarAtom) and not a.var.small}
        left = {a: (w - there).slope(a) for a in wide if a in (w - there).leaves()}
        if wide and (not self.wide or any(c is None or c.const() is None or abs(c.const() or 0) > 64 for c in left.values())):
            return None  # with such steps, differences of small values are below 2**63
        return frozenset(left) if differ(w, there, ctx) else None

    def asked(self, known: tuple[Poly, ...]) -> frozenset[Poly] | None:
        """What has to be at least 0 for some index to be different, with one of the rounds later than the other."""
        told_here = (*known, *(p for p in self.facts if not self.made & p.leaves()))
        for w, t in zip(self.written.index, self.touched.index, strict=True):
            apart = w - t.subst(self.there)
            if not self.made & (w.leaves() | t.leaves()) and all(not isinstance(a, lp.VarAtom) or a.var.small or a in self.counts() for a in apart.leaves()):
                found = [self.later(apart, told_here, first, second) for first, second in ((self.loop.sym, self.other), (self.other, self.loop.sym))]
                if all(x is not None for x in found):
                    return frozenset(p for x in found if x is not None for p in x)
        return None

    def counts(self) -> set[Atom | None]:
        """Numbers of rounds."""
        return {(high - low).single() for _, low, high in (*self.written.loops, *self.touched.loops, (self.loop.sym, self.loop.low, self.loop.high))}

    def later(self, apart: Poly, known: tuple[Poly, ...], first: Sym, second: Sym) -> tuple[Poly, ...] | None:
        """What has to be at least 0 for a difference not to be 0 where `first` is a later round than `second`."""
        ahead = Sym(f"{first.name}_ahead")
        env: dict[Atom, Poly] = {first: poly(second) + 1 + poly(ahead)}
        apart = apart.subst(env)
        ctx = facts((*(p.subst(env) for p in known), poly(ahead)))
        if differ(apart, poly(0), ctx):
            return ()
        ranges: dict[Atom, tuple[Poly, Poly]] = {ahead: (poly(0), self.loop.high - self.loop.low - 2), second: (self.loop.low, self.loop.high - 1)}
        for loops, there in ((self.written.loops, {}), (self.touched.loops, self.there)):
            for s, low, high in loops:
                new = there[s].single() if s in there else s
                if new is not None:
                    ranges[new] = (low.subst(there), high.subst(there) - 1)
        rest = apart.subst({a: poly(0) for a in apart.leaves() if a in ranges})
        signs = {c > 0 for c in (rest - rest.constant_term()).terms.values()}
        if len(signs) != 1:
            return None
        least = _least(apart if signs == {True} else -apart, ranges)
        return None if least is None else (least - 1,)


def _least(p: Poly, ranges: Mapping[Atom, tuple[Poly, Poly]]) -> Poly | None:
    """A bound from below: indices at the ends of their ranges; None where the sign of a step is not seen."""
    for _ in range(8):
        inside = [a for a in p.leaves() if a in ranges]
        if not inside:
            return p
        step = p.slope(inside[-1])
        by = None if step is None else step.const()
        if by is None:
            return None
        p = p.subst({inside[-1]: ranges[inside[-1]][0 if by > 0 else 1]})
    return None
