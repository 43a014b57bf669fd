"""A scalar primitive is one row, and known wherever it must be: a column that is missing is found here, not by a user's "undefined symbol"."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

import atoll
from atoll.backends.c import ops
from atoll.backends.c.c_names import _library
from atoll.backends.c.prelude import HELPERS
from atoll.core import slopes as rules
from atoll.core.prims import PRIMS, Prim
from atoll.types.dtypes import DTYPES

ROOT = Path(atoll.__file__).parent
SUPPORT = "\n".join(p.read_text() for folder in ("backends/c", "runtime/native") for p in sorted((ROOT / folder).rglob("*")) if p.suffix in {".py", ".h", ".c"})
ELSEWHERE = {"select": "a choice in AiNF, before derivatives are taken", "complex": "AHEAD and BACK"}


@pytest.mark.parametrize("name", sorted(PRIMS))
def test_c_for_every_dtype_it_takes(name: str) -> None:
    prim = PRIMS[name]
    dtypes = [t for t in DTYPES.values() if prim.accepts(t)]
    assert dtypes
    for dtype in dtypes:
        text = ops.call(name, ["a", "b", "c"][: prim.arity], dtype, prim.result(dtype), True)
        assert text, f"{name} of {dtype}"
        for helper in re.findall(r"\bat_\w+", text):
            stem = helper.rpartition("_")[0]  # names of helpers end with their type, which their text is written for in a loop
            assert helper in HELPERS or re.search(rf"\b{helper}\b", SUPPORT) or ("_" in stem and f"{stem}_" in SUPPORT), f"{helper}, for {name} of {dtype}, stands nowhere"
        for function in set(re.findall(r"\b([a-z]\w+)\(", text)) - set(re.findall(r"\bat_\w+", text)):
            assert any(function in names for names in _library()), f"{function}, for {name} of {dtype}, is no function of C's library"


@pytest.mark.parametrize("name", sorted(n for n, p in PRIMS.items() if "f" in p.takes and p.gives not in ("bool", "u")))
def test_a_slope_or_a_reason(name: str) -> None:
    assert name in rules.RULES or name in rules.NOT_DIFFERENTIABLE or name in ELSEWHERE, f"{name}: in none of RULES and NOT_DIFFERENTIABLE of core/slopes.py"


@pytest.mark.parametrize("name", sorted(n for n, p in PRIMS.items() if "c" in p.takes and p.gives != "bool"))
def test_complex_numbers_too(name: str) -> None:
    assert name in rules.HOLOMORPHIC or name in rules.AHEAD or name in ELSEWHERE, f"{name}: in none of HOLOMORPHIC and AHEAD of core/slopes.py"
    assert (name in rules.AHEAD) == (name in rules.BACK)


@pytest.mark.parametrize("prim", PRIMS.values(), ids=list(PRIMS))
def test_columns_fit_together(prim: Prim) -> None:
    assert set(prim.portable) <= set(prim.takes) | {"f"}
    assert not prim.vector or (prim.c and "f" in prim.takes)
    assert not prim.c_complex or "c" in prim.takes
    assert not (prim.slope and prim.refused)
    assert not prim.sign or prim.arity == 2
    assert prim.cost == 1 or not prim.quick


def test_no_stage_has_a_table_of_its_own() -> None:
    """Twenty names and more of primitives in one literal are a table: its column belongs into core/prims.py. Other languages have names of their own."""
    found: list[str] = []
    for path in sorted(ROOT.rglob("*.py")):
        where = path.relative_to(ROOT)
        if where.parts[0] in ("futhark", "madl", "eyes") or where == Path("core/prims.py"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Dict):
                names = {k.value for k in node.keys if isinstance(k, ast.Constant)}
            elif isinstance(node, (ast.Set, ast.List, ast.Tuple)):
                names = {k.value for k in node.elts if isinstance(k, ast.Constant)}
            else:
                names = set(node.value.split()) if isinstance(node, ast.Constant) and isinstance(node.value, str) else set()
            if len(names & PRIMS.keys()) >= 20 and 2 * len(names & PRIMS.keys()) > len(names):
                found.append(str(where))
    # Users' names, by kind; what the host computes beside a kernel; the trusted checker, which imports nothing (tests/check compares its table with the compiler's).
    assert dict(Counter(found)) == {"elaborate/builtins/names.py": 2, "backends/cuda/lower.py": 1, "check/terms.py": 1}
