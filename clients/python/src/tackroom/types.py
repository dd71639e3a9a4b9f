# Made by scripts/generate.py from the schema of the protocol; do not edit.
"""What crosses the wire, as it crosses: members keep the names that the protocol gives them."""

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict, Union

from ._events import DisconnectedEvent, LaggedEvent, RequestEvent, RuntimeEvent, RuntimeRequest, ToldEvent

__all__ = [
    "AcceptedResult",
    "Actions",
    "Activity",
    "ActivitySource",
    "ActivityStatus",
    "AddedRegistryEvent",
    "AppendedSessionEvent",
    "ApprovalRuntimeResponse",
    "AttachResult",
    "Authority",
    "AuthorityRequest",
    "Block",
    "ClientInfo",
    "CloseResult",
    "Controller",
    "CoverageResult",
    "Decision",
    "DescribeInclude",
    "DescribeResult",
    "DetachResult",
    "DisconnectedEvent",
    "DiscoverResult",
    "Door",
    "ElicitationRuntimeResponse",
    "Elicited",
    "ElicitedAction",
    "Empty",
    "Endpoint",
    "EndpointCapability",
    "Entry",
    "EntryPeer",
    "ErrorRegistryEvent",
    "ErrorSessionEvent",
    "FollowResult",
    "ForgetResult",
    "Harness",
    "HarnessCoverage",
    "HarnessInfo",
    "ImageBlock",
    "InboundPolicy",
    "Include",
    "InitializeResult",
    "InterruptResult",
    "InvokeResult",
    "LaggedEvent",
    "LastMessage",
    "Lease",
    "LeaseResult",
    "Limits",
    "ListResult",
    "LoadResult",
    "Message",
    "MessageResult",
    "Multiplexer",
    "MultiplexerKind",
    "NarrowResult",
    "Observer",
    "OtherBlock",
    "OtherRuntimeResponse",
    "Outcome",
    "Owner",
    "Parent",
    "Peer",
    "PeerKind",
    "PeerListResult",
    "PeerResult",
    "Permission",
    "Problem",
    "ProgressToken",
    "ProgressValue",
    "Query",
    "Question",
    "QuestionKind",
    "Receipt",
    "ReceiptsResult",
    "RecoveredRegistryEvent",
    "RegisterResult",
    "RegistryEvent",
    "Relation",
    "RemovedRegistryEvent",
    "RemovedSessionEvent",
    "Repository",
    "RequestEvent",
    "RequestMeta",
    "ResolveResult",
    "ResolvedBy",
    "Resume",
    "ResyncRegistryEvent",
    "RevealResult",
    "RewrittenSessionEvent",
    "Role",
    "RootCoverage",
    "RootOrigin",
    "RuntimeDescribeResult",
    "RuntimeEvent",
    "RuntimeMetadata",
    "RuntimeRequest",
    "RuntimeResponse",
    "ServerCapabilities",
    "ServerInfo",
    "SessionEvent",
    "Settings",
    "SettingsEvidence",
    "Skipped",
    "Sort",
    "Source",
    "SourceState",
    "StartResult",
    "State",
    "StateSource",
    "StatesResult",
    "SteerResult",
    "SubmitResult",
    "Supervisor",
    "SyncedRegistryEvent",
    "Terminal",
    "TextBlock",
    "ThinkingBlock",
    "TmuxSupervisor",
    "Token",
    "ToldEvent",
    "ToolCallBlock",
    "ToolResultBlock",
    "UpdatedRegistryEvent",
    "WatchResult",
]


class ServerInfo(TypedDict):
    """Who the server is."""
    name: str
    """`tackroom`."""
    version: str
    """The server's version."""


class ServerCapabilities(TypedDict):
    """What the server can do beyond its methods."""
    start: NotRequired[list[str]]
    """The agents that `runtime/start` can start for this client, by name; absent where it can start none."""


Permission: TypeAlias = Literal[
    "observe",
    "interact",
    "approve",
    "terminate",
    "message",
    "configure",
    "register",
    "start",
    "reveal",
]
"""One thing that a client may be allowed to do."""


Harness: TypeAlias = Literal[
    "claude-code",
    "codex",
    "gemini",
    "opencode",
    "goose",
    "pi",
    "grok",
    "openclaw",
    "hermes",
    "supercode",
    "orchestrator",
    "acp",
]
"""A coding-agent program whose sessions Tackroom knows."""


class Authority(TypedDict):
    """What a client may do, and to which entries."""
    permissions: list[Permission]
    """What the client may do."""
    workspaces: NotRequired[list[str]]
    """Directories, each with all below it. Absent: every workspace, and entries without a known one."""
    harnesses: NotRequired[list[Harness]]
    """Harnesses. Absent: all."""


