"""Checks somewhere else than they stand: out of the rounds of a loop.

    for i:  k = at[i];  check 0 <= k < n;  check 0 <= i + s < m;  y[i] = x[k] + z[i + s]
becomes
    if there are rounds and (n < 1 or not both ends of i + s in 0..m):  for i: k = at[i]; check ...; check ...
    or over i into bad:  k = at[i];  ok = 0 <= k < n;  bad |= not ok;  k' = k if ok else 0;  y[i] = x[k'] + z[i + s]
    if bad:  for i: k = at[i];  check ...                       stops at the first, with its message

    steady_checks(loop)     the checks that are the same in every round, before a loop that has rounds, and the loop without them
    checked_once(loop)       without checks whose tests were made before in the same round
    checks_alone(loop)      the checks of a round with the values they need, which can be made in a loop of their own
    guarded_checks(loop)    the tests that such a loop inside left behind, at the ends of the loop around it
    without_checks(loop)    the tests of all rounds, and the loop without its checks

Right because which of two checks fails first is not part of the meaning of a program, nor what a program that fails has computed; what it has printed is, so loops that print are left
alone. Checks may be made in rounds of their own where they look at nothing that the loop changes. A range that moves evenly with the index holds in all rounds where it holds in the first and the
last, if no sum wraps around on the way (STEP, LONG). What is read where a check fails is something else that is there: any value in the range that is checked will do, as the result is
not seen. The loop with the checks themselves may find that none fails, as the test before it is stricter than it must be; then no round has read anything else either.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.questions import loads, told
from atoll.loops.transform.copier import Copier, copyable, fresh_like
from atoll.loops.transform.refused import Refused
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.prover import facts
from atoll.types.dtypes import I64

Loop = lp.For | lp.Accumulate
STEP = 1 << 20  # of an index from round to round, and
LONG = 1 << 40  # rounds up to which ends tell about everything between: no sum wraps around on the way


@dataclass(frozen=True, slots=True)
class Moved:
    """The statements instead of a loop; whether some of its checks are made at its ends, and some for all rounds at once."""

    stmts: lp.Stmts
    at_ends: bool
    at_once: bool


def without_checks(loop: Loop, known: tuple[Poly, ...] = ()) -> Moved | Refused:
    """Where one part of the checks can leave and another cannot, that part leaves. `known`: what is not negative in loops around."""
    found = _checked(loop, known)
    return found if isinstance(found, Refused) else found.moved()


def steady_checks(loop: Loop) -> Moved | Refused:
    """Of the loop's own statements, so that a round comes to them; `if` of what is the same in every round may stand around them."""
    if isinstance(loop, lp.For) and (loop.vector or loop.unroll):
        return Refused("it is scheduled as it stands")
    if any(isinstance(s, lp.Print) for s in lp.walk(loop.body)):
        return Refused("what is printed is printed before a check that comes after it fails")
    made = _made(loop)

    def stays(e: object) -> bool:
        return made.isdisjoint(lp.used_vars(e)) and loop.sym not in _leaves(e)

    def is_same(s: lp.Stmt) -> bool:
        if isinstance(s, lp.Check):
            return all(t.expr is None and stays(t) for t in s.tests) and all(stays(a) and not list(loads(a)) for a in s.args)
        return isinstance(s, lp.If) and not s.orelse and all(t.expr is None and stays(t) for t in s.tests) and all(map(is_same, s.then))

    moved = [s for s in loop.body if is_same(s)]
    if not moved:
        return Refused("no check is the same in every round")
    rest = replace(loop, body=[s for s in loop.body if not is_same(s)])
    rounds = lp.If((lp.Test("ge", loop.high - loop.low - 1),), Copier({loop.sym: loop.low}).stmts(moved))  # as the first round makes them
    return Moved([rounds, rest] if rest.body or isinstance(loop, lp.Accumulate) else [rounds], False, True)


def checked_once(loop: Loop) -> Loop | Refused:
    """Right where the tests are of indices, so that no array is read for them, and of nothing that the round assigns: made again they say the same."""
    assigned = {s.var.atom for s in lp.walk(loop.body) if isinstance(s, (lp.Assign, lp.Add))}
    seen: set[tuple[lp.Test, ...]] = set()
    body: list[lp.Stmt] = []
    for s in loop.body:
        if isinstance(s, lp.Check):
            if s.tests in seen:
                continue
            if all(t.poly is not None and assigned.isdisjoint(t.poly.leaves()) for t in s.tests):
                seen.add(s.tests)
        body.append(s)
    return replace(loop, body=body) if len(body) < len(loop.body) else Refused("no check is made twice")


