"""Two programs that are only benchmarks: calls without data, and lists through second-order functions."""

from __future__ import annotations

import atoll as at
from atoll import i64
from atoll.std.lists import Cons, List, Nil, filter_list, fold_left, map_list


@at.fn
def ack(m: i64, n: i64) -> i64:
    """Ackermann's function."""
    return n + 1 if m == 0 else ack(m - 1, 1) if n == 0 else ack(m - 1, ack(m, n - 1))


@at.fn
def tak(x: i64, y: i64, z: i64) -> i64:
    """Takeuchi's function."""
    return z if y >= x else tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y))


@at.fn
def ack_tak(n: i64) -> i64:
    """Both."""
    return ack(3, n) + tak(24, 16, 8)


@at.fn
def numbers(k: i64, xs: List[i64]) -> List[i64]:
    """1 to k, then xs."""
    return xs if k == 0 else numbers(k - 1, Cons(k, xs))


@at.fn
def pipeline(size: i64, rounds: i64) -> i64:
    """Lists mapped, filtered, mapped and summed."""
    total = 0
    for r in range(rounds):
        xs = map_list(lambda x: x * 3 + r, numbers(size, Nil()))
        kept = filter_list(lambda x: x % 3 != 0 or x % 2 == 0, xs)
        total = total + fold_left(lambda p, x: p + x, 0, map_list(lambda x: x * x % 1009, kept))
    return total
