"""Programs that are long, deep or double themselves: an answer, or an error with a code. Never Python's RecursionError, never minutes."""

from __future__ import annotations

import signal
import sys
import threading
from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll.deep import on_deep_stack
from atoll.surface import syntax as s
from atoll.surface.names import Liveness

HEAD = "import atoll as at\nfrom atoll import f64, i64\n\nn, m = at.sizes('n m')\n\n\n@at.fn\ndef f(x: f64) -> f64:\n"


def _program(*lines: str) -> Any:
    return at.fn(source=HEAD + "".join(f"    {line}\n" for line in lines))


def _doubling(first: str, step: str, count: int) -> list[str]:
    return [first, *(step.replace("#", str(k)).replace("@", str(k + 1)) for k in range(count))]


ANSWERS = {
    "a sum of 1,000 terms": (["return " + " + ".join(["x"] * 1000)], 1000.0),
    "a product of sums": (["return " + "(1.0 + 0.0 * " * 150 + "x" + ")" * 150], 1.0),
    "190 calls inside each other": (["return " + "sqrt(" * 190 + "x" + ")" * 190], 1.0),
    "190 calls of a lambda inside each other": (["g = lambda v: v + 1.0", "return " + "g(" * 190 + "x" + ")" * 190], 191.0),
    "300 lambdas, each calling the one before": ([*_doubling("g0 = lambda v: v", "g@ = lambda v: g#(v) + 1.0", 300), "return g300(x)"], 301.0),
    "1,000 statements": (["y = x", *["y = y * 0.5 + 0.5"] * 1000, "return y"], 1.0),
    "500 comparisons": (["return 1.0 if " + " <= ".join(["x"] * 500) + " else 2.0"], 1.0),
    "300 conditions": (["return " + "".join(f"{k}.0 if x < {k}.0 else " for k in range(300)) + "x"], 2.0),
    "a display of 5,000 numbers": (["a = [" + ", ".join(["0.0"] * 5000) + "]", "return sum(a) + x"], 1.0),
    "1,000 minus signs": (["return " + "-" * 1000 + "x"], 1.0),
    "a float of 50,000 digits": (["return x * 0." + "0" * 10 + "1" * 50_000 + " * 0.0 + x"], 1.0),
    "tuples of tuples": ([*_doubling("t0 = (x, x)", "t@ = (t#, t#)", 8), "return t8" + "[0]" * 9], 1.0),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_answer(name: str) -> None:
    lines, wanted = ANSWERS[name]
    assert _program(*lines).interpret(1.0) == wanted


def test_compiled() -> None:
    """Every stage after the interpreter goes as deep."""
    assert _program(*ANSWERS["a sum of 1,000 terms"][0])(1.0) == 1000.0


def test_800_reads_at_literal_places() -> None:
    text = HEAD.replace("x: f64", "a: f64[n]") + "    return " + " + ".join(f"a[{k}]" for k in range(800)) + "\n"
    f = at.fn(source=text)
    assert f.interpret(np.ones(800)) == 800.0
    with pytest.raises(at.Error):
        f.interpret(np.ones(799))


ERRORS = {
    "tuples that double 22 times": ([*_doubling("t0 = (x, x)", "t@ = (t#, t#)", 22), "return t22" + "[0]" * 23], "E0130"),
    "500 lambdas, each calling the one before": ([*_doubling("g0 = lambda v: v", "g@ = lambda v: g#(v) + 1.0", 500), "return g500(x)"], "E0127"),
    "an integer of 4,000 digits": (["return x + " + "1" * 4000], "E0212"),
    "an integer of 100,000 digits": (["return x + " + "1" * 100_000], "E0104"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_error(name: str) -> None:
    lines, code = ERRORS[name]
    with pytest.raises(at.Error) as error:
        _program(*lines)
    assert error.value.code == code
    assert len(str(error.value)) < 1500


def test_a_captured_number_that_python_does_not_print() -> None:
    with pytest.raises(at.Error, match="a number of 5,001 digits does not fit i64"):
        at.fn(source=HEAD.replace("n, m =", "K = 10**5000\nn, m =") + "    return x + K\n")


def test_functions_that_double_their_calls() -> None:
    text = HEAD + "    return x\n" + "".join(f"\n\n@at.fn\ndef f{k}(x: f64) -> f64:\n    return {'f' if k == 0 else f'f{k - 1}'}(x) + {'f' if k == 0 else f'f{k - 1}'}(x + 1.0)\n" for k in range(18))
    f = at.fn(source=text)
    with pytest.raises(at.Error) as error:
        f.compile()
    assert error.value.code == "E0127"


def test_loops_in_loops_are_read_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted, not timed: the passes over the innermost body grow with the depth, they do not double."""
    seen = {"count": 0}
    passes = Liveness._stmt

    def count(self: Liveness, stmt: s.Stmt, live: Any) -> Any:
        seen["count"] += isinstance(stmt, s.AugAssign)
        return passes(self, stmt, live)

    monkeypatch.setattr(Liveness, "_stmt", count)
    text = ["y = x", *("    " * k + f"for i{k} in range(1):" for k in range(16)), "    " * 16 + "y += 1.0", "return y"]
    assert _program(*text).interpret(1.0) == 2.0
    assert seen["count"] < 200


def test_deep_work_can_be_interrupted() -> None:
    """What interrupts the caller ends the work on the other thread; Python's limit is as it was."""

    class Rung(BaseException):
        pass

    def ring(*_: Any) -> None:
        raise Rung

    def work() -> None:
        while True:
            sum(range(100))

    before, limit = signal.signal(signal.SIGALRM, ring), sys.getrecursionlimit()
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(Rung):
            on_deep_stack(work)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert sys.getrecursionlimit() == limit
    assert not any(t.name == "atoll deep" for t in threading.enumerate())
