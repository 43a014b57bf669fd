"""Programs with more of something than is usual: axes, parameters, results, values in a message, extents to print. Each is a text, arguments
and what comes of it; the sanitizers run them too (tests/runtime/sanitize.py)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import atoll as at

_HEAD = "import atoll as at\nfrom atoll import f64\n"


@dataclass(frozen=True)
class Case:
    name: str
    text: str  # of a function f
    args: Callable[[], tuple[Any, ...]]
    value: Any = None  # expected, or
    error: str = ""  # in the message
    printed: str = ""

    def function(self) -> Any:
        return at.fn(source=_HEAD + self.text)


def _many_axes(parameters: int, rank: int) -> Case:
    names = [f"a{k}" for k in range(parameters)]
    shape = ", ".join(f"s{k}" for k in range(rank))
    text = f"{_sizes(rank)}\ndef f({', '.join(f'{a}: f64[{shape}]' for a in names)}) -> f64:\n"
    text += "    return " + " + ".join(f"{a}[{', '.join('0' for _ in range(rank))}]" for a in names) + "\n"
    return Case(f"{parameters} arrays of {rank} axes", text, lambda: tuple(np.full((1,) * rank, float(k)) for k in range(parameters)), float(sum(range(parameters))))


def _many_results(count: int, rank: int) -> Case:
    shape = ", ".join(f"s{k}" for k in range(rank))
    text = f"{_sizes(rank)}\ndef f(a: f64[{shape}]) -> ({', '.join(f'f64[{shape}]' for _ in range(count))}):\n"
    text += "    return " + ", ".join(f"a * {k}.0" for k in range(count)) + "\n"
    one = np.ones((1,) * (rank - 1) + (2,))
    return Case(f"{count} results of {rank} axes", text, lambda: (one,), tuple(one * k for k in range(count)))


def _sizes(rank: int) -> str:
    names = [f"s{k}" for k in range(rank)]
    return f"{', '.join(names)}{',' if rank == 1 else ''} = at.sizes('{' '.join(names)}')"


def _scalars(count: int) -> Case:
    names = [f"x{k}" for k in range(count)]
    text = f"def f({', '.join(f'{x}: f64' for x in names)}) -> f64:\n    return {' + '.join(names)}\n"
    return Case(f"{count} parameters", text, lambda: tuple(float(k) for k in range(count)), float(sum(range(count))))


def _message(count: int, inside: bool) -> Case:
    """An assert that shows many values, also from a round of a loop in pieces."""
    names = [f"x{k}" for k in range(count)]
    shown = " ".join(f"{{{x}}}" for x in names)
    if inside:
        text = "(n,) = (at.sizes('n'),)\n"
        text += f"@at.fn\ndef one(v: f64, {', '.join(f'{x}: f64' for x in names)}) -> f64:\n    assert v < 3.0, f'{shown} {{v}}'\n    return v * 2.0\n"
        text += f"def f(y: f64[n], {', '.join(f'{x}: f64' for x in names)}) -> f64[n]:\n    return [one(v, {', '.join(names)}) for v in y]\n"
    else:
        text = f"def f({', '.join(f'{x}: f64' for x in names)}) -> f64:\n    assert x0 > x1, f'{shown}'\n    return x0\n"
    values = [float(k) for k in range(count)]
    first: tuple[Any, ...] = (np.where(np.arange(200_000) < 150_000, 0.0, 7.0),) if inside else ()
    expected = " ".join(map(str, values)) + (" 7.0" if inside else "")
    return Case(f"a message of {count} values{' in pieces' if inside else ''}", text, lambda: (*first, *values), error=expected)


def _print(rank: int) -> Case:
    shape = ", ".join(f"s{k}" for k in range(rank))
    text = f"{_sizes(rank)}\ndef f(a: f64[{shape}]) -> f64:\n    print(a)\n    return 1.0\n"
    x = np.arange(2.0).reshape((1,) * (rank - 1) + (2,))
    return Case(f"an array of {rank} axes is printed", text, lambda: (x,), 1.0, printed=str(x))


def cases() -> Iterator[Case]:
    yield _many_axes(60, 5)
    yield _many_axes(9, 30)
    yield _many_results(60, 5)
    yield _scalars(65)
    yield _scalars(300)
    yield _message(9, False)
    yield _message(40, False)
    yield _message(20, True)
    yield _print(9)
    yield _print(12)