class HarnessInfo(TypedDict):
    """A harness and the roots of its stores."""
    id: Harness
    """The harness."""
    name: str
    """The name that a person reads."""
    roots: list[str]
    """The directories that are looked into, whether they exist or not."""


class Limits(TypedDict):
    """The bounds that a client can run into; each can be lowered by `--limit NAME=VALUE`."""
    frameBytes: int
    """The longest frame that is read, in bytes."""
    pageMax: int
    """The largest `limit` of a page."""
    requestsInFlight: int
    """Requests at work or unread at a time; one more is answered `busy`."""
    batchMax: int
    """The largest batch; a larger one is answered with one `limit` error."""
    messageBytes: int
    """The longest text of `peer/message`, in bytes."""
    attachments: int
    """Attachments to runtimes at one time."""
    subscriptions: int
    """Subscriptions of `registry/watch` at one time."""
    watches: int
    """Directories that are watched at one time; what changes in others is seen later."""
    courierMs: int
    """How long `peer/message` may take, in milliseconds."""


class InitializeResult(TypedDict):
    """Result of `initialize`."""
    protocolVersion: int
    """The version that the server speaks: 1."""
    serverInfo: ServerInfo
    """Who the server is."""
    capabilities: ServerCapabilities
    """What it can do beyond its methods."""
    instanceId: str
    """Random, new for each server process: revisions of one instance mean nothing to another."""
    authority: Authority
    """What was granted."""
    methods: list[str]
    """Every request that the server knows; the OpenRPC document says which permissions each needs."""
    notifications: list[str]
    """Every notification that the server may send."""
    harnesses: list[HarnessInfo]
    """The harnesses within scope, and where their sessions are looked for."""
    limits: Limits
    """The bounds that a client can run into."""


class ClientInfo(TypedDict):
    """Who a client is."""
    name: str
    """The client's short name."""
    version: NotRequired[str | None]
    """The client's version."""
    title: NotRequired[str | None]
    """The name that a person reads."""


class AuthorityRequest(TypedDict):
    """An authority that a client asks for. An absent member means "leave as it is"; nothing here can widen."""
    permissions: NotRequired[list[Permission] | None]
    """Keep only these permissions."""
    workspaces: NotRequired[list[str] | None]
    """Keep only these directories, each with all below it. Absolute paths of at most 4096 bytes."""
    harnesses: NotRequired[list[Harness] | None]
    """Keep only these harnesses."""


class Empty(TypedDict):
    """Params or a result with nothing in it."""


class NarrowResult(TypedDict):
    """Result of `authority/narrow`."""
    authority: Authority
    """What is left."""


State: TypeAlias = Literal["persisted", "live", "idle", "busy", "waiting", "shutting_down"]
"""The one derived word for what an entry is."""


Relation: TypeAlias = Literal["fork", "branch", "subagent", "continuation", "copy"]
"""How a session came from another."""


class Parent(TypedDict):
    """Where a session came from."""
    id: NotRequired[str]
    """The id of the parent's entry, where there is one in scope: its `id`, or its `persistedId` while a runtime runs
    it.
    """
    sessionId: NotRequired[str]
    """The session that it came from, where known."""
    relation: Relation
    """How it came from it."""


Role: TypeAlias = Literal["user", "assistant", "system", "tool"]
"""Who wrote a message."""


class LastMessage(TypedDict):
    """The newest message of a session."""
    role: Role
    """Who wrote it."""
    text: str
    """Its text, shortened."""
    timestampMs: NotRequired[int]
    """When it was written, in epoch milliseconds."""


class Repository(TypedDict):
    """The repository that a workspace belongs to, read from its files."""
    root: str
    """The checkout's top directory."""
    branch: NotRequired[str]
    """The branch that is checked out now."""
    origin: NotRequired[str]
    """The URL of the remote `origin`, without credentials."""


Endpoint: TypeAlias = str
"""The opaque name of a receipt, `supercode-live://` and 32 lower-case hexadecimal digits. It holds no secret."""


EndpointCapability: TypeAlias = Literal["http", "acp"]
"""What a runtime's endpoint speaks."""


class Controller(TypedDict):
    """The one client that may drive."""
    clientId: str
    """Its name."""
    expiresAtMs: int
    """Until when, in epoch milliseconds."""


class Owner(TypedDict):
    """The process that owns a runtime, and who drives it."""
    pid: int
    """The process."""
    controller: NotRequired[Controller]
    """Who drives; absent: nobody, or not known."""


class Observer(TypedDict):
    """A client that looks."""
    clientId: str
    """Its name."""
    lastSeenMs: int
    """When it last said something, in epoch milliseconds."""


