"""Certificates of compiles, forged at random by coordinated edits: `python -m tests.check.certificate_mutations FIRST LAST [words of paths]`.

A forgery is one proved rewrite with one to three things changed in what it made, and in what it says of it: names exchanged or replaced everywhere, statements moved with their origins or without
them, two loops exchanged, bounds shifted together with indices, tests, operators, types, flags, storage, origins of other statements. What is accepted is run, before and after, at small sizes,
with rounds in either order (run_compiles.py): it must be the same.
"""

from __future__ import annotations

import collections
import copy
import random
import sys
import warnings
from typing import Any

import atoll as at
from atoll.check.compiled import _arguments
from atoll.check.rewrites.chain import FORMAT, Chain
from atoll.check.rewrites.language import _BODIES, is_poly, mapped, walk
from atoll.check.rewrites.refute import LEFT, Budget
from atoll.check.rewrites.scopes import scoped
from atoll.check.rewrites.steps import validate
from atoll.check.rewrites.typed import Types
from atoll.check.sums import Rejected, add, const, subst, var
from atoll.check.watched import watch
from tests.check.run_compiles import Unknown, Wrong, results, same
from tests.validate.small import CHOICES, small_blocks
from tools.corpus import functions, modules

Tree = list[Any]  # [statement as a list, origin, lists of trees]
OPS = {"add": "sub", "sub": "add", "mul": "add", "min": "max", "max": "min", "lt": "le", "le": "lt", "gt": "ge", "ge": "gt", "and": "or", "or": "and", "minimum": "maximum", "maximum": "minimum"}


def tree(body: Any, origins: Any) -> list[Tree]:
    made = []
    for s in body:
        origin = next(origins)
        made.append([list(s), origin, [tree(s[k], origins) for k in _BODIES.get(s[0], ())]])
    return made


def flat(trees: list[Tree]) -> tuple[Any, list[Any]]:
    body: list[Any] = []
    origins: list[Any] = []
    for s, origin, inner in trees:
        s = list(s)
        origins.append(origin)
        for k, t in zip(_BODIES.get(s[0], ()), inner, strict=True):
            s[k], more = flat(t)
            origins += more
        body.append(tuple(s))
    return tuple(body), origins


def lists(trees: list[Tree]) -> list[list[Tree]]:
    return [trees, *(x for t in trees for b in t[2] for x in lists(b))]


def edited(value: Any, poly: Any, leaf: Any) -> Any:
    """All polynomials and expressions inside of a part of a statement."""
    if isinstance(value, tuple):
        if value and isinstance(value[0], str) and value[0] in ("use", "const", "index", "load", "call", "cast", "choose", "truth"):
            return mapped(value, poly, leaf)
        if is_poly(value) and all(isinstance(x, tuple) and len(x) == 2 and isinstance(x[1], int) and isinstance(x[0], tuple) for x in value):
            return poly(value)
        return tuple(edited(x, poly, leaf) for x in value)
    return value


