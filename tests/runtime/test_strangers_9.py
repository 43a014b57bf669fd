"""What a stranger tried around speed: settings and sizes that make no sense are told, not shown from inside."""

import subprocess
import sys

import pytest

import atoll as at


def test_more_threads_than_there_can_be():
    from atoll.runtime.library import threads

    before = threads()
    for many in (257, 10**9, 10**30):
        with pytest.raises(at.Error, match="E0610: at.set_threads: takes at most 256 threads"):
            at.set_threads(many)
        assert threads() == before
    at.set_threads(256)
    assert threads() == 256
    at.set_threads(before)


def test_a_compiler_that_compiles_nothing(tmp_path):
    program = "import atoll as at\ntry:\n    at.fn(source='import atoll as at\\ndef f(x: at.f64) -> at.f64: return x * 2.0\\n')(1.0)\nexcept at.Error as e:\n    print(e)\n"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env={"ATOLL_CC": "/bin/true", "ATOLL_CACHE_DIR": str(tmp_path), "PATH": "/usr/bin:/bin"}
    )
    assert "E0802" in done.stdout and done.returncode == 0, done.stderr


@pytest.mark.parametrize("size", [2**22, 2**40])
def test_the_interpreter_and_memory(size):
    f = at.fn(source="import atoll as at\ndef square(n: at.i64): return zeros((n, n))\n")
    for call in (f, f.interpret):
        with pytest.raises(at.Error, match="E0713|not enough memory"):
            call(size)


def test_argmax_of_a_generator_has_no_default():
    with pytest.raises(at.Error, match="no parameter default"):
        _ = at.fn(source="import atoll as at\nn = at.sizes('n')\ndef f(x: at.f64[n]): return argmax((v for v in x), default=-1)\n").type


@pytest.mark.parametrize(("annotation", "says"), [("f64[q]", "sizes are declared first: q = at.sizes"), ("f65[n]", "bind it before this line")])
def test_names_in_declarations_that_nothing_defines(annotation, says):
    with pytest.raises(at.Error) as caught:
        at.fn(source=f"import atoll as at\nfrom atoll import f64\nn = at.sizes('n')\ndef f(x: {annotation}): return x\n")
    text = str(caught.value)
    assert caught.value.code == "E0105" and says in text and f"def f(x: {annotation})" in text and "^" in text


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("argmax(z)", ["E0206: complex numbers have no order, so `argmax` does not apply", "help: compare abs(x), x.real or x.imag"]),
        ("sort(x, key=lambda row: row)", ["E0251: sort needs one axis of real numbers", "help: let key= give one number, or a tuple of numbers, for each element"]),
    ],
)
def test_what_has_no_order(body, said):
    with pytest.raises(at.TypeError) as error:
        at.fn(source=f"import atoll as at\nfrom atoll import *\nn = at.sizes('n')\ndef f(z: c128[n], x: f64[n, 3]):\n    return {body}\n").type  # noqa: B018
    assert all(part in str(error.value) for part in said), error.value


def test_frames_of_the_compiler_are_not_shown():
    f = at.fn(source="import atoll as at\nn = at.sizes('n')\ndef f(x: at.f64[n]):\n    return x[5]\n")
    for most, ask in ((1, lambda: f.show("asm")), (1, lambda: f.explain("sched")), (2, lambda: at.fn(source="def f(x):\n    return y\n"))):
        with pytest.raises(at.Error) as error:
            ask()
        ours = [entry for entry in error.traceback if "atoll" in entry.path.parts and "tests" not in entry.path.parts]
        assert len(ours) <= most and ours[-1].path.name == "plain.py"
