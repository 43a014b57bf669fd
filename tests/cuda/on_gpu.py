"""Everything that needs a GPU, in one go and within a given time: the tests of tests/cuda on it, the corpus, the fuzzers, the bench. `make test-cuda`.

    python -m tests.cuda.on_gpu [--seconds 560] [--out out/cuda] [--skip bench]

Such a machine may reach no registry: `make cuda-packages` puts what is needed beside PyTorch's Python into out/cuda_packages, which travels with the tree.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.cuda.on_gpu", description=__doc__)
    parser.add_argument("--seconds", type=float, default=560)
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "cuda")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 1) - 2))
    parser.add_argument("--skip", nargs="*", default=[])
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    path = os.pathsep.join(filter(None, [str(ROOT), str(ROOT / "out" / "cuda_packages"), os.environ.get("PYTHONPATH", "")]))
    environment = {**os.environ, "PYTHONPATH": path, "ATOLL_TEST_CUDA": "1", "PYTHONUNBUFFERED": "1", "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    python = [sys.executable, "-W", "ignore", "-m"]
    results: dict[str, int | None] = {}

    def begin(name: str, *command: str) -> subprocess.Popen[bytes]:
        with (options.out / f"{name}.txt").open("wb") as log:
            return subprocess.Popen([*python, *command], cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT)

    def end(name: str, process: subprocess.Popen[bytes], by: float) -> None:
        try:
            results[name] = process.wait(max(1.0, start + by - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            results[name] = None
        lines = (options.out / f"{name}.txt").read_text(errors="replace").splitlines()
        print(f"== {name}: {'no time' if results[name] is None else f'exit {results[name]}'} after {time.monotonic() - start:.0f} s", *lines[-25:], sep="\n", flush=True)

    end("doctor", begin("doctor", "atoll", "doctor"), 30)
    end("tests", begin("tests", "pytest", "-q", "-p", "no:cacheprovider", "tests/cuda", "tests/cuda/libraries.py"), 0.3 * options.seconds)
    if "bench" not in options.skip:  # alone, because it is timed
        till = 0.65 * options.seconds
        end("bench", begin("bench", "bench.gpu.run", "--seconds", f"{till - (time.monotonic() - start) - 15:.0f}", "--out", str(options.out / "gpu.json")), till)
    left = max(20.0, options.seconds - (time.monotonic() - start) - 20)
    running = {}
    if "corpus" not in options.skip:
        running["corpus"] = begin("corpus", "tests.cuda.corpus", "--target", "cuda", "--jobs", str(options.jobs), "--seconds", f"{left:.0f}")
    if "fuzz" not in options.skip:
        running["fuzz"] = begin("fuzz", "tests.fuzz", "--stages", "interpret,cuda", "--seeds", "1000:100000", "--time", f"{left:.0f}")
    for name, process in running.items():
        end(name, process, options.seconds)
    print("\n".join(f"{name}: {'no time' if code is None else 'right' if code == 0 else f'exit {code}'}" for name, code in results.items()))
    return 0 if all(code == 0 for code in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
