"""Conversion, events, and what is told of whole logs."""

from __future__ import annotations

import json
import os
import warnings
from dataclasses import dataclass
from typing import (
    TYPE_CHECKING,
    Any,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    Literal,
    Optional,
    Sequence,
    Tuple,
    Union,
    cast,
)

from . import _native
from ._errors import AgentglotError, Damage, DamagedError, UnclearError, UsageError
from ._options import Options, conversion, files, words
from ._source import Source, a_file, apieces, to_bytes, told_apart, whole
from .model import Event

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self, Unpack


OnDamage = Union[Literal["raise", "warn", "ignore"], Callable[[Damage], object]]
"""What becomes of damaged lines, which are left out in any case: an exception, a warning, nothing, or a call for each."""


class _Told:
    """Damage, handled as it was asked for."""

    def __init__(self, how: OnDamage) -> None:
        if not callable(how) and how not in ("raise", "warn", "ignore"):
            raise UsageError(f"on_damage is 'raise', 'warn', 'ignore' or a function, not {how!r}")
        self.how = how
        self.found: List[Damage] = []

    def tell(self, found: Iterable[Dict[str, Any]]) -> None:
        for each in found:
            damage = Damage(**each)
            if callable(self.how):
                self.how(damage)
            elif self.how == "warn":
                warnings.warn(str(damage), stacklevel=3)
            elif self.how == "raise":
                self.found.append(damage)

    def end(self, output: Optional[bytes] = None) -> None:
        if self.found:
            found, self.found = self.found, []
            raise DamagedError(found, output)


def convert(
    src: Source, *, to: str, jobs: Optional[int] = None, on_damage: OnDamage = "raise", **options: Unpack[Options]
) -> bytes:
    """Converts a log and gives the bytes of the other one.

    ``to`` is a dialect or one of its formats (:func:`formats` lists them). A log that lies in a file gets the work of its subagents, whose
    files lie beside it, and is converted in ``jobs`` parts at a time where it is long (as many as there are processors without it).

    The keywords are those of :class:`Options`: ``from_``, ``tools``, ``partial``, ``strict``, ``repair``, ``validate``, ``max_line``,
    ``prompts``, ``old_text``, ``cd_in_commands``, ``all_messages``.

    Raises :class:`DamagedError` when some of it is damaged, unless ``on_damage`` says otherwise; the exception has the output of everything
    else. :class:`UnclearError` when nobody says what it is written in and that cannot be told.
    """
    told = _Told(on_damage)
    name, path, memory, parts = told_apart(src)
    args = conversion(to, cast("Dict[str, Any]", options), jobs=jobs)
    if parts is not None:
        memory = b"".join(parts)
    if path is not None:
        a_file(path)
        args += files([path])
    output, report, _ = _native.convert(args, name, memory)
    log = json.loads(report)["logs"][0]
    if log["error"] and not log["damage"]:
        raise _failed(log)
    # Damage has the output of everything else, and goes before what ended the reading.
    told.tell({"file": log["log"], **damage} for damage in log["damage"])
    told.end(output)
    if log["error"]:
        raise _failed(log)
    return output


def _failed(log: Dict[str, Any]) -> Exception:
    if log["from"] is None and "dialect" in log["error"]:
        return UnclearError(log["error"], file=log["log"])
    if ": cannot be " in log["error"]:
        return OSError(log["error"])
    return AgentglotError(log["error"], file=log["log"])


def convert_stream(src: Source, *, to: str, on_damage: OnDamage = "raise", **options: Unpack[Options]) -> Iterator[bytes]:
    """The same piece by piece, as the log comes: what one piece of it gives is there before the next one is read.

    With ``on_damage="raise"`` the exception comes behind the output of the piece that the damage is in; everything that stands before it has
    been given.
    """
    told = _Told(on_damage)
    name, path, memory, parts = told_apart(src)
    converter = Converter(to=to, on_damage="ignore", name=name, **options)._native
    if path is not None:
        with open(path, "rb") as file:
            yield from _converted(converter, told_apart(file)[3], told)
        return
    yield from _converted(converter, iter((memory,)) if memory is not None else parts, told)


