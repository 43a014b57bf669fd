"""Pictures as inline SVG, without any library: bars, curves over a size, a roofline. They follow the reader's light or dark colours."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

COLOURS = {"result": "#4c78a8", "temporary": "#b279a2", "copy": "#e45756", "": "#54a24b"}
_STYLE = "font: 12px system-ui, sans-serif; background: transparent"


class Picture(str):
    """The text of an SVG. Notebooks show it, `save` writes it."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)

    def save(self, path: str | Path) -> Path:
        """Write it to a file."""
        Path(path).write_text(str(self), encoding="utf-8")
        return Path(path)

    def __repr__(self) -> str:
        return f"<a picture of {len(self)} characters of SVG>"


def _svg(width: int, height: int, title: str, parts: Sequence[str]) -> Picture:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" style="{_STYLE}">'
    return Picture("\n".join([head, f"<title>{escape(title)}</title>", *parts, "</svg>"]))


def _text(x: float, y: float, text: str, anchor: str = "start", size: int = 12) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="currentColor">{escape(text)}</text>'


def _line(x: float, y: float, x2: float, y2: float, faint: bool = True) -> str:
    return f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="currentColor" stroke-opacity="{0.2 if faint else 0.8}"/>'


def in_bytes(n: float) -> str:
    """
    >>> in_bytes(1536)
    '1.5 KiB'
    """
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if n < 1024 or unit == "TiB":
            return f"{n:g} {unit}" if unit == "B" else f"{n:.1f} {unit}"
        n /= 1024
    raise AssertionError


def bars(title: str, rows: Sequence[tuple[str, str, float, str]]) -> Picture:
    """One bar for each (kind, name, bytes, words)."""
    most = max((n for _, _, n, _ in rows), default=0) or 1
    parts = [_text(8, 18, title)]
    for k, (kind, name, n, words) in enumerate(rows):
        y = 30 + 22 * k
        parts.append(_text(150, y + 12, name[:20], "end"))
        parts.append(f'<rect x="158" y="{y}" width="{max(1.0, 280 * n / most):.1f}" height="15" fill="{COLOURS.get(kind, COLOURS[""])}"><title>{escape(words)}</title></rect>')
        parts.append(_text(166 + 280 * n / most, y + 12, f"{in_bytes(n)}  {kind}"))
    return _svg(620, 40 + 22 * max(1, len(rows)), title, parts if rows else [*parts, _text(158, 42, "no memory")])


def _scale(values: Sequence[float], low: float, high: float) -> tuple[float, float, float]:
    """Decades that hold all values: their logarithms go from `low` to `high`."""
    logs = [math.log10(v) for v in values if v > 0] or [0.0]
    first, last = math.floor(min(logs)), math.ceil(max(logs))
    last = last if last > first else first + 1
    return first, last, (high - low) / (last - first)


def _axes(parts: list[str], x_values: Sequence[float], y_values: Sequence[float], x_name: str, y_name: str) -> tuple[float, float, float, float]:
    """Axes of decades; (first x, step x, first y, step y)."""
    x0, x1, dx = _scale(x_values, 60, 560)
    y0, y1, dy = _scale(y_values, 30, 270)
    for k in range(int(x1 - x0) + 1):
        parts += [_line(60 + dx * k, 30, 60 + dx * k, 270), _text(60 + dx * k, 286, _power(x0 + k), "middle", 11)]
    for k in range(int(y1 - y0) + 1):
        parts += [_line(60, 270 - dy * k, 560, 270 - dy * k), _text(54, 274 - dy * k, _power(y0 + k), "end", 11)]
    parts += [_text(310, 304, x_name, "middle"), _text(8, 18, y_name)]
    return x0, dx, y0, dy


def _power(k: float) -> str:
    return f"{10**k:g}" if -3 <= k <= 3 else f"1e{int(k)}"


def curves(title: str, name: str, xs: Sequence[int], series: Mapping[str, Sequence[float]], unit: str) -> Picture:
    """What depends on a size, on logarithmic axes; one curve for each name."""
    parts: list[str] = []
    x0, dx, y0, dy = _axes(parts, xs, [y for ys in series.values() for y in ys], name, unit)
    for k, (what, ys) in enumerate(series.items()):
        colour = [*COLOURS.values()][k % len(COLOURS)]
        points = [(60 + dx * (math.log10(x) - x0), 270 - dy * (math.log10(y) - y0)) for x, y in zip(xs, ys, strict=True) if x > 0 and y > 0]
        parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in points)}"/>')
        if points:
            parts.append(_text(points[-1][0] + 6, points[-1][1] + 4, what))
    return _svg(680, 312, title, parts)


def roof(title: str, points: list[tuple[str, float, float]], bandwidth: float, peak: float) -> Picture:
    """Operations a second against operations for each byte: what memory and arithmetic allow, and what was measured: a point is its name, operations for each byte, operations a second."""
    ridge = peak / bandwidth
    low, high = min(ridge, *(x for _, x, _ in points)) / 10, max(ridge, *(x for _, x, _ in points)) * 10
    parts: list[str] = []
    x0, dx, y0, dy = _axes(parts, [low, high], [peak, bandwidth * low, *(y for _, _, y in points)], "operations for each byte of the arrays", "operations a second")

    def at(x: float, y: float) -> str:
        return f"{60 + dx * (math.log10(x) - x0):.1f},{270 - dy * (math.log10(y) - y0):.1f}"

    parts.append(f'<polyline fill="none" stroke="{COLOURS["result"]}" stroke-width="2" points="{at(low, low * bandwidth)} {at(ridge, peak)} {at(high, peak)}"/>')
    for name, intensity, speed in points:
        x, y = at(intensity, speed).split(",")
        parts.append(f'<circle cx="{x}" cy="{y}" r="5" fill="{COLOURS["copy"]}"/>')
        parts.append(_text(float(x) + 9, float(y) + 4, name))
    return _svg(680, 312, title, parts)


def phases(title: str, rows: Sequence[Sequence[tuple[str, int, bool, Sequence[str]]]], last: str) -> Picture:
    """Phases of a plan as boxes one after the other; in each its steps: words, a cell for every task, joined where they run one after the other, and how arrays are used."""
    most, width, fill = 32, 640, COLOURS["result"]
    parts, y = [_text(8, 18, title)], 34.0
    for number, steps in enumerate(rows):
        inside: list[str] = []
        top, y = y, y + 20
        for words, tasks, in_order, uses in steps:
            inside.append(_text(24, y + 10, words))
            y += 18
            shown = min(tasks, most)
            for k in range(shown):
                inside.append(f'<rect x="{24 + 16 * k}" y="{y:.1f}" width="{16 if in_order else 12}" height="12" fill="{fill}" fill-opacity="0.8" stroke="currentColor" stroke-opacity="0.4"/>')
            if tasks > shown:
                inside.append(_text(30 + 16 * shown, y + 10, f"... {tasks}"))
            y += 16
            for use in uses:
                y += 14
                inside.append(_text(40, y, use, size=11))
            y += 14
        parts.append(f'<rect x="8" y="{top:.1f}" width="{width - 16}" height="{y - top:.1f}" rx="4" fill="none" stroke="currentColor" stroke-opacity="0.5"/>')
        parts += [_text(16, top + 14, f"phase {number + 1}", size=11), *inside]
        if number + 1 < len(rows):
            parts.append(_line(width / 2, y, width / 2, y + 12, faint=False))
        y += 12
    return _svg(width, int(y + 24), title, [*parts, _text(8, y + 12, last)])
