"""`make sanitize`: the programs of tests/language, exported and run under the address and undefined-behaviour sanitizers.

    python -m tests.export.sanitize [-k PATTERN]

The tests themselves say what to run: while they run, every call of `agree` and `fails` is done once more by exported C.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

import atoll as at
import tests.agreement as agreement
from tests.export import driver


class Sanitizer:
    """A pytest plugin that runs what the tests run."""

    def __init__(self) -> None:
        self.done, self.refused, self.bad = 0, 0, []  # type: ignore[var-annotated]
        self.plain_agree, self.plain_fails = agreement.agree, agreement.fails
        agreement.agree, agreement.fails = self.agree, self.fails  # type: ignore[assignment]

    def agree(self, f: Any, *args: Any, expected: Any = None, compiled: bool = True) -> Any:
        value = f.interpret(*args)
        self.run(f, args, value, None)
        return value

    def fails(self, f: Any, *args: Any, code: str) -> None:
        self.run(f, args, None, code)

    def run(self, f: Any, args: tuple[Any, ...], value: Any, code: str | None) -> None:
        with tempfile.TemporaryDirectory() as folder:
            try:
                status, meaning, results = driver.run(f, args, Path(folder), *driver.SANITIZE)
            except at.Error as error:
                if code is None and error.code not in ("E0805", "E0811", "E0825"):
                    self.bad.append(f"{f.name}: {error}")
                self.refused += 1
                return
            except AssertionError as error:
                self.bad.append(f"{f.name}{tuple(getattr(a, 'shape', a) for a in args)}: {str(error)[:1500]}")
                return
        self.done += 1
        if code is None and status == 0:
            try:
                agreement.same(tuple(results), tuple(agreement.flat(value)), "exported")
            except AssertionError as error:
                self.bad.append(f"{f.name}: {str(error)[:500]}")
        elif (code is None) != (status == 0) or (code is not None and code not in meaning):
            self.bad.append(f"{f.name}: status {status} ({meaning}), expected {code or 'no error'}")


def main() -> int:
    sanitizer = Sanitizer()
    root = Path(__file__).parents[2]
    code = pytest.main(["-q", "-p", "no:xdist", "-p", "no:cacheprovider", str(root / "tests" / "language"), *sys.argv[1:]], plugins=[sanitizer])
    print(f"{sanitizer.done} calls under the sanitizers, {sanitizer.refused} not exportable, {len(sanitizer.bad)} bad")
    print("\n".join(sanitizer.bad))
    return 1 if sanitizer.bad or code not in (0, 5) else 0


if __name__ == "__main__":
    raise SystemExit(main())
