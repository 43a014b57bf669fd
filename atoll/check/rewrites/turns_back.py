"""Loops that are left early or go in turns, put back as the loops they stand for: undone before instances are compared.

    declare s = False;  for b:  if not s:  ... or over r into hit:  hit |= p(r);  s := hit != 0        is        declare s = False;  for b:  ... for r:  s |= p(r)

If s is true, it stays true whatever comes; what is skipped reads, and does nothing else. The same for `and`, with the contrary.

    if m >= 1 ...:  declare at = lo;  forever:  break unless at < hi;  turn = (at + c) // m;  steps = max(m turn + m - at - c, 1);  stop = min(hi, at + steps ...)
                                      for i in at..stop:  f(i, turn);  at := stop                      is        for i in lo..hi:  f(i, (i + c) // m)

Names of a round that nothing in a turn changes may be made once in it. at + c is less than m turn + m, so it takes steps, and i + c is in the same turn for all i in at..stop.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from atoll.check.rewrites.checks_back import renamed
from atoll.check.rewrites.language import Expr, changed, loads, names, read
from atoll.check.rewrites.leaves import Node, whole
from atoll.check.sums import Poly, add, const, div, mul, sub, subst, var

FALSE, TRUE = "False", "True"


def turns_back(body: tuple[Node, ...]) -> tuple[Node, ...]:
    out = list(body)
    for k, n in enumerate(out):
        if n.stmt[0] == "declare" and n.stmt[2] == "bool" and n.stmt[3] is not None and n.stmt[3][:2] in (("const", FALSE), ("const", TRUE)) and k + 1 < len(out):
            found = _until(out[k + 1], n.stmt[1], n.stmt[3][1] == FALSE)
            out[k + 1] = out[k + 1] if found is None else found
        elif n.stmt[0] == "if" and len(n.bodies[0]) == 2:
            turns = _turns(n.stmt[1], *n.bodies[0])
            out[k] = n if turns is None else replace(n, bodies=((turns,), *n.bodies[1:]))
    return tuple(replace(n, bodies=tuple(turns_back(b) for b in n.bodies)) for n in out)


# -- until it is known


def _until(loop: Node, s: str, some: bool) -> Node | None:
    if loop.stmt[0] != "for" or loop.stmt[5][0] or len(loop.bodies[0]) != 1 or loop.bodies[0][0].stmt[0] != "if":
        return None
    (ask,) = loop.bodies[0]
    if ask.stmt[1] != (("false" if some else "true", None, ("use", s)),) or ask.bodies[1] or len(ask.bodies[0]) < 2:
        return None
    *lets, scan, last = ask.bodies[0]
    if any(n.stmt[0] != "let" for n in lets) or scan.stmt[0] != "accumulate" or len(scan.stmt[5]) != 1 or scan.stmt[5][0][1] != "or":
        return None
    hit, _, d = scan.stmt[5][0]
    if d[0] not in "iu" or last.stmt != ("assign", s, ("call", "ne" if some else "eq", (("use", hit), ("const", "0", d)), "bool")):
        return None
    inner = []
    for n in scan.bodies[0]:
        if n.stmt[0] == "add" and n.stmt[1] == hit and n.stmt[2] == "or" and n.stmt[3][0] == "cast" and n.stmt[3][2] == d:
            p: Expr = n.stmt[3][1]
            if not some:
                if p[:2] != ("call", "not") or p[3] != "bool":
                    return None
                p = p[2][0]
            inner.append(replace(n, stmt=("add", s, "or" if some else "and", p)))
        elif n.stmt[0] == "let" and not {hit, s} & read((n.stmt,))[0]:
            inner.append(n)
        else:
            return None
    if {hit, s} & set().union(*(read((n.stmt,))[0] for n in lets)) or {hit, s} & (names(scan.stmt[2]) | names(scan.stmt[3])):
        return None
    rounds = Node(("for", scan.stmt[1], scan.stmt[2], scan.stmt[3], (), (False, 0, False, False)), (tuple(inner),), None)
    return replace(loop, bodies=((*lets, rounds),))


# -- in turns


def _turns(tests: Any, first: Node, loop: Node) -> Node | None:
    if first.stmt[0] != "declare" or first.stmt[2] != "i64" or first.stmt[3] is None or first.stmt[3][0] != "index" or loop.stmt[0] != "forever":
        return None
    at, low = first.stmt[1], first.stmt[3][1]
    leave, *all_, rounds, step = loop.bodies[0] if len(loop.bodies[0]) >= 4 else (first, first, first, first)
    kept, lets = [n for n in all_ if n.origin is not None], [n for n in all_ if n.origin is None]  # names of a round that are the same in a turn
    if leave.stmt[0] != "break" or len(leave.stmt[1]) != 1 or leave.stmt[1][0][0] != "ge" or not _rounds(rounds) or any(n.stmt[0] != "let" or n.stmt[2] != "i64" for n in lets):
        return None
    high = add(add(leave.stmt[1][0][1], var(at)), const(1))
    made = {n.stmt[1]: n.stmt[3] for n in lets}
    i, begin, stop = rounds.stmt[1:4]
    if begin != var(at) or len(stop) != 1 or stop[0][1] != 1 or len(stop[0][0]) != 1 or step.stmt != ("assign", at, ("index", stop)):
        return None
    turns = _where_turns(made.get(stop[0][0][0]), at, high, made)
    if turns is None or {at, *made, *(n.stmt[1] for n in kept)} & (names(low) | names(high)):
        return None
    if not all(("ge", sub(m, const(1)), None) in tests for _, m in turns.values()):
        return None
    env: dict[str, Poly] = {turn: div(add(var(i), c), m) for turn, (c, m) in turns.items()}
    inner = tuple(renamed(n, {}, env) for n in rounds.bodies[0])
    stmts = tuple(map(whole, inner))
    assigned, _ = changed(stmts)
    if any(n.stmt[0] != "let" or {at, *made} & names(n.stmt[3]) or names(n.stmt[3]) & assigned or {x[1] for x in loads(n.stmt[3])} & changed(stmts)[1] for n in kept):
        return None
    if {at, *made} & (read(stmts)[0] | assigned) or assigned & (names(high) | set().union(*(names(p) for pair in turns.values() for p in pair))):
        return None
    early = tuple(replace(n, origin=(n.origin[0], {s: subst(p, {at: var(i)}) for s, p in n.origin[1].items()})) for n in kept if n.origin is not None)
    return Node((rounds.stmt[0], i, low, high, *rounds.stmt[4:]), ((*early, *inner),), rounds.origin)


def _rounds(n: Node) -> bool:
    """A loop that is no scan, or one that makes sums which were begun before it."""
    return bool(n.stmt[0] == "for" and not n.stmt[5][3]) or bool(n.stmt[0] == "accumulate" and not n.stmt[5])


def _where_turns(stop: Any, at: str, high: Poly, made: Mapping[str, Any]) -> dict[str, tuple[Poly, Poly]] | None:
    """min(high, at + steps, ...): of every name of a turn what is added to the index, and what it is divided by."""
    ends: list[Poly] = []

    def go(e: Any) -> bool:
        if e is not None and e[:2] == ("call", "min") and e[3] == "i64" and len(e[2]) == 2:
            return all(map(go, e[2]))
        if e is None or e[0] != "index":
            return False
        ends.append(e[1])
        return True

    if not go(stop) or high not in ends:
        return None
    found: dict[str, tuple[Poly, Poly]] = {}
    for p in ends:
        if p == high:
            continue
        steps = [v for v in made if p == add(var(at), var(v))]
        turn = _turn(made[steps[0]], at, made) if steps else None
        if turn is None:
            return None
        found[turn[0]] = turn[1:]
    return found


def _turn(steps: Expr, at: str, made: Mapping[str, Any]) -> tuple[str, Poly, Poly] | None:
    """max(m turn + m - at - c, 1), where turn = (at + c) // m; perhaps less, where at + c is close to what 64 bits hold."""
    if steps[:2] == ("call", "max") and len(steps[2]) == 2 and steps[2][0][:2] == ("call", "min") and steps[2][0][3] == "i64" and len(steps[2][0][2]) == 2:
        steps = (*steps[:2], (steps[2][0][2][0], steps[2][1]), *steps[3:])  # fewer rounds of a turn, and still one
    if steps[:2] != ("call", "max") or len(steps[2]) != 2 or steps[2][0][0] != "index" or steps[2][1] not in (("index", const(1)), ("const", "1", "i64")):
        return None
    for turn, e in made.items():
        if e[:2] == ("call", "floordiv") and e[3] == "i64" and e[2][0][0] == e[2][1][0] == "index":
            n, m = e[2][0][1], e[2][1][1]
            c = sub(n, var(at))
            if at not in names(c) | names(m) and steps[2][0][1] == sub(add(mul(m, var(turn)), m), n) and not set(made) & (names(c) | names(m)):
                return turn, c, m
    return None
