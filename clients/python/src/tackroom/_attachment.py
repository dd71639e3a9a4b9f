"""A live runtime that was joined."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any

from ._connection import Connection
from ._mailbox import Queue
from ._methods import Methods
from ._subscription import Subscription
from .errors import ServerEnded, TackroomError
from .types import AttachResult, LaggedEvent, Lease, RuntimeEvent, RuntimeResponse


class Attachment(Subscription[AttachResult, RuntimeEvent]):
    """A runtime's events, first those that `result` replays, and what drives it.

    The events end with `lagged` (`cursor` is the `after` to attach again with; also where more than a bound wait here
    to be taken) or `disconnected`. Leaving it detaches, which gives up control.
    """

    opens, closes, tells, named = "runtime/attach", "runtime/detach", "runtime/event", "attachment"

    def __init__(self, methods: Methods, connection: Connection, params: Mapping[str, Any]) -> None:
        super().__init__(connection, params)
        self._methods = methods

    @property
    def id(self) -> str:
        """How the protocol's methods name it."""
        return self.result["attachment"]

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(TackroomError, ServerEnded):
            if detached := self._close():
                await detached

    def _box(self) -> Queue[RuntimeEvent]:
        self._replay: list[RuntimeEvent] = [*reversed(self.result["replay"])]
        self._seen = max([self.result["historyCursor"], *(_sequence(event) for event in self._replay)])
        self._queue: Queue[RuntimeEvent] = Queue()
        self._overrun = self._ended = False
        return self._queue

    def _told(self, params: dict[str, Any], size: int) -> None:
        event: RuntimeEvent = params["event"]
        if self._queue.put(event, size):
            self._seen = max(self._seen, _sequence(event))
        else:
            self._overrun = True
            self._close()

    async def _next(self) -> RuntimeEvent | None:
        if self._replay:
            return self._replay.pop()
        if self._ended:
            return None
        event: RuntimeEvent | None = await self._take()
        if event is None and self._overrun:
            event = LaggedEvent(kind="lagged", cursor=self._seen)
        self._ended = event is None or event["kind"] in ("lagged", "disconnected")
        return event

    async def submit(self, prompt: str, *, images: Sequence[str] | None = None) -> str:
        """Gives it a prompt and waits for the end of the turn: the reply. To stop waiting does not stop the turn."""
        images = None if images is None else list(images)
        return (await self._methods.runtime_submit(self.id, prompt, images=images))["reply"]

    async def send_input(self, prompt: str, *, images: Sequence[str] | None = None) -> None:
        """Gives it a prompt; its events tell the rest."""
        await self._methods.runtime_send_input(self.id, prompt, images=None if images is None else list(images))

    async def steer(self, prompt: str) -> None:
        """Gives the running turn a word."""
        await self._methods.runtime_steer(self.id, prompt)

    async def interrupt(self) -> bool:
        """Interrupts the running turn: whether there was one."""
        return (await self._methods.runtime_interrupt(self.id))["interrupted"]

    async def invoke(self, operation: dict[str, Any]) -> Any:
        """Does one of the operations of the descriptor: its result, as the runtime gave it."""
        return (await self._methods.runtime_invoke(self.id, operation))["result"]

    async def respond(self, response: RuntimeResponse) -> None:
        """Answers what it asked."""
        await self._methods.runtime_respond(self.id, response)

    async def describe(self) -> dict[str, Any]:
        """What it says of itself now."""
        return (await self._methods.runtime_describe(attachment=self.id))["descriptor"]

    async def lease(self) -> Lease:
        """Who drives and who looks."""
        return (await self._methods.runtime_lease(self.id))["lease"]

    async def heartbeat(self) -> Lease:
        """Renews. Needed only with `auto_renew=False`."""
        return (await self._methods.runtime_heartbeat(self.id))["lease"]

    async def acquire_control(self) -> Lease:
        """Drives it, where nobody else does."""
        return (await self._methods.runtime_acquire_control(self.id))["lease"]

    async def take_control(self) -> Lease:
        """Drives it, whoever did."""
        return (await self._methods.runtime_take_control(self.id))["lease"]

    async def close(self) -> None:
        """Ends the runtime."""
        await self._methods.runtime_close(self.id)


def _sequence(event: RuntimeEvent) -> int:
    """The runtime's own number; 0 for what is about the stream."""
    return 0 if event["kind"] == "lagged" or event["kind"] == "disconnected" else event["sequence"]
