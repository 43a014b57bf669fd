"""A range in strips in which a quotient stays as it is (strip-mining by a divisor that is known only at run time).

    for i in low..high:  f(i, (i + c) // m, (i + c) % m)
becomes
    if m >= 1:  for p in 0..(high - 1 + c) // m + 1 - first:  base = (first + p) * m - c
                    for i in max(low, base)..min(high, base + m):  f(i, first + p, i - base)
    else:       as it was
where first = (low + c) // m

Right because the strips are the range, in its order: base + m of one is the base of the next, the first begins at low or before it, the last ends at high or behind it. A range without rounds
has at most one strip, which has none either. m and c are the same in every round, and with the integers in the range's ends so far from overflow that no sum of them is one: that is tested, with
m >= 1, before the loop. Remainders step with the index of a strip and quotients with that of the strips, so those of them are quotients in their turn, and one test is made for all.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from atoll.loops import ir as lp
from atoll.loops.questions import divides
from atoll.loops.transform.copier import Copier, copyable, fresh_like
from atoll.loops.transform.refused import Refused
from atoll.sizes import Atom, Poly, Quot, Sym, poly
from atoll.types.dtypes import I64

FAR = 30  # bits of the integers that indices are made of, and
LONG = 31  # of a range, so that
ROOM = 62  # are enough for products of two of them, and a few sums


@dataclass(frozen=True, slots=True)
class Turn:
    """value // size, where the value steps by one with a loop."""

    value: Poly
    size: Poly


@dataclass(slots=True)
class Stripped:
    """The loops instead of a loop, the tests under which they are right, and how many quotients stay as they are in a strip."""

    tests: dict[lp.Test, None] = field(default_factory=dict)
    count: int = 0
    chained: bool = False  # a quotient or remainder of a quotient or remainder is among them
    loops: list[lp.Stmt] = field(default_factory=list)


def stripped(loop: lp.For, most: int) -> Stripped | Refused:
    """The loop in strips, where it is seen to have at most so many different quotients; without what has to be tested."""
    if loop.vector or loop.unroll or loop.scan:
        return Refused("it is scheduled as it stands")
    if not copyable(loop.body):
        return Refused("something in it cannot be copied")
    bounds = [far(p) for p in (loop.low, loop.high)]
    if None in bounds:
        return Refused("its range is not seen to be far from overflow")
    found = Stripped({t: None for tests in bounds for t in tests or ()} | {lp.Test("ge", (1 << LONG) - loop.high): None})
    found.loops = _strips(loop, _changing(loop), found, most, ())
    return found if found.count else Refused("no quotient in it steps with its rounds")


def far(p: Poly) -> list[lp.Test] | None:
    """What has to hold for this to be far from overflow; None where that is not a question about each of its integers."""
    if divides(p):
        return None
    asked: dict[lp.Test, None] = {}
    for factors, many in p.terms.items():
        if len(factors) > 2 or abs(many) > (1 if factors else 1 << FAR):
            return None
        for leaf in factors:
            wide = isinstance(leaf, lp.VarAtom) and not leaf.var.small
            if wide or len(factors) > 1:
                asked[lp.Test("ge", (1 << FAR) - poly(leaf))] = None
            if wide:
                asked[lp.Test("ge", poly(leaf) + (1 << FAR))] = None
    return list(asked)


def _changing(loop: lp.For) -> set[Atom]:
    """Atoms that are something else in another round, or are made in one."""
    inside = list(lp.walk([loop]))
    found: set[Atom] = {s.sym for s in inside if isinstance(s, (lp.For, lp.Accumulate))}
    found |= {s.var.atom for s in inside if isinstance(s, (lp.Let, lp.Declare, lp.Assign))}
    return found | {a.var.atom for s in inside if isinstance(s, lp.Accumulate) for a in s.accs}


