"""A two-stage pipeline whose results are computed tile by tile in a buffer of their own (ATL's `pipeline_sched`)."""

from __future__ import annotations

import atoll as at
from atoll import f32
from atoll.schedule import Schedule

n = at.sizes("n")


@at.fn
def pipeline(f: f32[n]) -> f32[n]:
    b = [2 * f[i] for i in range(n)]
    return [(b[i - 1] if i >= 1 else 0.0) + b[i] for i in range(n)]


def tiles(size: int = 4) -> Schedule:
    return at.schedule(pipeline).inline("b").split("i", size, tail="guard").stage("result", at="i_o", name="tile")


if __name__ == "__main__":
    print(at.schedule(pipeline))
    s = tiles()
    print(f"-- tiles: {s.operators()}, {sorted(s.licences) or 'exact'}")
    print(s)
