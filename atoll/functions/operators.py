"""Operators: what a λANF program does besides calling, building and looking at data.

A scalar operator is a row of core/prims.py at one dtype, a conversion, or a check that stops the program. `pure` operators always have
a value and may be dropped, moved and copied; `takes` says which arguments are given away (reference counting,
docs/sources.md): all others are only looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from atoll.ainf.ir import Site
from atoll.core import portable
from atoll.core.interpret import cast as convert
from atoll.core.prims import PRIMS
from atoll.functions.ir import BOOL_REP, Rep
from atoll.types.dtypes import DTYPES
from atoll.types.types import SCALARS


class Stopped(Exception):
    """A check that did not hold."""

    def __init__(self, site: Site, args: tuple[Any, ...]) -> None:
        super().__init__(site.code)
        self.site, self.args_ = site, args


@dataclass(frozen=True, slots=True, eq=False)
class Operator:
    name: str
    params: tuple[Rep, ...]
    results: tuple[Rep, ...]
    means: Callable[..., Any] = field(repr=False)
    pure: bool = True
    takes: frozenset[int] = frozenset()
    info: Any = None

    def __repr__(self) -> str:
        return self.name


_made: dict[tuple[str, ...], Operator] = {}


def scalar(op: str, dtype: str) -> Operator:
    """A primitive of core/prims.py on numbers of this dtype. Where it could fail, a check has to stand before it.

    >>> scalar("add", "i64").means(np.int64(2), np.int64(3))
    5
    """
    key = (op, dtype)
    if key not in _made:
        own = op.startswith("portable_")
        row = PRIMS[op.removeprefix("portable_")]
        result = row.result(DTYPES[dtype]).numpy.type
        params = (BOOL_REP, dtype, dtype) if op == "select" else (dtype,) * row.arity
        meaning = portable.meaning(op.removeprefix("portable_")) if own else row.means

        def means(*args: Any) -> Any:
            with np.errstate(all="ignore"):
                return result(meaning(*args))

        _made[key] = Operator(f"{op}.{dtype}", params, (row.result(DTYPES[dtype]).name,), means, info=(op, dtype))
    return _made[key]


def cast(source: str, target: str) -> Operator:
    """A conversion between numbers; a float that is no integer of the target has been refused before."""
    key = ("cast", source, target)
    if key not in _made:
        _made[key] = Operator(
            f"{target}.of.{source}", (source,), (target,), lambda x: convert(x, SCALARS[target]), info=("cast", source, target)
        )
    return _made[key]


def fits(source: str, target: str) -> Operator:
    """Whether a float, truncated, is an integer of the target type."""
    key = ("fits", source, target)
    if key not in _made:
        low, high = DTYPES[target].limits()

        def means(x: Any) -> Any:
            whole = float(np.trunc(x))  # in f32 the limits would be rounded
            return np.bool_(low <= whole and (whole <= high if high < 2**53 else whole < float(high + 1)))

        _made[key] = Operator(f"fits.{target}.{source}", (source,), (BOOL_REP,), means, info=("fits", source, target))
    return _made[key]


def check(site: Site, shown: tuple[Rep, ...] = ()) -> Operator:
    """Stops the program with the site's error unless its first argument is true; the others are shown in the error."""

    def means(test: Any, *args: Any) -> tuple[()]:
        if not test:
            raise Stopped(site, args)
        return ()

    return Operator("check", (BOOL_REP, *shown), (), means, pure=False, info=site)
