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
    """Information about the server."""
    name: str
    """`tackroom`."""
    version: str
    """The server's version."""


class ServerCapabilities(TypedDict):
    """The server's capabilities beyond its methods."""
    start: NotRequired[list[str]]
    """The names of the agents that `runtime/start` can start for this client. Absent if there are none."""


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
"""A permission that a client can have."""


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
"""A harness: a coding-agent program, such as Claude Code, whose sessions Tackroom can read."""


class Authority(TypedDict):
    """The permissions of a client and the entries that they apply to."""
    permissions: list[Permission]
    """The permissions."""
    workspaces: NotRequired[list[str]]
    """Directories in scope, each including all subdirectories. Absent: every workspace, and entries without a known
    one.
    """
    harnesses: NotRequired[list[Harness]]
    """Harnesses in scope. Absent: all."""


class HarnessInfo(TypedDict):
    """A harness and the roots of its stores."""
    id: Harness
    """The harness."""
    name: str
    """The display name."""
    roots: list[str]
    """The directories that are searched for sessions, whether they exist or not."""


class Limits(TypedDict):
    """The limits that a client can reach. `--limit NAME=VALUE` lowers each of them."""
    frameBytes: int
    """Maximum size of a frame that the server reads, in bytes."""
    pageMax: int
    """Maximum `limit` of a page."""
    requestsInFlight: int
    """Maximum number of requests that are running or have unread responses; the next one fails with `busy`."""
    batchMax: int
    """Maximum number of messages in a batch; a larger batch gets a single `limit` error."""
    messageBytes: int
    """Maximum size of the text of `peer/message`, in bytes."""
    attachments: int
    """Maximum number of concurrent attachments to runtimes."""
    subscriptions: int
    """Maximum number of concurrent subscriptions of `registry/watch`."""
    watches: int
    """Maximum number of directories watched at a time; changes in other directories are noticed later."""
    courierMs: int
    """Maximum duration of `peer/message`, in milliseconds."""


class InitializeResult(TypedDict):
    """Result of `initialize`."""
    protocolVersion: int
    """The protocol version of the server: 1."""
    serverInfo: ServerInfo
    """Information about the server."""
    capabilities: ServerCapabilities
    """The server's capabilities beyond its methods."""
    instanceId: str
    """A random id of this server process. Revisions from one instance are not valid in another."""
    authority: Authority
    """The granted authority."""
    methods: list[str]
    """Every request method of the server. The OpenRPC document lists the permissions that each requires."""
    notifications: list[str]
    """Every notification that the server can send."""
    harnesses: list[HarnessInfo]
    """The harnesses in scope and their store roots."""
    limits: Limits
    """The limits that a client can reach."""


class ClientInfo(TypedDict):
    """Information about the client."""
    name: str
    """The client's short name."""
    version: NotRequired[str | None]
    """The client's version."""
    title: NotRequired[str | None]
    """The display name."""


class AuthorityRequest(TypedDict):
    """A request to narrow a client's authority. An absent field leaves that part unchanged; no field can widen it."""
    permissions: NotRequired[list[Permission] | None]
    """Keep only these permissions."""
    workspaces: NotRequired[list[str] | None]
    """Keep only these directories, each including all subdirectories. Absolute paths of at most 4096 bytes."""
    harnesses: NotRequired[list[Harness] | None]
    """Keep only these harnesses."""


class Empty(TypedDict):
    """An object without fields."""


class NarrowResult(TypedDict):
    """Result of `authority/narrow`."""
    authority: Authority
    """The remaining authority."""


State: TypeAlias = Literal["persisted", "live", "idle", "busy", "waiting", "shutting_down"]
"""The state of an entry, derived from all evidence."""


Relation: TypeAlias = Literal["fork", "branch", "subagent", "continuation", "copy"]
"""How a session relates to its parent."""


class Parent(TypedDict):
    """The parent of a session."""
    id: NotRequired[str]
    """The id of the parent's entry: its `id`, or its `persistedId` while a runtime runs it. Absent if no entry is in
    scope.
    """
    sessionId: NotRequired[str]
    """The parent's session id in its harness. Absent if unknown."""
    relation: Relation
    """How the session relates to its parent."""


Role: TypeAlias = Literal["user", "assistant", "system", "tool"]
"""The author of a message."""


