"""Simulation: stimuli from a table, traces to a table, golden traces, the same stimuli back to back on several machines, coverage of decisions.

A table is a CSV file with a row per cycle and a column per scalar: `x`, `x[0]`, `x[1][2]`, `p.heading`. Floats are written so that they are read back bit by bit.
"""

from __future__ import annotations

import csv
import itertools
import re
from pathlib import Path
from typing import Any

import numpy as np

from atoll.errors import Span
from atoll.errors.misuse import Misuse
from atoll.madl import graph as g
from atoll.madl import mcdc
from atoll.madl.api import Operator
from atoll.madl.back_to_back import Caller
from atoll.madl.binding import bind, check_requirements, given_size, solve
from atoll.madl.compiled import Compiled
from atoll.madl.meaning import Meaning
from atoll.madl.oracle import Oracle
from atoll.madl.pieces import leaves_of
from atoll.madl.recursion import size_names
from atoll.madl.represented import Enum, Fixed, inward, outward
from atoll.madl.targets import TARGETS
from atoll.madl.typing import prune
from atoll.madl.values import dtype_of, nest, part_of, shown
from atoll.types.types import Record

Row = dict[str, str]


# -- tables


def read_table(path: Path) -> tuple[list[str], list[Row]]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file, skipinitialspace=True)
            rows = list(reader)
            names = [n.strip() for n in reader.fieldnames or ()]
    except (OSError, UnicodeDecodeError, csv.Error) as problem:
        raise Misuse(f"{path} cannot be read: {problem}") from None
    if not names:
        raise Misuse(f"{path} has no first line with the names of its columns")
    twice = [n for k, n in enumerate(names) if n in names[:k]]
    if twice:
        raise Misuse(f"{path} has two columns {twice[0]}")
    for number, row in enumerate(rows, 2):
        if None in row or any(v is None for v in row.values()):
            raise Misuse(f"{path}, line {number}: {len(names)} columns are expected")
    return names, [{k.strip(): v for k, v in row.items()} for row in rows]


def write_table(path: Path, names: list[str], rows: list[list[str]]) -> None:
    try:
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([names, *rows])
    except OSError as problem:
        raise Misuse(f"{path} cannot be written: {problem.strerror}") from None


def columns(wire: Any, sizes: dict[Any, int]) -> list[tuple[str, Any, tuple[int, ...]]]:
    """The columns of an argument or result: name, leaf, index."""
    found = []
    base = wire.name or wire.shown
    for leaf in leaves_of(wire.type):
        shape = [max(0, n.evaluate(dict(sizes))) for n in leaf.extents]
        for index in itertools.product(*map(range, shape)):
            found.append((base + _field(wire.type, leaf.components) + "".join(f"[{i}]" for i in index), leaf, index))
    return found


def _field(t: Any, components: tuple[int, ...]) -> str:
    t, text = prune(t), ""
    for k in components:
        while hasattr(t, "elem"):
            t = prune(t.elem)
        text += "." + (t.decl.fields[k] if isinstance(t, Record) else str(k + 1))
        t = prune(t.items[k])
    return text


def _number(text: str, t: Any, where: str) -> Any:
    text, dtype = text.strip(), dtype_of(t, None)
    if isinstance(t, Enum):
        if text not in t.members:
            raise Misuse(f"{where}: {text!r} is not among {', '.join(t.members)}")
        return dtype.numpy.type(t.members.index(text))
    if isinstance(t, Fixed):
        try:
            return inward(t, float(text))[()]
        except ValueError as wrong:
            raise Misuse(f"{where}: {text!r} is no {t!r}: {wrong}") from None
    try:
        if dtype.kind == "b":
            return {"true": True, "false": False, "1": True, "0": False}[text.lower()]
        value = (float.fromhex(text) if "0x" in text.lower() else float(text)) if dtype.is_float else int(text, 0)
        made = dtype.numpy.type(value)
    except (ValueError, KeyError, OverflowError):
        raise Misuse(f"{where}: {text!r} is no {dtype.name}") from None
    return made


