"""Questions about statements that rewrites of loops ask: what is read, what is known inside, what can fail."""

from __future__ import annotations

from collections import Counter
from typing import Any

from atoll.loops import ir as lp
from atoll.loops import profit
from atoll.loops.transform.copier import copyable
from atoll.sizes import Atom, Poly, Quot, poly


def told(stmt: lp.Stmt) -> tuple[Poly, ...]:
    """What is not negative inside a loop because of its range."""
    match stmt:
        case lp.For() | lp.Accumulate():
            return (poly(stmt.sym) - stmt.low, stmt.high - poly(stmt.sym) - 1)
        case lp.Chunks():
            return (poly(stmt.low), stmt.extent - poly(stmt.high), poly(stmt.high) - poly(stmt.low))
    return ()


def filled_on_condition(stmts: lp.Stmts) -> set[lp.Buffer]:
    """Arrays that are written under a condition that their memory does not stand under, or not at all: there is memory, but perhaps no value."""
    found: set[lp.Buffer] = set()
    surely: set[lp.Buffer] = set()

    def go(stmts: lp.Stmts, here: set[lp.Buffer]) -> None:
        for s in stmts:
            if isinstance(s, lp.Alloc):
                found.add(s.buffer)
                here.add(s.buffer)
            elif bodies := list(lp.bodies(s)):
                for body in bodies:
                    go(body, set() if isinstance(s, lp.If) else here)
            elif not isinstance(s, lp.Free):
                surely.update(changed([s])[1] & here)

    go(stmts, set())
    return found - surely


def divides(p: Poly) -> bool:
    """It has quotients by what may be 0."""
    return any(isinstance(atom, Quot) and (atom.den.const() is None or divides(atom.num)) for atom in p.atoms())


def slow(e: lp.Expr | None) -> bool:
    """It divides floats or calls a function of them."""
    return e is not None and any(isinstance(x, lp.Call) and x.dtype.is_float and x.op not in profit.QUICK for x in lp.subexprs(e))


def mentions(x: Any) -> Counter[lp.Buffer]:
    """How often each array is mentioned."""
    found: Counter[lp.Buffer] = Counter()

    def go(e: Any) -> None:
        kind = type(e)
        if kind is lp.Buffer:
            found[e] += 1
        elif kind is list or kind is tuple:
            for item in e:
                go(item)
        elif kind is not lp.Alloc and kind is not lp.Free:
            for name in lp.FIELDS.get(kind, ()):
                go(getattr(e, name))

    go(x)
    return found


def only_checks(stmt: lp.Stmt) -> bool:
    """A loop that computes nothing but what its checks look at."""
    if not isinstance(stmt, (lp.For, lp.Chunks)) or (isinstance(stmt, lp.Chunks) and (stmt.accs or stmt.buffers)):
        return False
    inner = list(lp.walk([stmt]))
    return all(isinstance(s, (lp.For, lp.Chunks, lp.Let, lp.Check)) for s in inner) and any(isinstance(s, lp.Check) for s in inner)


def may_fail(stmts: lp.Stmts) -> bool:
    """Something in here can stop the program, or is seen from outside while it runs."""
    return any(isinstance(s, (lp.Check, lp.Alloc, lp.Print, lp.Helper, lp.CopyBuffer, lp.Product)) for s in lp.walk(stmts))


def straight(stmts: lp.Stmts) -> bool:
    """No loops inside, nothing that can fail, and a Copier knows it all."""
    return copyable(stmts) and not may_fail(stmts) and not any(isinstance(s, (lp.For, lp.Accumulate)) for s in lp.walk(stmts))


def parts(x: Any, *kinds: type) -> list[Any]:
    """What is of these kinds in statements or expressions, in the order of the text: statements, expressions, tests or polynomials."""
    found: list[Any] = []

    def go(e: Any) -> None:
        kind = type(e)
        if kind is list or kind is tuple:
            for item in e:
                go(item)
        else:
            if kind in kinds:
                found.append(e)
            for name in lp.FIELDS.get(kind, ()):
                go(getattr(e, name))

    go(x)
    return found


def calls(x: Any) -> list[lp.Call]:
    """Every operation in a statement or expression."""
    return parts(x, lp.Call)


def polys(x: Any) -> list[Poly]:
    """Every polynomial: indices, bounds, and what tests compare."""
    return parts(x, Poly)


def atoms(x: Any) -> set[Atom]:
    """The indices and variables that a value is made of."""
    return {leaf for p in polys(x) for leaf in p.leaves()} | {v.atom for v in lp.used_vars(x)}


def loads(x: Any) -> list[lp.Load]:
    """Every element a statement or expression reads (not those an update reads of its own place). Apart from `parts`, as it is asked most, and looks into none."""
    found: list[lp.Load] = []

    def go(e: Any) -> None:
        kind = type(e)
        if kind is lp.Load:
            found.append(e)
        elif kind is list or kind is tuple:
            for item in e:
                go(item)
        else:
            for name in lp.FIELDS.get(kind, ()):
                go(getattr(e, name))

    go(x)
    return found


def always_read(e: lp.Expr | None) -> list[lp.Load]:
    """Elements that an expression reads whatever its tests say."""
    if isinstance(e, lp.Load):
        return [e]
    if isinstance(e, lp.Call) and e.op not in ("select", "and", "or"):
        return [x for a in e.args for x in always_read(a)]
    if isinstance(e, (lp.Choose, lp.Truth)):
        return always_read(e.tests[0].expr) if e.tests else []
    return always_read(e.arg) if isinstance(e, lp.Cast) else []


def begins_as(var: lp.Var, value: lp.Expr, before: lp.Stmts) -> bool:
    """A variable is declared with this value in a block, and nothing has changed it since."""
    declared = next((k for k, s in enumerate(before) if isinstance(s, lp.Declare) and s.var is var), None)
    if declared is None or (first := before[declared]) != lp.Declare(var, value, instance=first.instance):
        return False
    return not any(isinstance(s, (lp.Assign, lp.Add)) and s.var is var for s in lp.walk(before[declared:]))


def changed(stmts: lp.Stmts) -> tuple[set[lp.Var], set[lp.Buffer]]:
    """Variables and arrays that statements make or change."""
    variables: set[lp.Var] = set()
    buffers: set[lp.Buffer] = set()
    for s in lp.walk(stmts):
        if isinstance(s, (lp.Assign, lp.Add, lp.Let, lp.Declare)):
            variables.add(s.var)
        elif isinstance(s, (lp.Accumulate, lp.Chunks)):
            variables |= {a.var for a in s.accs}
            buffers |= {shared for _, shared, _ in s.buffers} if isinstance(s, lp.Chunks) else set()
        elif isinstance(s, (lp.Store, lp.Update, lp.Alloc, lp.Free)):
            buffers.add(s.buffer)
        elif isinstance(s, lp.Helper):
            buffers |= {b for b, _ in s.buffers}
            variables |= {s.result} if s.result is not None else set()
        elif isinstance(s, lp.CopyBuffer):
            buffers.add(s.target)
        elif isinstance(s, lp.Swap):
            buffers |= {s.first, s.second}
        elif isinstance(s, lp.Product):
            buffers.add(s.target.buffer)
    return variables, buffers
