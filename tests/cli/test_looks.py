"""How the command speaks: colours, width, JSON, watching, completion, a new project."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from atoll import cli
from atoll.command_looks import fitted, painted, watch

RIGHT = 'import atoll as at\nn = at.sizes("n")\n\n\n@at.fn\ndef f(x: at.f64[n]):\n    return sum(x)\n'
WRONG = RIGHT.replace("sum(", "summ(")
ROOT = Path(__file__).parents[2]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


TEXT = "E0105: no such name\n  --> f.py:7:12, in f\n   7 |     return summ(x)\n     |            ^^^^\n   help: did you mean sum?"


def test_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert painted(TEXT, io.StringIO()) == TEXT
    shown = painted(TEXT, Terminal())
    assert "\x1b[31m     |            ^^^^\x1b[0m" in shown and "\x1b[32m   help" in shown
    monkeypatch.setenv("NO_COLOR", "1")
    assert painted(TEXT, Terminal()) == TEXT


def test_width() -> None:
    line = "   7 |     return " + "a + " * 40 + "summ(x) + " + "b + " * 40
    caret = "     | " + " " * (line.index("summ") - 7) + "^^^^"
    above, below = fitted([line, caret], 80)
    assert len(above) <= 80 and above[below.index("^") : below.index("^") + 4] == "summ"
    assert fitted([line, caret], None) == [line, caret]


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.py").write_text(WRONG)
    assert cli.main(["check", "--json", str(tmp_path / "p.py")]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["problems"][0]["code"] == "E0105" and found["problems"][0]["edits"] == [{"place": [7, 11, 7, 15], "text": "sum"}]
    assert found["functions"] == [{"name": "f", "type": "", "line": 6, "ok": False}]
    (tmp_path / "p.py").write_text(RIGHT)
    assert cli.main(["check", "--json", str(tmp_path / "p.py")]) == 0
    assert json.loads(capsys.readouterr().out)["functions"][0]["type"] == "f(x: f64[n]) -> f64"
    assert cli.main(["show", "--json", "--stage", "ainf", str(tmp_path / "p.py")]) == 0
    rows = json.loads(capsys.readouterr().out)[0]["rows"]
    assert {"text": "let s1 = add r:n. x_0[r]", "lines": [7]} in rows


def test_watching(tmp_path: Path) -> None:
    path, said = tmp_path / "p.py", []
    path.write_text(WRONG)
    watcher = threading.Thread(target=watch, args=(path, said.append, 2, 0.05))
    watcher.start()
    until = time.monotonic() + 30
    while not said and time.monotonic() < until:
        time.sleep(0.05)
    path.write_text(RIGHT)
    watcher.join(30)
    assert "E0105" in said[0] and "0 right, 1 wrong" in said[0]
    assert "ok  f(x: f64[n]) -> f64" in said[1] and "1 right, 0 wrong" in said[1]


def test_completion(capsys: pytest.CaptureFixture[str]) -> None:
    for shell in ("bash", "zsh", "fish"):
        assert cli.main(["completion", shell]) == 0
        script = capsys.readouterr().out
        assert "explore" in script and "stage" in script
    cli.main(["completion", "bash"])
    script = capsys.readouterr().out + '\nCOMP_WORDS=(atoll exp); COMP_CWORD=1; _atoll; echo "${COMPREPLY[@]}"\nCOMP_WORDS=(atoll check --w); COMP_CWORD=2; _atoll; echo "${COMPREPLY[@]}"'
    made = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, timeout=10)
    assert made.stdout.split() == ["explain", "explore", "--watch"] or set(made.stdout.split()) == {"explain", "explore", "--watch"}


def test_a_new_project(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["new", "stars", "-o", str(tmp_path)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 5
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    made = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"], cwd=tmp_path / "stars", env=env, capture_output=True, text=True, timeout=120)
    assert made.returncode == 0 and "3 passed" in made.stdout, made.stdout
    for name, text in (("stars", "there already"), ("2x", "cannot be the name"), ("class", "cannot be the name"), ("numpy", "another module")):
        assert cli.main(["new", name, "-o", str(tmp_path)]) == 2
        assert text in capsys.readouterr().err
