"""The page in a browser: nothing is fetched, nothing goes wrong, the switch switches and tables sort."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from calibrant.engines import Result
from calibrant.report import write

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


class Visit:
    """A page, and what the browser complained about or asked for."""

    def __init__(self, browser: Any, path: Path, width: int, scheme: str) -> None:
        self.page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())

    def quiet(self) -> bool:
        asked = [url for url in self.requests if not url.startswith(("file:", "data:"))]
        return self.complaints == [] and asked == [] and len([u for u in self.requests if u.startswith("file:")]) == 1

    def close(self) -> None:
        self.page.close()


@pytest.fixture(scope="module")
def path(laws: Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "laws.html"
    write(laws, path)
    return path


def test_the_switch_shows_one_calibrator_at_a_time(browser: Any, path: Path) -> None:
    visit = Visit(browser, path, 1280, "light")
    page = visit.page
    figures = page.locator("figure:visible")
    count, before = figures.count(), page.locator("tbody").first.inner_text()
    captions = page.locator("figcaption:visible").all_inner_texts()
    page.locator("[data-show='1']").click()
    assert page.locator("[data-show='1']").get_attribute("aria-pressed") == "true"
    assert page.locator("[data-show='0']").get_attribute("aria-pressed") == "false"
    assert figures.count() == count
    assert page.locator("tbody").first.inner_text() != before
    changed = [a != b for a, b in zip(captions, page.locator("figcaption:visible").all_inner_texts(), strict=True)]
    assert sum(changed) == 5  # curve, sharpness, PIT, two fans
    page.locator("[data-show='0']").click()
    assert page.locator("tbody").first.inner_text() == before
    assert visit.quiet()
    visit.close()


def test_tables_sort_by_numbers_and_back(browser: Any, path: Path) -> None:
    visit = Visit(browser, path, 1280, "light")
    table = visit.page.locator("section", has_text="Groups, by").locator("table")
    rows = table.locator("th", has_text="rows").first
    column = table.locator("tbody td:nth-child(2)")
    rows.locator("button").click()
    numbers = [float(text) for text in column.all_inner_texts()]
    assert numbers == sorted(numbers) and rows.get_attribute("aria-sort") == "ascending"
    rows.locator("button").click()
    assert [float(text) for text in column.all_inner_texts()] == sorted(numbers, reverse=True)
    table.locator("thead button").first.click()
    names = table.locator("tbody th").all_inner_texts()
    assert names.index("day = 0") + 1 == names.index("day = 1")
    assert rows.get_attribute("aria-sort") is None and visit.quiet()
    visit.close()


OVERLAPS = """() => {
  const found = [];
  for (const svg of document.querySelectorAll("svg")) {
    const texts = [...svg.querySelectorAll("text")].map(text => [text.textContent, text.getBoundingClientRect()]);
    const seen = texts.filter(([text, box]) => text.trim() && box.width > 0);
    for (const [k, [one, a]] of seen.entries()) for (const [two, b] of seen.slice(k + 1)) {
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const up = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      const line = Math.min(a.height, b.height);
      if (across > 1 && up > 0.3 * line) found.push(`${one} / ${two}: ${svg.getAttribute("aria-label").slice(0, 40)}`);
    }
  }
  return found;
}"""
CUT = """() => {
  const found = [], inside = document.body.getBoundingClientRect();
  for (const table of document.querySelectorAll("table")) {
    const box = table.parentElement, edge = box.getBoundingClientRect();
    const wide = table.getBoundingClientRect().right > edge.right + 1;
    if (edge.right > inside.right + 1) found.push("box " + table.innerText.slice(0, 30));
    if (wide && getComputedStyle(box).overflowX !== "auto") found.push("table " + table.innerText.slice(0, 30));
  }
  for (const text of document.querySelectorAll("svg text")) {
    const box = text.getBoundingClientRect(), svg = text.closest("svg").getBoundingClientRect();
    if (box.width > 0 && (box.left < svg.left - 3 || box.right > svg.right + 3)) found.push("text " + text.textContent);
  }
  return found;
}"""
SMALLEST = """() => Math.min(...[...document.querySelectorAll("svg text")].map(text => {
  const size = parseFloat(getComputedStyle(text).fontSize), ctm = text.getScreenCTM();
  return text.getBoundingClientRect().width ? size * Math.hypot(ctm.a, ctm.b) : Infinity;
}))"""


@pytest.fixture(scope="module")
def pages(laws: Result, classes: Result, many: Result, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    found = {name: folder / f"{name}.html" for name in ("laws", "classes", "many")}
    for result, path in zip((laws, classes, many), found.values(), strict=True):
        write(result, path)
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", ["laws", "classes", "many"])
def test_nothing_is_cut_or_covered(browser: Any, pages: dict[str, Path], name: str, width: int, scheme: str) -> None:
    visit = Visit(browser, pages[name], width, scheme)
    assert visit.page.evaluate("document.documentElement.scrollWidth") == width
    assert visit.page.evaluate(OVERLAPS) == []
    assert visit.page.evaluate(CUT) == []
    assert visit.page.evaluate(SMALLEST) >= 8
    assert visit.quiet()
    visit.close()


@pytest.mark.parametrize("name", ["laws", "classes", "many"])
def test_paper_holds_every_table(browser: Any, pages: dict[str, Path], name: str) -> None:
    visit = Visit(browser, pages[name], 718, "dark")  # A4 less its margins
    visit.page.emulate_media(media="print")
    assert visit.page.evaluate("document.documentElement.scrollWidth") == 718
    assert visit.page.evaluate(CUT) == [] and visit.page.evaluate(OVERLAPS) == []
    boxes = visit.page.locator(".box").evaluate_all("all => all.filter(box => box.scrollHeight > box.clientHeight + 1)")
    assert boxes == [] and visit.page.locator(".copy:visible, nav:visible").count() == 0
    visit.close()


def test_wide_tables_show_that_they_scroll(browser: Any, pages: dict[str, Path]) -> None:
    visit = Visit(browser, pages["laws"], 390, "light")
    box = visit.page.locator("#all-calibrators .box")
    assert box.evaluate("box => box.scrollWidth > box.clientWidth")
    assert box.evaluate("box => getComputedStyle(box).backgroundAttachment").count("local") == 2
    first = box.locator("tbody th").first
    left = first.bounding_box()["x"]
    box.evaluate("box => { box.scrollLeft = 200; }")
    assert first.bounding_box()["x"] == left  # names stay in view
    visit.close()


def test_the_command_is_copied(browser: Any, pages: dict[str, Path], laws: Result) -> None:
    for unsafe in (False, True):  # with and without the clipboard of safe pages
        visit = Visit(browser, pages["laws"], 1280, "light")
        if unsafe:
            visit.page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
        else:
            visit.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        visit.page.evaluate("document.addEventListener('copy', () => { window.selected = String(getSelection()); })")
        button = visit.page.locator("header .copy")
        button.click()
        visit.page.wait_for_function("document.querySelector('header .copy').textContent === 'Copied'")
        text = visit.page.evaluate("window.selected" if unsafe else "navigator.clipboard.readText()")
        assert text.strip() == laws.decision.command and visit.quiet()
        visit.close()


def test_values_are_told_to_the_mouse_and_to_the_keys(browser: Any, pages: dict[str, Path]) -> None:
    visit = Visit(browser, pages["laws"], 390, "light")
    picture, tip = visit.page.locator("#over-time svg"), visit.page.locator("#tip")
    assert tip.is_hidden() and visit.page.locator("svg title").count() == 0
    picture.focus()
    visit.page.keyboard.press("ArrowRight")
    assert tip.inner_text() == "2024-01-01 to 2024-02-10, 40 rows; before: 60.0 % (57.0 to 63.0 %)"
    visit.page.keyboard.press("ArrowLeft")
    assert "after: 90.0 %" in tip.inner_text() and picture.locator(".told").count() == 1
    box = tip.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 390
    visit.page.keyboard.press("Escape")
    assert tip.is_hidden()
    picture.locator("[data-tip] use").nth(3).hover()
    assert "; before: 60.0 %" in tip.inner_text() and visit.quiet()
    visit.close()


def test_links_lead_to_sections(browser: Any, pages: dict[str, Path]) -> None:
    visit = Visit(browser, pages["laws"], 1280, "light")
    visit.page.locator("nav a", has_text="Worst rows").click()
    top = visit.page.locator("#worst-rows h2").bounding_box()["y"]
    bar = visit.page.locator(".switch").bounding_box()
    assert bar["y"] + bar["height"] <= top + 24 < 900  # below the bar that stays
    visit.close()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_it_fits_the_screen(browser: Any, path: Path, width: int, scheme: str, tmp_path: Path) -> None:
    visit = Visit(browser, path, width, scheme)
    assert visit.page.evaluate("document.documentElement.scrollWidth") == width
    colour = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert colour == {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 22, 27)"}[scheme]
    line = visit.page.locator("svg path[style*='--after']").first
    assert line.evaluate("path => getComputedStyle(path).stroke") != "none"
    visit.page.screenshot(path=tmp_path / "page.png", full_page=True)
    assert (tmp_path / "page.png").stat().st_size > 50_000 and visit.quiet()
    visit.close()


def test_paper(browser: Any, path: Path) -> None:
    visit = Visit(browser, path, 1280, "dark")
    assert visit.page.pdf(format="A4").startswith(b"%PDF") and visit.quiet()
    visit.page.emulate_media(media="print")
    assert visit.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert visit.page.locator("[data-show]:visible").count() == 1
    visit.close()


def test_classes(browser: Any, classes: Result, tmp_path: Path) -> None:
    write(classes, tmp_path / "classes.html")
    visit = Visit(browser, tmp_path / "classes.html", 390, "light")
    assert visit.page.evaluate("document.documentElement.scrollWidth") == 390
    visit.page.locator("[data-show='1']").click()
    assert visit.page.locator("image:visible").count() == 2 and visit.quiet()
    visit.close()
