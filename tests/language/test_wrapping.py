"""64-bit integers wrap around, also below // and %, and comparisons are right at the ends of the range."""

import numpy as np
import pytest

import atoll as at
from atoll import f64, i64
from tests.agreement import agree

n = at.sizes("n")
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
