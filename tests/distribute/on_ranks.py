"""Run by mpirun: every rank has its rows; results are gathered and held against one process. Prints "same NAME" on rank 0."""

from __future__ import annotations

import sys

import numpy as np
from mpi4py import MPI

import atoll as at
from tests.distribute import programs as p

comm = MPI.COMM_WORLD
at.set_threads(1)


def mine(x: np.ndarray) -> np.ndarray:
    return x[len(x) * comm.rank // comm.size : len(x) * (comm.rank + 1) // comm.size]


def steps() -> None:
    rng = np.random.default_rng(1)
    u, x = rng.standard_normal((257, 131)), rng.standard_normal((20_003, 5))
    y, w, c = x[:, 0].copy(), rng.standard_normal(5), x[:7].copy()
    cases = [(p.heat_twice, (u,), "n"), (p.conv, (u, rng.standard_normal(30)), "n"), (p.softmax, (u,), "n"), (p.product, (u, u.T.copy()[:, :40].copy()), "n"), (p.normal, (y,), "n"), (p.loss, (w, x, y), "n"), (p.kmeans, (x, c), "n"), (at.grad(p.loss), (w, x, y), "n"), (p.running, (y,), "n"), (p.gram, (x,), "n")]
    for f, args, over in cases:
        cut = [np.ndim(a) > 0 and len(a) in (257, 20_003) for a in args]
        got = at.mpi.step(f, over=over)(*(mine(a) if is_cut else a for a, is_cut in zip(args, cut)))
        want = f(*args)
        for k, (a, b) in enumerate(zip(got if isinstance(got, tuple) else (got,), want if isinstance(want, tuple) else (want,))):
            whole = b.shape[0] if np.ndim(b) else 0
            parts = comm.gather(a, 0)
            if comm.rank == 0:
                found = np.concatenate(parts) if whole and sum(len(q) for q in parts) == whole else parts[0]
                print("same" if p.same(found, b) else "DIFFERENT", f.name, k, flush=True)


def rounds(die_at: int) -> None:
    u = np.random.default_rng(2).standard_normal((120, 40))
    if die_at:
        from atoll.distribute import on_mpi

        save = on_mpi._save

        def dying(comm_: object, folder: object, done: int, state: object) -> None:
            save(comm_, folder, done, state)
            if done == die_at and comm.rank == comm.size - 1:
                import os

                os.kill(os.getpid(), 9)

        on_mpi._save = dying
    run = at.mpi.loop(p.heat, 30, checkpoint="state", every=5)
    parts = comm.gather(run(mine(u)), 0)
    if comm.rank == 0:
        for _ in range(30):
            u = p.heat(u)
        print("same" if p.same(np.concatenate(parts), u) else "DIFFERENT", "loop", flush=True)


if __name__ == "__main__":
    steps() if sys.argv[1] == "steps" else rounds(int(sys.argv[2]))
