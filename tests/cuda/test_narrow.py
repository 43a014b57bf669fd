"""Indices of 32 bits where the sizes allow it (atoll/backends/cuda/narrow.py): both versions are right, and the choice between them is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import atoll as at
from atoll import f32, f64, i64
from atoll.backends.cuda import language as k
from atoll.backends.cuda import narrow
from atoll.backends.cuda.execute import Host, _Block
from atoll.backends.cuda.generate import generate, lowered
from atoll.backends.cuda.order import Accesses, Block
from atoll.core.binding import bind_call
from atoll.core.values import leaves
from atoll.loops import ir as lp
from atoll.loops.execute import Memory, Stuck
from atoll.runtime.arguments import from_python
from atoll.runtime.cuda.nvrtc import cubin
from tests.cuda.test_nvrtc import needs

n, m, h = at.sizes("n m h")


@at.fn
def outer(x: f32[n], y: f32[m]) -> f32[n, m]:
    return [[a * b for b in y] for a in x]


@at.fn
def turned(x: f64[n, m, h], y: f64[m]) -> f64[h, n, m]:
    return [[[x[i, j, l] * y[j] + f64(i * j - l) for j in range(m)] for i in range(n)] for l in range(h)]


@at.fn
def blur(a: f64[n, m]) -> f64[n, m]:
    return [[a[max(i - 1, 0), j] + a[min(i + 1, n - 1), j] + a[i, max(j - 1, 0)] for j in range(m)] for i in range(n)]


@at.fn
def gathered(a: f64[n, m], at_: i64[h, m], by: i64) -> f64[h, m]:
    return [[(a[at_[l, j], j] if 0 <= at_[l, j] < n else 0.0) + f64(by * j) for j in range(m)] for l in range(h)]


@at.fn
def halves(x: f64[n, m]) -> f64[n, m]:
    return [[x[i // 2, j // 3] + x[i, (i * j) // (n + m)] if (i * j) // (n + m) < m else x[i // 2, j] for j in range(m)] for i in range(n)]


@at.fn
def strided(x: f64[n], y: f64[m, h], by: i64) -> f64[m, h]:
    return [[y[i, j] + (x[(i * by + j) % n] if n > 0 else 0.0) for j in range(h)] for i in range(m)]


@at.fn
def shifted(x: f64[n, m]) -> f64[n, m]:
    return x - sum(sum(x))  # a number that another kernel made


def _random(*shape):
    return np.random.default_rng(sum(shape)).random(shape)


def calls(a, b, c):
    return [
        (outer, [_random(a).astype("f4"), _random(b).astype("f4")]),
        (turned, [_random(a, b, c), _random(b)]),
        (blur, [_random(a, b)]),
        (gathered, [_random(a, b), np.arange(c * b).reshape(c, b) * 7 % (a + 1), -(2**40)]),
        (halves, [_random(a, b)]),
        (strided, [_random(a), _random(b, c), -3]),
    ]


def narrow_kernels(program):
    return [kernel for kernel in program.kernels if kernel.narrow]


def executed(fn, args, program):
    values = from_python(fn.core, tuple(args))
    sizes = bind_call(fn.core, values)
    host = Host(program, [leaf for v in values for leaf in leaves(v)], {s: sizes[s] for s in program.function.sizes})
    return host.run()[0], host


@pytest.mark.parametrize("sizes", [(3, 5, 2), (4, 300, 1), (1, 1, 1), (9, 2, 3)])
@pytest.mark.parametrize("limit", [60, 4000, narrow.LIMIT])
def test_what_is_launched_is_small(monkeypatch, sizes, limit):
    """With a limit that small sizes reach too: the executor looks at every polynomial of what was chosen."""
    monkeypatch.setattr(narrow, "LIMIT", limit)
    for fn, args in calls(*sizes):
        program = lowered(fn.core)
        assert narrow_kernels(program), fn.name
        found, host = executed(fn, args, program)
        assert np.array_equal(found, fn.interpret(*args)), fn.name
        short = [name.endswith("_32") for name, moved in host.moved.items() if any(moved)]
        if limit == 2**31 - 2:
            assert all(short) == (fn is not gathered), fn.name  # which has a number of 41 bits among its indices
        if limit == 60:
            assert not any(short), fn.name


def test_a_wrong_choice_is_found(monkeypatch):
    """The version for small indices, launched where a bound is above its limit."""
    real = narrow.with_narrow
    monkeypatch.setattr("atoll.backends.cuda.lower.with_narrow", lambda launch, ranges: real(launch, ranges, limit=2**60))
    monkeypatch.setattr(narrow, "LIMIT", 60)
    for fn, args in calls(9, 11, 2):
        with pytest.raises(Stuck, match="too large for the version with narrow indices"):
            executed(fn, args, lowered(fn.core))


def test_a_number_has_no_place():
    program = lowered(shifted.core)
    x = np.arange(12.0).reshape(3, 4)
    found, host = executed(shifted, [x], program)
    assert narrow_kernels(program) and np.array_equal(found, shifted.interpret(x))
    assert any(name.endswith("_32") for name in host.moved)
    assert shifted.on("cuda-emulated")(x).tobytes() == found.tobytes()


@pytest.mark.parametrize("sizes", [(3, 300, 4), (40, 7, 9)])
def test_both_texts(monkeypatch, sizes):
    """The same bits from both, and from the CPU."""
    for fn, args in calls(*sizes):
        if fn is gathered:
            args[2] = -12345  # small enough for the narrow one
        values = []
        for limit in (0, narrow.LIMIT):
            monkeypatch.setattr(narrow, "LIMIT", limit)
            fn.refresh()
            values.append(fn.on("cuda-emulated")(*args))
            monkeypatch.undo()
        fn.refresh()
        assert values[0].tobytes() == values[1].tobytes() == fn(*args).tobytes(), fn.name


# -- at sizes that nobody has the memory for


class Endless:
    """An array as large as you like, of which all elements are one."""

    def __init__(self, shape, value):
        self.shape, self.value, self.dtype = shape, value, np.asarray(value).dtype

    def __getitem__(self, at):
        return self.value

    def __setitem__(self, at, value):
        pass

    def all(self):
        return True


class Far(Host):
    """A host program with arrays of that kind; of every launch some blocks are looked at, the last among them."""

    def __init__(self, program, sizes, number):
        super().__init__(replace(program, function=replace(program.function, inputs=())), [], sizes)
        self.launched = []
        for p in program.function.inputs:
            if isinstance(p, lp.Var):
                self.values[p.atom] = self.values[p] = p.dtype.numpy.type(number)
            else:
                self._alloc(p)

    def _alloc(self, b):
        shape = tuple(max(0, self.poly(p)) for p in b.extents)
        self.memory[b] = made = Memory((0,), b.dtype.numpy)
        made.cells, made.written = Endless(shape, b.dtype.numpy.type(0)), Endless(shape, True)

    def launch(self, launch):
        columns, rows = (max(0, self.poly(p)) for p in launch.grid)
        self.launched.append(launch.kernel)
        if launch.kernel.narrow:
            for x in sorted({0, columns // 2, columns - 1} & set(range(columns))):
                _Block(self, launch.kernel, {k.BLOCK: x, k.BLOCK_Y: rows - 1, k.BLOCKS: columns}, Block(0, launch.kernel.threads, Accesses("")), False, []).run()


FUNCTIONS = (outer, turned, blur, gathered, halves, strided)


@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda f: f.name)
def test_large_sizes(fn):
    """Sizes from 1 to 2**36, the number of points around where the choice changes: whatever of the narrow version is looked at fits 32 bits."""
    rng = np.random.default_rng(7)
    program = lowered(fn.core)
    seen = {True: 0, False: 0}
    for _ in range(24):
        names = program.function.sizes
        bits = rng.dirichlet(np.ones(len(names)) * rng.choice([0.3, 1, 5])) * rng.uniform(26, 33)
        host = Far(program, {s: max(1, int(2**b)) for s, b in zip(names, bits, strict=True)}, 2 ** int(rng.integers(0, 36)) * rng.choice([-1, 1]))
        host.run()
        seen[all(kernel.narrow for kernel in host.launched)] += 1
    assert min(seen.values()) >= 3, seen


@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda f: f.name)
def test_where_the_choice_changes(fn):
    """A quarter of 2**31 points has narrow indices; one of more than 2**31 has not, nor has a size beyond 32 bits, whatever the others are."""

    def narrowly(first, others, number=3):
        program = lowered(fn.core)
        names = program.function.sizes
        host = Far(program, dict(zip(names, [first, *[others] * (len(names) - 1)], strict=True)), number)
        host.run()
        return all(kernel.narrow for kernel in host.launched)

    assert narrowly(1 << 22, 4)
    alone = fn is gathered  # its first size meets numbers of arrays only: 64 bits in both
    assert narrowly(1 << 31, 4) == narrowly(1 << 32, 1) == alone
    assert not narrowly(4, 1 << 31) and not narrowly(1, 1 << 32)
    if fn in (gathered, strided):
        assert not narrowly(4, 4, number=-(2**31))


def test_numbers_of_arrays_stay_wide():
    """And whatever is computed together with them: n there may be as large as it likes, the choice does not look at it."""
    text = generate(gathered.core).kernels_text
    short = text[text.index("k0_points_32") :]
    assert "n - 1 >= k" in short and "a[k * m + (int64_t)j" in short and "at_32_m" in short and "at_32_n" not in short


def test_one_index_has_one_version():
    @at.fn
    def flat(x: f64[n]) -> f64[n]:
        return x * 2.0 + 1.0

    assert not narrow_kernels(lowered(flat.core))


def test_the_host_compares():
    """As many bounds as are not contained in others."""
    program = lowered(outer.core)
    (choice,) = [s for s in k.walk(program.body) if isinstance(s, lp.If) and any(isinstance(x, k.Launch) for x in s.then)]
    assert 0 < len(choice.tests) <= narrow.MOST_BOUNDS


@needs
def test_registers():
    """Fewer, or as many, and no division of 64 bits."""
    fewer = 0
    for fn in FUNCTIONS:
        made = generate(fn.core)
        uses = cubin(made.kernels_text, "sm_90", fn.name).uses
        for kernel in narrow_kernels(made.program):
            narrow_use, wide = uses[kernel.name], uses[kernel.name.removesuffix("_32")]
            assert narrow_use.registers <= wide.registers and narrow_use.spilled == 0, (fn.name, narrow_use, wide)
            fewer += narrow_use.registers < wide.registers
    assert fewer >= 3
