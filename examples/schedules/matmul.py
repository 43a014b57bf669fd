"""Matrix products: ATL's two tilings, and the one that competes with BLAS, with packed panels and a tile of sums in registers."""

from __future__ import annotations

import atoll as at
from atoll import f32
from atoll.schedule import Schedule
from atoll.schedule.value_steps import Panels

n, m, k = at.sizes("n m k")


@at.fn
def matmul(a: f32[n, k], b: f32[k, m]) -> f32[n, m]:
    return [[sum(a[i, p] * b[p, j] for p in range(k)) for j in range(m)] for i in range(n)]


def plain() -> Schedule:
    return at.schedule(matmul)


def tiled(size: int = 4) -> Schedule:
    """Tiles of rows and columns, padded and guarded."""
    return plain().split("i", size, tail="guard").reorder("j", "i_i").split("j", size, tail="guard")


def tiled_tails(size: int = 4) -> Schedule:
    """As `tiled`, cut so that full tiles have no guard; the last rows are not tiled by columns."""
    s = plain().split("i", size, tail="guard").partition("i_o", [n // size])
    s = s.reorder("i_o_0/j", "i_o_0/i_i").split("i_o_0/j", size, tail="guard")
    return s.partition("j_o", [m // size])


def rows_in_order() -> Schedule:
    """The sum outside the columns: each row of b is read in order. No bit changes."""
    return plain().interchange_sum("p", "j").vectorize("j", 16).parallel("i")


def packed(rows: int = 8, columns: int = 48, vector: int = 16) -> Schedule:
    """b in panels of columns, a in panels of rows (the last ones padded with zeros), a tile of sums in registers, written back once."""
    s = plain().split("i", rows, tail="guard").split("j", columns, tail="guard").reorder("j_o", "i_o", "i_i", "j_i")
    s = s.stage("b", at="j_o", name="b_panel").stage("a", name="a_panels", layout=Panels(0, rows))
    s = s.accumulate_in_register("p", over=("i_i", "j_i")).rewrite("contract", at="p")
    s = s.vectorize("acc.j_i", vector).vectorize("b_panel.1", vector).vectorize("j_i", vector).partition("j_o")
    return s.parallel("j_o_0").parallel("a_panels.0")


if __name__ == "__main__":
    for make in (plain, tiled, tiled_tails, rows_in_order, packed):
        s = make()
        print(f"-- {make.__name__}: {s.operators()}, {sorted(s.licences) or 'exact'}")
        print(s)
