"""Sums of exponentials of a row in one pass over blocks (softmax, logsumexp, attention): the recipe, its three rules, what they refuse, and forgeries."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll import exp, f32, f64, log
from atoll.check.prove import prove
from atoll.check.sums import Rejected
from atoll.schedule import Schedule, kernel, rules_blocks
from atoll.schedule import term as tm
from atoll.schedule.kernel import Refused, Services, start
from atoll.sizes import poly
from tests.conformance.test_schedules_programs import load
from tests.schedule.holding import holds
from tests.schedule.random_terms import FACTS, M, Maker, N, agree
from tests.schedule.test_rules import replayed

n, m, d = at.sizes("n m d")
SIZES = (0, 1, 2, 63, 64, 65, 130)
example = load("online_softmax")


@at.fn
def one_row(s: f64[m]) -> f64:
    top = reduce(maximum, -1e30, s)
    return log(sum(exp(s[j] - top) for j in range(m))) + top


@at.fn
def weighted(s: f32[n, m], w: f32[m]) -> f32[n]:
    top = [reduce(maximum, -inf, [2.0 * s[i, j] + 1.0 for j in range(m)]) for i in range(n)]
    return [sum(w[j] * exp(2.0 * s[i, j] + 1.0 - top[i]) for j in range(m)) for i in range(n)]


@at.fn
def normalised_inside(s: f64[n, m], v: f64[m, d]) -> f64[n, d]:
    top = [reduce(maximum, -inf, s[i]) for i in range(n)]
    total = [sum(exp(s[i, j] - top[i]) for j in range(m)) for i in range(n)]
    return [[sum(exp(s[i, j] - top[i]) / total[i] * v[j, c] for j in range(m)) for c in range(d)] for i in range(n)]


@at.fn
def causal(q: f64[n, d], k: f64[n, d], v: f64[n, d]) -> f64[n, d]:
    score = [[sum(q[i, c] * k[j, c] for c in range(d)) if j <= i else -inf for j in range(n)] for i in range(n)]
    top = [reduce(maximum, -inf, score[i]) for i in range(n)]
    weight = [[exp(score[i, j] - top[i]) for j in range(n)] for i in range(n)]
    return [[sum(weight[i, j] * v[j, c] for j in range(n)) / sum(weight[i]) for c in range(d)] for i in range(n)]


@at.fn
def two(s: f64[n, m], t: f64[n, m]) -> f64[n]:
    top = [reduce(maximum, -inf, s[i]) for i in range(n)]
    other = [reduce(maximum, -inf, t[i]) for i in range(n)]
    return [sum(exp(s[i, j] - top[i]) for j in range(m)) * sum(exp(t[i, j] - other[i]) for j in range(m)) for i in range(n)]


@at.fn
def heads(s: f64[n, d, m]) -> f64[n, d]:
    top = [[reduce(maximum, -inf, s[i, h]) for h in range(d)] for i in range(n)]
    return [[top[i, h] + log(sum(exp(s[i, h, j] - top[i, h]) for j in range(m))) for h in range(d)] for i in range(n)]


CASES: dict[str, tuple[Callable[[], Schedule], Callable[[Any, int], tuple[Any, ...]], int]] = {
    "softmax": (example.rows, lambda r, k: (r.standard_normal((3, k)) * 9,), 1),
    "logsumexp": (example.totals, lambda r, k: (r.standard_normal((3, k)) * 9,), 0),
    "attention": (example.flash, lambda r, k: (r.standard_normal((3, 5)), r.standard_normal((k, 5)), r.standard_normal((k, 2 + 3))), 1),
    "one row": (lambda: at.schedule(one_row).online("top", 64), lambda r, k: (r.standard_normal(k),), 0),
    "weighted": (lambda: at.schedule(weighted).online("top", 8, at="i"), lambda r, k: (r.standard_normal((3, k)).astype(np.float32), r.standard_normal(k).astype(np.float32)), 0),
    "normalised inside": (lambda: at.schedule(normalised_inside).online("top", 64, at="i"), lambda r, k: (r.standard_normal((3, k)), r.standard_normal((k, 4))), 0),
    "causal": (lambda: at.schedule(causal).online("top", 8, at="i").parallel("i"), lambda r, k: tuple(r.standard_normal((k, 4)) for _ in range(3)), 0),
    "rows in tiles": (lambda: at.schedule(normalised_inside).split("i", 2, tail="guard").online("top", 64, at="i_i").parallel("i_o"), lambda r, k: (r.standard_normal((3, k)), r.standard_normal((k, 4))), 0),
    "two": (lambda: at.schedule(two).online("top", 64, at="i").online("other", 8, at="i"), lambda r, k: (r.standard_normal((3, k)), r.standard_normal((3, k))), 0),
    "heads": (lambda: at.schedule(heads).online("top", 64, at="h").parallel("i"), lambda r, k: (r.standard_normal((2, 3, k)),), 0),
}


@pytest.mark.parametrize("name", CASES)
def test_equal_and_accepted(name: str) -> None:
    """The program's values but for rounding, at all sizes; the licences say so; a certificate."""
    make, given, least = CASES[name]
    s = make()
    assert s.licences == {"reassociate", "rescale"}
    assert "floating point, rescale: exp(a - b)" in s.assumptions()
    said = s.certificate().check()
    assert "rules and" in said and "floating point: reassociate, rescale" in said
    run = s.compile()
    for k in SIZES:
        args = given(np.random.default_rng(k), k)
        if k < least:
            with pytest.raises(at.Error, match="E0704"):
                run(*args)
            continue
        close = 1e-5 if name == "weighted" else 1e-12
        np.testing.assert_allclose(run(*args), s.function.interpret(*args), rtol=close, atol=close)


