"""What a log may be given as."""

from __future__ import annotations

import os
from typing import IO, Any, AsyncIterable, AsyncIterator, Iterable, Iterator, Optional, Tuple, Union

Source = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, IO[bytes], Iterable[bytes]]
"""A log: a path, what it holds, a binary file object, or its pieces."""

PIECE = 1 << 18

_ASYNCHRONOUS = "an asynchronous stream or iterable is read with aevents and aconvert"


def told_apart(src: Source) -> Tuple[str, Optional[str], Optional[bytes], Optional[Iterator[bytes]]]:
    """What the log is called, and it itself as a path, as bytes or as pieces."""
    if isinstance(src, (str, os.PathLike)):
        path = os.fspath(src)
        return path, path, None, None
    if isinstance(src, bytes):
        return "-", None, src, None
    if isinstance(src, (bytearray, memoryview)):
        return "-", None, bytes(src), None
    name = getattr(src, "name", None)
    return name if isinstance(name, str) else "-", None, None, pieces(src)


def whole(src: Source) -> Tuple[str, Optional[str], Optional[bytes]]:
    """The same where pieces are of no use."""
    name, path, memory, parts = told_apart(src)
    return name, path, b"".join(parts) if parts is not None else memory


def _bytes(piece: Any) -> bytes:
    if isinstance(piece, bytes):
        return piece
    if isinstance(piece, (bytearray, memoryview)):
        return bytes(piece)
    if isinstance(piece, str):
        raise TypeError("a log is bytes: open it in binary mode")
    if hasattr(piece, "__await__"):
        getattr(piece, "close", lambda: None)()
        raise TypeError(_ASYNCHRONOUS)
    raise TypeError(f"a log is a path, bytes, a binary file or an iterable of bytes, and this gives {type(piece).__name__}")


def pieces(src: Any) -> Iterator[bytes]:
    """The pieces of a file object or an iterable."""
    if isinstance(src, AsyncIterable):
        raise TypeError(_ASYNCHRONOUS)
    # What is there is read at once, where the file can tell: it may be a pipe that lives.
    read = getattr(src, "read1", None) or getattr(src, "read", None)
    if read is not None:
        return iter(lambda: _bytes(read(PIECE)), b"")
    if not hasattr(src, "__iter__") and not hasattr(src, "__next__"):
        return iter((_bytes(src),))
    return (_bytes(piece) for piece in src)


async def apieces(src: Any) -> AsyncIterator[bytes]:
    """The same of an asynchronous stream (anything with ``async read(n)``) or iterable; other logs are read as they come."""
    if isinstance(src, AsyncIterable):
        async for piece in src:
            yield _bytes(piece)
        return
    read = getattr(src, "read", None)
    if read is None or isinstance(src, (str, os.PathLike, bytes, bytearray, memoryview)):
        raise TypeError("an asynchronous iterable of bytes or an asynchronous stream is wanted")
    while True:
        piece = _bytes(await read(PIECE))
        if not piece:
            return
        yield piece
