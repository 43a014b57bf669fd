"""What was measured, or says how much is looked at, stands in loops/profit.py; elsewhere numbers are what makes a rewrite right."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import atoll

LOOPS = Path(atoll.__file__).parent / "loops"
RIGHT = {
    "transform/checks.py STEP": "of an index that steps evenly between its ends, far from overflow",
    "transform/checks.py LONG": "rounds of such a range",
    "transform/strips.py FAR": "bits of what indices are made of, far from overflow",
    "transform/strips.py LONG": "bits of a range",
    "transform/strips.py ROOM": "bits of their products",
    "transform/cut.py FAR": "beyond every index",
    "transform/cut_at_turns.py _LARGEST": "i64",
    "transform/cut_at_turns.py _LEAST": "i64",
    "knowledge/bounds.py LEAST": "i64",
    "knowledge/bounds.py MOST": "i64",
    "recipes/independent.py SMALL": "a few of such numbers are far from overflow",
}
"""Numbers at the head of files that a result rests on."""


def _names(target: ast.expr) -> Iterator[str]:
    for x in ast.walk(target):
        if isinstance(x, ast.Name):
            yield x.id


def _is_number(value: ast.expr) -> bool:
    numbers = [x for x in ast.walk(value) if isinstance(x, ast.Constant)]
    plain = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Tuple, ast.expr_context)
    return bool(numbers) and all(isinstance(x, plain) for x in ast.walk(value)) and all(type(x.value) in (int, float) for x in numbers)


def test_numbers_at_the_head_of_files_make_rewrites_right() -> None:
    found = set()
    for folder in ("transform", "knowledge", "recipes", "idioms", "control"):
        for path in (LOOPS / folder).glob("*.py"):
            for s in ast.parse(path.read_text()).body:
                if isinstance(s, ast.Assign) and _is_number(s.value):
                    found |= {f"{folder}/{path.name} {name}" for target in s.targets for name in _names(target)}
    assert found == set(RIGHT), "a number that was measured stands in loops/profit.py"


def test_recipes_have_no_numbers() -> None:
    """Nothing above 2 in what says when: a factor or a limit has a name in profit.py."""
    found = []
    for folder in ("recipes", "idioms", "control"):
        for path in sorted((LOOPS / folder).glob("*.py")):
            tree = ast.parse(path.read_text())
            head = {id(x) for s in tree.body if isinstance(s, ast.Assign) for x in ast.walk(s)}
            shifts = {id(x.right) for x in ast.walk(tree) if isinstance(x, ast.BinOp) and isinstance(x.op, ast.RShift)}  # bytes in words: megabytes
            found += [f"{folder}/{path.name}:{x.lineno}: {x.value}" for x in ast.walk(tree) if isinstance(x, ast.Constant) and type(x.value) in (int, float) and x.value not in (0, 1, 2) and id(x) not in head | shifts]
    assert found == []
