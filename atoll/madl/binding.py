"""Sizes from arguments, and arguments as memory: what happens between Python and the code of an operator.

Each argument's shape gives equations for the sizes; one unknown at a time is found, in any order, and the rest are checks. The memory of a call is
one array per chunk and leaf. An argument that is a whole chunk nobody writes is passed as it is; others are laid into a new array through their
index map, so a call never changes its arguments. Results are read through theirs.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from atoll.errors import fail
from atoll.errors.misuse import kind_of
from atoll.madl.compiled import Compiled
from atoll.madl.pieces import Leaf, leaf_index, leaves_of, row_major
from atoll.madl.represented import inward
from atoll.madl.typing import Generic, prune, show_size_named, show_type
from atoll.madl.values import dtype_of, part_of
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.sizes.describe import requirement
from atoll.types.dtypes import by_numpy, fits
from atoll.types.types import Index, Scalar, Type
from atoll.views.index_map import IndexMap, view_index

Number = Callable[[Poly], int]


@dataclass(frozen=True)
class Arguments:
    """Converted arguments: one array per leaf of each, and the sizes they have."""

    leaves: list[dict[tuple[int, ...], Any]]
    sizes: dict[Atom, int]


def type_arguments(op: Compiled, args: tuple[Any, ...]) -> tuple[Type, ...]:
    """What the type variables are, from the dtypes of the arguments."""
    found: dict[Generic, Type] = {}
    for wire, arg in zip(op.graph.arguments, args, strict=False):
        for leaf in leaves_of(wire.type):
            t = prune(leaf.type)
            if isinstance(t, Generic) and t not in found:
                dtype = by_numpy(np.asarray(_part(op, wire.shown, arg, wire.type, leaf.components)).dtype)
                if dtype is not None and not dtype.is_complex:
                    found[t] = Scalar(dtype)
    missing = [g for g in op.graph.generics if g not in found]
    if missing:
        fail("E0963", op.operator.span, name=op.name)
    return tuple(found[g] for g in op.graph.generics)


def bind(op: Compiled, args: tuple[Any, ...], given: Mapping[Any, int], types: tuple[Type, ...] = ()) -> Arguments:
    """Convert the arguments and find the sizes. `given` are sizes by name or position."""
    wires = op.graph.arguments
    if len(args) != len(wires):
        fail("E0960", name=op.name, text=f"takes {len(wires)} arguments, not {len(args)}")
    generics = dict(zip(op.graph.generics, types, strict=True))
    converted = []
    equations: list[tuple[Poly, int, str]] = []
    for wire, arg in zip(wires, args, strict=True):
        parts = {}
        for leaf in leaves_of(wire.type):
            name = wire.shown + leaf.label
            part = _part(op, wire.shown, arg, wire.type, leaf.components)
            array = _convert(op, name, part, leaf, generics, show_type(wire.type, op.graph.size_names))
            for axis, (size, length) in enumerate(zip(leaf.extents, array.shape, strict=True)):
                equations.append((size, length, f"argument {name} (axis {axis})"))
            parts[leaf.components] = array
        converted.append(parts)
    for key, value in given.items():
        equations.append((given_size(op, key), whole(op.name, value), f"<<{key}>>"))
    sizes = solve(op, equations)
    check_requirements(op, sizes)
    for wire, parts in zip(wires, converted, strict=True):
        for leaf in leaves_of(wire.type):
            t = prune(leaf.type)
            if isinstance(t, Index):
                _check_range(op, wire.shown, parts[leaf.components], t.size.evaluate({**sizes}))
    return Arguments(converted, sizes)


def whole(name: str, value: Any) -> int:
    """A size from Python."""
    try:
        return operator.index(value)
    except TypeError:
        fail("E0961", name=name, text=f"a size is a whole number, not {value!r}")


def given_size(op: Compiled, key: Any) -> Poly:
    if isinstance(key, int):
        if key >= len(op.graph.size_params):
            fail("E0961", name=op.name, text=f"has {len(op.graph.size_params)} sizes in <<..>>, {key + 1} are given")
        return op.graph.size_params[key][1]
    for name, size in op.graph.size_params:
        if name == key:
            return size
    for sym, name in op.graph.size_names.items():
        if name == key:
            return poly(sym)
    fail("E0961", name=op.name, text=f"has no size {key}")


def _part(op: Compiled, name: str, arg: Any, t: Type, components: tuple[int, ...]) -> Any:
    try:
        return part_of(arg, t, components)
    except ValueError as wrong:
        fail("E0960", name=op.name, text=f"argument {name} must be {show_type(t, op.graph.size_names)}: {wrong}")


def _convert(op: Compiled, name: str, arg: Any, leaf: Leaf, generics: Mapping[Generic, Type], shown: str) -> Any:
    dtype = dtype_of(leaf.type, generics)
    rank = len(leaf.extents)
    if isinstance(leaf.type, Scalar):
        try:
            arg = inward(leaf.type, arg)
        except ValueError as wrong:
            fail("E0960", name=op.name, text=f"argument {name} must be {shown}: {wrong}")
    if isinstance(arg, (bool, int, float)):
        value = bool(arg) if dtype.kind == "b" and isinstance(arg, bool) else arg
        if rank or not fits(value, dtype):
            fail("E0960", name=op.name, text=f"argument {name} must be {shown}, not {arg!r}")
        return np.asarray(value, dtype.numpy)
    try:
        array = np.asarray(arg)
    except ValueError:
        fail("E0960", name=op.name, text=f"argument {name} must be {shown}; its rows have different lengths")
    if array.dtype.kind not in "biufc":
        fail("E0960", name=op.name, text=f"argument {name} must be {shown}, not {kind_of(arg)}")
    if isinstance(arg, (list, tuple)):
        if array.size and not all(fits(v, dtype) for v in array.reshape(-1).tolist()):
            fail("E0960", name=op.name, text=f"argument {name} must be {shown}; an element does not fit {dtype}")
        array = array.astype(dtype.numpy)
    if array.dtype != dtype.numpy:
        fail("E0960", name=op.name, text=f"argument {name} must have dtype {dtype.numpy}, not {array.dtype}", help=f"{name}.astype(np.{dtype.numpy})")
    if array.ndim != rank:
        fail("E0960", name=op.name, text=f"argument {name} must have {rank} axes ({shown}), not {array.ndim}")
    return np.ascontiguousarray(array) if rank else array


def solve(op: Compiled, equations: list[tuple[Poly, int, str]]) -> dict[Atom, int]:
    """Find each size from an equation linear in it; check the others."""
    known: dict[Atom, int] = {}
    said: dict[Atom, str] = {}
    names = op.graph.size_names
    changed = True
    while changed:
        changed = False
        for p, value, where in equations:
            unknown = [leaf for leaf in p.leaves() if leaf not in known]
            if len(unknown) != 1:
                continue
            factor = p.slope(unknown[0])
            if factor is None:
                continue
            c = factor.evaluate(known)
            rest = (p - factor * unknown[0]).evaluate(known)
            if c == 0:
                continue
            if (value - rest) % c:
                fail("E0961", name=op.name, text=f"{where} is {value}, which is not {show_size_named(p, names)} for any {names[unknown[0]]}")
            known[unknown[0]], said[unknown[0]] = (value - rest) // c, where
            changed = True
    for p, value, where in equations:
        if any(leaf not in known for leaf in p.leaves()):
            continue
        if p.evaluate(known) != value:
            single = p.single()
            if single is not None and single in said:
                text = f"size {names[single]} is {known[single]} in {said[single]} but {value} in {where}"
            else:
                text = f"{where} is {value}, but {show_size_named(p, names)} is {p.evaluate(known)}"
            fail("E0961", name=op.name, text=text)
    missing = [names[sym] for sym in op.graph.sizes if sym not in known]
    if missing:
        which = ", ".join(missing)
        fail("E0961", name=op.name, text=f"the size {which} is not known", help=f"give it: {op.name}[..] or {missing[0]}=..")
    for sym in op.graph.sizes:
        if known[sym] >= 2**46:
            fail("E0612", name=op.name, size=names[sym], value=known[sym])
    return {sym: known[sym] for sym in op.graph.sizes}


def check_requirements(op: Compiled, sizes: Mapping[Atom, int]) -> None:
    names = op.graph.size_names
    env: dict[Any, int] = dict(sizes)
    for p, what, span in op.graph.requirements:
        if p.evaluate(env) < 0:
            renamed = {sym: Sym(names[sym]) for sym in op.graph.sizes}
            shown = p.subst({sym: poly(new) for sym, new in renamed.items()})
            values: dict[Atom, int] = {new: env[sym] for sym, new in renamed.items()}
            text = f"{what} (line {span.line}) needs {requirement(shown, lambda a: values[a])}"
            fail("E0961", name=op.name, text=text)


def _check_range(op: Compiled, name: str, array: Any, size: int) -> None:
    bad = (array < 0) | (array >= size)
    if np.any(bad):
        value = int(array[bad].reshape(-1)[0]) if array.ndim else int(array)
        fail("E0962", name=op.name, arg=name, value=value, high=size - 1)


# -- memory


def positions(m: IndexMap, leaf: Leaf, chunk_extents: tuple[Poly, ...], number: Number) -> Any:
    """The position in a chunk's buffer of every element of a view's leaf."""
    shape = tuple(max(0, number(n)) for n in leaf.extents)
    view = tuple(poly(view_index(k)) for k in range(len(shape)))
    _, index = leaf_index(m, leaf, view)
    address = row_major(index, chunk_extents)
    grid: Any = np.indices(shape) if shape else []
    total = np.zeros(shape, np.int64)
    for mono, coef in address.terms.items():
        term: Any = np.int64(coef)
        for atom in mono:
            k = next((j for j in range(len(shape)) if view_index(j) is atom), None)
            term = term * (grid[k] if k is not None else number(Poly({(atom,): 1})))
        total = total + term
    return total
