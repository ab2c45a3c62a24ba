"""What engines of many machines are handed: the rows of a log, whatever becomes of it."""

from __future__ import annotations

import itertools
from typing import Any, Dict, Iterator, Optional

import pyarrow as pa  # type: ignore[import-not-found,import-untyped,unused-ignore]
from pyarrow import fs  # type: ignore[import-not-found,import-untyped,unused-ignore]

from ._columns import ArrowStream, Table, to_arrow

#: How much of a line is read at once that goes on behind its range.
READ = 1 << 20


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


def opened(path: str) -> Any:
    """The file system that a path or an address belongs to, and what the file is called there."""
    return fs.FileSystem.from_uri(path) if "://" in path else (fs.LocalFileSystem(), path)


def lines_of(path: str, start: int, size: int) -> pa.Table:
    """The lines of a file that begin in a range of it: columns ``text``, and ``at``, the byte with which each begins. Ranges that follow each
    other have every line once."""
    system, name = opened(path)
    with system.open_input_file(name) as file:
        # The byte before the range tells whether a line begins with its first.
        before = min(start, 1)
        data = file.read_at(size + before, start - before)
        end = start - before + len(data)
        first = data.find(b"\n") + 1 if before else 0
        pieces = [data[first:] if first or not before else b""]
        while pieces[-1] and not pieces[-1].endswith(b"\n"):
            more = file.read_at(READ, end)
            end += len(more)
            pieces.append(more[: more.find(b"\n") + 1] or more)
    lines = b"".join(pieces).split(b"\n")
    if not lines[-1]:
        lines.pop()
    begins = itertools.accumulate((len(line) + 1 for line in lines[:-1]), initial=start - before + first)
    at = pa.array(itertools.islice(begins, len(lines)), pa.int64())
    return pa.table({"text": pa.array(lines, pa.large_binary()), "at": at})
