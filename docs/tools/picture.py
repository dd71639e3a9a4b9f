#!/usr/bin/env python3
"""Writes docs/picture.svg: `tackroom list` in a terminal, showing the sample sessions of `tackroom demo`.

With --check it fails if the file is stale. TACKROOM names the program; the default is target/debug/tackroom."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from html import escape
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
PICTURE = TOP / "docs/picture.svg"
PROGRAM = os.environ.get("TACKROOM", TOP / "target/debug/tackroom")
ROWS, COLUMNS = 50, 100
CELL, LINE, EDGE = 8.4, 20, 16
COLOURS = {31: "#f07178", 32: "#8fc27b", 33: "#e6b455", 34: "#6cb2eb", 35: "#c792ea", 36: "#5ccfe6", 90: "#8a8f98"}


def terminal_output():
    """Returns what the program writes to a terminal."""
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("4H", ROWS, COLUMNS, 0, 0))
    environment = {"TERM": "xterm-256color", "PATH": os.defpath, "TZ": "UTC"}
    program = subprocess.Popen([PROGRAM, "demo"], stdin=terminal, stdout=terminal, stderr=terminal, env=environment)
    os.close(terminal)
    output = b""
    while True:
        try:
            part = os.read(controller, 1 << 16)
        except OSError:
            break
        if not part:
            break
        output += part
    if program.wait() != 0:
        sys.exit(f"{PROGRAM} demo failed")
    return output.decode()


def spans(line):
    """Yields the pieces of a line, each with its style."""
    style = {}
    for piece in re.split(r"(\x1b\[[\d;]*m)", line):
        if not piece.startswith("\x1b["):
            if piece:
                yield piece, dict(style)
            continue
        for code in (int(code or 0) for code in piece[2:-1].split(";")):
            if code == 0:
                style.clear()
            elif code == 1:
                style["font-weight"] = "bold"
            elif code == 2:
                style["fill-opacity"] = "0.6"
            elif code == 39:
                style.pop("fill", None)
            elif code in COLOURS:
                style["fill"] = COLOURS[code]


def drawn(lines):
    width, height = COLUMNS * CELL + 2 * EDGE, len(lines) * LINE + 2 * EDGE
    rows = []
    for number, line in enumerate(lines):
        column, pieces = 0, []
        for text, style in spans(line):
            attributes = "".join(f' {name}="{value}"' for name, value in style.items())
            for word in re.finditer(r"\S+", text):
                # A position for each character keeps the columns straight in every font.
                cells = " ".join(f"{EDGE + (column + at) * CELL:g}" for at in range(word.start(), word.end()))
                pieces.append(f'<tspan x="{cells}"{attributes}>{escape(word[0])}</tspan>')
            column += len(text)
        rows.append(f'<text y="{EDGE + number * LINE + 14}">{"".join(pieces)}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}">\n'
        f'<rect width="100%" height="100%" rx="8" fill="#1d2026"/>\n'
        f'<g fill="#d6dae0" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14">\n'
        + "\n".join(rows)
        + "\n</g>\n</svg>\n"
    )


def main():
    lines = [line.rstrip() for line in terminal_output().replace("\r", "").split("\n")]
    begin = next(number for number, line in enumerate(lines) if "STATE" in line and "HARNESS" in line)
    table = lines[begin : lines.index("", begin)]
    picture = drawn(["\x1b[32m$\x1b[0m \x1b[1mtackroom list\x1b[0m"] + table)
    if "--check" not in sys.argv:
        PICTURE.write_text(picture)
    elif not PICTURE.exists() or PICTURE.read_text() != picture:
        sys.exit("docs/picture.svg is stale: run docs/tools/picture.py")


main()
