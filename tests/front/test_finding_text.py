"""Where the text of a function is found: files, archives, the REPL, notebooks and their magics, strings; and what is said when it is not."""

import os
import py_compile
import subprocess
import sys
import zipfile

import numpy as np
import pytest

import atoll as at
from tests.front.modules import ROOT, python

DEFINE = "@at.fn\ndef f(x: at.f64[n]):\n    y = 2 * x\n    return y + 1\n"
PROGRAM = "import atoll as at, numpy as np\nn = at.sizes('n')\n" + DEFINE + "print('got', f(np.ones(2)))\n"
GOT = "got [3. 3.]"


def test_a_file(tmp_path):
    (tmp_path / "p.py").write_text(PROGRAM)
    assert GOT in python("p.py", cwd=tmp_path).stdout


def test_command_line():
    assert GOT in python("-c", PROGRAM).stdout


def test_standard_input_from_a_file(tmp_path):
    (tmp_path / "p.py").write_text(PROGRAM)
    with (tmp_path / "p.py").open() as stdin:
        done = subprocess.run([sys.executable], stdin=stdin, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=120, check=False)
    assert GOT in done.stdout, done.stderr


def test_standard_input_from_a_pipe_says_what_to_do():
    done = python(text=PROGRAM)
    assert "E0103: the text of f cannot be found (looked in <stdin>)" in done.stderr
    assert "help: pass the text itself: at.fn(source=text)" in done.stderr


def converse(arguments, lines, env=None):
    """Types lines at a terminal and returns everything that was shown."""
    import pexpect

    around = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "dumb", "PYTHONSTARTUP": "", "HOME": env["HOME"] if env else "/nonexistent", **(env or {})}
    child = pexpect.spawn(sys.executable, arguments, env=around, encoding="utf-8", timeout=60, dimensions=(50, 200))
    child.expect(">>> ")
    shown = ""
    for line in lines:
        child.sendline(line)
        child.expect([r">>> ", r"\.\.\. "])
        shown += child.before
    child.sendeof()
    child.expect(pexpect.EOF)
    child.close()
    return shown + (child.before or "")


def test_the_repl(tmp_path):
    pytest.importorskip("pexpect")
    env = {"HOME": str(tmp_path), "ATOLL_CACHE_DIR": str(tmp_path)}
    lines = ["import atoll as at, numpy as np, readline", "n = at.sizes('n')"]
    lines += [*DEFINE.splitlines(), "", "print('got', f(np.ones(2)))"]
    # the same name again, with another text: the newest counts
    lines += ["@at.fn", "def f(x: at.f64[n]):", "    return 5 * x", "", "print('then', f(np.ones(2)))"]
    lines += ["@at.fn", "def g(x: at.f64[n]):", "    return f(x", "        ) + {1}", ""]
    shown = converse(["-i", "-q"], lines, env)
    assert GOT in shown and "then [5. 5.]" in shown, shown
    assert "E0101: a set is not part of Atoll" in shown and ") + {1}" in shown


CELLS = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
def cell(text):
    done = shell.run_cell(text, store_history=True)
    error = done.error_before_exec or done.error_in_exec
    if error is not None:
        print('ERROR', error)
