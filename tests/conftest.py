"""What all tests share: long programs are compiled once (tests/runtime/test_first_version.py is about the version before), and the garbage collector
does not walk the heap that thousands of tests leave again and again."""

from __future__ import annotations

import gc
import os

os.environ.setdefault("ATOLL_FIRST", "0")
gc.set_threshold(100_000, 20, 50)


def pytest_collection_finish() -> None:
    gc.freeze()  # modules and tests stay
