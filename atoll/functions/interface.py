"""Interface files: what the rest of the world knows about a module that was compiled before.

    {"atoll": 1, "abi": ..., "module": "queue", "source": path, "source_hash": ..., "selection": "default", "object": "queue.o",
     "stub": the module's text without the bodies of its compiled functions,
     "functions": {name: {"type": "push(q: Queue, x: i64) -> Queue", "symbol": C name, "params": [...], "results": [...]}},
     "data": {"Queue": "Empty | Node(value: i64, rest: Queue)"},
     "uses": {file name: {"functions": {name: type}, "data": {...}}},
     "sites": [...], "prints": [...]}

Types stand in it as text, once as the user reads them and once, in `stub`, as the annotations they came from. Values of the same types are
represented alike whatever passes a module was compiled with, so `selection` is only for readers.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from atoll.ainf.ir import Site
from atoll.errors import NOWHERE, Source, Span, fail
from atoll.functions.program import headers_digest
from atoll.runtime.program import site_to_json
from atoll.runtime.toolchain import target
from atoll.types.types import Array, Fn, Record, Tuple, Type, Union
from atoll.types.unions import type_key

SUFFIX = ".atoi"
_FORMAT = 1


def abi() -> str:
    """What two objects must share to run in one program: the layout of values, and the machine."""
    return hashlib.sha256(f"{headers_digest()} {target()}".encode()).hexdigest()[:16]


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def read(path: Path) -> dict[str, Any]:
    """The contents of an interface file, or an error that says what is wrong with it."""
    if not path.exists():
        fail("E1119", path=path, reason="there is no such file")
    try:
        found = json.loads(path.read_bytes())
    except (ValueError, OSError):
        fail("E1119", path=path, reason="it cannot be read")
    if not isinstance(found, dict) or found.get("atoll") != _FORMAT:
        fail("E1119", path=path, reason="its format is another")
    if found["abi"] != abi():
        fail("E1119", path=path, reason="it was built by another version of Atoll or for another machine")
    return found


def write(path: Path, contents: dict[str, Any]) -> None:
    text = json.dumps({"atoll": _FORMAT, "abi": abi(), **contents}, indent=1, ensure_ascii=False) + "\n"  # escapes of two halves of a pair would be read as one character
    path.write_bytes(text.encode(errors="surrogatepass"))


# -- declarations as text


def declarations(types: list[Type]) -> dict[str, str]:
    """Every union and record the types reach, written out."""
    found: dict[str, str] = {}
    seen: set[object] = set()
    todo = list(types)
    while todo:
        t = todo.pop()
        if isinstance(t, Union):
            if type_key(t) in seen:
                continue
            seen.add(type_key(t))
            members = [t.decl.member(t, k) for k in range(len(t.decl.members))]
            found[repr(t)] = " | ".join(map(_member, members))
            todo += members
        elif isinstance(t, (Tuple, Record)):
            if isinstance(t, Record) and t.items:
                found.setdefault(t.decl.name, _member(t))
            todo += t.items
        elif isinstance(t, Array):
            todo.append(t.elem)
        elif isinstance(t, Fn):
            todo += [*t.params, t.result]
    return dict(sorted(found.items()))


def _member(t: Record) -> str:
    fields = ", ".join(f"{name}: {item!r}" for name, item in zip(t.decl.fields, t.items, strict=True))
    return f"{t.decl.name}({fields})" if fields else t.decl.name


# -- places


def site_with_text(site: Site, kinds: str) -> dict[str, Any]:
    """A place that can fail, with the line it stands on."""
    s = site.span
    made = site_to_json(site, kinds, {})
    made["span"] = None if s is NOWHERE else [s.source.name, s.line, s.column, s.end_line, s.end_column, s.source.line(s.line) or ""]
    return made


def site_from_text(data: dict[str, Any]) -> tuple[Site, str]:
    span = NOWHERE
    if data["span"] is not None:
        name, line, column, end_line, end_column, text = data["span"]
        span = Span(Source(name, "\n" * (line - 1) + text), line, column, end_line, end_column)
    return Site(data["code"], span, data["values"], data["where"]), data["kinds"]


__all__ = ["SUFFIX", "abi", "declarations", "digest", "read", "site_from_text", "site_with_text", "write"]
