"""A network with two layers on a batch: rectified, then softmax, and the cross-entropy of the labels."""

import atoll as at
from atoll import f64, i64

n, d, h, c = at.sizes("n d h c")

# with maps


@at.fn
def with_maps(xs: f64[n, d], labels: i64[n], w1: f64[h, d], b1: f64[h], w2: f64[c, h], b2: f64[c]):
    def affine(w, b, x):
        return map(lambda row, s: sum(map(lambda p, q: p * q, row, x)) + s, w, b)

    hidden = map(lambda x: map(lambda v: maximum(v, 0.0), affine(w1, b1, x)), xs)
    logits = map(lambda v: affine(w2, b2, v), hidden)
    normal = map(lambda row: log(sum(map(lambda v: exp(v), row))), logits)
    return sum(map(lambda row, z, l: z - row[l], logits, normal, labels)) / f64(n)


# without maps


@at.fn
def affine(w: f64[h, d], b: f64[h], x: f64[d]) -> f64[h]:
    return sum(w * x) + b


@at.fn
def loss(logits: f64[c], label: i64) -> f64:
    return log(sum(exp(logits))) - logits[label]


@at.fn
def without_maps(xs: f64[n, d], labels: i64[n], w1: f64[h, d], b1: f64[h], w2: f64[c, h], b2: f64[c]):
    hidden = maximum(affine(w1, b1, xs), 0.0)
    return sum(loss(affine(w2, b2, hidden), labels)) / f64(n)


def arguments(rng):
    k = (6, 4, 5, 3)
    return (
        rng.standard_normal((k[0], k[1])),
        rng.integers(0, k[3], k[0]),
        rng.standard_normal((k[2], k[1])),
        rng.random(k[2]),
        rng.standard_normal((k[3], k[2])),
        rng.random(k[3]),
    )
