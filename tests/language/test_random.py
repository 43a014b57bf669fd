"""at.random: published vectors, the same bits in every way of running, distributions by moments and counts, and use in bodies."""

from __future__ import annotations

import hashlib
import math
import statistics

import numpy as np
import pytest

import atoll as at
from atoll import f64, i64, u64
from atoll.elaborate.builtins.names import RANDOM
from atoll.random import DISTRIBUTIONS, drawn
from atoll.std import random as std
from atoll.std import rejection

n, m = at.sizes("n m")
KEY = at.random.key(2026)
N = 20_000

# Random123's kat_vectors: threefry2x32 with 20 rounds, counter, key, result
VECTORS = [
    ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
    ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
    ((0x243F6A88, 0x85A308D3), (0x13198A2E, 0x03707344), (0xC4923A9C, 0x483DF7A0)),
]


@pytest.mark.parametrize(("counter", "key", "expected"), VECTORS)
def test_published_vectors(counter, key, expected):
    assert std.threefry(*key, *counter) == expected and std.threefry.interpret(*key, *counter) == expected


def test_functions_of_our_own():
    for x in (2.0**-53, 1e-10, 0.1, 0.5, 0.7072, 0.999, 1.0, 2.0, 3.7, 1e6, 1e18):
        assert abs(std.log_of(x) - math.log(x)) <= 4e-16 * abs(math.log(x)) + 2e-16
        assert std.log_of(x) == std.log_of.interpret(x)
    for x in (-700.0, -5.5, 0.0, 1e-8, 0.3, 10.0, 700.0):
        assert abs(std.exp_of(x) / math.exp(x) - 1) < 2e-15
    assert std.exp_of(-800.0) == 0.0 and std.exp_of(1000.0) == np.inf
    exact = statistics.NormalDist().inv_cdf
    for k in (1, 3, 2**20 + 1, 2**40 + 1, 2**49 + 1, 2**52 - 1, 2**53 - 2**44 + 1, 2**53 - 1):  # odd multiples of 2**-53, which are what it is given
        words = np.uint32(k >> 27 << 6), np.uint32((k >> 1) % 2**26 << 6)
        assert std.inside(*words) == k * 2.0**-53
        assert abs(std.quantile(*words) - exact(k * 2.0**-53)) < 4e-15 * abs(exact(k * 2.0**-53)) + 1e-16
    for k in (0, 1, 7, 100, 250, 10**6, 10**12):
        assert abs(rejection.log_factorial(float(k)) - math.lgamma(k + 1)) <= 1e-15 * math.lgamma(k + 1) + 1e-13


# parameters, mean and variance of each
LAWS = {
    "uniform": ((-1.0, 3.0), 1.0, 16 / 12),
    "normal": ((2.0, 3.0), 2.0, 9.0),
    "lognormal": ((0.0, 0.5), math.exp(0.125), (math.exp(0.25) - 1) * math.exp(0.25)),
    "laplace": ((1.0, 2.0), 1.0, 8.0),
    "logistic": ((1.0, 2.0), 1.0, 4 * math.pi**2 / 3),
    "gumbel": ((1.0, 2.0), 1 + 2 * 0.5772156649, 4 * math.pi**2 / 6),
    "exponential": ((2.0,), 2.0, 4.0),
    "rayleigh": ((2.0,), 2 * math.sqrt(math.pi / 2), (4 - math.pi) / 2 * 4),
    "weibull": ((2.0,), math.gamma(1.5), math.gamma(2) - math.gamma(1.5) ** 2),
    "gamma": ((2.5, 2.0), 5.0, 10.0),
    "chisquare": ((3.0,), 3.0, 6.0),
    "beta": ((2.0, 3.0), 0.4, 0.04),
    "student_t": ((9.0,), 0.0, 9 / 7),
    "bernoulli": ((0.3,), 0.3, 0.21),
    "geometric": ((0.3,), 1 / 0.3, 0.7 / 0.09),
    "poisson": ((4.0,), 4.0, 4.0),
    "integers": ((-3, 10), 3.0, (13**2 - 1) / 12),
}


def test_every_distribution_has_a_law_here():
    assert set(LAWS) | {"cauchy"} == set(DISTRIBUTIONS) and set(DISTRIBUTIONS) <= set(RANDOM)
    assert all(callable(getattr(at.random, name)) for name in RANDOM)


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(LAWS))
def test_moments(name):
    params, mean, variance = LAWS[name]
    x = getattr(at.random, name)(KEY, N, *params).astype(float)
    spread = np.mean((x - mean) ** 4) - variance**2  # of the squares
    assert abs(x.mean() - mean) < 4.5 * math.sqrt(variance / N)
    assert abs(np.mean((x - mean) ** 2) - variance) < 4.5 * math.sqrt(spread / N)


