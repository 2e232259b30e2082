"""Tables in text files with a JSON object a line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import json

from .files import text_of

BLOCK = 4 << 20  # bytes parsed at a time


@dataclass(frozen=True)
class JsonLines:
    """A file of JSON objects, whose names are those of the columns; what a line does not have is missing."""

    path: Path
    encoding: str
    schema: pa.Schema

    @classmethod
    def of(cls, path: Path, encoding: str) -> JsonLines:
        """Read it once for the columns of all lines, and types that hold to the end."""
        schema = pa.schema([])
        for block in _blocks(path, encoding):
            found = json.read_json(pa.BufferReader(block), json.ReadOptions(block_size=len(block) + 1)).schema
            schema = pa.unify_schemas([schema, found], promote_options="permissive")
        return cls(path, encoding, schema)

    def scan(self, columns: list[str], types: dict[str, Any]) -> Iterator[pa.RecordBatch]:
        """Batches of some columns."""
        wanted = pa.schema([self.schema.field(name) for name in columns])
        options = json.ParseOptions(explicit_schema=wanted, unexpected_field_behavior="ignore")
        for block in _blocks(self.path, self.encoding):
            read = json.ReadOptions(block_size=len(block) + 1)
            yield from json.read_json(pa.BufferReader(block), read, options).select(columns).to_batches()


def _blocks(path: Path, encoding: str) -> Iterator[bytes]:
    """Some megabytes of whole lines at a time, in UTF-8."""
    with text_of(path, encoding) as file:
        while lines := file.readlines(BLOCK):
            block = "".join(lines).encode()
            if block.strip():
                yield block
