#!/usr/bin/env python3
"""Fails where a link of the given Markdown files leads to no file of the project."""

import re
import sys
from pathlib import Path

bad = [
    f"{name}: {target}"
    for name in sys.argv[1:]
    for target in re.findall(r"\]\(([^)#\s]+)", Path(name).read_text())
    if "://" not in target and not (Path(name).parent / target).exists()
]
sys.exit("links that lead nowhere:\n" + "\n".join(bad) if bad else 0)
