"""The constructs of the language, a program for each, and arguments of any size: what runs on a device runs as the interpreter says, and what does not is refused by name.

    python -m tests.cuda.constructs [--only WORD] [--orders 0,1,2] [--target cuda] [--part 0/8]

runs every program by the emulation at sizes 0, 1, 2 and awkward ones, with threads and blocks in several orders.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import atoll as at
from atoll import c128, f16, f32, f64, i8, i32, i64, u8
from tests.fuzz.harness import TooSlow, time_limit
from tests.fuzz.stages import leaves

n, m, k = at.sizes("n m k")
SIZES = (0, 1, 2, 37, 300)
PATIENCE = 60  # seconds for a program
Arguments = Callable[[Any, int], tuple[Any, ...]]
ROWS: dict[str, tuple[Any, Arguments]] = {}


def row(arguments: Arguments) -> Callable[[Any], Any]:
    """A program with the arguments that a generator of random numbers and a size give."""

    def add(f: Any) -> Any:
        ROWS[f.name] = (f, arguments)
        return f

    return add


def _x(rng: Any, size: int) -> tuple[Any, ...]:
    return (rng.normal(size=size),)


def _xi(rng: Any, size: int) -> tuple[Any, ...]:
    return rng.normal(size=size), rng.integers(0, 7, size)


def _i(rng: Any, size: int) -> tuple[Any, ...]:
    return (rng.integers(-9, 10, size),)


def _a(rng: Any, size: int) -> tuple[Any, ...]:
    return (rng.normal(size=(size, min(size, 40) + 3)),)


def _short(rng: Any, size: int) -> tuple[Any, ...]:
    return (rng.normal(size=(min(size, 40), min(size, 40) + 3)),)


def _square(rng: Any, size: int) -> tuple[Any, ...]:
    width = min(size, 40)
    return (rng.normal(size=(width, width)) + 5 * np.eye(width),)


# -- control flow


@row(_x)
@at.fn
def branches(x: f64[n]) -> f64[n]:
    return [v if v > 1.0 else -v if v < -1.0 else v * v if v > 0.0 else 0.0 for v in x]


@row(_x)
@at.fn
def collatz(x: f64[n]) -> i64[n]:
    def steps(v):
        c, count = abs(i64(v * 50.0)) + 1, 0
        while c != 1:
            c = c // 2 if c % 2 == 0 else 3 * c + 1
            count += 1
        return count

    return [steps(v) for v in x]


@row(_i)
@at.fn
def first_negative(x: i64[n]) -> i64:
    found = -1
    for i in range(n):
        if x[i] < 0:
            found = i
            break
    return found


@row(_i)
@at.fn
def skipping(x: i64[n]) -> i64:
    s = 0
    for v in x:
        if v % 2 == 0:
            continue
        if s > 30:
            break
        s += v * v
    else:
        s = -s
    return s


@row(_xi)
@at.fn
def loops_with_arrays(x: f64[n], c: i64[n]) -> f64[n]:
    y = x
    for r in range(5):
        if sum(y) > 0.0:
            y = y - 0.5 * x
        else:
            y = [y[n - 1 - i] + f64(r) for i in range(n)]
    return y


@row(_x)
@at.fn
def while_of_arrays(x: f64[n]) -> Tuple[f64[n], i64]:
    y, count = x, 0
    while sum(abs(y)) > 1e-3 and count < 20:
        y = 0.5 * y
        count += 1
        if count == 17:
            break
    return y, count


@row(lambda rng, size: (rng.integers(0, 3, size), rng.normal(size=size)))
@at.fn
def matched(c: i64[n], x: f64[n]) -> f64[n]:
    def pick(q, v):
        match q:
            case 0:
                return v
            case 1 | 2 if v > 0.0:
                return 2.0 * v
            case _:
                return -1.0

    return [pick(c[i], x[i]) for i in range(n)]


@row(_x)
@at.fn
def early_return(x: f64[n]) -> f64:
    s = sum(x)
    if s > 0.0:
        return s
    for v in x:
        if v < -1.0:
            return v
    return 0.0


# -- tuples, records, functions


@at.record
class Particle:
    place: f64
    speed: f64


@at.record
class Cloud:
    places: f64[n]
    mass: f64


@row(_x)
@at.fn
def records(x: f64[n]):
    ps = [Particle(v, v * v) for v in x]
    total = sum(p.place * p.speed for p in ps)
    return ps, total


@row(lambda rng, size: (Cloud(rng.normal(size=size), 2.0),))
@at.fn
def record_given(c: Cloud) -> Cloud:
    return Cloud(c.places * c.mass, sum(c.places))


@row(_xi)
@at.fn
def tuples(x: f64[n], c: i64[n]):
    pairs = [(x[i], c[i]) for i in range(n)]
    a, b = unzip(pairs)
    return [(v * f64(q), (q, v)) for v, q in pairs], a, b


@row(_x)
@at.fn
def function_values(x: f64[n]):
    def twice(f, v):
        return f(f(v))

    return [twice(lambda q: q * q - 1.0, v) for v in x]


# -- filters, sorts, searches


@row(_xi)
@at.fn
def filters(x: f64[n], c: i64[n]):
    few = [v for v in x if v > 0.5]
    return few, len(few), filter(lambda q: q % 3 == 1, c), sum(few)


@row(_xi)
@at.fn
def filter_of_filter(x: f64[n], c: i64[n]):
    few = [i for i in range(n) if c[i] > 2]
    more = [x[i] for i in few if x[i] < 0.0]
    return sort(more)


@row(_xi)
@at.fn
def sorts(x: f64[n], c: i64[n]):
    return sort(x), argsort(c), sort(x, key=lambda v: -abs(v))


@row(_a)
@at.fn
def sorted_rows(a: f64[n, m]):
    return sort(a), argsort(a), [max(r) - min(r) for r in a]


@row(_xi)
@at.fn
def sorted_tuples(x: f64[n], c: i64[n]):
    order = argsort(c)
    return [x[i] for i in order], np.unique(c), np.searchsorted(sort(x), x)


@row(_x)
@at.fn
def extremes(x: f64[n]):
    return (argmin(x), argmax(x), min(x), max(x)) if n > 0 else (-1, -1, 0.0, 0.0)


@row(_a)
@at.fn
def extremes_of_rows(a: f64[n, m]):
    return argmin(a), argmax(a), argmin(a, axis=0) if n > 0 else [0 for _ in range(m)], any(a > 2.0), all(a > -2.0)


# -- scans and histograms


@row(_x)
@at.fn
def linear_recurrence(x: f64[n]):
    return scan(lambda p, q: (p[0] * q[0], p[1] * q[0] + q[1]), (1.0, 0.0), [(0.9, v) for v in x])


@row(_xi)
@at.fn
def segmented_scan(x: f64[n], c: i64[n]):
    def op(p, q):
        return (p[0] or q[0], q[1] if q[0] else p[1] + q[1])

    return scan(op, (False, 0.0), [(c[i] == 0, x[i]) for i in range(n)])


@row(_a)
@at.fn
def scans_of_rows(a: f64[n, m]):
    return scan(add, 0.0, a), scan(maximum, -inf, a, exclusive=True), np.cumsum(a, axis=0)


@row(_a)
@at.fn
def scan_by_matrices(a: f64[n, m]):
    def mul2(p, q):
        return [[sum(p[i, r] * q[r, j] for r in range(2)) for j in range(2)] for i in range(2)]

    return scan(mul2, [[1.0, 0.0], [0.0, 1.0]], [[[0.5 * a[i, 0], 1.0], [0.25, a[i, 1]]] for i in range(n)])


@row(_i)
@at.fn
def integer_scans(x: i64[n]):
    return scan(add, 0, x), scan(minimum, 1000, x), scan(or_, False, x > 7), scan(mul, 1, x)


@row(lambda rng, size: (rng.integers(0, 7, size), rng.normal(size=(size, 3)), rng.normal(size=size)))
@at.fn
def histograms(c: i64[n], a: f64[n, m], x: f64[n]):
    rows = hist(add, [0.0 for _ in range(m)], 7, c, a)
    return rows, hist(maximum, -inf, 7, c, x), hist(mul, 1.0, 7, c, x), hist(add, 0, 7, c, [1 for _ in c])


@row(lambda rng, size: (rng.integers(0, 7, size), rng.normal(size=size)))
@at.fn
def general_histogram(c: i64[n], x: f64[n]):
    def best(p, q):
        return p if p[0] >= q[0] else q

    return hist(best, (-inf, -1), 7, c, [(x[i], i) for i in range(n)])


@row(lambda rng, size: (rng.normal(size=size), rng.permutation(size)))
@at.fn
def scatters(x: f64[n], places: i64[n]):
    return scatter(zeros(n), places, x), scatter(zeros(n), places // 2, x, op=add), gather(x, places), scatter(zeros(n), places - 1, x, mode="drop")


@row(_x)
@at.fn
def folds(x: f64[n]):
    return fold(lambda s, v: s * 0.5 + v, 0.0, x), reduce(lambda p, q: p + q + p * q, 0.0, 0.01 * x), fold(lambda s, v: (s[0] + v, s[1] if s[1] > v else v), (0.0, -inf), x)


@row(_a)
@at.fn
def reduced_rows(a: f64[n, m]):
    return [reduce(lambda p, q: p + q + p * q, 0.0, 0.01 * r) for r in a], [fold(lambda s, v: 0.5 * s + v, 0.0, r) for r in a]


# -- indexing


@row(_x)
@at.fn
def slices(x: f64[2 * n]):
    return x[::2], x[::-1], x[1::2] - x[0::2], x[2 * n - 1 :: -2] if n > 0 else x[::2], x[n:]


@row(_x)
@at.fn
def slice_assignments(x: f64[2 * n]):
    y = at.copy(x)
    y[::2] = 1.0
    y[1::2] += x[::2]
    z = at.copy(x)
    z[:n], z[n:] = x[n:], x[:n]
    return y, z


@row(lambda rng, size: (rng.normal(size=size), rng.integers(0, max(size, 1), size)))
@at.fn
def fancy(x: f64[n], places: i64[n]):
    y = at.copy(x)
    y[places] = 2.0 * x
    z = at.copy(x)
    z[places] += 1.0
    return x[places], x[x > 0.0], y, z


@row(_a)
@at.fn
def masks(a: f64[n, m]):
    b = at.copy(a)
    b[a > 0.5] = 0.0
    return b, a[a < -1.0], a[:, None, 1:], where(a > 0.0, a, 0.5 * a)


@row(_a)
@at.fn
def reshapes(a: f64[n, m]):
    return flatten(a), transpose(a), reverse(a), concat(a, a), rotate(a, 1) if n > 0 else a, pad(a, ((1, 2), (0, 1)), value=3.0), window(flatten(a), 2) if n > 0 else zeros((n * m - 1, 2))


@row(_x)
@at.fn
def tiles(x: f64[4 * n]):
    return split(x, 4), tile(x, 3), pad_l(x, 2), trunc_r(x, n), sample(x, 4), repeat(x, 2)


@row(_square)
@at.fn
def triangles(a: f64[n, n]):
    s = [sum(a[i, :i]) + sum(a[i + 1 :, i]) for i in range(n)]
    b = at.copy(a)
    for i in range(n):
        b[i, :i] = 0.0
        b[i, i] += 1.0
    return s, b


@row(lambda rng, size: (np.concatenate([[0], np.sort(rng.integers(0, 3 * size + 1, size)), [3 * size]]), rng.normal(size=3 * size)))
@at.fn
def segments(ptr: i64[n + 2], x: f64[3 * n]):
    return [sum(x[j] for j in range(ptr[i], ptr[i + 1])) for i in range(n + 1)], [max((x[j] for j in range(ptr[i], ptr[i + 1])), default=0.0) for i in range(n + 1)]


@row(lambda rng, size: (rng.normal(size=size), size))
@at.fn
def updates_in_loops(x: f64[n], t: i64) -> f64[n]:
    y = at.copy(x)
    for i in range(t):
        y[i] = 0.5 * (y[i - 1] if i > 0 else 1.0) + x[i]
        if y[i] > 1.0:
            y[0] = y[i]
    return y


@row(_square)
@at.fn
def swaps(a: f64[n, n]):
    b = at.copy(a)
    for i in range(n):
        j = n - 1 - i
        if i < j:
            b[i], b[j] = b[j], b[i]
    return b


# -- numbers


@row(_i)
@at.fn
def integers(x: i64[n]):
    return x // 3, x % 3, x // -4, x << 2, x >> 1, x & 5, x | 8, ~x, x**2, i8(x), u8(abs(x)), x / 7, abs(x), sign(x)


@row(lambda rng, size: (rng.normal(size=size).astype(np.float32), rng.integers(-100, 100, size).astype(np.int32)))
@at.fn
def narrow(x: f32[n], y: i32[n]):
    return x * 2 + y, sum(x), sum(y), sum(y > 0), prod(x), [f64(v) for v in x], i32(x)


@row(lambda rng, size: (rng.normal(size=size).astype(np.float16),))
@at.fn
def halves(x: f16[n]):
    return x * x + 1, f16(exp(f32(x))), sum(f32(x))


@row(lambda rng, size: (rng.normal(size=size) + 1j * rng.normal(size=size),))
@at.fn
def complex_numbers(z: c128[n]):
    return z * conj(z), sum(z), prod(z), exp(z), sqrt(z), z.real, abs(z), z / (z + 2.0), scan(add, 0j, z), [c128(v.imag, v.real) for v in z]


@row(_x)
@at.fn
def functions(x: f64[n]):
    return sin(x) + cos(x), tanh(x), erf(x), lgamma(abs(x) + 1.0), arctan2(x, 2.0), hypot(x, 1.0), floor(x), round(x), log1p(abs(x)), cbrt(x), clip(x, -1.0, 1.0), isnan(x), x**3, expm1(x), copysign(1.0, x)


@row(_x)
@at.fn
def booleans(x: f64[n]):
    p, q = x > 0.0, x < 1.0
    return p & q, p | ~q, p ^ q, any(p), all(q), sum(p), [a and not b for a, b in zip(p, q)], 0.0 < sum(x) < 5.0


# -- the library


@row(lambda rng, size: (7,))
@at.fn
def random_numbers(seed: i64):
    key = at.random.key(seed)
    first, second = at.random.split(key)
    return at.random.normal(first, (100,)), at.random.uniform(second, (3, 50)), at.random.integers(first, (40,), 0, 10), at.random.permutation(second, 33)


@row(_square)
@at.fn
def solved(a: f64[n, n]):
    return np.linalg.solve(a, [f64(i) for i in range(n)]), np.linalg.det(a), np.linalg.inv(a)


@row(lambda rng, size: ((lambda b: (b @ b.T + np.eye(len(b)),))(rng.normal(size=(min(size, 12), min(size, 12))))))
@at.fn
def decomposed(a: f64[n, n]):
    q, r = np.linalg.qr(a)
    return np.linalg.cholesky(a), abs(r), np.linalg.eigvalsh(a)


@row(_x)
@at.fn
def fourier(x: f64[n + 1]):
    return np.fft.rfft(x), np.fft.ifft(np.fft.fft(x)), np.fft.fft(x)


@row(_short)
@at.fn
def statistics(a: f64[n, m]):
    return np.mean(a, axis=1), np.std(a, axis=1), np.median(a, axis=1), np.einsum("ij,kj->ik", a, a), np.diff(a), np.argmax(a, axis=1), np.linalg.norm(a)


@row(lambda rng, size: (rng.normal(size=(size, 3)), rng.normal(size=(3, min(size, 40)))))
@at.fn
def products(a: f64[n, k], b: f64[k, m]):
    return a @ b, (a @ b).T @ a, maximum(a @ b + 1.0, 0.0)


@row(_short)
@at.fn
def attention_row(a: f64[n, m]):
    s = [[sum(a[i, p] * a[j, p] for p in range(m)) for j in range(n)] for i in range(n)]
    w = [exp(r - max(r, default=0.0)) for r in s]
    return [[sum(w[i, j] * a[j, p] for j in range(n)) / sum(w[i]) for p in range(m)] for i in range(n)]


# -- derivatives


@at.fn
def _loss_of_scan(x: f64[n]) -> f64:
    return sum(scan(mul, 1.0, 1.0 + 0.1 * x) * x)


@at.fn
def _loss_of_recurrence(x: f64[n]) -> f64:
    s = scan(lambda p, q: (p[0] * q[0], p[1] * q[0] + q[1]), (1.0, 0.0), [(0.9 + 0.01 * v, v) for v in x])
    return sum(q[1] for q in s)


@at.fn
def _loss_of_hist(x: f64[n], c: i64[n]) -> f64:
    h = hist(add, 0.0, 7, c, x * x)
    return sum(h * h) + sum(hist(maximum, 0.0, 7, c, x))


@at.fn
def _loss_of_gather(x: f64[n], c: i64[n]) -> f64:
    return sum(x[c[i] % n] * sin(x[i]) for i in range(n))


@at.fn
def _loss_of_while(x: f64[n]) -> f64:
    y = x
    for r in range(4):
        y = [y[i] * 0.5 + (y[i - 1] if i > 0 else 0.0) * y[i] if y[i] > 0.0 else y[i] for i in range(n)]
    return sum(y * y)


@at.fn
def _loss_of_sort(x: f64[n]) -> f64:
    s = sort(x)
    return sum(s[i] * f64(i) for i in range(n)) + max(x, default=0.0) + prod(1.0 + 0.1 * x)


@at.fn
def _loss_of_softmax(a: f64[n, m]) -> f64:
    return sum(log(sum(exp(a - max(r, default=0.0)))) for a, r in zip(a, a))


@at.fn
def _loss_of_solve(a: f64[n, n]) -> f64:
    x = np.linalg.solve(a, [f64(i) + 1.0 for i in range(n)])
    return sum(x * x)


@at.fn
def _loss_of_fft(x: f64[n + 1]) -> f64:
    return sum(abs(np.fft.rfft(x)) ** 2)


@at.fn
def _loss_of_filter(x: f64[n]) -> f64:
    few = [v for v in x if v > 0.0]
    return sum(v * v for v in few)


def _named(name: str, f: Any, arguments: Arguments) -> None:
    ROWS[name] = (f, arguments)


_named("slope of scan", at.grad(_loss_of_scan), _x)
_named("slope of recurrence", at.grad(_loss_of_recurrence), _x)
_named("slope of hist", at.grad(_loss_of_hist), _xi)
_named("slope of gather", at.grad(_loss_of_gather), _xi)
_named("slope of loops", at.grad(_loss_of_while), _x)
_named("slope of sort", at.grad(_loss_of_sort), _x)
_named("slope of softmax", at.grad(_loss_of_softmax), _short)
_named("slope of solve", at.grad(_loss_of_solve), _square)
_named("slope of fft", at.grad(_loss_of_fft), _x)
_named("slope of filter", at.grad(_loss_of_filter), _x)
_named("curvature", at.hessian(_loss_of_scan), lambda rng, size: (rng.normal(size=min(size, 9)),))


def outcome(call: Any, args: tuple[Any, ...]) -> tuple[str, Any]:
    """What a call gives, or the error's code with the line it names."""
    try:
        return "value", leaves(call(*args))
    except at.Error as error:
        return "error", (error.code, error.span.line if error.span is not None else None)


