"""The corpus by several processes (in_turn.py): every function has a word, whatever the others do."""

from __future__ import annotations

import sys

from tests.cuda.in_turn import ask, told

WORKER = """
import os, sys
from tests.cuda.in_turn import IN_ERROR, answer
def tried(f):
    print(input.__name__, flush=True)
    os.system("echo noise; cat")
    if f.name == "branches":
        os.abort()
    if f.name == "collatz":
        raise RuntimeError("E0842: cuda refused")
    return "right" if f.name != "skipping" else "WRONG way at size 5: 1, not 2"
answer(tried, float(sys.argv[1]), 20)
"""


def test_one_that_ends_or_fails_is_told_and_the_others_go_on(capsys):
    names = ["tests.cuda.constructs", "tests.cuda.programs", "no.such.module"]
    words = {name.split(":")[1]: word for name, word in ask([sys.executable, "-W", "ignore", "-c", WORKER, "1e12"], names, 2).items()}
    assert words.pop("branches") == "WRONG the process ended with -6" and words.pop("collatz").startswith("WRONG RuntimeError: E0842") and words.pop("skipping").startswith("WRONG way")
    assert len(words) > 40 and "first_negative" in words and "substituted" in words and set(words.values()) == {"right"}
    assert told({"a:f": "WRONG way at size 5: 1", "b:g": "right", "c:h": "right"}, "here") == 1
    assert capsys.readouterr().out == "a:f: WRONG way at size 5: 1\n3 functions here: right 2, WRONG way 1\n"


def test_no_function_is_begun_when_the_time_is_over():
    words = ask([sys.executable, "-W", "ignore", "-c", WORKER, "0"], ["tests.cuda.programs"], 1)
    assert len(words) > 5 and set(words.values()) == {"no time"}
