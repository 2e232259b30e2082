"""How a table is to be read, where its name and its content do not tell."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reading:
    """What a user says about reading a table.

    Attributes
    ----------
    strict : bool
        Whether a missing or infinite forecast is an error. Else such rows are counted and left out.
    """

    strict: bool = False
