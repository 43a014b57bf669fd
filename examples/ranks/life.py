"""Conway's game of life on a torus: rotations of the board, added."""

import atoll as at
from atoll import bool_, i64

n, m = at.sizes("n m")

# with maps


@at.fn
def with_maps(board: bool_[n, m]):
    cells = map(lambda row: map(lambda c: i64(c), row), board)
    rows = map(lambda u, v, w: map(lambda a, b, c: a + b + c, u, v, w), rotate(cells, -1), cells, rotate(cells, 1))
    three = map(lambda row: map(lambda a, b, c: a + b + c, rotate(row, -1), row, rotate(row, 1)), rows)
    return map(lambda cs, ts: map(lambda c, t: t == 3 or (c == 1 and t == 4), cs, ts), cells, three)


# without maps


@at.fn
def around(x: i64[n]) -> i64[n]:
    return rotate(x, -1) + x + rotate(x, 1)


@at.fn
def without_maps(board: bool_[n, m]):
    cells = i64(board)
    total = around(around(cells.T).T)
    return (total == 3) | ((cells == 1) & (total == 4))


def arguments(rng):
    return (rng.random((6, 7)) < 0.4,)
