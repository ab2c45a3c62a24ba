"""Reads `openai:messages` and `sharegpt` files as those who train on them do: check_training.py [--load] FILE...

Chat messages are validated against the types of the `openai` package, and members that nobody knows are told; of ShareGPT what LLaMA-Factory
takes calls apart with must find them. --load: `datasets` loads all sessions of a format from one file too, so that each column has one
type (`pip install datasets`). Prints what fails, how many sessions LLaMA-Factory would leave out because the two sides do not take turns,
and `N passed, M failed`.
"""

import json
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam
from pydantic import TypeAdapter, ValidationError

MESSAGES = TypeAdapter(list[ChatCompletionMessageParam])
TOOLS = TypeAdapter(list[ChatCompletionToolParam])
MEMBERS = {
    "system": {"content"},
    "developer": {"content"},
    "user": {"content", "name"},
    "assistant": {"content", "tool_calls", "refusal", "reasoning_content", "weight", "name"},
    "tool": {"content", "tool_call_id"},
}
ODD, EVEN = {"human", "observation"}, {"gpt", "function_call"}


def all_of(value):
    """Reads what the package validates only when it is read."""
    if isinstance(value, dict):
        return [all_of(part) for part in value.values()]
    if isinstance(value, list) or isinstance(value, Iterator) or type(value).__name__ == "ValidatorIterator":
        return [all_of(part) for part in value]
    return value


def message_faults(session):
    try:
        all_of(MESSAGES.validate_python(session["messages"]))
        all_of(TOOLS.validate_python(session.get("tools", [])))
    except ValidationError as error:
        for fault in error.errors(include_url=False)[:3]:
            yield f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}"
    for n, message in enumerate(session["messages"]):
        if odd := message.keys() - {"role"} - MEMBERS[message["role"]]:
            yield f"message {n}: {sorted(odd)}"
        content = message["content"]
        if not isinstance(content, str) and not (content is None and (message.get("tool_calls") or message.get("refusal"))):
            if message["role"] != "user" or all(part["type"] == "text" for part in content):
                yield f"message {n}: content {content!r:.80}"
        for call in message.get("tool_calls", []):
            if not isinstance(call["function"]["arguments"], str):
                yield f"message {n}: arguments are no text"


def call_faults(value):
    """What LLaMA-Factory does with a function_call: its calls stand in marks, or behind a thought."""
    marked = re.search(r"<tool_call>(.*?)</tool_call>", value, re.DOTALL)
    thought = re.search(r"<think>(.*?)</think>", value, re.DOTALL)
    text = marked.group(1) if marked else value.replace(thought.group(0), "") if thought else value
    try:
        calls = json.loads(text)
        for call in calls if isinstance(calls, list) else [calls]:
            call["name"], call["arguments"]
    except (ValueError, KeyError, TypeError) as error:
        yield f"no calls: {error!r}: {text!r:.200}"


def conversation_faults(session):
    for n, said in enumerate(session["conversations"]):
        if set(said) - {"weight"} != {"from", "value"} or not isinstance(said["value"], str):
            yield f"{n}: {said!r:.80}"
        if said["from"] == "function_call":
            yield from call_faults(said["value"])


def takes_turns(session):
    said = [one["from"] for one in session["conversations"] if one["from"] != "system"]
    return len(said) % 2 == 0 and all(one in (EVEN if n % 2 else ODD) for n, one in enumerate(said))


def main():
    files = [path for path in sys.argv[1:] if path != "--load"]
    good = bad = odd = 0
    kinds = {}
    for path in files:
        found = []
        for number, text in enumerate(open(path, encoding="utf-8"), 1):
            session = json.loads(text)
            of_openai = "messages" in session
            kinds.setdefault(of_openai, []).append(text)
            faults = message_faults if of_openai else conversation_faults
            found += [f"line {number}: {fault}" for fault in faults(session)]
            odd += not of_openai and not takes_turns(session)
        good, bad = good + (not found), bad + bool(found)
        for fault in found[:5]:
            print(f"{path}: {fault}"[:400])
    if "--load" in sys.argv:
        import datasets

        for of_openai, sessions in kinds.items():
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder, "sessions.jsonl")
                file.write_text("".join(sessions), encoding="utf-8")
                rows = datasets.load_dataset("json", data_files=str(file), split="train", cache_dir=folder)
            print(f"{'openai:messages' if of_openai else 'sharegpt'}: {rows.num_rows} rows, {rows.features}")
    if False in kinds:
        print(f"{odd} sessions in which the two sides do not take turns")
    print(f"{good} passed, {bad} failed")
    sys.exit(bool(bad) or not good)


main()
