"""Time loops on many machines: every rank runs the same program with its own rows (docs/distribution.md).

    step = at.mpi.step(heat)                              one call: rows in, rows out, halos exchanged
    run = at.mpi.loop(heat, 1000, checkpoint="state")     many rounds; a run that died goes on from the last checkpoint
"""

from __future__ import annotations

from atoll.distribute.on_mpi import loop, step

__all__ = ["loop", "step"]
