"""Checks that were taken out of their loop, put back before it: what the rewrite of checks does is undone before instances are compared.

    or over r into bad:  k = e;  bad |= not t(k);  k' = k if t(k) else o;  f(k')        is        for r:  k = e;  check t(k)
    if bad:  for r:  k = e;  check t(k)                                                           for r:  k = e;  f(k)

If no check fails, k' is k in every round and the second loop does nothing. If one fails, both ways end with the failure of the first that does: the first loop
makes values that nobody sees. It touches nothing outside of an array then, because o passes the checks as well (t(o) is a literal truth or was tested before: where it is
not so, all checks are made first), and the program before would do the same with data that say o.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from atoll.check.rewrites.language import changed, coefficient, is_poly, mapped, names, parts, read, rename, subexprs, walk
from atoll.check.rewrites.leaves import Node, whole
from atoll.check.rewrites.texts import may_trap
from atoll.check.sums import Poly, const, sub, subst, value, var


def checks_back(body: tuple[Node, ...], roots: Mapping[str, str]) -> tuple[Node, ...]:
    out = list(body)
    k = 0
    while k + 1 < len(out):
        found = _back(out[k], out[k + 1], out[:k], out[k + 2 :], roots)
        if found is not None:
            out[k : k + 2] = found
            if k and _only_repeats(out[k - 1], found[0], roots):
                del out[k - 1]
                k -= 1
        k += 1
    return tuple(replace(n, bodies=tuple(checks_back(b, roots) for b in n.bodies)) for n in out)


def _back(scan: Node, after: Node, earlier: list[Node], later: list[Node], roots: Mapping[str, str]) -> list[Node] | None:
    if scan.stmt[0] != "accumulate" or after.stmt[0] != "if" or after.bodies[1] or len(after.bodies[0]) != 1:
        return None
    flags = [v for v, monoid, _ in scan.stmt[5] if monoid == "or" and _says(after.stmt[1], v)]
    (again,) = after.bodies[0]
    if len(flags) != 1 or again.stmt[0] != "for" or again.stmt[2:4] != scan.stmt[2:4] or any(n.stmt[0] not in ("let", "check") for n in again.bodies[0]):
        return None
    bad = flags[0]
    if any(bad in read((whole(n),))[0] | changed((whole(n),))[0] for n in (*earlier, *later)) or changed((whole(scan),))[1] & read((whole(again),))[1]:
        return None
    rooted = {**_same_instances(scan, again, roots), scan.stmt[1]: "%round", again.stmt[1]: "%round"}
    failing = {_rooted(t, rooted) for n in again.bodies[0] if n.stmt[0] == "check" for t in n.stmt[1]}
    guards = earlier[-1] if earlier and _only_repeats(earlier[-1], again, roots) else None
    tested = _guards(guards, again.stmt[2:4]) if guards is not None else set()
    certain = _between_ends(failing, {_rooted(t, _as_in(guards, again, rooted, roots)) for t in tested}, *again.stmt[2:4]) if guards is not None else set()
    seen: set[Any] = set()
    instead: dict[str, str] = {}
    harmless: set[Any] = set()  # tests of a number that is replaced by one that passes them
    others: list[Node] = []
    kept = []
    for n in scan.bodies[0]:
        s = n.stmt
        if s[0] == "add" and s[1] == bad:
            if s[3][0] != "choose" or s[3][2][:2] != ("const", "0") or s[3][3][:2] != ("const", "1"):
                return None
            seen |= {_rooted(t, rooted) for t in s[3][1]}
        elif s[0] == "let" and n.origin is None and s[3][0] == "choose" and s[3][2][0] == "use" and s[3][3][0] == "index":
            if not {_rooted(t, rooted) for t in s[3][1]} <= failing or not all(_passes(t, s[3][2][1], s[3][3][1], tested) for t in s[3][1]):
                return None
            instead[s[1]] = s[3][2][1]
            harmless |= {_rooted(t, rooted) for t in s[3][1]}
        else:
            if bad in read((whole(n),))[0]:
                return None
            others.append(n)
            kept.append(renamed(n, instead))
    if not failing <= seen | certain or not _harmless(others, _first_lets(again, rooted), rooted, set(instead.values()), seen <= harmless):
        return None
    accs = tuple(a for a in scan.stmt[5] if a[0] != bad)
    _, i, low, high, _, _, exact = scan.stmt
    made: list[Node] = [again]
    if kept:  # names too: what the flag is made of is looked at like anything else
        head = ("accumulate", i, low, high, (), accs, exact) if accs else ("for", i, low, high, (), (True, 0, False, False))
        made.append(Node(head, (tuple(kept),), scan.origin))
    return made


def _first_lets(again: Node, rooted: Mapping[str, str]) -> set[str]:
    """Names that are made before the first check."""
    found: set[str] = set()
    for n in again.bodies[0]:
        if n.stmt[0] == "check":
            break
        found.add(rooted.get(n.stmt[1], n.stmt[1]))
    return found


def _harmless(body: list[Node], first: set[str], rooted: Mapping[str, str], tested: set[str], replaced: bool) -> bool:
    """What is done in rounds whose check fails touches only what is there: everything that is tested is replaced, and nothing but names that come before all checks
    is made of what it was."""
    for n in body:
        inside = tuple(walk((whole(n),)))
        if any(s[0] not in ("let", "declare", "assign", "add", "store", "update", "if", "for", "accumulate") for s in inside):
            return False
        if n.stmt[0] == "let" and rooted.get(n.stmt[1], n.stmt[1]) in first:
            continue
        touches = any(s[0] in ("store", "update") or any(may_trap(e) or (not is_poly(e) and e[0] == "load") for p in parts(s) for e in subexprs(p)) for s in inside)
        if touches and (not replaced or tested & read((whole(n),))[0]):
            return False
    return True


def _same_instances(scan: Node, again: Node, roots: Mapping[str, str]) -> dict[str, str]:
    """What names in both loops are copies of, where they are made as the same instance of a statement before; its round is looked at like any other."""
    made: dict[str, list[tuple[str, Any]]] = {}
    for loop in (scan, again):
        for n in loop.bodies[0]:
            if n.stmt[0] == "let" and n.origin is not None:
                made.setdefault(roots.get(n.stmt[1], n.stmt[1]), []).append((loop.stmt[1], n.origin))
    sure = {root for root, found in made.items() if all(_same_instance(found[0], other) for other in found)}
    marked = {n.stmt[1] for loop in (scan, again) for n in loop.bodies[0] if n.stmt[0] == "let" and n.origin is not None}
    return {v: _root(v, roots) for v in marked if roots.get(v, v) in sure}


def _root(v: str, roots: Mapping[str, str]) -> str:
    """What a name is a copy of, which is the name of nothing else: the program has perhaps another variable that is called so."""
    return f"{roots.get(v, v)}%root"


def _same_instance(a: tuple[str, Any], b: tuple[str, Any]) -> bool:
    (one, first), (two, second) = a, b
    if first[0] != second[0]:
        return False
    mine, theirs = rename({one: "%round"}), rename({two: "%round"})
    return all(subst(first[1].get(i, var(i)), mine) == subst(second[1].get(i, var(i)), theirs) for i in {**first[1], **second[1]})


def _guards(n: Node, rounds: tuple[Poly, Poly]) -> set[Any]:
    """Tests where all checks are made when one of them fails, if there is a round."""
    if n.stmt[0] != "if":
        return set()
    low, high = rounds
    if not n.bodies[0] and n.bodies[1]:
        return set(n.stmt[1])
    if n.bodies[1] or any(t != ("ge", sub(sub(high, low), const(1)), None) for t in n.stmt[1]):
        return set()
    return set().union(*(_guards(x, rounds) for x in n.bodies[0]))


def _as_in(guards: Node, again: Node, rooted: Mapping[str, str], roots: Mapping[str, str]) -> dict[str, str]:
    """What names before the loop are in it: those that are the same in every round, and say the same."""
    inside = {rooted.get(n.stmt[1], n.stmt[1]): _rooted(("true", None, n.stmt[3]), rooted)[2] for n in again.bodies[0] if n.stmt[0] == "let"}
    found: dict[str, str] = {}

    def go(body: tuple[Node, ...]) -> None:
        for n in body:
            if n.stmt[0] == "let":
                root = _root(n.stmt[1], roots)
                e = _rooted(("true", None, n.stmt[3]), found)[2]
                if inside.get(root) == e and "%round" not in names(e):
                    found[n.stmt[1]] = root
            elif n.stmt[0] == "if":
                go(n.bodies[0])

    go((guards,))
    return found


def _between_ends(tests: set[Any], known: set[Any], low: Poly, high: Poly) -> set[Any]:
    """Tests that change by even steps and hold in the first and in the last round."""

    def at(t: Any, i: Poly) -> Any:
        return (t[0], subst(t[1], {"%round": i}), None)

    last = sub(high, const(1))
    return {t for t in tests if t[0] == "ge" and coefficient(t[1], "%round") is not None and at(t, low) in known and at(t, last) in known}


def _passes(t: Any, k: str, o: Poly, tested: set[Any]) -> bool:
    """The check's test holds for o in place of k."""
    kind, p, e = t
    if kind != "ge" or e is not None:
        return False
    found = subst(p, {k: o})
    number = value(found)
    return number >= 0 if number is not None else ("ge", found, None) in tested


