"""What is hard to bring about with a real server: races, floods and broken answers."""

import asyncio
import json
from typing import Any, cast

import pytest

from tackroom import Attachment, Follow, Tackroom, TackroomError, Watch, _mailbox
from tackroom._connection import Connection
from tackroom._methods import Methods
from tackroom.types import RegistryEvent


class Writer:
    """Keeps what is written."""

    def __init__(self) -> None:
        self.written: list[dict[str, Any]] = []

    def write(self, frame: bytes) -> None:
        self.written.append(json.loads(frame))

    async def drain(self) -> None:
        pass


class Wire:
    """A connection whose server is the test."""

    def __init__(self) -> None:
        self.reader = asyncio.StreamReader()
        self.writer = Writer()
        self.connection = Connection(self.reader, cast(asyncio.StreamWriter, self.writer))
        self.reading = asyncio.create_task(self.connection.read())

    def say(self, *messages: dict[str, Any]) -> None:
        self.reader.feed_data(b"".join(json.dumps({"jsonrpc": "2.0", **one}).encode() + b"\n" for one in messages))

    async def asked(self, count: int) -> list[dict[str, Any]]:
        """What was asked, once that is so much."""
        while len(self.writer.written) < count:
            await asyncio.sleep(0)
        return self.writer.written

    async def settle(self) -> None:
        for _ in range(10):
            await asyncio.sleep(0)


def event(subscription: str, kind: str, number: int = 0) -> dict[str, Any]:
    what: dict[str, Any] = {"kind": kind}
    if kind in ("added", "updated"):
        what["entry"] = {"id": f"e{number}"}
    if kind == "removed":
        what["id"] = f"e{number}"
    params = {"subscription": subscription, "revision": f"r{number}", "event": what}
    return {"method": "registry/event", "params": params}


async def test_what_follows_the_answer_in_the_same_breath_is_not_lost() -> None:
    wire = Wire()
    watch = Watch(wire.connection, {})
    opening = asyncio.create_task(watch.__aenter__())
    await wire.asked(1)
    wire.say({"id": 1, "result": {"subscription": "s", "revision": "r"}}, event("s", "added", 1), event("s", "synced"))
    await opening
    events = aiter(watch)
    assert [(await anext(events))["kind"], (await anext(events))["kind"]] == ["added", "synced"]


async def test_what_is_opened_after_nobody_wants_it_is_closed() -> None:
    wire = Wire()
    opening = asyncio.create_task(Watch(wire.connection, {}).__aenter__())
    await wire.asked(1)
    opening.cancel()
    await asyncio.gather(opening, return_exceptions=True)
    asked = await wire.asked(2)
    assert (asked[1]["method"], asked[1]["params"]) == ("$/cancelRequest", {"id": 1})
    wire.say({"id": 1, "result": {"subscription": "s", "revision": "r"}})
    asked = await wire.asked(3)
    assert (asked[2]["method"], asked[2]["params"]) == ("registry/unwatch", {"subscription": "s"})


async def test_a_message_that_the_server_could_not_read_fails_what_waits() -> None:
    wire = Wire()
    waiting = asyncio.create_task(wire.connection.request("ping", {}))
    await wire.asked(1)
    wire.say({"id": None, "error": {"code": -32700, "message": "bad", "data": {"reason": "parse_error"}}})
    with pytest.raises(TackroomError) as failed:
        await waiting
    assert failed.value.reason == "parse_error"


async def test_answers_may_come_in_any_order_and_what_nobody_asked_is_passed_over() -> None:
    wire = Wire()
    first, second = (asyncio.create_task(wire.connection.request(name, {})) for name in ("a", "b"))
    await wire.asked(2)
    wire.say({"id": 99, "result": 0}, {"method": "no/such"}, event("unknown", "synced"), {"id": 2, "result": "b"})
    assert await second == "b"
    wire.say({"id": 1, "result": "a"})
    assert await first == "a"


async def test_progress_is_told_to_the_one_who_asked() -> None:
    wire = Wire()
    client = Tackroom(wire.connection, cast(Any, None))
    told: list[int] = []
    asking = client.request("session/load", {"id": "x"}, progress=lambda value: told.append(value["done"]))
    waiting = asyncio.create_task(asking)
    token = (await wire.asked(1))[0]["params"]["_meta"]["progressToken"]
    for number in (1, 2):
        wire.say({"method": "$/progress", "params": {"token": token, "value": {"message": "reading", "done": number}}})
    wire.say({"method": "$/progress", "params": {"token": "of another", "value": {"message": "reading", "done": 9}}})
    wire.say({"id": 1, "result": {}})
    assert await waiting == {}
    assert told == [1, 2]


