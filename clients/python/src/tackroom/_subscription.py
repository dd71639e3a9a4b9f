"""What is opened, tells events, and is closed: a watch, a follower. Attachments are ones, too (`_attachment`)."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Mapping
from types import TracebackType
from typing import Any, ClassVar, Generic, Self, TypeVar, cast

from ._connection import Connection
from ._mailbox import Box, Changes, Mailbox, Queue
from .errors import ServerEnded
from .types import FollowResult, RegistryEvent, SessionEvent, WatchResult

Result = TypeVar("Result")
Event = TypeVar("Event")


class Subscription(ABC, Generic[Result, Event]):
    """Opened by `async with` and closed at its end, or opened and closed by `async for` alone.

    `result` is what the server answered when it was opened. One task at a time may take events.
    """

    opens: ClassVar[str]
    closes: ClassVar[str]
    tells: ClassVar[str]
    named: ClassVar[str] = "subscription"

    result: Result

    def __init__(self, connection: Connection, params: Mapping[str, Any]) -> None:
        self._connection, self._params = connection, params
        self._name: str | None = None
        self._held = False
        self._mailbox: Mailbox[Any] | None = None

    async def __aenter__(self) -> Self:
        self._held = True
        await self._open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    async def __aiter__(self) -> AsyncGenerator[Event, None]:
        if not self._held:
            await self._open()
        try:
            while (event := await self._next()) is not None:
                yield event
        finally:
            if not self._held:
                self._close()

    async def _open(self) -> None:
        wanted = True

        def arrived(result: Any) -> None:
            # What is told of it follows at once, so this is not left to the task that waits.
            if wanted:
                self.result, self._name = cast(Result, result), result[self.named]
                self._mailbox = Mailbox(self._box())
                self._connection.listen(self.tells, self._name, self._hear, self._mailbox.end)
            else:
                self._give_back(result[self.named])

        try:
            await self._connection.request(self.opens, self._params, arrived)
        except asyncio.CancelledError:
            wanted = False
            self._close()
            raise

    def _close(self) -> "asyncio.Future[Any] | None":
        """Listens no more, and tells the server: its answer, which need not be waited for."""
        if self._name is None:
            return None
        name, self._name = self._name, None
        self._connection.ignore(self.tells, name)
        if self._mailbox:
            self._mailbox.close()
        return self._give_back(name)

    def _give_back(self, name: str) -> "asyncio.Future[Any] | None":
        try:
            return self._connection.send(self.closes, {self.named: name})
        except ServerEnded:
            return None

    def _hear(self, params: dict[str, Any], size: int) -> None:
        self._told(params, size)
        if self._mailbox:
            self._mailbox.wake()

    async def _take(self) -> Any:
        return await self._mailbox.take() if self._mailbox else None

    @abstractmethod
    def _box(self) -> Box[Any]:
        """It was opened: where to put what is told."""

    @abstractmethod
    def _told(self, params: dict[str, Any], size: int) -> None:
        """A notification came, in a frame of so many bytes."""

    @abstractmethod
    async def _next(self) -> Event | None:
        """The next event; `None` after the last."""


class Watch(Subscription[WatchResult, RegistryEvent]):
    """The changes of what a query means: first all of it as `added`, then `synced`, then each change.

    After `resync` all comes again, and what is not told until `synced` is gone. What is not taken is told late as what
    it comes to: at most one change of each entry waits.
    """

    opens, closes, tells = "registry/watch", "registry/unwatch", "registry/event"

    revision: str | None = None
    """What to go on from as `since`, in another watch of this server; `None` until `synced` was taken."""

    def _box(self) -> Changes:
        self._changes = Changes()
        return self._changes

    def _told(self, params: dict[str, Any], size: int) -> None:
        self._changes.put(params["event"], params["revision"])

    async def _next(self) -> RegistryEvent | None:
        if (taken := await self._take()) is None:
            return None
        event: RegistryEvent = taken[0]
        if event["kind"] == "resync":
            self.revision = None
        elif event["kind"] == "synced" or self.revision:
            self.revision = taken[1]
        return event


class Follow(Subscription[FollowResult, SessionEvent]):
    """The messages of a session as they are written.

    `result["cursor"]` loads those that were there. Where more than a bound wait to be taken, they are dropped and one
    `rewritten` is told in their place, whose cursor loads what was missed.
    """

    opens, closes, tells = "session/follow", "session/unfollow", "session/event"

    def _box(self) -> Queue[SessionEvent]:
        self._queue: Queue[SessionEvent] = Queue()
        self._overrun = False
        return self._queue

    def _told(self, params: dict[str, Any], size: int) -> None:
        if not self._overrun and not self._queue.put(params["event"], size):
            self._overrun = True

    async def _next(self) -> SessionEvent | None:
        if self._overrun:
            self._close()
            await self._open()
            return {"kind": "rewritten", "cursor": self.result["cursor"]}
        event: SessionEvent | None = await self._take()
        return event
