"""python -m bench.waits [--loops N] [--turns K] [--alone] [--native FOLDER]: short parallel loops beside a busy process on one of the cores.

A loop of eight pieces (about 17 µs each) on two threads, N times, in turns: the pool of atoll/runtime/native/runtime.c, and OpenMP with static and with dynamic pieces (waits.c,
gcc -O2). First with nothing beside it, then with a process that is busy on the second core only. Wall time, since waiting is what is looked at; --alone gives this
process group most of the machine (/proc/self/autogroup, root), which is how to look at it where others are busy: keep it short. --native: the runtime
of another checkout.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
HOW = ("Atoll", "OpenMP static", "OpenMP dynamic")


def build(folder: str, native: Path) -> Path:
    out = Path(folder) / "waits"
    command = ["gcc", "-O2", "-fopenmp", "-I", str(native), str(Path(__file__).with_suffix(".c")), "-o", str(out), "-lpthread"]
    subprocess.run(command, check=True)
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--loops", type=int, default=4000)
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--native", type=Path, default=ROOT / "atoll" / "runtime" / "native")
    options = parser.parse_args()
    if options.alone:
        if os.getsid(0) != os.getpid():
            os.setsid()
        Path("/proc/self/autogroup").write_text("-20")
    cores = sorted(os.sched_getaffinity(0))[:2]
    os.sched_setaffinity(0, cores)
    with tempfile.TemporaryDirectory() as folder:
        program = build(folder, options.native)
        for busy in (False, True):
            other = subprocess.Popen([sys.executable, "-c", "while True: pass"]) if busy else None
            try:
                if other is not None:
                    os.sched_setaffinity(other.pid, {cores[-1]})
                for _ in range(options.turns):
                    for how, name in enumerate(HOW):
                        found = subprocess.run([str(program), str(how), str(options.loops), str(len(cores))], capture_output=True, text=True, check=True)
                        print(f"{'busy second core' if busy else 'nothing beside it'}, {name}: {found.stdout.strip()}", flush=True)
            finally:
                if other is not None:
                    other.kill()
                    other.wait()


if __name__ == "__main__":
    main()