def guarded_checks(loop: Loop) -> Moved | Refused:
    """Checks that were taken out of loops inside stand where tests fail: the tests are made at the loop's ends, where they step evenly with it."""
    if isinstance(loop, lp.For) and (loop.vector or loop.unroll):
        return Refused("it is scheduled as it stands")
    if any(isinstance(s, lp.Print) for s in lp.walk(loop.body)):
        return Refused("what is printed is printed before a check that comes after it fails")
    made = _made(loop)
    moved: list[lp.Stmt] = []
    guard: dict[lp.Test, None] = {}
    for s in loop.body:
        asked = _asked(s)
        if asked is None or not copyable([s]) or not (made - {x.var for x in lp.walk([s]) if isinstance(x, lp.Let)}).isdisjoint(lp.used_vars(s)):
            continue
        steps = [_moves_evenly(loop, {}, t.poly) for t in asked if t.poly is not None]
        if None in steps or not made.isdisjoint(lp.used_vars(asked)):  # what a round makes for its tests is not there at the ends
            continue
        moved.append(s)
        guard |= dict.fromkeys(t for even in steps for t in even or ())
        guard |= dict.fromkeys(lp.Test("ge", t.poly.subst({loop.sym: end})) for t in asked if t.poly is not None for end in (loop.low, loop.high - 1))
    if not moved or len(moved) == len(loop.body):
        return Refused("no tests in it stand for checks and step evenly, or it does nothing else")
    long = loop.high - loop.low
    tests = (*(t for t in guard if t.poly is None or t.poly.const() is None or (t.poly.const() or 0) < 0), *([lp.Test("ge", LONG - long)] if long.const() is None else ()))
    exact = lp.For(loop.sym, loop.low, loop.high, Copier({}).stmts(moved), False)
    rest = replace(loop, body=[s for s in loop.body if not any(s is x for x in moved)])
    return Moved([lp.If((lp.Test("ge", long - 1),), [lp.If(tests, [], [exact])]), rest], True, False)


def _made(loop: Loop) -> set[lp.Var]:
    """Variables of a round."""
    made = {s.var for s in lp.walk(loop.body) if isinstance(s, (lp.Let, lp.Declare, lp.Assign))}
    made |= {a.var for s in lp.walk([loop]) if isinstance(s, lp.Accumulate) for a in s.accs}
    return made | {s.result for s in lp.walk(loop.body) if isinstance(s, lp.Helper) and s.result is not None}


def _asked(s: lp.Stmt) -> list[lp.Test] | None:
    """Tests, all of them on integers, that no check in the statement fails where they hold; None where it does anything else than to check."""
    if not isinstance(s, lp.If) or not all(isinstance(x, (lp.If, lp.For, lp.Check, lp.Let)) and not any(True for _ in loads(x)) for x in lp.walk([s])):
        return None
    if not s.then and s.orelse:
        return list(s.tests) if all(t.kind == "ge" for t in s.tests) else None
    if s.orelse or not s.then:
        return None
    inside = [_asked(x) for x in s.then if not isinstance(x, lp.Let)]
    return None if None in inside else [t for tests in inside for t in tests or ()]


@dataclass
class _Range:
    """A check 0 <= index <= last."""

    check: lp.Check
    index: Poly
    last: Poly


def _checked(loop: Loop, known: tuple[Poly, ...]) -> _Loop | Refused:
    """The checks of a loop by how they move."""
    checks = [s for s in loop.body if isinstance(s, lp.Check)]
    scheduled = isinstance(loop, lp.For) and (loop.vector or loop.unroll)
    if not checks or len(checks) > profit.LOOP_CHECKS or scheduled:
        return Refused("it has no checks, or too many, or is scheduled as it stands")
    needs = checks_alone(loop)
    if isinstance(needs, Refused):
        return needs
    invariant = _invariants(loop, needs)
    ends: list[_Range] = []
    data: list[lp.Check] = []
    guard: list[lp.Test] = []
    for check in checks:
        found = _range(check)
        even = None if found is None else _moves_evenly(loop, invariant, found.index)
        if found is None or even is None:
            data.append(check)
        else:
            ends.append(found)
            guard += even
    for each in ends:
        for end in (loop.low, loop.high - 1):
            at_end = each.index.subst({loop.sym: end})
            guard += [lp.Test("ge", at_end), lp.Test("ge", each.last - at_end)]
    return _Loop(loop, needs, invariant, ends, data, guard, (*known, *told(loop)))


