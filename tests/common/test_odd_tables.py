"""Broken and odd tables: each with a command, the exact line that it gets, and the exit code."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibrant import Normal, ScaleCalibrator, save
from calibrant.cli import main

N = 12
FIT = "fit {} -m scale -o x.calibrant"
SAVED = "ScaleCalibrator of {} rows saved in x.calibrant. To apply it:"


def rows(n: int = N) -> pd.DataFrame:
    """Forecasts with half the right width."""
    rng = np.random.default_rng(0)
    mu, sigma = rng.normal(size=n).round(3), rng.uniform(0.5, 2.0, n).round(3)
    return pd.DataFrame({"mu": mu, "sigma": sigma, "y": (mu + 2 * sigma * rng.normal(size=n)).round(3)})


def text(frame: pd.DataFrame | None = None, **options: object) -> bytes:
    """A CSV file."""
    made: str = (rows() if frame is None else frame).to_csv(index=False, **options)  # type: ignore[call-overload]
    return made.encode()


def lines(frame: pd.DataFrame | None = None) -> bytes:
    """JSON objects."""
    made: str = (rows() if frame is None else frame).to_json(orient="records", lines=True)
    return made.encode()


def parquet(frame: pd.DataFrame | None = None) -> bytes:
    """A Parquet file."""
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_pandas(rows() if frame is None else frame, preserve_index=False), stream)
    return stream.getvalue()


def with_holes(column: str, value: float, at: list[int], frame: pd.DataFrame | None = None) -> pd.DataFrame:
    """Some values replaced."""
    made = rows() if frame is None else frame
    made.loc[at, column] = value
    return made


def of_quantiles() -> pd.DataFrame:
    frame = rows()
    return pd.DataFrame({"q10": frame["mu"] - frame["sigma"], "q90": frame["mu"] + frame["sigma"], "y": frame["y"]})


def of_samples() -> pd.DataFrame:
    frame = rows()
    return pd.DataFrame({f"sample_{k}": frame["mu"] + (k - 1) * frame["sigma"] for k in range(3)}).assign(y=frame["y"])


def of_classes() -> pd.DataFrame:
    p = np.linspace(0.1, 0.9, N)
    return pd.DataFrame({"probability": p, "label": np.where(np.arange(N) % 3, "won", "lost")})


class Case(NamedTuple):
    """Files by their names, what comes by the pipe (the file called -), a command, its exit code, and a line."""

    files: dict[str, bytes]
    command: str
    code: int
    line: str


def refused(files: dict[str, bytes], command: str, line: str) -> Case:
    return Case(files, command, 2, f"calibrant: {line}")


def noted(files: dict[str, bytes], command: str, line: str) -> Case:
    return Case(files, command, 0, f"note: {line}")


def read(name: str, content: bytes, command: str = FIT, n: int = N) -> Case:
    return Case({name: content}, command.format(name), 0, SAVED.format(n))


LEFT_OUT = "{} of 12 rows have no finite forecast and are left out"
BLANK = "{} of 12 rows have no finite forecast; the new columns are blank there"
NAN, INF = float("nan"), float("inf")
HOLDS = "column `mu` must be numbers; row 0 (the first is 0) of `a.csv` holds"

MISSING = {
    "missing mean": noted({"a.csv": text(with_holes("mu", NAN, [1, 4]))}, FIT.format("a.csv"), LEFT_OUT.format(2)),
    "infinite mean": noted({"a.csv": text(with_holes("mu", INF, [1]))}, FIT.format("a.csv"), LEFT_OUT.format(1)),
    "missing spread": noted({"a.csv": text(with_holes("sigma", NAN, [0]))}, FIT.format("a.csv"), LEFT_OUT.format(1)),
    "missing quantile": noted(
        {"a.csv": text(with_holes("q90", NAN, [3], of_quantiles()))}, FIT.format("a.csv"), LEFT_OUT.format(1)
    ),
    "infinite quantile": noted(
        {"a.parquet": parquet(with_holes("q10", -INF, [3, 4], of_quantiles()))},
        FIT.format("a.parquet"),
        LEFT_OUT.format(2),
    ),
    "missing sample": noted(
        {"a.csv": text(with_holes("sample_1", NAN, [3], of_samples()))}, FIT.format("a.csv"), LEFT_OUT.format(1)
    ),
    "missing point": noted(
        {"a.csv": text(with_holes("yhat", NAN, [7], rows().rename(columns={"mu": "yhat"})[["yhat", "y"]]))},
        "fit a.csv -o x.calibrant",
        LEFT_OUT.format(1),
    ),
    "missing probability": noted(
        {"a.csv": text(with_holes("probability", NAN, [2], of_classes()))},
        "fit a.csv -m platt -o x.calibrant",
        LEFT_OUT.format(1),
    ),
    "missing in JSON": noted({"a.jsonl": lines(with_holes("mu", NAN, [2]))}, FIT.format("a.jsonl"), LEFT_OUT.format(1)),
    "missing, applied": noted(
        {"a.csv": text(with_holes("mu", NAN, [1, 4]))}, "apply n.calibrant a.csv -o b.csv", BLANK.format(2)
    ),
    "all missing, applied": noted(
        {"a.csv": text(rows().assign(mu=NAN))}, "apply n.calibrant a.csv -o b.csv", BLANK.format(12)
    ),
    "missing, evaluated": noted(
        {"a.csv": text(with_holes("mu", NAN, [1]))}, "evaluate a.csv -m scale", LEFT_OUT.format(1)
    ),
    "missing, compared": noted(
        {"a.csv": text(with_holes("mu", NAN, [1]))}, "compare a.csv -m scale", LEFT_OUT.format(1)
    ),
    "missing, strict": refused(
        {"a.csv": text(with_holes("mu", NAN, [1, 4]))},
        FIT.format("a.csv --strict"),
        "column `mu` must be finite numbers; rows 1, 4 (the first is 0): nan.",
    ),
    "infinite, strict, applied": refused(
        {"a.csv": text(with_holes("sigma", INF, [5]))},
        "apply n.calibrant a.csv --strict -o b.csv",
        "column `sigma` must be finite numbers; row 5 (the first is 0): inf.",
    ),
    "all missing": refused(
        {"a.csv": text(rows().assign(sigma=NAN))},
        FIT.format("a.csv"),
        "means and standard deviations in `mu`, `sigma` must be finite in some row with an outcome; "
        "12 of 12 rows with an outcome have no finite forecast.",
    ),
    "no spread": refused(
        {"a.csv": text(with_holes("sigma", 0.0, [3]))},
        FIT.format("a.csv"),
        "column `sigma` must be positive; row 3 (the first is 0): 0.0.",
    ),
    "infinite outcome": refused(
        {"a.csv": text(with_holes("y", INF, [3]))},
        FIT.format("a.csv"),
        "column `y` must be finite; row 3 (the first is 0): inf.",
    ),
    "no outcomes": refused(
        {"a.csv": text(rows().assign(y=NAN))},
        FIT.format("a.csv"),
        "column `y` must have an outcome in some row; it has none.",
    ),
}

FILES = {
    "empty": refused({"a.csv": b""}, FIT.format("a.csv"), "`a.csv` is empty: it has 0 bytes."),
    "blank": refused({"a.csv": b"\n\n"}, FIT.format("a.csv"), "`a.csv` has no first line with the names of columns."),
    "header only": refused({"a.csv": b"mu,sigma,y\n"}, FIT.format("a.csv"), "`a.csv` has no rows."),
    "one row": read("a.csv", b"mu,sigma,y\n1,2,3\n", n=1),
    "no file": refused({}, FIT.format("a.csv"), "there is no file `a.csv`."),
    "nothing matches": refused({}, FIT.format("a-*.parquet"), "there is no file that matches `a-*.parquet`."),
    "empty folder": refused(
        {"days/notes.txt": b"x"}, FIT.format("days"), "there is no Parquet file in the folder `days`."
    ),
    "unknown name": refused(
        {"a.xlsx": b"PK\x03\x04"},
        FIT.format("a.xlsx"),
        "the format of `a.xlsx` is unknown; name it .parquet, .csv, .tsv, .jsonl or .arrow, or say --format csv.",
    ),
    "unknown format": refused(
        {"a.csv": text()}, FIT.format("a.csv --format xlsx"), "--format xlsx must be csv, jsonl, parquet or arrow."
    ),
    "format said": read("a.txt", text(), FIT + " --format csv"),
    "wrong format said": refused(
        {"a.csv": text()},
        FIT.format("a.csv --format parquet"),
        "cannot read `a.csv`: …",
    ),
    "several columns of a name": refused(
        {"a.csv": b"mu,mu,sigma,y\n1,1,1,1\n"}, FIT.format("a.csv"), "`a.csv` has several columns called `mu`."
    ),
    "ragged": refused(
        {"a.csv": b"mu,sigma,y\n1,1,1\n1,1\n"},
        FIT.format("a.csv"),
        "cannot read `a.csv`: CSV parse error: …",
    ),
    "mark at the beginning": read("a.csv", b"\xef\xbb\xbf" + text()),
    "lines of Windows": read("a.csv", text(lineterminator="\r\n")),
    "no last line break": read("a.csv", text().rstrip()),
    "quoted numbers": read("a.csv", text(quoting=1)),
    "semicolons": noted({"a.csv": text(sep=";")}, FIT.format("a.csv"), "fields of a.csv are separated by ';'"),
    "bars": noted({"a.csv": text(sep="|")}, FIT.format("a.csv"), "fields of a.csv are separated by '|'"),
    "numbers with signs and exponents": read("a.csv", b"mu,sigma,y\n+1e-1,1E0,-.5\n", n=1),
    "words for missing": noted(
        {"a.csv": b"mu,sigma,y\nNA,1,1\nnull,1,1\n#N/A,1,1\n,1,1\n1,1,2\n"},
        FIT.format("a.csv"),
        "4 of 5 rows have no finite forecast and are left out",
    ),
    "a word": refused(
        {"a.csv": b"mu,sigma,y\n1,1,1\nmany,1,1\n"},
        FIT.format("a.csv"),
        "column `mu` must be numbers; row 1 (the first is 0) of `a.csv` holds 'many'.",
    ),
    "decimal commas": read("a.csv", text(sep=";", decimal=","), FIT + " --decimal ,"),
    "decimal commas not said": refused(
        {"a.csv": text(sep=";", decimal=",")},
        FIT.format("a.csv"),
        f"{HOLDS} '0,126'. Other decimals? Say --decimal ','.",
    ),
    "decimal points, commas said": refused(
        {"a.csv": text()},
        FIT.format("a.csv --decimal ,"),
        f"{HOLDS} '0.126'. Other decimals? Say --decimal '.'.",
    ),
    "other decimals": refused({"a.csv": text()}, FIT.format("a.csv --decimal ;"), "--decimal ; must be '.' or ','."),
    "latin letters": read("a.csv", "größe,mu,sigma,y\n1,1,1,3\n".encode("latin-1"), FIT + " --encoding latin-1", 1),
    "latin letters not said": refused(
        {"a.csv": "größe,mu,sigma,y\n1,1,1,3\n".encode("latin-1")},
        FIT.format("a.csv"),
        "cannot read `a.csv`: 'utf-8' codec can't decode byte 0xf6 in position 2: invalid start byte. "
        "Another encoding? Say --encoding latin-1.",
    ),
    "two bytes a letter": read("a.csv", text().decode().encode("utf-16"), FIT + " --encoding utf-16"),
    "unknown encoding": refused(
        {"a.csv": text()},
        FIT.format("a.csv --encoding klingon"),
        "--encoding klingon is not known; say one such as --encoding latin-1.",
    ),
    "gzip": read("a.csv.gz", gzip.compress(text())),
    "gzip of tabs": noted(
        {"a.tsv.gz": gzip.compress(text(sep="\t"))}, FIT.format("a.tsv.gz"), "fields of a.tsv.gz are separated by '\\t'"
    ),
    "gzip that is none": read("a.csv.gz", text()),
    "no gzip that is one": read("a.csv", gzip.compress(text())),
    "torn gzip": refused(
        {"a.csv.gz": gzip.compress(text(rows(3000)))[:20000]},
        FIT.format("a.csv.gz"),
        "cannot read `a.csv.gz`: …",
    ),
    "JSON lines": read("a.jsonl", lines()),
    "JSON lines, compressed": read("a.ndjson.gz", gzip.compress(lines())),
    "JSON that is a list": refused(
        {"a.jsonl": b"[1, 2]\n"},
        FIT.format("a.jsonl"),
        "cannot read `a.jsonl`: JSON parse error: …",
    ),
    "JSON with a word": refused(
        {"a.jsonl": lines(rows().assign(mu="many"))},
        FIT.format("a.jsonl"),
        "column `mu` must be numbers; row 0 (the first is 0) holds 'many' (string).",
    ),
    "Parquet": read("a.parquet", parquet()),
    "torn Parquet": refused(
        {"a.parquet": parquet()[:400]},
        FIT.format("a.parquet"),
        "cannot read `a.parquet`: …",
    ),
    "texts in Parquet": refused(
        {"a.parquet": parquet(rows().assign(mu="1.5"))},
        FIT.format("a.parquet"),
        "column `mu` must be numbers; row 0 (the first is 0) holds '1.5' (string).",
    ),
    "folder": Case(
        {"days/a.parquet": parquet(), "days/b.parquet": parquet(), "days/_SUCCESS": b""},
        FIT.format("days"),
        0,
        SAVED.format(24),
    ),
    "pattern": Case(
        {"days/a.parquet": parquet(), "days/b.parquet": parquet()}, FIT.format("days/*.parquet"), 0, SAVED.format(24)
    ),
    "other columns in one file": refused(
        {"days/a.parquet": parquet(), "days/b.parquet": parquet(rows().drop(columns="y"))},
        FIT.format("days"),
        "files of one table must have the same columns; `y` is in `days/a.parquet` and not in `days/b.parquet`.",
    ),
    "other types in one file": refused(
        {"days/a.parquet": parquet(), "days/b.parquet": parquet(rows().assign(y="x"))},
        FIT.format("days"),
        "column `y` must have one type in all files of a table; it is double in `days/a.parquet` and string in "
        "`days/b.parquet`.",
    ),
    "patterns of other files": refused(
        {"a.csv": text(), "b.csv": text()},
        FIT.format("?.csv"),
        "files of one table must be Parquet files; `a.csv` is none.",
    ),
    "an empty one of many": refused(
        {"days/a.parquet": parquet(), "days/b.parquet": b""},
        FIT.format("days"),
        "`days/b.parquet` is empty: it has 0 bytes.",
    ),
    "into its folder": refused(
        {"days/a.parquet": parquet()},
        "apply n.calibrant days -o days/b.parquet",
        "`days/b.parquet` is an input; give another output, or say --overwrite.",
    ),
    "over one of a pattern": refused(
        {"a-1.parquet": parquet(), "a-2.parquet": parquet()},
        "apply n.calibrant a-*.parquet -o a-2.parquet",
        "`a-2.parquet` is an input; give another output, or say --overwrite.",
    ),
    "pipe": read("-", text()),
    "pipe of JSON": read("-", lines()),
    "pipe of Parquet": read("-", parquet()),
    "empty pipe": refused({"-": b""}, FIT.format("-"), "`stdin` is empty: it has 0 bytes."),
    "nonsense by a pipe": refused(
        {"-": b"\x00\xff\n"},
        FIT.format("-"),
        "cannot read `stdin`: 'utf-8' codec can't decode byte 0xff in position 1: invalid start byte. "
        "Another encoding? Say --encoding latin-1.",
    ),
    "a pattern without quotes": refused(
        {},
        "fit a-1.parquet a-2.parquet -o x.calibrant",
        "Got unexpected extra argument(s) (a-2.parquet). Several files of one table? Put their pattern in quotes. "
        "Try `calibrant fit --help`.",
    ),
    "JSON and a table to stdout": refused(
        {"a.csv": text()},
        "apply n.calibrant a.csv --json -o -",
        "--json is for results; with -o - the table itself is written to stdout.",
    ),
}

NAMES = {
    "samples": noted(
        {"a.csv": text(of_samples())}, FIT.format("a.csv"), "found samples in `sample_0`, `sample_1`, `sample_2`"
    ),
    "Prophet": noted(
        {"a.csv": text(of_quantiles().rename(columns={"q10": "yhat_lower", "q90": "yhat_upper"}))},
        FIT.format("a.csv"),
        "`yhat_lower` and `yhat_upper` are read as ends of 80 % intervals, Prophet's default; other ones? Name them "
        "lo-95 and hi-95",
    ),
    "a probability": noted(
        {"a.csv": text(of_classes())},
        "fit a.csv -m platt -o x.calibrant",
        "`probability` is the probability of 'won' against 'lost'",
    ),
    "a probability of three": refused(
        {"a.csv": text(of_classes().assign(label=["a", "b", "c"] * 4))},
        "fit a.csv -o x.calibrant",
        "labels in `label` must be two, as one probability is given; they are 'a', 'b', 'c'.",
    ),
    "two models": refused(
        {"a.csv": b"A-lo-90,A-hi-90,B-lo-90,B-hi-90,y\n1,2,1,2,1\n"},
        FIT.format("a.csv"),
        "`A-lo-90` and `B-lo-90` are both of level 0.05. Two models? Say --quantile of one.",
    ),
    "several points": refused(
        {"a.csv": b"pred,yhat,y\n1,2,1\n"},
        "fit a.csv -o x.calibrant",
        "`a.csv` has several forecast columns by their names. Say --point. It has `pred`, `yhat`, `y`.",
    ),
    "samples and normals": refused(
        {"a.csv": text(of_samples().assign(mu=1, sigma=2))},
        FIT.format("a.csv"),
        "`a.csv` has several kinds of forecast columns by their names. Say --mean and --std or --sample-prefix. "
        "It has `sample_0`, `sample_1`, `sample_2`, `y`, `mu`, `sigma`.",
    ),
}
CASES = MISSING | FILES | NAMES


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[Case], tuple[int, str, str]]:
    """Run a case in a folder of its own: exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)

    def case(given: Case) -> tuple[int, str, str]:
        frame = rows()
        save(ScaleCalibrator().fit(Normal(frame["mu"], frame["sigma"]), frame["y"]), "n.calibrant")
        for name, content in given.files.items():
            if name == "-":
                monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
            else:
                Path(name).parent.mkdir(exist_ok=True)
                Path(name).write_bytes(content)
        code = main(given.command.split())
        return code, *capsys.readouterr()

    return case


