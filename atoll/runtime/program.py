"""A compiled program: built or found in the cache, loaded, and called."""

from __future__ import annotations

import ctypes
import functools
import math
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from atoll.ainf.ir import Site
from atoll.backends.c.jit import generate
from atoll.core import ir
from atoll.core import values as v
from atoll.core.binding import bind_call
from atoll.core.fingerprint import fingerprint
from atoll.core.interpret import format_value
from atoll.errors import NOWHERE, Span, fail, make
from atoll.errors.plain import say
from atoll.loops import ir as lp
from atoll.loops.choices import Choices
from atoll.lower.make import chosen, compiled_loops
from atoll.runtime.arguments import Donated, from_python, quick_leaves, refuse_axes, to_python
from atoll.runtime.cache import cache
from atoll.runtime.identity import build_key
from atoll.runtime.library import attach, call_path, expect_products, load
from atoll.runtime.memory import donations, repeated
from atoll.runtime.plain_call import PlainCall
from atoll.runtime.toolchain import compile_files
from atoll.sizes.describe import condition, requirement
from atoll.types.types import Index, Record, Tuple, Type, dtype_of, flatten, shape_of
from atoll.uncollected import uncollected

if TYPE_CHECKING:
    from atoll.backends.c.jit import Generated


Lifted = Callable[[tuple[Any, ...]], Callable[..., Any] | None]


def not_lifted(args: tuple[Any, ...]) -> None:
    """For programs that are called with their own ranks only."""
"""What to call for arguments of other ranks, if anything (atoll/lifted.py)."""


class Program:
    """A core function as native code."""

    donations: dict[int, int] = {}  # an input to the result that may live in its memory, when the caller gives it away
    look: Callable[[], None] | None = None  # called now and then while it runs, which stops when this raises

    def __init__(
        self,
        fn: ir.Function,
        arrange: Callable[[tuple[Any, ...], dict[str, Any]], tuple[Any, ...]],
        optimise: str = "3",
        choices: Choices | None = None,
        lifted: Lifted = not_lifted,
        prepared: Prepared | None = None,
        known: tuple[str, list[Span]] | None = None,
    ) -> None:
        refuse_axes(fn)
        self.fn = fn
        self.arrange = arrange
        self.lifted = lifted
        self.choices = choices if choices is not None else chosen(fn)
        self.key, spans = known or identity(fn, self.choices, optimise)

        def build(folder: Path) -> dict[str, Any]:
            return compiled(prepared or prepare(fn, spans, self.choices), folder, optimise)

        library, path, meta = cache.use(self.key, build, load)
        owned = {k for k, mine in enumerate(own for (_, p), own in zip(fn.params, fn.owned, strict=True) for _ in flatten(p)) if mine}
        self.donations = {k: j for k, j in meta["donations"] if k in owned}
        self._open(library, path, meta, spans)

    def _open(self, library: ctypes.CDLL, path: Path, meta: dict[str, Any], spans: list[Span]) -> None:
        """Use what was built, and make the call."""
        self.library, self.path = library, path
        self.sites = [site_from_json(s, spans) for s in meta["sites"]]
        self.copies = [(text, spans[k]) for text, k in meta.get("copies", ()) if k >= 0]  # that loops make again and again
        self.values = max((len(kinds) for _, kinds in self.sites), default=0)  # that any check shows
        self.prints: list[list[Any]] = meta["prints"]
        attach(self.library)
        self.leaf_types = [shape_of(t)[1] for _, p in self.fn.params for _, t in flatten(p)]
        self.out_types = [t for _, t in flatten(self.fn.result)]
        self.call = self._make_call()

    # -- calling

    def _make_call(self) -> Callable[..., Any]:
        params = tuple(_leaf(t) for _, p in self.fn.params for _, t in flatten(p))
        results = tuple(_leaf(t) for t in self.out_types)
        plain = all(not isinstance(shape_of(t)[1], (Tuple, Record)) for _, t in self.fn.params)
        result = self.fn.result
        single = not isinstance(shape_of(result)[1], (Tuple, Record))
        flat = single or (isinstance(result, Tuple) and all(not isinstance(shape_of(t)[1], (Tuple, Record)) for t in result.items))
        module = call_path()
        if module is not None:
            self.entry = module.make(
                _address(self.library.atoll_prepare),
                _address(self.library.atoll_entry),
                params,
                results,
                single,
                len(self.fn.sizes),
                self.values,
                self._slow if plain else self._never,
                self._fail,
                self._show,
                self.look,
            )
            self.run_leaves: Callable[..., Any] = functools.partial(module.run_leaves, self.entry)
            self.try_leaves: Callable[..., Any] = functools.partial(module.try_leaves, self.entry)
            if plain and flat:
                return self.entry  # type: ignore[no-any-return]
        else:
            self.run_leaves = PlainCall(self, params, results, single)
            self.try_leaves = lambda leaves, *donated: NotImplemented
        return self._slow

    def _slow(self, *args: Any, **keywords: Any) -> Any:
        """Arguments of any kind: converted, checked, with errors in words."""
        given = self.arrange(args, keywords)
        found = self._quick(given)
        if found is NotImplemented:
            other = self.lifted(given)
            if other is not None:
                return other(*given)
            found = self._converted(given)
        return to_python(self.fn.result, self._structure(found))

    def _never(self, *args: Any, **keywords: Any) -> Any:
        raise AssertionError("the fast path is not used for tuples")

    def _quick(self, given: tuple[Any, ...]) -> Any:
        """The leaves of the result when only structure and layout are out of the ordinary, else NotImplemented."""
        leaves = quick_leaves(self.fn, given)
        return NotImplemented if leaves is None else self.try_leaves(leaves, *self._given_away(given, leaves))

    def _converted(self, given: tuple[Any, ...]) -> Any:
        """The leaves of the result, whatever the arguments are."""
        try:
            values = tuple(_apart(x) if has_index(t) else x for (_, t), x in zip(self.fn.params, from_python(self.fn, given), strict=True))
        except MemoryError:
            fail("E0713", name=self.fn.name)
        sizes = bind_call(self.fn, values)
        env = {**sizes, **{sym: int(x) for (sym, t), x in zip(self.fn.params, values, strict=True) if np.ndim(_first(x)) == 0 and _is_int(x)}}
        for need in self.fn.requires:
            if need.poly.evaluate(lambda atom: env[atom]) < 0:  # type: ignore[index]
                text = requirement(need.poly, lambda atom: env[atom])  # type: ignore[index]
                fail("E0709", name=self.fn.name, what=need.text, line=need.span.line, need=text)
        try:
            leaves = tuple(_readable(x) for value in values for x in v.leaves(value))
        except MemoryError:
            fail("E0713", name=self.fn.name)
        return self.run_leaves(leaves)

    def _given_away(self, args: tuple[Any, ...], leaves: tuple[Any, ...]) -> tuple[tuple[int, int], ...]:
        """(input, result) for donated arrays whose memory the result takes over: writable, and of no other argument."""
        if not self.donations or len(args) != len(leaves):
            return ()
        found = []
        for k, j in self.donations.items():
            x = leaves[k]
            if isinstance(args[k], Donated) and isinstance(x, np.ndarray) and x.flags.writeable:
                if not any(np.may_share_memory(x, y) for i, y in enumerate(leaves) if i != k and isinstance(y, np.ndarray)):
                    found.append((k, j))
        return tuple(found)

    def _structure(self, flat: Any) -> Any:
        """Leaves as a nest of tuples."""
        return _nested(self.fn.result, iter([flat] if len(self.out_types) == 1 and not isinstance(flat, tuple) else flat))

    # -- what programs tell the host

    def _fail(self, status: int, values: list[tuple[int, float]]) -> None:
        if status == -1:
            fail("E0713", name=self.fn.name)
        if status == -2:
            raise KeyboardInterrupt
        site, kinds = self.sites[status - 1]
        raise_site(site, [float(d) if kind == "d" else i for kind, (i, d) in zip(kinds, values, strict=False)])

    def _show(self, number: int, items: list[tuple[Any, ...]]) -> None:
        given = iter(items)
        text = ""
        for part in self.prints[number]:
            if isinstance(part, str):
                text += part
                continue
            dtypes, spec, parts = part
            values = iter([_shown(np.dtype(name), next(given)) for name in dtypes])
            text += format_value(_put_together(parts, values), spec)
        say(text)


