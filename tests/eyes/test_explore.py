"""The explorer's server: who may ask, what it answers, and that it ends. The page itself: tests/eyes/browser.py (`make test-browser`)."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import atoll as at
from atoll.eyes.explore import Explorer, of_file, of_function
from atoll.eyes.looked import Looked
from atoll.eyes.worker import Answers
from tests.show import programs


@pytest.fixture(scope="module")
def explorer() -> Iterator[Explorer]:
    made = of_file(Path(programs.__file__), "spread")
    yield made
    made.close()


def ask(url: str, data: Any = None, **headers: str) -> tuple[int, str, Any]:
    body = None if data is None else json.dumps(data).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json", **headers})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read().decode(), answer.headers
    except urllib.error.HTTPError as error:
        return error.code, "", error.headers


def test_only_with_the_token_and_to_the_loopback_host(explorer: Explorer) -> None:
    assert explorer.url.startswith("http://127.0.0.1:") and len(explorer.token) >= 32
    status, text, headers = ask(explorer.url)
    assert status == 200 and "http" not in headers["Content-Security-Policy"] and "script-src 'nonce-" in headers["Content-Security-Policy"]
    assert "src=" not in text and "href=" not in text  # nothing is loaded
    root = explorer.url.rsplit("/", 2)[0]
    for url in (root, f"{root}/{'x' * 32}/", f"{explorer.url}more"):
        assert ask(url)[0] == 404
        assert ask(url, {"do": "look", "text": ""})[0] == 404
    assert ask(explorer.url, Host="evil.example:80")[0] == 404
    request = urllib.request.Request(explorer.url, b"{}", {"Content-Type": "text/plain"})  # what a form of another page can send
    with pytest.raises(urllib.error.HTTPError):
        urllib.request.urlopen(request, timeout=30)


def test_what_it_answers(explorer: Explorer) -> None:
    found = json.loads(ask(explorer.url, {"do": "look", "text": explorer.text})[1])
    assert [f["name"] for f in found["functions"]][:3] == ["blur", "spread", "loss"] and found["problems"] == []
    found = json.loads(ask(explorer.url, {"do": "panes", "name": "blur", "stages": ["inserted", "rewritten", "memory", "c"]})[1])
    first = programs.blur.surface.span.line
    assert {tuple(lines) for text, lines in found["panes"]["memory"] if "rows" in text} == {(first + 1,)}
    found = json.loads(ask(explorer.url, {"do": "reasons", "name": "blur"})[1])
    assert any(text.startswith("rows is stored") for text in found["reasons"][str(first + 1)])
    found = json.loads(ask(explorer.url, {"do": "sizes", "name": "blur", "sizes": {"n": 10, "m": 20}})[1])
    assert [u["formula"] for u in found["memory"]] == [repr(u.bytes) for u in programs.blur.memory().uses] and found["memory"][0]["bytes"] == 1600
    for odd in ({"do": "text", "name": "blur", "stage": "c"}, {"do": "panes"}, {}, []):
        assert "problem" in json.loads(ask(explorer.url, odd)[1])


def test_reasons() -> None:
    def reasons(f: at.Function) -> dict[int, list[str]]:
        return Looked(f).reasons

    first = programs.cells.surface.span.line
    said = " ".join(text for texts in reasons(programs.best).values() for text in texts)
    assert "checked while it runs (E0703)" in said
    assert any("fused" in t for t in reasons(programs.spread)[programs.spread.surface.span.line + 1])
    assert reasons(programs.factorial) == {}
    assert first in range(1, 200)


def test_a_function_without_a_file() -> None:
    f = at.fn(source='import atoll as at\nn = at.sizes("n")\n@at.fn\ndef twice(x: at.f64[n]):\n    return x * 2.0\n')
    made = f.explore()
    try:
        found = json.loads(ask(made.url, {"do": "look", "text": "ignored"})[1])
        assert found["functions"][0]["type"] == "twice(x: f64[n]) -> f64[n]" and not made.editable
        assert "iframe" in made._repr_html_() and made.url in repr(made)
    finally:
        made.close()
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(made.url, timeout=5)


def test_of_a_file(tmp_path: Path) -> None:
    made = of_function(programs.spread)
    assert made.editable and made.path == programs.__file__ and made.name == "spread"
    made.close()


def test_futhark_files_are_looked_at() -> None:
    from atoll.eyes.facts import look

    text = "def dot [n] (xs: [n]f64) (ys: [n]f64) = f64.sum (map2 (*) xs ys)\nentry norm [n] (xs: [n]f64) = f64.sqrt (dot xs xs)\n"
    file, found = look("/nowhere/a.fut", text)
    assert [f["type"] for f in found["functions"]] == ["dot : [n]f64 -> [n]f64 -> f64", "norm : [n]f64 -> f64"] and not found["problems"]
    assert any(shown == "xs : [n]f64" and row == 2 for row, *_, shown in found["functions"][1]["types"])
    assert file.functions["norm"].type == "norm(xs: f64[n]) -> f64"
    _, wrong = look("/nowhere/a.fut", "def f (x: i32) : bool = x + 1\n")
    assert wrong["problems"][0]["code"] == "E1403" and wrong["problems"][0]["place"][0] == 1


SCHEDULED = """import atoll as at
from atoll import f64
n, m = at.sizes("n m")

