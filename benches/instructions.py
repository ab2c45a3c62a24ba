#!/usr/bin/env python3
"""Counts the instructions that a conversion takes for each byte of its log, which no other work on the machine reaches.

    cargo build --release -p agentglot-adapters --example convert && cargo build --release --example generate
    python3 benches/instructions.py [--mb 4] [--only TEXT] [--keep FOLDER]

It needs valgrind. Each row is a log of `generate`, with the number that it is held to where there is one. --keep leaves what callgrind has
found in a folder, one file for each row, for callgrind_annotate.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

# The log, its dialect, the target, whether tools keep their names, and the bar.
ROWS = [
    ("recordings:claude", "claude", "qwen:stream-chunk-json", False, 9),
    ("recordings:claude", "claude", "cursor", False, 9),
    ("recordings:claude", "claude", "agentglot:events", False, 10),
    ("recordings:qwen-code", "qwen-code", "qwen:stream-chunk-json", False, 8),
    ("recordings:tricode", "tricode", "qwen:stream-chunk-json", False, 22),
    ("recordings:tricode", "tricode", "cursor", False, 22),
    ("claude-partial", "claude", "qwen:stream-chunk-json", True, 5),
    ("claude-partial", "claude", "qwen:stream-chunk-json", False, 6),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mb", type=int, default=4, help="the size of each log")
    parser.add_argument("--only", default="", help="rows whose text has this in it")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for what callgrind has found")
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "examples"
    parser.add_argument("--convert", type=pathlib.Path, default=target / "convert")
    parser.add_argument("--generate", type=pathlib.Path, default=target / "generate")
    options = parser.parse_args()
    print("| log | to | tools | instructions a byte | bar |\n|---|---|---|--:|--:|", flush=True)
    missed = False
    with tempfile.TemporaryDirectory() as folder:
        for row, (kind, source, to, verbatim, bar) in enumerate(ROWS):
            names = "verbatim" if verbatim else "native"
            text = f"| `{kind}` | `{to}` | {names} |"
            if options.only not in text:
                continue
            log = pathlib.Path(folder) / kind.replace(":", "-")
            if not log.exists():
                with log.open("wb") as out:
                    subprocess.run([options.generate, kind, f"{options.mb}MB"], stdout=out, check=True)
            found = (options.keep or pathlib.Path(folder)) / f"callgrind.{row}.{log.name}"
            command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={found}", options.convert, source, to]
            with log.open("rb") as given:
                run = subprocess.run(
                    command + ["--verbatim"] * verbatim,
                    stdin=given,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    text=True,
                    check=False,
                )
            counted = re.search(r"Collected : (\d+)", run.stderr)
            if run.returncode or not counted:
                sys.exit(f"{kind} to {to} failed:\n{run.stderr}")
            rate = int(counted[1]) / log.stat().st_size
            missed |= rate > bar
            print(f"{text} {rate:.1f} | {bar} |", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
