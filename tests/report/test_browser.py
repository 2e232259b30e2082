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
    assert sum(changed) == 4  # curve, sharpness, PIT, fan
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
