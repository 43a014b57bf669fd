"""Cases that take the interpreter too long: compiled instead, or told."""

from __future__ import annotations

from pathlib import Path

import pytest

from atoll.futhark import testing

LONG = """
def rounds (n: i64) = loop x = 1i64 for i < n do (x * 1103515245 + i) % 2147483648
-- ==
-- entry: main
-- input { 5i64 } output { 1046170740i64 }
-- input { 300000i64 } output { WANTED }
entry main (n: i64) = rounds n
"""
TRUTHS = """
-- ==
-- input { 100000i64 } output { true }
entry main (n: i64) = jvp (\\x -> loop y = x for _i < n do !y) true true
"""


def rounds(n: int) -> int:
    x = 1
    for i in range(n):
        x = (x * 1103515245 + i) % 2147483648
    return x


def test_compiled_instead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(testing, "SECONDS", 0.2)
    file = tmp_path / "long.fut"
    file.write_text(LONG.replace("1046170740", str(rounds(5))).replace("WANTED", f"{rounds(300000)}i64"))
    assert [o.state for o in testing.test_file(file)] == ["passed", "passed"]


def test_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(testing, "SECONDS", 0.2)
    file = tmp_path / "integers.fut"
    file.write_text(TRUTHS.replace("-- input", "-- compiled input"))
    [found] = testing.test_file(file)
    assert found.state == "failed" and "too slow for the interpreter" in found.text and "E1408" in found.text
