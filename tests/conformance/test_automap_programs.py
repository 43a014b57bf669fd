"""examples/ranks: programs with every map written and with none, compiled both ways, give the same values."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from typing import Any

import numpy as np
import pytest

import atoll as at
import examples.ranks
from bench.automap import Written, written

NAMES = sorted(module.name for module in pkgutil.iter_modules(examples.ranks.__path__))


def program(name: str) -> Any:
    return importlib.import_module(f"examples.ranks.{name}")


def leaves(value: Any) -> list[Any]:
    return [leaf for item in value for leaf in leaves(item)] if isinstance(value, tuple) else [value]


def test_there_are_enough() -> None:
    assert len(NAMES) >= 25


@pytest.mark.parametrize("name", NAMES)
def test_both_versions_agree(name: str) -> None:
    module = program(name)
    first, second = module.with_maps, module.without_maps
    assert isinstance(first, at.Function) and isinstance(second, at.Function)
    args = module.arguments(np.random.default_rng(0))
    expected = leaves(first.interpret(*args))
    for run in (second.interpret, first, second.compile("1").call):  # the same loops: once with all that the compiler can do
        found = leaves(run(*args))
        assert [np.shape(x) for x in found] == [np.shape(x) for x in expected]
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_maps_are_removed(name: str) -> None:
    explicit, implicit = (written(program(name), which) for which in ("with maps", "without maps"))
    assert isinstance(explicit, Written) and implicit.maps < explicit.maps


@pytest.mark.parametrize("name", NAMES)
def test_explain_is_a_program_that_needs_nothing(name: str) -> None:
    """What was left out is in the explanation; given back to Atoll it means the same and nothing more is inserted."""
    module = program(name)
    text = module.without_maps.explain()
    assert "map(" in text
    explained = at.fn(source=f"{inspect.getsource(module)}\nfrom atoll import idx, bool_\n@at.fn\n{text}\n")
    args = module.arguments(np.random.default_rng(1))
    for a, b in zip(leaves(explained.interpret(*args)), leaves(module.without_maps.interpret(*args)), strict=True):
        np.testing.assert_array_equal(a, b)
    assert _code(explained.explain()) == _code(text)


def _code(text: str) -> list[str]:
    """The lines without comments."""
    return [code for line in text.splitlines() if (code := line.split("  #")[0].rstrip()) and not code.lstrip().startswith("#")]