def test_a_row_of_scores_is_not_kept() -> None:
    """Memory of attention: 64 scores, and what the blocks have; nothing that is n * m."""
    s = example.flash()
    text = next(line for line in s.certificate().check().splitlines() if "memory" in line)
    assert "m*n" not in text and "512 bytes on the stack" in text


def test_large_numbers_and_infinities() -> None:
    """Nothing overflows; blocks that are masked out whole count as nothing; a row of nothing but -inf is log 0, where the program gives NaN."""
    s = at.schedule(example.logsumexp).online("top", 4, at="i").compile()
    a = np.random.default_rng(0).standard_normal((6, 13)) * 300
    a[0], a[1] = a[0] + 1e300, -np.abs(a[1]) * 1e300
    a[2, :9] = -np.inf
    a[3, 4:8], a[3, 12] = -np.inf, -np.inf
    a[4] = -np.inf
    a[5, 6] = np.inf
    with np.errstate(all="ignore"):
        wanted = example.logsumexp.interpret(a)
    found = s(a)
    np.testing.assert_allclose(found[:4], wanted[:4], rtol=1e-12)
    assert np.isnan(wanted[4]) and found[4] == -np.inf
    assert np.isnan(wanted[5]) and np.isnan(found[5])


def test_refused() -> None:
    @at.fn
    def other_maximum(s: f64[n, m], t: f64[n, m]) -> f64[n]:
        top = [reduce(maximum, -inf, t[i]) for i in range(n)]
        return [sum(exp(s[i, j] - top[i]) for j in range(m)) for i in range(n)]

    @at.fn
    def another_range(s: f64[n, m + 3]) -> f64[n]:
        top = [reduce(maximum, -inf, [s[i, j] for j in range(m)]) for i in range(n)]
        return [sum(exp(s[i, j] - top[i]) for j in range(m + 3)) for i in range(n)]

    @at.fn
    def another_row(s: f64[n, m]) -> f64[n]:
        top = [reduce(maximum, -inf, s[i]) for i in range(n)]
        return [sum(exp(s[n - 1 - i, j] - top[i]) for j in range(m)) for i in range(n)]

    @at.fn
    def another_base(s: f64[n, m]) -> f64[n]:
        top = [reduce(maximum, -inf, s[i]) for i in range(n)]
        return [sum(exp2(s[i, j] - top[i]) for j in range(m)) for i in range(n)]

    @at.fn
    def smallest(s: f64[n, m]) -> f64[n]:
        top = [reduce(minimum, inf, s[i]) for i in range(n)]
        return [sum(exp(s[i, j] - top[i]) for j in range(m)) for i in range(n)]

    @at.fn
    def not_a_product(s: f64[n, m]) -> f64[n]:
        top = [reduce(maximum, -inf, s[i]) for i in range(n)]
        return [sum(exp(s[i, j] - top[i]) + 1.0 for j in range(m)) for i in range(n)]

    @at.fn
    def from_the_second(s: f64[n, m + 1]) -> f64[n]:
        top = [reduce(maximum, -inf, s[i]) for i in range(n)]
        return [sum(exp(s[i, j + 1] - top[i]) for j in range(m)) for i in range(n)]

    for f, why in (
        (from_the_second, "something else than is subtracted from"),
        (other_maximum, "something else than is subtracted from"),
        (another_range, "does not follow"),
        (another_row, "something else than is subtracted from"),
        (another_base, "no sum of exp"),
        (smallest, "not a maximum over a range"),
        (not_a_product, "not a product there"),
    ):
        with pytest.raises(at.Error, match=why):
            at.schedule(f).online("top", 8, at="i")
    with pytest.raises(at.Error, match="w is not a maximum over a range"):
        at.schedule(weighted).online("w", 8, at="i")
    with pytest.raises(at.Error, match="E0502"):
        at.schedule(weighted).online("tops", 8, at="i")
    with pytest.raises(at.Error, match="top is not read there"):
        at.schedule(weighted).online("top", 8, at="top/i")
    with pytest.raises(at.Error, match="E0501|positive"):
        at.schedule(weighted).online("top", 0, at="i")