class Actions(TypedDict):
    """What a runtime can do; a member that it does not name is false."""
    submit: NotRequired[bool]
    """Run a turn."""
    interrupt: NotRequired[bool]
    """Stop a turn."""
    steer: NotRequired[bool]
    """Say something while a turn runs."""
    respond: NotRequired[bool]
    """Answer approvals and other requests."""
    detach: NotRequired[bool]
    """Leave."""
    close: NotRequired[bool]
    """End the runtime."""


class TmuxSupervisor(TypedDict):
    """A named session of tmux."""
    kind: Literal["tmux"]
    sessionName: str
    """Its name."""


Supervisor: TypeAlias = TmuxSupervisor
"""What a runtime runs in."""


ActivityStatus: TypeAlias = Literal["busy", "idle", "waiting"]
"""What a live session is doing."""


QuestionKind: TypeAlias = Literal["approval", "input"]
"""The kind of answer that a question takes."""


class Question(TypedDict):
    """What a live session asks a person."""
    kind: QuestionKind
    """What kind of answer it takes."""
    summary: str
    """The question in one line of at most 200 characters, without control characters."""
    requestId: NotRequired[int]
    """The request that `runtime/respond` answers."""


ActivitySource: TypeAlias = Literal["runtime", "claude-registry", "lock", "process"]
"""Where the knowledge of an activity comes from."""


class Activity(TypedDict):
    """What is known of a live process."""
    status: NotRequired[ActivityStatus]
    """What it is doing; absent when only its life is known."""
    waitingFor: NotRequired[str]
    """What it waits for, in its own words."""
    sinceMs: NotRequired[int]
    """When the current status began, in epoch milliseconds, as the harness itself records it. Absent where it does
    not.
    """
    question: NotRequired[Question]
    """What a person is asked, where the runtime reports it."""
    source: ActivitySource
    """Where this comes from."""
    pid: NotRequired[int]
    """The process. Where several have the session, the one that waits for a person, else that is busy, else idle,
    else unknown; of equal ones the one whose record changed last.
    """
    pids: NotRequired[list[int]]
    """Every live process that has the session, where there are several."""
    stopped: NotRequired[bool]
    """True while the process is stopped (SIGSTOP, Ctrl-Z): what it does is then unknown."""
    observedAtMs: NotRequired[int]
    """When this was last seen to be so, in epoch milliseconds."""


class EntryPeer(TypedDict):
    """A live session's address among its peers."""
    name: str
    """The name by which other sessions address it."""
    endpoint: NotRequired[str]
    """The peer endpoint; absent without a socket."""


Door: TypeAlias = Literal["runtime", "peer"]
"""A way into a live session."""


MultiplexerKind: TypeAlias = Literal["tmux", "screen"]
"""A terminal multiplexer that Tackroom can control. Others (Zellij, WezTerm, kitty) are not recognised yet."""


class Multiplexer(TypedDict):
    """A position in a terminal multiplexer."""
    kind: MultiplexerKind
    """The program."""
    target: str
    """The pane or window, in the program's own notation: `main:2.1` in tmux, `4211.main:2` in GNU screen."""
    argv: list[str]
    """The command that shows it in another terminal: program and arguments."""
    focused: NotRequired[bool]
    """Whether it is the active pane of a client whose terminal has the keyboard focus. Absent where the multiplexer
    does not report that; tmux reports it with its option `focus-events`.
    """


class Terminal(TypedDict):
    """The terminal in which a live session runs."""
    pid: int
    """The process."""
    tty: NotRequired[str]
    """The device of its controlling terminal. Absent if it has none, or none that can be determined."""
    multiplexer: NotRequired[Multiplexer]
    """The terminal multiplexer that displays it. Absent if Tackroom recognises none."""
    attached: bool
    """Whether the multiplexer has a client attached to that session. False without a multiplexer."""


class Resume(TypedDict):
    """A command that brings a person back into a session."""
    argv: list[str]
    """Program and arguments."""
    cwd: NotRequired[str]
    """Where to run it."""
    env: NotRequired[dict[str, str]]
    """What to add to the environment."""