def _converted(converter: _native.Converter, parts: Any, told: _Told) -> Iterator[bytes]:
    for part in parts:
        piece = converter.feed(part)
        if piece:
            yield piece
        told.tell(converter.take_damage())
        told.end()
    piece = converter.finish()
    if piece:
        yield piece
    told.tell(converter.take_damage())
    told.end()


async def aconvert(
    src: AsyncIterable[bytes], *, to: str, on_damage: OnDamage = "raise", **options: Unpack[Options]
) -> AsyncIterator[bytes]:
    """:func:`convert_stream` for an asynchronous iterable, or anything with ``async read(n)`` such as :class:`asyncio.StreamReader`."""
    told = _Told(on_damage)
    converter = Converter(to=to, on_damage="ignore", **options)._native
    async for part in apieces(src):
        piece = converter.feed(part)
        if piece:
            yield piece
        told.tell(converter.take_damage())
        told.end()
    piece = converter.finish()
    if piece:
        yield piece
    told.tell(converter.take_damage())
    told.end()


@dataclass(frozen=True)
class Conversion:
    """What came of the conversion of a file."""

    log: str
    """The file that was read."""
    from_: Optional[str]
    """What it is written in, if that could be told."""
    output: Optional[str]
    """The file that was written."""
    lines: int
    """Lines read."""
    lost: int
    """Lines that the target has no place for."""
    merged: int
    """Lines of which others of the output say the same."""
    damaged: int
    """Damaged lines, and parts of lines."""
    damage: Tuple[Damage, ...]
    """The first thousand of them."""
    error: Optional[str]
    """Why it was not converted, or not to its end."""


def convert_files(
    paths: Union[str, "os.PathLike[str]", Iterable[Union[str, "os.PathLike[str]"]]],
    *,
    to: str,
    output: Union[str, "os.PathLike[str]"],
    ledger: Union[str, "os.PathLike[str]", None] = None,
    include: Sequence[str] = (),
    jobs: Optional[int] = None,
    **options: Unpack[Options],
) -> List[Conversion]:
    """Converts files, and folders of them, into the folder ``output``, and tells what came of each. Compressed ones are unpacked.

    A bad log does not stop the others, and raises nothing: its :attr:`Conversion.error` or :attr:`Conversion.damage` says what is wrong. An
    input is never overwritten. ``ledger`` is a file for everything that was not carried over unchanged, ``include`` are patterns of names
    that are logs in folders, ``jobs`` is how many are converted at a time (one for each processor without it).
    """
    # A text can be gone through too: each of its letters would be a path.
    logs = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    return _convert_files(logs, to, os.path.join(os.fspath(output), ""), ledger, include, jobs, cast("Dict[str, Any]", options))


def convert_file(
    path: Union[str, "os.PathLike[str]"],
    output: Union[str, "os.PathLike[str]"],
    *,
    to: str,
    ledger: Union[str, "os.PathLike[str]", None] = None,
    jobs: Optional[int] = None,
    on_damage: OnDamage = "raise",
    **options: Unpack[Options],
) -> Conversion:
    """Converts a file into another, which is compressed if it is called ``.gz`` or ``.zst`` and gets its name when it is whole.

    Damage is treated as by :func:`convert`: when :class:`DamagedError` is raised, everything else has been written.
    """
    told = _Told(on_damage)
    a_file(path)
    (done,) = _convert_files([path], to, os.fspath(output), ledger, (), jobs, cast("Dict[str, Any]", options))
    failed = _failed({"log": done.log, "from": done.from_, "error": done.error or ""})
    if done.error and not done.damage:
        raise failed
    told.tell(vars(damage) for damage in done.damage)
    told.end()
    if done.error:
        raise failed
    return done


def _convert_files(
    paths: Iterable[Union[str, "os.PathLike[str]"]],
    to: str,
    output: str,
    ledger: Union[str, "os.PathLike[str]", None],
    include: Sequence[str],
    jobs: Optional[int],
    options: Dict[str, Any],
) -> List[Conversion]:
    logs = files(paths)
    if len(logs) == 1:
        return []
    args = conversion(to, options, output=output, ledger=ledger, include=include, jobs=jobs)
    report, _ = _native.convert_files(args + logs)
    return [
        Conversion(
            **{
                "from_" if name == "from" else name: value
                for name, value in log.items()
                if name not in ("damage",)
            },
            damage=tuple(Damage(**{"file": log["log"], **damage}) for damage in log["damage"]),
        )
        for log in json.loads(report)["logs"]
    ]


