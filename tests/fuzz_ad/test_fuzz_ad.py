"""A small fixed range of random differentiable programs; thousands are run by hand (`make fuzz-ad`)."""

from __future__ import annotations

from .chains import chain
from .check import check
from .programs import text_of
from .run import run_seed, shrink

SEEDS = range(0, 16)


def test_derivatives_of_random_programs() -> None:
    wrong = []
    checked = 0
    for seed in SEEDS:
        report = run_seed(seed, ("ainf", "loops3"))
        checked += report.outcome.checks > 0
        if report.outcome.failure is not None:
            wrong.append(f"seed {seed}: {report.outcome.failure.kind}: {report.outcome.failure.detail[-300:]}")
    assert not wrong, "\n".join(wrong)
    assert checked >= 0.6 * len(SEEDS)


def test_a_dear_derivative_is_found() -> None:
    """Measured at two sizes; a ratio that doubles with the size, or is large, is a failure."""
    from tests.cost.ratio import Ratios

    from .check import _function
    from .cost import measured, too_dear

    cheap = measured(_function(chain(9)), 9)
    assert not too_dear(cheap) and max(cheap.operations) < 10
    assert too_dear(Ratios((3.0, 6.0), (3.0, 6.0))) and too_dear(Ratios((30.0, 30.0), (9.0, 9.0)))


def test_same_seed_same_program() -> None:
    assert text_of(4) == text_of(4) and chain(5) == chain(5)
    assert len({text_of(seed) for seed in range(10)}) == 10


def test_a_wrong_rule_is_found() -> None:
    """With a wrong derivative of tanh everywhere (the table is shared), differences disagree, and the program shrinks."""
    from atoll.core import slopes as rules

    text = """import atoll as at
from atoll import f64
n = at.sizes("n")
@at.fn
def f(x: f64[n], y: f64[n]):
    z = x * y
    w = tanh(x) + z
    return w * 2.0
"""
    assert check(text, 1, {"n": 3}).failure is None
    right = rules.RULES["tanh"]
    try:
        rules.RULES["tanh"] = lambda c, a, y: (c.const(2.0),)
        text += "# another text: what was derived with the right rule is kept\n"
        found = check(text, 1, {"n": 3})
        assert found.failure is not None and found.failure.kind == "differences"
        from .run import Report

        small = shrink(Report(1, text, {"n": 3}, found), ("ainf",), 5.0)
    finally:
        rules.RULES["tanh"] = right
    assert "tanh" in small and len(small) < len(text)
