"""Operators and functions of scalars and whole arrays, by the kind of the result."""

from __future__ import annotations

from collections.abc import Sequence

from .expressions import Expressions, Operand
from .model import COMPLEX, FLOATS, INEXACT, INTS, NONE, Code, Num, promote


class Operations(Expressions):
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


def _parts(x: Num) -> tuple[int, int, int]:
    return x.magnitude, x.fraction, x.error
