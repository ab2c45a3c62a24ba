"""What can go wrong, and what is damaged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Sequence, Tuple, Type

from ._options import in_keywords


@dataclass(frozen=True)
class Damage:
    """A line of a log, or a part of one, that could not be read and was left out."""

    file: Optional[str]
    """The log, or the file of a subagent that belongs to it."""
    line: int
    """The line, counted from 1; in a ``json`` format, the message."""
    byte: int
    """The byte within the line, counted from 1."""
    pointer: Optional[str]
    """The JSON pointer of what is wrong, where there is one."""
    reason: str
    """What is wrong."""

    def __str__(self) -> str:
        pointer = f" ({self.pointer})" if self.pointer else ""
        return f"{self.file or '-'}:{self.line}:{self.byte}: {self.reason}{pointer}"


class AgentglotError(Exception):
    """The root of what this package raises. What the system says of files is raised as by :func:`open`: :class:`OSError`."""

    file: Optional[str]
    """The log that it is about, if it is about one."""
    line: Optional[int]
    """The line, counted from 1."""
    byte: Optional[int]
    """The byte within the line, counted from 1."""

    def __init__(self, message: str, *, file: Optional[str] = None, line: Optional[int] = None, byte: Optional[int] = None) -> None:
        super().__init__(in_keywords(message))
        self.file = file
        self.line = line
        self.byte = byte


class UsageError(AgentglotError, ValueError):
    """An argument makes no sense: no dialect has that name, or it is not written."""


class UnclearError(AgentglotError, ValueError):
    """Which dialect a log is written in could not be told; ``from_`` names it."""

    candidates: Tuple[str, ...]
    """The formats that it may be, the likeliest first."""

    def __init__(self, message: str, *, file: Optional[str] = None, candidates: Sequence[str] = ()) -> None:
        super().__init__(message, file=file)
        self.candidates = tuple(candidates)


class DamagedError(AgentglotError, ValueError):
    """Some of a log is damaged: ``file``, ``line`` and ``byte`` say where the first damage is."""

    damage: Tuple[Damage, ...]
    """All that is damaged; of one log no more than a thousand places."""
    output: Optional[bytes]
    """What :func:`~agentglot.convert` made of everything else."""

    def __init__(self, damage: Sequence[Damage], output: Optional[bytes] = None) -> None:
        first = damage[0]
        more = f", and {len(damage) - 1} more" if len(damage) > 1 else ""
        super().__init__(f"{first}{more}", file=first.file, line=first.line, byte=first.byte)
        self.damage = tuple(damage)
        self.output = output

    def __reduce__(self) -> Tuple[Type[DamagedError], Tuple[Tuple[Damage, ...], Optional[bytes]]]:
        # It goes from process to process, and is not made of its message.
        return type(self), (self.damage, self.output)


class InternalError(AgentglotError, RuntimeError):
    """A fault of agentglot's own. What was being read or written is not to be used any further."""