cell("import atoll as at, numpy as np\\nn = at.sizes('n')")
"""
MAGICS = {
    "a cell": DEFINE + "print('got', f(np.ones(2)))",
    "%%time": "%%time\n" + DEFINE + "print('got', f(np.ones(2)))",
    "%%timeit": "%%timeit -n1 -r1\n" + DEFINE + "print('got', f(np.ones(2)))",
    "%%capture": "%%capture out\n" + DEFINE + "print('got', f(np.ones(2)))",
    "%time in a cell": DEFINE + "%time print('got', f(np.ones(2)))",
    "an async cell": "import asyncio\nawait asyncio.sleep(0)\n" + DEFINE + "print('got', f(np.ones(2)))",
    "%%prun": "%%prun -q\n" + DEFINE + "print('got', f(np.ones(2)))",
}


def test_ipython(tmp_path):
    pytest.importorskip("IPython")
    text = CELLS + "".join(f"print('== {name}')\ncell({body!r})\n" for name, body in MAGICS.items())
    text += "cell('out.show()')\n"
    text += f"print('== error')\ncell({DEFINE.replace('y + 1', 'y + {1}')!r})\n"
    text += f"print('== redefined')\ncell({DEFINE!r})\ncell({DEFINE.replace('2 * x', '8 * x')!r})\ncell(\"print('then', f(np.ones(2)))\")\n"
    (tmp_path / "cells.py").write_text(text)
    env = {"IPYTHONDIR": str(tmp_path), "HOME": str(tmp_path), "ATOLL_CACHE_DIR": str(tmp_path / "c")}
    done = python("cells.py", cwd=tmp_path, env=env)
    shown = done.stdout
    parts = dict(part.split("\n", 1) for part in shown.split("== ")[1:])
    for name in MAGICS:
        if name != "%%capture":
            assert GOT in parts[name], (name, shown, done.stderr)
    assert shown.count(GOT) == len(MAGICS), shown
    assert "E0101: a set is not part of Atoll" in parts["error"] and "return y + {1}" in parts["error"]
    assert "then [9. 9.]" in parts["redefined"]


def test_exec_says_what_to_do():
    names = {"at": at, "n": at.sizes("n")}
    with pytest.raises(at.ParseError) as caught:
        exec(DEFINE, names)  # noqa: S102  what is tested
    assert str(caught.value).splitlines() == ["E0103: the text of f cannot be found (looked in <string>)", "   help: pass the text itself: at.fn(source=text)"]


def test_source_given():
    f = at.fn(source="import atoll as at\nn = at.sizes('n')\n" + DEFINE.removeprefix("@at.fn\n"))
    np.testing.assert_array_equal(f(np.ones(2)), [3, 3])
    f = at.fn(source="import atoll as at\nn = at.sizes('n')\n" + DEFINE, reassociate=False)
    np.testing.assert_array_equal(f(np.ones(2)), [3, 3])
    assert not f.options.reassociate
    f = at.fn(source="import atoll as at\nc = 3.0\ndef g(x: at.f64, y: at.f64 = c):\n    return x + y\nc = 4.0\n")
    assert f(1.0) == 4.0


def test_source_with_records_and_future_annotations():
    text = (
        "from __future__ import annotations\nimport atoll as at\nfrom atoll import f64\n@at.record\nclass P:\n    x: f64\n"
        "def twice(p: P) -> P:\n    return P(x=2 * p.x)\ndef go(x: f64):\n    return twice2(P(x=x)).x\ntwice2 = at.fn(twice)\n"
    )
    assert at.fn(source=text)(2.0) == 4.0


def test_source_that_is_wrong():
    with pytest.raises(at.ParseError) as caught:
        at.fn(source="def f(x:\n    return")
    assert caught.value.code == "E0104" and "def f(x:" in str(caught.value) and "^" in str(caught.value)
    with pytest.raises(at.ParseError, match="E0126: the text given with source= defines no function"):
        at.fn(source="x = 1")
    with pytest.raises(ZeroDivisionError):
        at.fn(source="x = 1 / 0\ndef f(): return 1")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("def f(x):\n    break\n", 2),
        ("def f(x):\n    continue\n", 2),
        ("def f(x, x):\n    return x\n", 1),
        ("def f(x):\n\tif x:\n        return x\n", 3),
        ("def f(x):\n    y = 1\n      z = 2\n", 3),
        ("def f(x):\n    return (x\n", 2),
        ("def f(x):\n    return x\0\n", 2),
        ("def f(x):\n    nonlocal y\n", 2),
        ("return 3\n", 1),
        ("def f(x):\n    await x\n", 2),
        ("def f(x):\n    f(x) = 3\n", 2),
    ],
)
def test_text_that_python_refuses(text, line):
    """Some of it Python refuses only when it makes code of what it has read."""
    with pytest.raises(at.ParseError) as caught:
        at.fn(source=text)
    error = caught.value
    assert error.code == "E0104" and error.span is not None and error.span.line == line and "^" in str(error)


def test_only_a_pyc(tmp_path):
    (tmp_path / "only.py").write_text(PROGRAM)
    py_compile.compile(str(tmp_path / "only.py"), cfile=str(tmp_path / "only.pyc"))
    (tmp_path / "only.py").unlink()
    done = python("-c", "import only", cwd=tmp_path)
    assert "E0103: the text of f cannot be found (looked in " in done.stderr and "only.py)" in done.stderr
    assert "help: pass the text itself: at.fn(source=text)" in done.stderr


def test_in_an_archive(tmp_path):
    with zipfile.ZipFile(tmp_path / "app.zip", "w") as archive:
        archive.writestr("inside.py", PROGRAM)
    done = python("-c", "import sys; sys.path.insert(0, 'app.zip'); import inside", cwd=tmp_path)
    assert GOT in done.stdout, done.stderr


def test_a_file_edited_since_it_was_imported(tmp_path):
    """Text that may not be the function's is not used."""
    text = "import sys\nif len(sys.argv) > 1:\n    open(__file__, 'w').write('# one line more\\n' + open(__file__).read())\n" + PROGRAM
    (tmp_path / "p.py").write_text(text)
    assert GOT in python("p.py", cwd=tmp_path).stdout
    assert "E0103" in python("p.py", "edit", cwd=tmp_path).stderr


def test_in_a_doctest():
    import doctest

    text = ">>> import atoll as at\n>>> n = at.sizes('n')\n>>> @at.fn\n... def f(x: at.f64[n]):\n...     return x + 1\n>>> float(f(__import__('numpy').ones(1))[0])\n2.0\n"
    test = doctest.DocTestParser().get_doctest(text, {}, "t", "t.txt", 0)
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


def test_two_functions_of_one_name_are_told_apart(tmp_path):
    (tmp_path / "p.py").write_text(
        "import atoll as at, numpy as np\nn = at.sizes('n')\n"
        "def a():\n    @at.fn\n    def f(x: at.f64[n]): return x + 1\n    return f\n"
        "def b():\n    @at.fn\n    def f(x: at.f64[n]): return x + 2\n    return f\n"
        "print(b()(np.ones(1)), a()(np.ones(1)))\n"
    )
    assert python("p.py", cwd=tmp_path).stdout == "[3.] [2.]\n"
