# Made by scripts/generate.py from the schema of the protocol; do not edit.
"""The methods of the protocol, each as a method of the client."""

from collections.abc import Mapping
from typing import Any

from .types import (
    AcceptedResult,
    AttachResult,
    AuthorityRequest,
    ClientInfo,
    CloseResult,
    CoverageResult,
    DescribeInclude,
    DescribeResult,
    DetachResult,
    DiscoverResult,
    Empty,
    FollowResult,
    ForgetResult,
    Harness,
    InboundPolicy,
    InitializeResult,
    InterruptResult,
    InvokeResult,
    LeaseResult,
    ListResult,
    LoadResult,
    MessageResult,
    NarrowResult,
    PeerListResult,
    PeerResult,
    Permission,
    Query,
    ReceiptsResult,
    RegisterResult,
    ResolveResult,
    RevealResult,
    RuntimeDescribeResult,
    RuntimeMetadata,
    RuntimeResponse,
    Settings,
    Source,
    StartResult,
    StateSource,
    StatesResult,
    SteerResult,
    SubmitResult,
    Token,
    WatchResult,
)


def given(**params: Any) -> dict[str, Any]:
    """The params that were given."""
    return {name: value for name, value in params.items() if value is not None}


class Methods:
    """Every method of the protocol. Errors are `TackroomError`; absent params are `None`."""

    async def request(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        raise NotImplementedError

    async def initialize(
        self,
        client_info: ClientInfo,
        *,
        protocol_version: int | None = None,
        process_id: int | None = None,
        authority: AuthorityRequest | None = None,
        homes: dict[str, list[str]] | None = None,
        capabilities: Any = None,
    ) -> InitializeResult:
        """`initialize`: Opens the connection: identifies the client and sets what it may do.

        - `client_info`: Who the client is.
        - `protocol_version`: The version that the client speaks; any other than 1 is answered with 1, and the client
          decides.
        - `process_id`: The client's process; when it is gone the server ends.
        - `authority`: Ask for less than the spawner allowed.
        - `homes`: More store roots, by harness. Counted only when the server was started with `--allow-homes`.
        - `capabilities`: Reserved: nothing is read from it.
        """
        result: InitializeResult = await self.request(
            "initialize",
            {
                "clientInfo": client_info,
                **given(
                    protocolVersion=protocol_version,
                    processId=process_id,
                    authority=authority,
                    homes=homes,
                    capabilities=capabilities,
                ),
            },
        )
        return result

    async def ping(self) -> Empty:
        """`ping`: Answers immediately."""
        result: Empty = await self.request("ping")
        return result

    async def shutdown(self) -> None:
        """`shutdown`: Ends the conversation; only `exit` may follow."""
        await self.request("shutdown")

    async def authority_narrow(self, authority: AuthorityRequest) -> NarrowResult:
        """`authority/narrow`: Gives up permissions or scope permanently.

        - `authority`: What to keep.
        """
        result: NarrowResult = await self.request("authority/narrow", {"authority": authority})
        return result

    async def registry_list(
        self,
        *,
        query: Query | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> ListResult:
        """`registry/list`: Returns one page of the sessions on this machine, newest first, as of the time of the call.
        Needs `observe`.

        - `query`: Which entries.
        - `cursor`: `nextCursor` of the page before, with the same query.
        - `limit`: How many entries at most. Default 50; 0 gives `total` and `revision` alone.
        """
        result: ListResult = await self.request("registry/list", given(query=query, cursor=cursor, limit=limit))
        return result

    async def registry_describe(self, id: str, *, include: list[DescribeInclude] | None = None) -> DescribeResult:
        """`registry/describe`: Returns one entry with every detail that is known. Needs `observe`.

        - `id`: The entry's id.
        - `include`: Values to add that are expensive to determine and are not part of lists.
        """
        result: DescribeResult = await self.request("registry/describe", {"id": id, **given(include=include)})
        return result

    async def registry_resolve(self, ref: str, *, limit: int | None = None) -> ResolveResult:
        """`registry/resolve`: Finds the one entry that a reference names: an id, a short id, a name, or words of a
        title. Needs `observe`.

        - `ref`: An id (of an entry, session or runtime, or an endpoint), the first four or more characters of one, a
          name that the user chose, or consecutive words of a title.
        - `limit`: How many candidates the error `ambiguous` lists at most. Default 10.
        """
        result: ResolveResult = await self.request("registry/resolve", {"ref": ref, **given(limit=limit)})
        return result

    async def registry_states(self, sources: list[StateSource]) -> StatesResult:
        """`registry/states`: Returns the states of the live runtimes of the given conversations; only those runtimes
        are asked. Needs `observe`.

        - `sources`: The conversations.
        """
        result: StatesResult = await self.request("registry/states", {"sources": sources})
        return result

    async def registry_watch(self, *, query: Query | None = None, since: str | None = None) -> WatchResult:
        """`registry/watch`: Subscribes to the entries that match a query: first all of them, then each change, as
        `registry/event`. Needs `observe`.

        - `query`: Which entries.
        - `since`: A revision of this server: tell only what came after it.
        """
        result: WatchResult = await self.request("registry/watch", given(query=query, since=since))
        return result

    async def registry_unwatch(self, subscription: str) -> Empty:
        """`registry/unwatch`: Ends a subscription. Needs `observe`.

        - `subscription`: From `registry/watch`.
        """
        result: Empty = await self.request("registry/unwatch", {"subscription": subscription})
        return result

    async def registry_coverage(self, *, harnesses: list[Harness] | None = None) -> CoverageResult:
        """`registry/coverage`: Reports where sessions were looked for, what was found, and what was skipped and why.
        Needs `observe`.

        - `harnesses`: Only these harnesses.
        """
        result: CoverageResult = await self.request("registry/coverage", given(harnesses=harnesses))
        return result

    async def session_load(self, id: str, *, cursor: str | None = None, limit: int | None = None) -> LoadResult:
        """`session/load`: Returns one page of a session's messages in a common format, starting with the newest page.
        Needs `observe`.

        - `id`: The entry's id.
        - `cursor`: `nextCursor` of the page before: leads to older messages.
        - `limit`: How many messages at most. Default 200.
        """
        result: LoadResult = await self.request("session/load", {"id": id, **given(cursor=cursor, limit=limit)})
        return result

    async def runtime_receipts(self) -> ReceiptsResult:
        """`runtime/receipts`: Lists every published runtime without contacting any of them. Needs `observe`."""
        result: ReceiptsResult = await self.request("runtime/receipts")
        return result

    async def runtime_discover(self, source: Source) -> DiscoverResult:
        """`runtime/discover`: Finds the newest runtime of a conversation that answers. Needs `observe`.

        - `source`: The conversation.
        """
        result: DiscoverResult = await self.request("runtime/discover", {"source": source})
        return result

    async def runtime_register(
        self,
        runtime_id: str,
        source: Source,
        base_url: str,
        token: Token,
        *,
        pid: int | None = None,
        metadata: RuntimeMetadata | None = None,
    ) -> RegisterResult:
        """`runtime/register`: Publishes a runtime of this client for as long as the client is connected. Needs
        `register`.

        - `runtime_id`: The runtime's own id.
        - `source`: The conversation that it runs.
        - `base_url`: `http://127.0.0.1:PORT`: where it listens.
        - `token`: What it wants to be shown.
        - `pid`: The process that owns it; absent: this server.
        - `metadata`: What the receipt says besides.
        """
        result: RegisterResult = await self.request(
            "runtime/register",
            {
                "runtimeId": runtime_id,
                "source": source,
                "baseUrl": base_url,
                "token": token,
                **given(pid=pid, metadata=metadata),
            },
        )
        return result

    async def runtime_unregister(self, endpoint: str) -> Empty:
        """`runtime/unregister`: Withdraws what `runtime/register` published. Needs `register`.

        - `endpoint`: A receipt that this client registered.
        """
        result: Empty = await self.request("runtime/unregister", {"endpoint": endpoint})
        return result

    async def runtime_forget(self, endpoint: str, *, force: bool | None = None) -> ForgetResult:
        """`runtime/forget`: Removes one stale receipt and nothing else. Needs `register`.

        - `endpoint`: The receipt.
        - `force`: Remove it even if its owner lives and answers. Default false.
        """
        result: ForgetResult = await self.request("runtime/forget", {"endpoint": endpoint, **given(force=force)})
        return result

    async def runtime_attach(
        self,
        *,
        id: str | None = None,
        runtime_id: str | None = None,
        endpoint: str | None = None,
        source: Source | None = None,
        client_id: str | None = None,
        permissions: list[Permission] | None = None,
        history_limit: int | None = None,
        after: int | None = None,
        auto_renew: bool | None = None,
    ) -> AttachResult:
        """`runtime/attach`: Attaches to a runtime: returns its history, then sends its events as `runtime/event`. A
        runtime denies requests for approval while no client observes it, and asks while one does. Needs `observe`.

        - `id`: An entry's id: a runtime's or that of the session that it runs.
        - `runtime_id`: The runtime's own id.
        - `endpoint`: A receipt; the runtime must run `source`.
        - `source`: The conversation that is meant.
        - `client_id`: The name by which the runtime knows this client: 1 to 128 of `[A-Za-z0-9._-]`. Absent: a new one.
        - `permissions`: Of `observe`, `interact`, `approve` and `terminate` only these. Absent: what the client may do.
        - `history_limit`: How many messages of history at most, the newest. Default 50.
        - `after`: Replay only what comes after this sequence number: the `cursor` of `lagged`, or the last number that
          was seen.
        - `auto_renew`: Keep the controller lease while this attachment holds it. Default true.
        """
        result: AttachResult = await self.request(
            "runtime/attach",
            given(
                id=id,
                runtimeId=runtime_id,
                endpoint=endpoint,
                source=source,
                clientId=client_id,
                permissions=permissions,
                historyLimit=history_limit,
                after=after,
                autoRenew=auto_renew,
            ),
        )
        return result

    async def runtime_detach(self, attachment: str) -> DetachResult:
        """`runtime/detach`: Detaches from a runtime and releases control immediately. Needs `observe`.

        - `attachment`: From `runtime/attach`.
        """
        result: DetachResult = await self.request("runtime/detach", {"attachment": attachment})
        return result

    async def runtime_describe(
        self,
        *,
        attachment: str | None = None,
        id: str | None = None,
        runtime_id: str | None = None,
    ) -> RuntimeDescribeResult:
        """`runtime/describe`: Returns what a runtime reports about itself. Needs `observe`.

        - `attachment`: From `runtime/attach`.
        - `id`: An entry's id: a runtime's or that of the session that it runs.
        - `runtime_id`: The runtime's own id.
        """
        result: RuntimeDescribeResult = await self.request(
            "runtime/describe",
            given(attachment=attachment, id=id, runtimeId=runtime_id),
        )
        return result

    async def runtime_lease(self, attachment: str) -> LeaseResult:
        """`runtime/lease`: Returns which client controls a runtime and which clients observe it. Needs `observe`.

        - `attachment`: From `runtime/attach`.
        """
        result: LeaseResult = await self.request("runtime/lease", {"attachment": attachment})
        return result

    async def runtime_heartbeat(self, attachment: str) -> LeaseResult:
        """`runtime/heartbeat`: Renews the attachment and, if it has it, control. Needs `observe`.

        - `attachment`: From `runtime/attach`.
        """
        result: LeaseResult = await self.request("runtime/heartbeat", {"attachment": attachment})
        return result

    async def runtime_acquire_control(self, attachment: str) -> LeaseResult:
        """`runtime/acquireControl`: Takes control of a runtime that no client controls. Needs `interact`.

        - `attachment`: From `runtime/attach`.
        """
        result: LeaseResult = await self.request("runtime/acquireControl", {"attachment": attachment})
        return result

    async def runtime_take_control(self, attachment: str) -> LeaseResult:
        """`runtime/takeControl`: Takes control of a runtime, even from another client. Needs `interact`.

        - `attachment`: From `runtime/attach`.
        """
        result: LeaseResult = await self.request("runtime/takeControl", {"attachment": attachment})
        return result

    async def runtime_submit(self, attachment: str, prompt: str, *, images: list[str] | None = None) -> SubmitResult:
        """`runtime/submit`: Runs a turn and waits until it ends. Cancelling the request ends the wait, never the turn.
        Needs `interact`.

        - `attachment`: From `runtime/attach`.
        - `prompt`: What to say.
        - `images`: Images: `data:image/...`, `https://` or `http://` URLs. At most 4.
        """
        result: SubmitResult = await self.request(
            "runtime/submit",
            {"attachment": attachment, "prompt": prompt, **given(images=images)},
        )
        return result

    async def runtime_send_input(
        self,
        attachment: str,
        prompt: str,
        *,
        images: list[str] | None = None,
    ) -> AcceptedResult:
        """`runtime/sendInput`: Starts a turn. Needs `interact`.

        - `attachment`: From `runtime/attach`.
        - `prompt`: What to say.
        - `images`: Images: `data:image/...`, `https://` or `http://` URLs. At most 4.
        """
        result: AcceptedResult = await self.request(
            "runtime/sendInput",
            {"attachment": attachment, "prompt": prompt, **given(images=images)},
        )
        return result

    async def runtime_steer(self, attachment: str, prompt: str) -> SteerResult:
        """`runtime/steer`: Sends a prompt to the running turn. Needs `interact`.

        - `attachment`: From `runtime/attach`.
        - `prompt`: What to say while the turn runs.
        """
        result: SteerResult = await self.request("runtime/steer", {"attachment": attachment, "prompt": prompt})
        return result

    async def runtime_interrupt(self, attachment: str) -> InterruptResult:
        """`runtime/interrupt`: Interrupts the running turn. Needs `interact`.

        - `attachment`: From `runtime/attach`.
        """
        result: InterruptResult = await self.request("runtime/interrupt", {"attachment": attachment})
        return result

    async def runtime_invoke(self, attachment: str, operation: dict[str, Any]) -> InvokeResult:
        """`runtime/invoke`: Runs one of the runtime's own operations and waits until it ends. Needs `interact`.

        - `attachment`: From `runtime/attach`.
        - `operation`: One of the descriptor's operations with its arguments, as the runtime spells it.
        """
        result: InvokeResult = await self.request("runtime/invoke", {"attachment": attachment, "operation": operation})
        return result

    async def runtime_respond(self, attachment: str, response: RuntimeResponse) -> AcceptedResult:
        """`runtime/respond`: Answers a request of the runtime. Needs `interact` and `approve`.

        - `attachment`: From `runtime/attach`.
        - `response`: The answer.
        """
        result: AcceptedResult = await self.request("runtime/respond", {"attachment": attachment, "response": response})
        return result

    async def runtime_start(self, name: str, workspace: str, *, load: str | None = None) -> StartResult:
        """`runtime/start`: Starts an agent that the server's command line names, as a runtime that outlives this
        server. Needs `start`.

        - `name`: One of the names that the spawner gave by `--start`; `initialize` tells them in `capabilities.start`.
        - `workspace`: The directory in which the agent works: an absolute path.
        - `load`: The agent's own id of a session to go on with. Absent: a new one.
        """
        result: StartResult = await self.request(
            "runtime/start",
            {"name": name, "workspace": workspace, **given(load=load)},
        )
        return result

    async def runtime_close(self, attachment: str) -> CloseResult:
        """`runtime/close`: Ends a runtime. Needs `terminate`.

        - `attachment`: From `runtime/attach`.
        """
        result: CloseResult = await self.request("runtime/close", {"attachment": attachment})
        return result

    async def session_follow(self, id: str) -> FollowResult:
        """`session/follow`: Sends new messages of a session as they are written, as `session/event`. Needs `observe`.

        - `id`: The entry's id. That of a runtime follows its stored session.
        """
        result: FollowResult = await self.request("session/follow", {"id": id})
        return result

    async def session_unfollow(self, subscription: str) -> Empty:
        """`session/unfollow`: Ends following a session. Needs `observe`.

        - `subscription`: That of the result of `session/follow`.
        """
        result: Empty = await self.request("session/unfollow", {"subscription": subscription})
        return result

    async def peer_list(self) -> PeerListResult:
        """`peer/list`: Lists live Claude Code sessions, from Claude Code's own process registry. Needs `observe`."""
        result: PeerListResult = await self.request("peer/list")
        return result

    async def peer_resolve(
        self,
        *,
        id: str | None = None,
        session_id: str | None = None,
        name: str | None = None,
        endpoint: str | None = None,
    ) -> PeerResult:
        """`peer/resolve`: Finds one live Claude Code session by exactly one of id, session id, name or endpoint. Needs
        `observe`.

        - `id`: An entry id, `claude-code:<session id>`.
        - `session_id`: A session id.
        - `name`: A name, in any case.
        - `endpoint`: A peer endpoint.
        """
        result: PeerResult = await self.request(
            "peer/resolve",
            given(id=id, sessionId=session_id, name=name, endpoint=endpoint),
        )
        return result

    async def peer_message(
        self,
        text: str,
        *,
        id: str | None = None,
        session_id: str | None = None,
        name: str | None = None,
        endpoint: str | None = None,
    ) -> MessageResult:
        """`peer/message`: Delivers a text to a live Claude Code session and reports whether it was accepted, held or
        refused. Needs `message`.

        - `text`: The text, which arrives as it is.
        - `id`: An entry id, `claude-code:<session id>`.
        - `session_id`: A session id.
        - `name`: A name, in any case.
        - `endpoint`: A peer endpoint.
        """
        result: MessageResult = await self.request(
            "peer/message",
            {"text": text, **given(id=id, sessionId=session_id, name=name, endpoint=endpoint)},
        )
        return result

    async def settings_read(self, *, home: str | None = None) -> Settings:
        """`settings/read`: Returns how the user's own Claude Code settings treat messages of other sessions. Managed,
        project and command-line settings can override it. Needs `observe`.

        - `home`: One of the Claude Code homes that the server was started with. Absent: the first.
        """
        result: Settings = await self.request("settings/read", given(home=home))
        return result

    async def settings_update(
        self,
        cross_session_inbound: InboundPolicy | None,
        *,
        expected_revision: str | None = None,
        home: str | None = None,
    ) -> Settings:
        """`settings/update`: Changes that policy in the user's own settings, and nothing else in them. Needs
        `configure`.

        - `cross_session_inbound`: The policy from now on; `null` takes the setting out. Required.
        - `expected_revision`: The revision that the file must have. Absent: any.
        - `home`: One of the Claude Code homes that the server was started with. Absent: the first.
        """
        result: Settings = await self.request(
            "settings/update",
            {"crossSessionInbound": cross_session_inbound, **given(expectedRevision=expected_revision, home=home)},
        )
        return result

    async def terminal_reveal(self, id: str, *, client_tty: str | None = None) -> RevealResult:
        """`terminal/reveal`: Selects the pane of a live session in its terminal multiplexer. Needs `reveal`.

        - `id`: The id of a live entry.
        - `client_tty`: The terminal that the user looks at. If it is a terminal of the same multiplexer, or a pane in
          it, that client is switched to the session.
        """
        result: RevealResult = await self.request("terminal/reveal", {"id": id, **given(clientTty=client_tty)})
        return result

    async def rpc_discover(self) -> Any:
        """`rpc.discover`: Returns the OpenRPC document of this server."""
        result: Any = await self.request("rpc.discover")
        return result
