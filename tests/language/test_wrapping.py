"""64-bit integers wrap around, also below // and %, and comparisons are right at the ends of the range."""

import numpy as np
import pytest

import atoll as at
from atoll import f64, i64
from tests.agreement import agree

n, m = at.sizes("n m")
LEAST, MOST = -(2**63), 2**63 - 1
ENDS = [LEAST, LEAST + 1, LEAST + 3, -1, 0, 1, 2, 3, 2**62, MOST - 2, MOST - 1, MOST]


@at.fn
def generator(x: i64[n]) -> i64[n]:
    return (x * 6364136223846793005 + 1442695040888963407) % 100


@at.fn
def stream(seed: i64) -> i64[4]:
    s = seed
    out = zeros(4, dtype=i64)
    for i in range(4):
        s = s * 6364136223846793005 + 1442695040888963407
        out[i] = s % 100
    return out


@at.fn
def third(v: i64) -> i64:
    return v // 3


@at.fn
def quotients(p: i64, q: i64):
    return (p + 3) // 3, (p + 3) % 3, (q + q) // 8, (7 * q) % 3, (p * q) % 1000, (-p) // 2, p * p * p % 7, third(p + q), third(3 * p)


@at.fn
def comparisons(p: i64, q: i64):
    return p < q, p <= q - 1, p + 1 > q, (p - (p + 3)) > q, p - q >= 0


@at.fn
def next_one(x: f64[n], i: i64) -> f64:
    return x[i + 1] if 0 <= i < n - 1 else -1.0


@at.fn
def fifth(x: f64[n], i: i64) -> f64:
    return x[i + 5] if i >= 0 and i <= n - 6 else -1.0


@at.fn
def below(x: f64[n], k: i64) -> f64[n]:
    return [x[i] if i + 2 < k else -x[i] for i in range(n)]


@at.fn
def above(x: f64[n], k: i64) -> f64[n]:
    return [x[i] if k < i + 2 else -x[i] for i in range(n)]


