"""The figures of MADL: `python -m bench.madl.run` writes bench/results/madl.md (a minute)."""

from __future__ import annotations

import time
from pathlib import Path

from atoll.madl.api import madl
from bench.madl.memory import bytes_said_and_measured, table
from bench.madl.steps import EXAMPLES, NAMES, by_numpy, generated_and_hand


def compile_seconds() -> dict[str, float]:
    """Text to C, without the C compiler."""
    found = {}
    for name in NAMES:
        start = time.process_time()
        madl(EXAMPLES / f"{name}.madl").c_file().source()
        found[name] = time.process_time() - start
    return found


def page() -> str:
    lines = ["# MADL: figures", "", "Written by `python -m bench.madl.run`.", "", "## Copies and temporaries", ""]
    lines += ["| program | copies (each a `!` of the text) | temporaries | SCADE's KCG, as the thesis reports |", "|---|---|---|---|"]
    for row in table():
        copies = f"{len(row.copies)}: {', '.join(row.copies)}" if row.copies else "0"
        lines.append(f"| {row.program} | {copies} | {', '.join(row.temporaries) or '0'} | {row.kcg} |")
    lines += ["", "## Time of a step", "", "Generated C and C by hand in one process, `cc -O3 -march=native`, in turns; medians of processor time.", ""]
    lines += ["| program | generated, ns | by hand, ns | ratio | NumPy, ns |", "|---|---|---|---|---|"]
    steps, slow = generated_and_hand(), by_numpy()
    for name in NAMES:
        ours, hand = steps[name]
        lines.append(f"| {name} | {ours:.0f} | {hand:.0f} | {ours / hand:.2f} | {slow[name]:.0f} |")
    lines += ["", "## Bytes", "", "| program | stack by the macro | frames at -O0 (each function) | state by the macro | sizeof state |", "|---|---|---|---|---|"]
    for name, row in bytes_said_and_measured().items():
        frames = " + ".join(map(str, row["frames"])) if len(row["frames"]) < 8 else f"{len(row['frames'])} functions, {max(row['frames'])} at most"
        lines.append(f"| {name} | {row['stack']} | {frames} | {row['state']} | {row['sizeof'] if row['sizeof'] is not None else ''} |")
    lines += ["", "## From text to C", "", "| program | s |", "|---|---|", *(f"| {name} | {s:.2f} |" for name, s in compile_seconds().items()), ""]
    return "\n".join(lines)


def main() -> None:
    text = page()
    target = Path(__file__).parents[1] / "results" / "madl.md"
    target.parent.mkdir(exist_ok=True)
    target.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
