"""Events: what an agent and its host say, one class for each kind, with the members that ``agentglot:events`` has for it.

An event keeps its line, and a member is read from it each time that it is asked for: what nobody asks for costs nothing. A member that the
log does not have is ``None``, never zero. Otherwise events are frozen dataclasses: they compare by what they say, can be matched, made by
hand and changed with :func:`dataclasses.replace`.

>>> from agentglot import ToolResult
>>> result = ToolResult(call="t1", status="error", content="no such file")
>>> match_me = (result.call, result.status)
>>> match_me
('t1', 'error')
>>> result.to_json()
'{"event":"tool_result","call":"t1","status":"error","content":"no such file"}'
"""

from __future__ import annotations

import dataclasses
import json
import typing
from dataclasses import dataclass
from typing import Any, Callable, ClassVar, Dict, Optional, Tuple, Type, TypeVar, Union, cast

from . import _native

if typing.TYPE_CHECKING:
    from typing_extensions import Self, dataclass_transform
else:

    def dataclass_transform(**_: Any) -> Callable[[Any], Any]:
        return lambda decorated: decorated


T = TypeVar("T")


def _part(kind: Type[T]) -> Callable[[Any], Any]:
    """What makes such a part of an object; anything else stays what it is."""
    names = {field.name for field in dataclasses.fields(cast(Any, kind))}

    def build(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return kind(**{name: value[name] for name in value if name in names})

    return build


@dataclass(frozen=True)
class Usage:
    """Tokens: of a round, a turn, or the session so far, as ``scope`` says."""

    scope: str
    """``round``, ``turn`` or ``session``."""
    input: Optional[int] = None
    output: Optional[int] = None
    reasoning: Optional[int] = None
    """Those of the output that the model thought with; beside the output, where ``reasoning_beside`` says so."""
    cache_read: Optional[int] = None
    cache_write: Optional[int] = None
    total: Optional[int] = None
    inclusive: Optional[bool] = None
    """``input`` counts cached tokens too."""
    reasoning_beside: Optional[bool] = None
    """``reasoning`` is no part of ``output``."""
    derived: Optional[bool] = None
    """The numbers were worked out."""
    raw: Any = None
    """The object that the log has."""


@dataclass(frozen=True)
class Agent:
    """The subagent that speaks."""

    is_: str = "subagent"
    id: Optional[str] = None
    name: Optional[str] = None
    task: Optional[str] = None


@dataclass(frozen=True)
class Field:
    """A member that only the log's own dialect knows."""

    key: str
    value: Any = None
    at: Optional[str] = None
    """The JSON pointer of the object that it stood in; ``None``: the line itself."""
    block: Optional[int] = None
    """The number of the content block that it stood in."""
    known: Optional[bool] = None
    """The dialect's page names it."""


@dataclass(frozen=True)
class Permission:
    """The tool call that a host is asked about."""

    name: str
    call: Optional[str] = None
    input: Any = None
    suggestions: Any = None


@dataclass(frozen=True)
class Block:
    """A piece of a reply or of a content. ``type`` says which: ``text`` (text), ``thinking`` (text, signature, subject), ``redacted`` (data),
    ``call`` (id, name, kind, input), ``media`` (kind, raw), ``other`` (kind, raw)."""

    type: str
    text: Optional[str] = None
    id: Optional[str] = None
    name: Optional[str] = None
    kind: Optional[str] = None
    """Of a call: what the tool does (``read``, ``edit``, ``shell`` …, ``other``), whatever it is called."""
    input: Any = None
    signature: Optional[str] = None
    subject: Optional[str] = None
    data: Optional[str] = None
    raw: Any = None
    fields: Optional[Tuple[Field, ...]] = None


_field = _part(Field)
_plain_block = _part(Block)


def _fields(value: Any) -> Any:
    return tuple(_field(each) for each in value) if isinstance(value, list) else value


def _block(value: Any) -> Any:
    if isinstance(value, dict) and "fields" in value:
        value = {**value, "fields": _fields(value["fields"])}
    return _plain_block(value)


def _blocks(value: Any) -> Any:
    return tuple(_block(each) for each in value) if isinstance(value, list) else value


def _agent(value: Any) -> Any:
    return _part(Agent)({("is_" if name == "is" else name): value[name] for name in value}) if isinstance(value, dict) else value


Content = Union[str, Tuple[Block, ...]]
"""A text, or blocks."""

_BUILDERS: Dict[str, Callable[[Any], Any]] = {
    "usage": _part(Usage),
    "agent": _agent,
    "fields": _fields,
    "permission": _part(Permission),
    "blocks": _blocks,
    "block": _block,
    "of": _block,
}

CLASSES: Dict[Tuple[str, str], Type[Event]] = {}
"""The class of each kind of event, by ``event`` or ``input`` and the kind's name."""


def _key(name: str) -> str:
    """What a member is called in JSON: Python has words of its own."""
    return name.rstrip("_")


def _json(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        members = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
        return {_key(name): member for name, member in members if member is not None}
    raise TypeError(f"{type(value).__name__} is no part of an event")


class _Base(_native.Event):
    __slots__ = ()
    _tag: ClassVar[Tuple[str, str]] = ("event", "")

    def __new__(cls, line: Optional[bytes] = None, **members: Any) -> Self:
        if line is None:
            names = [field.name for field in dataclasses.fields(cast(Any, cls))]
            unknown = [name for name in members if name not in names]
            if unknown:
                raise TypeError(f"{cls.__name__} has no member {unknown[0]!r}")
            if not cls._tag[1]:
                raise TypeError("an event is one of a kind: make one of a class below")
            said: Dict[str, Any] = {cls._tag[0]: cls._tag[1]}
            said.update((_key(name), members[name]) for name in names if members.get(name) is not None)
            line = json.dumps(said, ensure_ascii=False, separators=(",", ":"), default=_json).encode("utf-8", "surrogatepass")
        return cast("Self", _native.Event.__new__(cls, line))

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def to_json(self) -> str:
        """The line of ``agentglot:events``, without its end."""
        return self._line.decode()

    def to_dict(self) -> Dict[str, Any]:
        """What the line says, as plain dicts and lists."""
        return cast("Dict[str, Any]", json.loads(self._line))

    def __repr__(self) -> str:
        members = ((field.name, getattr(self, field.name)) for field in dataclasses.fields(cast(Any, self)))
        said = ", ".join(f"{name}={value!r}" for name, value in members if value is not None)
        return f"{type(self).__name__}({said})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Base):
            return NotImplemented
        return self._line == other._line or (type(self) is type(other) and self.to_dict() == other.to_dict())

    def __hash__(self) -> int:
        return hash((type(self), self.session, self.id))  # type: ignore[attr-defined]

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self._line,)


@dataclass_transform(frozen_default=True, kw_only_default=True, eq_default=False)
def _event(tag: str, name: str) -> Callable[[Type[T]], Type[T]]:
    """Makes a class of events: a dataclass whose members are read from the line."""

    def make(cls: Type[T]) -> Type[T]:
        made = cast(Any, dataclass(init=False, repr=False, eq=False)(cls))
        fields = dataclasses.fields(made)
        for field in fields:
            build = _BUILDERS.get(field.name)
            if field.name == "content" and name != "tool_progress":
                build = _blocks
            setattr(made, field.name, _native.Member(_key(field.name), build))
        made._tag = (tag, name)
        setattr(made, "__match_args__", tuple(field.name for field in fields if field.name not in COMMON))
        CLASSES[tag, name] = made
        return cast("Type[T]", made)

    return make


COMMON = ("session", "id", "parent", "agent", "turn", "time", "time_ms", "time_s", "fields")
"""The members that every event has."""

@_event("event", "")
class Event(_Base):
    """What every event has. Events are of the classes below; this one stands for an event that is younger than the package."""

    __slots__ = ()
    session: Optional[str] = None
    """The session's id."""
    id: Optional[str] = None
    """The id of the line."""
    parent: Optional[str] = None
    """The tool call whose subagent speaks; ``None``: the main thread."""
    agent: Optional[Agent] = None
    """The subagent, where the line names it."""
    turn: Optional[str] = None
    """The turn's id."""
    time: Optional[str] = None
    """When, in ISO 8601."""
    time_ms: Optional[int] = None
    """When, in milliseconds since 1970."""
    time_s: Optional[float] = None
    """When, in seconds since 1970."""
    fields: Optional[Tuple[Field, ...]] = None
    """What only the log's dialect knows."""

    @property
    def event(self) -> str:
        """The kind's name."""
        return self._tag[1]

    @property
    def host(self) -> bool:
        """Whether it is the host that says it."""
        return self._tag[0] == "input"


@_event("event", "session")
class SessionFacts(Event):
    """The session's facts."""

    __slots__ = ()
    cwd: Optional[str] = None
    model: Optional[str] = None
    tools: Any = None
    permission_mode: Optional[str] = None
    version: Optional[str] = None
    api_key_source: Optional[str] = None
    mcp_servers: Any = None
    slash_commands: Any = None
    agents: Any = None
    protocol_version: Any = None
    capabilities: Any = None
    resumed: Optional[bool] = None
    opens_turn: Optional[bool] = None


@_event("event", "notice")
class Notice(Event):
    """Something about the session that is no part of the conversation; ``topic`` says what: retry, compaction, status, task, hook, permission, limit …"""

    __slots__ = ()
    name: Optional[str] = None
    topic: Optional[str] = None
    message: Optional[str] = None
    data: Any = None


@_event("event", "prompt")
class Prompt(Event):
    """Text in the user's role. ``source``: host, echo, agent or parent."""

    __slots__ = ()
    source: Optional[str] = None
    content: Optional[Content] = None


@_event("event", "round_start")
class RoundStart(Event):
    """A model call begins."""

    __slots__ = ()
    round: Optional[str] = None
    model: Optional[str] = None
    usage: Optional[Usage] = None
    number: Optional[int] = None


@_event("event", "block_start")
class BlockStart(Event):
    """A block begins in pieces."""

    __slots__ = ()
    index: Optional[int] = None
    block: Optional[Block] = None


@_event("event", "delta")
class Delta(Event):
    """A piece of a block."""

    __slots__ = ()
    index: Optional[int] = None
    text: Optional[str] = None
    thinking: Optional[str] = None
    signature: Optional[str] = None
    subject: Optional[str] = None
    input: Optional[str] = None
    other: Any = None


@_event("event", "block_stop")
class BlockStop(Event):
    """A block is complete."""

    __slots__ = ()
    index: Optional[int] = None


@_event("event", "round_stop")
class RoundStop(Event):
    """Why the reply stopped, and what it took; its id, where only something behind the beginning says it."""

    __slots__ = ()
    round: Optional[str] = None
    stop: Optional[str] = None
    usage: Optional[Usage] = None


@_event("event", "round_end")
class RoundEnd(Event):
    """A model call is over; blocks from ``abandoned_from`` on are taken back."""

    __slots__ = ()
    stop: Optional[str] = None
    usage: Optional[Usage] = None
    abandoned_from: Optional[int] = None


@_event("event", "reply")
class Reply(Event):
    """Whole blocks of a reply. A reply may come in several, with one ``round``."""

    __slots__ = ()
    round: Optional[str] = None
    model: Optional[str] = None
    blocks: Optional[Tuple[Block, ...]] = None
    stop: Optional[str] = None
    usage: Optional[Usage] = None
    error: Optional[str] = None
    last: Optional[bool] = None


@_event("event", "tool_result")
class ToolResult(Event):
    """What came of a tool call. ``status``: success, error, denied or canceled."""

    __slots__ = ()
    call: Optional[str] = None
    name: Optional[str] = None
    status: Optional[str] = None
    content: Optional[Content] = None
    is_error: Optional[bool] = None
    detail_shape: Optional[str] = None
    detail: Any = None
    result: Any = None
    of: Optional[Block] = None


@_event("event", "tool_progress")
class ToolProgress(Event):
    """A tool call is on its way."""

    __slots__ = ()
    call: Optional[str] = None
    status: Optional[str] = None
    content: Any = None
    confirmation: Any = None


@_event("event", "terminal")
class Terminal(Event):
    """Output for a terminal."""

    __slots__ = ()
    text: Optional[str] = None
    channel: Optional[str] = None
    source: Optional[str] = None
    spans: Any = None
    ansi: Any = None
    level: Optional[str] = None
    exit_code: Any = None
    raw_ansi: Optional[str] = None


@_event("event", "request")
class Request(Event):
    """The agent asks its host."""

    __slots__ = ()
    request_id: Optional[str] = None
    subtype: Optional[str] = None
    permission: Optional[Permission] = None


@_event("event", "response")
class Response(Event):
    """The agent answers its host."""

    __slots__ = ()
    request_id: Optional[str] = None
    ok: Optional[bool] = None
    body: Any = None
    error: Any = None


@_event("event", "withdraw")
class Withdraw(Event):
    """The agent takes a question back."""

    __slots__ = ()
    request_id: Optional[str] = None


@_event("event", "command")
class CommandResult(Event):
    """What came of a slash or ``@`` command."""

    __slots__ = ()
    command: Any = None
    result: Any = None


@_event("event", "hint")
class HintResult(Event):
    """Suggestions while the user types."""

    __slots__ = ()
    trigger: Optional[str] = None
    status: Optional[str] = None
    suggestions: Any = None
    metadata: Any = None
    message: Optional[str] = None


@_event("event", "heartbeat")
class Heartbeat(Event):
    """A sign of life."""

    __slots__ = ()
    status: Optional[str] = None
    ts: Any = None


@_event("event", "cancel_result")
class CancelResult(Event):
    """The answer to a cancel."""

    __slots__ = ()
    status: Optional[str] = None
    message: Optional[str] = None


@_event("event", "outcome")
class Outcome(Event):
    """How the turn ended; exactly one a turn. ``outcome``: success, refused, limit_turns …; ``synthetic``: the log has none, and this was made up."""

    __slots__ = ()
    outcome: Optional[str] = None
    is_error: Optional[bool] = None
    synthetic: Optional[bool] = None
    text: Optional[str] = None
    error: Optional[str] = None
    word: Optional[str] = None
    duration_ms: Any = None
    duration_api_ms: Any = None
    num_turns: Optional[int] = None
    cost_usd: Optional[float] = None
    cost_scope: Optional[str] = None
    usage: Optional[Usage] = None
    stop: Optional[str] = None
    denials: Any = None
    structured: Any = None
    request_id: Optional[str] = None


@_event("event", "fatal")
class Fatal(Event):
    """The program itself ends with an error."""

    __slots__ = ()
    message: Optional[str] = None
    kind: Optional[str] = None
    param: Any = None
    code: Any = None


@_event("event", "noise")
class Noise(Event):
    """Text that is no JSON."""

    __slots__ = ()
    text: Optional[str] = None


@_event("event", "unknown")
class Unknown(Event):
    """JSON of no type that the dialect knows."""

    __slots__ = ()
    line: Any = None


@_event("input", "prompt")
class HostPrompt(Event):
    """A prompt. ``source``: as in :class:`Prompt`."""

    __slots__ = ()
    source: Optional[str] = None
    content: Optional[Content] = None


@_event("input", "chat")
class ChatRequest(Event):
    """A request of the Qwen RFC."""

    __slots__ = ()
    model: Optional[str] = None
    from_: Optional[str] = None
    parts: Any = None
    command: Any = None
    tool_call: Optional[str] = None
    options: Any = None
    tools: Any = None
    messages: Any = None
    protocol_version: Any = None


@_event("input", "request")
class HostRequest(Event):
    """The host asks the agent."""

    __slots__ = ()
    request_id: Optional[str] = None
    subtype: Optional[str] = None
    permission: Optional[Permission] = None


@_event("input", "response")
class HostResponse(Event):
    """The host answers the agent."""

    __slots__ = ()
    request_id: Optional[str] = None
    ok: Optional[bool] = None
    body: Any = None
    error: Any = None


@_event("input", "withdraw")
class HostWithdraw(Event):
    """The host takes a question back."""

    __slots__ = ()
    request_id: Optional[str] = None


@_event("input", "hint")
class HintRequest(Event):
    """The user types."""

    __slots__ = ()
    trigger: Optional[str] = None
    text: Optional[str] = None
    cursor: Any = None
    context: Any = None


@_event("input", "hint_cancel")
class HintCancel(Event):
    """No suggestions are wanted any more."""

    __slots__ = ()


@_event("input", "heartbeat")
class HostHeartbeat(Event):
    """A sign of life."""

    __slots__ = ()
    interval_ms: Any = None


@_event("input", "cancel")
class Cancel(Event):
    """The turn is to end."""

    __slots__ = ()
    reason: Optional[str] = None


@_event("input", "keep_alive")
class KeepAlive(Event):
    """The line is to be kept open."""

    __slots__ = ()


@_event("input", "environment")
class Environment(Event):
    """Variables of the agent's environment."""

    __slots__ = ()
    variables: Any = None


@_event("input", "noise")
class HostNoise(Event):
    """Text that is no JSON."""

    __slots__ = ()
    text: Optional[str] = None


@_event("input", "unknown")
class HostUnknown(Event):
    """JSON of no type that the dialect knows."""

    __slots__ = ()
    line: Any = None
