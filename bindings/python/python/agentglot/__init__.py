"""Logs of headless coding agents: converted, read as typed events, checked, counted.

Claude Code, Codex, Gemini CLI, Qwen Code, Cursor, OpenCode and others write what they do as lines of JSON, each in a dialect of its own.
:func:`convert` turns the log of any of them into that of any other, :func:`events` and :func:`sessions` read it as one model,
:func:`detect` tells what it is written in, :func:`check` what is wrong with it, :func:`stats` what was used,
:func:`to_arrow` hands it as tables to DuckDB, Polars and pandas.

A log (``src``) is a path (``str`` or :class:`os.PathLike`; ``.gz`` and ``.zst`` are unpacked), :class:`bytes`, a binary file object, or an
iterable of :class:`bytes`. While Rust works, other threads run.

>>> import agentglot
>>> log = b'{"type":"result","subtype":"success","is_error":false,"result":"hi","session_id":"s"}'
>>> agentglot.convert(log, to="tricode", from_="cursor").decode().splitlines()[-1]
'{"type": "final", "content": "hi"}'
"""

from __future__ import annotations

import atexit as _atexit

from . import _native
from ._api import (
    Conversion,
    Converter,
    Events,
    Finding,
    Found,
    OnDamage,
    aconvert,
    aevents,
    check,
    convert,
    convert_file,
    convert_files,
    convert_stream,
    detect,
    events,
    formats,
    stats,
)
from ._columns import ArrowStream, Logs, Table, to_arrow
from ._errors import AgentglotError, Damage, DamagedError, InternalError, UnclearError, UsageError
from ._options import Options
from ._sessions import Asked, Call, Round, Session, Subagent, Turn, sessions, turns
from ._source import Source
from .model import (
    Agent,
    Block,
    BlockStart,
    BlockStop,
    Cancel,
    CancelResult,
    ChatRequest,
    CommandResult,
    Delta,
    Environment,
    Event,
    Fatal,
    Field,
    Heartbeat,
    HintCancel,
    HintRequest,
    HintResult,
    HostHeartbeat,
    HostNoise,
    HostPrompt,
    HostRequest,
    HostResponse,
    HostUnknown,
    HostWithdraw,
    KeepAlive,
    Noise,
    Notice,
    Outcome,
    Permission,
    Prompt,
    Reply,
    Request,
    Response,
    RoundEnd,
    RoundStart,
    RoundStop,
    SessionFacts,
    Terminal,
    ToolProgress,
    ToolResult,
    Unknown,
    Usage,
    Withdraw,
)

__version__ = _native.__version__

# No thread may come back from Rust to an interpreter that is gone.
_atexit.register(_native.close)

__all__ = [
    "Agent",
    "ArrowStream",
    "Asked",
    "AgentglotError",
    "Block",
    "BlockStart",
    "BlockStop",
    "Call",
    "Cancel",
    "CancelResult",
    "ChatRequest",
    "CommandResult",
    "Conversion",
    "Converter",
    "Damage",
    "DamagedError",
    "Delta",
    "Environment",
    "Event",
    "Events",
    "Fatal",
    "Field",
    "Finding",
    "Found",
    "Heartbeat",
    "HintCancel",
    "HintRequest",
    "HintResult",
    "HostHeartbeat",
    "HostNoise",
    "HostPrompt",
    "HostRequest",
    "HostResponse",
    "HostUnknown",
    "HostWithdraw",
    "InternalError",
    "KeepAlive",
    "Logs",
    "Noise",
    "Notice",
    "OnDamage",
    "Options",
    "Outcome",
    "Permission",
    "Prompt",
    "Reply",
    "Request",
    "Response",
    "Round",
    "RoundEnd",
    "RoundStart",
    "RoundStop",
    "Session",
    "SessionFacts",
    "Source",
    "Terminal",
    "ToolProgress",
    "ToolResult",
    "Subagent",
    "Table",
    "Turn",
    "UnclearError",
    "Unknown",
    "Usage",
    "UsageError",
    "Withdraw",
    "aconvert",
    "aevents",
    "check",
    "convert",
    "convert_file",
    "convert_files",
    "convert_stream",
    "detect",
    "events",
    "formats",
    "sessions",
    "stats",
    "to_arrow",
    "turns",
    "__version__",
]
