"""What can go wrong."""

from typing import Any


class TackroomError(Exception):
    """The server answered a request with an error.

    `reason` is the stable word to switch on (`not_found`, `unauthorized`, `busy`, ...); `code` is JSON-RPC's number and
    `data` all that the server says besides, as `permission` with `unauthorized`.
    """

    def __init__(self, message: str, code: int, reason: str, data: dict[str, Any]) -> None:
        super().__init__(message, code, reason, data)
        self.message, self.code, self.reason, self.data = message, code, reason, data

    @classmethod
    def of(cls, error: dict[str, Any]) -> "TackroomError":
        """What the `error` member of an answer says."""
        data: dict[str, Any] = error.get("data") or {}
        return cls(error.get("message", "no message"), error.get("code", 0), data.get("reason", ""), data)

    def __str__(self) -> str:
        return f"{self.message} ({self.reason}, {self.code})"


class ServerEnded(ConnectionError):
    """The server is gone, and with it all that was asked and opened.

    `returncode` is its exit code (negative: the signal that killed it), `stderr` the end of what it wrote there.
    """

    def __init__(self, why: str, returncode: int | None = None, stderr: str = "") -> None:
        super().__init__(why, returncode, stderr)
        self.why, self.returncode, self.stderr = why, returncode, stderr

    def __str__(self) -> str:
        return f"{self.why}; it wrote: {self.stderr}" if self.stderr else self.why


class CannotStart(OSError):
    """The server cannot be started: `filename` is no program, or no directory to start it in."""


class BinaryMissing(CannotStart, FileNotFoundError):
    """The program is not there."""
