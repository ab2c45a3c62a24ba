"""Logs put together: sessions, turns, rounds, calls with their results and subagents."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple, Type, TypeVar, Union, cast

from . import _native
from ._api import OnDamage, _Told
from ._source import Source, whole
from .model import CLASSES, Agent, Block, Event, Field, Notice, Outcome, Prompt, Request, Response, SessionFacts, ToolProgress, ToolResult, Usage
from .model import _block as _plain_block
from .model import _part

T = TypeVar("T")


@dataclass(frozen=True)
class Asked:
    """A question for permission, and what came of it."""

    asked: Optional[Request] = None
    answer: Optional[Response] = None
    withdrawn: bool = False


@dataclass(frozen=True)
class Subagent:
    """What a subagent did for a call."""

    call: Optional[str] = None
    agent: Optional[Agent] = None
    prompts: Tuple[Prompt, ...] = ()
    rounds: Tuple[Round, ...] = ()


@dataclass(frozen=True)
class Call:
    """A tool call, and what came of it."""

    id: str
    name: str
    kind: str = "other"
    """What the tool does (``read``, ``edit``, ``shell`` …), whatever it is called."""
    input: Any = None
    """Its arguments."""
    fields: Tuple[Field, ...] = ()
    asked: Optional[str] = None
    """When it was called; as the log has it, ISO 8601 text."""
    answered: Optional[str] = None
    """When its result came."""
    permission: Optional[Asked] = None
    progress: Tuple[ToolProgress, ...] = ()
    result: Optional[ToolResult] = None
    subagent: Optional[Subagent] = None
    type: str = "call"

    @property
    def succeeded(self) -> Optional[bool]:
        """Whether it did; ``None``: there is no result."""
        return None if self.result is None else self.result.status == "success"


@dataclass(frozen=True)
class Round:
    """One reply of the model."""

    id: Optional[str] = None
    model: Optional[str] = None
    time: Optional[str] = None
    blocks: Tuple[Union[Block, Call], ...] = ()
    retracted: Tuple[Union[Block, Call], ...] = ()
    """Blocks that were taken back."""
    stop: Optional[str] = None
    usage: Optional[Usage] = None
    error: Optional[str] = None


@dataclass(frozen=True)
class Turn:
    """One prompt up to its outcome."""

    session: Optional[str] = None
    number: int = 0
    """Which turn of its session, counted from 1."""
    facts: Optional[SessionFacts] = None
    started: Optional[str] = None
    ended: Optional[str] = None
    prompts: Tuple[Prompt, ...] = ()
    rounds: Tuple[Round, ...] = ()
    strays: Tuple[Subagent, ...] = ()
    """Subagents whose call the log does not hold."""
    permissions: Tuple[Asked, ...] = ()
    """Those that name no call of the turn."""
    retries: Tuple[Notice, ...] = ()
    compactions: Tuple[Notice, ...] = ()
    others: Tuple[Event, ...] = ()
    """What belongs nowhere else."""
    usage: Optional[Usage] = None
    session_usage: Optional[Usage] = None
    outcome: Optional[Outcome] = None

    @property
    def calls(self) -> List[Call]:
        """The tool calls of the main thread, in order."""
        return [block for round in self.rounds for block in round.blocks if isinstance(block, Call)]

    @property
    def text(self) -> str:
        """What the agent said in the main thread."""
        return "".join(block.text or "" for round in self.rounds for block in round.blocks if block.type == "text" and isinstance(block, Block))


@dataclass(frozen=True)
class Session:
    """One conversation with one id."""

    id: Optional[str] = None
    facts: Optional[SessionFacts] = None
    """What was said of it last."""
    turns: Tuple[Turn, ...] = ()


def _event(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    tag = "event" if "event" in value else "input"
    class_ = CLASSES.get((tag, value.get(tag, "")), Event)
    return cast(Any, class_)(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))


def _made(kind: Type[T], **parts: Callable[[Any], Any]) -> Callable[[Any], T]:
    names = {field.name for field in dataclasses.fields(cast(Any, kind))}

    def make(value: Dict[str, Any]) -> T:
        return kind(**{name: parts[name](value[name]) if name in parts else value[name] for name in value if name in names})

    return make


def _all(make: Callable[[Any], Any]) -> Callable[[Any], Tuple[Any, ...]]:
    return lambda values: tuple(make(value) for value in values)


def _call_or_block(value: Any) -> Any:
    return _call(value) if value.get("type") == "call" else _plain_block(value)


_usage = _part(Usage)
_asked = _made(Asked, asked=_event, answer=_event)
_round = _made(Round, blocks=_all(_call_or_block), retracted=_all(_call_or_block), usage=_usage)
_subagent = _made(Subagent, agent=_part(Agent), prompts=_all(_event), rounds=_all(_round))
_call = _made(Call, fields=_all(_part(Field)), permission=_asked, progress=_all(_event), result=_event, subagent=_subagent)
_turn = _made(
    Turn,
    facts=_event,
    prompts=_all(_event),
    rounds=_all(_round),
    strays=_all(_subagent),
    permissions=_all(_asked),
    retries=_all(_event),
    compactions=_all(_event),
    others=_all(_event),
    usage=_usage,
    session_usage=_usage,
    outcome=_event,
)


def turns(src: Source, *, from_: Optional[str] = None, subagents: bool = True, on_damage: OnDamage = "raise") -> Iterator[Turn]:
    """The turns of a log, each when it has ended, with calls and their results, subagents and permissions put in their places.

    The files of subagents that lie beside a session's file are read with it, unless ``subagents`` is false.
    """
    told = _Told(on_damage)
    name, path, memory = whole(src)
    log = _native.Turns(name, path, memory, from_, subagents)
    for found in log:
        if type(found) is dict:
            told.tell((found,))
            told.end()
        else:
            yield _turn(json.loads(found))


def sessions(src: Source, *, from_: Optional[str] = None, subagents: bool = True, on_damage: OnDamage = "raise") -> List[Session]:
    """The sessions of a log, in the order in which they begin.

    >>> log = b'{"type":"result","subtype":"success","is_error":false,"result":"hi","session_id":"s"}'
    >>> [(session.id, [turn.outcome.outcome for turn in session.turns]) for session in sessions(log, from_="cursor")]
    [('s', ['success'])]
    """
    found: Dict[Optional[str], List[Turn]] = {}
    for turn in turns(src, from_=from_, subagents=subagents, on_damage=on_damage):
        found.setdefault(turn.session, []).append(turn)
    return [Session(id, next((turn.facts for turn in reversed(them) if turn.facts), None), tuple(them)) for id, them in found.items()]
