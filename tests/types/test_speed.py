"""Checking stays quick: arithmetic on annotated operands needs no integer program (the thesis: 28,104 constraints for one function)."""

from __future__ import annotations

import random
import time

import pytest

import atoll as at
from atoll.elaborate.ranks import program

PARAMS = {
    "numbers": "x: f64, y: f64, z: f64",
    "vectors": "x: f64[n], y: f64[n], z: f64[n]",
    "any rank": "x: f64[n], y: f64, z: f64[m, n]",
}


def arithmetic(lines: int, params: str) -> str:
    """A straight function of so many lines, each of four operations."""
    rng = random.Random(1)
    names = ["x", "y", "z"]
    body = []
    for k in range(lines):
        a, b, c = (rng.choice(names[-12:]) for _ in range(3))
        last = rng.choice([f"sqrt(abs({c}))", f"({b} - {c})", f"exp(-{c})"])
        body.append(f"    t{k} = {a} * {rng.choice(['2.0', b])} + {last} / {rng.choice(['3.0', b])}")
        names.append(f"t{k}")
    head = "import atoll as at\nfrom atoll import f64\nn, m = at.sizes('n m')\n@at.fn\n"
    return head + f"def f({params}):\n" + "\n".join(body) + f"\n    return {names[-1]}\n"


@pytest.mark.parametrize("kind", PARAMS)
def test_400_lines_in_a_second(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("no integer program is needed here")

    monkeypatch.setattr(program, "solve", never)
    text = arithmetic(400, PARAMS[kind])
    assert any(_seconds(text) < 1.0 * _slow() for _ in range(3))


def test_the_time_is_linear() -> None:
    """Four times the lines take not much more than four times as long."""
    small, large = (min(_seconds(arithmetic(lines, PARAMS["any rank"])) for _ in range(2)) for lines in (50, 200))
    assert large < 12 * small


def _slow() -> float:
    """How much slower than it should be this machine is now: 1 where a fixed loop takes a tenth of a second, as on an idle core."""
    start = time.process_time()
    total = 0
    for k in range(1_500_000):
        total += k & 3
    return max(1.0, (time.process_time() - start) / 0.1)


def _seconds(text: str) -> float:
    start = time.process_time()
    at.fn(source=text).core  # noqa: B018
    return time.process_time() - start
