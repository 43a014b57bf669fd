"""Every built-in name, and which names of math, numpy and operator mean the same thing."""

from __future__ import annotations

import math
from typing import Any, NoReturn

from atoll.elaborate.numpy_names.names import NAMES, bare
from atoll.errors import fail
from atoll.errors.plain import plain

SCALAR_UNARY = {
    # name in a body -> primitive
    **{
        name: name
        for name in [
            "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "sin", "cos", "tan", "arcsin",
            "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "erf", "erfc", "lgamma",
            "tgamma", "digamma", "floor", "ceil", "trunc", "isnan", "isinf", "isfinite", "conj", "real", "imag",
            "abs", "sign", "signbit", "sampled",
        ]
    },
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
    "round": "round",
    "rint": "round",
    "fabs": "abs",
    "gamma": "tgamma",
    "gammaln": "lgamma",
    "conjugate": "conj",
    "absolute": "abs",
}
SCALAR_NARY = {
    "arctan2": ("arctan2", 2),
    "atan2": ("arctan2", 2),
    "hypot": ("hypot", 2),
    "copysign": ("copysign", 2),
    "fmod": ("fmod", 2),
    "minimum": ("min", 2),
    "maximum": ("max", 2),
    "fma": ("fma", 3),
}
OPERATORS = {
    "add": "+", "sub": "-", "mul": "*", "and_": "&", "or_": "|", "xor": "^", "truediv": "/", "floordiv": "//",
    "mod": "%",
}
DERIVATIVES = ["jvp", "jvp2", "vjp", "vjp2", "grad", "value_and_grad", "jacfwd", "jacrev", "hessian", "linearize"]
OTHERS = [
    "map", "reduce", "scan", "fold", "hist", "scatter", "gather", "filter", "sort", "sorted", "argsort", "argmin",
    "argmax", "zip", "unzip", "iota", "rep", "full", "zeros", "ones", "where", "pad", "transpose", "flatten",
    "split", "tile", "concat", "pad_l", "pad_r", "trunc_l", "trunc_r", "window", "sample", "reverse", "rotate",
    "repeat", "len", "range", "enumerate", "reversed", "sum", "prod", "min", "max", "any", "all", "print", "pow",
    "clip", "int", "float", "bool", "complex", "dot", "matmul", "size", "copy", "loop", "bound", "stop",
    "zeros_like", "ones_like", "full_like", "cumsum", "cumprod", "mean", "outer", "square", "stack", "vmap",
    *DERIVATIVES,
]
RANDOM = [
    "key", "split", "fold_in", "permutation", "choice", "categorical", "uniform", "normal", "lognormal", "laplace",
    "logistic", "gumbel", "cauchy", "exponential", "rayleigh", "weibull", "gamma", "chisquare", "beta",
    "student_t", "bernoulli", "geometric", "poisson", "integers",
]
"""Functions of at.random (atoll/random.py)."""
CONSTANTS: dict[str, float] = {"pi": math.pi, "e": math.e, "inf": math.inf, "nan": math.nan, "tau": math.tau}
NUMPY_CONSTANTS: dict[str, float] = {"euler_gamma": 0.5772156649015329}

BUILTINS: frozenset[str] = frozenset((*SCALAR_UNARY, *SCALAR_NARY, *OPERATORS, *OTHERS))
WORDS: frozenset[str] = bare(BUILTINS)
"""Names with NumPy's meaning that can be written bare."""


class BuiltinName:
    """`at.exp` and the like: means something in a body only."""

    __slots__ = ("__name__",)

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __repr__(self) -> str:
        return f"<atoll built-in {self.__name__}>"

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        """How it is called, for help() and editors."""
        from atoll.elaborate.builtins.signatures import described

        return described(self.__name__)

    @property
    def __signature__(self) -> Any:
        from atoll.elaborate.builtins.signatures import signature

        return signature(self.__name__)

    @plain
    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        fail("E0107", name=self.__name__)


