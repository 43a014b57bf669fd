"""Checks out of loops (transform/checks.py): a program fails exactly where it failed, and else leaves what it left, every read in range; random loops in the checked executor."""

from __future__ import annotations

import random

import numpy as np
import pytest

import atoll as at
from atoll.ainf.ir import Site
from atoll.errors import NOWHERE
from atoll.loops import ir as lp
from atoll.loops.execute import execute
from atoll.loops.transform.checks import checks_alone, guarded_checks, without_checks
from atoll.loops.transform.refused import Refused
from atoll.sizes import Poly, Sym, poly
from atoll.types.dtypes import BOOL, DTYPES, I64
from tests.fuzz.stages import Stages

F64 = DTYPES["f64"]
N, M, I = Sym("n"), Sym("m"), Sym("i")
X, Z = lp.Buffer("x", F64, (poly(N),), "in"), lp.Buffer("z", F64, (poly(M),), "in")
AT = lp.Buffer("at", I64, (poly(N),), "in")
Y = lp.Buffer("y", F64, (poly(N),), "out")
SITE = Site("E0703", NOWHERE, {"text": "the index"})
K, SHIFT = lp.Var("k", I64), lp.Var("shift", I64)


def inside(p: Poly, size: Poly) -> lp.Check:
    return lp.Check((lp.Test("ge", p), lp.Test("ge", size - 1 - p)), SITE, ())


def loop_of(rng: random.Random) -> lp.For:
    """y[i] = x[at[i]] + z[step * i + c], with the checks that make it right, and perhaps a value that is the same in every round in the index."""
    place: Poly = poly(I) * rng.choice([1, 1, 2, -1]) + rng.choice([-1, 0, 1, 2])
    body: list[lp.Stmt] = []
    if rng.random() < 0.4:
        body.append(lp.Let(SHIFT, lp.Load(AT, (poly(0),))))
        place = place + poly(SHIFT.atom)
    data = rng.random() < 0.7
    if data:
        body += [lp.Let(K, lp.Load(AT, (poly(I),))), inside(poly(K.atom), poly(N))]
    body.append(inside(place, poly(M)))
    read: lp.Expr = lp.Load(X, (poly(K.atom),)) if data else lp.Load(X, (poly(I),))
    body.append(lp.Store(Y, (poly(I),), lp.Call("add", (read, lp.Load(Z, (place,))), F64)))
    if rng.random() < 0.3:
        body.insert(len(body) - 1, inside(poly(I) + rng.choice([0, 1]), poly(N)))
    return lp.For(I, poly(0), poly(N), body, True)


def what(stmts: lp.Stmts, n: int, m: int, places: np.ndarray) -> list[float] | str:
    fn = lp.Function("f", (N, M), [X, Z, AT], [lp.Output(Y, 1)], stmts, [], [SITE])
    try:
        (found,) = execute(fn, [np.arange(n) + 0.5, np.arange(m) * 100.0, places], {N: n, M: m})
    except at.RunError as error:
        return error.code
    return list(found)


def test_the_same_failures_and_values() -> None:
    outcomes = {True: 0, False: 0}
    for seed in range(80):
        rng = random.Random(seed)
        loop = loop_of(rng)
        found = without_checks(loop)
        assert not isinstance(found, Refused), f"seed {seed}: {found}"
        assert not any(isinstance(s, lp.Check) for s in found.stmts)
        assert not any(isinstance(s, lp.Check) for top in found.stmts if isinstance(top, (lp.For, lp.Accumulate)) for s in top.body)
        for n, m in [(0, 0), (0, 3), (1, 1), (1, 4), (3, 3), (4, 9), (5, 12)]:
            places = np.array([rng.randrange(n) for _ in range(n)], np.int64)
            if n and rng.random() < 0.3:
                places[rng.randrange(n)] = rng.choice([-1, n, 2**62, -(2**63)])
            expected = what([loop], n, m, places)
            outcomes[isinstance(expected, str)] += 1
            assert what(found.stmts, n, m, places) == expected, f"seed {seed}, n = {n}, m = {m}"
    assert min(outcomes.values()) > 100


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ([lp.Let(K, lp.Load(AT, (poly(I),)))], "no checks"),
        ([lp.Let(K, lp.Load(AT, (poly(I),))), inside(poly(K.atom), poly(N)), lp.Store(AT, (poly(I),), lp.Const(0, I64))], "what the loop itself does"),
        ([inside(poly(K.atom), poly(N)), lp.Assign(K, lp.Index(poly(I)))], "what the loop itself does"),
        ([inside(poly(I), poly(N))] * 9, "too many"),
    ],
)
def test_reasons(body: list[lp.Stmt], why: str) -> None:
    found = without_checks(lp.For(I, poly(0), poly(N), body, False))
    assert isinstance(found, Refused) and why in found.why


@pytest.mark.parametrize("made_beside", [False, True])
def test_tests_of_what_is_made_beside_them_stay(made_beside: bool) -> None:
    """What a loop inside left behind is tested at the ends of the loop around it, but not where the values it looks at are made inside."""
    q = Sym("q")
    within = [lp.Let(SHIFT, lp.Call("min", (lp.Index(poly(N)), lp.Const(3, I64)), I64))] if made_beside else []
    last = poly(SHIFT.atom) if made_beside else poly(N)
    left = lp.If((lp.Test("ge", poly(M) - 1),), [*within, lp.If((lp.Test("ge", last - poly(I) - 1),), [], [lp.For(q, poly(0), poly(M), [inside(poly(I), poly(N))], False)])])
    loop = lp.For(I, poly(0), poly(N), [left, lp.Store(Y, (poly(I),), lp.Const(1.5, F64))], True)
    found = guarded_checks(loop)
    assert isinstance(found, Refused) == made_beside
    if not isinstance(found, Refused):
        assert what(found.stmts, 4, 2, np.zeros(4, np.int64)) == what([loop], 4, 2, np.zeros(4, np.int64)) == [1.5] * 4