def one_edit(trees: list[Tree], names: dict[str, Any], numbers: int, rng: random.Random) -> str:
    blocks = [b for b in lists(trees) if b]
    if not blocks:
        return ""
    block = rng.choice(blocks)
    k = rng.randrange(len(block))
    s, origin, inner = block[k]
    step = rng.choice((-1, 1))
    match rng.randrange(15):
        case 0 if s[0] in ("for", "accumulate"):
            which = rng.choice((2, 3))
            s[which] = add(s[which], const(step))
            return "bound"
        case 1 if s[0] in ("for", "accumulate"):  # the bounds and what is done with the index, together
            i, by = s[1], rng.choice((2, 3))
            s[by] = add(s[by], const(step))
            env = {i: add(var(i), const(-step))}
            _everywhere(inner[0], lambda p: subst(p, env), lambda e: None)
            return "bound and index"
        case 2:
            same_kind = [v for v in names if names[v] == names.get(s[1] if isinstance(s[1], str) else "", None)] if len(s) > 1 else []
            if s[0] in ("store", "update", "assign", "add", "let", "free", "copy") and same_kind:
                s[1] = rng.choice(same_kind)
                return "another target"
        case 3:  # a name for another, everywhere in a list
            a = rng.choice(sorted(names))
            others = [v for v in names if names[v] == names[a] and v != a]
            if others:
                b = rng.choice(sorted(others))
                if names[a][0] == "an array":
                    _everywhere(block, lambda p: p, lambda e: ("load", b, e[2]) if e[0] == "load" and e[1] == a else None)
                else:
                    env = {a: var(b)}
                    _everywhere(block, lambda p: subst(p, env), lambda e: ("use", b) if e == ("use", a) else None)
                return "a name everywhere"
        case 4 if len(block) > 1:
            j = rng.randrange(len(block))
            block[k], block[j] = block[j], block[k]
            return "exchanged"
        case 5 if len(block) > 1:  # statements change places, origins stay
            j = rng.randrange(len(block))
            if block[j][0][0] == s[0] and not inner:
                block[k][0], block[j][0] = block[j][0], block[k][0]
                return "exchanged without origins"
        case 6:
            del block[k]
            return "gone"
        case 7:
            block.insert(rng.randrange(len(block) + 1), copy.deepcopy(block[k]))
            return "twice"
        case 8:
            other = rng.choice(blocks)
            if other is not block and not any(other is x for b in inner for x in lists(b)):
                other.insert(rng.randrange(len(other) + 1), block.pop(k))
                return "elsewhere"
        case 9:
            block[k][1] = rng.choice((None, (rng.randrange(numbers), {}), (rng.randrange(numbers), dict(origin[1]) if origin else {})))
            return "origin"
        case 10 if origin is not None and origin[1]:
            i = rng.choice(sorted(origin[1]))
            block[k][1] = (origin[0], {**origin[1], i: add(origin[1][i], const(step))})
            return "round"
        case 11 if s[0] == "for":
            flags = list(s[5])
            flags[0], flags[1] = rng.choice(((not flags[0], flags[1]), (flags[0], 4)))
            s[5] = tuple(flags)
            return "flags"
        case 12:  # an operator, an index or a constant of an expression
            done: list[str] = []

            def leaf(e: Any) -> Any:
                if done or rng.random() > 0.4:
                    return None
                if e[0] == "call" and e[1] in OPS:
                    done.append("operator")
                    return ("call", OPS[e[1]], e[2], e[3])
                if e[0] == "load" and e[2]:
                    done.append("element")
                    at_ = rng.randrange(len(e[2]))
                    return ("load", e[1], tuple(add(p, const(step)) if n == at_ else p for n, p in enumerate(e[2])))
                if e[0] == "choose":
                    done.append("choice")
                    return ("choose", e[1], e[3], e[2])
                return None

            block[k][0] = [s[0], *(edited(x, lambda p: p, leaf) for x in s[1:])]
            return done[0] if done else ""
        case 13 if s[0] in ("alloc", "if", "check", "store", "update", "break"):
            which = {"alloc": 3, "store": 2, "update": 2}.get(s[0], 1)
            parts = s[which] if isinstance(s[which], tuple) else ()  # a list of them: an empty one is no polynomial that is 0
            block[k][0][which] = tuple(edited(x, lambda p: add(p, const(step)) if rng.random() < 0.6 else p, lambda e: None) for x in parts)
            return "polynomials" if parts else ""
        case 14 if s[0] in ("accumulate", "update", "add", "let", "declare", "alloc"):
            if s[0] == "accumulate":
                s[6] = not s[6]
                return "exact"
            which = {"update": 3, "add": 2, "let": 2, "declare": 2, "alloc": 2}[s[0]]
            s[which] = OPS.get(s[which], {"f64": "f32", "i64": "i32"}.get(s[which], s[which]))
            return "type or operator"
    return ""


def _everywhere(trees: list[Tree], poly: Any, leaf: Any) -> None:
    for t in trees:
        t[0] = [t[0][0], *(x if n + 1 in _BODIES.get(t[0][0], ()) else edited(x, poly, leaf) for n, x in enumerate(t[0][1:]))]
        for b in t[2]:
            _everywhere(b, poly, leaf)


