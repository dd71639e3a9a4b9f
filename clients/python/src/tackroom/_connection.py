"""JSON-RPC over a pair of pipes, one message a line."""

import asyncio
import itertools
import json
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from typing import Any, cast

from .errors import ServerEnded, TackroomError
from .types import Limits

log = logging.getLogger("tackroom")

FRAME_BYTES = 16 << 20
"""Bytes of a message, until `initialize` tells the server's own bound."""
REQUESTS_IN_FLIGHT = 64
"""Requests that are sent before one is answered, until `initialize` tells the server's own bound."""

Arrived = Callable[[Any], None]
"""Is told a result when it comes, before anything that comes after it."""
Listener = Callable[[dict[str, Any], int], None]
"""Is told the params of a notification, and how many bytes its frame had."""


class Connection:
    """Requests in flight, and who listens to which notifications.

    It always goes on reading, so that an answer never waits for a consumer of events; what those do not take waits in a
    mailbox that is bounded (`_mailbox`).
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._ids = itertools.count(1)
        self._pending: dict[int, _Request] = {}
        self._listeners: dict[tuple[str, object], tuple[Listener, Callable[[ServerEnded], None]]] = {}
        self._failure: ServerEnded | None = None
        self._frame_bytes = FRAME_BYTES
        self._slots = asyncio.Semaphore(REQUESTS_IN_FLIGHT)
        self._draining = asyncio.Lock()

    def keep(self, limits: Limits) -> None:
        """Keeps to what the server bears. To be told before there is a second request."""
        self._frame_bytes = limits["frameBytes"]
        self._slots = asyncio.Semaphore(limits["requestsInFlight"])

    async def request(self, method: str, params: Mapping[str, Any], arrived: Arrived | None = None) -> Any:
        """Asks, and waits for the answer; a caller that is cancelled cancels the request. `arrived` is told also what
        comes after that."""
        slots = self._slots
        await slots.acquire()
        try:
            number, request = self._begin(method, params, arrived, slots.release)
        except BaseException:
            slots.release()
            raise
        try:
            with suppress(ConnectionError):
                async with self._draining:
                    await self._writer.drain()
            return await request.answer
        except asyncio.CancelledError:
            self.notify("$/cancelRequest", {"id": number})
            raise

    def send(self, method: str, params: Mapping[str, Any]) -> "asyncio.Future[Any]":
        """Asks at once, whatever else is in flight. The answer need not be waited for."""
        return self._begin(method, params, None, lambda: None)[1].answer

    def _begin(
        self, method: str, params: Mapping[str, Any], arrived: Arrived | None, over: Callable[[], None]
    ) -> tuple[int, "_Request"]:
        number = next(self._ids)
        self._write({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        answer = asyncio.get_running_loop().create_future()
        answer.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._pending[number] = request = _Request(answer, arrived, over)
        return number, request

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        with suppress(ServerEnded):
            self._write({"jsonrpc": "2.0", "method": method, "params": params})

    def _write(self, message: dict[str, Any]) -> None:
        # What the server cannot read it answers without an id, so it is refused here, where it is known what it is.
        frame = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode() + b"\n"
        if len(frame) > self._frame_bytes:
            raise ValueError(f"a message of {len(frame)} bytes; the server takes {self._frame_bytes}")
        if self._failure:
            raise copy(self._failure)
        self._writer.write(frame)

    def listen(self, method: str, name: object, told: Listener, ended: Callable[[ServerEnded], None]) -> None:
        """From now on `told` is told the notifications of this method about what has this name."""
        self._listeners[method, name] = told, ended

    def ignore(self, method: str, name: object) -> None:
        self._listeners.pop((method, name), None)

    async def read(self) -> str:
        """Reads until nothing more can be read: why."""
        line = b""
        while True:
            try:
                line = await self._reader.readuntil(b"\n")
                message = json.loads(line)
                if not isinstance(message, dict):
                    raise ValueError
                self._dispatch(cast(dict[str, Any], message), len(line))
            except asyncio.IncompleteReadError:
                return "the server closed its output"
            except asyncio.LimitOverrunError:
                return "the server sent a message that is too long"
            except ValueError:
                return f"the server sent what is no message: {line[:80]!r}"

    def _dispatch(self, message: dict[str, Any], size: int) -> None:
        if "method" in message:
            params: dict[str, Any] = message.get("params") or {}
            name = params.get("subscription", params.get("attachment", params.get("token")))
            told, _ = self._listeners.get((message["method"], name), (None, None))
            if told:
                told(params, size)
        elif (number := message.get("id")) is not None:
            if request := self._pending.pop(number, None):
                request.settle(message)
        else:
            # It could not read a message of ours, and cannot say which.
            log.error("the server could not read a message: %s", message.get("error"))
            for request in self._taken():
                request.settle(message)

    def _taken(self) -> list["_Request"]:
        pending = list(self._pending.values())
        self._pending.clear()
        return pending

    def fail(self, failure: ServerEnded) -> None:
        """Nothing can be asked any more, and nothing will come."""
        if self._failure:
            return
        self._failure = failure
        for request in self._taken():
            request.end(failure)
        for _, ended in self._listeners.values():
            ended(failure)
        self._listeners.clear()


@dataclass
class _Request:
    """A request whose answer has not come. `over` is told once that it has."""

    answer: "asyncio.Future[Any]"
    arrived: Arrived | None
    over: Callable[[], None]

    def settle(self, message: dict[str, Any]) -> None:
        if "result" not in message:
            return self.end(TackroomError.of(message.get("error") or {}))
        if self.arrived:
            self.arrived(message["result"])
        self.over()
        if not self.answer.done():
            self.answer.set_result(message["result"])

    def end(self, failure: Exception) -> None:
        self.over()
        if not self.answer.done():
            self.answer.set_exception(copy(failure))