def differs(found: tuple[str, Any], wanted: tuple[str, Any]) -> str:
    """In words how two outcomes differ; "" where they do not."""
    if found[0] != wanted[0]:
        return f"{found[0]} {str(found[1])[:300]} instead of {wanted[0]} {str(wanted[1])[:300]}"
    if found[0] == "error":
        return "" if found[1] == wanted[1] else f"{found[1]} instead of {wanted[1]}"
    for place, (x, y) in enumerate(zip(found[1], wanted[1], strict=True)):
        a, b = np.asarray(x), np.asarray(y)
        if a.dtype != b.dtype or a.shape != b.shape:
            return f"leaf {place}: {a.dtype}{a.shape} instead of {b.dtype}{b.shape}"
        tolerance = {2: 1e-2, 4: 1e-4}.get(a.dtype.itemsize, 1e-8) if a.dtype.kind in "fc" else 0
        if a.dtype == np.complex64:
            tolerance = 1e-4
        if not np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=a.dtype.kind in "fc"):
            return f"leaf {place}: {a.reshape(-1)[:6]} instead of {b.reshape(-1)[:6]}"
    return ""


def tried(name: str, target: str = "cuda-emulated", sizes: tuple[int, ...] = SIZES) -> str:
    """What is wrong with a program on a target; "" if nothing is."""
    f, arguments = ROWS[name]
    there = f.on(target)
    for size in sizes:
        args = arguments(np.random.default_rng(size), size)
        wanted = outcome(f.interpret if size < (3 if name.startswith("slope") else 100) else f, args)  # which takes a while for derivatives
        found = outcome(there, args)
        if wrong := differs(found, wanted):
            return f"size {size}: {wrong}"
    return ""