def chi_square(counts, expected):
    counts, expected = np.asarray(counts, float), np.asarray(expected, float)
    value, degrees = float(np.sum((counts - expected) ** 2 / expected)), len(counts) - 1
    assert value < degrees + 5 * math.sqrt(2 * degrees), (value, degrees)


def test_counts():
    chi_square(np.histogram(at.random.uniform(KEY, N), 64, (0, 1))[0], np.full(64, N / 64))
    below = [statistics.NormalDist().inv_cdf(k / 32) for k in range(1, 32)]
    chi_square(np.histogram(at.random.normal(KEY, N), [-np.inf, *below, np.inf])[0], np.full(32, N / 32))
    chi_square(np.bincount(at.random.integers(KEY, N, 0, 10)), np.full(10, N / 10))
    for lam in (4.0, 30.0):
        top = int(lam + 4 * math.sqrt(lam))
        expected = [N * math.exp(k * math.log(lam) - lam - math.lgamma(k + 1)) for k in range(top)]
        seen = np.bincount(at.random.poisson(KEY, N, lam), minlength=top)[:top]
        keep = np.array(expected) > 5
        chi_square([*seen[keep], N - seen[keep].sum()], [*np.array(expected)[keep], N - np.array(expected)[keep].sum()])
    p = np.array([0.1, 0.2, 0.7])
    chi_square(np.bincount(at.random.choice(KEY, 3, N, p=p)), N * p)
    chi_square(np.bincount(at.random.categorical(KEY, np.log(p), N)), N * p)
    bits = np.unpackbits(at.random.split(KEY, 2000).view(np.uint8)).reshape(2000, 64)
    chi_square(bits.sum(0), np.full(64, 1000.0))
    seen = np.zeros((4, 4))
    for key in at.random.split(KEY, 2000):
        seen[np.arange(4), at.random.permutation(key, 4)] += 1
    chi_square(seen.ravel(), np.full(16, 500.0))


def test_neighbours_do_not_know_each_other():
    x = at.random.normal(KEY, N)
    y = at.random.normal(at.random.key(2027), N)
    z = at.random.normal(at.random.fold_in(KEY, 1), N)
    for a, b in ((x[1:], x[:-1]), (x, y), (x, z), (y, z)):
        assert abs(np.corrcoef(a, b)[0, 1]) < 4.5 / math.sqrt(N)


# -- the same bits


def test_the_same_bits_everywhere():
    """Written down once: a change here is a change of the language."""
    text = hashlib.sha256()
    for name in ("uniform", "normal", "exponential", "integers", "gamma", "poisson"):
        text.update(getattr(at.random, name)(KEY, (4, 25), *LAWS[name][0]).tobytes())
    assert text.hexdigest() == "3f14e208c20c997e664ccc47c5df87eebe8d87667ea81a4ff4e39f423be03ae4"


def test_any_number_of_threads_and_any_place():
    before = at.threads()
    try:
        at.set_threads(1)
        one = at.random.normal(KEY, 200_000)
        at.set_threads(2)
        np.testing.assert_array_equal(at.random.normal(KEY, 200_000), one)
    finally:
        at.set_threads(before)
    np.testing.assert_array_equal(at.random.normal(KEY, 7), one[:7])
    np.testing.assert_array_equal(at.random.normal(KEY, (100, 2000)).ravel(), one)
    assert at.random.normal(KEY) == one[0] and at.random.normal(KEY, 0).shape == (0,)
    for name in ("uniform", "gamma", "poisson", "integers"):
        f = getattr(at.random, name)
        a = f(KEY, 64, *LAWS[name][0])
        arrays = [np.full(64, p) for p in LAWS[name][0]]
        np.testing.assert_array_equal(f(KEY, None, *arrays), a)  # other code, the same numbers
        np.testing.assert_array_equal(f(np.full(2, KEY), 64, *LAWS[name][0]), np.stack([a, a]))  # one for each key


