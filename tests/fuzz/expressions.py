"""Expressions of a given scalar or tuple type: leaves, choices, calls, the clauses of comprehensions. Operators are in operations.py, sums and folds in
reductions.py, arrays in arrays.py; each builds on the one before.

Operators are written once for scalars and arrays: `operand(dtype, weak)` gives the code of an operand, a scalar or a whole array; with `weak`
it may be a literal or a scalar that the other operand lifts.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from .model import (
    COMPLEX,
    I64,
    INEXACT,
    INTS,
    WHOLE,
    Array,
    Code,
    Helper,
    Num,
    Precision,
    Record,
    Scalar,
    Size,
    Tuple,
    Type,
    Var,
    has_floats,
    leaf_dtypes,
    rank,
    shape,
)

Operand = Callable[[str, bool], Code]
Option = tuple[float, Callable[[], "Code | None"]]

LITERALS = (0.0, 0.5, 1.0, -1.5, 2.0, 0.25, -0.75, 3.0)
SAFE_ARGUMENT = Num(4, INEXACT, 4)  # what helper functions assume of their float parameters


class Expressions:
    def __init__(self, rng: random.Random, precision: Precision, palette: Sequence[str], risk: str) -> None:
        self.rng = rng
        self.precision = precision
        self.palette = list(palette)
        self.risk = risk
        self.vars: list[Var] = []
        self.helpers: list[Helper] = []
        self.records: list[Record] = []
        self.base_sizes: list[Size] = []
        self.integers: list[tuple[str, int]] = []  # captured numbers, as good as literals
        self.fuel = 0
        self.nest = 0
        self.level = 0
        self.count = 0
        self.risky = 0

    # -- choosing

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def pick(self, options: Sequence[Option], otherwise: Callable[[], Code]) -> Code:
        """The code of some option that applies and whose floats are still to be trusted."""
        left = [o for o in options if o[0] > 0]
        while left:
            chosen = self.rng.choices(range(len(left)), [w for w, _ in left])[0]
            found = left.pop(chosen)[1]()
            if found is not None and self.precision.fits(found.num):
                return found
        return otherwise()

    def name(self, base: str) -> str:
        self.count += 1
        return f"{base}{self.count}"

    def take_risk(self, kind: str) -> bool:
        """True where something may go wrong at run time; one kind of error per program, so that there is one right code."""
        if self.risk == kind and self.risky < 2 and self.chance(0.5):
            self.risky += 1
            return True
        return False

    @contextmanager
    def bound(self, new: Sequence[Var], loop: bool = False) -> Iterator[None]:
        saved = list(self.vars)
        self.vars = saved + list(new)
        self.nest += loop
        try:
            yield
        finally:
            self.vars = saved
            self.nest -= loop

    @contextmanager
    def hidden(self, hide: Callable[[Var], bool]) -> Iterator[None]:
        saved = self.vars
        self.vars = [v for v in saved if not hide(v)]
        try:
            yield
        finally:
            self.vars = saved

    def some_size(self) -> Size:
        """A size to iterate over."""
        own = [v.type.size for v in self.vars if isinstance(v.type, Array) and v.type.size.degree < 2]
        return self.rng.choice([*self.base_sizes, *own, Size.of(self.rng.choice((1, 2, 3, 4)))])

    def some_dtype(self, kinds: Sequence[str]) -> str:
        found = [d for d in self.palette if d in kinds]
        return self.rng.choice(found or list(kinds)[:1])

    # -- leaves

    def literal(self, dtype: str) -> Code:
        if dtype == "bool":
            return Code(self.rng.choice(("True", "False")), weak=True)
        if dtype in INTS:
            if self.integers and self.chance(0.3):
                return Code(self.rng.choice(self.integers)[0], weak=True)
            low = 0 if dtype[0] == "u" else -9
            return Code(str(self.rng.choice((0, 1, 2, 3, 5, 7, 100, max(low, -1), max(low, -4)))), weak=True)
        x = self.rng.choice(LITERALS)
        if dtype in COMPLEX and self.chance(0.5):
            return Code(f"({x} + {self.rng.choice((1.0, 0.5, 2.0))}j)", Num(3, 2), weak=True)
        return Code(str(x), Num(2, 2), weak=True)

    def strong(self, code: Code, dtype: str) -> Code:
        """A literal takes the type of what it meets; where it meets nothing, the type is written."""
        if not code.weak:
            return code
        return Code(f"{dtype}({code.text})", code.num)

    def leaf(self, dtype: str, exact: bool = False) -> Code:
        """A visible value, seldom a literal."""
        if self.chance(0.03 if dtype == "bool" else 0.12):
            return self.literal(dtype)
        found = self.read(Scalar(dtype), exact)
        if found is not None:
            return found
        if dtype == "bool":
            x = self.read(Scalar(self.some_dtype(INTS))) or self.read(I64)
            return Code(f"({x.text} {self.rng.choice(('<', '>=', '!='))} {self.rng.choice((0, 1, 2, 5))})") if x else self.literal(dtype)
        x = self.read(Scalar(self.some_dtype(INTS))) if dtype not in COMPLEX else None
        return self.literal(dtype) if x is None else self._converted(x, dtype)

    def _converted(self, x: Code, dtype: str) -> Code:
        """An integer as another type."""
        return Code(f"{dtype}({x.text})") if dtype in INTS else Code(f"{dtype}({x.text} % 9)", Num(4))

    def read(self, t: Type, exact: bool = False) -> Code | None:
        """Some visible value of this type: a variable, or a part or element of one."""
        wanted = set(leaf_dtypes(t))
        found = [v for v in self.vars if wanted <= set(leaf_dtypes(v.type)) and rank(v.type) >= rank(t)]
        if exact:
            found = [v for v in found if v.num.exact or not has_floats(v.type)]
        for _ in range(8 if found else 0):
            v = self.rng.choice(found)
            text = self._walk(v, t)
            if text is not None:
                return Code(text, v.num)
        return None

    def _walk(self, v: Var, wanted: Type) -> str | None:
        text, t = v.name, v.type
        indexed = False
        while t != wanted:
            if isinstance(t, Tuple):
                k = self.rng.randrange(len(t.items))
                text, t, indexed = f"{text}[{k}]", t.items[k], False
            elif isinstance(t, Record):
                field, t = self.rng.choice(t.fields)
                text, indexed = f"{text}.{field}", False
            elif isinstance(t, Array):
                i = self.index(t.size)
                if i is None:
                    return None
                text = f"{text[:-1]}, {i}]" if indexed and self.chance(0.6) else f"{text}[{i}]"
                t, indexed = t.elem, True
            else:
                return None
        return text

    def index(self, size: Size) -> str | None:
        """An index of an axis of this size, in range unless the program may fail there."""
        options: list[str] = []
        if self.take_risk("index"):
            e = self.scalar("i64", 1).text
            return self.rng.choice((f"{e} % 4", f"({e} & 7) - 1", "1", "2"))
        for v in self.vars:
            if v.below is not None:
                room = (size - v.below).constant
                if room is not None and room >= 0:
                    shift = self.rng.randint(0, min(room, 3))
                    options += [f"{v.name} + {shift}" if shift else v.name] * 4
        if size.least >= 1:
            options += ["0", "-1", str(self.rng.randrange(size.least)), f"-{self.rng.randint(1, size.least)}"]
            if self.fuel > 0:
                options += [f"{self.scalar('i64', 1).text} % ({size})"] * 2
        return self.rng.choice(options) if options else None

    # -- values of any type

    def value(self, t: Type, depth: int) -> Code:
        if isinstance(t, Scalar):
            return self.scalar(t.dtype, depth)
        if isinstance(t, Array):
            return self.array(t, depth)
        self.fuel -= 1
        return self.pick(
            [
                (4, lambda: self.read(t)),
                (1 if depth > 0 else 0, lambda: self._choice(t, depth)),
                (0.5 if depth > 0 else 0, lambda: self.call(t, depth)),
                (0.7 if depth > 0 and isinstance(t, Tuple) else 0, lambda: self._tuple_reduction(t, depth)),
            ]
            if self.chance(0.7)
            else [],
            lambda: self.construct(t, depth),
        )

    def construct(self, t: Type, depth: int) -> Code:
        if isinstance(t, Tuple):
            parts = [self.value(item, depth - 1) for item in t.items]
            text = "(" + ", ".join(p.text for p in parts) + ")"
        else:
            assert isinstance(t, Record)
            parts = [self.value(item, depth - 1) for _, item in t.fields]
            named = self.chance(0.5)
            names = [f"{name}=" if named else "" for name, _ in t.fields]
            text = f"{t.name}(" + ", ".join(a + p.text for a, p in zip(names, parts, strict=True)) + ")"
        num = WHOLE
        for p in parts:
            num = num.join(p.num)
        return Code(text, num)

    def _choice(self, t: Type, depth: int) -> Code:
        a, b = self.value(t, depth - 1), self.value(t, depth - 1)
        return Code(f"({a.text} if {self.scalar('bool', depth - 1).text} else {b.text})", a.num.join(b.num))

    # -- scalars

    def scalar(self, dtype: str, depth: int, weak: bool = False, exact: bool = False) -> Code:
        """An expression of this dtype; with `weak` it may be a literal that takes another operand's type."""
        self.fuel -= 1
        if depth <= 0 or self.fuel <= 0:
            code = self.leaf(dtype, exact)
        else:
            code = self.pick(self._options(dtype, depth, exact), lambda: self.leaf(dtype, exact))
        return code if weak else self.strong(code, dtype)

    def _options(self, dtype: str, depth: int, exact: bool) -> list[Option]:
        def operand(d: str, may_be_weak: bool) -> Code:
            return self.scalar(d, depth - 1, may_be_weak, exact)

        t = Scalar(dtype)
        loops = self.nest < 3
        options: list[Option] = [
            (3, lambda: self.read(t, exact)),
            (6, lambda: self.operation(dtype, operand, exact, lifted=False)),
            (1.5, lambda: self._conditional(dtype, depth, exact)),
            (0.8, lambda: self._guarded(dtype, depth, exact)),
            (1 if not exact else 0, lambda: self.call(t, depth)),
            (1.6 if loops else 0, lambda: self.reduction(dtype, depth, exact)),
        ]
        if dtype == "bool":
            options += [(2, lambda: self._logic(depth)), (1 if loops else 0, lambda: self._any_all(depth))]
        if dtype == "i64":
            options += [(0.5, self._length), (0.6 if loops else 0, lambda: self._arg_extreme(depth))]
        return options

    def _conditional(self, dtype: str, depth: int, exact: bool) -> Code:
        a = self.scalar(dtype, depth - 1, exact=exact)
        b = self.scalar(dtype, depth - 1, weak=dtype != "bool", exact=exact)
        return Code(f"({a.text} if {self.scalar('bool', depth - 1).text} else {b.text})", a.num.join(b.num))

    def _guarded(self, dtype: str, depth: int, exact: bool) -> Code | None:
        """An element whose index only the condition keeps in range."""
        found = [v for v in self.vars if isinstance(v.type, Array) and v.type.elem == Scalar(dtype) and (v.num.exact or not exact)]
        if not found:
            return None
        v = self.rng.choice(found)
        other = self.scalar(dtype, 0, weak=dtype != "bool", exact=exact)
        numbers = [x for x in self.vars if x.type == I64]
        if numbers and self.chance(0.6):
            i = self.rng.choice(numbers).name
            test = self.rng.choice((f"0 <= {i} < len({v.name})", f"{i} >= 0 and {i} < len({v.name})"))
            text = f"({v.name}[{i}] if {test} else {other.text})"
            if self.chance(0.25):
                text = f"({other.text} if {i} < 0 or {i} >= len({v.name}) else {v.name}[{i}])"
            return Code(text, v.num.join(other.num))
        e = self.scalar("i64", 1).text
        return Code(f"({v.name}[{e} % len({v.name})] if len({v.name}) > 0 else {other.text})", v.num.join(other.num))

    def _length(self) -> Code | None:
        arrays = [v for v in self.vars if isinstance(v.type, Array)]
        if not arrays or self.chance(0.4):
            return Code(f"({self.some_size()})") if self.base_sizes else None
        v = self.rng.choice(arrays)
        k = self.rng.randrange(rank(v.type))
        return Code(f"{v.name}.shape[{k}]" if self.chance(0.3) else f"len({v.name})")

    # -- operators, on scalars or arrays

    def call(self, t: Type, depth: int) -> Code | None:
        """A call whose result has this type; arguments of higher rank lift it."""
        _, wanted = shape(t)
        found = [h for h in self.helpers if h.result == t or (rank(t) > 0 and rank(h.result) == 0 and shape(h.result)[1] == wanted)]
        if not found:
            return None
        helper = self.rng.choice(found)
        if helper.result == t:
            size = self.some_size()
            args = [self.value(_sized(p, size), depth - 1) for p in helper.params]
        else:
            if any(rank(p) for p in helper.params):
                return None
            sizes, _ = shape(t)
            lifted = [k == 0 or self.chance(0.6) for k in range(len(helper.params))]
            args = [
                self.value(_raised(p, sizes) if up else p, depth - 1) for p, up in zip(helper.params, lifted, strict=True)
            ]
        for p, a in zip(helper.params, args, strict=True):
            if has_floats(p) and (a.num.magnitude > SAFE_ARGUMENT.magnitude or a.num.error > SAFE_ARGUMENT.error):
                return None
        return Code(f"{helper.name}({', '.join(a.text for a in args)})", helper.num)

    # -- reductions

    def clause(self, size: Size | None = None) -> tuple[str, list[Var]]:
        """`i in range(n)` and the like, with what it binds. With a size there are exactly that many rounds."""
        free = size is None
        over = size if size is not None else self.some_size()
        arrays = [v for v in self.vars if isinstance(v.type, Array) and v.type.size == over]
        kind = self.rng.choice(("range", "range", "array", "array", "enumerate", "zip", "reversed", "shifted", "backwards", "data", "triangle"))
        i = self.name("j")
        index = Var(i, I64, below=over, frozen=True, level=self.level)
        number = Var(i, I64, frozen=True, level=self.level)
        if kind == "data" and free:
            a, b = self.scalar("i64", 1).text, self.scalar("i64", 1).text
            step = self.rng.choice(("", "", ", 2", ", 3"))
            return f"{i} in range({a} % 3, {b} % 7{step})", [number]
        if kind == "triangle" and free:
            outer = [v for v in self.vars if v.below is not None]
            if outer:
                o = self.rng.choice(outer)
                assert o.below is not None
                inner = Var(i, I64, below=o.below, frozen=True, level=self.level)
                return f"{i} in range({self.rng.choice((o.name, o.name + ' + 1', f'{o.name}, {o.below}'))})", [inner]
        if arrays:
            v = self.rng.choice(arrays)
            assert isinstance(v.type, Array)
            x = Var(self.name("x"), v.type.elem, v.num, self.level, True)
            if kind == "array":
                return f"{x.name} in {v.name}", [x]
            if kind == "enumerate":
                return f"{i}, {x.name} in enumerate({v.name})", [index, x]
            if kind == "reversed":
                return f"{x.name} in reversed({v.name})", [x]
            if kind == "zip":
                w = self.rng.choice(arrays)
                assert isinstance(w.type, Array)
                y = Var(self.name("y"), w.type.elem, w.num, self.level, True)
                return f"{x.name}, {y.name} in zip({v.name}, {w.name})", [x, y]
        if kind == "shifted":
            return f"{i} in range(1, {over + 1})", [number]
        if kind == "backwards":
            return f"{i} in range({over - 1}, -1, -1)", [index]
        if kind == "reversed":
            return f"{i} in reversed(range({over}))", [index]
        return f"{i} in range({over})", [index]

    def array(self, t: Array, depth: int) -> Code:
        raise NotImplementedError


def _sized(t: Type, size: Size) -> Type:
    """A helper's parameter type with its only size replaced."""
    return Array(_sized(t.elem, size), size) if isinstance(t, Array) else t


def _raised(t: Type, sizes: Sequence[Size]) -> Type:
    for size in reversed(sizes):
        t = Array(t, size)
    return t
