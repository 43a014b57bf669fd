"""Python's own parse tree to the surface language; everything outside it is refused by name with what to write instead."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from copy import copy, deepcopy
from typing import Any, NoReturn

from atoll.errors import Source, Span, fail
from atoll.surface import syntax as s
from atoll.surface.leaving import without_leaving

_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
}
_UNARY: dict[type[ast.unaryop], str] = {ast.USub: "-", ast.UAdd: "+", ast.Not: "not", ast.Invert: "~"}
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}

# What Python has and Atoll refuses: the words for it, and what to write instead.
_REFUSED: dict[str, tuple[str, str]] = {
    "Delete": ("`del`", "names go out of use by themselves; remove the statement"),
    "Global": ("`global`", "return the value instead: an Atoll function has no effects"),
    "Nonlocal": ("`nonlocal`", "return the value instead: an Atoll function has no effects"),
    "Try": ("`try`", "test for the condition with `if` before it goes wrong"),
    "TryStar": ("`try`", "test for the condition with `if` before it goes wrong"),
    "Raise": ("`raise`", "use `assert condition, message`"),
    "With": ("`with`", "an Atoll function has no resources to manage; remove it"),
    "AsyncWith": ("`async with`", "an Atoll function has no resources to manage; remove it"),
    "AsyncFor": ("`async for`", "use `for`; independent rounds run in parallel by themselves"),
    "AsyncFunctionDef": ("`async def`", "use `def`; calls are synchronous"),
    "Await": ("`await`", "call the function directly"),
    "Yield": ("`yield`", "build an array with a comprehension and return it"),
    "YieldFrom": ("`yield from`", "build an array with a comprehension and return it"),
    "Import": ("`import` inside a function", "import at the top of the file"),
    "ImportFrom": ("`import` inside a function", "import at the top of the file"),
    "ClassDef": ("a class inside a function", "declare the record at the top of the file with @at.record"),
    "NamedExpr": ("`:=`", "assign on a line of its own"),
    "Dict": ("a dictionary", "use a record (@at.record) or a tuple"),
    "DictComp": ("a dictionary comprehension", "build arrays of keys and of values"),
    "Set": ("a set", "use an array"),
    "SetComp": ("a set comprehension", "build an array with [...]"),
    "Starred": ("`*`", "write the items out; a list joins arrays: [*x, *y]"),
    "In": ("`in` in a chain", "use `and`: v in xs and v > 0"),
    "NotIn": ("`not in` in a chain", "use `and`: v not in xs and v > 0"),
    "Is": ("`is`", "use `==`, or `match` for the cases of a union"),
    "IsNot": ("`is not`", "use `!=`, or `match` for the cases of a union"),
    "MatchStar": ("`*` in a pattern", "arrays are taken apart by indexing and slices"),
    "MatchMapping": ("a dictionary pattern", "match on records"),
    "TypeAlias": ("`type`", "declare the type at the top of the file"),
}


class Parser:
    """Turns one function's ast into a surface tree. `shift` is added to ast line numbers to get lines of the source."""

    def __init__(self, source: Source, where: str = "") -> None:
        self.source = source
        self.where = where

    def span(self, node: ast.AST) -> Span:
        line = getattr(node, "lineno", 0)
        column = getattr(node, "col_offset", 0)
        return Span(
            self.source, line, column, getattr(node, "end_lineno", None) or line, getattr(node, "end_col_offset", None) or column
        )

    def refuse(self, node: ast.AST, what: str | None = None, instead: str | None = None) -> NoReturn:
        name = type(node).__name__
        words = _REFUSED.get(name, (f"this use of {name}", "see docs/reference.md for what a body may contain"))
        if isinstance(node, ast.Dict) and not node.keys:  # one that is filled later
            words = (words[0], "keep what belongs to a number in an array: counts = zeros(256, dtype=i64), then counts[c] += 1")
        fail("E0101", self.span(node), what=what or words[0], help=instead or words[1], where=self.where)

    # -- functions and statements

    def function(self, node: ast.FunctionDef) -> s.Function:
        outer, self.where = self.where, node.name
        doc = ast.get_docstring(node)
        body = node.body[1:] if doc is not None else node.body
        if getattr(node, "type_params", None):
            self.refuse(node, "a type parameter list", 'declare type variables with a = at.types("a")')
        params = self.params(node.args)
        result = s.Function(
            node.name,
            params,
            None if node.returns is None else self.annotation(node.returns),
            without_leaving(params, self.body(body)),
            doc,
            span=self.header_span(node),
        )
        self.where = outer
        return result

    def header_span(self, node: ast.FunctionDef) -> Span:
        whole = self.span(node)
        line = self.source.line(whole.line) or ""
        return Span(self.source, whole.line, whole.column, whole.line, len(line.rstrip().encode()) or whole.column + 1)

    def params(self, args: ast.arguments) -> tuple[s.Param, ...]:
        if args.vararg is not None:
            self.refuse(args.vararg, f"`*{args.vararg.arg}`", "write every parameter out, or take a tuple")
        if args.kwarg is not None:
            self.refuse(args.kwarg, f"`**{args.kwarg.arg}`", "write every parameter out, or take a record")
        plain = args.posonlyargs + args.args
        defaults: list[ast.expr | None] = [None] * (len(plain) - len(args.defaults)) + list(args.defaults)
        everything = list(zip(plain, defaults, strict=True)) + list(zip(args.kwonlyargs, args.kw_defaults, strict=True))
        given = ["position"] * len(args.posonlyargs) + ["either"] * len(args.args) + ["name"] * len(args.kwonlyargs)
        return tuple(
            s.Param(
                arg.arg,
                None if arg.annotation is None else self.annotation(arg.annotation),
                None if default is None else self.expr(default),
                how,
                span=self.span(arg),
            )
            for (arg, default), how in zip(everything, given, strict=True)
        )

    def annotation(self, node: ast.expr) -> s.Expr:
        """An annotation; one written as a string is parsed as the expression it spells."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                inner = ast.parse(node.value, mode="eval").body
            except SyntaxError:
                fail("E0102", self.span(node), text=node.value, where=self.where)
            span = self.span(node)
            return Parser(Source(span.source.name, node.value), self.where)._at(span).expr(inner)
        return self.expr(node)

    def _at(self, span: Span) -> Parser:
        parser = self

        class Fixed(Parser):
            def span(self, node: ast.AST) -> Span:
                return span

        return Fixed(parser.source, parser.where)

    def body(self, nodes: Sequence[ast.stmt]) -> tuple[s.Stmt, ...]:
        return tuple(self.stmt(part) for node in nodes for part in with_names_bound(node))

    def stmt(self, node: ast.stmt) -> s.Stmt:
        span = self.span(node)
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=items) | ast.List(elts=items)], value=value) if any(isinstance(i, ast.Starred) for i in items):
                return self.stmt(ast.copy_location(self.without_star(node, items, value), node))
            case ast.Assign(targets=targets, value=value):
                return s.Assign(tuple(self.target(t) for t in targets), self.expr(value), span=span)
            case ast.AnnAssign(target=target, annotation=annotation, value=value):
                if value is None:
                    self.refuse(node, "an annotation without a value", "give the name a value: x: f32 = 0.0")
                    raise AssertionError
                return s.Assign((self.target(target),), self.expr(value), self.annotation(annotation), span=span)
            case ast.AugAssign(target=target, op=op, value=value):
                return s.AugAssign(self.target(target), _BINARY[type(op)], self.expr(value), span=span)
            case ast.If(test=test, body=body, orelse=orelse):
                return s.If(self.expr(test), self.body(body), self.body(orelse), span=span)
            case ast.While(test=test, body=body, orelse=orelse):
                return s.While(self.expr(test), self.body(body), self.body(orelse), span=span)
            case ast.For(target=target, iter=iter_, body=body, orelse=orelse):
                return s.For(self.target(target), self.expr(iter_), self.body(body), self.body(orelse), span=span)
            case ast.Break():
                return s.Break(span=span)
            case ast.Continue():
                return s.Continue(span=span)
            case ast.Return(value=value):
                return s.Return(None if value is None else self.expr(value), span=span)
            case ast.Assert(test=test, msg=message):
                return s.Assert(self.expr(test), None if message is None else self.expr(message), span=span)
            case ast.Expr(value=value):
                return s.ExprStmt(self.expr(value), span=span)
            case ast.Pass():
                return s.Pass(span=span)
            case ast.Match(subject=subject, cases=cases):
                return s.Match(self.expr(subject), tuple(self.case(c) for c in cases), span=span)
            case ast.FunctionDef():
                if node.decorator_list:
                    self.refuse(node.decorator_list[0], "a decorator on an inner function", "remove it")
                return self.function(node)
        self.refuse(node)

    def without_star(self, node: ast.stmt, items: list[ast.expr], value: ast.expr) -> ast.Assign:
        """`a, *b, c = x` is `a, b, c = x[0], x[1:-1], x[-1]`; of items that are written out, b is the list of those in the middle."""
        stars = [k for k, item in enumerate(items) if isinstance(item, ast.Starred)]
        before, after = stars[0], len(items) - stars[0] - 1
        plain: list[ast.expr] = [item.value if isinstance(item, ast.Starred) else item for item in items]
        if isinstance(value, (ast.Tuple, ast.List)) and not any(isinstance(part, ast.Starred) for part in value.elts):
            if len(value.elts) <= before + after:
                self.refuse(node, f"a value with {len(value.elts)} items for {len(items)} names", "give every name an item, and the one with `*` at least one")
            middle = value.elts[before : len(value.elts) - after]
            parts: list[ast.expr] = [*value.elts[:before], ast.copy_location(ast.List(middle, ast.Load()), value), *value.elts[len(value.elts) - after :]]
        elif isinstance(value, ast.Name):
            low = ast.Constant(before) if before else None
            high = ast.UnaryOp(ast.USub(), ast.Constant(after)) if after else None
            places: list[ast.expr] = [*map(ast.Constant, range(before)), ast.Slice(low, high), *(ast.UnaryOp(ast.USub(), ast.Constant(k)) for k in range(after, 0, -1))]
            parts = [ast.Subscript(value, place, ast.Load()) for place in places]
        else:
            self.refuse(node, "`*` beside a value without a name", "bind the value to a name first: x = ...; first, *rest = x")
        for part in [*parts]:
            for inside in ast.walk(part):
                if not hasattr(inside, "lineno"):
                    ast.copy_location(inside, node)
        pair = ast.copy_location(ast.Tuple(parts, ast.Load()), value)
        return ast.Assign([ast.copy_location(ast.Tuple(plain, ast.Store()), node)], pair)

    def target(self, node: ast.expr) -> s.Target:
        span = self.span(node)
        match node:
            case ast.Name(id=name):
                return s.Name(name, span=span)
            case ast.Tuple(elts=items) | ast.List(elts=items):
                return s.TupleTarget(tuple(self.target(i) for i in items), span=span)
            case ast.Subscript():
                subscript = self.expr(node)
                assert isinstance(subscript, s.Subscript)
                return subscript
            case ast.Attribute(value=value, attr=name):
                return s.Attr(self.expr(value), name, span=span)
            case ast.Starred():
                self.refuse(node, "`*` in a target", "take the parts by index and slice: first, rest = x[0], x[1:]")
        self.refuse(node)

    def case(self, node: ast.match_case) -> s.Case:
        guard = None if node.guard is None else self.expr(node.guard)
        return s.Case(self.pattern(node.pattern), guard, self.body(node.body), span=self.span(node.pattern))

    def pattern(self, node: ast.pattern) -> s.Pattern:
        span = self.span(node)
        match node:
            case ast.MatchAs(pattern=None, name=None):
                return s.Wildcard(span=span)
            case ast.MatchAs(pattern=inner, name=str(name)):
                return s.Capture(name, None if inner is None else self.pattern(inner), span=span)
            case ast.MatchValue(value=value):
                return s.ValuePattern(self.expr(value), span=span)
            case ast.MatchSingleton(value=value):
                if value is None:
                    return s.ValuePattern(s.NoneValue(span=span), span=span)
                return s.ValuePattern(s.Num(value, span=span), span=span)
            case ast.MatchClass(cls=cls, patterns=patterns, kwd_attrs=names, kwd_patterns=values):
                keywords = tuple((n, self.pattern(p)) for n, p in zip(names, values, strict=True))
                return s.ClassPattern(self.expr(cls), tuple(self.pattern(p) for p in patterns), keywords, span=span)
            case ast.MatchOr(patterns=patterns):
                return s.OrPattern(tuple(self.pattern(p) for p in patterns), span=span)
            case ast.MatchSequence(patterns=patterns):
                return s.TuplePattern(tuple(self.pattern(p) for p in patterns), span=span)
        self.refuse(node)

    # -- expressions

    def exprs(self, nodes: Sequence[ast.expr]) -> tuple[s.Expr, ...]:
        return tuple(self.expr(node) for node in nodes)

    def listed(self, node: ast.expr) -> s.Expr | s.Spread:
        """An item of a list: an expression, or `*xs`."""
        return s.Spread(self.expr(node.value), span=self.span(node)) if isinstance(node, ast.Starred) else self.expr(node)

    def expr(self, node: ast.expr) -> s.Expr:
        span = self.span(node)
        match node:
            case ast.Constant(value=value):
                return self.constant(node, value)
            case ast.Name(id=name):
                return s.Name(name, span=span)
            case ast.Attribute(value=value, attr=name):
                return s.Attr(self.expr(value), name, span=span)
            case ast.Call(func=fn, args=args, keywords=keywords):
                for keyword in keywords:
                    if keyword.arg is None:
                        self.refuse(keyword.value, "`**`", "write the keyword arguments out")
                for arg in args:
                    if isinstance(arg, ast.Starred):
                        pairs = isinstance(fn, ast.Name) and fn.id == "zip"
                        self.refuse(arg, "`*` in a call", "unzip(pairs) gives the arrays" if pairs else "write the arguments out")
                named = tuple((str(k.arg), self.expr(k.value)) for k in keywords)
                return s.Call(self.expr(fn), self.exprs(args), named, span=span)
            case ast.BinOp(op=op, left=left, right=right):
                return s.BinOp(_BINARY[type(op)], self.expr(left), self.expr(right), span=span)
            case ast.UnaryOp(op=op, operand=operand):
                return self.unary(_UNARY[type(op)], operand, span)
            case ast.BoolOp(op=op, values=values):
                return s.BoolOp("and" if isinstance(op, ast.And) else "or", self.exprs(values), span=span)
            case ast.Compare(left=left, ops=[ast.In() | ast.NotIn() as op], comparators=[ast.Tuple() | ast.List() | ast.Set() as among]) if _listed(left, among.elts):
                return self.one_of(left, among.elts, isinstance(op, ast.NotIn), span)
            case ast.Compare(left=left, ops=[ast.In() | ast.NotIn() as op], comparators=[among]):
                listed = s.ListDisplay(self.exprs(among.elts), span=self.span(among)) if isinstance(among, (ast.Tuple, ast.Set)) else self.expr(among)
                found = s.Call(s.Attr(s.Compare(self.expr(left), (("==", listed),), span=span), "any", span=span), (), (), span=span)
                return s.Unary("not", found, span=span) if isinstance(op, ast.NotIn) else found  # as NumPy: (x == v).any()
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                for relation in ops:
                    if type(relation) not in _COMPARE:
                        words = _REFUSED[type(relation).__name__]
                        self.refuse(node, *words)
                rest = tuple((_COMPARE[type(r)], self.expr(e)) for r, e in zip(ops, comparators, strict=True))
                return s.Compare(self.expr(left), rest, span=span)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return s.IfExp(self.expr(test), self.expr(body), self.expr(orelse), span=span)
            case ast.Lambda(args=args, body=body):
                return s.Lambda(self.params(args), self.expr(body), span=span)
            case ast.List(elts=items):
                return s.ListDisplay(tuple(map(self.listed, items)), span=span)
            case ast.Tuple(elts=items):
                return s.TupleDisplay(self.exprs(items), span=span)
            case ast.ListComp(elt=element, generators=clauses):
                return s.Comprehension(self.expr(element), self.clauses(clauses), True, span=span)
            case ast.GeneratorExp(elt=element, generators=clauses):
                return s.Comprehension(self.expr(element), self.clauses(clauses), False, span=span)
            case ast.Subscript(value=value, slice=index):
                items = index.elts if isinstance(index, ast.Tuple) else [index]
                return s.Subscript(self.expr(value), tuple(self.item(i) for i in items), span=span)
            case ast.JoinedStr(values=values):
                return s.Text(tuple(self.text_part(v) for v in values), span=span)
        self.refuse(node)

    def constant(self, node: ast.Constant, value: object) -> s.Expr:
        span = self.span(node)
        if isinstance(value, (bool, int, float, complex)):
            return s.Num(value, span=span)
        if isinstance(value, str):
            return s.Text((value,), span=span)
        if value is None:
            return s.NoneValue(span=span)
        if isinstance(value, bytes):
            self.refuse(node, "a bytes literal", "use a u8 array")
        self.refuse(node, "`...` outside an index", "write the value")
        raise AssertionError

    def unary(self, op: str, operand: ast.expr, span: Span) -> s.Expr:
        """Signs belong to literals, so that -128 is an i8."""
        value = self.expr(operand)
        if op == "-" and isinstance(value, s.Num) and not isinstance(value.value, bool):
            return s.Num(-value.value, span=span)
        if op == "+" and isinstance(value, s.Num):
            return value
        return s.Unary(op, value, span=span)

    def one_of(self, left: ast.expr, items: Sequence[ast.expr], absent: bool, span: Span) -> s.Expr:
        """`x in (a, b)` is `x == a or x == b`; of a single item too it is a question about one value, not about every element of an array."""
        equal = tuple(s.Compare(self.expr(left), (("==", self.expr(item)),), span=span) for item in items)
        found = s.BoolOp("or", equal if len(equal) > 1 else (*equal, s.Num(False, span=span)), span=span)
        return s.Unary("not", found, span=span) if absent else found

    def clauses(self, nodes: Sequence[ast.comprehension]) -> tuple[s.Clause, ...]:
        result = []
        for node in nodes:
            if node.is_async:
                self.refuse(node.iter, "`async for`", "use `for`")
            result.append(
                s.Clause(self.target(node.target), self.expr(node.iter), self.exprs(node.ifs), span=self.span(node.target))
            )
        return tuple(result)

    def item(self, node: ast.expr) -> s.Item:
        span = self.span(node)
        match node:
            case ast.Slice(lower=low, upper=high, step=step):
                low_, high_, step_ = (None if e is None else self.expr(e) for e in (low, high, step))
                return s.Slice(low_, high_, step_, span=span)
            case ast.Constant(value=None):
                return s.NewAxis(span=span)
            case ast.Constant(value=value) if value is ...:
                return s.Ellipsis(span=span)
        return self.expr(node)

    def text_part(self, node: ast.expr) -> str | tuple[s.Expr, str]:
        if isinstance(node, ast.Constant):
            return str(node.value)
        assert isinstance(node, ast.FormattedValue)
        spec = ""
        if node.format_spec is not None:
            assert isinstance(node.format_spec, ast.JoinedStr)
            if not all(isinstance(v, ast.Constant) for v in node.format_spec.values):
                self.refuse(node, "a computed format", "write the format out")
            spec = "".join(str(v.value) for v in node.format_spec.values if isinstance(v, ast.Constant))
        return (self.expr(node.value), spec)


def with_names_bound(node: ast.stmt) -> list[ast.stmt]:
    """`if (y := f(x)) > 0:` with `y = f(x)` on a line of its own before it; a `while` has it at the head of each of its rounds, and is left there."""
    if isinstance(node, ast.While):
        found = _bound_here(node.test)
        if not found or node.orelse:
            return [node]
        leave = ast.If(ast.UnaryOp(ast.Not(), _unbound(node.test)), [ast.Break()], [])
        asked = [*(_line(n) for n in found), leave]
        return [ast.copy_location(ast.While(_placed(ast.Constant(True), node.test), [_placed(part, node.test) for part in asked] + node.body, []), node)]
    field = "test" if isinstance(node, (ast.If, ast.Assert)) else "value" if isinstance(node, (ast.Return, ast.Assign, ast.AugAssign, ast.Expr)) else ""
    held: ast.expr | None = getattr(node, field, None)
    found = _bound_here(held) if held is not None else []
    if held is None or not found:
        return [node]
    again = copy(node)
    setattr(again, field, _unbound(held))
    return [*(_placed(_line(n), n) for n in found), again]


def _bound_here(test: ast.expr) -> list[ast.NamedExpr]:
    """The names that `:=` binds whatever the values are, in order; none where one is bound under a condition, or is read before that."""
    found = [n for n in ast.walk(test) if isinstance(n, ast.NamedExpr)]
    lazy = (ast.BoolOp, ast.IfExp, ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)
    for part in ast.walk(test):
        later = part.values[1:] if isinstance(part, ast.BoolOp) else list(ast.iter_child_nodes(part)) if isinstance(part, lazy) else part.comparators[1:] if isinstance(part, ast.Compare) else []
        if any(isinstance(n, ast.NamedExpr) for expr in later for n in ast.walk(expr)):
            return []
    found.sort(key=lambda n: (n.lineno, n.col_offset))
    for bound in found:
        here = (bound.lineno, bound.col_offset)
        if any(isinstance(n, ast.Name) and n.id == bound.target.id and (n.lineno, n.col_offset) < here for n in ast.walk(test)):
            return []
    inside = any(n is not bound and isinstance(n, ast.NamedExpr) for bound in found for n in ast.walk(bound))
    return [] if inside or len({n.target.id for n in found}) != len(found) else found


def _line(bound: ast.NamedExpr) -> ast.stmt:
    return ast.copy_location(ast.Assign([bound.target], bound.value), bound)


def _unbound(test: ast.expr) -> ast.expr:
    class Named(ast.NodeTransformer):
        def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
            return ast.copy_location(ast.Name(node.target.id, ast.Load()), node)

    found: ast.expr = Named().visit(deepcopy(test))
    return found


def _placed(node: ast.stmt | ast.expr, where: ast.AST) -> Any:
    """The node and what is in it, where the text has no place for them, at another's place."""
    for part in ast.walk(node):
        if isinstance(part, (ast.expr, ast.stmt)) and not hasattr(part, "lineno"):
            ast.copy_location(part, where)
    return node


def _listed(left: ast.expr, items: Sequence[ast.expr]) -> bool:
    """True where a value can be compared with these items one after another: Python makes all of them first, so they are such as cannot fail; and the value is written
    again for each of them, so it asks no such question itself."""
    plain = (ast.Constant, ast.Name, ast.Attribute, ast.UnaryOp, ast.Tuple, ast.unaryop, ast.expr_context)
    return bool(items) and all(isinstance(part, plain) for item in items for part in ast.walk(item)) and not any(isinstance(part, (ast.In, ast.NotIn)) for part in ast.walk(left))
