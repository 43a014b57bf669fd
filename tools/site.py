"""The documentation site: `python -m tools.site` writes its pages to out/site-docs (mkdocs.yml builds them: `make site`).

Pages are those of docs/, the README as the front page, and what is generated: the reference of the interface from docstrings, a page for every error code with the programs
that meet it, and the gallery: the programs of examples/gallery, run, with pictures of what they compute. Pictures of the explorer are made too, where there is a Chromium.
"""

from __future__ import annotations

import importlib.util
import inspect
import re
import shutil
import struct
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "out" / "site-docs"
GALLERY = sorted((ROOT / "examples" / "gallery").glob("*.py"))

# Colours of pictures, from low to high.
PALETTE = np.array([[28, 16, 68], [59, 28, 108], [110, 38, 110], [165, 54, 96], [214, 81, 72], [244, 125, 44], [251, 180, 46], [245, 237, 145]], dtype=float)


def png(values: np.ndarray[Any, Any]) -> bytes:
    """A picture of a matrix, low values dark."""
    v = values.astype(float)
    low, high = float(v.min()), float(v.max())
    place = (v - low) / (high - low or 1.0) * (len(PALETTE) - 1)
    below = np.clip(place.astype(int), 0, len(PALETTE) - 2)
    part = (place - below)[..., None]
    pixels = (PALETTE[below] * (1 - part) + PALETTE[below + 1] * part).astype(np.uint8)
    height, width = v.shape
    raw = b"".join(b"\0" + pixels[row].tobytes() for row in range(height))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b"")


def svg(values: np.ndarray[Any, Any]) -> str:
    """Curves: a column each."""
    v = values.astype(float).reshape(len(values), -1)
    low, high = float(v.min()), float(v.max())
    colours = ["#4c78a8", "#f58518", "#54a24b", "#b279a2"]
    lines = []
    for k in range(v.shape[1]):
        points = " ".join(f"{320 * i / (len(v) - 1):.1f},{190 - 180 * (y - low) / (high - low or 1.0):.1f}" for i, y in enumerate(v[:, k]))
        lines.append(f'<polyline fill="none" stroke="{colours[k % 4]}" stroke-width="1.5" points="{points}"/>')
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 320 200" width="320" height="200">{"".join(lines)}</svg>'


