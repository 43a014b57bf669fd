"""Every object that Python makes during a call fails once, its small ones too: python -m tests.runtime.small_objects [NAME...]

The calls are those of no_memory.py; the allocator that fails is CPython's own for tests (_testcapi). A call raises MemoryError or does what it does otherwise, and the next one is right.
"""

from __future__ import annotations

import io
import sys
import traceback
from collections import Counter
from typing import Any

import atoll as at
from tests.runtime.no_memory import CALLS, once


def outcome(call: Any, fails: Any, place: int) -> Any:
    """What a call does where the allocation with this number fails: its value or error, or MemoryError."""
    before, sys.stdout = sys.stdout, io.StringIO()
    try:
        fails.set_nomemory(place, place + 1)
        try:
            call()
        finally:
            fails.remove_mem_hooks()
    except MemoryError:
        return "MemoryError"
    except at.Error as error:
        return error.code
    except SystemError as error:  # Python itself says so where it has no memory for the frame of `call`
        inside = [f.filename for f in traceback.extract_tb(error.__traceback__) if f.filename != __file__]
        return "MemoryError" if not inside and str(error) == "error return without exception set" else "".join(traceback.format_exception(error))
    except Exception as error:  # noqa: BLE001  what should not be
        return "".join(traceback.format_exception(error))
    finally:
        sys.stdout = before
    return "right"


def check(name: str, fails: Any) -> str:
    """Places are tried in order until fifty after each other fail nowhere."""
    call = CALLS[name]
    usual = [once(call) for _ in range(3)][-1]
    expected = usual[1] if usual[0] is at.Error else "right"
    found: Counter[str] = Counter()
    place = since = 0
    while since < 50:
        place += 1
        result = outcome(call, fails, place)
        assert result in ("MemoryError", expected), f"{name}, allocation {place}: {result}"
        found[result] += 1
        since = 0 if result == "MemoryError" else since + 1
    again = once(call)
    assert (again[1] if again[0] is at.Error else "right") == expected, name
    return f"{name:18} {place} places: {dict(found)}"


def main(*names: str) -> None:
    import _testcapi

    at.set_threads(1)
    for name in names or CALLS:
        print(check(name, _testcapi), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
