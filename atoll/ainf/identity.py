"""When an array by its elements is just another array: the way a whole array is passed on."""

from __future__ import annotations

from collections.abc import Callable

from atoll.ainf import ir
from atoll.sizes import poly


def identity_of(array: ir.Abs, conditional: bool = False, kept: Callable[[ir.Line], bool] | None = None) -> tuple[ir.Line, int] | None:
    """The line and result an array is, all of it and element for element (`conditional`: where it has a value at all).

    A read that is `kept` is not looked through: it has the values of before what it reads was updated.
    """
    body = array.body
    while isinstance(body, ir.Ref) and is_read(body.line, conditional) and not (kept is not None and kept(body.line)):
        inner = read_arg(body.line)
        body = ir.subst_operand(inner, dict(zip(body.line.dims, body.index, strict=False)))
    if not isinstance(body, ir.Ref) or len(body.index) != len(array.binders):
        return None
    whole = tuple(b.extent for b in array.binders) == body.line.extents(body.result)
    return (body.line, body.result) if whole and all(p == poly(b) for p, b in zip(body.index, array.binders, strict=True)) else None


def source_of(array: ir.Abs, kept: Callable[[ir.Line], bool] | None = None) -> tuple[ir.Line, int] | None:
    """The line and result an array is all of, or a whole row of: what is copied when the array is stored elsewhere."""
    body = array.body
    while isinstance(body, ir.Ref) and (is_read(body.line, True) or isinstance(body.line.prim, ir.Active)) and not (kept is not None and kept(body.line)):
        inner_value = body.line.prim.arg if isinstance(body.line.prim, ir.Active) else read_arg(body.line)
        body = ir.subst_operand(inner_value, dict(zip(body.line.dims, body.index, strict=False)))
    rank = len(array.binders)
    if not isinstance(body, ir.Ref) or not rank or len(body.index) < rank:
        return None
    outer, inner = body.index[:-rank], body.index[-rank:]
    if inner != tuple(poly(b) for b in array.binders) or any(b in p.leaves() for p in outer for b in array.binders):
        return None
    fixed = dict(zip(body.line.dims, body.index, strict=False))
    extents = tuple(p.subst(fixed) for p in body.line.extents(body.result)[-rank:])
    return (body.line, body.result) if extents == tuple(b.extent for b in array.binders) else None


def is_read(line: ir.Line, conditional: bool = False) -> bool:
    """A line that is just another value, unconditionally so unless asked otherwise."""
    return (conditional or not line.conds) and isinstance(line.prim, ir.Op) and line.prim.name == "read"


def read_arg(line: ir.Line) -> ir.Operand:
    assert isinstance(line.prim, ir.Op)
    return line.prim.args[0]


def updates(key: tuple[ir.Line, int]) -> list[tuple[ir.Line, int]]:
    """An array, what it is an update of, what that is an update of, and so on."""
    chain = [key]
    while (found := version_before(chain[-1])) is not None:
        chain.append(found)
    return chain


def version_before(key: tuple[ir.Line, int]) -> tuple[ir.Line, int] | None:
    """What an array is an update of."""
    line, k = key
    if isinstance(line.prim, ir.Scatter):
        found = identity_of(line.prim.base, conditional=True)
    elif isinstance(line.prim, (ir.Loop, ir.While)):
        found = identity_of(line.prim.state[k], conditional=True)
    else:
        return None
    return found if found is not None and not found[0].dims else None
