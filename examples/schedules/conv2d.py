"""A convolution over channels, as neural networks use it: a tile of outputs in registers, over channels and columns."""

from __future__ import annotations

import atoll as at
from atoll import f32
from atoll.schedule import Schedule
from atoll.schedule.value_steps import Panels

d, c, n, m, h, w = at.sizes("d c n m h w")


@at.fn
def conv2d(x: f32[c, n + h - 1, m + w - 1], f: f32[d, c, h, w]) -> f32[d, n, m]:
    return [
        [[sum(x[e, i + a, j + b] * f[o, e, a, b] for e in range(c) for a in range(h) for b in range(w)) for j in range(m)] for i in range(n)]
        for o in range(d)
    ]


def plain() -> Schedule:
    return at.schedule(conv2d)


def register_tile(channels: int = 4, columns: int = 48, vector: int = 16) -> Schedule:
    """`channels` outputs of `columns` neighbours at a time: each input read serves all channels, each weight all columns. The filters of
    a group of channels lie side by side."""
    s = plain().split("o", channels, tail="guard").split("j", columns).reorder("o_o", "i", "j_o", "o_i", "j_i")
    s = s.stage("f", name="filters", layout=Panels(0, channels)).accumulate_in_register("j_o/e", over=("j_o/o_i", "j_i"))
    s = s.reorder("acc/e", "acc/a", "acc/b", "acc.o_i", "acc.j_i").rewrite("contract", at="acc.j_i")
    return s.vectorize("acc.j_i", vector).vectorize("j_i", vector).parallel("i")


if __name__ == "__main__":
    for make in (plain, register_tile):
        s = make()
        print(f"-- {make.__name__}: {s.operators()}, {sorted(s.licences) or 'exact'}")
        print(s)
