"""Odd outputs, bad calibrator files and evil names: the exact line and exit code of each, and what is left."""

from __future__ import annotations

import io
import json
import os
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from calibrant import Normal, QuantileCalibrator, save
from calibrant.cli import main
from calibrant.store.archive import _digest

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes and devices")
FIT = ["fit", "t.csv", "-m", "scale", "-o"]
APPLY = ["apply", "a.calibrant", "t.csv", "-o"]
REPORT = ["report", "t.csv", "-m", "scale", "-o"]
EVIL = "\x1b[31m\x9b2J\u202e\x07\n\u2066é"


def table(n: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    mu, sigma = rng.normal(size=n), rng.uniform(0.5, 2, n)
    return pd.DataFrame({"mu": mu, "sigma": sigma, "y": mu + 2 * sigma * rng.standard_normal(n)})


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    frame = table()
    frame.to_csv("t.csv", index=False)
    columns = {"kind": "normal", "forecast": ["mu", "sigma"], "target": "y"}
    law = Normal(frame["mu"].to_numpy(), frame["sigma"].to_numpy())
    save(QuantileCalibrator().fit(law, frame["y"]), "a.calibrant", metadata={"source": "t.csv", "columns": columns})
    return tmp_path


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(list(arguments))
    out, err = capsys.readouterr()
    assert all(letter.isprintable() or letter == "\n" for letter in out + err), repr(out + err)
    return code, out, err


# ---- odd outputs ----
def nothing() -> None:
    """The output is not there."""


def link_to(target: str) -> Callable[[], None]:
    return lambda: Path("odd.csv").symlink_to(target)


OUTPUTS: list[tuple[Callable[[], Any], list[str], str]] = [
    (nothing, [*FIT, "-"], "`-` is stdout, to which only tables are written; name a file."),
    (nothing, [*REPORT, "-"], "`-` is stdout, to which only tables are written; name a file."),
    (nothing, [*FIT, "/dev/null"], "cannot write `/dev/null`: it is a device or a pipe; give the name of a file."),
    (nothing, [*FIT, "/dev/full"], "cannot write `/dev/full`: it is a device or a pipe; give the name of a file."),
    (nothing, [*REPORT, "/dev/null"], "cannot write `/dev/null`: it is a device or a pipe; give the name of a file."),
    (
        lambda: os.mkfifo("odd.csv"),
        [*APPLY, "odd.csv"],
        "cannot write `odd.csv`: it is a device or a pipe; give the name of a file.",
    ),
    (
        link_to("/dev/full"),
        [*APPLY, "odd.csv"],
        "cannot write `odd.csv`: it is a device or a pipe; give the name of a file.",
    ),
    (link_to("odd.csv"), [*APPLY, "odd.csv"], "cannot write `odd.csv`: Too many levels of symbolic links."),
    (lambda: Path("odd.csv").mkdir(), [*APPLY, "odd.csv"], "cannot write `odd.csv`: it is a folder."),
    (lambda: Path("odd").mkdir(), [*FIT, "odd"], "cannot write `odd`: it is a folder."),
    (nothing, [*FIT, "no/a.calibrant"], "cannot write `no/a.calibrant`: there is no folder `no`."),
    (nothing, [*APPLY, "t.csv/b.csv"], "cannot write `t.csv/b.csv`: there is no folder `t.csv`."),
    (nothing, [*APPLY, "b.xlsx"], "cannot tell the format of `b.xlsx`; name it .parquet, .csv, .tsv or .arrow."),
    (nothing, [*APPLY, "t.csv"], "`t.csv` is an input; give another output, or say --overwrite."),
    (link_to("t.csv"), [*APPLY, "odd.csv"], "`odd.csv` is an input; give another output, or say --overwrite."),
    (nothing, [*FIT, "t.csv"], "`t.csv` is an input; give another output, or say --overwrite."),
    (nothing, [*REPORT, "t.csv"], "`t.csv` is an input; give another output, or say --overwrite."),
    (
        lambda: table().to_csv("other.csv"),
        [*FIT, "other.csv"],
        "`other.csv` is there and is no calibrator file; give another output, or say --overwrite.",
    ),
    (
        nothing,
        [*REPORT, "a.calibrant"],
        "`a.calibrant` is there and is no HTML page; give another output, or say --overwrite.",
    ),
    (nothing, [*FIT, "x" * 300], f"cannot write `{'x' * 300}`: File name too long."),
]


@pytest.mark.parametrize(("make", "arguments", "line"), OUTPUTS, ids=[line[:60] for *_, line in OUTPUTS])
def test_odd_outputs(
    make: Callable[[], Any], arguments: list[str], line: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make()
    before = {path.name: (path.lstat().st_mode, path.lstat().st_ino) for path in folder.iterdir()}
    contents = {name: (folder / name).read_bytes() for name in ("t.csv", "a.calibrant")}
    code, out, err = call(capsys, *arguments)
    assert (code, out, err.splitlines()[-1]) == (2, "", f"calibrant: {line}")
    assert all(text.startswith("note: ") for text in err.splitlines()[:-1])
    assert {path.name: (path.lstat().st_mode, path.lstat().st_ino) for path in folder.iterdir()} == before
    assert {name: (folder / name).read_bytes() for name in contents} == contents


def test_outputs_that_are_replaced(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Older outputs, empty files, targets of links, and anything where it is said; modes stay, nothing is left."""
    Path("empty").touch()
    Path("empty").chmod(0o600)
    (folder / "data").mkdir()
    Path("link.csv").symlink_to("data/b.csv")
    for arguments in (
        [*FIT, "a.calibrant"],
        [*FIT, "empty"],
        [*APPLY, "link.csv"],
        [*APPLY, "link.csv"],
        [*FIT, "link.csv", "--overwrite"],
        [*APPLY, "t.csv", "--overwrite"],
    ):
        assert call(capsys, *arguments)[0] == 0, arguments
    assert stat.S_IMODE(Path("empty").stat().st_mode) == 0o600
    assert Path("link.csv").is_symlink() and "q0.5" in pd.read_csv("t.csv")
    assert sorted(path.name for path in folder.iterdir()) == ["a.calibrant", "data", "empty", "link.csv", "t.csv"]
    assert [path.name for path in (folder / "data").iterdir()] == ["b.csv"]
    for command in ("fit", "apply", "report"):
        assert "--overwrite" in call(capsys, command, "--help")[1]


# ---- bad calibrator files ----
def forged(**changes: Any) -> Callable[[], None]:
    """The file with other values in its text, and a digest to match."""

    def make() -> None:
        with zipfile.ZipFile("a.calibrant") as archive:
            members = [archive.read(f"{i}.npy") for i in range(len(archive.namelist()) - 1)]
            text = json.loads(archive.read("calibrator.json"))
        text |= changes
        text["digest"] = _digest({**text, "digest": None}, members)
        write({"calibrator.json": json.dumps(text).encode()} | {f"{i}.npy": m for i, m in enumerate(members)})

    return make


def write(members: dict[str, bytes], how: int = zipfile.ZIP_STORED) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", how) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    Path("a.calibrant").write_bytes(buffer.getvalue())


def flipped() -> None:
    content = Path("a.calibrant").read_bytes()
    Path("a.calibrant").write_bytes(content.replace(b'"rows": 60', b'"rows": 61'))


DAMAGED = "`a.calibrant` is no calibrator file, or damaged: "
UNSOUND = "`a.calibrant` holds no sound calibrator: "
COLUMNS = "the columns that the calibrator was fitted to are not known; say which is what."
FILES: list[tuple[Callable[[], Any], str, str]] = [
    (lambda: Path("a.calibrant").unlink(), "inspect", "`a.calibrant`: No such file or directory."),
    (lambda: Path("a.calibrant").write_bytes(b""), "inspect", f"{DAMAGED}BadZipFile: File is not a zip file."),
    (lambda: Path("a.calibrant").write_text("hello"), "apply", f"{DAMAGED}BadZipFile: File is not a zip file."),
    (flipped, "inspect", f"{DAMAGED}BadZipFile: Bad CRC-32 for file 'calibrator.json'."),
    (
        lambda: write({"x": b""}),
        "apply",
        f"{DAMAGED}KeyError: \"There is no item named 'calibrator.json' in the archive\".",
    ),
    (
        lambda: write({"calibrator.json": b"{}"}, zipfile.ZIP_DEFLATED),
        "apply",
        f"{DAMAGED}its parts are too many or compressed.",
    ),
    (lambda: write({"calibrator.json": b"[]"}), "inspect", f"{DAMAGED}its text is no object."),
    (lambda: write({"calibrator.json": b"[" * 10**5}), "inspect", f"{DAMAGED}its parts lie too deep in one another."),
    (lambda: write({"calibrator.json": b"0," * 2_000_000}), "inspect", f"{DAMAGED}its text has too many parts."),
    (
        lambda: write({"calibrator.json": b"{}"}),
        "inspect",
        f"{DAMAGED}its content is not what was saved: the digest differs.",
    ),
    (forged(format="other"), "inspect", f"{DAMAGED}its text is of another kind."),
    (forged(rows="many"), "inspect", f"{DAMAGED}its `rows` is 'many'."),
    (forged(method=None), "apply", f"{DAMAGED}its `method` is None."),
    (forged(state=3), "apply", f"{UNSOUND}it holds no calibrator."),
    (
        forged(state={"class": "os.system", "state": {}}),
        "apply",
        f"{UNSOUND}'os.system' is no part of a calibrator in this version of the library.",
    ),
    (forged(metadata={"columns": 7}), "inspect", COLUMNS),
    (forged(metadata={"columns": {"kind": "normal", "forecast": 7}}), "inspect", COLUMNS),
    (forged(metadata={"columns": {"kind": ["normal"], "forecast": ["mu"]}}), "apply", COLUMNS),
    (forged(metadata={"columns": {"kind": "normal", "forecast": [["mu"], {}]}}), "apply", COLUMNS),
]


@pytest.mark.parametrize(("make", "command", "line"), FILES, ids=[line[-60:] for *_, line in FILES])
def test_bad_calibrator_files(
    make: Callable[[], Any], command: str, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    make()
    arguments = ["inspect", "a.calibrant"] if command == "inspect" else [*APPLY, "b.csv"]
    assert call(capsys, *arguments) == (2, "", f"calibrant: {line}\n")
    assert not Path("b.csv").exists()


@pytest.mark.parametrize(
    "measures",
    [
        {"none": {"nll": 3}},
        {"none": {"nll": [1, "x", None]}},
        {EVIL: {EVIL: [1.0, 2.0, 3.0]}},
        {"none": [1]},
        7,
        {"a": {"b": {}}},
    ],
)
def test_measures_of_no_kind(measures: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """What is beside the calibrator is shown as far as it makes sense."""
    forged(metadata={"measures": measures, "source": EVIL})()
    code, out, err = call(capsys, "inspect", "a.calibrant")
    assert code == 0 and err == "" and "QuantileCalibrator" in out
    code, out, _ = call(capsys, "inspect", "a.calibrant", "--json")
    assert code == 0 and json.loads(out)["metadata"] == {"measures": measures, "source": EVIL}


# ---- evil names ----
def of_laws() -> list[str]:
    frame = table(200).rename(columns={"mu": f"m{EVIL}", "sigma": f"s{EVIL}", "y": f"y{EVIL}"})
    frame[f"g{EVIL}"] = np.where(np.arange(200) % 2, f"one{EVIL}", f"</title><b>{EVIL}")
    frame.to_parquet("evil.parquet")
    return ["--mean", f"m{EVIL}", "--std", f"s{EVIL}", "--target", f"y{EVIL}", "--group", f"g{EVIL}"]


def of_classes() -> list[str]:
    rng = np.random.default_rng(0)
    p, labels = rng.dirichlet(np.ones(3), 300), np.array([f"a{EVIL}", f"<b>{EVIL}", "c"])
    frame = pd.DataFrame(p, columns=[f"p{label}" for label in labels])
    frame["y"] = labels[(p.cumsum(axis=1) > rng.random((300, 1))).argmax(axis=1)]
    frame.to_parquet("evil.parquet")
    return ["--target", "y", *(text for label in labels for text in ("--probability", f"{label}=p{label}"))]


@pytest.mark.parametrize("make", [of_laws, of_classes])
def test_evil_names_in_every_command(
    make: Callable[[], list[str]], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    roles, method = make(), ["-m", "scale" if make is of_laws else "temperature"]
    output = f"o{EVIL}.calibrant"
    for arguments in (
        ["evaluate", "evil.parquet", *roles, *method],
        ["compare", "evil.parquet", *roles, *method],
        ["report", "evil.parquet", *roles, *method, "-o", f"r{EVIL}.html"],
        ["fit", "evil.parquet", *roles, *method, "-o", output],
        ["inspect", output],
        ["apply", output, "evil.parquet", "-o", f"b{EVIL}.csv"],
    ):
        with monkeypatch.context() as words:  # the page is the same twice: its pictures are drawn once
            words.setattr("calibrant.report.svg.picture", lambda *_, **__: "")
            code, out, err = call(capsys, *arguments)
        assert code == 0 and out, err
        code, out, err = call(capsys, *arguments, "--json")
        assert code == 0 and json.loads(out), err
    page = Path(f"r{EVIL}.html").read_text(encoding="utf-8")
    assert all(letter.isprintable() or letter in "\n\t\xa0" for letter in page)  # \xa0 stands between number and %
    assert "<b>" not in page.replace("<b>evil.parquet</b>", "")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["inspect", "no\x1b[2J.calibrant"], r"`no\x1b[2J.calibrant`: No such file or directory."),
        (["evaluate", "no\x9b\u202e.csv"], r"there is no file `no\x9b\u202e.csv`."),
        (["fit", "t.csv", "-o", "a.calibrant", "-m", "\x1b[31m"], None),
        (["evaluate", "t.csv", "--target", "y\x07"], None),
        (["frob\x1b"], None),
        (["fit", "t.csv", "--\x1b[31m"], None),
    ],
)
def test_evil_arguments(arguments: list[str], line: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = call(capsys, *arguments)
    assert code == 2 and out == "" and len(err.splitlines()) == 1
    assert line is None or err == f"calibrant: {line}\n"