class LastMessage(TypedDict):
    """The newest message of a session."""
    role: Role
    """The author's role."""
    text: str
    """The text, shortened."""
    timestampMs: NotRequired[int]
    """When it was written, in epoch milliseconds."""


class Repository(TypedDict):
    """The git repository that a workspace belongs to, as read from the repository's files."""
    root: str
    """The top directory of the checkout."""
    branch: NotRequired[str]
    """The branch that is checked out."""
    origin: NotRequired[str]
    """The URL of the remote `origin`, without credentials."""


Endpoint: TypeAlias = str
"""The opaque identifier of a receipt: `supercode-live://` and 32 lower-case hexadecimal digits. It contains no
secret.
"""


EndpointCapability: TypeAlias = Literal["http", "acp"]
"""A protocol of a runtime's endpoint."""


class Controller(TypedDict):
    """The client that has control of a runtime."""
    clientId: str
    """The client's id at the runtime."""
    expiresAtMs: int
    """When control expires unless renewed, in epoch milliseconds."""


class Owner(TypedDict):
    """The process that owns a runtime, and the runtime's controller."""
    pid: int
    """The process id."""
    controller: NotRequired[Controller]
    """The client that has control. Absent if no client has, or if unknown."""


class Observer(TypedDict):
    """A client that observes a runtime."""
    clientId: str
    """The client's id at the runtime."""
    lastSeenMs: int
    """When the runtime last heard from the client, in epoch milliseconds."""


class Actions(TypedDict):
    """The actions that a runtime supports. An action that it does not report is false."""
    submit: NotRequired[bool]
    """Run turns."""
    interrupt: NotRequired[bool]
    """Interrupt the running turn."""
    steer: NotRequired[bool]
    """Send prompts to the running turn."""
    respond: NotRequired[bool]
    """Answer approval requests and other requests."""
    detach: NotRequired[bool]
    """Detach."""
    close: NotRequired[bool]
    """End the runtime."""


class TmuxSupervisor(TypedDict):
    """A named tmux session."""
    kind: Literal["tmux"]
    sessionName: str
    """The name of the tmux session."""


Supervisor: TypeAlias = TmuxSupervisor
"""The program that a runtime runs in."""


ActivityStatus: TypeAlias = Literal["busy", "idle", "waiting"]
"""The activity of a live session."""


QuestionKind: TypeAlias = Literal["approval", "input"]
"""The kind of answer that a question takes."""


class Question(TypedDict):
    """A question that a live session asks a person."""
    kind: QuestionKind
    """The kind of answer that the question takes."""
    summary: str
    """The question in one line of at most 200 characters, without control characters."""
    requestId: NotRequired[int]
    """The id of the request, for `runtime/respond`."""


ActivitySource: TypeAlias = Literal["runtime", "claude-registry", "lock", "process"]
"""The source of an activity."""


class Activity(TypedDict):
    """The activity of a live process."""
    status: NotRequired[ActivityStatus]
    """What the process is doing. Absent if it is only known to be running."""
    waitingFor: NotRequired[str]
    """What the process is waiting for, as it describes it."""
    sinceMs: NotRequired[int]
    """When the current status began, in epoch milliseconds, as the harness records it. Absent if it does not."""
    question: NotRequired[Question]
    """The question that a person is asked, if the runtime reports it."""
    source: ActivitySource
    """The source of this information."""
    pid: NotRequired[int]
    """The process id. If several processes have the session: one that waits for a person, else one that is busy,
    else idle, else of unknown activity; among equals, the one whose record changed last.
    """
    pids: NotRequired[list[int]]
    """The ids of all live processes that have the session, if there are several."""
    stopped: NotRequired[bool]
    """True while the process is stopped (SIGSTOP, Ctrl-Z); its activity is then unknown."""
    observedAtMs: NotRequired[int]
    """When this activity was last observed, in epoch milliseconds."""


class EntryPeer(TypedDict):
    """The address by which other sessions message a live session."""
    name: str
    """The name by which other sessions address this one."""
    endpoint: NotRequired[str]
    """The peer endpoint. Absent if the session has no socket."""


