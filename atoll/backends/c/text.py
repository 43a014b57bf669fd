"""The text of C: names that do not clash, lines and braces, polynomials and expressions. What is printed with it: loop_text, piece_text, emit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from atoll.ainf.ir import Site
from atoll.backends.c import ops
from atoll.backends.c.c_names import safe as safe
from atoll.backends.c.lengths import is_large
from atoll.backends.c.units import Units
from atoll.backends.c.used import in_planes, read_as_bytes
from atoll.backends.c.within import guarded
from atoll.loops import ir as lp
from atoll.loops.origins import Origins
from atoll.loops.profit import QUICK
from atoll.loops.questions import divides
from atoll.loops.transform.split import is_wide
from atoll.origins import Marks
from atoll.sizes import Atom, Poly, Quot, Sym, poly
from atoll.sizes.machine import stands_alone
from atoll.sizes.poly import factors
from atoll.types.dtypes import BOOL, I64

_RELATION = {"ge": ">=", "eq": "==", "ne": "!="}


@dataclass(frozen=True, slots=True)
class Dialect:
    """What the C may assume."""

    name: str
    wrapping: bool  # the compiler wraps signed integers (-fwrapv)
    gnu: bool  # GNU attributes and pragmas
    hosted: bool  # called through the runtime: threads, messages with values, the host's memory


JIT = Dialect("jit", wrapping=True, gnu=True, hosted=True)
C99 = Dialect("c99", wrapping=False, gnu=False, hosted=False)


class Names:
    """C names for sizes and loop indices; variables and buffers already have unique ones."""

    def __init__(self, reserved: set[str]) -> None:
        self.reserved = reserved
        self.active: dict[Atom, str] = {}

    def enter(self, sym: Sym) -> str:
        base = safe(sym.name)
        name, count = base, 1
        used = set(self.active.values())
        while name in used or name in self.reserved:
            name, count = f"{base}_{count}", count + 1
        self.active[sym] = name
        return name

    def leave(self, sym: Sym) -> None:
        del self.active[sym]

    def __getitem__(self, sym: Atom) -> str:
        return self.active[sym]


class Text:
    """A function under construction: its lines, the names in use, and how indices and expressions are written."""

    def __init__(self, fn: lp.Function, dialect: Dialect, prefix: str) -> None:
        fn = guarded(fn) if dialect.hosted else fn
        self.fn, self.dialect, self.prefix = fn, dialect, prefix
        self.lines: list[str] = []
        self.depth = 0
        self.units = Units(frozenset(safe(c.name) for c in fn.consts))
        self.texts: list[str] = []  # of the unit that is being made
        self.sites: list[Site] = []
        self.kinds: list[str] = []
        names = {safe(p.name) for p in (*fn.inputs, *(o.buffer for o in fn.outputs), *fn.consts)}
        for stmt in lp.walk(fn.body):
            for attribute in ("var", "buffer", "result"):
                found = getattr(stmt, attribute, None)
                if isinstance(found, (lp.Var, lp.Buffer)):
                    names.add(safe(found.name))
            names |= {safe(a.var.name) for a in getattr(stmt, "accs", ())}
        self.names = Names(names)
        self.swapped: set[lp.Buffer] = set()
        for stmt in lp.walk(fn.body):
            if isinstance(stmt, lp.Swap):
                self.swapped |= {stmt.first, stmt.second}
        self.open_outputs = {o.buffer: k for k, o in enumerate(fn.outputs)}
        self.pieces = 0
        self.nesting = 0  # loops around, in this function
        self.held: dict[lp.Buffer, int] = {}  # what this function allocated and gives back, by its place in at_held
        self.allocated: dict[lp.Buffer, str] = {}  # what it allocated, with the mark of where
        self.spacious = False  # this function is long: its nests are functions (apart.py)
        self.unit_names: dict[str, str] = {}
        self.uses_done = False
        self.counts = False  # what loops do is counted down in this function (looks.py)
        self.quiet = 0  # loops around whose rounds must not be left
        self.is_large = dialect.hosted and is_large(fn.body)
        self.alone = self.is_large  # such a program, and no compiler makes vectors of what stands here: it is in no loop, or in one that looks or checks in every round
        self.length = 0  # lines of this function, about
        self.divided: tuple[Sym, Sym] | None = None  # the bounds of a piece that is done in parts
        self.prints: list[lp.Print] = []
        self.offsets: dict[lp.Buffer, Poly] | None = None  # where buffers lie in the caller's workspace
        self.adders: dict[lp.Var, Any] = {}
        self.marks: Marks | None = None  # wanted when lines of C should tell where they come from
        self.origins: Origins | None = None
        self.here = ""  # the mark of the statement that is printed
        self.bytes = read_as_bytes(fn) if dialect.hosted else set()
        self.planes = in_planes(fn)

    def c_type(self, buffer: lp.Buffer) -> str:
        """The type of a buffer's elements."""
        return "uint8_t" if buffer in self.bytes else buffer.dtype.c_name

    @property
    def no_memory(self) -> str:
        return "at_no_memory(at)" if self.dialect.hosted else "-1"

    # -- text

    def put(self, text: str) -> None:
        self.lines.append("    " * self.depth + text + self.here if text else "")

    def whole(self, text: str) -> str:
        """A function that is written in one go, its lines marked like those of the statement it serves."""
        return text if not self.here else "\n".join(line + self.here for line in text.split("\n"))

    def mark_with(self, marks: Marks | None) -> None:
        """Mark the lines that are printed from now on."""
        self.marks, self.origins = marks, None if marks is None else Origins(self.fn)

    @contextmanager
    def coming_from(self, stmt: lp.Stmt) -> Iterator[None]:
        """Lines that are printed for this statement."""
        before = self.here
        if self.marks is not None and self.origins is not None:
            self.here = self.marks.mark(self.origins.of(stmt)) or before
        yield
        self.here = before

    @contextmanager
    def braces(self, head: str) -> Iterator[None]:
        self.put(f"{head} {{")
        self.depth += 1
        yield
        self.depth -= 1
        self.put("}")

    @contextmanager
    def function_text(self) -> Iterator[None]:
        """Collect a function of its own."""
        saved = (self.lines, self.depth, self.uses_done, self.counts, self.quiet, self.nesting, self.held, self.allocated, self.spacious)
        alone, length = self.alone, self.length
        self.lines, self.depth, self.uses_done, self.counts, self.quiet, self.nesting, self.held, self.allocated = [], 0, False, False, 0, 0, {}, {}
        self.alone = self.is_large
        yield
        self.texts.append("\n".join(self.lines))
        self.lines, self.depth, self.uses_done, self.counts, self.quiet, self.nesting, self.held, self.allocated, self.spacious = saved
        self.alone, self.length = alone, length

    @contextmanager
    def in_loop(self, left: bool) -> Iterator[None]:
        """The rounds of a loop; `left`: a look or a check may leave any of them, hence they are in no vectors."""
        saved, self.alone = self.alone, left and self.is_large and not self.quiet
        self.nesting += 1
        yield
        self.nesting -= 1
        self.alone = saved

    @contextmanager
    def unit(self, name: str) -> Iterator[None]:
        """Collect the functions of a unit (units.py), which are called `name` and more; `unit_names` tells what it is called in the end."""
        saved, self.texts = self.texts, []
        yield
        self.unit_names[name] = self.units.add(name, "\n\n".join(self.texts))
        self.texts = saved

    # -- indices

    def poly(self, p: Poly) -> str:
        """A polynomial as a C expression (not parenthesised)."""
        if not p.terms:
            return "0"
        terms: list[tuple[int, str]] = []
        for mono, coef in sorted(p.terms.items(), key=lambda t: (not t[0], -len(t[0]), factors(t[0], self.atom))):
            terms.append((coef, " * ".join(factors(mono, self.atom))))
        terms.sort(key=lambda t: t[0] < 0)
        text = ""
        for coef, body in terms:
            size = abs(coef)
            shown = ops.literal(size, I64) if not body else body if size == 1 else f"{ops.literal(size, I64)} * {body}"
            text += f" - {shown}" if coef < 0 and text else f"-{shown}" if coef < 0 else f" + {shown}" if text else shown
        return text

    def value(self, p: Poly) -> str:
        """The same where it is a value and not an index that is known to be small: it wraps around, which standard C has for unsigned integers only."""
        if self.dialect.wrapping or not is_wide(p) or (p.single() is not None):
            return self.poly(p)
        text = ""
        for mono, coef in sorted(p.terms.items(), key=lambda t: (t[1] < 0, not t[0], -len(t[0]), factors(t[0], self.atom))):
            parts = [f"(uint64_t){x}" for x in factors(mono, self.atom)]
            if abs(coef) != 1 or not parts:
                parts.insert(0, f"UINT64_C({abs(coef) % 2**64})")
            text += (" - " if text else "0 - ") if coef < 0 else " + " if text else ""
            text += " * ".join(parts)
        return f"(int64_t)({text})"

    def atom(self, atom: Atom) -> str:
        if isinstance(atom, lp.VarAtom):
            return safe(atom.var.name)
        if isinstance(atom, Quot):
            by = atom.den.const()
            if self.dialect.gnu and by is not None and by.bit_count() == 1:  # these compilers keep the sign; a function with a branch would stay in inner loops
                return f"(({self.poly(atom.num)}) >> {by.bit_length() - 1})"
            return f"at_fdiv({self.poly(atom.num)}, {self.poly(atom.den)})"
        return self.names[atom]

    def factor(self, p: Poly) -> str:
        text = self.poly(p)
        return text if len(p.terms) == 1 and " " not in text else f"({text})"

    def element(self, buffer: lp.Buffer, index: tuple[Poly, ...]) -> str:
        return f"{safe(buffer.name)}[{self.flat(buffer, index)}]"

    def parts(self, buffer: lp.Buffer, index: tuple[Poly, ...]) -> tuple[str, str]:
        """The real and the imaginary part of an element, where these lie apart."""
        place = self.flat(buffer, index)
        return f"{safe(buffer.name)}[0][{place}]", f"{safe(buffer.name)}[1][{place}]"

    def flat(self, buffer: lp.Buffer, index: tuple[Poly, ...]) -> str:
        """Row-major position."""
        if not index:
            return "0"
        text = self.poly(index[0]) if buffer.rows is None else f"({self.poly(index[0])}) % {buffer.rows}"
        for p, n in zip(index[1:], buffer.extents[1:], strict=True):
            if text == "0":
                text = self.poly(p)
                continue
            first = text if " " not in text else f"({text})"
            text = f"{first} * {self.factor(n)}"
            if p.terms:
                text += f" + {self.poly(p)}"
        return text

    # -- expressions

    def expr(self, e: lp.Expr) -> str:
        match e:
            case lp.Use(var):
                return safe(var.name)
            case lp.Const(value, dtype):
                return ops.literal(value, dtype)
            case lp.Index(p):
                text = self.value(p)
                return f"({text})" if len(p.terms) > 1 or (p.const() is None and " " in text) else text
            case lp.Load(buffer, index) if buffer in self.planes:
                return ops.call("complex", list(self.parts(buffer, index)), buffer.dtype.part(), buffer.dtype, self.dialect.wrapping)
            case lp.Load(buffer, index):
                return f"({self.element(buffer, index)} != 0)" if buffer in self.bytes else self.element(buffer, index)
            case lp.Call(op, args, dtype):
                arg = args[1 if op == "select" else 0].dtype
                if dtype is BOOL and arg is BOOL and op in ("and", "or") and all(map(_at_hand, args)):
                    return f"({self.expr(args[0])} {'&' if op == 'and' else '|'} {self.expr(args[1])})"
                given = [self.expr(a) for a in args]
                return (self.alone and ops.single(op, given, arg)) or ops.call(op, given, arg, dtype, self.dialect.wrapping)
            case lp.Cast(arg, dtype):
                return ops.cast(self.expr(arg), arg.dtype, dtype)
            case lp.Choose(tests, then, orelse) if _of_bits(e):  # data decide as they like: a branch would be guessed wrong half of the time
                kind, other = e.dtype.c_name, self.expr(orelse)
                return f"({kind})({other} ^ (({self.expr(then)} ^ {other}) & ({kind})-({kind})({self.tests(tests)})))"
            case lp.Choose(tests, then, orelse):
                return f"({self.tests(tests)} ? {self.expr(then)} : {self.expr(orelse)})"
            case lp.Truth(tests):
                return f"({self.tests(tests)})"
        raise AssertionError(e)

    def tests(self, tests: tuple[lp.Test, ...]) -> str:
        computed = len(tests) > 1 and all(t.expr is not None and _at_hand(t.expr) for t in tests)  # no branches between them
        return (" & " if computed else " && ").join(self.test(t) for t in tests) if tests else "1"

    def test(self, t: lp.Test) -> str:
        if t.poly is not None:
            relation, p = _RELATION[t.kind], t.poly
            if t.kind == "ge" and (apart := _wide(p)) is not None:
                sign, wide, rest = apart
                left, right = (wide, -rest) if sign == 1 else (rest, wide)
                return f"{self.poly(left)} >= {self.poly(right)}"
            if t.kind == "ge" and not stands_alone(p, lambda a: isinstance(a, lp.VarAtom) and not a.var.small):
                return f"{self.value(p)} >= 0"  # of a sum that may have wrapped around the sum decides, not its parts
            if t.kind == "ge" and p.constant_term() == -1:  # n - k - 1 >= 0 is n > k, where nothing can overflow
                relation, p = ">", p + 1
            left = Poly({m: c for m, c in p.terms.items() if c > 0})
            right = Poly({m: -c for m, c in p.terms.items() if c < 0})
            return f"{self.poly(left)} {relation} {self.poly(right)}"
        assert t.expr is not None
        text = self.expr(t.expr)
        return text if t.kind == "true" else f"!{text}"

    def stmts(self, stmts: lp.Stmts) -> None:
        """Print statements; the class that knows them all says how."""
        raise NotImplementedError

    def declare(self, var: lp.Var, value: str, const: bool) -> None:
        qualifier = "const " if const else ""
        self.put(f"{qualifier}{var.dtype.c_name} {safe(var.name)} = {value};")


