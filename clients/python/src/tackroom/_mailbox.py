"""What came for a subscription and was not taken yet: bounded, each in its own way."""

import asyncio
from collections import deque
from collections.abc import Sized
from copy import copy
from typing import Generic, Protocol, TypeVar, cast

from .errors import ServerEnded
from .types import RegistryEvent

QUEUED_EVENTS = 4096
"""Events of a session or a runtime that wait; as many as a runtime remembers."""
QUEUED_BYTES = 16 << 20
"""Bytes of them, as they crossed."""

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")


class Box(Sized, Protocol[T_co]):
    """Where things wait: `pop` gives the oldest."""

    def pop(self) -> T_co: ...


class Mailbox(Generic[T]):
    """Lets one consumer wait for what comes into a box."""

    def __init__(self, box: Box[T]) -> None:
        self._box = box
        self._changed = asyncio.Event()
        self._failure: ServerEnded | None = None
        self._closed = False

    def wake(self) -> None:
        """There is something in the box now."""
        self._changed.set()

    def end(self, failure: ServerEnded) -> None:
        """Nothing will come any more, and not because it was closed; what waits can still be taken."""
        self._failure = failure
        self._changed.set()

    def close(self) -> None:
        """Nothing will come any more; what waits can still be taken."""
        self._closed = True
        self._changed.set()

    async def take(self) -> T | None:
        """The oldest that waits; waits for one. `None` where nothing will come."""
        while not len(self._box):
            if self._closed:
                return None
            if self._failure:
                raise copy(self._failure)
            self._changed.clear()
            await self._changed.wait()
        return self._box.pop()


class Queue(Generic[T]):
    """Events in their order, up to a bound."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[T, int]] = deque()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, event: T, size: int) -> bool:
        """Whether there was room."""
        if self._waiting and (len(self) >= QUEUED_EVENTS or self._bytes + size > QUEUED_BYTES):
            return False
        self._waiting.append((event, size))
        self._bytes += size
        return True

    def pop(self) -> T:
        event, size = self._waiting.popleft()
        self._bytes -= size
        return event


class Changes:
    """Changes of the inventory: of each entry and each problem only what they come to.

    Who takes them late sees fewer steps and the same outcome, and at most one change of each entry waits.
    """

    def __init__(self) -> None:
        self._waiting: dict[object, tuple[RegistryEvent, str]] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, event: RegistryEvent, revision: str) -> None:
        if event["kind"] == "resync":
            self._waiting.clear()
        key = _subject(event)
        if key in self._waiting:
            before, first = self._waiting[key]
            after = _both(before, event)
            if after is None:
                del self._waiting[key]
            else:
                # To go on from the first of them repeats the second; from the second it could miss what lies between.
                self._waiting[key] = after, first
        else:
            self._waiting[key] = event, revision

    def pop(self) -> tuple[RegistryEvent, str]:
        return self._waiting.pop(next(iter(self._waiting)))


def _subject(event: RegistryEvent) -> object:
    if event["kind"] == "added" or event["kind"] == "updated":
        return "entry", event["entry"]["id"]
    if event["kind"] == "removed":
        return "entry", event["id"]
    if event["kind"] == "error" or event["kind"] == "recovered":
        problem = event["problem"]
        return tuple(problem.get(member) for member in ("harness", "path", "id", "endpoint", "reason"))
    return event["kind"]


def _both(before: RegistryEvent, after: RegistryEvent) -> RegistryEvent | None:
    """What two changes of one entry, or of one problem, come to; `None`: to nothing."""
    kinds = before["kind"], after["kind"]
    if kinds == ("added", "removed") or kinds == ("error", "recovered"):
        return None
    if kinds == ("added", "updated"):
        return cast(RegistryEvent, {**after, "kind": "added"})
    if kinds == ("removed", "added"):
        return cast(RegistryEvent, {**after, "kind": "updated"})
    return after
