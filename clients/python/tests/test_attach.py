"""Live runtimes."""

import asyncio
import socket
from typing import assert_type

import pytest
from runtime import Runtime, publish
from support import Home, uuid

from tackroom import TackroomError
from tackroom.types import Permission, RuntimeEvent

ALL: list[Permission] = ["observe", "interact", "approve", "terminate", "register"]


async def test_an_attachment_hears_drives_and_answers(home: Home) -> None:
    with Runtime(home) as runtime:
        runtime.tell("text_delta", text="before")
        async with home.spawn(allow=ALL) as client:
            [receipt] = (await client.runtime_receipts())["receipts"]
            assert receipt["endpoint"] == runtime.endpoint
            async with client.attach("rt-1", client_id="me") as attachment:
                assert attachment.result["history"] == [{"role": "user", "content": "Earlier."}]
                assert attachment.result["descriptor"]["model"] == "fake-model"
                turn = asyncio.create_task(attachment.submit("ask and mend"))
                kinds = []
                async for event in attachment:
                    kinds.append(event["kind"])
                    if event["kind"] == "request":
                        number = event["payload"]["request"]["id"]
                        await attachment.respond({"kind": "approval", "requestId": number, "decision": "allow"})
                    if event["kind"] == "turn_succeeded":
                        break
                assert await turn == "Mended."
                assert kinds[0] == "text_delta" and "request_resolved" in kinds
                assert (await attachment.lease())["controller"]["clientId"] == "me"
                assert [seen["clientId"] for seen in (await attachment.acquire_control())["observers"]] == ["me"]
                await attachment.steer("faster")
                assert await attachment.invoke({"kind": "context", "operation_id": "context:usage"})
                assert (await attachment.describe())["session_id"] == "rt-1"
                assert (await attachment.heartbeat())["leaseTtlMs"] == 30_000
            assert runtime._observers == {}, "leaving detaches"
            assert (await client.runtime_describe(runtime_id="rt-1"))["descriptor"]["session_id"] == "rt-1"


async def test_one_drives_and_another_takes_over(home: Home) -> None:
    with Runtime(home):
        async with home.spawn(allow=ALL) as client:
            async with client.attach("rt-1", client_id="a") as first, client.attach("rt-1", client_id="b") as second:
                await first.acquire_control()
                with pytest.raises(TackroomError) as held:
                    await second.acquire_control()
                assert held.value.reason == "controller_required" and held.value.data["holder"] == "a"
                assert (await second.take_control())["controller"]["clientId"] == "b"


async def test_a_turn_is_interrupted(home: Home) -> None:
    with Runtime(home):
        async with home.spawn(allow=ALL) as client, client.attach("rt-1") as attachment:
            turn = asyncio.create_task(attachment.submit("wait"))
            async for event in attachment:
                if event["kind"] == "turn_started":
                    assert await attachment.interrupt()
                if event["kind"] == "turn_interrupted":
                    break
            with pytest.raises(TackroomError) as interrupted:
                await turn
            assert interrupted.value.reason == "execution"


async def test_what_is_cancelled_waits_no_more_and_the_turn_goes_on(home: Home) -> None:
    with Runtime(home):
        async with home.spawn(allow=ALL) as client, client.attach("rt-1") as attachment:
            turn = asyncio.create_task(attachment.submit("wait"))
            async for event in attachment:
                if event["kind"] == "turn_started":
                    turn.cancel()
                    with pytest.raises(asyncio.CancelledError):
                        await turn
                    assert await attachment.interrupt()
                if event["kind"] == "turn_interrupted":
                    break


async def test_a_cancelled_task_cancels_its_request(home: Home) -> None:
    """The silent runtime sees that the server gave up at once, while the client is still there."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.setblocking(False)
        publish(home, "rt-silent", silent.getsockname()[1])
        loop = asyncio.get_running_loop()
        async with home.spawn(allow=ALL) as client:
            attaching = asyncio.create_task(client.attach(runtime_id="rt-silent").__aenter__())
            taken, _ = await loop.sock_accept(silent)
            with taken:
                assert await loop.sock_recv(taken, 1)
                attaching.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await attaching
                while await loop.sock_recv(taken, 65_536):
                    pass
            assert await client.ping() == {}


async def test_the_end_of_the_runtime_ends_the_events(home: Home) -> None:
    with Runtime(home) as runtime:
        async with home.spawn(allow=ALL) as client, client.attach("rt-1") as attachment:
            runtime.end()
            kinds = [event["kind"] async for event in attachment]
            assert kinds == ["disconnected"]


async def test_a_runtime_may_be_registered(home: Home) -> None:
    with Runtime(home, "rt-other") as runtime:
        async with home.spawn(allow=ALL) as client:
            registered = await client.runtime_register(
                "rt-mine",
                {"harness": "supercode", "sessionId": uuid(901), "workspace": "/p"},
                f"http://127.0.0.1:{runtime._server.server_port}",
                "secret",
            )
            found = [receipt["runtimeId"] for receipt in (await client.runtime_receipts())["receipts"]]
            assert sorted(found) == ["rt-mine", "rt-other"]
            await client.runtime_unregister(registered["endpoint"])


async def test_who_may_only_look_does_not_drive(home: Home) -> None:
    with Runtime(home):
        async with home.spawn() as client, client.attach("rt-1") as attachment:
            with pytest.raises(TackroomError) as refused:
                await attachment.submit("mend")
            assert refused.value.reason == "unauthorized"
            assert refused.value.data["permission"] == "interact"


def kinds_are_told_apart(event: RuntimeEvent) -> None:
    """What mypy must accept; nothing here runs."""
    if event["kind"] == "lagged":
        assert_type(event["cursor"], int)
    elif event["kind"] == "disconnected":
        assert_type(event["reason"], str)
    elif event["kind"] == "request":
        assert_type(event["payload"]["request"]["id"], int)
    else:
        assert_type(event["sequence"], int)
