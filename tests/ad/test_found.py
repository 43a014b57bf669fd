"""Programs whose derivatives were wrong once, each in a file of `found/` that says what happened."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "found"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda p: p.stem)
def test_found(path: Path) -> None:
    spec = importlib.util.spec_from_file_location(f"found_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.check()