def errors_of(f: at.Function, target: str, size: int = 6) -> tuple[str, str]:
    """What a wrong function says on the CPU and on a target; "" where it says nothing."""
    x, c = np.linspace(1.0, 2.0, size), np.array([1, 2, 9, 3, 11, 0])[:size]
    told = []
    for call in (f, f.on(target)):
        try:
            call(x, c)
            told.append("")
        except at.Error as error:
            told.append(str(error))
    return told[0], told[1]


def main() -> int:
    from tests.cuda import mixed, unlike  # whose rows are run too
    from tests.cuda.constructs import ROWS, tried

    assert mixed.TEXTS and unlike.TEXTS
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--orders", default="0")
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--part", default="0/1", help="k/n: every n-th program, from the k-th on")
    parser.add_argument("--target", default="cuda-emulated")
    given = parser.parse_args()
    bad = 0
    part, parts = map(int, given.part.split("/"))
    names = [name for name in ROWS if given.only in name][part::parts]
    for name in names:
        for order in given.orders.split(","):
            os.environ["ATOLL_EMULATED_ORDER"] = order
            start = time.monotonic()
            try:
                with time_limit(PATIENCE):
                    wrong = tried(name, given.target)
            except TooSlow:
                wrong = f"more than {PATIENCE} s"
            except Exception as error:  # noqa: BLE001  an internal error is what is looked for
                wrong = f"internal: {type(error).__name__}: {str(error)[:400]}"
            if given.times:
                print(f"{name}: {time.monotonic() - start:.1f} s", flush=True)
            if wrong:
                bad += 1
                print(f"{name} (order {order}): {wrong}", flush=True)
    wrongs = [what for what in unlike.WRONG if given.only in what][part::parts]
    for what in wrongs:
        cpu, there = errors_of(unlike.made("f", *unlike.WRONG[what]), given.target)
        if cpu != there or not cpu:
            bad += 1
            print(f"{what}: {there or 'no error'} instead of {cpu or 'an error'}", flush=True)
    print(f"{len(names)} programs and {len(wrongs)} wrong ones, {bad} not as they are meant")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
