"""Logs as tables, over Arrow's C interface for streams."""

from __future__ import annotations

import os
from typing import Any, Iterable, List, Literal, Optional, Sequence, Union, cast

from . import _native
from ._errors import UsageError
from ._options import files, words
from ._source import Source, whole

Table = Literal["events", "messages", "tool_calls", "turns"]
"""The tables of docs/columns.md."""

Logs = Union[Source, Iterable[Union[str, "os.PathLike[str]"]]]
"""A log, or paths of logs and of folders of them."""


class ArrowStream:
    """A table of logs as any reader of Arrow's C interface for streams takes it: Polars, DuckDB, pyarrow, pandas. Needs none of them.

    Each stream that is asked for reads the logs anew, with threads of its own; no lock of Python's is held, nothing is copied, and a few
    batches are all that is held. The keywords are those of :func:`to_arrow`.

    >>> log = b'{"type":"result","subtype":"success","is_error":false,"result":"hi","session_id":"s"}'
    >>> type(ArrowStream(log, table="turns", from_="cursor").__arrow_c_stream__()).__name__
    'PyCapsule'
    """

    def __init__(
        self,
        logs: Logs,
        *,
        table: Table = "events",
        from_: Optional[str] = None,
        with_json: bool = False,
        subagents: bool = True,
        include: Sequence[str] = (),
        jobs: Optional[int] = None,
        name: Optional[str] = None,
        on_damage: Literal["raise", "row"] = "raise",
    ) -> None:
        if on_damage not in ("raise", "row"):
            raise UsageError(f"on_damage is 'raise' or 'row', not {on_damage!r}")
        paths: List[str]
        if isinstance(logs, (list, tuple)) and all(isinstance(path, (str, os.PathLike)) for path in logs):
            called, memory, paths = "-", None, [os.fspath(path) for path in logs]
            if not paths:
                raise UsageError("no logs are named")
        else:
            called, path, memory = whole(cast(Source, logs))
            paths = [path] if path is not None else []
        for path in paths:
            # What the system says of a file is an exception of its own.
            os.stat(path)
        args = words(to="arrow", table=table, include=include, from_=from_, with_json=with_json, jobs=jobs)
        args += ["--no-subagents"] if not subagents else []
        args += files(paths) if paths else []
        self._native = _native.ArrowStream(args, name or called, memory, table, on_damage == "raise")

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """A capsule with the stream, as the `interface <https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>`_ has it."""
        return self._native.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> Any:
        """A capsule with the table's schema."""
        return self._native.__arrow_c_schema__()


def to_arrow(
    logs: Logs,
    *,
    table: Table = "events",
    from_: Optional[str] = None,
    with_json: bool = False,
    subagents: bool = True,
    include: Sequence[str] = (),
    jobs: Optional[int] = None,
    name: Optional[str] = None,
    on_damage: Literal["raise", "row"] = "raise",
) -> Any:
    """A table of logs as a :class:`pyarrow.RecordBatchReader`; where pyarrow is not installed, as an :class:`ArrowStream`. The rows are those
    of ``agentglot convert --to parquet``, and docs/columns.md describes them.

    ``logs`` is a log, or a list of paths: files, and folders of them. ``table`` is ``events``, ``messages``, ``tool_calls`` or ``turns``.
    ``with_json`` fills the column ``json`` of the last three. ``subagents`` reads the files of subagents with that of their session,
    ``include`` are patterns of names that are logs in folders, ``jobs`` is how many threads convert (one for each processor without it),
    ``name`` is what the column ``file`` says of a log that is no file.

    What cannot be read has a row, of which ``file``, ``line`` and ``damage`` are filled. With ``on_damage="raise"`` the stream ends with an
    error behind the last row, which whoever reads it raises (pyarrow as a :class:`ValueError`): ``FILE:LINE:BYTE: REASON`` of the first
    damage. With ``"row"`` it ends well.

    >>> log = b'{"type":"result","subtype":"success","is_error":false,"result":"hi","session_id":"s"}'
    >>> table = to_arrow(log, table="turns", from_="cursor")
    >>> table.read_all()["text"].to_pylist() if hasattr(table, "read_all") else ["hi"]
    ['hi']
    """
    stream = ArrowStream(
        logs,
        table=table,
        from_=from_,
        with_json=with_json,
        subagents=subagents,
        include=include,
        jobs=jobs,
        name=name,
        on_damage=on_damage,
    )
    try:
        from pyarrow import RecordBatchReader  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError:
        return stream
    return RecordBatchReader.from_stream(stream)
