"""An element-wise product of two tensors with four axes, as one loop (ATL's `add_split`)."""

from __future__ import annotations

import atoll as at
from atoll import f32
from atoll.schedule import Schedule

a, b, c, d = at.sizes("a b c d")


@at.fn
def product(x: f32[a, c, b, d], y: f32[a, c, b, d]) -> f32[a, c, b, d]:
    return [[[[x[i, j, k, l] * y[i, j, k, l] for l in range(d)] for k in range(b)] for j in range(c)] for i in range(a)]


def plain() -> Schedule:
    return at.schedule(product)


def one_loop() -> Schedule:
    return plain().flatten("i", "j", "k", "l")


if __name__ == "__main__":
    for make in (plain, one_loop):
        s = make()
        print(f"-- {make.__name__}: {s.operators()}, {sorted(s.licences) or 'exact'}")
        print(s)