def _text(value: Any, t: Any) -> str:
    if isinstance(t, Enum) and int(value) < len(t.members):
        return t.members[int(value)]
    if isinstance(t, Fixed):
        return repr(float(outward(t, value)))
    return ("true" if value else "false") if isinstance(value, (bool, np.bool_)) else repr(float(value)) if isinstance(value, np.floating) else str(int(value))


# -- stimuli


def measured_sizes(operator: Operator, names: list[str], sizes: dict[str, int]) -> dict[Any, int]:
    """The sizes of an operator: those given, and those that the columns of its arguments say."""
    op = operator.compiled
    equations = [(given_size(op, k), v, f"--size {k}") for k, v in sizes.items()]
    for wire in op.graph.arguments:
        for leaf in leaves_of(wire.type):
            stem = re.escape((wire.name or wire.shown) + _field(wire.type, leaf.components))
            found = [tuple(map(int, re.findall(r"\d+", m.group(1)))) for n in names if (m := re.fullmatch(stem + r"((?:\[\d+\])*)", n))]
            for axis, extent in enumerate(leaf.extents):
                lengths = [index[axis] + 1 for index in found if len(index) > axis]
                if lengths:
                    equations.append((extent, max(lengths), f"the columns of {wire.shown}"))
    solved = solve(op, equations)
    check_requirements(op, solved)
    return solved


def stimuli(operator: Operator, path: Path, sizes: dict[str, int]) -> tuple[list[tuple[Any, ...]], dict[Any, int]]:
    """The arguments of every cycle."""
    op = operator.compiled
    names, rows = read_table(path)
    solved = measured_sizes(operator, names, sizes)
    wanted = {c for w in op.graph.arguments for c, _, _ in columns(w, solved)}
    missing, strange = [c for c in wanted if c not in names], [n for n in names if n not in wanted]
    if missing or strange:
        what = f"has no column {sorted(missing)[0]}" if missing else f"has a column {strange[0]}, which is no argument"
        raise Misuse(f"{path} {what}; {op.name} takes {', '.join(sorted(wanted)) or 'nothing'}")
    cycles = []
    for number, row in enumerate(rows, 2):
        args = []
        for wire in op.graph.arguments:
            parts: dict[Any, Any] = {}
            for column, leaf, index in columns(wire, solved):
                dtype = dtype_of(leaf.type, None)
                value = _number(row[column], prune(leaf.type), f"{path}, line {number}, column {column}")
                if not index:
                    parts[leaf.components] = value if leaf.extents == () else parts.get(leaf.components)
                else:
                    shape = tuple(max(0, n.evaluate(dict(solved))) for n in leaf.extents)
                    parts.setdefault(leaf.components, np.zeros(shape, dtype.numpy))[index] = value
            args.append(nest(wire.type, parts, ()))
        cycles.append(tuple(args))
    return cycles, solved


def trace(op: Compiled, sizes: dict[Any, int], results: list[list[Any]]) -> tuple[list[str], list[list[str]]]:
    """Results of every cycle as a table."""
    named = [c for w in op.graph.results for c in columns(w, sizes)]
    rows = []
    for values in results:
        row = []
        for wire, value in zip(op.graph.results, values, strict=True):
            for _, leaf, index in columns(wire, sizes):
                part = part_of(value, wire.type, leaf.components) if leaf.components else value
                row.append(_text(np.asarray(part, dtype_of(leaf.type, None).numpy)[index], prune(leaf.type)))
        rows.append(row)
    return [name for name, _, _ in named], rows


# -- runs


def run_oracle(op: Compiled, sizes: dict[Any, int], cycles: list[tuple[Any, ...]]) -> tuple[list[list[Any]], Oracle]:
    oracle = Oracle(op, dict(sizes))
    return oracle.run(cycles), oracle


