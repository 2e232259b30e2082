"""Three models on the diabetes data, before and after recalibration: a table, and a page with pictures.

Run ``make demo``, or ``python examples/demo.py --output demo.html``. The outcome is the progression of the disease a
year after ten measurements on each of 442 patients. Models and calibrators see one part of the patients, every number
and picture is made with the others.
"""

from __future__ import annotations

import argparse
import os
import re
import tempfile
from dataclasses import dataclass
from html import escape
from io import StringIO
from pathlib import Path
from string import Template
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import BayesianRidge
from sklearn.model_selection import train_test_split

from calibrant import CalibratedRegressor, metrics
from calibrant.displays import CalibrationCurveDisplay, FanDisplay, PITDisplay

LEVELS = [0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95]
COLUMNS = {  # heading -> what it measures, format
    "NLL": (metrics.nll, ".3f"),
    "CRPS": (metrics.crps, ".2f"),
    "calibration error": (metrics.calibration_error, ".4f"),
    "90 % intervals hold": (metrics.coverage, ".1%"),
    "mean predicted std": (lambda y, law: metrics.sharpness(law, kind="std"), ".1f"),
}
INK = "#010203"  # stands for the colour of text until the page decides it
STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "calibrant",
    "font.size": 10,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    **dict.fromkeys(["text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"], INK),
}


class TreeForest(RandomForestRegressor):
    """A forest that takes the disagreement of its trees for its uncertainty, as is often done."""

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Means, and where asked standard deviations, over the trees."""
        votes = np.stack([tree.predict(X) for tree in self.estimators_])
        return (votes.mean(axis=0), votes.std(axis=0)) if return_std else votes.mean(axis=0)


@dataclass(frozen=True)
class Result:
    """Forecasts of the held-out patients, by stage, and how good they are."""

    name: str
    y: np.ndarray
    laws: dict[str, Any]  # "before", "after"

    def rows(self) -> list[list[str]]:
        """The two lines of the table."""
        return [
            [self.name, stage, *(format(measure(self.y, law), form) for measure, form in COLUMNS.values())]
            for stage, law in self.laws.items()
        ]


def models() -> dict[str, CalibratedRegressor]:
    """Models with the calibrator around them."""
    forest = TreeForest(n_estimators=200, min_samples_leaf=5, random_state=0)
    booster = GradientBoostingRegressor(loss="quantile", random_state=0)
    return {
        "Bayesian ridge": CalibratedRegressor(BayesianRidge(), cv=5),
        "Random forest": CalibratedRegressor(forest, cv=5),
        "Quantile booster": CalibratedRegressor(booster, cv=5, levels=LEVELS),
    }


def evaluate(candidates: dict[str, CalibratedRegressor], test_size: float = 0.4, seed: int = 0) -> list[Result]:
    """Fit on one part of the patients, forecast the others."""
    X, y = load_diabetes(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=test_size, random_state=seed)
    results = []
    for name, model in candidates.items():
        model.fit(X_train, y_train)
        stages = {"before": model.predict_dist(X_test, calibrated=False), "after": model.predict_dist(X_test)}
        results.append(Result(name, y_test, stages))
    return results


def text_table(results: list[Result]) -> str:
    """The table with aligned columns."""
    lines = [["", "", *COLUMNS], *(row for result in results for row in result.rows())]
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    shown = [
        [cell.ljust(w) if k < 2 else cell.rjust(w) for k, (cell, w) in enumerate(zip(line, widths, strict=True))]
        for line in lines
    ]
    return "\n".join("  ".join(line).rstrip() for line in shown)


def floor_note(results: list[Result]) -> str:
    """What the calibration error of a perfect forecaster would be."""
    n = len(results[0].y)
    floor = metrics.calibration_floor(n)
    return f"{n} held-out patients. On as many, a perfect forecaster has a calibration error of {floor:.4f} on average."


# ---- pictures ----
COLOURS = {"before": "#D55E00", "after": "#0072B2"}


def curve(ax: Any, result: Result) -> None:
    """Calibration curves of both stages."""
    for stage, law in result.laws.items():
        display = CalibrationCurveDisplay.from_predictions(result.y, law, name=stage)
        display.plot(ax=ax, color=COLOURS[stage])


def pit(ax: Any, result: Result, stage: str) -> None:
    """PIT histogram of one stage."""
    PITDisplay.from_predictions(result.y, result.laws[stage], name=stage).plot(ax=ax, color=COLOURS[stage])


def fan(ax: Any, result: Result, stage: str) -> None:
    """Forecasts of one stage, patients in the order of the calibrated median."""
    rank = np.argsort(np.argsort(result.laws["after"].median()))
    FanDisplay.from_predictions(result.y, result.laws[stage], x=rank, name=stage).plot(ax=ax, color=COLOURS[stage])
    ax.set(xlabel="held-out patients, by predicted median", ylabel="disease progression")


def svg(size: tuple[float, float], draw: Any, *args: Any) -> str:
    """A picture as SVG text, in the colours of the page around it."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=size, layout="constrained")
        draw(figure.subplots(), *args)
        return as_svg(figure)


