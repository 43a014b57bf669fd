"""Atoll: a compiler for functional array programs, written in Python and used from Python.

A program goes through these stages, one folder each; docs/architecture.md is the tour.

    surface/   the text of a function, parsed, never run by Python
    types/     names, types, ranks and sizes made explicit; errors in the user's words
    core/      the typed core language and its reference interpreter, which is the meaning of everything
    functions/ first-class functions and recursive data, compiled away
    ainf/      the normal form: one primitive per line under a context of indices; optimisation is construction
    ad/        derivatives of normal forms
    plan/      which lines are stored, inlined, updated in place, and which share a loop
    schedule/  the user's own schedules as proved rewrites; check/ verifies them without trusting them
    lower/     from a plan to loops/
    backends/  loops printed as C
    runtime/   building, caching, calling
    madl/      memory-aware declarative programs (.madl), down to the same loops
    futhark/   Futhark programs (.fut), elaborated to the same core
    sizes/ views/ errors/   the arithmetic of sizes, reshapes as index maps, messages

Start reading at function.py, then the head of each stage's ir.py.
"""

from __future__ import annotations

import builtins as _python
import importlib
from typing import TYPE_CHECKING, Any

from atoll.core.handed_over import hand_over
from atoll.elaborate.builtins.names import BUILTINS, CONSTANTS, DERIVATIVES, WORDS, BuiltinName
from atoll.errors import (
    AliasWarning,
    CompileError,
    CopyWarning,
    Error,
    ParseError,
    RunError,
    ScheduleError,
    SizeError,
    TypeError,
)
from atoll.errors.misuse import names_in
from atoll.errors.plain import plain
from atoll.sizes import Sym, cdiv, poly
from atoll.sizes.declare import sizes, some
from atoll.types.objects import FnMaker, IndexMaker, OwnMaker, TupleMaker
from atoll.types.records import record
from atoll.types.types import SCALARS, Var


def _computed(op: str, given: Any, out: Any) -> None:
    from atoll.runtime.portable_functions import computed

    computed(op, given, out)


hand_over(_computed)  # bits="portable": the interpreter, below the runtime, computes functions by the text that compiled programs have


def load_ipython_extension(ipython: Any) -> None:
    """`%load_ext atoll`: the cell magic %%atoll."""
    from atoll.eyes.magic import load

    load(ipython)


MYPY = False  # mypy takes this for True
if TYPE_CHECKING:
    from atoll.function import Function
    from atoll.making import donate
    from atoll.making import fn as fn

    if not MYPY:  # to pyright an Atoll function is one it does not look into
        from typing import no_type_check as fn
    from atoll.functions.modules import module
    from atoll.futhark.api import futhark
    from atoll.installation import doctor
    from atoll.madl.api import madl
    from atoll.madl.node import node
    from atoll.runtime.cache import cache
    from atoll.runtime.cuda.arrays import DeviceArray
    from atoll.schedule.api import schedule

__version__ = "0.1.0"

# Any to type checkers: sizes between brackets are values, which Python's types have no place for.
i8: Any = SCALARS["i8"]
i16: Any = SCALARS["i16"]
i32: Any = SCALARS["i32"]
i64: Any = SCALARS["i64"]
u8: Any = SCALARS["u8"]
u16: Any = SCALARS["u16"]
u32: Any = SCALARS["u32"]
u64: Any = SCALARS["u64"]
f16: Any = SCALARS["f16"]
bf16: Any = SCALARS["bf16"]
f32: Any = SCALARS["f32"]
f64: Any = SCALARS["f64"]
c64: Any = SCALARS["c64"]
c128: Any = SCALARS["c128"]
bool_: Any = SCALARS["bool"]
idx: Any = IndexMaker()
Tuple: Any = TupleMaker()
Fn: Any = FnMaker()
own: Any = OwnMaker()
_ = poly(Sym("_"))  # a size that is inferred: def dot(u: f64[_], v: f64[_])

# Loaded when first asked for, so that `import atoll` is quick.
_LATER = {
    "fn": "atoll.making",
    "Function": "atoll.function",
    "donate": "atoll.making",
    "DeviceArray": "atoll.runtime.cuda.arrays",
    "cache": "atoll.runtime.cache",
    "doctor": "atoll.installation",  # not atoll.doctor: importing that would put the module in place of the function
    "module": "atoll.functions.modules",
    "node": "atoll.madl.node",
    "schedule": "atoll.schedule",
    "vmap": "atoll.lifted",
    "torch": "atoll.foreign",
    "jax": "atoll.foreign",
    **dict.fromkeys(DERIVATIVES, "atoll.ad.api"),
}

_MODULES = {name: f"atoll.{name}" for name in ("madl", "futhark", "random", "tree", "linalg", "fft", "mpi")}  # madl and futhark are packages that can be called


@plain
def types(names: str) -> Any:
    """Declare type variables: `a, b = at.types("a b")`; one name gives one variable."""
    made = tuple(Var(name) for name in names_in("at.types", names, "a b"))
    return made if made[1:] else made[0]


@plain
def set_threads(n: int) -> None:
    """How many threads compiled loops may use from now on (the same as ATOLL_NUM_THREADS)."""
    from atoll.runtime.library import set_threads

    set_threads(n)


@plain
def threads() -> int:
    """How many threads compiled loops may use: what at.set_threads or ATOLL_NUM_THREADS says, else one for each core (256 at most)."""
    from atoll.runtime.library import threads

    return threads()


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    module = _LATER.get(name)
    if module is None:
        raise AttributeError(f"module 'atoll' has no attribute {name!r}")
    value = getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """What a user may want: not what this file imports for itself."""
    return _python.sorted({*__all__, *_LATER, *_MODULES, *BUILTINS, *WORDS, *CONSTANTS, "_", "__version__"})


for _name in (BUILTINS | WORDS) - globals().keys() - _LATER.keys():
    globals()[_name] = BuiltinName(_name)
globals().update(CONSTANTS)
del _name

__all__ = [
    "AliasWarning",
    "CopyWarning",
    "CompileError",
    "DeviceArray",
    "Error",
    "Fn",
    "Function",
    "ParseError",
    "RunError",
    "ScheduleError",
    "SizeError",
    "Tuple",
    "TypeError",
    "bool_",
    "c64",
    "c128",
    "cache",
    "cdiv",
    "doctor",
    "donate",
    "f16",
    "bf16",
    "f32",
    "f64",
    "fn",
    "futhark",
    "i8",
    "i16",
    "i32",
    "i64",
    "idx",
    "madl",
    "module",
    "node",
    "own",
    "record",
    "schedule",
    "set_threads",
    "sizes",
    "some",
    "threads",
    "types",
    "u8",
    "u16",
    "u32",
    "u64",
    # Python's own names are left to Python outside bodies: `from atoll import *` does not take print away
    *_python.sorted(name for name in BUILTINS - {"types"} if not hasattr(_python, name)),
]
