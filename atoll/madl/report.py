"""`atoll report FILE.madl`: what each operator of a file costs on a target. RAM, ROM and stack as the C compiler of the target says; loops and operations as bounds in its sizes.

The stack is the sum of -fstack-usage along the deepest chain of calls, beside what the program itself keeps there (STACK_BYTES). Counts are upper bounds: a loop whose bound depends on an outer index
counts with its largest value; both branches of an `if` count with the larger one.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from atoll.errors.misuse import Misuse
from atoll.loops import ir as lp
from atoll.madl import graph as g
from atoll.madl.api import Module
from atoll.madl.c_file import CFile, Options
from atoll.madl.command import open_file
from atoll.madl.lowered import CopyPiece, FunctionName, Invoke, Lowered, LoweredOperator
from atoll.madl.needs import needs
from atoll.madl.reach import most
from atoll.madl.targets import TARGETS, Target
from atoll.sizes import Poly, poly
from atoll.sizes.poly import show

_FREE = ("select",)


@dataclass(slots=True)
class Counts:
    """How often things happen in a cycle, at most."""

    operations: dict[str, Poly] = field(default_factory=dict)
    loops: list[tuple[int, str, Poly]] = field(default_factory=list)  # depth, name, rounds

    def add(self, what: str, times: Poly) -> None:
        self.operations[what] = self.operations.get(what, poly(0)) + times


def count(file: CFile, fn: Lowered) -> Counts:
    found = Counts()
    _count(file, fn, fn.body, {sym: poly(sym) for sym in fn.sizes}, poly(1), 0, found)
    return found


def _count(file: CFile, fn: Lowered, body: Sequence[Any], env: dict[Any, Poly], times: Poly, depth: int, found: Counts) -> None:
    for stmt in body:
        match stmt:
            case lp.For(sym, low, high, inner):
                rounds = most(high - low, {**env}) if not low.terms else _rounds(low, high, env)
                found.loops.append((depth, sym.name, rounds))
                _count(file, fn, inner, {**env, sym: most(high, env)}, times * rounds, depth + 1, found)
            case lp.If(tests, then, orelse):
                for t in tests:
                    _expr(t.expr, times, found)
                found.add("branches", times)
                _both(file, fn, [then, orelse], env, times, depth, found)
            case lp.Store(_, _, value):
                _expr(value, times, found)
                found.add("stores", times)
            case lp.Update(_, _, op, value):
                _expr(value, times, found)
                found.add(op, times)
                found.add("loads", times)
                found.add("stores", times)
            case lp.Let(var, value):
                _expr(value, times, found)
                env[var.atom] = most(fn.limits.get(var.atom, poly(0)), env)
            case CopyPiece(count=cells):
                found.add("copied", times * most(cells, env))
            case Invoke(function, given, _):
                found.add("calls", times)
                if function.scheme.compiled is not None:
                    callee = _callee(file, function)
                    if callee is not None:
                        values = {s: most(p, env) for s, p in zip(callee.sizes, given, strict=True)}
                        _count(file, callee, callee.body, values, times, depth, found)


def _rounds(low: Poly, high: Poly, env: dict[Any, Poly]) -> Poly:
    """high - low where it is known without its signs; else high."""
    difference = high - low
    return difference if difference.const() is not None else most(difference, env) if all(c > 0 for c in difference.terms.values()) else most(high, env)


def _both(file: CFile, fn: Lowered, bodies: Sequence[Sequence[Any]], env: dict[Any, Poly], times: Poly, depth: int, found: Counts) -> None:
    """Of two branches the larger of each count, where that is known; else their sum."""
    sides = []
    for body in bodies:
        side = Counts()
        _count(file, fn, body, dict(env), times, depth, side)
        sides.append(side)
        found.loops += side.loops
    for what in dict.fromkeys([*sides[0].operations, *sides[1].operations]):
        a, b = (side.operations.get(what, poly(0)) for side in sides)
        difference = (a - b).const()
        found.add(what, (a if difference >= 0 else b) if difference is not None else a + b)


def _expr(e: Any, times: Poly, found: Counts) -> None:
    if e is None:
        return
    for x in lp.subexprs(e):
        match x:
            case lp.Load():
                found.add("loads", times)
            case lp.Call(op=op) if op not in _FREE:
                found.add(op.removeprefix("madl_"), times)
            case lp.Cast():
                found.add("conversions", times)


# -- as the C compiler says


@dataclass(frozen=True, slots=True)
class Measured:
    text: int
    data: int
    state: int | None
    frames: dict[str, int]


def measure(file: CFile, op: LoweredOperator, target: Target, flags: list[str]) -> Measured:
    """Code, data and frames of one operator and what it calls."""
    with tempfile.TemporaryDirectory(prefix="atoll-") as name:
        folder = Path(name)
        (folder / f"{file.name}.h").write_text(file.header())
        (folder / f"{file.name}.c").write_text(file.source())
        sized = op.reset is not None
        body = f"const char at_state[sizeof({file.inner[op]}_state)] = {{1}};\n" if sized else ""
        (folder / "at_state.c").write_text(f'#include "{file.name}.h"\n{body}')
        for source in (f"{file.name}.c", "at_state.c"):
            done = target.check(source, folder, [*flags, "-std=c99", "-fstack-usage"])
            if done.returncode != 0:
                raise Misuse(f"{target.compiler} refuses the C of {file.name}: {done.stderr[:500]}")
        tool = "arm-none-eabi-size" if target.cross else "size"
        rows = subprocess.run([tool, f"{file.name}.c.o", "at_state.c.o"], cwd=folder, capture_output=True, text=True, check=False).stdout.splitlines()
        numbers = [list(map(int, row.split()[:3])) for row in rows[1:]]
        frames = {}
        for su in folder.glob("*.su"):
            for line in su.read_text().splitlines():
                where, used, *_ = line.split("\t")
                frames[where.split(":")[-1]] = int(used)
    if len(numbers) < 2:
        raise Misuse(f"{tool} does not tell the size of objects")
    return Measured(numbers[0][0], numbers[0][1] + numbers[0][2], numbers[1][0] if sized else None, frames)


def true_stack(file: CFile, op: LoweredOperator, frames: dict[str, int]) -> int:
    """The deepest chain of frames below the public function. A function that the compiler put into its caller has none."""
    known: dict[int, int] = {}

    def below(fn: Lowered) -> int:
        if id(fn) not in known:
            known[id(fn)] = 0
            everything: list[Any] = list(lp.walk(fn.body))
            calls = [_callee(file, stmt.function) for stmt in everything if isinstance(stmt, Invoke)]
            known[id(fn)] = frames.get(fn.name, 0) + max((below(c) for c in calls if c is not None), default=0)
        return known[id(fn)]

    base = file.inner[op]
    if op.reset is None:
        public = 0 if file.public[op].direct else frames.get(base, 0)
        return public + below(op.cycle)
    start = max((frames.get(f"{base}_{part}", 0) for part in ("init", "reset")), default=0) + below(op.reset)
    return max(frames.get(f"{base}_step", 0) + below(op.cycle), start)


def _callee(file: CFile, function: FunctionName) -> Lowered | None:
    if function.scheme.compiled is None:
        return None
    op = file.lowered.operator(function.scheme.compiled, function.types)
    return op.cycle if function.part == "cycle" else op.reset


# -- words


def report(module: Module, names: list[str] | None, target: Target, optimise: str, index: str) -> list[str]:
    why = target.missing() if not target.cross else None
    if why is not None:
        raise Misuse(f"{target.name}: {why}")
    lines = [f"{module._name}.madl for {target.name} ({target.compiler} {optimise}, indices {index})"]
    for compiled in module.computing():
        if names is not None and compiled.operator.name not in names:
            continue
        file = CFile(compiled.name, [compiled], Options(index=index))
        op = file.exported[0]
        lines += ["", *_operator(file, op, measure(file, op, target, [optimise]))]
    lines += [f"\n{name} has no code: {why}" for name, why in module.left_out().items() if names is None or name in names]
    return lines


def _operator(file: CFile, op: LoweredOperator, found: Measured) -> list[str]:
    c = op.compiled
    lines = [f"{c.kind} {c.name} : {c.scheme.show()}"]
    lines += [f"  needs     {n}" for n in needs(c.graph)]
    open_ = [f"{show_bytes(b)} given to init ({b.name})" for b in file.open_state(op)]
    if found.state is not None:
        lines.append(f"  RAM       {found.state} bytes of state" + "".join(f", {text}" for text in open_))
    work = file.work_bytes(op)
    lines += [f"  RAM       {show(work)} bytes of workspace, given by the caller"] if work.terms else []
    tables = sum(int(array.nbytes) for o in file.lowered.operators.values() for array in o.tables.values())
    lines.append(f"  ROM       {found.text} bytes of code and constants" + (f", {tables} of them tables" if tables else ""))
    lines.append(f"  stack     {true_stack(file, op, found.frames)} bytes along the deepest chain; the program itself keeps {file.stack_bytes(op)}")
    counts = count(file, op.cycle)
    lines += [f"  loop      {'  ' * depth}{name}: at most {show(rounds)} rounds" for depth, name, rounds in counts.loops]
    shown = ", ".join(f"{what} {show(times)}" for what, times in sorted(counts.operations.items()) if times.terms)
    lines.append(f"  at most   {shown or 'nothing'}")
    copies = [node.target.text for node in g.scope_nodes(c.graph.body) if isinstance(node, g.Copy)]
    lines += [f"  copies    {', '.join(t if t.startswith('!') else '!' + t for t in copies)}"] if copies else []
    for chunk in c.layout.params():
        words = list(dict.fromkeys(w.name for w in chunk.wires if w.name and w.role != "place"))
        if len(words) > 1:
            lines.append(f"  shared    {chunk.name}: {', '.join(words)}")
    for guest, home in file.printer(op.cycle).sharing.home.items():
        lines.append(f"  shared    {home.name}: later {guest.name}, a local that lives when {home.name} does not")
    return lines


def show_bytes(b: lp.Buffer) -> str:
    total = poly(b.dtype.size)
    for n in b.extents:
        total = total * n
    return f"{show(total)} bytes"


def report_file(path: Path, name: str | None, target: str, optimise: str, index: str) -> str:
    if target not in TARGETS:
        raise Misuse(f"there is no target {target} (there are: {', '.join(TARGETS)})")
    if not re.fullmatch(r"-O[0-3sz]", optimise):
        raise Misuse(f"--optimise takes -O0 to -O3, -Os, not {optimise!r}")
    module = open_file(path)
    if name is not None and name not in list(module):
        raise Misuse(f"{path} has no operator {name} (there are: {', '.join(module)})")
    return "\n".join(report(module, [name] if name is not None else None, TARGETS[target], optimise, index))