def test_what_is_printed_stays_before_what_fails() -> None:
    loop = lp.For(I, poly(0), poly(N), [lp.Print((), NOWHERE), inside(poly(I), poly(M))], False)
    refused = checks_alone(loop)
    assert isinstance(refused, Refused) and "printed" in refused.why


@pytest.mark.parametrize("divisor", ["j % 4", "j - 2", "2 * j - 3"])
@pytest.mark.parametrize("pieces", [False, True])
def test_checks_that_fail_stay_where_loops_are_written_out(divisor: str, pieces: bool) -> None:
    """Of a few rounds, those that divide by 0 are told, with or without their value being used."""
    made = f"[7 % ({divisor}) for j in range(4)]"
    f = at.fn(source=f"import atoll as at\nfrom atoll import *\n@at.fn\ndef f(k: i64):\n    v = {made if pieces else f'sum({made})'}\n    return {'v[k]' if pieces else 'v'}\n")
    if "3" in divisor:
        assert f(1) == f.interpret(1)
    else:
        for g in (f, f.interpret):
            with pytest.raises(ZeroDivisionError, match="E0702"):
                g(1)


CHANNELS = {
    "colours": "def f(a: f64[n, m, k]):\n    b = zeros((n, m))\n    for i in range(n):\n        for j in range(m):\n            b[i, j] = max(a[i, j, 0], a[i, j, 1], a[i, j, 2])\n    return b\n",
    "after a value": "def f(a: f64[n, m, k]):\n    s = 0.0\n    for i in range(n):\n        for j in range(m):\n            s += a[i, j, 0]\n            if s > 0:\n                s -= 1.0\n            s += a[i, j, 1]\n    return s\n",
    "under a condition": "def f(a: f64[n, m, k]):\n    b = zeros((n, m))\n    for i in range(n):\n        for j in range(m):\n            if i != j:\n                b[i, j] = a[i, j, 2]\n    return b\n",
    "by another size": "def f(a: f64[n, m, k]):\n    b = zeros(n)\n    for i in range(n):\n        for j in range(m):\n            b[i] += a[i, j, n % 3]\n    return b\n",
}


@pytest.mark.parametrize("name", CHANNELS)
def test_checks_that_are_the_same_in_every_round(name: str) -> None:
    """They are made once, if there is a round that comes to them: an image of no rows or columns may have no colours."""
    f = at.fn(source="import atoll as at\nfrom atoll import *\nn, m, k = at.sizes('n m k')\n@at.fn\n" + CHANNELS[name])
    for shape in [(2, 3, 4), (2, 2, 3), (2, 3, 2), (1, 1, 1), (1, 1, 0), (0, 3, 1), (3, 0, 0), (0, 0, 0), (3, 2, 1)]:
        args = (np.arange(float(np.prod(shape))).reshape(shape),)
        found = []
        for how in (f.interpret, f):
            try:
                found.append(np.asarray(how(*args)).tolist())
            except at.RunError as error:
                found.append(str(error))
        assert found[0] == found[1], shape


def test_checks_leave_all_loops_around_them() -> None:
    f = at.fn(source="import atoll as at\nfrom atoll import *\nn, m, k = at.sizes('n m k')\n@at.fn\n" + CHANNELS["colours"])
    loops = f.show("rewritten")
    assert loops.index("check k - 3") < loops.index("max(") and "for in order" not in loops  # rounds that cannot fail run on threads


def test_data_behind_a_check_of_the_place_are_not_read_before_it() -> None:
    """range(n, 2) leaves the array: the check of z[i] as a whole number was made for all rounds at once beside the check of i itself, and read there (hunt, rewrites 1110010037)."""
    z, i = lp.Buffer("z", F64, (poly(N),), "in"), poly(I)
    there = lp.Check((lp.Test("ge", -i - 1),), SITE, ())
    whole = lp.Check((lp.Test("true", None, lp.Call("lt", (lp.Load(z, (i + N,)), lp.Const(9.0, F64)), BOOL)),), SITE, ())
    stored = lp.Store(lp.Buffer("y", F64, (2 - poly(N),), "out"), (i,), lp.Const(1.0, F64))
    assert isinstance(without_checks(lp.For(I, poly(0), 2 - poly(N), [there, whole, stored], True)), Refused)
    read = lp.Check((lp.Test("true", None, lp.Call("lt", (lp.Load(z, (i,)), lp.Const(9.0, F64)), BOOL)),), SITE, ())
    assert not isinstance(without_checks(lp.For(I, poly(0), poly(N), [there, read, lp.Store(Y, (i,), lp.Const(1.0, F64))], True)), Refused)


@pytest.mark.parametrize("size", [0, 1, 2])
def test_ranges_that_leave_an_array(size: int) -> None:
    f = at.fn(source="import atoll as at\nfrom atoll import *\nn = at.sizes('n')\n@at.fn\ndef f(x: f64[n], z: f64[n]):\n    return [x[i] for i in range(n, 2) if i64(z[i]) > 0]\n")
    args = np.ones(size), np.ones(size)
    if size == 2:
        assert Stages(f).runner("rewritten")(args)[0].tolist() == []
    else:
        with pytest.raises(at.RunError, match="E0701"):
            Stages(f).runner("rewritten")(args)