Door: TypeAlias = Literal["runtime", "peer"]
"""A method that reaches a live session."""


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
    """The process id."""
    tty: NotRequired[str]
    """The device of its controlling terminal. Absent if it has none, or none that can be determined."""
    multiplexer: NotRequired[Multiplexer]
    """The terminal multiplexer that displays it. Absent if Tackroom recognises none."""
    attached: bool
    """Whether the multiplexer has a client attached to that session. False without a multiplexer."""


class Resume(TypedDict):
    """A command that resumes a session in its own program."""
    argv: list[str]
    """The program and its arguments."""
    cwd: NotRequired[str]
    """The directory in which to run the command."""
    env: NotRequired[dict[str, str]]
    """Variables to add to the environment."""


class Entry(TypedDict):
    """An entry of the inventory: a stored session, a live session, or both merged if they are the same conversation."""
    id: str
    """The runtime's id while a live runtime runs the session, otherwise `<harness>:<session id>`. Opaque."""
    harness: Harness
    """The harness that owns the session."""
    sessionId: str
    """The session's id in its harness."""
    state: State
    """The entry's state."""
    workspace: NotRequired[str]
    """The working directory."""
    title: NotRequired[str]
    """A title of one line: the user's name for the session, else the harness's, else the first prompt."""
    agent: NotRequired[str]
    """The name that a hosted agent reports for itself, if a live runtime hosts one that does. It distinguishes the
    agents of the harness `acp`.
    """
    model: NotRequired[str]
    """The model that wrote the last reply."""
    profile: NotRequired[str]
    """The profile of the harness that the session belongs to."""
    createdAtMs: NotRequired[int]
    """When the session was created, in epoch milliseconds."""
    startedAtMs: NotRequired[int]
    """When the live process started, in epoch milliseconds."""
    updatedAtMs: NotRequired[int]
    """The time of the newest user or assistant message, else the file's modification time, in epoch milliseconds."""
    messageCount: NotRequired[int]
    """The number of user and assistant messages. Present only if requested with `include`."""
    location: NotRequired[str]
    """The file that stores the session."""
    archived: NotRequired[bool]
    """True if the session is archived in its harness."""
    parent: NotRequired[Parent]
    """The session that this one was derived from or started by."""
    childCount: NotRequired[int]
    """The number of sessions that name this one as the session that started them."""
    topics: NotRequired[list[str]]
    """Up to 8 opening user texts. Present only if requested with `include`."""
    lastMessage: NotRequired[LastMessage]
    """The newest message. Present only if requested with `include`."""
    match: NotRequired[str]
    """The excerpt that matched, for a query with `searchPreviews`."""
    repository: NotRequired[Repository]
    """The repository that the workspace belongs to. Present only if requested with `include`."""
    runtimeId: NotRequired[str]
    """The live runtime's id."""
    persistedId: NotRequired[str]
    """The id of the stored session that the runtime runs, if there is one."""
    runtimeIds: NotRequired[list[str]]
    """The ids of all live runtimes of the stored session, newest first. Absent if `runtimeId` is the only one."""
    endpoint: NotRequired[Endpoint]
    """The endpoint of the runtime's receipt."""
    endpointCapabilities: NotRequired[list[EndpointCapability]]
    """The protocols of the endpoint."""
    owner: NotRequired[Owner]
    """The runtime's process and its controller."""
    observers: NotRequired[list[Observer]]
    """The clients that observe the runtime."""
    actions: NotRequired[Actions]
    """The actions that the runtime supports."""
    supervisor: NotRequired[Supervisor]
    """The program that the runtime runs in, such as a tmux session."""
    activity: NotRequired[Activity]
    """The activity of a live process."""
    peer: NotRequired[EntryPeer]
    """The live session's peer address."""
    doors: NotRequired[list[Door]]
    """The methods that reach the live session."""
    terminal: NotRequired[Terminal]
    """The terminal in which the live process runs. Present only if requested from `registry/describe` with
    `include`.
    """
    resume: NotRequired[Resume]
    """The command that resumes the session in its own program."""


class Problem(TypedDict):
    """A source that could not be read or interpreted. The rest of the result is valid."""
    harness: NotRequired[Harness]
    """The harness concerned."""
    path: NotRequired[str]
    """The file concerned."""
    id: NotRequired[str]
    """The id of the entry concerned."""
    endpoint: NotRequired[str]
    """The endpoint of the receipt concerned."""
    reason: str
    """A stable identifier of the problem, for programs."""
    message: str
    """A description of the problem, for people."""


