"""What somebody who has read only the contract and the docs opens in the explorer and in an editor: programs of every kind, and wrong ones, each told at its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from atoll.eyes.explore import run
from atoll.eyes.worker import Answers, Worker

H = "import atoll as at\nimport numpy as np\nfrom atoll import f64, i64\nn, m = at.sizes('n m')\n"
F = "@at.fn\ndef f(x: f64) -> f64:\n    return x\n"

RIGHT = {
    "records": (H + "@at.record\nclass P:\n    x: f64\n    v: f64[n]\n@at.fn\ndef f(p: P) -> f64:\n    return p.x + sum(p.v)\n", "f(p: P) -> f64"),
    "unions": (H + "@at.record\nclass A:\n    x: f64\n@at.record\nclass B:\n    y: i64\nT = A | B\n@at.fn\ndef f(t: T) -> f64:\n    match t:\n        case A(x):\n            return x\n        case B(y):\n            return f64(y)\n", "f(t: T) -> f64"),
    "generic": (H + "a, b = at.types('a b')\n@at.fn\ndef f(p: (a, b)) -> (b, a):\n    return p[1], p[0]\n", "f(p: (a, b)) -> (b, a)"),
    "recursion": (H + "@at.fn\ndef f(k: i64) -> i64:\n    return 1 if k < 2 else k * f(k - 1)\n", "f(k: i64) -> i64"),
    "made of others": (H + F + "g = at.vmap(f)\nh = at.grad(f)\n", "f(x: f64) -> f64"),
    "lines of Windows": ((H + F).replace("\n", "\r\n"), "f(x: f64) -> f64"),
    "tabs": (H + F.replace("    ", "\t"), "f(x: f64) -> f64"),
    "options": (H + F.replace("@at.fn", "@at.fn(reassociate=False)"), "f(x: f64) -> f64"),
    "a local function": (H + "@at.fn\ndef f(x: f64[n], k: i64) -> f64[n]:\n    def g(y: f64) -> f64:\n        return y * k\n    return map(g, x)\n", "f(x: f64[n], k: i64) -> f64[n]"),
    "constants made in a block": (H + "with np.errstate(all='ignore'):\n    K = np.log(np.zeros(2))\nfor i in range(2):\n    K = K + i\n@at.fn\ndef f(x: f64[2]) -> f64[2]:\n    return x * K\n", "f(x: f64[2]) -> f64[2]"),
    "what runs only as a program": (H + F + "print(1 / 0)\nif __name__ == '__main__':\n    print(f('a'))\n", "f(x: f64) -> f64"),
    "nothing": ("", ""),
    "a comment": ("# nothing yet\n", ""),
}

WRONG: dict[str, tuple[str, list[tuple[str, list[int]]]]] = {
    "no import": (F, [("python", [1, 1, 1, 3])]),
    "a bracket that is not closed": (H + "@at.fn\ndef f(x: f64[n]):\n    return (x +\n", [("syntax", [7, 11, 7, 15])]),
    "a null character": ("x = 1\0\n", [("syntax", [1, 0, 1, 6])]),
    "the end of Python": (H + "import sys\nk = sys.exit(3)\n" + F, [("python", [6, 0, 6, 15])]),
    "a module that is not there": ("import no_such_module\n" + H + F, [("python", [1, 0, 1, 21])]),
    "no types": (H + "@at.fn\ndef f(x):\n    return x\n", [("E0118", [6, 6, 6, 7])]),
    "sizes": (H + "@at.fn\ndef f(x: f64[n], y: f64[m]) -> f64[n]:\n    return x + y\n", [("E0301", [7, 11, 7, 16])]),
    "a size that is not declared": (H + "@at.fn\ndef f(x: f64[q]) -> f64[q]:\n    return x\n", [("python", [6, 13, 6, 14])]),
    "a loop that is not there": (H + "@at.fn\ndef f(x: f64[n]) -> f64[n]:\n    return [x[i] * 2.0 for i in range(n)]\ns = at.schedule(f).split('z', 4)\n", [("E0502", [8, 18, 8, 32])]),
    "a derivative of integers": (H + "@at.fn\ndef f(x: i64) -> i64:\n    return x * x\ng = at.grad(f)\n", [("E1002", [8, 0, 8, 14])]),
    "a derivative of something wrong": (H + "@at.fn\ndef f(x: f64) -> f64:\n    return x * yy\ng = at.grad(f)\n", [("E0105", [7, 15, 7, 17])]),
    "two functions": (H + F.replace("return x", "return x * yy") + F.replace("def f", "def g").replace("return x", "return zz(x)"), [("E0105", [7, 15, 7, 17]), ("E0105", [10, 11, 10, 13])]),
    "Python that calls itself": ("def r():\n    return r()\nx = r()\n", [("python", [2, 4, 2, 14])]),
    "memory": ("x = bytearray(10**17)\n", [("python", [1, 0, 1, 21])]),
    "a letter of another alphabet": (H + "@at.fn\ndef größe(β: f64[n]) -> f64[n]:\n    return β + γ\n", [("E0105", [7, 15, 7, 16])]),
}


def look(text: str, name: str = "stranger.py") -> dict[str, Any]:
    return Answers().answer({"do": "look", "path": f"/nowhere/{name}", "text": text})


@pytest.mark.parametrize("name", RIGHT)
def test_right(name: str) -> None:
    text, shown = RIGHT[name]
    found = look(text)
    assert found["problems"] == [] and [f["type"] for f in found["functions"] if f["name"] == "f"] == ([shown] if shown else [])


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name: str) -> None:
    text, wanted = WRONG[name]
    assert [(p["code"], p["place"]) for p in look(text)["problems"]] == wanted


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("a.madl", "let f (x of f64) returns (y): y = x + z\n", [("E0902", [1, 38, 1, 39])]),
        ("a.madl", "let f (x of", [("E0901", [1, 10, 1, 11])]),
        ("a.madl", "", []),
        ("a.fut", "def f (x: i32) : bool = x + 1\n", [("E1403", [1, 24, 1, 29])]),
        ("a.fut", "entry f (x", [("E1401", [1, 9, 1, 10])]),
        ("a.fut", 'import "nowhere"\nentry f (x: f64) = x\n', [("E1402", [1, 0, 1, 16])]),
    ],
)
def test_other_languages(name: str, text: str, wanted: list[Any]) -> None:
    assert [(p["code"], p["place"]) for p in look(text, name)["problems"]] == wanted


def test_the_suggestion_for_a_size_is_right_when_followed() -> None:
    text = WRONG["a size that is not declared"][0]
    (wrong,) = look(text)["problems"]
    (edit,) = wrong["edits"]
    lines = text.split("\n")
    lines.insert(edit["place"][0] - 1, edit["text"].rstrip("\n"))
    assert wrong["help"] == 'declare it: q = at.sizes("q")' and look("\n".join(lines))["problems"] == []


def test_programs_that_read_or_end_everything() -> None:
    """What a program reads is empty: the pipe is ours. One that ends its process is told so, and the next is looked at."""
    worker = Worker(60.0)
    try:
        assert [p["message"] for p in worker.ask("look", path="/nowhere/a.py", text="name = input()\n")["problems"]] == ["EOFError: EOF when reading a line"]
        with pytest.raises(Exception, match="the program ended Python"):
            worker.ask("look", path="/nowhere/a.py", text="import os\nx = os._exit(3)\n")
        assert worker.ask("look", path="/nowhere/a.py", text=H + F)["functions"][0]["type"] == "f(x: f64) -> f64"
    finally:
        worker.close()


def test_a_function_that_the_file_does_not_have(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(H + F)
    with pytest.raises(Exception, match=r"has no function g \(there are: f\)"):
        run(tmp_path / "a.py", "g", show=False)