@at.fn
def quotients_compared(p: i64[n], q: i64[n]):
    pairs = zip(p, q)
    return [a // 2 < b for a, b in pairs], [b < a // 2 for a, b in pairs], [a // 3 <= a for a in p], [a // 2 < b // 3 for a, b in pairs], [a % 5 < b for a, b in pairs]


@at.fn
def sent(x: i64[n], at_: i64[m]) -> i64[n]:
    return scatter(x, at_ % 5, at_)


@np.errstate(all="ignore")
def test_generators():
    x = np.array([0, 1, 2, 3, MOST, LEAST])
    agree(generator, x, expected=(x * 6364136223846793005 + 1442695040888963407) % 100)
    s, expected = np.int64(2), []
    for _ in range(4):
        s = s * np.int64(6364136223846793005) + np.int64(1442695040888963407)
        expected.append(int(s % 100))
    agree(stream, 2, expected=np.array(expected))


@np.errstate(all="ignore")
def test_quotients_of_what_wrapped_around():
    for p in map(np.int64, ENDS):
        for q in map(np.int64, ENDS):
            expected = ((p + 3) // 3, (p + 3) % 3, (q + q) // 8, (7 * q) % 3, (p * q) % 1000, (-p) // 2, p * p * p % 7, (p + q) // 3, (3 * p) // 3)
            assert quotients(p, q) == expected == quotients.interpret(p, q), (p, q)


@np.errstate(all="ignore")
def test_comparisons_at_the_ends():
    for p in map(np.int64, ENDS):
        for q in map(np.int64, ENDS):
            expected = (p < q, p <= q - 1, p + 1 > q, (p - (p + 3)) > q, p - q >= 0)
            assert comparisons(p, q) == expected == comparisons.interpret(p, q), (p, q)


@pytest.mark.parametrize("target", ["c", "cuda-emulated"])
def test_quotients_are_compared_as_they_are(target):
    """The distance of a // 2 and b is no integer of 64 bits at the ends."""
    p, q = (np.array(x) for x in zip(*((a, b) for a in ENDS for b in ENDS), strict=True))
    expected = (p // 2 < q, q < p // 2, p // 3 <= p, p // 2 < q // 3, p % 5 < q)
    for found, wanted in zip(_on(quotients_compared, target)(p, q), expected, strict=True):
        assert np.array_equal(found, wanted)


@pytest.mark.parametrize("target", ["c", "cuda-emulated"])
@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_a_remainder_is_an_index_at_the_ends(size, target):
    """5 * (v // 5) is less than the least integer where v is: the remainder is looked at, not the two parts that are taken from each other."""
    for v in (LEAST, LEAST + 1, LEAST + 2, -1, MOST):
        x, where = np.arange(size), np.array([v])
        if v % 5 < size:
            assert np.array_equal(_on(sent, target)(x, where), sent.interpret(x, where)), v
        else:
            with pytest.raises(at.Error, match=f"E0708: index {v % 5} is out of range for size {size}"):
                _on(sent, target)(x, where)


def _on(f, target):
    return f if target == "c" else f.on(target)


@pytest.mark.parametrize("f", [next_one, fifth, below, above], ids=lambda f: f.name)
def test_guards_at_the_ends(f):
    for size in (1, 4, 9):
        for i in [*ENDS, 4, 5]:
            x = np.arange(1.0, size + 1)
            assert np.array_equal(f(x, i), f.interpret(x, i)), (size, i)


def test_every_stage_wraps_indices():
    """2 * p is 0 here; the remainder's quotient is an operation of its own, so the sum of both must wrap as the machine's does."""
    from tests.fuzz.stages import FAST, Stages

    f = at.fn(
        source="import atoll as at\nfrom atoll import i64, f64\nn, m = at.sizes('n m')\n"
        "def counted(p: i64, q: f64[m], r: f64[n]):\n"
        "    s = [p * 2 for i in range(m)]\n"
        "    c = i64(0)\n    out = zeros(n + 2, dtype=i64)\n"
        "    while c < 3:\n        out = hist(add, 0, n + 2, s % (n + 2), ones(m, dtype=i64))\n        c += 1\n    return out\n"
    )
    args = (-(2**63), np.zeros(4), np.zeros(5))
    for stage in (*FAST, "O3"):
        (out,) = Stages(f).runner(stage)(args)
        assert out.tolist() == [4, 0, 0, 0, 0, 0, 0], stage


def test_the_negative_of_a_negative_literal():
    """`-(-4)` printed as C (fuzz seed 72062)."""
    for t in ("i8", "i32", "i64"):
        f = at.fn(
            source=f"import atoll as at\nfrom atoll import *\ndef turned(c: bool_):\n    def g(a: {t}):\n        return minimum(-a, {t}(9))\n"
            f"    return map(g, [{t}(1), {t}(-4)])\n"
        )
        assert f(True).tolist() == [-1, 4] == f.interpret(True).tolist()


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
def test_quotients_by_every_kind_of_number(dtype: type) -> None:
    """Powers of two become shifts and masks; -1, the least number and negative divisors are as NumPy has them."""
    name, ends = f"i{8 * np.dtype(dtype).itemsize}", np.iinfo(dtype)
    divide = at.fn(
        source=f"import atoll as at\nn = at.sizes('n')\ndef divide(x: at.{name}[n], y: at.{name}[n]):\n"
        "    return x // y, x % y, x // 8, x % 8, x // 7, x % 7, x % 1, x // (-4), x % (-4)\n"
    )
    values = [ends.min, ends.min + 1, -9, -8, -7, -1, 0, 1, 7, 8, 9, ends.max - 1, ends.max]
    pairs = [(a, b) for a in values for b in [*values, 2, 4, 16, 64, -2, -4] if b != 0]
    x, y = (np.array(column, dtype) for column in zip(*pairs, strict=True))
    with np.errstate(over="ignore"):
        expected = (x // y, x % y, *(op(x, dtype(b)) for b, op in ((8, np.floor_divide), (8, np.mod), (7, np.floor_divide), (7, np.mod), (1, np.mod), (-4, np.floor_divide), (-4, np.mod))))
    for found, wanted in zip(divide(x, y), expected, strict=True):
        assert found.dtype == wanted.dtype and (found == wanted).all()
