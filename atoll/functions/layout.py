"""How values are held in C, and where a constructor's fields are in its cell: counted ones first, so that freeing needs only their number."""

from __future__ import annotations

from atoll.functions import ir
from atoll.functions.counted import words
from atoll.types.dtypes import DTYPES


def c_type(rep: ir.Rep) -> str:
    """The C type of a value."""
    if rep in DTYPES:
        return DTYPES[rep].c_name
    return {ir.DATA: "at_value", ir.ARRAY: "at_array *", ir.CODE: "at_value"}[rep]


def positions(con: ir.Constructor) -> tuple[int, ...]:
    """The word of each field, after the header."""
    found = [0] * len(con.fields)
    at = 0
    for k, rep in enumerate(con.fields):
        if rep in (ir.DATA, ir.ARRAY):
            found[k] = at
            at += 1
    for k, rep in enumerate(con.fields):
        if rep not in (ir.DATA, ir.ARRAY):
            found[k] = at
            at += 2 if rep == "c128" else 1
    return tuple(found)


def counted_fields(con: ir.Constructor) -> int:
    return sum(rep in (ir.DATA, ir.ARRAY) for rep in con.fields)


def header(con: ir.Constructor) -> str:
    return f"AT_HEADER({words(con)}, {counted_fields(con)}, {con.tag})"
