"""Ways to break a certificate: one number, name, operator, flag or statement changed in what it claims or in the loops it is about.

What only describes (the name, the memory list, the alignment of vectors) is left alone: nothing rests on it.
"""

from __future__ import annotations

import copy
import random
from typing import Any

from atoll.check.loops import Reader
from atoll.check.sums import Tables
from atoll.check.terms import Terms

CLAIMS = ("P", "Q", "T", "steps", "loops", "covers", "results", "injective", "disjoint", "races", "arrays", "licences", "filled", "base")


def places(x: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every number, text, flag and list inside some data."""
    found = [path] if not isinstance(x, dict) else []
    items = x.items() if isinstance(x, dict) else enumerate(x) if isinstance(x, list) else ()
    for key, inner in items:
        found += places(inner, (*path, key))
    return found


def get(x: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        x = x[key]
    return x


def put(x: Any, path: tuple[Any, ...], new: Any) -> None:
    get(x, path[:-1])[path[-1]] = new


def mutate(data: dict[str, Any], seed: int) -> tuple[dict[str, Any], str] | None:
    """A broken copy, and what was done to it; None when this seed finds nothing to change."""
    rng = random.Random(seed)
    broken = copy.deepcopy(data)
    part = rng.choice([c for c in CLAIMS if broken.get(c)])
    path = (part, *rng.choice(places(broken[part])))
    if len(path) < 2:
        return None
    old = get(broken, path)
    new = _other(rng, old, broken)
    if new is None or new == old:
        return None
    put(broken, path, new)
    return broken, f"{'/'.join(map(str, path))}: {_short(old)} -> {_short(new)}"


def _other(rng: random.Random, old: Any, data: dict[str, Any]) -> Any:
    """Something else of the same kind."""
    match old:
        case bool():
            return not old
        case int():
            return old + rng.choice([-2, -1, 1, 2])
        case str():
            swaps = {"add": "sub", "mul": "add", "store": "update", "read": "store", "gen": "sum", "fma": "mul", "ge": "eq"}
            if old in swaps:
                return swaps[old]
            names = sorted({x for row in data["P"] for mono in row for x in mono[1:] if isinstance(x, str)})
            return rng.choice([x for x in names if x != old] or [None]) if old in names else f"{old}_"
        case list() if len(old) > 1 and rng.random() < 0.5:
            at = rng.randrange(len(old))
            return old[:at] + old[at + 1 :]
        case list() if len(old) > 1:
            return old[::-1] if old[::-1] != old else old[1:]
    return None


def _short(x: Any) -> str:
    text = repr(x)
    return text if len(text) < 60 else f"{text[:57]}..."


ADVICE = ("names", "name", "index", "keep")  # arguments that say how to find or call the result; the checker compares the result itself


def claims(data: dict[str, Any]) -> Any:
    """What a certificate says, its tables written out, advice and the names of copies left out."""
    tables = Tables(data)
    terms = Terms(tables)

    def poly(x: Any) -> Any:
        return tables.poly(x)

    def step(row: Any) -> Any:
        path, rule, args, new, _ = row
        kept = {k: argument(v) for k, v in args.items() if k not in ADVICE}
        return path, rule, kept, None if new is None else terms.term(new)

    def argument(x: Any) -> Any:
        return poly(x["p"]) if isinstance(x, dict) and "p" in x else [argument(y) for y in x] if isinstance(x, list) else x

    def line(x: Any) -> Any:
        loop, copies, further, weights, sign = x
        return loop, {v for v, _ in copies}, further, [(poly(w), k) for w, k in weights], sign

    def tree(x: Any) -> Any:
        return (x[0], {v: poly(p) for v, p in x[1]}) if len(x) == 2 else (poly(x[0]), tree(x[1]), tree(x[2]))

    def bare(x: Any) -> Any:
        """Loops without how they run: that rounds may run in any order is proved for whatever is said there, or it is refused."""
        if isinstance(x, tuple) and x and x[0] == "for":
            return (*x[:4], bare(x[5]))
        return tuple(bare(y) for y in x) if isinstance(x, tuple) else x

    def lines(x: Any) -> Any:
        return None if x is None else [line(y) for y in x]

    return (
        [step(row) for row in data["steps"]],
        terms.term(data["source"]),
        bare(Reader(tables).stmts(data["loops"]["body"])),
        [(k, tree(t)) for k, t in data["covers"]],
        [(a, u, tree(t), main) for a, u, t, main in data["results"]],
        [(k, lines(x)) for k, x in data["injective"]],
        [(a, b, lines(x)) for a, b, x in data["disjoint"]],
        [(v, a, b, lines(x)) for v, a, b, x in data["races"]],
        [(x, d, tables.polys(shape), where) for x, d, shape, where in data["arrays"]],
        data["licences"],
        data["filled"],
        data["base"] and (data["base"]["steps"], [step(r) for r in data["base"]["then"]], terms.term(data["base"]["term"])),
    )


def neutral(data: dict[str, Any], broken: dict[str, Any]) -> bool:
    """A change that leaves every claim as it was: another order of a sum's terms, another name for a copy, an argument that is advice."""
    try:
        return bool(claims(data) == claims(broken))
    except Exception:  # noqa: BLE001  what cannot even be read is no neutral change
        return False
