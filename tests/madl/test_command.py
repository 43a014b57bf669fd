"""The `atoll` command on .madl files. Exit status 0: fine; 1: the program is wrong; 2: the call is wrong."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from atoll.cli import main

SOURCE = """
let fib () returns (n): n = !last a; a init 0 = !last b; b init 1 = n + a
let scale (k of f64, x of [_]f64) returns (y): forward ([a] = x) returns (y = [b]): b = k*a
let iota <<n>> () returns (a): forward <<n>> [i] returns (a = [ai]): ai = !i
let insert (v of int, a of [_]int) returns (b): forward ([x] = a) returns (b = [y]): m = min(last m, x) init v; y = max(last m, x)
let rec total <<n>> (x of [n]int) returns (y of int): if n == 1 then [|a|] = x; y = !a else [|h|] ++ t = x; y = h + total<<n-1>>(t) end
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "ctl.madl"
    path.write_text(SOURCE)
    return path


# the arguments after the file, what is printed, the status
CASES = {
    "run node": (["run", ":fib", "--cycles", "6"], "0\n1\n1\n2\n3\n5\n", 0),
    "run node by the oracle": (["run", ":fib", "--cycles", "3", "--interpret"], "0\n1\n1\n", 0),
    "run": (["run", ":scale", "2", "[1, 2.5]"], "[2. 5.]\n", 0),
    "run by the oracle": (["run", ":scale", "2", "[1, 2.5]", "--interpret"], "[2. 5.]\n", 0),
    "run with a size": (["run", ":iota", "--size", "n=4"], "[0 1 2 3]\n", 0),
    "run recursive": (["run", ":total", "[1, 2, 3]"], "6\n", 0),
    "explain": (["explain", ":insert"], "argument v of int is the whole of v", 0),
    "places": (["show", ":fib", "--stage", "places"], "a of int: kept from cycle to cycle", 0),
    "order": (["show", ":fib", "--stage", "order"], "at the start: b init 1\nn = !last a\na = !last b\nb = n + a\n", 0),
    "loops": (["show", ":fib"], "*b = at_add_i32(*n, *a);", 0),
    "c": (["show", ":fib", "--stage", "c"], "void fib_step(fib_state *self, int32_t *n)", 0),
    "surface": (["show", ":fib", "--stage", "surface"], "a init 0 = !last b", 0),
    "bench": (["bench", ":scale", "--size", "n=8"], "scale: median ", 0),
    "no size": (["run", ":iota"], "E0961: iota: the size n is not known", 1),
    "wrong dtype": (["run", ":insert", "1", "[1.5]"], "E0960: insert: argument a must have dtype int32", 1),
    "no operator": (["run", ":nope"], "has no operator nope (there are: fib, scale, iota, insert, total)", 2),
    "no stage": (["show", ":fib", "--stage", "core"], "a .madl operator has no stage core", 2),
    "no literal": (["run", ":scale", "1", "x+1"], "is neither a .npy file nor", 2),
    "no npy": (["run", ":scale", "1", "x.npy"], "x.npy", 2),
    "bad size": (["run", ":iota", "--size", "n"], "--size takes name=number", 2),
}


@pytest.mark.parametrize("case", CASES)
def test_command(file: Path, case: str, capsys: pytest.CaptureFixture[str]) -> None:
    (command, target, *rest), wanted, status = CASES[case]
    assert main([command, f"{file}{target}", *rest]) == status
    out, err = capsys.readouterr()
    text = out if status == 0 else err
    assert wanted in text if "\n" not in wanted or command == "show" else wanted == text
    assert "Traceback" not in err


def test_check(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(file)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "ok  fib : int"
    assert lines[1] == "ok  scale : size n. f64, [n]f64 -> [n]f64"
    assert "    note: in C, insert overwrites v; write !v to work on a copy" in lines
    assert lines[-1] == "ok  total : checked for each size it is used at"


def test_check_of_a_wrong_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.madl"
    path.write_text("let f (a of [3]int) returns (b):\n  b = a ++ c\n")
    assert main(["check", str(path)]) == 1
    err = capsys.readouterr().err
    assert err.startswith("E0902: Undefined variable c") and f"{path}:2:12" in err and "b = a ++ c" in err


def test_check_tells_every_operator_that_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.madl"
    path.write_text(
        "let f (x of int) returns (y): y = x + z\nlet g (x of int) returns (y): y = f(x)\n"
        "let h (x of int) returns (y): y = x + 1\nlet i (a of [2]int) returns (b): b = [|a, a|]\n"
    )
    assert main(["check", str(path)]) == 1
    out, err = capsys.readouterr()
    assert out == "ok  h : int -> int\n"
    assert [line[:5] for line in err.splitlines() if line.startswith("E")] == ["E0902", "E0930"], "what only uses a wrong operator is not told"


def test_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("check", "show", "run", "build", "bench", "explain"):
        assert main([command, str(tmp_path / "no.madl")]) == 2
        assert "there is no file" in capsys.readouterr().err


def test_run_with_a_npy_file(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "x.npy", np.array([1.0, 2.0]))
    assert main(["run", f"{file}:scale", "3.0", str(tmp_path / "x.npy")]) == 0
    assert capsys.readouterr().out == "[3. 6.]\n"


def test_build(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The files that are written compile by themselves, and the example runs."""
    out = tmp_path / "out"
    assert main(["build", str(file), "-o", str(out)]) == 0
    assert [Path(p).name for p in capsys.readouterr().out.split()] == ["ctl.h", "ctl.c", "ctl_example.c"]
    command = ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "ctl.c", "ctl_example.c", "-o", "ctl", "-lm"]
    subprocess.run(command, cwd=out, check=True)
    done = subprocess.run(["./ctl"], cwd=out, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["fib", "scale", "iota", "insert"]


def test_build_of_one_operator(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", f"{file}:fib", "-o", str(tmp_path / "one")]) == 0
    assert "scale" not in (tmp_path / "one" / "fib.h").read_text()
