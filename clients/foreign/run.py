"""Runs each client in a home of its own, and looks at what it leaves. Called by run.sh, which installs them."""

import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
DEADLINE = 120
"""Seconds after which a client has failed."""

SESSION = "990cebda-6561-469d-88b4-03a913c4535d"
"""One that is there from the beginning."""
NEW = "2a3d4df5-4c98-41af-a24e-354c7007747f"
"""One that comes while the client watches."""


def stage(home: Path, silent: socket.socket) -> dict[str, str]:
    """A home with sessions of Claude Code and a runtime that does not answer: the environment to see it in."""
    stored = REPOSITORY / "tests" / "fixtures" / "claude-code" / "projects" / "-proj-proj"
    projects = home / ".claude" / "projects" / "-proj-proj"
    shutil.copytree(stored, projects)
    (projects / f"{NEW}.jsonl").unlink()
    receipt = {
        "schema": "supercode.live-runtime.v1",
        "receipt_id": secrets.token_hex(16),
        "runtime_session_id": "silent",
        "source": {"harness": "supercode", "session_id": "silent", "workspace": "/proj/proj"},
        "base_url": f"http://127.0.0.1:{silent.getsockname()[1]}",
        "token": "not-asked-for",
        "pid": os.getpid(),
        "created_at_ms": time.time_ns() // 1_000_000,
    }
    receipts = home / ".config" / "supercode" / "live-runtimes"
    receipts.mkdir(parents=True)
    receipts.chmod(0o700)
    path = receipts / f"{receipt['receipt_id']}.json"
    path.touch(mode=0o600)
    path.write_text(json.dumps(receipt))
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "TACKROOM_BIN": os.environ["TACKROOM_BIN"],
        "FOREIGN_SESSION": f"claude-code:{SESSION}",
        "FOREIGN_NEW": f"claude-code:{NEW}",
        "FOREIGN_NEW_FROM": str(stored / f"{NEW}.jsonl"),
        "FOREIGN_NEW_TO": str(projects / f"{NEW}.jsonl"),
    }


def left_in(home: Path) -> list[str]:
    """The processes that still have this home."""
    left = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            # A process that ended and is not waited for has an empty environment.
            if f"HOME={home}\0".encode() in (process / "environ").read_bytes():
                left.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            pass
    return left


def run(name: str, command: list[str], more: dict[str, str]) -> bool:
    with tempfile.TemporaryDirectory() as place, socket.create_server(("127.0.0.1", 0)) as silent:
        home = Path(place) / "home"
        home.mkdir()
        began = time.monotonic()
        done = subprocess.run(
            ["timeout", str(DEADLINE), *command], env={**stage(home, silent), **more}, cwd=place,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        )
        took = time.monotonic() - began
        left = left_in(home)
    good = done.returncode == 0 and not left
    print(f"{'ok  ' if good else 'FAIL'} {name} ({took:.1f} s)", flush=True)
    if not good:
        print(f"exit code {done.returncode}; left: {left}\n{done.stdout}", flush=True)
    return good


def recipe(place: Path) -> str:
    """Writes the code of docs/guides/emacs.md to a file and returns its path."""
    text = (REPOSITORY / "docs" / "guides" / "emacs.md").read_text("utf-8")
    [code] = re.findall(r"^```elisp\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    path = place / "tackroom.el"
    path.write_text(code, "utf-8")
    return str(path)


def main(place: Path, names: list[str]) -> int:
    nvim = place / "nvim"
    emacs = ["emacs", "-Q", "--batch"]
    clients: dict[str, tuple[list[str], dict[str, str]]] = {
        "vscode-jsonrpc": (["node", str(place / "vscode_jsonrpc.mjs")], {}),
        "acp-sdk": (["node", str(place / "acp_sdk.mjs")], {}),
        "pygls": ([str(place / "venv" / "bin" / "python"), str(HERE / "pygls_client.py")], {}),
        "nvim": (
            [str(nvim / "bin" / "nvim"), "--headless", "--clean", "-l", str(HERE / "nvim.lua")],
            {"VIMRUNTIME": str(nvim / "share" / "nvim" / "runtime")},
        ),
        "emacs": ([*emacs, "-l", str(HERE / "emacs.el")], {}),
        "emacs-recipe": ([*emacs, "-L", str(place), "-l", recipe(place), "-l", str(HERE / "emacs_recipe.el")], {}),
    }
    results = [run(name, *clients[name]) for name in names or clients]
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
