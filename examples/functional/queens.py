"""n queens by search over lists: every way to put n queens on a board so that none attacks another."""

from __future__ import annotations

from typing import Any

import atoll as at
from atoll import i64
from atoll.std.lists import Cons, List, Nil


@at.fn
def safe(column: i64, distance: i64, queens: List[i64]) -> at.bool_:
    """Whether no queen in the rows before attacks this column."""
    match queens:
        case Nil():
            return True
        case Cons(q, rest):
            if q == column or q == column + distance or q == column - distance:
                return False
            return safe(column, distance + 1, rest)


@at.fn
def count_queens(n: i64) -> i64:
    """How many solutions there are."""

    def place(row: i64, queens: List[i64]) -> i64:
        if row == n:
            return 1
        return try_columns(row, 0, queens)

    def try_columns(row: i64, column: i64, queens: List[i64]) -> i64:
        if column == n:
            return 0
        here = place(row + 1, Cons(column, queens)) if safe(column, 1, queens) else 0
        return here + try_columns(row, column + 1, queens)

    return place(0, Nil())


@at.fn
def extend(n: i64, boards: List[List[i64]]) -> List[List[i64]]:
    """Every board with a queen in one more row."""
    match boards:
        case Nil():
            return Nil()
        case Cons(board, others):
            return with_columns(n, 0, board, extend(n, others))


@at.fn
def with_columns(n: i64, column: i64, board: List[i64], after: List[List[i64]]) -> List[List[i64]]:
    """The board with a queen in each column that is safe, then the others."""
    if column == n:
        return after
    later = with_columns(n, column + 1, board, after)
    return Cons(Cons(column, board), later) if safe(column, 1, board) else later


@at.fn
def all_queens(n: i64) -> List[List[i64]]:
    """The solutions, last row first."""
    boards: List[List[i64]] = Cons(Nil(), Nil())
    for _ in range(n):
        boards = extend(n, boards)
    return boards


def oracle(n: int) -> list[list[int]]:
    """All solutions, by Python."""
    boards: list[list[int]] = [[]]
    for _ in range(n):
        boards = [
            [c, *b] for b in boards for c in range(n) if all(q not in (c, c + d + 1, c - d - 1) for d, q in enumerate(b))
        ]
    return boards


def check() -> list[Any]:
    """Pairs of what Atoll and Python say."""
    return [(all_queens(6), oracle(6)), (count_queens(8), len(oracle(8))), (count_queens(3), 0), (all_queens(0), [[]])]


def main() -> None:
    for ours, theirs in check():
        assert ours == theirs
    print(f"8 queens: {count_queens(8)} solutions, one of them {[int(q) for q in all_queens(8)[0]]}")


if __name__ == "__main__":
    main()
