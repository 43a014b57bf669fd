"""From an expression to constraints on ranks: the C-* rules on the surface tree (Schenck, figs 4.6 and 4.7).

A call of several arguments is a spine of one-argument applications; the frame of each is the sum of the M before it. What is no
application (a display, the branches of an `if`, a loop's state) only demands equal types: nothing is inserted there. Special forms
(`map`, `rep`, comprehensions, `fold`, `filter`, indexing) are in `special`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Union

from atoll.elaborate.annotations import type_expr
from atoll.elaborate.builtins.names import BUILTINS
from atoll.elaborate.namespace import _MISSING
from atoll.elaborate.numpy_names.names import NAMES
from atoll.elaborate.ranks import special
from atoll.elaborate.ranks.constraints import Application, Constraints
from atoll.elaborate.ranks.entities import Builtin, Constructor, Entity, Env, Known, Local, Module, Named, Nothing, Unset
from atoll.elaborate.ranks.kinds import (
    NUMBER,
    SCALAR,
    Arrow,
    Clash,
    Product,
    RankType,
    Skeleton,
    Variable,
    arrow,
    fresh,
    numbers,
    parts,
    product,
)
from atoll.elaborate.ranks.names import Names
from atoll.elaborate.ranks.schemes import Scheme, builtin, of_type, parse
from atoll.errors import Span
from atoll.sizes import ZERO, Poly, Sym, poly
from atoll.surface import syntax as s
from atoll.types.records import record_of, record_type
from atoll.types.types import Record, Scalar

Argument = Union[RankType, s.Lambda, Local]
"""A lambda (with the names around it, when those are not the ones here) is read after the other arguments."""

_BINARY = parse("n, n -> n")
_UNARY = parse("n -> n")
_KEYWORDS = {"reduce": ("op", "ne", "xs"), "scan": ("op", "ne", "xs"), "scatter": ("xs", "is", "vs"), "gather": ("xs", "is")}


class Generator:
    """Reads one definition. `settled` collects what local functions with a type of their own insert in their bodies."""

    def __init__(self, names: Names, env: Env, constraints: Constraints | None = None) -> None:
        self.names, self.env = names, env
        self.constraints = constraints if constraints is not None else Constraints()
        self.settled: list[tuple[Application, Any]] = []
        self.joint: dict[Local, RankType] = {}
        self.local_types: list[tuple[Local | s.Lambda, RankType]] = []

    def child(self, env: Env, constraints: Constraints | None = None) -> Generator:
        """Reads something with other names; shares everything else."""
        made = Generator(self.names, env, constraints or self.constraints)
        made.settled, made.joint, made.local_types = self.settled, self.joint, self.local_types
        return made

    def child_of(self, local: Local, constraints: Constraints | None = None) -> Generator:
        """Reads the text of a local function, with the names it was made among."""
        made = self.child(local.env.copy(), constraints)
        made.names = local.outside or self.names
        return made

    # -- entities and types

    def entity(self, node: Any) -> Entity:
        """What an expression denotes."""
        match node:
            case s.Name(id):
                return self.env.get(id) or self.names.lookup(id) or Nothing()
            case s.Attr(value, name):
                base = self.entity(value)
                if isinstance(base, Module):
                    return self.names.attribute(base.module, name)
                return Known(special.attribute(self, self.as_type(base), name, node.span))
            case s.Lambda():
                return Known(self.lambda_type(node))
            case s.Call():
                return self.call(node)
            case s.NoneValue() | s.Text():
                return Nothing()
            case s.Unset():
                return Unset()
        return Known(self._form(node))

    def expr(self, node: Any) -> RankType:
        """The rank type of an expression."""
        return self.as_type(self.entity(node))

    def as_type(self, entity: Entity, count: int | None = None) -> RankType:
        """An entity as a value: a function's name stands for the function. `count` is the number of its parameters, if known."""
        match entity:
            case Known(t):
                return t
            case Builtin(name):
                scheme = builtin(name, count)
                return scheme.instance() if scheme is not None else fresh(name)
            case Named(scheme=scheme):
                return scheme.instance()
            case Local():
                from atoll.elaborate.ranks.locals import type_of_local

                return without_defaults(type_of_local(self, entity, ()), entity.params)
            case Constructor(t) if record_of(t) is None:
                return _UNARY.instance()
        return fresh()

    def _form(self, node: Any) -> RankType:
        match node:
            case s.Num():
                return SCALAR
            case s.BinOp("@", left, right):
                return special.matmul(self, left, right, node)
            case s.BinOp(_, left, right):
                return self.spine(node, _BINARY.instance(), [self.expr(left), self.expr(right)], [left, right])
            case s.Unary("not", value):
                return self.scalar(value)
            case s.Unary(_, value):
                return self.spine(node, _UNARY.instance(), [self.expr(value)], [value])
            case s.BoolOp(_, values):
                for value in values:
                    self.scalar(value)
                return SCALAR
            case s.Compare(first, rest) if len(rest) == 1:
                second = rest[0][1]
                types = [self.expr(first), self.expr(second)]
                if types[0].is_product and types[1].is_product:
                    return SCALAR
                return self.spine(node, _BINARY.instance(), types, [first, second])
            case s.Compare(first, rest):
                for operand in (first, *(e for _, e in rest)):
                    self.scalar(operand)
                return SCALAR
            case s.IfExp(test, then, orelse):
                self.scalar(test)
                result = self.expr(then)
                self.equal(result, self.expr(orelse), node.span)
                return result
            case s.ListDisplay(items):
                types = [t for item in items for t in self.items_of(item)]
                for other in types[1:]:
                    self.equal(types[0], other, node.span)
                return types[0].lift(poly(1)) if types else numbers(1)
            case s.TupleDisplay(items):
                return product(*(self.expr(item) for item in items))
            case s.Comprehension():
                return special.comprehension(self, node)
            case s.Subscript():
                return special.subscript(self, node)
        return fresh()

    # -- what equations are made of

    def equal(self, left: RankType, right: RankType, span: Span) -> None:
        self.constraints.equal(left, right, span)

    def items_of(self, item: s.Expr | s.Spread) -> list[RankType]:
        """What an item of a display puts there: itself, the items of a tuple, an element of an array."""
        if not isinstance(item, s.Spread):
            return [self.expr(item)]
        t = self.expr(item.value)
        if t.is_product and t.axes.constant_term() == 0:
            return parts(t)
        return [self.element(t, item.span)]

    def scalar(self, node: s.Expr) -> RankType:
        """An expression that must be one number: a condition, a size, a bound."""
        t = self.expr(node)
        self.equal(t, SCALAR, node.span)
        return SCALAR

    def element(self, t: RankType, span: Span) -> RankType:
        """What an array holds along its outermost axis."""
        if t.axes.constant_term() >= 1:
            return RankType(t.axes - 1, t.body)
        inner = fresh("e")
        self.equal(t, inner.lift(poly(1)), span)
        return inner

    # -- applications

    def spine(
        self,
        node: s.Node,
        fn: RankType,
        args: Sequence[Argument],
        sources: Sequence[s.Node] = (),
        exact: frozenset[int] = frozenset(),
    ) -> RankType:
        """fn(args): one application per argument (C-APP). `sources` are the arguments in the text; `exact` ones must fit as they are."""
        frame, params, result = self.signature_of(fn, len(args))
        types: list[RankType | None] = [a if isinstance(a, RankType) else None for a in args]
        for param, t in zip(params, types, strict=False):
            if t is not None:
                param.skeleton.unify(t.skeleton)
        for k, arg in enumerate(args):
            if not isinstance(arg, RankType):
                shaped = _shaped_like(params[k]) if k < len(params) else None
                if isinstance(arg, Local):
                    assert not isinstance(arg.body, tuple)
                    named = s.Lambda(arg.params, arg.body, span=arg.span)
                    t = self.child_of(arg).lambda_type(named, shaped)
                else:
                    t = self.lambda_type(arg, shaped)
                types[k] = without_defaults(t, arg.params)
        for k, (param, t) in enumerate(zip(params, types, strict=False)):
            assert t is not None
            if k in exact:
                self.equal(param, t, node.span)
                continue
            app = self.constraints.apply(node, k, frame, param, t, sources[k] if k < len(sources) else None)
            frame = frame + poly(app.maps)
        return distribute(result, frame)

    def signature_of(self, fn: RankType, count: int) -> tuple[Poly, list[RankType], RankType]:
        """The frame, parameters and result of a function of `count` arguments."""
        if isinstance(fn.body, Arrow):
            if len(fn.body.params) < count:
                raise Clash
            return fn.axes, list(fn.body.params), fn.body.result
        fn.skeleton.unify(Skeleton("function", tuple(Skeleton() for _ in range(count + 1))))
        *params, result = parts(RankType(ZERO, fn.body))
        return fn.axes, params, result

    def lambda_type(self, node: s.Lambda, params: Sequence[RankType] | None = None) -> RankType:
        """A lambda (C-FUN); its parameters are unknowns, or what the place it stands at expects."""
        if params is None or len(params) != len(node.params):
            params = [fresh(p.name) for p in node.params]
        env = self.env.copy()
        for p, t in zip(node.params, params, strict=True):
            env.names[p.name] = Known(t)
        t = arrow(tuple(params), self.child(env).expr(node.body))
        self.local_types.append((node, t))
        return t

    def call(self, node: s.Call) -> Entity:
        """fn(args): special forms, methods, functions."""
        fn: Entity
        args = list(node.args)
        if isinstance(node.fn, s.Attr):
            base = self.entity(node.fn.value)
            if not isinstance(base, Module):
                return Known(self._method(node, self.as_type(base)))
            fn = self.names.attribute(base.module, node.fn.name)
        else:
            fn = self.entity(node.fn)
        return self.apply(node, fn, args, dict(node.keywords))

    def apply(self, node: s.Call, fn: Entity, args: list[s.Expr], keywords: dict[str, s.Expr]) -> Entity:
        match fn:
            case Builtin(name) if name.removeprefix("np.") in NAMES and name not in BUILTINS:  # NumPy's: what the elaborator found
                for arg in (*args, *keywords.values()):
                    self.argument(arg)
                return Known(self.found(node))
            case Builtin(name):
                handler = special.FORMS.get(name)
                if handler is not None and (found := handler(self, node, args, keywords)) is not None:
                    return found
                return Known(self._builtin(node, name, args, keywords))
            case Constructor(t):
                return Known(self._construct(node, t, args, keywords))
            case Named(scheme=scheme, params=names):
                given = _in_order(names, args, keywords)
                return Known(self._partial(node, scheme, given))
            case Local():
                from atoll.elaborate.ranks.locals import call_local

                return Known(call_local(self, node, fn, args, keywords))
            case Known(t):
                return Known(self.spine(node, t, [self.argument(a) for a in args], args))
        for arg in (*args, *keywords.values()):
            self.argument(arg)
        return Known(fresh())

    def argument(self, node: s.Expr, count: int | None = None) -> Argument:
        if isinstance(node, s.Lambda):
            return node
        return self.as_type(self.entity(node), count)

    def _builtin(self, node: s.Call, name: str, args: list[s.Expr], keywords: dict[str, s.Expr]) -> RankType:
        order = _KEYWORDS.get(name, ())
        given = args + [keywords[key] for key in order[len(args) :] if key in keywords]
        scheme = builtin(name, len(given)) if len(given) >= len(order) else None  # an argument is missing, which is said later
        for key, value in keywords.items():
            if key not in order[len(args) :]:
                self.argument(value)
        if scheme is None:
            for arg in args:
                self.argument(arg)
            return fresh(name)
        counts = _function_arities(scheme)
        types = [self.argument(a, counts.get(k)) for k, a in enumerate(given)]
        return self.spine(node, scheme.instance(), types, given, scheme.exact)

    def _method(self, node: s.Call, base: RankType) -> RankType:
        assert isinstance(node.fn, s.Attr)
        keywords = dict(node.keywords)
        for arg in (*node.args, *keywords.values()):
            self.argument(arg)
        return self.found(node)

    def found(self, node: s.Node) -> RankType:
        """The rank type of an application of one of NumPy's names, or of an index with masks: the elaborator has read it before."""
        t = self.names.session.word_types.get(id(node))
        if t is not None:
            return of_type(t)
        axes = _axes_of_word(node)
        return fresh() if axes is None else SCALAR.lift(poly(axes))

    def _construct(self, node: s.Call, t: Any, args: list[s.Expr], keywords: dict[str, s.Expr]) -> RankType:
        if record_of(t) is not None:
            declared = record_type(t)
            if not isinstance(declared, Record):
                for arg in (*args, *keywords.values()):
                    self.expr(arg)
                return fresh("case")
            fields = _in_order(declared.decl.fields, args, keywords)
            for (_, arg), item in zip(fields, declared.items, strict=False):
                self.equal(of_type(item), self.expr(arg), node.span)
            return of_type(declared)
        if isinstance(t, Scalar) or t in (int, float, bool, complex):
            scheme = parse(", ".join(["n"] * len(args)) + " -> n") if args else _UNARY
            return self.spine(node, scheme.instance(), [self.expr(a) for a in args], args)
        return self.spine(node, _UNARY.instance(), [self.expr(a) for a in args[:1]], args[:1])

    def _partial(self, node: s.Call, scheme: Scheme, given: list[tuple[int, s.Expr]]) -> RankType:
        """A call that leaves defaults out: those parameters take part in nothing."""
        t = scheme.instance()
        assert isinstance(t.body, Arrow)
        params = tuple(t.body.params[k] for k, _ in given)
        counts = _function_arities(scheme)
        args = [self.argument(a, counts.get(k)) for k, a in given]
        return self.spine(node, RankType(t.axes, Arrow(params, t.body.result)), args, [a for _, a in given])

    def annotation(self, node: s.Expr) -> RankType:
        """The rank type an annotation inside a body spells; its sizes do not matter."""

        def look(name: str, span: Span) -> Any:
            from atoll.elaborate.signature import type_name

            value = self.names.namespace.python_value(name)
            if value is not _MISSING and not isinstance(value, (int, float)):
                return value
            found = type_name(name)
            return found if found is not None and name not in BUILTINS - {"bool"} else poly(Sym(name))

        return of_type(type_expr(node, look, ""))


