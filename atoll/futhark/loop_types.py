"""The types of loops: the state keeps the sizes that no round changes, others are unknown afterwards."""

from __future__ import annotations

from typing import Any

from atoll.errors import Span, fail
from atoll.futhark import syntax as s
from atoll.futhark.aliases import variables
from atoll.futhark.env import Binding, Env
from atoll.futhark.ftypes import (
    BOOL,
    INTS,
    Arr,
    DExp,
    Dim,
    DRef,
    DVar,
    Rec,
    Type,
    leaves_of,
    map_dim,
    map_type,
    prune,
    prune_dim,
    same_dim,
    show,
    show_dim,
)
from atoll.futhark.function_types import FunctionTypes
from atoll.futhark.inference import _made, dims_of, mentions, show_dims
from atoll.futhark.patterns import bound
from atoll.futhark.type_exps import COERCE
from atoll.futhark.unify import Mismatch, _dims, unify


class LoopTypes(FunctionTypes):
    def exp_Loop(self, e: s.Loop, env: Env) -> Type:
        if e.init is None:
            e.init = as_expression(e.pat)
        start = self.exp(e.init, env)
        scope = Env(env)
        flexible = map_type(start, lambda x: None, lambda d: DVar(self.level, of_loop=True))
        t = self.pattern(e.pat, scope, flexible)
        self.no_function(t, e.span, "a loop's state")
        before = self.clock
        at_start, own = dims_of(start), dims_of(t)
        open_ = [d for d in map(prune_dim, own) if isinstance(d, DVar)]
        for have, want in zip(at_start, own, strict=True):
            want = prune_dim(want)
            if not isinstance(want, DVar) and not isinstance(prune_dim(have), DVar) and not same_dim(want, have):
                fail("E1404", e.init.span, found=show(start), expected=show(t), why="Initial loop values do not have expected type")
        inner = Env(scope)
        hidden: list[Binding] = list(bound(e.pat))
        if e.kind == "for":
            high = self.exp(e.high, env)
            self.equal(high, self.var(kinds=INTS, span=e.span), e.high.span)
            self.pattern(e.var, inner, high)
        elif e.kind == "in":
            array = self.exp(e.high, env)
            elem = self.var(unlifted=True)
            self.equal(array, Arr(DVar(self.level), elem), e.high.span)
            self.pattern(e.var, inner, prune(elem))
        else:
            self.equal(self.exp(e.high, inner), BOOL, e.high.span)
        if e.var is not None:
            hidden += bound(e.var)
        result = self.exp(e.body, inner)
        self.own_names(e, open_, hidden)
        wanted = fresh_dims(own, self.level)
        groups: dict[int, int] = {}
        given = dims_of(result)
        for k, d in enumerate(own if len(own) == len(given) else []):
            first = groups.setdefault(id(prune_dim(d)), k)
            both = given[first], given[k]
            if first != k and isinstance(prune_dim(d), DVar) and not any(isinstance(prune_dim(x), DVar) and prune_dim(x) is not prune_dim(d) for x in both) and not same_dim(*both):
                fail("E1404", e.body.span, found=show(result), expected=show(t), why="Loop body does not have expected type: a round needs two sizes of the state to be equal")
        one = {id(d): id(prune_dim(d)) for d in own}
        try:
            late: list[Any] = []
            unify(result, t, late)
        except Mismatch as problem:
            fail("E1403", e.body.span, found=show(result), expected=show(t), why=f"the loop's body must give the type of its state: {problem}")
        self.loop_sizes(e, own, dims_of(result), before)
        self.starts(e.init.span, env, t, at_start, wanted)
        made = self.loop_type(t, start, result, one, {})
        return self.hide(made, hidden)

    def loop_sizes(self, e: s.Loop, own: list[Dim], result: list[Dim], before: int) -> None:
        """A size that a round makes is none of the state."""
        for k, d in enumerate(own):
            d = prune_dim(d)
            if isinstance(d, DRef) and d.binding.kind == "size" and d.binding.born > before and not same_dim(d, result[k]):
                fail("E1404", e.body.span, found=show_dims(result), expected=show_dims(own), why="the size of the loop's state is only known inside the loop body")

    def own_names(self, e: s.Loop, sizes: list[DVar], names: list[Binding]) -> None:
        """A size of the state is older than the loop's variables: no round can make it one of them."""
        for d in sizes:
            found = next((b for b in names if mentions(d, {id(b)})), None)
            if found is not None:
                fail("E1404", e.body.span, found=show_dim(d), expected="a size that is known before the loop", why=f'scope-violation: "{found.name}" is not in scope where the sizes of the loop\'s state are')

    def starts(self, at: Span, env: Env, t: Type, at_start: list[Dim], wanted: list[Dim]) -> None:
        """What the rounds ask of the state's sizes is asked of its start, as of the argument of a function that is the body."""
        for have, want in zip(at_start, wanted, strict=True):
            if (_made(want) and isinstance(prune_dim(have), DVar)) or _inside(want, env):  # a branch may give a size that only the round has: another one each round
                continue
            late: list[Any] = []
            _dims(have, want, late)
            if late:
                fail("E1404", at, found=show_dims(at_start), expected=show(t), why=f"Initial loop values do not have expected type: {late[0]}", help="" if late[0].never else COERCE)

    def loop_type(self, t: Type, start: Type, result: Type, one: dict[int, int], changing: dict[int, Dim]) -> Type:
        """The state's type after the loop: sizes that no round changes are those of the start, others are unknown: `changing`, by what a round needs to be `one` size."""
        t, start, result = prune(t), prune(start), prune(result)
        match t, start, result:
            case Arr(d, x), Arr(a, y), Arr(b, z):
                size = self.loop_size(d, a, b, one.get(id(d), id(d)), changing)
                return Arr(size, self.loop_type(x, y, z, one, changing))
            case Rec(fs), Rec(gs), Rec(hs) if fs.keys() == gs.keys() == hs.keys():
                return Rec({f: self.loop_type(fs[f], gs[f], hs[f], one, changing) for f in fs})
        return t

    def loop_size(self, d: Dim, a: Dim, b: Dim, name: int, changing: dict[int, Dim]) -> Dim:
        """One of its sizes: `d` in a round, `a` before the first, `b` after one."""
        d = prune_dim(d)
        if name in changing:
            return changing[name]
        if isinstance(d, DVar):
            if prune_dim(b) is not d:  # every round has another size
                d.link = changing[name] = DRef(self.unknown())
                return d
            if prune_dim(a) is not d:
                d.link = prune_dim(a)
            return a
        if not same_dim(d, a) and not (_made(d) and isinstance(prune_dim(a), DVar)):  # what a round needs of the size may say what it is made of: n * m of l * l
            late: list[Any] = []
            _dims(d, a, late)
        if same_dim(d, a) and same_dim(d, b):
            return d
        changing[name] = DRef(self.unknown())
        return changing[name]


def _inside(d: Dim, env: Env) -> bool:
    """Whether a size is about variables that do not exist where the loop begins."""
    names = [b for x in leaves_of(d) for b in ([x.binding] if isinstance(x, DRef) else variables(x.exp) if isinstance(x, DExp) else [])]
    return any(b.kind != "size" and env.find("values", b.name) is not b for b in names)


def fresh_dims(dims: list[Dim], level: int) -> list[Dim]:
    """The same sizes with new variables for those that are open, one for each."""
    new: dict[int, DVar] = {}
    return [map_dim(d, lambda x: new.setdefault(id(x), DVar(level)) if isinstance(x, DVar) else x) for d in dims]


def as_expression(p: Any) -> Any:
    """`loop (x, y) for ...` starts from the values of x and y."""
    match p:
        case s.PName(name):
            return s.Var((name,), span=p.span)
        case s.PTyped(inner) | s.PAttr(inner):
            return as_expression(inner)
        case s.PRecord(fields):
            return s.RecordLit([(f, as_expression(sub)) for f, sub in fields], True, span=p.span)
    fail("E1406", p.span, what="Cannot use this pattern as the initial value of a loop")
