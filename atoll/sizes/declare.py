"""Size names a user declares: `at.sizes("n m")`, `at.some("k")`. One name gives one object."""

from __future__ import annotations

from typing import Any

from atoll.errors.misuse import names_in
from atoll.errors.plain import plain
from atoll.sizes.poly import Sym, poly

_NAMED: dict[str, Sym] = {}
_SOME: dict[str, Sym] = {}


def size_symbol(name: str) -> Sym:
    """The symbol behind a declared size name."""
    if name not in _NAMED:
        _NAMED[name] = Sym(name)
    return _NAMED[name]


@plain
def sizes(names: str) -> Any:
    """Declare size variables, like SymPy's symbols: one name gives one size, several give a tuple.

    >>> n, m = sizes("n m")
    >>> n + 2*m
    n + 2*m
    """
    made = tuple(poly(size_symbol(name)) for name in names_in("at.sizes", names, "n m"))
    return made[0] if len(made) == 1 else made


@plain
def some(names: str) -> Any:
    """Declare sizes that a function's result decides (existential): `k = at.some("k")`, `-> f64[k]`."""
    made = []
    for name in names_in("at.some", names, "k"):
        if name not in _SOME:
            _SOME[name] = Sym(name)
        made.append(poly(_SOME[name]))
    return made[0] if len(made) == 1 else tuple(made)


def is_some(sym: object) -> bool:
    return isinstance(sym, Sym) and _SOME.get(sym.name) is sym
