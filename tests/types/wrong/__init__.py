"""Wrong programs, each with the exact message it gets.

    ### title
    program
    ---
    message

`python -m tests.types.wrong` writes the messages anew; what changes is then read by a person, in the diff.
"""

from __future__ import annotations

import re
from pathlib import Path

import atoll as at
from atoll.core.binding import plan

FOLDER = Path(__file__).parent
HEAD = """
import math
import numpy as np
import atoll as at
from atoll import _, bool_, c128, f32, f64, i32, i64, idx, u8, u64
n, m, k = at.sizes("n m k")
few, many = at.some("few many")
a, b = at.types("a b")
"""
NOTHING = "(no error)"


def cases(path: Path) -> list[tuple[str, str, str]]:
    """(title, program, message) of each block of a file."""
    found = []
    for block in path.read_text().split("\n### ")[0:]:
        block = block.removeprefix("### ").strip("\n")
        if block:
            title, rest = block.split("\n", 1)
            program, _, message = f"{rest}\n".partition("\n---\n")
            found.append((title, program.strip("\n"), message.strip("\n")))
    return found


def said(program: str) -> str:
    """The error of a program whose last function is checked, as the user reads it; places are lines of the program."""
    try:
        core = at.fn(source=HEAD + program).core
        plan(core)  # what a call from Python asks first
    except at.Error as error:
        return placed(str(error))
    return NOTHING


def placed(text: str) -> str:
    """The text without the number of the source."""
    return re.sub(r"<atoll source \d+>", "<program>", text)
