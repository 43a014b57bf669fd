"""`at.node(step, init)`: a function (state, input, ..) -> (state, output) with its state. From Python it runs the function; as an operator it is a MADL node that calls it.

    counter = at.node(count, 0)       counter.step(2), counter.reset(), counter.state, counter.copy(), counter.save(path), counter.restore(..)
    counter.operator                  the MADL operator: .c(), .export_c(folder), .instance(interpret=True), .memory()

The operator is made for the sizes of the first state, and has the state of the function as its own.
"""

from __future__ import annotations

import copy
import keyword
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from atoll import tree
from atoll.errors import fail
from atoll.errors.misuse import kind_of
from atoll.errors.plain import all_plain, calling
from atoll.function import Function
from atoll.madl.api import Module, Operator
from atoll.madl.grammar import KEYWORDS
from atoll.madl.instances import External
from atoll.madl.library import Library
from atoll.making import donate
from atoll.types.types import Own, Tuple

if TYPE_CHECKING:
    from atoll.check.certificate import Certificate


@calling
def node(step: Any, init: Any) -> Node:
    """A node from a function (state, input, ..) -> (state, output). `init` is the first state, or a function that makes it.

    >>> import atoll as at
    >>> @at.fn
    ... def count(n: at.i64, by: at.i64) -> (at.i64, at.i64):
    ...     return n + by, n
    >>> c = node(count, 0)
    >>> c.step(2), c.step(3), c.step(0)
    (np.int64(0), np.int64(2), np.int64(5))
    """
    return Node(step, init)


@all_plain
class Node:
    """A function with its state: `.step(..)` and `.reset()`. Called without arguments it makes another instance."""

    def __init__(self, step: Any, init: Any) -> None:
        if not isinstance(step, Function):
            fail("E0960", name="at.node", text=f"takes an Atoll function (made with @at.fn), not {step!r}")
        core = step.core
        result = core.result
        if not core.params or not isinstance(result, Tuple) or len(result.items) != 2:
            fail("E0960", name="at.node", text=f"{step.name} must take (state, input, ..) and give (state, output), not {step.type}")
        first = core.params[0][1]
        state = first.inner if isinstance(first, Own) else first
        if repr(state) != repr(result.items[0]):
            text = f"the state of {step.name} is {state!r} before a step and {result.items[0]!r} after it"
            fail("E0960", name="at.node", text=text)
        self._step, self._init = step, init
        self._owned = isinstance(first, Own)
        self.__name__ = step.name
        self.reset()

    def certificate(self) -> Certificate:
        """That of its function: the state is kept outside of it."""
        return self._step.certificate()

    def assumptions(self) -> str:
        """What is taken on trust about its function."""
        return self._step.assumptions()

    @calling
    def reset(self) -> None:
        """Put the state to its first value."""
        if callable(self._init):
            self._state = self._init()
            return
        try:
            self._state = copy.deepcopy(self._init)
        except Exception:  # noqa: BLE001  each class has its own way to say so
            fail("E0960", name="at.node", text=f"{kind_of(self._init)} cannot be copied, so it is no first state")

    def step(self, *args: Any) -> Any:
        """One cycle: the output. A state declared `own` is updated in its own memory."""
        state = donate(self._state) if self._owned else self._state
        self._state, output = self._step(state, *args)
        return output

    @property
    def state(self) -> Any:
        """The state now, as a copy."""
        return copy.deepcopy(self._state)

    def copy(self) -> Node:
        """Another instance in the same state."""
        made = Node(self._step, self._init)
        made._state = self.state
        return made

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Node:
        return self.copy()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a file (NumPy's .npz format, under the name that is given)."""
        with Path(path).open("wb") as file:
            np.savez(file, *tree.leaves(self._state))

    def restore(self, state: Any) -> None:
        """Put the state to what `.state` was, or to what `.save(path)` wrote."""
        name = f"{self.__name__}.restore"
        if isinstance(state, (str, os.PathLike)):
            try:
                with np.load(state) as file:
                    parts = [file[key] for key in file.files]
            except (OSError, ValueError) as problem:
                fail("E0960", name=name, text=f"{state} cannot be read: {problem}")
        else:
            parts = list(tree.leaves(state))
        mine = [np.asarray(part) for part in tree.leaves(self._state)]
        given = [np.asarray(part) for part in parts]
        if [(a.shape, a.dtype.kind) for a in given] != [(a.shape, a.dtype.kind) for a in mine]:
            shown = [", ".join(f"{a.dtype} of shape {a.shape}" for a in x) for x in (mine, given)]
            fail("E0960", name=name, text=f"the state is {shown[0] or 'empty'}, not {shown[1] or 'empty'}")
        kept = [a.astype(m.dtype) if m.ndim else m.dtype.type(a) for a, m in zip(given, mine, strict=True)]
        self._state = tree.unflatten(self._state, kept)

    @property
    def operator(self) -> Operator:
        """The same as an operator of MADL, for the sizes of the first state."""
        return _operator(self._step, self._init() if callable(self._init) else self._init)

    def c(self, **options: Any) -> str:
        """The C of the node."""
        return self.operator.c(**options)

    def export_c(self, folder: Any, overwrite: bool = False, **options: Any) -> list[Path]:
        """Write the header, the source and an example caller of the node."""
        return self.operator.export_c(folder, overwrite, **options)

    @calling
    def __call__(self) -> Node:
        return Node(self._step, self._init)

    def __repr__(self) -> str:
        return f"<node {self._step.type}>"


def _operator(step: Any, first: Any) -> Operator:
    """A program of one node around the function."""
    name, function = _word(step.name, "node"), "step_function"
    base = Library("")
    base.items[function] = External(function, step, 0)
    taken = {name, function, "state", "following", "output"}
    args = []
    for k, (sym, _) in enumerate(step.core.params[1:], 1):
        word = _word(sym.name, f"x{k}")
        while word in taken:
            word += "_"
        taken.add(word)
        args.append(word)
    given = ", ".join(["last state", *args])
    text = f"""let node {name} ({", ".join(args)}) returns (output):
  state init {_literal(step, first)};
  following, output = {function}({given});
  state = !following
"""
    module = Module(Library(text, f"<node {step.name}>", base=base), name)
    found = getattr(module, name)
    assert isinstance(found, Operator)
    return found


def _word(name: str, otherwise: str) -> str:
    """A name that MADL and C have."""
    return name if name.isascii() and name.isidentifier() and name not in KEYWORDS and not keyword.iskeyword(name) and name.strip("_") else otherwise


def _literal(step: Any, value: Any) -> str:
    """A first state as it is written in MADL."""
    if isinstance(value, tuple):
        return f"(| {', '.join(_literal(step, v) for v in value)} |)"
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        fail("E0960", name="at.node", text=f"{kind_of(value)} is no first state that MADL can write; numbers, arrays of numbers and tuples of them are")
    if array.ndim == 0:
        return _number(step, array.item())
    if array.size == 0 or np.all(array == array.reshape(-1)[0]):
        number = _number(step, array.reshape(-1)[0].item()) if array.size else "0.0" if array.dtype.kind == "f" else "false" if array.dtype.kind == "b" else "0"
        return "".join(f"[{n}]" for n in array.shape) + number
    return f"[| {', '.join(_literal(step, row) for row in array)} |]"


def _number(step: Any, value: Any) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        fail("E0960", name="at.node", text=f"the first state of {step.name} has {value}, which MADL has no word for")
    return ("true" if value else "false") if isinstance(value, bool) else repr(value)
