"""Every wrong program of tests/types/wrong has exactly the message pinned there, and no message speaks of names nobody wrote."""

from __future__ import annotations

import keyword
import re

import pytest

from atoll.elaborate.builtins.names import BUILTINS
from atoll.types.types import SCALARS

from .wrong import FOLDER, HEAD, NOTHING, cases, said

CASES = [(path.stem, *case) for path in sorted(FOLDER.glob("*.txt")) for case in cases(path)]


@pytest.mark.parametrize(("group", "title", "program", "message"), CASES, ids=[f"{g}: {t}" for g, t, *_ in CASES])
def test_message(group: str, title: str, program: str, message: str) -> None:
    assert said(program) == message
    assert message != NOTHING


def test_there_are_enough() -> None:
    assert len(CASES) >= 60 and len({program for *_, program, _ in CASES}) == len(CASES)


@pytest.mark.parametrize(("group", "title", "program", "message"), CASES, ids=[f"{g}: {t}" for g, t, *_ in CASES])
def test_names_are_the_users(group: str, title: str, program: str, message: str) -> None:
    """Whatever stands for a program in a message (types, equations, readings) is made of names of the program and of the language."""
    written = set(re.findall(r"[A-Za-z_]\w*", HEAD + program)) | set(BUILTINS) | set(SCALARS) | set(keyword.kwlist)
    for line in message.splitlines():
        shown = re.match(r"   (expected|found):\s+(.*)", line)
        formula = re.search(r"(?:solution: |satisfies |reading \d+: |lifted: )(.*?)(?: in argument .*)?$", line)
        for text in [m.group(m.lastindex or 0) for m in (shown, formula) if m]:
            strange = set(re.findall(r"[A-Za-z_]\w*", text)) - written - ALLOWED
            assert not strange, line


ALLOWED = {  # words of the messages themselves, and the elements an elaboration has to name
    *"of a an and the no to axis axes scalar function line add sub mul rows record idx len rep map lambda type int float text Tuple".split(),
    *"x y z u v w p q r s t".split(),
}
