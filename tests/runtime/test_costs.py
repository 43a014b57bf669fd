"""What importing, checking, loading and calling cost, with generous limits; bench/compile_time/growth.py has the figures."""

import gc
import resource
import timeit

import numpy as np
import pytest

import atoll as at
from atoll import f32
from bench.compile_time.growth import body
from tests.front.modules import python

n = at.sizes("n")
factor = 2.0


@at.fn
def fused(a: f32[n], b: f32[n], c: f32[n]) -> f32[n]:
    return a + b * c


@at.fn
def captured(a: f32[n]) -> f32[n]:
    return fused(a, a, a) * factor


def seconds() -> float:
    """Processor time of this process and its children: other processes do not count."""
    return sum(r.ru_utime + r.ru_stime for r in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def test_import_is_quick_and_loads_no_compiler():
    code = (
        "import sys, resource\nt = lambda: (lambda r: r.ru_utime + r.ru_stime)(resource.getrusage(resource.RUSAGE_SELF))\n"
        "import numpy\na = t()\nimport atoll\nprint(t() - a, [m for m in ('highspy', 'atoll.lower', 'atoll.backends', 'atoll.schedule', 'ctypes.util') if m in sys.modules])"
    )
    runs = [python("-c", code).stdout.split(" ", 1) for _ in range(3)]
    assert min(float(r[0]) for r in runs) < 0.6  # usually 0.1
    assert runs[0][1].strip() == "[]"


def least(call, number=2000, repeat=15):
    call()
    return min(timeit.repeat(call, number=number, repeat=repeat)) / number


def test_a_call_costs_about_as_much_as_an_operator_of_numpy():
    x = np.ones(64, "f4")
    operators = least(lambda: x + x * x)  # about 0.6 µs on an idle machine
    assert least(lambda: fused(x, x, x)) < 3 * operators
    assert least(lambda: captured(x)) < 4 * operators
    assert least(lambda: fused.compile) < operators


def front(lines: int) -> float:
    """Checking and translating, without the C compiler."""
    from atoll.backends.c.jit import generate
    from atoll.lower.make import compiled_loops

    text = body(lines).replace("@at.fn\n", "")
    gc.collect()
    gc.disable()  # what other tests have left behind is no part of it
    try:
        start = seconds()
        f = at.fn(source=text)
        generate(f.core, compiled_loops(f.core))
        return seconds() - start
    finally:
        gc.enable()


@pytest.mark.long
def test_a_body_ten_times_longer_takes_about_ten_times_longer():
    front(5)
    short = min(front(30) for _ in range(3))
    assert front(300) < 20 * short  # usually 8


def test_a_compiled_function_is_found_again_quickly():
    f = at.fn(source=body(20).replace("@at.fn\n", ""))
    f.compile()
    times = []
    for _ in range(3):
        f.refresh()
        _ = f.core
        start = seconds()
        f.compile()
        times.append(seconds() - start)
    assert min(times) < 0.3  # usually 0.01
