"""MADL from Python.

    nd = at.madl("ctl.madl")            nd.rotate_right(x)              an operator is called with NumPy arrays
    nd.iota[8]()                        nd.iota(n=8)                    sizes that no argument has
    fib = nd.fib()                      fib.step(), fib.reset()         an operator with state makes instances
    counter = at.node(step, 0)          counter.step(x)                 the same from an Atoll function (state, input) -> (state, output)

Calls are pure: an operator that works in place is given a copy of its argument, unless it is at.donate(x)'d. ATOLL_INTERPRET=1 runs the oracle instead of native code.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from atoll.errors import Error, fail
from atoll.errors.misuse import kind_of
from atoll.errors.plain import all_plain, plain
from atoll.madl import graph as g
from atoll.madl.as_function import as_function
from atoll.madl.binding import Arguments, bind, type_arguments, whole
from atoll.madl.c_file import INDEX_BITS, CFile, Options
from atoll.madl.compiled import Compiled
from atoll.madl.contracts import contracts
from atoll.madl.instance import Instance, _interpreting, _single, _undonated
from atoll.madl.instances import Defined
from atoll.madl.library import Library
from atoll.madl.native import NativeFile, NativeOperator
from atoll.madl.oracle import Oracle
from atoll.madl.plan import Plan, signature
from atoll.madl.recursion import measured, size_names
from atoll.madl.represented import python_enum
from atoll.madl.typing import show_type
from atoll.madl.values import is_represented, nest, shown
from atoll.types.types import Type

if TYPE_CHECKING:
    from atoll.check.certificate import Certificate

_PLANS = 64  # shapes of arguments an operator remembers


@plain
def madl(
    path: str | os.PathLike[str] | None = None, *, source: str | None = None, separate: bool = False, problems: list[Error] | None = None
) -> Module:
    """The operators of a .madl file, or of a text given with source=.

    >>> nd = madl(source="let twice (x of [_]f64) returns (y): forward ([a] = x) returns (y = [b]): b = 2.0 * a end")
    >>> nd.twice.type
    'size n. [n]f64 -> [n]f64'
    """
    if source is not None and not isinstance(source, str):
        fail("E0960", name="at.madl", text=f"source= takes the text of a program, not {kind_of(source)}")
    if source is not None:
        return Module(Library(source, "<madl>", None, separate, problems=problems), "madl")
    if not isinstance(path, (str, os.PathLike)):
        fail("E0960", name="at.madl", text="takes the path of a .madl file, or source=text")
    file = Path(path)
    if not file.is_file():
        there = sorted(p.name for p in file.parent.glob("*.madl")) if file.parent.is_dir() else []
        help_ = f"{file.parent.resolve()} has {', '.join(there[:5])}" if there else f"paths are taken from {Path.cwd()}"
        fail("E0952", file=str(file), why="there is no such file", help=help_)
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (UnicodeDecodeError, OSError) as problem:
        fail("E0952", file=str(file), why=f"it cannot be read: {problem}", help="programs are texts in UTF-8")
    return Module(Library(text, str(file), file.parent, separate, problems=problems), file.stem)


@all_plain
class Module:
    """The operators of a file, as attributes."""

    __atoll_module__ = True  # inside @at.fn: nd.f(x)

    def __init__(self, library: Library, name: str) -> None:
        self._library, self._name = library, name
        self.__name__ = f"{name}.madl"
        self._native: dict[Any, NativeFile] = {}
        self._made: dict[str, Operator] = {}

    def __getattr__(self, name: str) -> Operator:
        if name.startswith("__"):
            raise AttributeError(name)
        if name not in self._made:
            item = self._library.items.get(name)
            if not isinstance(item, Defined):
                known = ", ".join(self)
                raise AttributeError(f"{self._name}.madl has no operator {name}; it has {known}")
            self._made[name] = Operator(self, item)
        return self._made[name]

    @property
    def enums(self) -> dict[str, Any]:
        """The enumerations of the file, as Python's."""
        return {name: python_enum(t) for name, t in self._library.enums.items()}

    def __iter__(self) -> Iterator[str]:
        return (n for n, item in self._library.items.items() if isinstance(item, Defined))

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]

    def __repr__(self) -> str:
        return f"<madl module {self._name}: {', '.join(self)}>"

    def computing(self) -> list[Compiled]:
        """The operators that have code: they compute, and their types are known."""
        return [c for c in self._library.operators.values() if c.kind in ("func", "node") and not c.graph.generics]

    def left_out(self) -> dict[str, str]:
        """The operators that have no C by themselves, and why."""
        found = {}
        for name in self:
            operator = getattr(self, name)
            if operator.recursive:
                sizes = ", ".join(f"{n}=8" for n in size_names(operator._item.operator))
                found[name] = f"it is made for each size it is used at: build {name} with {sizes}"
            elif operator.kind in ("patt", "view"):
                found[name] = "it only rearranges, so it has no code of its own"
            elif operator.compiled.graph.generics:
                found[name] = "its types are not known: give its arguments types with `of`"
        return found

    def c_file(self, only: Sequence[str] | None = None, **options: Any) -> CFile:
        """The C of the module, or of some operators and what they call; options are static, wrap, index and prefix (docs/madl.md)."""
        chosen = self.computing()
        if only is not None:
            if not isinstance(only, (list, tuple, set, frozenset)):
                fail("E0960", name="only", text=f"takes the names of operators, as a list: only=[{', '.join(map(repr, self))}]")
            unknown = [n for n in only if n not in list(self)]
            if unknown:
                fail("E0960", name="only", text=f"names {unknown[0]}, but {self._name}.madl has {', '.join(self)}")
            lost = {n: why for n, why in self.left_out().items() if n in only}
            for n, why in lost.items():
                fail("E0965", getattr(self, n)._item.operator.span, name=n, text=f"there is no C for it: {why}", help="name operators that use it, or leave it out of only=")
            chosen = [c for c in chosen if c.operator.name in only]
        return CFile(self._name, chosen, _options(options), self._library.program.span.source.name)

    def export_c(self, folder: str | os.PathLike[str], overwrite: bool = False, only: Sequence[str] | None = None, **options: Any) -> list[Path]:
        """Write the header, the source and an example caller."""
        return self.c_file(only, **options).write(folder, overwrite)

    def _operator(self, compiled: Compiled, types: tuple[Type, ...]) -> NativeOperator:
        shared = compiled in self.computing()
        key: Any = "all" if shared else (compiled, types)
        if key not in self._native:
            wanted = [(c, ()) for c in self.computing()] if shared else [(compiled, types)]
            self._native[key] = NativeFile(list(wanted))
        return self._native[key].operator(compiled, types)


