"""The package as it is handed out."""

import asyncio
import re
import subprocess
import sys
from pathlib import Path

from support import BINARY, Home, uuid

PACKAGE = Path(__file__).resolve().parents[1]


def test_what_is_made_from_the_schema_is_fresh() -> None:
    command = [sys.executable, str(PACKAGE / "scripts" / "generate.py"), "--check"]
    made = subprocess.run(command, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr


async def test_the_example_of_the_readme_runs(home: Home, tmp_path: Path) -> None:
    readme = (PACKAGE / "README.md").read_text("utf-8")
    found = re.search(r"```python\n(.*?)```", readme, re.DOTALL)
    assert found
    home.session(1, "the only session")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "tackroom").symlink_to(BINARY)
    env = {**home.env, "PATH": f"{tmp_path / 'bin'}:{home.env['PATH']}", "PYTHONPATH": str(PACKAGE / "src")}
    running = await asyncio.create_subprocess_exec(
        sys.executable, "-u", "-W", "default", "-c", found[1], env=env, stdout=-1, stderr=-1
    )
    assert running.stdout and running.stderr
    said = []
    while line := await running.stdout.readline():
        said.append(line.decode().strip())
        if said[-1].startswith("from here on"):
            home.session(2, "the second session")
    errors = (await running.stderr.read()).decode()
    assert await running.wait() == 0, errors
    assert errors == ""
    assert said[0] == "persisted the only session"
    assert said[-1].endswith(uuid(2))
