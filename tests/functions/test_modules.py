"""Separate compilation: modules built with different passes run as one program; what is stale or does not fit is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import atoll as at
from atoll.functions.modules import build_module, load_module

QUEUE = '''
"""Queues as two lists."""
from __future__ import annotations
import atoll as at
from atoll import i64
from atoll.std.lists import Cons, List, Nil, reverse

n = at.sizes("n")
k = at.some("k")


@at.record
class Queue:
    front: List[i64]
    back: List[i64]


@at.record
class Item:
    value: i64
    rest: Queue


Popped = Item | None


@at.fn
def empty() -> Queue:
    """The queue of nothing."""
    a: List[i64] = Nil()
    b: List[i64] = Nil()
    return Queue(a, b)


@at.fn
def push(q: Queue, x: i64) -> Queue:
    return Queue(q.front, Cons(x, q.back))


@at.fn
def pop(q: Queue) -> Popped:
    match q.front:
        case Cons(x, r):
            return Item(x, Queue(r, q.back))
        case Nil():
            match reverse(q.back):
                case Cons(x, r):
                    none: List[i64] = Nil()
                    return Item(x, Queue(r, none))
                case Nil():
                    return None


@at.fn
def divider(d: i64) -> at.Fn[[i64], i64]:
    return lambda x: x // (d - 3)


@at.fn
def evens(x: i64[n]) -> i64[k]:
    return [v for v in x if v % 2 == 0]


@at.fn
def twice(f: at.Fn[[i64], i64], x: i64) -> i64:
    return f(f(x))


if __name__ == "__main__":
    print(push(empty(), 3))
'''

FILLER = '''
from __future__ import annotations
import atoll as at
from atoll import i64

q = at.module("queue.atoi")


@at.fn
def fill(count: i64) -> q.Queue:
    s = q.empty()
    for i in range(count):
        s = q.push(s, i * i)
    return s
'''

CLIENT = '''
from __future__ import annotations
import atoll as at
from atoll import i64

filler = at.module("{folder}/filler.atoi")
q = filler.q


@at.fn
def digits(count: i64) -> i64:
    s = filler.fill(count)
    f = q.divider(5)
    total = 0
    more = True
    while more:
        match q.pop(s):
            case q.Item(x, r):
                total = 3 * total + f(x)
                s = r
            case None:
                more = False
    return q.twice(f, total)
'''


def expected(count: int) -> int:
    total = 0
    for i in range(count):
        total = 3 * total + i * i // 2
    return total // 2 // 2


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "queue.py").write_text(QUEUE)
    (tmp_path / "filler.py").write_text(FILLER)
    return tmp_path


@pytest.mark.parametrize(("one", "other"), [("none", "default"), ("default", "no lifting")])
def test_modules_of_different_passes_run_as_one_program(folder: Path, one: str, other: str) -> None:
    made = build_module(folder / "queue.py", folder, one, "1")
    assert [p.name for p in made] == ["queue.o", "queue.atoi"]
    build_module(folder / "filler.py", folder, other, "1")
    f: Any = at.fn(source=CLIENT.format(folder=folder))
    assert f(10) == expected(10)
    assert f(0) == 0


def test_functions_of_a_module_from_python(folder: Path) -> None:
    build_module(folder / "queue.py", folder, optimise="1")
    q = load_module(folder / "queue.atoi")
    assert q.push.type == "push(q: Queue, x: i64) -> Queue"
    full = q.push(q.push(q.empty(), 1), 2)
    assert (full.front, full.back) == ([], [2, 1])
    assert q.pop(full).value == 1 and q.pop(q.empty()) is None
    assert q.pop.interpret(full).value == 1
    assert list(q.evens(np.arange(7))) == [0, 2, 4, 6]
    assert q.empty.__doc__ == "The queue of nothing."
    assert q is load_module(folder / "queue.atoi")


def test_errors_inside_a_module_show_its_text(folder: Path) -> None:
    build_module(folder / "queue.py", folder, optimise="1")
    text = f'import atoll as at\nq = at.module("{folder}/queue.atoi")\n@at.fn\ndef f(d: at.i64) -> at.i64:\n    g = q.divider(d)\n    return g(7)\n'
    f: Any = at.fn(source=text)
    assert f(4) == 7
    with pytest.raises(ZeroDivisionError) as error:
        f(3)
    assert "return lambda x: x // (d - 3)" in str(error.value) and "queue.py" in str(error.value)


def test_the_interface_says_the_types(folder: Path) -> None:
    build_module(folder / "queue.py", folder, optimise="1")
    found = json.loads((folder / "queue.atoi").read_text())
    assert found["functions"]["pop"]["type"] == "pop(q: Queue) -> Popped"
    assert found["data"]["Popped"] == "Item(value: i64, rest: Queue) | None"
    assert "x // (d - 3)" not in found["stub"]  # code is in the object
    assert "return f(f(x))" in found["stub"]  # except where it is compiled at its uses


def test_a_source_that_changed_is_refused(folder: Path) -> None:
    build_module(folder / "queue.py", folder, optimise="0")
    (folder / "queue.py").write_text(QUEUE.replace("def push(q: Queue, x: i64)", "def push(q: Queue, x: i64, y: i64)"))
    with pytest.raises(at.CompileError) as error:
        load_module(folder / "queue.atoi")
    assert error.value.code == "E1117"
    assert "push(q: Queue, x: i64, y: i64) -> Queue here, but was compiled as push(q: Queue, x: i64) -> Queue" in str(error.value)
    (folder / "queue.py").write_text(QUEUE.replace("d - 3", "d - 4"))
    with pytest.raises(at.CompileError, match=r"queue.py has changed since it was built"):
        load_module(folder / "queue.atoi")


def test_a_module_built_against_another_interface_is_refused(folder: Path) -> None:
    build_module(folder / "queue.py", folder, optimise="0")
    build_module(folder / "filler.py", folder, optimise="0")
    load_module(folder / "filler.atoi")
    other = QUEUE.replace("Popped = Item | None", "@at.record\nclass Busy:\n    pass\n\n\nPopped = Item | Busy | None")
    (folder / "queue.py").write_text(other)
    build_module(folder / "queue.py", folder, optimise="0")
    with pytest.raises(at.CompileError) as error:
        load_module(folder / "filler.atoi")
    assert error.value.code == "E1118"
    assert "Popped: Item(value: i64, rest: Queue) | None, but queue expects Item(value: i64, rest: Queue) | Busy | None" in str(error.value)


def test_damaged_files_are_refused(folder: Path) -> None:
    _, path = build_module(folder / "queue.py", folder, optimise="0")
    text = path.read_text()
    for wrong in ("", "{}", "[1]", text.replace('"abi": "', '"abi": "x')):
        path.write_text(wrong)
        with pytest.raises(at.CompileError) as error:
            load_module(path)
        assert error.value.code == "E1119"
    path.write_text(text)
    (folder / "queue.o").write_bytes(b"")
    with pytest.raises(at.CompileError, match="not the object this interface was built with"):
        load_module(path)


def test_the_command(folder: Path) -> None:
    command = [sys.executable, "-m", "atoll", "build", "--module", str(folder / "queue.py"), "-o", str(folder / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(folder / "out" / "queue.o"), str(folder / "out" / "queue.atoi")]


SECOND_ORDER = """
import atoll as at
from atoll import f64

