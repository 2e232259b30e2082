"""What is said on a terminal is text, and nothing but."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from typing import Any

import pytest

from calibrant.cli import console
from calibrant.report.svg import picture
from calibrant.report.words import exact

EVIL = "a\x1b[31mb\x9b2Jc\u202ed\r\x07\x00\u2028\x7f\u2066e\ue000"


def is_text(text: str) -> bool:
    return all(letter.isprintable() or letter == "\n" for letter in text)


def test_lines_notes_and_complaints(capsys: pytest.CaptureFixture[str]) -> None:
    console.say(EVIL, f"two\nlines {EVIL}")
    console.note(EVIL)
    console.complain(EVIL)
    out, err = capsys.readouterr()
    assert is_text(out) and is_text(err)
    assert out.splitlines()[0] == r"a\x1b[31mb\x9b2Jc\u202ed\r\x07\x00\u2028\x7f\u2066e\ue000"
    assert len(out.splitlines()) == 2 and len(err.splitlines()) == 2


def test_tables(capsys: pytest.CaptureFixture[str]) -> None:
    console.say_table(["", EVIL], [["[bold]x[/bold]", EVIL], [f"{EVIL}\n", "größer"]], title=EVIL)
    out = capsys.readouterr().out
    assert is_text(out) and len(out.splitlines()) == 4 and "[bold]x[/bold]" in out and "größer" in out


def test_json_is_json_and_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    content = {EVIL: [EVIL, "\ud800", "\U000e0001", "größer"], "x": float("nan")}
    console.say_json(content)
    out = capsys.readouterr().out
    assert is_text(out) and "größer" in out
    assert json.loads(out) == {**content, "x": None}


def test_streams_with_few_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    console.say("σ is 3")
    console.say_json({"σ": 3})
    console.say_table(["", "a"], [["σ", "x"]])
    stream.flush()
    assert stream.buffer.getvalue().splitlines()[0] == b"\\u03c3 is 3"  # type: ignore[attr-defined]


@pytest.mark.parametrize("argument", [EVIL.replace("\x00", ""), "it's\n", "a\\\x1b", "\udcff\x1b", "\U000e0001"])
def test_commands_can_be_copied(argument: str) -> None:
    call = console.commands([sys.executable, "-c", "import os, sys; print(os.fsencode(sys.argv[1]))", argument])
    assert is_text(call) and "\n" not in call
    done = subprocess.run(["bash", "-c", call], capture_output=True, text=True, check=True, env={"LC_ALL": "C.UTF-8"})
    assert done.stdout.strip() == repr(argument.encode(errors="surrogateescape"))


def test_pictures_have_no_such_letters() -> None:
    def draw(axes: Any) -> list[tuple[Any, str]]:
        axes.set_title(EVIL)
        axes.set_xticks([0, 1], [EVIL, "größer"])
        return [(axes.plot([0, 1])[0], f"{EVIL}</title><script>")]

    text = picture(EVIL, (2, 2), draw)
    assert is_text(text) and "größer" in text and "<script>" not in text
    assert is_text(exact(f"{EVIL}\n{EVIL}"))