def without_defaults(t: RankType, params: Sequence[s.Param]) -> RankType:
    """A function that is passed on is called with the arguments it needs."""
    needed = sum(p.default is None for p in params)
    if needed == len(params) or not isinstance(t.body, Arrow):
        return t
    return RankType(t.axes, Arrow(t.body.params[:needed], t.body.result))


def distribute(t: RankType, frame: Poly) -> RankType:
    """The result of a lifted call: a tuple becomes a tuple of arrays."""
    if isinstance(t.body, Product) and t.body.tag is None and not t.axes.terms:
        return RankType(ZERO, Product(tuple(distribute(item, frame) for item in t.body.items)))
    return t.lift(frame)


def _shaped_like(param: RankType) -> list[RankType] | None:
    """Unknown parameters for a lambda with the skeletons its place expects (its ranks are its own)."""
    skeleton = param.skeleton
    if not skeleton.is_function:
        return None
    return [RankType(ZERO, Variable(f"p{k}", part)) for k, part in enumerate(skeleton.parts[:-1])]


def _function_arities(scheme: Scheme) -> dict[int, int]:
    """How many arguments the function parameters of a scheme take."""
    body = scheme.type.body
    assert isinstance(body, Arrow)
    return {k: len(p.body.params) for k, p in enumerate(body.params) if isinstance(p.body, Arrow)}