class ListResult(TypedDict):
    """Result of `registry/list`: one page of the inventory."""
    entries: list[Entry]
    """The entries, in the order that `query.sort` selects."""
    nextCursor: NotRequired[str]
    """The cursor of the next page. Absent on the last page."""
    total: int
    """The number of entries that match the query, on all pages."""
    revision: str
    """The revision of the inventory. It changes whenever the inventory changes."""
    problems: NotRequired[list[Problem]]
    """The sources that could not be read."""


Sort: TypeAlias = Literal["recent", "attention"]
"""An order of entries."""


Include: TypeAlias = Literal["topics", "lastMessage", "messageCount", "repository"]
"""A value that is added to entries on request, because it requires reading the session."""


class Query(TypedDict):
    """A filter for entries. All fields are optional; an absent field does not filter, except for the defaults stated
    here.
    """
    live: NotRequired[bool | None]
    """If false, ignore live evidence and return all stored sessions as `persisted`. Default true."""
    persisted: NotRequired[bool | None]
    """If false, return only entries with live evidence. Default true."""
    twins: NotRequired[bool | None]
    """If true, return a runtime and its stored session as two entries instead of one merged entry. Default false."""
    harnesses: NotRequired[list[Harness] | None]
    """Only these harnesses."""
    states: NotRequired[list[State] | None]
    """Only these states."""
    workspace: NotRequired[str | None]
    """Only sessions in this directory."""
    workspaceSubtree: NotRequired[bool | None]
    """Whether `workspace` includes its subdirectories. Default false."""
    workspaceFamily: NotRequired[str | None]
    """Only sessions in the repository that this directory belongs to: its main checkout, worktrees, submodules, and
    clones of the same origin.
    """
    text: NotRequired[str | None]
    """Only entries whose title, id or peer name contains this text. Case and surrounding white space are ignored; a
    blank text matches all entries.
    """
    searchPreviews: NotRequired[bool | None]
    """Whether to search for `text` in the opening user texts and the last message too, and to return the excerpt as
    `match`. Default false.
    """
    updatedAfterMs: NotRequired[int | None]
    """Only entries updated at or after this time, in epoch milliseconds."""
    updatedBeforeMs: NotRequired[int | None]
    """Only entries updated before this time, in epoch milliseconds."""
    includeChildren: NotRequired[bool | None]
    """Whether to include sessions that another session started (subagents). Default false."""
    rootId: NotRequired[str | None]
    """Only the entry with this id and its descendants."""
    profile: NotRequired[str | None]
    """Only entries of this profile."""
    archived: NotRequired[bool | None]
    """If true, return only archived sessions; if false, only others. Absent: both."""
    sort: NotRequired[Sort | None]
    """The order of the entries. Default `recent`."""
    include: NotRequired[list[Include] | None]
    """Values to add to each entry. They require reading the sessions."""


class DescribeResult(TypedDict):
    """Result of `registry/describe`."""
    entry: Entry
    """The entry, with everything that the `include` of a query can add."""


DescribeInclude: TypeAlias = Literal["terminal"]
"""A value that `registry/describe` adds on request."""


ResolvedBy: TypeAlias = Literal["id", "prefix", "name", "title"]
"""How a reference matched an entry."""


class ResolveResult(TypedDict):
    """Result of `registry/resolve`."""
    id: str
    """The id of the matching entry."""
    by: ResolvedBy
    """How the reference matched."""


class SourceState(TypedDict):
    """The state of a conversation's runtime."""
    harness: Harness
    """The harness that owns the session."""
    sessionId: str
    """The session's id in its harness."""
    state: NotRequired[State]
    """The state of the newest runtime that answers. Absent if none answers."""


class StatesResult(TypedDict):
    """Result of `registry/states`."""
    states: list[SourceState]
    """One element per source, in the order of the request."""


class StateSource(TypedDict):
    """A conversation whose runtime state is requested."""
    harness: Harness
    """The harness that owns the session."""
    sessionId: str
    """The session's id in its harness."""


class WatchResult(TypedDict):
    """Result of `registry/watch`."""
    subscription: str
    """The id of the subscription, for `registry/event` and `registry/unwatch`."""
    revision: str
    """The current revision of the inventory."""


