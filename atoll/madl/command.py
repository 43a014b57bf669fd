"""The `atoll` command on .madl files: check, show, run, build, bench, explain.

    atoll check ctl.madl                      ok  fib : int
    atoll show ctl.madl:fib --stage c         surface, places, order, loops or c
    atoll run ctl.madl:fib --cycles 5         one line of results per cycle
    atoll build ctl.madl -o out               ctl.c, ctl.h, ctl_example.c
"""

from __future__ import annotations

import ast
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from atoll.errors import Error, Span, fail
from atoll.errors.misuse import Misuse
from atoll.madl import graph as g
from atoll.madl import syntax as s
from atoll.madl.api import Module, Operator, madl
from atoll.madl.c_file import CFile, Options
from atoll.madl.pieces import leaves_of
from atoll.madl.schedule import node_name
from atoll.madl.tell import where_is
from atoll.madl.typing import prune, show_type
from atoll.madl.values import dtype_of, nest
from atoll.types.types import Index

STAGES = ("surface", "places", "order", "loops", "c")


def check_file(path: Path) -> tuple[list[str], list[Error]]:
    """What is right: a line per operator, and what its users should know. And what is wrong."""
    problems: list[Error] = []
    return list(_checked(open_file(path, problems))), problems


def _checked(module: Module) -> Iterator[str]:
    for name in module:
        operator = getattr(module, name)
        if operator.recursive:
            yield f"ok  {name} : checked for each size it is used at"
            continue
        yield f"ok  {name} : {operator.type}"
        for c in operator.contracts():
            yield f"      {c['kind']} {c['text']}: {c['status'] if c['status'] != 'checked' else 'checked in simulation'}"
        for word, span in operator.compiled.unused:
            yield f"    warning: {word} is never used (line {span.line})"
        for word, span in _negations(operator.compiled.operator):
            yield f"    warning: !{word} is a copy of {word}, not its negation, which is `not {word}` (line {span.line})"
        lost = operator.overwritten()
        if lost:
            yield f"    note: in C, {name} overwrites {', '.join(lost)}; write !{lost[0]} to work on a copy"


def _negations(operator: s.Operator) -> Iterator[tuple[str, Span]]:
    """Copies of variables as parts of conditions: in C `!` negates."""
    for node in s.walk(operator):
        if isinstance(node, s.Operation) and node.op in ("and", "or", "not", "select"):
            for part in node.args[:1] if node.op == "select" else node.args:
                if isinstance(part, s.Copy) and isinstance(part.arg, s.Variable):
                    yield s.text(part.arg), part.span
        elif isinstance(node, s.Branch) and isinstance(node.condition, s.Copy) and isinstance(node.condition.arg, s.Variable):
            yield s.text(node.condition.arg), node.condition.span


def find(path: Path, name: str | None) -> Operator:
    """The operator of a file that is meant; without a name, the last."""
    module = open_file(path)
    names = list(module)
    if not names:
        raise Misuse(f"{path} has no operators")
    if name is not None and name not in names:
        raise Misuse(f"{path} has no operator {name} (there are: {', '.join(names)})")
    found: Operator = getattr(module, name or names[-1])
    return found


def open_file(path: Path, problems: list[Error] | None = None) -> Module:
    if not path.is_file():
        raise Misuse(f"there is no file {path}")
    return madl(path, problems=problems)


def show_file(path: Path, name: str | None, stage: str) -> str:
    """An operator at a stage."""
    if stage not in STAGES:
        raise Misuse(f"a .madl operator has no stage {stage} (there are: {', '.join(STAGES)})")
    return show_operator(find(path, name), path.stem, stage)


def show_operator(operator: Operator, stem: str, stage: str, options: Options | None = None) -> str:
    """A stage as text; `options` are those of the C."""
    if stage == "surface":
        return operator.source
    if stage == "places":
        return explain(operator)
    if stage == "order":
        return "\n".join(_order(operator))
    file = CFile(stem, [operator.compiled], options or Options())
    if stage == "c":
        return file.source().rstrip()
    return "\n\n".join(file.functions[id(fn)] for op in file.lowered.operators.values() for fn in (op.reset, op.cycle) if fn)


