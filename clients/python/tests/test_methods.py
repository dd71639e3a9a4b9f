"""The methods, on stores that real programs wrote."""

import asyncio
from pathlib import Path

import pytest
from support import Home, uuid

from tackroom import TackroomError


async def test_the_server_says_what_it_grants(home: Home) -> None:
    async with home.spawn(authority={"permissions": ["observe"]}, allow=["observe", "configure"]) as client:
        assert client.server["authority"] == {"permissions": ["observe"]}
        assert client.server["protocolVersion"] == 1
        roots = [root for harness in client.server["harnesses"] for root in harness["roots"]]
    assert roots and all(root.startswith(str(home.path)) for root in roots), "the environment is the one that was given"


async def test_every_reading_method_answers(home: Home) -> None:
    home.with_stores()
    async with home.spawn() as client:
        assert await client.ping() == {}
        page = await client.registry_list(limit=3)
        assert len(page["entries"]) == 3 and page["total"] > 3
        entry = page["entries"][0]
        assert (await client.registry_describe(entry["id"]))["entry"]["id"] == entry["id"]
        states = await client.registry_states([{"harness": "claude-code", "sessionId": entry["sessionId"]}])
        assert states["states"][0]["sessionId"] == entry["sessionId"]
        [covered] = (await client.registry_coverage(harnesses=["claude-code"]))["harnesses"]
        assert covered["id"] == "claude-code" and covered["roots"][0]["exists"]
        loaded = await client.session_load(entry["id"], limit=1)
        assert loaded["session"]["id"] == entry["id"] and len(loaded["messages"]) == 1
        assert await client.runtime_receipts() == {"receipts": []}
        assert await client.runtime_discover({"harness": "codex", "sessionId": "no", "workspace": "/p"}) == {}
        assert await client.peer_list() == {"peers": []}
        settings = await client.settings_read()
        assert settings["evidence"] == "user" and "crossSessionInbound" not in settings
        assert (await client.rpc_discover())["info"]["title"] == "Tackroom"


async def test_more_homes_are_looked_into(home: Home, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = Home(tmp_path_factory.mktemp("other"))
    other.session(1, "elsewhere")
    async with home.spawn(homes={"claude-code": [other.path / ".claude"]}) as client:
        assert [entry["sessionId"] async for entry in client.list()] == [uuid(1)]


async def test_a_list_goes_over_all_pages(home: Home) -> None:
    for number in range(7):
        home.session(number, f"prompt {number}")
    async with home.spawn() as client:
        listed = [entry["sessionId"] async for entry in client.list(page=3)]
        found = [entry["sessionId"] async for entry in client.list({"text": "prompt 4"})]
    assert listed == [uuid(number) for number in reversed(range(7))]
    assert found == [uuid(4)]


async def test_settings_change_where_that_is_allowed(home: Home) -> None:
    (home.path / ".claude").mkdir()
    async with home.spawn(allow=["observe", "configure"]) as client:
        before = await client.settings_read()
        after = await client.settings_update("hold", expected_revision=before["revision"])
        assert after["crossSessionInbound"] == "hold"
        with pytest.raises(TackroomError) as stale:
            await client.settings_update(None, expected_revision=before["revision"])
        assert stale.value.reason == "changed_during_write"
        assert stale.value.data["actual"] == after["revision"]
        assert "crossSessionInbound" not in await client.settings_update(None)


async def test_an_error_says_why(home: Home) -> None:
    async with home.spawn() as client:
        with pytest.raises(TackroomError) as missing:
            await client.registry_describe("claude-code:no")
        assert (missing.value.reason, missing.value.code) == ("not_found", -32001)
        with pytest.raises(TackroomError) as refused:
            await client.settings_update("accept")
        assert refused.value.reason == "unauthorized" and refused.value.data["permission"] == "configure"
        with pytest.raises(TackroomError) as unknown:
            await client.request("no/such")
        assert unknown.value.reason == "method_not_found"
        assert "no/such" in str(unknown.value)


async def test_what_is_out_of_scope_is_not_there(home: Home) -> None:
    home.session(1, "somewhere")
    async with home.spawn(workspaces=[Path("/elsewhere")], harnesses=["claude-code"]) as client:
        assert [entry async for entry in client.list()] == []
    async with home.spawn() as client:
        assert len([entry async for entry in client.list()]) == 1
        await client.authority_narrow({"workspaces": ["/elsewhere"]})
        assert [entry async for entry in client.list()] == []


async def test_messages_are_as_long_as_the_server_allows(home: Home) -> None:
    text = "é" * (2 << 20)
    home.session(1, "long", answer=text)
    async with home.spawn(arguments=["--limit", "frameBytes=8388608"]) as client:
        [_, answer] = (await client.session_load(f"claude-code:{uuid(1)}"))["messages"]
        assert answer["content"] == [{"type": "text", "text": text}]
        with pytest.raises(TackroomError, match="there is no entry"):
            await client.registry_describe("y" * (4 << 20))
        with pytest.raises(ValueError, match="the server takes 8388608"):
            await client.registry_list(query={"text": "y" * (8 << 20)})
        with pytest.raises(ValueError):
            await client.registry_describe("\udc80 is no text")
        assert await client.ping() == {}


async def test_more_requests_than_the_server_takes_at_once_wait_for_their_turn(home: Home) -> None:
    home.session(1, "one")
    async with home.spawn(arguments=["--limit", "requestsInFlight=2"]) as client:
        described = await asyncio.gather(*(client.registry_describe(f"claude-code:{uuid(1)}") for _ in range(50)))
        assert len(described) == 50