def as_svg(figure: Figure) -> str:
    """SVG text without prologue and date; text and axes take the colour of the text around them."""
    file = StringIO()
    figure.savefig(file, format="svg", metadata=dict.fromkeys(["Date", "Creator", "Format", "Type"]))
    text = file.getvalue()
    text = text[text.index("<svg") :].replace(INK, "currentColor")
    # of the coordinates, a hundredth of a point is enough
    return re.sub(r' d="[^"]*"', lambda path: re.sub(r"(\d\.\d\d)\d+", r"\1", path[0]), text)


def readme_picture(results: list[Result]) -> str:
    """Calibration curves of all models side by side, as a picture of its own for light and dark pages."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(3.9 * len(results) + 0.3, 4.3), layout="compressed")
        for ax, result in zip(np.atleast_1d(figure.subplots(1, len(results))), results, strict=True):
            curve(ax, result)
            ax.set_title(result.name, fontsize="medium")
            ax.label_outer()
        text = as_svg(figure)
    style = "<style>svg{color:#1f2328;background:#fff}text{font-family:sans-serif!important}"
    dark = "@media(prefers-color-scheme:dark){svg{color:#d1d7e0;background:#0d1117}}</style>"
    return re.sub(r"(<svg[^>]*>)", lambda match: match[1] + style + dark, text, count=1)


# ---- page ----
def page(results: list[Result]) -> str:
    """One self-contained page: the table and the pictures."""
    sections = "".join(section(result) for result in results)
    return PAGE.substitute(table=html_table(results), note=escape(floor_note(results)), sections=sections)


def html_table(results: list[Result]) -> str:
    """The table as HTML; both stages of a model share its name."""
    head = "".join(f'<th scope="col">{escape(title)}</th>' for title in ["model", "", *COLUMNS])
    body = ""
    for result in results:
        for k, row in enumerate(result.rows()):
            name = f'<th scope="rowgroup" rowspan="{len(result.laws)}">{escape(row[0])}</th>' if k == 0 else ""
            body += (
                f'<tr class="{escape(row[1])}">{name}'
                + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:])
                + "</tr>"
            )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def section(result: Result) -> str:
    """The pictures of one model."""
    figures = html_figure(svg((4.2, 4.2), curve, result), f"{result.name}: calibration curves before and after")
    for stage in result.laws:
        figures += html_figure(svg((4.2, 3.4), pit, result, stage), f"{result.name}: PIT histogram {stage}")
    fans = "".join(
        html_figure(svg((11.0, 3.4), fan, result, stage), f"{result.name}: forecasts and outcomes {stage}")
        for stage in result.laws
    )
    return (
        f'<section><h2>{escape(result.name)}</h2><div class="pictures">{figures}</div>'
        f'<div class="fans">{fans}</div></section>\n'
    )


def html_figure(text: str, caption: str) -> str:
    """Inline SVG whose ids differ from those of all other pictures of the page."""
    prefix = re.sub(r"\W+", "-", caption)
    text = re.sub(r'(\bid="|url\(#|href="#)', lambda match: f"{match[1]}{prefix}-", text)
    return "<figure>" + text.replace("<svg", f'<svg role="img" aria-label="{escape(caption)}"', 1) + "</figure>"


PAGE = Template("""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>calibrant: three models before and after recalibration</title>
<style>
:root { --ink: #1f2328; --soft: #59636e; --paper: #ffffff; --line: #d8dee4; --good: #0072b2; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #d9dee3; --soft: #9198a1; --paper: #12161b; --line: #30363d; --good: #56b4e9; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem clamp(1rem, 4vw, 3rem) 4rem; max-width: 76rem; background: var(--paper);
  color: var(--ink); font: 1rem/1.55 system-ui, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 1rem 0; }