RootOrigin: TypeAlias = Literal["default", "environment", "flag", "client"]
"""Why a root was searched."""


class Skipped(TypedDict):
    """A file that was skipped."""
    path: str
    """The file."""
    reason: str
    """Why the file was skipped."""


class RootCoverage(TypedDict):
    """The result of searching one root."""
    path: str
    """The directory."""
    origin: RootOrigin
    """Why the root was searched."""
    exists: bool
    """Whether the directory exists."""
    files: NotRequired[int]
    """The number of files that could contain a session. Absent if the client's scope is limited to workspaces."""
    sessions: NotRequired[int]
    """The number of sessions read from these files. Absent if the client's scope is limited to workspaces."""
    skipped: NotRequired[list[Skipped]]
    """The files that were skipped, and why. Absent if the client's scope is limited to workspaces."""
    truncated: NotRequired[bool]
    """True if `skipped` is incomplete."""


class HarnessCoverage(TypedDict):
    """The search for the sessions of one harness."""
    id: Harness
    """The harness."""
    roots: list[RootCoverage]
    """Every root that was searched."""
    elapsedMs: int
    """How long the search took, in milliseconds."""


class CoverageResult(TypedDict):
    """Result of `registry/coverage`: the roots that were searched, and what was found and skipped there."""
    harnesses: list[HarnessCoverage]
    """One element per harness."""


class TextBlock(TypedDict):
    """Text."""
    type: Literal["text"]
    text: str
    """The text."""


class ThinkingBlock(TypedDict):
    """Reasoning of a model."""
    type: Literal["thinking"]
    text: str
    """The text. Empty if the store contains only a signature."""


class ToolCallBlock(TypedDict):
    """A tool call by a model."""
    type: Literal["toolCall"]
    id: str
    """The id of the call, which its result repeats."""
    name: str
    """The name of the tool."""
    arguments: Any
    """The arguments: as JSON if they are valid JSON, otherwise a string."""


class ToolResultBlock(TypedDict):
    """The result of a tool call."""
    type: Literal["toolResult"]
    id: str
    """The id of the call."""
    name: NotRequired[str]
    """The name of the tool, if known."""
    isError: NotRequired[bool]
    """Whether the tool failed, if known."""
    content: "list[Block]"
    """The content of the result."""


class ImageBlock(TypedDict):
    """An image, without its bytes."""
    type: Literal["image"]
    mediaType: NotRequired[str]
    """The media type."""
    bytes: NotRequired[int]
    """The size in bytes, if the store contains the image."""
    uri: NotRequired[str]
    """The location of the image, if the store contains only a reference."""


class OtherBlock(TypedDict):
    """Content that Tackroom does not recognize, unchanged."""
    type: Literal["other"]
    kind: str
    """The kind of content, as the store names it."""
    raw: Any
    """The store's own record."""


Block: TypeAlias = Union[TextBlock, ThinkingBlock, ToolCallBlock, ToolResultBlock, ImageBlock, OtherBlock]
"""A part of a message."""


class Message(TypedDict):
    """A message of a session, in the format common to all harnesses."""
    id: NotRequired[str]
    """The message's id in the store."""
    role: Role
    """The author's role."""
    timestampMs: NotRequired[int]
    """When the message was written, in epoch milliseconds."""
    model: NotRequired[str]
    """The model that wrote the message."""
    parentId: NotRequired[str]
    """The id of the message that this one follows, if the store records it."""
    content: list[Block]
    """The content."""
    raw: NotRequired[Any]
    """The store's own record, if the common format does not represent all of it."""


class LoadResult(TypedDict):
    """Result of `session/load`: one page of a conversation. The first page has the newest messages."""
    session: Entry
    """The session."""
    messages: list[Message]
    """The messages, oldest first."""
    nextCursor: NotRequired[str]
    """The cursor of the page with older messages. Absent at the beginning of the conversation. Appended messages do
    not shift it.
    """
    problems: NotRequired[list[Problem]]
    """The sources that could not be read."""


class Source(TypedDict):
    """A conversation that a runtime runs."""
    harness: Harness
    """The harness that owns the session."""
    sessionId: str
    """The session's id in its harness."""
    workspace: str
    """The working directory, an absolute path."""


