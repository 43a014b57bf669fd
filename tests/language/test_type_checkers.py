"""What editors and type checkers make of a user's files: mypy --strict with the plugin, dir, help, signatures. `make pyright` runs pyright."""

from __future__ import annotations

import inspect
import pydoc
import re
import subprocess
import sys
from pathlib import Path

import atoll as at
from atoll import f64, i64

ROOT = Path(__file__).parents[2]
n, m = at.sizes("n m")

# A user's file: every construct that is not Python's, with mistakes of the user's own in the lines marked.
PROGRAM = '''
from __future__ import annotations
import numpy as np
import atoll as at
from atoll import f64, i64, u8, fn
from atoll.std.lists import List
n, m = at.sizes("n m")
cnt = at.some("cnt")

@at.record
class Graph:
    start: i64[n + 1]
    w: (f64[m], f64)
    table: f64[3, 4]

@at.record
class Num:
    value: f64
@at.record
class Bin:
    left: Expr
    right: Expr
Expr = Num | Bin
@at.record
class Row:
    items: List[i64]

@at.fn
def rank(g: Graph, x: f64[n, 2 * m], k: i64 = 2) -> (f64[n], i64):
    r = zeros(n)
    for v in range(g.start[0], g.start[1]):
        r[v] = sqrt(sum(x[v])) + undefined_here
    return r, k

@at.fn(reassociate=False)
def words(s: u8[n]) -> i64[cnt]:
    return [i for i in range(n) if s[i] > 97]

@fn
def evaluate(e: Expr) -> f64:
    match e:
        case Num(v):
            return v
        case Bin(l, r):
            return evaluate(l) + evaluate(r)

@rank.def_vjp
def back(g: Graph, x: f64[n, 2 * m], k: i64, dy: (f64[n], i64)) -> f64[n]:
    return nothing

def inside() -> float:
    @at.fn
    def local(x: f64[n]) -> f64:
        return sum(x)
    return float(local(np.ones(3)))

row = Row([1, 2])
print(len(row.items), [k for k in row.items], row.items[0])
g = Graph(np.zeros(3, np.int64), (np.ones(2), 1.0), table=np.ones((3, 4)))
print(rank(g, np.ones((2, 4))), rank.type, rank.show("core"), at.grad(words), g.start.sum(), evaluate(Num(1.0)))
Graph(1)  # mine
inside().foo  # mine
'''


def test_mypy_strict(tmp_path):
    (tmp_path / "user.py").write_text(PROGRAM)
    (tmp_path / "mypy.ini").write_text("[mypy]\nstrict = true\nplugins = atoll.mypy_plugin\n")
    files = [tmp_path / "user.py", *sorted((ROOT / "examples").glob("*.py")), *sorted((ROOT / "examples" / "ad").glob("*.py"))]
    command = [sys.executable, "-m", "mypy", "--config-file", str(tmp_path / "mypy.ini"), "--cache-dir", str(tmp_path / "cache"), *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=300, check=False)
    errors = [line for line in done.stdout.splitlines() if ": error:" in line]
    of_mine = {k + 1 for k, line in enumerate(PROGRAM.splitlines()) if "# mine" in line}
    assert {int(line.split(":")[1]) for line in errors if line.startswith("user.py")} == of_mine, done.stdout
    # plain Python functions of the examples without annotations, and what is about those
    others = [line for line in errors if not line.startswith("user.py") and not re.search(r"\[no-untyped-(def|call)\]|differences\.py", line)]
    assert not others, "\n".join(others)


def test_dir_shows_what_a_user_wants():
    shown = dir(at)
    assert {"fn", "grad", "value_and_grad", "jvp", "schedule", "Function", "cache", "doctor", "module", "node", "donate", "hessian", "linearize", "random", "tree", "vmap", "exp", "f64"} <= set(shown)
    assert not {"FnMaker", "OwnMaker", "importlib", "TYPE_CHECKING", "Any", "plain", "poly", "names_in", "annotations", "MYPY"} & set(shown)
    assert all(hasattr(at, name) for name in shown)
    assert dir(at.tree) == ["leaves", "map", "unflatten", "zip"]
    assert {"key", "normal"} <= set(dir(at.random)) and not {"Any", "fail", "np"} & set(dir(at.random))


@at.fn
def scaled(x: f64[n], /, by: f64 = 2.0, *, times: i64 = 1) -> f64[n]:
    """x, scaled."""
    return x * by * times


@at.fn
def plain(x: f64):
    return x


def test_help_and_signatures():
    assert repr(inspect.signature(scaled)) == "<Signature (x: f64[n], /, by: f64 = 2.0, *, times: i64 = 1) -> f64[n]>"
    assert str(scaled.__annotations__) == "{'x': f64[n], 'by': f64, 'times': i64, 'return': f64[n]}"
    assert "x, scaled." in pydoc.render_doc(scaled) and "plain(x: f64)" in pydoc.render_doc(plain)
    assert "exclusive=False" in str(at.scan.__doc__) and str(inspect.signature(at.scan)) == "(op, ne, xs, exclusive=False)"
    assert "element by element" in pydoc.render_doc(at.tanh)
    assert str(inspect.signature(at.grad(plain))) == "(x: f64)"
