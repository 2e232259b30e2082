"""python -m experiments.kuleshov2018.depth [--quick] [--device cuda] [--out FOLDER]: depth of each pixel (§4.3).

A dense net is trained on made rooms; its normal laws of test pixels are recalibrated by maps that were learned from
all training pixels, as in the paper, or from as many pixels of other images. Takes some minutes on a GPU.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from calibrant import DenseDepthNet, Normal, QuantileCalibrator, metrics

from ..cells import Cells, claim, write_result
from ..scoreboard import headline
from .scenes import Floats, scenes

PAPER = {"before": 0.0550, "after": 0.0241}
MAPS = {"isotonic": {"map": "isotonic", "ranks": "T"}, "spline": {"map": "spline"}}
AT_ONCE = 2**20  # pixels handed to a calibrator together


@dataclass(frozen=True)
class Settings:
    """How many images, how large, and the net."""

    train: int = 1700
    held: int = 1700
    test: int = 300
    size: tuple[int, int] = (64, 96)
    net: dict[str, Any] = field(default_factory=lambda: {"batch_size": 32, "max_epochs": 60, "verbose": True})


QUICK = Settings(
    60, 30, 30, (16, 24), {"stem": 8, "growth": 6, "layers": 2, "halvings": 2, "max_epochs": 8, "learning_rate": 0.005}
)


class Pixels(NamedTuple):
    """Means and deviations of the net, and the truth; flat."""

    mean: Floats
    deviation: Floats
    depth: Floats

    @property
    def law(self) -> Normal:
        return Normal(self.mean, self.deviation)


@dataclass(frozen=True)
class Row:
    """What test pixels say of one set of forecasts."""

    map: str
    learned_from: str
    calibration_error: float
    nll: float
    covered: float
    """share of the 90 % intervals that hold the truth"""
    rmse: float
    """of medians, metres"""
    fit_seconds: float | None = None
    pixels: int = 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run, print, and write ``depth.json`` and ``depth.md`` where a folder is given."""
    parser = argparse.ArgumentParser(prog="python -m experiments.kuleshov2018.depth", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few small images, half a minute on a core")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seeds", type=int, help="rooms and nets that are averaged; default: 5, of a quick run 1")
    parser.add_argument("--out", type=Path, help="folder for depth.json and depth.md, and for finished seeds")
    given = parser.parse_args(argv)
    settings, seeds = (QUICK, 1) if given.quick else (Settings(), 5)
    tasks = {f"{given.device}/{seed}": (settings, given.device, seed) for seed in range(given.seeds or seeds)}
    if given.out is None:
        results = [run(*task) for task in tasks.values()]
    else:
        cells = Cells(given.out / f"depth{'-quick' if given.quick else ''}.cells.json")
        print(*cells.run(tasks, run))
        results = cells.some(tasks)
    result = averaged(results)
    text, claims = page(result), list(verdict(result))
    print(text, *claims, sep="\n")
    if given.out is not None:
        result |= {"claims": claims, "headlines": headlines(result)}
        write_result(given.out, "depth", result, [text, *(f"- {claim}" for claim in claims)])
    return int(any(claim.startswith("FAIL") for claim in claims))


def headlines(result: dict[str, Any]) -> list[dict[str, str]]:
    """The calibration error before and after."""
    errors = {(row["map"], row["learned_from"]): row["calibration_error"] for row in result["rows"]}
    before, ours = errors["none", "-"], errors["spline", "other images"]
    faithful = errors["isotonic", "training images"]
    return [
        headline(
            "§4.3, depth of pixels (made rooms): calibration error",
            f"{PAPER['before']:.3f} → {PAPER['after']:.3f}",
            f"{before:.3f} → {faithful:.3f}",
            f"{before:.3f} → {ours:.3f}",
            faithful <= before / 2,
        )
    ]


