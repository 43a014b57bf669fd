"""The C compiler is tried before it is trusted; what it gets wrong is switched off or refused; it may hang, fail and print anything."""

import os
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

import atoll as at
from atoll import f64, i32, zeros
from atoll.backends.c import known_wrong
from atoll.runtime import probes, toolchain
from tests.front.modules import python
from tests.fuzz import c_compiler

n, m = at.sizes("n m")

REAL = toolchain.compiler()
PROGRAM = """
import atoll as at, numpy as np
n = at.sizes("n")
@at.fn
def f(x: at.f64[n]):
    return sum(1 if isnan(v) else 0 for v in x)
print(f(np.array([1.0, np.nan, np.nan])))
"""


@pytest.fixture
def script(tmp_path, monkeypatch):
    """Make a script the compiler."""

    def make(text, first="0"):
        path = tmp_path / "mycc"
        version = REAL.version.replace("'", "")
        path.write_text(f"#!/bin/sh\nif [ \"$1\" = --version ]; then echo '{version}'; exit 0; fi\n{text}\n")
        path.chmod(0o755)
        monkeypatch.setenv("ATOLL_CC", str(path))
        monkeypatch.setenv("ATOLL_CACHE_DIR", str(tmp_path / "cache"))
        return path

    return make


def real(*more):
    return f'exec {" ".join(REAL.command)} "$@" {" ".join(more)}'


def outcome(optimise="3"):
    return probes.tried(toolchain.compiler(), optimise)


def run(tmp_path, program=PROGRAM, **env):
    (tmp_path / "p.py").write_text(program)
    return python("p.py", cwd=tmp_path, env={**env, **{k: os.environ[k] for k in ("ATOLL_CC", "ATOLL_CACHE_DIR") if k in os.environ}})


def test_each_program_says_what_mends_it():
    found = known_wrong.probes()
    assert [p.name for p in found] == ["diagonal", "distribution", "fission", "floats", "jam", "masked", "unordered", "wrapping"]
    for p in found:
        assert p.what and p.without and all(option.startswith("-f") for option in p.without)
        assert f"static int {p.name}(void)" in p.text


@pytest.mark.parametrize("optimise", ["0", "1", "2", "3"])
def test_this_compiler_is_right_with_its_options(optimise):
    found = outcome(optimise)
    assert not found.still_wrong
    assert probes.mending(toolchain.compiler(), optimise) == list(found.mended_by)
    assert bool(found.wrong) == bool(found.mended_by)  # nothing is switched off that is right


@pytest.mark.skipif("12.2" not in REAL.version or REAL.kind != "gcc", reason="what gcc 12.2 gets wrong")
def test_what_gcc_12_gets_wrong():
    assert set(outcome("3").wrong) == {"distribution", "fission", "jam"} and set(outcome("2").wrong) == {"distribution"}
    assert outcome("1").wrong == outcome("0").wrong == ()


def test_options_that_change_floats_are_taken_back(tmp_path, script):
    """As ATOLL_CC="gcc -ffast-math": NaN is still counted."""
    script(f'exec {" ".join(REAL.command)} -ffast-math "$@"')
    assert "floats" in outcome().wrong and not outcome().still_wrong
    done = run(tmp_path)
    assert done.stdout == "2\n", done.stderr


def test_a_compiler_that_nothing_mends_is_refused(tmp_path, script):
    script(real("-ffast-math"))
    done = run(tmp_path)
    assert "E0829: the C compiler" in done.stderr and "gives wrong results: floats" in done.stderr
    assert not at.doctor().ok and "FAIL its results" in repr(at.doctor())


def test_flags_of_the_user_are_tried_too(tmp_path):
    """Right, or refused: clang 14 is not mended by options that come after -ffast-math there."""
    done = run(tmp_path, ATOLL_CFLAGS="-ffast-math", ATOLL_CACHE_DIR=str(tmp_path / "cache"))
    assert done.stdout == "2\n" or (REAL.kind != "gcc" and "E0829" in done.stderr), done.stderr


