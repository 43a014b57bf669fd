"""Ray tracing: the nearest sphere each ray of a picture meets, and how bright it is there."""

import atoll as at
from atoll import f64, inf

n, m = at.sizes("n m")

# with maps


@at.fn
def with_maps(rays: f64[n, 3], centres: f64[m, 3], radii: f64[m]):
    def meet(ray, centre, radius):
        b = sum(map(lambda p, q: p * q, ray, centre))
        c = sum(map(lambda p: p * p, centre)) - radius * radius
        d = b * b - c
        return b - sqrt(d) if d > 0.0 and b > 0.0 else inf

    def trace(ray):
        hits = map(lambda c, r: meet(ray, c, r), centres, radii)
        return min(hits, default=inf)

    far = map(lambda ray: trace(ray), rays)
    return map(lambda t: 1.0 / (1.0 + t * t) if t < inf else 0.0, far)


# without maps


@at.fn
def dot(u: f64[3], v: f64[3]) -> f64:
    return sum(u * v)


@at.fn
def meet(ray: f64[3], centre: f64[3], radius: f64) -> f64:
    b = dot(ray, centre)
    d = b * b - dot(centre, centre) + radius * radius
    return b - sqrt(d) if d > 0.0 and b > 0.0 else inf


@at.fn
def trace(ray: f64[3], centres: f64[m, 3], radii: f64[m]) -> f64:
    return min(meet(ray, centres, radii), default=inf)


@at.fn
def without_maps(rays: f64[n, 3], centres: f64[m, 3], radii: f64[m]):
    far = trace(rays, centres, radii)
    return where(far < inf, 1.0 / (1.0 + far * far), 0.0)


def arguments(rng):
    import numpy as np

    rays = rng.standard_normal((9, 3)) + np.array([0, 0, 3.0])
    return rays / np.linalg.norm(rays, axis=1)[:, None], rng.standard_normal((4, 3)) + np.array([0, 0, 6.0]), 1 + rng.random(4)
