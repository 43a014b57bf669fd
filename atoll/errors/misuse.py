"""A command or call that is wrong in itself, before any program is looked at: exit status 2, or E0610 from Python."""

from __future__ import annotations

import keyword

from atoll.errors.base import fail


class Misuse(Exception):
    """The command was called wrongly."""


def kind_of(value: object) -> str:
    """What a Python object is, in a few words."""
    words = {"list": "a list", "NoneType": "None", "str": "a text", "dict": "a dictionary", "ndarray": "an array", "int": "an int"}
    name = type(value).__name__
    return words.get(name, f"{'an' if name[:1].lower() in 'aeio' else 'a'} {name}")


def shown_value(value: object) -> str:
    """A number as it is written, else what it is."""
    return repr(value) if isinstance(value, (bool, int, float, complex)) else kind_of(value)


def names_in(function: str, names: object, example: str) -> list[str]:
    """The names in a text such as "n m k", for at.sizes and its relatives."""
    help_ = f'write {function}("{example}")'
    if not isinstance(names, str):
        fail("E0610", name=function, text=f"takes names in one text, not {kind_of(names)}", help=help_)
    found = names.replace(",", " ").split()
    if not found:
        fail("E0610", name=function, text="there is no name in the text", help=help_)
    for name in found:
        if not name.isidentifier() or keyword.iskeyword(name):
            fail("E0610", name=function, text=f"{name!r} is not a name", help=help_)
    return found