@at.fn
def in_a_body(key: u64, a: f64, k: i64) -> (f64[3], f64[2, 2], i64[3], i64[5], f64):
    x = at.random.normal(key, (3,), loc=a)
    g = at.random.gamma(key, (2, 2), 2.5)
    first, second = at.random.split(key)
    c = at.random.integers(first, (3,), 0, k)
    p = at.random.permutation(second, 5)
    return x, g, c, p, at.random.uniform(at.random.fold_in(key, k))


def test_in_bodies():
    for call in (in_a_body, in_a_body.interpret):
        x, g, c, p, u = call(KEY, 1.0, 2**40)
        first, second = at.random.split(KEY)
        np.testing.assert_array_equal(x, at.random.normal(KEY, 3, 1.0))
        np.testing.assert_array_equal(g, at.random.gamma(KEY, (2, 2), 2.5))
        np.testing.assert_array_equal(c, at.random.integers(first, 3, 0, 2**40))
        np.testing.assert_array_equal(p, at.random.permutation(second, 5))
        assert u == at.random.uniform(at.random.fold_in(KEY, 2**40))


@at.fn
def energy(key: u64, mean: f64[n], width: f64) -> f64:
    z = at.random.normal(key, (50, n), mean, width)
    return sum(sum(z * z)) / 50


@at.fn
def of_gamma(key: u64, a: f64) -> f64:
    return at.random.gamma(key, (), a)


def test_derivatives_go_through_parameters():
    mean = np.array([1.0, -2.0])
    slope, by_width = at.grad(energy, wrt=("mean", "width"))(KEY, mean, 0.5)
    z = at.random.normal(KEY, (50, 2))
    np.testing.assert_allclose(slope, 2 * (mean + 0.5 * z).mean(0))
    np.testing.assert_allclose(by_width, 2 * np.sum((mean + 0.5 * z) * z) / 50)
    with pytest.raises(at.CompileError, match="E1001: a number drawn by rejection"):
        at.grad(of_gamma, wrt="a")(KEY, 2.0)


def test_the_first_of_a_shuffle():
    for n in (1, 2, 9, 40):
        whole = at.random.permutation(KEY, n)
        assert sorted(whole) == list(range(n))
        for k in range(n + 1):
            for found in (std.few(KEY, n, k), std.few.interpret(KEY, n, k), std.shuffled_until(KEY, n, k)[:k], at.random.choice(KEY, n, k, replace=False)):
                np.testing.assert_array_equal(found, whole[:k])
    assert at.random.choice(KEY, 9, replace=False) == at.random.permutation(KEY, 9)[0]
    pairs = at.random.choice(at.random.split(KEY, 6000), 6, 2, replace=False)  # a row for each key
    chi_square(np.bincount(pairs[:, 0] * 6 + pairs[:, 1], minlength=36)[[k for k in range(36) if k % 7]], np.full(30, 200.0))


@at.fn
def chosen(key: u64, x: f64[n]) -> f64[3]:
    return at.random.choice(key, x, 3, replace=False)


def test_choosing_in_bodies():
    x = np.arange(30.0)
    np.testing.assert_array_equal(chosen(KEY, x), at.random.choice(KEY, x, 3, replace=False))


def test_choosing():
    rows = np.arange(12.0).reshape(6, 2)
    found = at.random.choice(KEY, rows, 4, replace=False)
    assert found.shape == (4, 2) and len({tuple(r) for r in found}) == 4
    assert sorted(at.random.permutation(KEY, rows)[:, 0]) == sorted(rows[:, 0])
    assert at.random.choice(KEY, 5, (2, 3)).shape == (2, 3)
    assert at.random.categorical(KEY, np.zeros((4, 3))).shape == (4,)
    assert set(at.random.choice(KEY, 3, 50, p=[0.0, 1.0, 0.0])) == {1}
    wide = at.random.integers(KEY, 1000, -(2**63), 2**63 - 1)
    assert wide.min() < -(2**61) and wide.max() > 2**61
    np.testing.assert_array_equal(at.random.integers(KEY, 3, np.array([0, 10, 100]), np.array([1, 11, 101])), [0, 10, 100])
    single = at.random.uniform(KEY, 1000, dtype=at.f32)
    assert single.dtype == np.float32 and single.max() < 1
    assert at.random.normal(KEY, 3, dtype=np.float32).dtype == np.float32


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: at.random.normal(7, 3), "takes a key first, not an int"),
        (lambda: at.random.normal(KEY, -1), "a size is 0 or more, not -1"),
        (lambda: at.random.normal(KEY, 2.5), "a size is an integer, not a float"),
        (lambda: at.random.gamma(KEY, 3), "a is missing"),
        (lambda: at.random.gamma(KEY, 3, 1.0, 2.0, 3.0), "takes a key, a shape and a, scale"),
        (lambda: at.random.normal(KEY, 3, mu=1.0), "mu is no parameter"),
        (lambda: at.random.normal(KEY, 3, "a"), "loc is a number or an array of them, not a text"),
        (lambda: at.random.integers(KEY, 3, 0.5, 2), "low is an integer or an array of them"),
        (lambda: at.random.integers(KEY, 3, 5, 5), "integers: there is none from 5 below 5"),
        (lambda: at.random.gamma(KEY, 3, -1.0), "gamma: the shape is -1"),
        (lambda: at.random.choice(KEY, 3, 5, replace=False), "5 different elements are wanted of 3"),
        (lambda: at.random.choice(KEY, 3, 5, p=[1.0]), "p has the shape"),
        (lambda: at.random.key(2**70), "at most 64 bits"),
        (lambda: at.random.poisson(KEY, 3, 2.0, dtype=at.f32), "gives i64"),
    ],
)
def test_what_is_refused(call, text):
    with pytest.raises(at.Error) as caught:
        call()
    assert text in str(caught.value)