class Converter:
    """A conversion that is fed with pieces of any size and gives pieces; where they are cut changes nothing.

    >>> log = b'{"type":"result","subtype":"success","is_error":false,"result":"hi","session_id":"s"}'
    >>> with Converter(to="tricode", from_="cursor") as converter:
    ...     out = converter.feed(log[:20]) + converter.feed(log[20:]) + converter.finish()
    >>> out.decode().splitlines()[-1]
    '{"type": "final", "content": "hi"}'

    ``name`` is what the log is called in messages. With ``ledger``, :meth:`take_ledger` gives everything that was not carried over unchanged.
    """

    def __init__(
        self, *, to: str, on_damage: OnDamage = "raise", name: str = "-", ledger: bool = False, **options: Unpack[Options]
    ) -> None:
        self._told = _Told(on_damage)
        self._native = _native.Converter(conversion(to, cast("Dict[str, Any]", options)), name, ledger)
        self._over = False

    def feed(self, piece: bytes) -> bytes:
        """Takes the next piece of the log and gives what it makes."""
        if self._over:
            raise ValueError("the conversion is over")
        return self._given(self._native.feed(to_bytes(piece)))

    def finish(self) -> bytes:
        """The log is over: gives what was still held. A second call gives nothing."""
        if self._over:
            return b""
        self._over = True
        return self._given(self._native.finish())

    def _given(self, output: bytes) -> bytes:
        self._told.tell(self._native.take_damage())
        self._told.end(output)
        return output

    def take_ledger(self) -> List[Dict[str, Any]]:
        """The entries of the ledger that were made since the last call: ``file``, ``line``, ``pointer``, ``fate``, ``dialect``, ``note`` …"""
        return [json.loads(line) for line in self._native.take_ledger().split("\n") if line]

    @property
    def format(self) -> Optional[str]:
        """What the log is written in, if that is known by now."""
        return self._native.format

    @property
    def lines(self) -> int:
        """How many lines have been read."""
        return self._native.lines

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self._over = True


class Events:
    """The events of a log, one after the other: what :func:`events` gives. Used in a ``with`` statement, it lets go of the file at its end.

    After :class:`DamagedError` the next call goes on behind the damage.
    """

    def __init__(self, log: _native.Events, told: _Told) -> None:
        self._log = log
        self._told = told

    def __iter__(self) -> Iterator[Event]:
        # Nothing of Python's stands between Rust and the loop, as long as no line is damaged.
        for found in self._log:
            if type(found) is dict:
                self._told.tell((found,))
                self._told.end()
            else:
                yield found

    def __next__(self) -> Event:
        while True:
            found = next(self._log)
            if type(found) is not dict:
                return cast(Event, found)
            self._told.tell((found,))
            self._told.end()

    @property
    def format(self) -> Optional[str]:
        """What the log is written in, as far as it has been read."""
        return self._log.format

    def close(self) -> None:
        """Reads no more."""
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()


def events(src: Source, *, from_: Optional[str] = None, on_damage: OnDamage = "raise") -> Events:
    """The events of a log, in the order in which they stand, as they stand; and the outcome of turns that have none, marked ``synthetic``.

    They come in batches and are read when they are looked at, so a log of any length fits. The classes are in :mod:`agentglot.model`.

    >>> log = b'{"type":"result","subtype":"success","is_error":false,"result":"hi","session_id":"s"}'
    >>> for event in events(log, from_="cursor"):
    ...     print(event.event, event.session)
    reply s
    outcome s
    """
    told = _Told(on_damage)
    name, path, memory, parts = told_apart(src)
    return Events(_native.Events(conversion("agentglot", {"from_": from_}), name, path, memory, parts), told)


class _Later(BlockingIOError):
    """Nothing more is there for now."""