@at.fn
def add_up(u: f64[n, m], v: f64[n, m]) -> f64[n, m]:
    return [[u[y, x] + v[y, x] for x in range(m)] for y in range(n)]

fast = at.schedule(add_up)
fast = (fast
    .tile(("y", "x"), (64, 64), tail="cut")
    .parallel("y_o"))
"""


def test_schedules_step_by_step() -> None:
    """Each step with what it had to prove and the program after it, linked to the line where it is written."""
    answers = Answers()
    found = answers.answer({"do": "look", "path": "scheduled.py", "text": SCHEDULED})
    assert [(f["name"], f.get("schedule", False)) for f in found["functions"]] == [("add_up", False), ("fast", True)] and found["problems"] == []
    shown = answers.answer({"do": "panes", "name": "fast", "stages": []})["panes"]
    assert [lines for text, lines in shown["steps"] if text[0].isdigit()] == [[11], [12]]
    assert ["     proved: 64*(n // 64) <= n (the cut 64*(n // 64) is not after the range of y)", [11]] in shown["steps"]
    assert ["     nothing to prove", [12]] in shown["steps"]
    assert any("y_o" in text and lines == [12] for text, lines in shown["programs"]) and any("y_o" in text for text, _ in shown["loops"])


def test_time_against_the_roof() -> None:
    answers = Answers()
    answers.answer({"do": "look", "path": "scheduled.py", "text": SCHEDULED})
    found = answers.answer({"do": "measure", "name": "add_up", "sizes": {"n": 30, "m": 40}})
    assert "1,200 operations" in found["text"] and found["svg"].startswith("<svg")


def test_lines_of_madl_are_linked_as_they_are_edited() -> None:
    path = Path(__file__).parents[2] / "examples" / "madl" / "biquad.madl"
    text = path.read_text()
    answers = Answers()
    for more in ("", "\n\n"):  # two lines more at the top: what is on disk does not count
        answers.answer({"do": "look", "path": str(path), "text": more + text})
        shown = answers.answer({"do": "panes", "name": "biquad", "stages": []})["panes"]
        at = next(k for k, line in enumerate((more + text).split("\n"), 1) if "c.b0" in line)
        assert [lines for row, lines in shown["c"] if "sections_b0[idx_1] * in" in row] == [[at]]


def test_futhark_files() -> None:
    path = Path(__file__).parents[2] / "examples" / "futhark" / "kmeans.fut"
    answers = Answers()
    found = answers.answer({"do": "look", "path": str(path), "text": path.read_text()})
    assert [f["name"] for f in found["functions"] if "sizes" in f] == ["step", "gradient"] and found["problems"] == []
    shown = answers.answer({"do": "panes", "name": "step", "stages": ["inserted", "ainf", "rewritten"]})["panes"]
    assert all(lines for rows in shown.values() for _, lines in rows)
    wrong = answers.answer({"do": "look", "path": str(path), "text": "entry wrong (x: i32) : f64 = x\n"})["problems"]
    assert [(p["code"], p["place"]) for p in wrong] == [("E1403", [1, 29, 1, 30])]
    beside = answers.answer({"do": "panes", "name": "nearest", "stages": []})
    assert "entry point" in beside["panes"]["inserted"][0][0]
