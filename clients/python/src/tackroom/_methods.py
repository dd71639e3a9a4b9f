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
        """`initialize`: Initializes the connection: identifies the client and determines its authority.

        - `client_info`: Information about the client.
        - `protocol_version`: The protocol version of the client. The server answers 1 whatever the value; the client
          decides whether to continue.
        - `process_id`: The client's process id. The server exits when that process has exited.
        - `authority`: Narrows the maximum authority set on the command line.
        - `homes`: Additional store roots, by harness. Ignored unless the server was started with `--allow-homes`.
        - `capabilities`: Reserved. The server ignores it.
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
        """`ping`: Returns an empty result immediately."""
        result: Empty = await self.request("ping")
        return result

    async def shutdown(self) -> None:
        """`shutdown`: Shuts the connection down. Only the notification `exit` may follow."""
        await self.request("shutdown")

    async def authority_narrow(self, authority: AuthorityRequest) -> NarrowResult:
        """`authority/narrow`: Gives up permissions or scope permanently.

        - `authority`: The authority to keep.
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
        """`registry/list`: Returns one page of the sessions on this machine as of the time of the call, by default
        newest first. Needs `observe`.

        - `query`: The filter. Absent: all entries that an empty query returns.
        - `cursor`: `nextCursor` of the previous page; the query must be the same.
        - `limit`: Maximum number of entries. Default 50. With 0, only `total` and `revision` are returned.
        """
        result: ListResult = await self.request("registry/list", given(query=query, cursor=cursor, limit=limit))
        return result

    async def registry_describe(self, id: str, *, include: list[DescribeInclude] | None = None) -> DescribeResult:
        """`registry/describe`: Returns one entry with all known details. Needs `observe`.

        - `id`: The entry's id.
        - `include`: Values to add that are too expensive to determine for lists.
        """
        result: DescribeResult = await self.request("registry/describe", {"id": id, **given(include=include)})
        return result

    async def registry_resolve(self, ref: str, *, limit: int | None = None) -> ResolveResult:
        """`registry/resolve`: Finds the one entry that a reference names: an id, a short id, a name, or words of a
        title. Needs `observe`.

        - `ref`: An id (of an entry, session or runtime, or an endpoint), the first four or more characters of one, a
          name that the user chose, or consecutive words of a title.
        - `limit`: Maximum number of candidates in the error `ambiguous`. Default 10.
        """
        result: ResolveResult = await self.request("registry/resolve", {"ref": ref, **given(limit=limit)})
        return result

    async def registry_states(self, sources: list[StateSource]) -> StatesResult:
        """`registry/states`: Returns the states of the live runtimes of the given conversations. Only these runtimes
        are contacted. Needs `observe`.

        - `sources`: The conversations.
        """
        result: StatesResult = await self.request("registry/states", {"sources": sources})
        return result

    async def registry_watch(self, *, query: Query | None = None, since: str | None = None) -> WatchResult:
        """`registry/watch`: Subscribes to the entries that match a query. All of them are sent first, then every
        change, as `registry/event`. Needs `observe`.

        - `query`: The filter. Absent: all entries that an empty query returns.
        - `since`: A revision from this server: send only the changes after it.
        """
        result: WatchResult = await self.request("registry/watch", given(query=query, since=since))
        return result

    async def registry_unwatch(self, subscription: str) -> Empty:
        """`registry/unwatch`: Ends a subscription of `registry/watch`. Needs `observe`.

        - `subscription`: The subscription's id, from the result of `registry/watch`.
        """
        result: Empty = await self.request("registry/unwatch", {"subscription": subscription})
        return result

    async def registry_coverage(self, *, harnesses: list[Harness] | None = None) -> CoverageResult:
        """`registry/coverage`: Returns the locations that were searched for sessions, what was found there, and what
        was skipped and why. Needs `observe`.

        - `harnesses`: Only these harnesses.
        """
        result: CoverageResult = await self.request("registry/coverage", given(harnesses=harnesses))
        return result

    async def session_load(self, id: str, *, cursor: str | None = None, limit: int | None = None) -> LoadResult:
        """`session/load`: Returns one page of a session's messages in a common format, starting with the newest page.
        Needs `observe`.

        - `id`: The entry's id.
        - `cursor`: `nextCursor` of the previous page, to continue with older messages. Absent: the newest page.
        - `limit`: Maximum number of messages. Default 200.
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

        - `runtime_id`: The runtime's id.
        - `source`: The conversation that the runtime runs.
        - `base_url`: The URL at which the runtime listens: `http://127.0.0.1:PORT`.
        - `token`: The bearer token that the runtime requires.
        - `pid`: The id of the process that owns the runtime. Absent: this server's.
        - `metadata`: Additional data for the receipt.
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
        """`runtime/unregister`: Withdraws a receipt that this client published with `runtime/register`. Needs
        `register`.

        - `endpoint`: The endpoint of a receipt that this client registered.
        """
        result: Empty = await self.request("runtime/unregister", {"endpoint": endpoint})
        return result

    async def runtime_forget(self, endpoint: str, *, force: bool | None = None) -> ForgetResult:
        """`runtime/forget`: Removes one stale receipt and nothing else. Needs `register`.

        - `endpoint`: The endpoint of the receipt.
        - `force`: Remove the receipt even if its owner, which may be suspended, is running; otherwise the call fails
          with `busy`. Default false.
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

        - `id`: An entry's id: the runtime's, or that of the session that it runs.
        - `runtime_id`: The runtime's id.
        - `endpoint`: The endpoint of a receipt. The runtime must run `source`.
        - `source`: The conversation that the runtime must run.
        - `client_id`: The client id to use at the runtime: 1 to 128 characters of `[A-Za-z0-9._-]`. Absent: a new one
          is generated.
        - `permissions`: The permissions to use, out of `observe`, `interact`, `approve` and `terminate`. Absent: all
          that the client has.
        - `history_limit`: Maximum number of messages of history; the newest are returned. Default 50.
        - `after`: Replay only events after this sequence number: the `cursor` of `lagged`, or the last `sequence`
          received.
        - `auto_renew`: Whether the server renews the controller lease while this attachment holds it. Default true.
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

        - `attachment`: The attachment's id, from the result of `runtime/attach`.
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

        - `attachment`: The attachment's id, from the result of `runtime/attach`.
        - `id`: An entry's id: the runtime's, or that of the session that it runs.
        - `runtime_id`: The runtime's id.
        """
        result: RuntimeDescribeResult = await self.request(
            "runtime/describe",
            given(attachment=attachment, id=id, runtimeId=runtime_id),
        )
        return result

    async def runtime_lease(self, attachment: str) -> LeaseResult:
        """`runtime/lease`: Returns the controller and the observers of a runtime. Needs `observe`.

        - `attachment`: The attachment's id, from the result of `runtime/attach`.
        """
        result: LeaseResult = await self.request("runtime/lease", {"attachment": attachment})
        return result

    async def runtime_heartbeat(self, attachment: str) -> LeaseResult:
        """`runtime/heartbeat`: Renews the attachment and, if the client has it, control. Needs `observe`.

        - `attachment`: The attachment's id, from the result of `runtime/attach`.
        """
        result: LeaseResult = await self.request("runtime/heartbeat", {"attachment": attachment})
        return result

    async def runtime_acquire_control(self, attachment: str) -> LeaseResult:
        """`runtime/acquireControl`: Takes control of a runtime that no client controls. Needs `interact`.

        - `attachment`: The attachment's id, from the result of `runtime/attach`.
        """
        result: LeaseResult = await self.request("runtime/acquireControl", {"attachment": attachment})
        return result

    async def runtime_take_control(self, attachment: str) -> LeaseResult:
        """`runtime/takeControl`: Takes control of a runtime, even from another client. Needs `interact`.

        - `attachment`: The attachment's id, from the result of `runtime/attach`.
        """
        result: LeaseResult = await self.request("runtime/takeControl", {"attachment": attachment})
        return result

    async def runtime_submit(self, attachment: str, prompt: str, *, images: list[str] | None = None) -> SubmitResult:
        """`runtime/submit`: Runs a turn and waits until it ends. Cancelling the request ends the wait, never the turn.
        Needs `interact`.

        - `attachment`: The attachment's id, from the result of `runtime/attach`.
        - `prompt`: The prompt.
        - `images`: Images of the prompt, as `data:image/...`, `https://` or `http://` URLs. At most 4.
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
        """`runtime/sendInput`: Starts a turn and returns without waiting for its end. Needs `interact`.

        - `attachment`: The attachment's id, from the result of `runtime/attach`.
        - `prompt`: The prompt.
        - `images`: Images of the prompt, as `data:image/...`, `https://` or `http://` URLs. At most 4.
        """
        result: AcceptedResult = await self.request(
            "runtime/sendInput",
            {"attachment": attachment, "prompt": prompt, **given(images=images)},
        )
        return result

    async def runtime_steer(self, attachment: str, prompt: str) -> SteerResult:
        """`runtime/steer`: Sends a prompt to the running turn. Needs `interact`.

        - `attachment`: The attachment's id, from the result of `runtime/attach`.
        - `prompt`: The prompt for the running turn.
        """
        result: SteerResult = await self.request("runtime/steer", {"attachment": attachment, "prompt": prompt})
        return result

    async def runtime_interrupt(self, attachment: str) -> InterruptResult:
        """`runtime/interrupt`: Interrupts the running turn. Needs `interact`.

        - `attachment`: The attachment's id, from the result of `runtime/attach`.
        """
        result: InterruptResult = await self.request("runtime/interrupt", {"attachment": attachment})
        return result

    async def runtime_invoke(self, attachment: str, operation: dict[str, Any]) -> InvokeResult:
        """`runtime/invoke`: Runs one of the runtime's own operations and waits until it ends. Needs `interact`.

        - `attachment`: The attachment's id, from the result of `runtime/attach`.
        - `operation`: An operation of the descriptor with its arguments, in the runtime's own spelling.
        """
        result: InvokeResult = await self.request("runtime/invoke", {"attachment": attachment, "operation": operation})
        return result

    async def runtime_respond(self, attachment: str, response: RuntimeResponse) -> AcceptedResult:
        """`runtime/respond`: Answers a request of the runtime. Needs `interact` and `approve`.

        - `attachment`: The attachment's id, from the result of `runtime/attach`.
        - `response`: The answer to the request.
        """
        result: AcceptedResult = await self.request("runtime/respond", {"attachment": attachment, "response": response})
        return result

    async def runtime_start(self, name: str, workspace: str, *, load: str | None = None) -> StartResult:
        """`runtime/start`: Starts an agent that the server's command line names, as a runtime that outlives this
        server. Needs `start`.

        - `name`: The name of an agent given with `--start` on the server's command line; `initialize` lists these names
          in `capabilities.start`.
        - `workspace`: The agent's working directory, an absolute path.
        - `load`: The agent's id of a session to continue. Absent: a new session.
        """
        result: StartResult = await self.request(
            "runtime/start",
            {"name": name, "workspace": workspace, **given(load=load)},
        )
        return result

    async def runtime_close(self, attachment: str) -> CloseResult:
        """`runtime/close`: Ends a runtime. Needs `terminate`.

        - `attachment`: The attachment's id, from the result of `runtime/attach`.
        """
        result: CloseResult = await self.request("runtime/close", {"attachment": attachment})
        return result

    async def session_follow(self, id: str) -> FollowResult:
        """`session/follow`: Subscribes to the new messages of a session, which are sent as `session/event`. Needs
        `observe`.

        - `id`: The entry's id. For a runtime's id, its stored session is followed.
        """
        result: FollowResult = await self.request("session/follow", {"id": id})
        return result

    async def session_unfollow(self, subscription: str) -> Empty:
        """`session/unfollow`: Ends a subscription of `session/follow`. Needs `observe`.

        - `subscription`: The subscription's id, from the result of `session/follow`.
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
        - `name`: A name. Case is ignored.
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

        - `text`: The text. It is delivered unchanged.
        - `id`: An entry id, `claude-code:<session id>`.
        - `session_id`: A session id.
        - `name`: A name. Case is ignored.
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
        """`settings/update`: Changes how the user's own Claude Code settings treat messages of other sessions, and
        nothing else in them. Needs `configure`.

        - `cross_session_inbound`: The new policy, or `null` to remove the setting. Required.
        - `expected_revision`: The revision that the file must have before the update. Absent: any.
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
        - `client_tty`: The device of the user's terminal. If it is a client's terminal in the same multiplexer, or a
          pane in it, that client is switched to the session.
        """
        result: RevealResult = await self.request("terminal/reveal", {"id": id, **given(clientTty=client_tty)})
        return result

    async def rpc_discover(self) -> Any:
        """`rpc.discover`: Returns the OpenRPC document of this server."""
        result: Any = await self.request("rpc.discover")
        return result
