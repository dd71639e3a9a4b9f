"""A home for the server, and what real programs left in it."""

import json
import os
import shutil
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from tackroom import Tackroom

REPOSITORY = Path(__file__).resolve().parents[3]
FIXTURES = REPOSITORY / "tests" / "fixtures"
BINARY = os.environ.get("TACKROOM_BIN") or str(REPOSITORY / "target" / "debug" / "tackroom")
DEADLINE = 60.0
"""Seconds after which a test has failed, whatever it waits for."""


def uuid(number: int) -> str:
    return f"00000000-0000-4000-9000-{number:012}"


class Home:
    """A user's home directory, empty at first."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.env = {"HOME": str(path), "PATH": os.environ["PATH"]}

    def spawn(self, **more: Any) -> AbstractAsyncContextManager[Tackroom]:
        return Tackroom.spawn(BINARY, env=self.env, **more)

    def with_stores(self) -> "Home":
        """Sessions that Claude Code and Codex wrote."""
        shutil.copytree(FIXTURES / "claude-code" / "projects", self.path / ".claude" / "projects")
        shutil.copytree(FIXTURES / "codex" / "v0.171.0", self.path / ".codex")
        return self

    def session(self, number: int, prompt: str, answer: str = "Done.") -> Path:
        """A session of one prompt and one answer; later numbers are newer."""
        file = self.path / ".claude" / "projects" / "-p" / f"{uuid(number)}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        self.append(number, "user", prompt)
        self.append(number, "assistant", answer)
        return file

    def append(self, number: int, role: str, text: str) -> None:
        file = self.path / ".claude" / "projects" / "-p" / f"{uuid(number)}.jsonl"
        line = file.read_bytes().count(b"\n")
        content: Any = text if role == "user" else [{"type": "text", "text": text}]
        model = {"model": "test-model", "id": f"m{line}"} if role == "assistant" else {}
        row = {
            "type": role,
            "uuid": f"{number}-{line}",
            "parentUuid": f"{number}-{line - 1}" if line else None,
            "sessionId": uuid(number),
            "cwd": "/p",
            "timestamp": f"2026-01-02T{number // 60 % 24:02}:{number % 60:02}:{line % 60:02}.000Z",
            "message": {"role": role, "content": content, **model},
        }
        with file.open("a", encoding="utf-8") as open_file:
            open_file.write(json.dumps(row) + "\n")


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
