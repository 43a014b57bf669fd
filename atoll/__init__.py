"""Atoll: a compiler for functional array programs, used from Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from atoll.errors import CompileError, Error, ParseError, RunError, ScheduleError, SizeError, TypeError
from atoll.function import Function, fn
from atoll.sizes import cdiv
from atoll.sizes.declare import sizes, some
from atoll.types.annotations import FnMaker, IndexMaker, OwnMaker, TupleMaker
from atoll.types.builtins.names import BUILTINS, CONSTANTS, BuiltinName
from atoll.types.indexing import AliasWarning
from atoll.types.records import record
from atoll.types.types import SCALARS, Var

i8, i16, i32, i64 = (SCALARS[t] for t in ("i8", "i16", "i32", "i64"))
u8, u16, u32, u64 = (SCALARS[t] for t in ("u8", "u16", "u32", "u64"))
f32, f64, c64, c128 = (SCALARS[t] for t in ("f32", "f64", "c64", "c128"))
bool_ = SCALARS["bool"]
idx, Tuple, Fn, own = IndexMaker(), TupleMaker(), FnMaker(), OwnMaker()


def types(names: str) -> Var | tuple[Var, ...]:
    """Declare type variables: `a, b = at.types("a b")`."""
    made = tuple(Var(name) for name in names.replace(",", " ").split())
    return made[0] if len(made) == 1 else made


if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...
else:
    for _name in BUILTINS:
        if _name not in globals():
            globals()[_name] = BuiltinName(_name)
    for _name, _value in CONSTANTS.items():
        globals()[_name] = _value
    del _name, _value
