"""The loops of a compile's certificate, run at small sizes: an interpreter of its own, with no help from the checker but the reading of rows.

Elements that nobody wrote, places outside of an array, memory that is not there and names that are not bound are errors. Rounds that may run at the same time are run in either order, and
ranges are cut into pieces in different ways (`backwards`), sums without an order are added backwards too: what depends on it is seen. Numbers are small integers, so sums of floats are exact.
"""

from __future__ import annotations

from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from tests.check.run_loops import NUMPY, OPERATIONS, Wrong, constant, evaluate

FEW = 60_000  # statements
MANY = 1 << 22  # elements of an array
MORE = {
    "not": lambda a: not a, "ne": lambda a, b: a != b, "floordiv": lambda a, b: a // b, "mod": lambda a, b: a % b, "floor": np.floor, "exp": np.exp, "isnan": np.isnan,
    "abs": np.abs, "select": lambda c, a, b: a if c else b, "sign": np.sign, "ceil": np.ceil, "trunc": np.trunc, "log": np.log, "sin": np.sin, "cos": np.cos, "tanh": np.tanh,
}  # fmt: skip
NEUTRAL = {"add": 0, "mul": 1, "or": 0, "and": 1, "xor": 0}


class Unknown(Exception):
    """Something that this interpreter does not do."""


class Failed(Exception):
    """A check failed: the program has no result."""


class Break(Exception):
    pass