def _only_repeats(n: Node, again: Node, roots: Mapping[str, str]) -> bool:
    """The same checks in the same order right before, perhaps not all of them: they are made again anyway."""
    if n.stmt[0] == "if":
        return all(_only_repeats(x, again, roots) for b in n.bodies for x in b)
    if n.stmt[0] == "let":
        return True
    if n.stmt[0] != "for" or n.stmt[2:4] != again.stmt[2:4]:
        return False
    mine, theirs = ({**{v: _root(v, roots) for v in _lets(x)}, x.stmt[1]: "%round"} for x in (n, again))
    return _texts(n.bodies[0], mine) == _texts(again.bodies[0], theirs)


def _lets(loop: Node) -> set[str]:
    return {n.stmt[1] for n in loop.bodies[0] if n.stmt[0] == "let"}


def _texts(body: tuple[Node, ...], roots: Mapping[str, str]) -> list[Any]:
    found: list[Any] = []
    for n in body:
        found.append(renamed(n, dict(roots)).stmt)
    return found


def _says(tests: Any, v: str) -> bool:
    """The test is that a flag is set."""
    match tests:
        case (("ne", p, None),):
            return bool(p == var(v))
        case ((("true"), None, ("call", "ne", (("use", w), ("const", "0", _)), _)),):
            return bool(w == v)
    return False


