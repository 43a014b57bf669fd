"""The `atoll` command: what each subcommand prints, its exit status (0 fine, 1 the program is wrong, 2 the call is wrong), and that bad
input never shows a traceback."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import atoll as at
from atoll import cli

GOOD = '''\
from __future__ import annotations
import atoll as at
from atoll import f64, i64
n, m = at.sizes("n m")
a = at.types("a")

@at.record
class Particle:
    x: f64
    v: f64

@at.fn
def double(x: f64[n]) -> f64[n]:
    return 2 * x

@at.fn
def table(x: f64[n], y: f64[m], s: f64 = 1.0) -> f64[n, m]:
    return [[s * a * b for b in y] for a in x]

@at.fn
def quotient(a: i64, b: i64) -> i64:
    return a // b

@at.fn
def energy(p: Particle[n]) -> f64:
    return sum(q.x + q.v * q.v for q in p)

@at.fn
def one(p: Particle, w: at.Tuple[f64, i64][n]) -> f64:
    return p.x + sum(u * v for u, v in w)

@at.fn
def swap(p: (a, a)) -> (a, a):
    x, y = p
    return y, x
'''

BAD = '''\
import atoll as at
from atoll import f64
n, m = at.sizes("n m")

@at.fn
def fine(x: f64[n]) -> f64[n]:
    return 2 * x

@at.fn
def wrong(x: f64[n], y: f64[m]) -> f64[n]:
    return x + y

@at.fn
def unknown(x: f64[n]) -> f64[n]:
    return x + z
'''


WHOLE = """
import atoll as at
from atoll import f64, i64
n = at.sizes("n")
@at.fn
def count(x: i64[n], *, by: i64 = 2):
    return by * sum(x)
@at.fn
def some(x: f64[n]):
    return filter(lambda v: v > 0, x)
@at.fn
def both(p: (f64, i64[n])):
    return p[0] + sum(p[1])
"""


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "good.py": GOOD,
        "bad.py": BAD,
        "syntax.py": "def f(:\n",
        "raises.py": "x = 1\nraise ValueError('no')\n",
        "exits.py": "import sys; sys.exit(3)\n",
        "empty.py": "x = 1\n",
        "only.py": "import atoll as at\n@at.fn\ndef twice(x: at.f64) -> at.f64:\n    return 2 * x\n",
        "notes.txt": "words\n",
        "whole.py": WHOLE,
    }.items():
        Path(name).write_text(text)
    Path("nul.py").write_bytes(b"\x00\xff")
    np.save("x.npy", np.array([1.0, 2.0]))
    Path("broken.npy").write_text("x")
    Path("broken.cert").write_text("{}")


def atoll(capsys, *words: str) -> tuple[int, str, str]:
    status = cli.main(list(words))
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err and "bug in Atoll" not in err, err
    return status, out, err


SIZE_ERROR = """\
E0301: sizes do not match in `+`: n is not m
  --> bad.py:11:12, in wrong
   11 |     return x + y
      |            ^^^^^
   expected: f64[n]
   found:    f64[m]
   note: lifted: map(add, x, y)
   help: slice or pad one side, or declare one name for both sizes