class Entry(TypedDict):
    """One row of the inventory: a stored session, a live one, or what of these is the same conversation."""
    id: str
    """A runtime's own id where it runs, else `<harness>:<session id>`."""
    harness: Harness
    """The program that owns the session."""
    sessionId: str
    """The harness's own id of the session."""
    state: State
    """What it is doing."""
    workspace: NotRequired[str]
    """The directory that it works in."""
    title: NotRequired[str]
    """One line that names it: as the user named it, else as its program did, else its first prompt."""
    agent: NotRequired[str]
    """What the program calls itself, where a live runtime hosts one that says so. It tells the agents of the harness
    `acp` apart.
    """
    model: NotRequired[str]
    """The model that answered last."""
    profile: NotRequired[str]
    """The profile of its program that it belongs to."""
    createdAtMs: NotRequired[int]
    """When the session began, in epoch milliseconds."""
    startedAtMs: NotRequired[int]
    """When the live process began, in epoch milliseconds."""
    updatedAtMs: NotRequired[int]
    """Its newest user or assistant message, else its file's time, in epoch milliseconds."""
    messageCount: NotRequired[int]
    """How many messages people and models wrote; only where asked for."""
    location: NotRequired[str]
    """The file that holds it."""
    archived: NotRequired[bool]
    """True where its program has put it away."""
    parent: NotRequired[Parent]
    """The session that it came from."""
    childCount: NotRequired[int]
    """How many sessions name this one as the one that started them."""
    topics: NotRequired[list[str]]
    """Up to 8 opening user texts; only where asked for."""
    lastMessage: NotRequired[LastMessage]
    """The newest message; only where asked for."""
    match: NotRequired[str]
    """The excerpt that `searchPreviews` found."""
    repository: NotRequired[Repository]
    """The repository that the workspace belongs to; only where asked for."""
    runtimeId: NotRequired[str]
    """The live runtime's own id."""
    persistedId: NotRequired[str]
    """The id of the stored session that the runtime runs, where there is one."""
    runtimeIds: NotRequired[list[str]]
    """Every live runtime of the conversation, the newest first, where it is stored."""
    endpoint: NotRequired[Endpoint]
    """The runtime's receipt."""
    endpointCapabilities: NotRequired[list[EndpointCapability]]
    """What the endpoint speaks."""
    owner: NotRequired[Owner]
    """The runtime's process, and who drives it."""
    observers: NotRequired[list[Observer]]
    """Who looks at the runtime."""
    actions: NotRequired[Actions]
    """What the runtime can do."""
    supervisor: NotRequired[Supervisor]
    """What the runtime runs in."""
    activity: NotRequired[Activity]
    """What is known of a live process."""
    peer: NotRequired[EntryPeer]
    """The live session's address among its peers."""
    doors: NotRequired[list[Door]]
    """The ways into the live session."""
    terminal: NotRequired[Terminal]
    """The terminal in which the live process runs; only where `registry/describe` asked for it."""
    resume: NotRequired[Resume]
    """How a person gets back into the session with its own program."""


class Problem(TypedDict):
    """Something that could not be read or judged; the rest of the answer stands."""
    harness: NotRequired[Harness]
    """Whose it is."""
    path: NotRequired[str]
    """The file."""
    id: NotRequired[str]
    """The entry."""
    endpoint: NotRequired[str]
    """The receipt's endpoint."""
    reason: str
    """The stable word for what is wrong."""
    message: str
    """The same for a person."""


class ListResult(TypedDict):
    """Result of `registry/list`: one page of the inventory."""
    entries: list[Entry]
    """The entries, newest first."""
    nextCursor: NotRequired[str]
    """Leads to the next page; absent on the last."""
    total: int
    """How many entries the query has in all."""
    revision: str
    """The inventory's revision: it moves when anything changes."""
    problems: NotRequired[list[Problem]]
    """What could not be read."""


Sort: TypeAlias = Literal["recent", "attention"]
"""An order of entries."""


Include: TypeAlias = Literal["topics", "lastMessage", "messageCount", "repository"]
"""What may be asked for beyond the common members, because it costs reading."""


class Query(TypedDict):
    """Which entries are meant. Absent members filter nothing, but for the defaults that are named."""
    live: NotRequired[bool | None]
    """False: look at no live evidence; every stored session, as `persisted`. Default true."""
    persisted: NotRequired[bool | None]
    """False: only what has live evidence. Default true."""
    twins: NotRequired[bool | None]
    """True: a runtime and its stored session as two rows. Default false."""
    harnesses: NotRequired[list[Harness] | None]
    """Only these harnesses."""
    states: NotRequired[list[State] | None]
    """Only these states."""
    workspace: NotRequired[str | None]
    """Only sessions of this directory."""
    workspaceSubtree: NotRequired[bool | None]
    """Widens `workspace` to all below it. Default false."""
    workspaceFamily: NotRequired[str | None]
    """Only sessions of the repository that this directory belongs to: main checkout, worktrees, submodules, clones
    of one origin.
    """
    text: NotRequired[str | None]
    """Only entries whose title, id or peer name holds this text, in any case. Trimmed; blank means all."""
    searchPreviews: NotRequired[bool | None]
    """Look for `text` in the opening user texts and the last message too, and answer the excerpt as `match`."""
    updatedAfterMs: NotRequired[int | None]
    """Only entries updated at or after this time, in epoch milliseconds."""
    updatedBeforeMs: NotRequired[int | None]
    """Only entries updated before this time, in epoch milliseconds."""
    includeChildren: NotRequired[bool | None]
    """Sessions that another one started (subagents) too. Default false."""
    rootId: NotRequired[str | None]
    """This entry and all below it."""
    profile: NotRequired[str | None]
    """Only entries of this profile."""
    archived: NotRequired[bool | None]
    """Only archived ones, or only others. Absent: both."""
    sort: NotRequired[Sort | None]
    """The order of the entries. Default `recent`."""
    include: NotRequired[list[Include] | None]
    """What to add to each entry, at the cost of reading it."""