def checks_alone(loop: Loop) -> list[lp.Stmt] | Refused:
    """The checks of a round and the values they need, in order: they may be made in rounds of their own before the loop."""
    body = loop.body
    if any(isinstance(s, lp.Print) for s in lp.walk(body)):
        return Refused("what is printed is printed before a check that comes after it fails")
    wanted: set[lp.Var] = set()
    kept: list[lp.Stmt] = []
    last = max(k for k, s in enumerate(body) if isinstance(s, lp.Check))
    for s in reversed(body[: last + 1]):
        if isinstance(s, lp.Check) or (isinstance(s, lp.Let) and s.var in wanted):
            kept.insert(0, s)
            wanted |= set(lp.used_vars(s))
    given = {s.var for s in kept if isinstance(s, lp.Let)}
    made = {s.var for s in lp.walk(body) if isinstance(s, (lp.Let, lp.Declare, lp.Assign))}
    made |= {a.var for s in lp.walk([loop]) if isinstance(s, lp.Accumulate) for a in s.accs}
    written = {s.buffer for s in lp.walk(body) if isinstance(s, (lp.Store, lp.Update, lp.Alloc))}
    written |= {b for s in lp.walk(body) if isinstance(s, lp.Swap) for b in (s.first, s.second)}
    written |= {b for s in lp.walk(body) if isinstance(s, lp.Helper) for b, _ in s.buffers}
    written |= {s.target for s in lp.walk(body) if isinstance(s, (lp.CopyBuffer))} | {s.target.buffer for s in lp.walk(body) if isinstance(s, lp.Product)}
    if not (made - given).isdisjoint(lp.used_vars(kept)) or any(x.buffer in written for s in kept for x in loads(s)):
        return Refused("its checks look at what the loop itself does")
    return kept


def _invariants(loop: Loop, needs: list[lp.Stmt]) -> dict[lp.Var, lp.Let]:
    """Values the checks need that are the same in every round and readable in the first: no check comes before them."""
    found: dict[lp.Var, lp.Let] = {}
    for s in needs:
        if isinstance(s, lp.Check):
            break
        assert isinstance(s, lp.Let)
        inside = {v for v in lp.used_vars(s) if any(isinstance(t, lp.Let) and t.var is v for t in needs)}
        if inside <= set(found) and loop.sym not in _leaves(s.value):
            found[s.var] = s
    return found


def _moves_evenly(loop: Loop, invariant: dict[lp.Var, lp.Let], index: Poly) -> list[lp.Test] | None:
    """The index steps by the same from round to round, and the rest of it is the same in all of them: what has to hold for the step (often nothing); None where
    it does not."""
    step = index.slope(loop.sym)
    if step is None or abs(step.const() or 0) > STEP:
        return None
    rest = index - step * loop.sym
    made = {s.var.atom for s in loop.body if isinstance(s, lp.Let) and s.var not in invariant}
    if loop.sym in rest.leaves() | step.leaves() or not made.isdisjoint(rest.leaves() | step.leaves()):
        return None
    return [lp.Test("ge", STEP - step), lp.Test("ge", step + STEP)] if step.const() is None else []


