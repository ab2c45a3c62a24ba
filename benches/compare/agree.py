"""Do two stream-chunk-json logs say the same? What may differ: where a text is cut into chunks, the order of lines that do
not depend on each other, envelopes and metadata. What must not: for each turn its session, reasoning, text, tool calls,
tool results, finish reasons and usage."""

import json
from itertools import zip_longest


def turns(path):
    """The turns of a log, each as a dict of what must agree."""
    turn = new_turn()
    with open(path, "rb") as log:
        for line in log:
            chunk = json.loads(line)
            if chunk.get("object") != "chat.completion.chunk":
                continue
            turn["session"] = chunk["id"]
            for choice in chunk["choices"]:
                read(choice, turn)
            if "usage" in chunk:
                usage = chunk["usage"]
                cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens")
                turn["usage"] = (usage["prompt_tokens"], usage["completion_tokens"], usage["total_tokens"], cached)
            if not chunk["choices"]:
                yield finished(turn)
                turn = new_turn()
    if turn != dict(new_turn(), session=turn["session"]):
        yield finished(turn)


def differences(left, right, most=5):
    """Where the logs at two paths disagree, as texts; empty when they do not."""
    found = []
    count = 0
    for count, (a, b) in enumerate(zip_longest(turns(left), turns(right)), 1):
        if a is None or b is None:
            found.append(f"turn {count} is in one log only")
            break
        for field in a:
            if a[field] != b[field]:
                found.append(f"turn {count}, {field}: {short(a[field])} and {short(b[field])}")
        if len(found) >= most:
            break
    if count == 0:
        found.append("there are no turns")
    return found


def new_turn():
    return {"session": None, "reasoning": [], "text": [], "calls": {}, "results": [], "finish": [], "usage": None}


def read(choice, turn):
    delta = choice.get("delta") or {}
    if delta.get("content"):
        turn["text"].append(delta["content"])
    if delta.get("reasoning_content"):
        turn["reasoning"].append(delta["reasoning_content"])
    for call in delta.get("tool_calls") or ():
        known = turn["calls"].setdefault(call["index"], [None, None, []])
        function = call.get("function") or {}
        known[0] = call.get("id") or known[0]
        known[1] = function.get("name") or known[1]
        known[2].append(function.get("arguments") or "")
    for note in delta.get("annotations") or ():
        if note["type"] == "x-qwen-tool-display":
            turn["results"].append((note["tool_call_id"], note["status"], note["result_display"].get("text")))
    if choice.get("finish_reason"):
        turn["finish"].append(choice["finish_reason"])


def finished(turn):
    turn["text"] = "".join(turn["text"])
    turn["reasoning"] = "".join(turn["reasoning"])
    turn["calls"] = [(call[0], call[1], "".join(call[2])) for _, call in sorted(turn["calls"].items())]
    turn["results"].sort()
    return turn


def short(value):
    text = repr(value)
    return text if len(text) <= 160 else f"{text[:120]}… ({len(text)} characters)"
