"""Terms as text, one loop per line, in the user's names."""

from __future__ import annotations

from collections.abc import Mapping

from atoll.core.prims import ARITHMETIC
from atoll.schedule import term as tm
from atoll.sizes import Poly, Sym
from atoll.sizes.describe import condition

_MONOIDS = {"add": "sum", "mul": "prod", "minimum": "min", "maximum": "max", "and": "all", "or": "any", "xor": "xor"}


def show(t: tm.Term, notes: Mapping[object, str] | None = None, depth: int = 0) -> str:
    """The program; `notes` are printed after the loops and values they belong to."""
    return "\n".join(_lines(t, notes or {}, depth))


def _note(notes: Mapping[object, str], x: object) -> str:
    text = notes.get(x)
    return f"    # {text}" if text else ""


def _range(low: Poly, high: Poly, sym: Sym) -> str:
    return f"{sym} < {high}" if not low.terms else f"{low} <= {sym} < {high}"


def _lines(t: tm.Term, notes: Mapping[object, str], depth: int) -> list[str]:
    pad = "  " * depth
    match t:
        case tm.Gen() | tm.Sum():
            word = "for" if isinstance(t, tm.Gen) else _MONOIDS[t.monoid]
            head = f"{pad}{word} {_range(t.low, t.high, t.sym)}:{_note(notes, t.sym)}"
            return [head, *_lines(t.body, notes, depth + 1)]
        case tm.Guard() if not _is_scalar(t):
            return [f"{pad}where {conditions(t.conds)}:", *_lines(t.body, notes, depth + 1)]
        case tm.Let():
            rolled = f", {t.rolled[1]} rows kept" if t.rolled is not None else ""
            head = f"{pad}{t.name}{rolled} ="
            if _is_scalar(t.bound):
                return [f"{head} {scalar(t.bound)}{_note(notes, t.name)}", *_lines(t.body, notes, depth)]
            return [f"{head}{_note(notes, t.name)}", *_lines(t.bound, notes, depth + 1), *_lines(t.body, notes, depth)]
        case tm.Nest():
            names = ", ".join(map(repr, t.names))
            args = ", ".join(map(repr, t.args))
            what = f"{t.routine.label}, round {', '.join(map(repr, t.at))}" if t.at else t.routine.label
            return [f"{pad}{names + ' = ' if names else ''}nest({args})    # {what}", *_lines(t.body, notes, depth)]
        case tm.Cat():
            first = "" if t.axis == 0 else f" along axis {t.axis}"
            return [f"{pad}joined{first}:", *_lines(t.left, notes, depth + 1), f"{pad}and:", *_lines(t.right, notes, depth + 1)]
        case tm.Plus():
            return [f"{pad}added:", *_lines(t.left, notes, depth + 1), f"{pad}and then:", *_lines(t.right, notes, depth + 1)]
        case tm.Reshape():
            amount = "" if t.amount is None else f" {t.amount}"
            return [f"{pad}{t.op}{amount}, axis {t.axis}:", *_lines(t.body, notes, depth + 1)]
        case tm.Many():
            found = []
            for k, item in enumerate(t.items):
                found += [f"{pad}result {k}:", *_lines(item, notes, depth + 1)]
            return found
        case tm.Choose() if not _is_scalar(t):
            return [f"{pad}if {_tests(t.tests)}:", *_lines(t.then, notes, depth + 1), f"{pad}else:", *_lines(t.orelse, notes, depth + 1)]
    return [f"{pad}{scalar(t)}"]


def _is_scalar(t: tm.Term) -> bool:
    match t:
        case tm.Get() | tm.Look() | tm.Lit() | tm.Index() | tm.Op() | tm.Cast() | tm.Zero():
            return True
        case tm.Guard():
            return _is_scalar(t.body)
        case tm.Choose():
            return _is_scalar(t.then) and _is_scalar(t.orelse)
    return False


def conditions(conds: tuple[Poly, ...]) -> str:
    return " and ".join(condition(c) for c in conds)


def _tests(tests: tuple[tm.Test, ...]) -> str:
    parts = []
    for test in tests:
        if test.poly is not None:
            parts.append(condition(test.poly) if test.kind == "ge" else f"{test.poly} {ARITHMETIC[test.kind]} 0")
        else:
            assert test.term is not None
            parts.append(scalar(test.term) if test.kind == "true" else f"not {scalar(test.term)}")
    return " and ".join(parts)


def scalar(t: tm.Term) -> str:
    """A scalar on one line."""
    match t:
        case tm.Get():
            return f"{t.name}[{', '.join(map(repr, t.index))}]" if t.index else repr(t.name)
        case tm.Look():
            return f"{t.name}[{', '.join(map(scalar, t.index))}]"
        case tm.Lit():
            return repr(t.value)
        case tm.Index():
            return f"{{{t.poly}}}"
        case tm.Zero():
            return f"zeros({', '.join(map(repr, t.shape))})" if t.shape else "0"
        case tm.Op():
            if t.name in ARITHMETIC and len(t.args) == 2:
                return f"({scalar(t.args[0])} {ARITHMETIC[t.name]} {scalar(t.args[1])})"
            return f"{t.name}({', '.join(map(scalar, t.args))})"
        case tm.Cast():
            return f"{t.dtype}({scalar(t.arg)})"
        case tm.Guard():
            return f"[{conditions(t.conds)}] {scalar(t.body)}"
        case tm.Choose():
            return f"({scalar(t.then)} if {_tests(t.tests)} else {scalar(t.orelse)})"
    return "{" + " ".join(line.strip() for line in _lines(t, {}, 0)) + "}"
