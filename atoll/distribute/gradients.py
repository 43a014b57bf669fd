"""Gradients within a budget: at.grad(f, memory="2GB"). What a reverse sweep keeps of the rounds of a loop is traded for computing them again.

For the sizes of a call, these are tried in order, and the first that fits is taken: the gradient as it is; loops cut into blocks 2, 3, ... levels deep, of
which only the states at their starts are kept; the gradient in slabs. Nothing runs before one is found.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from atoll.ad.api import grad
from atoll.distribute.arguments import bytes_of, words_of
from atoll.distribute.budget import Within, _needs, integers_of, refuse_undecided
from atoll.distribute.make import sizes_of
from atoll.errors import Error, fail
from atoll.errors.plain import all_plain
from atoll.runtime.arguments import from_python
from atoll.runtime.library import threads

if TYPE_CHECKING:
    from atoll.function import Function

DEPTHS = (2, 3, 4, 6)


@all_plain
class Budgeted:
    """The gradient; `chosen(x...)` says how a call with these arguments is made."""

    def __init__(self, f: Function, wrt: Any, has_aux: bool, memory: Any) -> None:
        self.function, self.wrt, self.has_aux = f, wrt, has_aux
        self.limit = bytes_of(memory, "at.grad")
        self.__name__ = self.__qualname__ = f"grad_{f.name}"
        self._made: dict[int, Function] = {}
        self._chosen: dict[Any, tuple[Any, str, int]] = {}
        self._gradient(0)  # what is wrong with it is told now

    def _gradient(self, depth: int) -> Function:
        if depth not in self._made:
            f = self.function if depth == 0 else self.function.with_options(dataclasses.replace(self.function.options, checkpoint=depth))
            self._made[depth] = grad(f, self.wrt, self.has_aux)
        return self._made[depth]

    def _choose(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Any, str, int]:
        plain = self._gradient(0)
        given = plain._arguments(args, keywords)
        values = from_python(plain.core, given)
        key = (tuple(np.shape(x) or (x if np.ndim(x) == 0 and not isinstance(x, tuple) else None) for x in values), threads())
        if key not in self._chosen:
            self._chosen[key] = self._found(values, given)
        return self._chosen[key]

    def _found(self, values: tuple[Any, ...], given: tuple[Any, ...]) -> tuple[Any, str, int]:
        least = 1 << 62
        for depth in (0, *DEPTHS):
            g = self._gradient(depth)
            found = _needs(g, sizes_of(g, values), integers_of(g, values))
            if found.decided and depth == 0:
                refuse_undecided(self.__name__, self.limit, found.decided)
            if found.decided:
                continue  # blocks whose size is not seen from here: no number would hold
            takes = found.temporaries
            least = min(least, takes)
            if takes <= self.limit:
                return g, "as it is" if depth == 0 else f"loops in blocks {depth} levels deep", takes
        within = Within(self._gradient(0), self.limit)
        try:
            return within, "in slabs", within.peak(*given)
        except Error as error:
            if error.code not in ("E1201", "E1206"):
                raise
        fail("E1206", name=self.__name__, memory=words_of(self.limit), reason=f"with loops cut into blocks it takes {words_of(least)}")

    def chosen(self, *args: Any, **keywords: Any) -> str:
        """How a call with these arguments is made."""
        return self._choose(args, keywords)[1]

    def peak(self, *args: Any, **keywords: Any) -> int:
        """Bytes that a call allocates beside arguments and results, at most."""
        return self._choose(args, keywords)[2]

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self._choose(args, keywords)[0](*args, **keywords)

    def __repr__(self) -> str:
        return f"<{self.__name__} within {words_of(self.limit)}>"