class RuntimeMetadata(TypedDict):
    """Additional data of a receipt."""
    profile: NotRequired[str | None]
    """The profile of the harness."""
    persistenceLocation: NotRequired[str | None]
    """The path at which the conversation is stored."""
    endpointCapabilities: NotRequired[list[EndpointCapability] | None]
    """The protocols of the endpoint. Absent in params: both."""
    supervisor: NotRequired[Supervisor | None]
    """The program that the runtime runs in."""


class Receipt(TypedDict):
    """A published runtime, without its token. The runtime was not contacted for this."""
    endpoint: Endpoint
    """The receipt's identifier for `runtime/attach`, `runtime/forget` and `runtime/unregister`."""
    runtimeId: str
    """The runtime's id."""
    source: Source
    """The conversation that the runtime runs."""
    pid: int
    """The id of the process that owns the runtime."""
    createdAtMs: int
    """When the runtime was published, in epoch milliseconds."""
    metadata: RuntimeMetadata
    """Additional data."""
    reachable: NotRequired[bool]
    """Whether the runtime answered when this server last contacted it. Absent if this server has not contacted it."""


class ReceiptsResult(TypedDict):
    """Result of `runtime/receipts`."""
    receipts: list[Receipt]
    """All valid receipts, newest first."""
    problems: NotRequired[list[Problem]]
    """The files that are not valid receipts, and why."""


class DiscoverResult(TypedDict):
    """Result of `runtime/discover`."""
    endpoint: NotRequired[Endpoint]
    """The newest runtime of the conversation that answers. Absent if none does."""


class RegisterResult(TypedDict):
    """Result of `runtime/register`."""
    endpoint: Endpoint
    """The endpoint of the new receipt. The receipt exists for as long as the client is connected."""


Token: TypeAlias = str
"""A bearer token. It is never shown and never sent to a client."""


class ForgetResult(TypedDict):
    """Result of `runtime/forget`."""
    removed: bool
    """Whether a receipt was removed. False if it did not exist."""


class Lease(TypedDict):
    """The controller and the observers of a runtime."""
    controller: NotRequired[Controller]
    """The client that has control. Absent if no client has."""
    observers: list[Observer]
    """The clients that observe, sorted by client id."""
    leaseTtlMs: int
    """How long control lasts without renewal, in milliseconds."""


class AttachResult(TypedDict):
    """Result of `runtime/attach`."""
    attachment: str
    """The id of the attachment, for later requests and `runtime/event`."""
    clientId: str
    """The client's id at the runtime."""
    descriptor: dict[str, Any]
    """The runtime's description of itself, in the runtime's own spelling."""
    history: list[Any]
    """The newest messages, oldest first, in the runtime's own spelling."""
    historyCursor: int
    """The sequence number up to which `history` is complete."""
    replay: list[RuntimeEvent]
    """The events after `historyCursor`, or after `after`."""
    lease: Lease
    """The controller and the observers."""


class DetachResult(TypedDict):
    """Result of `runtime/detach`."""
    lease: NotRequired[Lease]
    """The controller and the observers after detaching. Absent if the runtime does not report them."""


class RuntimeDescribeResult(TypedDict):
    """Result of `runtime/describe`."""
    descriptor: dict[str, Any]
    """The runtime's description of itself, in the runtime's own spelling."""


class LeaseResult(TypedDict):
    """Result of `runtime/lease`, `runtime/heartbeat`, `runtime/acquireControl` and `runtime/takeControl`."""
    lease: Lease
    """The controller and the observers."""


class SubmitResult(TypedDict):
    """Result of `runtime/submit`."""
    reply: str
    """The reply at the end of the turn."""


class AcceptedResult(TypedDict):
    """Result of `runtime/sendInput` and `runtime/respond`."""
    accepted: bool
    """Always true: the runtime accepted the request."""


class SteerResult(TypedDict):
    """Result of `runtime/steer`."""
    queued: bool
    """True if the running turn will receive the prompt."""


class InterruptResult(TypedDict):
    """Result of `runtime/interrupt`."""
    interrupted: bool
    """Whether a turn was running."""


class InvokeResult(TypedDict):
    """Result of `runtime/invoke`."""
    result: Any
    """The result of the operation, in the runtime's own spelling."""


Decision: TypeAlias = Literal["deny", "allow", "allow_for_session"]
"""A decision on an approval request."""


