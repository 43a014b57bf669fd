"""Softmax, logsumexp and attention with the maxima and sums of a row taken in one pass over blocks of columns ("online softmax")."""

from __future__ import annotations

import atoll as at
from atoll import exp, f64, log
from atoll.schedule import Schedule

n, m, d = at.sizes("n m d")


@at.fn
def softmax(s: f64[n, m]) -> f64[n, m]:
    top = [max(s[i, j] for j in range(m)) for i in range(n)]
    total = [sum(exp(s[i, j] - top[i]) for j in range(m)) for i in range(n)]
    return [[exp(s[i, j] - top[i]) / total[i] for j in range(m)] for i in range(n)]


@at.fn
def logsumexp(s: f64[n, m]) -> f64[n]:
    top = [reduce(maximum, -inf, s[i]) for i in range(n)]
    return [log(sum(exp(s[i, j] - top[i]) for j in range(m))) + top[i] for i in range(n)]


@at.fn
def attention(q: f64[n, d], k: f64[m, d], v: f64[m, d]) -> f64[n, d]:
    def row(query):
        score = [sum(query[c] * k[j, c] for c in range(d)) for j in range(m)]
        top = max(score)
        weight = [exp(score[j] - top) for j in range(m)]
        total = sum(weight)
        return [sum(weight[j] * v[j, c] for j in range(m)) / total for c in range(d)]

    return [row(q[i]) for i in range(n)]


def rows() -> Schedule:
    """Rows on threads; the maxima and sums of a row in one pass, its elements in a second one."""
    return at.schedule(softmax).online("top", 64, at="i").parallel("i")


def totals() -> Schedule:
    """The exponentials of a block in vectors."""
    return at.schedule(logsumexp).online("top", 64, at="i").vectorize("weights/j_i", 8).parallel("i")


def flash() -> Schedule:
    """An attention row in one pass over keys and values: 64 scores at a time are kept, not a row of them."""
    return at.schedule(attention).online("top", 64, at="i").parallel("i")


if __name__ == "__main__":
    for schedule in (rows(), totals(), flash()):
        print(schedule)
        print(schedule.assumptions())
        print(schedule.certificate().check())
