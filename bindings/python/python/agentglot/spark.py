"""Logs as tables on Spark: a DataFrame in, one out. Needs pyspark and pyarrow, on the workers too. docs/scale.md says when it is worth it."""

from __future__ import annotations

from typing import Any, Iterator, Optional

import pyarrow as pa  # type: ignore[import-not-found,import-untyped,unused-ignore]
from pyspark.sql import DataFrame  # type: ignore[import-not-found,import-untyped,unused-ignore]
from pyspark.sql.pandas.types import from_arrow_schema  # type: ignore[import-not-found,import-untyped,unused-ignore]

from ._columns import Table
from ._rows import Rows


def _spark(schema: pa.Schema) -> pa.Schema:
    # Spark counts microseconds.
    return pa.schema([pa.field(each.name, pa.timestamp("us", "UTC") if pa.types.is_timestamp(each.type) else each.type) for each in schema])


def files(logs: DataFrame, *, table: Table = "events", path: str = "path", content: str = "content", **options: Any) -> DataFrame:
    """The rows of logs that are whole files, as ``spark.read.format("binaryFile")`` reads them: a column with the path, one with the bytes.

    The table is that of :func:`agentglot.to_arrow`, whose keywords ``from_`` and ``with_json`` are taken. No log fails the job: what cannot be
    read is a row with ``file`` and ``damage``.
    """
    rows = Rows(table, options)
    schema = _spark(rows.schema())

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for name, log in zip(batch.column(0), batch.column(1)):
                for made in rows.of(str(name), log.as_py()):
                    yield made.cast(schema)

    return logs.select(path, content).mapInArrow(work, from_arrow_schema(schema))


def lines(logs: DataFrame, *, by: str, line: str = "value", order: Optional[str] = None, table: Table = "events", **options: Any) -> DataFrame:
    """The rows of logs whose lines are a column: those with the same value of the column ``by`` (the session) are one log, in the order of the
    column ``order``. In the rows, ``file`` is that value, and ``line`` counts from 1 within it. A group fits into the memory of a worker.
    """
    rows = Rows(table, options)
    schema = _spark(rows.schema())

    def work(group: pa.Table) -> pa.Table:
        group = group.sort_by(order) if order else group
        return rows.of_lines(str(group[by][0]), group[line]).cast(schema)

    return logs.groupBy(by).applyInArrow(work, from_arrow_schema(schema))
