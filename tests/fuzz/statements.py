"""Statements: bindings, in-place updates, branches, loops, local functions.

A loop multiplies whatever happens to a float, so float state changes only by forms whose bound is known (`s = 0.5*s + e`, `s += e` with an `e` that
does not read it); integers wrap and may change in any way.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from .arrays import Arrays
from .model import (
    COMPLEX,
    FLOATS,
    I64,
    INEXACT,
    INTS,
    NONE,
    Array,
    Code,
    Num,
    Record,
    Scalar,
    Size,
    Tuple,
    Type,
    Var,
    has_floats,
    rank,
    shape,
    sizes_of,
)


class Statements(Arrays):
    lines: list[str]
    indent = 1

    def emit(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    # -- types and variables

    def some_type(self) -> Type:
        scalars = [Scalar(d) for d in [*self.palette, "bool", "i64"]]
        one = self.rng.choice(scalars)
        kind = self.rng.choices(("scalar", "array", "matrix", "tuple", "tuples", "record", "cube"), (4, 5, 1.6, 1, 1, 0.8, 0.2))[0]
        if kind == "array":
            return Array(one, self.some_size())
        if kind == "matrix":
            return Array(Array(one, self.some_size()), self.some_size())
        if kind == "cube":
            return Array(Array(Array(one, Size.of(2)), self.some_size()), Size.of(3))
        if kind == "tuple":
            other: Type = self.rng.choice(scalars)
            return Tuple((one, Array(other, self.some_size()) if self.chance(0.3) else other))
        if kind == "tuples":
            return Array(Tuple((one, self.rng.choice(scalars))), self.some_size())
        if kind == "record" and self.records:
            return self.rng.choice(self.records)
        return one

    def new(self, t: Type, num: Num, base: str = "v") -> Var:
        return Var(self.name(base), t, num, self.level)

    def declare(self, v: Var) -> None:
        self.vars = [*self.vars, v]

    def changeable(self, test: Callable[[Type], bool] = lambda t: True) -> list[Var]:
        """Variables a statement here may rebind."""
        return [v for v in self.vars if not v.frozen and test(v.type) and (v.level == self.level or not has_floats(v.type))]

    def freeze(self, text: str) -> None:
        """What a local function or a size mentions may not change any more."""
        names = set(re.findall(r"[A-Za-z_]\w*", text))
        for v in self.vars:
            if v.name in names:
                v.frozen = True

    def opaque(self, name: str) -> Size:
        return Size.of(f"len({name})")

    # -- one statement

    def statement(self, depth: int) -> None:
        loops = self.nest < 2
        kinds: list[tuple[float, Callable[[], bool]]] = [
            (6, lambda: self.bind(depth)),
            (2.5, lambda: self.reshape(depth)),
            (1.5, lambda: self.rebind(depth)),
            (2.5, lambda: self.update(depth)),
            (1, lambda: self.augment(depth)),
            (1.6, lambda: self.branch(depth)),
            (2.2 if loops else 0, lambda: self.for_loop(depth)),
            (1 if loops else 0, lambda: self.while_loop(depth)),
            (0.8 if self.level == 0 else 0, lambda: self.local_function(depth)),
            (0.5, lambda: self.check(depth)),
            (0.6, lambda: self.unpack(depth)),
            (0.4, lambda: self.match(depth)),
            (1 if self.indent == 1 else 0, lambda: self.filtered(depth)),
            (0.5 if self.indent == 1 else 0, lambda: self.sized(depth)),
        ]
        weights = [w for w, _ in kinds]
        self.fuel = min(60, max(0, self.fuel) + self.rng.choice((10, 20, 40)))
        for _ in range(6):
            if self.rng.choices(kinds, weights)[0][1]():
                return

    def block(self, count: int, depth: int) -> None:
        """Statements of an inner block; names bound there end there."""
        saved, before = list(self.vars), len(self.lines)
        self.indent += 1
        for _ in range(count):
            self.statement(depth)
        self.indent -= 1
        self.vars = saved
        if len(self.lines) == before:
            self.emit("    pass")

    def bind(self, depth: int) -> bool:
        t = self.some_type()
        code = self.value(t, depth)
        v = self.new(t, code.num)
        local = all("len(" not in a for s in sizes_of(t) for a in s.atoms)
        note = f": {t}" if self.chance(0.15) and local and not isinstance(t, (Tuple, Record)) and "Tuple" not in str(t) else ""
        self.emit(f"{v.name}{note} = {code.text}")
        self.declare(v)
        return True

    def rebind(self, depth: int) -> bool:
        found = self.changeable()
        if not found:
            return False
        v = self.rng.choice(found)
        code = self.value(v.type, depth)
        self.emit(f"{v.name} = {code.text}")
        v.num = v.num.join(code.num)
        return True

    def augment(self, depth: int) -> bool:
        def fits(t: Type) -> bool:
            elem = shape(t)[1]
            return isinstance(elem, Scalar) and elem.dtype in INTS

        found = self.changeable(fits)
        if not found:
            return False
        v = self.rng.choice(found)
        elem = shape(v.type)[1]
        assert isinstance(elem, Scalar)
        e = self.value(v.type if self.chance(0.5) else elem, depth - 1)
        self.emit(f"{v.name} {self.rng.choice(('+=', '-=', '*=', '^=', '&=', '|='))} {e.text}")
        return True

    def check(self, depth: int) -> bool:
        if self.take_risk("assert"):
            message = self.rng.choice(("", ', "no"', ', f"no {1 + 1}"'))
            self.emit(f"assert {self.scalar('bool', depth - 1).text}{message}")
            return True
        arrays = [v for v in self.vars if isinstance(v.type, Array)]
        if not arrays:
            return False
        v = self.rng.choice(arrays)
        assert isinstance(v.type, Array)
        self.emit(f"assert len({v.name}) {self.rng.choice(('==', '>=', '<='))} {v.type.size}")
        return True

    # -- shapes made from arrays that exist

    def reshape(self, depth: int) -> bool:
        arrays = [v for v in self.vars if isinstance(v.type, Array)]
        if not arrays:
            return False
        x = self.rng.choice(arrays)
        t = x.type
        assert isinstance(t, Array)
        v = self.new(t, x.num)
        n, elem, leaf = t.size, t.elem, shape(t)[1]
        number = isinstance(leaf, Scalar)
        some = self.opaque(v.name)
        risk = self.take_risk("size")
        options: list[tuple[str, Type]] = [
            (f"sample({x.name}, {self.rng.choice((2, 3))})", Array(elem, some)),
            (f"{x.name}[::{self.rng.choice((2, 3, -2, -3, -1))}]", Array(elem, some)),
            (f"reverse({x.name})", t),
            (f"rotate({x.name}, {self.scalar('i64', 1).text} % 4)", t),
            (f"concat({x.name}, {x.name})", Array(elem, n * 2)),
            (f"repeat({x.name}, 2)", Array(t, Size.of(2))),
        ]
        if number:
            options += [
                (f"tile({x.name}, {(k := self.rng.choice((1, 2, 3)))})", Array(Array(elem, Size.of(k)), some)),
                (f"pad_l({x.name}, {k})", Array(elem, n + k)),
                (f"pad_r({x.name}, {k})", Array(elem, n + k)),
            ]
            v.num = v.num.join(Num(0))
        if rank(t) == 1 and number:
            options.append((f"pad({x.name}, {k})", Array(elem, n + 2 * k)))
        if rank(t) == 2 and number:
            inner = elem.size  # type: ignore[union-attr]
            options.append((f"pad({x.name}, ((1, 0), (0, 2)))", Array(Array(leaf, inner + 2), n + 1)))
        if rank(t) >= 2:
            assert isinstance(elem, Array)
            options += [
                (f"transpose({x.name}, (1, 0))", Array(Array(elem.elem, n), elem.size)),
                (f"flatten({x.name})", Array(elem.elem, n * elem.size)),
                (f"{x.name}[:, ::-1]", t),
                (f"[row[::-1] for row in {x.name}]", t),
            ]
        for least, text, size in (
            (1, f"trunc_l({x.name}, 1)", n - 1),
            (1, f"trunc_r({x.name}, 1)", n - 1),
            (2, f"{x.name}[1:-1]", n - 2),
            (1, f"{x.name}[-2::-1]", n - 1),
            (3, f"{x.name}[1:-1:2]", some),
            (2, f"{x.name}[:2]", Size.of(2)),
            (2, f"{x.name}[-2:]", Size.of(2)),
        ):
            if n.least >= least or (risk and n.least >= 0):
                options += [(text, Array(elem, size))] * (6 if risk else 1)
        if n.least >= 1 or (risk and n.least >= 0):
            options.append((f"window({x.name}, 2)", Array(Array(elem, Size.of(2)), n - 1)))
        if all(c % 2 == 0 for _, c in n.terms) and n.terms:
            half = Size(tuple((a, c // 2) for a, c in n.terms))
            options += [(f"split({x.name}, 2)", Array(Array(elem, Size.of(2)), half))] * 3
        text, made = self.rng.choice(options)
        if max((s.degree for s in sizes_of(made)), default=0) > 2:
            return False
        v.type = made
        if some in sizes_of(made):
            v.frozen = True
        self.emit(f"{v.name} = {text}")
        self.declare(v)
        return True

    def filtered(self, depth: int) -> bool:
        """An array whose size only the data knows."""
        arrays = [v for v in self.vars if isinstance(v.type, Array)]
        if not arrays:
            return False
        x = self.rng.choice(arrays)
        assert isinstance(x.type, Array)
        v = self.new(x.type, x.num)
        v.frozen = True
        e = Var(self.name("x"), x.type.elem, x.num, self.level, True)
        with self.bound([e], loop=True):
            test = self.scalar("bool", depth - 1).text
            t = self.rng.choice((x.type.elem, self.some_type()))
            body = self.value(t, depth - 1) if self.chance(0.5) and not isinstance(t, Record) else None
        if body is None:
            self.emit(f"{v.name} = filter(lambda {e.name}: {test}, {x.name})")
            t = x.type.elem
        else:
            self.emit(f"{v.name} = [{body.text} for {e.name} in {x.name} if {test}]")
            v.num = body.num
        v.type = Array(t, self.opaque(v.name))
        self.declare(v)
        return True

    def sized(self, depth: int) -> bool:
        """An array as long as a number says."""
        k = Var(self.name("cnt"), I64, level=self.level, frozen=True)
        e = self.scalar("i64", 1).text
        self.emit(f"{k.name} = at.size({e} % 5)" if self.chance(0.6) else f"{k.name} = {e} % 5")
        self.declare(k)
        t = Array(Scalar(self.some_dtype(INTS)), Size.of(k.name))
        i = Var(self.name("j"), I64, below=t.size, frozen=True, level=self.level)
        with self.bound([i], loop=True):
            code = self.value(t.elem, depth - 1)
        v = self.new(t, code.num)
        self.emit(f"{v.name} = [{code.text} for {i.name} in range({k.name})]")
        self.declare(v)
        return True

    def unpack(self, depth: int) -> bool:
        found = [v for v in self.vars if isinstance(v.type, Tuple) or (isinstance(v.type, Array) and isinstance(v.type.elem, Tuple))]
        small = [v for v in self.vars if isinstance(v.type, Array) and v.type.size.constant in (2, 3)]
        swap = self.changeable(lambda t: isinstance(t, Scalar) and t.dtype in INTS)
        if swap and self.chance(0.3):
            a = self.rng.choice(swap)
            others = [b for b in swap if b.type == a.type and b is not a]
            if others:
                b = self.rng.choice(others)
                self.emit(f"{a.name}, {b.name} = {b.name}, {self.scalar(a.type.dtype, 1).text}")  # type: ignore[union-attr]
                return True
        if not found + small:
            return False
        v = self.rng.choice(found + small)
        if isinstance(v.type, Tuple):
            types: list[Type] = list(v.type.items)
            text = v.name
        elif isinstance(v.type, Array) and isinstance(v.type.elem, Tuple):
            types = [Array(item, v.type.size) for item in v.type.elem.items]
            text = f"unzip({v.name})"
        else:
            assert isinstance(v.type, Array)
            types, text = [v.type.elem] * (v.type.size.constant or 0), v.name
        parts = [self.new(t, v.num) for t in types]
        self.emit(f"{', '.join(p.name for p in parts)} = {text}")
        self.vars = self.vars + parts
        return True

    # -- in place

    def update(self, depth: int) -> bool:
        """a[...] = e, for everything that can be read."""
        found = self.changeable(lambda t: isinstance(t, (Array, Record, Tuple)))
        if not found:
            return False
        v = self.rng.choice(found)
        if isinstance(v.type, Record):
            field, t = self.rng.choice(v.type.fields)
            code = self.value(t, depth - 1)
            self.emit(f"{v.name}.{field} = {code.text}")
            v.num = v.num.join(code.num)
            return True
        if isinstance(v.type, Tuple):
            k = self.rng.randrange(len(v.type.items))
            code = self.value(v.type.items[k], depth - 1)
            self.emit(f"{v.name}[{k}] = {code.text}")
            v.num = v.num.join(code.num)
            return True
        assert isinstance(v.type, Array)
        place = self._place(v.type)
        if place is None:
            return False
        items, t = place
        leaf = shape(t)[1]
        target = f"{v.name}[{', '.join(items)}]"
        if isinstance(leaf, Scalar) and leaf.dtype in INTS and self.chance(0.4):
            e = self.value(t if self.chance(0.5) else leaf, depth - 1)
            self.emit(f"{target} {self.rng.choice(('+=', '-=', '*=', '^='))} {e.text}")
            return True
        other = self._place(v.type) if self.chance(0.25) and not any(":" in i for i in items) else None
        if other is not None and other[1] == t:
            second = f"{v.name}[{', '.join(other[0])}]"
            self.emit(f"{target}, {second} = {second}, {target}")
            return True
        scalar = isinstance(leaf, Scalar) and rank(t) > 0 and self.chance(0.3)
        code = self.value(leaf if scalar else t, depth - 1)
        self.emit(f"{target} = {code.text}")
        v.num = v.num.join(code.num)
        return True

    def _place(self, t: Array) -> tuple[list[str], Type] | None:
        """Items of an index, and the type of what they select."""
        sizes, elem = shape(t)
        items: list[str] = []
        kept: list[Size] = []
        for size in sizes[: self.rng.randint(1, len(sizes))]:
            i = self.index(size)
            if i is not None and self.chance(0.6):
                items.append(i)
                continue
            options = [(":", size), ("::-1", size)]
            if size.least >= 1 or (self.risk == "size" and size.least >= 0 and self.chance(0.2)):
                options += [("1:", size - 1), (":-1", size - 1)]
            if size.least >= 2:
                options += [("1:-1", size - 2), (":2", Size.of(2))]
            if all(c % 2 == 0 for _, c in size.terms) and size.terms:
                half = Size(tuple((a, c // 2) for a, c in size.terms))
                options += [("::2", half), ("1::2", half)]
            text, count = self.rng.choice(options)
            items.append(text)
            kept.append(count)
        out: Type = elem
        for size in reversed(kept + sizes[len(items) :]):
            out = Array(out, size)
        return items, out

    # -- branches

    def branch(self, depth: int) -> bool:
        """if/elif/else; a new name is bound in every branch or in none."""
        fresh = self.new(self.some_type(), Num(0)) if self.chance(0.6) else None
        if fresh is not None and any("len(" in a for s in sizes_of(fresh.type) for a in s.atoms):
            fresh = None
        count = self.rng.choice((1, 2, 2, 3)) if fresh is None else self.rng.choice((2, 2, 3))
        for k in range(count):
            last = k == count - 1 and count > 1
            test = "" if last else f" {self.scalar('bool', depth - 1).text}"
            self.emit(f"{'else' if last else 'elif' if k else 'if'}{test}:")
            saved = list(self.vars)
            self.indent += 1
            before = len(self.lines)
            for _ in range(self.rng.choice((0, 1, 1, 2) if fresh else (1, 1, 2))):
                self.statement(depth - 1)
            if fresh is not None:
                code = self.value(fresh.type, depth - 1)
                self.emit(f"{fresh.name} = {code.text}")
                fresh.num = fresh.num.join(code.num)
            if len(self.lines) == before:
                self.emit("pass")
            self.indent -= 1
            self.vars = saved
        if fresh is not None:
            self.declare(fresh)
        return True

    def match(self, depth: int) -> bool:
        t = self.rng.choice((I64, Scalar(self.some_dtype(INTS))))
        v = self.new(t, Num(0))
        self.emit(f"match {self.scalar('i64', depth - 1).text} % 4:")
        self.indent += 1
        for case in self.rng.choice((("0", "_"), ("0", "1 | 2", "_"), ("1", "3", "_"))):
            self.emit(f"case {case}:")
            self.emit(f"    {v.name} = {self.scalar(t.dtype, depth - 1).text}")
        self.indent -= 1
        self.declare(v)
        return True

    # -- loops

    def _float_states(self, depth: int) -> list[str]:
        """Updates of float state, each by a form whose bound holds after any number of rounds."""
        found = [v for v in self.vars if not v.frozen and v.level == self.level - 1 and has_floats(v.type)]
        plain = [v for v in found if isinstance(shape(v.type)[1], Scalar) and rank(v.type) <= 1]
        chosen = self.rng.sample(plain, min(len(plain), self.rng.choice((0, 1, 1, 2))))
        lines = []
        for v in chosen:
            elem = shape(v.type)[1]
            assert isinstance(elem, Scalar)
            i = self.index(v.type.size) if isinstance(v.type, Array) else None
            with self.hidden(lambda x: x in chosen):
                e = self.value(elem, depth - 1)
                whole = self.value(v.type, depth - 1)
            added = self.precision.grow(e.num.join(v.num), 6)
            halved = v.num.join(e.num)
            halved = Num(halved.magnitude + 1, INEXACT, max(halved.error, halved.magnitude) + 6)
            forms: list[tuple[str, Num]] = [
                (f"{v.name} = 0.5 * {v.name} + {e.text}", halved),
                (f"{v.name} += {e.text}", added),
                (f"{v.name} = {whole.text}", v.num.join(whole.num)),
            ]
            if elem.dtype not in COMPLEX:
                forms.append((f"{v.name} = maximum({v.name}, {e.text})", v.num.join(e.num)))
            if i is not None:
                forms += [(f"{v.name}[{i}] = {e.text}", v.num.join(e.num)), (f"{v.name}[{i}] += {e.text}", added)] * 3
                forms += [(f"{v.name} = rotate({v.name}, 1)", v.num), (f"{v.name}[{i}] = 0.5 * {v.name}[{i}] + {e.text}", halved)]
            text, num = self.rng.choice(forms)
            if self.precision.fits(num):
                v.num = num
                lines.append(text)
        return lines

    def _states(self, depth: int) -> None:
        """Names the loop will carry, some with a literal first value that takes the loop's type."""
        for _ in range(self.rng.choice((0, 1, 1, 2))):
            self.bind_state(depth)

    def bind_state(self, depth: int) -> None:
        dtype = self.rng.choice([d for d in self.palette if d not in COMPLEX] + ["i64"])
        size = self.rng.choice((None, self.some_size()))
        t: Type = Scalar(dtype) if size is None else Array(Scalar(dtype), size)
        code = self.value(t, depth - 1)
        v = self.new(t, code.num, "s")
        self.emit(f"{v.name} = {code.text}")
        self.declare(v)

    def _weak_state(self) -> tuple[Var, str] | None:
        """`acc = 0` or `acc = zeros(n)`: the type comes from what the loop puts into it."""
        if not self.chance(0.35):
            return None
        dtype = self.rng.choice([d for d in self.palette if d in INTS] + ["i64"])
        if self.chance(0.5):
            v = self.new(Scalar(dtype), Num(0), "w")
            self.emit(f"{v.name} = {self.rng.choice('01')}")
            return v, dtype
        v = self.new(Array(Scalar(dtype), self.some_size()), Num(0), "w")
        self.emit(f"{v.name} = {self.rng.choice(('zeros', 'ones'))}({v.type.size})")  # type: ignore[union-attr]
        return v, dtype

    def _body(self, new: list[Var], weak: tuple[Var, str] | None, depth: int, last: str = "") -> None:
        saved = list(self.vars)
        self.level += 1
        self.nest += 1
        self.indent += 1
        self.vars = self.vars + new
        for v in new:
            v.level = self.level
        before = len(self.lines)
        updates = self._float_states(depth)
        for _ in range(self.rng.choice((1, 1, 2, 3))):
            self.statement(depth - 1)
        for line in updates:
            self.emit(line)
        if weak is not None:
            v, dtype = weak
            if isinstance(v.type, Array):
                i = self.index(v.type.size)
                e = self.scalar(dtype, depth - 1)
                if i is not None:
                    self.emit(f"{v.name}[{i}] {self.rng.choice(('=', '+='))} {e.text}")
                else:
                    self.emit(f"{v.name} = {v.name} + {e.text}")
            else:
                self.emit(f"{v.name} = {v.name} {self.rng.choice('+-*')} {self.scalar(dtype, depth - 1).text}")
        if last:
            self.emit(last)
        if len(self.lines) == before:
            self.emit("pass")
        self.indent -= 1
        self.nest -= 1
        self.level -= 1
        self.vars = saved
        if weak is not None:
            self.declare(weak[0])

    def for_loop(self, depth: int) -> bool:
        self._states(depth)
        weak = self._weak_state()
        text, new = self.clause()
        self.emit(f"for {text}:")
        self._body(new, weak, depth)
        return True

    def while_loop(self, depth: int) -> bool:
        self._states(depth)
        weak = self._weak_state()
        c = Var(self.name("cnt"), I64, level=self.level, frozen=True)
        limit = self.rng.choice(("3", "5", "8", f"{self.scalar('i64', 1).text} % 6"))
        weakly = self.chance(0.4)  # a weak counter would make weak what it meets, so nothing else reads it
        self.emit(f"{c.name} = 0" if weakly else f"{c.name} = i64(0)")
        if not weakly:
            self.declare(c)
        more = f" and {self.scalar('bool', depth - 1).text}" if self.chance(0.5) else ""
        self.emit(f"while {c.name} < {limit}{more}:")
        self._body([], weak, depth, f"{c.name} += 1")
        self.vars = [v for v in self.vars if v is not c]
        return True

    # -- local functions

    def local_function(self, depth: int) -> bool:
        """def or lambda, called at once and mapped."""
        types = [Scalar(self.rng.choice([d for d in self.palette if d not in COMPLEX])) for _ in range(self.rng.choice((1, 2)))]
        num = Num(4, INEXACT, 4)
        params = [Var(self.name("a"), t, num if t.dtype in FLOATS else Num(0), self.level, True) for t in types]
        result = self.rng.choice(types)
        f = self.name("g")
        before = len(self.lines)
        with self.bound(params):
            if self.chance(0.5):
                note = self.chance(0.4)
                shown = ", ".join(f"{p.name}: {p.type}" if note else p.name for p in params)
                self.emit(f"def {f}({shown}):")
                self.indent += 1
                saved = self.level
                self.level += 1  # nothing outside may be rebound
                with self.hidden(lambda v: False):
                    frozen = [(v, v.frozen) for v in self.vars]
                    for v in self.vars:
                        v.frozen = True
                    if self.chance(0.4):
                        self.statement(depth - 1)
                    code = self.scalar(result.dtype, depth - 1)
                    for v, was in frozen:
                        v.frozen = was
                self.level = saved
                self.emit(f"return {code.text}")
                self.indent -= 1
            else:
                code = self.scalar(result.dtype, depth - 1)
                self.emit(f"{f} = lambda {', '.join(p.name for p in params)}: {code.text}")
        self.freeze("\n".join(self.lines[before:]))
        sizes = [v.type.size for v in self.vars if isinstance(v.type, Array)]
        size = self.rng.choice(sizes) if sizes and self.chance(0.6) else None
        args = [self.value(t if size is None else Array(t, size), 1) for t in types]
        if any(a.num.magnitude > 4 or a.num.error > 4 for t, a in zip(types, args, strict=True) if t.dtype in FLOATS):
            return True
        text = ", ".join(a.text for a in args)
        v = self.new(result if size is None else Array(result, size), code.num)
        self.emit(f"{v.name} = {f}({text})" if size is None else f"{v.name} = map({f}, {text})")
        self.declare(v)
        return True


def bound_of(codes: list[Code]) -> Num:
    num = Num(0, 0, NONE)
    for c in codes:
        num = num.join(c.num)
    return num
