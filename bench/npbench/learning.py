"""Layers of networks, in single precision."""

from __future__ import annotations

from typing import Any

import atoll as at
from atoll import f32
from bench.npbench.task import Task, np, prange, presets, rng

b, h, w, c, d, e, k, m, n = at.sizes("b h w c d e k m n")


@at.fn
def relu(x: f32) -> f32:
    return maximum(x, 0.0)


@at.fn
def conv(x: f32[b, h, w, c], weights: f32[k, k, c, d]) -> f32[b, h - k + 1, w - k + 1, d]:
    return [[[[sum(x[s, i + u, j + v, p] * weights[u, v, p, o] for u in range(k) for v in range(k) for p in range(c)) for o in range(d)]
              for j in range(w - k + 1)] for i in range(h - k + 1)] for s in range(b)]


@at.fn
def conv2d_bias(x: f32[b, h, w, c], weights: f32[k, k, c, d], bias: f32[d]) -> f32[b, h - k + 1, w - k + 1, d]:
    return conv(x, weights) + bias


def conv_np(xp: Any, x: Any, weights: Any) -> Any:
    k = weights.shape[0]
    high, wide = x.shape[1] - k + 1, x.shape[2] - k + 1
    out = 0.0
    for u in range(k):
        for v in range(k):
            out = out + x[:, u : u + high, v : v + wide] @ weights[u, v]
    return out


def conv2d_bias_nb(x: Any, weights: Any, bias: Any) -> Any:
    k, high, wide, channels = weights.shape[0], x.shape[1] - weights.shape[0] + 1, x.shape[2] - weights.shape[0] + 1, x.shape[3]
    out = np.empty((x.shape[0], high, wide, weights.shape[3]), x.dtype)
    for t in prange(x.shape[0] * high):
        s, i = t // high, t % high
        for j in range(wide):
            out[s, i, j] = bias
            for u in range(k):
                for v in range(k):
                    for p in range(channels):
                        a = x[s, i + u, j + v, p]
                        for o in range(weights.shape[3]):
                            out[s, i, j, o] += a * weights[u, v, p, o]
    return out