# -- rejection: arrays are made in passes, one element alone by the same draws

REJECTED = [
    *(("gamma", (a, 1.5)) for a in (1e-4, 0.3, 1.0, 1.0 + 2**-52, 2.5, 50.0, 1e6)),
    *(("beta", ab) for ab in ((1e-3, 2e-3), (0.3, 2.5), (1.0, 0.5), (50.0, 3.0))),
    *(("chisquare", (0.6,)), ("student_t", (0.6,)), ("student_t", (5.0,))),
    *(("poisson", (lam,)) for lam in (10.0, 50.0, 1e6)),
]


@pytest.mark.parametrize(("name", "params"), REJECTED)
def test_passes_have_the_bits_of_single_elements(name: str, params: tuple[float, ...]) -> None:
    key, count = at.random.key(3), 3000
    f = getattr(at.random, name)
    made = f(key, count, *params)
    assert made.tobytes() == drawn(name, 1, (0,) * len(params))(key, count, *params).tobytes()  # what bodies call
    arrays = [np.full(count, p) for p in params]
    assert made.tobytes() == f(key, None, *arrays).tobytes() == f(key, (30, 100), *params).tobytes()
    mixed = [a.copy() for a in arrays]
    for a in mixed:
        a[::3] = 20.0
    again = f(key, None, *mixed)
    keep = np.arange(count) % 3 != 0
    assert made[keep].tobytes() == again[keep].tobytes()
    assert f(key, 5, *params).tobytes() == drawn(name, 1, (0,) * len(params)).interpret(key, 5, *params).tobytes() == made[:5].tobytes()


def test_parameters_of_rows_and_columns() -> None:
    a, b = np.array([0.3, 1.0, 2.5, 50.0]), np.array([[2.0], [0.5]])
    x = at.random.beta(KEY, (2, 4), a, 2.0)
    np.testing.assert_array_equal(x, at.random.beta(KEY, (2, 4), np.stack([a, a]), np.full((2, 4), 2.0)))
    np.testing.assert_array_equal(x.astype(np.float32), at.random.beta(KEY, (2, 4), a, 2.0, dtype=at.f32))
    assert at.random.gamma(KEY, (0, 3), 2.0).shape == (0, 3) and at.random.gamma(np.full((2, 3), KEY), (4, 5), b[0, 0]).shape == (2, 3, 4, 5)
    for shapes in (np.array([1.0, -0.5]), np.array([1.0, np.nan])):
        with pytest.raises(at.Error, match="gamma: a shape is not above 0"):
            at.random.gamma(KEY, 2, shapes)


def test_any_number_of_threads_of_passes() -> None:
    before = at.threads()
    try:
        for name, params in (("gamma", (0.3,)), ("gamma", (2.5,)), ("beta", (0.5, 3.0)), ("poisson", (50.0,))):
            found = []
            for count in (1, 2, 3):
                at.set_threads(count)
                found.append(getattr(at.random, name)(KEY, 200_000, *params).tobytes())
            assert found[0] == found[1] == found[2]
    finally:
        at.set_threads(before)


