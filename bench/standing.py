"""python -m bench.standing (make standing): write what the newest results say into docs/performance.md, below its mark.

Ratios are the time of the peer over ours: above 1 we are faster. Kernels below 0.9 of the best peer are listed with the reason, from REASONS;
one that has none there says so.
"""

from __future__ import annotations

import json
from typing import Any

from bench.run import ROOT, TOOLS, geometric, ratio

PAGE = ROOT / "docs" / "performance.md"
GRADIENTS = ROOT / "bench" / "results" / "gradients_beside_jax.json"
NPBENCH = ROOT / "bench" / "results" / "npbench.json"
MARK = "<!-- everything below is written by bench/standing.py -->"
NAMES = {"numpy": "NumPy", "numba": "Numba", "jax": "JAX", "torch": "PyTorch", "inductor": "PyTorch, torch.compile", "halide": "Halide"}
REASONS = {
    "conv1d 31 f32": "every tap is one unaligned vector load, half of which cross cache lines; taps that lie a vector apart read the same elements, and sharing these was not built",
    "tridiagonal solves": "between 0.87 and 1.8 in different runs",
    "gather 1M f64": "memory latency: in C, the loop with its check, with a branch and without any check differ by less than two runs of one of them do",
    "softmax f32": "profile: the exponential two fifths (glibc's; one of our own inlined took as long), storing the quotients a quarter, the maximum with its test for NaN a quarter; between 0.87 and 1.1 in different runs",
    "dot 4M f64": "memory; between 0.89 and 1.06 in different runs",
    "blur 3x3 f32": "memory; between 0.9 and 1.4 in different runs",
    "row sums f64": "memory; between 0.74 and 1.17 in different runs; four rows side by side would gain 15 % (C)",
    "chain 1M f32": "memory; between 0.9 and 1.5 in different runs",
    "weighted histogram 4096 bins": "every place is checked, and private copies are added at the end, which the peer does not do",
    "sparse matrix-vector": "every column index is checked in its row's loop",
    "outer product f32": "memory; 0.30 to 0.31 ms alone, as the best peer",
    "fft 64K": "the peers call libraries written for it; ours is a program that does two levels at a time in place. Between 0.76 and 1.4 in different runs",
    "conv2d 3x3 f32": "between 0.89 and 1.0 in different runs; not examined",
    "jacobi 2-d, 10 steps f32": "between 0.86 and 1.4 in different runs",
}

