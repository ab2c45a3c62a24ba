"""What engines of many machines are handed: the rows of a log, whatever becomes of it."""

from __future__ import annotations

from typing import Any, Dict, Iterator, Optional

import pyarrow as pa  # type: ignore[import-not-found,import-untyped,unused-ignore]

from ._columns import ArrowStream, Table, to_arrow


class Rows:
    """How logs become rows; goes from machine to machine. Options that make no sense are refused here, before anything is sent."""

    def __init__(self, table: Table, options: Dict[str, Any]) -> None:
        self.table = table
        self.options = {"jobs": 1, **options, "on_damage": "row"}
        to_arrow(b"", table=table, **self.options)

    def schema(self) -> pa.Schema:
        return pa.schema(ArrowStream(b"", table=self.table))

    def of(self, name: str, log: Optional[bytes]) -> Iterator[pa.RecordBatch]:
        """The batches of a log. What goes wrong is a row of its own."""
        try:
            if log is None:
                raise ValueError("there is nothing to read")
            yield from to_arrow(log, table=self.table, name=name, **self.options)
        except Exception as error:
            yield pa.RecordBatch.from_pylist([{"file": name, "line": 0, "damage": f"{type(error).__name__}: {error}"}], self.schema())

    def of_lines(self, name: str, lines: Any) -> pa.Table:
        """The rows of a log whose lines are a column."""
        log = b"\n".join(line.encode("utf-8", "surrogatepass") if isinstance(line, str) else line or b"" for line in lines.to_pylist())
        return pa.Table.from_batches(self.of(name, log), self.schema())
