"""PageRank: a few rounds of the power method on a dense graph, with dangling pages and damping."""

import atoll as at
from atoll import f64

n = at.sizes("n")

# with maps


@at.fn
def with_maps(links: f64[n, n]):
    degree = map(lambda row: sum(row), links)
    rank = map(lambda row: 1.0 / f64(n), links)
    for step in range(10):
        given = map(lambda r, d: r / d if d > 0.0 else 0.0, rank, degree)
        lost = sum(map(lambda r, d: 0.0 if d > 0.0 else r, rank, degree))
        got = map(lambda column: sum(map(lambda l, g: l * g, column, given)), transpose(links))
        rank = map(lambda v: 0.15 / f64(n) + 0.85 * (v + lost / f64(n)), got)
    return rank


# without maps


@at.fn
def dot(u: f64[n], v: f64[n]) -> f64:
    return sum(u * v)


@at.fn
def without_maps(links: f64[n, n]):
    degree = sum(links)
    rank = repeat(1.0 / f64(n), n)
    for step in range(10):
        given = where(degree > 0.0, rank / maximum(degree, 1.0), 0.0)
        lost = sum(where(degree > 0.0, 0.0, rank))
        rank = 0.15 / f64(n) + 0.85 * (dot(links.T, given) + lost / f64(n))
    return rank


def arguments(rng):
    links = (rng.random((8, 8)) < 0.3).astype(float)
    links[3] = 0
    return (links,)