@all_plain
class Operator:
    """An operator. Call it with arrays; if it has state, call it to make an instance."""

    def __init__(self, module: Module, item: Defined, sizes: tuple[int, ...] = ()) -> None:
        self._module, self._item, self._sizes = module, item, sizes
        self._natives: dict[tuple[Type, ...], NativeOperator] = {}
        self._plans: dict[Any, Plan] = {}
        self.__name__ = self.name = item.operator.name

    def __getitem__(self, sizes: int | tuple[int, ...]) -> Operator:
        """f[4, 5] is f<<4, 5>>."""
        given = sizes if isinstance(sizes, tuple) else (sizes,)
        wanted = self._item.operator.interface.sizes or ()
        if len(given) > len(wanted):
            fail("E0961", name=self.name, text=f"has {len(wanted)} sizes in <<..>>, {len(given)} are given")
        return Operator(self._module, self._item, tuple(whole(self.name, n) for n in given))

    @property
    def compiled(self) -> Compiled:
        library = self._module._library
        if self._item.operator.recursive:
            names = size_names(self._item.operator)
            if len(self._sizes) < len(names):
                missing = names[len(self._sizes)]
                fail("E0961", name=self.name, text=f"the size {missing} is not known", help=f"give it: {self.name}[..] or {missing}=..")
            return library.instance(self._item, self._sizes, self._item.operator.span)
        return library.operators[self.name]

    def at(self, sizes: dict[str, int], args: tuple[Any, ...] = ()) -> Operator:
        """A recursive operator at the sizes given, or measured on arguments; others are their own at any size."""
        if not self.recursive:
            return self
        found = {**measured(self._item.operator, args), **sizes}
        return self[tuple(found[n] for n in size_names(self._item.operator) if n in found)]

    # -- looking inside

    @property
    def type(self) -> str:
        return self.compiled.scheme.show()

    @property
    def places(self) -> str:
        """Which memory each argument and result is in."""
        return self.compiled.scheme.show_places()

    @property
    def kind(self) -> str:
        return self.compiled.kind

    @property
    def stateful(self) -> bool:
        return self.compiled.scheme.stateful

    @property
    def recursive(self) -> bool:
        """Made for each size it is used at, so it has a type only with sizes: f[8].type."""
        return self._item.operator.recursive and len(self._sizes) < len(size_names(self._item.operator))

    @property
    def source(self) -> str:
        """Its text in the file."""
        return self._item.operator.span.text()

    def __repr__(self) -> str:
        return f"<madl operator {self.name}{'' if self.recursive else f' : {self.type}'}>"

    def overwritten(self) -> list[str]:
        """The arguments whose memory the operator changes although no result lies in it (`init v` makes v the state)."""
        op = self.compiled
        results = {op.layout.place[w].chunk for w in op.graph.results}
        written = {c.name for c in op.scheme.chunks if c.written}
        found = [(w.shown, op.layout.place[w].chunk) for w in op.graph.arguments]
        return [name for name, chunk in found if chunk.name in written and chunk not in results]

    def memory(self) -> list[dict[str, str]]:
        """Every memory of the operator: its name, type, and whose it is."""
        op = self.compiled
        names = op.graph.size_names
        return [
            {"name": c.name, "type": show_type(c.type, names), "role": c.role}
            for c in op.layout.chunks
            if c.role in ("memory", "state", "workspace", "local")
        ]

    def __atoll_function__(self) -> Any:
        """What a call of it means inside @at.fn."""
        return self.function

    @functools.cached_property
    def function(self) -> Any:
        """The operator as an Atoll function, for operators without state: it can be differentiated, and it is what a call inside @at.fn means."""
        return as_function(self._module._library, self.compiled)

    def contracts(self) -> list[dict[str, str]]:
        """What it assumes and guarantees, and what is proved of it; the rest is checked in simulation."""
        return [{"kind": c.kind, "text": c.text, "status": c.status} for c in contracts(self.compiled)]

    def copies(self) -> list[str]:
        """Every copy the program makes, as it was written."""
        return [node.target.text for node in g.scope_nodes(self.compiled.graph.body) if isinstance(node, g.Copy)]

    def c(self, **options: Any) -> str:
        """The C of this operator and what it calls."""
        return CFile(self.name, [self.compiled], _options(options)).source()

    def certificate(self) -> Certificate:
        """How it was compiled, as `f.certificate()` says it of functions: nothing rewrites an operator's loops, and nobody validates how they are made."""
        from atoll.check.compiled import without_rewrites

        return without_rewrites(self.name, self.source, self.c())

    def assumptions(self) -> str:
        """What is taken on trust about this operator, in words."""
        from atoll.check.compiled import left_open

        return "\n".join(f"- {line}" for line in left_open(self.certificate().data))

    def export_c(self, folder: str | os.PathLike[str], overwrite: bool = False, **options: Any) -> list[Path]:
        """Write the header, the source and an example caller of this operator."""
        return CFile(self.name, [self.compiled], _options(options)).write(folder, overwrite)

    # -- running

    def __call__(self, *args: Any, **sizes: int) -> Any:
        if self.recursive:
            found = self.at(sizes, args)
            return found(*args) if not found.recursive else found.compiled
        if self.stateful:
            if args:
                fail("E0964", name=self.name, which="a", text="call it without arguments to make an instance, then .step(..)")
            return self.instance(sizes)
        args, donated = _undonated(args)
        if _interpreting():
            return self.interpret(*args, **sizes)
        plan, leaves = self._plan(args, sizes)
        return _single(self._shown(plan.run(leaves, {}, donated)))

    def instance(self, sizes: dict[str, int] | None = None, interpret: bool | None = None) -> Instance:
        """A state of its own; with interpret=True it runs under the oracle."""
        return Instance(self, sizes or {}, _interpreting() if interpret is None else interpret)

    def interpret(self, *args: Any, **sizes: int) -> Any:
        """The value by the oracle, which checks every read."""
        args, _ = _undonated(args)
        given, types = self._bind(args, sizes)
        oracle = Oracle(self.compiled, given.sizes, dict(zip(self.compiled.graph.generics, types, strict=True)))
        return _single(self._shown(oracle.run([self._values(given)])[0]))

    def _shown(self, results: list[Any]) -> list[Any]:
        """Results as Python has them: members of enumerations by name."""
        wires = self.compiled.graph.results
        return [shown(w.type, r) for w, r in zip(wires, results, strict=True)] if any(is_represented(w.type) for w in wires) else results

    def _values(self, given: Arguments) -> tuple[Any, ...]:
        """Arguments as the oracle takes them."""
        return tuple(nest(w.type, parts, ()) for w, parts in zip(self.compiled.graph.arguments, given.leaves, strict=True))

    def _bind(self, args: tuple[Any, ...], sizes: dict[str, int]) -> tuple[Arguments, tuple[Type, ...]]:
        op = self.compiled
        types = type_arguments(op, args) if op.graph.generics else ()
        positional = {} if self._item.operator.recursive else dict(enumerate(self._sizes))
        return bind(op, args, {**positional, **sizes}, types), types

    def _plan(self, args: tuple[Any, ...], sizes: dict[str, int]) -> tuple[Plan, list[Any]]:
        """How to make this call, and the arrays of its arguments. Errors in the arguments are found by binding them."""
        shapes = None if any(is_represented(w.type) for w in self.compiled.graph.arguments) else signature(args)
        key = (shapes, tuple(sizes.items()))
        if shapes is not None and key in self._plans:
            plan = self._plans[key]
            leaves = plan.leaves(args)
            if leaves is not None:
                return plan, leaves
        given, types = self._bind(args, sizes)
        plan = Plan(self._native(types), given.sizes)
        if shapes is not None:
            if len(self._plans) >= _PLANS:
                self._plans.clear()
            self._plans[key] = plan
        return plan, [array for parts in given.leaves for array in parts.values()]

    def _native(self, types: tuple[Type, ...]) -> NativeOperator:
        if types not in self._natives:
            self._natives[types] = self._module._operator(self.compiled, types)
        return self._natives[types]


def _options(given: dict[str, Any]) -> Options:
    """The options of exported C, checked."""
    kinds: dict[str, type] = {"static": bool, "wrap": bool, "index": str, "prefix": str, "restrict": bool, "origins": str}
    for word, value in given.items():
        if word not in kinds:
            fail("E0960", name=word, text=f"is no option of exported C; there are {', '.join(kinds)}")
        if not isinstance(value, kinds[word]):
            fail("E0960", name=word, text=f"takes {'a text' if kinds[word] is str else 'True or False'}, not {kind_of(value)}")
    if given.get("origins", "none") not in ("none", "comments", "lines"):
        fail("E0960", name="origins", text=f"takes 'none', 'comments' or 'lines', not {given['origins']!r}")
    if given.get("index", "int64_t") not in INDEX_BITS:
        text = f"takes the type of sizes and counters, one of {', '.join(INDEX_BITS)}, not {given['index']!r}"
        fail("E0960", name="index", text=text, help="they are signed, because loops count down too")
    if not re.fullmatch(r"([A-Za-z][A-Za-z0-9_]*)?", given.get("prefix", "")):
        fail("E0960", name="prefix", text=f"takes what names of C begin with, such as 'ctl_', not {given['prefix']!r}")
    return Options(**given)
