"""Attention: softmax of scaled scores, weighted sums of values."""

import atoll as at
from atoll import f64

n, m, d, e = at.sizes("n m d e")

# with maps


@at.fn
def with_maps(queries: f64[n, d], keys: f64[m, d], values: f64[m, e]):
    def attend(q):
        scores = map(lambda k: sum(map(lambda a, b: a * b, q, k)) / sqrt(f64(d)), keys)
        top = max(scores)
        weights = map(lambda s: exp(s - top), scores)
        total = sum(weights)
        return map(lambda column: sum(map(lambda w, v: w * v / total, weights, column)), transpose(values))

    return map(lambda q: attend(q), queries)


# without maps


@at.fn
def dot(u: f64[n], v: f64[n]) -> f64:
    return sum(u * v)


@at.fn
def softmax(x: f64[n]) -> f64[n]:
    e = exp(x - max(x))
    return e / sum(e)


@at.fn
def attend(q: f64[d], keys: f64[m, d], values: f64[m, e]) -> f64[e]:
    return dot(values.T, softmax(dot(keys, q) / sqrt(f64(d))))


@at.fn
def without_maps(queries: f64[n, d], keys: f64[m, d], values: f64[m, e]):
    return attend(queries, keys, values)


def arguments(rng):
    return rng.standard_normal((4, 3)), rng.standard_normal((5, 3)), rng.standard_normal((5, 2))
