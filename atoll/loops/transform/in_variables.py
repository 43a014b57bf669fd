"""Arrays whose elements are all known by number as variables (scalar replacement of a whole array).

    alloc s: f64[2], t: f64[2]                           for i:
    for i:                                                  var s0 = y[i, 0];  var s1 = y[i, 1]
       s[0] = y[i, 0];  s[1] = y[i, 1]                      for in order q:
       for in order q:                          becomes        t0 = s0 + h * s1;  t1 = s1 - h * s0
          t[0] = s[0] + h * s[1];  ...                         s0 := t0;  s1 := t1
          swap s, t                                         result[i, 0] = s0;  ...
       result[i, 0] = s[0];  ...

    in_variables(stmts, wanted)      the statements with variables for the elements of those temporary arrays that are wanted and may be

Right where the program knows nothing of an array but elements with numbers that are in it, and exchanges it only
with others like it. A variable begins where all that knows the array is: rounds that are independent have one each,
and so have rounds in order that write every element before they read it. Nothing beneath that place may be written
by several threads or lanes.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Callable
from typing import Any

from atoll.loops import ir as lp
from atoll.loops.questions import loads, mentions
from atoll.loops.transform.copier import fresh_like
from atoll.loops.transform.refused import Refused
from atoll.loops.transform.walk import replaced, with_bodies

Place = tuple[int, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class InVariables:
    """The statements, and the arrays that are in none of them."""

    stmts: lp.Stmts
    arrays: list[lp.Buffer]


def in_variables(stmts: lp.Stmts, wanted: Callable[[lp.Buffer], bool]) -> InVariables | Refused:
    known = _known(stmts, wanted)
    places: dict[lp.Buffer, lp.Stmts] = {}
    if known:
        _find(stmts, known, places)
    refused = set(known) - set(places)
    while refused:  # what is exchanged with one that stays
        refused = {b for b in places for s in known[b] if s.first not in places or s.second not in places}
        for b in refused:
            del places[b]
    if not places:
        return Refused("no such array is known by the numbers of its elements, in one round or thread")
    return InVariables(_Variables(places).stmts(stmts), list(places))


def _known(stmts: lp.Stmts, wanted: Callable[[lp.Buffer], bool]) -> dict[lp.Buffer, list[lp.Swap]]:
    """Arrays of which the program knows nothing but elements with numbers, and what they are exchanged with."""
    every = list(lp.walk(stmts))
    count = Counter(s.buffer for s in every if isinstance(s, lp.Alloc))
    known = {b for b, times in count.items() if times == 1 and b.kind == "temp" and b.rows is None and wanted(b)}
    found: dict[lp.Buffer, list[lp.Swap]] = {b: [] for b in known}
    for s in every:
        if not known:
            return {}
        known -= {x.buffer for x in _direct_loads(s) if _number(x) is None}
        match s:
            case lp.Store(b, _) | lp.Update(b, _):
                if _number(s) is None:
                    known.discard(b)
            case lp.Swap(a, b):
                for one in (a, b):
                    found.setdefault(one, []).append(s)
            case lp.CopyBuffer(a, b):
                known -= {a, b}
            case lp.Helper():
                known -= {b for b, _ in s.buffers}
            case lp.Product():
                known -= {x.buffer for x in (s.left, s.right, s.target)}
            case lp.Chunks():
                known -= {b for own, shared, _ in s.buffers for b in (own, shared)}
            case lp.Print() | lp.Section():
                known -= _mentioned(s)
    again = True
    while again:
        again = False
        for b in list(known):
            if any(
                x not in known or (x.extents, x.dtype) != (b.extents, b.dtype) for s in found[b] for x in (s.first, s.second)
            ):
                known.discard(b)
                again = True
    return {b: found[b] for b in found if b in known}


def _number(x: lp.Load | lp.Store | lp.Update) -> Place | None:
    """The place of an element, if it is in the text and in the array."""
    place = tuple(p.const() for p in x.index)
    inside = all(
        k is not None and n is not None and 0 <= k < n
        for k, n in zip(place, (p.const() for p in x.buffer.extents), strict=True)
    )
    return tuple(k for k in place if k is not None) if inside else None


def _direct_loads(s: lp.Stmt) -> list[lp.Load]:
    """What a statement reads itself, not by the statements inside it."""
    inner = [id(body) for body in lp.bodies(s)]
    return [x for name in s.__dataclass_fields__ if id(value := getattr(s, name)) not in inner for x in loads(value)]


def _mentioned(x: Any) -> set[lp.Buffer]:
    return set(mentions(x))


def _find(stmts: lp.Stmts, known: dict[lp.Buffer, list[lp.Swap]], places: dict[lp.Buffer, lp.Stmts]) -> None:
    for s in stmts:
        if isinstance(s, lp.Alloc) and s.buffer in known:
            where = _narrow(stmts, s.buffer)
            if where is not None and not any(_written_apart(x, s.buffer) for x in where):
                places[s.buffer] = where
        for body in lp.bodies(s):
            _find(body, known, places)


def _narrow(stmts: lp.Stmts, b: lp.Buffer) -> lp.Stmts | None:
    """The innermost statements to which a value of the array is known; None: nobody knows it."""
    users = [s for s in stmts if b in _mentioned(s)]
    if not users:
        return None
    if len(users) > 1 or isinstance(users[0], (lp.Chunks, lp.Section)):
        return stmts
    inner = [body for body in lp.bodies(users[0]) if b in _mentioned(body)]
    if len(inner) != 1 or b in {x.buffer for x in _direct_loads(users[0])}:
        return stmts
    rounds = isinstance(users[0], lp.Forever) or (isinstance(users[0], lp.For) and not users[0].parallel)
    return stmts if rounds and not _fresh(inner[0], b) else _narrow(inner[0], b)


def _fresh(body: lp.Stmts, b: lp.Buffer) -> bool:
    """Every element is written before it is read, in each round. What an exchange puts into the array counts as not written."""
    written: set[Place] = set()
    every = _places(b)
    for s in body:
        for x in lp.walk([s]):
            if any(_number(load) not in written for load in _direct_loads(x) if load.buffer is b):
                return False
            if isinstance(x, lp.Update) and x.buffer is b and _number(x) not in written:
                return False
            if isinstance(x, lp.Swap) and b in (x.first, x.second):
                if x is not s or written != every:
                    return False
                written = set()
        if isinstance(s, lp.Store) and s.buffer is b and (place := _number(s)) is not None:
            written.add(place)
    return True


def _places(b: lp.Buffer) -> set[Place]:
    return set(itertools.product(*(range(p.const() or 0) for p in b.extents)))


def _written_apart(s: lp.Stmt, b: lp.Buffer, apart: bool = False) -> bool:
    """The array is written in rounds that are independent of each other."""
    if apart and (
        (isinstance(s, (lp.Store, lp.Update)) and s.buffer is b) or (isinstance(s, lp.Swap) and b in (s.first, s.second))
    ):
        return True
    apart = apart or isinstance(s, (lp.Chunks, lp.Accumulate)) or (isinstance(s, lp.For) and (s.parallel or s.vector > 0))
    return any(_written_apart(x, b, apart) for body in lp.bodies(s) for x in body)


class _Variables:
    """The program with variables for elements."""

    def __init__(self, places: dict[lp.Buffer, lp.Stmts]) -> None:
        self.places = {b: id(where) for b, where in places.items()}
        self.vars = {
            b: {place: fresh_like(f"{b.name}_{'_'.join(map(str, place))}", b.dtype) for place in sorted(_places(b))}
            for b in places
        }
        for b, made in self.vars.items():
            for place, var in made.items():
                var.label = f"{b.shown}[{', '.join(map(str, place))}]"
        self.fresh = {b: _fresh(where, b) for b, where in places.items()}
        self.once = {b: self.written_once(where, b) for b, where in places.items()}

    def written_once(self, where: lp.Stmts, b: lp.Buffer) -> set[Place]:
        """Elements that one statement writes, at the place where they begin."""
        inside = list(lp.walk(where))
        if not self.fresh[b]:
            return set()
        writes = Counter(_number(s) for s in inside if isinstance(s, (lp.Store, lp.Update)) and s.buffer is b)
        direct = Counter(_number(s) for s in where if isinstance(s, lp.Store) and s.buffer is b)
        taken = any(isinstance(s, lp.Swap) and b in (s.first, s.second) and not self.is_copy(s, b) for s in inside)
        return (
            set() if taken else {place for place, times in direct.items() if place is not None and times == 1 == writes[place]}
        )

    def is_copy(self, s: lp.Swap, source: lp.Buffer) -> bool:
        """Only the other array is read after an exchange."""
        return self.fresh[source] and source is (s.second if self.fresh.get(s.second) else s.first)

    def stmts(self, stmts: lp.Stmts) -> lp.Stmts:
        begin = dict.fromkeys(b for b, where in self.places.items() if where == id(stmts))
        out: list[lp.Stmt] = []
        for s in stmts:
            if isinstance(s, (lp.Alloc, lp.Free)) and s.buffer in self.vars:
                continue
            for b in [b for b in begin if b in _mentioned(s)]:
                del begin[b]
                out += [lp.Declare(var, None) for place, var in self.vars[b].items() if place not in self.once[b]]
            inner = [id(body) for body in lp.bodies(s)]
            own = {
                f.name: new
                for f in dataclasses.fields(s)
                if id(value := getattr(s, f.name)) not in inner and (new := replaced(value, self.expr)) is not value
            }
            out += self.stmt(with_bodies(dataclasses.replace(s, **own) if own else s, self.stmts))
        return out

    def stmt(self, s: lp.Stmt) -> lp.Stmts:
        match s:
            case lp.Store(b, _, value) if b in self.vars:
                place = _number(s)
                assert place is not None
                return [
                    lp.Let(self.vars[b][place], value, instance=s.instance)
                    if place in self.once[b]
                    else lp.Assign(self.vars[b][place], value, instance=s.instance)
                ]
            case lp.Update(b, _, op, value) if b in self.vars:
                place = _number(s)
                assert place is not None
                return [
                    lp.Assign(
                        self.vars[b][place], lp.Call(op, (lp.Use(self.vars[b][place]), value), b.dtype), instance=s.instance
                    )
                ]
            case lp.Swap(a, b) if a in self.vars:
                for source, target in ((b, a), (a, b)):
                    if self.is_copy(s, source):
                        return [lp.Assign(var, lp.Use(self.vars[source][place]), instance=s.instance) for place, var in self.vars[target].items()]
                kept = {place: fresh_like("other", a.dtype) for place in self.vars[a]}
                first = [lp.Let(kept[place], lp.Use(var), instance=s.instance) for place, var in self.vars[a].items()]
                then = [lp.Assign(var, lp.Use(self.vars[b][place]), instance=s.instance) for place, var in self.vars[a].items()]
                return [*first, *then, *(lp.Assign(var, lp.Use(kept[place]), instance=s.instance) for place, var in self.vars[b].items())]
        return [s]

    def expr(self, e: Any) -> Any:
        """With variables for elements that are read."""
        if isinstance(e, lp.Load) and e.buffer in self.vars:
            place = _number(e)
            assert place is not None
            return lp.Use(self.vars[e.buffer][place])
        return e
