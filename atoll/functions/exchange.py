"""Which unions cross between Python and a λANF program, and how each leaf does (native/entry.h); the values themselves are runtime/data.py."""

from __future__ import annotations

from collections.abc import Callable

from atoll.core import ir as core
from atoll.errors import fail
from atoll.functions import ir
from atoll.functions.kernels import element_rep, leaf_rep, leaf_types
from atoll.types.dtypes import DTYPES
from atoll.types.types import Array, Fn, Type, Union, shape_of
from atoll.types.unions import type_key

_WORD, _TWO, _DATA, _ARRAY = range(4)


class Tables:
    """The unions that cross, numbered; how each leaf of a constructor, parameter or result is exchanged."""

    def __init__(self, fn: core.Function, data: Callable[[Union], ir.DataType]) -> None:
        self.data = data
        self.numbers: dict[object, int] = {}
        self.unions: list[Union] = []
        self.types: list[ir.DataType] = []
        self.fn = fn
        self.params = [(-1, 8) for _ in fn.sizes] + [self.place(leaf, fn) for _, t in fn.params for leaf in leaf_types(t)]
        self.results = [self.place(leaf, fn) for leaf in leaf_types(fn.result)]

    def number(self, t: Union) -> int:
        key = type_key(t)
        if key not in self.numbers:
            self.numbers[key] = len(self.types)
            self.types.append(self.data(t))
            self.unions.append(t)
            for k in range(len(t.decl.members)):
                for item in t.decl.member(t, k).items:
                    for leaf in leaf_types(item):
                        self.place(leaf, self.fn)
        return self.numbers[key]

    def place(self, t: Type, fn: core.Function) -> tuple[int, int]:
        """The number of a leaf's union, and the bytes of an array's element."""
        _, elem = shape_of(t)
        if isinstance(elem, Fn) or (isinstance(elem, Union) and isinstance(t, Array)):
            fail("E1123", fn.span, name=fn.name, found=repr(t))
        if isinstance(t, Union):
            return self.number(t), 8
        rep = element_rep(t)
        return -1, DTYPES[rep].size

    def leaf(self, con: ir.Constructor, k: int) -> tuple[int, int, int]:
        """kind, union, bytes of an element of leaf k."""
        at = next(n for n, d in enumerate(self.types) if d is con.data)
        t = self.unions[at]
        leaf = [x for item in t.decl.member(t, con.tag).items for x in leaf_types(item)][k]
        type_, item = self.place(leaf, self.fn)
        rep = leaf_rep(leaf)
        kind = _DATA if rep == ir.DATA else _ARRAY if rep == ir.ARRAY else _TWO if rep == "c128" else _WORD
        return kind, type_, item
