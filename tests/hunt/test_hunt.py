"""The roof over all fuzzers: classes say what became of their seeds, and a class that dies is told of with the command that repeats it."""

from __future__ import annotations

import pytest

from tests.hunt import Hunted
from tests.hunt.__main__ import Class, report, slice_of
from tests.hunt.classes import CLASSES


@pytest.mark.parametrize("name", ["hostile", "madl", "madl_text", "stages", "groups", "devices"])
def test_a_class(name: str) -> None:
    found = list(CLASSES[name](iter((4001, 4002))))
    assert [f.seed for f in found] == [4001, 4002] and not any(f.failed for f in found) and all(isinstance(f, Hunted) and f.kind for f in found)


def test_a_slice_is_counted() -> None:
    one = Class("hostile", 10)
    slice_of(one, 1.0)
    assert one.kinds.total() >= 1 and not one.failures


def test_a_class_that_dies(capsys: pytest.CaptureFixture[str]) -> None:
    one = Class("no such class", 10)
    slice_of(one, 1.0)
    assert one.kinds == {"died": 1}
    assert report([one], 10) == 1
    assert "python -m tests.hunt --only no such class --seeds 10," in capsys.readouterr().out


@pytest.mark.parametrize("ends", [True, False])
def test_too_much_work_for_threads(monkeypatch: pytest.MonkeyPatch, ends: bool) -> None:
    """A program that takes too long at the sizes for threads is tried at fewer: that it does not end there either is a failure."""
    from tests.fuzz import harness

    def slow(runs: object, case: harness.Case, stages: object, outcome: harness.Outcome) -> None:
        if case.sizes == harness.BIG or not ends:
            outcome.failures.append(harness.Failure("slow", "O3T1", "more than 20 s"))

    monkeypatch.setattr(harness, "run_function", slow)
    found = harness.run_seed(4001, (), 1, big=True)
    assert found.outcome.large and bool(found.outcome.failures) is not ends
