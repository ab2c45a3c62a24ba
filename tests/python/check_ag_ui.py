"""Reads AG-UI logs as those who show them do: check_ag_ui.py FILE...

Each event is validated against the models of `ag-ui-protocol`, and by `ag-ui-validate` each run against the rules of the protocol: ids that
nothing else has, an end for everything that begins, arguments that are JSON. Fields without a value are left out, not null. Prints what
fails and `N passed, M failed`.
"""

import json
import sys

from ag_ui.core import Event
from ag_ui_validate import create_validator
from pydantic import TypeAdapter, ValidationError

EVENT = TypeAdapter(Event)


def event_faults(number, event):
    try:
        EVENT.validate_python(event)
    except ValidationError as error:
        for fault in error.errors(include_url=False)[:3]:
            yield f"line {number}: {event.get('type')}: {'.'.join(map(str, fault['loc']))}: {fault['msg']}"
    for name, value in event.items():
        if value is None:
            yield f"line {number}: {name} is null"


def run_faults(first, events):
    """`ag-ui-validate` looks at one run at a time."""
    validator = create_validator()
    for event in events:
        validator.feed(event)
    validator.finalize()
    for found in validator.report().diagnostics:
        if found.severity in ("error", "warning"):
            line = first + found.event_index if found.event_index >= 0 else "end"
            yield f"line {line}: {found.rule}: {found.message}"


def main():
    good = bad = 0
    for path in sys.argv[1:]:
        found, run, first = [], [], 1
        for number, text in enumerate(open(path, encoding="utf-8", newline="\n"), 1):
            event = json.loads(text)
            found += event_faults(number, event)
            if event.get("type") == "RUN_STARTED" and run:
                found += run_faults(first, run)
                run, first = [], number
            run.append(event)
        found += run_faults(first, run) if run else []
        good, bad = good + (not found), bad + bool(found)
        for fault in found[:5]:
            print(f"{path}: {fault}"[:400])
    print(f"{good} passed, {bad} failed")
    sys.exit(bool(bad) or not good)


main()
