"""Reads `claude` logs with the message parser of the real claude-agent-sdk: check_claude_sdk.py FILE...

Control lines belong to the SDK's control channel and never reach its parser. Prints what fails, then `N passed, M failed`.
"""

import json
import sys

from claude_agent_sdk._internal.message_parser import parse_message

CONTROL = ("control_request", "control_response", "control_cancel_request")


def faults(path):
    results = 0
    for number, text in enumerate(open(path, encoding="utf-8"), 1):
        if not text.startswith("{"):
            continue
        line = json.loads(text)
        if line.get("type") in CONTROL:
            continue
        try:
            parse_message(line)
        except Exception as error:  # whatever the parser raises is a fault of the line
            yield f"line {number}: {type(error).__name__}: {error}"
        results += line.get("type") == "result"
    if not results:
        yield "no result line"


def main():
    good = bad = 0
    for path in sys.argv[1:]:
        found = list(faults(path))
        good, bad = good + (not found), bad + bool(found)
        for fault in found[:5]:
            print(f"{path}: {fault}"[:400])
    print(f"{good} passed, {bad} failed")
    sys.exit(bool(bad) or not good)


main()
