"""First results of programs beside JAX's, in one run: `python -m bench.compile_time.run [--peers PYTHON] [--write] [PROGRAM...]`

Each program runs in a process of its own, first with Atoll, then with JAX, three times in turn; figures are medians. A first result is everything from the text of the
program (Atoll) or the traced function (JAX) to the value; imports, and the libraries that all programs share, are there before. Processor time counts ours
and the C compiler's up to the first result: it is what a machine that does other things at the same time changes least. What is compiled in the background after it (the good
version of a long program, runtime/first_version.py) is not in it; the second call waits for that ("second"). The programs are a transformer whose layers are written out, and
the programs of examples/ad that have a JAX version (bench/ad/with_jax.py). `--peers` is a Python that has JAX and NumPy.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
LAYERS = ["value 2", "grad 2", "grad 4", "jvp 2"]
EXAMPLES = [
    "gmm d=10 k=25", "lstm", "lstm_batch", "ba jacobian", "kmeans", "kmeans_sparse", "rsbench", "xsbench", "lbm", "hand_simple", "mlp", "transformer", "lotka_volterra", "log_sum_exp",
]  # fmt: skip


def first(tool: str, program: str, python: str, cache: Path) -> dict[str, Any]:
    env = _environment(cache)
    done = subprocess.run([python, "-m", "bench.compile_time.one", tool, program], capture_output=True, text=True, env=env, cwd=ROOT, check=False)
    if done.returncode:
        raise SystemExit(f"{tool} {program}: {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])  # type: ignore[no-any-return]


def _environment(cache: Path) -> dict[str, str]:
    """Modules are read from bytecode, as those that are installed are."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**env, "PYTHONPATH": str(ROOT), "ATOLL_CACHE_DIR": str(cache), "PYTHONPYCACHEPREFIX": str(cache / "bytecode")}


def measure(program: str, peers: str | None, rounds: int, ready: Path) -> dict[str, Any]:
    """Medians of a program."""
    found: dict[str, list[dict[str, Any]]] = {"atoll": [], "jax": []}
    with tempfile.TemporaryDirectory() as name:
        for k in range(rounds):
            fresh = Path(name) / f"cache{k}"
            shutil.copytree(ready, fresh)
            found["atoll"].append(first("atoll", program, sys.executable, fresh))
            if peers is not None:
                found["jax"].append(first("jax", program, peers, fresh))
    return {tool: _middle(runs) for tool, runs in found.items() if runs}


def _prepare(cache: Path) -> None:
    """The libraries that programs share are there already, and the bytecode of every module."""
    text = "import atoll as at, numpy as np\n" + "".join(
        f"from atoll import {t}\nn = at.sizes('n')\nf = at.fn(source='import atoll as at\\nfrom atoll import {t}\\nn = at.sizes(\"n\")\\ndef f(a: {t}[n, n]) -> {t}[n, n]:\\n    return a @ a\\n')\n"
        f"f(np.ones((8, 8), np.{'float32' if t == 'f32' else 'float64'}))\n"
        for t in ("f32", "f64")
    )
    subprocess.run([sys.executable, "-c", text], env=_environment(cache), check=True)
    for program in ("grad 1", "jvp 1"):
        first("atoll", program, sys.executable, cache)


def _middle(runs: list[dict[str, Any]]) -> dict[str, Any]:
    figures: dict[str, Any] = {key: statistics.median(run[key] for run in runs) for key in ("wall", "own", "compiler", "second", "again")}
    figures["stages"] = {key: statistics.median(run["stages"][key] for run in runs) for key in runs[0]["stages"]}
    return figures


_HEAD = ["program", "atoll: clock", "processor", "of it C compiler", "planning", "JAX: clock", "processor", "clock, ratio", "processor, ratio", "second call: atoll", "a later call: atoll", "JAX"]


def row(program: str, figures: dict[str, Any]) -> list[str]:
    a = figures["atoll"]
    cells = [program, f"{a['wall']:.2f}", f"{a['own'] + a['compiler']:.2f}", f"{a['compiler']:.2f}", f"{a['stages'].get('loops', 0) + a['stages'].get('C text', 0):.2f}"]
    if "jax" not in figures:
        return [*cells, "", "", "", "", f"{a['second']:.2f}", _ms(a["again"]), ""]
    j = figures["jax"]
    ratios = [f"{a['wall'] / j['wall']:.2f}", f"{(a['own'] + a['compiler']) / (j['own'] + j['compiler']):.2f}"]
    return [*cells, f"{j['wall']:.2f}", f"{j['own'] + j['compiler']:.2f}", *ratios, f"{a['second']:.2f}", _ms(a["again"]), _ms(j["again"])]


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.2f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", default=[])
    parser.add_argument("--peers", default=str(ROOT / "bench" / ".peers" / "bin" / "python"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="put the table into bench/results/compile_time.md")
    given = parser.parse_args()
    peers = given.peers if Path(given.peers).exists() else None
    lines = ["| " + " | ".join(_HEAD) + " |", "|" + "---|" * len(_HEAD)]
    for line in lines:
        print(line)
    with tempfile.TemporaryDirectory() as name:
        _prepare(ready := Path(name) / "ready")
        for program in given.programs or [*LAYERS, *EXAMPLES]:
            lines.append("| " + " | ".join(row(program, measure(program, peers, given.rounds, ready))) + " |")
            print(lines[-1], flush=True)
    if given.write:
        text = f"# First results\n\nWritten by `python -m bench.compile_time.run --write`; seconds.\n\n{' '.join((__doc__ or '').split(chr(10) * 2)[1].split())}\n\n"
        (ROOT / "bench" / "results" / "compile_time.md").write_text(text + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
