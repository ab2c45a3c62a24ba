"""Events: the same as ``agentglot:events``, for every golden log; classes that have all members and no others."""

import copy
import dataclasses
import json
import pickle
import re

import pytest
from conftest import GOLDEN, ROOT

import agentglot
from agentglot import model

LOGS = sorted(
    path
    for path in GOLDEN.rglob("*")
    if path.suffix in (".jsonl", ".json", ".sse") and not {"expected", "hostile"} & set(path.relative_to(GOLDEN).parts)
)


def lines(log):
    """What is converted, without the heads of sessions."""
    text = agentglot.convert(log, to="agentglot", on_damage="ignore").decode()
    return [line for line in text.split("\n") if line and not line.startswith('{"agentglot"')]


def test_events_of_all_goldens_are_their_lines():
    kinds = set()
    logs = 0
    for log in LOGS:
        try:
            expected = lines(log)
        except agentglot.UnclearError:
            continue
        logs += 1
        # The log of a host is told by the agent's beside it, which `events` does not look for.
        from_ = log.name.replace(".in.jsonl", ".out.jsonl")
        beside = log.with_name(from_)
        found = agentglot.detect(beside) if beside != log and beside.exists() else None
        read = list(agentglot.events(log, from_=found.format if found else None, on_damage="ignore"))
        assert [event.to_json() for event in read] == expected, log
        for event, line in zip(read, expected):
            said = json.loads(line)
            assert type(event) is model.CLASSES[("input", said["input"]) if "event" not in said else ("event", said["event"])], line
            kinds.add(type(event))
            names = {model._key(field.name) for field in dataclasses.fields(event)}
            assert said.keys() - {"event", "input" if "event" not in said else ""} <= names, line
            for field in dataclasses.fields(event):
                value = getattr(event, field.name)
                as_json = json.loads(json.dumps(value, default=model._json))
                wanted = said.get(model._key(field.name)) if not (event.host and field.name == "input") else None
                assert as_json == without_nulls(wanted) or as_json == wanted, (line, field.name)
    assert logs > 100 and len(kinds) > 20


def without_nulls(value):
    """Parts that are ``null`` are ``None``, and those are not written."""
    if isinstance(value, dict):
        return {name: without_nulls(member) for name, member in value.items() if member is not None}
    if isinstance(value, list):
        return [without_nulls(element) for element in value]
    return value


def test_classes_have_the_members_of_the_page():
    """The page of the format and the classes name the same events with the same members."""
    page = (ROOT / "docs" / "agentglot.md").read_text()
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| ([^|]*) \|", page.split("## Events")[1].split("\n## ")[0], re.M)
    named = {name: members for names, members in rows[1:] for name in re.findall(r"`(\w+)`", names)}
    assert named.keys() == {name for tag, name in model.CLASSES if tag == "event" and name}
    for name, text in named.items():
        members = set(re.findall(r"\w+", re.sub(r"\{[^}]*\}|\([^)]*\)", "", text)))
        declared = {model._key(field.name) for field in dataclasses.fields(model.CLASSES["event", name])}
        if text[:2] != "as":
            own = declared - set(model.COMMON)
            shared = name in ("request", "response", "withdraw")
            assert own <= members and (shared or members - own <= {"and", "one", "of"}), name


def test_an_event_is_a_dataclass(log):
    events = list(agentglot.events(log))
    result = next(event for event in events if isinstance(event, agentglot.ToolResult))
    assert dataclasses.asdict(result)["call"] == result.call
    changed = dataclasses.replace(result, status="denied")
    assert changed != result and changed.status == "denied" and changed.content == result.content
    assert dataclasses.replace(changed, status=result.status) == result
    assert pickle.loads(pickle.dumps(result)) == copy.copy(result) == result and len({result, copy.copy(result)}) == 1
    assert "ToolResult(" in repr(result) and result.call in repr(result)
    with pytest.raises(AttributeError):
        result.call = "other"
    with pytest.raises(TypeError):
        agentglot.ToolResult(colour="red")
    usage = next(event.usage for event in events if getattr(event, "usage", None))
    assert isinstance(usage, agentglot.Usage) and usage.scope in ("round", "turn", "session")
    # A list made by hand is a log of its own.
    written = "\n".join(event.to_json() for event in events).encode()
    assert list(agentglot.events(b'{"agentglot":"events","version":1,"source":"claude"}\n' + written)) == events


def test_numbers_and_texts_are_those_of_json():
    line = {"event": "delta", "index": 0, "text": 'a "quoted"\n\ud800 \u00e9 line', "other": {"n": 10**30, "f": 1.5, "e": 1e3, "t": [True, None]}}
    (event,) = agentglot.events(b'{"agentglot":"events","version":1}\n' + json.dumps(line).encode() + b"\n", from_="agentglot")
    assert event.text == line["text"] and event.other == line["other"] and event.index == 0


def test_reading_can_stop_and_go_on(log):
    with agentglot.events(log) as events:
        first = next(events)
        assert events.format == "claude"
        second = next(iter(events))
        assert first != second
    assert list(events) == []
    log = b'{"type":"assistant","session_id":"s","message":{"role":"assistant","content":[{"type":"text","text":"a"}]}}\n'
    damaged = log + b'{"type":"assistant","session_id":\n' + log.replace(b'"a"', b'"b"')
    reading = agentglot.events(damaged, from_="cursor")
    found, damage = [], []
    while True:
        try:
            found.append(next(reading))
        except agentglot.DamagedError as error:
            damage.append((error.line, error.byte))
        except StopIteration:
            break
    assert damage and damage[0][0] == 2
    texts = [event.blocks[0].text if isinstance(event, agentglot.Reply) else event.text for event in found if isinstance(event, (agentglot.Reply, agentglot.Delta))]
    assert texts == ["a", "b"]


def test_sessions_are_put_together(log):
    (session,) = agentglot.sessions(log)
    (turn,) = session.turns
    assert turn.outcome.outcome == "success" and turn.session == session.id
    assert turn.calls and all(call.succeeded for call in turn.calls) and turn.calls[0].result.call == turn.calls[0].id
    assert turn.text and session.facts.model
    results = {event.call for event in agentglot.events(log) if isinstance(event, agentglot.ToolResult)}
    assert results == {call.id for call in turn.calls}
    for path in LOGS:
        try:
            assert isinstance(agentglot.sessions(path, on_damage="ignore"), list)
        except agentglot.UnclearError:
            pass
