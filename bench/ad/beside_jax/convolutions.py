"""Convolutions of images: padding, stride, dilation, groups, one filter for every channel. Sizes are not known when they are compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

import atoll as at
from atoll import f64
from bench.ad.beside_jax.program import Program, jnp, lax, sized

n, h, v, ci, co, g = at.sizes("n h v ci co g")


@at.fn
def padded(x: f64[n, ci, h, v], w: f64[co, ci, 3, 3], t: f64[n, co, h, v]) -> f64:
    y = [[[[sum(x[b, c, i + p - 1, j + q - 1] * w[o, c, p, q] if 0 <= i + p - 1 < h and 0 <= j + q - 1 < v else 0.0 for c in range(ci) for p in range(3) for q in range(3))
            for j in range(v)] for i in range(h)] for o in range(co)] for b in range(n)]
    return sum((maximum(y, 0.0) - t) ** 2, axis=None)


@at.fn
def strided(x: f64[n, ci, 2 * h, 2 * v], w: f64[co, ci, 3, 3], t: f64[n, co, h, v]) -> f64:
    y = [[[[sum(x[b, c, 2 * i + p - 1, 2 * j + q - 1] * w[o, c, p, q] if 0 <= 2 * i + p - 1 < 2 * h and 0 <= 2 * j + q - 1 < 2 * v else 0.0 for c in range(ci) for p in range(3) for q in range(3))
            for j in range(v)] for i in range(h)] for o in range(co)] for b in range(n)]
    return sum((maximum(y, 0.0) - t) ** 2, axis=None)


@at.fn
def dilated(x: f64[n, ci, h, v], w: f64[co, ci, 3, 3], t: f64[n, co, h, v]) -> f64:
    y = [[[[sum(x[b, c, i + 2 * p - 2, j + 2 * q - 2] * w[o, c, p, q] if 0 <= i + 2 * p - 2 < h and 0 <= j + 2 * q - 2 < v else 0.0 for c in range(ci) for p in range(3) for q in range(3))
            for j in range(v)] for i in range(h)] for o in range(co)] for b in range(n)]
    return sum((maximum(y, 0.0) - t) ** 2, axis=None)


@at.fn
def grouped(x: f64[n, g, ci, h, v], w: f64[g, co, ci, 3, 3], t: f64[n, g, co, h, v]) -> f64:
    y = [[[[[sum(x[b, e, c, i + p - 1, j + q - 1] * w[e, o, c, p, q] if 0 <= i + p - 1 < h and 0 <= j + q - 1 < v else 0.0 for c in range(ci) for p in range(3) for q in range(3))
             for j in range(v)] for i in range(h)] for o in range(co)] for e in range(g)] for b in range(n)]
    return sum((maximum(y, 0.0) - t) ** 2, axis=None)


@at.fn
def depthwise(x: f64[n, ci, h, v], w: f64[ci, 3, 3], t: f64[n, ci, h, v]) -> f64:
    y = [[[[sum(x[b, c, i + p - 1, j + q - 1] * w[c, p, q] if 0 <= i + p - 1 < h and 0 <= j + q - 1 < v else 0.0 for p in range(3) for q in range(3))
            for j in range(v)] for i in range(h)] for c in range(ci)] for b in range(n)]
    return sum((maximum(y, 0.0) - t) ** 2, axis=None)


def _loss(y: Any, t: Any) -> Any:
    return jnp.sum((jnp.maximum(y, 0.0) - t) ** 2)


def _conv(x: Any, w: Any, stride: int = 1, dilation: int = 1, groups: int = 1) -> Any:
    pad = (dilation, dilation)
    return lax.conv_general_dilated(x, w, (stride, stride), (pad, pad) if stride == 1 else ((1, 0), (1, 0)), rhs_dilation=(dilation, dilation), feature_group_count=groups)


def _grouped_jax(x: Any, w: Any, t: Any) -> Any:
    b, e, c, i, j = x.shape
    y = _conv(x.reshape(b, e * c, i, j), w.reshape(-1, c, 3, 3), groups=e)
    return _loss(y.reshape(t.shape), t)


def _images(scale: int, *weights: int):  # type: ignore[no-untyped-def]
    def data(r: np.random.Generator, s: float) -> tuple[np.ndarray, ...]:
        b, out = sized(16, s), weights[0]
        return r.normal(size=(b, 8, 24 * scale, 24 * scale)), r.normal(size=weights), r.normal(size=(b, out, 24, 24))

    return data


PROGRAMS = [
    Program("convolution, padded", padded, lambda x, w, t: _loss(_conv(x, w), t), (0, 1), _images(1, 16, 8, 3, 3)),
    Program("convolution, stride 2", strided, lambda x, w, t: _loss(_conv(x, w, stride=2), t), (0, 1), _images(2, 16, 8, 3, 3)),
    Program("convolution, dilation 2", dilated, lambda x, w, t: _loss(_conv(x, w, dilation=2), t), (0, 1), _images(1, 16, 8, 3, 3)),
    Program("convolution, groups", grouped, _grouped_jax, (0, 1), lambda r, s: (r.normal(size=(sized(16, s), 4, 4, 24, 24)), r.normal(size=(4, 8, 4, 3, 3)), r.normal(size=(sized(16, s), 4, 8, 24, 24)))),
    Program("convolution, depthwise", depthwise, lambda x, w, t: _loss(_conv(x, w[:, None], groups=w.shape[0]), t), (0, 1), _images(1, 8, 3, 3)),
]