h2 { font-size: 1.25rem; margin: 3rem 0 .5rem; border-top: 1px solid var(--line); padding-top: 1.5rem; }
p { max-width: 44rem; }
.note { color: var(--soft); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .35rem .9rem; text-align: right; white-space: nowrap; }
th { font-weight: 600; text-align: left; vertical-align: top; }
thead th { border-bottom: 1px solid var(--line); color: var(--soft); font-weight: 500; text-align: right; }
thead th:first-child, td:first-of-type { text-align: left; }
tr.after td { color: var(--good); font-weight: 600; border-bottom: 1px solid var(--line); }
tbody th { border-bottom: 1px solid var(--line); }
.pictures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr)); gap: 1rem 1.5rem;
  align-items: end; }
.fans figure { margin-top: 1rem; overflow-x: auto; }
.fans svg { min-width: 44rem; }
figure { margin: 0; }
svg { display: block; width: 100%; height: auto; }
svg text { font-family: inherit !important; }
</style>
</head>
<body>
<h1>Three models before and after recalibration</h1>
<p>The data are scikit-learn's: ten measurements on each of 442 diabetes patients, and the progression of the disease
a year later. Each model was trained on one part of the patients, and its calibrator on forecasts of patients that the
model had not seen (five-fold cross-fitting). Every number and picture here is about the other patients, whom neither
has seen. The page shows how things work and is no benchmark: forest and booster were set up so that there is something
to repair.</p>
<div class="wide">$table</div>
<p class="note">$note NLL (negative log likelihood) and CRPS are better when smaller; 90&nbsp;% intervals should hold
90&nbsp;% of the outcomes; among calibrated forecasts, a smaller predicted standard deviation is better.</p>
<p><strong>How to read the pictures.</strong> In the first, calibrated forecasts follow the diagonal; a curve that
leaves the grey band anywhere is evidence against them. In the next two, they give bars of equal height. In the last
two, nine of ten dots should lie on the shaded area.</p>
$sections
</body>
</html>
""")


def write(path: Path, text: str) -> None:
    """Write all or nothing: a reader never sees half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def main(arguments: list[str] | None = None) -> None:
    """Evaluate, print, write."""
    parser = argparse.ArgumentParser(description="Three models on the diabetes data, before and after recalibration.")
    parser.add_argument("--output", type=Path, default=Path("demo.html"), help="the page to write")
    parser.add_argument("--picture", type=Path, help="also write the picture of the README here")
    options = parser.parse_args(arguments)
    results = evaluate(models())
    print(f"{text_table(results)}\n\n{floor_note(results)}")
    write(options.output, page(results))
    print(f"Pictures: {options.output.resolve()}")
    if options.picture:
        write(options.picture, readme_picture(results))


if __name__ == "__main__":
    main()
