"""Sizes written `_`: whatever the body makes of them (MADL's inference, Pauget, chapter 2).

    @at.fn
    def dot(u: f64[_], v: f64[_]): return sum(u * v)        # dot(u: f64[i], v: f64[i]) -> f64

Each `_` is an unknown of its own. When the body is read and its equations are solved, what is still free is generalised: it becomes a
size of the function, bound at each call. A size that occurs in no parameter would be a guess, and is an error.
"""

from __future__ import annotations

from atoll.core import ir
from atoll.elaborate.elaborator import Elaborator
from atoll.sizes import Atom, Poly, Sym, poly
from atoll.types.types import Type, flatten, map_sizes, part_text, shape_of, sizes_in

_LETTERS = "i j k l p q r s t u v w".split()


class Blank(Sym):
    """One `_` in a signature."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("_")


def blanks(types: list[Type]) -> tuple[Blank, ...]:
    """The blanks of a signature, in order."""
    found = (leaf for t in types for size in sizes_in(t) for leaf in size.leaves())
    return tuple(dict.fromkeys(leaf for leaf in found if isinstance(leaf, Blank)))


def open_blanks(el: Elaborator, params: list[tuple[str, Type]], result: Type | None) -> dict[Atom, Poly]:
    """An unknown for each blank, called after the axis it stands for."""
    env: dict[Atom, Poly] = {}
    for name, t in params:
        for path, leaf_type in flatten(t):
            inside = part_text(t, path)
            for axis, size in enumerate(shape_of(leaf_type)[0]):
                for leaf in size.leaves():
                    if isinstance(leaf, Blank) and leaf not in env:
                        label = f"len({name}{inside})" if axis == 0 else f"{name}{inside}.shape[{axis}]"
                        env[leaf] = el.fresh_size(label, 0)
    for leaf in blanks([t for _, t in params] + ([result] if result is not None else [])):
        if leaf not in env:
            env[leaf] = el.fresh_size("_", 0)
    el.entry_sizes |= {leaf for p in env.values() for leaf in p.leaves()}
    el.assume(*env.values())
    return env


def close_blanks(el: Elaborator, out: ir.Function) -> None:
    """Give the parameters the sizes that were found; what is free becomes a size of the function."""
    used = {sym.name for sym in out.sizes} | {sym.name for sym, _ in out.params}
    names = (name for name in (*_LETTERS, *(f"{c}{k}" for k in range(1, 99) for c in _LETTERS)) if name not in used)
    made: list[Sym] = []

    def put(p: Poly) -> Poly:
        p = el.solver.resolve(p)
        for leaf in p.leaves():
            if leaf in el.solver.unknowns:
                made.append(Sym(next(names)))
                el.solver.solution[leaf] = poly(made[-1])
        return el.solver.resolve(p)

    for _, t in out.params:  # names in the order a reader meets the sizes
        for _, leaf_type in flatten(t):
            for size in shape_of(leaf_type)[0]:
                put(size)
    out.params = tuple((sym, map_sizes(t, put)) for sym, t in out.params)
    out.sizes = (*out.sizes, *made)
    el.session.bounded |= set(made)


__all__ = ["Blank", "blanks", "close_blanks", "open_blanks"]