_SHARED = [
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "sin", "cos", "tan", "arcsin",
    "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "floor", "ceil", "trunc", "isnan",
    "isinf", "isfinite", "copysign", "hypot", "fmod",
]

MODULES: dict[str, dict[str, str]] = {
    "math": {
        **{name: name for name in (*_SHARED, "erf", "erfc", "lgamma", "gamma", "fabs", "pow", "fma")},
        **{name: name for name in ["asin", "acos", "atan", "asinh", "acosh", "atanh", "atan2", "prod"]},
    },
    "numpy": {  # one number at a time, with one meaning; everything else of numpy's is in elaborate/numpy_names
        **{name: name for name in (*_SHARED, "sign", "abs", "absolute", "rint", "signbit", "square", "fabs")},
        **{name: name for name in ["asin", "acos", "atan", "asinh", "acosh", "atanh", "atan2"]},
    },
    "operator": {
        **{name: name for name in ["add", "sub", "mul", "truediv", "floordiv", "mod", "and_", "or_", "xor", "matmul", "pow"]},
    },
}
INSTEAD: dict[str, str] = {
    "tuple": "write the items: (a, b)",
    "dict": "use a record (@at.record)",
    "set": "use np.unique(xs)",
    "open": "read files outside and pass arrays in",
    "input": "pass the value in",
    "isinstance": "types are known: there is nothing to ask",
    "str": "numbers have no text here; use print(...)",
    "bytes": "there are numbers only; an array of bytes is u8[n]",
    "bytearray": "there are numbers only; an array of bytes is u8[n]",
    "memoryview": "there are numbers only; an array of bytes is u8[n]",
    "object": "there are numbers only: i64, f64, c128, bool and their relatives",
    "chr": "numbers have no text here; use print(...)",
    "iter": "go over the array itself",
    "next": "index instead",
}
"""What to write for names of Python that have no meaning here."""


def meaning(module: str, name: str) -> str | None:
    """The built-in a dotted name means."""
    return MODULES.get(module, {}).get(name)


def _attribute(module: Any, dotted: str) -> Any:
    for name in dotted.split("."):
        module = getattr(module, name, None)
    return module


_BY_IDENTITY: dict[int, str] = {}
# Functions of Atoll for Python that mean a built-in inside a body, by module.
_OURS: dict[str, dict[str, str]] = {
    "atoll.ad.api": {name: name for name in DERIVATIVES},
    "atoll.lifted": {"vmap": "vmap"},
    "atoll.tree": {"map": "tree_map"},
    "atoll.random": {name: f"random.{name}" for name in RANDOM},
}


def meaning_of_object(obj: Any) -> str | None:
    """The built-in a function object imported from math, numpy, operator or our own derivatives means."""
    ours = _OURS.get(getattr(obj, "__module__", None) or "")
    if ours is not None:
        return ours.get(getattr(obj, "__name__", ""))
    if not _BY_IDENTITY:
        import builtins
        import functools
        import operator

        import numpy as np

        for module, table in ((math, MODULES["math"]), (np, MODULES["numpy"]), (operator, MODULES["operator"])):
            for there, here in table.items():
                found = getattr(module, there, None)
                if found is not None:
                    _BY_IDENTITY[id(found)] = here
        for name in BUILTINS:
            if hasattr(builtins, name):
                _BY_IDENTITY[id(getattr(builtins, name))] = name
        for key in sorted(NAMES):
            found = _attribute(np, key)
            if found is not None:
                _BY_IDENTITY[id(found)] = f"np.{key}"
        for key in sorted(key for key in NAMES if key.startswith(("math.", "functools."))):  # from math import pow
            _BY_IDENTITY[id(_attribute(math if key[0] == "m" else functools, key.split(".")[1]))] = key
    return _BY_IDENTITY.get(id(obj)) if callable(obj) else None
