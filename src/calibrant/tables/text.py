"""Tables in text files (CSV): which separator, which types, and where a value is none of its column's type."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from .files import is_compressed, text_of
from .reading import Reading
from .roles import RoleError

SEPARATORS = ",;\t|"
BLOCK = 4 << 20  # bytes parsed at a time; types are guessed from the first block
_CONVERSION = re.compile(r"In CSV column #(\d+): .*?conversion error")
_PADDED = r"^[+-]?0\d"  # numbers written so are names: 007


@dataclass(frozen=True)
class TextTable:
    """A CSV file whose first line names the columns, perhaps compressed."""

    path: Path
    name: str
    delimiter: str
    reading: Reading
    schema: pa.Schema

    @classmethod
    def of(cls, path: Path, name: str, reading: Reading) -> TextTable:
        """Look at the first lines."""
        with text_of(path, reading.encoding) as file:
            header = file.readline(BLOCK)
        if not header.strip():
            raise ValueError(f"`{name}` has no first line with the names of columns.")
        first = cls(path, name, max(SEPARATORS, key=header.count), reading, pa.schema([]))
        return replace(first, schema=first._reader().schema)

    def scan(self, columns: list[str], types: dict[str, Any]) -> Iterator[pa.RecordBatch]:
        """Batches of some columns; a value that is none of its column's type is told with its row."""
        try:
            yield from self._reader(include_columns=columns, column_types=types)
        except pa.ArrowInvalid as reason:
            found = _CONVERSION.search(str(reason))
            if found is None:
                raise
            self._tell(self.schema.names[int(found[1])], reason)

    def settled(self) -> dict[str, Any]:
        """Types that hold to the end of the file: where the first block misleads, wider ones.

        Numbers with leading zeros stay as they are written.
        """
        types = self._padded()
        while True:
            try:
                reader = self._reader(column_types=types)
                types = dict(zip(reader.schema.names, reader.schema.types, strict=True))
                for name in (name for name, kind in types.items() if pa.types.is_binary(kind)):
                    self._tell_encoding(name)
                for _ in reader:
                    pass
                return types
            except pa.ArrowInvalid as reason:
                found = _CONVERSION.search(str(reason))
                if found is None:
                    raise
                name = self.schema.names[int(found[1])]
                if types.get(name) == pa.string():
                    self._tell_encoding(name, reason)
                types[name] = pa.float64() if types.get(name) == pa.int64() else pa.string()

    def _padded(self) -> dict[str, Any]:
        whole = [field.name for field in self.schema if pa.types.is_integer(field.type)]
        texts = dict.fromkeys(whole, pa.string())
        first = next(iter(self._reader(include_columns=whole, column_types=texts)), None) if whole else None
        if first is None:
            return {}
        return {name: pa.string() for name in whole if pc.any(pc.match_substring_regex(first[name], _PADDED)).as_py()}

    def _tell(self, name: str, reason: Exception) -> None:
        """Find the first value that is no number, or no text of the encoding."""
        if "UTF8" in str(reason):
            self._tell_encoding(name, reason)
        row = 0
        for batch in self._reader(include_columns=[name], column_types={name: pa.string()}):
            for value in batch[name].to_pylist():
                if not _is_number(value, self.reading.decimal):
                    other = "." if self.reading.decimal == "," else ","
                    hint = " Other decimals? Say {decimal:'{other}'}." if _is_number(value, other) else ""
                    rule = "column `{name}` must be numbers; row {row} (the first is 0) of `{table}` holds {value!r}."
                    where = {"name": name, "row": row, "table": self.name, "value": value, "other": other}
                    raise RoleError(rule + hint, **where) from reason
                row += 1
        raise reason

    def _tell_encoding(self, name: str, reason: Exception | None = None) -> None:
        text = "column `{name}` of `{table}` is no text in {used}. Another encoding? Say {encoding:latin-1}."
        raise RoleError(text, name=name, table=self.name, used=self.reading.encoding) from reason

    def _reader(self, **options: Any) -> Any:
        stream = pa.input_stream(str(self.path), compression="gzip" if is_compressed(self.path) else None)
        read = csv.ReadOptions(block_size=BLOCK, encoding=self.reading.encoding)
        parse = csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True)
        convert = csv.ConvertOptions(decimal_point=self.reading.decimal, **options)
        return csv.open_csv(stream, read_options=read, parse_options=parse, convert_options=convert)


def _is_number(value: Any, decimal: str) -> bool:
    if value is None or value.strip() in csv.ConvertOptions().null_values:
        return True
    try:
        float(value.replace(decimal, "."))
    except ValueError:
        return False
    return decimal == "." or "." not in value