@dataclass(frozen=True, slots=True)
class _Loop:
    loop: Loop
    needs: list[lp.Stmt]
    invariant: dict[lp.Var, lp.Let]
    ends: list[_Range]  # tested at the first and the last round
    data: list[lp.Check]
    guard: list[lp.Test]  # before the loop: what makes the fast way right
    known: tuple[Poly, ...]  # not negative in a round

    def moved(self) -> Moved | Refused:
        loop = self.loop
        ended = {id(r.check) for r in self.ends}
        body = [s for s in loop.body if id(s) not in ended]
        found = self.data_checks(body)
        if found is None and not self.ends:
            return Refused("what its checks look at is data, and nothing else can be read instead")
        if found is None:
            return Moved([*self.before(self.guard), self.again(body)], True, False)
        rest, guard = found
        if not self.data and all(isinstance(s, (lp.Let, lp.Check)) for s in loop.body):
            rest = []
        return Moved([*self.before([*self.guard, *guard]), *rest], bool(self.ends), bool(self.data))

    def before(self, guard: list[lp.Test]) -> list[lp.Stmt]:
        """The tests of all rounds; the checks themselves, when the tests do not hold."""
        if not guard:
            return []
        loop = self.loop
        copier = Copier({loop.sym: loop.low})  # they are those of any round
        lets = copier.stmts([s for s in self.needs if isinstance(s, lp.Let) and s.var in self.invariant])
        tests = dict.fromkeys(lp.Test("ge", copier.poly(t.poly)) for t in guard if t.poly is not None and (t.poly.const() or 0) >= 0 and t.poly.const() is None)
        false = any((t.poly.const() or 0) < 0 for t in guard if t.poly is not None)
        long = loop.high - loop.low
        if long.const() is None and self.ends:
            tests[lp.Test("ge", LONG - long)] = None
        exact = self.exact()
        guarded: list[lp.Stmt] = [exact] if false else [*lets, lp.If(tuple(tests), [], [exact])] if tests else []
        return [lp.If((lp.Test("ge", long - 1),), guarded)] if guarded else []

    def exact(self) -> lp.Stmt:
        return lp.For(self.loop.sym, self.loop.low, self.loop.high, Copier({}).stmts(list(self.needs)), False)

    def again(self, body: lp.Stmts) -> lp.Stmt:
        loop = self.loop
        if isinstance(loop, lp.Accumulate):
            return lp.Accumulate(loop.sym, loop.low, loop.high, body, loop.accs, loop.exact)
        return lp.For(loop.sym, loop.low, loop.high, body, loop.parallel)

    def data_checks(self, body: lp.Stmts) -> tuple[list[lp.Stmt], list[lp.Test]] | None:
        """The loop without the checks that depend on data, and what must hold for it; None when they must stay where they are."""
        loop = self.loop
        if not self.data:
            return [self.again(body)], []
        nested = any(isinstance(s, (lp.For, lp.Accumulate, lp.Forever, lp.Chunks)) for s in lp.walk(loop.body))
        inner = any(isinstance(s, lp.Check) for top in body for b in lp.bodies(top) for s in lp.walk(b))
        if nested or inner or not copyable(loop.body) or (isinstance(loop, lp.For) and not loop.parallel):
            return None
        effects = [s for s in body if not isinstance(s, (lp.Let, lp.Check))]
        if effects:
            found = self.in_place(body)
            if found is not None:
                return found
        first = self.first(body) if isinstance(loop, lp.For) else None
        return None if first is None else (first, [])

    def first(self, body: lp.Stmts) -> list[lp.Stmt] | None:
        """The data are tested in a loop of their own."""
        loop = self.loop
        asked: set[Atom] = set()
        seen = False
        for s in self.needs:
            if seen and any(not self.readable(x, asked) for x in loads(s)):
                return None
            if isinstance(s, lp.Check) and any(s is c for c in self.data):
                seen = True
                asked |= {leaf for t in s.tests if t.poly is not None for leaf in t.poly.leaves()}
        bad = fresh_like("bad", I64)
        sym = Sym(loop.sym.name)
        copier = Copier({loop.sym: poly(sym)})
        scan: list[lp.Stmt] = []
        for s in self.needs:
            if isinstance(s, lp.Check) and not any(s is c for c in self.data):
                continue
            for new in copier.stmts([s]):
                scan.append(lp.Add(bad, "or", lp.Choose(new.tests, lp.Const(0, I64), lp.Const(1, I64))) if isinstance(new, lp.Check) else new)
        found: list[lp.Stmt] = [lp.Accumulate(sym, loop.low, loop.high, scan, [lp.Acc(bad, "or")]), _if_bad(bad, self.exact())]
        rest: list[lp.Stmt] = [s for s in body if not isinstance(s, lp.Check)]
        if any(not isinstance(s, lp.Let) for s in rest):
            found.append(self.again(rest))
        return found

    def readable(self, x: lp.Load, asked: set[Atom]) -> bool:
        """It is there whatever checks of data on these atoms say: they say nothing of its index, or it is in the range of the loop, or of a check at the loop's ends."""
        at_ends = {(r.index, r.last + 1) for r in self.ends}
        for p, extent in zip(x.index, x.buffer.extents, strict=True):
            if any(isinstance(a, lp.VarAtom) for a in p.leaves()):
                return False
            if not asked.isdisjoint(p.leaves() | extent.leaves()) and (p, extent) not in at_ends:
                facts_here = facts().add(list(self.known))
                if not (facts_here.proves(p) and facts_here.proves(extent - 1 - p)):
                    return False
        return True

    def in_place(self, body: lp.Stmts) -> tuple[list[lp.Stmt], list[lp.Test]] | None:
        """The data are tested where they are used; what fails is replaced by something that may be read, as the tests say."""
        loop = self.loop
        ranges: dict[lp.Var, list[_Range]] = {}
        lets = [s.var for s in body if isinstance(s, lp.Let)]
        for check in self.data:
            found = _range(check)
            inside = [v for v in lets if found is not None and v.atom in found.index.leaves()]
            if found is None or len(inside) != 1 or found.index.slope(inside[0].atom) != poly(1) or inside[0].dtype is not I64:
                return None
            ranges.setdefault(inside[0], []).append(found)
        if not all(self.protected(body, var, those) for var, those in ranges.items()):
            return None
        guard: list[lp.Test] = []
        places: dict[lp.Var, Poly] = {}
        for var, those in ranges.items():
            candidates = [poly(var.atom) - r.index for r in those]
            free = [c for c in candidates if loop.sym not in c.leaves() and not any(isinstance(x, lp.VarAtom) for x in c.leaves())]
            if not free:
                return None
            place = next((c for c in free if c.const() == 0), free[0])
            places[var] = place
            for r in those:
                value = r.index.subst({var.atom: place})
                guard += [lp.Test("ge", value), lp.Test("ge", r.last - value)]
        if any(t.poly is not None and not all(isinstance(x, Sym) and x is not loop.sym for x in t.poly.leaves()) for t in guard):
            return None
        bad = fresh_like("bad", I64)
        copier = Copier({})
        out: list[lp.Stmt] = []
        for s in body:
            if isinstance(s, lp.Check):
                continue
            new = copier.stmts([s])
            out += new
            if isinstance(s, lp.Let) and s.var in ranges:
                tests = tuple(dict.fromkeys(lp.Test(t.kind, copier.poly(t.poly)) for r in ranges[s.var] for t in r.check.tests if t.poly is not None))
                out.append(lp.Add(bad, "or", lp.Choose(tests, lp.Const(0, I64), lp.Const(1, I64))))
                was = copier.vars[s.var]
                out.append(lp.Let(copier.var(s.var), lp.Choose(tests, lp.Use(was), lp.Index(copier.poly(places[s.var])))))
        accs = [*(loop.accs if isinstance(loop, lp.Accumulate) else ()), lp.Acc(bad, "or")]
        exact = loop.exact if isinstance(loop, lp.Accumulate) else False
        return [lp.Accumulate(loop.sym, loop.low, loop.high, out, accs, exact), _if_bad(bad, self.exact())], guard

    def protected(self, body: lp.Stmts, var: lp.Var, those: list[_Range]) -> bool:
        """Every index that mentions the variable is one that is checked, of an axis as long as the check says: any value in its range will do."""
        known = {(r.index, r.last + 1) for r in those}
        accesses = [(x.buffer, x.index) for s in body for x in loads(s)]
        accesses += [(s.buffer, s.index) for s in lp.walk(body) if isinstance(s, (lp.Store, lp.Update))]
        for buffer, index in accesses:
            for p, extent in zip(index, buffer.extents, strict=True):
                if var.atom in p.leaves() and (p, extent) not in known:
                    return False
        return True


def _range(check: lp.Check) -> _Range | None:
    """A check of two tests that an index lies in 0..last, where `last` is made of sizes."""
    if len(check.tests) != 2 or any(t.kind != "ge" or t.poly is None for t in check.tests):
        return None
    index, other = (t.poly for t in check.tests)
    assert index is not None and other is not None
    last = index + other
    return _Range(check, index, last) if all(isinstance(x, Sym) for x in last.leaves()) else None


def _leaves(e: object) -> set[object]:
    """Atoms in the polynomials of an expression."""
    found: set[object] = set()
    if isinstance(e, Poly):
        return set(e.leaves())
    if isinstance(e, (tuple, list)):
        for item in e:
            found |= _leaves(item)
    elif isinstance(e, (lp.Load, lp.Call, lp.Cast, lp.Choose, lp.Truth, lp.Test, lp.Index)):
        for name in e.__dataclass_fields__:
            found |= _leaves(getattr(e, name))
    return found


def _if_bad(bad: lp.Var, exact: lp.Stmt) -> lp.Stmt:
    return lp.If((lp.Test("ne", poly(bad.atom)),), [exact])
