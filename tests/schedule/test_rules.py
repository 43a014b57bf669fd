"""Every rule of the kernel on random terms: what it gives has the same value, bit for bit or within the licence it declares, and the
independent checker agrees with the step; where a side condition fails it refuses."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from atoll.check.encode import Encoder
from atoll.check.prove import Checker
from atoll.check.sums import Rejected
from atoll.schedule import kernel, rules_blocks, rules_lets, rules_loops, simplify
from atoll.schedule import term as tm
from atoll.schedule.kernel import RULES, Refused, Theorem, start
from atoll.schedule.rules_lets import VIEW_J, VIEW_P
from atoll.schedule.show import show
from atoll.sizes import cdiv, poly
from tests.schedule.random_terms import FACTS, M, Maker, N, agree

_ = (rules_blocks, rules_lets, rules_loops, simplify)
SEEDS = 24


def arguments(rule: str, t: tm.Term, context: Any, rng: random.Random) -> dict[str, Any] | None:
    """Arguments worth trying for a rule at a term; None when it takes none that make sense here."""
    loop = t if isinstance(t, (tm.Gen, tm.Sum)) else None
    match rule:
        case "gen_cut" | "sum_cut":
            return None if loop is None else {"at": rng.choice([loop.low, loop.low + 1, loop.high, loop.high - 1, poly(N)])}
        case "loop_flat":
            if loop is None:
                return None
            n, k = loop.high - loop.low, rng.choice([1, 2, 3])
            return rng.choice([{"count": n, "size": poly(1)}, {"count": n // k, "size": poly(k)}])
        case "loop_trunc":
            return {"amount": rng.choice([poly(0), poly(2), poly(M), poly(-1)])}
        case "loop_shift":
            return rng.choice([{}, {"by": poly(2)}])
        case "exchange_range":
            if not (isinstance(t, tm.Sum) and isinstance(t.body, tm.Guard)):
                return None
            ends = [c for c in t.body.conds if t.sym in c.leaves()]
            lows = [-(c - t.sym) for c in ends if c.coefficient(t.sym) == poly(1)]
            highs = [c + t.sym + 1 for c in ends if c.coefficient(t.sym) == poly(-1)]
            return {"low": lows[0], "high": highs[0]} if lows and highs else {"low": poly(0), "high": poly(1)}
        case "wrap":
            op = rng.choice(["transpose", "pad_r", "pad_l", "split", "tile", "flatten", "reverse"])
            amount = {} if op in ("transpose", "flatten", "reverse") else {"amount": poly(rng.choice([1, 2]))}
            return {"op": op, "axis": rng.randrange(2), **amount}
        case "let_bind":
            parts = [path for path, _ in tm.walk(t)]
            return {"name": "w", "part": rng.choice(parts[:6])}
        case "guard_in":
            return {"bound": rng.random() < 0.5}
        case "let_out":
            return {"kid": rng.randrange(2)}
        case "float_out":
            return {"keep": rng.choice(["left", "right"])}
        case "let_view":
            names = [x for x in context.shapes if any(isinstance(u, tm.Get) and u.name is x for _, u in tm.walk(t))]
            if not names:
                return None
            x = rng.choice(names)
            dims = tuple(d + 4 for d in context.shapes[x])
            read = tuple(poly(j) - 2 for j in VIEW_J[: len(dims)])
            index = tuple(poly(p) + 2 for p in VIEW_P[: len(dims)])
            return {"x": x, "name": "v", "dims": dims, "read": read, "index": index}
        case "let_roll":
            return {"lead": poly(1), "rows": 3}
        case "fold":
            if not context.defs:
                return None
            x = rng.choice(list(context.defs))
            return {"x": x, "index": tuple(poly(0) for _ in context.shapes[x])}
        case "nest_round":
            reads = [u for _, u in tm.walk(t) if isinstance(u, tm.Get) and u.name in context.parts]
            return {"x": reads[0].name, "index": reads[0].index[: rng.randrange(1, 3)]} if reads else None
        case "rescale":
            if not (isinstance(t, tm.Op) and t.name == "exp"):
                return None
            at = next(p for _, u in tm.walk(t) if isinstance(u, tm.Get) for p in u.index[-1:])
            return {"at": at, **rng.choice([{"low": poly(0), "high": poly(M)}, {"low": at, "high": at + 1}, {"low": at, "high": poly(M)}, {"low": poly(0), "high": at}])}
        case "factor":
            return {"part": rng.choice([(0,), (1,), (0, 1), (1, 1)])}
        case "let_join":
            return {"count": rng.choice([2, 2, 3]), "name": "z"}
    return {}


class Cumulated:
    """An opaque part: sums along the second axis."""

    digest, label = "0123456789abcdef", "sums along rows"

    def evaluate(self, args: list[Any], sizes: Any) -> list[Any]:
        return [np.cumsum(args[0], axis=1, dtype=args[0].dtype)]


def replayed(theorem: Theorem) -> None:
    """The checker agrees with every step."""
    e = Encoder({N: "n", M: "m"})
    for x in theorem.inputs:
        e.names[x] = x.name
    e.names.update({s: s.name for s in (*VIEW_J, *VIEW_P)})
    data: dict[str, Any] = {
        "format": "atoll certificate 3",
        "sizes": ["n", "m"],
        "arrays": [[e.name(x), x.dtype.name, e.many(shape), x.name] for x, shape in theorem.inputs.items()],
        "facts": e.many(FACTS),
        "source": e.term(theorem.source),
        "steps": [
            [list(r.path), r.rule, {k: e.argument(v) for k, v in r.args.items()}, None if r.new is None else e.term(r.new), []] for r in theorem.steps
        ],
        "final": e.term(theorem.term),
        "base": None,
        "forbidden": [],
        "licences": sorted(theorem.licences),
    }
    for record in theorem.steps:
        for o in record.obligations:
            e.claim(o.facts, o.goal, o.why)
    data.update(e.tables())
    Checker(data).replay()


def attempts(rule: str) -> tuple[int, int, list[str]]:
    """(accepted, refused, failures) of a rule over random terms."""
    accepted = refused = 0
    failures: list[str] = []
    for seed in range(SEEDS):
        maker = Maker(seed)
        rng = random.Random(seed)
        shape = tuple(maker.extent() for _ in range(rng.randint(1, 2)))
        source = special(rule, maker, rng) or maker.term(shape, 4)
        try:
            theorem = start("random", source, FACTS, maker.inputs)
        except Refused:
            continue
        positions = list(tm.walk(source))
        rng.shuffle(positions)
        for path, t in positions[:14]:
            context, _ = theorem.locate(path)
            args = arguments(rule, t, context, rng)
            if args is None:
                continue
            try:
                new = kernel.step(theorem, path, rule, **args)
            except Refused:
                refused += 1
                continue
            accepted += 1
            problem = agree(maker, source, new.term, new.licences)
            if problem is not None:
                failures.append(f"seed {seed} {rule}{args} at {path}: {problem}\n{show(source)}\n=>\n{show(new.term)}")
                return accepted, refused, failures
            try:
                replayed(new)
            except Rejected as why:
                failures.append(f"seed {seed} {rule}{args} at {path}: the checker says {why}\n{show(source)}\n=>\n{show(new.term)}")
                return accepted, refused, failures
    return accepted, refused, failures


def special(rule: str, maker: Maker, rng: random.Random) -> tm.Term | None:
    """A term of the form a rule is about, where random ones rarely are."""
    a, b, c = maker.inputs
    i, j, k = tm.Sym("i"), tm.Sym("j"), tm.Sym("k")
    n, m = poly(N), poly(M)
    if rng.random() < 0.3:
        return None
    match rule:
        case "exchange_range":
            body = tm.guard((poly(k) - 1, poly(i) - poly(k), m - 1 - poly(k)), tm.Get(b, (poly(k),)))
            return tm.Gen(i, poly(0), n, tm.Sum(k, poly(0), m, body))
        case "sum_one":
            return tm.Gen(i, poly(0), n, tm.Sum(k, poly(i), poly(i) + 1, tm.Get(a, (poly(k), poly(k)))))
        case "loop_join":
            return tm.Gen(i, poly(0), n, tm.Gen(j, poly(0), poly(rng.choice([1, 2, 3])), tm.Get(a, (poly(i), poly(j)))))
        case "contract":
            product = tm.Op("mul", (tm.Get(a, (poly(i), poly(k))), tm.Get(b, (poly(k),))), maker.dtype)
            return tm.Gen(i, poly(0), n, tm.Sum(k, poly(0), m, product))
        case "guard_mul":
            product = tm.Op("mul", (tm.guard((poly(i) - 1,), tm.Get(c, (poly(i),))), tm.Get(b, (poly(i),))), maker.dtype)
            return tm.Gen(i, poly(0), n, product)
        case "distribute":
            inner = tm.Sum(k, poly(0), m, tm.Get(a, (poly(i), poly(k))))
            return tm.Gen(i, poly(0), n, tm.Op("mul", (tm.Get(c, (poly(i),)), inner), maker.dtype))
        case "float_in":
            left = tm.Gen(i, poly(0), n, tm.Get(c, (poly(i),)))
            right = tm.Gen(j, poly(0), n, tm.Sum(k, poly(0), m, tm.Get(a, (poly(j), poly(k)))))
            return tm.Plus(left, right)
        case "unfold" | "let_roll" | "guard_get":
            x = tm.Tensor("x", maker.dtype)
            bound = tm.Gen(k, poly(0), n + 1, tm.guard((n - 1 - poly(k),), tm.Get(c, (poly(k),))))
            use = tm.Op("add", (tm.Get(x, (poly(i),)), tm.Get(x, (poly(i) + 1,))), maker.dtype)
            return tm.Let(x, bound, tm.Gen(i, poly(0), n, use))
        case "let_out":
            x = tm.Tensor("x", maker.dtype)
            let = tm.Let(x, tm.Get(c, (poly(i),)), tm.Op("mul", (tm.Get(x, ()), tm.Get(x, ())), maker.dtype))
            around = rng.choice([
                tm.Op("sub", (let, tm.Get(b, (poly(0),))), maker.dtype),
                tm.Plus(tm.Get(c, (poly(0),)), let),
                tm.Guard((poly(i) - 1,), let),
            ])
            return tm.Gen(i, poly(0), n, around)
        case "nest_round":
            x, shape = tm.Tensor("x", maker.dtype), maker.inputs[a]
            reads = (tm.Get(x, (poly(i), poly(j))), tm.Get(x, (rng.choice([poly(i), poly(0), poly(i) - 1]), poly(0))))
            body = tm.Gen(i, poly(0), shape[0], tm.Gen(j, poly(0), shape[1], tm.Op("sub", reads, maker.dtype)))
            return tm.Nest((x,), (shape,), Cumulated(), (a,), body, (), 1)
        case "let_dead":
            x = tm.Tensor("x", maker.dtype)
            if rng.random() < 0.3:
                return tm.Nest((x,), (maker.inputs[a],), Cumulated(), (a,), maker.term((n,), 2), (), rng.randrange(2))
            return tm.Let(x, tm.Get(c, (poly(0),)), maker.term((n,), 2))
        case "fold":
            x = tm.Tensor("x", maker.dtype)
            bound = tm.Gen(k, poly(0), poly(2), tm.Get(c, (poly(k),)))
            return tm.Let(x, bound, tm.Gen(i, poly(0), n, tm.Op("add", (tm.Get(c, (poly(0),)), tm.Get(x, (poly(1),))), maker.dtype)))
        case "let_lift":
            x = tm.Tensor("x", maker.dtype)
            loop = tm.Gen if rng.random() < 0.5 else tm.Sum
            return tm.Gen(j, poly(0), m, loop(i, poly(1), n + 1, tm.Let(x, tm.Get(c, (poly(i) - 1,)), tm.Op("mul", (tm.Get(x, ()), tm.Get(b, (poly(j),))), maker.dtype))))
        case "rescale":
            x = tm.Tensor("x", maker.dtype)
            top: tm.Term = tm.Sum(j, poly(0), m, tm.Get(a, (poly(i), poly(j))), "maximum")
            top = top if rng.random() < 0.5 else tm.Op("max", (tm.Lit(-1.0, maker.dtype), top), maker.dtype)
            weight = tm.Op("exp", (tm.Op("sub", (tm.Get(a, (poly(i), poly(k))), tm.Get(x, ())), maker.dtype),), maker.dtype)
            return tm.Gen(i, poly(0), n, tm.Let(x, top, tm.Sum(k, poly(0), m, weight)))
        case "factor":
            own, same = tm.Get(a, (poly(i), poly(k))), tm.Get(c, (poly(i),))
            product = tm.Op("mul", rng.choice([(own, same), (same, own), (own, tm.Op("mul", (tm.Get(b, (poly(k),)), same), maker.dtype))]), maker.dtype)
            return tm.Gen(i, poly(0), n, tm.Sum(k, poly(0), m, product))
        case "let_join":
            x, y = tm.Tensor("x", maker.dtype), tm.Tensor("y", maker.dtype)
            low = rng.choice([poly(0), poly(1)])
            first: tm.Term = tm.Get(c, (poly(i) - low,))
            wide = rng.random() < 0.5
            first = tm.Gen(k, poly(0), m, tm.Op("add", (first, tm.Get(b, (poly(k),))), maker.dtype)) if wide else first
            here = poly(j) - low - rng.choice([0, 0, 0, 1])
            second = tm.Op("mul", (tm.Get(x, (here, poly(0)) if wide else (here,)), tm.Get(b, (poly(0),))), maker.dtype)
            p, q = tm.Sym("p"), tm.Sym("q")
            use = tm.Op("sub", (tm.Get(x, (poly(p), poly(q)) if wide else (poly(p),)), tm.Get(y, (n - 1 - poly(p),))), maker.dtype)
            end = tm.Gen(p, poly(0), n, tm.Gen(q, poly(0), m + rng.choice([0, 0, 1]), use))
            return tm.Let(x, tm.Gen(i, low, n + low, first), tm.Let(y, tm.Gen(j, low, n + low, second), end))
        case "loop_flat":
            size = rng.choice([2, 3])
            return tm.Gen(i, poly(0), n * size, tm.Get(c, (poly(i),)))
    return None


@pytest.mark.parametrize("rule", sorted(RULES))
def test_rule_keeps_values(rule: str) -> None:
    accepted, refused, failures = attempts(rule)
    assert not failures, failures[0]
    assert accepted >= 3, f"{rule} was accepted {accepted} times, refused {refused}"


def nothing(what: str, maker: Maker) -> tm.Term:
    """Terms with a part that is nothing, for a reason that is no longer to be seen when the parts around it are written more simply."""
    _, b, c = maker.inputs
    i, j, k = tm.Sym("i"), tm.Sym("j"), tm.Sym("k")
    n, m = poly(N), poly(M)
    here, none = tm.Get(c, (poly(i),)), tm.Zero((), maker.dtype)
    hidden = tm.guard((poly(i) - n,), here)
    match what:
        case "one times it":
            return tm.Gen(i, poly(0), n, tm.Op("mul", (tm.Lit(1.0, maker.dtype), hidden), maker.dtype))
        case "chosen":
            return tm.Gen(i, poly(0), n, tm.Choose((tm.Test("ge", poly(i)),), none, here))
        case "chosen, and added":
            return tm.Gen(i, poly(0), n, tm.Op("add", (tm.Sum(k, poly(0), m, tm.Choose((tm.Test("ge", poly(k)),), none, here)), here), maker.dtype))
        case "behind two conditions":
            return tm.Gen(i, poly(0), n, tm.guard((m - 3 + poly(i) // n, 1 - m), here))
        case "in bounds that simplify":
            total = tm.Sum(k, poly(0), n + poly(i) // n, tm.guard((poly(k) - n,), tm.Get(c, (poly(i),))))
            return tm.Gen(i, poly(0), n, tm.Op("add", (total, here), maker.dtype))
        case "a part of no rows":
            return tm.Cat(0, tm.Gen(j, poly(0), m // (m + 1), tm.Get(b, (poly(j),))), tm.Gen(i, poly(0), n, here))
    raise ValueError(what)


@pytest.mark.parametrize("what", ["one times it", "chosen", "chosen, and added", "behind two conditions", "in bounds that simplify", "a part of no rows"])
def test_what_simplify_drops_is_followed(what: str) -> None:
    maker = Maker(1)
    source = nothing(what, maker)
    new = kernel.step(start("t", source, FACTS, maker.inputs), (), "simplify")
    assert show(new.term) != show(source)
    assert agree(maker, source, new.term, new.licences) is None
    replayed(new)


@pytest.mark.parametrize("rule", sorted(set(RULES) - {"simplify", "let_bind", "expand", "wrap"}))
def test_rule_refuses(rule: str) -> None:
    """A rule at a term of another form, or with a condition that fails, is refused."""
    maker = Maker(1)
    a, b, c = maker.inputs
    i = tm.Sym("i")
    source = tm.Gen(i, poly(0), poly(N), tm.Op("sub", (tm.Get(c, (poly(i),)), tm.Get(b, (poly(0),))), maker.dtype))
    theorem = start("t", source, FACTS, maker.inputs)
    bad: dict[str, tuple[tm.Path, dict[str, Any]]] = {
        "gen_cut": ((), {"at": poly(N) + 1}),
        "sum_cut": ((), {"at": poly(0)}),
        "loop_flat": ((), {"count": cdiv(poly(N), 4), "size": poly(4)}),
        "loop_trunc": ((), {"amount": poly(-1)}),
        "loop_shift": ((0,), {}),
        "exchange_range": ((), {"low": poly(0), "high": poly(1)}),
        "let_view": ((), {"x": c, "name": "v", "dims": (poly(N) - 1,), "read": (poly(VIEW_J[0]),), "index": (poly(VIEW_P[0]),)}),
        "let_out": ((0,), {"kid": 0}),
        "let_roll": ((), {"lead": poly(0), "rows": 1}),
        "fold": ((0, 0), {"x": c, "index": (poly(i),)}),
        "nest_round": ((0, 0), {"x": c, "index": (poly(i),)}),
        "rescale": ((0,), {"at": poly(i), "low": poly(0), "high": poly(N)}),
        "factor": ((0,), {"part": (0,)}),
        "let_join": ((), {"count": 2, "name": "z"}),
    }
    path, args = bad.get(rule, ((0,) if rule not in ("loop_join", "swap") else (), {}))
    with pytest.raises(Refused):
        kernel.step(theorem, path, rule, **args)


def test_theorems_are_made_by_rules_only() -> None:
    maker = Maker(1)
    theorem = start("t", maker.term((poly(N),), 2), FACTS, maker.inputs)
    with pytest.raises(TypeError):
        Theorem(object(), "t", theorem.source, theorem.source, (), {}, (), frozenset(), frozenset())


def test_size_and_binder_cannot_meet() -> None:
    """The wrong theorem of the trial: a tile size named like a sum's index. Unknowns are objects here, not names."""
    maker = Maker(1)
    c = list(maker.inputs)[2]
    i, n_again = tm.Sym("i"), tm.Sym("n")
    source = tm.Gen(i, poly(0), poly(N), tm.Sum(n_again, poly(0), poly(2), tm.Get(c, (poly(i),))))
    theorem = start("t", source, FACTS, maker.inputs)
    new = kernel.step(theorem, (), "gen_cut", at=poly(N))
    assert agree(maker, source, new.term, new.licences) is None
    with pytest.raises(Refused):
        start("t", tm.Gen(N, poly(0), poly(2), tm.Get(c, (poly(0),))), FACTS, maker.inputs)


def test_negative_extent_is_refused_at_the_start() -> None:
    maker = Maker(1)
    c = list(maker.inputs)[2]
    i = tm.Sym("i")
    with pytest.raises(Refused):
        start("t", tm.Gen(i, poly(0), poly(N) - 2, tm.Get(c, (poly(i),))), FACTS, maker.inputs)
