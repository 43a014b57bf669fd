"""Every error code has a program that triggers it, with the exact text: cases/E0123.py (and E0123_word.py) end with the message as `#>` lines.

`ATOLL_GOLDEN=write pytest tests/errors` writes the messages anew; read the difference before committing it.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import os
import re
import sys
import types
import warnings
from pathlib import Path

import pytest

import atoll as at
from atoll.errors.catalog import CODES

CASES = sorted((Path(__file__).parent / "cases").glob("E*.py"))
MARK = "#> "


def message(path: Path) -> at.Error:
    """The error a case ends with."""
    module = types.ModuleType(f"case_{path.stem}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    linecache.checkcache(str(path))
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore", at.AliasWarning)
            exec(compile(path.read_text(), str(path), "exec", dont_inherit=True), module.__dict__)  # noqa: S102  our own cases
    except at.Error as error:
        return error
    finally:
        del sys.modules[module.__name__]
    raise AssertionError(f"{path.name} ends without an error")


@pytest.mark.parametrize("path", CASES, ids=lambda p: p.stem)
def test_exact_text(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    error = message(path)
    found = re.sub(r"<atoll source \d+>", "<text>", str(error).replace(f"{path.parent}/", ""))
    program = [line for line in path.read_text().splitlines() if not line.startswith(MARK.rstrip())]
    expected = [line[len(MARK) :] for line in path.read_text().splitlines() if line.startswith(MARK.rstrip())]
    if os.environ.get("ATOLL_GOLDEN") == "write":
        text = "\n".join(program).rstrip() + "\n\n" + "".join(f"{MARK}{line}".rstrip() + "\n" for line in found.splitlines())
        path.write_text(text)
    else:
        assert found.splitlines() == expected, found
    assert error.code == path.stem[:5], f"{error.code} instead of {path.stem[:5]}\n{error}"
    assert isinstance(error, CODES[error.code].cls)


TESTS = Path(__file__).parents[1]
GUARDS = {
    "E0262": "a safety net: rank inference gave up on a local function, yet the body could be read call by call",
    "E0510": "a safety net: a condition that only a solver's word settles; none of the schedules in the tests needs one",
    "E0913": "a safety net of MADL: a size inside a loop that is not proved",
    "E0916": "a safety net of MADL: a type that nothing decides, found when code is made",
    "E0939": "a safety net of MADL: a place that depends on data",
    "E0942": "a safety net of MADL: a workspace whose size depends on a loop",
}


def test_every_code_is_pinned() -> None:
    """By a case here, or by a test of the part it belongs to."""
    here = {path.stem[:5] for path in CASES}
    others = " ".join(p.read_text() for p in TESTS.rglob("*") if p.suffix in (".py", ".txt", ".madl") and p.parent != CASES[0].parent)
    assert not sorted(code for code in CODES if code not in here and code not in GUARDS and code not in others)
    assert not here - CODES.keys() and not GUARDS.keys() & here
