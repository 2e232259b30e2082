from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from functools import partial
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from calibrant import BoostedCalibrator, Normal, Poisson, QuantileCalibrator, ScaleCalibrator, StudentT
from calibrant.adapters.class_scores import ClassScores
from calibrant.cli import main
from calibrant.engines import Group, Result, analyse
from calibrant.engines.decision import Decision
from calibrant.metrics.catalogue import Measured
from calibrant.report import render, report, svg, write
from calibrant.report.page import Page
from calibrant.select.candidates import METHODS

VOID = {"meta", "br", "hr", "img", "link", "input"}


class Tree(HTMLParser):
    """Checks that tags close in order; keeps what tests look at."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.count: Counter[str] = Counter()
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.count[tag] += 1
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.count[tag] += 1
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)


@pytest.fixture(scope="module")
def page(laws: Result) -> str:
    return render(laws)


@pytest.fixture(scope="module")
def class_page(classes: Result) -> str:
    return render(classes)


def test_all_parts_are_there(page: str, laws: Result) -> None:
    tree = Tree(page)
    assert tree.texts["h1"] == [laws.decision.sentence.replace(" %", "\u00a0%")]
    assert tree.texts["h2"] == [
        "Before and after",
        "Calibration and sharpness",
        "Forecasts",
        "Groups",
        "Where it is wrong",
        "Over time",
        "By what was predicted",
        "Worst rows",
        "All calibrators",
        "How to apply it",
        "Notes",
    ]
    # of three stages curve, sharpness, PIT, two fans; PIT and fans before; groups, segments, time, level, width; map,
    # comparison
    assert tree.count["figure"] == 3 * 5 + 3 + 5 + 2
    assert "calibrant fit 'a  b'\ncalibrant apply '<script>alert('x')</script>'" in tree.texts["code"]
    assert len([text for text in tree.texts["title"] if text.startswith("PIT ")]) == 10 * 4


def test_the_first_screen_says_what_to_do(page: str, laws: Result) -> None:
    first = unescape(page.split("<header>")[1].split("</header>")[0].replace("\u00a0", " "))
    decision = laws.decision
    said = [decision.sentence, decision.action, decision.command, decision.cost, *decision.causes, *decision.caveats]
    said += [text for check in decision.checks for text in (check.label, check.words)]
    for text in [*said, "Serious fault", "1 fail, 1 warn, 1 pass", "2024-01-31", "0123abcd"]:
        assert text in first
    assert re.findall(r'<span class="badge (\w+)"', first) == ["fail", "warn", "pass"]


def test_contents_lead_to_sections(page: str) -> None:
    links = re.findall(r'<a href="#([^"]+)">([^<]+)</a>', page)
    assert links == re.findall(r'<section id="([^"]+)"><h2>([^<]+)</h2>', page) and len(links) == 11


@pytest.mark.usefixtures("plain_pages")
def test_what_is_not_there_is_left_out(laws: Result) -> None:
    empty = replace(laws, decision=Decision("good", ""), conditional=[], over_time=[], groups=[], worst=[], notes=[])
    tree = Tree(render(replace(empty, made="", fingerprint="", command="", features=None, segments=[])))
    assert tree.texts["h1"] == [laws.verdict.replace(" %", "\u00a0%")]
    gone = {"Over time", "By what was predicted", "Groups", "Where it is wrong", "Worst rows", "Notes"}
    assert not gone & set(tree.texts["h2"])
    assert "Checks" not in tree.texts.get("b", [])


def test_values_of_groups_bins_and_worst_rows(page: str, laws: Result) -> None:
    titles = Tree(page).texts["title"]
    assert "2024-01-01 to 2024-02-10, 40 rows; before: 60.0 % (57.0 to 63.0 %)" in titles
    assert "9 to 9.2, 40 rows; after: 90.0 % (87.0 to 93.0 %)" in titles
    group = laws.groups[-1]
    assert any(
        text.startswith(f"{group.name}, {group.rows:g} rows; before: {100 * group.before['coverage_90'].value:.1f} %")
        for text in titles
    )
    assert any(text.endswith("40 rows; before: 60.0 % (57.0 to 63.0 %)") and "region = " in text for text in titles)
    part = page.split("<h2>Where it is wrong</h2>")[1].split("</section>")[0]
    assert "1.9 times too narrow" in part and "right &lt;script&gt;" in part and "in 90 % intervals, after" in part
    part = page.split("<h2>Worst rows</h2>")[1].split("</section>")[0]
    assert part.count("2024-01-31") >= len(laws.worst) and "id &lt;script&gt;" in part


def test_sixty_groups(many: Result) -> None:
    page = render(many)
    assert "by store: the 40 of 60 groups that are furthest off" in page and len(page.encode()) < 1_000_000
    assert "Arrows: too far to the right" in page


def test_many_rows_are_drawn_in_blocks() -> None:
    n = 5000
    mu, noise = np.random.default_rng(8).normal(size=(2, n))
    days = np.datetime64("2020-01-01") + np.arange(n) // 2
    result = analyse(Normal(mu, 0.5), mu + noise, candidates=[ScaleCalibrator()], axis=days)
    page = render(result)
    assert "rows in 40 blocks of 40 consecutive rows, of which the mean is drawn" in page
    assert "one by one" not in page  # two rows a day


def test_numbers_are_those_of_the_result(page: str, laws: Result) -> None:
    text = "".join(Tree(page).texts["td"])
    for stage in laws.measures:
        assert f"{laws.measures[stage]['nll'].value:.3f}" in text
    assert f"{100 * laws.measures['none']['coverage_90'].value:.1f} %" in text


def test_of_all_stages_only_the_first_is_seen(page: str) -> None:
    shown = re.findall(r'data-stage="(\d)"( hidden)?', page)
    assert {stage for stage, hidden in shown if not hidden} == {"0"}
    assert {stage for stage, hidden in shown if hidden} == {"1", "2"}
    assert re.findall(r'<button type="button" data-show="(\d)" aria-pressed="(\w+)"', page) == [
        ("0", "true"),
        ("1", "false"),
        ("2", "false"),
    ]


def test_what_comes_from_data_is_text(page: str, class_page: str) -> None:
    for text in (page, class_page):
        tree = Tree(text)
        assert tree.count["script"] == 1 and "alert" not in "".join(tree.texts["script"])
        assert not [name for name, _ in tree.attributes if name.startswith("on")]
        assert "<script>alert" not in text and "&lt;script&gt;alert" in text


def test_groups_stand_worst_first(page: str, laws: Result) -> None:
    part = page.split("<h2>Groups</h2>")[1].split("</section>")[0]
    rows = re.findall(r'<th scope="row"[^>]*><span title="([^"]*)', part)
    assert len(rows) == 13 and unescape(rows[0]) == laws.groups[0].name
    assert "&lt;region&gt; = a &amp; b" in rows


def test_nothing_is_fetched(page: str) -> None:
    tree = Tree(page)
    targets = [value or "" for name, value in tree.attributes if name in ("src", "href", "xlink:href", "action")]
    assert all(target.startswith(("#", "data:")) for target in targets)
    assert "url(http" not in page and "@import" not in page
    policy = next(value for name, value in tree.attributes if name == "content" and value and "default-src" in value)
    assert policy.startswith("default-src 'none'; script-src 'sha256-") and "connect" not in policy


def test_colours_are_the_readers(page: str) -> None:
    assert "prefers-color-scheme: dark" in page and "@media print" in page
    pictures = "".join(re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL))
    for name in ("ink", "before", "after", "grey"):
        assert f"var(--{name})" in pictures and len(re.findall(rf"--{name}: #", page)) >= 2
    assert "#010203" not in pictures and "#d55e00" not in pictures and "#0072b2" not in pictures


def test_names_of_parts_are_unique(page: str, class_page: str) -> None:
    for text in (page, class_page):
        ids = [value for name, value in Tree(text).attributes if name == "id"]
        assert len(ids) == len(set(ids))


def test_classes(class_page: str) -> None:
    tree = Tree(class_page)
    assert tree.texts["h2"][:3] == ["Before and after", "Reliability and decisions", "Classes"]
    assert tree.count["image"] == 2 * 3  # confusion tables of three stages: four groups, one a group competes


def test_written_whole_and_always_the_same(
    classes: Result, class_page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "page.html"
    write(classes, path)
    assert path.read_text(encoding="utf-8") == class_page
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]
    monkeypatch.setattr("calibrant.report.page.render", lambda result: class_page)
    with pytest.raises(OSError, match="No such file"):
        write(classes, tmp_path / "missing" / "page.html")


def test_large_tables_make_small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calibrant.metrics.catalogue.RESAMPLES", 10)  # of intervals, whose number is the same
    rng = np.random.default_rng(3)
    mu, noise = rng.normal(size=(2, 8_000))
    candidates = {"a": QuantileCalibrator(), "b": QuantileCalibrator("ecdf"), "c": ScaleCalibrator()}
    result = analyse(Normal(mu, 0.5), mu + noise, candidates=candidates)
    groups = [
        Group(f"column <{n}> = {k}", 10.0, {"nll": Measured(1.0, 0.1, 0.8, 1.2)}, {"nll": Measured(0.5, 0.1, 0.3, 0.7)})
        for n in range(40)
        for k in range(12)
    ]
    page = render(replace(result, groups=groups))
    Tree(page)
    assert len(page.encode()) < 1_500_000
    assert "The worst 200 of 480 groups" in page


def test_nothing_better_than_before() -> None:
    rng = np.random.default_rng(4)
    result = analyse(Normal(np.zeros(200), 1.0), rng.normal(size=200), candidates={"ecdf": QuantileCalibrator("ecdf")})
    assert result.chosen == "none"
    page = render(result)
    Tree(page)
    assert "(recommended)" not in page and "How to apply" not in page


def test_counts_and_heavy_tails() -> None:
    rng = np.random.default_rng(5)
    counts = analyse(
        Poisson(np.full(150, 4.0)), rng.negative_binomial(2, 1 / 3, 150), candidates=[QuantileCalibrator()]
    )
    heavy = StudentT(df=np.full(150, 1.5), loc=np.zeros(150), scale=np.ones(150))
    endless = analyse(heavy, rng.normal(size=150), candidates=[ScaleCalibrator()])
    for result in (counts, endless):
        Tree(render(result))


def test_a_law_without_a_density_is_the_last(laws: Result) -> None:
    loss = laws.comparison.loss.copy()
    loss[laws.comparison.names.index("scale")] = np.inf
    without = replace(laws.comparison, loss=loss)
    part = Page(replace(laws, comparison=without))._comparison()
    assert "Best first, by NLL" in part
    listed = [unescape(name) for name in re.findall(r'<th scope="row"[^>]*><span title="([^"]*)', part)]
    assert listed[0] == without.best and listed[-1] == "scale"


def test_points_and_margins_have_no_before() -> None:
    rng = np.random.default_rng(6)
    points = rng.normal(size=300)
    of_points = analyse(points, points + rng.normal(size=300))
    margins = ClassScores(np.column_stack([-points, points]), kind="margins")
    of_margins = analyse(margins, points + rng.normal(size=300) > 0)
    for result in (of_points, of_margins):
        tree = Tree(render(result))
        assert not [text for text in tree.texts["button"] if "before" in text]
        assert not [text for text in tree.texts["figcaption"] if "before" in text]


def test_weights_and_rows_at_the_same_time() -> None:
    rng = np.random.default_rng(7)
    weights = rng.integers(0, 3, 300)
    result = analyse(
        Normal(np.zeros(300), 0.5), rng.normal(size=300), candidates=[ScaleCalibrator()], sample_weight=weights,
        axis=np.arange(300) // 2,
    )  # fmt: skip
    assert re.search(r"in \d+ blocks of 2\d consecutive rows", render(result))


def test_a_calibrator_that_needs_features_is_drawn_with_them(
    tmp_path: Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("lightgbm")
    real = svg.picture
    monkeypatch.setattr(svg, "picture", lambda text, *given: real(text, *given) if "fitted map" in text else "")
    few = partial(BoostedCalibrator, 20, rate=0.15)
    monkeypatch.setitem(METHODS["distributions"], "boosted", replace(METHODS["distributions"]["boosted"], make=few))
    shop, mu = rng.choice(["a", "b"], 300), rng.normal(size=300)
    frame = pd.DataFrame({"shop": shop, "mu": mu, "sigma": 1.0, "y": mu + rng.normal(size=300) + 4 * (shop == "b")})
    trees = {"boosted": few()}
    result = report(Normal(mu, 1.0), frame["y"], tmp_path / "a.html", candidates=trees, X=frame[["shop"]])
    assert type(result.calibrator) is BoostedCalibrator
    assert "The fitted map" in (tmp_path / "a.html").read_text()
    frame.to_parquet(tmp_path / "t.parquet")
    said = ["--feature", "shop", "-m", "boosted", "-o", str(tmp_path / "b.html")]
    assert main(["report", str(tmp_path / "t.parquet"), *said]) == 0
    assert "The fitted map" in (tmp_path / "b.html").read_text()
