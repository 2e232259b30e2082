"""The example of the shop runs, and what it says is what its numbers say."""

from __future__ import annotations

from pathlib import Path

import pytest

from calibrant import metrics
from examples import shop


@pytest.fixture(scope="module")
def result() -> shop.Result:
    return shop.evaluate()


def test_calibration_pays(result: shop.Result) -> None:
    earned = {stage: ledger.profit.sum() for stage, ledger in result.ledgers.items()}
    assert earned["after"] > 1.02 * earned["before"]
    assert earned["after"] == pytest.approx(earned["truth"], rel=0.005)
    assert metrics.coverage(result.sales.ravel(), result.laws["before"]) < 0.4


def test_words_and_picture(result: shop.Result) -> None:
    text = shop.words(result)
    gain = result.ledgers["after"].profit.sum() - result.ledgers["before"].profit.sum()
    assert f"earned {gain:,.0f} more" in text and "in vain" in text
    lines = shop.picture(result).axes[0].lines
    assert [line.get_label() for line in lines] == list(shop.NAMES.values())
    assert lines[1].get_ydata()[-1] == pytest.approx(gain)


def test_main_prints_and_draws(
    result: shop.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shop, "evaluate", lambda: result)
    shop.main(["--picture", str(tmp_path / "shop.png")])
    assert "calibrated" in capsys.readouterr().out and (tmp_path / "shop.png").stat().st_size > 1000