def load(path: Path) -> Any:
    """A program of the gallery, as a module."""
    spec = importlib.util.spec_from_file_location(f"gallery_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module
    spec.loader.exec_module(module)
    return module


def draw(path: Path, folder: Path) -> str:
    """Run a program of the gallery and write its picture; the picture's name."""
    values = np.asarray(load(path).picture())
    if values.ndim == 2 and values.shape[1] > 8:
        (folder / f"{path.stem}.png").write_bytes(png(values))
        return f"{path.stem}.png"
    (folder / f"{path.stem}.svg").write_text(svg(values))
    return f"{path.stem}.svg"


def gallery(out: Path) -> None:
    """All programs on one page, each with its picture."""
    (out / "gallery").mkdir()
    parts = [f"# Gallery\n\n{len(GALLERY)} programs and what they compute. The texts are in `examples/gallery`; every picture is made when this page is."]
    for path in GALLERY:
        text = path.read_text()
        caption = text.split('"""')[1]
        program = text.split('"""', 2)[2].strip()
        title = path.stem.replace("_", " ").capitalize()
        parts.append(f"## {title}\n\n{caption}\n\n![{title}](gallery/{draw(path, out / 'gallery')}){{ width=320 }}\n\n```python\n{program}\n```")
    (out / "gallery.md").write_text("\n\n".join(parts) + "\n")


def errors(out: Path) -> None:
    """A page for every code: what it means, and programs that meet it with what they are told."""
    from atoll.errors.catalog import CODES

    (out / "errors").mkdir()
    cases: dict[str, list[Path]] = {}
    for path in sorted((ROOT / "tests" / "errors" / "cases").glob("E*.py")):
        cases.setdefault(path.stem[:5], []).append(path)
    rows = []
    for code, row in sorted(CODES.items()):
        parts = [f"# {code}\n\n```text\n{row.describe()}\n```"]
        for path in cases.get(code, ()):
            lines = path.read_text().splitlines()
            program = "\n".join(x for x in lines if not x.startswith("#>")).strip()
            told = "\n".join(x[3:] for x in lines if x.startswith("#>"))
            parts.append(f"```python\n{program}\n```\n\n```text\n{told}\n```")
        (out / "errors" / f"{code}.md").write_text("\n\n".join(parts) + "\n")
        rows.append(f"| [{code}](errors/{code}.md) | {row.title.replace('|', '&#124;')} |")
    (out / "error_codes.md").write_text("# Error codes\n\n| code | |\n|---|---|\n" + "\n".join(rows) + "\n")


def signature(x: Any) -> str:
    try:
        return str(inspect.signature(x))
    except (TypeError, ValueError):
        return ""


def entry(name: str, x: Any) -> str:
    said = inspect.getdoc(x) or ""
    said = re.sub(r"(?m)^(>>> .*(?:\n(?!\n).*)*)", r"```python\n\1\n```", said)
    return f"### `{name}{signature(x) if callable(x) else ''}`\n\n{said}"


def api(out: Path) -> None:
    """The interface, from docstrings: the package, functions, schedules, errors, memory."""
    import atoll as at
    from atoll.runtime.memory import Memory
    from atoll.schedule.api import Schedule

    parts = ["# Interface\n\nFrom the docstrings. How things are used: [reference](reference.md)."]
    public = [name for name in dir(at) if not name.startswith("_")]
    own = [(name, getattr(at, name)) for name in public]
    parts.append("## The package `atoll`")
    parts += [entry(f"at.{name}", x) for name, x in own if (inspect.isfunction(x) or inspect.isclass(x)) and (getattr(x, "__module__", "") or "").startswith("atoll") and inspect.getdoc(x)]
    for title, cls in (("Functions", at.Function), ("Schedules", Schedule), ("Errors", at.Error), ("Memory", Memory)):
        parts.append(f"## {title}\n\n{inspect.getdoc(cls) or ''}")
        ours = [c for c in cls.__mro__ if c.__module__.startswith("atoll")]
        members = [(name, x) for name, x in {n: x for c in reversed(ours) for n, x in vars(c).items()}.items() if not name.startswith("_")]
        for name, x in members:
            shown = x.fget if isinstance(x, property) else x
            if callable(shown) and inspect.getdoc(shown):
                parts.append(entry(f".{name}", shown) if not isinstance(x, property) else f"### `.{name}`\n\n{inspect.getdoc(shown)}")
    (out / "api.md").write_text("\n\n".join(parts) + "\n")


def pages(out: Path) -> None:
    """The pages of docs/, and the README as the front page with its links turned."""
    for path in (ROOT / "docs").glob("*.md"):
        text = re.sub(r"\[([^\]]+)\]\(\.\./[^)]+\)", r"\1", path.read_text())  # files of the source tree are not on the site
        (out / path.name).write_text(text.replace("```text sketch", "```text"))
    for name in ("CHANGELOG.md", "CONTRIBUTING.md"):
        text = (ROOT / name).read_text().replace("](docs/", "](")
        (out / name).write_text(re.sub(r"\[([^\]]+)\]\((?!http|#|[\w-]+\.md|pictures/)[^)]+\)", r"\1", text))
    shutil.copytree(ROOT / "docs" / "pictures", out / "pictures")
    front = (ROOT / "README.md").read_text().replace("](docs/", "](")
    (out / "index.md").write_text(re.sub(r"\[([^\]]+)\]\((?!http|#|[\w-]+\.md|pictures/)[^)]+\)", r"\1", front))


def main(out: Path = OUT, with_gallery: bool = True) -> None:
    if out.exists():
        shutil.rmtree(out)
    out.mkdir(parents=True)
    pages(out)
    errors(out)
    api(out)
    if with_gallery:
        gallery(out)
        from tools.explorer_pictures import main as explorer

        made = explorer(out / "pictures")
        print(f"{len(made)} pictures of the explorer made" if made else "the pictures of the explorer are those of docs/: no Chromium or no playwright here")
    print(f"{sum(1 for _ in out.rglob('*.md'))} pages in {out}")


if __name__ == "__main__":
    main()
