"""Back to back: the exported C of an operator, compiled for a target and run there, against the oracle. Bit by bit.

The stimuli become constants of a C program that calls the public functions as a user does, and prints every memory they write. Results are read out of
those memories where the header says they lie.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from atoll.backends.c.emit import safe
from atoll.errors.misuse import Misuse
from atoll.loops import ir as lp
from atoll.madl.binding import positions
from atoll.madl.c_file import CFile, Options
from atoll.madl.compiled import Compiled
from atoll.madl.lowered import LoweredOperator
from atoll.madl.pieces import chunk_leaf, leaf_index, leaves_of
from atoll.madl.targets import Target
from atoll.madl.typing import rebuild
from atoll.madl.values import nest, part_of
from atoll.sizes import poly
from atoll.types.types import Type

STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]

_PRINT = """
static void at_show(const void *memory, size_t bytes) {
    static const char digits[] = "0123456789abcdef";
    const unsigned char *p = memory;
    for (size_t k = 0; k < bytes; k++) {
        putchar(digits[p[k] >> 4]);
        putchar(digits[p[k] & 15]);
    }
    putchar('\\n');
}
"""


class Caller:
    """A C program that steps one operator through given inputs."""

    def __init__(self, compiled: Compiled, types: tuple[Type, ...], sizes: dict[Any, int], options: Options | None = None) -> None:
        self.file = CFile("unit", [(compiled, types)], options or Options())
        self.op: LoweredOperator = self.file.exported[0]
        self.compiled, self.sizes = compiled, sizes
        self.generics = dict(zip(compiled.graph.generics, types, strict=True))
        self.public = self.file.public[self.op]
        self.fn = self.file.wrappers[self.op].lowered
        self.env: dict[Any, int] = {new: sizes[old] for old, new in zip(compiled.graph.sizes, self.op.cycle.sizes, strict=True)}

    def shape(self, b: lp.Buffer) -> tuple[int, ...]:
        return tuple(max(0, n.evaluate(lambda a: self.env[a])) for n in b.extents)

    # -- where values lie

    def _leaves(self, role: str, number: int, wire: Any) -> list[tuple[Any, lp.Buffer, Any]]:
        """Each leaf of an argument or result: the parameter it is in, and its positions there (None: all of it)."""
        place = self.compiled.layout.place[wire]
        found = []
        for leaf in leaves_of(rebuild(wire.type, lambda t: self.generics.get(t, t), lambda p: p)):
            own = self.public.own.get((role, number, leaf.components))
            if own is not None:
                found.append((leaf, own, None))
                continue
            components, _ = leaf_index(place.map, leaf, tuple(poly(0) for _ in leaf.extents))
            whole = rebuild(place.chunk.type, lambda t: self.generics.get(t, t), lambda p: p)
            extents = chunk_leaf(whole, components).extents
            where = positions(place.map, leaf, extents, lambda p: p.evaluate(dict(self.sizes)))
            b = self.op.buffers[(place.chunk, components)]
            found.append((leaf, self.public.bound.get(b, b), where))
        return found

    def memories(self, args: tuple[Any, ...]) -> dict[lp.Buffer, Any]:
        """What each parameter holds before a step."""
        found = {b: np.zeros(self.shape(b), b.dtype.numpy) for b in self.fn.params}
        for k, (wire, arg) in enumerate(zip(self.compiled.graph.arguments, args, strict=True)):
            for leaf, b, where in self._leaves("argument", k, wire):
                value = np.asarray(part_of(arg, wire.type, leaf.components) if leaf.components else arg, b.dtype.numpy)
                found[b].reshape(-1)[slice(None) if where is None else where] = value.reshape(-1) if where is None else value
        return found

    def results(self, memory: dict[lp.Buffer, Any]) -> list[Any]:
        """The results of a step, out of the memories it wrote."""
        found = []
        for k, wire in enumerate(self.compiled.graph.results):
            parts = {}
            for leaf, b, where in self._leaves("result", k, wire):
                shape = tuple(max(0, n.evaluate(dict(self.sizes))) for n in leaf.extents)
                flat = memory[b].reshape(-1)
                value = flat.reshape(shape) if where is None else flat[where]
                parts[leaf.components] = value[()] if not shape else value
            found.append(nest(rebuild(wire.type, lambda t: self.generics.get(t, t), lambda p: p), parts, ()))
        return found

    # -- the program

    def program(self, inputs: list[tuple[Any, ...]]) -> str:
        file, op, fn = self.file, self.op, self.fn
        base = file.inner[op]
        cycles = [self.memories(args) for args in inputs]
        lines = ['#include "unit.h"', "#include <math.h>", "#include <stdio.h>", "#include <string.h>", _PRINT]
        sizes = [str(self.env[s]) for s in op.cycle.sizes]
        for b in fn.params:
            t, cells = b.dtype.c_name, max(1, int(np.prod(self.shape(b), dtype=int)))
            rows = ",\n".join("{" + ", ".join(_literal(v, b.dtype) for v in (m[b].reshape(-1).tolist() or [0])) + "}" for m in cycles)
            lines.append(f"static const {t} {safe(b.name)}_given[{len(cycles)}][{cells}] = {{\n{rows}}};")
            lines.append(f"static {t} {safe(b.name)}_now[{cells}];")
        start: list[str] = []
        if op.reset is not None:
            for b in file.open_state(op):
                lines.append(f"static {b.dtype.c_name} {safe(b.name)}_kept[{max(1, int(np.prod(self.shape(b), dtype=int)))}];")
            lines += [] if file.options.static else [f"static {base}_state self;"]
            me = [] if file.options.static else ["&self"]
            state = set(file.state(op))
            stored = [str(self.env[s]) for s in file.stored_sizes(op)]
            memory = [] if file.options.static else [f"{safe(b.name)}_kept" for b in file.open_state(op)]
            work = [self._passed(b) for b in op.reset.params if b not in state]
            begin = f"{base}_{'reset' if file.options.static else 'init'}({', '.join([*me, *stored, *memory, *work])})"
            start = [f"    if (!{begin}) return 2;" if file.checked_sizes(op) and not file.options.static else f"    {begin};"]
        call = f"{base}{'_step' if op.reset is not None else ''}"
        me = ["&self"] if op.reset is not None and not file.options.static else []
        given = ", ".join([*me, *sizes, *(self._passed(b) for b in fn.params)])
        step = f"        if (!{call}({given})) return 3;" if op.reset is not None and file.checked_sizes(op) else f"        {call}({given});"
        lines += ["int main(void) {", *start, f"    for (int k = 0; k < {len(cycles)}; k++) {{"]
        lines += [f"        memcpy({safe(b.name)}_now, {safe(b.name)}_given[k], sizeof {safe(b.name)}_now);" for b in fn.params]
        lines.append(step)
        lines += [f"        at_show({safe(b.name)}_now, sizeof {safe(b.name)}_now);" for b in fn.params if b not in fn.values]
        return "\n".join([*lines, "    }", "    return 0;", "}", ""])

    def _passed(self, b: lp.Buffer) -> str:
        name = f"{safe(b.name)}_now"
        if b in self.fn.values:
            return f"{name}[0]"
        inner = self.shape(b)[1:]
        nested = inner and all(n.const() for n in b.extents)
        return f"({b.dtype.c_name} (*){''.join(f'[{n}]' for n in inner)}){name}" if nested else name

    def run(self, inputs: list[tuple[Any, ...]], target: Target, flags: list[str]) -> list[list[Any]]:
        """Compile for a target, run there, read the results of every cycle."""
        with tempfile.TemporaryDirectory(prefix="atoll-") as name:
            folder = Path(name)
            (folder / "unit.h").write_text(self.file.header())
            (folder / "unit.c").write_text(self.file.source())
            (folder / "main.c").write_text(self.program(inputs))
            done = target.compile(["unit.c", "main.c"], "program", folder, [*STRICT, *flags])
            if done.returncode != 0:
                raise Misuse(f"{target.compiler} refuses the C of {self.compiled.name} for {target.name}:\n{done.stderr[:2000]}")
            ran = target.run("program", folder)
        if ran.returncode != 0:
            raise Misuse(f"the program of {self.compiled.name} ends with {ran.returncode} on {target.name}: {ran.stderr.decode(errors='replace')[:500]}")
        lines = [line for line in ran.stdout.decode(errors="replace").splitlines() if line]
        shown = [b for b in self.fn.params if b not in self.fn.values]
        found = []
        for k in range(len(inputs)):
            row = lines[k * len(shown) : (k + 1) * len(shown)]
            memory = {}
            for b, text in zip(shown, row, strict=True):
                cells = int(np.prod(self.shape(b), dtype=int))
                memory[b] = np.frombuffer(bytes.fromhex(text), b.dtype.numpy)[:cells].copy()
            found.append(self.results(memory))
        return found


def _literal(value: Any, dtype: Any) -> str:
    if dtype.is_float:
        return ("NAN" if value != value else f"{'-' if value < 0 else ''}INFINITY") if value - value != 0 else float(value).hex() + ("f" if dtype.name == "f32" else "")
    if dtype.kind == "b":
        return "true" if value else "false"
    if dtype.kind == "i" and value == -(1 << (dtype.bits - 1)):
        return f"(-{(1 << (dtype.bits - 1)) - 1}{'ll' if dtype.bits == 64 else ''} - 1)"
    return f"{int(value)}{'u' if dtype.kind == 'u' and dtype.bits == 32 else 'll' if dtype.name == 'i64' else 'ull' if dtype.name == 'u64' else ''}"