class ApprovalRuntimeResponse(TypedDict):
    """An answer to a request for approval."""
    kind: Literal["approval"]
    requestId: int
    """The request's id: `payload.request.id` of the event `request`."""
    decision: Decision
    """The decision."""


ElicitedAction: TypeAlias = Literal["accept", "decline", "cancel"]
"""Whether a person answered a request for information."""


class Elicited(TypedDict):
    """A person's answer to a request for information."""
    requestId: int
    """The request's id: `payload.request.id` of the event `request`."""
    action: ElicitedAction
    """Whether the person answered."""
    content: NotRequired[Any]
    """The answer to the request."""


class ElicitationRuntimeResponse(Elicited):
    """An answer to a request for information."""
    kind: Literal["elicitation"]


class OtherRuntimeResponse(Elicited):
    """An answer to a request of any other kind."""
    kind: Literal["other"]


RuntimeResponse: TypeAlias = Union[ApprovalRuntimeResponse, ElicitationRuntimeResponse, OtherRuntimeResponse]
"""An answer to a request of a runtime. The request arrived as an event `request`; `kind` is its
`payload.request.kind`.
"""


class StartResult(TypedDict):
    """Result of `runtime/start`."""
    runtimeId: str
    """The runtime's id. The runtime outlives this server; `runtime/close` ends it."""
    endpoint: Endpoint
    """The endpoint of the runtime's receipt."""


class CloseResult(TypedDict):
    """Result of `runtime/close`."""
    closed: bool
    """True if the runtime is closing."""


class FollowResult(TypedDict):
    """Result of `session/follow`."""
    subscription: str
    """The id of the subscription, for `session/event` and `session/unfollow`."""
    session: Entry
    """The session."""
    cursor: str
    """A cursor for `session/load`: it returns the existing messages. Later messages are sent as `session/event`."""


PeerKind: TypeAlias = Literal["interactive", "background"]
"""The kind of a Claude Code session."""


class Peer(TypedDict):
    """A running Claude Code session, as recorded in Claude Code's process registry."""
    pid: int
    """The process id."""
    sessionId: str
    """The id of the session that the process runs now."""
    name: str
    """The name by which other sessions address this one."""
    home: str
    """The Claude Code home whose registry lists the session."""
    cwd: NotRequired[str]
    """The working directory."""
    status: NotRequired[ActivityStatus]
    """The session's activity. Absent if it is not reported or the process is stopped."""
    stopped: NotRequired[bool]
    """True while the process is stopped (SIGSTOP, Ctrl-Z). A stopped session does nothing, and no message reaches
    it.
    """
    waitingFor: NotRequired[str]
    """What the session is waiting for, as it describes it."""
    kind: NotRequired[PeerKind]
    """The kind of session. Absent if unknown."""
    entrypoint: NotRequired[str]
    """How the session was started: `cli`, `sdk-cli`, `claude-vscode`, and others."""
    updatedAtMs: NotRequired[int]
    """When the session's record last changed, in epoch milliseconds."""
    version: NotRequired[str]
    """The version of Claude Code."""
    tmux: NotRequired[str]
    """The tmux pane: `<session>:@<window>.%<pane>`."""
    socketPath: NotRequired[str]
    """The path of the messaging socket, as recorded."""
    addressable: bool
    """Whether a process listens on the socket. `peer/message` does not reach sessions in a home that the client
    named, even if this is true.
    """
    endpoint: NotRequired[str]
    """`cc-peer:v1:<pid>:<name>:<socket>`, derived from the other fields; it proves nothing. Absent without a socket."""


class PeerListResult(TypedDict):
    """Result of `peer/list`."""
    peers: list[Peer]
    """The live sessions, sorted by name, then by process id."""
    problems: NotRequired[list[Problem]]
    """The sources that could not be read."""


class PeerResult(TypedDict):
    """Result of `peer/resolve`."""
    peer: Peer
    """The live session, read again for this call."""


Outcome: TypeAlias = Literal["accepted", "held", "refused"]
"""The outcome of a message."""


class MessageResult(TypedDict):
    """Result of `peer/message`."""
    peer: Peer
    """The session, read again immediately before delivery."""
    outcome: Outcome
    """The outcome."""
    messageId: NotRequired[str]
    """The message's id in the session's transcript. Absent if Claude Code reported none."""
    detail: NotRequired[str]
    """Claude Code's reason for holding or refusing the message. For an accepted message: why a later rejection could
    not have been received, for example because the courier exited early.
    """