class DescribeResult(TypedDict):
    """Result of `registry/describe`."""
    entry: Entry
    """The entry, with all that `include` can add."""


DescribeInclude: TypeAlias = Literal["terminal"]
"""A value that `registry/describe` adds on request."""


ResolvedBy: TypeAlias = Literal["id", "prefix", "name", "title"]
"""How a reference matched an entry."""


class ResolveResult(TypedDict):
    """Result of `registry/resolve`."""
    id: str
    """The id of the one entry that is meant."""
    by: ResolvedBy
    """What matched."""


class SourceState(TypedDict):
    """What the runtime of a conversation does."""
    harness: Harness
    """The program that owns the session."""
    sessionId: str
    """The harness's own id of the session."""
    state: NotRequired[State]
    """What its newest runtime that answers does; absent: none answers."""


class StatesResult(TypedDict):
    """Result of `registry/states`."""
    states: list[SourceState]
    """One a source, in the order asked."""


class StateSource(TypedDict):
    """A conversation whose runtime is asked for its state."""
    harness: Harness
    """The program that owns the session."""
    sessionId: str
    """The harness's own id of the session."""


class WatchResult(TypedDict):
    """Result of `registry/watch`."""
    subscription: str
    """Names the subscription in its events and in `registry/unwatch`."""
    revision: str
    """The inventory's revision now."""


RootOrigin: TypeAlias = Literal["default", "environment", "flag", "client"]
"""How a root came to be looked into."""


class Skipped(TypedDict):
    """A file that was passed over."""
    path: str
    """The file."""
    reason: str
    """Why."""


class RootCoverage(TypedDict):
    """What was found below one root."""
    path: str
    """The directory."""
    origin: RootOrigin
    """How it came to be looked into."""
    exists: bool
    """Whether it is there."""
    files: NotRequired[int]
    """Files that could hold a session. Absent under a workspace scope."""
    sessions: NotRequired[int]
    """Sessions that were read from them. Absent under a workspace scope."""
    skipped: NotRequired[list[Skipped]]
    """What was passed over, and why. Absent under a workspace scope."""
    truncated: NotRequired[bool]
    """True where `skipped` was cut short."""


class HarnessCoverage(TypedDict):
    """Where the sessions of one harness were looked for."""
    id: Harness
    """The harness."""
    roots: list[RootCoverage]
    """Every root that was tried."""
    elapsedMs: int
    """How long looking took, in milliseconds."""


class CoverageResult(TypedDict):
    """Result of `registry/coverage`: where was looked, what was found, what was skipped."""
    harnesses: list[HarnessCoverage]
    """One row a harness."""


class TextBlock(TypedDict):
    """Text."""
    type: Literal["text"]
    text: str
    """The text."""


class ThinkingBlock(TypedDict):
    """What a model thought."""
    type: Literal["thinking"]
    text: str
    """The text; empty where the store keeps only a signature."""


class ToolCallBlock(TypedDict):
    """A model calls a tool."""
    type: Literal["toolCall"]
    id: str
    """The call's id, by which its result is found."""
    name: str
    """The tool."""
    arguments: Any
    """Its arguments, as JSON where they are."""


class ToolResultBlock(TypedDict):
    """What a tool answered."""
    type: Literal["toolResult"]
    id: str
    """The call's id."""
    name: NotRequired[str]
    """The tool, where known."""
    isError: NotRequired[bool]
    """Whether the tool failed, where known."""
    content: "list[Block]"
    """What it answered."""


class ImageBlock(TypedDict):
    """An image. Its bytes do not travel."""
    type: Literal["image"]
    mediaType: NotRequired[str]
    """Its media type."""
    bytes: NotRequired[int]
    """Its size in bytes, where the store holds it."""
    uri: NotRequired[str]
    """Where it is, where the store only says that."""