@pytest.mark.parametrize("name", CASES)
def test_odd_tables(name: str, run: Callable[[Case], tuple[int, str, str]]) -> None:
    case = CASES[name]
    code, out, err = run(case)
    assert code == case.code, err
    if code:
        known, dots, _ = case.line.partition("…")  # what follows are words of other libraries
        assert out == "" and err.startswith(known) and err.count("\n") == 1
        assert dots or err == f"{case.line}\n"
        made = {"x.calibrant", "b.csv", "days/b.parquet"} - case.files.keys()
        assert not any(Path(name).exists() for name in made)
    elif case.line.startswith("note: "):
        assert err.splitlines().count(case.line) == 1  # told once
    else:
        assert case.line in out.splitlines()


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.jsonl", "a.parquet", "-"])
def test_a_table_through_pipes(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """What comes out of stdout is what would be in the file, blanks too, and nothing else is there."""
    monkeypatch.chdir(tmp_path)
    frame = with_holes("mu", NAN, [3])
    save(ScaleCalibrator().fit(Normal(rows()["mu"], rows()["sigma"]), rows()["y"]), "n.calibrant")
    content = {".gz": gzip.compress(text(frame)), ".jsonl": lines(frame), ".parquet": parquet(frame)}
    made = content.get(Path(name).suffix, text(frame))
    if name == "-":
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(made)))
    else:
        Path(name).write_bytes(made)
    assert main(["apply", "n.calibrant", name, "--levels", "0.1,0.9", "-o", "-"]) == 0
    out = pd.read_csv(io.BytesIO(capfdbinary.readouterr().out))
    assert list(out.columns) == ["mu", "sigma", "y", "q0.1", "q0.9"] and len(out) == N
    assert np.flatnonzero(out["q0.1"].isna()).tolist() == np.flatnonzero(out["q0.9"].isna()).tolist() == [3]
    pd.testing.assert_frame_equal(out[["mu", "sigma", "y"]], frame)