InboundPolicy: TypeAlias = Literal["accept", "hold", "refuse"]
"""How a Claude Code session handles messages from other sessions."""


SettingsEvidence: TypeAlias = Literal["user"]
"""The source of a setting, which determines how reliable it is."""


class Settings(TypedDict):
    """Result of `settings/read` and `settings/update`: the user's settings. Managed settings and the command line
    override them, and a project's settings can tighten them.
    """
    path: str
    """The path of the settings file, which may not exist."""
    revision: str
    """The BLAKE3 hash of the file's exact bytes, in hexadecimal. If there is no file: the hash of zero bytes."""
    crossSessionInbound: NotRequired[InboundPolicy]
    """The policy. Absent if none is set."""
    userAllowsAutomaticDelivery: bool
    """Whether the user's settings deliver all messages without asking, that is, whether the policy is `accept`."""
    evidence: SettingsEvidence
    """The source of these values."""


class RevealResult(TypedDict):
    """Result of `terminal/reveal`."""
    revealed: bool
    """Whether a terminal displays the session now. False if the pane was selected but no client is attached to the
    multiplexer: run the command in `terminal.multiplexer.argv`.
    """
    terminal: Terminal
    """The terminal."""


class AddedRegistryEvent(TypedDict):
    """An entry was added to the client's view."""
    kind: Literal["added"]
    entry: Entry
    """The current entry."""


class UpdatedRegistryEvent(TypedDict):
    """An entry in the client's view changed."""
    kind: Literal["updated"]
    entry: Entry
    """The current entry."""


class RemovedRegistryEvent(TypedDict):
    """An entry was removed, or no longer matches the query."""
    kind: Literal["removed"]
    id: str
    """The entry's id."""


class ErrorRegistryEvent(TypedDict):
    """A source cannot be read or interpreted. Sent once."""
    kind: Literal["error"]
    problem: Problem
    """The problem."""


class RecoveredRegistryEvent(TypedDict):
    """A source that could not be read or interpreted can be again, or was removed."""
    kind: Literal["recovered"]
    problem: Problem
    """The problem, as sent in `error`."""


class SyncedRegistryEvent(TypedDict):
    """The client's view is complete: all existing entries have been sent."""
    kind: Literal["synced"]


class ResyncRegistryEvent(TypedDict):
    """All entries are sent again. Entries that are not repeated before the next `synced` no longer exist."""
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
"""A change of the entries that match a subscription."""


class AppendedSessionEvent(TypedDict):
    """Messages were appended."""
    kind: Literal["appended"]
    messages: list[Message]
    """The new messages, oldest first."""


class RewrittenSessionEvent(TypedDict):
    """The messages loaded and sent so far are no longer valid: load the session again. Later messages follow as
    `appended`.
    """
    kind: Literal["rewritten"]
    cursor: str
    """A cursor for `session/load`: it returns the current messages, which later `appended` events continue."""


class RemovedSessionEvent(TypedDict):
    """The session was removed. If it reappears, `rewritten` is sent."""
    kind: Literal["removed"]


class ErrorSessionEvent(TypedDict):
    """The session cannot be read. Sent once; messages follow when it can be read again."""
    kind: Literal["error"]
    problem: Problem
    """The problem."""


SessionEvent: TypeAlias = Union[AppendedSessionEvent, RewrittenSessionEvent, RemovedSessionEvent, ErrorSessionEvent]
"""A change of a followed session."""


class ProgressValue(TypedDict):
    """The progress of a request."""
    message: str
    """The current step, for people."""
    done: int
    """The units completed so far."""
    total: NotRequired[int]
    """The total number of units. Absent if unknown; it can change while the request runs."""


ProgressToken: TypeAlias = int | str
"""A token, chosen by the client, that identifies the request in `$/progress`."""


class RequestMeta(TypedDict):
    """The `_meta` field, which every params object may have."""
    authority: NotRequired[AuthorityRequest | None]
    """Narrows the authority for this request only."""
    progressToken: NotRequired[ProgressToken | None]
    """Requests `$/progress` notifications with this token."""
