"""The loops of a certificate, run at small sizes: what an accepted certificate really computes.

An interpreter of its own, with no help from the checker but the decoding of polynomials: memory that was never written holds NaN (or a number nobody
uses), every access is looked at, memory that is freed is gone, and a variable that is not bound is an error. `source` computes the same
results from the certificate's source term, so that the two can be compared.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from atoll.check.sums import Poly, Quotient, Tables
from atoll.check.terms import VIEWS, Term, Terms, dtype, shape, view_pull

NUMPY = {f"{k}{n}": np.dtype(f"{k}{n // 8}") for k, ns in (("i", (8, 16, 32, 64)), ("u", (8, 16, 32, 64)), ("f", (32, 64)), ("c", (64, 128))) for n in ns}
NUMPY["bool"] = np.dtype(bool)
UNSET = -77


class Wrong(Exception):
    """The loops do something no program may do."""


def evaluate(p: Poly, env: dict[str, int]) -> int:
    total = 0
    for monomial, c in p:
        for x in monomial:
            if isinstance(x, Quotient):
                den = evaluate(x.den, env)
                if den < 1:
                    raise Wrong("a division by zero")
                c *= evaluate(x.num, env) // den
            elif x in env:
                c *= env[x]
            else:
                raise Wrong(f"{x} is not bound")
        total += c
    return total


def constant(text: str, d: str) -> Any:
    value = eval(text, {"__builtins__": {}}, {"nan": np.nan, "inf": np.inf})  # noqa: S307  the repr of what JSON holds
    if isinstance(value, dict) and "c" in value:
        real, imag = (float.fromhex(part["f"]) for part in value["c"])
        return NUMPY[d].type(complex(real, imag))
    if isinstance(value, dict):
        value = float.fromhex(value["f"])
    return NUMPY[d].type(value)


OPERATIONS: dict[str, Any] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "min": np.minimum, "max": np.maximum,
    "minimum": np.minimum, "maximum": np.maximum, "neg": lambda a: -a, "div": lambda a, b: a / b, "sqrt": np.sqrt, "abs": np.abs,
    "lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b, "eq": lambda a, b: a == b,
    "exp": np.exp2,  # as good as any other: numbers stay exact
    "fma": lambda a, b, c: a * b + c, "mulacc": lambda a, b: a * b, "floordiv": lambda a, b: a // b if b else a * 0, "log": np.log2, "and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b,
}  # fmt: skip


def neutral(monoid: str, d: str) -> Any:
    if monoid in ("minimum", "maximum"):
        low, high = (np.iinfo(NUMPY[d]).min, np.iinfo(NUMPY[d]).max) if d[0] in "iu" else (0, 1) if d == "bool" else (-np.inf, np.inf)
        return NUMPY[d].type(high if monoid == "minimum" else low)
    return NUMPY[d].type({"mul": 1, "and": 1 if d == "bool" else -1}.get(monoid, 0))


def part(digest: str, given: list[Any], at: tuple[int, ...], extents: list[int], number: int, d: str) -> Any:
    """What an opaque part makes, whatever it is: of every element something that depends on where it is in the whole and on all it is given."""
    start = number + sum(map(ord, digest)) + sum((k + 1) * int(np.asarray(x).sum()) for k, x in enumerate(given))
    cells = [sum((p + 2) * i for p, i in enumerate((*at, *cell))) * 5 + start for cell in np.ndindex(*extents)]
    return np.array([c % 7 for c in cells], NUMPY[d]).reshape(extents)


class Run:
    """One run of a certificate's loops: `results`."""

    def __init__(self, data: dict[str, Any], sizes: dict[str, int], arguments: dict[str, Any]) -> None:
        self.poly = Tables(data).poly
        self.env, self.memory, self.variables = dict(sizes), {}, {}
        for name, _, extents, where in data["arrays"]:
            (self.memory if extents else self.variables)[where] = arguments[name]
        for size, name in data["params"]:
            self.variables[name] = sizes[size]
        for name, d, extents in data["loops"]["outputs"]:
            self.allocate(name, d, extents)
        with np.errstate(all="ignore"):
            self.statements(data["loops"]["body"])
        self.results = [self.memory[name] for name, _, _ in data["loops"]["outputs"]]

    def number(self, k: int) -> int:
        return evaluate(self.poly(k), self.env)

    def allocate(self, name: str, d: str, extents: list[int]) -> None:
        blank = False if d == "bool" else UNSET if d[0] in "iu" else np.nan
        shape = [self.number(k) for k in extents]
        if min(shape, default=0) < 0:
            raise Wrong(f"{name} has a negative extent")
        self.memory[name] = np.full(shape, 0, NUMPY[d]) if d[0] == "u" else np.full(shape, blank, NUMPY[d])

    def at(self, name: str, index: list[int]) -> tuple[Any, tuple[int, ...]]:
        if name not in self.memory:
            raise Wrong(f"{name} is not there")
        cell = tuple(self.number(k) for k in index)
        if not all(0 <= i < n for i, n in zip(cell, self.memory[name].shape, strict=True)):
            raise Wrong(f"{name}{cell} is outside")
        return self.memory[name], cell

    def holds(self, tests: list[Any]) -> bool:
        for kind, p, e in tests:
            v = bool(self.value(e)) if p is None else self.number(p)
            if not {"ge": v >= 0, "eq": v == 0, "ne": v != 0, "true": bool(v), "false": not v}[kind]:
                return False
        return True

    def value(self, e: list[Any]) -> Any:
        match e:
            case ["use", v]:
                if v not in self.variables:
                    raise Wrong(f"{v} has no value")
                return self.variables[v]
            case ["const", v, d]:
                return constant(repr(v), d)
            case ["index", p]:
                return np.int64(self.number(p))
            case ["load", b, index]:
                array, cell = self.at(b, index)
                return array[cell]
            case ["call", op, args, d]:
                return NUMPY[d].type(OPERATIONS[op](*map(self.value, args)))
            case ["cast", x, d]:
                return NUMPY[d].type(self.value(x))
            case ["choose", tests, a, b]:
                return self.value(a if self.holds(tests) else b)
            case ["truth", tests]:
                return np.bool_(self.holds(tests))
        raise Wrong(f"no expression {e[0]}")

    def statements(self, stmts: list[Any]) -> None:
        declared = []
        for place, x in enumerate(stmts):
            match x:
                case ["section", digest, at, args]:
                    self.section(stmts, place, digest, tuple(map(self.number, at)), args)
                case ["for", sym, low, high, _, body]:
                    for i in range(self.number(low), self.number(high)):
                        self.env[sym] = i
                        self.statements(body)
                    self.env.pop(sym, None)
                case ["if", tests, then, orelse]:
                    self.statements(then if self.holds(tests) else orelse)
                case ["store", b, index, e]:
                    value = self.value(e)
                    array, cell = self.at(b, index)
                    array[cell] = value
                case ["update", b, index, op, e]:
                    value = self.value(e)
                    array, cell = self.at(b, index)
                    array[cell] = OPERATIONS[op](array[cell], value)
                case ["set" | "declare", v, d, e]:
                    self.variables.pop(v, None)
                    declared.append(v)
                    if e is not None:
                        self.variables[v] = NUMPY[d].type(self.value(e))
                        if d == "i64":
                            self.env[v] = int(self.variables[v])
                case ["assign", v, e]:
                    if v not in declared and v not in self.variables:
                        self.variables[v] = None
                    self.variables[v] = self.value(e)
                case ["alloc", b, d, extents, *_]:
                    self.allocate(b, d, extents)
                case ["free", b]:
                    if b not in self.memory:
                        raise Wrong(f"nothing to free: {b}")
                    del self.memory[b]
                case _:
                    raise Wrong(f"no statement {x[0]}")
        for v in declared:
            self.variables.pop(v, None)
            self.env.pop(v, None)


    def section(self, stmts: list[Any], place: int, digest: str, at: tuple[int, ...], args: list[str]) -> None:
        """An opaque part makes what was allocated right before it."""
        first = place
        while first and stmts[first - 1][0] == "alloc":
            first -= 1
        if any(i < 0 for i in at) or not all(x in self.memory or x in self.variables for x in args):
            raise Wrong("a round, or an array that is given, is not there")
        given = [self.memory[x] if x in self.memory else self.variables[x] for x in args]
        if not all(np.isfinite(x).all() for x in given):
            raise Wrong("an opaque part reads what nobody wrote")
        for number, (_, x, d, extents, *_) in enumerate(stmts[first:place]):
            self.memory[x] = part(digest, given, at, list(map(self.number, extents)), number, d)


