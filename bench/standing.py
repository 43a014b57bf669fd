"""python -m bench.standing: write what the newest results say into docs/performance.md, below its mark.

Ratios are the time of the peer over ours: above 1 we are faster. Kernels below 0.9 of the best peer are listed with the reason, from REASONS;
one that has none there says so.
"""

from __future__ import annotations

import json
from typing import Any

from bench.run import ROOT, TOOLS, geometric, ratio

PAGE = ROOT / "docs" / "performance.md"
MARK = "<!-- everything below is written by bench/standing.py -->"
NAMES = {"numpy": "NumPy", "numba": "Numba", "jax": "JAX", "torch": "PyTorch", "inductor": "PyTorch, torch.compile", "halide": "Halide"}
REASONS = {
    "fft 64K": "written as a program, two levels in a pass over memory, on one thread; the peers call libraries that do several levels in registers",
    "cholesky": "the program goes column by column; LAPACK is blocked. Blocking needs tiling across rounds of a sequential loop, which the plan does not do",
    "levenshtein": "a chain of minimums from cell to cell: about 3.6 cycles for a cell, Numba's about 2.6; the shorter form is not exact for the largest integers",
    "monte carlo pi": "the loop takes 1.1 to 1.2 times as long as Numba's; not found why",
    "gather 1M f64": "indices are checked in the loop that reads; 1.19 in the run before",
    "softmax f32": "three sweeps (maximum, sum, division) and a division that is exact",
    "adi, 4 steps": "rows are copied into and out of the state of each solve",
    "matmul 512 f32": "near 1 with one thread; with two threads not examined",
    "matmul 777x1001x333 f32": "as matmul 512 f32",
    "prefix sums 1M f64": "with one thread the blocks of the parallel scan are read twice for nothing; with two threads it is the fastest",
    "batched 32 f32": "the cost of starting each small product",
    "matvec 512 f64": "in the cache, with one thread; not examined",
    "conv1d 31 f32": "with one thread; multiply and add stay two operations here, so that results are those the program says",
    "dot 4M f64": "memory; between 0.89 and 1.06 in different runs",
    "blur 3x3 f32": "memory; between 0.9 and 1.4 in different runs",
    "sparse matrix-vector": "every column index is checked in its row's loop",
}


def newest() -> dict[str, Any]:
    path = max((ROOT / "bench" / "results").glob("20*.json"))
    return {"file": path.relative_to(ROOT), **json.loads(path.read_text())}


def summary(kernels: dict[str, Any]) -> list[str]:
    """A table: every peer, the geometric mean and the worst."""
    best = {name: r for name, k in kernels.items() if (r := ratio(k)) is not None}
    worst = min(best, key=lambda name: best[name])
    counts = f"{sum(r >= 1 for r in best.values())} of {len(best)} at least as fast, {sum(r < 0.9 for r in best.values())} below 0.9"
    lines = ["| against | geometric mean | worst |", "|---|---|---|", f"| the best peer of each kernel | {geometric(list(best.values())):.2f} ({counts}) | {best[worst]:.2f} ({worst}) |"]
    for tool in TOOLS[1:]:
        each = {name: k["seconds"][tool] / k["seconds"]["atoll"] for name, k in kernels.items() if tool in k["seconds"] and "atoll" in k["seconds"]}
        if each:
            worst = min(each, key=lambda name: each[name])
            lines.append(f"| {NAMES[tool]} ({len(each)} kernels) | {geometric(list(each.values())):.2f} | {each[worst]:.2f} ({worst}) |")
    return lines


def text(data: dict[str, Any]) -> str:
    runs = data["runs"]
    lines = [MARK, "", f"`{data['file']}`: {len(data['kernels'])} kernels, {data['clock']}, {data['machine']}.", ""]
    for threads, run in runs.items():
        limits = run["limits"]
        lines += [f"**{threads} thread{'s' if threads != '1' else ''}** (copying {limits['copy'] / 1e9:.0f} GB/s, multiply-add {limits['flops_f32'] / 1e9:.0f} GFLOP/s in f32, a call {limits['call'] * 1e6:.2f} µs):", "", *summary(run["kernels"]), ""]
    times = sorted(k["compile"] for k in data["kernels"].values() if "compile" in k)
    if times:
        lines += [f"Compile time: median {times[len(times) // 2]:.2f} s, longest {times[-1]:.2f} s.", ""]
    grown = {name: k["growth"] for name, k in data["kernels"].items() if "growth" in k}
    if grown:
        over = [f"{name} {g['exponent']:.2f} for {g['expected']:g}" for name, g in grown.items() if g["exponent"] > g["expected"] + 0.35]
        lines += [f"How cost grows with the size, fitted over four sizes: {len(grown) - len(over)} of {len(grown)} as the algorithm says" + (f"; more: {', '.join(over)}." if over else "."), ""]
    ratios = {name: {threads: r for threads, run in runs.items() if name in run["kernels"] and (r := ratio(run["kernels"][name])) is not None} for name in data["kernels"]}
    slow = {name: found for name, found in ratios.items() if found and min(found.values()) < 0.9}
    lines += [f"Kernels below 0.9 of the best peer ({' and '.join(f'{t} threads' if t != '1' else 'one thread' for t in runs)}), and why:", "", "| kernel | ratio | why |", "|---|---|---|"]
    for name, found in sorted(slow.items(), key=lambda item: min(item[1].values())):
        lines.append(f"| {name} | {', '.join(f'{r:.2f}' for r in found.values())} | {REASONS.get(name, 'not examined')} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    page = PAGE.read_text()
    PAGE.write_text(page[: page.index(MARK)] + text(newest()))
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