def _strips(loop: lp.For, changing: set[Atom], found: Stripped, most: int, known: tuple[Poly, ...]) -> list[lp.Stmt]:
    """`known`: quotients and remainders that step with the loop, which are as far from overflow as the range is."""
    turn, tests = _first_turn(loop, changing, known)
    if turn is None or found.count == most:
        return [loop]
    found.count += 1
    found.chained |= any(changing.isdisjoint((turn.value - p).leaves()) for p in known)
    found.tests |= dict.fromkeys(tests)
    size, strip = turn.size, Sym(f"{loop.sym.name}_strip")
    more = turn.value - loop.sym
    before: list[lp.Stmt] = []

    def let(to: list[lp.Stmt], name: str, value: lp.Expr) -> Poly:
        var = fresh_like(name, I64)
        var.small = True
        to.append(lp.Let(var, value))
        return poly(var.atom)

    def turns(p: Poly) -> lp.Expr:
        return lp.Call("floordiv", (lp.Index(p + more), lp.Index(size)), I64)

    whole = (loop.low + more).const() == 0
    first = poly(0) if whole else let(before, "first", turns(loop.low))
    last = let(before, "last", turns(loop.high - 1))
    quotient = first + strip
    head: list[lp.Stmt] = []
    base = let(head, "base", lp.Index(quotient * size - more))
    begin = base if whole else let(head, "begin", lp.Call("max", (lp.Index(loop.low), lp.Index(base)), I64))
    end = let(head, "end", lp.Call("min", (lp.Index(loop.high), lp.Index(base + size)), I64))
    index = Sym(loop.sym.name)
    copier = _Turned(turn, quotient, poly(index) - base, loop.sym, index, changing, found)
    inner = lp.For(index, begin, end, copier.stmts(loop.body), loop.parallel)
    inside = {*changing, *_changing(inner), strip, *(s.var.atom for s in (*before, *head) if isinstance(s, lp.Let))}
    rests = (poly(index) - base, *(p.subst({loop.sym: poly(index)}) for p in known))
    strips = lp.For(strip, poly(0), last + 1 - first, [*head, *_strips(inner, inside, found, most, rests)], loop.parallel)
    return [*before, *_strips(strips, inside | _changing(strips), found, most, (quotient,))]


