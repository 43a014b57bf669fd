"""Real clusters on this machine: `make test-cluster`. Workers are processes; one is killed; one has no compiler; ranks die and go on."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import atoll as at
from tests.distribute import programs as p

pytestmark = pytest.mark.skipif(os.environ.get("ATOLL_TEST_CLUSTER") != "1", reason="make test-cluster")
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster, distributed.Client(cluster) as client:
        yield client


def _lazily(args: tuple[Any, ...], rows: int) -> list[Any]:
    import dask.array as da

    return [da.from_array(a, chunks=(rows, *[-1] * (a.ndim - 1))) if isinstance(a, np.ndarray) and a.ndim and len(a) > 200 else a for a in args]


@pytest.mark.parametrize("name", [name for name, _, args in p.make() if np.size(args[0]) > 100 or np.ndim(args[0]) == 1])
def test_every_program_on_processes(client: Any, name: str) -> None:
    f, args = next((f, args) for n, f, args in p.make() if n == name)
    import dask

    found = dask.compute(f.distribute(*_lazily(args, 999), parts=3))[0]
    want = f(*args)
    pairs = zip(found if isinstance(found, tuple) else (found,), want if isinstance(want, tuple) else (want,))
    assert all(p.same(a, b) for a, b in pairs)


def test_a_worker_that_is_killed_is_made_up_for(client: Any) -> None:
    import dask.array as da

    u = np.random.default_rng(0).standard_normal((4000, 300))
    lazy = p.heat_often.distribute(da.from_array(u, chunks=(100, -1)), parts=40).persist()
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
    assert p.same(lazy.compute(), p.heat_often(u))


def test_a_scheduler_that_is_killed_is_followed_by_another(tmp_path: Path) -> None:
    import dask.array as da
    import distributed

    u = np.random.default_rng(0).standard_normal((2000, 300))
    lazy, want = p.heat_twice.distribute(da.from_array(u, chunks=(250, 100)), parts=8), p.heat_twice(u)
    found = []
    for turn in range(2):
        file = tmp_path / f"scheduler{turn}.json"
        command = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
        scheduler = subprocess.Popen([*command, "--port", "0", "--no-dashboard", "--scheduler-file", str(file)], env={**os.environ, "PYTHONPATH": str(ROOT)}, stderr=subprocess.DEVNULL)
        worker = subprocess.Popen([sys.executable, "-m", "distributed.cli.dask_worker", "--no-dashboard", "--nthreads", "1", "--scheduler-file", str(file)], env={**os.environ, "PYTHONPATH": str(ROOT)}, stderr=subprocess.DEVNULL)
        try:
            with distributed.Client(scheduler_file=str(file), timeout=120, set_as_default=False) as client:
                if turn == 0:  # in the middle of it
                    client.compute(lazy)
                    scheduler.kill()
                else:
                    found.append(client.compute(lazy).result(timeout=120))
        finally:
            for process in (scheduler, worker):
                process.kill()
                process.wait()
    assert p.same(found[0], want)


def test_a_worker_without_a_compiler_uses_what_it_is_sent(client: Any, tmp_path: Path) -> None:
    def alone(kernel: Any, folder: str) -> str:
        import os

        from atoll.distribute import kernel as kernels

        os.environ["ATOLL_CC"], os.environ["ATOLL_CACHE_DIR"] = "/no/compiler", folder
        kernels._libraries.clear()
        try:
            kernels._loaded(kernel)
            return "loaded"
        except Exception as error:  # noqa: BLE001  told to the test
            return str(error)
        finally:
            del os.environ["ATOLL_CC"], os.environ["ATOLL_CACHE_DIR"]

    from atoll.distribute.make import make_graph
    from atoll.distribute.trace import Settings

    graph = make_graph(p.heat, (np.ones((300, 30)),), Settings(2))
    (kernel,) = graph.kernels
    assert client.submit(alone, kernel.with_object(), str(tmp_path / "a")).result() == "loaded"
    assert "E0802" in client.submit(alone, kernel, str(tmp_path / "b")).result()


def test_functions_travel(client: Any) -> None:
    """From text, of the main module, derivatives."""
    text = at.fn(source="import atoll as at\nn = at.sizes('n')\ndef twice(x: at.f64[n]) -> at.f64[n]:\n    return 2.0 * x\n")
    assert client.submit(text, np.ones(3)).result().tolist() == [2.0] * 3
    g = at.grad(p.loss)
    args = (np.ones(2), np.ones((5, 2)), np.zeros(5))
    assert p.same(client.submit(g, *args).result(), g(*args))
    assert p.same(pickle.loads(pickle.dumps(g))(*args), g(*args))


MPIRUN = shutil.which("mpirun")


def _ranks(count: int, *words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [MPIRUN or "", "--allow-run-as-root", "--oversubscribe", "-n", str(count), sys.executable, "-m", "tests.distribute.on_ranks", *words]
    return subprocess.run(command, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.skipif(MPIRUN is None, reason="no mpirun")
@pytest.mark.parametrize("count", [2, 3])
def test_steps_on_ranks(count: int, tmp_path: Path) -> None:
    done = _ranks(count, "steps", folder=tmp_path)
    lines = [line for line in done.stdout.splitlines() if line.startswith(("same", "DIFFERENT"))]
    assert done.returncode == 0 and len(lines) == 11 and all(line.startswith("same") for line in lines), done.stdout + done.stderr


@pytest.mark.skipif(MPIRUN is None, reason="no mpirun")
def test_a_rank_dies_and_a_restart_goes_on(tmp_path: Path) -> None:
    died = _ranks(2, "rounds", "15", folder=tmp_path)
    assert died.returncode != 0 and "same" not in died.stdout
    saved = {path.name for path in (tmp_path / "state").iterdir()}
    assert {"rank0_0.npz", "rank1_0.npz"} <= saved
    again = _ranks(2, "rounds", "0", folder=tmp_path)
    assert again.returncode == 0 and "same loop" in again.stdout, again.stderr
