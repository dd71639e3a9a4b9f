"""pygls, the client of Python's language servers. `Content-Length` headers."""

import asyncio
import os
import shutil

from pygls.client import JsonRPCClient
from pygls.exceptions import JsonRpcException


async def main() -> None:
    client = JsonRPCClient()
    synced, added = asyncio.Event(), asyncio.Event()

    @client.feature("registry/event")
    def told(params):
        if params.event.kind == "synced":
            synced.set()
        if params.event.kind == "added" and params.event.entry.id == os.environ["FOREIGN_NEW"]:
            added.set()

    async def refused(request):
        try:
            await request
        except JsonRpcException as error:
            return error
        raise AssertionError("it was not refused")

    await client.start_io(os.environ["TACKROOM_BIN"], "serve")
    ask = client.protocol.send_request_async
    opened = await ask("initialize", {"clientInfo": {"name": "pygls"}, "processId": os.getpid()})
    assert opened.serverInfo.name == "tackroom"
    client.protocol.notify("initialized", {})

    page = await ask("registry/list", {"limit": 100})
    assert os.environ["FOREIGN_SESSION"] in [entry.id for entry in page.entries]
    missing = await refused(ask("registry/describe", {"id": "no:such"}))
    assert missing.code == -32001 and missing.data["reason"] == "not_found", missing

    await ask("registry/watch")
    await synced.wait()
    shutil.copyfile(os.environ["FOREIGN_NEW_FROM"], os.environ["FOREIGN_NEW_TO"])
    await added.wait()

    attached = ask("runtime/attach", {"runtimeId": "silent"}, msg_id="to be cancelled")
    client.protocol.notify("$/cancelRequest", {"id": "to be cancelled"})
    assert (await refused(attached)).code == -32800

    assert await ask("shutdown") is None
    client.protocol.notify("exit")
    await client.stop()
    assert client._server.returncode == 0


asyncio.run(main())
