"""The program in the explorer's pictures: `atoll explore examples/explored.py`."""

import atoll as at
from atoll import f64

n, m = at.sizes("n m")


@at.fn
def distances(points: f64[n, m], centre: f64[m]) -> f64[n]:
    away = points - centre
    square = away * away
    return sqrt(sum(square))


@at.fn
def spread(points: f64[n, m], centre: f64[m]) -> f64:
    return mean(distances(points, centre))


towards = at.grad(spread, wrt=1)


@at.fn
def blur(image: f64[n + 2, m + 2]) -> f64[n, m]:
    tall = [[(image[i, j] + image[i + 1, j] + image[i + 2, j]) / 3.0 for j in range(m + 2)] for i in range(n)]
    return [[(tall[i, j] + tall[i, j + 1] + tall[i, j + 2]) / 3.0 for j in range(m)] for i in range(n)]


@at.fn
def added(u: f64[n, m], v: f64[n, m]) -> f64[n, m]:
    return [[u[y, x] + v[y, x] for x in range(m)] for y in range(n)]


tiled = (
    at.schedule(added)
    .tile(("y", "x"), (64, 64), tail="cut")
    .parallel("y_o")
)