class OtherBlock(TypedDict):
    """What is not understood, kept as it is."""
    type: Literal["other"]
    kind: str
    """The store's own word for it."""
    raw: Any
    """The store's own record."""


Block: TypeAlias = Union[TextBlock, ThinkingBlock, ToolCallBlock, ToolResultBlock, ImageBlock, OtherBlock]
"""A part of a message."""


class Message(TypedDict):
    """A message, in the one normal form."""
    id: NotRequired[str]
    """The store's own id of it."""
    role: Role
    """Who wrote it."""
    timestampMs: NotRequired[int]
    """When it was written, in epoch milliseconds."""
    model: NotRequired[str]
    """The model that wrote it."""
    parentId: NotRequired[str]
    """The message that it follows, where the store says so."""
    content: list[Block]
    """What it says."""
    raw: NotRequired[Any]
    """The store's own record, where the normal form does not hold it all."""


class LoadResult(TypedDict):
    """Result of `session/load`: one page of a conversation, the newest first asked for."""
    session: Entry
    """The session."""
    messages: list[Message]
    """The messages, in time order."""
    nextCursor: NotRequired[str]
    """Leads to older messages; absent at the beginning. It does not shift when messages are appended."""
    problems: NotRequired[list[Problem]]
    """What could not be read."""


class Source(TypedDict):
    """The conversation that a runtime runs."""
    harness: Harness
    """The program that owns the session."""
    sessionId: str
    """The harness's own id of the session."""
    workspace: str
    """The directory that it works in: an absolute path."""


class RuntimeMetadata(TypedDict):
    """What a receipt says besides."""
    profile: NotRequired[str | None]
    """The profile of its program."""
    persistenceLocation: NotRequired[str | None]
    """Where the conversation is stored."""
    endpointCapabilities: NotRequired[list[EndpointCapability] | None]
    """What the endpoint speaks. Absent on input: both."""
    supervisor: NotRequired[Supervisor | None]
    """What the runtime runs in."""


class Receipt(TypedDict):
    """A published runtime, without its secret and without having been asked whether it answers."""
    endpoint: Endpoint
    """Its name for `runtime/attach`, `runtime/forget` and `runtime/unregister`."""
    runtimeId: str
    """The runtime's own id."""
    source: Source
    """The conversation that it runs."""
    pid: int
    """The process that owns it."""
    createdAtMs: int
    """When it was published, in epoch milliseconds."""
    metadata: RuntimeMetadata
    """What it says besides."""
    reachable: NotRequired[bool]
    """Whether it answered when it was last asked; absent where this server has not asked."""


class ReceiptsResult(TypedDict):
    """Result of `runtime/receipts`."""
    receipts: list[Receipt]
    """Every receipt that counts, the newest first."""
    problems: NotRequired[list[Problem]]
    """Files that are no receipts that count, and why."""


class DiscoverResult(TypedDict):
    """Result of `runtime/discover`."""
    endpoint: NotRequired[Endpoint]
    """The newest runtime of the conversation that answers; absent where none does."""


class RegisterResult(TypedDict):
    """Result of `runtime/register`."""
    endpoint: Endpoint
    """The receipt's name. The receipt is there for as long as the client is."""


Token: TypeAlias = str
"""A bearer token: never shown, never sent to a client."""


class ForgetResult(TypedDict):
    """Result of `runtime/forget`."""
    removed: bool
    """Whether there was such a receipt."""


class Lease(TypedDict):
    """Who drives a runtime and who looks."""
    controller: NotRequired[Controller]
    """Who drives; absent: nobody."""
    observers: list[Observer]
    """Who looks, by client id."""
    leaseTtlMs: int
    """How long control lasts without being renewed, in milliseconds."""


class AttachResult(TypedDict):
    """Result of `runtime/attach`."""
    attachment: str
    """Names the attachment in all that follows."""
    clientId: str
    """The name by which the runtime knows this client."""
    descriptor: dict[str, Any]
    """What the runtime says of itself, as it said it."""
    history: list[Any]
    """The newest messages, oldest first, as the runtime has them."""
    historyCursor: int
    """The sequence number that `history` reaches to."""
    replay: list[RuntimeEvent]
    """The events since then, or since `after`."""
    lease: Lease
    """Who drives and who looks."""


class DetachResult(TypedDict):
    """Result of `runtime/detach`."""
    lease: NotRequired[Lease]
    """Who drives and who looks now; absent where the runtime does not say."""


class RuntimeDescribeResult(TypedDict):
    """Result of `runtime/describe`."""
    descriptor: dict[str, Any]
    """What the runtime says of itself, as it said it."""


