"""The demo runs, tells the truth about its table, and writes one page that needs nothing else."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn.linear_model import BayesianRidge

from calibrant import CalibratedRegressor, Normal, metrics
from examples import demo


@pytest.fixture(scope="module")
def results() -> list[demo.Result]:
    return demo.evaluate(demo.models())


@pytest.fixture(scope="module")
def page(results: list[demo.Result]) -> str:
    return demo.page(results)


class Collector(HTMLParser):
    """Text, ids and tags, with a check that tags close in order."""

    def __init__(self) -> None:
        super().__init__()
        self.text, self.ids, self.open = "", [], []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value for name, value in attrs if name == "id"]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_recalibration_mends_what_is_wrong_and_leaves_the_rest(results: list[demo.Result]) -> None:
    assert [result.name for result in results] == ["Bayesian ridge", "Random forest", "Quantile booster"]
    floor = metrics.calibration_floor(len(results[0].y))
    for result in results:
        before, after = (metrics.calibration_error(result.y, result.laws[stage]) for stage in ("before", "after"))
        assert after < max(before, floor)
        assert metrics.nll(result.y, result.laws["after"]) < metrics.nll(result.y, result.laws["before"]) + 0.01
        assert abs(metrics.coverage(result.y, result.laws["after"]) - 0.9) < 0.045  # 2 standard errors
    assert metrics.coverage(results[1].y, results[1].laws["before"]) < 0.8


def test_held_out_patients_were_not_seen() -> None:
    candidates = {"ridge": CalibratedRegressor(BayesianRidge(), cv=3)}
    (result,) = demo.evaluate(candidates, test_size=0.25)
    assert len(result.y) == 111 and len(candidates["ridge"].oof_forecasts_) == 442 - 111


def test_table_by_hand() -> None:
    law = Normal([0.0, 0.0], [1.0, 3.0])
    result = demo.Result("one", np.array([0.0, 9.0]), {"before": law})
    name, stage, nll, crps, error, coverage, std = result.rows()[0]
    assert (name, stage) == ("one", "before")
    assert float(nll) == pytest.approx(np.log(2 * np.pi) / 2 + (np.log(3) + 4.5) / 2, abs=6e-4)
    assert coverage == "50.0%" and std == "2.0" and error == f"{metrics.calibration_error(result.y, law):.4f}"
    assert float(crps) == pytest.approx((0.2337 + 7.3098) / 2, abs=6e-3)  # σ[u(2Φ(u) - 1) + 2φ(u) - 1/√π], u = 0 and 3
    assert demo.text_table([result]).splitlines()[1].split() == [name, stage, nll, crps, error, coverage, std]


def test_page_is_whole_and_needs_nothing_else(page: str) -> None:
    collector = Collector()
    collector.feed(page)
    assert not collector.open
    assert len(collector.ids) == len(set(collector.ids)) > 100
    assert page.count("<svg") == 3 * 5 and demo.INK not in page and "$" not in page
    assert not re.search(r'(src|href)="(?!#)|@import|url\((?!#)|<script', page)
    references = set(re.findall(r'(?:url\(#|href="#)([^")]+)', page))
    assert references <= set(collector.ids)
    for column in demo.COLUMNS:
        assert column in collector.text


def test_names_are_escaped() -> None:
    law = Normal(np.zeros(20), 1.0)
    result = demo.Result('<b>"x"&', np.linspace(-1, 1, 20), {"before": law, "after": law})
    page = demo.page([result])
    assert "<b>" not in page and "&lt;b&gt;&quot;x&quot;&amp;" in page


def test_pictures_keep_their_numbers(results: list[demo.Result]) -> None:
    picture = demo.readme_picture(results[:2])
    ElementTree.fromstring(picture)
    shown = [f"{metrics.calibration_error(r.y, law):.3f}" for r in results[:2] for law in r.laws.values()]
    assert re.findall(r": error ([\d.]+)", picture) == shown
    assert "prefers-color-scheme:dark" in picture and picture == demo.readme_picture(results[:2])


def test_main_prints_and_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "models", lambda: {"Ridge": CalibratedRegressor(BayesianRidge(), cv=3)})
    page, picture = tmp_path / "new folder" / "demo.html", tmp_path / "picture.svg"
    demo.main(["--output", str(page), "--picture", str(picture)])
    out = capsys.readouterr().out
    assert "Ridge  before" in out and "Ridge  after" in out and str(page) in out
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>") and picture.stat().st_size > 1000
    assert [path.name for path in page.parent.iterdir()] == ["demo.html"]  # nothing left over


def test_a_failed_write_leaves_the_old_page(tmp_path: Path) -> None:
    path = tmp_path / "demo.html"
    demo.write(path, "old")
    with pytest.raises(UnicodeEncodeError):
        demo.write(path, "new \ud800")
    assert path.read_text() == "old" and [p.name for p in tmp_path.iterdir()] == ["demo.html"]
