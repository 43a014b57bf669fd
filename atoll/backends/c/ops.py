"""How each primitive is written in C. Every operation is total; what can go wrong has been checked before it."""

from __future__ import annotations

import math
import re
from typing import Any

from atoll.core.prims import ARITHMETIC, PRIMS
from atoll.types.dtypes import BOOL, DType

_NUMBER = re.compile(r"\(?-?(\d[\d.]*(e[-+]?\d+)?|0x[\da-f.]+p[-+]?\d+)f?\)?")  # a literal of floats, not NaN
_INFIX = {name: sign for name, sign in ARITHMETIC.items() if name != "div"}
_BITS = {name: PRIMS[name].sign for name in ("and", "or", "xor")}
_LOGIC = {"and": "&&", "or": "||", "xor": "!="}


def suffix(dtype: DType) -> str:
    """The part of a helper's name that says its type."""
    return dtype.name


def literal(value: Any, dtype: DType) -> str:
    """A constant."""
    if dtype is BOOL:
        return "true" if value else "false"
    if dtype.is_integer:
        value = int(value)
        if dtype.name == "i64":
            return "INT64_MIN" if value == -(2**63) else str(value) if abs(value) < 2**31 else f"INT64_C({value})"
        if dtype.name == "u64":
            return f"UINT64_C({value})"
        if dtype.name == "i32" and value == -(2**31):
            return "INT32_MIN"
        return f"{value}u" if dtype.kind == "u" and dtype.bits == 32 else str(value)
    if dtype.is_complex:
        z = complex(value)
        part = dtype.part()
        return f"at_complex_{dtype.name}({literal(z.real, part)}, {literal(z.imag, part)})"
    if dtype.is_storage:
        import numpy as np

        return str(int(np.asarray(value, dtype.numpy).view(np.uint16)))
    x = float(value)
    if math.isnan(x):
        return "NAN"
    if math.isinf(x):
        return "INFINITY" if x > 0 else "(-INFINITY)"
    text = repr(x) if dtype.name == "f64" else _shortest_f32(x)
    if "e" not in text and "." not in text:
        text += ".0"
    text = text + ("f" if dtype.name == "f32" else "")
    return f"({text})" if text.startswith("-") else text


def _shortest_f32(x: float) -> str:
    import numpy as np

    return str(np.float32(x)) if np.isfinite(np.float32(x)) else repr(x)


EXACT = frozenset({"sqrt", "floor", "ceil", "round", "trunc", "copysign", "fma", "abs", "fmod"})  # of those in C's library: IEEE 754 says every bit
OWN = frozenset({"tanh"})  # vector_math.py has a faster one for single numbers too


def is_rounded(op: str, arg: DType) -> bool:
    """A function of C's library whose last bit depends on whether it is called for one number or for a vector of them."""
    return arg.is_float and op in PRIMS and PRIMS[op].c != "" and op not in EXACT


def single(op: str, args: list[str], arg: DType) -> str | None:
    """Such a function where it is called for one number in any case: then every compiler calls the same one (`at_one_log`, prelude.py)."""
    return f"at_one_{PRIMS[op].c}{'f' if arg.name == 'f32' else ''}({', '.join(args)})" if is_rounded(op, arg) and op not in OWN else None


def singles() -> dict[str, int]:
    """Their names in C, and how many numbers they take."""
    return {p.c: p.arity for op, p in PRIMS.items() if p.c and op not in EXACT | OWN}


def call(op: str, args: list[str], arg: DType, result: DType, wrapping: bool) -> str:
    """A primitive applied to printed arguments of type `arg`. `wrapping`: the compiler wraps signed integers by itself."""
    if op == "select":
        return f"({args[0]} ? {args[1]} : {args[2]})"
    if op == "within":
        return f"at_within({', '.join(args)})"
    if op in ("extent", "rounds"):
        return f"at_{op}({', '.join(args)})"
    if op.startswith("portable_"):
        return f"at_{op}_{suffix(arg)}({', '.join(args)})"
    if arg is BOOL:
        return _bool(op, args)
    if arg.is_integer:
        return _integer(op, args, arg, wrapping)
    if arg.is_complex:
        return _complex(op, args, arg)
    return _float(op, args, arg, result)


def _bool(op: str, args: list[str]) -> str:
    if op in _LOGIC:
        return f"({args[0]} {_LOGIC[op]} {args[1]})"
    if op in _INFIX:
        return f"({args[0]} {_INFIX[op]} {args[1]})"
    if op == "not":
        return f"(!{args[0]})"
    if op in ("min", "max"):
        return f"({args[0]} {'&&' if op == 'min' else '||'} {args[1]})"
    raise AssertionError(op)


