"""A failing text made small: drop statements, replace expressions by their parts or by literals, use smaller sizes, as long as it fails the same way.

Works on Python's own parse tree and needs no types: a candidate that does not type-check does not fail the same way.
"""

from __future__ import annotations

import ast
import copy
import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .harness import Case, Failure, Outcome, run_case
from .places import expressions

LITERALS = ("0", "1", "0.0", "1.0", "True", "False")


def shrink(case: Case, failure: Failure, stages: Sequence[str], seconds: float = 40.0) -> Case:
    """The smallest case found that fails with the same signature."""
    wanted = failure.signature
    needed = _needed(failure, stages)

    def fails(candidate: Case) -> bool:
        apart = any(stage.startswith("O") for stage in needed)
        outcome = run_apart(candidate, needed) if apart else run_case(candidate, needed)
        return any(f.signature == wanted for f in outcome.failures)

    return smallest(case, fails, seconds)


def smallest(case: Case, fails: Callable[[Case], bool], seconds: float) -> Case:
    """The smallest case found that fails.

    Passes over ever finer parts; after a success a pass goes on where it is, and all are repeated until nothing changes.
    """
    deadline = time.monotonic() + seconds
    seen: set[str] = set()

    def is_new(candidate: Case) -> bool:
        key = f"{candidate.text}{candidate.sizes}"
        if key in seen or time.monotonic() > deadline:
            return False
        seen.add(key)
        return True

    best, before = case, ""
    while (key := f"{best.text}{best.sizes}") != before and time.monotonic() < deadline:
        before = key
        for candidates in (_smaller_sizes, _without_statements, _simpler_expressions, _without_parameters):
            position = 0
            while time.monotonic() < deadline:
                options = list(candidates(best, position))
                if not options:
                    break
                found = next((c for c in options if _weight(c) < _weight(best) and is_new(c) and fails(c)), None)
                if found is None:
                    position += 1
                else:
                    best = found
    return best


def _weight(case: Case) -> tuple[int, int]:
    return len(case.text), sum(case.sizes.values())


def _needed(failure: Failure, stages: Sequence[str]) -> tuple[str, ...]:
    """Only the stages that show the failure."""
    if failure.stage == "front":
        return ("interpret",)
    if failure.kind == "died":
        return ("interpret", *[s for s in stages if s.startswith("O")])
    return ("interpret",) if failure.stage == "interpret" else ("interpret", failure.stage)


def _child(connection: Any, case: Case, stages: Sequence[str]) -> None:
    connection.send(run_case(case, stages))
    connection.close()


def run_apart(case: Case, stages: Sequence[str]) -> Outcome:
    """Like run_case, in a process of its own."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    worker = context.Process(target=_child, args=(theirs, case, stages))
    worker.start()
    theirs.close()
    try:
        outcome: Outcome = ours.recv()
        worker.join()
    except EOFError:
        worker.join()
        outcome = Outcome(True, failures=[Failure("died", "compiled", "", f"exit {worker.exitcode}")])
    return outcome


# -- candidates: what may be done at position k, nothing when there is no such position


def _smaller_sizes(case: Case, position: int) -> Iterator[Case]:
    names = list(case.sizes)
    if position < len(names):
        name = names[position]
        yield Case(case.text, case.seed, case.sizes, case.special)
        for smaller in (0, 1, 2, 3, case.sizes[name] - 1):
            if 0 <= smaller < case.sizes[name]:
                yield Case(case.text, case.seed, {**case.sizes, name: smaller}, case.special)


def _with_text(case: Case, tree: ast.Module) -> Iterator[Case]:
    try:
        text = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
        ast.parse(text)
    except (SyntaxError, ValueError, AttributeError, TypeError):
        return
    yield Case(text, case.seed, case.sizes, case.special)


def _blocks(tree: ast.AST) -> list[list[ast.stmt]]:
    return [
        block
        for node in ast.walk(tree)
        for name in ("body", "orelse", "cases")
        if isinstance(block := getattr(node, name, None), list) and block
    ]


def _without_statements(case: Case, position: int) -> Iterator[Case]:
    """Statements left out, many at once first; a compound statement replaced by its body."""
    tree = ast.parse(case.text)
    places = [(k, i) for k, block in enumerate(_blocks(tree)) for i in range(len(block) - 1, -1, -1)]
    if position >= len(places):
        return
    yield case
    k, i = places[position]
    for length in (8, 4, 2, 1):
        if i - length + 1 >= 0:
            fresh = copy.deepcopy(tree)
            block = _blocks(fresh)[k]
            del block[i - length + 1 : i + 1]
            if not block:
                block.append(ast.Pass())
            yield from _with_text(case, fresh)
    for name in ("body", "orelse"):
        fresh = copy.deepcopy(tree)
        block = _blocks(fresh)[k]
        inner = getattr(block[i], name, None)
        if isinstance(block[i], (ast.If, ast.For, ast.While)) and inner:
            block[i : i + 1] = inner
            yield from _with_text(case, fresh)


def _simpler_expressions(case: Case, position: int) -> Iterator[Case]:
    tree = ast.parse(case.text)
    places = expressions(tree)
    if position >= len(places):
        return
    yield case
    value = places[position][3]
    if isinstance(getattr(value, "ctx", None), ast.Store):
        return
    for new in _simpler(value):
        fresh = copy.deepcopy(tree)
        node, name, index, _ = expressions(fresh)[position]
        if index is None:
            setattr(node, name, new)
        else:
            getattr(node, name)[index] = new
        yield from _with_text(case, fresh)


def _simpler(value: ast.expr) -> Iterator[ast.expr]:
    if isinstance(value, ast.Constant):
        if isinstance(value.value, (int, float)) and value.value not in (0, 1):
            yield from (ast.Constant(k) for k in (0, 1, 2))
        return
    if not isinstance(value, ast.Name):
        yield from (ast.parse(text, mode="eval").body for text in LITERALS)
    inner = [x for x in ast.walk(value) if isinstance(x, ast.expr) and x is not value]
    yield from (copy.deepcopy(x) for x in sorted(inner, key=lambda x: len(ast.unparse(x)))[:25])
    for name in ("elts", "values", "keywords", "generators"):
        items = getattr(value, name, ())
        for k in range(len(items)):
            fewer = copy.deepcopy(value)
            del getattr(fewer, name)[k]
            yield fewer
    for k, generator in enumerate(getattr(value, "generators", ())):
        if generator.ifs:
            plain = copy.deepcopy(value)
            plain.generators[k].ifs = []  # type: ignore[attr-defined]
            yield plain


def _without_parameters(case: Case, position: int) -> Iterator[Case]:
    tree = ast.parse(case.text)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    places = [(f, k) for f in functions for k in range(len(f.args.args))]
    if position >= len(places):
        return
    yield case
    function, k = places[position]
    del function.args.args[k]
    yield from _with_text(case, tree)


def describe(case: Case, failure: Failure) -> str:
    """The text with a comment that says how it fails."""
    detail = failure.detail.strip().replace("\n", "\n# ")
    used = {name: n for name, n in case.sizes.items()}
    return f"# {failure.kind} in {failure.stage}; sizes {used}, input seed {case.seed}, special {case.special}\n# {detail}\n{case.text}"