def stages(core: Any) -> Any:
    """The rewrites of a function that are proved, each as (name, chain, before, after, row)."""
    watched = watch(core, CHOICES)
    if watched is None:
        return
    data: dict[str, Any] = {"format": FORMAT, **_arguments(watched), "reassociate": watched.core.reassociate, **watched.data.tables()}
    chain = Chain(data)
    now = chain.program(watched.lowered)
    for r in watched.rewrites:
        after = chain.program(r.after)
        yield r, chain, now, after
        now = after


def accepted(chain: Any, before: Any, after: Any, origins: Any, r: Any) -> bool:
    token = LEFT.set(Budget())
    try:
        kinds = chain.kinds.with_rooms()  # a copy: what a forged program says of names is not known of others
        scoped(after, kinds, chain.given)
        Types(kinds).program(after)
        found = validate(chain.sizes, before, after, origins, dict(r.roots), chain.licensed({"regroups": r.regroups}), kinds, chain.results)
        return not any(p.why for p in found)
    except (Rejected, RecursionError, KeyError):
        return False
    finally:
        LEFT.reset(token)


def differs(chain: Any, before: Any, after: Any) -> str:
    """At which size the two are not the same; empty where they are, "?" where they cannot be run."""
    ran = 0
    for seed, n in enumerate((5, 1, 0, 9, 17, 40)):
        sizes = {s: n + (k % 2) * (n > 1) for k, s in enumerate(chain.sizes)}
        for backwards in (False, True):
            try:
                want = results(before, sizes, chain, seed, backwards)
            except (Wrong, Unknown, KeyError, TypeError, ValueError, OverflowError, IndexError, AttributeError):
                continue
            try:
                got = results(after, sizes, chain, seed, backwards)
            except (Unknown, OverflowError, AttributeError):
                continue
            except (Wrong, KeyError, TypeError, ValueError, IndexError) as problem:
                return f"{sizes}: {type(problem).__name__} {problem}"
            ran += 1
            if not same(want, got):
                return f"{sizes}"
    return "" if ran else "?"


def main(first: int, last: int, words: list[str]) -> int:
    warnings.simplefilter("ignore")
    counts: collections.Counter[str] = collections.Counter()
    wrong = 0
    corpus = [(name, fn) for module in modules(words) for name, fn in functions(module)]
    with small_blocks():
        for seed in range(first, last):
            rng = random.Random(seed)
            name, fn = rng.choice(corpus)
            try:
                found = [x for x in stages(fn.core)]
            except (at.Error, AssertionError, Rejected):
                continue
            if not found:
                continue
            r, chain, before, after = rng.choice(found)
            origins = [chain.origin(o) for o in r.origins]
            if sum(1 for _ in walk(after)) > 250 or not accepted(chain, before, after, origins, r):
                continue
            usual = differs(chain, before, after)
            if usual:
                counts["cannot be run" if usual == "?" else "differs without an edit"] += 1
                if usual != "?":
                    print(f"NOT THE SAME {name}: {r.name} {usual}", flush=True)
                continue
            numbers = sum(1 for _ in walk(before))
            known = {v: kind for v, kind in chain.kinds.items()}
            for _ in range(12):
                trees = tree(after, iter(origins))
                what = [x for _ in range(rng.choice((1, 1, 2, 3))) if (x := one_edit(trees, known, numbers, rng))]
                if not what:
                    continue
                body, told = flat(trees)
                if (body, told) == (after, origins):
                    continue
                if not accepted(chain, before, body, told, r):
                    counts["refused"] += 1
                    continue
                bad = differs(chain, before, body)
                counts["accepted, and the same" if not bad else "accepted, not run" if bad == "?" else "WRONG"] += 1
                if bad and bad != "?":
                    wrong += 1
                    print(f"WRONG {seed}: {name}: {r.name}: {', '.join(what)}: {bad}", flush=True)
    print(", ".join(f"{kind} {n}" for kind, n in counts.most_common()))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