@at.fn
def pool(x: f32[b, h, w, c]) -> f32[b, h // 2, w // 2, c]:
    return [[[[maximum(maximum(x[s, 2 * i, 2 * j, o], x[s, 2 * i, 2 * j + 1, o]), maximum(x[s, 2 * i + 1, 2 * j, o], x[s, 2 * i + 1, 2 * j + 1, o]))
               for o in range(c)] for j in range(w // 2)] for i in range(h // 2)] for s in range(b)]


@at.fn
def lenet(x: f32[b, h, w, 1], w1: f32[5, 5, 1, 6], b1: f32[6], w2: f32[5, 5, 6, 16], b2: f32[16],
          w3: f32[16 * (h // 4 - 3) * (w // 4 - 3), 120], b3: f32[120], w4: f32[120, 84], b4: f32[84], w5: f32[84, 10], b5: f32[10]) -> f32[b, 10]:
    y = pool(relu(conv(x, w1) + b1))
    y = pool(relu(conv(y, w2) + b2))
    flat = [flatten(flatten(one)) for one in y]
    z = relu(flat @ w3 + b3)
    z = relu(z @ w4 + b4)
    return z @ w5 + b5


def pool_np(xp: Any, x: Any) -> Any:
    high, wide = x.shape[1] // 2 * 2, x.shape[2] // 2 * 2
    x = x[:, :high, :wide]
    return xp.maximum(xp.maximum(x[:, ::2, ::2], x[:, ::2, 1::2]), xp.maximum(x[:, 1::2, ::2], x[:, 1::2, 1::2]))


def lenet_np(xp: Any, x: Any, w1: Any, b1: Any, w2: Any, b2: Any, w3: Any, b3: Any, w4: Any, b4: Any, w5: Any, b5: Any) -> Any:
    y = pool_np(xp, xp.maximum(conv_np(xp, x, w1) + b1, 0))
    y = pool_np(xp, xp.maximum(conv_np(xp, y, w2) + b2, 0))
    z = xp.maximum(y.reshape(len(y), -1) @ w3 + b3, 0)
    z = xp.maximum(z @ w4 + b4, 0)
    return z @ w5 + b5


def lenet_data(count: int, high: int, wide: int) -> tuple[Any, ...]:
    r = rng()
    flat = 16 * (((high - 4) // 2 - 4) // 2) * (((wide - 4) // 2 - 4) // 2)
    shapes = [(count, high, wide, 1), (5, 5, 1, 6), (6,), (5, 5, 6, 16), (16,), (flat, 120), (120,), (120, 84), (84,), (84, 10), (10,)]
    return tuple(r.random(shape, dtype=np.float32) - np.float32(0.4 if len(shape) > 1 else 0.0) for shape in shapes)


@at.fn
def softmax_row(x: f32[n]) -> f32[n]:
    e = exp(x - max(x))
    return e / sum(e)


@at.fn
def softmax(x: f32[b, h, m, n]) -> f32[b, h, m, n]:
    return softmax_row(x)


def softmax_np(xp: Any, x: Any) -> Any:
    e = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
    return e / xp.sum(e, axis=-1, keepdims=True)


@at.fn
def mlp(x: f32[b, c], w1: f32[c, k], b1: f32[k], w2: f32[k, m], b2: f32[m], w3: f32[m, n], b3: f32[n]) -> f32[b, n]:
    y = relu(x @ w1 + b1)
    y = relu(y @ w2 + b2)
    return softmax_row(y @ w3 + b3)


def mlp_np(xp: Any, x: Any, w1: Any, b1: Any, w2: Any, b2: Any, w3: Any, b3: Any) -> Any:
    y = xp.maximum(x @ w1 + b1, 0)
    y = xp.maximum(y @ w2 + b2, 0)
    return softmax_np(xp, y @ w3 + b3)


def mlp_data(c_in: int, count: int, s0: int, s1: int, s2: int) -> tuple[Any, ...]:
    r = rng()
    shapes = [(count, c_in), (c_in, s0), (s0,), (s0, s1), (s1,), (s1, s2), (s2,)]
    return tuple((r.random(shape, dtype=np.float32) - np.float32(0.5)) * np.float32(0.1) for shape in shapes)


@at.fn
def normalise(x: f32[b, h, w, c]) -> f32[b, h, w, c]:
    mean = [[[sum(x[s, i, j, o] for s in range(b)) / b for o in range(c)] for j in range(w)] for i in range(h)]
    dev = [[[sqrt(sum((x[s, i, j, o] - mean[i, j, o]) ** 2 for s in range(b)) / b) for o in range(c)] for j in range(w)] for i in range(h)]
    return (x - mean) / sqrt(dev + 1e-5)


@at.fn
def resnet(x: f32[b, h, w, c], w1: f32[1, 1, c, d], w2: f32[3, 3, d, d], w3: f32[1, 1, d, c]) -> f32[b, h, w, c]:
    y = conv(x, w1)
    padded = [[[[y[s, i - 1, j - 1, o] if 0 < i and i <= h and 0 < j and j <= w else 0.0 for o in range(d)] for j in range(w + 2)] for i in range(h + 2)] for s in range(b)]
    y = relu(normalise(padded))
    y = relu(normalise(conv(y, w2)))
    y = normalise(conv(y, w3))
    return relu(y + x)


def normalise_np(xp: Any, x: Any) -> Any:
    return (x - xp.mean(x, axis=0)) / xp.sqrt(xp.std(x, axis=0) + 1e-5)


def resnet_np(xp: Any, x: Any, w1: Any, w2: Any, w3: Any) -> Any:
    y = xp.pad(conv_np(xp, x, w1), ((0, 0), (1, 1), (1, 1), (0, 0)))
    y = xp.maximum(normalise_np(xp, y), 0)
    y = xp.maximum(normalise_np(xp, conv_np(xp, y, w2)), 0)
    y = normalise_np(xp, conv_np(xp, y, w3))
    return xp.maximum(y + x, 0)


def f32_of(*shapes: tuple[int, ...]) -> tuple[Any, ...]:
    r = rng()
    return tuple(r.random(shape, dtype=np.float32) for shape in shapes)


TASKS = [
    Task("conv2d_bias", conv2d_bias, lambda xp, x, w, b: conv_np(xp, x, w) + b, lambda n, i, o, k, h, w: f32_of((n, h, w, i), (k, k, i, o), (o,)), presets((8, 3, 16, 2, 32, 32), (8, 3, 8, 5, 64, 64), (8, 3, 8, 10, 128, 128), (2, 3, 4, 2, 6, 7)), shared=True, numba=conv2d_bias_nb, rtol=1e-5),
    Task("lenet", lenet, lenet_np, lenet_data, presets((4, 28, 28), (8, 56, 56), (8, 176, 176), (2, 16, 17)), shared=True, rtol=1e-4),
    Task("mlp", mlp, mlp_np, mlp_data, presets((3, 8, 30000, 2000, 2000), (3, 8, 30000, 10000, 10000), (3, 8, 30000, 30000, 30000), (3, 4, 9, 8, 7)), shared=True, rtol=1e-4),
    Task("resnet", resnet, resnet_np, lambda n, w, h, i, o: f32_of((n, h, w, i), (1, 1, i, o), (3, 3, o, o), (1, 1, o, i)), presets((8, 14, 14, 32, 8), (8, 28, 28, 64, 16), (8, 56, 56, 128, 32), (3, 4, 5, 6, 3)), shared=True, rtol=1e-3),
    Task("softmax", softmax, softmax_np, lambda n, h, s: f32_of((n, h, s, s)), presets((16, 16, 128), (32, 8, 256), (64, 16, 448), (2, 3, 5)), shared=True, rtol=1e-5),
]
