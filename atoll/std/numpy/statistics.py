"""Statistics of one axis."""

from __future__ import annotations

import atoll as at
from atoll import i64

a, b = at.types("a b")
n, m, k = at.sizes("n m k")


@at.fn
def mean(x: a[n]):
    """The sum by the number; of nothing NaN, as in NumPy."""
    return sum(x) / n


@at.fn
def weighted_mean(x: a[n], w: b[n]):
    return by_weight(sum(x * w), sum(w))


@at.fn
def by_weight(total: a, weight: b):
    assert weight != 0, "weights sum to zero"
    return total / weight


@at.fn
def variance(x: a[n], ddof: b):
    away = x - sum(x) / n
    return sum(away * away) / max(n - ddof, 0)


@at.fn
def deviation(x: a[n], ddof: b):
    return sqrt(variance(x, ddof))


@at.fn
def variance_of_total(squares: a, count: i64, ddof: b) -> a:
    return squares / max(count - ddof, 0)


@at.fn
def deviation_of_total(squares: a, count: i64, ddof: b) -> a:
    return sqrt(squares / max(count - ddof, 0))


@at.fn
def complex_variance(x: a[n], ddof: b):
    away = x - sum(x) / n
    return sum(real(away) * real(away) + imag(away) * imag(away)) / max(n - ddof, 0)


@at.fn
def complex_deviation(x: a[n], ddof: b):
    return sqrt(complex_variance(x, ddof))


@at.fn
def median(x: a[n]):
    """Of nothing NaN, as in NumPy."""
    return nan if n == 0 else middle_of(sort(x))


@at.fn
def middle_of(ordered: a[n]):
    """Of an even number the mean of the two in the middle. NaNs are sorted last: one of them is the median."""
    last = ordered[n - 1]
    middle = (ordered[(n - 1) // 2] + ordered[n // 2]) / 2
    return last if isnan(last) else middle


@at.fn
def between(low: a, high: a, t: a):
    """NumPy's interpolation, which gives `high` itself at 1."""
    away = high - low
    return high - away * (1 - t) if t >= 0.5 else low + away * t


@at.fn
def share(q: a, most: a) -> a:
    """A quantile as it was asked for. NumPy says so for all of them at once."""
    assert q >= 0 and q <= most, f"{q} is not between 0 and {most}"
    return q


@at.fn
def place_of(q: a, count: i64, method: i64) -> a:
    """Where the quantile lies among the sorted numbers; the methods from 5 on are NumPy's with two parameters, here equal but for the last."""
    alpha: a = 0.5 if method == 5 else (1.0 / 3.0 if method == 7 else (0.375 if method == 8 else 0))
    beta: a = 1 if method == 9 else alpha
    plain = q * (count - 1)
    return min(max(count * q + (alpha + q * (1 - alpha - beta)) - 1, 0), count - 1) if method > 4 else plain


@at.fn
def quantile_of(ordered: a[n], count: i64, q: b, method: i64):
    """The quantile of the first `count` numbers, which are sorted."""
    place = place_of(q, count, method)
    under = i64(floor(place))
    over = min(under + 1, count - 1)
    t = place - floor(place)
    low, high = ordered[under], ordered[over]
    if method == 0 or method > 4:
        result = between(low, high, t)
    elif method == 1:
        result = low
    elif method == 2:
        result = high if t > 0 else low
    elif method == 3:
        near = i64(round(place))
        result = ordered[near]
    else:
        result = (low + high) / 2 if t > 0 else low
    return result


@at.fn
def quantile(x: a[n], q: b, method: i64):
    ordered = sort(x)
    last = ordered[n - 1]
    return last if isnan(last) else quantile_of(ordered, n, q, method)


@at.fn
def nan_quantile(x: a[n], q: b, method: i64):
    """Of those that are numbers: they are sorted first."""
    ordered = sort(x)
    count = sum(not isnan(v) for v in x)
    return quantile_of(ordered, count, q, method) if count > 0 else nan


@at.fn
def nan_median(x: a[n]):
    ordered = sort(x)
    count = sum(not isnan(v) for v in x)
    return (ordered[(count - 1) // 2] + ordered[count // 2]) / 2 if count > 0 else nan


@at.fn
def nan_sum(x: a[n]):
    return sum(v for v in x if not isnan(v))


@at.fn
def nan_prod(x: a[n]):
    return prod(v for v in x if not isnan(v))


@at.fn
def nan_mean(x: a[n]):
    return sum(v for v in x if not isnan(v)) / sum(not isnan(v) for v in x)


@at.fn
def nan_variance(x: a[n], ddof: b):
    count = sum(not isnan(v) for v in x)
    middle = sum(v for v in x if not isnan(v)) / count
    total = sum((v - middle) * (v - middle) for v in x if not isnan(v))
    return total / (count - ddof) if count > ddof else nan


@at.fn
def nan_deviation(x: a[n], ddof: b):
    return sqrt(nan_variance(x, ddof))


@at.fn
def complex_nan_variance(x: a[n], ddof: b):
    count = sum(not isnan(v) for v in x)
    middle = sum(v for v in x if not isnan(v)) / count
    total = sum(real(v - middle) * real(v - middle) + imag(v - middle) * imag(v - middle) for v in x if not isnan(v))
    return total / (count - ddof) if count > ddof else nan


@at.fn
def complex_nan_deviation(x: a[n], ddof: b):
    return sqrt(complex_nan_variance(x, ddof))


@at.fn
def nan_max(x: a[n]):
    """NaN only when there is nothing else."""
    return max((v for v in x if not isnan(v)), default=x[0])


@at.fn
def nan_min(x: a[n]):
    return min((v for v in x if not isnan(v)), default=x[0])


@at.fn
def nan_argmax(x: a[n]):
    return argmax(x[i] for i in range(n) if not isnan(x[i]))


@at.fn
def nan_argmin(x: a[n]):
    return argmin(x[i] for i in range(n) if not isnan(x[i]))


@at.fn
def nan_cumsum(x: a[n]):
    return cumsum([0 if isnan(v) else v for v in x])


@at.fn
def nan_cumprod(x: a[n]):
    return cumprod([1 if isnan(v) else v for v in x])


@at.fn
def covariance(x: a[n, m], ddof: b):
    """Rows are variables."""
    away = [row - sum(row) / m for row in x]
    return [[sum(u * v) / max(m - ddof, 0) for v in away] for u in away]


@at.fn
def complex_covariance(x: a[n, m], ddof: b):
    away = [row - sum(row) / m for row in x]
    return [[sum(u * conj(v)) / max(m - ddof, 0) for v in away] for u in away]


@at.fn
def correlation(x: a[n, m]):
    c = covariance(x, 1)
    return [[min(max(c[i, j] / sqrt(c[i, i]) / sqrt(c[j, j]), -1.0), 1.0) for j in range(n)] for i in range(n)]
