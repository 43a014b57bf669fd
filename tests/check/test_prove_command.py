"""`atoll prove FILE.cert --program FILE:NAME --c FILE.c` of what is no plain function: a derivative by the name of its variable, a function that calls itself, an operator of MADL."""

from __future__ import annotations

from pathlib import Path

import pytest

from atoll.cli import main
from atoll.command_files import one
from atoll.madl.command import find

PROGRAM = """
import atoll as at
from atoll import f64, i64

n = at.sizes("n")

@at.fn
def loss(x: f64[n]) -> f64:
    return sum(x[i] * x[i] for i in range(n))

@at.fn
def power(x: f64, k: i64) -> f64:
    return 1.0 if k == 0 else x * power(x, k - 1)

slope = at.grad(loss)
"""

@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("prove")
    (place / "prog.py").write_text(PROGRAM)
    for name in ("slope", "power", "loss"):
        f = one(f"{place / 'prog.py'}:{name}")
        f.certificate().save(place / f"{name}.cert")
        (place / f"{name}.c").write_text(f.show("c"))
    return place


@pytest.mark.parametrize("name", ["slope", "power", "loss"])
def test_by_name(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prog, cert, text = folder / "prog.py", folder / f"{name}.cert", folder / f"{name}.c"
    assert main(["prove", str(cert), "--program", f"{prog}:{name}", "--c", str(text)]) == 0
    assert "the C is what" in capsys.readouterr().out
    edited = folder / f"{name}_edited.c"
    edited.write_text(text.read_text().replace("*", "+", 1))
    assert main(["prove", str(cert), "--program", f"{prog}:{name}", "--c", str(edited)]) == 1
    assert "the C is not printed from these loops" in "".join(capsys.readouterr())
    other = "loss" if name != "loss" else "slope"
    assert main(["prove", str(cert), "--program", f"{prog}:{other}"]) == 1
    assert f"it is about another program than {'grad_loss' if other == 'slope' else other}: other text" in "".join(capsys.readouterr())


def test_an_operator(tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = Path(__file__).parents[2] / "examples" / "madl" / "biquad.madl"
    operator = find(source, "biquad")
    operator.certificate().save(tmp_path / "op.cert")
    (tmp_path / "op.c").write_text(operator.c())
    ask = ["prove", str(tmp_path / "op.cert"), "--program"]
    assert main([*ask, f"{source}:biquad", "--c", str(tmp_path / "op.c")]) == 0
    assert "the text is that of biquad" in capsys.readouterr().out
    (tmp_path / "other.c").write_text(operator.c().replace("+", "-", 1))
    assert main([*ask, f"{source}:biquad", "--c", str(tmp_path / "other.c")]) == 1
    assert main(["prove", str(folder / "loss.cert"), "--program", f"{source}:biquad"]) == 1
    assert "another program than biquad" in "".join(capsys.readouterr())
