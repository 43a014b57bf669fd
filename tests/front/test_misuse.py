"""Wrong arguments to what Atoll offers to Python: a clear error each, nothing raw from inside."""

import copy
import pickle

import pytest

import atoll as at
from atoll import f64

WRONG = [
    (lambda: at.sizes(3), "at.sizes: takes names in one text, not an int"),
    (lambda: at.sizes("1n if"), "at.sizes: '1n' is not a name"),
    (lambda: at.sizes("if"), "at.sizes: 'if' is not a name"),
    (lambda: at.sizes(""), "at.sizes: there is no name in the text"),
    (lambda: at.some(None), "at.some: takes names in one text, not None"),
    (lambda: at.types(["a"]), "at.types: takes names in one text, not a list"),
    (lambda: at.fn(source=3), "at.fn: source= takes the text of a module, not an int"),
    (lambda: at.record(3), "at.record: takes a class, not an int"),
    (lambda: at.set_threads("a"), "at.set_threads: takes a number of threads, at least 1, not a text"),
    (lambda: at.set_threads(-5), "at.set_threads: takes a number of threads, at least 1, not -5"),
    (lambda: f64[-1], "f64[-1]: a size is 0 or more"),
]


def _local() -> at.Function:
    @at.fn
    def local(x: f64) -> f64:
        return x

    return local


@at.fn
def square(x: f64) -> f64:
    return x * x


@pytest.mark.parametrize(("wrong", "message"), WRONG, ids=[message for _, message in WRONG])
def test_refused(wrong, message):
    with pytest.raises(at.Error) as found:
        wrong()
    assert str(found.value).startswith(f"E0610: {message}")
    assert "\n   help: " in str(found.value)


def test_a_function_that_is_here_is_found_again():
    assert pickle.loads(pickle.dumps(square)) is square
    assert copy.deepcopy(square) is square


def test_functions_are_pickled_by_value():
    found = pickle.loads(pickle.dumps(at.grad(_local())))
    assert found(3.0) == 1.0


def test_a_star_import_leaves_pythons_names_alone():
    names: dict[str, object] = {}
    exec("from atoll import *", names)  # noqa: S102  that is what is tested
    assert "scan" in names and not {"print", "sum", "range", "map"} & names.keys()
    assert at.sum is not sum
