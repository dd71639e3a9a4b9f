"""Changes as they come, from real files."""

import asyncio

import pytest
from support import Home, uuid

from tackroom import Tackroom, Watch


async def until_synced(watch: Watch) -> list[str]:
    kinds: list[str] = []
    async for event in watch:
        kinds.append(event["kind"])
        if event["kind"] == "synced":
            break
    return kinds


async def test_a_watch_tells_all_and_then_each_change(home: Home) -> None:
    home.session(1, "the first")
    async with home.spawn() as client, client.watch() as watch:
        assert watch.revision is None
        assert await until_synced(watch) == ["added", "synced"]
        home.session(2, "the second")
        async for event in watch:
            # Its file may be seen before all of it is written.
            if (event["kind"] == "added" or event["kind"] == "updated") and "title" in event["entry"]:
                assert event["entry"]["sessionId"] == uuid(2) and event["entry"]["title"] == "the second"
                break
        home.append(1, "user", "more")
        async for event in watch:
            if event["kind"] == "updated" and event["entry"]["sessionId"] == uuid(1):
                break
        (home.path / ".claude" / "projects" / "-p" / f"{uuid(1)}.jsonl").unlink()
        async for event in watch:
            if event["kind"] == "removed":
                assert event["id"] == f"claude-code:{uuid(1)}"
                break
        revision = watch.revision
        async with client.watch(since=revision) as later:
            assert await until_synced(later) == ["synced"]


async def test_a_plain_loop_opens_and_closes(home: Home) -> None:
    home.session(1, "the first")
    async with home.spawn(arguments=["--limit", "subscriptions=2"]) as client:
        for _ in range(5):
            async for event in client.watch({"text": "first"}):
                if event["kind"] == "synced":
                    break
        async for event in client.watch():
            assert event["kind"] == "added"
            break


async def test_a_follower_hears_what_is_written(home: Home) -> None:
    home.session(1, "the first")
    async with home.spawn() as client, client.follow(f"claude-code:{uuid(1)}") as follow:
        assert follow.result["session"]["sessionId"] == uuid(1)
        before = await client.session_load(f"claude-code:{uuid(1)}", cursor=follow.result["cursor"])
        assert [message["role"] for message in before["messages"]] == ["user", "assistant"]
        home.append(1, "user", "and then?")
        async for event in follow:
            assert event["kind"] == "appended"
            assert [message["content"] for message in event["messages"]] == [[{"type": "text", "text": "and then?"}]]
            break


async def test_a_consumer_that_does_not_read_holds_up_nobody(home: Home) -> None:
    home.session(1, "the first")
    async with home.spawn() as client, client.watch() as watch:
        for number in range(20):
            home.append(1, "user", f"more {number}")
            await client.registry_list()
        assert await until_synced(watch) == ["added", "synced"]


async def closes_when_closed(client: Tackroom, watch: Watch) -> int:
    count = 0
    async for _ in watch:
        count += 1
    return count


async def test_closing_ends_a_loop_in_another_task(home: Home) -> None:
    async with home.spawn() as client:
        async with client.watch() as watch:
            loop = asyncio.create_task(closes_when_closed(client, watch))
            await client.ping()
        assert await loop <= 1


async def test_leaving_ends_a_loop_in_another_task_with_an_error(home: Home) -> None:
    async with home.spawn() as client:
        loop = asyncio.create_task(closes_when_closed(client, client.watch()))
        await client.ping()
    with pytest.raises(ConnectionError):
        await loop
