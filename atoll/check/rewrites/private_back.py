"""Additions to shared memory in parts, each into copies of its own, put back as the loop that adds: undone before instances are compared.

    if t:  OWN   else:  LOOP        is        LOOP                if t:  OWN   else:  CHECKS, LOOP        is        CHECKS, LOOP

    LOOP    for r in 0..n, in order:  h[at(r)] op= v(r)
    CHECKS  pieces of n:  for r:  names, checks
    OWN     alloc own[p t, all of h];  pieces of p:  for each part:  own = neutral;  first = min(part s, n);  last = min(part s + s, n), s = ceil(n / p);  rounds first..last, into its own copies
            in order, for every copy:  h op= own[copy];  free own

A round does nothing but add, each time to another array, by an operator that may be regrouped; nothing in it reads what is added to, and no variable goes from round to round: every element gets what it
got, in another order, which of floats the program allows. A part may have several copies, which take turns: rounds first + t q + u go into copy u. Rounds may be checked a block at a time, before those
of the block are made (what is computed for a check may be kept for its round): then all that a round touches is there by what is checked in the same round, asked for all sizes, so that nothing
else is touched before a program fails. The text is made here, for the numbers that are there, and compared up to names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from atoll.check.rewrites.best_back import ORDER, call, canonical
from atoll.check.rewrites.language import (
    Body,
    Stmt,
    bodies,
    changed,
    coefficient,
    loads,
    mapped,
    names,
    parts,
    read,
    subexprs,
    walk,
    with_bodies,
)
from atoll.check.rewrites.leaves import Node, conditions, whole
from atoll.check.rewrites.parts_back import REGROUPED
from atoll.check.rewrites.refute import Cond, cannot
from atoll.check.rewrites.scopes import Kinds
from atoll.check.rewrites.storage import is_neutral
from atoll.check.rewrites.texts import may_trap
from atoll.check.sums import Poly, add, const, div, mul, sub, subst, value, var

SIDE_BY_SIDE = (True, 0, False, False)
COPIES, TURNS, AT_A_TIME = 4_096, 16, 1 << 20
ADDS = ("add", "mul", "min", "max", "or", "and")


def private_back(body: tuple[Node, ...], kinds: Kinds, licensed: bool, notes: set[str], facts: Sequence[Cond]) -> tuple[Node, ...]:
    """`facts` are known of sizes."""
    out: list[Node] = []
    for n in body:
        n = replace(n, bodies=tuple(private_back(b, kinds, licensed, notes, facts) for b in n.bodies))
        if n.stmt[0] == "if" and _stands_for(tuple(map(whole, n.bodies[0])), tuple(map(whole, n.bodies[1])), kinds, licensed, facts):
            if any(kinds[s[1]][1][0] == "f" for b in n.bodies[1] for s in walk((whole(b),)) if s[0] == "update"):
                notes.add(REGROUPED)
            out += n.bodies[1]
        else:
            out.append(n)
    return tuple(out)


def _stands_for(own: Body, plain: Body, kinds: Kinds, licensed: bool, facts: Sequence[Cond]) -> bool:
    if not 1 <= len(plain) <= 2 or not own or own[0][0] != "alloc":
        return False
    loop, checks = plain[-1], _checks(plain[0]) if len(plain) == 2 else None
    if loop[0] != "for" or loop[2] != () or loop[5] != ORDER or (len(plain) == 2 and (checks is None or plain[0][3] != loop[3])):
        return False
    updates = _additions(loop, kinds, licensed)
    rooms = [s for s in own if s[0] == "alloc"]
    if not updates or len(rooms) != len(updates):
        return False
    copies = value(rooms[0][3][0]) if rooms[0][3] else None
    pieces = own[len(rooms)] if len(own) > len(rooms) else ()
    many = value(pieces[3]) if pieces and pieces[0] == "chunks" else None
    if copies is None or many is None or not 0 < many <= copies <= COPIES or copies % many or copies // many > TURNS:
        return False
    mine = dict(zip((u[1] for u in updates), rooms, strict=True))
    for u in updates:
        room = mine[u[1]]
        if kinds.extents.get(u[1]) is None or room[3] != (const(copies), *kinds.extents[u[1]]) or room[2] != kinds[u[1]][1] or room[4][1] is not None:
            return False
    zeros = {s[1]: s[3] for s in walk((pieces,)) if s[0] == "store" and s[3][0] == "const"}
    if any(not is_neutral(str(zeros[mine[u[1]][1]][1]), u[3], kinds[u[1]][1]) if mine[u[1]][1] in zeros else True for u in updates):
        return False
    blocks = [s for s in walk((pieces,)) if s[0] == "for" and len(s[4]) > 2 and s[4][0][0] == "let" and s[4][0][3][:2] == ("call", "min")] if checks is not None else []
    size = None
    if checks is not None:
        if len(blocks) != 1 or not _there(checks, loop, kinds, facts):
            return False
        size = _block(blocks[0])
        if size is None:
            return False
    kept = [s for s in walk((pieces,)) if s[0] == "alloc"]
    made = _Own(loop, updates, {b: room[1] for b, room in mine.items()}, zeros, many, copies // many, checks, size, kept, rooms, kinds).text()
    if made is None or canonical(unflagged(own)) != canonical(unflagged(made)):
        return False
    return _apart(own, made)


def _checks(s: Stmt) -> Stmt | None:
    """The loop of pieces that check and do nothing else."""
    if s[0] != "chunks" or s[5] or s[6] or len(s[4]) != 1:
        return None
    (loop,) = s[4]
    ok = loop[0] == "for" and loop[2:4] == (var(s[1]), var(s[2])) and all(x[0] in ("let", "check") for x in loop[4]) and any(x[0] == "check" for x in loop[4])
    return loop if ok else None


def _additions(loop: Stmt, kinds: Kinds, licensed: bool) -> list[Stmt]:
    """What a loop adds, where it does nothing else."""
    inside = tuple(walk(loop[4]))
    updates = [s for s in inside if s[0] == "update"]
    added = {u[1] for u in updates}
    declared = {s[1] for s in inside if s[0] in ("let", "declare")}
    if any(s[0] not in ("let", "declare", "assign", "update", "for", "if") for s in inside) or len(added) != len(updates) or added & {e[1] for s in inside for p in parts(s) for e in loads(p)}:
        return []
    if any(s[0] == "assign" and s[1] not in declared for s in inside) or any(s[0] == "for" and s[5][1:] != (0, False, False) for s in inside):
        return []
    if any(u[3] not in ADDS or kinds[u[1]][1][0] not in "fiu" or kinds[u[1]][2] is not None or (kinds[u[1]][1][0] == "f" and not licensed) for u in updates):
        return []
    return updates if not changed(loop[4])[0] & (names(loop[3]) | {loop[1]}) else []


def _there(checks: Stmt, loop: Stmt, kinds: Kinds, facts: Sequence[Cond]) -> bool:
    """All that a round touches is there, by what is checked in the same round and by sizes."""
    same = _same_values(checks, loop)
    moving = frozenset(changed((loop,))[0])
    known: list[Cond] = [*facts, ("ge", var(loop[1])), ("ge", sub(sub(loop[3], var(loop[1])), const(1)))]
    env = {checks[1]: var(loop[1]), **{s[1]: var(f"{s[1]}%checked") for s in checks[4] if s[0] == "let"}}
    for s in checks[4]:
        if s[0] == "check":
            known += [(c[0], subst(c[1], env)) for c in conditions(s[1], moving) if c[0] != "op"]
    if read((checks,))[1] & changed((loop,))[1]:
        return False
    said = {b: var(f"{a}%checked") for b, a in same.items()}

    def inside(body: Body, conds: list[Cond]) -> bool:
        for s in body:
            reached = [(e[1], e[2]) for p in parts(s) for e in loads(p)] + ([(s[1], s[2])] if s[0] == "update" else [])
            for b, index in reached:
                long = kinds.extents.get(b)
                if long is None or len(long) != len(index) or not moving.isdisjoint(set().union(*map(names, index)) - set(same)):
                    return False
                index = tuple(subst(p, said) for p in index)
                if not all(cannot([*conds, ("ge", sub(const(-1), p))]) and cannot([*conds, ("ge", sub(p, n))]) for p, n in zip(index, long, strict=True)):
                    return False
            if any(may_trap(e) for p in parts(s) for e in subexprs(p)) and not (s[0] == "let" and s[1] in same):
                return False  # what is computed for a check has been computed
            if s[0] == "for" and not inside(s[4], [*conds, ("ge", sub(var(s[1]), s[2])), ("ge", sub(sub(s[3], var(s[1])), const(1)))]):
                return False
            if s[0] == "if" and not (inside(s[2], conds) and inside(s[3], conds)):
                return False
        return True

    return inside(loop[4], known)


def _same_names(checks: Stmt, loop: Stmt) -> dict[str, str]:
    """Names of checks that are names of the same round, by what they are made of."""
    again = {s[3]: s[1] for s in loop[4] if s[0] == "let"}
    assigned = {s[1] for s in walk(loop[4]) if s[0] == "assign"}
    found: dict[str, str] = {}
    for s in checks[4]:
        if s[0] == "let":
            v = again.get(put(s[3], {checks[1]: var(loop[1]), **{a: var(b) for a, b in found.items()}}))
            if v is not None and v not in assigned and v not in found.values():
                found[s[1]] = v
    return found


def _same_values(checks: Stmt, loop: Stmt) -> dict[str, str]:
    """Names of a round that say what a name of its check says."""
    made = {s[3]: s[1] for s in reversed(checks[4]) if s[0] == "let"}
    assigned = {s[1] for s in walk(loop[4]) if s[0] == "assign"}
    found: dict[str, str] = {}
    for s in walk(loop[4]):
        if s[0] == "let" and s[1] not in assigned:
            a = made.get(put(s[3], {loop[1]: var(checks[1]), **{b: var(a) for b, a in found.items()}}))
            if a is not None:
                found[s[1]] = a
    return found


def put(e: Any, env: Mapping[str, Poly]) -> Any:
    return mapped(e, lambda p: subst(p, dict(env)), lambda x: ("use", env[x[1]][0][0][0]) if x[0] == "use" and x[1] in env else None)


def _block(s: Stmt) -> int | None:
    """How many rounds are checked at a time: `stop = min(here + size, last)` at the head of a loop over blocks, where here = first + size block."""
    first = s[4][0][3][2][0]
    k = coefficient(first[1], s[1]) if first[0] == "index" else None
    return k if k is not None and 0 < k <= AT_A_TIME else None


class _Own:
    def __init__(self, loop: Stmt, updates: list[Stmt], own: dict[str, str], zeros: dict[str, Any], many: int, turns: int, checks: Stmt | None, size: int | None, kept: list[Stmt], rooms: list[Stmt], kinds: Kinds) -> None:
        self.loop, self.updates, self.own, self.zeros, self.many, self.turns = loop, updates, own, zeros, many, turns
        self.checks, self.size, self.kept, self.rooms, self.kinds = checks, size, kept, rooms, kinds
        self.count = 0

    def text(self) -> Body | None:
        n, part = self.loop[3], var("%part")
        step = div(add(n, const(self.many - 1)), const(self.many))
        at = mul(part, step)
        first, last = var("%first"), var("%last")
        bounds: Body = (
            ("let", "%first", "i64", call("min", ("index", at), ("index", n), d="i64")),
            ("let", "%most", "i64", call("min", ("index", add(at, step)), ("index", n), d="i64")),
            ("let", "%last", "i64", ("index", var("%most"))),
        )
        rounds = self.rounds(self.loop, first, last) if self.checks is None else self.checked(first, last)
        if rounds is None:
            return None
        inner: Body = (*(self.filled(u, k) for k, u in enumerate(self.updates)), *bounds, *rounds)
        pieces = ("chunks", "%lo", "%hi", const(self.many), (("for", "%part", var("%lo"), var("%hi"), inner, SIDE_BY_SIDE),), (), (), ())
        combined = tuple(self.combined(u, k) for k, u in enumerate(self.updates))
        return (*self.rooms, pieces, *combined, *(("free", room[1]) for room in self.rooms))

    def over(self, b: str, inner: Stmt, tag: str) -> Stmt:
        for k, extent in reversed(list(enumerate(self.kinds.extents[b]))):
            inner = ("for", f"%{tag}{k}", (), extent, (inner,), SIDE_BY_SIDE)
        return inner

    def filled(self, u: Stmt, k: int) -> Stmt:
        own, copy = self.own[u[1]], f"%copy{k}"
        low = mul(const(self.turns), var("%part"))
        place = tuple(var(f"%f{k}_{j}") for j in range(len(u[2])))
        return ("for", copy, low, add(low, const(self.turns)), (self.over(u[1], ("store", own, (var(copy), *place), self.zeros[own]), f"f{k}_"),), SIDE_BY_SIDE)

    def combined(self, u: Stmt, k: int) -> Stmt:
        place, copy = tuple(var(f"%c{k}_{j}") for j in range(len(u[2]))), f"%from{k}"
        return ("for", copy, (), const(self.many * self.turns), (self.over(u[1], ("update", u[1], place, u[3], ("load", self.own[u[1]], (var(copy), *place))), f"c{k}_"),), ORDER)

    def rounds(self, loop: Stmt, begin: Poly, end: Poly) -> Body:
        turns, number = self.turns, mul(const(self.turns), var("%part"))
        out: list[Stmt] = []
        if turns > 1:
            whole_ = div(sub(end, begin), const(turns))
            together = [s for u in range(turns) for s in self.round(loop, add(add(begin, mul(const(turns), var("%q"))), const(u)), add(number, const(u)))]
            out.append(("for", "%q", (), whole_, tuple(together), ORDER))
            begin = add(begin, mul(const(turns), whole_))
        return (*out, ("for", "%r", begin, end, self.round(loop, var("%r"), number), ORDER))

    def round(self, loop: Stmt, at: Poly, copy: Poly) -> Body:
        """A round, into its own copies, with names of its own."""
        self.count += 1
        bound = {s[1] for s in walk(loop[4]) if s[0] in ("let", "declare", "for")}
        env = {**{v: var(f"{v}%{self.count}") for v in bound}, loop[1]: at}
        new = {v: f"{v}%{self.count}" for v in bound}

        def stmt(s: Stmt) -> Stmt:
            s = with_bodies(s, tuple(tuple(map(stmt, b)) for b in bodies(s)))
            match s[0]:
                case "let" | "declare":
                    return (s[0], new[s[1]], s[2], None if s[3] is None else put(s[3], env))
                case "assign":
                    return ("assign", new[s[1]], put(s[2], env))
                case "update":
                    return ("update", self.own[s[1]], (copy, *(subst(p, env) for p in s[2])), s[3], put(s[4], env))
                case "if":
                    return ("if", put(("truth", s[1]), env)[1], *s[2:])
            return ("for", new[s[1]], subst(s[2], env), subst(s[3], env), *s[4:])

        return tuple(map(stmt, loop[4]))

    def checked(self, begin: Poly, end: Poly) -> Body | None:
        assert self.checks is not None and self.size is not None
        checks, here, tested = self.checks, add(begin, mul(const(self.size), var("%block"))), var("%tested")
        env = {**{s[1]: var(f"{s[1]}%look") for s in checks[4] if s[0] == "let"}, checks[1]: tested}
        look: list[Stmt] = []
        for s in checks[4]:
            look.append(("let", f"{s[1]}%look", s[2], put(s[3], env)) if s[0] == "let" else ("check", put(("truth", s[1]), env)[1], s[2], tuple(put(a, env) for a in s[3])))
        loop = self.loop
        if self.kept:
            same = [(a, b) for a, b in _same_names(checks, loop).items() if _kept(a, b, checks, self.updates)]
            if len(same) != len(self.kept) or any(r[2:4] != ("i64", (const(self.size),)) or r[4][1] is not None for r in self.kept):
                return None
            instead: dict[str, Any] = {}
            for (a, b), room in zip(same, self.kept, strict=True):
                look.append(("store", room[1], (sub(tested, here),), ("use", f"{a}%look")))
                instead[b] = ("load", room[1], (sub(var(loop[1]), here),))
            loop = (*loop[:4], tuple(("let", s[1], s[2], instead[s[1]]) if s[0] == "let" and s[1] in instead else s for s in loop[4]), *loop[5:])
        block: Body = (
            ("let", "%stop", "i64", call("min", ("index", add(here, const(self.size))), ("index", end), d="i64")),
            ("for", "%tested", here, var("%stop"), tuple(look), SIDE_BY_SIDE),
            *self.rounds(loop, here, var("%stop")),
        )
        blocks = ("for", "%block", (), div(add(sub(end, begin), const(self.size - 1)), const(self.size)), block, ORDER)
        return (*self.kept, blocks, *(("free", r[1]) for r in self.kept))


def _kept(a: str, b: str, checks: Stmt, updates: list[Stmt]) -> bool:
    """A place that the checks compute, and a round would compute again."""
    (made,) = [s for s in checks[4] if s[0] == "let" and s[1] == a]
    return made[2] == "i64" and made[3][0] not in ("load", "use") and any(b in names(p) for u in updates for p in u[2])


def unflagged(body: Body) -> Body:
    return tuple((*with_bodies(s, tuple(map(unflagged, bodies(s))))[:5], ORDER) if s[0] == "for" else with_bodies(s, tuple(map(unflagged, bodies(s)))) for s in body)


def _apart(there: Body, made: Body) -> bool:
    """Loops are said to be independent where those of the text that is made here are, or one of a round that adds in one place, which is another one each time."""
    return all(a[5] == b[5] or (a[5] == SIDE_BY_SIDE and b[5] == ORDER and _told(a)) or (a[5] == ORDER and b[5] == SIDE_BY_SIDE) for a, b in zip(_loops(there), _loops(made), strict=True))


def _loops(body: Body) -> Iterator[Stmt]:
    return (s for s in walk(body) if s[0] == "for")


def _told(loop: Stmt) -> bool:
    updates = [s for s in walk(loop[4]) if s[0] == "update"]
    return len(updates) == 1 and not any(s[0] in ("assign", "store") for s in walk(loop[4])) and any((coefficient(p, loop[1]) or 0) != 0 and not names(p) & {s[1] for s in walk(loop[4]) if s[0] in ("let", "declare")} for p in updates[0][2])
