"""NN (Rodinia): distances of all records to a target, for several targets, and the closest one of each."""

import atoll as at
from atoll import f64, sqrt

n, m = at.sizes("n m")

# with maps


@at.fn
def with_maps(lat: f64[n], lng: f64[n], targets: f64[m, 2]):
    def distances(t):
        return map(lambda a, b: sqrt((a - t[0]) * (a - t[0]) + (b - t[1]) * (b - t[1])), lat, lng)

    all_ = map(lambda t: distances(t), targets)
    return map(lambda row: min(row), all_), map(lambda row: argmin(row), all_)


# without maps


@at.fn
def without_maps(lat: f64[n], lng: f64[n], targets: f64[m, 2]):
    def distances(t: f64[2]):
        return sqrt((lat - t[0]) * (lat - t[0]) + (lng - t[1]) * (lng - t[1]))

    found = distances(targets)
    return min(found), argmin(found)


def arguments(rng):
    return rng.random(9) * 90, rng.random(9) * 180, rng.random((3, 2)) * 90
