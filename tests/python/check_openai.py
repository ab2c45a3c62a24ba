"""Reads `qwen` logs with the real `openai` package: check_openai.py [--live] FILE...

--live: the logs are of living sessions, whose models may write arguments that are no JSON.

Every chat.completion and chat.completion.chunk line is validated strictly against the package's own types; chunk logs then go
through its stream accumulator, turn by turn. Two exceptions, both forced by the RFC: `finish_reason:"error"`, and `x-qwen-*` entries
in `message.annotations` (the package's message type knows url_citation only). Prints what fails, then `N passed, M failed`.
"""

import json
import os
import re
import sys

from openai.lib.streaming.chat._completions import ChatCompletionStreamState
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from pydantic import TypeAdapter, ValidationError

TYPES = {"chat.completion": TypeAdapter(ChatCompletion), "chat.completion.chunk": TypeAdapter(ChatCompletionChunk)}
STATUS = {"pending", "executing", "success", "error", "canceled", "confirming"}
KINDS = {
    "string": {"text"},
    "file_diff": {"file_name", "diff", "text"},
    "todo_list": {"todos", "text"},
    "plan_summary": {"message", "plan_markdown", "text"},
    "task_execution": {"subagentName", "status", "toolCalls", "text"},
}
SIDE = {
    "control_request": {"request_id", "request"},
    "control_response": {"request_id", "response"},
    "result/command": {"session_id", "command", "result"},
    "result/command_hint": {"session_id", "trigger", "status"},
    "result/heartbeat": {"session_id", "status", "ts"},
    "result/cancel": {"session_id", "status"},
    "x-qwen-session-event": {"event", "message"},
}


#: Where the logs were converted from; a log is called after its path there.
GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "golden")


def body_of(choice):
    return choice.get("message") or choice.get("delta") or {}


def annotation_faults(annotation, copied):
    kind = annotation.get("type")
    if kind == "x-qwen-tool-display":
        if not annotation.get("tool_call_id"):
            yield "tool display without tool_call_id"
        if annotation.get("status") not in STATUS:
            yield f"tool display status {annotation.get('status')!r}"
        display = annotation.get("result_display")
        if annotation.get("status") in ("success", "error", "canceled"):
            if not isinstance(display, dict) or display.get("kind") not in KINDS:
                yield f"result_display {display!r:.80}"
            elif missing := KINDS[display["kind"]] - display.keys() - ({"text"} if copied else set()):
                yield f"result_display {display['kind']} lacks {sorted(missing)}"
    elif kind == "x-qwen-thought":
        if not isinstance(annotation.get("subject"), str) or not isinstance(annotation.get("description"), str):
            yield "thought without subject or description"
    elif kind == "x-qwen-terminal":
        if annotation.get("channel") not in ("stdout", "stderr"):
            yield "terminal without channel"
    elif kind == "x-qwen-session-event":
        if not isinstance(annotation.get("event"), str):
            yield "session event without its name"
    elif kind != "x-qwen-ansi":
        yield f"annotation {kind!r}"


def line_faults(line, copied):
    kind = line.get("object")
    if kind is None:
        if "error" in line:
            if not {"message", "type", "param", "code"} <= line["error"].keys():
                yield "error object lacks a member"
        elif line.get("type") not in SIDE:
            yield f"unknown line {line.get('type')!r}"
        elif missing := SIDE[line["type"]] - line.keys() - ({"session_id"} if copied else set()):
            yield f"{line['type']} lacks {sorted(missing)}"
        return
    plain = json.loads(json.dumps(line))
    for choice, original in zip(plain["choices"], line["choices"]):
        if choice.get("finish_reason") == "error":
            choice["finish_reason"] = "stop"
            if not (line.get("metadata") or {}).get("error"):
                yield "finish_reason error without metadata.error"
        if choice.get("message", {}).get("annotations"):
            choice["message"]["annotations"] = [a for a in choice["message"]["annotations"] if not a["type"].startswith("x-qwen-")]
        for annotation in body_of(original).get("annotations") or []:
            yield from annotation_faults(annotation, copied)
        for call in body_of(original).get("tool_calls") or []:
            if kind == "chat.completion" and "--live" not in sys.argv:
                try:
                    json.loads(call["function"]["arguments"])
                except ValueError:
                    yield f"arguments of {call.get('id')} are no JSON"
    try:
        TYPES[kind].validate_json(json.dumps(plain), strict=True)
    except ValidationError as error:
        for fault in error.errors(include_url=False):
            yield f"{kind}: {'.'.join(map(str, fault['loc']))}: {fault['msg']}"
    if not re.match(r"chatcmpl-", line.get("id", "")):
        yield f"id {line.get('id')!r}"


def accumulate(chunks):
    """Feeds a log's chunks to the official accumulator; a turn ends with the chunk that has no choices."""
    state, calls = ChatCompletionStreamState(), {}
    for chunk in chunks:
        # `error` is the RFC's own word; the package's type does not know it.
        legal = {**chunk, "choices": [{**c, "finish_reason": "stop"} if c.get("finish_reason") == "error" else c for c in chunk["choices"]]}
        for _ in state.handle_chunk(ChatCompletionChunk.model_validate(legal)):
            pass
        for choice in chunk["choices"]:
            for call in choice["delta"].get("tool_calls") or []:
                known = calls.setdefault(call["index"], {"id": None, "arguments": ""})
                known["id"] = call.get("id") or known["id"]
                known["arguments"] += call.get("function", {}).get("arguments") or ""
        if not chunk["choices"]:
            snapshot = state.current_completion_snapshot.choices[0].message
            made = [(c.id, c.function.arguments) for c in snapshot.tool_calls or []]
            wanted = [(calls[i]["id"], calls[i]["arguments"]) for i in sorted(calls)]
            if made != wanted:
                yield f"the accumulator made {made!r:.120} of {wanted!r:.120}"
            state, calls = ChatCompletionStreamState(), {}


def faults(path):
    chunks, sessions = [], set()
    # A log that was the RFC's before shows its tools as they were shown; only what we translate always has the text.
    name = os.path.basename(path)
    copied = name.startswith("qwen-") and not name.startswith("qwen-code-")
    # It also keeps the receipt that it had, or had not: the RFC's own examples begin without one.
    receipted = not copied or "protocol_version" in open(os.path.join(GOLDEN, name.replace("-", "/", 1)), encoding="utf-8").read()
    for number, text in enumerate(open(path, encoding="utf-8"), 1):
        line = json.loads(text)
        for fault in line_faults(line, copied):
            yield f"line {number}: {fault}"
        if line.get("object"):
            if receipted and line["id"] not in sessions and "protocol_version" not in (line.get("metadata") or {}):
                yield f"line {number}: a session begins without its receipt"
            sessions.add(line["id"])
        if line.get("object") == "chat.completion.chunk":
            chunks.append(line)
    try:
        yield from accumulate(chunks)
    except Exception as error:  # whatever the package raises is a fault of the log
        yield f"accumulator: {type(error).__name__}: {error}"


def main():
    good = bad = 0
    for path in [path for path in sys.argv[1:] if path != "--live"]:
        found = list(faults(path))
        good, bad = good + (not found), bad + bool(found)
        for fault in found[:5]:
            print(f"{path}: {fault}"[:400])
    print(f"{good} passed, {bad} failed")
    sys.exit(bool(bad) or not good)


main()
