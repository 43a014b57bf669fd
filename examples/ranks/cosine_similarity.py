"""Cosine similarity of all pairs of documents and queries, and the best document for each query."""

import atoll as at
from atoll import f64

n, m, d = at.sizes("n m d")

# with maps


@at.fn
def with_maps(documents: f64[n, d], queries: f64[m, d]):
    def unit(v):
        length = sqrt(sum(map(lambda p: p * p, v)))
        return map(lambda p: p / length, v)

    docs = map(lambda v: unit(v), documents)
    asked = map(lambda v: unit(v), queries)
    scores = map(lambda q: map(lambda v: sum(map(lambda a, b: a * b, q, v)), docs), asked)
    return scores, map(lambda row: argmax(row), scores)


# without maps


@at.fn
def unit(v: f64[d]) -> f64[d]:
    return v / sqrt(sum(v * v))


@at.fn
def scores(q: f64[d], docs: f64[n, d]) -> f64[n]:
    return sum(q * docs)


@at.fn
def without_maps(documents: f64[n, d], queries: f64[m, d]):
    found = scores(unit(queries), unit(documents))
    return found, argmax(found)


def arguments(rng):
    return rng.standard_normal((5, 4)), rng.standard_normal((3, 4))
