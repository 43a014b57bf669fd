"""Elements that are kept elsewhere: in a variable (scalar replacement, forwarding), or in another array (retargeting).

    Forwarded(env, named)          a copy in which these elements are variables
    retargeted(stmts, old, place)  the elements of one array as elements of another

Forwarding is right where a variable holds what the element holds whenever it is read: it was just stored, or read and not written since; who makes the copy has seen to it.
Retargeting is right where every element of the old array has a place of its own in the new one, of which nobody else knows meanwhile, and nothing mentions the old
array as a whole; the last is looked for here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from atoll.loops import ir as lp
from atoll.loops.questions import mentions
from atoll.loops.transform.copier import Copier
from atoll.loops.transform.refused import Made, Refused
from atoll.loops.transform.walk import replaced
from atoll.sizes import Atom, Poly

Index = tuple[Poly, ...]


class Forwarded(Copier):
    """A copy in which some elements are variables; they are told by the array and the index as they stand in the text."""

    def __init__(self, env: Mapping[Atom, Poly], named: Mapping[lp.Load, lp.Var]) -> None:
        super().__init__(env)
        self.named = named

    def expr(self, e: lp.Expr) -> lp.Expr:
        if isinstance(e, lp.Load) and e in self.named:
            return lp.Use(self.named[e])
        return super().expr(e)


def by_elements_only(stmts: lp.Stmts, buffer: lp.Buffer) -> bool:
    """Statements that know an array by its elements: none exchanges, copies, prints it or hands it to a routine."""
    whole = (lp.Swap, lp.CopyBuffer, lp.Helper, lp.Product, lp.Print, lp.Section)
    return not any((isinstance(s, whole) or (isinstance(s, lp.Chunks) and s.buffers)) and mentions(s)[buffer] for s in lp.walk(stmts))


def retargeted(stmts: lp.Stmts, old: lp.Buffer, new: lp.Buffer, place: Callable[[Index], Index]) -> Made:
    """The statements with elements of another array for those of one; names of variables stay."""
    if not by_elements_only(stmts, old):
        return Refused(f"{old.shown} is mentioned as a whole")
    if old.dtype is not new.dtype or old.rows is not None or new.rows is not None:
        return Refused(f"{new.shown} does not hold what {old.shown} holds")

    def moved(x: Any) -> Any:
        here = isinstance(x, (lp.Load, lp.Store, lp.Update)) and x.buffer is old
        return replace(x, buffer=new, index=place(x.index)) if here else x

    found: lp.Stmts = replaced(list(stmts), moved)
    return found
