"""argmin and argmax that are found by blocks and then looked for, put back as the loop that compares one by one: undone before instances are compared.

    at = 0;  best = worst;  if n >= some:  IN_BLOCKS;  at := start   else:  LOOP        is        at = 0;  best = worst;  LOOP

    LOOP        for r in 0..n:  v = ...;  if v better than best, or a NaN and best is none:  best := v;  at := r
    IN_BLOCKS   the best of every block (minimum and maximum give a NaN where there is one) and where the first block begins that has it; from there on blocks without it are passed by, and
                of the first with it the least place is taken

The first block whose best is the best of all has the first place of all: what is better than all before it is better than the best of any block before. A NaN is better than any number, and the
first one is looked for then. A float loop may be tried without NaN, and done again from the beginning when there was one. Nobody reads `best` behind it, or what it has is not told.
Constants are any: blocks have a round, and places in them are less than what stands for "not here". The texts are made here and compared with what is there, up to names.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from atoll.check.rewrites.language import Body, Expr, Stmt, bodies, constant, mapped, read, walk, with_bodies
from atoll.check.rewrites.leaves import Node, whole
from atoll.check.rewrites.storage import is_neutral
from atoll.check.sums import Poly, add, const, div, sub, subst, value, var

FAR = 1 << 30
ORDER = (False, 0, False, False)
BYTES = {"f32": 4, "f64": 8, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "u8": 1, "u16": 2, "u32": 4, "u64": 8}


def best_back(body: tuple[Node, ...]) -> tuple[Node, ...]:
    out = [replace(n, bodies=tuple(best_back(b) for b in n.bodies)) for n in body]
    for k, n in enumerate(out):
        if n.stmt[0] == "if" and k >= 2:
            loop = _found(n, out[:k], out[k + 1 :])
            if loop is not None:
                out[k] = loop
    return tuple(out)


@dataclass(frozen=True)
class Best:
    """What a loop looks for: its index, the length, the names of every round, the value, the best, where it is."""

    i: str
    n: Poly
    lets: Body
    v: str
    best: str
    at: str
    way: str
    d: str
    worst: Expr

    @property
    def less(self) -> str:
        return "lt" if self.way == "minimum" else "gt"

    def better(self, v: str, best: str, nan: str) -> Expr:
        plain = call(self.less, ("use", v), ("use", best))
        if self.d[0] != "f":
            return plain
        is_nan, was_nan = (call("isnan", ("use", x)) if nan == "isnan" else call("ne", ("use", x), ("use", x)) for x in (v, best))
        return call("or", plain, call("and", is_nan, call("not", was_nan)))


def call(op: str, *args: Expr, d: str = "bool") -> Expr:
    return ("call", op, args, d)


def _found(n: Node, earlier: list[Node], later: list[Node]) -> Node | None:
    """The loop that a choice stands for."""
    tests = n.stmt[1]
    loops = [x for x in _inside(n.bodies[1]) if x.stmt[0] == "for" and _best(x, earlier) is not None]
    if len(loops) != 1 or len(tests) != 1 or tests[0][0] != "ge":
        return None
    (loop,) = loops
    b = _best(loop, earlier)
    assert b is not None
    least = value(sub(b.n, tests[0][1]))
    if least is None or least < 1:
        return None  # there may be no element
    if any(b.best in read((whole(x),))[0] for x in later):
        return None
    one, other = tuple(map(whole, n.bodies[0])), tuple(map(whole, n.bodies[1]))
    if canonical(other) not in [canonical(x) for x in _one_by_one(b, whole(loop))]:
        return None
    return loop if any(canonical(one) == canonical(made) for made in _in_blocks(b, one)) else None


def _inside(body: tuple[Node, ...]) -> Iterator[Node]:
    for n in body:
        yield n
        if n.stmt[0] == "if":
            yield from _inside(n.bodies[0])


def _best(loop: Node, earlier: list[Node]) -> Best | None:
    if loop.stmt[0] != "for" or loop.stmt[2] != () or loop.stmt[5] != ORDER or len(loop.bodies[0]) < 2:
        return None
    *lets, choice = loop.bodies[0]
    if choice.stmt[0] != "if" or len(choice.stmt[1]) != 1 or choice.bodies[1] or [x.stmt[0] for x in choice.bodies[0]] != ["assign", "assign"] or any(x.stmt[0] != "let" or x.stmt[3][0] != "load" for x in lets):
        return None
    first, second = (x.stmt for x in choice.bodies[0])
    i, (kind, _, test) = loop.stmt[1], choice.stmt[1][0]
    if kind != "true" or first[2][0] != "use" or second[2] != ("index", var(i)) or lets[-1].stmt[1] != first[2][1]:
        return None
    best, at, v, d = first[1], second[1], first[2][1], lets[-1].stmt[2]
    declared = {x.stmt[1]: x.stmt for x in earlier[-2:] if x.stmt[0] == "declare"}
    if set(declared) != {best, at} or declared[at][2:] not in (("i64", ("const", "0", "i64")), ("i64", ("index", ()))) or declared[best][2] != d or d not in BYTES:
        return None
    worst = declared[best][3]
    for way in ("minimum", "maximum"):
        b = Best(i, loop.stmt[3], tuple(x.stmt for x in lets), v, best, at, way, d, worst)
        if worst is not None and worst[0] == "const" and worst[2] == d and is_neutral(worst[1], way, d) and test == b.better(v, best, "isnan"):
            used = read(tuple(b.lets))[0]
            return None if used & {best, at} else b
    return None


# -- what it may be


def _again(b: Best, i: str, tag: str) -> tuple[list[Stmt], str]:
    """The names of a round, in a loop of another index."""
    names = {s[1]: f"{s[1]}%{tag}" for s in b.lets}
    env = {b.i: var(i), **{a: var(x) for a, x in names.items()}}
    made = [("let", names[s[1]], s[2], mapped(s[3], lambda p: subst(p, env), lambda x: None)) for s in b.lets]
    return made, names[b.v]


def _one_by_one(b: Best, loop: Stmt) -> Iterator[Body]:
    yield (loop,)
    if b.d[0] == "f":
        lets, v = _again(b, "%r", "plain")
        is_nan = ("choose", (("true", None, call("ne", ("use", v), ("use", v))),), ("const", "1", "i64"), ("const", "0", "i64"))
        noted = ("assign", "%nan", call("or", ("use", "%nan"), is_nan, d="i64"))
        taken = ("if", (("true", None, call(b.less, ("use", v), ("use", b.best))),), (("assign", b.best, ("use", v)), ("assign", b.at, ("index", var("%r")))), ())
        again = (("assign", b.best, b.worst), ("assign", b.at, ("const", "0", "i64")), loop)
        yield (("declare", "%nan", "i64", ("const", "0", "i64")), ("for", "%r", (), b.n, (*lets, noted, taken), ORDER), ("if", (("ne", var("%nan"), None),), again, ()))


def _in_blocks(b: Best, there: Body) -> Iterator[Body]:
    """All that is followed, with the lengths of blocks that are there."""
    steps = {constant(s[2][1]) for s in walk(there) if s[0] == "assign" and s[2][0] == "index" and s[2][1] and dict(s[2][1]).get((s[1],)) == 1 and len(s[2][1]) == 2}
    for block in sorted(steps):
        for found in sorted(steps):
            if 1 <= block and 1 <= found < FAR:
                head = (("declare", "%total", b.d, b.worst), ("declare", "%start", "i64", ("const", "0", "i64")))
                look = _look(b, found)
                shared = [s for s in there if s[0] == "if" and len(s[1]) == 1 and s[3]]
                yield (*head, *_in_turn(b, block), *look)
                if shared:
                    yield (*head, ("if", shared[0][1], _shared(b, block, _memory(shared[0][2])), _in_turn(b, block)), *look)


def _memory(body: Body) -> tuple[str, Any]:
    return next(((s[1], s[4]) for s in body if s[0] == "alloc"), ("", ()))


def _take(b: Best, top: str, begin: str) -> Stmt:
    return ("if", (("true", None, b.better(top, "%total", "ne")),), (("assign", "%total", ("use", top)), ("assign", "%start", ("use", begin))), ())


def _top(b: Best, begin: str, block: int, tag: str) -> Body:
    lets, v = _again(b, f"%i{tag}", tag)
    end = ("let", f"%end{tag}", "i64", call("min", ("index", add(var(begin), const(block))), ("index", b.n), d="i64"))
    best = ("accumulate", f"%i{tag}", var(begin), var(f"%end{tag}"), (*lets, ("add", f"%top{tag}", b.way, ("use", v))), ((f"%top{tag}", b.way, b.d),), False)
    return end, best


def _in_turn(b: Best, block: int) -> Body:
    more = ("break", (("ge", sub(sub(b.n, var("%begin")), const(1)), None),))
    step = ("assign", "%begin", ("index", add(var("%begin"), const(block))))
    return ("declare", "%begin", "i64", ("const", "0", "i64")), ("forever", (more, *_top(b, "%begin", block, "t"), _take(b, "%topt", "%begin"), step))


def _shared(b: Best, block: int, memory: tuple[str, Any]) -> Body:
    """By threads: the best of every block into an array, then of these in order."""
    tops, how = memory
    blocks = div(add(b.n, const(block - 1)), const(block))
    begin = ("let", "%begin1", "i64", ("index", subst(var("%b"), {"%b": _times(block, "%b")})))
    each = (begin, *_top(b, "%begin1", block, "s"), ("store", tops, (var("%b"),), ("use", "%tops")))
    among = (("let", "%begin2", "i64", ("index", _times(block, "%c"))), ("let", "%top2", b.d, ("load", tops, (var("%c"),))), _take(b, "%top2", "%begin2"))
    making = ("chunks", "%lo", "%hi", blocks, (("for", "%b", var("%lo"), var("%hi"), each, (True, 0, False, False)),), (), (), ())
    return ("alloc", tops, b.d, (blocks,), how), making, ("for", "%c", (), blocks, among, ORDER), ("free", tops)


def _times(k: int, v: str) -> Poly:
    return (((v,), k),)


def _look(b: Best, block: int) -> Body:
    """start, moved to the first element that is the best, or a NaN."""
    same = lambda v: call("eq", ("use", v), ("use", "%total"))  # noqa: E731
    nan = lambda v: call("ne", ("use", v), ("use", v))  # noqa: E731
    last = ("assign", b.at, ("index", var("%start")))
    if b.d[0] != "f":
        return *_first(b, block, same, "e"), last
    return ("if", (("true", None, call("eq", ("use", "%total"), ("use", "%total"))),), _first(b, block, same, "e"), _first(b, block, nan, "n")), last


def _first(b: Best, block: int, holds: Any, tag: str) -> Body:
    kind = "i32" if BYTES[b.d] <= 4 else "i64"
    here = var("%start")
    lets, v = _again(b, f"%h{tag}", f"h{tag}")
    hit = ("add", f"%hit{tag}", "or", ("choose", (("true", None, holds(v)),), ("const", "1", kind), ("const", "0", kind)))
    scan = ("accumulate", f"%h{tag}", here, add(here, const(block)), (*lets, hit), ((f"%hit{tag}", "or", kind),), False)
    leave = ("break", (("ge", sub(sub(b.n, here), const(block)), None),))
    passed = ("forever", (leave, scan, ("break", (("eq", var(f"%hit{tag}"), None),)), ("assign", "%start", ("index", add(here, const(block))))))
    more, w = _again(b, f"%m{tag}", f"m{tag}")
    place: Expr = ("index", sub(var(f"%m{tag}"), here))
    away = ("choose", (("true", None, holds(w)),), place if kind == "i64" else ("cast", place, kind), ("const", str(FAR), kind))
    end = ("let", f"%stop{tag}", "i64", call("min", ("index", add(here, const(block))), ("index", b.n), d="i64"))
    least = ("accumulate", f"%m{tag}", here, var(f"%stop{tag}"), (*more, ("add", f"%near{tag}", "minimum", away)), ((f"%near{tag}", "minimum", kind),), False)
    near: Expr = ("use", f"%near{tag}")
    return passed, end, least, ("assign", "%start", call("add", ("use", "%start"), near if kind == "i64" else ("cast", near, "i64"), d="i64"))


# -- up to names


def canonical(body: Body, variables: bool = True) -> Any:
    """Statements with all that they bind named by number, in the order of a walk; or only indices."""
    names: dict[str, str] = {}
    for s in walk(body):
        bound: list[str] = []
        match s[0]:
            case "let" | "declare" if variables:
                bound = [s[1]]
            case "for":
                bound = [s[1]]
            case "accumulate":
                bound = [s[1], *(a[0] for a in s[5] if variables)]
            case "chunks":
                bound = [s[1], s[2]]
        for v in bound:
            names.setdefault(v, f"%{len(names)}")
    env = {a: var(x) for a, x in names.items()}

    def go(e: Any) -> Any:
        return mapped(e, lambda p: subst(p, env), lambda x: ("use", names.get(x[1], x[1])) if x[0] == "use" else None)

    def one(v: str) -> str:
        return names.get(v, v)

    def stmt(s: Stmt) -> Stmt:
        s = with_bodies(s, tuple(tuple(map(stmt, b)) for b in bodies(s)))
        match s[0]:
            case "let" | "declare" | "add":
                return (s[0], one(s[1]), s[2], None if s[3] is None else go(s[3]))
            case "assign":
                return (s[0], one(s[1]), go(s[2]))
            case "store":
                return (*s[:2], tuple(map(go, s[2])), go(s[3]))
            case "update":
                return (*s[:2], tuple(map(go, s[2])), s[3], go(s[4]))
            case "check":
                return ("check", go(("truth", s[1]))[1], s[2], tuple(map(go, s[3])))
            case "if" | "break":
                return (s[0], go(("truth", s[1]))[1], *s[2:])
            case "for":
                return ("for", one(s[1]), go(s[2]), go(s[3]), *s[4:])
            case "accumulate":
                return ("accumulate", one(s[1]), go(s[2]), go(s[3]), s[4], tuple((one(a), m, d) for a, m, d in s[5]), s[6])
            case "chunks":
                return ("chunks", one(s[1]), one(s[2]), go(s[3]), s[4], tuple((one(a), m, d) for a, m, d in s[5]), s[6], tuple(map(go, s[7])) if s[5] or s[6] else ())
            case "alloc":
                return (*s[:3], tuple(map(go, s[3])), s[4])
            case "helper":
                return (*s[:2], tuple((b, tuple(map(go, index))) for b, index in s[2]), tuple(map(go, s[3])), None if s[4] is None else (one(s[4][0]), s[4][1]), *s[5:])
            case "print":
                return (*s[:3], tuple(map(go, s[3])))
            case "product":
                return ("product", tuple(map(go, s[1])), tuple(map(go, s[2])), *s[3:])
        return s

    return tuple(map(stmt, body))
