"""Files, functions and lists of parameters are short, but for those that are one idea: each of these is named here, with its reason.

`python -m tests.test_short` prints what is longer than it should be.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1] / "atoll"
LINES, IN_FILE, PARAMETERS = 60, 500, 6

ONE_CASE_EACH = "one case for each kind of node, none longer than a few lines: the table of them is what is read"
FUNCTIONS = {
    "core/show.py written": ONE_CASE_EACH,
    "loops/execute.py stmt": ONE_CASE_EACH,
    "loops/show.py _stmts": ONE_CASE_EACH,
    "backends/c/emit.py write": ONE_CASE_EACH,
    "backends/cuda/check.py stmt": ONE_CASE_EACH,
    "backends/cuda/execute.py stmt": ONE_CASE_EACH,
    "distribute/footprint.py stmt": ONE_CASE_EACH,
    "ainf/show.py prim_text": ONE_CASE_EACH,
    "check/rewrites/leaves.py leaves": ONE_CASE_EACH,
    "schedule/kernel.py well_formed": ONE_CASE_EACH,
    "futhark/scalars.py call": "one case for each function of Futhark's modules of numbers",
    "cli.py _parser": "one line for each option of the command, in the order of the help",
    "check/sums.py _check": "one identity of a proof: its parts are looked at against each other, by two questions about the same row",
    "ainf/builder.py emit": "where a line stands, its conditions and its dimensions follow from each other, each step from all before it",
    "ad/loop_reverse.py reverse_loop": "the parts of a backward loop in their order; each needs what the ones before made",
    "ad/tape.py make_tape": "the ways to record a state, tried in their order over one list of new states",
    "futhark/loops.py _attempt": "a loop of Futhark is one attempt, undone as a whole where sizes turn out to change",
    "futhark/recursion.py _made": "an instance of a recursive function is known to its own body before it is done",
}
"""Functions above 60 lines."""

FILES = {
    "sizes/poly.py": "a polynomial, its atoms and its quotients are made of each other",
    "core/ir.py": "the grammar of a language with a class for each node",
    "core/interpret.py": "the meaning of that language, in one place to be read as a whole",
    "schedule/term.py": "the grammar of a language with a class for each node",
    "futhark/syntax.py": "the grammar of a language with a class for each node",
    "check/terms.py": "the terms of certificates: what each field is, and the questions that all rules ask of it",
    "check/loops.py": "one match of loops beside a term, node by node",
    "check/rewrites/region.py": "one class: a part of a program before and after a rewrite",
    "functions/emit.py": "one class: what counted code is in C, node by node",
    "backends/cuda/lower.py": "one class: loops as kernels and the program that launches them, node by node",
    "futhark/modules.py": "one class: declarations, module types and functors apply each other",
    "elaborate/builtins/reductions.py": "reductions share how their arguments are read",
    "ad/reverse.py": "one class: the reverse sweep, line by line",
    "schedule/from_ainf.py": "terms of lines and of their scalars are made of each other, node by node",
}
"""Files above 500 lines."""

MANY = 102  # functions of more than 6 parameters; this number only shrinks
VERY_MANY = {
    "check/rewrites/private_back.py __init__": "what a certificate says of a loop that adds up, field by field",
    "functions/from_core_loops.py _combine": "an operator, and for both of its sides what it needs",
    "schedule/kernel.py __init__": "the fields of a kernel",
    "schedule/library.py register_tile": "the sizes of a tile, which users give by name",
    "lower/block.py __init__": "the fields of a block",
    "lower/loop_code.py lower_inside": "the parts of a loop, which it has in common with nothing else",
    "backends/cuda/lower.py launch": "the parts of a launch, by name",
}
"""Functions of more than 9 parameters."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions() -> Iterator[tuple[str, Function]]:
    for path in sorted(ROOT.rglob("*.py")):
        for f in ast.walk(ast.parse(path.read_text())):
            if isinstance(f, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield f"{path.relative_to(ROOT)} {f.name}", f


def lines(f: Function) -> int:
    return (f.end_lineno or f.lineno) - f.lineno + 1


def parameters(f: Function) -> int:
    named = [a.arg for a in (*f.args.posonlyargs, *f.args.args, *f.args.kwonlyargs)]
    return len(named) - (named[:1] in (["self"], ["cls"]))


def long_functions() -> dict[str, int]:
    return {name: lines(f) for name, f in functions() if lines(f) > LINES}


def long_files() -> dict[str, int]:
    counted = {str(p.relative_to(ROOT)): len(p.read_text().splitlines()) for p in ROOT.rglob("*.py")}
    return {name: n for name, n in sorted(counted.items()) if n > IN_FILE}


def long_lists() -> list[tuple[str, int]]:
    return [(name, parameters(f)) for name, f in functions() if parameters(f) > PARAMETERS]


def test_functions_are_short() -> None:
    assert set(long_functions()) == set(FUNCTIONS), "split what holds two ideas; what is short again is no longer named here"


def test_files_are_short() -> None:
    assert set(long_files()) == set(FILES), "split what holds two ideas; what is short again is no longer named here"


def test_parameters_are_few() -> None:
    found = long_lists()
    assert len(found) <= MANY, "what travels together is a dataclass; this number only shrinks"
    assert {name for name, n in found if n > 9} == set(VERY_MANY)


if __name__ == "__main__":
    for name, n in [*long_functions().items(), *long_files().items(), *long_lists()]:
        print(f"{n:5}  {name}")
