"""Pictures of the explorer: `python -m tools.explorer_pictures FOLDER` opens examples/explored.py in Chromium and writes what it looks like. `make site` makes them for the
site; those in docs/pictures are for readers of the files. Where there is no Chromium or no playwright, nothing is written."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = ROOT / "examples" / "explored.py"
SIZE = {"width": 1240, "height": 720}


def chromium() -> str | None:
    return os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


def point_at(page: Any, text: str, word: str) -> None:
    """Put the mouse on a word of the line of the source that has this text."""
    lines = PROGRAM.read_text().splitlines()
    at = next(k for k, line in enumerate(lines) if text in line)
    page.evaluate(f"code.scrollTop = {max(0, (at - 8) * 17)}")
    box = page.locator("#source").bounding_box()
    page.mouse.move(box["x"] + 4 + page.evaluate("state.wide") * (lines[at].index(word) + 0.5), box["y"] + at * 17 + 8)


def until(page: Any, holds: str, seconds: float = 60.0) -> None:
    """Wait for a condition of the page (its policy does not let texts be evaluated by it while it waits)."""
    last = time.monotonic() + seconds
    while not page.evaluate(holds):
        if time.monotonic() > last:
            raise TimeoutError(holds)
        page.wait_for_timeout(50)


def shown(page: Any, name: str, last: str) -> None:
    """Choose a function, and wait for its last pane."""
    page.select_option("#function", name)
    until(page, f"current() && current().name === '{name}' && !!document.querySelector('#pane-{last}:not(.old)')")


def lines(page: Any) -> None:
    shown(page, "distances", "sizes")
    point_at(page, "square = away", "away")


def error(page: Any) -> None:
    shown(page, "distances", "sizes")
    page.evaluate("area.value = area.value.replace('sqrt(sum(square))', 'sqrt(summ(square))'); area.dispatchEvent(new Event('input'))")
    page.wait_for_selector(".inline button")
    page.evaluate("code.scrollTop = 0")


def derivative(page: Any) -> None:
    for name in ("plan", "memory", "sizes", "c"):
        page.locator(f"#show-{name}").uncheck()
    page.select_option("#beside", "towards")
    shown(page, "spread", "beside")
    point_at(page, "square = away", "away")


def schedule(page: Any) -> None:
    page.locator("#theme").click()
    shown(page, "tiled", "steps")
    page.evaluate("code.scrollTop = 400")
    page.locator("#pane-steps .rows > div", has_text="1. tile").hover()


PICTURES: dict[str, Callable[[Any], None]] = {"explore": lines, "explore_error": error, "explore_derivative": derivative, "explore_schedule": schedule}


def main(folder: Path) -> list[Path]:
    """The pictures that were written."""
    where = chromium()
    if where is None or importlib.util.find_spec("playwright") is None:
        return []
    from playwright.sync_api import sync_playwright

    from atoll.eyes.explore import of_file

    made = []
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=where, args=["--no-sandbox"])
        for name, prepare in PICTURES.items():
            explorer = of_file(PROGRAM, "distances")
            page = browser.new_page(viewport=SIZE)
            page.goto(explorer.url)
            until(page, "state.facts.functions.length > 0 && !state.facts.functions.some((f) => f.later)")
            prepare(page)
            page.wait_for_timeout(200)
            made.append(folder / f"{name}.png")
            page.screenshot(path=str(made[-1]), scale="css")
            page.close()
            explorer.close()
        browser.close()
    return made


if __name__ == "__main__":
    print("\n".join(map(str, main(Path(sys.argv[1])))) or "no Chromium (apt-get install chromium) or no playwright (pip install playwright) here")
