"""Who waits longer than a second for a compiler is told, if somebody is looking."""

from __future__ import annotations

import io
import sys
import time

import pytest

from atoll.runtime import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def soon(monkeypatch):
    monkeypatch.setattr(progress, "_SOON", 0.02)
    monkeypatch.setattr(progress, "_EVERY", 0.02)


def said(stream: io.StringIO, seconds: float, monkeypatch) -> str:
    monkeypatch.setattr(sys, "stderr", stream)
    with progress.told("loss"):
        time.sleep(seconds)
    return stream.getvalue()


def test_terminals_are_told_and_wiped(soon, monkeypatch):
    text = said(Terminal(), 0.2, monkeypatch)
    assert "atoll: compiling loss, " in text and text.endswith("\r\033[K")


def test_nobody_is_told_what_is_quick_or_not_looked_at(soon, monkeypatch):
    assert said(io.StringIO(), 0.1, monkeypatch) == ""
    monkeypatch.setattr(progress, "_SOON", 60.0)
    assert said(Terminal(), 0.0, monkeypatch) == ""


def test_errors_pass(soon, monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    with pytest.raises(KeyError), progress.told("loss"):
        raise KeyError
