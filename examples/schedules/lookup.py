"""A sparse product by rows: elements looked up by data (`v[columns[i, p]]`), in tiles and on threads."""

from __future__ import annotations

import atoll as at
from atoll import f64, i64
from atoll.schedule import Schedule

n, m, k = at.sizes("n m k")


@at.fn
def rows(v: f64[k], columns: i64[n, m], w: f64[n, m]) -> f64[n]:
    return [sum(w[i, p] * v[columns[i, p]] for p in range(m)) for i in range(n)]


def plain() -> Schedule:
    return at.schedule(rows)


def tiled(height: int = 4, width: int = 8) -> Schedule:
    """Tiles of rows and columns; no bit changes."""
    return plain().tile(("i", "p"), (height, width)).parallel("i_o")


def by_columns() -> Schedule:
    """The sum outside: every column is added to all rows, one after the other. No bit changes either."""
    return plain().interchange_sum("p", "i")


if __name__ == "__main__":
    for schedule in (plain(), tiled(), by_columns()):
        print(schedule)
        print(schedule.certificate().check().splitlines()[0])