def _nested(t: Type, leaves: Iterator[Any]) -> Any:
    """Leaves as a value of a type. No closure: one that calls itself would keep the arrays until the next collection of garbage."""
    _, elem = shape_of(t)
    if isinstance(elem, (Tuple, Record)):
        return tuple(_nested(item, leaves) for item in elem.items)
    return next(leaves)


def raise_site(site: Site, args: list[Any]) -> None:
    """Raise the error of a site with the values it shows."""
    values = dict(site.values)
    names = values.pop("args", ())
    if site.code == "E0709":
        known = ", ".join(f"{name} is {int(x)}" for name, x in zip(values["names"], args, strict=False))
        fail("E0709", name=site.where, what=values["what"], line=site.span.line, need=f"{values['need']}, but {known.replace(', ', ' and ')}")
    template = values.pop("template", ())
    if template:
        text = ""
        for part in template:
            if isinstance(part, str):
                text += part
            else:
                position, spec, dtype = part
                text += format_value(np.dtype(dtype).type(args[position]), spec)
        values["text"] = text
    for name, arg in zip(names, args, strict=False):
        values[name] = repr(arg) if isinstance(arg, float) else int(arg)
    raise make(site.code, site.span, where=site.where, **values) from None


def _shown(dtype: Any, item: tuple[Any, ...]) -> Any:
    if len(item) == 2:
        address, dims = item
        count = math.prod(dims)
        if count == 0:
            return np.zeros(dims, dtype)
        memory = (ctypes.c_char * (count * dtype.itemsize)).from_address(address)
        return np.frombuffer(bytes(memory), dtype).reshape(dims)
    kind, integer, real, imaginary = item
    if kind == 2:
        return dtype.type(complex(real, imaginary))
    return dtype.type(real if dtype.kind == "f" else integer)


