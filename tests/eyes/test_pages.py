"""What notebooks show, pictures, the cell magic, and a word about what takes long."""

from __future__ import annotations

import io
import sys
import time
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import atoll as at
from atoll.progress import telling
from tests.show import programs

VOID = {"br", "meta", "input", "line", "rect", "circle", "polyline"}


class Balanced(HTMLParser):
    """Every element is closed where it should be."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert tag in VOID or self.open.pop() == tag, tag


def balanced(text: str) -> str:
    parser = Balanced()
    parser.feed(text)
    assert parser.open == []
    return text


@pytest.mark.parametrize("f", [programs.blur, programs.slope, programs.factorial, programs.half], ids=lambda f: f.name)
def test_functions(f: at.Function) -> None:
    page = balanced(f._repr_html_())
    assert f.name in page and "<details" in page


def test_memory() -> None:
    m = programs.blur.memory()
    page = balanced(m._repr_html_())
    assert all(repr(u.bytes) in page and u.reason in page for u in m.uses) and len(m.uses) == 2
    ET.fromstring(m.plot(n=10, m=20))
    assert "1.6 KiB" in m.plot(n=10, m=20) and "at m = 20, n = 10" in m.plot(n=10, m=20)
    over = m.plot(n=[10, 100, 1000])
    ET.fromstring(over)
    assert over.count("<polyline") == 2 and "at m = 1,000" in over
    with pytest.raises(at.Error, match="has no size q"):
        m.plot(q=3)
    with pytest.raises(at.Error, match="not two"):
        m.plot(n=[1], m=[2])
    empty = programs.half.memory()
    ET.fromstring(empty.plot())


def test_pictures_are_saved(tmp_path: Path) -> None:
    path = programs.blur.memory().plot().save(tmp_path / "memory.svg")
    assert ET.parse(path).getroot().tag.endswith("svg")


def test_errors() -> None:
    with pytest.raises(at.Error) as caught:
        _ = at.fn(source='import atoll as at\nn = at.sizes("n")\n@at.fn\ndef f(x: at.f64[n]):\n    return summ(x) < 3\n').type
    page = balanced(caught.value._repr_html_())
    assert "E0105" in page and "did you mean sum?" in page and "^^^^" in page and "&lt; 3" in page


def test_schedules() -> None:
    made = at.schedule(programs.spread).split("i", 4)
    page = balanced(made._repr_html_())
    assert "split" in page and page.count("<div style") > 3


def test_roofline() -> None:
    found = programs.product.roofline(n=16, k=16, m=16)
    assert found.operations == 2 * 16**3 and found.bytes == 3 * 8 * 16**2 and found.seconds > 0 and 0 < found.share
    ET.fromstring(found.plot())
    balanced(found._repr_html_())
    assert "operations" in str(found)
    with pytest.raises(at.Error, match="E0610"):
        programs.product.roofline(n=3)


def test_roofline_at_several_sizes() -> None:
    found = programs.product.roofline({"n": [4, 16]}, k=8, m=np.array([2, 32]))
    assert [p.sizes for p in found] == [{"n": 4, "k": 8, "m": 2}, {"n": 16, "k": 8, "m": 32}] and len(found) == 2
    assert found.plot().count("<circle") == 2 and "n=16, m=32" in found.plot()
    ET.fromstring(found.plot())
    balanced(found._repr_html_())
    for wrong in (([10, 20],), ({"n": [1, 2], "k": 3, "m": [4]},), ({"n": [], "k": 1, "m": 1},)):
        with pytest.raises(at.Error, match="E0610"):
            programs.product.roofline(*wrong)


def test_cost() -> None:
    page = balanced(programs.product.cost()._repr_html_())
    assert "operations" in page


def test_the_magic(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("IPython")
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    try:
        shell.run_line_magic("load_ext", "atoll")
        shell.run_cell("import atoll as at\nfrom atoll import f64\nn = at.sizes('n')")
        cell = "@at.fn\ndef twice(x: f64[n]):\n    return x * 2.0\n"
        shell.run_cell_magic("atoll", "--explain --loops --memory --time n=10", cell)
        said = capsys.readouterr().out
        assert "twice(x: f64[n]) -> f64[n]" in said and "map(mul, x, rep(2.0))" in said and "8*n" in said and " ms" in said and " | " in said
        shell.run_cell_magic("atoll", "--speed", cell)
        assert "usage: %%atoll" in capsys.readouterr().out
        shell.run_cell_magic("atoll", "--time", cell)
        assert "n=NUMBER" in capsys.readouterr().out
    finally:
        InteractiveShell.clear_instance()


def test_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATOLL_PROGRESS", "1")
    out = io.StringIO()
    monkeypatch.setattr(sys, "stderr", out)
    with telling("compiling f", 0.02):
        time.sleep(0.1)
    assert out.getvalue().startswith("\rcompiling f, 0 s") and out.getvalue().endswith("\r")
    with telling("quick"):
        pass
    monkeypatch.setenv("ATOLL_PROGRESS", "0")
    with telling("quiet", 0.0):
        time.sleep(0.02)
    assert "quick" not in out.getvalue() and "quiet" not in out.getvalue()