def of_gamma_law(a: float, x: np.ndarray) -> np.ndarray:
    """How likely a gamma number is below x: a series of positive terms."""
    term = np.exp(a * np.log(x) - x - math.lgamma(a + 1))
    total = term.copy()
    for k in range(1, int(x.max() + 12 * math.sqrt(x.max()) + 60)):
        term = term * (x / (a + k))
        total += term
    return total


def of_beta_law(a: float, b: float, x: np.ndarray) -> np.ndarray:
    """How likely a beta number is below x: a continued fraction, of the side where it converges."""
    turn = x > (a + 1) / (a + b + 2)
    p, q, z = np.where(turn, b, a), np.where(turn, a, b), np.where(turn, 1 - x, x)
    fraction = np.zeros_like(x)
    for m in range(80, 0, -1):
        odd = -(p + m - 1) * (p + q + m - 1) * z / ((p + 2 * m - 2) * (p + 2 * m - 1))
        even = m * (q - m) * z / ((p + 2 * m - 1) * (p + 2 * m))
        fraction = odd / (1 + even / (1 + fraction))
    front = np.exp(p * np.log(z) + q * np.log1p(-z) + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)) / p
    below = front / (1 + fraction)
    return np.where(turn, 1 - below, below)


def kolmogorov(x: np.ndarray, law) -> float:
    below = law(np.sort(x))
    places = np.arange(len(x)) / len(x)
    return math.sqrt(len(x)) * float(max(np.max(below - places), np.max(places + 1 / len(x) - below)))


@pytest.mark.parametrize("a", [0.01, 0.3, 0.999, 1.0, 1.001, 2.5, 50.0])
def test_law_of_gamma(a: float) -> None:
    count = 50_000
    for x in (at.random.gamma(KEY, count, a), 0.5 * at.random.chisquare(at.random.fold_in(KEY, 1), count, 2 * a)):
        assert kolmogorov(np.maximum(x, 1e-300), lambda x: of_gamma_law(a, x)) < 1.95  # one in a thousand is above
        assert abs(x.mean() - a) < 4.5 * math.sqrt(a / count)
        assert abs(np.mean((x - a) ** 2) - a) < 4.5 * math.sqrt((2 * a * a + 6 * a) / count)


@pytest.mark.parametrize(("a", "b"), [(0.3, 0.3), (0.05, 0.2), (0.3, 2.5), (1.0, 0.5), (2.5, 1.5), (50.0, 30.0)])
def test_law_of_beta(a: float, b: float) -> None:
    x = at.random.beta(KEY, 50_000, a, b)
    assert kolmogorov(np.clip(x, 1e-300, 1 - 2**-53), lambda x: of_beta_law(a, b, x)) < 1.95
    variance = a * b / (a + b) ** 2 / (a + b + 1)
    assert abs(x.mean() - a / (a + b)) < 4.5 * math.sqrt(variance / 50_000)


def test_numbers_of_tiny_shapes() -> None:
    """Both gamma numbers are too small for a float: their quotient is not."""
    x = at.random.beta(KEY, 10_000, 1e-4, 3e-4)
    assert np.all((x >= 0.0) & (x <= 1.0)) and abs(x.mean() - 0.25) < 4.5 * math.sqrt(0.1875 / 10_000)
    assert at.random.gamma(KEY, 1000, 1e-4).min() == 0.0


def test_logarithms_of_words() -> None:
    """By the highest bit, and by steps: the same bits."""
    x, y = np.random.default_rng(1).integers(0, 2**32, (2, 2000), np.uint32)
    x[:64] = np.array([0, 1, 63, 64, 127, 128, 2**31, 2**32 - 1], np.uint32).repeat(8)
    y[:64] = np.tile(np.array([0, 1, 63, 64, 4096, 2**31 - 1, 2**31, 2**32 - 1], np.uint32), 8)
    x[64:128] >>= np.arange(64, dtype=np.uint32) % 32
    assert std.log_inside(x, y).tobytes() == std.log_below(std.inside(x, y)).tobytes()
    for k in range(80):
        assert std.log_inside.interpret(x[k], y[k]) == std.log_inside(x[k], y[k])


@pytest.mark.parametrize("p", [1e-12, 0.01, 0.3, 0.9, 1.0])
def test_law_of_geometric(p: float) -> None:
    x = at.random.geometric(KEY, 20_000, p)
    assert x.min() >= 1 and abs(x.mean() - 1 / p) <= 4.5 * math.sqrt((1 - p) / p**2 / 20_000)
    assert at.random.geometric(KEY, (), p) == x[0] == at.random.geometric(KEY, 3, np.full(3, p))[0]
