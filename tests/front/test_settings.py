"""Constants that stand in classes, enumerations, dataclasses and namespaces: `Config.rate` is captured by value as a global is."""

from __future__ import annotations

import enum
import types
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll import f64, i64

n = at.sizes("n")
X = np.linspace(0.1, 1.7, 7)


class Config:
    rate = 0.5
    table = np.array([1.0, 2.0])
    pair = (2, 3.5)

    class Inner:
        offset = 3

    @at.fn
    def positive(v: f64) -> f64:
        return max(v, 0.0)

    def method(self) -> int:
        return 3


class Color(enum.IntEnum):
    RED = 1
    BLUE = 2


class Side(enum.Enum):
    LEFT = 0
    RIGHT = 1


@dataclass(frozen=True)
class Model:
    gain: float = 1.5
    taps: int = 2
    weights: Any = field(default_factory=lambda: np.ones(3))


model = Model(2.5)
held = types.SimpleNamespace(q=4.0, sub=types.SimpleNamespace(r=1.0))


def classes(x: f64[n]) -> f64[n]:
    return x * Config.rate + Config.table[1] + Config.Inner.offset + Config.pair[1]


def methods(x: f64[n]) -> f64[n]:
    return Config.table.sum() * x + Config.positive(x - 1.0)


def enumerations(x: f64[n]) -> f64:
    return x[Color.BLUE] + Color.RED + Side.RIGHT.value + Color.BLUE.value


def instances(x: f64[n]) -> f64:
    return x[model.taps] * model.gain + held.q + held.sub.r + sum(model.weights)


def matched(x: f64[n]) -> f64:
    total = 0.0
    for i in range(n):
        match i % 3:
            case Color.RED:
                total += x[i]
            case Color.BLUE:
                total += 10 * x[i]
            case _:
                total -= x[i]
    return total


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (classes, X * 0.5 + 2 + 3 + 3.5),
        (methods, 3 * X + np.maximum(X - 1, 0)),
        (enumerations, X[2] + 1 + 1 + 2),
        (instances, X[2] * 2.5 + 4 + 1 + 3),
        (matched, sum(x * (-1, 1, 10)[i % 3] for i, x in enumerate(X))),
    ],
)
def test_values(program: Any, expected: Any) -> None:
    f = at.fn(program)
    np.testing.assert_allclose(f(X), expected, rtol=1e-14)
    np.testing.assert_allclose(f.interpret(X), expected, rtol=1e-14)


def test_a_change_is_told() -> None:
    settings = types.SimpleNamespace(q=2.0)

    @at.fn
    def scaled(x: f64[n]) -> f64[n]:
        return x * settings.q

    np.testing.assert_array_equal(scaled(X), X * 2)
    settings.q = 3.0
    with pytest.raises(at.Error, match=r"E0606: scaled: the captured constant settings\.q has changed"):
        scaled(X)
    scaled.refresh()
    np.testing.assert_array_equal(scaled(X), X * 3)


def misspelled(x: f64[n]) -> f64[n]:
    return x * Config.rat


def a_class(x: f64[n]) -> f64[n]:
    return x * Config


def made(x: f64[n]) -> f64[n]:
    return x * Model(1.0).gain


def a_member(x: f64[n]) -> f64:
    return x[Side.RIGHT]


def an_instance(x: f64[n]) -> f64[n]:
    return x * model


def a_method(x: f64[n]) -> f64[n]:
    return x * Config.method(x)


@pytest.mark.parametrize(
    ("program", "message", "remedy"),
    [
        (misspelled, "E0230: there is no attribute rat here", "did you mean Config.rate?"),
        (a_class, "E0106: Config is the class Config, which", "declare a record with @at.record"),
        (made, "E0106: Model is the class Model, which", "declare a record with @at.record"),
        (a_member, "E0106: Side.RIGHT is a member of an enumeration, which", "write Side.RIGHT.value, or"),
        (an_instance, "E0106: model is a Model, which", "take its parts, such as model.gain"),
        (a_method, "E0106: Config.method is a plain Python function, which", "decorate Config.method with @at.fn"),
    ],
)
def test_what_they_are_not(program: Any, message: str, remedy: str) -> None:
    with pytest.raises(at.Error) as caught:
        at.fn(program)(X)
    assert str(caught.value).startswith(message) and remedy in str(caught.value)


def test_a_class_called_math() -> None:
    """Names are looked up in what it is, not in what it is called."""
    math = type("math", (), {"pi": 3})

    @at.fn
    def f(k: i64) -> i64:
        return k * math.pi

    assert f(2) == 6