def _rooted(t: Any, roots: Mapping[str, str]) -> Any:
    env = rename(roots)
    kind, p, e = t
    use = lambda x: ("use", roots.get(x[1], x[1])) if x[0] == "use" else None  # noqa: E731
    return (kind, None if p is None else subst(p, env), None if e is None else mapped(e, lambda q: subst(q, env), use))


def renamed(n: Node, names_: dict[str, str], numbers: Mapping[str, Poly] = {}) -> Node:
    """The statement with some names replaced by others, and some indices by polynomials, also inside it."""
    if not names_ and not numbers:
        return n
    env = {**rename(names_), **numbers}
    use = lambda x: ("use", names_.get(x[1], x[1])) if x[0] == "use" else None  # noqa: E731

    def go(e: Any) -> Any:
        return mapped(e, lambda q: subst(q, env), use)

    s = n.stmt
    match s[0]:
        case "let" | "declare" | "add":
            s = (s[0], names_.get(s[1], s[1]), s[2], None if s[3] is None else go(s[3]))
        case "assign":
            s = (s[0], names_.get(s[1], s[1]), go(s[2]))
        case "store":
            s = ("store", s[1], tuple(map(go, s[2])), go(s[3]))
        case "update":
            s = ("update", s[1], tuple(map(go, s[2])), s[3], go(s[4]))
        case "check":
            s = ("check", go(("truth", s[1]))[1], s[2], tuple(map(go, s[3])))
        case "if" | "break":
            s = (s[0], go(("truth", s[1]))[1], *s[2:])
        case "for":
            s = (*s[:2], go(s[2]), go(s[3]), *s[4:])
        case "accumulate":
            s = (*s[:2], go(s[2]), go(s[3]), s[4], tuple((names_.get(v, v), monoid, d) for v, monoid, d in s[5]), s[6])
    origin = None if n.origin is None else (n.origin[0], {i: subst(p, env) for i, p in n.origin[1].items()})
    return replace(n, stmt=s, origin=origin, bodies=tuple(tuple(renamed(x, names_, numbers) for x in b) for b in n.bodies))
