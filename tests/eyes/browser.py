"""The explorer in a real browser (`make test-browser`): Debian's Chromium through playwright, nothing downloaded. Pictures go to $PICTURES where that is set."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from atoll.eyes.explore import Explorer, of_file, of_function
from tests.show import programs

sync_api = pytest.importorskip("playwright.sync_api")
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
FILE = Path(programs.__file__)
LONG = "import atoll as at\nfrom atoll import f64\nn = at.sizes('n')\n@at.fn\ndef long(x: f64[n]) -> f64[n]:\n    y0 = x + 1.0\n" + "".join(f"    y{k + 1} = y{k} * x + {k}.0\n" for k in range(492)) + "    return y492\n"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("no Chromium here")
    with sync_api.sync_playwright() as p:
        found = p.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def explorer() -> Iterator[Explorer]:
    made = of_file(FILE, "spread")
    yield made
    made.close()


@pytest.fixture
def page(browser: Any, explorer: Explorer) -> Iterator[Any]:
    yield from opened(browser, explorer)


def opened(browser: Any, explorer: Explorer) -> Iterator[Any]:
    made = browser.new_page(viewport={"width": 1500, "height": 900})
    wrong: list[str] = []
    outside: list[str] = []
    made.on("pageerror", lambda e: wrong.append(str(e)))
    made.on("console", lambda m: wrong.append(m.text) if m.type == "error" else None)
    made.on("request", lambda r: outside.append(r.url) if not r.url.startswith(explorer.url) else None)
    made.goto(explorer.url)
    made.wait_for_selector("#pane-rewritten .rows > div", timeout=30000)
    yield made
    assert wrong == [] and [u for u in outside if not u.endswith("/favicon.ico")] == []
    made.close()


def point_at(page: Any, line: int, text: str) -> None:
    """Put the mouse on a word of a line of the source."""
    page.evaluate(f"document.querySelector('.code').scrollTop = {max(0, (line - 10) * 17)}")
    box = page.locator("#source").bounding_box()
    source = FILE.read_text().splitlines()[line - 1]
    wide = page.evaluate("state.wide")
    page.mouse.move(box["x"] + 4 + wide * (source.index(text) + 0.5), box["y"] + (line - 1) * 17 + 8)


def lit(page: Any, pane: str) -> list[str]:
    return [t.strip() for t in page.locator(f"#pane-{pane} .rows > div.on").all_text_contents()]


def picture(page: Any, name: str) -> None:
    if os.environ.get("PICTURES"):
        page.screenshot(path=str(Path(os.environ["PICTURES"]) / f"{name}.png"), scale="css")


def test_a_line_lights_up_its_kin(page: Any) -> None:
    line = programs.spread.surface.span.line + 2
    point_at(page, line, "away *")
    assert lit(page, "ainf") == ["let for i:n, for j:m, x3 = mul(x2[i, j], x2[i, j])"]
    assert any("+= (x2" in t for t in lit(page, "rewritten")) and not any("sqrt" in t for t in lit(page, "rewritten"))
    assert any("x2 * x2" in t.replace("__3", "") for t in lit(page, "c"))
    said = page.locator("#said").text_content()
    assert "f64[n, m]" in said and "lifted: map(" in said and "not stored" in said and "fused" in said
    picture(page, "kin")


def test_a_line_of_c_leads_to_the_source(page: Any) -> None:
    page.locator("#pane-c .rows > div", has_text="sqrt(s4").first.hover()
    first = programs.spread.surface.span.line
    rows = page.evaluate("state.under.map((e, k) => e.classList.contains('on') ? k + 1 : 0).filter((k) => k)")
    assert rows == [first + 3]


def test_keyboard(page: Any) -> None:
    page.locator("#pane-ainf .rows").focus()
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    assert "= sub(" in page.locator("#pane-ainf .rows > div.at").text_content()
    assert any("- w[" in t for t in lit(page, "rewritten"))


def test_editing_and_errors_with_a_button(page: Any) -> None:
    page.evaluate("area.value = area.value.replace('return sqrt(sum(square))', 'return sqrt(summ(square))'); area.dispatchEvent(new Event('input'))")
    page.wait_for_selector(".problem")
    assert "E0105" in page.locator(".problem").first.text_content()
    picture(page, "error")
    page.locator(".problem button").first.click()
    page.wait_for_selector(".problem", state="detached")
    assert "sqrt(sum(square))" in page.locator("#source").input_value()
    page.evaluate("area.value = area.value.replace('square = away * away', 'square = away * away * 3.0'); area.dispatchEvent(new Event('input'))")
    page.wait_for_selector("#pane-ainf .rows > div:has-text('3.0')")


def test_fifty_lines_after_an_edit(browser: Any, tmp_path: Path) -> None:
    """From the edit to the first panes: processor time of the process that reads; the clock's is printed (about 0.2 s on a quiet machine, of which 0.05 are a pause)."""
    from tests.eyes.test_after_an_edit import CHAIN, HEAD

    (tmp_path / "fifty.py").write_text(HEAD + CHAIN.replace("EDIT", "1.0"))
    made = of_file(tmp_path / "fifty.py")
    spent = []
    for page in opened(browser, made):
        for k in range(2, 6):
            page.evaluate(f"area.value = area.value.replace(/v47 \\* .*/, 'v47 * {k}.0'); area.dispatchEvent(new Event('input'))")
            page.wait_for_selector(f"#pane-inserted .rows > div:has-text('rep({k}.0)')")
            spent.append(page.evaluate("state.spent"))
    made.close()
    print("edit to panes, ms:", [s["ms"] for s in spent], "processor:", [s["cpu"] for s in spent])
    assert min(s["cpu"] for s in spent) < 300


