"""Everything that needs a GPU, in one go and within a given time: what is right first, all at the same time; then the bench, alone. `make test-cuda`.

    python -m tests.cuda.on_gpu [--seconds 560] [--right 0.35] [--out out/cuda] [--parts portable constructs] [--again "softmax f32,sort 1M f32"]

In the folder, as it goes: report.txt (how every part ended, with the end of what it said), bench.txt, gpu.json; what the other parts say is in out/logs. --right is the share of the time until the bench begins. --again: only
rows of the table that are old or missing, after those of these kernels (bench/gpu/run.py).

One run of ten minutes does not come to the end of everything. Three do: `--parts portable constructs` (all functions with bits="portable", and programs of every construct, right and wrong),
`--parts corpus tests large fuzz`, and `--parts bench`.

Such a machine may reach no registry: `make cuda-packages` puts what is needed beside PyTorch's Python into out/cuda_packages, which travels with the tree. Where there is no pytest, the
tests are left out and the report says so.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = ("test_runtime.py", "libraries.py", "test_held.py", "test_tiles.py", "test_sorts.py", "test_narrow.py")
SHOWN = 60  # lines of what a part said
AGAIN = 3  # how a bench ends whose device is in error
PARTS = ("tests", "large", "constructs", "corpus", "portable", "fuzz", "bench")
MANY = ("corpus", "portable", "fuzz")  # by as many processes as there is room for


@dataclass
class Parts:
    """Processes of this run, what they say, and how they ended."""

    out: Path
    logs: Path
    environment: dict[str, str]
    start: float = field(default_factory=time.monotonic)
    ended: dict[str, str] = field(default_factory=dict)

    def since(self) -> float:
        return time.monotonic() - self.start

    def begin(self, name: str, *command: str) -> subprocess.Popen[bytes]:
        with self.log(name).open("ab") as log:
            return subprocess.Popen([sys.executable, "-W", "ignore", "-m", *command], cwd=ROOT, env=self.environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)

    def log(self, name: str) -> Path:
        return (self.out if name == "bench" else self.logs) / f"{name}.txt"

    def end(self, name: str, process: subprocess.Popen[bytes], by: float) -> int | None:
        """Waits until it ends, `by` seconds after the start at most."""
        try:
            code: int | None = process.wait(max(1.0, by - self.since()))
        except subprocess.TimeoutExpired:
            code = None
        with contextlib.suppress(ProcessLookupError):  # with what it has started
            os.killpg(process.pid, signal.SIGKILL)
        self.tell(name, "ran out of time" if code is None else "right" if code == 0 else f"exit {code}")
        return code

    def tell(self, name: str, word: str) -> None:
        self.ended[name] = word
        said = self.log(name).read_text(errors="replace").splitlines()[-SHOWN:] if self.log(name).exists() else []
        text = "\n".join([f"== {name}: {word}, {self.since():.0f} s after the start", *said])
        print(text, flush=True)
        with (self.out / "report.txt").open("a") as report:
            report.write(text + "\n")


def shared_out(cores: int, parts: Sequence[str]) -> int:
    """Processes for each of the parts that take several: one core is for each of the others."""
    several = [part for part in parts if part in MANY]
    return max(1, (cores - sum(part not in (*MANY, "bench") for part in parts)) // max(1, len(several)))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.cuda.on_gpu", description=__doc__)
    parser.add_argument("--seconds", type=float, default=560)
    parser.add_argument("--right", type=float, default=0.35)
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "cuda")
    parser.add_argument("--jobs", type=int, help="processes of the corpus, of the fuzzers, and of the portable corpus")
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=PARTS)
    parser.add_argument("--again")
    options = parser.parse_args()
    jobs = options.jobs or shared_out(os.cpu_count() or 1, options.parts)
    logs = ROOT / "out" / "logs"
    for folder in (options.out, logs):
        folder.mkdir(parents=True, exist_ok=True)
    for old in (*logs.glob("*.txt"), *(options.out / name for name in ("report.txt", "bench.txt", "gpu.json"))):
        old.unlink(missing_ok=True)
    path = os.pathsep.join(filter(None, [str(ROOT), str(ROOT / "out" / "cuda_packages"), os.environ.get("PYTHONPATH", "")]))
    parts = Parts(options.out, logs, {**os.environ, "PYTHONPATH": path, "ATOLL_TEST_CUDA": "1", "PYTHONUNBUFFERED": "1", "XLA_PYTHON_CLIENT_PREALLOCATE": "false"})
    others = [part for part in options.parts if part != "bench"]
    till = options.seconds if "bench" not in options.parts else options.right * options.seconds if others else 0.0
    parts.end("doctor", parts.begin("doctor", "atoll", "doctor"), 30)

    left = till - parts.since() - 27  # the last function of a corpus may take 20 s, and what they all found is told at the end
    enough = min(left, 60) if len(others) > 2 else left  # of the portable corpus, which takes longest
    commands = {
        "tests": ["pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *(f"tests/cuda/{name}" for name in TESTS)],
        "large": ["tests.cuda.large", "--target", "cuda", "--scale", "8"],
        "constructs": ["tests.cuda.constructs", "--target", "cuda"],
        "corpus": ["tests.cuda.corpus", "--target", "cuda", "--jobs", str(jobs), "--seconds", f"{left:.0f}", "--backwards"],
        "portable": ["tests.portable.corpus", "--jobs", str(jobs), "--seconds", f"{enough:.0f}", "--ways=as usual,cuda"],
        **{f"fuzz{job}": ["tests.fuzz", "--stages", "interpret,cuda", "--seeds", f"{5790000000 + 100000 * job}:{5790000000 + 100000 * (job + 1)}", "--time", f"{left:.0f}"] for job in range(jobs)},
    }
    running = {name: parts.begin(name, *command) for name, command in commands.items() if name.rstrip("0123456789") in options.parts}
    for name, process in running.items():
        parts.end(name, process, till)

    if "bench" in options.parts:  # alone, because it is timed
        table = options.out / "gpu.json"
        rows = ["--again", str(ROOT / "bench" / "results" / "gpu.json"), "--first", options.again] if options.again is not None else []
        code: int | None = AGAIN
        while code not in (0, 1, None) and parts.since() < options.seconds - 20:
            before = ["--before", str(table)] if table.exists() else []
            seconds = options.seconds - parts.since() - 15
            code = parts.end("bench", parts.begin("bench", "bench.gpu.run", "--seconds", f"{seconds:.0f}", *rows, *before, "--out", str(table)), options.seconds)
    summary = "; ".join(f"{name}: {word}" for name, word in parts.ended.items())
    wrong = any(word != "right" for word in parts.ended.values())
    parts.tell("all", summary)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
