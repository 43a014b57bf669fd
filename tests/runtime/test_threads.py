"""Threads, forks and signals: results never depend on them, and nothing hangs."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import atoll as at
from atoll import f64, i64
from tests.front.modules import ROOT, python

n, m = at.sizes("n m")
rng = np.random.default_rng(3)


@at.fn
def stretch(x: f64[n]) -> f64[n]:
    return [sin(v) * exp(-v * v) for v in x]


@at.fn
def total(x: f64[n]) -> f64:
    return sum(sin(v) for v in x)


@at.fn
def checked(x: f64[n], i: i64[m]) -> f64[m]:
    return [x[j] for j in i]


@at.fn
def endless(k: i64, x: f64) -> f64:
    y = x
    i = 0
    while i < k:
        y = y * 0.999 + 1.0
        i = i + 1
    return y


X = rng.random(200_000)


def test_calls_from_many_threads():
    x = [rng.random(size) for size in (10, 1000, 100_000, 150_000)] * 8
    expected = [(stretch(v), total(v)) for v in x]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(5):
            found = list(pool.map(lambda v: (stretch(v), total(v)), x))
            for (a, b), (c, d) in zip(found, expected):
                assert np.array_equal(a, c) and b == d


def test_first_calls_from_many_threads():
    """Compilation itself may be asked for by all of them at once."""
    f = at.fn(source="import atoll as at\nn = at.sizes('n')\ndef f(x: at.f64[n]):\n    return x * 5.4321\n")
    with ThreadPoolExecutor(8) as pool:
        assert all(np.array_equal(y, [5.4321]) for y in pool.map(lambda _: f(np.ones(1)), range(16)))


def test_errors_from_many_threads():
    good, bad = np.zeros(50_000, np.int64), np.full(50_000, 7, np.int64)
    x = np.ones(7)

    def job(k):
        try:
            return float(checked(x, bad if k % 2 else good)[0])
        except IndexError as error:
            return str(error)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(job, range(64)))
    assert set(found[::2]) == {1.0} and len(set(found[1::2])) == 1
    assert found[1].startswith("E0701: index 7 is out of range for size 7\n")


def test_other_python_threads_run_meanwhile():
    """The interpreter lock is given up while a kernel runs."""
    ticks, done = 0, threading.Event()

    def count():
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)

    other = threading.Thread(target=count)
    other.start()
    start = time.perf_counter()
    endless(100_000_000, 1.0)
    elapsed = time.perf_counter() - start
    done.set()
    other.join()
    assert ticks > elapsed / 0.001 * 0.05, (ticks, elapsed)


def test_beside_a_busy_process():
    """Who holds a piece and lost its core gets the caller's: the same bits, and the caller may run where it could before."""
    cores = os.sched_getaffinity(0)
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    x = rng.random(20_000)
    expected = (stretch(x), total(x))
    try:
        os.sched_setaffinity(busy.pid, {max(cores)})
        for _ in range(400):
            assert np.array_equal(stretch(x), expected[0]) and total(x) == expected[1]
    finally:
        busy.kill()
        busy.wait()
    assert os.sched_getaffinity(0) == cores


# -- processes


def _child(queue):
    queue.put((float(total(X)), stretch(X)[:3].tolist()))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("how", ["fork", "spawn"])
def test_processes(how):
    expected = (float(total(X)), stretch(X)[:3].tolist())
    context = multiprocessing.get_context(how)
    queue = context.Queue()
    children = [context.Process(target=_child, args=(queue,)) for _ in range(3 if how == "fork" else 1)]
    for child in children:
        child.start()
    assert all(queue.get(timeout=60) == expected for _ in children)
    for child in children:
        child.join(20)
        assert child.exitcode == 0
    assert (float(total(X)), stretch(X)[:3].tolist()) == expected


SINES = """
import os, threading, time
import numpy as np, atoll as at
at.set_threads(3)
n = at.sizes("n")
@at.fn
def f(x: at.f64[n]): return [sin(v) for v in x]
"""

FORKS = SINES + """
x = np.linspace(0, 1, 300000)
expected = f(x)
stop = []
def busy():
    while not stop:
        f(x)
threads = [threading.Thread(target=busy) for _ in range(2)]
for t in threads: t.start()
for _ in range(20):
    pid = os.fork()
    if pid == 0:
        ok = all(np.array_equal(f(x), expected) for _ in range(3))
        os._exit(0 if ok else 1)
    assert os.waitpid(pid, 0)[1] == 0
stop.append(1)
for t in threads: t.join()
print("fine")
"""


def test_forks_while_threads_run(tmp_path):
    """A child starts with no workers, whatever they were doing."""
    (tmp_path / "p.py").write_text(FORKS)
    done = python("p.py", cwd=tmp_path)
    assert done.stdout == "fine\n", done.stderr


