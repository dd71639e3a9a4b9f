"""The server's process: begun, waited for, and never left behind."""

import asyncio
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping, Sequence
from contextlib import suppress
from os import PathLike
from signal import Signals

from .errors import BinaryMissing, CannotStart, ServerEnded

LINE_BYTES = 64 << 20
"""Bytes of a message of the server; more than it ever sends. No room is made before it is needed."""
STDERR_BYTES = 8 << 10
"""Bytes from the end of what it writes to its standard error that are kept."""
GRACE = 5.0
"""Seconds that it has to end by itself, and again after SIGTERM."""


def _cannot_start(error: OSError, program: str, cwd: str | PathLike[str] | None) -> CannotStart:
    """What is wrong with which of the two: the system names the directory where it is not the program."""
    if cwd is not None and error.filename == cwd:
        return CannotStart(error.errno, f"`{program}` cannot be started there: {error.strerror}", error.filename)
    if isinstance(error, FileNotFoundError):
        return BinaryMissing(error.errno, "there is no such program", program)
    return CannotStart(error.errno, f"this cannot be started: {error.strerror}", program)


class ServerProcess:
    """A running server; what it writes to its standard error is read all the time."""

    def __init__(self, process: Process) -> None:
        assert process.stdin and process.stdout and process.stderr
        self._process = process
        self.stdin, self.stdout, self._stderr = process.stdin, process.stdout, process.stderr
        self._tail = b""
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def start(
        cls, argv: Sequence[str], *, env: Mapping[str, str] | None, cwd: str | PathLike[str] | None
    ) -> "ServerProcess":
        """Starts it in a session of its own, so that a terminal's interrupt reaches the client alone."""
        try:
            process = await asyncio.create_subprocess_exec(
                *argv, stdin=PIPE, stdout=PIPE, stderr=PIPE, limit=LINE_BYTES, env=env, cwd=cwd, start_new_session=True
            )
        except OSError as error:
            raise _cannot_start(error, argv[0], cwd) from None
        return cls(process)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.returncode

    async def _listen(self) -> None:
        while chunk := await self._stderr.read(4096):
            self._tail = (self._tail + chunk)[-STDERR_BYTES:]

    async def fate(self, why: str) -> ServerEnded:
        """What became of it, after nothing more can be read of it. Where it does not end, it is made to."""
        self.stdin.close()
        await self._end()
        code = self._process.returncode
        how = "" if code is None else f" (signal {Signals(-code).name})" if code < 0 else f" (exit code {code})"
        return ServerEnded(why + how, code, self._tail.decode("utf-8", "replace").strip())

    async def leave(self) -> None:
        """Waits for its end after it was told to go, and sees to it."""
        self.stdin.close()
        try:
            await self._end()
        finally:
            # Also where the wait is cut short.
            if self._process.returncode is None:
                self._process.kill()
            self._listening.cancel()

    async def _end(self) -> None:
        for harder in (self._process.terminate, self._process.kill):
            try:
                async with asyncio.timeout(GRACE):
                    await self._process.wait()
                    # What it wrote last; somebody else may still have that end.
                    await asyncio.wait([self._listening], timeout=0.2)
                    return
            except TimeoutError:
                with suppress(ProcessLookupError):
                    harder()
        await self._process.wait()