class LeaseResult(TypedDict):
    """Result of `runtime/lease`, `runtime/heartbeat`, `runtime/acquireControl` and `runtime/takeControl`."""
    lease: Lease
    """Who drives and who looks."""


class SubmitResult(TypedDict):
    """Result of `runtime/submit`."""
    reply: str
    """What the turn ended with."""


class AcceptedResult(TypedDict):
    """Result of `runtime/sendInput` and `runtime/respond`."""
    accepted: bool
    """True: the runtime took it."""


class SteerResult(TypedDict):
    """Result of `runtime/steer`."""
    queued: bool
    """True: the running turn will see it."""


class InterruptResult(TypedDict):
    """Result of `runtime/interrupt`."""
    interrupted: bool
    """Whether a turn ran."""


class InvokeResult(TypedDict):
    """Result of `runtime/invoke`."""
    result: Any
    """What the operation gave, as the runtime spells it."""


Decision: TypeAlias = Literal["deny", "allow", "allow_for_session"]
"""What is decided about something that needs approval."""


class ApprovalRuntimeResponse(TypedDict):
    """To a request for approval."""
    kind: Literal["approval"]
    requestId: int
    """The request's own number: `payload.request.id` of the event `request`."""
    decision: Decision
    """What is decided."""


ElicitedAction: TypeAlias = Literal["accept", "decline", "cancel"]
"""Whether there is an answer to a request for information."""


class Elicited(TypedDict):
    """What a person answered to a request for information."""
    requestId: int
    """The request's own number: `payload.request.id` of the event `request`."""
    action: ElicitedAction
    """Whether there is an answer."""
    content: NotRequired[Any]
    """The answer."""


class ElicitationRuntimeResponse(Elicited):
    """To a request for information."""
    kind: Literal["elicitation"]


class OtherRuntimeResponse(Elicited):
    """To a request of another kind."""
    kind: Literal["other"]


RuntimeResponse: TypeAlias = Union[ApprovalRuntimeResponse, ElicitationRuntimeResponse, OtherRuntimeResponse]
"""An answer to a request of a runtime, which an event `request` told; `kind` is that of its `payload.request`."""


class StartResult(TypedDict):
    """Result of `runtime/start`."""
    runtimeId: str
    """The runtime's own id. It outlives this server; `runtime/close` ends it."""
    endpoint: Endpoint
    """Its receipt."""


class CloseResult(TypedDict):
    """Result of `runtime/close`."""
    closed: bool
    """True: the runtime ends."""


class FollowResult(TypedDict):
    """Result of `session/follow`."""
    subscription: str
    """Names what was opened, in `session/event` and `session/unfollow`."""
    session: Entry
    """The session."""
    cursor: str
    """A cursor of `session/load`: it leads to the messages that were there, and what comes after them is told."""


PeerKind: TypeAlias = Literal["interactive", "background"]
"""How a Claude Code session runs."""


class Peer(TypedDict):
    """A running Claude Code session, as its own process registry tells it."""
    pid: int
    """The process."""
    sessionId: str
    """The session that it runs now."""
    name: str
    """The name by which other sessions address it."""
    home: str
    """The Claude Code home whose registry holds it."""
    cwd: NotRequired[str]
    """Its working directory."""
    status: NotRequired[ActivityStatus]
    """What it is doing; absent when it does not say, or is stopped."""
    stopped: NotRequired[bool]
    """True while its process is stopped (SIGSTOP, Ctrl-Z): it does nothing, and no message reaches it."""
    waitingFor: NotRequired[str]
    """What it waits for, in its own words."""
    kind: NotRequired[PeerKind]
    """How it runs; absent when unknown."""
    entrypoint: NotRequired[str]
    """What started it: `cli`, `sdk-cli`, `claude-vscode`, ..."""
    updatedAtMs: NotRequired[int]
    """When its record last changed, in epoch milliseconds."""
    version: NotRequired[str]
    """Its program's version."""
    tmux: NotRequired[str]
    """Where it is in tmux: `<session>:@<window>.%<pane>`."""
    socketPath: NotRequired[str]
    """Its messaging socket, as the record names it."""
    addressable: bool
    """Whether somebody listens at its socket. In a home that the client named it takes no messages from here all the
    same.
    """
    endpoint: NotRequired[str]
    """`cc-peer:v1:<pid>:<name>:<socket>`, a projection and never an authority. Absent without a socket."""


class PeerListResult(TypedDict):
    """Result of `peer/list`."""
    peers: list[Peer]
    """Live sessions, by name and then pid."""
    problems: NotRequired[list[Problem]]
    """What could not be read."""


class PeerResult(TypedDict):
    """Result of `peer/resolve`."""
    peer: Peer
    """The live session, read again for this call."""


