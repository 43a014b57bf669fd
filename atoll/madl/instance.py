"""An operator with its state, from Python: steps, and the state looked at, copied, saved and restored."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from atoll.errors import fail
from atoll.errors.misuse import kind_of
from atoll.errors.plain import all_plain
from atoll.madl.binding import check_requirements, given_size, solve
from atoll.madl.c_interface import state_buffers
from atoll.madl.oracle import Oracle
from atoll.madl.plan import Plan
from atoll.madl.typing import array_sizes, show_size_named
from atoll.sizes import Atom

if TYPE_CHECKING:
    from atoll.madl.api import Operator


@all_plain
class Instance:
    """An operator with its state: `.step(..)` runs a cycle, `.reset()` starts anew."""

    def __init__(self, operator: Operator, given: dict[str, int], interpreted: bool) -> None:
        self._operator, self._given, self._interpreted = operator, given, interpreted
        self._state: dict[Any, Any] = {}
        self._sizes: dict[Atom, int] | None = None
        self._oracle: Oracle | None = None
        self._last: Plan | None = None  # its sizes have been compared with those of the state
        op = operator.compiled
        if not op.graph.sizes or operator._sizes or given:
            self._try_sizes()

    def _try_sizes(self) -> None:
        """Sizes that are known before the first step."""
        op = self._operator.compiled
        given: dict[Any, int] = {**dict(enumerate(self._operator._sizes)), **self._given}
        equations = [(given_size(op, k), v, f"<<{k}>>") for k, v in given.items()]
        known = {leaf for p, _, _ in equations for leaf in p.leaves()}
        if all(sym in known for sym in op.graph.sizes):
            sizes = solve(op, equations)
            check_requirements(op, sizes)
            self._begin(sizes)

    def _begin(self, sizes: dict[Atom, int]) -> None:
        op = self._operator.compiled
        if op.graph.generics:
            fail("E0963", op.operator.span, name=op.name)
        self._sizes = sizes
        if self._interpreted:
            self._oracle = Oracle(op, sizes)
            self._oracle.reset()
            return
        native = self._operator._native(())
        self._state = native.allocate(("state",), sizes)
        native.reset(self._state, sizes)

    def reset(self) -> None:
        """Put the state to its first value."""
        if self._sizes is not None:
            self._begin(self._sizes)

    def step(self, *args: Any) -> Any:
        """One cycle."""
        args, donated = _undonated(args)
        if self._interpreted:
            given, _ = self._operator._bind(args, self._given)
            self._at(given.sizes)
            assert self._oracle is not None
            self._oracle.numbers.update(given.sizes)
            return _single(self._operator._shown(self._oracle.step(*self._operator._values(given))))
        plan, leaves = self._operator._plan(args, self._given)
        if plan is not self._last:
            self._at(plan.sizes)
            self._last = plan
        return _single(self._operator._shown(plan.run(leaves, self._state, donated)))

    def _at(self, sizes: dict[Atom, int]) -> None:
        if self._sizes is None:
            self._begin(sizes)
        self._same_sizes(sizes)

    def _same_sizes(self, sizes: dict[Atom, int]) -> None:
        """State keeps its size; other sizes may change from cycle to cycle."""
        op = self._operator.compiled
        assert self._sizes is not None
        for chunk in op.layout.params():
            if chunk.role != "state":
                continue

            for p in array_sizes(chunk.type):
                before, now = p.evaluate({**self._sizes}), p.evaluate({**sizes})
                if before != now:
                    shown = show_size_named(p, op.graph.size_names)
                    fail("E0961", name=op.name, text=f"the state {chunk.name} has size {shown} = {before}, but now it is {now}")

    # -- the state, looked at and moved

    @property
    def state(self) -> dict[str, Any]:
        """A copy of the state, by the names it has in C; empty before the sizes are known."""
        if self._sizes is None:
            return {}
        if self._oracle is not None:
            return self._oracle.kept()
        names = self._names()
        return {name: self._state[key].copy() for name, key in names.items()}

    def _names(self) -> dict[str, Any]:
        """What lives from cycle to cycle: the fields of the struct in C. Tables are not among them."""
        native = self._operator._native(())
        return {b.name: native.leaf_of[b] for b in state_buffers(native.op)}

    def restore(self, state: Any) -> None:
        """Put the state to what `.state` was, or to what `.save(path)` wrote."""
        name = self._operator.name
        if self._interpreted:
            fail("E0964", name=name, which="interpreted", text="it is copied with copy.deepcopy, not restored")
        if isinstance(state, (str, os.PathLike)):
            try:
                with np.load(state) as file:
                    state = {key: file[key] for key in file.files}
            except (OSError, ValueError) as problem:
                fail("E0960", name=f"{name}.restore", text=f"{state} cannot be read: {problem}")
        if not isinstance(state, Mapping):
            fail("E0960", name=f"{name}.restore", text=f"takes what .state gives, or the path of what .save wrote, not {kind_of(state)}")
        if self._sizes is None:
            fail("E0961", name=name, text="the sizes of its state are not known yet", help="give them when it is made, or make a step first")
        names = self._names()
        if set(names) != set(state):
            fail("E0960", name=f"{name}.restore", text=f"the state is {', '.join(names) or 'empty'}, not {', '.join(map(str, state)) or 'empty'}")
        for part, key in names.items():
            given, mine = np.asarray(state[part]), self._state[key]
            if given.shape != mine.shape or given.dtype != mine.dtype:
                text = f"{part} is {mine.dtype} of shape {mine.shape}, not {given.dtype} of shape {given.shape}"
                fail("E0960", name=f"{name}.restore", text=text)
        for part, key in names.items():
            self._state[key][...] = state[part]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a file (NumPy's .npz format, under the name that is given)."""
        with Path(path).open("wb") as file:
            np.savez(file, **self.state)

    def copy(self) -> Instance:
        """Another instance in the same state."""
        made = Instance(self._operator, self._given, self._interpreted)
        made._sizes, made._last = self._sizes, self._last
        made._state = {key: array.copy() for key, array in self._state.items()}
        made._oracle = self._oracle.copy() if self._oracle is not None else None
        return made

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Instance:
        return self.copy()

    def __repr__(self) -> str:
        return f"<instance of {self._operator.name}>"


def _single(results: list[Any]) -> Any:
    """One result alone, several as a tuple."""
    return results[0] if len(results) == 1 else tuple(results)


def _undonated(args: tuple[Any, ...]) -> tuple[tuple[Any, ...], frozenset[int]]:
    """The arguments, and which of them may be overwritten (at.donate)."""
    donated = frozenset(k for k, a in enumerate(args) if type(a).__name__ == "Donated")
    return (tuple(a.value if k in donated else a for k, a in enumerate(args)), donated) if donated else (args, donated)


def _interpreting() -> bool:
    return os.environ.get("ATOLL_INTERPRET") == "1"
