"""The client: a server of its own, and its methods."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from itertools import count
from typing import Any, TypeVar

from ._attachment import Attachment
from ._connection import Connection
from ._methods import Methods, given
from ._process import ServerProcess
from ._subscription import Follow, Watch
from .errors import ServerEnded
from .types import (
    AuthorityRequest,
    ClientInfo,
    Entry,
    Harness,
    InitializeResult,
    Permission,
    ProgressValue,
    Query,
    Source,
)

Word = TypeVar("Word")


class Tackroom(Methods):
    """A conversation with a server. `server` is what it said of itself when it was opened.

    Every method of the protocol is one of this class: `registry/list` is `registry_list`, `runtime/sendInput` is
    `runtime_send_input`. Arguments are the protocol's params in the same way; the objects in them and in results are
    as they cross, and have their types in `tackroom.types`.
    """

    server: InitializeResult

    def __init__(self, connection: Connection, process: ServerProcess) -> None:
        self._connection, self._process = connection, process
        self._tokens = count(1)

    @classmethod
    @asynccontextmanager
    async def spawn(
        cls,
        binary: str | os.PathLike[str] = "tackroom",
        *,
        allow: Iterable[Permission] = ("observe",),
        workspaces: Iterable[str | os.PathLike[str]] = (),
        harnesses: Iterable[Harness] = (),
        arguments: Iterable[str] = (),
        authority: AuthorityRequest | None = None,
        homes: Mapping[Harness, Iterable[str | os.PathLike[str]]] | None = None,
        client_info: ClientInfo | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
    ) -> AsyncGenerator["Tackroom", None]:
        """Starts a server, for as long as the context lasts; no process is left after it.

        `allow`, `workspaces` and `harnesses` are the most that anybody may do and see over it (an empty `allow`: nothing),
        `homes` more homes of harnesses to look into, `arguments` more of the command line of `tackroom serve`.
        `authority` is that of `initialize`. `env` replaces the whole environment.

        Errors: `CannotStart`, of which `BinaryMissing` is one; `ServerEnded`, also where the program is no Tackroom;
        `TackroomError`.
        """
        allow = _listed("allow", allow)
        if not allow:
            # The command line cannot say "nothing"; what is asked for can.
            allow, authority = ["observe"], {**(authority or {}), "permissions": []}
        argv = [os.fspath(binary), "serve", f"--allow={','.join(allow)}"]
        argv += [f"--workspace={os.fspath(path)}" for path in _listed("workspaces", workspaces)]
        argv += [f"--harness={harness}" for harness in _listed("harnesses", harnesses)]
        for harness, paths in (homes or {}).items():
            argv += [f"--root={harness}={os.fspath(path)}" for path in _listed("homes", paths)]
        process = await ServerProcess.start([*argv, *arguments], env=env, cwd=cwd)
        client = cls(Connection(process.stdout, process.stdin), process)
        reading = asyncio.create_task(client._read())
        try:
            await client._begin(client_info, authority)
            yield client
        finally:
            await client._leave(reading)

    async def _begin(self, info: ClientInfo | None, authority: AuthorityRequest | None) -> None:
        self.server = await self.initialize(
            info or {"name": "tackroom-python", "version": _version()},
            protocol_version=1,
            process_id=os.getpid(),
            authority=authority,
        )
        self._connection.keep(self.server["limits"])
        self._connection.notify("initialized", {})

    async def _read(self) -> None:
        try:
            why = await self._connection.read()
        except Exception as error:
            why = f"its output could not be read: {error!r}"
        self._connection.fail(await self._process.fate(why))

    async def _leave(self, reading: "asyncio.Task[None]") -> None:
        with suppress(ServerEnded):
            self._connection.send("shutdown", {})
            self._connection.notify("exit", {})
        try:
            await self._process.leave()
        finally:
            reading.cancel()
            self._connection.fail(ServerEnded("the client has left"))

    @property
    def pid(self) -> int:
        """The server's process."""
        return self._process.pid

    async def request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        progress: Callable[[ProgressValue], None] | None = None,
    ) -> Any:
        """Any method by its own name, with params as they cross; `progress` is told how far it is, where it takes long.

        A task that is cancelled cancels its request.
        Errors: `TackroomError`, `ServerEnded`; `ValueError` for what cannot cross.
        """
        params = params or {}
        if progress is None:
            return await self._connection.request(method, params)
        loop, token = asyncio.get_running_loop(), next(self._tokens)

        def told(params: dict[str, Any], size: int) -> None:
            # Not at once: what it raises is no fault of the connection's.
            loop.call_soon(progress, params["value"])

        params = {**params, "_meta": {**params.get("_meta", {}), "progressToken": token}}
        self._connection.listen("$/progress", token, told, lambda _: None)
        try:
            return await self._connection.request(method, params)
        finally:
            self._connection.ignore("$/progress", token)

    async def list(self, query: Query | None = None, *, page: int | None = None) -> AsyncGenerator[Entry, None]:
        """All entries of a query, newest first, asked for page by page; `page` is how many at a time."""
        cursor = None
        while True:
            answer = await self.registry_list(query=query, cursor=cursor, limit=page)
            for entry in answer["entries"]:
                yield entry
            if (cursor := answer.get("nextCursor")) is None:
                return

    def watch(self, query: Query | None = None, *, since: str | None = None) -> Watch:
        """Each change of what a query means."""
        return Watch(self._connection, given(query=query, since=since))

    def follow(self, id: str) -> Follow:
        """The messages of a session as they are written."""
        return Follow(self._connection, {"id": id})

    def attach(
        self,
        id: str | None = None,
        *,
        runtime_id: str | None = None,
        endpoint: str | None = None,
        source: Source | None = None,
        client_id: str | None = None,
        permissions: Iterable[Permission] | None = None,
        history_limit: int | None = None,
        after: int | None = None,
        auto_renew: bool | None = None,
    ) -> Attachment:
        """Joins a live runtime: by an entry's id, by `runtime_id`, or by `endpoint` and `source`."""
        params = given(
            id=id,
            runtimeId=runtime_id,
            endpoint=endpoint,
            source=source,
            clientId=client_id,
            permissions=None if permissions is None else _listed("permissions", permissions),
            historyLimit=history_limit,
            after=after,
            autoRenew=auto_renew,
        )
        return Attachment(self, self._connection, params)


def _listed(name: str, words: Iterable[Word]) -> list[Word]:
    """A list, where a single word would pass for the list of its letters."""
    if isinstance(words, str):
        raise TypeError(f"`{name}` is a list: [{words!r}]")
    return [*words]


def _version() -> str:
    try:
        return version("tackroom")
    except PackageNotFoundError:
        return "0"
