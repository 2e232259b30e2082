"""The command line as a new user meets it."""

from __future__ import annotations

import errno
import json
import os
import runpy
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from calibrant import Normal, PlattCalibrator, QuantileCalibrator, load, metrics, save
from calibrant.cli import main
from calibrant.store.calibrators import describe
from calibrant.tables import writing

N = 1200


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with forecasts that are half as wide as they should be."""
    rng = np.random.default_rng(0)
    mu, sigma = rng.normal(size=N), rng.uniform(0.5, 2.0, N)
    frame = pd.DataFrame({"mu": mu, "sigma": sigma, "y": mu + 2 * sigma * rng.normal(size=N)})
    frame["shop"] = np.where(np.arange(N) % 3, "north", "south")
    frame.to_csv(tmp_path / "forecasts.csv", index=False)
    frame.drop(columns="y").to_parquet(tmp_path / "new.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def ok(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, str]:
    code, out, err = run(capsys, *arguments)
    assert code == 0, err
    return out, err


def fails(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    before = sorted(Path.cwd().iterdir())
    code, out, err = run(capsys, *arguments)
    assert code == 2 and out == ""
    lines = err.splitlines()
    assert len(lines) == 1 and lines[0].startswith("calibrant: ")
    assert sorted(Path.cwd().iterdir()) == before  # nothing half-written
    return lines[0].removeprefix("calibrant: ")


@pytest.mark.usefixtures("folder")
def test_evaluate_fit_apply(capsys: pytest.CaptureFixture[str]) -> None:
    out, err = ok(capsys, "evaluate", "forecasts.csv", "--group", "shop")
    assert out.startswith("Your 90 % intervals contain 59 % of outcomes; after calibration 89 %.")
    assert "calibration error" in out and "shop = north" in out
    assert err == "note: found means and standard deviations in `mu`, `sigma`\nnote: found outcomes in `y`\n"
    out, err = ok(capsys, "fit", "forecasts.csv", "-o", "shop.calibrant")
    assert "QuantileCalibrator of 1,200 rows saved in shop.calibrant" in out
    assert "calibrant apply shop.calibrant new.parquet -o calibrated.parquet" in out
    out, err = ok(capsys, "apply", "shop.calibrant", "new.parquet", "-o", "calibrated.parquet")
    assert "q0.05, q0.25, q0.5, q0.75, q0.95" in out and err == ""
    frame = pd.read_parquet("calibrated.parquet")
    assert list(frame.columns) == ["mu", "sigma", "shop", "q0.05", "q0.25", "q0.5", "q0.75", "q0.95"]
    y = pd.read_csv("forecasts.csv")["y"]
    assert ((frame["q0.05"] <= y) & (y <= frame["q0.95"])).mean() == pytest.approx(0.9, abs=0.02)


@pytest.mark.usefixtures("folder")
def test_json_and_inspect(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(ok(capsys, "evaluate", "forecasts.csv", "--json")[0])
    assert found["task"] == "regression" and found["rows"] == N and found["chosen"] == "quantile"
    assert found["measures"]["none"]["coverage_90"][0] == pytest.approx(0.58, abs=0.02)
    fit = json.loads(ok(capsys, "fit", "forecasts.csv", "-o", "a.calibrant", "-m", "scale", "--json")[0])
    assert (fit["method"], fit["rows"], fit["calibrator"]) == ("ScaleCalibrator", N, "a.calibrant")
    inspected = json.loads(ok(capsys, "inspect", "a.calibrant", "--json")[0])
    assert inspected["metadata"]["columns"] == {
        "kind": "normal",
        "forecast": ["mu", "sigma"],
        "keys": [],
        "target": "y",
        "group": [],
        "scores_are": "probabilities",
    }
    assert inspected["metadata"]["measures"]["none"]["nll"] == fit["measures"]["none"]["nll"]
    out = ok(capsys, "inspect", "a.calibrant")[0]
    assert "ScaleCalibrator, fitted to 1,200 rows" in out and "`mu`, `sigma`, outcomes in `y`" in out and "NLL" in out
    applied = ok(capsys, "apply", "a.calibrant", "new.parquet", "-o", "b.csv", "--with-std", "--json")[0]
    assert json.loads(applied) == {"output": "b.csv", "added": ["std"]}


@pytest.mark.usefixtures("folder")
def test_columns_are_added_in_the_order_of_the_options(capsys: pytest.CaptureFixture[str]) -> None:
    ok(capsys, "fit", "forecasts.csv", "-o", "a.calibrant")
    options = ["--with-std", "--coverage", "0.9,0.5", "--levels", "0.5", "--with-mean", "--levels", "0.99"]
    options += ["--cdf", "mu,2.5"]
    ok(capsys, "apply", "a.calibrant", "new.parquet", "-o", "b.parquet", *options)
    names = pq.read_schema("b.parquet").names
    assert names[3:] == ["std", "lo-90", "hi-90", "lo-50", "hi-50", "q0.5", "q0.99", "mean", "cdf_mu", "cdf_2.5"]
    law = load("a.calibrant").transform(Normal(*pd.read_parquet("new.parquet")[["mu", "sigma"]].to_numpy().T))
    frame = pd.read_parquet("b.parquet")
    np.testing.assert_allclose(frame[["lo-90", "hi-90"]], law.interval(0.9))
    np.testing.assert_allclose(frame["q0.99"], law.quantiles([0.99])[:, 0])
    np.testing.assert_allclose(frame["cdf_mu"], law.cdf(frame["mu"]))
    np.testing.assert_allclose(frame["cdf_2.5"], law.cdf(2.5))


@pytest.mark.usefixtures("folder")
def test_compare_and_report(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["forecasts.csv", "--method", "scale", "--method", "quantile", "--rows", "500"]
    out, err = ok(capsys, "compare", *arguments)
    assert [line.split()[0] for line in out.splitlines()[1:4]][-1] == "none" and "Take scale: " in out
    assert "500 of 1200 rows were looked at, drawn at random" in err
    assert "calibrant fit forecasts.csv --mean mu --std sigma --target y --method scale -o forecasts.calibrant" in out
    found = json.loads(ok(capsys, "compare", *arguments, "--json")[0])
    assert list(found["measures"]) == ["none", "scale", "quantile"] and found["chosen"] == "scale"
    out, _ = ok(capsys, "report", *arguments, "--group", "shop", "-o", "page.html")
    assert out.endswith("The report is in page.html\n")
    page = Path("page.html").read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html>") and "shop = south" in page and "calibrant apply" in page


@pytest.mark.usefixtures("folder")
def test_other_kinds_of_forecasts(capsys: pytest.CaptureFixture[str]) -> None:
    frame = pd.read_csv("forecasts.csv")
    for level, k in ((10, -1.2816), (50, 0.0), (90, 1.2816)):
        frame[f"q{level}"] = frame["mu"] + k * frame["sigma"]
    frame[["q10", "q50", "q90", "y"]].to_parquet("q.parquet")
    out, err = ok(capsys, "fit", "q.parquet", "-o", "q.calibrant")
    assert "found quantiles in `q10`, `q50`, `q90`" in err
    ok(capsys, "apply", "q.calibrant", "q.parquet", "--levels", "0.9", "-o", "q.csv")
    ok(capsys, "fit", "forecasts.csv", "--mean", "mu", "--std", "sigma", "-o", "n.calibrant")
    ok(capsys, "apply", "n.calibrant", "forecasts.csv", "--levels", "0.9", "-o", "n.csv")
    np.testing.assert_allclose(pd.read_csv("q.csv")["q0.9"], pd.read_csv("n.csv")["q0.9"], atol=0.02)
    out, _ = ok(capsys, "fit", "forecasts.csv", "--point", "mu", "-o", "p.calibrant")
    assert "After calibration your predictions have 90 % intervals that contain 90 % of outcomes." in out
    ok(capsys, "apply", "p.calibrant", "forecasts.csv", "--coverage", "0.9", "-o", "p.csv")
    out, _ = ok(capsys, "fit", "forecasts.csv", "--point", "mu", "-m", "point", "-o", "line.calibrant")
    ok(capsys, "apply", "line.calibrant", "forecasts.csv", "-o", "line.csv")
    assert list(pd.read_csv("line.csv").columns)[-1] == "point"


@pytest.mark.usefixtures("folder")
def test_groups(capsys: pytest.CaptureFixture[str]) -> None:
    frame = pd.read_csv("forecasts.csv")
    frame.loc[frame["shop"] == "south", "y"] = frame["mu"] + 0.5 * (frame["y"] - frame["mu"])
    frame.to_csv("g.csv", index=False)
    out, _ = ok(capsys, "fit", "g.csv", "--group", "shop", "-m", "scale", "-o", "g.calibrant")
    assert "GroupedCalibrator of 1,200 rows" in out
    ok(capsys, "apply", "g.calibrant", "new.parquet", "--with-std", "-o", "g.parquet")
    made = pd.read_parquet("g.parquet")
    wide = (made["std"] / made["sigma"]).groupby(made["shop"]).mean()
    assert wide["north"] == pytest.approx(2.0, abs=0.15) and wide["south"] == pytest.approx(1.0, abs=0.1)
    pd.DataFrame({"mu": [0.0], "sigma": [1.0]}).to_csv("h.csv", index=False)
    assert "there is no column `shop` in `h.csv`" in fails(capsys, "apply", "g.calibrant", "h.csv", "-o", "x.csv")


def test_classes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    odds = rng.normal(0, 3, 800)
    frame = pd.DataFrame({"p_spam": 1 / (1 + np.exp(-odds)), "label": rng.random(800) < 1 / (1 + np.exp(-odds / 3))})
    frame["label"] = np.where(frame["label"], "spam", "ham")
    frame.to_csv("c.csv", index=False)
    out, err = ok(capsys, "fit", "c.csv", "-m", "platt", "-o", "c.calibrant")
    assert "Your probabilities are off by" in out and "probability of 'spam' against 'ham'" in err
    ok(capsys, "apply", "c.calibrant", "c.csv", "-o", "d.csv")
    made = pd.read_csv("d.csv")
    assert list(made.columns) == ["p_spam", "label", "p_ham", "p_spam_calibrated"]
    expected = PlattCalibrator().fit(frame["p_spam"], frame["label"])
    np.testing.assert_allclose(made["p_spam_calibrated"], expected.transform(frame["p_spam"])[:, 1], rtol=1e-6)
    renamed = frame.rename(columns={"p_spam": "score"})[["score"]]
    renamed.to_csv("e.csv", index=False)
    ok(capsys, "apply", "c.calibrant", "e.csv", "--probability", "spam=score", "-o", "f.csv")
    np.testing.assert_allclose(pd.read_csv("f.csv")["p_spam"], made["p_spam_calibrated"])
    message = fails(capsys, "apply", "c.calibrant", "e.csv", "--probability", "ham=score", "-o", "g.csv")
    assert message == "the calibrator is for classes spam; got columns for ham."
    message = fails(capsys, "apply", "c.calibrant", "c.csv", "--with-mean", "-o", "g.csv")
    assert "class probabilities have no quantiles" in message
    assert fails(capsys, "fit", "c.csv", "-m", "quantile", "-o", "x").startswith("method 'quantile' is not for class")


@pytest.mark.usefixtures("folder")
def test_calibrators_saved_from_python(capsys: pytest.CaptureFixture[str]) -> None:
    frame = pd.read_csv("forecasts.csv")
    save(QuantileCalibrator().fit(Normal(frame["mu"], frame["sigma"]), frame["y"]), "plain.calibrant")
    _, err = ok(capsys, "apply", "plain.calibrant", "new.parquet", "-o", "a.parquet")
    assert "note: found means and standard deviations in `mu`, `sigma`" in err
    frame.rename(columns={"mu": "centre", "sigma": "width"}).to_csv("other.csv", index=False)
    ok(capsys, "apply", "plain.calibrant", "other.csv", "--mean", "centre", "--std", "width", "-o", "b.parquet")
    np.testing.assert_allclose(pd.read_parquet("a.parquet")["q0.5"], pd.read_parquet("b.parquet")["q0.5"])


WRONG = {
    "wrong name": (
        "fit forecasts.csv --mean muu --std sigma -o x",
        "there is no column `muu` in `forecasts.csv`. Near",
    ),
    "no file": ("fit nope.csv -o x", "there is no file `nope.csv`."),
    "empty csv": ("fit empty.csv -o x", "`empty.csv` is empty: it has 0 bytes."),
    "empty parquet": ("evaluate empty.parquet", "`empty.parquet` is empty: it has 0 bytes."),
    "header only": ("fit header.csv -o x", "`header.csv` has no rows."),
    "text": ("fit text.csv -o x", "column `mu` must be numbers; row 1 (the first is 0) of `text.csv` holds 'abc'."),
    "mixed": ("evaluate mixed.parquet", "column `mu` must be numbers; row 1 (the first is 0) holds 'abc' (string)."),
    "missing forecast": (
        "fit nan.csv --strict -o x",
        "column `sigma` must be finite numbers; row 2 (the first is 0): nan.",
    ),
    "one row": ("evaluate one.csv", "column `y` must have an outcome in 2 rows at least; it has 1."),
    "no forecasts": ("fit names.csv -o x", "`names.csv` has no forecast columns by their names. Say --mean and --std"),
    "no outcomes": ("fit new.parquet -o x", "which column of `new.parquet` holds the outcomes? Say --target; it has"),
    "unknown format": (
        "apply a.calibrant new.parquet -o x.xlsx",
        "cannot tell the format of `x.xlsx`; name it .parquet",
    ),
    "over its input": (
        "apply a.calibrant new.parquet -o new.parquet",
        "`new.parquet` is an input; give another output",
    ),
    "over its calibrator": ("fit forecasts.csv -o forecasts.csv", "`forecasts.csv` is an input; give another output"),
    "no folder": ("apply a.calibrant new.parquet -o no/x.csv", "cannot write `no/x.csv`: there is no folder `no`."),
    "no calibrator": ("apply forecasts.csv new.parquet -o x.csv", "`forecasts.csv` is no calibrator file, or damaged"),
    "no calibrator file": ("inspect nope", "`nope`: No such file or directory."),
    "other columns": ("apply a.calibrant names.csv -o x.csv", "there is no column `mu` in `names.csv`."),
    "other kind": (
        "apply a.calibrant new.parquet --point mu -o x.csv",
        "the calibrator was fitted to means and standard",
    ),
    "unknown method": ("fit forecasts.csv -m magic -o x", "method 'magic' is not known; these are: quantile, scale"),
    "percent": (
        "apply a.calibrant new.parquet --levels 90 -o x.csv",
        "--levels must be numbers strictly between 0 and 1",
    ),
    "no number": (
        "apply a.calibrant new.parquet --coverage a -o x.csv",
        "--coverage must be numbers strictly between 0",
    ),
    "unknown option": ("fit forecasts.csv --magic 1 -o x", "No such option: --magic"),
    "no output": ("fit forecasts.csv", "Missing option '--output' / '-o'"),
    "unknown command": ("magic", "No such command 'magic'"),
}


@pytest.fixture(scope="module")
def made() -> dict[str, bytes]:
    """Files that commands have made already, of tables that are always the same."""
    return {}


@pytest.fixture
def wrong_files(folder: Path, made: dict[str, bytes], capsys: pytest.CaptureFixture[str]) -> None:
    if not made:
        ok(capsys, "fit", "forecasts.csv", "-m", "scale", "-o", "a.calibrant")
        made["a.calibrant"] = Path("a.calibrant").read_bytes()
    Path("a.calibrant").write_bytes(made["a.calibrant"])
    texts = {
        "empty.csv": "",
        "empty.parquet": "",
        "header.csv": "mu,sigma,y\n",
        "text.csv": "mu,sigma,y\n1,1,1\nabc,1,1\n",
        "nan.csv": "mu,sigma,y\n1,1,1\n2,,\n3,,4\n",
        "names.csv": "a,b,y\n1,1,1\n",
        "one.csv": "mu,sigma,y\n1,1,1\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    pd.DataFrame({"mu": ["1.0", "abc"], "sigma": [1.0, 1.0], "y": [1.0, 1.0]}).to_parquet("mixed.parquet")


@pytest.mark.parametrize("case", WRONG)
@pytest.mark.usefixtures("wrong_files")
def test_wrong_input_is_one_line(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    command, message = WRONG[case]
    assert fails(capsys, *command.split()).startswith(message)


@pytest.mark.usefixtures("wrong_files")
def test_few_rows_are_fitted_and_not_measured(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = ok(capsys, "fit", "one.csv", "-o", "one.calibrant")
    assert "QuantileCalibrator of 1 rows saved" in out and describe("one.calibrant")["metadata"]["measures"] == {}
    ok(capsys, "inspect", "one.calibrant")


@pytest.mark.usefixtures("wrong_files")
def test_overwriting_when_asked(capsys: pytest.CaptureFixture[str]) -> None:
    ok(capsys, "apply", "a.calibrant", "new.parquet", "-o", "new.parquet", "--overwrite", "--with-mean")
    assert pq.read_schema("new.parquet").names[-1] == "mean"


@pytest.mark.usefixtures("wrong_files")
def test_rows_without_outcome_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    frame = pd.read_csv("forecasts.csv")
    frame.loc[:9, ["y", "mu"]] = np.nan
    frame.to_csv("some.csv", index=False)
    _, err = ok(capsys, "fit", "some.csv", "-m", "scale", "-o", "b.calibrant")
    assert "note: 10 of 1200 rows have no outcome and are left out" in err
    assert describe("b.calibrant")["rows"] == N - 10


@pytest.mark.parametrize(
    ("trouble", "code", "message"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), 2, "cannot write `x.parquet`: No space left on device."),
        (KeyboardInterrupt(), 130, "interrupted; nothing was written."),
    ],
)
@pytest.mark.usefixtures("wrong_files")
def test_trouble_while_writing(
    trouble: BaseException, code: int, message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from calibrant.tables import writing

    class Broken:
        def __enter__(self) -> Any:
            return self

        def __exit__(self, *_: Any) -> None:
            return None

        def write_batch(self, _: Any) -> None:
            raise trouble

    monkeypatch.setattr(writing, "_writer", lambda *_: Broken())
    before = sorted(Path.cwd().iterdir())
    got, out, err = run(capsys, "apply", "a.calibrant", "new.parquet", "-o", "x.parquet")
    assert (got, out, err) == (code, "", f"calibrant: {message}\n")
    assert sorted(Path.cwd().iterdir()) == before


@pytest.mark.usefixtures("folder")
def test_calibrators_that_cannot_be_saved(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    code, out, err = run(capsys, "fit", "forecasts.csv", "-m", "scale", "-o", "x.calibrant")
    assert (code, out) == (2, "") and "calibrant: cannot write `x.calibrant`: No space left on device.\n" in err
    assert not list(Path.cwd().glob("*x.calibrant*"))


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_signals_leave_nothing_behind(
    sign: signal.Signals, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ok(capsys, "fit", "forecasts.csv", "-m", "scale", "-o", "a.calibrant")
    real = writing._writer
    monkeypatch.setattr(writing, "_writer", lambda *given: (os.kill(os.getpid(), sign), real(*given))[1])
    usual = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_IGN}  # else it would end all tests
    before = {each: signal.signal(each, handler) for each, handler in usual.items()}
    try:
        left = run(capsys, "apply", "a.calibrant", "new.parquet", "-o", "x.parquet")
        assert {each: signal.getsignal(each) for each in usual} == usual  # as they were
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
    assert left == (130, "", "calibrant: interrupted; nothing was written.\n")
    assert not list(folder.glob("*x.parquet*"))


def test_missing_parts(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "calibrant.cli.app", raising=False)
    monkeypatch.setitem(sys.modules, "typer", None)
    assert run(capsys, "--help") == (2, "", "calibrant: typer is not installed: pip install 'calibrant[app]'.\n")


def test_help_of_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = ok(capsys, "--help")
    for name in ("evaluate", "fit", "apply", "compare", "report", "inspect", "demo"):
        assert name in out
        text, _ = ok(capsys, name, "--help")
        assert f"Usage: calibrant {name}" in text and "--json" in text
    assert ok(capsys, "--version")[0].startswith("calibrant 0.")


def test_demo_writes_a_report(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from calibrant.cli import analysing, demo

    real = analysing.analyse_table
    quick = {"s": QuantileCalibrator()}
    asked_for = []

    def looked(path: Path, asked: Any, candidates: Any, most: int) -> Any:
        asked_for.append((asked.group, asked.time, candidates(None)))
        return real(path, asked, lambda _: quick, most)

    monkeypatch.setattr(demo, "analyse_table", looked)
    out, _ = ok(capsys, "demo", "-o", "some/where")
    assert str(folder / "some/where/report.html") in out
    assert (folder / "some/where/report.html").stat().st_size > 10_000
    frame = pd.read_csv("some/where/forecasts.csv")
    assert len(frame) == 900 and list(frame.columns) == ["day", "shop", "mu", "sigma", "sales"]
    assert asked_for == [(["shop"], "day", "quick")] and "why: too narrow by " in out
    assert json.loads(Path("some/where/report.json").read_text())["decision"]["severity"] == "serious"


@pytest.mark.usefixtures("folder", "plain_pages")
def test_checks_give_an_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    """1 where a check is as bad as asked; errors keep 2."""
    frame = pd.read_csv("forecasts.csv")
    right = frame.assign(sigma=2 * frame["sigma"])
    right.to_csv("right.csv", index=False)
    right.assign(sigma=0.89 * right["sigma"]).to_csv("minor.csv", index=False)
    for name, codes in {"forecasts.csv": (0, 1, 1), "minor.csv": (0, 1, 0), "right.csv": (0, 0, 0)}.items():
        found = [run(capsys, "evaluate", name, "--fail-on", least)[0] for least in ("none", "warn", "fail")]
        assert tuple(found) == codes, name
    code, out, _ = run(capsys, "report", "forecasts.csv", "--quick", "--fail-on", "fail", "-o", "page.html", "--json")
    assert code == 1 and json.loads(out)["decision"]["worst"] == "fail" and Path("page.html").exists()
    assert json.loads(Path("page.json").read_text())["fingerprint"] == json.loads(out)["fingerprint"]
    assert run(capsys, "evaluate", "no.csv", "--fail-on", "fail")[0] == 2
    assert run(capsys, "evaluate", "forecasts.csv", "--fail-on", "never")[0] == 2
    out, err = ok(capsys, "evaluate", "right.csv", "--quick")
    assert "All 7 checks pass." in out and "note: a quick look: three folds instead of five" in err


@pytest.mark.usefixtures("folder", "plain_pages")
def test_worst_rows_have_their_names(capsys: pytest.CaptureFixture[str]) -> None:
    frame = pd.read_csv("forecasts.csv")
    frame.assign(order=[7000 + i for i in range(len(frame))]).to_csv("named.csv", index=False)
    for command in (["evaluate", "named.csv"], ["report", "named.csv", "-m", "scale", "-o", "named.html"]):
        out, _ = ok(capsys, *command, "--rows", "300", "--id", "order", "--json")
        worst = json.loads(out)["worst"]
        assert len(worst) == 10 and all(row["id"] == str(7000 + row["row"]) for row in worst)
    assert f">{worst[0]['id']}<" in Path("named.html").read_text()
    assert "--id" not in json.loads(out)["decision"]["command"]
    assert "No such option: --id" in run(capsys, "fit", "named.csv", "--id", "order", "-o", "a.calibrant")[2]


@pytest.mark.usefixtures("folder", "plain_pages")
def test_report_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    out, err = ok(capsys, "report", "forecasts.csv", "--quick", "--rows", "400", "-o", "page.html")
    lines = out.splitlines()
    assert lines[1].startswith("why: too narrow by ") and lines[2].startswith("cost: 90 % intervals get ")
    assert lines[-2:] == ["The same for programs is in page.json", "The report is in page.html"]
    assert "note: a quick look: only calibrators that are fitted at once, on 3 folds" in err
    found = json.loads(Path("page.json").read_text())
    assert found["decision"]["command"].startswith("calibrant fit forecasts.csv --mean mu --std sigma --target y --me")
    assert any("400 of 1200 rows were looked at, drawn at random" in text for text in found["decision"]["caveats"])
    Path("page.json").write_text("{}")
    assert "`page.json` is there and no report of calibrant's" in fails(
        capsys, "report", "forecasts.csv", "-o", "page.html"
    )


@pytest.mark.usefixtures("folder")
def test_python_m_calibrant(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["calibrant", "evaluate", "nope.csv"])
    with pytest.raises(SystemExit) as left:
        runpy.run_module("calibrant", run_name="__main__")
    assert left.value.code == 2
    assert capsys.readouterr() == ("", "calibrant: there is no file `nope.csv`.\n")


@pytest.mark.usefixtures("folder")
def test_measures_say_on_how_many_rows_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    """A² grows with the number of rows, so that of a sample is no A² of all."""
    rng = np.random.default_rng(0)
    mu = rng.normal(size=6000)
    pd.DataFrame({"mu": mu, "sigma": 1.0, "y": mu + 2 * rng.normal(size=6000)}).to_parquet("many.parquet")
    out, err = ok(capsys, "fit", "many.parquet", "-o", "many.calibrant")
    assert "cross-validated, on 5,000 of 6,000 rows" in out and "5000 of 6000 rows were looked at" in err
    assert "cross-validated, on 5,000 of 6,000 rows" in ok(capsys, "inspect", "many.calibrant")[0]
    out, err = ok(capsys, "evaluate", "many.parquet", "--rows", "600")
    assert "cross-validated, on 600 of 6,000 rows" in out and "mind: 600 of 6000 rows were looked at" in out
    whole = json.loads(ok(capsys, "evaluate", "many.parquet", "--json")[0])
    frame = pd.read_parquet("many.parquet")
    exact = metrics.anderson_darling(frame["y"], Normal(frame["mu"], 1.0))
    assert whole["measures"]["none"]["anderson_darling"][0] == pytest.approx(exact)
