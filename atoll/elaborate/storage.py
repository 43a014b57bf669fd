"""f16 and bf16: what a parameter holds is read as f32, and what is declared as a result is rounded when it is stored.

Inside a body there are no values of these types, only f32: `f16(x)` is the f32 that x would be after being stored. So no operation has to know them.
"""

from __future__ import annotations

from typing import Any

from atoll.elaborate.coerce import make_tuple, over_array, project_all, to_dtype
from atoll.elaborate.elaborator import Elaborator
from atoll.elaborate.entities import Value
from atoll.errors import Span
from atoll.types.dtypes import F32
from atoll.types.types import Array, Record, Scalar, Tuple, Type


def stores(t: Type) -> bool:
    """Whether a type has parts that are f16 or bf16."""
    if isinstance(t, Array):
        return stores(t.elem)
    if isinstance(t, (Tuple, Record)):
        return any(stores(item) for item in t.items)
    return isinstance(t, Scalar) and t.dtype.is_storage


def loaded(el: Elaborator, value: Any, span: Span) -> Value:
    """A parameter, or the result of a call, with what is stored in it as f32."""
    assert isinstance(value, Value)
    t = value.type
    if not stores(t):
        return value
    if isinstance(t, Record):
        el.fail("E0271", span, found=el.show(t))
    value = el.bind(value)
    if isinstance(t, Scalar):
        return el.bind(to_dtype(el, value, F32, span))
    if isinstance(t, Array):
        return el.bind(over_array(el, value, lambda x: loaded(el, x, span)))
    return make_tuple([loaded(el, part, span) for part in project_all(el, value)], None, span)