def run_on(operator: Operator, target: str, sizes: dict[Any, int], cycles: list[tuple[Any, ...]]) -> list[list[Any]]:
    """The stimuli elsewhere: python (compiled, in this process), meaning (the text, without the compiler), or a target of targets.py."""
    op = operator.compiled
    if target == "meaning":
        given = {**dict(zip(size_names(operator._item.operator), operator._sizes, strict=False)), **{op.graph.size_names[sym]: n for sym, n in sizes.items()}}
        text = Meaning(operator._module._library, operator.name, given)
        return [text.step(*args) for args in cycles]
    if target == "python":
        native = operator._native(())

        state = native.allocate(("state",), dict(sizes))
        native.reset(state, dict(sizes))
        named = {op.graph.size_names[sym]: n for sym, n in sizes.items()}
        seen = [tuple(shown(w.type, a) for w, a in zip(op.graph.arguments, args, strict=True)) for args in cycles]
        return [native.run(bind(op, args, named, ()), state) for args in seen]
    if target not in TARGETS:
        raise Misuse(f"there is no target {target} (there are: python, meaning, {', '.join(TARGETS)})")
    why = TARGETS[target].missing()
    if why is not None:
        raise Misuse(f"{target}: {why}")
    return Caller(op, (), dict(sizes)).run(cycles, TARGETS[target], ["-O2"])


def differences(names: list[str], first: list[list[str]], second: list[list[str]], tolerance: float = 0.0) -> list[str]:
    """Where two traces differ: `cycle 3: y is 1.5, not 2.0`."""
    found = [] if len(first) == len(second) else [f"{len(first)} cycles, not {len(second)}"]
    for number, (a, b) in enumerate(zip(first, second, strict=False), 1):
        for name, x, y in zip(names, a, b, strict=True):
            if x != y and not _near(x, y, tolerance):
                found.append(f"cycle {number}: {name} is {x}, not {y}")
    return found


def _near(x: str, y: str, tolerance: float) -> bool:
    try:
        a, b = float(x), float(y)
    except ValueError:
        return False
    return a == b or (a != a and b != b) or abs(a - b) <= tolerance * max(abs(a), abs(b), 1.0)


# -- coverage


def decisions(op: Compiled) -> list[tuple[str, Span]]:
    """Every choice of an operator and of what it calls: (which operator, where)."""
    found: dict[Span, str] = {}

    def visit(c: Compiled) -> None:
        for node in g.scope_nodes(c.graph.body):
            if isinstance(node, g.Nest) and node.condition is not None:
                found.update({span: c.name for span in node.decisions() if span not in found})
            elif isinstance(node, g.Op):
                todo: list[Any] = [node.tree]
                while todo:
                    tree = todo.pop()
                    if isinstance(tree, g.Operate):
                        if tree.op == "select":
                            found.setdefault(tree.span, c.name)
                        todo += tree.args
        for scope in c.graph.scopes():
            if scope.condition is not None and scope.kind != "branch":
                found.setdefault(scope.condition.span, c.name)

    for c in called(op):
        visit(c)
    return [(name, span) for span, name in sorted(found.items(), key=lambda item: (item[0].line, item[0].column))]


def coverage(op: Compiled, oracle: Oracle) -> list[str]:
    """Each choice, and which of its two outcomes the stimuli reached."""
    lines, reached, total = [], 0, 0
    for name, span in decisions(op):
        seen = oracle.decisions.get(span, set())
        reached, total = reached + len(seen), total + 2
        words = " ".join(span.text().split())
        which = {0: "never reached", 2: "both ways"}.get(len(seen), "only true" if True in seen else "only false")
        lines.append(f"  {name}, line {span.line}: {words[:50]}{'..' if len(words) > 50 else ''}: {which}")
    head = f"decisions: {reached} of {total} outcomes" if total else "decisions: there are none"
    return [head, *lines, *mcdc.report(conditions(op), oracle.vectors)]


