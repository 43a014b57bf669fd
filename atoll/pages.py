"""What notebooks show of Atoll's objects (`_repr_html_`): functions, errors, schedules, memory. Static HTML with the pictures of pictures.py; for pages that answer, see
`f.explore()`."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

from atoll.errors import Error
from atoll.stages import show

if TYPE_CHECKING:
    from atoll.function import Function
    from atoll.runtime.memory import Memory


def told(make: Callable[[], object]) -> str:
    """What a function does not have is told in its place."""
    try:
        return str(make())
    except Error as error:
        return str(error).partition("\n")[0]


def block(title: str, inside: str, is_open: bool = False) -> str:
    return f"<details{' open' if is_open else ''}><summary>{escape(title)}</summary>{inside}</details>"


def text(make: Callable[[], object]) -> str:
    return f"<pre>{escape(told(make))}</pre>"


def function(fn: Function) -> str:
    """Type, source, what was inserted, loops with the lines they come from, memory as a picture."""
    def picture() -> str:
        try:
            return memory(fn.memory())
        except Error as error:
            return f"<pre>{escape(str(error).partition(chr(10))[0])}</pre>"

    return "\n".join(
        [
            f"<b><code>{escape(told(lambda: fn.type))}</code></b>",
            block("source", text(lambda: show(fn, "surface")), True),
            block("inserted", text(fn.explain)),
            block("loops", text(lambda: show(fn, "loops", origins=True))),
            block("memory", picture()),
        ]
    )


def error(e: Error) -> str:
    """The message with its place, its suggestion apart."""
    first, *rest = e.message.split("\n")
    lines = [line for line in rest if not line.strip().startswith("help: ")]
    colour = "color: #b3261e"
    help_ = f"<div>help: {escape(e.help)}</div>" if e.help else ""
    return f'<div><b style="{colour}">{escape(first)}</b><pre style="margin: 0">{escape(chr(10).join(lines))}</pre>{help_}</div>'


def memory(m: Memory) -> str:
    """A table with the formulas, and bars at a thousand of everything."""
    if not m.uses:
        return f"<pre>{escape(repr(m))}</pre>"
    rows = "".join(
        f"<tr><td>{u.kind}</td><td>{escape(u.name)}</td><td>{escape(repr(u.bytes))}</td><td>{escape(u.reason)}</td><td>{u.span.told().line or ''}</td></tr>" for u in m.uses
    )
    head = "<tr><th>kind</th><th>name</th><th>bytes</th><th>reason</th><th>line</th></tr>"
    return f"<table>{head}{rows}</table>{m.plot()}"


def schedule(s: Any) -> str:
    """The program as nested boxes, its steps with the conditions each had to prove."""
    steps = []
    for number, step in enumerate(s.steps):
        at = s.undo(len(s.steps) - number - 1)
        before = at.undo(1)
        records = at.theorem.steps[len(before.theorem.steps) :]
        needs = [str(o) for r in records for o in r.obligations]
        inside = "".join(f"<li><code>{escape(n)}</code></li>" for n in dict.fromkeys(needs)) or "<li>nothing to prove</li>"
        steps.append(f"<li>{block(f'{step} ({step.rules} rules)', f'<ul>{inside}</ul>')}</li>")
    return f"<b>{escape(s.name)}</b>{boxes(str(s))}<ol>{''.join(steps)}</ol>"


def boxes(program: str) -> str:
    """Indented text as boxes within boxes."""
    style = "border: 1px solid #8886; border-radius: 4px; margin: 2px 0 2px 8px; padding: 1px 6px"
    out: list[str] = []
    depths: list[int] = []
    for line in program.split("\n"):
        if not line.strip():
            continue
        depth = len(line) - len(line.lstrip())
        while depths and depths[-1] >= depth:
            depths.pop()
            out.append("</div>")
        out.append(f'<div style="{style}"><code style="white-space: pre-wrap">{escape(line.strip())}</code>')
        depths.append(depth)
    return "".join(out) + "</div>" * len(depths)


__all__ = ["boxes", "error", "function", "memory", "schedule", "told"]
