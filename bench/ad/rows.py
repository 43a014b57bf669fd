"""What is measured: programs of examples/ad with data, and the most that value and gradient should cost in units of the primal."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import atoll as at
from atoll import f64

EXAMPLES = Path(__file__).parents[2] / "examples" / "ad"
n = at.sizes("n")


@at.fn
def dot_product(x: f64[n], y: f64[n]) -> f64:
    return sum(x * y)


@at.fn
def elementwise(x: f64[n]) -> f64:
    return sum(x[i] * x[i] / (1.0 + x[i] * x[i]) for i in range(n))


@dataclass
class Row:
    """A program: primal and derivative, their arguments, and the most the derivative should cost in units of the primal."""

    name: str
    primal: Any
    derivative: Any
    args: tuple[Any, ...]
    target: float
    peer: str = ""  # the name of the objective in bench/ad/with_jax.py and with_torch.py
    wrt: tuple[int, ...] = (0,)  # none where the peer is the derivative itself
    c: str | None = None  # a file of hand-written C with value and gradient


def example(name: str) -> Any:
    if str(EXAMPLES) not in sys.path:
        sys.path.insert(0, str(EXAMPLES))
    return importlib.import_module(name)


def _row(name: str, target: float, wrt: tuple[int, ...] = (0,), peer: str = "", c: str | None = None, label: str = "", **data: Any) -> Callable[[], Row]:
    def make() -> Row:
        module = example(name)
        return Row(label or name, module.objective, module.gradient, module.data(**data), target, peer, wrt, c)

    make.__name__ = label or name
    return make


def _adjustment() -> Row:
    module = example("bundle_adjustment")
    return Row("ba jacobian", module.errors, module.jacobian, module.data(cameras=30, points=2000, observations=20000), 6.0, "ba_jacobian", ())


def _numbers(count: int) -> list[Any]:
    rng = np.random.default_rng(0)
    return [rng.normal(size=1_000_000) for _ in range(count)]


def _dot() -> Row:
    return Row("dot", dot_product, at.value_and_grad(dot_product, wrt=(0, 1)), tuple(_numbers(2)), NONE, "dot", (0, 1), "dot")


def _elementwise() -> Row:
    return Row("elementwise", elementwise, at.value_and_grad(elementwise), tuple(_numbers(1)), NONE, "elementwise", (0,), "elementwise")


NONE = float("inf")
"""The least programs have no target in units of the primal: they are held against C."""

ROWS: dict[str, Callable[[], Row]] = {
    "gmm d=10 k=25": _row("gmm", 3.0, (0, 1, 2), "gmm", label="gmm d=10 k=25", points=1000, dimension=10, components=25),
    "gmm d=32 k=25": _row("gmm", 3.0, (0, 1, 2), "gmm", label="gmm d=32 k=25", points=1000, dimension=32, components=25),
    "lstm": _row("lstm", 3.0, (0, 1, 2), "lstm", bits=14, layers=2, characters=1024),
    "lstm_batch": _row("lstm_batch", 3.0, (0, 1, 2), "lstm_batch", sequences=64, length=20, inputs=80, units=96),
    "ba jacobian": _adjustment,
    "kmeans": _row("kmeans", 3.0, (1,), "kmeans", points=20000, dimension=35, centers=5),
    "kmeans k=64": _row("kmeans", 3.0, (1,), "kmeans", label="kmeans k=64", points=10000, dimension=32, centers=64),
    "kmeans_sparse": _row("kmeans_sparse", 3.0, (3,), "kmeans_sparse", points=5000, dimension=2000, centers=10, density=0.01),
    "rsbench": _row("rsbench", 3.5, (4, 5, 7, 8, 10), "rsbench", lookups=2000, nuclides=20, windows=20, poles=4, materials=6),
    "xsbench": _row("xsbench", 3.5, (4, 7, 8), "xsbench", lookups=20000, nuclides=30, rows=500, materials=8),
    "lbm": _row("lbm", 3.5, (0, 1, 2), "lbm", height=48, width=48, steps=30),
    "hand_simple": _row("hand_simple", 4.5, (0,), "hand_simple", vertices=500, points=300),
    "mlp": _row("mlp", 3.5, (0, 1, 2, 3), "mlp", examples=256, inputs=128, hidden=256, classes=10),
    "transformer": _row("transformer", 3.5, tuple(range(9)), "transformer", sequences=4, length=32, width=32, heads=4, vocabulary=64),
    "lotka_volterra": _row("lotka_volterra", 6.0, (0, 1), "lotka_volterra", steps=20000),
    "log_sum_exp": _row("log_sum_exp", NONE, (0,), "log_sum_exp", c="log_sum_exp", size=1_000_000),
    "dot": _dot,
    "elementwise": _elementwise,
}
