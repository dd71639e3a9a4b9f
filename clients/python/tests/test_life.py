"""How servers begin and end."""

import asyncio
import os
import signal
import stat
from pathlib import Path
from typing import Any

import pytest
from support import BINARY, Home, alive, uuid

from tackroom import BinaryMissing, CannotStart, ServerEnded, Tackroom, TackroomError, _process
from tackroom.types import AuthorityRequest


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


async def test_leaving_is_polite_and_leaves_nothing(home: Home) -> None:
    told = home.path / "code"
    binary = script(home.path / "server", f'"$REAL" "$@"; echo $? >{told}')
    env = {**home.env, "REAL": BINARY}
    async with Tackroom.spawn(binary, env=env) as client:
        pid = client.pid
    assert told.read_text() == "0\n"
    assert not alive(pid)


async def test_an_error_of_the_caller_goes_on_and_the_server_does_not(home: Home) -> None:
    with pytest.raises(ZeroDivisionError):
        async with home.spawn() as client:
            pid = client.pid
            raise ZeroDivisionError
    assert not alive(pid)


async def test_a_cancelled_caller_leaves_no_server(home: Home) -> None:
    begun: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def work() -> None:
        async with home.spawn() as client:
            begun.set_result(client.pid)
            async for _ in client.watch():
                pass

    task = asyncio.create_task(work())
    pid = await begun
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not alive(pid)


async def test_a_server_that_does_not_listen_is_killed(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_process, "GRACE", 0.1)
    async with home.spawn() as client:
        os.kill(pid := client.pid, signal.SIGSTOP)
    assert not alive(pid)


async def test_the_end_of_the_server_ends_all_that_waits(home: Home) -> None:
    home.session(1, "one")
    async with home.spawn() as client:
        async with client.watch() as watch, client.follow(f"claude-code:{uuid(1)}") as follow:
            events = aiter(watch)
            while (await anext(events))["kind"] != "synced":
                pass
            os.kill(client.pid, signal.SIGSTOP)
            waiting = [
                asyncio.ensure_future(one)
                for one in (client.ping(), anext(events), anext(aiter(follow)), client.registry_list())
            ]
            await asyncio.sleep(0)
            os.kill(client.pid, signal.SIGKILL)
            for error in await asyncio.gather(*waiting, return_exceptions=True):
                assert isinstance(error, ServerEnded)
                assert error.returncode == -signal.SIGKILL and "SIGKILL" in str(error)
        with pytest.raises(ServerEnded):
            await client.ping()


async def test_what_a_server_said_last_is_told(home: Home) -> None:
    binary = script(home.path / "server", "echo first; echo 'no such option' >&2; exit 2")
    with pytest.raises(ServerEnded, match="no such option") as ended:
        async with Tackroom.spawn(binary):
            pass
    assert ended.value.stderr == "no such option"
    script(binary, "echo 'it is broken' >&2; exit 3")
    with pytest.raises(ServerEnded, match="exit code 3.*it is broken"):
        async with Tackroom.spawn(binary):
            pass


async def test_only_the_end_of_a_long_complaint_is_kept(home: Home) -> None:
    binary = script(home.path / "server", "head -c 1000000 /dev/zero | tr '\\0' x >&2; echo end >&2")
    with pytest.raises(ServerEnded) as ended:
        async with Tackroom.spawn(binary):
            pass
    assert len(ended.value.stderr) < 10_000 and ended.value.stderr.endswith("xend")


async def test_a_program_that_is_not_there(home: Home) -> None:
    with pytest.raises(BinaryMissing, match="tackroom-that-is-not-there"):
        async with Tackroom.spawn("tackroom-that-is-not-there"):
            pass


async def test_a_directory_that_is_not_there_is_no_missing_program(home: Home) -> None:
    with pytest.raises(CannotStart, match="no-such-directory") as wrong:
        async with home.spawn(cwd=home.path / "no-such-directory"):
            pass
    assert not isinstance(wrong.value, BinaryMissing) and isinstance(wrong.value.filename, Path)


async def test_what_is_no_program_is_told(home: Home) -> None:
    text = home.path / "text"
    text.write_text("no program\n")
    for path in (home.path, text):
        with pytest.raises(CannotStart, match=f"cannot be started.*{path}") as wrong:
            async with Tackroom.spawn(path):
                pass
        assert not isinstance(wrong.value, BinaryMissing)


async def test_nothing_may_be_done_where_nothing_is_allowed(home: Home) -> None:
    for authority in (None, AuthorityRequest(permissions=["observe"])):
        async with home.spawn(allow=[], authority=authority) as client:
            assert client.server["authority"]["permissions"] == []
            with pytest.raises(TackroomError) as refused:
                await client.registry_list()
            assert refused.value.reason == "unauthorized"


async def test_a_word_is_no_list_of_words(home: Home) -> None:
    for words in ({"allow": "observe"}, {"harnesses": "codex"}, {"workspaces": "/home"}, {"homes": {"codex": "/x"}}):
        with pytest.raises(TypeError, match=f"`{next(iter(words))}` is a list"):
            async with home.spawn(**words):
                pass
    wrong: Any = "observe"
    async with home.spawn() as client:
        with pytest.raises(TypeError, match="`permissions` is a list"):
            client.attach("rt-1", permissions=wrong)


async def test_words_that_the_server_does_not_know(home: Home) -> None:
    with pytest.raises(ServerEnded, match="--no-such-option"):
        async with home.spawn(arguments=["--no-such-option"]):
            pass
    with pytest.raises(TackroomError) as refused:
        async with home.spawn(authority={"permissions": ["fly"]}):
            pass
    assert refused.value.reason == "invalid_params"


async def test_after_leaving_nothing_can_be_asked(home: Home) -> None:
    async with home.spawn() as client:
        waiting = asyncio.create_task(client.ping())
    await asyncio.gather(waiting, return_exceptions=True)
    with pytest.raises(ServerEnded):
        await client.ping()


def test_a_loop_for_each_server(home: Home) -> None:
    async def once() -> int:
        async with home.spawn() as client:
            return (await client.registry_list(limit=0))["total"]

    assert [asyncio.run(once()) for _ in range(3)] == [0, 0, 0]