class Source:
    """The value of a certificate's source term, from its definition (schedule/term.py), element by element."""

    def __init__(self, data: dict[str, Any], sizes: dict[str, int], arguments: dict[str, Any]) -> None:
        tables = Tables(data)
        self.data, self.sizes = data, dict(sizes)
        self.shapes = {name: tables.polys(extents) for name, _, extents, _ in data["arrays"]}
        self.types = {name: d for name, d, _, _ in data["arrays"]}
        term = Terms(tables).term(data["source"])
        with np.errstate(all="ignore"):
            self.results = [np.asarray(x) for x in self.top(term, dict(arguments))]

    def top(self, t: Term, arrays: dict[str, Any]) -> list[Any]:
        if t[0] == "let":
            self.shapes[t[1]], self.types[t[1]] = shape(t[2], self.shapes), dtype(t[2], self.types)
            return self.top(t[3], {**arrays, t[1]: self.whole(t[2], arrays, self.sizes)})
        if t[0] == "nest":
            return self.top(t[5], self.opaque(t, arrays, self.sizes))
        return [self.whole(x, arrays, self.sizes) for x in (t[1] if t[0] == "many" else (t,))]

    def opaque(self, t: Term, arrays: dict[str, Any], env: dict[str, int]) -> dict[str, Any]:
        """An opaque part, or a round of it."""
        made, at = dict(arrays), tuple(evaluate(p, env) for p in t[8])
        if any(i < 0 for i in at):
            raise Wrong("a round that is not there")
        for number, ((x, d), extents) in enumerate(zip(t[1], t[2], strict=True)):
            self.shapes[x], self.types[x] = extents, d
            made[x] = part(t[3], [arrays[y] for y in t[4]], at, [evaluate(p, env) for p in extents], number, d)
        return made

    def whole(self, t: Term, arrays: dict[str, Any], env: dict[str, int]) -> Any:
        extents = [evaluate(p, env) for p in shape(t, self.shapes)]
        values = [self.element(t, index, arrays, env) for index in np.ndindex(*extents)]
        return np.array(values).reshape(extents) if extents else values[0]

    def element(self, t: Term, index: tuple[int, ...], arrays: dict[str, Any], env: dict[str, int]) -> Any:
        match t[0]:
            case "gen":
                return self.element(t[4], index[1:], arrays, {**env, t[1]: evaluate(t[2], env) + index[0]})
            case "sum":
                rounds = range(evaluate(t[2], env), evaluate(t[3], env))
                values = [self.element(t[4], index, arrays, {**env, t[1]: i}) for i in rounds]
                return self.fold(t[5], values, t, arrays)
            case "guard":
                return self.element(t[2], index, arrays, env) if all(evaluate(p, env) >= 0 for p in t[1]) else 0
            case "let":
                self.shapes[t[1]], self.types[t[1]] = shape(t[2], self.shapes), dtype(t[2], self.types)
                return self.element(t[3], index, {**arrays, t[1]: self.whole(t[2], arrays, env)}, env)
            case "nest":
                return self.element(t[5], index, self.opaque(t, arrays, env), env)
            case "plus":
                return self.fold(t[3], [self.element(k, index, arrays, env) for k in t[1:3]], t, arrays)
            case "cat":
                axis, first = t[1], evaluate(shape(t[2], self.shapes)[t[1]], env)
                if index[axis] < first:
                    return self.element(t[2], index, arrays, env)
                return self.element(t[3], (*index[:axis], index[axis] - first, *index[axis + 1 :]), arrays, env)
            case "zero":
                return 0
            case "view":
                return self.viewed(t, index, arrays, env)
            case "get":
                cell = tuple(evaluate(p, env) for p in t[2])
                array = np.asarray(arrays[t[1]])
                return array[cell] if all(0 <= i < n for i, n in zip(cell, array.shape, strict=True)) else array.dtype.type(0)
            case "look":
                cell = tuple(int(self.element(k, (), arrays, env)) for k in t[2])
                array = np.asarray(arrays[t[1]])
                return array[cell] if all(0 <= i < n for i, n in zip(cell, array.shape, strict=True)) else array.dtype.type(0)
            case "lit":
                return constant(t[1], t[2])
            case "index":
                return np.int64(evaluate(t[1], env))
            case "op":
                return NUMPY[t[3]].type(OPERATIONS[t[1]](*(self.element(k, (), arrays, env) for k in t[2])))
            case "cast":
                return NUMPY[t[2]].type(self.element(t[1], (), arrays, env))
            case "choose":
                return self.element(t[1] if self.holds(t[3], arrays, env) else t[2], index, arrays, env)
        raise Wrong(f"no term {t[0]}")

    def holds(self, tests: Any, arrays: dict[str, Any], env: dict[str, int]) -> bool:
        for kind, p, x in tests:
            v = evaluate(p, env) if p is not None else bool(self.element(x, (), arrays, env))
            if not {"ge": v >= 0, "eq": v == 0, "ne": v != 0, "true": bool(v), "false": not v}[kind]:
                return False
        return True

    def fold(self, monoid: str, values: list[Any], t: Term, arrays: dict[str, Any]) -> Any:
        if not values:
            return neutral(monoid, dtype(t, self.types))
        total = values[0]
        for v in values[1:]:
            total = OPERATIONS[monoid](total, v)
        return total

    def viewed(self, t: Term, index: tuple[int, ...], arrays: dict[str, Any], env: dict[str, int]) -> Any:
        axis, (takes, gives, _) = t[2], VIEWS[t[1]]
        known = [((((), n),) if n else ()) for n in index[axis : axis + gives]]
        conds, where = view_pull(t[1], shape(t[4], self.shapes)[axis : axis + takes], t[3] or (), tuple(known))
        if not all(evaluate(p, env) >= 0 for p in conds):
            return 0
        return self.element(t[4], (*index[:axis], *(evaluate(p, env) for p in where), *index[axis + gives :]), arrays, env)
