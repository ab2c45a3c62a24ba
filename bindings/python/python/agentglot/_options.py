"""Keywords as options of the command line, and back: what the program says of an option names the keyword."""

from __future__ import annotations

import os
import re
from typing import Any, Dict, Iterable, List, Literal, Optional, Sequence, TypedDict, Union


class Options(TypedDict, total=False):
    """Keywords of a conversion, as the options of ``agentglot convert``."""

    from_: Optional[str]
    """What the log is written in (``claude``, ``qwen:stream-chunk-json`` …); without it, it is detected for each session."""
    tools: Literal["native", "verbatim"]
    """Tools get the target's own names and arguments, or keep those of the log."""
    partial: bool
    """Deltas are written too, by dialects that leave them out unless asked."""
    strict: bool
    """The first damage, unknown type or unknown field ends the conversion."""
    repair: bool
    """Results and outcomes that a killed run lacks are added."""
    validate: bool
    """Parts that do not go over are checked in full too."""
    max_line: int
    """Longer lines are left out, as damage. In bytes; 256 MiB without it."""
    prompts: Sequence[str]
    """Prompts that the log lacks, one for each turn."""
    old_text: bool
    """Cursor's text in its old style."""
    cd_in_commands: bool
    """The working folder of a command goes into the command, where the target has no other place for it."""
    all_messages: bool
    """``claude:json`` as an array of all messages."""

_FLAGS = {
    "partial": "--include-partial-messages",
    "strict": "--strict",
    "repair": "--repair",
    "validate": "--validate",
    "old_text": "--old-text",
    "cd_in_commands": "--cd-in-commands",
    "all_messages": "--all-messages",
    "with_json": "--with-json",
    "utc": "--utc",
}
_VALUES = {
    "to": "--to",
    "from_": "--from",
    "tools": "--tools",
    "max_line": "--max-line",
    "jobs": "--jobs",
    "output": "--output",
    "ledger": "--ledger",
    "table": "--table",
    "level": "--level",
    "by": "--by",
    "prices": "--prices",
}
_LISTS = {"prompts": "--prompt", "include": "--include"}

_KEYWORDS = {option: keyword for table in (_FLAGS, _VALUES, _LISTS) for keyword, option in table.items()}
_KEYWORDS.update({"--dialect": "from_", "-o": "output"})
_NAMED = re.compile(rf"(?<![\w/.-])({'|'.join(sorted(_KEYWORDS, key=len, reverse=True))})(?![\w/.-])(?: <[A-Z_]+>)?")


def words(**options: Any) -> List[str]:
    """Options as words of the command line."""
    args: List[str] = []
    for name, value in options.items():
        if value is None:
            continue
        if name in _FLAGS:
            args += [_FLAGS[name]] if value else []
        elif name in _LISTS:
            # A text is a sequence of texts too, and each of its letters would be one.
            if isinstance(value, (str, bytes)):
                raise TypeError(f"{name} is a sequence of texts, and this is a single one")
            args += [f"{_LISTS[name]}={each}" for each in value]
        else:
            args += [f"{_VALUES[name]}={os.fspath(value) if isinstance(value, os.PathLike) else value}"]
    return args


def conversion(to: str, options: Dict[str, Any], **more: Any) -> List[str]:
    """Those of a conversion: of ``options`` there may only be what :class:`Options` has."""
    for name in options:
        if name not in Options.__annotations__:
            raise TypeError(f"unexpected keyword argument {name!r}")
    return words(to=to, **options, **more)


def files(paths: Iterable[Union[str, "os.PathLike[str]"]]) -> List[str]:
    """The logs that are read, behind all options."""
    return ["--", *(os.fspath(path) for path in paths)]


def in_keywords(message: str) -> str:
    """What the program says, with keywords in place of its options."""
    return _NAMED.sub(lambda found: _KEYWORDS[found[1]], message)
