"""Names from outside a body: other functions, built-ins, constants, types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from atoll.elaborate.builtins.names import BUILTINS, CONSTANTS, WORDS, BuiltinName, meaning, meaning_of_object
from atoll.elaborate.namespace import _MISSING, Namespace, is_module, stands_for
from atoll.elaborate.numpy_names.names import NAMES, SUBMODULES
from atoll.elaborate.ranks.entities import Builtin, Constructor, Entity, Known, Module, Named, Nothing
from atoll.elaborate.ranks.kinds import SCALAR, Clash, RankType, Variable, arrow, fresh, numbers, product
from atoll.elaborate.ranks.propagate import Infeasible
from atoll.elaborate.ranks.schemes import Scheme, of_type
from atoll.sizes import Poly
from atoll.types.dtypes import SCALAR_TYPES
from atoll.types.objects import is_function
from atoll.types.records import record_of
from atoll.types.types import SCALARS, Type

if TYPE_CHECKING:
    from atoll.elaborate.session import Session


class Names:
    """Looks names up for a function whose surroundings are `namespace`."""

    def __init__(self, session: Session, namespace: Namespace) -> None:
        self.session, self.namespace = session, namespace

    def lookup(self, name: str) -> Entity | None:
        value = self.namespace.python_value(name)
        if value is not _MISSING:
            return self.of_object(value)
        if name in BUILTINS or name in WORDS:
            return Builtin(name)
        if name in SCALARS and name != "bool":
            return Constructor(SCALARS[name])
        return Known(SCALAR) if name in CONSTANTS else None

    def of_object(self, value: Any) -> Entity:
        """What a Python object means in a body."""
        value = stands_for(value)
        if is_function(value):
            params = tuple(p.name for p in value.signature.params)
            return Named(value.name, function_scheme(self.session, value), params)
        if isinstance(value, BuiltinName):
            return Builtin(value.__name__)
        if is_module(value):
            return Module(value)
        if isinstance(value, Type) or record_of(value) is not None or any(value is t for t in (int, float, bool, complex)):
            return Constructor(value)
        if isinstance(value, type) and issubclass(value, np.generic):
            return Constructor(value)
        found = meaning_of_object(value)
        if found is not None:
            return Builtin(found)
        constant = _constant(value)
        return Known(constant) if constant is not None else Nothing()

    def attribute(self, module: Any, name: str) -> Entity:
        """`module.name`"""
        where = "" if isinstance(module, type) else getattr(module, "__name__", "")
        if where in ("math", "numpy", "operator"):
            if name in CONSTANTS:
                return Known(SCALAR)
            if where == "numpy" and name in SCALAR_TYPES:
                return Constructor(SCALARS[SCALAR_TYPES[name]])
            mapped = meaning(where, name)
            if mapped is None and where == "numpy":
                return _numpy(module, name)
            return Builtin(mapped) if mapped is not None else Nothing()
        if where in ("numpy.linalg", "numpy.fft"):
            return _numpy(module, name)
        found = getattr(module, name, _MISSING)
        return Nothing() if found is _MISSING else self.of_object(found)


def _numpy(module: Any, name: str) -> Entity:
    """A name with NumPy's meaning, whose ranks the elaborator has found."""
    key = f"{module.__name__}.{name}".removeprefix("numpy.")
    if key in SUBMODULES:
        return Module(getattr(module, name))
    return Builtin(f"np.{key}") if key in NAMES else Nothing()


def _constant(value: Any) -> RankType | None:
    if isinstance(value, (bool, int, float, complex, np.generic, Poly)):
        return SCALAR
    if isinstance(value, np.ndarray):
        return numbers(value.ndim)
    if isinstance(value, tuple):
        items = [_constant(item) for item in value]
        return product(*(item if item is not None else fresh() for item in items))
    return None


def function_scheme(session: Session, fn: Any) -> Scheme:
    """The rank type of an Atoll function. A type variable that meets arithmetic is a number; any other takes any rank."""
    found = session.rank_schemes.get(id(fn))
    if found is None:
        signature = fn.signature
        if not signature.type_vars:
            params = tuple(of_type(p.type) for p in signature.params)
            result = signature.result
            if result is None and not signature.is_generic:
                result = session.instance(fn, {}, None, fn.surface.span).result
            found = Scheme(arrow(params, of_type(result) if result is not None else _body_type(session, fn)))
        else:
            found = _generic_scheme(session, fn)
        session.rank_schemes[id(fn)] = found
    return found


def number_variables(session: Session, fn: Any) -> frozenset[str]:
    """The type variables of a generic function that stand for numbers."""
    function_scheme(session, fn)
    return session.number_variables.get(id(fn), frozenset())


def _generic_scheme(session: Session, fn: Any) -> Scheme:
    """Read the body once with its type variables as unknowns: what meets a number is one."""
    signature = fn.signature
    made = {name: Variable(name) for name in signature.type_vars}

    def variable(name: str) -> RankType:
        return RankType(numbers(0).axes, made.setdefault(name, Variable(name)))

    params = tuple(of_type(p.type, variable) for p in signature.params)
    declared = of_type(signature.result, variable) if signature.result is not None else fresh("result")
    whole = arrow(params, declared)
    session.rank_schemes[id(fn)] = Scheme(whole)  # for a function that calls itself
    try:
        from atoll.elaborate.ranks.analysis import read_body

        types = read_body(session, fn, params, declared, tuple(made.values()))
        session.number_variables[id(fn)] = frozenset(name for name, var in made.items() if var.skeleton.form == "number")
        return Scheme(types.close(whole))
    except (Clash, Infeasible):
        return Scheme(whole)


def _body_type(session: Session, fn: Any) -> RankType:
    """The result of a second-order function without type variables and without a declared result."""
    from atoll.elaborate.ranks.analysis import read_body

    declared = fresh("result")
    try:
        types = read_body(session, fn, tuple(of_type(p.type) for p in fn.signature.params), declared)
        return types.close(declared)
    except (Clash, Infeasible):
        return declared
