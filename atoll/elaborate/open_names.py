"""What the sizes that only a result knows are called in `f.type`: by the names of the declaration, else each by a letter of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from atoll.sizes import Atom, Poly, Sym

_LETTERS = "k l p q r s t u v w".split()


def name_open_sizes(opened: Iterable[Sym], declared: Mapping[Atom, Poly], taken: Iterable[str]) -> None:
    """Give each symbol its name. A name is a label only: symbols are told apart by identity, so this changes no program."""
    used = set(taken)
    rest = []
    given = {p.single(): sym for sym, p in declared.items()}
    for sym in opened:
        wish = given.get(sym)
        if isinstance(wish, Sym) and wish.name not in used:
            sym.name = wish.name
            used.add(sym.name)
        else:
            rest.append(sym)
    for sym in rest:
        wished = sym.name if sym.name.isidentifier() else _LETTERS[0]
        numbered = (f"{letter}{k}" for k in range(1, 1000) for letter in _LETTERS)
        sym.name = next(name for name in (wished, *_LETTERS, *numbered) if name not in used)
        used.add(sym.name)
