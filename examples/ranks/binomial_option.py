"""American puts on a binomial tree, for a whole table of strikes and spots (Finpar)."""

import atoll as at
from atoll import f64

n = at.sizes("n")
STEPS = 16

# with maps


@at.fn
def with_maps(spot: f64[n], strike: f64[n], rate: f64, vol: f64, years: f64):
    def price(s, k):
        dt = years / f64(STEPS)
        up = exp(vol * sqrt(dt))
        p = (exp(rate * dt) - 1.0 / up) / (up - 1.0 / up)
        levels = map(lambda i: s * up ** f64(2 * i - STEPS), range(STEPS + 1))
        worth = map(lambda q: maximum(k - q, 0.0), levels)
        for step in range(STEPS):
            j = f64(step + 1)
            early = map(lambda q: k - q * up**j, levels[:-1])
            kept = map(lambda a, b: exp(-rate * dt) * (p * b + (1.0 - p) * a), worth[:-1], worth[1:])
            worth[:-1] = map(lambda a, b: maximum(a, b), early, kept)
        return worth[0]

    return map(lambda s, k: price(s, k), spot, strike)


# without maps


@at.fn
def price(s: f64, k: f64, rate: f64, vol: f64, years: f64) -> f64:
    dt = years / f64(STEPS)
    up = exp(vol * sqrt(dt))
    p = (exp(rate * dt) - 1.0 / up) / (up - 1.0 / up)
    levels = s * up ** f64(2 * iota(STEPS + 1) - STEPS)
    worth = maximum(k - levels, 0.0)
    for step in range(STEPS):
        early = k - levels[:-1] * up ** f64(step + 1)
        kept = exp(-rate * dt) * (p * worth[1:] + (1.0 - p) * worth[:-1])
        worth[:-1] = maximum(early, kept)
    return worth[0]


@at.fn
def without_maps(spot: f64[n], strike: f64[n], rate: f64, vol: f64, years: f64):
    return price(spot, strike, rate, vol, years)


def arguments(rng):
    return 90 + 20 * rng.random(4), 90 + 20 * rng.random(4), 0.05, 0.3, 1.0
