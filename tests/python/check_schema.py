"""Validates every line of logs against the schema of their dialect: check_schema.py SCHEMA FILE...

SCHEMA is what `agentglot schema` writes. Lines that are no JSON objects are passed over. Prints what does not fit, then `N passed, M failed`.
"""

import json
import sys

from jsonschema import Draft202012Validator


def main(schema, logs):
    with open(schema) as file:
        schema = json.load(file)
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    passed = failed = 0
    for log in logs:
        with open(log, encoding="utf-8", errors="replace") as file:
            for number, line in enumerate(file, 1):
                try:
                    value = json.loads(line)
                except ValueError:
                    continue
                if not isinstance(value, dict):
                    continue
                error = next(validator.iter_errors(value), None)
                if error is None:
                    passed += 1
                else:
                    failed += 1
                    print(f"{log}:{number}: {error.json_path}: {error.message[:300]}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


sys.exit(main(sys.argv[1], sys.argv[2:]))
