"""Run where there is no Atoll and no compiler: everything the library of program.py can do. `python use.py FOLDER`"""

from __future__ import annotations

import sys
import threading

import numpy as np

sys.path.insert(0, sys.argv[1])

import program_compiled as d

KINDS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "complex64", "complex128", "bool"]


def expected(x):
    if x.dtype.kind in "iu":
        return x + x.dtype.type(1)
    return x + x if x.dtype.kind == "f" else x * x if x.dtype.kind == "c" else ~x


def main() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(30, 40)).astype("f4"), rng.normal(size=(40, 50)).astype("f4")
    np.testing.assert_allclose(d.product(a, b), a @ b, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(d.product(a[::2], b=b), a[::2] @ b, rtol=1e-4, atol=1e-4)  # a view, and a keyword
    for size in (0, 1, 7):
        given = [np.arange(size).astype(kind) for kind in KINDS]
        for x, found in zip(given, d.every(*given), strict=True):
            assert found.dtype == x.dtype and (found == expected(x)).all(), x.dtype
    body = d.Body(rng.normal(size=(5, 3)), np.ones(5))
    middle, other = d.centre(body)
    np.testing.assert_allclose(middle, body.place.mean(0))
    assert type(other) is d.Body and (other.place == 2 * body.place).all()
    assert (d.centre(body, weight=3.0)[1].place == 3 * body.place).all()
    x = np.arange(5.0)
    assert isinstance(d.picked(x, 3), np.float64) and d.picked(x, 3) == 3.0
    assert list(d.choose(x, np.array([4, 0]))) == [4, 0]
    assert list(d.positive(np.array([1.0, -1.0, 2.0]))) == [1, 2] and len(d.positive(-x)) == 0
    d.checked(x, 100.0)
    assert list(d.inner(x)) == [1, 2, 3] and len(d.inner(x[:2])) == 0
    first, (total, rest) = d.pairs((1.5, x), np.arange(11))
    assert (first, total) == (1.5, 55) and (rest == x).all()
    wrong(IndexError, "index 7 is out of range for size 5", d.picked, x, 7)
    wrong(AssertionError, "the sum is 10.00, more than 1.0", d.checked, x, 1.0)
    wrong(ValueError, "size k is 40 in argument a (axis 1) but 50 in argument b (axis 0)", d.product, a, b.T.copy())
    wrong(TypeError, "a.astype(np.float32)", d.product, a.astype("f8"), b)
    wrong(TypeError, "np.array(a, dtype=np.float32)", d.product, [[1.0]], b)
    wrong(TypeError, "must have 1 axis, not 2", d.picked, x[None], 1)
    wrong(TypeError, "1.5, which does not fit i64", d.picked, x, 1.5)
    wrong(IndexError, "5, which is not in 0..4", d.choose, x, np.array([5]))
    wrong(ValueError, "needs n >= 2, but n is 1", d.inner, np.zeros(1))
    wrong(ValueError, "is 10, but 2*n + 1 is 11", d.pairs, (1.0, x), np.arange(10))
    d.set_threads(1)
    alone = d.product(a, b)
    d.set_threads(2)
    found: list[bool] = []
    threads = [threading.Thread(target=lambda: found.extend(bool((d.product(a, b) == alone).all()) for _ in range(20))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 80
    assert "The product of two matrices." in d.product.__doc__
    assert not any(name.partition(".")[0] == "atoll" for name in sys.modules)
    print("all of it")


def wrong(kind, text, f, *args) -> None:
    try:
        f(*args)
    except kind as error:
        assert isinstance(error, d.Error) and text in str(error), error
    else:
        raise AssertionError(f"no error: {text}")


main()
