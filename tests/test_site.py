"""The pages of the site are made from what is there; the gallery's programs run (three of them here, all of them in `make site`)."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest

from atoll.errors.catalog import CODES
from tools import site

ROOT = Path(__file__).parents[1]


def test_pages(tmp_path: Path) -> None:
    site.main(tmp_path / "docs", with_gallery=False)
    out = tmp_path / "docs"
    assert {p.stem for p in (out / "errors").glob("*.md")} == set(CODES)
    api = (out / "api.md").read_text()
    assert "at.sizes" in api and "`.show(" in api and "`.edits`" in api
    wanted = set(re.findall(r": (\S+\.md)", (ROOT / "mkdocs.yml").read_text()))
    assert wanted - {p.name for p in out.glob("*.md")} == {"gallery.md"}
    assert "](../" not in "".join(p.read_text() for p in out.glob("*.md"))  # the source tree is not on the site


@pytest.mark.parametrize("name", ["kernel", "sorted_values", "histogram"])
def test_a_program_of_the_gallery(name: str, tmp_path: Path) -> None:
    path = ROOT / "examples" / "gallery" / f"{name}.py"
    made = tmp_path / site.draw(path, tmp_path)
    if made.suffix == ".png":
        data = made.read_bytes()
        assert data.startswith(b"\x89PNG") and struct.unpack(">II", data[16:24]) == (240, 240)
    else:
        assert made.read_text().count("<polyline") in (1, 2)


def test_there_are_25() -> None:
    assert len(site.GALLERY) == 25
    for path in site.GALLERY:
        assert path.read_text().startswith('"""') and "def picture()" in path.read_text()
