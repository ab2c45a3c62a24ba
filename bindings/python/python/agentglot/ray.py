"""Logs as tables on Ray: a Dataset in, one out. Needs ray and pyarrow, on the workers too. docs/scale.md says when it is worth it."""

from __future__ import annotations

from typing import Any, Iterator, Optional

import pyarrow as pa  # type: ignore[import-not-found,import-untyped,unused-ignore]
from ray.data import ActorPoolStrategy, Dataset, from_items  # type: ignore[import-not-found,import-untyped,unused-ignore]

from ._columns import Table
from ._rows import Rows, lines_of, opened


class _Files:
    def __init__(self, rows: Rows, path: str, content: str) -> None:
        self.rows, self.path, self.content = rows, path, content

    def __call__(self, logs: pa.Table) -> Iterator[pa.Table]:
        for name, log in zip(logs[self.path], logs[self.content]):
            yield pa.Table.from_batches(self.rows.of(str(name), log.as_py()), self.rows.schema())


def files(
    logs: Dataset, *, table: Table = "events", path: str = "path", content: str = "bytes", workers: int = 1, **options: Any
) -> Dataset:
    """The rows of logs that are whole files, as ``ray.data.read_binary_files(…, include_paths=True)`` reads them. ``workers`` is how many
    actors convert, each one log after the other.

    The table is that of :func:`agentglot.to_arrow`, whose keywords ``from_`` and ``with_json`` are taken. No log fails the job: what cannot be
    read is a row with ``file`` and ``damage``.
    """
    how = (Rows(table, options), path, content)
    return logs.map_batches(_Files, fn_constructor_args=how, batch_format="pyarrow", batch_size=16, compute=ActorPoolStrategy(size=workers))


def text(path: str, *, size: int = 64 << 20) -> Dataset:
    """The lines of a long file, in the column ``text``, and where in the file each begins, in ``at``. Pieces of ``size`` bytes are read side by
    side; ``ray.data.read_text`` reads a file in one piece.
    """
    system, name = opened(path)
    starts = range(0, system.get_file_info(name).size or 0, size)
    ranges = from_items([{"path": path, "start": start} for start in starts], override_num_blocks=max(len(starts), 1))

    def read(batch: pa.Table) -> Iterator[pa.Table]:
        for each in batch.to_pylist():
            yield lines_of(each["path"], each["start"], size)

    return ranges.map_batches(read, batch_format="pyarrow")


def lines(logs: Dataset, *, by: str, line: str = "text", order: Optional[str] = None, table: Table = "events", **options: Any) -> Dataset:
    """The rows of logs whose lines are a column: those with the same value of the column ``by`` (the session) are one log, in the order of the
    column ``order``. In the rows, ``file`` is that value, and ``line`` counts from 1 within it. A group fits into the memory of a worker.
    """
    rows = Rows(table, options)

    def work(group: pa.Table) -> pa.Table:
        group = group.sort_by(order) if order else group
        return rows.of_lines(str(group[by][0]), group[line])

    return logs.groupby(by).map_groups(work, batch_format="pyarrow")
