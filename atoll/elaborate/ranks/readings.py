"""Elaborations as text in the user's own syntax: `sum(map(len, A))`, `sum(rep(len(A)))`.

Only what is inserted is written anew, everything else is quoted. A map nest names its function where it has a name, and captures what does
not vary: `A + v` is `map(lambda a: map(add, a, v), A)`.
"""

from __future__ import annotations

import itertools
import keyword
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from atoll.elaborate.builtins.names import BUILTINS, OPERATORS
from atoll.elaborate.ranks.constraints import Application
from atoll.elaborate.ranks.solve import Insertion, Solution
from atoll.surface import syntax as s
from atoll.surface.show import Printer, children, level

_NAMED = {op: name for name, op in OPERATORS.items()} | {"**": "pow", "@": "matmul"}
_POOL = "x y z u v w p q r s t".split()
_TIGHT = level(s.Name("x"))


@dataclass(frozen=True, slots=True)
class Mark:
    """What one argument of an application gets."""

    source: s.Node | None  # the argument in the text
    excess: int
    reps: int
    is_function: bool = False


Marks = Mapping[int, Sequence[Mark]]
"""What is inserted, by the identity of the application's node."""
Text = tuple[str, int]  # a text and how tightly it binds


def marks(pairs: Iterable[tuple[Application, Insertion]]) -> dict[int, list[Mark]]:
    """Insertions gathered by application."""
    found: dict[int, list[Mark]] = {}
    for app, insertion in sorted(pairs, key=lambda pair: pair[0].position):
        mark = Mark(app.source, insertion.excess, insertion.reps, app.argument.is_function)
        found.setdefault(id(app.node), []).append(mark)
    return {node: given for node, given in found.items() if any(m.excess or m.reps for m in given)}


