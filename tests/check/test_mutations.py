"""The checker is hard to fool: certificates of real schedules broken in many ways, one edit or several that fit, and forgeries written by hand."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

import atoll as at
from atoll import f32
from atoll.check.prove import prove
from atoll.check.sums import Rejected
from tests.check.mutations import certificates, check, holds

n, m = at.sizes("n m")


def test_the_originals_are_accepted_and_compute_their_source() -> None:
    for data in certificates():
        assert "hold" in prove(data)
        assert holds(data) is None


@pytest.mark.parametrize("start", range(0, 160, 40))
def test_what_is_accepted_computes_its_source(start: int) -> None:
    """None by a crash; `python -m tests.check.mutations 0 5000` does more of them."""
    found = [check(seed) for seed in range(start, start + 40)]
    assert [problem for _, problem in found if problem is not None] == []
    assert sum(kind.endswith("rejected") for kind, _ in found) > 20


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
    for data in ({}, {"format": "atoll certificate 3"}, {"format": 3}):
        rejected(data)


def test_the_checker_shares_no_code_with_the_compiler() -> None:
    """Its files import the standard library and each other, nothing else."""
    import ast
    from pathlib import Path

    import atoll.check

    folder = Path(atoll.check.__path__[0])
    own = {"prove", "terms", "rules", "blocks", "follow", "loops", "nests", "sums", "limits", "verified", "replayed", *(f"rewrites/{p.stem}" for p in (folder / "rewrites").glob("*.py"))}
    assert len(own) > 10
    allowed = {f"atoll.check.{name.replace('/', '.')}" for name in own} | {"atoll.check.rewrites"}
    standard = {"__future__", "gzip", "zlib", "hashlib", "json", "sys", "typing", "math", "dataclasses", "collections", "collections.abc", "contextvars", "itertools", "functools", "os", "shutil", "subprocess", "pathlib", "contextlib", "threading", "resource", "signal"}
    for name in own:
        for node in ast.walk(ast.parse((folder / f"{name}.py").read_text())):
            if isinstance(node, ast.ImportFrom):
                assert node.module in allowed | standard and not node.level, (name, node.module)
            elif isinstance(node, ast.Import):
                assert all(alias.name in standard for alias in node.names), name
