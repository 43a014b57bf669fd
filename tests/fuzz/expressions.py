"""Expressions of a given scalar or tuple type. Arrays are in arrays.py.

Operators are written once for scalars and arrays: `operand(dtype, weak)` gives the code of an operand, a scalar or a whole array; with `weak`
it may be a literal or a scalar that the other operand lifts.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from .model import (
    BOOL,
    COMPLEX,
    FLOATS,
    I64,
    INEXACT,
    INTS,
    NONE,
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
    promote,
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

    def operation(self, dtype: str, operand: Operand, exact: bool, lifted: bool) -> Code | None:
        if dtype == "bool":
            return self._bool_operation(operand, lifted)
        if dtype in INTS:
            return self._int_operation(dtype, operand, lifted)
        if dtype in COMPLEX:
            return self._complex_operation(dtype, operand)
        return self._exact_operation(dtype, operand, lifted) if exact else self._float_operation(dtype, operand, lifted)

    def _partner(self, dtype: str, kinds: Sequence[str]) -> tuple[str, str]:
        """Two dtypes that make this one together, both seldom different."""
        if self.chance(0.2):
            for other in self.rng.sample(self.palette, len(self.palette)):
                if other in kinds and other != dtype and promote(dtype, other) == dtype:
                    return (dtype, other) if self.chance(0.5) else (other, dtype)
        return dtype, dtype

    def _int_operation(self, dtype: str, operand: Operand, lifted: bool) -> Code | None:
        op = self.rng.choice("+ - * + - * & | ^ // % << >> min max neg ~ abs ** cast cast clip".split())
        if op == "cast":
            return self._to_int(dtype, operand, lifted)
        if op in ("neg", "~", "abs"):
            x = operand(dtype, False).text
            return Code({"neg": f"(-{x})", "~": f"(~{x})", "abs": f"abs({x})"}[op])
        if op == "**":
            if self.take_risk("power"):
                return Code(f"({operand(dtype, False).text} ** ({operand(dtype, False).text} % 5 - 1))") if dtype[0] == "i" else None
            return Code(f"({operand(dtype, False).text} ** {self.rng.choice((0, 1, 2, 3))})")
        if op == "clip":
            return Code(f"clip({operand(dtype, False).text}, 1, {self.rng.choice((3, 7, 20))})")
        plain = op in ("//", "%", "<<", ">>")
        left, right = (dtype, dtype) if plain else self._partner(dtype, ("bool", *INTS))
        a, b = operand(left, False), operand(right, left == right and not plain)
        if op in ("min", "max"):
            word = self.rng.choice((op, op + "imum")) if not lifted else op + "imum"
            return Code(f"{word}({a.text}, {b.text})")
        if op in ("//", "%"):
            safe = f"({b.text} % 4)" if self.take_risk("division") else f"({b.text} % 5 + 1)"
            if self.chance(0.3):
                safe = str(self.rng.choice((1, 2, 3, 7) if dtype[0] == "u" else (1, 2, 3, 7, -3)))
            return Code(f"({a.text} {op} {safe})")
        if op in ("<<", ">>"):
            risky = dtype[0] == "i" and self.take_risk("shift")
            return Code(f"({a.text} {op} {f'({b.text} % 9 - 4)' if risky else f'({b.text} & 15)'})")
        if b.weak and self.chance(0.3):
            return Code(f"({b.text} {op} {a.text})")
        return Code(f"({a.text} {op} {b.text})")

    def _to_int(self, dtype: str, operand: Operand, lifted: bool) -> Code | None:
        """A conversion that is written."""
        source = self.rng.choice([d for d in ["bool", "i64", *self.palette] if d not in COMPLEX])
        if source not in FLOATS:
            return Code(f"{dtype}({operand(source, False).text})")
        if lifted:
            return None
        x = self.exact_operand(source)
        if self.take_risk("cast"):
            return Code(f"{dtype}({x.text})")
        if x.num.magnitude > 6:
            return Code(f"{dtype}(clip({x.text}, 0.0, 50.0))")
        return Code(f"{dtype}(abs({x.text}))" if dtype[0] == "u" else f"{dtype}({x.text})")

    def exact_operand(self, dtype: str, depth: int = 1) -> Code:
        return self.scalar(dtype, depth, exact=True)

    def _exact_operation(self, dtype: str, operand: Operand, lifted: bool) -> Code | None:
        p = self.precision
        op = self.rng.choice("+ - * min max neg abs floor round % // cast".split())
        a = operand(dtype, False)
        if op in ("neg", "abs", "floor", "round"):
            return Code(f"(-{a.text})" if op == "neg" else f"{op}({a.text})", Num(a.num.magnitude + 1, a.num.fraction))
        if op in ("//", "%"):
            if a.num.magnitude + a.num.fraction + 2 > p.exact_bits:
                return None
            step, bits = self.rng.choice((("0.5", 1), ("2.0", 0), ("1.0", 0), ("-2.0", 0)))
            num = Num(a.num.magnitude + 1) if op == "//" else Num(1, max(bits, a.num.fraction))
            return Code(f"({a.text} {op} {step})", num)
        if op == "cast":
            return Code(f"{dtype}({operand(self.some_dtype(INTS), False).text} % 9)", Num(4))
        b = operand(dtype, True)
        num = p.mul(a.num, b.num) if op == "*" else p.add(a.num, b.num)
        if not num.exact:
            return None
        if op in ("min", "max"):
            word = op + "imum" if lifted else op
            return Code(f"{word}({a.text}, {b.text})", a.num.join(b.num))
        return Code(f"({a.text} {op} {b.text})", num)

    def _float_operation(self, dtype: str, operand: Operand, lifted: bool) -> Code | None:
        p = self.precision
        op = self.rng.choice("+ - * + - * / min max neg abs smooth smooth smooth cast mixed part ** fma".split())
        if op == "part":
            whole = {"f32": "c64", "f64": "c128"}[dtype]
            if whole not in self.palette:
                return None
            z = operand(whole, False)
            return Code(f"{z.text}.{self.rng.choice(('real', 'imag'))}", z.num)
        if op == "cast":
            source = self.rng.choice([d for d in self.palette if d not in COMPLEX] + ["bool"])
            x = operand(source, False)
            if source in FLOATS:
                return Code(f"{dtype}({x.text})", x.num if source != "f64" or dtype == "f64" else p.rounded(*_parts(x.num)))
            return Code(f"{dtype}({x.text})" if source == "bool" else f"{dtype}({x.text} % 9)", Num(4))
        a = operand(dtype, False)
        if op == "mixed":
            b = operand(self.rng.choice([d for d in self.palette if d in INTS] or ["i64"]), False)
            sign = self.rng.choice("+-*")
            num = p.mul(a.num, Num(4)) if sign == "*" else p.add(a.num, Num(4))
            return Code(f"({a.text} {sign} {b.text} % 9)", num)
        if op == "neg":
            return Code(f"(-{a.text})", a.num)
        if op == "abs":
            return Code(f"abs({a.text})", a.num)
        if op == "**":
            k = self.rng.choice((0, 1, 2, 2, 3))
            num = Num(0)
            for _ in range(k):
                num = p.mul(num, a.num)
            return Code(f"({a.text} ** {k})", num)
        if op == "smooth":
            return self._smooth(a)
        b = operand(dtype, True)
        if op in ("min", "max"):
            word = op + "imum" if lifted else op
            return Code(f"{word}({a.text}, {b.text})", a.num.join(b.num))
        if op == "/":
            num = Num(a.num.magnitude, INEXACT, max(a.num.error, a.num.magnitude, a.num.magnitude + b.num.error) + 2)
            return Code(f"({a.text} / (abs({b.text}) + 1.0))", num)
        if op == "fma":
            c = operand(dtype, False)
            num = p.add(p.mul(a.num, b.num), c.num)
            return Code(f"({a.text} * {b.text} + {c.text})", num)
        num = p.mul(a.num, b.num) if op == "*" else p.add(a.num, b.num)
        return Code(f"({a.text} {op} {b.text})", num)

    def _smooth(self, a: Code) -> Code:
        """A function of slope at most about one, so that rounding stays small."""
        p, m = self.precision, a.num.magnitude
        form, magnitude = self.rng.choice(
            (
                ("sin({})", 0),
                ("cos({})", 0),
                ("tanh({})", 0),
                ("arctan({})", 1),
                ("erf({})", 0),
                ("exp(-abs({}))", 0),
                ("sqrt(abs({}) + 1.0)", m // 2 + 2),
                ("log(abs({}) + 1.0)", 5),
                ("log1p(abs({}))", 5),
                ("expm1(-abs({}))", 0),
                ("hypot({}, 1.0)", m + 1),
                ("arctan2({}, 2.0)", 1),
                ("arcsinh({})", 5),
                ("cbrt(abs({}) + 1.0)", m // 3 + 2),
                ("clip({}, -1.0, 2.0)", 1),
                ("erfc({})", 1),
            )
        )
        return Code(form.format(a.text), p.smooth(a.num, magnitude))

    def _complex_operation(self, dtype: str, operand: Operand) -> Code | None:
        p = self.precision
        op = self.rng.choice("+ - * neg conj make make cast abs".split())
        part = {"c64": "f32", "c128": "f64"}[dtype]
        if op == "make":
            a, b = operand(part, False), operand(part, False)
            return Code(f"{dtype}({a.text}, {b.text})", a.num.join(b.num))
        a = operand(dtype, False)
        if op == "neg":
            return Code(f"(-{a.text})", a.num)
        if op == "conj":
            return Code(f"conj({a.text})", a.num)
        if op == "cast":
            return Code(f"{dtype}({operand(part, False).text})", Num(p.magnitude, INEXACT, p.error)) if False else None
        if op == "abs":
            return Code(f"(abs({a.text}) + {operand(dtype, False).text})", p.smooth(a.num, p.magnitude - 1))
        b = operand(dtype, True)
        num = p.mul(a.num, b.num) if op == "*" else p.add(a.num, b.num)
        num = Num(num.magnitude + 1, num.fraction, num.error + 1 if num.error > NONE else NONE)
        return Code(f"({a.text} {op} {b.text})", num)

    def _bool_operation(self, operand: Operand, lifted: bool) -> Code | None:
        op = self.rng.choice("compare compare compare compare & | ^ ~ cast == isnan".split())
        if op in "&|^":
            return Code(f"({operand('bool', False).text} {op} {operand('bool', False).text})")
        if op == "~":
            return Code(f"(~{operand('bool', False).text})")
        if op == "==":
            return Code(f"({operand('bool', False).text} {self.rng.choice(('==', '!='))} {operand('bool', False).text})")
        if op == "cast":
            return Code(f"bool({operand(self.some_dtype(INTS), False).text})")
        if op == "isnan":
            found = [d for d in self.palette if d in FLOATS]
            return Code(f"{self.rng.choice(('isnan', 'isfinite'))}({operand(found[0], False).text})") if found else None
        dtype = self.rng.choice([d for d in self.palette if d not in COMPLEX] + ["i64"])
        word = self.rng.choice(("<", "<=", ">", ">=", "==", "!="))
        if dtype in FLOATS:
            if lifted:
                return None
            a, b = self.exact_operand(dtype), self.scalar(dtype, 1, weak=True, exact=True)
            return Code(f"({a.text} {word} {b.text})") if a.num.exact and b.num.exact else None
        return Code(f"({operand(dtype, False).text} {word} {operand(dtype, True).text})")

    def _logic(self, depth: int) -> Code:
        form = self.rng.choice(("and", "or", "not", "chain", "and"))
        if form == "not":
            return Code(f"(not {self.scalar('bool', depth - 1).text})")
        if form == "chain":
            dtype = self.some_dtype(INTS)
            parts = [self.scalar(dtype, depth - 1, weak=k > 0).text for k in range(3)]
            ops = self.rng.choice((("<", "<="), ("<=", "<"), (">", ">="), ("==", "!="), ("<=", "<=")))
            return Code(f"({parts[0]} {ops[0]} {parts[1]} {ops[1]} {parts[2]})")
        parts = [self.scalar("bool", depth - 1).text for _ in range(self.rng.choice((2, 2, 3)))]
        return Code("(" + f" {form} ".join(parts) + ")")

    # -- calls of other functions of the module

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

    def generator(self, element: Callable[[], Code], depth: int, conditions: bool = True, clauses: int = 0) -> Code:
        """`e for ... if ...`"""
        count = clauses or self.rng.choice((1, 1, 1, 2))
        heads: list[str] = []
        saved, nest = self.vars, self.nest
        for _ in range(count if self.nest < 2 else 1):
            text, new = self.clause()
            self.vars = self.vars + new
            self.nest += 1
            condition = f" if {self.scalar('bool', depth - 1).text}" if conditions and self.chance(0.35) else ""
            heads.append(f" for {text}{condition}")
        e = element()
        self.vars, self.nest = saved, nest
        return Code(e.text + "".join(heads), e.num)

    def reduction(self, dtype: str, depth: int, exact: bool) -> Code | None:
        p = self.precision
        if dtype in COMPLEX or dtype in FLOATS:
            form = self.rng.choice(("sum", "sum", "array", "min", "reduce", "fold", "dot"))
        elif dtype == "bool":
            return None
        else:
            form = self.rng.choice(("sum", "array", "prod", "min", "min", "reduce", "reduce", "fold", "slice", "filter"))
        if form in ("sum", "prod"):
            source = dtype
            if dtype in ("i64", "u64"):
                kinds = [d for d in self.palette if d in INTS and d[0] == dtype[0]] + [dtype]
                source = self.rng.choice(kinds + (["bool"] if dtype == "i64" else []))
            elif dtype in INTS:
                return None
            code = self.generator(lambda: self.scalar(source, depth - 1, exact=exact), depth)
            return Code(f"{form}({code.text})", p.grow(code.num, 10 if code.text.count(" for ") > 1 else 6))
        if form == "slice" or form == "array":
            return self._reduce_array(dtype, depth, exact, form == "slice")
        if form == "min":
            return self._extreme(dtype, depth, exact)
        if form == "reduce":
            return self._reduce(dtype, depth, exact)
        if form == "filter":
            return self._reduce_filtered(dtype, depth)
        if form == "dot":
            size = self.some_size()
            a, b = (self.array(Array(Scalar(dtype), size), depth - 1) for _ in range(2))
            num = p.grow(p.mul(a.num, b.num), 6)
            return Code(f"({a.text} @ {b.text})", Num(num.magnitude + 1, num.fraction, num.error + 1)) if not exact else None
        return self._fold(dtype, depth, exact)

    def _reduce_array(self, dtype: str, depth: int, exact: bool, sliced: bool) -> Code | None:
        if dtype in INTS and dtype not in ("i64", "u64"):
            return None
        source = self.rng.choice([d for d in [*self.palette, dtype] if d in INTS and d[0] == dtype[0]]) if dtype in INTS else dtype
        indices = [v for v in self.vars if v.below is not None]
        if sliced and indices:
            i = self.rng.choice(indices)
            assert i.below is not None
            arrays = [v for v in self.vars if v.type == Array(Scalar(source), i.below)]
            if not arrays:
                return None
            x = self.rng.choice(arrays)
            part = self.rng.choice((f":{i.name}", f"{i.name}:", f":{i.name} + 1", f"{i.name}::2", f"{i.name}::-1"))
            return Code(f"sum({x.name}[{part}])", self.precision.grow(x.num, 6))
        xs = self.array(Array(Scalar(source), self.some_size()), depth - 1)
        if exact and not xs.num.exact:
            return None
        return Code(f"sum({xs.text})", self.precision.grow(xs.num, 6))

    def _reduce_filtered(self, dtype: str, depth: int) -> Code | None:
        if dtype != "i64":
            return None
        arrays = [v for v in self.vars if isinstance(v.type, Array) and v.type.elem == I64]
        if not arrays:
            return None
        v = self.rng.choice(arrays)
        x = Var(self.name("x"), I64, level=self.level, frozen=True)
        with self.bound([x], loop=True):
            test, e = self.scalar("bool", depth - 1).text, self.scalar("i64", depth - 1).text
        if self.chance(0.5):
            return Code(f"sum(filter(lambda {x.name}: {test}, {v.name}))")
        return Code(f"sum([{e} for {x.name} in {v.name} if {test}])")

    def _extreme(self, dtype: str, depth: int, exact: bool) -> Code | None:
        if dtype in COMPLEX:
            return None
        word = self.rng.choice(("min", "max"))
        other = self.scalar(dtype, 0, exact=exact)
        keyword = "" if self.take_risk("empty") else f", default={other.text}"
        if self.chance(0.5):
            code = self.generator(lambda: self.scalar(dtype, depth - 1, exact=exact), depth)
            return Code(f"{word}(({code.text}){keyword})", code.num.join(other.num))
        size = self.some_size()
        xs = self.array(Array(Scalar(dtype), size), depth - 1)
        if exact and not xs.num.exact:
            return None
        if size.least >= 1 and self.chance(0.5):
            keyword = ""
        return Code(f"{word}({xs.text}{keyword})", xs.num.join(other.num))

    def operator(self, dtype: str) -> tuple[str, str, str] | None:
        """An associative operator, its neutral element, and which way it moves a bound."""
        if dtype == "bool":
            op, ne = self.rng.choice((("and_", "True"), ("or_", "False"), ("lambda a, b: a and b", "True"), ("lambda a, b: a != b", "False")))
            return op, ne, "join"
        if dtype in COMPLEX:
            return self.rng.choice((("add", "0.0", "sum"), ("lambda a, b: a + b", "0.0", "sum")))
        if dtype in FLOATS:
            return self.rng.choice(
                (
                    ("add", "0.0", "sum"),
                    ("minimum", "2048.0", "min"),
                    ("maximum", "-2048.0", "min"),
                    ("lambda a, b: a + b", "0.0", "sum"),
                    ("lambda a, b: max(a, b)", "-2048.0", "min"),
                    ("lambda a, b: a if a < b else b", "2048.0", "order"),
                )
            )
        bits = int(dtype[1:])
        low, high = (0, 2**bits - 1) if dtype[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        op, ne = self.rng.choice(
            (
                ("add", "0"),
                ("mul", "1"),
                ("minimum", str(high)),
                ("maximum", str(low)),
                ("and_", str(high) if dtype[0] == "u" else "-1"),
                ("or_", "0"),
                ("lambda a, b: a + b", "0"),
                ("lambda a, b: a * b", "1"),
                ("lambda a, b: a ^ b", "0"),
                ("lambda a, b: b if b > a else a", str(low)),
                ("lambda a, b: a if a != 0 else b", "0"),
            )
        )
        return op, ne, "join"

    def moved(self, num: Num, way: str) -> Num:
        if way == "sum":
            return self.precision.grow(num, 6)
        return num.join(Num(11)) if way in ("min", "order") else num

    def _reduce(self, dtype: str, depth: int, exact: bool) -> Code | None:
        found = self.operator(dtype)
        if found is None:
            return None
        op, ne, way = found
        xs = self.array(Array(Scalar(dtype), self.some_size()), depth - 1)
        if (exact or way == "order") and not xs.num.exact:
            return None
        if way in ("min", "order"):  # the neutral element is large: keep it out of what follows
            return Code(f"clip(reduce({op}, {ne}, {xs.text}), -64.0, 64.0)", xs.num.join(Num(6)))
        return Code(f"reduce({op}, {dtype}({ne}), {xs.text})", self.moved(xs.num, way))

    def _fold(self, dtype: str, depth: int, exact: bool) -> Code | None:
        """fold(lambda s, x: e, init, xs): any function for integers, a contraction for floats."""
        arrays = [v for v in self.vars if isinstance(v.type, Array)]
        if not arrays:
            return None
        v = self.rng.choice(arrays)
        assert isinstance(v.type, Array)
        s, x = self.name("s"), Var(self.name("x"), v.type.elem, v.num, self.level, True)
        if dtype in INTS:
            state = Var(s, Scalar(dtype), level=self.level, frozen=True)
            with self.bound([state, x], loop=True):
                e = self.scalar(dtype, depth - 1)
            start = self.scalar(dtype, 1)
            return Code(f"fold(lambda {s}, {x.name}: {e.text}, {start.text}, {v.name})")
        if exact:
            return None
        with self.bound([x], loop=True):
            e = self.scalar(dtype, depth - 1)
        start = self.scalar(dtype, 1)
        num = start.num.join(e.num)
        num = Num(num.magnitude + 1, INEXACT, max(num.error, num.magnitude) + 6)
        return Code(f"fold(lambda {s}, {x.name}: 0.5 * {s} + {e.text}, {start.text}, {v.name})", num)

    def _any_all(self, depth: int) -> Code:
        word = self.rng.choice(("any", "all"))
        if self.chance(0.4):
            return Code(f"{word}({self.array(Array(BOOL, self.some_size()), depth - 1).text})")
        return Code(f"{word}({self.generator(lambda: self.scalar('bool', depth - 1), depth).text})")

    def _arg_extreme(self, depth: int) -> Code | None:
        """argmin and argmax, of what is never empty unless the program may fail there."""
        word = self.rng.choice(("argmin", "argmax"))
        dtype = self.rng.choice([d for d in [*self.palette, "bool"] if d not in COMPLEX])
        if self.take_risk("empty"):
            size = self.rng.choice(self.base_sizes or [Size.of(2)])
            if self.chance(0.5):
                code = self.generator(lambda: self.scalar(dtype, depth - 1, exact=True), depth, clauses=1)
                return Code(f"{word}({code.text})") if code.num.exact else None
        else:
            found = [s for s in self.base_sizes if s.least >= 1] + [Size.of(3)]
            size = self.rng.choice(found)
        xs = self.array(Array(Scalar(dtype), size), depth - 1)
        return Code(f"{word}({xs.text})") if xs.num.exact or dtype not in FLOATS else None

    def _tuple_reduction(self, t: Type, depth: int) -> Code | None:
        """A reduction of tuples: a linear recurrence, or the greatest with its index."""
        if not isinstance(t, Tuple) or len(t.items) != 2 or not all(isinstance(x, Scalar) and x.dtype in INTS for x in t.items):
            return None
        xs = self.array(Array(t, self.some_size()), depth - 1)
        op = self.tuple_operator(t)
        return Code(f"reduce({op[0]}, {op[1]}, {xs.text})", xs.num)

    def tuple_operator(self, t: Tuple) -> tuple[str, str]:
        names = [x.dtype for x in t.items if isinstance(x, Scalar)]
        if names[0] == names[1] and self.chance(0.5):
            return "lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1])", f"({names[0]}(1), {names[0]}(0))"
        if self.chance(0.4):
            return "add", f"({names[0]}(0), {names[1]}(0))"
        low = [0 if n[0] == "u" else -(2 ** (int(n[1:]) - 1)) for n in names]
        return (
            "lambda a, b: b if b[0] > a[0] or (b[0] == a[0] and b[1] > a[1]) else a",
            f"({names[0]}({low[0]}), {names[1]}({low[1]}))",
        )

    # -- in arrays.py

    def array(self, t: Array, depth: int) -> Code:
        raise NotImplementedError


def _parts(x: Num) -> tuple[int, int, int]:
    return x.magnitude, x.fraction, x.error


def _sized(t: Type, size: Size) -> Type:
    """A helper's parameter type with its only size replaced."""
    return Array(_sized(t.elem, size), size) if isinstance(t, Array) else t


def _raised(t: Type, sizes: Sequence[Size]) -> Type:
    for size in reversed(sizes):
        t = Array(t, size)
    return t