def explain_file(path: Path, name: str | None) -> str:
    """What was inferred for an operator."""
    return explain(find(path, name))


def explain(operator: Operator) -> str:
    """Type, places, memories and copies, in words."""
    op = operator.compiled
    names = op.graph.size_names
    lines = [f"{operator.kind} {op.name} : {operator.type}", ""]
    for role, wires in (("argument", op.graph.arguments), ("result", op.graph.results)):
        for wire in wires:
            place = op.layout.place[wire]
            lines.append(f"{role} {wire.shown} of {show_type(wire.type, names)} is {where_is(place.map, place.chunk.name, names)}")
    whose = {"memory": "given by the caller", "state": "kept from cycle to cycle", "workspace": "given by the caller, for the call", "local": "on the stack"}
    rows = operator.memory()
    lines += ["", "memories:", *(f"  {m['name']} of {m['type']}: {whose[m['role']]}" for m in rows)] if rows else []
    copies = operator.copies()
    lines += ["", f"copies: {', '.join('!' + c if not c.startswith('!') else c for c in copies) if copies else 'none'}"]
    return "\n".join(lines)


def _order(operator: Operator) -> Iterator[str]:
    """The statements in the order they run, nested as they run."""
    op = operator.compiled

    def scope_lines(scope: g.Scope, depth: int) -> Iterator[str]:
        pad = "    " * depth
        for start in scope.starts:
            when = "if reset" if scope.reset == "reset" else "at the start"
            words = " ".join(start.span.text().split())
            yield f"{pad}{when}: {words}"
        for node in op.schedule.bodies[scope].sequence if scope in op.schedule.bodies else scope.nodes:
            yield from node_lines(node, pad, depth)

    def node_lines(node: Any, pad: str, depth: int) -> Iterator[str]:
        name = node_name(op.graph, node).strip("`")
        if not isinstance(node, g.Nest):
            yield pad + name
            return
        for k, inner in enumerate(node.scopes):
            head = name if node.condition is None else _head(node, k)
            yield f"{pad}{head}:"
            yield from scope_lines(inner, depth + 1)

    yield from scope_lines(op.graph.body, 0)


def _head(node: g.Nest, k: int) -> str:
    """What a branch is called: `if c`, `else`, `case idle`."""
    assert node.condition is not None
    if len(node.decisions()) == 1:
        return (f"if {node.condition.shown}", "else")[k]
    return " ".join(node.places[k].text().partition(":")[0].split()) if node.places[k].text().startswith(("case", "state")) else "else"


# -- running


def run_file(path: Path, name: str | None, texts: list[str], cycles: int = 1, sizes: dict[str, int] | None = None, interpret: bool = False) -> int:
    """Call an operator with literals or .npy files; one with state runs some cycles. Prints the results."""
    if cycles < 0:
        raise Misuse(f"--cycles is {cycles}; it is a number of cycles, 0 or more")
    values = [_literal(text) for text in texts]
    operator = find(path, name).at(sizes or {}, tuple(values))
    args = [_typed(operator, k, value) for k, value in enumerate(values)]
    if not operator.stateful:
        call = operator.interpret if interpret else operator
        for _ in range(cycles):
            print(call(*args, **(sizes or {})))
        return 0
    instance = operator.instance(sizes or {}, interpret)
    for _ in range(cycles):
        print(instance.step(*args))
    return 0


def _literal(text: str) -> Any:
    """An argument from the command line."""
    if text.endswith(".npy"):
        try:
            return np.load(text)
        except (OSError, ValueError) as error:
            raise Misuse(f"{text}: {error}") from None
    if text in ("true", "false"):
        return text == "true"
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        raise Misuse(f"{text!r} is neither a .npy file nor a number, list or tuple") from None


