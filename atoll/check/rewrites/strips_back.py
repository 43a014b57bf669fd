"""Ranges in strips in which a quotient stays as it is, put back as the range: undone before instances are compared.

    if m >= 1 ...:  first = (low + c) // m;  last = (high - 1 + c) // m
                    for p in 0..last + 1 - first:  base = (first + p) m - c;  begin = max(low, base);  end = min(high, base + m);  for i in begin..end:  f(i, first + p, base)
is                  for i in low..high:  f(i, (i + c) // m, ((i + c) // m) m - c)

The strips between those of low and of high - 1 are next to each other, and i + c is in that of its quotient. Where low is -c, `first` is 0 and `begin` is `base`. What a strip says may be
in strips itself, and so may the strips: innermost first.
"""

from __future__ import annotations

from dataclasses import replace

from atoll.check.rewrites.checks_back import renamed
from atoll.check.rewrites.language import Expr, Test, changed, coefficient, names, read
from atoll.check.rewrites.leaves import Node, whole
from atoll.check.sums import Poly, add, const, div, mul, sub, var


def strips_back(body: tuple[Node, ...], tests: tuple[Test, ...] = ()) -> tuple[Node, ...]:
    """`tests` hold here, of what nothing around changes."""
    out = [replace(n, bodies=tuple(strips_back(b, (*tests, *_kept(n)) if k == 0 else tests) for k, b in enumerate(n.bodies))) for n in body]
    k = 0
    while k < len(out):
        found = _one(out, k, tests)
        if found is None:
            k += 1
        else:
            begin, loop = found
            out[begin : k + 1] = [loop]
            k = begin
    return tuple(out)


def _kept(n: Node) -> tuple[Test, ...]:
    """What is tested before a branch and holds in all of it."""
    if n.stmt[0] != "if":
        return ()
    assigned, _ = changed(tuple(map(whole, n.bodies[0])))
    return tuple(t for t in n.stmt[1] if t[0] == "ge" and not names(t[1]) & assigned)


def _one(body: list[Node], k: int, tests: tuple[Test, ...]) -> tuple[int, Node] | None:
    """The loop that a loop over strips is, and where what belongs to it begins."""
    n = body[k]
    if n.stmt[0] != "for" or n.stmt[2] != () or n.stmt[5][1:] != (0, False, False) or len(n.bodies[0]) < 3:
        return None
    p, *head, inner = n.stmt[1], *n.bodies[0]
    if inner.stmt[0] != "for" or inner.stmt[5][1:] != (0, False, False) or any(not _is_let(x) for x in head):
        return None
    made = {x.stmt[1]: x.stmt[3] for x in head}
    i, begin, end = inner.stmt[1:4]
    base, bounded = next(iter(made.items()))
    if bounded[0] != "index" or k < 1 or not _is_let(body[k - 1]):
        return None
    size_high = _two(made.get(_name(end)), "min")
    last, turn = body[k - 1].stmt[1], _quotient(body[k - 1].stmt[3])
    if size_high is None or turn is None:
        return None
    high, size = size_high[0], sub(size_high[1], var(base))
    more = sub(turn[0], sub(high, const(1)))
    if turn[1] != size or ("ge", sub(size, const(1)), None) not in tests:
        return None
    count = n.stmt[3]
    first = sub(add(var(last), const(1)), count)
    start = k - 1
    if begin == var(base) and first == ():
        low = mul(const(-1), more)
    else:
        both = _two(made.get(_name(begin)), "max")
        if both is None or both[1] != var(base) or k < 2 or not _is_let(body[k - 2]) or first != var(body[k - 2].stmt[1]):
            return None
        low, start = both[0], k - 2
        if _quotient(body[k - 2].stmt[3]) != (add(low, more), size):
            return None
    own = {last, *names(first), *made}
    if len(own) != (k - start) + len(head) or bounded[1] != sub(mul(add(first, var(p)), size), more):
        return None
    around = names(low) | names(high) | names(more) | names(size)
    inside = (whole(inner),)
    assigned = changed(inside)[0]
    if own & around or {p, i} & around or assigned & (around | own) or coefficient(turn[0], p) != 0:
        return None
    quotient = div(add(var(i), more), size)
    env = {p: sub(quotient, first), base: sub(mul(quotient, size), more)}
    made_back = tuple(renamed(x, {}, env) for x in inner.bodies[0])
    left = (read(tuple(map(whole, made_back)))[0] | set().union(*(_origin_names(x) for x in made_back), set())) & {*own, p}
    if left or any(v in read(tuple(map(whole, body[k + 1 :])))[0] for v in own):
        return None
    apart = n.stmt[5][0] or inner.stmt[5][0]
    return start, Node(("for", i, low, high, (), (apart, 0, False, False)), (made_back,), inner.origin)


def _origin_names(n: Node) -> set[str]:
    found = set() if n.origin is None else set().union(*map(names, n.origin[1].values()), set())
    return found.union(*(_origin_names(x) for b in n.bodies for x in b))


def _is_let(n: Node) -> bool:
    return bool(n.stmt[0] == "let" and n.stmt[2] == "i64" and n.origin is None)


def _name(p: Poly) -> str:
    return str(p[0][0][0]) if len(p) == 1 and p[0][1] == 1 and len(p[0][0]) == 1 else ""


def _two(e: Expr | None, op: str) -> tuple[Poly, Poly] | None:
    """The operands of the lesser or the greater of two indices."""
    if e is None or e[:2] != ("call", op) or e[3] != "i64" or len(e[2]) != 2 or any(x[0] != "index" for x in e[2]):
        return None
    return e[2][0][1], e[2][1][1]


def _quotient(e: Expr) -> tuple[Poly, Poly] | None:
    if e[:2] != ("call", "floordiv") or e[3] != "i64" or any(x[0] != "index" for x in e[2]):
        return None
    return e[2][0][1], e[2][1][1]