class Elaborated(Printer):
    """Prints expressions with the marked insertions explicit. `taken` are names that may not be used for elements."""

    by_name = True  # `map(f, xs)` where f has a name, else always a lambda

    def __init__(self, inserted: Marks, taken: Iterable[str] = ()) -> None:
        self.inserted = inserted
        self.taken = set(taken)

    def changed(self, node: Any) -> bool:
        return id(node) in self.inserted

    def rewritten(self, node: Any) -> tuple[str, int]:
        given = self.inserted[id(node)]
        if all(mark.source is None for mark in given):
            return self._as_lambda(node, given)
        by_source = {id(mark.source): k for k, mark in enumerate(given) if mark.source is not None}
        texts: list[tuple[Text, int]] = []
        for mark in given:
            text: Text = ("...", _TIGHT)
            if mark.source is not None:
                text = (self.expr(mark.source), _TIGHT if self.changed(mark.source) else level(mark.source))
            for _ in range(mark.reps):
                text = (f"rep({text[0]})", _TIGHT)
            texts.append((text, mark.excess))
        depth = max(excess for _, excess in texts)
        if depth == 0:
            return self._applied(node, by_source, [text for text, _ in texts])
        return self._nest(node, by_source, texts, depth, set()), _TIGHT

    def _as_lambda(self, node: Any, given: Sequence[Mark]) -> Text:
        """A function passed to `fold`, `hist`, ..., which applies it to elements: `lambda x, y: map(add, x, y)`."""
        used: set[str] = set()
        texts: list[tuple[Text, int]] = []
        for mark in given:
            used.add(name := self._element("", used))
            texts.append((("rep(" * mark.reps + name + ")" * mark.reps, _TIGHT), mark.excess))
        params = ", ".join(sorted(used, key=[*_POOL, *used].index))
        depth = max(excess for _, excess in texts)
        body = self._nest(node, {}, texts, depth, used) if depth else self._applied(node, {}, [text for text, _ in texts])[0]
        return f"lambda {params}: {body}", level(s.Lambda((), s.NoneValue()))

    def _nest(self, node: Any, by_source: dict[int, int], texts: list[tuple[Text, int]], depth: int, used: set[str]) -> str:
        """map(..., arrays): the arguments that vary at this level become elements. A tuple becomes a tuple of arrays."""
        text = self._level(node, by_source, texts, depth, used)
        return f"unzip({text})" if self.is_tuple(node) else text

    def is_tuple(self, node: Any) -> bool:
        """Whether the application gives a tuple, where that is known."""
        return False

    def _level(self, node: Any, by_source: dict[int, int], texts: list[tuple[Text, int]], depth: int, used: set[str]) -> str:
        varying = [k for k, (_, excess) in enumerate(texts) if excess == depth]
        name = self._name(node, len(texts), by_source)
        if depth == 1 and name is not None:
            inner = [text[0] if k in varying else f"rep({text[0]})" for k, (text, _) in enumerate(texts)]
            return f"map({name}, {', '.join(inner)})"
        below = list(texts)
        params = []
        for k in varying:
            param = self._element(texts[k][0][0], used)
            used = used | {param}
            params.append(param)
            below[k] = ((param, _TIGHT), depth - 1)
        if depth == 1:
            body = self._applied(node, by_source, [text for text, _ in below])[0]
        else:
            body = self._nest(node, by_source, below, depth - 1, used)
        return f"map(lambda {', '.join(params)}: {body}, {', '.join(texts[k][0][0] for k in varying)})"

    def _name(self, node: Any, count: int, by_source: dict[int, int]) -> str | None:
        """The function of an application, where `map` can take it by name."""
        if not self.by_name:
            return None
        if isinstance(node, s.BinOp):
            return _NAMED.get(node.op)
        if isinstance(node, (s.Name, s.Attr)):
            return node.span.text()
        if any(mark.is_function for mark in self.inserted[id(node)]):
            return None
        if isinstance(node, s.Call) and not node.keywords and len(node.args) == count and not isinstance(node.fn, s.Lambda):
            if all(id(arg) in by_source for arg in node.args):
                return self.expr(node.fn, _TIGHT)
        return None

    def _applied(self, node: Any, by_source: dict[int, int], texts: list[Text]) -> Text:
        """The application itself with these arguments."""
        here = level(node)

        def put(part: Any, around: int = 0) -> str:
            at = by_source.get(id(part))
            if at is None:
                return self.expr(part, around)
            text, tight = texts[at]
            return f"({text})" if tight < around else text

        match node:
            case s.BinOp("**", left, right):
                return f"{put(left, here + 1)} ** {put(right, here)}", here
            case s.BinOp(op, left, right):
                return f"{put(left, here)} {op} {put(right, here + 1)}", here
            case s.Compare(first, rest):
                return put(first, here + 1) + "".join(f" {op} {put(e, here + 1)}" for op, e in rest), here
            case s.Unary(op, value):
                return f"{op}{put(value, here)}", here
            case s.Call(s.Attr(value, name), args, keywords) if id(value) in by_source:
                named = [f"{key}={put(v)}" for key, v in keywords]
                return f"{put(value, _TIGHT)}.{name}({', '.join([put(a) for a in args] + named)})", _TIGHT
            case s.Call(fn, args, keywords):
                named = [f"{key}={put(v)}" for key, v in keywords]
                return f"{self.expr(fn, _TIGHT)}({', '.join([put(a) for a in args] + named)})", _TIGHT
            case s.Subscript(value, items):
                inner = [put(i) if id(i) in by_source else self.item(i) for i in items]
                return f"{put(value, _TIGHT)}[{', '.join(inner)}]", _TIGHT
        name = node.span.text()  # a function that is passed: fold(f, ...) applies it to elements
        return f"{name if isinstance(node, (s.Name, s.Attr)) else f'({name})'}({', '.join(text for text, _ in texts)})", _TIGHT

    def _element(self, array: str, used: set[str]) -> str:
        """A name for the elements of an array: `x` for `xs`, `row` for `rows`, `a` for `A`."""
        word = array if array.isidentifier() else ""
        guess = word[:-1] if len(word) > 1 and word.endswith("s") else word.lower() if word != word.lower() else ""
        for name in itertools.chain((guess,), _POOL, (f"{p}{k}" for k in range(1, 99) for p in _POOL)):
            if name and name not in used and name not in self.taken and name not in BUILTINS and not keyword.iskeyword(name):
                return name
        raise AssertionError


def identifiers(text: str) -> set[str]:
    """All names in a text."""
    return set(re.findall(r"[A-Za-z_]\w*", text))


# -- what solutions differ in


def differing(solutions: Sequence[Solution]) -> list[Application]:
    """The applications at which some two solutions insert different things."""
    apps = solutions[0].system.applications
    return [a for a in apps if len({(sol.maps(a), sol.reps(a)) for sol in solutions}) > 1]


def nodes_of(apps: Iterable[Application]) -> list[s.Node]:
    """The applications, each once, outer ones before the ones inside them."""
    found = list({id(a.node): a.node for a in apps}.values())
    return sorted(found, key=lambda n: (n.span.line, n.span.column, -n.span.end_line, -n.span.end_column))


def outermost(nodes: Sequence[s.Node]) -> list[s.Node]:
    """The nodes that are not inside another one of them."""
    return [n for n in nodes if not any(m is not n and encloses(m, n) for m in nodes)]


def encloses(outer: Any, inner: Any) -> bool:
    return any(part is inner or encloses(part, inner) for part in children(outer))