def averaged(results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Results of several seeds as one, with the calibration errors of each."""
    first = results[0]
    rows = []
    for line, row in enumerate(first["rows"]):
        same = [result["rows"][line] for result in results]
        means = {key: _mean([each[key] for each in same]) for key, value in row.items() if isinstance(value, float)}
        rows.append(row | means | {"by_seed": [each["calibration_error"] for each in same]})
    means = {
        name: {key: _mean([result[name][key] for result in results]) for key in first[name]}
        for name in ("seconds", "pixels_a_second")
    }
    return first | means | {"epochs": _mean([result["epochs"] for result in results]), "rows": rows}


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))


def verdict(result: dict[str, Any]) -> Iterator[str]:
    """The claims, each with PASS or FAIL."""
    errors = {(row["map"], row["learned_from"]): row["calibration_error"] for row in result["rows"]}
    before = errors["none", "-"]
    for source, told in (
        ("training images", "as in the paper"),
        ("other images", "from images that the net never saw"),
    ):
        after = errors["isotonic", source]
        change = f"{before:.4f} -> {after:.4f} (the paper's {PAPER['before']:.4f} -> {PAPER['after']:.4f})"
        yield claim(after <= before / 2, f"recalibrated {told}, the calibration error is at least halved: {change}")
    yield f"      from other images, by the default map: {before:.4f} -> {errors['spline', 'other images']:.4f}"
    speeds = result["pixels_a_second"]
    slowest = min(speed for name, speed in speeds.items() if name != "net")
    told = f"maps take {slowest:.2g} pixels a second, the net makes {speeds['net']:.2g}"
    yield claim(slowest >= speeds["net"], told)


def run(settings: Settings, device: str, seed: int) -> dict[str, Any]:
    """Everything, as JSON holds it."""
    parts = {"train": settings.train, "held": settings.held, "test": settings.test}
    made, rooms = timed(lambda: scenes(sum(parts.values()), settings.size, seed))
    ends = np.cumsum([0, *parts.values()])
    rows = {name: slice(*ends[i : i + 2]) for i, name in enumerate(parts)}
    images, depth = rooms
    net = DenseDepthNet(**settings.net, device=device, random_state=seed)
    trained, _ = timed(lambda: net.fit(images[rows["train"]], depth[rows["train"]]))
    net.moments(images[:1])
    seen, pixels = {}, {}
    for name, part in rows.items():
        seen[name], found = timed(lambda part=part: net.moments(images[part]))  # type: ignore[misc]
        pixels[name] = Pixels(*(values.ravel() for values in (*found, depth[part])))
    table, calibrator = compared(pixels)
    return {
        "settings": asdict(settings) | {"device": device, "seed": seed},
        "epochs": len(net.loss_curve_),
        "seconds": {"scenes": made, "training": trained},
        "paper": PAPER,
        "rows": [asdict(row) for row in table],
        "pixels_a_second": speeds(pixels["test"], calibrator) | {"net": pixels["test"].depth.size / seen["test"]},
    }


def compared(pixels: dict[str, Pixels]) -> tuple[list[Row], QuantileCalibrator]:
    """The net's own forecasts of test pixels and those of each map, and the default map of other images."""
    test = pixels["test"]
    rows, calibrator = [judged("none", "-", test.depth, test.law)], QuantileCalibrator()
    for name, parameters in MAPS.items():
        for source in ("train", "held"):
            calibrator = QuantileCalibrator(**parameters)
            seconds, _ = timed(lambda cal=calibrator, own=pixels[source]: learn(cal, own))  # type: ignore[misc]
            rows.append(
                judged(
                    name,
                    {"train": "training images", "held": "other images"}[source],
                    test.depth,
                    calibrator.transform(test.law),
                    fit_seconds=seconds,
                    pixels=pixels[source].depth.size,
                )
            )
    return rows, calibrator


def learn(calibrator: QuantileCalibrator, pixels: Pixels) -> Any:
    """Learn from all pixels, a million at a time."""
    for start in range(0, pixels.depth.size, AT_ONCE):
        some = Pixels(*(values[start : start + AT_ONCE] for values in pixels))
        calibrator.partial_fit(some.law, some.depth)
    return calibrator.map_


def judged(name: str, source: str, truth: Floats, law: Any, **facts: Any) -> Row:
    """What test pixels say of forecasts."""
    low, high = law.interval(0.9).T
    return Row(
        map=name,
        learned_from=source,
        calibration_error=metrics.calibration_error(truth, law),
        nll=metrics.nll(truth, law),
        covered=float(np.mean((low <= truth) & (truth <= high))),
        rmse=float(np.sqrt(np.mean((law.median() - truth) ** 2))),
        **facts,
    )


def speeds(pixels: Pixels, calibrator: QuantileCalibrator) -> dict[str, float]:
    """Pixels a second of calibrated 90 % intervals, and of calibrated probabilities at the truth."""
    law = pixels.law
    intervals, _ = timed(lambda: calibrator.transform(law).interval(0.9))
    probabilities, _ = timed(lambda: calibrator.transform(law).cdf(pixels.depth))
    return {"map, intervals": len(law) / intervals, "map, probabilities": len(law) / probabilities}


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds on the clock, and what came of it."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def page(result: dict[str, Any]) -> str:
    """The result in Markdown."""
    return "\n".join(_lines(result))


def _lines(result: dict[str, Any]) -> Iterator[str]:
    settings, seconds = result["settings"], result["seconds"]
    h, w = settings["size"]
    yield f"# Depth of {h * w * settings['test']:,} pixels\n"
    yield (
        f"{settings['train']} made rooms of {h} x {w} pixels to train on, {settings['held']} others to calibrate on, "
        f"{settings['test']} to test; {settings['device']}, {result['epochs']:.0f} epochs; "
        f"mean of {len(result['rows'][0]['by_seed'])} seeds.\n"
    )
    yield "| map | learned from | calibration error | NLL | 90 % covers | RMSE, m | pixels | fit, s |"
    yield "|---|---|---:|---:|---:|---:|---:|---:|"
    for row in result["rows"]:
        fit = "" if row["fit_seconds"] is None else f"{row['fit_seconds']:.2f}"
        yield (
            f"| {row['map']} | {row['learned_from']} | {row['calibration_error']:.4f} | {row['nll']:.3f} | "
            f"{row['covered']:.3f} | {row['rmse']:.3f} | {row['pixels']:,} | {fit} |"
        )
    yield f"| the paper's, Make3D | training images | {PAPER['before']:.4f} -> {PAPER['after']:.4f} | | | | | |\n"
    yield f"Rooms took {seconds['scenes']:.1f} s, training {seconds['training']:.1f} s.\n"
    yield (
        "Pixels a second: " + ", ".join(f"{name} {rate:.3g}" for name, rate in result["pixels_a_second"].items()) + "."
    )


if __name__ == "__main__":
    sys.exit(main())
