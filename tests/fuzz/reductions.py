"""Sums, extremes, reductions and folds, over generators and arrays."""

from __future__ import annotations

from collections.abc import Callable

from .model import BOOL, COMPLEX, FLOATS, I64, INEXACT, INTS, Array, Code, Num, Scalar, Size, Tuple, Type, Var
from .operations import Operations


class Reductions(Operations):
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
