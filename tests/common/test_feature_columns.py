"""Features beside forecasts: every command, every kind of table, and what makes no difference."""

from __future__ import annotations

import io
import json
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from calibrant import BoostedCalibrator, BoostedClassCalibrator, Normal, QuantileCalibrator, load, save
from calibrant.cli import main
from calibrant.select.candidates import METHODS, Method
from calibrant.store.calibrators import describe
from tests.common.test_commands import _run, folder, no_pictures, numbers, same  # noqa: F401

pytest.importorskip("lightgbm")

SEEN = ["--feature", "region", "--feature", "price", "--feature", "promo"]
TWO = ["-m", "scale", "-m", "boosted"]
FIT = ["fit", "t.parquet", *SEEN, "-o", "c.calibrant"]
Capture = pytest.CaptureFixture[str]


def laws(n: int = 160, seed: int = 0) -> pd.DataFrame:
    """Forecasts that are four deviations too low in the south, with features of every type, some missing."""
    rng = np.random.default_rng(seed)
    region = rng.choice(np.array(["north", "south"], dtype=object), n)
    mu, sigma = rng.normal(size=n), rng.uniform(0.5, 2, n)
    y = mu + sigma * (rng.standard_normal(n) + 4 * (region == "south"))
    frame = pd.DataFrame({"mu": mu, "sigma": sigma, "y": y, "region": region, "price": rng.uniform(1, 9, n)})
    frame["promo"] = rng.random(n) < 0.3
    frame["day"] = (pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(n), unit="D")).astype("datetime64[ms]")
    frame["w"] = rng.integers(1, 4, n)
    frame.loc[::17, "price"], frame.loc[::13, "region"] = np.nan, None
    return frame


def narrow() -> pd.DataFrame:
    """Forecasts that are too narrow everywhere."""
    frame = laws()
    return frame.assign(y=frame["mu"] + 2 * frame["sigma"] * np.random.default_rng(1).standard_normal(len(frame)))


def _csv(frame: pd.DataFrame, **options: Any) -> str:
    frame.to_csv("t.csv" + options.pop("gz", ""), index=False, **options)
    return "t.csv"


def _folder(frame: pd.DataFrame) -> str:
    Path("parts").mkdir()
    for k, part in enumerate(np.array_split(np.arange(len(frame)), 3)):
        frame.iloc[part].to_parquet(f"parts/{k}.parquet", index=False)
    return "parts"


def _arrow(frame: pd.DataFrame) -> str:
    table = pa.Table.from_pandas(frame.astype({"region": "category"}), preserve_index=False)
    with pa.ipc.new_file("t.arrow", table.schema) as file:
        file.write_table(table, max_chunksize=64)
    return "t.arrow"


def _json(frame: pd.DataFrame) -> str:
    lines = [{name: None if pd.isna(value) else value for name, value in row.items()} for row in _plain(frame)]
    Path("t.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return "t.jsonl"


def _plain(frame: pd.DataFrame) -> list[dict[Any, Any]]:
    return frame.assign(day=frame["day"].astype(str)).to_dict("records")


def _parquet(frame: pd.DataFrame) -> str:
    frame.to_parquet("t.parquet")
    return "t.parquet"


WRITERS = {
    "csv": _csv,
    "csv.gz": lambda frame: _csv(frame, gz=".gz") + ".gz",
    "parquet": _parquet,
    "folder": _folder,
    "jsonl": _json,
    "arrow": _arrow,
    "stdin": lambda frame: _csv(frame) and "-",
}
SOME = ("csv", "jsonl", "stdin")  # for commands that read as `fit` does
KINDS = [("fit", kind) for kind in WRITERS]
KINDS += [(name, kind) for name in ("evaluate", "compare", "report") for kind in SOME]


FEW: dict[str, Any] = {"n_rounds": 5, "rate": 0.5, "n_leaves": 3, "nu": 8.0}  # enough for what is so far off


@pytest.fixture(autouse=True)
def few_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calibrant.calibration.boosting.growing.STEP", 5)  # rounds between two looks
    monkeypatch.setattr("calibrant.regression.boosted.calibrator._FOLDS", 2)
    few = Method(partial(BoostedCalibrator, **FEW), True, rank=5, module="lightgbm")
    monkeypatch.setitem(METHODS["distributions"], "boosted", few)


def _piped(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if source == "-":
        content = Path("t.csv").read_bytes()
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content)))