async def aevents(src: AsyncIterable[bytes], *, from_: Optional[str] = None, on_damage: OnDamage = "raise") -> AsyncIterator[Event]:
    """:func:`events` of an asynchronous iterable of bytes, or anything with ``async read(n)``. Each comes as soon as its line is there."""
    told = _Told(on_damage)
    waiting: List[bytes] = []
    over = False

    class Feed:
        def __iter__(self) -> Iterator[bytes]:
            return self

        def __next__(self) -> bytes:
            if waiting:
                return waiting.pop()
            if over:
                raise StopIteration
            raise _Later

    log = Events(_native.Events(conversion("agentglot", {"from_": from_}), "-", None, None, Feed()), told)
    parts = apieces(src)
    while True:
        try:
            yield next(log)
        except _Later:
            try:
                waiting.append(await parts.__anext__())
            except StopAsyncIteration:
                over = True
        except StopIteration:
            return


@dataclass(frozen=True)
class Found:
    """What a log is written in."""

    format: str
    """The format: ``claude:stream-json``."""
    why: str
    """What told: ``line 1: system/init with claude_code_version``."""


def detect(src: Source) -> Optional[Found]:
    """What a log is written in; ``None`` if there is nothing in it. Raises :class:`UnclearError` when that cannot be told.

    >>> detect(b'{"type":"system","subtype":"init","claude_code_version":"2.0.0","session_id":"s"}').format
    'claude'
    """
    name, path, memory = whole(src)
    found = _native.detect(name, path, memory)
    return Found(*found) if found else None


@dataclass(frozen=True)
class Finding:
    """Something that is wrong, or odd, with a log. docs/check.md explains each rule."""

    file: str
    line: int
    byte: int
    pointer: str
    level: str
    """``error``, ``warning`` or ``note``."""
    rule: str
    message: str
    count: int = 1
    """How many there are, where one stands for many."""


def check(src: Source, *, from_: Optional[str] = None, level: str = "warning") -> List[Finding]:
    """What is wrong with a log, as far as it is at least this bad: ``error``, ``warning`` or ``note``."""
    name, path, memory = whole(src)
    args = ["--json", *words(level=level, from_=from_)]
    if path is not None:
        os.stat(path)
        args += files([path])
    lines, status = _native.check(args, name, memory)
    findings = [Finding(**json.loads(line)) for line in lines.splitlines()]
    if status == 2:
        detect(memory if memory is not None else cast(str, path))
        raise UnclearError(f"{name}: the dialect could not be told", file=name)
    if status == 3:
        raise OSError(f"{name}: cannot be read")
    return findings


def stats(
    src: Union[Source, Sequence[Union[str, "os.PathLike[str]"]]],
    *,
    by: str = "session",
    utc: bool = False,
    prices: Optional[Union[str, "os.PathLike[str]"]] = None,
) -> Dict[str, Any]:
    """What agents used: ``rows`` for each session (or ``by`` day, week, model, tool, project, agent) and their ``total``, with turns, calls,
    tokens and money as ``agentglot stats --json`` has them. ``src`` may also be a list of paths. Days are local, or those of ``utc``. What no
    log says of money, a table of prices does, before which goes the file ``prices``."""
    args = ["--json", *words(by=by, utc=utc, prices=prices)]
    if isinstance(src, (list, tuple)) and all(isinstance(path, (str, os.PathLike)) for path in src):
        name, memory, paths = "-", None, list(src)
        if not paths:
            raise UsageError("no logs are named")
    else:
        name, path, memory = whole(cast(Source, src))
        paths = [path] if path is not None else []
    for path in paths:
        os.stat(path)
    text, status = _native.stats([*args, *(files(paths) if paths else [])], name, memory)
    if status == 2 and len(paths) <= 1:
        detect(memory if memory is not None else paths[0])
    if status == 3:
        raise OSError(f"{paths[0] if len(paths) == 1 else 'a log'}: cannot be read")
    return cast("Dict[str, Any]", json.loads(text))


def formats(*, written: bool = False) -> List[str]:
    """The formats that are read, or those that are written."""
    return [name for name, read, write in _native.formats() if (write if written else read)]