def test_one_cache_two_sets_of_options(tmp_path):
    """Options in ATOLL_CC are part of the key."""
    command = " ".join(REAL.command)
    env = {"ATOLL_CACHE_DIR": str(tmp_path / "cache")}
    for cc in (command, f"{command} -DONE", f"{command} -DONE -DTWO"):
        (tmp_path / "p.py").write_text(PROGRAM + "print(at.cache.stats()['misses'])")
        done = python("p.py", cwd=tmp_path, env={**env, "ATOLL_CC": cc})
        assert done.stdout.split()[1] != "0", done.stderr


def test_the_outcome_is_kept(tmp_path, script):
    counter = tmp_path / "count"
    script(f'echo x >> {counter}\n{real()}')
    assert run(tmp_path).stdout == "2\n"
    first = len(counter.read_text().split())
    assert run(tmp_path).stdout == "2\n"
    assert len(counter.read_text().split()) == first


@pytest.mark.parametrize("text", ["exec sleep 1000", "sleep 1000 & sleep 1000", "while true; do echo no end; done"])
def test_a_compiler_that_hangs(script, monkeypatch, text):
    script(text)
    monkeypatch.setattr(toolchain, "_FIRST", 1)
    start = time.monotonic()
    with pytest.raises(at.CompileError, match="E0828: the C compiler .*mycc did not end within 1 seconds"):
        outcome()
    assert time.monotonic() - start < 60


def test_a_compiler_that_hangs_later(tmp_path, script):
    """The small programs are compiled, the real one never ends."""
    script(f'case "$*" in *-shared*) sleep 1000;; esac\n{real()}')
    start = time.monotonic()
    done = run(tmp_path, ATOLL_CC_TIMEOUT="2")
    assert "E0828" in done.stderr and "did not end within 2 seconds" in done.stderr and time.monotonic() - start < 100
    assert "ATOLL_CC_TIMEOUT is 'soon', which is not a number of seconds" in run(tmp_path, ATOLL_CC_TIMEOUT="soon").stderr


def test_a_compiler_that_hangs_when_asked_its_version(tmp_path, monkeypatch):
    (tmp_path / "mycc").write_text("#!/bin/sh\nsleep 1000\n")
    (tmp_path / "mycc").chmod(0o755)
    monkeypatch.setenv("ATOLL_CC", str(tmp_path / "mycc"))
    monkeypatch.setattr(toolchain, "_FIRST", 1)
    with pytest.raises(at.CompileError, match="E0802"):
        toolchain.compiler()


def test_bytes_that_are_no_text(script):
    script("printf 'no \\377\\376 good \\001' >&2; exit 1")
    with pytest.raises(at.CompileError, match="E0803: the C compiler .* failed: no �� good"):
        outcome()


@pytest.mark.parametrize("cc", ["gcc '", '"', "   ", "''", "\\", "/", ".", "-x", "nothing\nhere"])
def test_commands_that_are_none(monkeypatch, cc):
    monkeypatch.setenv("ATOLL_CC", cc)
    with pytest.raises(at.CompileError, match="E0802: no C compiler works here"):
        toolchain.compiler()


def test_a_compiler_that_makes_nothing(script):
    script("exit 0")
    with pytest.raises(at.CompileError, match="E0802: .* which says that it works but compiles nothing"):
        outcome()


def test_a_compiler_that_makes_something_else(script):
    """The last word but two of its command is what it reads; a text is no program."""
    script('while [ "$1" != -o ]; do shift; done; echo nonsense > "$2"')
    assert set(outcome().still_wrong) == {p.name for p in known_wrong.probes()}


def test_nothing_stays_behind(script, monkeypatch, tmp_path):
    """What a compiler started is ended with it."""
    script(f"sleep 1000 & echo $! > {tmp_path}/pid; wait")
    monkeypatch.setattr(toolchain, "_FIRST", 1)
    with pytest.raises(at.CompileError, match="E0828"):
        outcome()
    pid = (tmp_path / "pid").read_text().strip()
    for _ in range(50):
        if subprocess.run(["ps", "-o", "stat=", "-p", pid], capture_output=True, text=True, check=False).stdout.strip() in ("", "Z"):
            return
        time.sleep(0.1)
    raise AssertionError("it still runs")


