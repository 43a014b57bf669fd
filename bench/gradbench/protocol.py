"""GradBench's own evals with this tool, message by message: python -m bench.gradbench.protocol CHECKOUT [EVAL ...] [--whole] [--seconds N]

Each eval of the checkout's list is a process that asks and judges (against the manual C++ where there is one, which must be built: bench/gradbench/compare.py does), ours
answers. Their comparison allows 1e-4; here it is 1e-9. Small workloads, or with --whole those of their defaults. The Python that runs this needs what the evals need: numpy, scipy, pydantic, dataclasses-json.
lstm reads characters of a text, which large snapshots leave out: where a checkout has none, one of ours is put there, of characters with as many bits.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

SMALL = {
    "ba": ["--max", "2"], "det": ["-l", "5", "6", "7"], "gmm": ["-d", "2", "10", "-k", "5", "25"], "ht": ["--max", "2"], "kmeans": ["-k", "10", "100", "-n", "1000", "-d", "8"],
    "llsq": ["-n", "16", "64", "1024"], "lse": ["-n", "2500", "40000"], "lstm": ["-l", "2", "-c", "1024"], "ode": ["-n", "1000", "-s", "1", "10"],
}  # fmt: skip
JUDGE = """
import functools, runpy, sys
import gradbench.eval as e
e.compare_json_objects = functools.partial(e.compare_json_objects, tolerance=1e-9)
path, *sys.argv[1:] = sys.argv[1:]
runpy.run_path(path, run_name="__main__")
"""


TEXT = "evals/lstm/data/lstm_full.txt"


def supply_text(checkout: Path, characters: int = 8192) -> None:
    """The text that lstm is about. Theirs has characters of 14 bits, and so has this one, in every part of it."""
    file = checkout / TEXT
    if file.exists():
        return
    draw = random.Random(24)
    letters = "etaoin shrdlu,.\n" * 4 + "\u2014\u201c\u201d"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\u2014" + "".join(draw.choice(letters) for _ in range(characters - 1)), encoding="utf8")
    print(f"{TEXT} is not in the checkout: a text of ours is there now")


def run(checkout: Path, name: str, options: list[str], seconds: float) -> Counter[str]:
    """What an eval said: counts of evaluations, of those that were valid, invalid, failed."""
    script = checkout / "python/gradbench/gradbench/evals" / name / "run.py"
    path = os.pathsep.join(filter(None, [f"{checkout / 'python/gradbench'}", os.environ.get("PYTHONPATH")]))
    judge = subprocess.Popen([sys.executable, "-c", JUDGE, str(script), *options], cwd=checkout, env={"PYTHONPATH": path, "PATH": "/usr/bin:/bin"}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    tool = subprocess.Popen([sys.executable, "-W", "ignore", "-m", "bench.gradbench"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert judge.stdin and judge.stdout and tool.stdin and tool.stdout
    found: Counter[str] = Counter()
    until = time.monotonic() + seconds
    try:
        for line in judge.stdout:
            asked = json.loads(line)
            kind = asked["kind"]
            tool.stdin.write(line)
            tool.stdin.flush()
            if kind == "end":
                break
            told = json.loads(tool.stdout.readline())
            assert told["id"] == asked["id"]
            if kind == "evaluate":
                found["evaluated"] += 1
                if not told["success"]:
                    found["failed"] += 1
                    print(f"{name} {asked['function']} {asked.get('description', '')}: {told['error'][:200]}")
            elif kind == "analysis":
                found["valid" if asked["valid"] else "invalid"] += 1
                if not asked["valid"]:
                    print(f"{name}: {asked['error'][:300]}")
            judge.stdin.write(json.dumps(told) + "\n")
            judge.stdin.flush()
            if time.monotonic() > until:
                found["stopped"] += 1
                break
    finally:
        judge.kill()
        tool.kill()
        judge.wait()
        tool.wait()
    if not found["evaluated"]:
        found["silent"] += 1
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout")
    parser.add_argument("evals", nargs="*")
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--seconds", type=float, default=300, help="an eval's limit, by the clock")
    args = parser.parse_args()
    checkout = Path(args.checkout).resolve()
    names = sorted(p.name for p in (checkout / "evals").iterdir() if p.is_dir())
    supply_text(checkout)
    bad = 0
    for name in names:
        if args.evals and name not in args.evals:
            continue
        options = [] if name == "hello" else [*([] if args.whole else SMALL.get(name, [])), "--min-seconds", "0"]
        found = run(checkout, name, options, args.seconds)
        bad += found["failed"] + found["invalid"] + found["silent"]
        print(f"{name:10} " + ", ".join(f"{n} {what}" for what, n in found.items()), flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
