"""The table of bench/gpu/run.py as bench/results/gpu.md.

    python -m bench.gpu.page [bench/results/gpu.json]
    python -m bench.gpu.page --with NEW.json --run "18 November, 21:50, at 1234567"      rows of another run (bench.gpu.run --again) take the place of those in the table
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any

from bench.gpu.reasons import REASONS
from bench.gpu.run import ENDED

RESULTS = Path(__file__).parents[1] / "results"
ENOUGH = 0.9


def row_text(row: dict[str, Any]) -> tuple[str, float | None]:
    times = row["times"]
    ours = times.get("atoll")
    peers = {tool: t for tool, t in times.items() if tool != "atoll"}
    best = min(peers, key=peers.__getitem__) if peers else None
    ratio = peers[best] / ours if best is not None and ours else None
    cells = [row["kernel"], f"{row['numbers']:.0e}".replace("+0", ""), str(row.get("size", ""))]
    cells += [f"{1e6 * times[t]:.1f}" if t in times else "" for t in ("atoll", "jax", "torch", "compile", "cupy")]
    cells.append("" if ratio is None else f"{ratio:.2f}")
    speed = f"{row['bytes'] / ours / 1e9:.0f}" if ours and "bytes" in row else ""
    wrong = row["errors"].get("atoll", "")
    note = f"**not run**: {wrong.splitlines()[0][:120]}" if wrong else "" if ratio is None or ratio >= ENOUGH else REASONS.get(row["kernel"], "not looked into")
    if "relative error" in row.get("checked", ""):
        note += f" ({row['checked']})"
    if "earlier" in row or "later" in row:
        note = f"{note} (run of {row.get('later') or row['earlier']})".strip()
    return "| " + " | ".join([*cells, speed, note]) + " |", ratio


def _mean(ratios: list[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else float("nan")


def merged(data: dict[str, Any], new: dict[str, Any], run: str) -> dict[str, Any]:
    """The table with the rows of another run in which Atoll was timed, or failed; the last one was perhaps only begun, when the time was over."""
    ended = bool(new["rows"]) and new["rows"][-1]["errors"].get("atoll") == ENDED
    told = {(row["kernel"], row["numbers"]): {**row, "later": run} for row in new["rows"][: -1 if ended else None] if "atoll" in row["times"] or "atoll" in row["errors"]}
    rows = [told.pop((row["kernel"], row["numbers"]), row) for row in data["rows"]] + list(told.values())
    return {**data, "rows": rows}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.gpu.page", description=__doc__)
    parser.add_argument("path", nargs="?", type=Path, default=RESULTS / "gpu.json")
    parser.add_argument("--with", dest="new", type=Path)
    parser.add_argument("--run", default="later")
    options = parser.parse_args()
    path = options.path
    data = json.loads(path.read_text())
    if options.new is not None:
        data = merged(data, json.loads(options.new.read_text()), options.run)
        path.write_text(json.dumps(data, indent=1))
    rows = sorted(data["rows"], key=lambda r: (r["numbers"],))
    lines, ratios = [], []
    sizes: dict[int, list[float]] = {}
    for row in rows:
        text, ratio = row_text(row)
        lines.append(text)
        if ratio is not None:
            ratios.append(ratio)
            sizes.setdefault(row["numbers"], []).append(ratio)
    mean = _mean(ratios)
    means = ", ".join(f"{_mean(found):.2f} at {numbers:.0e}".replace("+0", "") for numbers, found in sizes.items())
    below = sum(r < ENOUGH for r in ratios)
    facts = ", ".join(f"{k} {v}" for k, v in data["facts"].items() if v)
    head = f"""# The bench on a GPU

Made by `python -m bench.gpu.run` and `python -m bench.gpu.page` ({facts}). Microseconds a call, arrays on the device; "x" is the time of the best peer over ours (above 1: ours
is faster). torch.compile at the largest size only. {len(rows)} of {data['asked']} rows were run in the time there was; {len(ratios)} have a peer: geometric mean {mean:.2f} ({means}), {below} below {ENOUGH}.
Rows below {ENOUGH} say why: as read off the kernels, or profiled where a time is named (`python -m bench.gpu.profile`).

| kernel | numbers | size | atoll | jax | torch | compile | cupy | x | GB/s | remarks |
|---|---|---|---|---|---|---|---|---|---|---|
"""
    (RESULTS / "gpu.md").write_text(head + "\n".join(lines) + "\n")
    print(f"{len(rows)} rows, geometric mean {mean:.2f} ({means}), {below} of {len(ratios)} below {ENOUGH}")


if __name__ == "__main__":
    main()
