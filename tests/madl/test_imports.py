"""`import "filters.py": fir`: Atoll functions inside MADL, and the ones that cannot be."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import atoll as at
from tests.madl.harness import STRICT, strict_compile, undefined_symbols

FILTERS = """
import atoll as at
n, k = at.sizes("n k")

@at.fn
def smooth(x: at.f64[n + 2]) -> at.f64[n]:
    return [(x[i] + x[i + 1] + x[i + 2]) / 3 for i in range(n)]

@at.fn
def norm(x: at.f64[n]) -> at.f64:
    return at.sqrt(sum(x * x))

@at.fn
def split_signs(x: at.f64[n]) -> (at.f64[n], at.f64[n]):
    return [v if v > 0 else 0.0 for v in x], [v if v < 0 else 0.0 for v in x]

@at.fn
def twice_smoothed(x: at.f64[n + 2]) -> at.f64[n, n]:
    y = scan(add, 0.0, x)
    return [[y[i] * y[j + 2] for j in range(n)] for i in range(n)]

@at.fn
def element(x: at.f64[n], k: at.i64) -> at.f64:
    return x[k]

@at.fn
def ordered(x: at.f64[n]) -> at.f64[n]:
    return sort(x)

@at.fn
def told(x: at.f64[n]) -> at.f64[n]:
    print(x)
    return x

@at.fn
def applied(x: at.f64[n], f: at.Fn[[at.f64], at.f64]) -> at.f64[n]:
    return map(f, x)

@at.fn
def first_ones(k: at.i64) -> at.f64[k]:
    return [1.0 for i in range(k)]

not_a_function = 3
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("imports")
    (made / "filters.py").write_text(FILTERS)
    return made


def program(folder: Path, text: str, name: str = "use") -> Any:
    (folder / f"{name}.madl").write_text(text)
    return at.madl(folder / f"{name}.madl")


def test_functions_are_called_and_places_are_ours(folder: Path) -> None:
    nd = program(folder, 'import "filters.py": smooth, norm\nlet f (x of [_]f64) returns (y, s): y = smooth(x); s = norm(y)')
    x = np.array([1.0, 2.0, 4.0, 8.0, 3.0])
    y, s = nd.f(x)
    assert np.allclose(y, (x[:-2] + x[1:-1] + x[2:]) / 3) and np.isclose(s, np.sqrt((y * y).sum()))
    assert nd.f.type == "size n. [n]f64 -> [n - 2]f64, f64"
    assert nd.f.copies() == []
    assert np.allclose(nd.f.interpret(x)[0], y)


def test_the_c_of_a_function_is_part_of_the_file(folder: Path, tmp_path: Path) -> None:
    nd = program(folder, 'import "filters.py": smooth, norm\nlet f (x of [_]f64) returns (y, s): y = smooth(x); s = norm(y)')
    file = nd.c_file()
    made = strict_compile(file.source(), file.header(), file.name, tmp_path)
    assert undefined_symbols(made) <= {"sqrt", "_GLOBAL_OFFSET_TABLE_"}
    (tmp_path / "size.c").write_text(
        f'#include "{file.name}.c"\n#include <stdio.h>\nint main(void) {{ printf("%d %d", F_STACK_BYTES, (int)sizeof(at_sum_f64)); return 0; }}\n'
    )
    subprocess.run(["cc", *STRICT, "-Wno-unused", "size.c", "-o", "size", "-lm"], cwd=tmp_path, check=True)
    said, partial = subprocess.run(["./size"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()
    assert said == partial, "a long sum keeps its partial sums on the stack"


def test_two_results_and_strided_arguments(folder: Path) -> None:
    """A view that is not one piece is copied where the copy is written."""
    nd = program(folder, 'import "filters.py": split_signs\nlet f (m of [_][2]f64) returns (p, q): [|a, b|] = transpose(m); p, _ = split_signs(!a); _, q = split_signs(!b)')
    p, q = nd.f(np.array([[1.0, -2.0], [-3.0, 4.0], [5.0, -6.0]]))
    assert p.tolist() == [1.0, 0.0, 5.0] and q.tolist() == [-2.0, 0.0, -6.0]
    with pytest.raises(at.Error, match="Non-single piece location"):
        program(folder, 'import "filters.py": norm\nlet f (m of [_][2]f64) returns (p): [|a, _|] = transpose(m); p = norm(a)', "strided")


def test_memory_a_function_needs_is_given_by_the_caller(folder: Path) -> None:
    nd = program(folder, 'import "filters.py": twice_smoothed\nlet f (x of [_]f64) returns (y): y = twice_smoothed(x)')
    x = np.array([1.0, 2.0, 3.0, 4.0])
    c = np.cumsum(x)
    assert np.allclose(nd.f(x), np.outer(c[:2], c[2:]))


def test_a_function_in_a_node(folder: Path) -> None:
    nd = program(folder, 'import "filters.py": norm\nlet f (x of [_]f64) returns (s): t init 0.0 = last t + norm(x); s = !t')
    node = nd.f()
    assert [float(node.step(np.array([3.0, 4.0]))) for _ in range(3)] == [5.0, 10.0, 15.0]


REFUSED = {
    "element": ("y = element(x, k)", "E0953", "it makes a check while it runs"),
    "ordered": ("y = ordered(x)", "E0953", "it sorts"),
    "told": ("y = told(x)", "E0953", "it prints"),
    "applied": ("y = applied(x, x)", "E0953", "applied cannot be used in MADL"),
    "first_ones": ("y = first_ones(k)", "E0953", "first_ones cannot be used in MADL"),
    "not_a_function": ("y = x", "E0952", "not_a_function is not an Atoll function"),
    "nowhere": ("y = x", "E0952", "it has no nowhere"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_used(folder: Path, name: str) -> None:
    body, code, words = REFUSED[name]
    with pytest.raises(at.Error) as caught:
        program(folder, f'import "filters.py": {name}\nlet f (x of [_]f64, k of i64) returns (y): {body}', f"bad_{name}")
    assert caught.value.code == code, str(caught.value)
    assert words in str(caught.value)


def test_files_that_do_not_run(folder: Path) -> None:
    (folder / "broken.py").write_text("import atoll as at\n1/0\n")
    for file, words in (("broken.py", "it does not run: ZeroDivisionError"), ("absent.py", "there is no such file")):
        with pytest.raises(at.Error, match=words):
            program(folder, f'import "{file}": f\nlet g (x of int) returns (y): y = x', "g")


def test_a_changed_file_is_read_again(folder: Path) -> None:
    import os

    text = "import atoll as at\n@at.fn\ndef f(x: at.f64) -> at.f64:\n    return x + {}\n"
    (folder / "changes.py").write_text(text.format(1.0))
    use = 'import "changes.py": f\nlet g (x of f64) returns (y): y = f(x)'
    assert float(program(folder, use, "changing").g(1.0)) == 2.0
    (folder / "changes.py").write_text(text.format(10.0))
    os.utime(folder / "changes.py", (1, 1))
    assert float(program(folder, use, "changing").g(1.0)) == 11.0
