"""Black-Scholes: calls and puts for a portfolio at every day of a year."""

import atoll as at
from atoll import f64

n = at.sizes("n")


@at.fn
def normal(d: f64) -> f64:
    """The cumulative normal distribution."""
    return 0.5 * erfc(-d / sqrt(2.0))


# with maps


@at.fn
def with_maps(spot: f64[n], strike: f64[n], years: f64[n], rate: f64, vol: f64):
    def one(s, k, t):
        d1 = (log(s / k) + (rate + vol * vol / 2.0) * t) / (vol * sqrt(t))
        d2 = d1 - vol * sqrt(t)
        kept = k * exp(-rate * t)
        call = s * normal(d1) - kept * normal(d2)
        return call, call - s + kept

    prices = map(lambda s, k, t: one(s, k, t), spot, strike, years)
    return unzip(prices)


# without maps


@at.fn
def without_maps(spot: f64[n], strike: f64[n], years: f64[n], rate: f64, vol: f64):
    def one(s, k, t):
        d1 = (log(s / k) + (rate + vol * vol / 2.0) * t) / (vol * sqrt(t))
        d2 = d1 - vol * sqrt(t)
        kept = k * exp(-rate * t)
        call = s * normal(d1) - kept * normal(d2)
        return call, call - s + kept

    return one(spot, strike, years)


def arguments(rng):
    k = 9
    return 50 + 20 * rng.random(k), 50 + 20 * rng.random(k), 0.1 + rng.random(k), 0.03, 0.2
