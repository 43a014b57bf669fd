"""Array expressions of a given type: comprehensions, maps, lifted operators, scans, reshapes, gathers, scatters, histograms."""

from __future__ import annotations

from .expressions import Option
from .model import COMPLEX, FLOATS, I64, INTS, WHOLE, Array, Code, Num, Scalar, Size, Tuple, Type, Var, rank, shape
from .reductions import Reductions


class Arrays(Reductions):
    def array(self, t: Array, depth: int) -> Code:
        self.fuel -= 1
        if depth <= 0 or self.fuel <= 0 or self.nest >= 3:
            return self.pick([(6, lambda: self.read(t))], lambda: self._plain(t))
        return self.pick(self._array_options(t, depth), lambda: self._plain(t))

    def _plain(self, t: Array) -> Code:
        """The simplest array of this type."""
        sizes, elem = shape(t)
        if isinstance(elem, Scalar) and self.chance(0.6):
            x = self.strong(self.leaf(elem.dtype), elem.dtype)
            dims = f"({', '.join(map(str, sizes))})" if len(sizes) > 1 else str(sizes[0])
            return Code(f"full({dims}, {x.text})" if len(sizes) > 1 or self.chance(0.5) else f"repeat({x.text}, {dims})", x.num)
        i = Var(self.name("j"), I64, below=t.size, frozen=True, level=self.level)
        with self.bound([i], loop=True):
            x = self.value(t.elem, 0)
        return Code(f"[{x.text} for {i.name} in range({t.size})]", x.num)

    def _array_options(self, t: Array, depth: int) -> list[Option]:
        sizes, elem = shape(t)
        one = len(sizes) == 1
        options: list[Option] = [
            (5, lambda: self.read(t)),
            (4, lambda: self._comprehension(t, depth)),
            (2, lambda: self._map(t, depth)),
            (0.8, lambda: self._choice(t, depth)),
            (1.6, lambda: self._moved(t, depth)),
            (1.6, lambda: self._cut(t, depth)),
            (1.2, lambda: self._extended(t, depth)),
            (1, lambda: self._gathered(t, depth)),
            (0.8, lambda: self._scattered(t, depth)),
            (0.4, lambda: self._repeated(t, depth)),
            (0.8, lambda: self._across(t)),
        ]
        if t.size.constant is not None and 1 <= t.size.constant <= 4:
            options.append((2, lambda: self._display(t, depth)))
        if t.size.degree == 2 or (t.size.constant or 0) in (4, 6):
            options.append((3, lambda: self._flattened(t, depth)))
        if len(sizes) == 2:
            options += [(1.5, lambda: self._transposed(t, depth)), (1, lambda: self._matrix(t, depth))]
        if isinstance(elem, Scalar):
            dtype = elem.dtype
            options += [
                (5, lambda: self._lifted(t, dtype, depth)),
                (1, lambda: self._where(t, depth)),
                (0.8, lambda: self.call(t, depth)),
                (1, lambda: self._row_sums(t, dtype, depth)),
            ]
            if one:
                options += [(1.2, lambda: self._scan(t, dtype, depth)), (0.8, lambda: self._sorted(t, dtype, depth))]
                options += [(1, lambda: self._hist(t, dtype, depth))]
        if isinstance(elem, Tuple) and one:
            options += [(2, lambda: self._zip(t, elem, depth)), (1, lambda: self._tuple_scan(t, elem, depth))]
        return options

    # -- element by element

    def _comprehension(self, t: Array, depth: int) -> Code:
        text, new = self.clause(t.size)
        with self.bound(new, loop=True):
            e = self.value(t.elem, depth - 1)
        return Code(f"[{e.text} for {text}]", e.num)

    def _map(self, t: Array, depth: int) -> Code | None:
        arrays = [v for v in self.vars if isinstance(v.type, Array) and v.type.size == t.size]
        if not arrays:
            return None
        chosen = [self.rng.choice(arrays) for _ in range(self.rng.choice((1, 1, 2)))]
        params = [Var(self.name("x"), v.type.elem, v.num, self.level, True) for v in chosen]  # type: ignore[union-attr]
        with self.bound(params, loop=True):
            e = self.value(t.elem, depth - 1)
        return Code(f"map(lambda {', '.join(p.name for p in params)}: {e.text}, {', '.join(v.name for v in chosen)})", e.num)

    def _lifted(self, t: Array, dtype: str, depth: int) -> Code | None:
        sizes, _ = shape(t)
        first = [True]

        def operand(d: str, weak: bool) -> Code:
            if not first[0] and (weak or self.chance(0.2)) and self.chance(0.6):
                inner = len(sizes) > 1 and self.chance(0.4)
                if inner:
                    return self.array(Array(Scalar(d), sizes[-1]), depth - 1)
                return self.scalar(d, 1, weak)
            first[0] = False
            return self.array(_with_leaf(t, Scalar(d)), depth - 1)

        return self.operation(dtype, operand, False, lifted=True)

    def _where(self, t: Array, depth: int) -> Code:
        c, a = self.array(_with_leaf(t, Scalar("bool")), depth - 1), self.array(t, depth - 1)
        _, elem = shape(t)
        assert isinstance(elem, Scalar)
        b = self.array(t, depth - 1) if self.chance(0.5) else self.scalar(elem.dtype, 1, weak=elem.dtype != "bool")
        return Code(f"where({c.text}, {a.text}, {b.text})", a.num.join(b.num))

    def _display(self, t: Array, depth: int) -> Code:
        items = [self.value(t.elem, depth - 1) for _ in range(t.size.constant or 0)]
        return Code("[" + ", ".join(i.text for i in items) + "]", _joined(items))

    # -- reshapes

    def _moved(self, t: Array, depth: int) -> Code:
        a = self.array(t, depth - 1)
        k = self.rng.choice((f"{self.scalar('i64', 1).text} % 5", "1", "0", "-1", "2"))
        return Code(self.rng.choice((f"reverse({a.text})", f"{_postfix(a.text)}[::-1]", f"rotate({a.text}, {k})", f"copy({a.text})")), a.num)

    def _cut(self, t: Array, depth: int) -> Code | None:
        """A part of a longer array."""
        k = self.rng.choice((1, 1, 2))
        form = self.rng.choice(("trunc_l", "trunc_r", "[k:]", "[:-k]", "[k:-1]", "[::-1]", "step"))
        if form == "step":
            a = self.array(Array(t.elem, t.size * 2 - (1 if t.size.least >= 1 and self.chance(0.4) else 0)), depth - 1)
            part = self.rng.choice(("[::2]", "[::-2]")) if self.chance(0.7) else None
            return Code(f"{_postfix(a.text)}{part}" if part else f"sample({a.text}, 2)", a.num)
        if form == "[k:-1]":
            a = self.array(Array(t.elem, t.size + k + 1), depth - 1)
            return Code(f"{_postfix(a.text)}[{k}:-1]", a.num)
        a = self.array(Array(t.elem, t.size + k), depth - 1)
        text = {
            "trunc_l": f"trunc_l({a.text}, {k})",
            "trunc_r": f"trunc_r({a.text}, {k})",
            "[k:]": f"{_postfix(a.text)}[{k}:]",
            "[:-k]": f"{_postfix(a.text)}[:-{k}]",
            "[::-1]": f"{_postfix(a.text)}[:{k - 1 if k > 1 else ''}:-1]" if k > 1 else f"{_postfix(a.text)}[:0:-1]",
        }[form]
        return Code(text, a.num)

    def _extended(self, t: Array, depth: int) -> Code | None:
        """A shorter array with something before or after it."""
        _, elem = shape(t)
        k = self.rng.choice((1, 1, 2))
        if t.size.least < k:
            if self.take_risk("size") and t.size.terms:
                a = self.array(Array(t.elem, t.size + 1), depth - 1)
                return Code(f"concat({_postfix(a.text)}[2:], {_postfix(a.text)}[:1])", a.num)
            return None
        a = self.array(Array(t.elem, t.size - k), depth - 1)
        if isinstance(elem, Scalar) and self.chance(0.6):
            options = [f"pad_l({a.text}, {k})", f"pad_r({a.text}, {k})"]
            if rank(t) == 1:
                options += [f"pad({a.text}, ({k}, 0))", f"pad({a.text}, (0, {k}), value={self.literal(elem.dtype).text})"]
            return Code(self.rng.choice(options), a.num.join(Num(3, 2)))
        items = [self.value(t.elem, depth - 1) for _ in range(k)]
        display = "[" + ", ".join(i.text for i in items) + "]"
        parts = [a.text, display] if self.chance(0.5) else [display, a.text]
        return Code(f"concat({', '.join(parts)})", _joined([a, *items]))

    def _repeated(self, t: Array, depth: int) -> Code:
        x = self.value(t.elem, depth - 1)
        return Code(f"repeat({x.text}, {t.size})", x.num)

    def _across(self, t: Array) -> Code | None:
        """A row, a column, a diagonal or a slice of something bigger that has a name."""
        found = []
        for v in self.vars:
            sizes, elem = shape(v.type)
            if len(sizes) == rank(t) + 1 and elem == shape(t)[1]:
                for axis in range(len(sizes)):
                    rest = [s for k, s in enumerate(sizes) if k != axis]
                    if rest == shape(t)[0]:
                        found.append((v, axis, sizes))
        if not found:
            return None
        v, axis, sizes = self.rng.choice(found)
        i = self.index(sizes[axis])
        if i is None:
            return None
        items = [":"] * axis + [i] + ([":"] * (len(sizes) - axis - 1) if self.chance(0.3) else [])
        return Code(f"{v.name}[{', '.join(items)}]", v.num)

    def _flattened(self, t: Array, depth: int) -> Code | None:
        if len(t.size.terms) != 1:
            return None
        atoms, c = t.size.terms[0]
        if len(atoms) == 2:
            n, m = Size.of(atoms[0]) * c, Size.of(atoms[1])
        elif not atoms:
            n, m = Size.of(2), Size.of(c // 2)
        else:
            return None
        if self.chance(0.5):
            n, m = m, n
        if self.chance(0.4):
            i = Var(self.name("j"), I64, below=n, frozen=True, level=self.level)
            j = Var(self.name("j"), I64, below=m, frozen=True, level=self.level)
            with self.bound([i, j], loop=True):
                e = self.value(t.elem, depth - 1)
            return Code(f"[{e.text} for {i.name} in range({n}) for {j.name} in range({m})]", e.num)
        a = self.array(Array(Array(t.elem, m), n), depth - 1)
        return Code(f"flatten({a.text})", a.num)

    def _transposed(self, t: Array, depth: int) -> Code:
        assert isinstance(t.elem, Array)
        a = self.array(Array(Array(t.elem.elem, t.size), t.elem.size), depth - 1)
        return Code(self.rng.choice((f"transpose({a.text})", f"{_postfix(a.text)}.T", f"transpose({a.text}, (1, 0))")), a.num)

    def _matrix(self, t: Array, depth: int) -> Code | None:
        """Two axes made at once: windows, splits, products."""
        assert isinstance(t.elem, Array)
        n, k = t.size, t.elem.size.constant
        _, elem = shape(t)
        if k is not None and k >= 1 and self.chance(0.6):
            if self.chance(0.5):
                a = self.array(Array(t.elem.elem, n + (k - 1)), depth - 1)
                return Code(f"window({a.text}, {k})", a.num)
            a = self.array(Array(t.elem.elem, n * k), depth - 1)
            return Code(f"split({a.text}, {k})" if self.chance(0.7) or not isinstance(elem, Scalar) else f"tile({a.text}, {k})", a.num)
        if not isinstance(elem, Scalar) or elem.dtype not in ("i64", "u64", *FLOATS):
            return None
        dtype = elem
        if self.chance(0.5):
            a, b = self.array(Array(dtype, n), depth - 1), self.array(Array(dtype, t.elem.size), depth - 1)
            return Code(f"outer({a.text}, {b.text})", self.precision.mul(a.num, b.num))
        inner = self.some_size()
        a = self.array(Array(Array(dtype, inner), n), depth - 1)
        b = self.array(Array(Array(dtype, t.elem.size), inner), depth - 1)
        return Code(f"({a.text} @ {b.text})", self.precision.grow(self.precision.mul(a.num, b.num), 6))

    # -- through indices

    def _gathered(self, t: Array, depth: int) -> Code | None:
        arrays = [v for v in self.vars if isinstance(v.type, Array) and v.type.elem == t.elem and v.type.size.least >= 1]
        if not arrays:
            return None
        v = self.rng.choice(arrays)
        assert isinstance(v.type, Array)
        dtype = self.rng.choice([d for d in self.palette if d in INTS] + ["i64"])
        i = self.array(Array(Scalar(dtype), t.size), depth - 1)
        if dtype != "i64":
            i = Code(f"i64({i.text})")
        indices = f"({i.text} % 4)" if self.take_risk("index") else f"({i.text} % {_postfix(str(v.type.size))})"
        return Code(f"gather({v.name}, {indices})" if self.chance(0.5) else f"{v.name}[{indices}]", v.num)

    def _indices(self, count: Size, size: Size, depth: int) -> tuple[str, str] | None:
        """Indices into an axis of this size, and the mode that makes them harmless."""
        i = self.array(Array(I64, count), depth - 1).text
        if self.take_risk("range"):
            return f"({i} % 5)", ""
        if self.chance(0.4) or size.least < 1:
            return f"({i} % 7 - 1)", ', mode="drop"'
        return f"({i} % {_postfix(str(size))})", ""

    def _scattered(self, t: Array, depth: int) -> Code | None:
        a = self.array(t, depth - 1)
        if self.chance(0.35):  # a permutation: no index twice
            keys = self.array(Array(I64, t.size), depth - 1)
            v = self.array(t, depth - 1)
            order = f"argsort({keys.text})"
            if self.take_risk("twice"):
                order = f"({keys.text} % {_postfix(str(t.size))})" if t.size.least >= 1 else order
            return Code(f"scatter({a.text}, {order}, {v.text})", a.num.join(v.num))
        if not isinstance(t.elem, Scalar):
            return None
        found = self.operator(t.elem.dtype)
        count = self.some_size()
        indices = self._indices(count, t.size, depth)
        if found is None or indices is None or found[2] == "order" or found[0].startswith("lambda a, b: a if"):
            return None
        op, _, way = found
        v = self.array(Array(t.elem, count), depth - 1)
        num = a.num.join(v.num)
        return Code(f"scatter({a.text}, {indices[0]}, {v.text}, op={op}{indices[1]})", self.precision.grow(num, 6) if way == "sum" else num)

    def _hist(self, t: Array, dtype: str, depth: int) -> Code | None:
        found = self.operator(dtype)
        if found is None:
            return None
        op, ne, way = found
        if dtype in FLOATS and way != "sum":
            return None
        count = self.some_size()
        indices = self._indices(count, t.size, depth)
        if indices is None:
            return None
        v = self.array(Array(Scalar(dtype), count), depth - 1)
        return Code(f"hist({op}, {dtype}({ne}), {t.size}, {indices[0]}, {v.text}{indices[1]})", self.moved(v.num, way))

    # -- whole arrays

    def _scan(self, t: Array, dtype: str, depth: int) -> Code | None:
        if dtype in ("i64", "u64", *FLOATS) and self.chance(0.2):
            a = self.array(t, depth - 1)
            return Code(f"cumsum({a.text})", self.precision.grow(a.num, 6))
        found = self.operator(dtype)
        if found is None:
            return None
        op, ne, way = found
        if way in ("min", "order"):
            return None
        a = self.array(t, depth - 1)
        exclusive = ", exclusive=True" if self.chance(0.3) else ""
        return Code(f"scan({op}, {dtype}({ne}), {a.text}{exclusive})", self.moved(a.num, way))

    def _tuple_scan(self, t: Array, elem: Tuple, depth: int) -> Code | None:
        if len(elem.items) != 2 or not all(isinstance(x, Scalar) and x.dtype in INTS for x in elem.items):
            return None
        op, ne = self.tuple_operator(elem)
        a = self.array(t, depth - 1)
        return Code(f"scan({op}, {ne}, {a.text}{', exclusive=True' if self.chance(0.3) else ''})", a.num)

    def _sorted(self, t: Array, dtype: str, depth: int) -> Code | None:
        if dtype in COMPLEX:
            return None
        if dtype == "i64" and self.chance(0.5):
            d = self.rng.choice([d for d in self.palette if d not in COMPLEX] + ["bool"])
            keys = self.array(Array(Scalar(d), t.size), depth - 1)
            if d in FLOATS and not keys.num.exact:
                return None
            return Code(f"(argsort({keys.text}) + i64(0))")
        a = self.array(t, depth - 1)
        if dtype in FLOATS and not a.num.exact:
            return None
        if dtype in ("i32", "i64", "i16") and self.chance(0.3):
            return Code(f"sort({a.text}, key=lambda q: {self.rng.choice(('-q', 'q % 3', 'abs(q)'))})", a.num)
        return Code(f"sort({a.text})", a.num)

    def _zip(self, t: Array, elem: Tuple, depth: int) -> Code | None:
        if any(not isinstance(item, Scalar) for item in elem.items):
            return None
        parts = [self.array(Array(item, t.size), depth - 1) for item in elem.items]
        text = f"zip({', '.join(p.text for p in parts)})"
        scalars = [k for k, x in enumerate(elem.items) if isinstance(x, Scalar) and x.dtype in INTS]
        if scalars and self.chance(0.3):
            return Code(f"sort({text}, key=lambda p: p[{self.rng.choice(scalars)}])", _joined(parts))
        return Code(text, _joined(parts))

    def _row_sums(self, t: Array, dtype: str, depth: int) -> Code | None:
        """A reduction of an axis of a bigger array."""
        other = self.some_size()
        if rank(t) > 1 or self.nest > 1:
            return None
        if dtype in ("i64", "u64", *FLOATS):
            form = self.rng.choice(("rows", "columns", "sum", "mean" if dtype in FLOATS else "rows"))
        elif dtype in INTS:
            form = "min"
        else:
            form = "any" if dtype == "bool" else ""
        if form == "sum":
            text, new = self.clause()
            with self.bound(new, loop=True):
                e = self.array(t, depth - 1)
            return Code(f"sum({e.text} for {text})", self.precision.grow(e.num, 6))
        if form == "min":
            a = self.array(Array(Array(Scalar(dtype), Size.of(self.rng.choice((1, 2, 3)))), t.size), depth - 1)
            return Code(f"{self.rng.choice(('min', 'max'))}({a.text})")
        if form == "any":
            a = self.array(Array(Array(Scalar(dtype), other), t.size), depth - 1)
            return Code(f"{self.rng.choice(('any', 'all'))}({a.text})")
        if form in ("rows", "mean"):
            a = self.array(Array(Array(Scalar(dtype), other), t.size), depth - 1)
            return Code(f"sum({a.text}{self.rng.choice(('', ', axis=1', ', axis=-1'))})", self.precision.grow(a.num, 6))
        if form == "columns":
            a = self.array(Array(Array(Scalar(dtype), t.size), other), depth - 1)
            zero = "0.0" if dtype in FLOATS else "0"
            row = f"full({t.size}, {dtype}({zero}))"
            text = self.rng.choice((f"sum({a.text}, axis=0)", f"reduce(add, {row}, {a.text})", f"sum(transpose({a.text}))"))
            return Code(text, self.precision.grow(a.num, 6))
        return None


def _with_leaf(t: Type, leaf: Scalar) -> Array:
    sizes, _ = shape(t)
    out: Type = leaf
    for size in reversed(sizes):
        out = Array(out, size)
    assert isinstance(out, Array)
    return out


def _joined(items: list[Code]) -> Num:
    num = WHOLE
    for item in items:
        num = num.join(item.num)
    return num


def _postfix(text: str) -> str:
    """Text that can be followed by an index, or stand after an operator."""
    return text if text.isidentifier() or text.isdigit() else f"({text})"