NPBENCH_REASONS = {  # what was seen on 18 November 2026, of the preset M with one thread; "by hand": the same loops in C, in turns, on a loaded machine
    "stockham_fft": "two divisions for every element and one for every term, by numbers known only when it runs. By hand its loop takes 24 ms; 16 with the quotients of the place carried as counters, 5.5 with the range cut where they change and the terms outside of it (so a factor is looked up once for a row); the tables of sines and cosines 3.8",
    "fdtd_2d": "seen in its loops, not tried otherwise: both electric fields are computed again where the magnetic one reads them at a neighbour, and all three have second arrays that change places with them in every step; in place they would need a shift of one row between them",
    "hdiff": "rows of the Laplacian in a window of four; rows of 1280 bytes go one after the other since 19 November 2026: 5.4 to 5.8 ms of processor time on a loaded machine, 5.7 to 6.7 four at a time. The arrays are 63 MB, twice the last cache, and the result is read into it before it is stored. JAX took between 3.7 and 13.3 ms in different processes",
    "spmv": "measured before sums of fewer elements than a vector has left out its lanes (19 November 2026): two elements a row, and four lanes to add up for each. With them left out the task takes 15 microseconds at S instead of 29, 287 at M instead of 309; rows of 8 and 13 elements take 12 % more than before. Run alone on a loaded machine it took 0.020 ms, Numba 0.012: for every row it is asked twice whether its range lies in the arrays, and for every element whether its place does",
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
    beside = {threads: {name: k["copy"] / k["seconds"]["atoll"] for name, k in run["kernels"].items() if "copy" in k and "atoll" in k["seconds"]} for threads, run in runs.items()}
    for threads, found in beside.items():
        if found:
            below = [f"{name} {part:.0%}" for name, part in found.items() if part < 0.85]
            lines += [f"Kernels bound by memory, beside a copy of as many bytes in the same rounds, {threads} thread{'s' if threads != '1' else ''}: {len(found) - len(below)} of {len(found)} at 85 % of its speed" + (f"; below: {', '.join(below)}." if below else "."), ""]
    grown = {name: k["growth"] for run in runs.values() for name, k in run["kernels"].items() if "growth" in k}
    if grown:
        over = [f"{name} {g['exponent']:.2f} for {g['expected']:g} ({g['megabytes'][0]:.1f} to {g['megabytes'][-1]:.1f} MB)" for name, g in grown.items() if g["exponent"] > g["expected"] + 0.35]
        lines += [f"How cost grows with the size, fitted over four sizes: {len(grown) - len(over)} of {len(grown)} as the algorithm says" + (f"; more, with the size of the arguments (a core has 1 MB of cache, all share 32): {', '.join(over)}." if over else "."), ""]
    ratios = {name: {threads: r for threads, run in runs.items() if name in run["kernels"] and (r := ratio(run["kernels"][name])) is not None} for name in data["kernels"]}
    slow = {name: found for name, found in ratios.items() if found and min(found.values()) < 0.9}
    lines += [f"Kernels below 0.9 of the best peer ({' and '.join(f'{t} threads' if t != '1' else 'one thread' for t in runs)}), and why:", "", "| kernel | ratio | why |", "|---|---|---|"]
    for name, found in sorted(slow.items(), key=lambda item: min(item[1].values())):
        lines.append(f"| {name} | {', '.join(f'{r:.2f}' for r in found.values())} | {REASONS.get(name, 'not examined')} |")
    return "\n".join([*lines, "", *npbench(), *gradients()]) + "\n"


def npbench() -> list[str]:
    """What bench/results/npbench.json says, where it is."""
    if not NPBENCH.exists():
        return []
    lines = [f"NPBench's tasks (`{NPBENCH.relative_to(ROOT)}`, medians; with one thread the processor's time, on a machine that others used: its load is beside each), the best of NumPy, Numba and JAX over ours:", "", "| preset | tasks | geometric mean | at least as fast | below 0.9 |", "|---|---|---|---|---|"]
    slow: set[str] = set()
    for run, tasks in json.loads(NPBENCH.read_text()).items():
        found = {name: min(t for tool, t in times.items() if tool not in ("atoll", "load")) / times["atoll"] for name, times in tasks.items()}
        below = ", ".join(f"{name} {r:.2f}" for name, r in sorted(found.items(), key=lambda item: item[1]) if r < 0.9)
        lines.append(f"| {run} | {len(found)} | {geometric(list(found.values())):.2f} | {sum(r >= 1 for r in found.values())} | {below or 'none'} |")
        slow |= {name for name, r in found.items() if r < 0.9}
    return [*lines, "", "Why, of those below 0.9:", "", "| task | why |", "|---|---|", *(f"| {name} | {NPBENCH_REASONS.get(name, 'not examined')} |" for name in sorted(slow))]


def gradients() -> list[str]:
    """What bench/results/gradients_beside_jax.json says, where it is."""
    if not GRADIENTS.exists():
        return []
    lines = ["", f"Gradients (`{GRADIENTS.relative_to(ROOT)}`), JAX's time over ours:", "", "| threads | programs | geometric mean | at least as fast | below 0.8 |", "|---|---|---|---|---|"]
    for run, rows in json.loads(GRADIENTS.read_text()).items():
        found = {name: row["jax"] / row["atoll"] for name, row in rows.items()}
        below = ", ".join(f"{name} {r:.2f}" for name, r in sorted(found.items(), key=lambda item: item[1]) if r < 0.8)
        lines.append(f"| {run} | {len(found)} | {geometric(list(found.values())):.2f} | {sum(r >= 1 for r in found.values())} | {below or 'none'} |")
    return lines


def main() -> None:
    page = PAGE.read_text()
    PAGE.write_text(page[: page.index(MARK)] + text(newest()))
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
