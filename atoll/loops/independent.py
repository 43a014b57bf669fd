"""Loops written in order whose rounds are seen to be independent: no round touches an element that another one writes.

    for in order j in 0..w:  s = x[j] + x[j + w];  x[j + w] = x[j] - x[j + w];  x[j] = s

The loop is marked, so that C compilers need not ask at run time whether x[j] and x[j + w] meet before they use vectors;
`rounds_apart` says the same of loops with loops inside, which become pieces for threads (loops/in_pieces.py).
Two rounds are apart where an index is the same in both accesses and moves with the round, or where it is seen never to be equal.
"""

from __future__ import annotations

from dataclasses import dataclass

from atoll.loops import ir as lp
from atoll.loops.rewrite import Copier, loads, told
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.prover import Facts, facts

_STRAIGHT = (lp.Let, lp.Declare, lp.Assign, lp.Store)
_NEST = (lp.Let, lp.Declare, lp.Assign, lp.Store, lp.Update, lp.For, lp.Accumulate, lp.Add, lp.If, lp.Note)
MOST = 24  # stores in a round
SMALL = 1 << 40
PAIRS = 200  # of elements that are held against each other
Loop = tuple[Sym, Poly, Poly]


def independent(stmts: list[lp.Stmt], decisions: list[str], known: tuple[Poly, ...] = ()) -> list[lp.Stmt]:
    """`known`: what is not negative here, from the loops around."""
    out: list[lp.Stmt] = []
    for stmt in stmts:
        inside = (*known, *told(stmt))
        for body in lp.bodies(stmt):
            if not isinstance(stmt, lp.Product):
                body[:] = independent(body, decisions, inside)
        found: list[lp.Stmt] = [stmt]
        if isinstance(stmt, lp.For) and not stmt.parallel and not stmt.vector and not stmt.unroll and all(isinstance(s, _STRAIGHT) for s in stmt.body):
            small: set[lp.VarAtom] = set()
            if rounds_apart(stmt, known, small=small):
                decisions.append(f"the rounds of {stmt.sym} are seen to be independent")
                found = _marked(stmt, small)
        out += found
    return out


def _marked(loop: lp.For, small: set[lp.VarAtom]) -> list[lp.Stmt]:
    """The loop, any order where some variables are small."""
    if not small:
        loop.parallel = True
        return [loop]
    tests = [t for a in sorted(small, key=lambda a: a.uid) for t in (lp.Test("ge", poly(a) + SMALL), lp.Test("ge", SMALL - poly(a)))]
    return [lp.If(tuple(tests), [lp.For(loop.sym, loop.low, loop.high, Copier({}).stmts(loop.body), True)], [loop])]


@dataclass(frozen=True)
class Access:
    """An element that a round touches, and the loops inside the round around it."""

    buffer: lp.Buffer
    index: tuple[Poly, ...]
    loops: tuple[Loop, ...]


def accesses(stmts: list[lp.Stmt], loops: tuple[Loop, ...] = ()) -> tuple[dict[Access, None], dict[Access, None]]:
    """What statements write, and what they read."""
    written: dict[Access, None] = {}
    read: dict[Access, None] = {}
    for s in stmts:
        inner = list(lp.bodies(s))
        if isinstance(s, (lp.Store, lp.Update)):
            written[Access(s.buffer, s.index, loops)] = None
        below = (*loops, (s.sym, s.low, s.high)) if isinstance(s, (lp.For, lp.Accumulate)) else loops
        for body in inner:
            more, also = accesses(body, below)
            written |= more
            read |= also
        own = s.tests if isinstance(s, lp.If) else s if not inner else ()
        read |= dict.fromkeys(Access(x.buffer, x.index, loops) for x in loads(own))
    return written, read


def rounds_apart(loop: lp.For, known: tuple[Poly, ...], private: frozenset[lp.Buffer] = frozenset(), small: set[lp.VarAtom] | None = None) -> bool:
    """No round touches an element that another one writes, but of arrays that every round has for itself. If variables whose arithmetic might wrap
    around have to be small for this, they are put into `small`; without it they are not allowed."""
    every = list(lp.walk(loop.body))
    if not all(isinstance(s, _NEST) for s in every):
        return False
    made = {s.var for s in every if isinstance(s, (lp.Let, lp.Declare))} | {a.var for s in every if isinstance(s, lp.Accumulate) for a in s.accs}
    if any(isinstance(s, (lp.Assign, lp.Add)) and s.var not in made for s in every):
        return False
    written, read = accesses(loop.body)
    written = {a: None for a in written if a.buffer not in private}
    buffers = {a.buffer for a in written}
    touched = [a for a in {**written, **read} if a.buffer in buffers]
    if not written or len(written) > MOST or any(b.rows is not None or b.local for b in buffers):
        return False
    pairs = [(w, t) for w in written for t in touched if t.buffer is w.buffer]
    outside = {leaf for p in known for leaf in p.leaves()} | {loop.sym}
    if len(pairs) > PAIRS or any(len({s for s, _, _ in a.loops} - outside) != len(a.loops) for a in touched):
        return False
    atoms: set[Atom] = {v.atom for v in made}
    return all(_Pair(loop, w, t, atoms, small).apart((*known, *told(loop))) for w, t in pairs)


class _Pair:
    """An element that one round writes, and one that another round touches."""

    def __init__(self, loop: lp.For, written: Access, touched: Access, made: set[Atom], small: set[lp.VarAtom] | None) -> None:
        self.small = small
        self.loop, self.written, self.touched = loop, written, touched
        self.changing: set[Atom] = made | {s for s, _, _ in written.loops} | {s for s, _, _ in touched.loops}
        other = Sym(f"{loop.sym.name}_other")
        self.there: dict[Atom, Poly] = {loop.sym: poly(other)}
        self.facts = [poly(other) - loop.low, loop.high - poly(other) - 1]
        for s, low, high in written.loops:
            self.facts += [poly(s) - low, high - poly(s) - 1]
        for s, low, high in touched.loops:
            new = Sym(f"{s.name}_other")
            self.facts += [poly(new) - low.subst(self.there), high.subst(self.there) - poly(new) - 1]
            self.there[s] = poly(new)
        self.made = made

    def apart(self, known: tuple[Poly, ...]) -> bool:
        mine = facts((*known, *(p for p in self.facts if not self.made & p.leaves())))
        return any(self.never_equal(w, t, mine) for w, t in zip(self.written.index, self.touched.index, strict=True))

    def never_equal(self, w: Poly, t: Poly, ctx: Facts) -> bool:
        """These indices are different in different rounds."""
        sym = self.loop.sym
        step = w.coefficient(sym)
        by = None if step is None else step.const()
        rest = None if not by else (w - by * poly(sym)).leaves()
        if rest is not None and sym not in rest and not self.changing & rest:
            apart = (w - t).const()
            if apart is not None and (apart == 0 or (by is not None and apart % by != 0)):
                return True  # it moves with the round; or one is at multiples of the step where the other is between them
        if self.made & (w.leaves() | t.leaves()):
            return False
        there = t.subst(self.there)
        wide = {a for a in (*w.leaves(), *there.leaves()) if isinstance(a, lp.VarAtom) and not a.var.small}
        left = {a: (w - there).coefficient(a) for a in wide if a in (w - there).leaves()}
        if wide and (self.small is None or any(c is None or c.const() is None or abs(c.const() or 0) > 64 for c in left.values())):
            return False  # with such steps, differences of small values are below 2**63
        if not (ctx.proves(w - there - 1) or ctx.proves(there - w - 1)):
            return False
        if self.small is not None:
            self.small |= set(left)
        return True
