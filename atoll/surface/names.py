"""Which names a piece of text reads and binds, and which are alive where.

Loop state is *what is carried*: bound before the loop and read in a round before it is assigned there, or read after the loop.
`if` joins only what is read later. Both need liveness, computed backwards over the statements of one function.
"""

from __future__ import annotations

from collections.abc import Iterable

from atoll.surface import syntax as s

Names = frozenset[str]
_NONE: Names = frozenset()


def reads(node: object) -> Names:
    """Names an expression, target or item reads (those bound inside by lambdas and comprehensions left out)."""
    match node:
        case s.Name(id):
            return frozenset((id,))
        case s.Lambda(params, body):
            defaults = _union(reads(p.default) for p in params if p.default is not None)
            return defaults | (reads(body) - {p.name for p in params})
        case s.Comprehension(element, clauses):
            bound: set[str] = set()
            used: set[str] = set()
            for clause in clauses:
                used |= reads(clause.iter) - bound
                bound |= binds_target(clause.target)
                for condition in clause.conditions:
                    used |= reads(condition) - bound
            return frozenset(used | (reads(element) - bound))
        case s.Call(fn, args, keywords):
            return reads(fn) | _union(map(reads, args)) | _union(reads(value) for _, value in keywords)
        case s.Text(parts):
            return _union(reads(part[0]) for part in parts if not isinstance(part, str))
        case s.Attr(value) | s.Spread(value):
            return reads(value)
        case s.BinOp(_, left, right):
            return reads(left) | reads(right)
        case s.Unary(_, value):
            return reads(value)
        case s.BoolOp(_, values):
            return _union(map(reads, values))
        case s.Compare(first, rest):
            return reads(first) | _union(reads(e) for _, e in rest)
        case s.IfExp(test, then, orelse):
            return reads(test) | reads(then) | reads(orelse)
        case s.ListDisplay(items) | s.TupleDisplay(items) | s.TupleTarget(items):
            return _union(map(reads, items))
        case s.Subscript(value, items):
            return reads(value) | _union(map(reads, items))
        case s.Slice(low, high, step):
            return _union(reads(e) for e in (low, high, step) if e is not None)
        case s.ValuePattern(value):
            return reads(value)
        case s.ClassPattern(cls, args, keywords):
            return reads(cls) | _union(map(reads, args)) | _union(reads(p) for _, p in keywords)
        case s.OrPattern(options):
            return _union(map(reads, options))
        case s.TuplePattern(items):
            return _union(map(reads, items))
        case s.Capture(_, pattern):
            return reads(pattern) if pattern is not None else _NONE
    return _NONE


def binds_target(target: object) -> Names:
    """Names an assignment to this target rebinds: a[i] = v rebinds a."""
    match target:
        case s.Name(id):
            return frozenset((id,))
        case s.TupleTarget(items):
            return _union(map(binds_target, items))
        case s.Subscript(value, _) | s.Attr(value):
            return binds_target(value)
    return _NONE


_OF_FIRST = frozenset("at copyto fill_diagonal put_along_axis putmask".split())  # np.add.at(x, i, v): of the first argument
_CALLED = frozenset(("a", "arr", "dst"))  # what NumPy calls the array
_OF_ITSELF = {"sort": 0, "fill": 1, "partition": 1, "put": 2}  # x.sort(), with so many arguments; one more is the array, as in np.put(x, i, v)


def changed_array(args: tuple[s.Expr, ...], keywords: tuple[tuple[str, s.Expr], ...]) -> s.Expr | None:
    """The array that np.put and its like change: the first argument, or the one with its name."""
    return args[0] if args else next((x for key, x in keywords if key in _CALLED), None)


