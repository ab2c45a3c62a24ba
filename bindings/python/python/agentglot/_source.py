"""What a log may be given as."""

from __future__ import annotations

import errno
import os
import stat
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


def a_file(path: Union[str, "os.PathLike[str]"]) -> None:
    """Raises what the system says of a file that cannot be read, and of a folder, as :func:`open` does."""
    if stat.S_ISDIR(os.stat(path).st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))


def to_bytes(piece: Any) -> bytes:
    """A piece of a log."""
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
        return iter(lambda: to_bytes(read(PIECE)), b"")
    if not hasattr(src, "__iter__") and not hasattr(src, "__next__"):
        return iter((to_bytes(src),))
    return (to_bytes(piece) for piece in src)


async def apieces(src: Any) -> AsyncIterator[bytes]:
    """The same of an asynchronous stream (anything with ``async read(n)``) or iterable."""
    if isinstance(src, AsyncIterable):
        async for piece in src:
            yield to_bytes(piece)
        return
    read = getattr(src, "read", None)
    while True:
        coming: Any = read(PIECE) if read is not None else None
        if not hasattr(coming, "__await__"):
            raise TypeError("an asynchronous iterable of bytes or an asynchronous stream is wanted; other logs are for events and convert_stream")
        piece = to_bytes(await coming)
        if not piece:
            return
        yield piece
