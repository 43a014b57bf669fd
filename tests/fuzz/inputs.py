"""Arguments for any function, from its signature, the sizes and a seed. Values depend on the parameter's name, not on its place, so that a
shrunk program sees the same ones."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from atoll.core import ir
from atoll.types.types import Record, Tuple, Type, array, shape_of

SIZES = (0, 1, 2, 3, 5, 7, 17)
WEIGHTS = (1, 2, 3, 4, 4, 2, 1)


def choose_sizes(names: list[str], seed: int) -> dict[str, int]:
    """A size for every name; small ones are the usual case so that most runs do something."""
    return {name: random.Random(f"{seed}:{name}").choices(SIZES, WEIGHTS)[0] for name in names}


def arguments(fn: ir.Function, sizes: dict[str, int], seed: int, special: bool) -> tuple[Any, ...]:
    """Arguments of a core function as a user would pass them; `special` allows NaN and infinities."""
    numbers = {sym.name: sizes.get(sym.name, 3) for sym, _ in fn.params if sym.name.startswith("k")}
    env = {**sizes, **numbers}

    def size(p: Any) -> int:
        return int(p.evaluate(lambda atom: env[atom.name]))

    return tuple(
        np.int64(numbers[sym.name]) if sym.name in numbers else make(t, size, random.Random(f"{seed}:{sym.name}"), special)
        for sym, t in fn.params
    )


def make(t: Type, size: Any, rng: random.Random, special: bool) -> Any:
    sizes, elem = shape_of(t)
    if isinstance(elem, (Tuple, Record)):
        parts = [make(array(item, list(sizes)), size, rng, special) for item in elem.items]
        return elem.decl.cls(*parts) if isinstance(elem, Record) else tuple(parts)  # type: ignore[misc]
    dims = tuple(size(s) for s in sizes)
    dtype = elem.dtype.numpy  # type: ignore[attr-defined]
    values = np.array([number(dtype, rng, special) for _ in range(int(np.prod(dims)))], dtype).reshape(dims)
    return values if dims else dtype.type(values[()])


def number(dtype: Any, rng: random.Random, special: bool) -> Any:
    """Small numbers with many coincidences, now and then the ends of the range."""
    if dtype.kind == "b":
        return rng.random() < 0.5
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        if rng.random() < 0.06:
            return rng.choice((info.min, info.max, info.max - 1))
        return rng.randint(0 if dtype.kind == "u" else -9, 9)
    if dtype.kind == "c":
        return complex(quarter(rng), quarter(rng))
    if special and rng.random() < 0.1:
        return rng.choice((np.nan, np.inf, -np.inf))
    return quarter(rng)


def quarter(rng: random.Random) -> float:
    return rng.randint(-16, 16) / 4
