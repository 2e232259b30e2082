"""What honest forecasts are worth in a shop: money earned with fresh goods, before and after calibration.

Run ``python examples/shop.py --picture shop.svg``. The data are made: twenty kinds of salad that keep for two
days, bought at 0.90 and sold at 4.50, and a forecast of each day's demand whose middle is right but which believes to
know demand four times better than it does. Six weeks teach the calibrator; in the six weeks after them the shop orders
three times a week by the forecasts as they come, by the calibrated ones, and by laws that know how demand was made.
How much there is to gain depends on the shop: little where price and cost make the median the best order, as an
over-confident forecast has the right one.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from calibrant import Normal, QuantileCalibrator, metrics
from calibrant.decisions import Ledger, PerishableInventory
from calibrant.distributions.base import Distribution

PRODUCTS, WEEKS, TOO_SURE = 20, 12, 4.0
SALADS = PerishableInventory(price=4.5, cost=0.9, shelf_life=2, pack=6, horizon=7, max_states=1000)
NAMES = {"before": "as they come", "after": "calibrated", "truth": "all-knowing"}
COLOURS = {"before": "#D55E00", "after": "#0072B2", "truth": "#7F7F7F"}


@dataclass(frozen=True)
class Result:
    """What happened in the weeks that nobody had seen."""

    sales: np.ndarray  # (products, days)
    laws: dict[str, Distribution]  # by stage, one row a product and day
    ledgers: dict[str, Ledger]


def made(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Expected demand, its standard deviation and demand itself, (products, days)."""
    rng = np.random.default_rng(seed)
    week = np.array([0.9, 0.8, 0.9, 1.0, 1.3, 1.5, 0.6])
    mean = rng.uniform(20.0, 60.0, (PRODUCTS, 1)) * np.tile(week, WEEKS)
    std = 0.45 * mean
    return mean, std, np.maximum(np.round(rng.normal(mean, std)), 0.0)


def evaluate(shop: PerishableInventory = SALADS, seed: int = 0) -> Result:
    """Learn from the first half of the weeks, order in the second."""
    mean, std, demand = made(seed)
    half = mean.shape[1] // 2
    calibrator = QuantileCalibrator().fit(
        Normal(mean[:, :half].ravel(), std[:, :half].ravel() / TOO_SURE), demand[:, :half].ravel()
    )
    mean, std, demand = mean[:, half:], std[:, half:], demand[:, half:]
    before = Normal(mean.ravel(), std.ravel() / TOO_SURE)
    laws = {"before": before, "after": calibrator.transform(before), "truth": Normal(mean.ravel(), std.ravel())}
    ledgers = {stage: shop.simulate(shop.rolling(law, n_series=len(mean)), demand) for stage, law in laws.items()}
    return Result(demand, laws, ledgers)


def words(result: Result) -> str:
    """The story for whoever runs the shop."""
    before, after, truth = (result.ledgers[stage] for stage in NAMES)
    gain = after.profit.sum() - before.profit.sum()
    hold = {stage: metrics.coverage(result.sales.ravel(), law) for stage, law in result.laws.items()}
    n, days = result.sales.shape
    return "\n".join(
        [
            table(result),
            "",
            f"{n} products, {days} days that neither model nor calibrator had seen.",
            f"The forecasts were too sure of themselves: of ranges that should hold 90 % of demand, they held "
            f"{hold['before']:.0%}; calibrated, {hold['after']:.0%}.",
            f"Ordering by calibrated forecasts earned {gain:,.0f} more ({gain / before.profit.sum():+.1%}), "
            f"{gain / (truth.profit.sum() - before.profit.sum()):.0%} of what knowing the laws of demand "
            "would have brought.",
            f"{before.lost.sum() - after.lost.sum():,.0f} fewer units were asked for in vain, and "
            f"{after.wasted.sum() - before.wasted.sum():,.0f} more were thrown away: a sale earns more than a spoiled "
            "unit costs.",
        ]
    )


def table(result: Result) -> str:
    """Money and units by kind of forecast."""
    lines = [f"{'forecasts':<14}{'earned':>10}{'sold':>10}{'in vain':>10}{'wasted':>10}"]
    for stage, ledger in result.ledgers.items():
        numbers = (getattr(ledger, name).sum() for name in ("profit", "sold", "lost", "wasted"))
        lines.append(f"{NAMES[stage]:<14}" + "".join(f"{number:>10,.0f}" for number in numbers))
    return "\n".join(lines)


def picture(result: Result) -> Figure:
    """Money that calibrated forecasts earn beyond the others, day by day."""
    figure = Figure(figsize=(7.0, 3.6), layout="constrained")
    ax = figure.subplots()
    base = result.ledgers["before"].profit.sum(axis=0).cumsum()
    for stage, ledger in result.ledgers.items():
        earned = ledger.profit.sum(axis=0).cumsum() - base
        ax.plot(np.arange(1, len(base) + 1), earned, color=COLOURS[stage], label=NAMES[stage])
    ax.set(xlabel="day", ylabel="earned beyond forecasts as they come", title="What honest forecasts are worth")
    ax.legend(frameon=False)
    return figure


def main(arguments: list[str] | None = None) -> None:
    """Evaluate, print, draw."""
    parser = argparse.ArgumentParser(description="Money earned in a shop by forecasts before and after calibration.")
    parser.add_argument("--picture", type=Path, help="write the picture here (.svg, .png, .pdf)")
    options = parser.parse_args(arguments)
    result = evaluate()
    print(words(result))
    if options.picture:
        picture(result).savefig(options.picture)
        print(f"Picture: {options.picture.resolve()}")


if __name__ == "__main__":
    main()