_AXES = {"arange": 1, "linspace": 1, "flatnonzero": 1, "bincount": 1, "ravel": 1, "flatten": 1, "eye": 2, "identity": 2}
_OF_EVERYTHING = frozenset("sum prod max min amax amin mean any all argmax argmin var std median ptp count_nonzero".split())


def _axes_of_word(node: s.Node) -> int | None:
    """What the text alone tells of a word of NumPy's that nobody has elaborated yet, as in a local function: np.arange(n) has one axis, x.sum() none."""
    if not isinstance(node, s.Call) or not isinstance(node.fn, s.Attr):
        return None
    named = {key for key, _ in node.keywords}
    if node.fn.name in _OF_EVERYTHING:
        whole = len(node.args) <= (1 if isinstance(node.fn.value, s.Name) and node.fn.value.id in ("np", "numpy") else 0)
        return 0 if whole and not named & {"axis", "keepdims"} else None
    if node.fn.name == "linspace" and not all(isinstance(a, s.Num) for a in node.args[:2]):
        return None
    return _AXES.get(node.fn.name)


def _in_order(names: Sequence[str], args: list[s.Expr], keywords: dict[str, s.Expr]) -> list[tuple[int, s.Expr]]:
    """Arguments by position of their parameter, those left out left out."""
    given = list(enumerate(args))
    return given + [(k, keywords[name]) for k, name in enumerate(names) if k >= len(args) and name in keywords]


Handler = Callable[[Generator, s.Call, list[s.Expr], dict[str, s.Expr]], "Entity | None"]

__all__ = ["NUMBER", "Generator", "distribute"]