@pytest.mark.parametrize("line", [b"no json\n", b"[]\n", b"\xff\n", b"x" * 70_000 + b"\n"])
async def test_what_is_no_message_ends_the_conversation(line: bytes) -> None:
    wire = Wire()
    wire.reader.feed_data(line)
    assert "message" in await wire.reading


async def flooded(watch: Watch, wire: Wire, *events: dict[str, Any]) -> list[RegistryEvent]:
    """What of these is still told to one who did not read meanwhile."""
    wire.say(*events, event("s", "synced", 99))
    await wire.settle()
    told = []
    async for one in watch:
        told.append(one)
        if one["kind"] == "synced":
            break
    return told


async def opened(wire: Wire, subscription: Any, result: dict[str, Any]) -> None:
    opening = asyncio.create_task(subscription.__aenter__())
    await wire.asked(1)
    wire.say({"id": 1, "result": result})
    await opening


async def test_changes_that_nobody_takes_come_to_the_latest_of_each_entry() -> None:
    wire = Wire()
    watch = Watch(wire.connection, {})
    await opened(wire, watch, {"subscription": "s", "revision": "r"})
    updates = [event("s", "updated", number % 3) for number in range(1000)]
    told = await flooded(watch, wire, event("s", "added", 1), *updates)
    assert [one["kind"] for one in told] == ["added", "updated", "updated", "synced"]
    told = await flooded(watch, wire, event("s", "added", 7), event("s", "removed", 7), event("s", "removed", 8))
    assert [one["kind"] for one in told] == ["removed", "synced"]
    told = await flooded(watch, wire, event("s", "removed", 8), event("s", "added", 8))
    assert [one["kind"] for one in told] == ["updated", "synced"]
    told = await flooded(watch, wire, event("s", "added", 9), event("s", "resync"), event("s", "added", 5))
    assert [one["kind"] for one in told] == ["resync", "added", "synced"]


async def test_going_on_from_a_watch_misses_nothing_that_was_not_taken() -> None:
    wire = Wire()
    watch = Watch(wire.connection, {})
    await opened(wire, watch, {"subscription": "s", "revision": "r"})
    await flooded(watch, wire)
    events = aiter(watch)
    first = event("s", "updated", 1)
    again = event("s", "updated", 1)
    again["params"]["revision"] = "r3"
    wire.say(first, event("s", "updated", 2), again)
    await wire.settle()
    await anext(events)
    assert watch.revision == "r1", "r3 would miss r2"


async def test_a_runtime_that_floods_ends_with_where_to_go_on() -> None:
    wire = Wire()
    attachment = Attachment(Methods(), wire.connection, {"id": "r"})
    result = {"attachment": "a", "historyCursor": 4, "replay": [{"sequence": 5, "kind": "text_delta"}]}
    await opened(wire, attachment, result)
    flood = [
        {"method": "runtime/event", "params": {"attachment": "a", "event": {"sequence": number, "kind": "text_delta"}}}
        for number in range(6, 7 + _mailbox.QUEUED_EVENTS)
    ]
    wire.say(*flood)
    await wire.settle()
    told = [one async for one in attachment]
    assert [one.get("sequence") for one in told[:-1]] == [*range(5, 6 + _mailbox.QUEUED_EVENTS)]
    assert told[-1] == {"kind": "lagged", "cursor": 5 + _mailbox.QUEUED_EVENTS}
    assert wire.writer.written[-1]["method"] == "runtime/detach"


async def test_a_session_that_floods_is_loaded_anew() -> None:
    wire = Wire()
    follow = Follow(wire.connection, {"id": "x"})
    await opened(wire, follow, {"subscription": "s", "session": {}, "cursor": "c1"})
    appended = {"kind": "appended", "messages": []}
    said = {"method": "session/event", "params": {"subscription": "s", "event": appended}}
    wire.say(*[said] * (_mailbox.QUEUED_EVENTS + 1))
    await wire.settle()
    taking = asyncio.ensure_future(anext(aiter(follow)))
    asked = await wire.asked(3)
    assert [one["method"] for one in asked] == ["session/follow", "session/unfollow", "session/follow"]
    wire.say({"id": 3, "result": {"subscription": "t", "session": {}, "cursor": "c2"}})
    assert await taking == {"kind": "rewritten", "cursor": "c2"}


def test_a_queue_is_bounded_in_bytes() -> None:
    queue: _mailbox.Queue[int] = _mailbox.Queue()
    assert queue.put(1, _mailbox.QUEUED_BYTES * 2), "one always has room"
    assert not queue.put(2, 1)
    assert queue.pop() == 1
    assert queue.put(3, 1)