n = at.sizes("n")
SCALE = 100.0


@at.fn
def helper(x: f64) -> f64:
    return x


@at.fn
def apply(f: at.Fn[[f64], f64], x: f64) -> f64:
    return f(x) + SCALE


@at.fn
def over(f: at.Fn[[f64], f64], x: f64[n]) -> f64[n]:
    return [f(v) * n for v in x]


@at.fn
def adder(k: f64) -> at.Fn[[f64], f64]:
    return lambda y: y + k * SCALE
"""
USER = """
import atoll as at
from atoll import f64

n = at.sizes("n")
SCALE = 1.0
geo = at.module({path!r})


@at.fn
def use(x: f64[n]) -> f64:
    return geo.apply(lambda v: v * SCALE * n, x[0]) + geo.over(lambda v: v * n, x[:2])[0]


@at.fn
def added(x: f64[n]) -> f64:
    return use(x) + geo.adder(2.0)(x[1]) * SCALE
"""


def test_lambdas_given_to_a_module_keep_their_names(tmp_path: Path) -> None:
    """Second-order functions are in the interface as text: their names are the module's, those of lambdas the user's."""
    (tmp_path / "geo.py").write_text(SECOND_ORDER)
    build_module(tmp_path / "geo.py", tmp_path)
    text = USER.format(path=str(tmp_path / "geo.atoi"))
    x = np.array([1.0, 2.0, 3.0])
    assert at.fn(source=text)(x) == (1.0 * 3 + 100.0) + (1.0 * 3) * 2 + (2.0 + 200.0)
    use = at.fn(source=text.partition("@at.fn\ndef added")[0])
    np.testing.assert_array_equal(at.grad(use).interpret(x), [3.0 + 6.0, 0.0, 0.0])
