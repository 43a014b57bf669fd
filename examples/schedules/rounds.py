"""Histograms of rows and a loop over time: one round of an opaque part in each round of a loop, in tiles and on threads."""

from __future__ import annotations

import atoll as at
from atoll import f64, i64
from atoll.schedule import Schedule

n, m = at.sizes("n m")


@at.fn
def histograms(keys: i64[n, m], w: f64[n, m]) -> f64[n, 16]:
    h = [hist(add, 0.0, 16, keys[r], w[r]) for r in range(n)]
    return [[h[r, b] / m for b in range(16)] for r in range(n)]


@at.fn
def heat(u: f64[n, m], steps: i64) -> f64[n, m]:
    def after(row):
        x = row
        for s in range(steps):
            x = [(x[j - 1] if j >= 1 else 0.0) * 0.25 + x[j] * 0.5 + (x[j + 1] if j + 1 < m else 0.0) * 0.25 for j in range(m)]
        return x

    done = [after(u[r]) for r in range(n)]
    return [[2.0 * done[r, j] for j in range(m)] for r in range(n)]


def per_row() -> Schedule:
    """A histogram at a time, of eight rows on a thread."""
    return at.schedule(histograms).stage("h", at="r").split("r", 8).parallel("r_o")


def row_after_row() -> Schedule:
    """All steps of a row, then the next row: a row stays in the cache."""
    return at.schedule(heat).split("r", 4, tail="guard").stage("x", at="r_i").parallel("r_o")


if __name__ == "__main__":
    for schedule in (per_row(), row_after_row()):
        print(schedule)
        print(schedule.certificate().check())