def _typed(operator: Operator, k: int, value: Any) -> Any:
    """A list as the array the operator's parameter wants."""
    wires = operator.compiled.graph.arguments
    if k >= len(wires) or not isinstance(value, list):
        return value
    (leaf, *more) = leaves_of(wires[k].type)
    if more or operator.compiled.graph.generics:
        return value
    try:
        array = np.array(value)
    except ValueError:
        raise Misuse(f"{value} is not an array: its rows have different lengths") from None
    shape = array.shape if array.size else (0,) * len(leaf.extents)
    return value if array.dtype == object else _cast(array, dtype_of(leaf.type, None).numpy, value).reshape(shape)


def _cast(array: Any, dtype: Any, value: Any) -> Any:
    """Literals take the parameter's type where they fit it."""
    made = array.astype(dtype)
    return made if np.array_equal(made, array) else np.array(value)


def build_file(
    path: Path, name: str | None, folder: Path, overwrite: bool = False, only: list[str] | None = None, sizes: dict[str, int] | None = None, **options: Any
) -> tuple[list[Path], list[str]]:
    """Write the C of a file, or of one operator and what it calls. And the words about what has none."""
    if name is None and sizes:
        raise Misuse("--size is for one operator that is made for each size: FILE.madl:OPERATOR --size n=8")
    if name is None:
        module = open_file(path)
        left = [] if only is not None else [f"{n} is left out: {why}" for n, why in module.left_out().items()]
        return module.export_c(folder, overwrite, only, **options), left
    if only is not None:
        raise Misuse("give either FILE.madl:OPERATOR or --only, not both")
    operator = find(path, name)
    if sizes and not operator.recursive:
        raise Misuse(f"{name} is one function for all sizes; --size is for `let rec`")
    if operator.recursive and not sizes:
        raise Misuse(f"{name} is made for each size it is used at: say which with --size")
    operator = operator.at(sizes or {})
    if operator.kind in ("patt", "view"):
        raise Misuse(f"{name} only rearranges, so it has no code of its own")
    return operator.export_c(folder, overwrite, **options), []


# -- timing


def bench_file(path: Path, name: str | None, sizes: dict[str, int], seconds: float = 1.0) -> str:
    """The median time of a cycle on random data, called from Python."""
    operator = find(path, name).at(sizes)
    args = _random(operator, sizes)
    call = operator.instance(sizes, False).step if operator.stateful else lambda *a: operator(*a, **sizes)
    times: list[float] = []
    until = time.perf_counter() + seconds
    while len(times) < 5 or (time.perf_counter() < until and len(times) < 100_000):
        start = time.perf_counter()
        call(*args)
        times.append(time.perf_counter() - start)
    times.sort()
    return f"{operator.name}: median {times[len(times) // 2] * 1e6:.2f} us of {len(times)} cycles"


def _random(operator: Operator, sizes: dict[str, int]) -> list[Any]:
    op, rng = operator.compiled, np.random.default_rng(0)
    if op.graph.generics:
        fail("E0963", op.operator.span, name=op.name)
    named = {name: sym for sym, name in op.graph.size_names.items()}
    env = {named[n]: v for n, v in sizes.items() if n in named}

    def length(p: Any) -> int:
        missing = [op.graph.size_names.get(a, repr(a)) for a in p.leaves() if a not in env]
        if missing:
            fail("E0961", name=op.name, text=f"the size {missing[0]} is not known", help=f"give it: --size {missing[0]}=8")
        return int(p.evaluate(env))

    def value(t: Any) -> Any:
        parts = {}
        for leaf in leaves_of(t):
            shape, dtype, kind = tuple(length(n) for n in leaf.extents), dtype_of(leaf.type, None), prune(leaf.type)
            high = max(1, length(kind.size)) if isinstance(kind, Index) else 2 if dtype.kind == "b" else 100
            data = rng.random(shape) if dtype.is_float else rng.integers(0, high, shape)
            parts[leaf.components] = np.asarray(data).astype(dtype.numpy)
        return nest(t, parts, ())

    return [value(w.type) for w in op.graph.arguments]