def _integer(op: str, args: list[str], t: DType, wrapping: bool) -> str:
    if op in ("add", "sub", "mul"):
        if t.bits == 16 and t.kind == "u" and op == "mul":  # as ints, 65535 * 65535 would overflow
            return f"({t.c_name})((uint32_t){args[0]} * (uint32_t){args[1]})"
        if t.bits < 32:
            return f"({t.c_name})({args[0]} {_INFIX[op]} {args[1]})"
        if wrapping or t.kind == "u":
            return f"({args[0]} {_INFIX[op]} {args[1]})"
        return f"at_{op}_{suffix(t)}({args[0]}, {args[1]})"
    if op in _INFIX:
        return f"({args[0]} {_INFIX[op]} {args[1]})"
    if op == "from_bits":
        return f"at_from_bits_{suffix(t)}({args[0]})"
    if op in _BITS:
        return f"({t.c_name})({args[0]} {_BITS[op]} {args[1]})"
    if op == "not":
        return f"({t.c_name})(~{args[0]})"
    if op == "neg":
        args = [f"({a})" if a.startswith("-") else a for a in args]  # the negative of a negative literal is not a decrement
        return f"({t.c_name})(-{args[0]})" if wrapping or t.kind == "u" else f"at_sub_{suffix(t)}(0, {args[0]})" if t.bits >= 32 else f"({t.c_name})(-{args[0]})"
    if op in ("min", "max"):
        sign = "<" if op == "min" else ">"
        return f"({args[0]} {sign} {args[1]} ? {args[0]} : {args[1]})" if _atomic(args) else f"at_{op}_{suffix(t)}({args[0]}, {args[1]})"
    if op in ("floordiv", "mod", "shl", "shr", "pow", "abs", "sign"):
        return f"at_{op}_{suffix(t)}({', '.join(args)})"
    raise AssertionError((op, t))


def _atomic(args: list[str]) -> bool:
    return all(a.replace("_", "a").isalnum() for a in args)


def _float(op: str, args: list[str], t: DType, result: DType) -> str:
    f = "f" if t.name == "f32" else ""
    if op in _INFIX:
        return f"({args[0]} {_INFIX[op]} {args[1]})"
    if op == "div":
        return f"({args[0]} / {args[1]})"
    if op == "neg":
        return f"(-{args[0]})"
    if op == "sampled":
        return args[0]
    if op == "to_bits":
        return f"at_to_bits_{suffix(t)}({args[0]})"
    if op in ("rounded_f16", "rounded_bf16"):
        storage = op.removeprefix("rounded_")
        return f"({t.c_name})at_f32_of_{storage}(at_{storage}_of_f32((float){args[0]}))"
    if op in ("isnan", "isinf", "isfinite", "signbit"):
        return f"(bool)({op}({args[0]}) != 0)"
    if op == "complex":
        return f"at_complex_{result.name}({', '.join(args)})"
    if op in ("min", "max") and _NUMBER.fullmatch(args[1]):
        return f"at_{op}_number_{suffix(t)}({args[0]}, {args[1]})"
    if op in ("min", "max", "floordiv", "mod", "sign", "digamma", "trigamma"):
        return f"at_{op}_{suffix(t)}({', '.join(args)})"
    return f"{PRIMS[op].c}{f}({', '.join(args)})"


def _complex(op: str, args: list[str], t: DType) -> str:
    f = "f" if t.name == "c64" else ""
    if op in ("add", "sub", "eq", "ne"):
        return f"({args[0]} {_INFIX[op]} {args[1]})"
    if op == "neg":
        return f"(-{args[0]})"
    if op in ("mul", "div"):
        return f"at_{op}_{suffix(t)}({args[0]}, {args[1]})"
    if op == "abs":
        return f"at_abs_{suffix(t)}({args[0]})"
    if op in ("real", "imag"):
        return f"c{op}{f}({args[0]})"
    if op == "conj":
        return f"conj{f}({args[0]})"
    if op in ("isnan", "isinf", "isfinite"):
        joint = "&&" if op == "isfinite" else "||"
        return f"(bool)({op}(creal{f}({args[0]})) {joint} {op}(cimag{f}({args[0]})))"
    return f"{PRIMS[op].c_complex}{f}({', '.join(args)})"


def cast(arg: str, source: DType, target: DType) -> str:
    """A conversion; out-of-range floats have been checked, so any total value will do."""
    if target.is_storage or source.is_storage:  # the other one is f32
        return f"at_{target.name}_of_{source.name}({arg})"
    if target is BOOL:
        return f"({arg} != 0)"
    if target.is_integer and source.is_float:
        return f"at_{target.name}_of_{source.name}({arg})"
    if target.is_complex and not source.is_complex:
        return f"at_complex_{target.name}(({target.part().c_name}){arg}, 0)"
    return f"({target.c_name}){arg}"
