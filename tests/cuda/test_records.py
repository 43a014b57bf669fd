"""Loops of launches that a device records and plays again: the same results, what is asked of the driver, and when a loop is recorded anew."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import atoll as at
from atoll import f64, i64
from atoll.backends.cuda import language as k
from atoll.backends.cuda.check import Malformed, check
from atoll.backends.cuda.generate import lowered
from atoll.loops import ir as lp
from atoll.runtime.cuda.devices import EMULATED, device
from atoll.sizes import poly
from atoll.types.dtypes import F64
from tests.agreement import same
from tests.cuda import programs
from tests.cuda.test_nvrtc import needs

n = at.sizes("n")
HEAD = "import atoll as at\nfrom atoll import f64, i64\nn = at.sizes('n')\n@at.fn\n"


def counts() -> tuple[int, int]:
    """Loops recorded so far, and plays."""
    found = (ctypes.c_int64 * 2)()
    device(EMULATED)._base.atoll_emulated_records(found)
    return found[0], found[1]


def loops(f: at.Function) -> list[k.Recorded]:
    return [s for s in k.walk(lowered(f.core).body) if isinstance(s, k.Recorded)]


def stepping(name: str) -> at.Function:
    """Rounds with two arrays that change places, so that where the result is depends on how many there were."""
    return at.fn(source=HEAD + f"def {name}(u: f64[n], t: i64) -> f64[n]:\n    for r in range(t):\n        u = [0.5 * (u[max(i - 1, 0)] + u[min(i + 1, n - 1)]) for i in range(n)]\n    return u\n")


def test_recorded_the_second_time_and_played_from_then_on():
    f = stepping("stepping_again")
    there, x = f.on("cuda-emulated"), np.random.default_rng(0).normal(size=50)
    made, played = counts()
    u = at.DeviceArray(x, "cuda-emulated")
    right = {rounds: f.interpret(x, rounds) for rounds in (0, 2, 7, 8)}
    for rounds, wanted in [(7, (0, 0)), (7, (1, 0)), (7, (1, 1)), (8, (1, 1)), (8, (2, 1)), (8, (2, 2)), (7, (2, 3)), (2, (2, 3)), (2, (2, 3)), (0, (2, 3))]:
        found = there(u, rounds)
        same(np.asarray(found), right[rounds], str(rounds))
        found.free()  # so that the next call has the same memory
        assert (counts()[0] - made, counts()[1] - played) == wanted, rounds


def test_other_memory_is_another_loop(monkeypatch):
    """Results are right whether or not arrays are where they were; nothing is recorded where that is not wanted."""
    f = stepping("stepping_elsewhere")
    there, rng = f.on("cuda-emulated"), np.random.default_rng(1)
    kept = []
    for size in (5, 50, 5, 50, 50, 5):
        for _ in range(4):
            x = rng.normal(size=size)
            kept.append(there(at.DeviceArray(x, "cuda-emulated"), 6))
            same(np.asarray(kept[-1]), f.interpret(x, 6))
    monkeypatch.setenv("ATOLL_GRAPHS", "0")
    before, u = counts(), at.DeviceArray(np.ones(31), "cuda-emulated")
    for _ in range(3):
        there(u, 6).free()
    assert counts()[0] == before[0]


class Value(ctypes.Structure):
    """`at_value` of native/device.h."""

    _fields_ = [("at", ctypes.c_void_p), ("bytes", ctypes.c_int), ("changes", ctypes.c_int)]


RUN, DONE, RECORD = 0, 1, 2


def test_the_table_itself():
    """Values decide; what changes gets back what it was after the loop; a loop that is left while it is written down is not recorded again."""
    queue = device(EMULATED).queue()
    queue.program = 0x7E57
    record = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_int)(queue.record)
    over = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)(queue.recorded)
    fill = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int64)(queue.fill)
    here, memory = ctypes.addressof(queue), np.zeros(8, np.uint8)
    size, place = ctypes.c_int64(5), ctypes.c_int64(0)
    values = (Value * 2)(Value(ctypes.addressof(size), 8, 0), Value(ctypes.addressof(place), 8, 1))

    def loop(end: bool = True) -> int:
        """place := place + size, and so many bytes are filled."""
        how = record(here, 3, values, 2)
        if how != DONE:
            place.value += size.value
            fill(here, memory.ctypes.data, 7, size.value)
            queue.launches += 6
            assert over(here, values if end else None, 2) == 0
        return how

    seen = []
    for _ in range(4):
        place.value, memory[:] = 0, 0
        seen.append(loop())
        assert place.value == 5 and memory.tolist() == [7] * 5 + [0] * 3
    assert seen == [RUN, RECORD, DONE, DONE]
    size.value = 2
    for left in (False, True, False):
        place.value, memory[:] = 0, 0
        seen.append(loop(end=not left))
        assert left or memory.tolist() == [7] * 2 + [0] * 6
    assert seen[4:] == [RUN, RECORD, RUN]


@at.fn
def normalised(x: f64[n], t: i64) -> f64[n]:
    for _ in range(t):
        x = x / sum(x * x)
    return x


def test_which_loops():
    """Steps of stencils and passes of sorts; not those that fetch what they go on by. Arrays that rounds need are allocated before."""
    assert loops(programs.rounds) and loops(programs.ordered) and not loops(programs.until)
    (found,) = loops(normalised)
    assert not any(isinstance(s, (lp.Alloc, lp.Free)) for s in k.walk(found.body))
    assert any(isinstance(s, lp.Alloc) for s in k.walk(lowered(normalised.core).body))
    out = lp.Buffer("out", F64, (poly(4),), "out")
    cell = lp.Buffer("c", F64, (), "temp")
    bad = k.Recorded((k.Fetch(lp.Var("c", F64), cell),), 0)
    with pytest.raises(Malformed, match="Fetch is recorded"):
        check(k.Program(lp.Function("f", (), [], [lp.Output(out, 1)], [], []), (), ((lp.Var("c", F64), cell),), (bad,)))


ASKED = """
import numpy as np, atoll as at
from tests.cuda.test_records import stepping
there = stepping("stepping_there").on("cuda")
u = at.DeviceArray(np.ones(64))
for _ in range(4):
    there(u, 5).free()
"""


@needs
@pytest.mark.parametrize("works", [True, False])
def test_what_the_driver_is_asked(works, tmp_path):
    """By a driver that writes down what it is asked: five launches, then a graph of five on a stream of its own, then the graph; and launches where it has none."""
    library, log = tmp_path / "libcuda.so.1", tmp_path / "log"
    source = Path(__file__).with_name("fake_driver.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source], check=True)
    env = {**os.environ, "ATOLL_CUDA_DRIVER": str(library), "FAKE_DRIVER_LOG": str(log), "ATOLL_CUBLAS": "none", **({} if works else {"FAKE_DRIVER_NO_GRAPHS": "1"})}
    subprocess.run([sys.executable, "-c", ASKED], check=True, env=env, cwd=Path(__file__).parents[2], timeout=120)
    words = [w for w in log.read_text().split("\n") if w and not w.startswith("copy")]
    direct, apart = ["launch legacy"] * 5, ["begin apart", *["launch apart"] * 5, "end apart"]
    played = ["play legacy"]
    assert words == (direct + apart + played + played + played if works else direct + apart + direct + direct + direct)
