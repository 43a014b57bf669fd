"""`@at.fn`: a Python function read as an Atoll function. Everything a user can ask of it starts here."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import functools
import inspect
import os
import threading
import warnings
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

from atoll.core import interpret as interpreter
from atoll.core import ir
from atoll.core.check import check
from atoll.core.needs import check_derivatives, needs_functions
from atoll.deep import as_deep_as_needed
from atoll.distribute.methods import Beyond
from atoll.elaborate.captures import MISSING, Captures
from atoll.elaborate.namespace import Namespace
from atoll.elaborate.ownership import check_owned
from atoll.elaborate.session import Session
from atoll.elaborate.signature import Signature, read_signature, show_signature
from atoll.errors import CopyWarning, Error, Source, fail
from atoll.errors.misuse import kind_of, shown_value
from atoll.errors.plain import all_plain, calling, of_call
from atoll.functions.from_python import takes_functions, with_functions
from atoll.looking import Looking
from atoll.progress import telling
from atoll.runtime.arguments import convert, from_python, refuse_axes, result_to_python
from atoll.runtime.library import call_path
from atoll.runtime.memory import refuse_copies
from atoll.runtime.program import Program
from atoll.surface import syntax as s
from atoll.surface.names import Liveness, binds
from atoll.surface.parse import Parser
from atoll.targets import CPU, named, refuse_functions, usual
from atoll.types.objects import AtollFunction
from atoll.types.types import Index, Scalar, gives_functions
from atoll.uncollected import uncollected

if TYPE_CHECKING:
    from atoll.check.certificate import Certificate
    from atoll.functions.program import FunctionProgram
    from atoll.plan.residuals import Residuals
    from atoll.runtime.cuda.program import DeviceProgram
    from atoll.runtime.first_version import Beginning

# Set while the command line imports a file: a wrong function is told when it is asked for, so that all of them can be.
CHECK_LATER: ContextVar[bool] = ContextVar("check_later", default=False)


_lock = threading.RLock()  # one thread compiles at a time; running needs no lock


def _after_fork() -> None:
    global _lock
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_after_fork)


@dataclass(frozen=True, slots=True)
class Options:
    """What @at.fn(...) may say about a function."""

    reassociate: bool = True
    copies: str = "any"
    plan: tuple[tuple[str, str], ...] = ()
    checkpoint: int | None = None  # of loops that do not say (at.grad(f, memory=...))
    bits: str = "processor"  # or "portable": the same on every kind of processor (docs/bits.md)
    target: str = ""  # what it is compiled for (targets.py); "": what ATOLL_TARGET says


@all_plain
class Function(Looking, Beyond, AtollFunction):
    """A function of Atoll. Call it with NumPy arrays; look into it with .type, .explain(), .show(stage), .memory()."""

    def __init__(
        self, source: Source, node: ast.FunctionDef, namespace: Namespace, options: Options, signature: Signature | None = None
    ) -> None:
        self.options = options
        self.namespace = namespace
        namespace.text = source.text
        self._text = source, node
        self._by_position_only, self._by_name_only = len(node.args.posonlyargs), len(node.args.kwonlyargs)
        self.surface: s.Function = as_deep_as_needed(Parser(source).function)(node)
        self.name = self.surface.name
        self.__name__ = self.name
        self.__qualname__ = self.name
        self.__wrapped__: Callable[..., Any] | None = None  # the Python function it was made from
        self.signature: Signature = read_signature(self.surface, namespace) if signature is None else signature
        self.__doc__ = self.surface.doc or f"{show_signature(self.name, self.signature, self.signature.result)}: a function of Atoll."
        self.returns_function = gives_functions(self.signature.result)  # then calls of it are expanded
        self._core: ir.Function | None = None
        self._session: Session | None = None
        self._beginning: Beginning | None = None
        self._programs: dict[str, Program | FunctionProgram | DeviceProgram] = {}
        self._fast: Callable[..., Any] | None = None
        self._watched: Captures | None = None  # what must not have changed when a call is made
        self._ready: Callable[..., Any] | None = None  # the same as _fast when nothing is watched: called without coming through Python
        self._used = False  # called, interpreted or compiled: from then on captured values are frozen
        self._derived: dict[Any, Function] = {}  # derivatives of this function
        self.vjp: Function | None = None  # derivatives supplied by the user
        self.jvp: Function | None = None
        self.believed: tuple[str, ...] = ()  # those that nobody checked
        self.lifts = True  # calls from Python lift over axes too many (atoll/lifted.py)
        self.recipe: tuple[Callable[..., Any], tuple[Any, ...]] | None = None  # how it was made of another function: at.grad and (f, 0)
        self.external: Any = None  # the module that has its code, when that was compiled before (functions/modules.py)
        self.made: ir.Function | None = None  # its core, when it was not made of Python text (futhark/)

    # -- stages

    @cached_property
    def liveness(self) -> Liveness:
        return Liveness(self.surface.body)

    @cached_property
    def local_names(self) -> frozenset[str]:
        """Names the body binds: as in Python, they are never those of the module."""
        return binds(self.surface.body)

    @property
    def core(self) -> ir.Function:
        """The core program: typed, explicit, checked."""
        if self._core is None:
            if self.signature.is_generic:
                fail("E0609", self.surface.span, name=self.name)
            self._session, self._core = self._elaborate()
        return self._core

    @as_deep_as_needed
    @uncollected
    def _elaborate(self) -> tuple[Session, ir.Function]:
        session = Session()
        core = session.instance(self, {}, None, self.surface.span)
        check(core, session.adopted)
        check_derivatives(core, session.adopted)
        check_owned(self)
        return session, core

    def check_early(self) -> None:
        """Type-check at the decoration; names that are defined further down are looked at when the function is used. Where all functions of a file are
        checked afterwards only those are elaborated now of which nobody knows yet whether they give functions."""
        if self.signature.is_generic or (CHECK_LATER.get() and self.signature.result is not None):
            return
        try:
            self.check()
        except Error as error:
            if error.code == "E0244":
                self.returns_function = True
            elif error.code not in ("E0105", "E0106") and not CHECK_LATER.get():
                raise

    def check(self) -> None:
        """Everything that is known to be wrong before it is called is told now."""
        if not self.signature.is_generic:
            _ = self.core
            self._check_defaults()

    def _check_defaults(self) -> None:
        for p, (_, t) in zip(self.signature.params, self.core.params, strict=True):
            if p.default is not None and isinstance(t, (Scalar, Index)):
                try:
                    convert(self.name, p.name, t, self._defaults[p.name])
                except Error:
                    fail("E0132", p.default.span, name=p.name, type=repr(t), found=shown_value(self._defaults[p.name]))

    # -- running

    def _arguments(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Any, ...]:
        """Arguments in order, keywords and defaults filled in."""
        params = self.signature.params
        most = len(params) - self._by_name_only
        if len(args) > most:
            by_position = "" if most == len(params) else " by position"
            self._misfit(f"takes {most} argument{'' if most == 1 else 's'}{by_position}, not {len(args)}")
        if len(args) == len(params) and not keywords:
            return args
        places = self._places
        given = [*args, *([MISSING] * (len(params) - len(args)))]
        for name, value in keywords.items():
            place = places.get(name, -1)
            if place < self._by_position_only:
                self._misfit(f"{name} is {'given by position only' if place >= 0 else 'not a parameter'}")
            if given[place] is not MISSING:
                self._misfit(f"{name} is given twice")
            given[place] = value
        for place, value in enumerate(given):
            if value is MISSING:
                if params[place].default is None:
                    self._misfit(f"the argument {params[place].name} is missing")
                given[place] = self._defaults[params[place].name]
        return tuple(given)

    def _misfit(self, text: str) -> NoReturn:
        """Arguments that do not fit the parameters."""
        shown = [p.name if p.default is None else f"{p.name}=..." for p in self.signature.params]
        if self._by_name_only:
            shown.insert(len(shown) - self._by_name_only, "*")
        if self._by_position_only:
            shown.insert(self._by_position_only, "/")
        fail("E0605", fn=self.name, text=text, call=f"{self.name}({', '.join(shown)})")

    @cached_property
    def _places(self) -> dict[str, int]:
        return {p.name: k for k, p in enumerate(self.signature.params)}

    @cached_property
    def _defaults(self) -> dict[str, Any]:
        """Default values as Python computed them at the `def`; a function made from text has literals."""
        found = dict(self.namespace.defaults)
        for p in self.signature.params:
            if p.default is not None and p.name not in found:
                scope: dict[str, Any] = {n: c.cell_contents for n, c in self.namespace.cells.items()}
                found[p.name] = eval(p.default.span.text(), self.namespace.globals, scope)  # noqa: S307  the user's own default
        return found

    def _freeze(self) -> None:
        """Captured values are frozen at the first use; a later change of one is an error."""
        _ = self.core
        assert self._session is not None
        changed = self._session.captures.changed()
        if changed is not None and not self._used:
            self._core = self._session = None
        elif changed is not None:
            what = "function" if isinstance(changed.value, Function) else "constant"
            fail("E0606", fn=self.name, what=what, name=changed.name)
        self._used = True

    @calling
    def interpret(self, *args: Any, **keywords: Any) -> Any:
        """The value by the reference interpreter."""
        if takes_functions(self):
            made, others = with_functions(self, args, keywords)
            return made.interpret(*others)

        self._freeze()
        core = self.core
        refuse_axes(core)
        arranged = self._arguments(args, keywords)
        other = self._lifted(arranged)
        if other is not None:
            return other.interpret(*arranged)
        given = from_python(core, arranged)
        try:
            return result_to_python(core.result, interpreter.call(core, given))
        except (MemoryError, ValueError) as error:
            if isinstance(error, Error) or not (isinstance(error, MemoryError) or "too large" in str(error) or "too big" in str(error)):
                raise
        fail("E0713", name=core.name)  # NumPy has several words for it

    def compile(self, optimise: str = "3") -> Program | FunctionProgram | DeviceProgram:
        """The native program, built or found in the cache. Recursion, unions and function values go through λANF."""
        if optimise not in ("0", "1", "2", "3"):
            fail("E0610", name="compile", text=f"optimise is '0', '1', '2' or '3', not {kind_of(optimise)}", help="leave it out for the fastest code")
        with _lock:
            self._freeze()
            if optimise not in self._programs:
                with telling(f"compiling {self.name}"):
                    begun = self._beginning if optimise == "3" else None
                    self._programs[optimise] = begun.result() if begun is not None else self._program(optimise)
            return self._programs[optimise]

    def _begin(self) -> Beginning | None:
        """What answers the first call of a program that takes long to compile (runtime/first_version.py)."""
        from atoll.runtime import first_version

        with _lock:
            self._freeze()
            if "3" in self._programs or self._beginning is not None or self.target != CPU or not first_version.wanted():
                return None
            with telling(f"compiling {self.name}"):
                made = self._program("3", first_version.begin)
            if isinstance(made, first_version.Beginning):
                self._beginning = made
                return made
            self._programs["3"] = made
            return None

    @property
    def target(self) -> str:
        """What it is compiled for: "cpu", "cuda", ..."""
        return self.options.target or usual()

    def on(self, target: str) -> Function:
        """The same function for another target: "cuda", "cuda:1" (a second GPU), "cpu"."""
        wanted = named(target)
        if wanted == self.options.target:
            return self
        key = ("on", wanted)
        if key not in self._derived:
            self._derived[key] = self._under(dataclasses.replace(self.options, target=wanted), (Function.on, (self, wanted)))
        return self._derived[key]

    def _under(self, options: Options, recipe: tuple[Callable[..., Any], tuple[Any, ...]]) -> Function:
        """The same function under other options."""
        made = Function(*self._text, self.namespace, options, self.signature)
        made.recipe = recipe
        made.__module__, made.__qualname__, made.__wrapped__, made.__doc__ = self.__module__, self.__qualname__, self.__wrapped__, self.__doc__
        made.vjp, made.jvp, made.believed, made.lifts = self.vjp, self.jvp, self.believed, self.lifts
        made.made, made.surface = self.made, self.surface
        made.check_early()
        return made

    @as_deep_as_needed
    def _program(self, optimise: str, begin: Callable[..., Any] | None = None) -> Any:
        """A program, or what `begin` makes of a program of loops."""
        if self.target != CPU:
            from atoll.runtime.cuda.program import DeviceProgram

            refuse_functions(self.core)
            return DeviceProgram(self.core, self._arguments, self.target, lifted=self._lifted)
        if needs_functions(self.core):
            from atoll.functions.program import FunctionProgram

            return FunctionProgram(self.core, self._arguments, optimise, lifted=self._lifted)

        if self.options.copies == "explicit":
            refuse_copies(self.core, self._returned)
        program = (begin or Program)(self.core, self._arguments, optimise, lifted=self._lifted)
        if os.environ.get("ATOLL_CHECK") == "certify":
            from atoll.check.compiled import certify

            certify(self.core)
        if self.recipe is None and self.made is None:  # what is derived is not the user's to change; Futhark has no at.copy, but `*`
            for text, span in program.copies:
                warnings.warn_explicit(text, CopyWarning, span.source.name, span.line)
        return program

    @calling
    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Until the call path is there, which has a quicker one of its own (runtime/native/call.c)."""
        return self._decide(*args, **keywords)

    def _lifted(self, args: tuple[Any, ...]) -> Function | None:
        """The function for arguments of other ranks, where the call lifts."""
        if not self.lifts:
            return None
        from atoll.lifted import lifted

        with _lock:
            return lifted(self, args)

    def _decide(self, *args: Any, **keywords: Any) -> Any:
        if self._fast is not None and (self._watched is None or self._watched.same()):
            return self._fast(*args, **keywords)
        return self._first_call(args, keywords)

    def _first_call(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Decide how calls are made from now on."""
        if takes_functions(self):
            made, others = with_functions(self, args, keywords)
            return made(*others)
        if os.environ.get("ATOLL_INTERPRET") == "1":
            return self.interpret(*args, **keywords)
        answered, found = self._answered(args, keywords)
        if answered:
            return found
        call = self.compile().call
        if self._by_name_only:  # the native call takes them in order
            ordered, call = call, lambda *args, **keywords: ordered(*self._arguments(args, keywords))
        assert self._session is not None
        self._watched = self._session.captures or None
        self._fast = call
        self._ready = call if self._watched is None else None
        _call_quickly()
        return call(*args, **keywords)

    @uncollected  # of what compiling leaves behind until there is an answer; the good version ends what runs long
    def _answered(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[bool, Any]:
        """The result by a first version, where there is one."""
        from atoll.runtime.first_version import Superseded

        beginning = self._begin()
        if beginning is not None:
            with contextlib.suppress(Superseded):
                return True, beginning.call(self._arguments(args, keywords))
        return False, None

    def with_options(self, options: Options) -> Function:
        """The same text under other options."""
        if not isinstance(options, Options):
            fail("E0610", name="with_options", text=f"takes options, not {kind_of(options)}", help="decorate with @at.fn(...) and the options instead")
        return self._under(options, (Function.with_options, (self, options)))

    def with_plan(self, **values: str) -> Function:
        """The same function with the plan decided for some of its values, by their names: "store" in memory, compute "once" for each
        element where they are read, or "inline" at each use. Results do not change. What cannot be done is refused."""
        made = self.with_options(dataclasses.replace(self.options, plan=tuple(sorted({**dict(self.options.plan), **values}.items()))))
        if needs_functions(made.core):
            fail("E0819", self.surface.span, fn=self.name)
        made.show("loops")
        return made

    def refresh(self) -> None:
        """Forget what was compiled, so that captured values are read anew."""
        self._core = self._session = self._fast = self._ready = self._beginning = None
        self._used = False
        self._programs.clear()
        self._derived.clear()

    # -- derivatives

    def def_vjp(self, g: Any = None, *more: Any, check: bool = True, **keywords: Any) -> Any:
        """Use g(x..., dy) as the transposed derivative: it gives one adjoint per argument. Checked against the derivative forwards, unless check=False."""
        from atoll.ad.custom import define

        return define(self, "def_vjp", g, *more, check=check, **keywords)

    def def_jvp(self, g: Any = None, *more: Any, check: bool = True, **keywords: Any) -> Any:
        """Use g(x..., dx...) as the derivative: it gives the tangent of the result. Checked against the transposed derivative, unless check=False."""
        from atoll.ad.custom import define

        return define(self, "def_jvp", g, *more, check=check, **keywords)

    def assumptions(self) -> str:
        """What is taken on trust about this function, in words: derivatives of one's own that were not checked, and what its certificate leaves open."""
        from atoll.ad.custom import believed
        from atoll.check.compiled import assumptions

        portable = ("C compilers and GPUs round sums, products, quotients, square roots and fma as IEEE 754 says, one by one (bits=\"portable\")",) if self.options.bits == "portable" else ()
        return "\n".join(f"- {line}" for line in (*believed(self), *portable, *assumptions(self)))

    @as_deep_as_needed
    def certificate(self) -> Certificate:
        """How the loops that are compiled were made of the function's: `.save(path)`; `atoll prove path` checks it. What is not proved is named in it."""
        from atoll.check.compiled import certificate

        with _lock:
            self._freeze()
            return certificate(self)

    @as_deep_as_needed
    def residuals(self) -> Residuals:
        """What the reverse sweep of a derivative keeps of the forward sweep: arrays and their bytes as polynomials of the sizes."""
        from atoll.plan.residuals import residuals

        return residuals(self.core)

    @property
    def __annotations__(self) -> dict[str, Any]:  # type: ignore[override]
        """Atoll types by parameter, and of the result where it is declared."""
        found: dict[str, Any] = {p.name: p.type for p in self.signature.params}
        return found if self.signature.result is None else {**found, "return": self.signature.result}

    @property
    def __signature__(self) -> inspect.Signature:
        """What inspect.signature gives: names, Atoll types, defaults."""
        kinds = {"position": inspect.Parameter.POSITIONAL_ONLY, "name": inspect.Parameter.KEYWORD_ONLY}
        empty = inspect.Parameter.empty
        params = [
            inspect.Parameter(p.name, kinds.get(p.given, inspect.Parameter.POSITIONAL_OR_KEYWORD), default=empty if p.default is None else self._defaults[p.name], annotation=p.type)
            for p in self.signature.params
        ]
        return inspect.Signature(params, return_annotation=empty if self.signature.result is None else self.signature.result)

    def _repr_html_(self) -> str:
        from atoll.pages import function

        return function(self)

    def __reduce__(self) -> Any:
        """Pickled by value (atoll/pickled.py); what was made of another function by how that was done."""
        if self.recipe is not None:
            return self.recipe
        from atoll.pickled import taken_apart

        return taken_apart(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        from atoll.pickled import put_together

        put_together(self, state)

    def __copy__(self) -> Function:
        return self

    def __deepcopy__(self, memo: Any) -> Function:
        return self

    def __repr__(self) -> str:
        return f"<atoll function {show_signature(self.name, self.signature, self.signature.result)}>"


@functools.cache
def _call_quickly() -> None:
    """Calls go through C from now on, where that can be compiled."""
    module = call_path()
    if module is not None:
        setattr(Function, "__call__", module.caller(Function, of_call))  # noqa: B010  a method is not assigned in words
