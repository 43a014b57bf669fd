"""`break`, `continue`, `return` in loops and `else` of loops, said with conditions.

A loop that is left early has a flag among its state, and goes on only while it is true; what follows a `break` or `continue` in a round stands
under a condition:

    for x in xs:                             going = True
        if x < 0: continue                   for x in xs, while going:
        s += x                                   if x < 0: pass
        if s > 9: break                          else:
    else:                                            s += x
        s = -1                                       if s > 9: going = False
                                             if going: s = -1

The rest of a round is put into the branch that goes on, so what the condition says is known there; only where some paths through a branch
leave and others do not, a second flag (`left`) is asked. `return e` in a loop leaves all loops; after the outermost one stands
`if returned: return e`, for what e reads does not change any more. Only what is bound in the loop is kept for that; it has no value before (`Unset`) and
takes the type of what it becomes. So has a name that every `break` and the `else` bind (surface/bound.py). The names made here have spaces, so no program has them.
"""

from __future__ import annotations

import dataclasses

from atoll.errors import Span, fail
from atoll.surface import syntax as s
from atoll.surface.bound import bound_however_left
from atoll.surface.names import LEFT, binds, binds_pattern, binds_target, has_return, reads

_NEVER, _SOME, _ALL = "never", "sometimes", "always"
_DEEP = 24  # as many conditions stand in each other; then a flag is asked


def without_leaving(params: tuple[s.Param, ...], body: tuple[s.Stmt, ...]) -> tuple[s.Stmt, ...]:
    """The statements of a function, where every loop is left by its condition."""
    return _Function().outside(body, frozenset(p.name for p in params)) if _leaves(body) else body


def _leaves(stmts: tuple[s.Stmt, ...], in_loop: bool = False) -> bool:
    """True when there is something to say differently."""
    for stmt in stmts:
        match stmt:
            case s.Break() | s.Continue():
                return True
            case s.Return() if in_loop:
                return True
            case s.While(_, _, orelse) | s.For(_, _, _, orelse) if orelse:
                return True
        if any(_leaves(part, in_loop or isinstance(stmt, (s.While, s.For))) for part in s.bodies(stmt)):
            return True
    return False


def _leaving(stmts: tuple[s.Stmt, ...]) -> str:
    """Whether the paths through statements of a round leave it."""
    found = _NEVER
    for stmt in stmts:
        match stmt:
            case s.Break() | s.Continue() | s.Return():
                return _ALL
            case s.If(_, then, orelse):
                both = {_leaving(then), _leaving(orelse)}
                if both == {_ALL}:
                    return _ALL
                found = found if both == {_NEVER} else _SOME
            case s.Match(_, cases):
                found = found if all(_leaving(case.body) is _NEVER for case in cases) else _SOME
            case s.While(_, body, orelse) | s.For(_, _, body, orelse):
                found = found if not has_return(body) and _leaving(orelse) is _NEVER else _SOME
    return found


def _name(name: str, span: Span) -> s.Name:
    return s.Name(name, span=span)


def _set(name: str, value: bool, span: Span) -> s.Assign:
    return s.Assign((_name(name, span),), s.Num(value, span=span), span=span)


def _targets(stmts: tuple[s.Stmt, ...]) -> frozenset[str]:
    """What the rounds of loops are called."""
    found: frozenset[str] = frozenset()
    for stmt in stmts:
        found |= binds_target(stmt.target) if isinstance(stmt, s.For) else frozenset()
        found = found.union(*map(_targets, s.bodies(stmt)))
    return found


def _any_of(flags: list[str], span: Span) -> s.Expr:
    names = tuple(_name(flag, span) for flag in flags)
    return names[0] if len(names) == 1 else s.BoolOp("or", names, span=span)