"""


def test_check_tells_every_type(capsys):
    status, out, _ = atoll(capsys, "check", "good.py")
    assert status == 0
    assert out.splitlines()[0] == "ok  double(x: f64[n]) -> f64[n]"
    assert len(out.splitlines()) == 6
    assert atoll(capsys, "check", "good.py:quotient")[1] == "ok  quotient(a: i64, b: i64) -> i64\n"


def test_check_tells_every_wrong_function(capsys):
    status, out, err = atoll(capsys, "check", "bad.py")
    assert status == 1
    assert out == "ok  fine(x: f64[n]) -> f64[n]\n"
    assert err.startswith(SIZE_ERROR) and "E0105: the name z is not defined here" in err
    assert atoll(capsys, "check", "bad.py:fine")[0] == 0


@pytest.mark.parametrize("stage", ["surface", "core", "ainf", "term", "plan", "loops", "c"])
def test_show(capsys, stage):
    status, out, _ = atoll(capsys, "show", "good.py:double", "--stage", stage)
    assert status == 0 and out.strip()
    if stage == "surface":
        assert out == "def double(x: f64[n]) -> f64[n]:\n    return 2 * x\n"
    if stage == "loops":
        assert out.startswith("double<n>(x: f64[n], out result: f64[n]):\n")
    if stage == "c":
        assert "result[i] = (x[i] * 2.0);" in out


def test_show_whole_file(capsys):
    status, out, _ = atoll(capsys, "show", "only.py", "--stage", "surface")
    assert (status, out) == (0, "def twice(x: at.f64) -> at.f64:\n    return 2 * x\n")


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        (["good.py:double", "[1, 2, 3]"], "[2. 4. 6.]\n"),
        (["good.py:double", "x.npy"], "[2. 4.]\n"),
        (["good.py:double", "[]"], "[]\n"),
        (["good.py:double", "[1, 2]", "--interpret"], "[2. 4.]\n"),
        (["good.py:table", "[1, 2]", "[3]"], "[[3.]\n [6.]]\n"),
        (["good.py:table", "[1, 2]", "[3]", "10"], "[[30.]\n [60.]]\n"),
        (["good.py:energy", "([1, 2], [3, 4])"], "28.0\n"),
        (["good.py:one", "(1, 2)", "([1, 2], [3, 4])"], "12.0\n"),
        (["only.py", "4"], "8.0\n"),
    ],
)
def test_run(capsys, words, printed):
    assert atoll(capsys, "run", *words)[:2] == (0, printed)


def test_run_time_error_is_the_programs(capsys):
    status, _, err = atoll(capsys, "run", "good.py:quotient", "1", "0")
    assert status == 1
    assert err == "E0702: integer division by zero\n  --> good.py:22:12, in quotient\n   22 |     return a // b\n      |            ^^^^^^\n   help: test the divisor first\n"


def test_build(capsys):
    status, out, _ = atoll(capsys, "build", "only.py", "-o", "out")
    assert status == 0
    names = [Path(line) for line in out.splitlines()]
    assert [p.suffix for p in names] == [".h", ".c", ".c"] and all(p.exists() for p in names)
    assert atoll(capsys, "build", "only.py", "-o", "out2", "--workspace", "caller")[0] == 0


def test_build_leaves_generic_functions_out(capsys):
    status, _, err = atoll(capsys, "build", "good.py", "-o", "out")
    assert status == 0 and "swap is generic and is left out" in err


def test_build_goes_on_after_a_function_it_cannot_export(capsys):
    status, out, err = atoll(capsys, "build", "whole.py", "-o", "out")
    assert status == 1 and err.endswith("atoll: no C was written for some\n") and "E0825: some:" in err
    assert [Path(line).name for line in out.splitlines() if line.endswith(".h")] == ["count.h", "both.h"]


def test_prove_of_another_file(capsys):
    assert atoll(capsys, "prove", "notes.txt")[1] == "notes.txt: not valid: not a certificate (f.certificate().save(path) writes one)\n"


def test_run_gives_by_name_what_is_taken_by_name_only(capsys):
    assert atoll(capsys, "run", "whole.py:count", "[1, 2]", "5")[:2] == (0, "15\n")


def test_bench(capsys):
    status, out, _ = atoll(capsys, "bench", "good.py:table", "--size", "n=3", "--size", "m=2")
    assert status == 0 and out.startswith("table [n=3, m=2]: median ")
    assert atoll(capsys, "bench", "good.py:energy", "--size", "n=4")[0] == 0


def test_tune_writes_a_file_beside_the_source(capsys):
    status, out, _ = atoll(capsys, "tune", "good.py:double", "--size", "n=10")
    assert status == 0 and "as usual" in out
    assert Path("good.tune").exists()


def test_explain_code(capsys):
    assert atoll(capsys, "explain", "e0307")[:2] == (
        0,
        "E0307 (at.SizeError): ‹size› is not known to be a multiple of ‹k›\n\n"
        "split is exact: the length is a multiple of k by type.\n\n"
        "Usual remedy: use tile(a, k) to pad the last row, or take a size such as 4*n\n",
    )


def test_explain_function(capsys):
    status, out, _ = atoll(capsys, "explain", "good.py:double")
    assert status == 0 and out.startswith("def double(x: f64[n]) -> f64[n]:\n") and "map" in out


def test_doctor(capsys):
    status, out, _ = atoll(capsys, "doctor")
    assert status == 0 and "FAIL" not in out and "sum of squares = 14.0" in out


def test_doctor_without_a_compiler():
    """A compiler that does not exist is a finding, not a crash."""
    env = {"ATOLL_CC": "no-such-compiler", "PATH": "/usr/bin:/bin"}
    command = [sys.executable, "-m", "atoll", "doctor"]
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=Path(at.__file__).parents[1], timeout=60)
    assert done.returncode == 1
    assert "FAIL C compiler     E0802: no C compiler works here (tried no-such-compiler)" in done.stdout
    assert not done.stderr


def test_version(capsys):
    assert atoll(capsys, "--version")[:2] == (0, f"atoll {at.__version__}\n")


NONE = "atoll: there is no file "
CALLS = [
    ([], 2, "usage: atoll"),
    (["nix"], 2, "usage: atoll"),
    (["check"], 2, "usage: atoll check"),
    (["check", "no.py"], 2, NONE + "no.py\n"),
    (["check", "."], 2, NONE + ".\n"),
    (["check", "notes.txt"], 2, "atoll: notes.txt is none of .py, .madl and .fut files\n"),
    (["check", "empty.py"], 2, "atoll: empty.py has no Atoll functions\n"),
    (["check", "good.py:nix"], 2, "atoll: good.py has no Atoll function nix (there are: double, table, quotient, energy, one, swap)\n"),
    (["check", "syntax.py"], 1, "atoll: syntax.py:1: invalid syntax\n    def f(:\n"),
    (["check", "nul.py"], 1, "atoll: nul.py: "),
    (["check", "raises.py"], 1, "atoll: raises.py:2: the file does not run: ValueError: no\n"),
    (["check", "exits.py"], 1, "atoll: exits.py ends Python when it is imported (exit status 3)\n"),
    (["show", "good.py", "--stage", "nix"], 2, "atoll: there is no stage nix (there are: surface, core, ainf, term, plan, loops, passes, rewritten, c, cuda)\n"),
    (["show", "no.py:f"], 2, NONE + "no.py\n"),
    (["show", "bad.py:wrong"], 1, SIZE_ERROR),
    (["run", "good.py"], 2, "atoll: say which function: good.py:NAME (there are: double, table, quotient, energy, one, swap)\n"),
    (["run", "bad.py:wrong", "1", "2"], 1, SIZE_ERROR),
    (["run", "good.py:double", "[1, 2"], 2, "atoll: '[1, 2' is neither a .npy file nor a Python literal\n"),
    (["run", "good.py:double", "no.npy"], 2, "atoll: no.npy: "),
    (["run", "good.py:double", "broken.npy"], 2, "atoll: broken.npy: "),
    (["run", "good.py:double"], 2, "E0605: double: the argument x is missing\n"),
    (["run", "good.py:double", "1"], 2, "E0608: double: argument x must have 1 axis (f64[n]), not 0\n"),
    (["run", "good.py:double", "[1]", "[2]"], 2, "atoll: double takes 1 argument, not 2\n"),
    (["run", "whole.py:count", "[1.5]"], 2, "atoll: '[1.5]' is no i64[n]: 1.5 does not fit i64\n"),
    (["run", "whole.py:count", "[True, 2]"], 2, "atoll: '[True, 2]' is no i64[n]: True does not fit i64\n"),
    (["run", "whole.py:both", "(1.0, [1, 2.5])"], 2, "atoll: '(1.0, [1, 2.5])' is no (f64, i64[n]): 2.5 does not fit i64\n"),
    (["run", "good.py:energy", "3"], 2, "atoll: '3' is no Particle[n]: "),
    (["run", "good.py:swap", "(1, 2)"], 2, "E0609: swap is generic: it has type variables or function parameters\n"),
    (["build", "no.py"], 2, NONE + "no.py\n"),
    (["build", "good.py:swap"], 2, "atoll: swap is generic: there is C only for the functions that use it\n"),
    (["build", "only.py", "-o", "/proc/nowhere"], 2, "atoll: nothing can be written to /proc/nowhere: "),
    (["build", "only.py", "--workspace", "nix"], 2, "usage: atoll build"),
    (["build", "bad.py"], 1, SIZE_ERROR),
    (["bench", "good.py:double"], 2, "atoll: give --size n=NUMBER\n"),
    (["bench", "good.py:double", "--size", "n=x"], 2, "atoll: --size takes name=number, not 'n=x'\n"),
    (["bench", "good.py:swap"], 2, "atoll: there is no random data of type a\n"),
    (["tune"], 2, "usage: atoll tune"),
    (["tune", "no.py:f"], 2, NONE + "no.py\n"),
    (["tune", "only.py:nix"], 2, "atoll: only.py has no Atoll function nix (there are: twice)\n"),
    (["tune", "good.py:double"], 2, "atoll: give --size n=NUMBER\n"),
    (["explain", "E9999"], 2, "atoll: there is no error code E9999 (docs/errors.md lists them)\n"),
    (["explain", "no.py:f"], 2, NONE + "no.py\n"),
    (["explain", "bad.py:wrong"], 1, SIZE_ERROR),
    (["prove", "no.cert"], 2, NONE + "no.cert\n"),
    (["prove", "broken.cert"], 1, ""),
    (["prove", "x.npy"], 1, ""),
]


@pytest.mark.parametrize(("words", "status", "start"), CALLS, ids=lambda x: "_".join(x) if isinstance(x, list) else "")
def test_wrong_calls(capsys, words, status, start):
    found, out, err = atoll(capsys, *words)
    assert (found, err[: len(start)]) == (status, start), out + err


def test_module_and_script_are_the_same():
    done = subprocess.run([sys.executable, "-m", "atoll", "explain", "E0101"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout.startswith("E0101 (at.ParseError)")


def test_output_cut_off():
    """`atoll show ... | head -1` ends quietly."""
    command = f"{shlex.quote(sys.executable)} -m atoll show good.py --stage c | head -1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and not done.stderr
