"""`error.edits`: following the suggestion of a case by its edits makes the error go away. Every suggestion that says one thing to write has edits."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from atoll.errors import Source, Span
from atoll.errors.edits import RULES, Edit, apply
from tests.errors.test_codes import CASES, message

ANOTHER = {
    "E0236": "E0239",  # it is `key`, and 1 is none
    "E0263": "E0303",  # it is lifted, and shows that sizes are missing
    "E0267": "E0301",  # products of elements are meant, of arrays that do not fit
    "E0711": "E0201",  # the power is a float then, and the declared result is not
    "E1012": "E0118",  # decorated, it needs types
    "E1016": "E0237",  # f has another argument
    "E1021": "E1003",  # a gradient needs a number
}
"""The case has another problem, which shows when this one is gone."""
WITHOUT = re.compile(r"E0101_(?!del)|E0201_(branches|function)|E0207_(and|chain|not)|E0213_(fraction|hist|size)|E0253_hist|E0235(_derivative|_reduce)?$|E0239_hidden|E0219_copy|E0236_has_aux|E0701(?!_negative)|E1003_(hessian|tuple)|E1012_(builtin|lambda)")
"""Cases of codes with rules whose own suggestion leaves something to decide."""


@pytest.mark.parametrize("path", [p for p in CASES if p.stem[:5] in RULES and not WITHOUT.match(p.stem)], ids=lambda p: p.stem)
def test_following_it_helps(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    error = message(path)
    assert error.edits, error.help
    text = path.read_text()
    assert all(e.span.source.name == str(path) for e in error.edits)
    changed = tmp_path / path.name
    changed.write_text(apply(text, error.edits))
    try:
        after = message(changed)
    except AssertionError:  # no error at all
        return
    assert ANOTHER.get(error.code) == after.code, f"{changed.read_text()}\n{after}"


def test_the_others_have_none() -> None:
    """What is not followed by the test above has no edits: none is shown that nobody tried."""
    for path in CASES:
        if path.stem[:5] not in RULES or WITHOUT.match(path.stem):
            if path.stem[:5] in RULES:
                assert not message(path).edits, path.stem


def span(line: int, column: int, end_line: int, end_column: int) -> Span:
    return Span(Source("x.py", ""), line, column, end_line, end_column)


def test_apply_counts_bytes_and_keeps_the_rest() -> None:
    text = "é = summ(x)\nend\n"
    assert apply(text, [Edit(span(1, 5, 1, 9), "sum")]) == "é = sum(x)\nend\n"
    assert apply(text, [Edit(span(2, 0, 2, 0), "here\n"), Edit(span(1, 0, 1, 2), "y")]) == "y = summ(x)\nhere\nend\n"
    assert apply(text, [Edit(span(1, 0, 2, 0), "")]) == "end\n"
    assert apply("a", [Edit(span(2, 0, 2, 0), "b")]) == "ab"