@pytest.mark.parametrize("name", ["-x", "@größe %s", "a;b quote'", "new\nline"])
def test_cache_folders_of_any_name(tmp_path, name):
    done = run(tmp_path, PROGRAM + "\nimport os; print(os.path.isdir(at.cache.dir))", ATOLL_CACHE_DIR=name)
    assert done.stdout == "2\nTrue\n", done.stderr


# -- what was seen


@at.fn
def swapped(a: f64[n, m]):
    c = at.copy(a)
    for i in range(n):
        c[n - 1 - i], c[i] = c[i], c[n - 1 - i]
        c[i, 0] = c[i, 0] * 2.0
    return c


@at.fn
def swapped_back(a: f64[n, m], dy: f64[n, m]):
    return vjp(swapped, a, dy)


@at.fn
def taken(c: f64[n, m]):
    s = zeros(m)
    t = zeros(m)
    for j in range(m):
        s[j] = c[0, j]
        c[0, j] = 0.0
        t[j] = c[n - 1, j]
        c[n - 1, j] = 0.0
    return c, s, t


@at.fn
def wave(row: f64[m], x: f64[n]):
    for i in range(n):
        left = x[i]
        for j in range(1, m):
            v = left + row[j - 1]
            row[j] = left
            left = v
    return row


@at.fn
def skewed(b: f64[m], c: f64[m], x: f64[n]):
    for i in range(n):
        for j in range(64):
            b[i + j] = c[i + j] + c[j]
    return b


@at.fn
def masked(x: i32[30, 2], masks: i32[n]) -> i32[n, 2]:
    out = zeros((n, 2), i32)
    for k in range(n):
        a = i32(0)
        b = i32(0)
        for r in range(30):
            bit = i32(1) << i32(r)
            if bit & masks[k] == bit:
                a += x[r, 0]
                b += x[r, 1]
        out[k, 0] = a
        out[k, 1] = b
    return out


def test_sums_of_neighbours_on_a_condition():
    """Happened: gcc 12 added x[r, 1] to both (found in a program of Futhark's tests, which places points by Sobol's numbers)."""
    x, masks = np.arange(60, dtype=np.int32).reshape(30, 2) ** 2, np.arange(9, dtype=np.int32) * 33
    wanted = [[sum(x[r, j] for r in range(30) if mask >> r & 1) for j in range(2)] for mask in masks]
    np.testing.assert_array_equal(masked(x, masks), wanted)


def test_rows_that_are_taken_out():
    a, dy = np.array([[1.0], [2.0]]), np.array([[1.0], [0.0]])
    np.testing.assert_array_equal(swapped_back(a, dy), dy)
    rows = np.arange(1.0, 7).reshape(2, 3)
    for given, wanted in zip(taken(rows), taken.interpret(rows), strict=True):
        np.testing.assert_array_equal(given, wanted)


@pytest.mark.parametrize("size", [(63, 130), (64, 67), (64, 130)])
def test_skewed_loops(size):
    g = np.random.default_rng(0)
    row, x = g.integers(0, 9, size[1]) / 4, g.integers(0, 9, size[0]) / 4
    wanted = row.copy()
    for left in x:
        for j in range(1, len(row)):
            left, wanted[j] = left + wanted[j - 1], left
    np.testing.assert_array_equal(wave(row, x), wanted)
    if size[1] > 124:
        wanted = row.copy()
        for i in range(60):
            wanted[i : i + 64] = row[i : i + 64] + row[:64]
        np.testing.assert_array_equal(skewed(row, row, x[:60]), wanted)


def test_random_nests():
    """python -m tests.fuzz.c_compiler, for a moment."""
    assert c_compiler.wrong_in(1, functions=30) == []


def test_what_was_not_waited_for_is_not_remembered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An alarm of the user's, which is an OSError, or a compiler that takes too long, says nothing about what the compiler gets wrong."""
    cc = toolchain.compiler()
    calls = []

    def interrupted(command: list[str], seconds: int) -> tuple[int, str]:
        calls.append(command)
        raise TimeoutError

    monkeypatch.setattr(probes, "run_compiler", lambda *args: None)
    monkeypatch.setattr(probes, "started", interrupted)
    with pytest.raises(TimeoutError):
        probes._wrong(cc, [], tmp_path)
    assert calls