def _first(x: Any) -> Any:
    return v.leaves(x)[0] if isinstance(x, tuple) and x else x


def _is_int(x: Any) -> bool:
    return isinstance(x, np.integer)


def _readable(x: Any) -> Any:
    """An array compiled code can read; others are copied, which docs/reference.md says."""
    if isinstance(x, np.ndarray) and x.ndim > 0:
        if not (x.flags.c_contiguous and x.flags.aligned):
            x = np.array(x, order="C", copy=True)
        if x.dtype == np.bool_:  # a view of other data may hold other bytes than 0 and 1
            x = x.view(np.uint8) != 0
    return x


def has_index(t: Type) -> bool:
    """A parameter that is declared to lie in range."""
    return any(isinstance(shape_of(leaf)[1], Index) for _, leaf in flatten(t))


def _apart(x: Any) -> Any:
    """Copies that no other thread can change between the look at them and their use."""
    if isinstance(x, tuple):
        return tuple(map(_apart, x))
    return np.array(x) if isinstance(x, np.ndarray) else x


def _leaf(t: Type) -> tuple[int, int]:
    sizes, elem = shape_of(t)
    return dtype_of(elem).numpy.num, len(sizes) if sizes else -1


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def identity(fn: ir.Function, choices: Choices, optimise: str) -> tuple[str, list[Span]]:
    """The key of a program, and the places its messages speak of."""
    from atoll.loops.optimise import passes_wanted

    digest, spans = fingerprint(fn)
    digest += "".join(f" {name}={value}" for name, value in choices.changed().items())
    digest += f" passes={most}" if (most := passes_wanted()) is not None else ""
    return build_key(digest, optimise=optimise, extra=_extra()), spans


def _extra() -> list[str]:
    return os.environ.get("ATOLL_CFLAGS", "").split()


@dataclass(frozen=True, slots=True)
class Prepared:
    """A program before the C compiler: its text, and what must be remembered of it."""

    generated: Generated
    meta: dict[str, Any]


def compiled(prepared: Prepared, folder: Path, optimise: str, files: list[str] | None = None, levels: list[str] | None = None) -> dict[str, Any]:
    """Compile into a folder; returns what must be remembered. `files`: the program in other files, each optimised as far as `levels` says."""
    files = files or prepared.generated.files
    sources = [folder / ("program.c" if k == 0 else f"part{k}.c") for k in range(len(files))]
    for source, text in zip(sources, files, strict=True):
        source.write_text(text)
    expect_products("".join(files))
    compile_files(sources, folder / "program.so", optimise, _extra(), levels)
    if levels is None:  # what stays is the program in one file
        sources[0].write_text(prepared.generated.text)
    return prepared.meta


@uncollected
def prepare(fn: ir.Function, spans: list[Span], choices: Choices) -> Prepared:
    """Everything before the C compiler."""
    loops = compiled_loops(fn, choices)
    generated = generate(fn, loops)
    number = {id(span): k for k, span in reversed(list(enumerate(spans)))}
    sites = [site_to_json(s, kinds, number) for s, kinds in zip(generated.sites, generated.kinds, strict=True)]
    copies = [[text, number.get(id(span), -1)] for text, span in repeated(loops)]
    prints = [_print_to_json(p) for p in generated.prints]
    return Prepared(generated, {"kind": "program", "name": fn.name, "donations": donations(loops), "sites": sites, "copies": copies, "prints": prints})


def site_to_json(site: Site, kinds: str, number: dict[int, int]) -> dict[str, Any]:
    values = dict(site.values)
    if "poly" in values:
        values["need"] = condition(values.pop("poly"))
    if "template" in values:
        values["template"] = [p if isinstance(p, str) else [p[0], p[1], p[2].dtype.numpy_name] for p in values["template"]]
    return {"code": site.code, "span": number.get(id(site.span), -1), "where": site.where, "values": values, "kinds": kinds}


def site_from_json(data: dict[str, Any], spans: list[Span]) -> tuple[Site, str]:
    span = spans[data["span"]] if data["span"] >= 0 else NOWHERE
    return Site(data["code"], span, data["values"], data["where"]), data["kinds"]


def _print_to_json(p: lp.Print) -> list[Any]:
    shown: list[Any] = []
    for part in p.parts:
        if isinstance(part, str):
            shown.append(part)
        else:
            of, items, spec = part
            shown.append([[x.dtype.numpy_name for x in items], spec, _parts_of(of)])
    return shown


def _parts_of(t: Type) -> Any:
    """How a value that is printed is nested: a list for a tuple, 0 for what is none."""
    _, elem = shape_of(t)
    return [_parts_of(item) for item in elem.items] if isinstance(elem, (Tuple, Record)) else 0


def _put_together(parts: Any, leaves: Iterator[Any]) -> Any:
    return tuple(_put_together(part, leaves) for part in parts) if isinstance(parts, list) else next(leaves)