class _Returns:
    """The `return`s in one outermost loop: what each keeps, and what is returned after the loop."""

    def __init__(self, number: int, local: frozenset[str]) -> None:
        self.number = number
        self.local = local  # names that have no value after the loop
        self.kept: list[str] = []
        self.back: list[tuple[str, s.Return]] = []  # flag, and what is done after the loop

    def leave(self, stmt: s.Return) -> list[s.Stmt]:
        """What is done instead of a `return`."""
        span = stmt.span
        if stmt.value is None:
            fail("E0113", span)
        flag = f"returned {self.number}.{len(self.back)}"
        out: list[s.Stmt] = []
        items = []
        for item in stmt.value.items if isinstance(stmt.value, s.TupleDisplay) else (stmt.value,):
            if reads(item).isdisjoint(self.local):
                items.append(item)
                continue
            name = f"value {self.number}.{len(self.kept)}"
            self.kept.append(name)
            out.append(s.Assign((_name(name, item.span),), item, span=item.span))
            items.append(_name(name, item.span))
        value = s.TupleDisplay(tuple(items), span=stmt.value.span) if isinstance(stmt.value, s.TupleDisplay) else items[0]
        self.back.append((flag, s.Return(value, span=span)))
        return [*out, _set(flag, True, span)]


class _Function:
    """Goes through one function; loops are numbered, for the names of their flags."""

    def __init__(self) -> None:
        self.loops = 0

    def outside(self, stmts: tuple[s.Stmt, ...], bound: frozenset[str]) -> tuple[s.Stmt, ...]:
        """Statements that stand in no loop; `bound` are the names that have values before them."""
        out: list[s.Stmt] = []
        for k, stmt in enumerate(stmts):
            match stmt:
                case s.If(test, then, orelse):
                    out.append(s.If(test, self.outside(then, bound), self.outside(orelse, bound), span=stmt.span))
                case s.Match(_, cases):
                    inner = tuple(dataclasses.replace(c, body=self.outside(c.body, bound | binds_pattern(c.pattern))) for c in cases)
                    out.append(dataclasses.replace(stmt, cases=inner))
                case s.While() | s.For():
                    loop, after = self.loop(stmt, bound, None)
                    return (*out, *loop, *self.outside((*after, *stmts[k + 1 :]), bound | binds((stmt,))))
                case _:
                    out.append(stmt)
            bound |= binds((stmt,))
        return tuple(out)

    def loop(self, stmt: s.While | s.For, bound: frozenset[str], returns: _Returns | None) -> tuple[list[s.Stmt], tuple[s.Stmt, ...]]:
        """A loop that only its condition ends, with what stands before it; and the statements to go on with, which may leave loops around it.
        `returns` are those of the outermost loop around this one."""
        first = has_return(stmt.body)
        if first is None and not stmt.orelse and not _leaves(stmt.body):
            return [stmt], ()
        self.loops += 1
        number, span = self.loops, stmt.span
        outermost = returns is None
        if returns is None:
            returns = _Returns(number, (binds((stmt,)) - bound) | _targets((stmt,)))
        known = len(returns.back)
        round_ = _Round(self, f"going {number}", f"{LEFT}{number}", returns)
        body = round_.block(stmt.body)
        flags = [flag for flag, _ in returns.back[known:]]
        before: list[s.Stmt] = []
        after: list[s.Stmt] = []
        if flags and outermost:
            before += [_set(flag, False, span) for flag in flags]
            before += [s.Assign((_name(name, span),), s.Unset(span=span), span=span) for name in returns.kept]
            after += [s.If(_name(flag, span), (back,), (), span=span) for flag, back in returns.back]
            if isinstance(stmt, s.While) and isinstance(stmt.test, s.Num) and stmt.test.value and not round_.breaks:
                after[-1] = returns.back[-1][1]  # an endless loop ends no other way
        elif flags and first is not None:
            after.append(s.If(_any_of(flags, span), (s.Break(span=first.span),), (), span=span))
        if round_.asked:
            body = (_set(round_.left, False, span), *body)
        ends = round_.breaks or bool(flags)
        if ends:
            before.append(_set(round_.going, True, span))
        for name in sorted(bound_however_left(stmt) - bound):
            before.append(s.Assign((_name(name, span),), s.Unset(span=span), span=span))
        if stmt.orelse:
            after += [s.If(_name(round_.going, span), stmt.orelse, (), span=span)] if ends else stmt.orelse
        return [*before, _until(stmt, body, round_.going if ends else None)], tuple(after)


