"""Break each adapter once and see whether its tests tell: ``PYTHONPATH=tests python tests/packages/broken.py``."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
SOURCE = "src/calibrant/"


class Break(NamedTuple):
    """One adapter, what is done to it, and the test that must fail."""

    adapter: str
    what: str
    path: str
    old: str
    new: str
    test: str


BREAKS = [
    Break("scikit-learn pipelines", "features not transformed", "adapters/nested.py",
          "X = model[:-1].transform(X) if len(model.steps) > 1 else X", "X = X",
          "packages/test_scikit_learn.py"),
    Break("scikit-learn scorers", "sign", "metrics/scorers.py",
          "1 if greater_is_better else -1", "-1 if greater_is_better else 1", "packages/test_scikit_learn.py"),
    Break("NGBoost", "std doubled", "adapters/ngboost.py",
          "    return law\n", "    return type(law)(law.loc, 2 * law.scale)\n", "adapters/test_ngboost.py"),
    Break("NGBoost, frozen", "asked for signs of a fit", "calibration/estimator.py",
          "return read(base, sample.X)", "return read(base.fit(sample.X, sample.y), sample.X)",
          "adapters/test_ngboost.py"),
    Break("XGBoost, points", "scaled", "regression/reading.py",
          'loc = column(model.predict(X), "predict(X)")', 'loc = 1.5 * column(model.predict(X), "predict(X)")',
          "packages/test_boosting.py::test_xgboost"),
    Break("XGBoost, several levels", "levels mirrored", "regression/levels.py",
          "return levels if np.all", "return 1 - levels[::-1] if np.all", "packages/test_boosting.py::test_xgboost"),
    Break("XGBoost, level by level", "levels mirrored", "regression/levels.py",
          '"quantile_alpha": level}', '"quantile_alpha": 1 - level}', "packages/test_boosting.py::test_xgboost"),
    Break("LightGBM, level by level", "levels mirrored", "regression/levels.py",
          '{"objective": "quantile", "alpha": level}', '{"objective": "quantile", "alpha": 1 - level}',
          "packages/test_boosting.py::test_lightgbm"),
    Break("CatBoost RMSEWithUncertainty", "variance as std", "regression/reading.py",
          "np.sqrt(values[:, 1])", "values[:, 1]", "packages/test_boosting.py::test_catboost"),
    Break("CatBoost MultiQuantile", "levels mirrored", "regression/levels.py",
          "return levels if np.all", "return 1 - levels[::-1] if np.all", "packages/test_boosting.py::test_catboost"),
    Break("statsforecast frames", "intervals half as wide", "adapters/names.py",
          'float(side["coverage"]) / 200', 'float(side["coverage"]) / 400',
          "packages/test_forecast_frames.py::test_statsforecast"),
    Break("mlforecast frames", "added ends of other levels", "series/calibrator.py",
          "0.5 - share / 2 for", "0.5 - share / 4 for", "packages/test_forecast_frames.py::test_mlforecast"),
    Break("skpro, in", "sigma doubled", "adapters/skpro.py",
          '"Normal": (("mu", "sigma"), Normal)', '"Normal": (("mu", "sigma"), lambda mu, s: Normal(mu, 2 * s))',
          "adapters/test_skpro.py"),
    Break("skpro, laws out", "levels mirrored", "adapters/skpro_objects.py",
          "self._of(self.law.ppf, p)", "self._of(self.law.ppf, 1 - p)", "adapters/test_skpro.py"),
    Break("skpro, regressors out", "rows reversed", "adapters/skpro_objects.py",
          "predicted_law(self.model_, prep_skl_df(X)), ", "predicted_law(self.model_, prep_skl_df(X))[::-1], ",
          "adapters/test_skpro.py"),
    Break("ArviZ", "rows and draws swapped", "adapters/arviz.py",
          "array.transpose(*rows, *draws)", "array.transpose(*draws, *rows)", "adapters/test_arviz.py"),
    Break("MLflow", "settings forgotten", "engines/mlflow.py",
          "dict(model_config or {})", "{}", "packages/test_mlflow.py"),
    Break("MLflow, classes", "labels in the order of columns", "engines/anywhere.py",
          'columns.in_order(calibrator.classes_) if columns.kind == "classes" else columns', "columns",
          "packages/test_mlflow.py"),
]  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Run the tests as things are, then once for each break, and tell."""
    from mutants.trees import copied

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="adapters whose name holds this")
    wanted = [each for each in BREAKS if parser.parse_args(arguments).only.lower() in each.adapter.lower()]
    with tempfile.TemporaryDirectory() as folder:
        tree = copied(ROOT, Path(folder))
        whole = {test: _verdict(tree, test) for test in sorted({each.test for each in wanted})}
        rows = [(each, whole[each.test], _broken(tree, each)) for each in wanted]
    print(f"{'adapter':<30} {'what is broken':<32} {'test':<54} {'as it is':<9} broken")
    for each, before, after in rows:
        print(f"{each.adapter:<30} {each.what:<32} {each.test:<54} {before:<9} {after}")
    return 0 if all((before, after) == ("passes", "fails") for _, before, after in rows) else 1


def _broken(tree: Path, each: Break) -> str:
    from mutants.trees import write

    path = SOURCE + each.path
    original = (tree / path).read_text(encoding="utf-8")
    if original.count(each.old) != 1:
        raise SystemExit(f"{each.adapter}: {each.path} must have {each.old!r} once.")
    write(tree, path, original.replace(each.old, each.new))
    verdict = _verdict(tree, each.test)
    write(tree, path, original)
    return verdict


def _verdict(tree: Path, test: str) -> str:
    """Whether a test passes, fails or is skipped in a copy of the repository."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        "-W",
        "default::DeprecationWarning",
    ]
    told = subprocess.run(
        [*command, f"tests/{test}"], cwd=tree, env={**os.environ, "PYTHONPATH": "src"}, capture_output=True, text=True
    )
    if told.returncode == 0:
        return "passes" if "passed" in told.stdout.splitlines()[-1] else "skipped"
    return "fails" if told.returncode == 1 else "error"


if __name__ == "__main__":
    sys.exit(main())
