"""The checker is hard to fool: certificates of real schedules broken in 200 ways, and forgeries written by hand."""

from __future__ import annotations

import copy
import json
from functools import cache
from typing import Any

import pytest

import atoll as at
from atoll import f32
from atoll.check.prove import prove
from atoll.check.sums import Rejected
from tests.check.mutations import mutate, neutral
from tests.conformance.test_schedules_programs import load

n, m = at.sizes("n m")


@cache
def certificates() -> list[dict[str, Any]]:
    blur, matmul, stencil = load("blur"), load("matmul"), load("stencil")
    made = [blur.fused_tails(), load("convolution").gather(), stencil.window(), matmul.tiled_tails()]
    return [json.loads(json.dumps(s.certificate().data)) for s in made]


def test_the_originals_are_accepted() -> None:
    for data in certificates():
        assert "hold" in prove(data)


def test_two_hundred_mutants() -> None:
    """At least 99 of 100 are rejected, none by a crash."""
    caught, escaped = 0, []
    seed = 0
    while caught + len(escaped) < 200:
        seed += 1
        original = certificates()[seed % 4]
        made = mutate(original, seed)
        if made is None:
            continue
        broken, what = made
        try:
            prove(broken)
        except Rejected:
            caught += 1
            continue
        if not neutral(original, broken):
            escaped.append(what)
    assert caught >= 0.99 * 200, escaped


def _loops(data: dict[str, Any], kind: str) -> list[list[Any]]:
    """Every statement of a kind, wherever it is."""
    found: list[list[Any]] = []

    def visit(stmts: list[Any]) -> None:
        for x in stmts:
            if x[0] == kind:
                found.append(x)
            for part in x:
                if isinstance(part, list) and part and isinstance(part[0], list) and part[0] and isinstance(part[0][0], str):
                    visit(part)

    visit(data["loops"]["body"])
    return found


def _delete(stmts: list[Any], target: Any) -> bool:
    for k, x in enumerate(stmts):
        if x is target:
            del stmts[k]
            return True
        if isinstance(x, list) and any(isinstance(part, list) and _delete(part, target) for part in x):
            return True
    return False


@at.fn
def rows(a: f32[n, m]) -> f32[n]:
    return [sum(a[i, j] for j in range(m)) for i in range(n)]


def forged() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(json.dumps(at.schedule(rows).certificate().data))
    return copy.deepcopy(data)


def rejected(data: dict[str, Any]) -> None:
    with pytest.raises(Rejected):
        prove(data)


def test_adding_to_what_was_never_set() -> None:
    """The trial's hole C9: `+=` without the zeros before it."""
    data = forged()
    store = _loops(data, "store")[0]
    assert _delete(data["loops"]["body"], store)
    rejected(data)


def test_a_sum_is_not_parallel() -> None:
    data = forged()
    sums = [x for x in _loops(data, "for") if not x[4][0]]
    sums[0][4] = [True, 16, False, True]
    rejected(data)


def test_a_licence_is_not_left_out() -> None:
    s = at.schedule(rows).reassociate("j", 4)
    data = json.loads(json.dumps(s.certificate().data))
    assert data["licences"] == ["reassociate"] and prove(data)
    data["licences"] = []
    rejected(data)


def test_another_program_is_not_proved() -> None:
    data = forged()
    other = next(k for k, row in enumerate(data["T"]) if row[0] == "get")
    data["T"].append(["op", "add", [other, other], "f32"])
    data["T"][data["source"]][-1] = len(data["T"]) - 1
    rejected(data)


def test_other_c_is_not_accepted() -> None:
    data = forged()
    data["c"]["text"] = data["c"]["text"].replace("+=", "-=")
    rejected(data)


def test_not_a_certificate() -> None:
    for data in ({}, {"format": "atoll certificate 1"}, {"format": 3}):
        rejected(data)


def test_the_checker_shares_no_code_with_the_compiler() -> None:
    """Its files import the standard library and each other, nothing else."""
    import ast
    from pathlib import Path

    import atoll.check

    folder = Path(atoll.check.__path__[0])
    own = {"prove", "terms", "rules", "loops", "nests", "sums"}
    allowed = {f"atoll.check.{name}" for name in own}
    standard = {"__future__", "gzip", "zlib", "hashlib", "json", "sys", "typing", "math", "dataclasses", "collections", "collections.abc", "itertools", "functools"}
    for name in own:
        for node in ast.walk(ast.parse((folder / f"{name}.py").read_text())):
            if isinstance(node, ast.ImportFrom):
                assert node.module in allowed | standard, (name, node.module)
            elif isinstance(node, ast.Import):
                assert all(alias.name in standard for alias in node.names), name
