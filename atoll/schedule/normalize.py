"""Getting a term ready for loops, by rules: sums inside operations are bound to names, views that only can be read are expanded."""

from __future__ import annotations

from atoll.schedule import term as tm
from atoll.schedule.reshapes import RESHAPES
from atoll.schedule.scalar_code import is_pure
from atoll.schedule.work import Work


def normalize(w: Work) -> None:
    """Take rules until every operand is a plain scalar and every sum adds by one operator."""
    for _ in range(2000):
        found = _next(w.term, (), None)
        if found is None:
            return
        path, rule, args = found
        w.do(path, rule, **args)


def _next(t: tm.Term, path: tm.Path, monoid: str | None) -> tuple[tm.Path, str, dict[str, object]] | None:
    """The innermost place that needs a rule, and the rule."""
    inner: str | None = monoid
    if isinstance(t, (tm.Sum, tm.Plus)):
        inner = t.monoid
    elif isinstance(t, (tm.Op, tm.Cast)):
        inner = None
    for k, u in enumerate(tm.kids(t)):
        below = None if isinstance(t, tm.Let) and k == 0 else monoid if isinstance(t, tm.Plus) and k == 0 and monoid is None else inner
        found = _next(u, (*path, k), below)
        if found is not None:
            return found
    if isinstance(t, tm.Reshape) and RESHAPES[t.op].push is None:
        return path, "expand", {}
    if isinstance(t, (tm.Op, tm.Cast)) or (isinstance(t, tm.Choose) and any(not is_pure(k) for k in tm.kids(t)[2:])):
        for k, u in enumerate(tm.kids(t)):
            if is_pure(u) or (isinstance(t, tm.Choose) and k < 2):
                continue
            if isinstance(u, tm.Let):
                return path, "let_out", {"kid": k}
            return path, "let_bind", {"name": "part", "part": (k,)}
    if monoid is not None and (
        (isinstance(t, (tm.Sum, tm.Plus)) and t.monoid != monoid) or (isinstance(t, tm.Guard) and monoid != "add" and not is_pure(t))
    ):
        return path, "let_bind", {"name": "part"}
    return None