SMALL = SINES + """
small, large = np.linspace(0, 1, 9000), np.linspace(0, 1, 300000)
def threads(x):
    f(x)
    return len(os.listdir("/proc/self/task"))
before = len(os.listdir("/proc/self/task"))
first = threads(small) - before
time.sleep(0.1)
again = threads(small) - before
close = max(threads(small) for _ in range(200)) - before
print(first, again, close, threads(large) - before)
"""


def test_small_loops_wake_nobody(tmp_path):
    """Unless they follow each other closely."""
    (tmp_path / "p.py").write_text(SMALL)
    done = python("p.py", cwd=tmp_path)
    assert done.stdout == "0 0 2 2\n", done.stderr


AWAY = SINES + """
x = np.linspace(0, 1, 300000)
before = set(os.listdir("/proc/self/task"))
assert np.allclose(f(x), np.sin(x))
time.sleep(0.2)   # they sleep now
assert np.allclose(f(x), np.sin(x))
cores = os.sched_getaffinity(0)
workers = set(os.listdir("/proc/self/task")) - before
print(len(workers), *{len(cores) - len(os.sched_getaffinity(int(w))) for w in workers})
os.sched_setaffinity(0, {min(cores)})
assert np.allclose(f(x), np.sin(x))
"""


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core")
def test_workers_leave_the_callers_core(tmp_path):
    """Some systems wake them there, and then they wait until the caller is done."""
    (tmp_path / "p.py").write_text(AWAY)
    done = python("p.py", cwd=tmp_path)
    assert done.stdout == "2 1\n", done.stderr


# -- signals


SHAPES = ("sums in a map", "folds in a map", "while in a map", "triple sums", "empty loops", "product", "histograms", "recursion")


def test_interrupted():
    """At random moments (make interrupts: more shapes, a hundred times each). In a process of its own: SIGINT may be ignored in this one."""
    done = subprocess.run([sys.executable, "-m", "tests.runtime.interrupts", "2", "7", *SHAPES], capture_output=True, text=True, cwd=ROOT, timeout=300, check=False, env={**os.environ, "ATOLL_PATIENCE": "3"})
    assert done.returncode == 0, done.stdout + done.stderr  # usually 0.05 s, where nobody else computes


def test_a_signal_handler_of_the_user_runs():
    seen = []
    before = signal.signal(signal.SIGUSR1, lambda *_: seen.append(time.perf_counter()))
    try:
        timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGUSR1))
        timer.start()
        endless(300_000_000, 1.0)
        end = time.perf_counter()
    finally:
        signal.signal(signal.SIGUSR1, before)
    timer.join()
    assert len(seen) == 1 and seen[0] < end


def test_a_handler_that_raises_stops_the_program():
    class Enough(Exception):
        pass

    def handler(*_):
        raise Enough

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(Enough):
            endless(10**13, 1.0)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_in_a_thread_of_its_own_the_main_thread_is_interrupted():
    code = "import signal, threading, os, time\nsignal.signal(signal.SIGINT, signal.default_int_handler)\nfrom tests.runtime.test_threads import endless\nendless(1, 1.0)\nt = threading.Thread(target=endless, args=(10**13, 1.0), daemon=True)\nt.start()\nthreading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()\ntry:\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    print('interrupted', flush=True)\nos._exit(0)\n"
    started = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=100, check=False)
    assert done.stdout == "interrupted\n", done.stderr
    assert time.perf_counter() - started < 50


# -- the number of threads


def test_the_number_of_threads_is_asked_for():
    code = "import atoll as at\nprint(at.threads())\nat.set_threads(7)\nprint(at.threads())"
    done = python("-c", code, env={"ATOLL_NUM_THREADS": "3"})
    assert done.stdout.split() == ["3", "7"], done.stderr
    done = python("-c", "import atoll as at\nprint(at.threads())", env={"ATOLL_NUM_THREADS": ""})
    assert int(done.stdout) == len(os.sched_getaffinity(0)), done.stderr


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("ATOLL_NUM_THREADS", "0", "which is not a number of threads"),
        ("ATOLL_NUM_THREADS", "-2", "set ATOLL_NUM_THREADS to a whole number, 1 or more, or unset it"),
        ("ATOLL_NUM_THREADS", "many", "E0826: ATOLL_NUM_THREADS is 'many'"),
        ("ATOLL_NUM_THREADS", "1e3", "E0826"),
        ("ATOLL_KEEP", "-1", "set ATOLL_KEEP to a whole number, 0 or more, or unset it"),
        ("ATOLL_KEEP", "64M", "E0826: ATOLL_KEEP is '64M', which is not a number of megabytes"),
    ],
)
def test_a_number_that_cannot_be_read_is_refused(name, text, said):
    code = "import atoll as at\ntry:\n    at.threads()\nexcept at.Error as error:\n    print(error)\nprint(at.doctor())"
    done = python("-c", code, env={name: text})
    assert said in done.stdout and "Traceback" not in done.stderr, done.stderr
    assert "E0826" in done.stdout.rpartition("compile, run")[2]  # at.doctor() tells it too
