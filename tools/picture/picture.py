#!/usr/bin/env python3
"""Draws what the program shows on a terminal of 80 columns, as SVG: the picture of the README.

Usage: tools/picture/picture.py target/release/agentglot golden/cursor/read_edit.jsonl > docs/show.svg
"""

import html
import re
import subprocess
import sys
import unicodedata

COLUMNS, ADVANCE, LINE, MARGIN = 80, 8.4, 19, 16
COLOURS = {31: "#ff8a84", 32: "#63c174", 33: "#eab676", 34: "#7ab7ff", 35: "#e394cf", 36: "#6cc7d6"}
TEXT, QUIET, PAPER = "#e3e6e8", "#9aa4ad", "#14171a"


def width(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def pieces(line):
    """The texts of a line and how each looks."""
    look = {}
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        codes = re.fullmatch(r"\x1b\[([0-9;]*)m", part)
        if not codes:
            if part:
                yield part, dict(look)
            continue
        for code in (int(code or 0) for code in codes.group(1).split(";")):
            if code == 0:
                look = {}
            elif code == 1:
                look["font-weight"] = "bold"
            elif code == 2:
                look["fill"] = QUIET
            elif code == 3:
                look["font-style"] = "italic"
            elif code == 4:
                look["text-decoration"] = "underline"
            elif code in COLOURS:
                look["fill"] = COLOURS[code]


def main():
    program, log = sys.argv[1:]
    asked = [program, "show", "--utc", "--no-pager", "--color", "always", "--width", str(COLUMNS), log]
    shown = subprocess.run(asked, check=True, capture_output=True, text=True).stdout
    lines = [f"\x1b[2m$\x1b[0m agentglot show {log}", ""] + shown.rstrip("\n").split("\n")
    wide, high = COLUMNS * ADVANCE + 2 * MARGIN, len(lines) * LINE + 2 * MARGIN
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:g}" height="{high}" viewBox="0 0 {wide:g} {high}" role="img">',
        f"<title>{html.escape(f'agentglot show {log} on a terminal')}</title>",
        f'<rect width="100%" height="100%" rx="8" fill="{PAPER}"/>',
        f'<g font-family="ui-monospace, DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14" fill="{TEXT}">',
    ]
    for number, line in enumerate(lines):
        column = 0
        for text, look in pieces(line):
            if text.strip():
                # Wherever the font is another one, columns stay columns.
                place = f'x="{MARGIN + column * ADVANCE:g}" y="{MARGIN + (number + 1) * LINE - 5}" textLength="{width(text) * ADVANCE:g}"'
                how = "".join(f' {name}="{value}"' for name, value in look.items())
                # Blanks of another kind are not drawn together.
                drawn = html.escape(text, quote=False).replace(" ", "\u00a0")
                out.append(f"<text {place}{how}>{drawn}</text>")
            column += width(text)
    print("\n".join([*out, "</g>", "</svg>"]))


main()
