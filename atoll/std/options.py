"""Options: a value, or none. From Python None or the value itself."""

from __future__ import annotations

from typing import Any

import atoll as at
from atoll.types.unions import PythonForm

a, b = at.types("a b")


@at.record
class Some:
    """There is a value."""

    value: a


Option = Some | None


@at.fn
def is_some(x: Option[a]) -> at.bool_:
    """Whether there is a value."""
    match x:
        case None:
            return False
        case Some(_):
            return True


@at.fn
def get_or(x: Option[a], otherwise: a) -> a:
    """The value, or another where there is none."""
    match x:
        case None:
            return otherwise
        case Some(value):
            return value


@at.fn
def map_option(f: at.Fn[[a], b], x: Option[a]) -> Option[b]:
    """f of the value, if there is one."""
    found: Option[b] = None
    match x:
        case Some(value):
            found = Some(f(value))
        case None:
            pass
    return found


def _expand(value: Any) -> Any:
    return value if value is None or isinstance(value, Some) else Some(value)


def _finish(value: Any) -> Any:
    """The value itself, unless that could be taken for none."""
    if isinstance(value, Some) and value.value is not None and not isinstance(value.value, Some):
        return value.value
    return value


Option.decl.python = PythonForm(_expand, _finish)