def in_place(stmt: object) -> s.Expr | None:
    """What a statement gives a new value that NumPy does in place, as its text says: x of np.add.at(x, i, v) and of x.sort(). What the words mean is not known here."""
    match stmt:
        case s.ExprStmt(s.Call(s.Attr(value, name), args, keywords)):
            if name in _OF_FIRST or (name == "put" and not _CALLED.isdisjoint(key for key, _ in keywords)):
                return changed_array(args, keywords)
            if name in _OF_ITSELF:
                further = s.Text if name == "put" else (s.Num, s.Unary)  # a mode, an axis
                given = sum(k < _OF_ITSELF[name] or not isinstance(x, further) for k, x in enumerate(args)) + sum(key in ("ind", "indices", "v", "values", "kth") for key, _ in keywords)
                return value if given <= _OF_ITSELF[name] else args[0] if name == "put" and args else None
    return None


def _target_reads(target: object) -> Names:
    match target:
        case s.Name():
            return _NONE
        case s.TupleTarget(items):
            return _union(map(_target_reads, items))
    return reads(target)


def binds_pattern(pattern: object) -> Names:
    match pattern:
        case s.Capture(name, inner):
            return frozenset((name,)) | (binds_pattern(inner) if inner is not None else _NONE)
        case s.ClassPattern(_, args, keywords):
            return _union(map(binds_pattern, args)) | _union(binds_pattern(p) for _, p in keywords)
        case s.OrPattern(items) | s.TuplePattern(items):
            return _union(map(binds_pattern, items))
    return _NONE


def binds(stmts: Iterable[s.Stmt]) -> Names:
    """Names some path through the statements binds."""
    found: set[str] = set()
    for stmt in stmts:
        match stmt:
            case s.Assign(targets):
                found |= _union(map(binds_target, targets))
            case s.AugAssign(target):
                found |= binds_target(target)
            case s.If(_, then, orelse):
                found |= binds(then) | binds(orelse)
            case s.While(_, body):
                found |= binds(body)
            case s.For(target, _, body):
                found |= binds_target(target) | binds(body)
            case s.Match(_, cases):
                for case in cases:
                    found |= binds_pattern(case.pattern) | binds(case.body)
            case s.Function(name):
                found.add(name)
            case s.ExprStmt():
                found |= binds_target(in_place(stmt))
    return frozenset(found)


def free_names(params: Iterable[s.Param], body: object, result: s.Expr | None = None) -> Names:
    """Names a function takes from outside when it is called: in its body and in annotations. Defaults are computed before."""
    own = {p.name for p in params}
    annotations = _union(reads(p.annotation) for p in params if p.annotation is not None)
    if isinstance(body, tuple):
        inner = Liveness(body).before_all - own
    else:
        inner = reads(body) - own
    return inner | annotations | (reads(result) - own if result is not None else _NONE)


def default_names(params: Iterable[s.Param]) -> Names:
    """Names the defaults of a function read, where it is made."""
    return _union(reads(p.default) for p in params if p.default is not None)


def has_return(stmts: Iterable[s.Stmt]) -> s.Return | None:
    """A `return` somewhere in the statements, not counting inner functions."""
    for stmt in stmts:
        if isinstance(stmt, s.Return):
            return stmt
        for part in s.bodies(stmt):
            found = has_return(part)
            if found is not None:
                return found
    return None


LEFT = "left "  # a flag of surface/leaving.py: a round has been left


def _leaves_here(stmt: s.Stmt) -> bool:
    """True for the assignment on every path out of a round: after it, only flags are looked at until the round ends."""
    match stmt:
        case s.Assign((s.Name(name),), s.Num(True)):
            return name.startswith(LEFT)
    return False


def has_left(stmts: Iterable[s.Stmt]) -> bool:
    """Whether every path through statements of a round leaves it: what they do not bind is not read in the rest of the round."""
    return any(_leaves_here(stmt) or (one_runs(stmt) and all(map(has_left, _may_run(stmt)))) for stmt in stmts)


def one_runs(stmt: s.Stmt) -> bool:
    """One of its bodies runs, whatever its values are."""
    match stmt:
        case s.If():
            return True
        case s.Match(_, (*_, s.Case(s.Wildcard() | s.Capture(_, None), None, _))):
            return True
    return False


