"""A content hash of a core program: equal programs have equal hashes whatever their symbols are called inside.

Places in the user's text are not part of it, so that moving a function does not recompile it; `spans` lists them in the same order, so
that a compiled program can name the place of an error by number.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from atoll.core import ir
from atoll.core.rewrite import _field_names, called
from atoll.errors import Span
from atoll.sizes import Atom, Poly, Quot, Sym
from atoll.types.dtypes import DType
from atoll.types.records import field_types
from atoll.types.types import RecordDecl
from atoll.types.unions import UnionDecl

_PLAIN = frozenset({str, int, bool, float, complex, type(None)})


class _Writer:
    def __init__(self) -> None:
        self.written: list[bytes] = []
        self.symbols: dict[Atom, int] = {}
        self.functions: dict[int, int] = {}
        self.spans: list[Span] = []
        self.unions: dict[UnionDecl, int] = {}

    def text(self, s: str) -> None:
        self.written.append(s.encode() + b"\0")

    def symbol(self, atom: Atom) -> int:
        return self.symbols.setdefault(atom, len(self.symbols))

    def poly(self, p: Poly) -> str:
        terms = sorted(("*".join(sorted(map(self.atom, mono))), coef) for mono, coef in p.terms.items())
        return repr(terms)

    def atom(self, a: Atom) -> str:
        if isinstance(a, Quot):
            return f"({self.poly(a.num)}/{self.poly(a.den)})"
        name = a.name if isinstance(a, Sym) else ""
        return f"{name}#{self.symbol(a)}"

    def any(self, x: Any) -> None:
        kind = type(x)
        if kind in _PLAIN:  # most of what there is, so it is asked first
            self.text(repr(x))
        elif isinstance(x, Poly):
            for leaf in x.leaves():
                self.symbol(leaf)
            self.text("p" + self.poly(x))
        elif isinstance(x, Sym):
            self.text(f"s{x.name}#{self.symbol(x)}")
        elif isinstance(x, np.ndarray):
            self.text(f"a{x.dtype}{x.shape}")
            self.written.append(np.ascontiguousarray(x).tobytes())
        elif isinstance(x, (tuple, list)):
            self.text(f"({len(x)}")
            for item in x:
                self.any(item)
        elif isinstance(x, ir.Function):
            self.text(f"f{self.functions[id(x)]}")
        elif isinstance(x, DType):
            self.text(x.name)
        elif isinstance(x, UnionDecl):
            new = x not in self.unions
            self.text(f"union {self.unions.setdefault(x, len(self.unions))}")
            if new:
                for decl, member in zip(x.decls, x.members, strict=True):
                    self.any((decl, field_types(member) if member is not None else ()))
        elif isinstance(x, RecordDecl):
            self.text(f"record {x.name} {x.fields}")
        elif hasattr(kind, "__dataclass_fields__"):
            self.text(kind.__name__)
            for name in _field_names(kind):
                if name == "span":
                    self.spans.append(x.span)
                elif name not in ("known", "cls", "key"):
                    self.any(getattr(x, name))
        else:
            self.text(repr(x))


def fingerprint(fn: ir.Function) -> tuple[str, list[Span]]:
    """The hash, and every place in the text in a fixed order."""
    w = _Writer()
    every = _with_rules(fn)
    w.functions = {id(f): k for k, f in enumerate(every)}
    for f in every:
        w.text(f.name)
        w.any((f.sizes, f.params, f.result, f.open_sizes, f.owned, f.reassociate, f.portable, f.recursive))
        w.any(f.requires)
        w.any(f.body)
        w.any((f.vjp, f.jvp))
    return hashlib.sha256(b"".join(w.written)).hexdigest(), w.spans


def _with_rules(fn: ir.Function) -> list[ir.Function]:
    """The functions it calls, with the derivatives that were supplied for them and what those call."""
    found: dict[int, ir.Function] = {}
    waiting = [fn]
    while waiting:
        for f in called(waiting.pop()):
            if id(f) not in found:
                found[id(f)] = f
                waiting += [rule for rule in (f.vjp, f.jvp) if rule is not None]
    return list(found.values())
