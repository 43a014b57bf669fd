"""Derivatives of one's own: def_vjp and def_jvp, checked against each other; what is believed is listed; no other derivative is used in their place."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at

HEAD = """
import atoll as at
from atoll import f64
n = at.sizes("n")
@at.fn
def root(a: f64) -> f64:
    x = 1.0
    while abs(x * x - a) > 1e-13:
        x = 0.5 * (x + a / x)
    return x
{rules}
@at.fn
def f(x: f64[n]) -> f64:
    return sum(sin(root(v)) * v for v in x)
"""
BACK = "@root.def_vjp\n@at.fn\ndef back(a: f64, dy: f64) -> f64:\n    return dy / (2.0 * root(a))\n"
ALONG = "@root.def_jvp\n@at.fn\ndef along(a: f64, da: f64) -> f64:\n    return da / (2.0 * root(a))\n"
X, DX = np.array([2.0, 3.0, 0.5]), np.array([1.0, -0.5, 0.25])


def wanted(x: np.ndarray) -> np.ndarray:
    r = np.sqrt(x)
    return np.sin(r) + x * np.cos(r) / (2 * r)


def with_rules(rules: str) -> at.Function:
    return at.fn(source=HEAD.format(rules=rules))


def test_both() -> None:
    f = with_rules(BACK + ALONG)
    slope = (wanted(X + 1e-6) - wanted(X - 1e-6)) / 2e-6
    for g in (at.grad(f), at.jacfwd(f)):
        assert np.allclose(g(X), wanted(X)) and np.allclose(g.interpret(X), wanted(X))
        assert "while" not in g.show("ainf").split("ret")[-1]
    assert np.isclose(at.jvp(f, X, DX), wanted(X) @ DX)
    assert np.allclose(at.hessian(f)(X), np.diag(slope), atol=1e-6)


@pytest.mark.parametrize(("rules", "works", "missing"), [(BACK, "grad", "def_jvp"), (ALONG, "jacfwd", "def_vjp")])
def test_one(rules: str, works: str, missing: str) -> None:
    """The mode it was supplied for works, the other is refused: Atoll's own would go through the loop."""
    f = with_rules(rules)
    assert np.allclose(getattr(at, works)(f)(X), wanted(X))
    other = at.jacfwd(f) if works == "grad" else at.grad(f)
    for run in (other, other.interpret):
        with pytest.raises(at.Error, match=f"E1024.*\n(.*\n)*.*@root.{missing}"):
            run(X)


def test_nothing_is_followed_through_the_body() -> None:
    """A body without a derivative is no obstacle where one was supplied."""
    f = at.fn(source=HEAD.format(rules="@at.fn\ndef flip(x: f64) -> f64:\n    return trigamma(x) if x > 0.0 else x\n@flip.def_jvp(check=False)\n@at.fn\ndef along(x: f64, dx: f64) -> f64:\n    return 2.0 * dx\n").replace("sin(root(v)) * v", "flip(v)").replace("trigamma(x)", "floor(x)"))
    assert at.jvp(f, X, DX) == 2 * DX.sum() == at.jvp(f, X, DX)


STRAIGHT = "import atoll as at\nfrom atoll import f64\nn = at.sizes('n')\n@at.fn\ndef step(x: f64) -> f64:\n    return 1.0 if x > 0.0 else 0.0\n@step.def_vjp(check=False)\n@at.fn\ndef through(x: f64, dy: f64) -> f64:\n    return {slope} * dy\n@at.fn\ndef f(x: f64[n]) -> f64:\n    return sum(step(v) * v for v in x)\n"


def test_believed() -> None:
    """An estimator is used as it is, in the interpreter too, and listed; another one for the same text is another program."""
    f, g = (at.fn(source=STRAIGHT.format(slope=s)) for s in (1.0, 3.0))
    assert np.array_equal(at.grad(f)(X), X + 1.0) and np.array_equal(at.grad(f).interpret(X), X + 1.0)
    assert np.array_equal(at.grad(g)(X), 3 * X + 1.0)
    for h in (f, at.grad(f)):
        assert h.assumptions().startswith("- the derivative of step backwards is what def_vjp says: it was not checked\n")
    assert "derivative of" not in with_rules(BACK).assumptions()


def test_checked_against_the_other() -> None:
    """def_jvp is held against what def_vjp says, where there is one."""
    with pytest.raises(at.Error, match="E1007"):
        with_rules(BACK + ALONG.replace("2.0 *", "2.5 *"))
    with pytest.raises(at.Error, match="E1007"):
        with_rules(ALONG.replace("2.0 *", "2.5 *"))
