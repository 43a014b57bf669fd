"""Pieces of a loop: every one runs once whatever the number of threads, and a thread goes through a stretch of its own before it helps others."""

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest

import atoll as at
from atoll.runtime.library import runtime
from atoll.runtime.library import threads as threads_now

TASK = """
#include <stdint.h>
#include <pthread.h>
typedef struct { int64_t *count; int64_t *by_caller; int64_t taken; pthread_t caller; int64_t fails; } context;
void begin(context *c) { c->caller = pthread_self(); c->taken = 0; }
int task(void *at, void *given, int64_t piece) {
    context *c = given;
    __atomic_fetch_add(&c->count[piece], 1, __ATOMIC_SEQ_CST);
    if (pthread_equal(pthread_self(), c->caller)) c->by_caller[c->taken++] = piece;
    for (volatile int k = 0; k < 200; k++) {}
    return piece >= c->fails;
}
"""


class Context(ctypes.Structure):
    _fields_ = [("count", ctypes.c_void_p), ("by_caller", ctypes.c_void_p), ("taken", ctypes.c_int64), ("caller", ctypes.c_uint64), ("fails", ctypes.c_int64)]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder: Path = tmp_path_factory.mktemp("pieces")
    (folder / "task.c").write_text(TASK)
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", str(folder / "task.so"), str(folder / "task.c"), "-lpthread"], check=True)
    return ctypes.CDLL(str(folder / "task.so"))


def run(library: ctypes.CDLL, pieces: int, fails: int = 1 << 60) -> tuple[int, np.ndarray, list[int], int]:
    """The status, how often each piece ran, those the caller ran in order, and the first piece that failed."""
    count, mine = np.zeros(pieces, np.int64), np.zeros(pieces, np.int64)
    context = Context(count.ctypes.data, mine.ctypes.data, 0, 0, fails)
    call = np.zeros(64, np.int64)  # an at_call without a host: nobody asks to stop
    library.begin(ctypes.byref(context))
    status = runtime().atoll_parallel(ctypes.c_void_p(call.ctypes.data), library.task, ctypes.byref(context), ctypes.c_int64(pieces), 0)
    return status, count, list(mine[: context.taken]), int(call[7])


@pytest.mark.parametrize("threads", [1, 2, 3, 5])
def test_every_piece_runs_once(library: ctypes.CDLL, threads: int) -> None:
    before = threads_now()
    at.set_threads(threads)
    try:
        for pieces in (1, 2, 3, 7, 64, 1000):
            for _ in range(20):
                status, count, mine, _ = run(library, pieces)
                assert status == 0 and (count == 1).all()
                if threads == 1:
                    assert mine == list(range(pieces))
    finally:
        at.set_threads(before)


def test_millions_of_pieces(library: ctypes.CDLL) -> None:
    """More than a stretch can count: they are claimed several at a time."""
    before = threads_now()
    at.set_threads(2)
    try:
        status, count, _, _ = run(library, (1 << 21) + 5)
        assert status == 0 and (count == 1).all()
    finally:
        at.set_threads(before)


def test_the_caller_starts_with_its_own_stretch(library: ctypes.CDLL) -> None:
    """Upwards through its half, then downwards from the end of the other."""
    before = threads_now()
    at.set_threads(2)
    try:
        for _ in range(20):
            _, _, mine, _ = run(library, 100)
            own, others = [p for p in mine if p < 50], [p for p in mine if p >= 50]
            assert mine == own + others
            assert own == sorted(own) and others == sorted(others, reverse=True)
            if others:
                assert others[0] == 99
    finally:
        at.set_threads(before)


def test_the_first_failure_is_reported(library: ctypes.CDLL) -> None:
    """Pieces before the one that failed are run, whoever has them."""
    before = threads_now()
    at.set_threads(3)
    try:
        for first in (0, 1, 40, 99):
            for _ in range(10):
                status, count, _, at_piece = run(library, 100, first)
                assert status == 1 and at_piece == first
                assert (count[: first + 1] == 1).all()
    finally:
        at.set_threads(before)
