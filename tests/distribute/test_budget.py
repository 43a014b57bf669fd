"""Memory that was told beforehand is what is taken, and budgets are kept: by calls in slabs and by streams, also after a kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import atoll as at
from atoll.runtime.library import peak
from tests.distribute import programs as p

U = np.random.default_rng(5).standard_normal((1201, 70))


@pytest.mark.parametrize("name", ["heat_often_2", "kmeans_18"] if os.environ.get("ATOLL_TEST_CLUSTER") != "1" else [name for name, _, _ in p.make()])
def test_what_is_told_is_what_is_taken(name: str) -> None:
    """The runtime counts what programs hold; it is never more than f.memory(n=...) said, and not far less where arrays are large."""
    f, args = next((f, args) for n, f, args in p.make() if n == name)
    sizes = [s.name for s in f.core.sizes]
    from atoll.distribute.make import sizes_of
    from atoll.runtime.arguments import from_python

    at_sizes = {s.name: v for s, v in sizes_of(f, from_python(f.core, args)).items()}
    told = f.memory(**{s: at_sizes[s] for s in sizes})
    f(*args)
    peak()
    f(*args)
    taken = peak()
    assert taken <= told.temporaries + 4096 * max(1, told.threads), (taken, told)
    if "heat_often" in name:
        assert taken > 0.9 * told.temporaries


def test_the_largest_size_that_fits() -> None:
    n = p.heat_often.fits("1GB", m=500)
    assert p.heat_often.memory(n=n, m=500).total <= 10**9 < p.heat_often.memory(n=n + 1, m=500).total
    with pytest.raises(at.Error, match="one size"):
        p.heat_often.fits("1GB")


def test_calls_in_slabs_keep_to_their_budget() -> None:
    budget = 500_000
    within = p.heat_often.within(memory=budget)
    assert p.heat_often.memory(n=1201, m=70).temporaries > budget >= within.peak(U)
    assert p.same(within(U), p.heat_often(U))
    assert p.same(p.total.within(memory="1MB")(U.ravel()), p.total(U.ravel()))


RUN = """
import sys, numpy as np, zarr, os
from tests.distribute import programs as p
seen = []
def told(done, total):
    seen.append(done)
    if len(sys.argv) > 2 and done == int(sys.argv[2]):
        os.kill(os.getpid(), 9)
p.heat_twice.stream("u.zarr", out="v.zarr", memory=sys.argv[1], progress=told)
print(len(seen))
"""


def test_a_stream_goes_on_after_a_kill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    zarr = pytest.importorskip("zarr")
    monkeypatch.chdir(tmp_path)
    zarr.create_array("u.zarr", shape=U.shape, chunks=(20, 70), dtype="f8")[:] = U
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    killed = subprocess.run([sys.executable, "-c", RUN, "400KB", "5"], env=env, timeout=120, check=False)
    assert killed.returncode == -signal.SIGKILL and Path("v.zarr.progress/blocks").exists()
    again: list[int] = []
    ran: list[int] = []
    from atoll.distribute.on_zarr import Streamed

    work = Streamed.work
    monkeypatch.setattr(Streamed, "work", lambda self, task: (ran.append(task.number), work(self, task))[1])
    result = p.heat_twice.stream("u.zarr", out="v.zarr", memory="400KB", progress=lambda done, total: again.append(total))
    assert p.same(result[:], p.heat_twice(U)) and not Path("v.zarr.progress").exists()
    assert len(ran) < 2 * again[0], "blocks that were written are not computed again"
    assert p.same(p.columns.stream("u.zarr", out="c.zarr", memory="400KB")[:], p.columns(U))