def conditions(op: Compiled) -> list[tuple[str, g.Operate, list[str]]]:
    """Every boolean expression of several parts, of an operator and what it calls; contracts are no part of the code."""
    found: dict[Span, tuple[str, g.Operate, list[str]]] = {}
    for c in called(op):
        for node in g.scope_nodes(c.graph.body):
            if isinstance(node, g.Op) and node.output not in c.graph.contracts:
                for tree in mcdc.expressions(node.tree):
                    found.setdefault(tree.span, (c.name, tree, [_words(p, node.inputs) for p in mcdc.parts(tree)]))
    return sorted(found.values(), key=lambda item: (item[1].span.line, item[1].span.column))


def _words(tree: g.Tree, inputs: tuple[g.Wire, ...]) -> str:
    return inputs[tree.number].shown if isinstance(tree, g.Input) else " ".join(tree.span.text().split()) if isinstance(tree, (g.Operate, g.Literal)) else "a size"


def called(op: Compiled) -> list[Compiled]:
    """An operator and every operator that it calls, itself or through others."""
    found: list[Compiled] = []
    todo = [op]
    while todo:
        c = todo.pop(0)
        if not any(c is other for other in found):
            found.append(c)
            todo += [n.scheme.compiled for n in g.scope_nodes(c.graph.body) if isinstance(n, g.Call) and n.scheme.compiled is not None]
    return found


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def plot(names: list[str], rows: list[list[str]], width: int = 72) -> list[str]:
    """A line of blocks per column."""
    blocks, lines = " ▁▂▃▄▅▆▇█", []
    for k, name in enumerate(names):
        words = sorted({row[k] for row in rows if not _is_number(row[k])})  # members of an enumeration, as levels
        levels = {"true": 1.0, "false": 0.0} if set(words) <= {"true", "false"} else {word: float(n) for n, word in enumerate(words)}
        values = [levels[row[k]] if row[k] in levels else float(row[k]) for row in rows]
        if not values:
            continue
        step = max(1, -(-len(values) // width))
        shown = values[::step]
        finite = [v for v in shown if v - v == 0]
        low, high = (min(finite), max(finite)) if finite else (0.0, 0.0)
        span = (high - low) or 1.0
        text = "".join(blocks[1 + int((v - low) / span * 7)] if v - v == 0 else "?" for v in shown)
        lines.append(f"{name:>12} {text}  {low:g} .. {high:g}")
    return lines


def simulate(
    operator: Operator, given: Path, *, sizes: dict[str, int], out: Path | None, golden: Path | None, on: list[str], tolerance: float, covered: bool, plotted: bool
) -> int:
    """What `atoll run FILE:NODE --in ..` does. The trace is the oracle's, which checks contracts on the way; everything else is held against it."""
    op = operator.compiled
    if op.graph.generics:
        raise Misuse(f"{op.name} has type variables; give its arguments types with `of`")
    cycles, solved = stimuli(operator, given, sizes)
    results, oracle = run_oracle(op, solved, cycles)
    names, rows = trace(op, solved, results)
    if out is not None:
        write_table(out, names, rows)
    elif golden is None and not on:
        print(",".join(names))
        print("\n".join(",".join(row) for row in rows))
    wrong = 0
    if golden is not None:
        golden_names, golden_rows = read_table(golden)
        if golden_names != names:
            raise Misuse(f"{golden} has the columns {', '.join(golden_names)}, the trace {', '.join(names)}")
        wrong += _tell(f"{golden}", differences(names, rows, [[r[n] for n in names] for r in golden_rows], tolerance))
    for target in _targets(on):
        other = trace(op, solved, run_on(operator, target, solved, cycles))[1]
        wrong += _tell(target, differences(names, other, rows, tolerance))
    if covered:
        print("\n".join(coverage(op, oracle)))
    if plotted:
        print("\n".join(plot(names, rows)))
    return 1 if wrong else 0


def _targets(on: list[str]) -> list[str]:
    """`all` is every machine that is here."""
    return list(dict.fromkeys(t for name in on for t in (["python", "meaning", *(n for n, x in TARGETS.items() if x.missing() is None)] if name == "all" else [name])))


def _tell(what: str, found: list[str]) -> int:
    print(f"{what}: as the oracle" if not found else f"{what}: {len(found)} differences\n  " + "\n  ".join(found[:10]))
    return len(found)