Outcome: TypeAlias = Literal["accepted", "held", "refused"]
"""What became of a message."""


class MessageResult(TypedDict):
    """Result of `peer/message`."""
    peer: Peer
    """The session, read again right before the message went out."""
    outcome: Outcome
    """What became of the message."""
    messageId: NotRequired[str]
    """The message's id in the session's transcript, where Claude Code gave one."""
    detail: NotRequired[str]
    """What Claude Code said against it, or why an accepted message may be held or refused all the same: nobody could
    hear of it, or the courier ended too early to.
    """


InboundPolicy: TypeAlias = Literal["accept", "hold", "refuse"]
"""What a Claude Code session does with a message of another session."""


SettingsEvidence: TypeAlias = Literal["user"]
"""How far a setting can be relied on."""


class Settings(TypedDict):
    """Result of `settings/read` and `settings/update`: what the user's own settings say. Managed settings and the
    command line override it, a project's settings can tighten it.
    """
    path: str
    """The file, which need not be there."""
    revision: str
    """The BLAKE3 of its exact bytes, in hex; of none where there is no file."""
    crossSessionInbound: NotRequired[InboundPolicy]
    """The policy; absent where none is set."""
    userAllowsAutomaticDelivery: bool
    """Whether the user's own settings let every message in without asking: the policy is `accept`."""
    evidence: SettingsEvidence
    """How far this can be relied on."""


class RevealResult(TypedDict):
    """Result of `terminal/reveal`."""
    revealed: bool
    """Whether a terminal shows the session now. False if the pane was selected in a multiplexer that no client is
    attached to: run the command in `terminal.multiplexer.argv`.
    """
    terminal: Terminal
    """The terminal."""


class AddedRegistryEvent(TypedDict):
    """An entry that the client does not have."""
    kind: Literal["added"]
    entry: Entry
    """As it is now."""


class UpdatedRegistryEvent(TypedDict):
    """An entry that the client has is not as it was."""
    kind: Literal["updated"]
    entry: Entry
    """As it is now."""


class RemovedRegistryEvent(TypedDict):
    """An entry is gone, or is not asked for any more."""
    kind: Literal["removed"]
    id: str
    """Its id."""


class ErrorRegistryEvent(TypedDict):
    """Something cannot be read or judged. Told once."""
    kind: Literal["error"]
    problem: Problem
    """What."""


class RecoveredRegistryEvent(TypedDict):
    """What could not be read or judged can be again, or is gone."""
    kind: Literal["recovered"]
    problem: Problem
    """As it was told."""


class SyncedRegistryEvent(TypedDict):
    """Everything there is has been told."""
    kind: Literal["synced"]


class ResyncRegistryEvent(TypedDict):
    """Everything is told again; what is not told until `synced` is gone."""
    kind: Literal["resync"]


RegistryEvent: TypeAlias = Union[
    AddedRegistryEvent,
    UpdatedRegistryEvent,
    RemovedRegistryEvent,
    ErrorRegistryEvent,
    RecoveredRegistryEvent,
    SyncedRegistryEvent,
    ResyncRegistryEvent,
]
"""A change of what a subscription sees."""


class AppendedSessionEvent(TypedDict):
    """Messages were written."""
    kind: Literal["appended"]
    messages: list[Message]
    """They, in time order."""


class RewrittenSessionEvent(TypedDict):
    """What was loaded and told does not stand any more: load anew. Later messages follow as `appended`."""
    kind: Literal["rewritten"]
    cursor: str
    """A cursor of `session/load`: it leads to the messages that later ones follow on."""


class RemovedSessionEvent(TypedDict):
    """The session is gone. Should it come back, `rewritten` tells."""
    kind: Literal["removed"]


class ErrorSessionEvent(TypedDict):
    """It cannot be read. Told once; messages follow when it can be."""
    kind: Literal["error"]
    problem: Problem
    """Why."""


SessionEvent: TypeAlias = Union[AppendedSessionEvent, RewrittenSessionEvent, RemovedSessionEvent, ErrorSessionEvent]
"""What happened to a session that is followed."""


class ProgressValue(TypedDict):
    """How far a request's work is."""
    message: str
    """What is being done, for a person."""
    done: int
    """Units done."""
    total: NotRequired[int]
    """Units in all, as far as known now."""


ProgressToken: TypeAlias = int | str
"""What a client gave to tell the progress of its requests apart."""


class RequestMeta(TypedDict):
    """The `_meta` member that every params object may carry."""
    authority: NotRequired[AuthorityRequest | None]
    """Narrows the authority of this request alone."""
    progressToken: NotRequired[ProgressToken | None]
    """Asks for `$/progress` with this token."""