def test_forbidden_without_the_licence() -> None:
    @at.fn(reassociate=False)
    def strict(s: f64[n, m]) -> f64[n]:
        top = [reduce(maximum, -inf, s[i]) for i in range(n)]
        return [sum(exp(s[i, j] - top[i]) for j in range(m)) for i in range(n)]

    with pytest.raises(at.Error, match="E0504"):
        at.schedule(strict).online("top", 8, at="i")


def test_terms_and_loops_agree() -> None:
    """The meaning of the term, the checked loops and the compiled program."""
    r = np.random.default_rng(0)
    holds(at.schedule(one_row).online("top", 4), *((r.standard_normal(k),) for k in (0, 1, 3, 4, 9)))
    holds(at.schedule(normalised_inside).online("top", 4, at="i"), *((r.standard_normal((2, k)), r.standard_normal((k, 2))) for k in (0, 1, 4, 9)))


# -- the rules by themselves


def source(maker: Maker, monoid: str = "maximum", last: bool = False, exponential: str = "exp") -> tm.Term:
    """for i < n: let x := max j < m: a[i, j] in sum k < m: exp(a[i, k] - x); `last`: of the last row, whichever i is"""
    a, i, j, k = next(iter(maker.inputs)), tm.Sym("i"), tm.Sym("j"), tm.Sym("k")
    x = tm.Tensor("x", maker.dtype)
    weight = tm.Op(exponential, (tm.Op("sub", (tm.Get(a, (poly(i), poly(k))), tm.Get(x, ())), maker.dtype),), maker.dtype)
    top = tm.Sum(j, poly(0), poly(M), tm.Get(a, (poly(N) - 1 if last else poly(i), poly(j))), monoid)
    return tm.Gen(i, poly(0), poly(N), tm.Let(x, top, tm.Sum(k, poly(0), poly(M), weight)))


PLACE = (0, 1, 0)  # of the exponential


def around(maker: Maker, **changed: Any) -> tuple[Any, Any, dict[str, Any]]:
    theorem = start("t", source(maker, **changed), FACTS, maker.inputs)
    loop = tm.at(theorem.term, PLACE[:-1])
    assert isinstance(loop, tm.Sum)
    k = poly(loop.sym)
    return theorem, k, {"at": k, "low": poly(0), "high": poly(M)}


