"""A transformer of any number of layers, written out: for Atoll as text, for JAX as a function of lists of dictionaries."""

from __future__ import annotations

from typing import Any

import numpy as np

_TEXT = '''
from __future__ import annotations
import atoll as at
from atoll import f32
B, T, D, F = at.sizes("B T D F")
@at.record
class Block:
    wq: f32[D, D]
    wk: f32[D, D]
    wv: f32[D, D]
    wo: f32[D, D]
    w1: f32[D, F]
    w2: f32[F, D]
@at.fn
def softmax(x: f32[T]) -> f32[T]:
    e = exp(x - max(x))
    return e / sum(e)
@at.fn
def layernorm(x: f32[D]) -> f32[D]:
    mu = mean(x)
    return (x - mu) / sqrt(mean((x - mu) ** 2) + 1e-5)
@at.fn
def block(p: Block, x: f32[T, D]) -> f32[T, D]:
    y = layernorm(x)
    x = x + softmax((y @ p.wq) @ (y @ p.wk).T) @ (y @ p.wv) @ p.wo
    return x + tanh(layernorm(x) @ p.w1) @ p.w2
@at.fn
def one({params}, x: f32[T, D]) -> f32:
{steps}    return sum(x * x, axis=None)
@at.fn
def loss({params}, x: f32[B, T, D]) -> f32:
    return sum(one({names}, x)) / f32(B)
'''


def text(layers: int) -> str:
    names = [f"p{i}" for i in range(layers)]
    return _TEXT.format(params=", ".join(f"{p}: Block" for p in names), names=", ".join(names), steps="".join(f"    x = block({p}, x)\n" for p in names))


def data(layers: int, batch: int = 2, length: int = 4, width: int = 8, hidden: int = 16) -> tuple[list[dict[str, Any]], Any]:
    rng = np.random.default_rng(0)

    def random(*shape: int) -> Any:
        return (0.1 * rng.standard_normal(shape)).astype(np.float32)

    square = (width, width)
    shapes = {"wq": square, "wk": square, "wv": square, "wo": square, "w1": (width, hidden), "w2": (hidden, width)}
    return [{name: random(*shape) for name, shape in shapes.items()} for _ in range(layers)], random(batch, length, width)


def with_jax() -> Any:
    import jax
    import jax.numpy as jnp

    def layernorm(x: Any) -> Any:
        mu = jnp.mean(x, -1, keepdims=True)
        return (x - mu) / jnp.sqrt(jnp.mean((x - mu) ** 2, -1, keepdims=True) + 1e-5)

    def block(p: Any, x: Any) -> Any:
        y = layernorm(x)
        x = x + jax.nn.softmax((y @ p["wq"]) @ (y @ p["wk"]).T) @ (y @ p["wv"]) @ p["wo"]
        return x + jnp.tanh(layernorm(x) @ p["w1"]) @ p["w2"]

    def loss(ps: Any, x: Any) -> Any:
        def one(x: Any) -> Any:
            for p in ps:
                x = block(p, x)
            return jnp.sum(x * x)

        return jnp.sum(jax.vmap(one)(x)) / x.shape[0]

    return loss
