"""The results of a run as one HTML page with SVG plots and no dependency."""

from __future__ import annotations

import html
import math
from typing import Any

COLOURS = {"atoll": "#1f6f8b", "numpy": "#e5986c", "numba": "#7a9e3f", "jax": "#8c6bb1", "torch": "#c0504d", "inductor": "#7f3f3f", "halide": "#4a4a8a"}
_STYLE = """body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 70em; color: #222 }
table { border-collapse: collapse; font-size: 13px } td, th { padding: 2px 8px; text-align: right; border-bottom: 1px solid #ddd }
td:first-child, th:first-child { text-align: left } .slow { background: #fbe3dc } svg { background: #fff }"""


def page(data: dict[str, Any]) -> str:
    """The whole page of `bench/results/<date>.json`."""
    parts = [f"<!doctype html><meta charset=utf-8><title>Atoll bench {data['date']}</title><style>{_STYLE}</style>", f"<h1>Atoll bench, {data['date']}</h1>"]
    for threads, run in data["runs"].items():
        parts.append(f"<h2>{threads} thread{'s' if threads != '1' else ''}</h2>")
        limits = run["limits"]
        if limits:
            parts.append(f"<p>Copy {limits['copy'] / 1e9:.1f} GB/s in memory, {limits['copy_cache'] / 1e9:.0f} in cache; multiply-add {limits['flops_f32'] / 1e9:.0f} GFLOP/s f32.</p>")
        parts.append(bars(run["kernels"]))
        parts.append(table(run["kernels"]))
    return "\n".join(parts)


def bars(kernels: dict[str, Any]) -> str:
    """Speed of every tool relative to Atoll, on a logarithmic axis: right of the line is faster than Atoll."""
    shown = [(name, k) for name, k in kernels.items() if "atoll" in k["seconds"]]
    step, left, width = 20, 230, 620
    span = math.log(64.0)

    def x(value: float) -> float:
        return left + width * (0.75 + 0.75 * max(-1.0, min(1 / 3, math.log(value) / span)))

    height = step * len(shown) + 40
    out = [f'<svg width="{left + width + 40}" height="{height}" font-size="12" font-family="system-ui, sans-serif">']
    for mark in (1 / 64, 1 / 16, 1 / 4, 1.0, 4.0):
        place = x(mark)
        out.append(f'<line x1="{place:.0f}" y1="20" x2="{place:.0f}" y2="{height - 14}" stroke="{"#333" if mark == 1 else "#ddd"}"/>')
        out.append(f'<text x="{place:.0f}" y="{height - 2}" text-anchor="middle" fill="#666">{mark if mark >= 1 else f"1/{round(1 / mark)}"}</text>')
    for place, (tool, colour) in enumerate(COLOURS.items()):
        out.append(f'<circle cx="{left + 90 * place}" cy="9" r="5" fill="{colour}"/><text x="{left + 90 * place + 9}" y="13">{tool}</text>')
    for number, (name, k) in enumerate(shown):
        y = 32 + step * number
        out.append(f'<text x="{left - 8}" y="{y + 4}" text-anchor="end">{html.escape(name)}</text>')
        for tool, seconds in k["seconds"].items():
            speed = k["seconds"]["atoll"] / seconds
            out.append(f'<circle cx="{x(speed):.1f}" cy="{y}" r="5" fill="{COLOURS[tool]}" fill-opacity="0.85"><title>{tool} {seconds * 1e3:.4f} ms</title></circle>')
    out.append("</svg><p>Speed relative to Atoll (1): a point to the right of the line is a tool faster than Atoll.</p>")
    return "".join(out)


def table(kernels: dict[str, Any]) -> str:
    tools = [t for t in COLOURS if any(t in k["seconds"] for k in kernels.values())]
    head = "".join(f"<th>{t} ms</th>" for t in tools)
    rows = []
    for name, k in kernels.items():
        peers = [s for t, s in k["seconds"].items() if t != "atoll"]
        ratio = min(peers) / k["seconds"]["atoll"] if peers and "atoll" in k["seconds"] else None
        cells = "".join(f"<td>{k['seconds'][t] * 1e3:.4f}</td>" if t in k["seconds"] else "<td>–</td>" for t in tools)
        spread = k["spread"].get("atoll")
        growth = k.get("growth")
        fitted = f"{growth['exponent']:.2f} ({growth['expected']:g})" if growth else ""
        compiled = f"{k['compile']:.2f}" if "compile" in k else ""
        peak = f"{k['peak'] / 1e6:.1f}" if k.get("peak") is not None else ""
        note = "; ".join(f"{t}: {w}" for t, w in k["errors"].items())
        css = ' class="slow"' if ratio is not None and ratio < 0.9 else ""
        shown = f"{ratio:.2f}" if ratio is not None else "–"
        spread_text = f"{spread:.0%}" if spread is not None else ""
        rows.append(f"<tr{css}><td>{html.escape(name)}</td>{cells}<td>{shown}</td><td>{spread_text}</td><td>{compiled}</td><td>{peak}</td><td>{fitted}</td><td>{html.escape(note)}</td></tr>")
    return f"<table><tr><th>kernel</th>{head}<th>best peer / Atoll</th><th>spread</th><th>compile s</th><th>peak MB</th><th>growth</th><th></th></tr>{''.join(rows)}</table>"
