"""Exported C: strict C99, readable, without Python, and it computes the same. `make sanitize` runs all of tests/language this way."""

import re
import shutil
import subprocess

import numpy as np
import pytest

import atoll as at
from atoll import c128, f32, f64, i32, i64
from tests.agreement import flat, same
from tests.export.driver import SANITIZE, STRICT, compile_files, run

n, m, k = at.sizes("n m k")
kept = at.some("kept")
rng = np.random.default_rng(0)


@at.fn
def blur(a: f32[n + 2, m + 2]) -> f32[n, m]:
    return [[sum(a[i + p, j + q] for p in range(3) for q in range(3)) / 9 for j in range(m)] for i in range(n)]


@at.fn
def gains(x: f64[n], k: i64, flag: at.bool_):
    s = scan(add, 0.0, x)
    order = argsort(x)
    y = [s[j] * f64(k) for j in order]
    return y, sum(y), n + k, not flag


@at.fn
def ledger(a: i32[n], b: i32[n]) -> (i32[n], i64):
    return [u // v for u, v in zip(a, b)], sum(a)


@at.fn
def waves(x: c128[n]) -> c128[n]:
    return [v * v + 1j for v in x]


@at.fn
def stepped(x: f64[n], steps: i64) -> f64[n]:
    y = x
    for t in range(steps):
        y = [0.5 * (y[max(i - 1, 0)] + y[min(i + 1, n - 1)]) for i in range(n)]
    return y


@at.fn
def big(x: f64[n]) -> f64[kept]:
    return filter(lambda v: v > 1, x)


@at.fn
def shown(x: f64[n]) -> f64:
    print("sum", sum(x))
    assert n > 2, "too short"
    return x[2]


CASES = {
    "blur": (blur, (rng.random((7, 9)).astype("f4"),)),
    "gains": (gains, (rng.random(11), 3, True)),
    "ledger": (ledger, (np.arange(5, dtype="i4") - 2, np.full(5, 3, "i4"))),
    "waves": (waves, (rng.random(4) + 1j,)),
    "stepped": (stepped, (rng.random(6), 4)),
    "empty": (gains, (np.zeros(0), 3, False)),
}
COMPILERS = [c for c in ("gcc", "clang") if shutil.which(c)]


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("case", CASES)
def test_the_same_values(case, compiler, tmp_path):
    f, args = CASES[case]
    status, meaning, results = run(f, args, tmp_path, "-O2", compiler=compiler)
    assert (status, meaning) == (0, "ok")
    same(tuple(results), tuple(flat(f.interpret(*args))))


@pytest.mark.parametrize("case", ["blur", "gains", "stepped"])
def test_under_the_sanitizers(case, tmp_path):
    f, args = CASES[case]
    status, _, results = run(f, args, tmp_path, *SANITIZE)
    assert status == 0
    same(tuple(results), tuple(flat(f.interpret(*args))))


@pytest.mark.parametrize("f", [blur, gains, ledger, waves, stepped, shown], ids=lambda f: f.name)
@pytest.mark.parametrize("workspace", ["heap", "caller"])
def test_the_example_runs(f, workspace, tmp_path):
    if workspace == "caller" and f is gains:
        with pytest.raises(at.CompileError, match="E0805"):
            f.export_c(tmp_path, workspace=workspace)
        return
    header, source, example = f.export_c(tmp_path, workspace=workspace)
    assert (header.name, source.name, example.name) == (f"{f.name}.h", f"{f.name}.c", f"{f.name}_example.c")
    compile_files([source, example], tmp_path / "example")
    done = subprocess.run([str(tmp_path / "example")], capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 0, done.stdout
    assert "=" in done.stdout


def test_the_header_stands_alone(tmp_path):
    header, *_ = gains.export_c(tmp_path)
    (tmp_path / "only.c").write_text(f'#include "{header.name}"\n#include "{header.name}"\nint main(void) {{ return 0; }}\n')
    compile_files([tmp_path / "only.c"], tmp_path / "only")
    text = header.read_text()
    assert "int gains(int64_t n, const double *x, int64_t k, bool flag, " in text
    assert 'extern "C"' in text and "const char *gains_error(int status);" in text
    if shutil.which("g++"):
        (tmp_path / "only.cc").write_text((tmp_path / "only.c").read_text())
        subprocess.run(["g++", "-Wall", "-Wextra", "-Werror", str(tmp_path / "only.cc"), "-o", str(tmp_path / "cc")], check=True, timeout=60)


def needs(path, tmp_path):
    """The functions an object takes from elsewhere."""
    subprocess.run(["gcc", *STRICT, "-O1", "-c", str(path), "-o", str(tmp_path / "x.o")], check=True, timeout=60)
    listed = subprocess.run(["nm", "-u", str(tmp_path / "x.o")], capture_output=True, text=True, check=True, timeout=20)
    return {line.split()[-1] for line in listed.stdout.splitlines()}


def test_no_python_and_no_heap_where_none_is_needed(tmp_path):
    assert needs(blur.export_c(tmp_path / "a")[1], tmp_path) <= {"memcpy", "memset"}
    assert "malloc" in needs(stepped.export_c(tmp_path / "b")[1], tmp_path)
    assert not {"malloc", "free", "calloc"} & needs(stepped.export_c(tmp_path / "c", workspace="caller")[1], tmp_path)
    for folder in "abc":
        for file in (tmp_path / folder).iterdir():
            assert "Py" not in file.read_text() and "atoll_" not in file.read_text()


def test_a_workspace_of_the_caller(tmp_path):
    x = rng.random(6)
    header = stepped.export_c(tmp_path, workspace="caller")[0].read_text()
    assert "#define STEPPED_WORKSPACE(n, steps)" in header and "void *workspace" in header
    status, _, results = run(stepped, (x, 3), tmp_path, *SANITIZE, workspace="caller")
    assert status == 0
    same(results[0], stepped.interpret(x, 3))


def test_errors_are_numbers_with_words(tmp_path):
    status, meaning, _ = run(ledger, (np.ones(2, "i4"), np.zeros(2, "i4")), tmp_path, *SANITIZE)
    assert status > 0
    assert re.fullmatch(r"E0702: integer division by zero \(line \d+ of test_export.py\)", meaning), meaning
    status, meaning, _ = run(shown, (np.ones(2),), tmp_path)
    assert "E0703: assertion failed: too short" in meaning


def test_refused(tmp_path):
    with pytest.raises(at.CompileError, match="E0804"):
        blur.export_c(tmp_path, workspace="stack")
    with pytest.raises(at.CompileError, match="E0825: big: only running it decides the size of its result"):
        big.export_c(tmp_path)


NAMED = [
    "def pick(x: f64[n], i: i64[m]) -> f64[m]: return x[i]",
    "def x(x: f64[n]) -> f64: return sum(x)",
    "def g(g_error: f64[n], g_run: f64[n], g_piece0: f64[n]) -> f64: return sum(g_error) + sum(g_run * g_piece0)",
    "def size_t(n: f64[n], int64_t: i64, workspace: i64): return [v * f64(int64_t + workspace) for v in scan(add, 0.0, n)]",
]


@pytest.mark.parametrize("text", NAMED)
def test_examples_whose_names_are_taken(text, tmp_path):
    """By the function, by what is beside it, by the loops of the example, by C."""
    f = at.fn(source=f"import atoll as at\nfrom atoll import f64, i64\nn, m = at.sizes('n m')\n{text}\n")
    _, source, example = f.export_c(tmp_path, workspace="caller")
    compile_files([source, example], tmp_path / "example")
    done = subprocess.run([str(tmp_path / "example")], capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 0 and done.stdout.startswith("result[0] = ")


def test_names_that_c_has_taken(tmp_path):
    f = at.fn(
        source="import atoll as at\nn = at.sizes('n')\ndef double(int: at.f64[n], register: at.i64, malloc: at.f64):\n"
        "    exit = int * malloc\n    static = exit + register\n    return static\n"
    )
    status, _, results = run(f, (np.ones(3), 2, 0.5), tmp_path)
    assert status == 0
    same(results[0], np.full(3, 2.5))


@at.fn
def told(x: f64[n], y: f32[n], k: i64[n], b: at.bool_[n], c: c128) -> f64:
    print("x is", x, x[0], "100%", y, y[1])
    print((x[1], k[0]), c, f"{x[0]:.3f}", b[0], n)
    print([x, x / 3], k, b)
    return sum(x)


PRINTED = [
    np.array([1.0, 2.25, 3.0, -1.0]),
    np.array([1e9, 1.0]),
    np.array([1e7, 2.5, 1e-5]),
    np.array([np.nan, 1.5, -np.inf]),
    np.array([0.0001, 0.05]),
    np.array([1 / 3, 1e22]),
    np.array([123456.0, 1e6, 7.0]),
]


def test_print_gives_the_same_text(tmp_path, capsys):
    """As the interpreter, which prints with Python and NumPy."""
    files = []
    for number, x in enumerate(PRINTED):
        args = (x, x.astype("f4"), np.arange(len(x)) * 50 - 7, x > 1, 1 - 2.5j)
        status, _, _ = run(told, args, tmp_path, *SANITIZE) if number == 0 else run(told, args, tmp_path)
        assert status == 0
        done = subprocess.run([str(tmp_path / "program"), "arguments", "results"], cwd=tmp_path, capture_output=True, text=True, timeout=20, check=False)
        told.interpret(*args)
        files.append((done.stdout.removesuffix("0 ok\n"), capsys.readouterr().out))
    assert [mine for mine, _ in files] == [theirs for _, theirs in files]
