"""A share of the random functions of NumPy users; `python -m tests.hunt --only numpy` makes more."""

from __future__ import annotations

import pytest

from .numpy_text import check, check_gradient


@pytest.mark.parametrize("seed", range(2000, 2030))
def test_as_numpy(seed: int) -> None:
    found = check(seed, seed % 6 == 0)
    assert not found.failed, found.detail


@pytest.mark.parametrize("seed", range(2000, 2012))
def test_gradients(seed: int) -> None:
    found = check_gradient(seed, seed % 6 == 0)
    assert not found.failed, found.detail