class _Round:
    """The rounds of one loop. `breaks` and `asked` say, afterwards, what was needed."""

    def __init__(self, function: _Function, going: str, left: str, returns: _Returns) -> None:
        self.function, self.going, self.left, self.returns = function, going, left, returns
        self.breaks = self.asked = False

    def block(self, stmts: tuple[s.Stmt, ...], depth: int = 0) -> tuple[s.Stmt, ...]:
        """Statements of a round without anything that leaves it. The rest of a round goes into the branch that goes on."""
        out: list[s.Stmt] = []
        for k, stmt in enumerate(stmts):
            rest = stmts[k + 1 :]
            match stmt:
                case s.Break() | s.Continue() | s.Return():
                    return (*out, *self.leave(stmt))
                case s.If(test, then, orelse):
                    yes, no = _leaving(then), _leaving(orelse)
                    into = None if not rest or depth >= _DEEP or yes is no else "orelse" if yes is _ALL else "then" if no is _ALL else None
                    branches = [self.block(b + rest if into == side else b, depth + (into == side)) for side, b in (("then", then), ("orelse", orelse))]
                    out.append(s.If(test, *branches, span=stmt.span))
                    if into is not None or yes is no is _ALL:
                        return tuple(out)
                    if yes is not _NEVER or no is not _NEVER:
                        return (*out, *self.unless_left(rest, stmt.span))
                case s.Match(_, cases):
                    out.append(dataclasses.replace(stmt, cases=tuple(dataclasses.replace(c, body=self.block(c.body, depth)) for c in cases)))
                    if _leaving((stmt,)) is not _NEVER:
                        return (*out, *self.unless_left(rest, stmt.span))
                case s.While() | s.For():
                    loop, after = self.function.loop(stmt, frozenset(), self.returns)
                    out += loop
                    if after:
                        return (*out, *self.block((*after, *rest), depth))
                case _:
                    out.append(stmt)
        return tuple(out)

    def leave(self, stmt: s.Break | s.Continue | s.Return) -> list[s.Stmt]:
        """What a round does to be left."""
        span = stmt.span
        out: list[s.Stmt] = [_set(self.left, True, span)]
        if isinstance(stmt, s.Continue):
            return out
        if isinstance(stmt, s.Return):
            out = [*self.returns.leave(stmt), *out]
        else:
            self.breaks = True
        return [*out, _set(self.going, False, span)]

    def unless_left(self, stmts: tuple[s.Stmt, ...], span: Span) -> list[s.Stmt]:
        """The rest of a round that some paths have left."""
        if not stmts:
            return []
        self.asked = True
        return [s.If(s.Unary("not", _name(self.left, span), span=span), self.block(stmts), (), span=span)]


def _until(stmt: s.While | s.For, body: tuple[s.Stmt, ...], going: str | None) -> s.While | s.For:
    """The loop with this body, as long as `going` holds too."""
    if isinstance(stmt, s.For):
        return dataclasses.replace(stmt, body=body, orelse=(), going=going)
    if going is None:
        return dataclasses.replace(stmt, body=body, orelse=())
    span, test = stmt.test.span, stmt.test
    parts = list(test.values) if isinstance(test, s.BoolOp) and test.op == "and" else [test]
    first = 1 if isinstance(parts[0], s.Call) else 0  # at.bound stands first
    parts.insert(first if len(parts) > 1 else 0, _name(going, span))
    if isinstance(test, s.Num) and test.value is True:
        return s.While(_name(going, span), body, span=stmt.span)
    return s.While(s.BoolOp("and", tuple(parts), span=span), body, span=stmt.span)