def _may_run(stmt: s.Stmt) -> tuple[tuple[s.Stmt, ...], ...]:
    """Bodies, but for those that a literal condition leaves out: the last case of a `match` is one."""
    match stmt:
        case s.If(s.Num(value), then, orelse):
            return (then if value else orelse,)
    return s.bodies(stmt)


class Liveness:
    """What is alive after each statement of a body, by the statement's identity."""

    def __init__(self, body: tuple[s.Stmt, ...]) -> None:
        self.body = body
        self.after: dict[int, Names] = {}
        self.at_entry: dict[int, Names] = {}  # of a loop body
        self.at_end = _NONE  # of a round of the innermost loop
        self.before_all = self._block(body, _NONE)

    def carried(self, loop: s.For | s.While) -> Names:
        """Names bound in the loop that a round, or the test before it, may read before it binds them, or that are read after the loop."""
        tested = reads(loop.test) if isinstance(loop, s.While) else _going(loop)
        targets = binds_target(loop.target) & self.after[id(loop)] if isinstance(loop, s.For) else _NONE  # `it = 0; for it in range(k): ..; return it`
        return targets | (binds(loop.body) & (self.at_entry[id(loop)] | self.after[id(loop)] | tested))

    def _block(self, stmts: tuple[s.Stmt, ...], live: Names) -> Names:
        for stmt in reversed(stmts):
            self.after[id(stmt)] = live
            live = self._stmt(stmt, live)
        return live

    def _stmt(self, stmt: s.Stmt, live: Names) -> Names:
        if _leaves_here(stmt):
            live = frozenset(name for name in live if " " in name) | self.at_end  # flags, and what the next round or the end of the loop reads
        match stmt:
            case s.Assign(targets, value, annotation):
                for target in targets:
                    live = (live - _plain(target)) | _target_reads(target)
                return live | reads(value) | reads(annotation)
            case s.AugAssign(target, _, value):
                return live | reads(target) | reads(value)
            case s.If(test, then, orelse):
                return self._block(then, live) | self._block(orelse, live) | reads(test)
            case s.While(test, body):
                return self._loop(stmt, body, live | reads(test)) | reads(test)
            case s.For(target, iter_, body):
                return self._loop(stmt, body, live | _going(stmt), binds_target(target)) | reads(iter_)
            case s.Return(value):
                return reads(value) if value is not None else _NONE
            case s.Assert(test, message):
                return live | reads(test) | reads(message)
            case s.ExprStmt(value):
                return live | reads(value)
            case s.Match(subject, cases):
                result = _NONE if one_runs(stmt) else live
                for case in cases:
                    inner = self._block(case.body, live)
                    if case.guard is not None:
                        inner |= reads(case.guard)
                    result |= (inner - binds_pattern(case.pattern)) | reads(case.pattern)
                return result | reads(subject)
            case s.Function(name, params, result, body):
                return (live - {name}) | free_names(params, body, result) | default_names(params)
        return live

    def _loop(self, loop: s.For | s.While, body: tuple[s.Stmt, ...], live: Names, bound: Names = _NONE) -> Names:
        entry = self.at_entry.get(id(loop), _NONE)  # of an earlier pass: loops in loops would double the passes each time
        around = self.at_end
        while True:
            self.at_end = live | entry
            new = self._block(body, live | entry) - bound
            if new <= entry:
                break
            entry = entry | new
        self.at_end = around
        self.at_entry[id(loop)] = entry
        return live | entry


def _going(loop: s.For) -> Names:
    return _NONE if loop.going is None else frozenset((loop.going,))


def _plain(target: object) -> Names:
    """Names a target rebinds without reading: not a in a[i] = v."""
    match target:
        case s.Name(id):
            return frozenset((id,))
        case s.TupleTarget(items):
            return _union(map(_plain, items))
    return _NONE


def _union(sets: Iterable[Names]) -> Names:
    return frozenset().union(*sets)
