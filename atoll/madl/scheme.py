"""What the users of an operator see: its type, its memories, and which of them it writes.

    dot : size n. [n]int, [n]int -> int
    places: s, u, v;  u, v -> s;  writes s

A chunk is a memory the caller supplies: that of arguments and results, state, or workspace. Every argument and result lies in a chunk, seen
through a functor. Sizes and type variables are the operator's own; a call puts others in their place.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from atoll.errors import Span
from atoll.madl.typing import Generic, show_size_named, show_type
from atoll.sizes import Poly, Sym, poly
from atoll.types.types import Type
from atoll.views.functor import Functor
from atoll.views.index_map import IDENTITY

if TYPE_CHECKING:
    from atoll.madl.compiled import Compiled


@dataclass(frozen=True, slots=True)
class ChunkInfo:
    """role: memory (arguments and results), state, workspace."""

    name: str
    type: Type
    written: bool
    role: str


@dataclass(frozen=True, slots=True)
class Port:
    """Where an argument or result lies."""

    chunk: int
    view: Functor
    type: Type
    name: str


@dataclass(frozen=True, eq=False)
class Scheme:
    name: str
    sizes: tuple[Sym, ...]
    size_params: tuple[tuple[str | None, Poly], ...]
    generics: tuple[Generic, ...]
    chunks: tuple[ChunkInfo, ...]
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    requirements: tuple[tuple[Poly, str, Span], ...]
    stateful: bool
    compiled: Compiled | None = None
    external: Any = None  # an Atoll function
    names: dict[Any, str] = field(default_factory=dict)

    def compiled_recursive(self) -> bool:
        """Made by expanding a recursive operator: it stays a call."""
        return self.compiled is not None and bool(self.compiled.fixed_sizes)

    def show(self) -> str:
        """The type, as the thesis prints it."""
        names = self.names
        parts = []
        if self.sizes:
            parts.append("size " + " ".join(names.get(n, n.name) for n in self.sizes) + ".")
        if self.generics:
            shown = [names.get(g, g.name) + (f" {g.family}" if g.family in ("number", "real", "integer", "float") else "") for g in self.generics]
            parts.append("type " + ", ".join(shown) + ".")
        if self.size_params:
            parts.append("<<" + ", ".join(show_size_named(p, names) for _, p in self.size_params) + ">> ->")
        results = ", ".join(show_type(p.type, names) for p in self.outputs) or "()"
        if self.inputs:
            parts.append(", ".join(show_type(p.type, names) for p in self.inputs) + " ->")
        parts.append(results)
        return " ".join(parts)

    def show_places(self) -> str:
        """`u, v -> s writes s`: the chunk and view of each argument and result."""

        renamed: dict[Any, Poly] = {sym: poly(Sym(self.names.get(sym, sym.name))) for sym in self.sizes}

        def port(p: Port) -> str:
            name, m = self.chunks[p.chunk].name, p.view.map.subst(renamed)
            return name if m == IDENTITY else f"{name}.{m}"

        state = [c.name for c in self.chunks if c.role == "state"]
        arrow = f" --{', '.join(state)}--> " if state else " -> "
        inputs = ", ".join(port(p) for p in self.inputs) or "()"
        written = [c.name for c in self.chunks if c.written]
        return inputs + arrow + (", ".join(port(p) for p in self.outputs) or "()") + (f" writes {', '.join(written)}" if written else "")
