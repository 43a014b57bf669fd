"""`import "filters.py": fir`: Atoll functions inside MADL.

The functions of the file are what its names are after Python has run it. A function may be used when it needs nothing that MADL does not
have: types are known, its sizes are those of its arguments, it makes no checks while it runs, and the memory it needs for itself has a size
known before it runs (it becomes a workspace).
"""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from typing import Any

from atoll.backends.c.emit import C99, Emitter
from atoll.backends.c.prelude import sum_bytes
from atoll.errors import Error, Span, fail
from atoll.function import Function
from atoll.loops import ir as lp
from atoll.lower.make import make_loops
from atoll.madl import syntax as s
from atoll.madl.helps import near
from atoll.madl.scheme import ChunkInfo, Port, Scheme
from atoll.madl.typing import F64
from atoll.sizes import Poly, Sym, poly
from atoll.types.types import Array, Index, Own, Record, Scalar, Tuple, Type
from atoll.views.functor import ONE

_ALIGN = 64
_loops: dict[Any, lp.Function] = {}


def load(item: s.Import, folder: Path | None) -> dict[str, Any]:
    """The named functions of a Python file."""
    path = (folder or Path.cwd()) / item.file
    if not path.exists():
        fail("E0952", item.span, file=item.file, why="there is no such file", help=f"paths are taken from the folder of the program, here {(folder or Path.cwd()).resolve()}")
    name = f"_atoll_madl_{path.stem}_{abs(hash((str(path.resolve()), path.stat().st_mtime_ns)))}"
    module = sys.modules.get(name)
    if module is None:
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        sys.path.insert(0, str(path.resolve().parent))
        try:
            spec.loader.exec_module(module)
        except Exception as error:  # the file's own problem, told as such
            del sys.modules[name]
            if isinstance(error, Error):
                raise
            fail("E0952", item.span, file=item.file, why=f"it does not run: {type(error).__name__}: {error}", help=f"mend it until `python {item.file}` runs")
        finally:
            sys.path.pop(0)
    found = {}
    for wanted in item.names:
        value = getattr(module, wanted, None)
        if not isinstance(value, Function):
            why = f"it has no {wanted}" if value is None else f"{wanted} is not an Atoll function (@at.fn)"
            there = [n for n, v in vars(module).items() if isinstance(v, Function)]
            meant = near(wanted, there)
            help_ = "decorate it with @at.fn" if value is not None else f"did you mean {meant}?" if meant else f"it has {', '.join(there) or 'no Atoll functions; write one with @at.fn'}"
            fail("E0952", item.span, file=item.file, why=why, help=help_)
        found[wanted] = value
    return found


def scheme_of(name: str, function: Any, span: Span) -> Scheme:
    """What a call of the function reads and writes."""
    if function.signature.is_generic:
        fail("E0953", span, name=name, why="it is generic")
    core = function.core
    known = set(core.sizes)
    params = [(sym.name, _plain(t)) for sym, t in core.params]
    results = [_plain(t) for t in core.result.items] if isinstance(core.result, Tuple) else [_plain(core.result)]
    for what, t in [*params, *(("the result", t) for t in results)]:
        why = _why_not(t, known)
        if why is not None:
            fail("E0953", span, name=name, why=f"{what} {why}")
    loops = loops_of(function)
    _check_loops(name, loops, known, span)
    chunks = [ChunkInfo(n, t, False, "memory") for n, t in params]
    taken = {n for n, _ in params}
    outputs = []
    for k, t in enumerate(results):
        label = "result" if len(results) == 1 else f"result_{k + 1}"
        while label in taken:
            label += "_"
        chunks.append(ChunkInfo(label, t, True, "memory"))
        outputs.append(Port(len(chunks) - 1, ONE, t, label))
    work = workspace(loops)
    if work.terms:
        chunks.append(ChunkInfo("workspace", Array(F64, work // 8), True, "workspace"))
    inputs = tuple(Port(k, ONE, t, n) for k, (n, t) in enumerate(params))
    needs = tuple((r.poly, r.text, span) for r in core.requires)
    return Scheme(name, core.sizes, (), (), tuple(chunks), inputs, tuple(outputs), needs, False, external=function)


def loops_of(function: Any) -> lp.Function:
    if function not in _loops:
        _loops[function] = make_loops(function.core)
    return _loops[function]


def _plain(t: Type) -> Type:
    return t.inner if isinstance(t, Own) else t


def _why_not(t: Type, known: set[Sym]) -> str | None:
    while isinstance(t, Array):
        if any(leaf not in known for leaf in t.size.leaves()):
            return "has a size that is not a size of the arguments"
        t = t.elem
    if isinstance(t, Tuple):
        return next((w for item in t.items if (w := _why_not(item, known)) is not None), None)
    if isinstance(t, Index):
        return "is an index, which MADL stores as int"
    if isinstance(t, Record):
        return "is a record of Python"
    if not isinstance(t, Scalar) or t.dtype.is_complex:
        return f"has type {t!r}, which MADL does not have"
    return None


def _check_loops(name: str, loops: lp.Function, known: set[Sym], span: Span) -> None:
    for stmt in lp.walk(loops.body):
        match stmt:
            case lp.Check():
                fail("E0953", span, name=name, why=f"it makes a check while it runs (line {stmt.site.span.line})")
            case lp.Print():
                fail("E0953", span, name=name, why="it prints")
            case lp.Helper():
                fail("E0953", span, name=name, why="it sorts, which needs memory of its own")
            case lp.Alloc(buffer) if not buffer.local and any(leaf not in known for p in buffer.extents for leaf in p.leaves()):
                fail("E0953", span, name=name, why="it needs memory of a size that changes while it runs")


def _temporaries(loops: lp.Function) -> list[lp.Buffer]:
    return [stmt.buffer for stmt in lp.walk(loops.body) if isinstance(stmt, lp.Alloc) and not stmt.buffer.local]


def _rounded(b: lp.Buffer) -> Poly:
    total = poly(b.dtype.size)
    for n in b.extents:
        total = total * n
    return (total + (_ALIGN - 1)) // _ALIGN * _ALIGN


def workspace(loops: lp.Function) -> Poly:
    """Bytes of temporary memory."""
    total = poly(0)
    for b in _temporaries(loops):
        total = total + _rounded(b)
    return total


def kernel(scheme: Scheme, name: str) -> tuple[str, int]:
    """The C of the function, and the bytes it keeps on the stack."""
    loops = loops_of(scheme.external)
    emitter = Emitter(loops, C99, name)
    offsets: dict[lp.Buffer, Poly] = {}
    total = poly(0)
    for b in _temporaries(loops):
        offsets[b] = total
        total = total + _rounded(b)
    emitter.offsets = offsets
    text = emitter.kernel()
    stack = 0
    for stmt in lp.walk(loops.body):
        if isinstance(stmt, lp.Alloc) and stmt.buffer.local:
            size = stmt.buffer.dtype.size
            for n in stmt.buffer.extents:
                size *= n.const() or 0
            stack += size
    stack += sum(sum_bytes({"f32": 4, "f64": 8}[t]) for t in re.findall(r"\bat_sum_(f32|f64) \w+(?:;| = )", text))
    return text, stack


