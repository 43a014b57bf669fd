"""Rewrites made wrong at random: none that the bounded validator refutes may be proved. `python -m tests.check.rewrite_mutations FIRST LAST [words of paths]`.

A mutant is one use of one rewrite with one thing changed in what it made: a bound, an index, a test, an operator, a flag, a statement gone, twice or before another.
"""

from __future__ import annotations

import collections
import dataclasses
import random
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import atoll as at
from atoll.check.compiled import validated
from atoll.check.watched import watch
from atoll.loops import ir as lp
from atoll.loops import optimise as table
from tests.validate.small import CHOICES, small_blocks
from tools.corpus import functions, modules

OPS = {"add": "sub", "sub": "add", "mul": "add", "min": "max", "max": "min", "lt": "le", "le": "lt", "and": "or"}


def lists(body: list[lp.Stmt]) -> Iterator[list[lp.Stmt]]:
    yield body
    for s in body:
        for inner in lp.bodies(s):
            yield from lists(inner)


def mutate(body: list[lp.Stmt], old: set[str], rng: random.Random) -> str:
    """One change among the statements that a rewrite made; what it was, or nothing."""
    new = [(block, k) for block in lists(body) for k, s in enumerate(block) if repr(s) not in old and not isinstance(s, (lp.Note, lp.Section, lp.Product))]
    if not new:
        return ""
    block, k = rng.choice(new)
    s = block[k]
    step = rng.choice((-1, 1))
    match rng.randrange(7):
        case 0 if isinstance(s, (lp.For, lp.Accumulate)):
            block[k] = dataclasses.replace(s, low=s.low + step)
            return f"low {step}"
        case 1 if isinstance(s, (lp.For, lp.Accumulate)):
            block[k] = dataclasses.replace(s, high=s.high + step)
            return f"high {step}"
        case 2 if isinstance(s, lp.For) and not s.parallel:
            block[k] = dataclasses.replace(s, parallel=True)
            return "independent"
        case 3 if isinstance(s, (lp.Store, lp.Update)) and s.index:
            at_ = rng.randrange(len(s.index))
            block[k] = dataclasses.replace(s, index=tuple(p + step if j == at_ else p for j, p in enumerate(s.index)))
            return "index written"
        case 4 if isinstance(s, (lp.Let, lp.Assign, lp.Store, lp.Update, lp.Add, lp.Declare)) and s.value is not None:
            changed = _expr(s.value, rng)
            if changed != s.value:
                block[k] = dataclasses.replace(s, value=changed)
                return "value"
        case 5 if isinstance(s, lp.If) and s.tests[0].poly is not None:
            block[k] = dataclasses.replace(s, tests=(dataclasses.replace(s.tests[0], poly=s.tests[0].poly + step), *s.tests[1:]))
            return "test"
        case 6 if isinstance(s, (lp.Store, lp.Update, lp.Assign, lp.Add, lp.For)):
            how = rng.randrange(3)
            if how == 0:
                del block[k]
                return "gone"
            if how == 1 and not isinstance(s, lp.For):
                block.insert(k, dataclasses.replace(s))
                return "twice"
            if how == 2 and k + 1 < len(block):
                block[k], block[k + 1] = block[k + 1], block[k]
                return "exchanged"
    return ""


def _expr(e: Any, rng: random.Random) -> Any:
    inside = [x for x in lp.subexprs(e) if isinstance(x, (lp.Load, lp.Call, lp.Index)) and not (isinstance(x, lp.Load) and not x.index)]
    if not inside:
        return e
    chosen, step = rng.choice(inside), rng.choice((-1, 1))

    def go(x: Any) -> Any:
        if x is chosen:
            if isinstance(x, lp.Load):
                at_ = rng.randrange(len(x.index))
                return lp.Load(x.buffer, tuple(p + step if j == at_ else p for j, p in enumerate(x.index)))
            if isinstance(x, lp.Index):
                return lp.Index(x.poly + step)
            return dataclasses.replace(x, op=OPS.get(x.op, x.op))
        if isinstance(x, lp.Call):
            return dataclasses.replace(x, args=tuple(map(go, x.args)))
        if isinstance(x, lp.Cast):
            return dataclasses.replace(x, arg=go(x.arg))
        if isinstance(x, lp.Choose):
            return dataclasses.replace(x, then=go(x.then), orelse=go(x.orelse))
        return x

    return go(e)


def mutant(core: Any, name: str, seed: int) -> tuple[str, str, str]:
    """What was changed, why the rewrite is not proved (empty: it is), and what the bounded validator says of it."""
    rng = random.Random(seed)
    done: list[str] = []

    def bad(p: table.Pass) -> table.Pass:
        def run(fn: lp.Function, work: Any) -> list[lp.Stmt]:
            old = {repr(s) for s in lp.walk(fn.body)}
            body = p.run(fn, work)
            if {repr(s) for s in lp.walk(body)} != old and not done:
                for _ in range(12):
                    if what := mutate(body, old, rng):
                        done.append(what)
                        break
            return body

        return dataclasses.replace(p, run=run)

    good = table.PASSES
    at_ = next(k for k, p in enumerate(good) if p.name == name)
    table.PASSES = (*good[:at_], bad(good[at_]))  # what comes after may not stand it
    try:
        watched = watch(core, CHOICES)
        if watched is None or not done or not watched.rewrites or watched.rewrites[-1].name != name:
            return "", "", ""
        why = validated(watched, only=name)[-1]
        if why:
            return done[0], why, ""
        del done[:]
        rng.seed(seed)
        again = watch(core, CHOICES, bounded=frozenset((len(watched.rewrites) - 1,)), seconds=5.0)
        assert again is not None
        verdict = again.rewrites[-1].bounded
        return (done or ["?"])[0], "", "" if verdict is None else f"{verdict.kind} {verdict.detail}"
    finally:
        table.PASSES = good


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
                watched = watch(fn.core, CHOICES)
                if watched is None or not watched.rewrites:
                    continue
                chosen = rng.choice([r.name for r in watched.rewrites])
                what, why, verdict = mutant(fn.core, chosen, seed)
            except (at.Error, AssertionError):
                counts["refused by the compiler's own checks"] += 1
                continue
            if not what:
                continue
            counts["not proved" if why else f"proved, and it is {verdict.split(' ')[0] or 'the same text'}"] += 1
            if verdict.startswith("wrong"):
                wrong += 1
                print(f"WRONG {seed}: {name}: {chosen}, {what}: proved, but {verdict}", flush=True)
    print(", ".join(f"{kind} {n}" for kind, n in counts.most_common()))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
