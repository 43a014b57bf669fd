"""Histograms of rows by a thread for every element, loops of a thread whose sums go together, arrays that are not made, products whose sums are cut."""

from __future__ import annotations

import numpy as np
import pytest

import atoll as at
from atoll import f32, f64, i64
from atoll.backends.cuda import matrix, owners
from tests.agreement import same
from tests.fuzz.stages import Stages, leaves

n, m, k, d = at.sizes("n m k d")


@at.fn
def rows(c: i64[n], a: f64[n, m], z: f64[k]) -> f64[k, m]:
    return hist(add, zeros(m), k, c, a)


@at.fn
def greatest(c: i64[n], a: f32[n, m]) -> f32[7, m]:
    return hist(maximum, [f32(-1e30) for _ in range(m)], 7, c, a)


@at.fn
def planes(c: i64[n], a: f64[n, m, d]) -> f64[5, m, d]:
    return hist(add, [[0.5 for _ in range(d)] for _ in range(m)], 5, c, a)


@at.fn
def nearest(points: f64[n, d], centers: f64[k, d]) -> i64[n]:
    return [argmin([sum((a - b) * (a - b) for a, b in zip(p, c)) for c in centers]) for p in points]


@at.fn
def likelihood(x: f64[n, d], w: f64[k, d]) -> f64:
    def point(row):
        logs = [sum(row[j] * w[c, j] for j in range(d)) for c in range(k)]
        top = max(logs)
        return top + log(sum(exp(v - top) for v in logs))

    return sum(point(row) for row in x)


@at.fn
def running(x: f64[n, d], w: f64[k, d]) -> f64[n]:
    """What a round of the loop sets, the sum of the next one reads."""

    def point(row):
        s = 0.0
        for c in range(k):
            s = s * 0.5 + sum(row[j] * w[c, j] * (1.0 + s) for j in range(d))
        return s

    return [point(row) for row in x]


@at.fn
def product(a: f64[n, m], b: f64[m, k]) -> f64[n, k]:
    return a @ b


@at.fn
def added(a: f32[n, m], b: f32[m, k], c: f32[n, k]) -> f32[n, k]:
    return c + a @ b


@at.fn
def twice(a: f64[n, m, d], b: f64[k, m, d]) -> f64[n, k]:
    return [[sum(a[i, r, s] * b[j, r, s] for r in range(m) for s in range(d)) for j in range(k)] for i in range(n)]


SIZES = [(0, 3, 2, 1), (1, 1, 1, 1), (2, 0, 3, 2), (3, 2, 0, 1), (70, 3, 5, 2), (150, 16, 32, 3), (33, 300, 3, 1), (70, 7, 64, 2), (20, 2, 65, 3), (9, 5, 9, 17)]


def parts_in_order(c: np.ndarray, a: np.ndarray, elements: int) -> tuple[int, int]:
    """How many parts the rounds are in, and how long they are."""
    count = max(1, min(owners.MOST_BLOCKS // max(1, -(-elements // owners.THREADS)), len(c) // owners.LEAST))
    return count, -(-len(c) // count)


@pytest.mark.parametrize("size", SIZES)
def test_histograms_of_rows(size):
    many, width, bins, deep = size
    rng = np.random.default_rng(many)
    c = rng.integers(0, max(bins, 1), many if bins else 0)
    a, z = rng.normal(size=(len(c), width)), np.zeros(bins)
    there = rows.on("cuda-emulated")
    same(there(c, a, z), rows.interpret(c, a, z))
    if 0 < bins <= owners.MOST_ROWS and len(c) and width:  # the definition: rounds of a part in order, then parts
        count, length = parts_in_order(c, a, bins * width)
        parts = np.zeros((count, bins, width))
        for r, key in enumerate(c):
            parts[r // length, key] += a[r]
        if count == 1:
            assert there(c, a, z).tobytes() == (0.0 + parts[0]).tobytes()
    c = rng.integers(0, 7, many)
    f = rng.normal(size=(many, width)).astype(np.float32)
    assert greatest.on("cuda-emulated")(c, f).tobytes() == np.asarray(greatest.interpret(c, f)).tobytes()
    c, q = rng.integers(0, 5, many), rng.normal(size=(many, width, deep))
    same(planes.on("cuda-emulated")(c, q), planes.interpret(c, q))


@pytest.mark.parametrize("size", SIZES)
def test_sums_together(size):
    many, _, count, deep = size
    rng = np.random.default_rng(many)
    x, w = rng.normal(size=(many, deep)), rng.normal(size=(count, deep))
    same(running.on("cuda-emulated")(x, w), running.interpret(x, w))
    if count:
        same(likelihood.on("cuda-emulated")(x, w), likelihood.interpret(x, w))
        if count > 2:
            w[1] = np.nan
        assert np.asarray(nearest.on("cuda-emulated")(x, w)).tolist() == np.asarray(nearest.interpret(x, w)).tolist()


@pytest.mark.parametrize("backwards", [False, True])
def test_no_race(backwards):
    rng = np.random.default_rng(1)
    for f, args in [
        (rows, (rng.integers(0, 4, 40), rng.normal(size=(40, 3)), np.zeros(4))),
        (nearest, (rng.normal(size=(5, 3)), rng.normal(size=(19, 3)))),
        (likelihood, (rng.normal(size=(5, 3)), rng.normal(size=(19, 3)))),
        (product, (rng.normal(size=(3, 2 * matrix.LEAST)), rng.normal(size=(2 * matrix.LEAST, 2)))),
    ]:
        same(tuple(Stages(f).run_kernels(args, backwards)), tuple(leaves(f.interpret(*args))), f.name)


@pytest.mark.parametrize("size", [(5, 128, 7), (1, 300, 2), (3, 127, 4), (70, 200, 66), (2, 129, 2), (5, 128, 0), (0, 200, 3), (3, 0, 4), (64, 144, 64), (2, 4224, 3)])
def test_products_whose_sums_are_cut(size):
    rows_, deep, columns = size
    rng = np.random.default_rng(deep)
    a, b, c = rng.normal(size=(rows_, deep)), rng.normal(size=(deep, columns)), rng.normal(size=(rows_, columns))
    there = product.on("cuda-emulated")
    assert np.allclose(there(a, b), a @ b) and there(a, b).tobytes() == there(a, b).tobytes()
    f, g, h = (x.astype(np.float32) for x in (a, b, c))
    assert np.allclose(added.on("cuda-emulated")(f, g, h), h + f @ g, atol=1e-3)


@pytest.mark.parametrize("size", [(3, 20, 9, 4), (2, 1, 300, 5), (2, 300, 1, 5), (1, 13, 11, 2)])
def test_sums_over_two_indices_are_cut(size):
    many, deep, deeper, columns = size
    rng = np.random.default_rng(deep)
    a, b = rng.normal(size=(many, deep, deeper)), rng.normal(size=(columns, deep, deeper))
    assert np.allclose(twice.on("cuda-emulated")(a, b), np.einsum("nmq,pmq->np", a, b))


def test_what_is_made():
    """Arrays of distances are gone; eight sums read an element of the point once."""
    text = nearest.on("cuda").show("cuda")
    point = next(t for t in text.split("/* ") if t.startswith("a thread for every"))
    assert "_all" not in point and point.count("centers[") == 9
    assert "thread for every element" in rows.on("cuda").show("cuda") and "added up" in product.on("cuda").show("cuda")
