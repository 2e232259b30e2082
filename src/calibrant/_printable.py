"""Text from anywhere, made fit to be shown: nothing in it steers a terminal, breaks a line or turns the writing."""

from __future__ import annotations

import unicodedata


def printable(text: str, *, keep: str = "") -> str:
    r"""The text with every character that does not print written as an escape, but for spaces and those to keep.

    >>> printable("a\x1b[31mred\x9b2J"), printable("x\u202ey"), printable("two\nlines\t", keep="\n")
    ('a\\x1b[31mred\\x9b2J', 'x\\u202ey', 'two\nlines\\t')
    >>> printable("größer 日本\u3000語 עברית 👍")
    'größer 日本\u3000語 עברית 👍'
    """
    if text.isprintable():
        return text
    return "".join(letter if letter in keep or _prints(letter) else _escaped(letter) for letter in text)


def _prints(letter: str) -> bool:
    return letter.isprintable() or unicodedata.category(letter) == "Zs"


def _escaped(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")