def _wide(p: Poly) -> tuple[int, Poly, Poly] | None:
    """p as sign * wide + rest, where `wide` is its one variable that may be near the ends of its range: it must stand alone."""
    found = [a for a in p.leaves() if isinstance(a, lp.VarAtom) and not a.var.small]
    if len(found) != 1:
        return None
    wide = poly(found[0])
    sign = p.terms.get((found[0],), 0)
    rest = p - sign * wide
    return (sign, wide, rest) if sign in (-1, 1) and found[0] not in rest.leaves() else None


def _of_bits(e: lp.Choose) -> bool:
    """A choice between patterns of bits, made of variables by and, or, xor."""
    inside = [*lp.subexprs(e.then), *lp.subexprs(e.orelse)]
    made = [x for x in inside if isinstance(x, lp.Call)]
    plain = all(isinstance(x, (lp.Use, lp.Const)) or (isinstance(x, lp.Call) and x.op in ("and", "or", "xor", "not")) for x in inside)
    quick = all(t.expr is not None and all(isinstance(x, (lp.Use, lp.Const)) or (isinstance(x, lp.Call) and x.op in QUICK) for x in lp.subexprs(t.expr)) for t in e.tests)
    return e.dtype.kind == "u" and bool(made) and plain and quick and len(inside) <= 6 and all(x.dtype.kind == "u" for x in inside)


def _at_hand(e: lp.Expr) -> bool:
    """A bool that costs less than a branch: made of variables by a few quick operations."""
    inside = list(lp.subexprs(e))
    tests = [t for x in inside if isinstance(x, lp.Truth) for t in x.tests]
    quick = all(isinstance(x, (lp.Use, lp.Const, lp.Truth)) or (isinstance(x, lp.Call) and x.op in QUICK) for x in inside)
    return quick and len(inside) <= 9 and not any(t.poly is not None and divides(t.poly) for t in tests)
