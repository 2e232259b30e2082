"""Tables in text files (CSV): which separator, which types, and where a value is none of its column's type."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

SEPARATORS = ",;\t|"
BLOCK = 4 << 20  # bytes parsed at a time; types are guessed from the first block
_CONVERSION = re.compile(r"In CSV column #(\d+): .*?conversion error")
_PADDED = r"^[+-]?0\d"  # numbers written so are names: 007


@dataclass(frozen=True)
class TextTable:
    """A CSV file whose first line names the columns."""

    path: Path
    delimiter: str
    schema: pa.Schema

    @classmethod
    def of(cls, path: Path) -> TextTable:
        """Look at the first lines."""
        with open(path, encoding="utf-8-sig") as file:
            header = file.readline()
        if not header.strip():
            raise ValueError(f"`{path}` has no first line with the names of columns.")
        delimiter = max(SEPARATORS, key=header.count)
        return cls(path, delimiter, _reader(path, delimiter).schema)

    def scan(self, columns: list[str], types: dict[str, Any]) -> Iterator[pa.RecordBatch]:
        """Batches of some columns; a value that is none of its column's type is told with its row."""
        options = csv.ConvertOptions(include_columns=columns, column_types=types)
        try:
            yield from _reader(self.path, self.delimiter, options)
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
            options = csv.ConvertOptions(column_types=types)
            try:
                reader = _reader(self.path, self.delimiter, options)
                types = dict(zip(reader.schema.names, reader.schema.types, strict=True))
                for _ in reader:
                    pass
                return types
            except pa.ArrowInvalid as reason:
                found = _CONVERSION.search(str(reason))
                if found is None:
                    raise
                name = self.schema.names[int(found[1])]
                types[name] = pa.float64() if types.get(name) == pa.int64() else pa.string()

    def _padded(self) -> dict[str, Any]:
        whole = [field.name for field in self.schema if pa.types.is_integer(field.type)]
        texts = dict.fromkeys(whole, pa.string())
        options = csv.ConvertOptions(include_columns=whole, column_types=texts)
        first = next(iter(_reader(self.path, self.delimiter, options)), None) if whole else None
        if first is None:
            return {}
        return {name: pa.string() for name in whole if pc.any(pc.match_substring_regex(first[name], _PADDED)).as_py()}

    def _tell(self, name: str, reason: Exception) -> None:
        """Find the first value that is no number."""
        options = csv.ConvertOptions(include_columns=[name], column_types={name: pa.string()})
        row = 0
        for batch in _reader(self.path, self.delimiter, options):
            for value in batch[name].to_pylist():
                if not _is_number(value):
                    raise ValueError(
                        f"column `{name}` must be numbers; row {row} (the first is 0) of `{self.path}` holds {value!r}."
                    ) from reason
                row += 1
        raise reason


def _reader(path: Path, delimiter: str, options: Any = None) -> Any:
    read, parse = csv.ReadOptions(block_size=BLOCK), csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    return csv.open_csv(path, read_options=read, parse_options=parse, convert_options=options or csv.ConvertOptions())


def _is_number(value: Any) -> bool:
    if value is None or value.strip() in csv.ConvertOptions().null_values:
        return True
    try:
        float(value)
    except ValueError:
        return False
    return True
