"""Allocations fail one after the other: MemoryError, the next call is right, nothing is lost (tests/runtime/no_memory.py)."""

import shutil
import sys

import pytest

from tests.runtime import no_memory

NAMES = ["arrays and a sort", "a filter", "a product", "lists"]


@pytest.mark.skipif(shutil.which("gcc") is None or not sys.platform.startswith("linux"), reason="the allocator that fails is for gcc and glibc")
def test_every_allocation_fails_once():
    done = no_memory.start(3, *NAMES)
    assert done.returncode == 0 and done.stdout.count("blocks held") == len(NAMES), done.stdout + done.stderr[-3000:]
    assert "MemoryError" in done.stdout
