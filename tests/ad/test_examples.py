"""Every program of examples/ad: its gradient in a random direction against a central difference of its objective.

Compiled without optimisation, which is what takes time; the examples themselves check every entry when they are run.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "ad"
# example -> arguments of its data(), the arguments its gradient is about
EXAMPLES: dict[str, tuple[dict[str, Any], tuple[int, ...]]] = {
    "bundle_adjustment": ({"cameras": 3, "points": 7, "observations": 12}, (0, 1, 2)),
    "determinant": ({"size": 4}, (0,)),
    "gmm": ({"points": 8, "dimension": 3, "components": 4}, (0, 1, 2)),
    "hand_complicated": ({"vertices": 9, "points": 5, "triangles": 4}, (0, 1)),
    "hand_simple": ({"vertices": 9, "points": 5}, (0,)),
    "kmeans": ({"points": 20, "dimension": 3, "centers": 4}, (1,)),
    "kmeans_sparse": ({"points": 20, "dimension": 6, "centers": 3, "density": 0.4}, (3,)),
    "lbm": ({"height": 3, "width": 4, "steps": 5}, (0, 1, 2)),
    "log_sum_exp": ({"size": 9}, (0,)),
    "lotka_volterra": ({"steps": 11}, (0, 1)),
    "lstm": ({"bits": 4, "layers": 2, "characters": 4}, (0, 1, 2)),
    "lstm_batch": ({"sequences": 3, "length": 4, "inputs": 2, "units": 3}, (0, 1, 2)),
    "mlp": ({"examples": 12, "inputs": 4, "hidden": 5, "classes": 3}, (0, 1, 2, 3)),
    "rsbench": ({"lookups": 6, "nuclides": 3, "windows": 2, "poles": 3, "materials": 2}, (4, 5, 7, 8, 10)),
    "transformer": ({"sequences": 2, "length": 3, "width": 4, "heads": 2, "vocabulary": 5}, tuple(range(9))),
    "xsbench": ({"lookups": 9, "nuclides": 4, "rows": 6, "materials": 3}, (4, 7, 8)),
}
LIBRARY = {"differences", "hand_model"}


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(FOLDER))

    def load(name: str) -> Any:
        sys.modules.pop("differences", None)
        return importlib.import_module(name)

    return load


def test_all_examples_are_here() -> None:
    assert {p.stem for p in FOLDER.glob("*.py")} == set(EXAMPLES) | LIBRARY


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str, example: Any) -> None:
    module = example(name)
    how, which = EXAMPLES[name]
    args = module.data(**how)
    objective, gradient = (module.objective.compile("0").call, module.gradient.compile("0").call)
    value, gradients = gradient(*args)
    assert np.isclose(value, objective(*args), rtol=1e-12)
    gradients = gradients if isinstance(gradients, tuple) else (gradients,)
    rng = np.random.default_rng(1)
    directions = [rng.normal(size=np.shape(args[k])) for k in which]
    slope = sum(float(np.sum(g * d)) for g, d in zip(gradients, directions, strict=True))

    def along(h: float) -> float:
        moved = list(args)
        for k, d in zip(which, directions, strict=True):
            moved[k] = args[k] + h * d if np.ndim(args[k]) else float(args[k] + h * d)
        return float(objective(*moved))

    h = 1e-4
    near, far = along(h) - along(-h), along(2 * h) - along(-2 * h)
    expected = (8 * near - far) / (12 * h)
    assert np.isclose(slope, expected, rtol=1e-6, atol=1e-8), (slope, expected)
    if name in CLOSED:
        CLOSED[name](module, args, gradients)


def _determinant(module: Any, args: tuple[Any, ...], gradients: tuple[Any, ...]) -> None:
    np.testing.assert_allclose(gradients[0], np.linalg.det(args[0]) * np.linalg.inv(args[0]).T, rtol=1e-9)


def _softmax(module: Any, args: tuple[Any, ...], gradients: tuple[Any, ...]) -> None:
    e = np.exp(args[0])
    np.testing.assert_allclose(gradients[0], e / e.sum(), rtol=1e-12)


def _newton(module: Any, args: tuple[Any, ...], gradients: tuple[Any, ...]) -> None:
    """A step of Newton's method for a sum of squares is the mean of the points that are nearest to each center."""
    step = module.newton_step.compile("0").call
    moved = step(*args)
    assert module.objective.compile("0").call(*args[:-1], moved) < module.objective.compile("0").call(*args)
    values, columns, rows, centers = args
    points = np.zeros((len(rows) - 1, centers.shape[1]))
    for p in range(len(points)):
        points[p, columns[rows[p] : rows[p + 1]]] = values[rows[p] : rows[p + 1]]
    nearest = np.argmin(((points[:, None, :] - centers) ** 2).sum(2), axis=1)
    means = [points[nearest == c].mean(0) if np.any(nearest == c) else centers[c] for c in range(len(centers))]
    np.testing.assert_allclose(moved, means, rtol=1e-9, atol=1e-12)


CLOSED = {"determinant": _determinant, "log_sum_exp": _softmax, "kmeans_sparse": _newton}
"""Gradients that have a formula."""
