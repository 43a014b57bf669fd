"""Errors reach the user without the frames of the compiler, but the one that raises them again."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from atoll.errors.base import Error

P = ParamSpec("P")
R = TypeVar("R")


def plain(asked: Callable[P, R]) -> Callable[P, R]:
    """The same function; what happened inside is not the user's business."""

    @functools.wraps(asked)
    def run(*args: P.args, **keywords: P.kwargs) -> R:
        try:
            return asked(*args, **keywords)
        except Error as error:
            raise error.with_traceback(None) from None

    return run