@cache
def _fitted() -> bytes:
    _run(*FIT)
    return Path("c.calibrant").read_bytes()


def fit_once(frame: pd.DataFrame) -> None:
    """The table of all rows as it is, and what `fit` saves of it, made once."""
    _parquet(frame)
    Path("c.calibrant").write_bytes(_fitted())


def fails(capsys: Capture, *arguments: str) -> str:
    """The one line that a command leaves with exit code 2."""
    capsys.readouterr()
    assert main([*arguments]) == 2
    out, err = capsys.readouterr()
    lines = [line for line in err.splitlines() if not line.startswith("note: ")]
    assert out == "" and len(lines) == 1
    return lines[0].removeprefix("calibrant: ")


# ---- every kind of table, every command ----
@pytest.fixture(scope="module")
def expected() -> dict[Any, Any]:
    return {}


@pytest.mark.parametrize(("command", "kind"), KINDS)
def test_every_kind_of_table(
    kind: str, command: str, expected: dict[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = laws()
    if command not in expected:
        expected[command] = _values(command, _parquet(frame))
    source = WRITERS[kind](frame)
    _piped(source, monkeypatch)
    found = _values(command, source)
    assert found["measures"].keys() == expected[command]["measures"].keys() >= {"none", "boosted"}
    same(found, expected[command], 1e-9)
    if command == "fit":
        applied = _applied(source, monkeypatch)
        assert expected.setdefault("apply", applied) == pytest.approx(applied, rel=1e-9)


def _values(command: str, source: str) -> dict[str, Any]:
    others = {"report": ["-o", "r.html", *TWO], "fit": ["-o", "c.calibrant"]}.get(command, TWO)
    found = json.loads(_run(command, source, *SEEN, "--json", *others))
    measures = {stage: {key: each[0] for key, each in table.items()} for stage, table in found["measures"].items()}
    return {"measures": measures, "chosen": found.get("chosen")}


def _applied(source: str, monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    _piped(source, monkeypatch)
    _run("apply", "c.calibrant", source, "--levels", "0.1,0.9", "-o", "out.parquet")
    made = pd.read_parquet("out.parquet")
    assert len(made.columns) == len(laws().columns) + 2
    return made[["q0.1", "q0.9"]].to_numpy()


def test_the_file_remembers_its_features() -> None:
    fit_once(laws())
    columns = describe("c.calibrant")["metadata"]["columns"]
    assert columns["feature"] == ["price", "promo", "region"] and columns["category"] == ["region"]
    assert "outcomes in `y`, features in `price`, `promo`, `region`\n" in _run("inspect", "c.calibrant")


def test_the_fit_is_that_of_python() -> None:
    frame = laws()
    fit_once(frame)
    law, X = Normal(frame["mu"].to_numpy(), frame["sigma"].to_numpy()), frame[["price", "promo", "region"]]
    mine = BoostedCalibrator(**FEW).fit(law, frame["y"], X=X)
    assert mine.n_rounds_ > 0
    saved: Any = load("c.calibrant")
    assert np.allclose(saved.transform(law, X=X).median(), mine.transform(law, X=X).median(), rtol=1e-12)


# ---- what makes no difference ----
@pytest.mark.parametrize("command", ["evaluate", "compare", "fit"])
@pytest.mark.parametrize("what", ["rows", "columns", "weights"])
def test_order_and_copies(command: str, what: str, expected: dict[Any, Any]) -> None:
    frame = laws()
    options = [*SEEN, *(["-m", "boosted"] if command in ("fit", "evaluate") else TWO)]
    turned = ["--feature", "promo", "--feature", "region", "--feature", "price", *options[len(SEEN) :]]
    if what == "rows":
        one, other = (frame, options), (frame.sample(frac=1, random_state=1), options)
    elif what == "columns":
        one, other = (frame, options), (frame[frame.columns[::-1]], turned)
    else:
        twice = frame.loc[frame.index.repeat(frame["w"])].drop(columns="w")
        one, other = (frame, [*options, "--weight", "w"]), (twice, options)
    as_it_is = (command, tuple(one[1]))
    if as_it_is not in expected:
        expected[as_it_is] = numbers(command, one[0], *one[1])
    same(expected[as_it_is], numbers(command, other[0], *other[1]), 1e-6)


def test_apply_to_other_columns_rows_and_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = laws()
    fit_once(frame)
    whole = _quantiles(frame)
    shuffled = frame.sample(frac=1, random_state=1)
    other = shuffled[shuffled.columns[::-1]].assign(more="of it").drop(columns=["y", "w", "day"])
    assert np.array_equal(_quantiles(other), whole[shuffled.index])
    as_categories = frame.astype({"region": "category", "price": "float32", "promo": "float64"})
    assert np.allclose(_quantiles(as_categories), whole, rtol=1e-5)
    monkeypatch.setattr("calibrant.tables.sources.ROWS", 7)
    assert np.array_equal(_quantiles(frame), whole)
    holes = frame.assign(mu=frame["mu"].where(frame.index >= 14))  # two blocks without a forecast
    assert np.isnan(_quantiles(holes)[:14]).all() and np.array_equal(_quantiles(holes)[14:], whole[14:])


def test_what_is_missing_or_not_known() -> None:
    frame = laws()
    fit_once(frame)
    known = _quantiles(frame)
    missing = _quantiles(frame.assign(region=None, price=np.nan))
    assert np.array_equal(_quantiles(frame.assign(region="west", price=np.nan)), missing)
    assert np.array_equal(_quantiles(frame.assign(region="", price=np.nan)), missing)
    assert not np.allclose(missing, known)
    moved = (known.mean(axis=1) - frame["mu"]) / frame["sigma"]
    assert moved[frame["region"] == "south"].mean() - moved[frame["region"] == "north"].mean() > 2


def _quantiles(frame: pd.DataFrame) -> np.ndarray:
    frame.to_parquet("new.parquet")
    _run("apply", "c.calibrant", "new.parquet", "--levels", "0.1,0.9", "-o", "out.parquet")
    return pd.read_parquet("out.parquet")[["q0.1", "q0.9"]].to_numpy()


# ---- all others, groups, choices ----
def test_all_other_columns(capsys: Capture) -> None:
    _parquet(laws())
    assert main(["fit", "t.parquet", "--feature", "*", "--weight", "w", "-o", "c.calibrant"]) == 0
    err = capsys.readouterr().err
    assert "note: features are `price`, `promo`, `region`\n" in err
    assert "note: left out of the features, being neither numbers nor texts: `day`\n" in err
    assert describe("c.calibrant")["metadata"]["columns"]["feature"] == ["price", "promo", "region"]


def test_with_groups_and_time() -> None:
    frame = laws().assign(shop=np.tile(["a", "b"], 80))
    frame.to_parquet("t.parquet")
    _run(*FIT, "--group", "shop")
    assert describe("c.calibrant")["method"] == "GroupedCalibrator" and len(_quantiles(frame)) == 160
    options = ["-m", "boosted", "--time", "day", "--group", "shop", "--json"]
    found = json.loads(_run("compare", "t.parquet", "--feature", "region", *options))
    assert {"boosted", "boosted by group"} <= found["measures"].keys()


def test_a_column_of_groups_may_be_a_feature() -> None:
    frame = laws(30).assign(shop=np.tile([1, 2], 15))
    frame.to_csv("t.csv", index=False)
    _run("fit", "t.csv", "--feature", "shop", "--group", "shop", "-o", "c.calibrant")
    assert describe("c.calibrant")["metadata"]["columns"]["category"] == ["shop"] and len(_quantiles(frame)) == 30


def test_commands_that_follow_have_the_features() -> None:
    _parquet(laws())
    found = json.loads(_run("compare", "t.parquet", *SEEN, *TWO, "--json"))
    assert found["chosen"] == "boosted"
    assert "--feature price --feature promo --feature region --method boosted" in found["command"]
    _parquet(narrow())
    found = json.loads(_run("compare", "t.parquet", *SEEN, *TWO, "--json"))
    assert found["chosen"] == "scale" and "--feature" not in found["command"]


@pytest.mark.parametrize("command", [["compare"], ["report", "-o", "r.html"]])
def test_who_competes_where_none_are_named(command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    kept = {name: METHODS["distributions"][name] for name in ("scale", "boosted")}
    monkeypatch.setitem(METHODS, "distributions", kept)
    _parquet(laws())
    found = [json.loads(_run(*command, "t.parquet", "--json", *features))["measures"] for features in ([], SEEN)]
    assert [list(measures) for measures in found] == [["none", "scale"], ["none", "scale", "boosted"]]


def test_the_chosen_one_may_use_none(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = {name: METHODS["distributions"][name] for name in ("scale", "boosted")}
    monkeypatch.setitem(METHODS, "distributions", kept)
    monkeypatch.setattr("calibrant.cli.fit.FEWEST", 1000)  # measures are looked at elsewhere
    frame = laws()
    _parquet(frame)
    _run(*FIT, "-m", "auto")
    auto: Any = load("c.calibrant")
    assert auto.best_ == "boosted" and len(_quantiles(frame)) == 160
    _parquet(narrow())
    _run(*FIT, "-m", "auto")
    assert load("c.calibrant").best_ == "scale"  # type: ignore[attr-defined]
    assert len(_quantiles(frame[["mu", "sigma"]])) == 160  # features are not asked for where they are not used


def test_a_look_without_calibrators_that_use_them(capsys: Capture) -> None:
    _parquet(laws())
    assert main(["evaluate", "t.parquet", *SEEN, "-m", "scale"]) == 0
    assert "note: none of the calibrators that were tried uses the features\n" in capsys.readouterr().err


# ---- what is refused ----
REFUSED = {
    "fit t.parquet -m boosted": "method 'boosted' needs features; say --feature COLUMN for each, or --feature '*' for "
    "all other columns.",
    "compare t.parquet -m boosted -m scale": "method 'boosted' needs features; say --feature COLUMN for each, or "
    "--feature '*' for all other columns.",
    "fit t.parquet -m scale --feature price": "method 'scale' uses no features; leave --feature out, or say --method "
    "boosted.",
    "compare t.parquet -m scale -m quantile --feature price": "method 'scale', 'quantile' uses no features; leave "
    "--feature out, or say --method boosted.",
    "fit t.parquet --point mu --feature price": "no method for point predictions uses features; leave --feature out.",
    "fit t.parquet --probability 1=promo --target w --feature price": "labels in `w` must be '1' and one other, as one "
    "probability is given; they are '2', '3'.",
    "fit t.parquet --feature cost": "there is no column `cost` in `t.parquet`. It has `mu`, `sigma`, `y`, `region`, "
    "`price`, `promo`, `day`, `w`.",
    "fit t.parquet --feature day": "column `day` must hold numbers or texts to be a feature; it holds timestamp[ms]. "
    "Dates? Add columns with parts of them, the weekday say.",
    "fit t.parquet --target y --feature y": "column `y` holds the outcomes, which are no --feature.",
    "apply s.calibrant t.parquet --feature price": "the calibrator uses no features; leave --feature out.",
    "apply b.calibrant t.parquet": "the calibrator uses features; say which columns they are: --feature.",
}


@pytest.fixture(scope="module")
def known() -> list[Any]:
    frame = laws(60)
    law = Normal(frame["mu"].to_numpy(), frame["sigma"].to_numpy())
    features = frame[["region", "price"]]
    return [QuantileCalibrator().fit(law, frame["y"]), BoostedCalibrator(20).fit(law, frame["y"], X=features)]


@pytest.mark.parametrize("command", REFUSED)
def test_refused(command: str, known: list[Any], capsys: Capture) -> None:
    _parquet(laws(60))
    for calibrator, file in zip(known, ("s.calibrant", "b.calibrant"), strict=True):
        save(calibrator, file)
    output = {"fit": ["-o", "c.calibrant"], "apply": ["-o", "out.csv"]}.get(command.split()[0], [])
    assert fails(capsys, *command.split(), *output) == REFUSED[command]
    assert not Path("c.calibrant").exists() and not Path("out.csv").exists()


def test_features_of_classes() -> None:
    rng = np.random.default_rng(0)
    shop, p = rng.choice(["a", "b"], 400), np.full(400, 0.5)
    y = np.where(rng.random(400) < np.where(shop == "a", 0.9, 0.1), "yes", "no")
    frame = pd.DataFrame({"p": p, "y": y, "shop": shop})
    frame.to_csv("c.csv", index=False)
    _run("fit", "c.csv", "--probability", "yes=p", "--feature", "shop", "-o", "c.calibrant")
    saved: Any = load("c.calibrant")
    mine = BoostedClassCalibrator().fit(p, y, X=frame[["shop"]])
    assert saved.n_rounds_ > 0
    assert np.allclose(saved.transform(p, X=frame[["shop"]]), mine.transform(p, X=frame[["shop"]]))
    _run("apply", "c.calibrant", "c.csv", "-o", "out.csv")
    made = pd.read_csv("out.csv")
    column = next(name for name in made.columns if "yes" in name)
    assert made[column][shop == "a"].mean() > 0.8 and made[column][shop == "b"].mean() < 0.2


def test_refused_by_apply(capsys: Capture) -> None:
    frame = laws(60)
    _parquet(frame)
    _run(*FIT)
    capsys.readouterr()
    apply = ["apply", "c.calibrant", "new.csv", "-o", "out.csv"]
    frame.drop(columns="price").to_csv("new.csv", index=False)
    assert fails(capsys, *apply).startswith("there is no column `price` in `new.csv`.")
    frame.assign(price=["dear"] * 60).to_csv("new.csv", index=False)
    assert fails(capsys, *apply) == "column `price` must be numbers; row 0 (the first is 0) holds 'dear' (string)."
    frame.assign(region=np.arange(60)).to_csv("new.csv", index=False)  # labels that were not there, not numbers
    assert main(apply) == 0


def test_calibrators_of_python_by_the_names_said() -> None:
    frame = laws()
    law, X = Normal(frame["mu"].to_numpy(), frame["sigma"].to_numpy()), frame[["region", "price"]]
    for features in (X, X.to_numpy()):
        cal = BoostedCalibrator(20).fit(law, frame["y"], X=features)
        save(cal, "c.calibrant")
        frame.to_parquet("new.parquet")
        said = ["--feature", "region", "--feature", "price"]
        _run("apply", "c.calibrant", "new.parquet", *said, "--levels", "0.5", "-o", "out.parquet")
        made = pd.read_parquet("out.parquet")["q0.5"]
        assert np.allclose(made, cal.transform(law, X=features).median(), rtol=1e-12)


def test_without_lightgbm(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "lightgbm", None)
    _parquet(laws(60))
    needs = "boosted calibrators need lightgbm to fit, which is not installed: pip install 'calibrant[boost]'."
    assert fails(capsys, *FIT) == needs
    assert main(["evaluate", "t.parquet", *SEEN]) == 0  # with what there is
    assert "note: none of the calibrators that were tried uses the features\n" in capsys.readouterr().err
    kept = {"scale": METHODS["distributions"]["scale"], "boosted": METHODS["distributions"]["boosted"]}
    monkeypatch.setitem(METHODS, "distributions", kept)
    said = "no calibrator that is tried uses --feature; boosted does, of distributions: pip install 'calibrant[boost]'."
    assert fails(capsys, "compare", "t.parquet", *SEEN) == said