def test_a_wrong_program_leaves_the_last_right_one_to_be_read(page: Any) -> None:
    page.evaluate("area.value = area.value.replace('return sqrt(sum(square))', 'return sqrt(summ(square))'); area.dispatchEvent(new Event('input'))")
    page.wait_for_selector(".inline button")
    assert page.locator("#pane-ainf.old .rows > div").count() > 3 and "summ is not defined" in page.locator(".inline").text_content()
    page.locator(".inline button").click()
    page.wait_for_selector("#pane-ainf:not(.old)")


def test_sizes(page: Any) -> None:
    page.wait_for_selector("#numbers table:has-text('operations')")
    before = page.locator("#numbers table").text_content()
    assert "8*n" in before and "7.81 KiB" in before and "operations" in before
    page.locator("#size-n").focus()
    page.keyboard.press("End")
    page.wait_for_selector("#numbers table:has-text('7.63 MiB')")


def test_time_against_the_roof(page: Any) -> None:
    page.wait_for_selector("#numbers table:has-text('operations')")
    page.locator("#measure").click()
    page.wait_for_selector("#measured svg", timeout=60000)
    assert "operations a second" in page.locator("#measured pre").text_content()
    page.locator("#measured").scroll_into_view_if_needed()
    picture(page, "measured")


def test_a_schedule_step_by_step(browser: Any, tmp_path: Path) -> None:
    from tests.eyes.test_explore import SCHEDULED

    (tmp_path / "scheduled.py").write_text(SCHEDULED)
    made = of_file(tmp_path / "scheduled.py")
    for page in opened(browser, made):
        page.select_option("#function", "fast")
        page.wait_for_selector("#pane-steps .rows > div")
        page.locator("#pane-steps .rows > div", has_text="2. parallel").hover()
        assert lit(page, "programs")[0].startswith("after 2. parallel") and any("parallel" in t for t in lit(page, "programs")[1:])
        picture(page, "schedule")
    made.close()


def test_a_derivative_beside_its_primal(page: Any) -> None:
    page.select_option("#function", "loss")
    page.select_option("#beside", "slope")
    page.wait_for_selector("#pane-beside .rows > div")
    line = programs.spread.surface.span.line + 3
    point_at(page, line, "sqrt")
    assert any("sqrt(" in t for t in lit(page, "beside"))


def test_dark(page: Any) -> None:
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.locator("#theme").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
    picture(page, "dark")


def test_a_long_program(browser: Any, tmp_path: Path) -> None:
    """500 lines: a hover takes less than a frame or two."""
    (tmp_path / "long.py").write_text(LONG)
    made = of_file(tmp_path / "long.py")
    for page in opened(browser, made):
        spent = page.evaluate("(() => { const t = performance.now(); for (let k = 0; k < 100; k++) follow(10 + k, 8); return (performance.now() - t) / 100; })()")
        assert spent < 20
        assert len(lit(page, "ainf")) >= 1
    made.close()


def test_a_function_of_this_process(browser: Any) -> None:
    made = of_function(programs.slope)
    for page in opened(browser, made):
        assert page.locator("#source").input_value()
    made.close()
