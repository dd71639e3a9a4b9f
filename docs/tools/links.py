#!/usr/bin/env python3
"""Fails if a link in the given Markdown files points to a file that does not exist."""

import re
import sys
from pathlib import Path

bad = [
    f"{name}: {target}"
    for name in sys.argv[1:]
    for target in re.findall(r"\]\(([^)#\s]+)", Path(name).read_text())
    if "://" not in target and not (Path(name).parent / target).exists()
]
sys.exit("broken links:\n" + "\n".join(bad) if bad else 0)