def wrong(k: Any) -> dict[str, dict[str, Any]]:
    return {
        "another element": {"at": k - 1},
        "a block before the range": {"low": poly(-1)},
        "a block past the range": {"high": poly(M) + 1},
        "a block that it is not in": {"low": k + 1},
        "a block that ends before it": {"high": k},
    }


@pytest.mark.parametrize("what", wrong(poly(0)))
def test_rescale_refuses_and_the_checker_does_too(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    maker = Maker(1)
    theorem, k, given = around(maker)
    assert agree(maker, theorem.source, kernel.step(theorem, PLACE, "rescale", **given).term, frozenset(["rescale"])) is None
    given |= wrong(k)[what]
    with pytest.raises(Refused):
        kernel.step(theorem, PLACE, "rescale", **given)
    monkeypatch.setattr(Services, "need", lambda *_: None)
    monkeypatch.setattr(rules_blocks, "alike", lambda *_: True)
    forged = kernel.step(theorem, PLACE, "rescale", **given)
    with pytest.raises(Rejected):
        replayed(forged)


@pytest.mark.parametrize(("changed", "why"), [({"last": True}, "something else"), ({"monoid": "minimum"}, "not a maximum"), ({"exponential": "exp2"}, "exponential of a difference")])
def test_rescale_of_something_else(changed: dict[str, Any], why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The maximum of another row, a minimum, another base."""
    theorem, _, given = around(Maker(1), **changed)
    with pytest.raises(Refused, match=why):
        kernel.step(theorem, PLACE, "rescale", **given)
    if "last" in changed:
        monkeypatch.setattr(rules_blocks, "alike", lambda *_: True)
    if "monoid" in changed:
        monkeypatch.setattr(rules_blocks, "largest", lambda t: t)
    if "exponential" not in changed:
        forged = kernel.step(theorem, PLACE, "rescale", **given)
        with pytest.raises(Rejected, match="maximum"):
            replayed(forged)


def test_factor_that_changes_is_refused_by_both(monkeypatch: pytest.MonkeyPatch) -> None:
    maker = Maker(1)
    a, b, c = maker.inputs
    i, k = tm.Sym("i"), tm.Sym("k")
    product = tm.Op("mul", (tm.Get(b, (poly(k),)), tm.Get(c, (poly(i),))), maker.dtype)
    theorem = start("t", tm.Gen(i, poly(0), poly(N), tm.Sum(k, poly(0), poly(M), product)), FACTS, maker.inputs)
    right = kernel.step(theorem, (0,), "factor", part=(1,))
    assert right.licences == {"reassociate", "finite"} and agree(maker, theorem.source, right.term, right.licences) is None
    with pytest.raises(Refused, match="changes from round to round"):
        kernel.step(theorem, (0,), "factor", part=(0,))
    quotient = tm.Op("div", (tm.Get(b, (poly(k),)), tm.Get(c, (poly(i),))), maker.dtype)
    theorem = start("t", tm.Gen(i, poly(0), poly(N), tm.Sum(k, poly(0), poly(M), quotient)), FACTS, maker.inputs)
    with pytest.raises(Refused, match="is not empty"):
        kernel.step(theorem, (0,), "factor", part=(1,))
    with pytest.raises(Refused, match="not a product there"):
        kernel.step(theorem, (0,), "factor", part=(0,))
    right = kernel.step(kernel.assume(theorem, poly(M) - 1), (0,), "factor", part=(1,))
    assert agree(maker, theorem.source, right.term, right.licences, (*FACTS, poly(M) - 1)) is None
    monkeypatch.setattr(Services, "need", lambda *_: None)
    with pytest.raises(Rejected):
        replayed(kernel.step(theorem, (0,), "factor", part=(1,)))


def test_joined_values_are_read_in_range_by_both(monkeypatch: pytest.MonkeyPatch) -> None:
    """An element past the end of a row is padding; in a row of several it would be the next one's."""
    maker = Maker(1)
    a, b, c = maker.inputs
    i, j, k, p, q = (tm.Sym(x) for x in "ijkpq")
    x, y = tm.Tensor("x", maker.dtype), tm.Tensor("y", maker.dtype)
    rows = tm.Gen(i, poly(0), poly(N), tm.Gen(k, poly(0), poly(M), tm.Get(a, (poly(i), poly(k)))))

    def whole(past: int) -> tm.Term:
        use = tm.Op("sub", (tm.Get(x, (poly(p), poly(q))), tm.Get(y, (poly(p),))), maker.dtype)
        return tm.Let(x, rows, tm.Let(y, tm.Gen(j, poly(0), poly(N), tm.Get(c, (poly(j),))), tm.Gen(p, poly(0), poly(N), tm.Gen(q, poly(0), poly(M) + past, use))))

    theorem = start("t", whole(0), FACTS, maker.inputs)
    right = kernel.step(theorem, (), "let_join", count=2, name="z")
    assert right.licences == frozenset() and agree(maker, theorem.source, right.term, right.licences) is None
    replayed(right)
    theorem = start("t", whole(1), FACTS, maker.inputs)
    with pytest.raises(Refused):
        kernel.step(theorem, (), "let_join", count=2, name="z")
    monkeypatch.setattr(Services, "need", lambda *_: None)
    with pytest.raises(Rejected):
        replayed(kernel.step(theorem, (), "let_join", count=2, name="z"))


# -- forged certificates


def certificate() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(json.dumps(at.schedule(one_row).online("top", 4).certificate().data))
    prove(copy.deepcopy(data))
    return data


def steps(data: dict[str, Any], rule: str) -> list[Any]:
    found = [s for s in data["steps"] if s[1] == rule]
    assert found
    return found


def no_licence(data: dict[str, Any]) -> None:
    data["licences"].remove("rescale")


def unknown_licence(data: dict[str, Any]) -> None:
    data["licences"][data["licences"].index("rescale")] = "rescaled"


def forbidden(data: dict[str, Any]) -> None:
    data["forbidden"].append("rescale")


def another_block(data: dict[str, Any]) -> None:
    first, second = steps(data, "rescale")
    first[2]["low"] = second[2]["low"]


def another_place(data: dict[str, Any]) -> None:
    first = steps(data, "rescale")[0]
    first[2]["at"] = first[2]["low"]


def another_c(data: dict[str, Any]) -> None:
    """The least number changed where it is subtracted: C of one factor is not that of the other."""
    lit = next(k for k, t in enumerate(data["T"]) if t[0] == "lit" and t[1] == {"f": (-1.7976931348623157e308).hex()})
    data["T"].append(["lit", {"f": (0.0).hex()}, "f64"])
    for t in data["T"]:
        if t[0] == "op" and t[1] == "max" and lit in t[2]:
            t[2] = [len(data["T"]) - 1 if k == lit else k for k in t[2]]
            break


def another_base(data: dict[str, Any]) -> None:
    for t in data["T"]:
        if t[0] == "op" and t[1] == "exp":
            t[1] = "exp2"


def another_factor(data: dict[str, Any]) -> None:
    steps(data, "factor")[0][2]["part"] = [0]


def fewer_joined(data: dict[str, Any]) -> None:
    steps(data, "let_join")[0][2]["count"] = 1


@pytest.mark.parametrize("edit", [no_licence, unknown_licence, forbidden, another_block, another_place, another_c, another_base, another_factor, fewer_joined], ids=lambda f: f.__name__)
def test_forged(edit: Callable[[dict[str, Any]], None]) -> None:
    data = certificate()
    edit(data)
    with pytest.raises(Rejected):
        prove(data)


def test_the_maximum_of_another_row() -> None:
    """A source whose maximum is of the row after: what a forger has to write in all places is not what the rule gives."""
    data: dict[str, Any] = json.loads(json.dumps(at.schedule(example.logsumexp).online("top", 4, at="i").certificate().data))
    prove(copy.deepcopy(data))
    source = data["T"][data["source"]]
    assert source[0] == "let" and data["T"][source[2]][0] == "gen"
    read = next(k for k, t in enumerate(data["T"]) if t[0] == "get" and t[1] == "s")
    data["P"].append([])
    data["T"][read][2][0] = len(data["P"]) - 1
    with pytest.raises(Rejected):
        prove(data)