class _Turned(Copier):
    """A copy in which a quotient and its remainder are what they are in a strip, and what is computed of them with room to spare is in the indices that are made of it."""

    def __init__(self, turn: Turn, quotient: Poly, rest: Poly, was: Sym, index: Sym, changing: set[Atom], found: Stripped) -> None:
        super().__init__({was: poly(index)})
        self.turn, self.values = turn, {"floordiv": quotient, "mod": rest}
        self.changing, self.found = set(changing), found
        self.bits: dict[Poly, int] = {poly(index): LONG, quotient: LONG + 1, rest: FAR, quotient * turn.size: LONG + 1}  # of what is less than a sum of its terms may be
        self.exact: set[Atom] = set()
        value, size = turn.value, turn.size
        self.env |= {a: quotient for a in (value // size).atoms() if isinstance(a, Quot) and a.num == value and a.den == size}

    def var(self, var: lp.Var) -> lp.Var:
        new = super().var(var)
        self.changing.add(new.atom)  # the copy is as local as what it is a copy of
        return new

    def bound(self, sym: Sym) -> Sym:
        new = super().bound(sym)
        self.changing.add(new)
        return new

    def expr(self, e: lp.Expr) -> lp.Expr:
        if isinstance(e, lp.Call) and _turn_of(e) == self.turn:
            return lp.Index(self.values[e.op])
        if isinstance(e, lp.Use) and e.var.atom in self.exact:
            return lp.Index(self.env[e.var.atom])
        return super().expr(e)

    def stmt(self, s: lp.Stmt) -> list[lp.Stmt]:
        made = super().stmt(s)
        if isinstance(s, lp.Let) and s.var.dtype is I64 and isinstance(s.value, (lp.Call, lp.Index)):
            value = self.computed(s.value)
            if value is not None:
                p, bits, tests = value
                self.env[s.var.atom] = p
                self.bits[p] = min(bits, self.bits.get(p, bits))
                self.exact.add(s.var.atom)
                self.found.tests |= dict.fromkeys(tests)
        return made

    def computed(self, e: lp.Expr) -> tuple[Poly, int, list[lp.Test]] | None:
        """What an expression is, how many bits it may need, and what has to hold for that."""
        match e:
            case lp.Const(value, dtype) if dtype is I64:
                return poly(int(value)), int(value).bit_length(), []
            case lp.Use(var) if var.dtype is I64:
                return self.bounded(self.poly(poly(var.atom)))
            case lp.Index(p):
                return self.bounded(self.poly(p))
            case lp.Call(op, _, _) if _turn_of(e) == self.turn:
                return self.bounded(self.values[op])
            case lp.Call("add" | "sub" | "mul" as op, (a, b), dtype) if dtype is I64:
                first, second = self.computed(a), self.computed(b)
                if first is None or second is None:
                    return None
                (p, x, tests), (q, y, more) = first, second
                made = p * q if op == "mul" else p + q if op == "add" else p - q
                bits = self.bits.get(made, x + y if op == "mul" else max(x, y) + 1)
                return (made, bits, [*tests, *more]) if bits <= ROOM else None
        return None

    def bounded(self, p: Poly) -> tuple[Poly, int, list[lp.Test]] | None:
        if p in self.bits:
            return p, self.bits[p], []
        tests = far(p)
        small = all(isinstance(leaf, lp.VarAtom) and not leaf.var.small for leaf in p.leaves())  # an index may be anything below the size of memory
        if tests is None or not small or any(t.poly is not None and not self.changing.isdisjoint(t.poly.leaves()) for t in tests):
            return None
        return p, max(sum(FAR for _ in factors) for factors in p.terms) + len(p.terms).bit_length() if p.terms else 0, tests


def _turn_of(e: lp.Expr) -> Turn | None:
    """The quotient that an operation is about."""
    if not isinstance(e, lp.Call) or e.op not in ("floordiv", "mod") or e.dtype is not I64:
        return None
    value, size = e.args
    if isinstance(size, lp.Use):
        size = lp.Index(poly(size.var.atom))
    return Turn(value.poly, size.poly) if isinstance(value, lp.Index) and isinstance(size, lp.Index) else None


def _first_turn(loop: lp.For, changing: set[Atom], known: tuple[Poly, ...]) -> tuple[Turn | None, list[lp.Test]]:
    """A quotient in the body that steps with the loop, of those by products one of those first, and what has to hold for its strips."""
    inside = list(lp.walk(loop.body))
    local = {s.var.atom for s in inside if isinstance(s, (lp.Let, lp.Declare, lp.Assign))} | {s.sym for s in inside if isinstance(s, (lp.For, lp.Accumulate))}
    for turn in sorted(turns_in(loop.body), key=lambda turn: -max((len(factors) for factors in turn.size.terms), default=0)):
        more = turn.value - loop.sym
        if turn.size.const() is not None or loop.sym in more.leaves() or not local.isdisjoint(more.leaves()) or not changing.isdisjoint(turn.size.leaves()):
            continue
        near = _near(turn.value, more, changing, known)
        size = far(turn.size)
        if near is not None and size is not None:
            return turn, [lp.Test("ge", turn.size - 1), lp.Test("ge", (1 << FAR) - turn.size), *near, *size]
    return None, []


def _near(value: Poly, more: Poly, changing: set[Atom], known: tuple[Poly, ...]) -> list[lp.Test] | None:
    """What has to hold for a value to be about as far from overflow as the range of its loop."""
    if changing.isdisjoint(more.leaves()):
        wide = far(more)
        return None if wide is None else [*wide, *(lp.Test("ge", (1 << FAR) + p) for p in (more, -more) if more.const() is None)]
    for p in known:
        rest = value - p
        wide = far(rest)
        if wide is not None and all(isinstance(leaf, lp.VarAtom) and not leaf.var.small and leaf not in changing for leaf in rest.leaves()):
            return wide
    return None


def turns_in(stmts: Any) -> list[Turn]:
    """Quotients, in the order of the text."""
    found: dict[tuple[Poly, Poly], Turn] = {}

    def add(turn: Turn | None) -> None:
        if turn is not None:
            found.setdefault((turn.value, turn.size), turn)

    def go(x: Any) -> None:
        kind = type(x)
        if kind is list or kind is tuple:
            for item in x:
                go(item)
        elif kind is Poly:
            for a in x.atoms():
                if isinstance(a, Quot):
                    go(a.num)
                    add(Turn(a.num, a.den))
        else:
            if kind is lp.Call:
                add(_turn_of(x))
            for name in lp.FIELDS.get(kind, ()):
                go(getattr(x, name))

    go(stmts)
    return list(found.values())

