"""How a table is to be read, where its name and its content do not tell."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

from .engine_files import ENGINES
from .roles import RoleError

KINDS = ("csv", "jsonl", "parquet", "arrow")


@dataclass(frozen=True)
class Reading:
    """What a user says about reading a table.

    Attributes
    ----------
    format : {"csv", "jsonl", "parquet", "arrow"}, optional
        By the name or the first bytes if None.
    decimal : {".", ","}
        What comes before the decimals of numbers in CSV files.
    encoding : str
        Of text files, as Python calls it.
    strict : bool
        Whether a missing or infinite forecast is an error. Else such rows are counted and left out.
    engine : {"arrow", "duckdb", "polars", "spark", "dask"}
        What reads files, and works on them where it can.

    Examples
    --------
    >>> Reading(decimal=";").check()
    Traceback (most recent call last):
    ...
    calibrant.tables.roles.RoleError: decimal=';' must be '.' or ','.
    """

    format: str | None = None
    decimal: str = "."
    encoding: str = "utf-8"
    strict: bool = False
    engine: str = "arrow"

    def check(self) -> None:
        """Refuse what cannot be."""
        if self.format not in (None, *KINDS):
            listed = ", ".join(KINDS[:-1]) + f" or {KINDS[-1]}"
            raise RoleError("{format:{given}} must be {listed}.", given=self.format, listed=listed)
        if self.engine not in ENGINES:
            listed = ", ".join(ENGINES[:-1]) + f" or {ENGINES[-1]}"
            raise RoleError("{engine:{given}} must be {listed}.", given=self.engine, listed=listed)
        if self.decimal not in (".", ","):
            raise RoleError("{decimal:{given}} must be '.' or ','.", given=self.decimal)
        try:
            codecs.lookup(self.encoding)
        except (LookupError, ValueError):
            text = "{encoding:{given}} is not known; say one such as {encoding:latin-1}."
            raise RoleError(text, given=self.encoding) from None