class Run:
    def __init__(self, env: dict[str, Any], arrays: dict[str, Any], backwards: bool) -> None:
        self.env, self.arrays, self.backwards, self.left = env, arrays, backwards, FEW
        self.local: set[str] = set()  # arrays on the stack, which nobody frees
        self.written: dict[str, Any] = {b: np.ones(x.shape, bool) for b, x in arrays.items()}

    def poly(self, p: Any) -> int:
        return evaluate(p, self.env)

    def place(self, b: str, index: Any) -> tuple[int, ...]:
        at = tuple(self.poly(p) for p in index)
        if b not in self.arrays:
            raise Wrong(f"{b} is not there")
        rows = self.kept.get(b)
        if rows is not None:
            at = (at[0] % rows, *at[1:])
        if len(at) != self.arrays[b].ndim or not all(0 <= k < n for k, n in zip(at, self.arrays[b].shape, strict=True)):
            raise Wrong(f"{b}{at}")
        return at

    kept: dict[str, int] = {}

    def load(self, b: str, index: Any) -> Any:
        at = self.place(b, index)
        if not self.written[b][at]:
            raise Wrong(f"{b}{at} was never written")
        return self.arrays[b][at]

    def expr(self, e: Any) -> Any:
        match e:
            case ("use", v):
                if v not in self.env or self.env[v] is None:
                    raise Wrong(f"{v} is not bound")
                return self.env[v]
            case ("const", text, d):
                return constant(text, d)
            case ("index", p):
                return self.poly(p)
            case ("load", b, index):
                return self.load(b, index)
            case ("cast", x, d):
                return NUMPY[d].type(self.expr(x))
            case ("choose", tests, a, b):
                return self.expr(a) if self.holds(tests) else self.expr(b)
            case ("truth", tests):
                return self.holds(tests)
            case ("call", op, args, _):
                found = OPERATIONS.get(op) or MORE.get(op)
                if found is None:
                    raise Unknown(op)
                values = [self.expr(a) for a in args]
                if op in ("floordiv", "mod") and values[1] == 0:
                    raise Wrong("a division by zero")
                return found(*values)
        raise Unknown(e[0])

    def holds(self, tests: Any) -> bool:
        for kind, p, e in tests:
            x = self.poly(p) if p is not None else self.expr(e)
            if not {"ge": lambda: x >= 0, "eq": lambda: x == 0, "ne": lambda: x != 0, "true": lambda: bool(x), "false": lambda: not x}[kind]():
                return False
        return True

    def body(self, body: Any) -> None:
        for s in body:
            self.left -= 1
            if self.left < 0:
                raise Unknown("too long")
            self.stmt(s)

    def combined(self, op: str, a: Any, b: Any) -> Any:
        return OPERATIONS[{"minimum": "min", "maximum": "max"}.get(op, op)](a, b)

    def rounds(self, low: int, high: int, free: bool) -> Any:
        return range(high - 1, low - 1, -1) if free and self.backwards else range(low, high)

    def begin(self, monoid: str, d: str) -> Any:
        if monoid in ("minimum", "maximum"):
            if d[0] == "f":
                return NUMPY[d].type(np.inf if monoid == "minimum" else -np.inf)
            info = np.iinfo(NUMPY[d])
            return NUMPY[d].type(info.max if monoid == "minimum" else info.min)
        if monoid not in NEUTRAL:
            raise Unknown(monoid)
        return NUMPY[d].type(NEUTRAL[monoid])

    def stmt(self, s: Any) -> None:
        match s[0]:
            case "let" | "declare":
                self.env[s[1]] = None if s[3] is None else _typed(self.expr(s[3]), s[2])
            case "assign":
                if s[1] not in self.env:
                    raise Wrong(f"{s[1]} is not bound")
                self.env[s[1]] = self.expr(s[2])
            case "add":
                self.env[s[1]] = self.combined(s[2], self.expr(("use", s[1])), self.expr(s[3]))
            case "store":
                at = self.place(s[1], s[2])
                self.arrays[s[1]][at] = self.expr(s[3])
                self.written[s[1]][at] = True
            case "update":
                old = self.load(s[1], s[2])
                self.arrays[s[1]][self.place(s[1], s[2])] = self.combined(s[3], old, self.expr(s[4]))
            case "check":
                if not self.holds(s[1]):
                    raise Failed
            case "for":
                for k in self.rounds(self.poly(s[2]), self.poly(s[3]), bool(s[5][0] or s[5][1])):
                    self.env[s[1]] = k
                    self.body(s[4])
            case "accumulate":
                low, high = self.poly(s[2]), self.poly(s[3])
                self.env |= {v: self.begin(m, d) for v, m, d in s[5]}
                for k in self.rounds(low, high, not s[6]):
                    self.env[s[1]] = k
                    self.body(s[4])
            case "chunks":
                self.chunks(s)
            case "if":
                self.body(s[2] if self.holds(s[1]) else s[3])
            case "alloc":
                shape = tuple(max(0, self.poly(p)) for p in s[3])
                rows = s[4][1]
                self.local |= {s[1]} if s[4][0] else set()
                self.kept = {**self.kept, s[1]: rows} if rows is not None else {b: r for b, r in self.kept.items() if b != s[1]}
                self.arrays[s[1]] = np.zeros(shape if rows is None else (rows, *shape[1:]), NUMPY[s[2]])
                self.written[s[1]] = np.zeros(self.arrays[s[1]].shape, bool)
            case "free":
                if self.arrays.pop(s[1], None) is None:
                    raise Wrong(f"{s[1]} is not there")
            case "copy":
                self.arrays[s[1]][...] = self.arrays[s[2]]
                self.written[s[1]] = self.written[s[2]].copy()
            case "swap":
                for table in (self.arrays, self.written):
                    table[s[1]], table[s[2]] = table[s[2]], table[s[1]]
            case "break":
                if not self.holds(s[1]):
                    raise Break
            case "forever":
                try:
                    while True:
                        self.body(s[1])
                except Break:
                    pass
            case "section":
                self.body(s[2])
            case "product":
                self.body(s[3])
                self.body(s[4])
            case "helper":
                self.helper(s)
            case _:
                raise Unknown(s[0])

    def chunks(self, s: Any) -> None:
        if s[6]:
            raise Unknown("shared arrays")
        long = self.poly(s[3])
        cuts = [0, long] if not self.backwards else sorted({0, long, max(0, long // 3), max(0, 2 * long // 3)})
        pieces = [(a, b) for a, b in pairwise(cuts) if a < b]
        for low, high in reversed(pieces) if self.backwards else pieces:
            self.env |= {s[1]: low, s[2]: high}
            self.body(s[4])

    def helper(self, s: Any) -> None:
        name, places, sizes = s[1], s[2], [self.poly(p) for p in s[3]]

        def row(k: int, long: int) -> tuple[str, tuple[Any, ...]]:
            b, index = places[k]
            at = self.place(b, index) if long else (0,) * self.arrays[b].ndim
            if at[-1] + long > self.arrays[b].shape[-1]:
                raise Wrong(f"{b} is not long enough")
            return b, (*at[:-1], slice(at[-1], at[-1] + long))

        match name:
            case "fence":
                return
            case "sort" | "argsort":
                (a, x), (b, y) = row(0, sizes[0]), row(1, sizes[0])
                found = np.sort(self.arrays[a][x], kind="stable") if name == "sort" else np.argsort(self.arrays[a][x], kind="stable")
                self.arrays[b][y], self.written[b][y] = found, True
            case "stream":
                (b, y), (a, x) = row(0, sizes[0]), row(1, sizes[0])
                self.arrays[b][y], self.written[b][y] = self.arrays[a][x], True
            case "compress":
                (a, x), (f, z), (b, y) = (row(k, sizes[0]) for k in range(3))
                found = self.arrays[a][x][self.arrays[f][z]]
                first = y[-1].start
                there = (*y[:-1], slice(first, first + len(found)))
                self.arrays[b][there], self.written[b][there] = found, True
                if s[4] is not None:
                    self.env[s[4][0]] = len(found)
            case _:
                raise Unknown(name)


def _typed(x: Any, d: str) -> Any:
    return int(x) if d == "i64" else x


def results(body: Any, sizes: dict[str, int], chain: Any, seed: int, backwards: bool) -> Any:
    """The arrays that a program leaves: its arguments and results, and the variables that say how long results are; "failed" where a check fails."""
    kinds = chain.kinds
    rng = np.random.default_rng(seed)
    arrays: dict[str, Any] = {}
    env: dict[str, Any] = dict(sizes)
    for name, (kind, d, _) in kinds.items():
        if kind == "an array" and name in kinds.extents:
            shape = tuple(max(0, evaluate(p, sizes)) for p in kinds.extents[name])
            if prod(shape) > MANY:
                raise Unknown(f"{name} has {prod(shape)} elements")
            arrays[name] = rng.integers(0, 4, shape).astype(NUMPY[d])
            if name in kinds.constants:
                arrays[name] = np.array([constant(e[1], e[2]) for e in kinds.constants[name][1]], NUMPY[d]).reshape(kinds.constants[name][0])
        elif kind == "a variable" and name in chain.given:
            env[name] = _typed(NUMPY[d].type(rng.integers(0, 4)), d)
    run = Run(env, arrays, backwards)
    try:
        with np.errstate(all="ignore"):
            run.body(body)
    except Failed:
        return "failed"
    return {b: arrays[b].copy() for b in sorted(arrays) if b not in run.local} | {v: env.get(v) for v in sorted(chain.results)}


def same(a: Any, b: Any) -> bool:
    if isinstance(a, str) or isinstance(b, str):
        return isinstance(a, str) and isinstance(b, str)
    return a.keys() == b.keys() and all(np.array_equal(a[k], b[k], equal_nan=np.asarray(a[k]).dtype.kind in "fc") if isinstance(a[k], np.ndarray) else a[k] == b[k] for k in a)


__all__ = ["Unknown", "Wrong", "results", "same"]
