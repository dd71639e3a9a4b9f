// Generated from schema/ by `npm run generate`; not to be edited.
import type { RuntimeEvent } from "./events.js";

export const PROTOCOL_VERSION = 1;

/** The params and the result of each method. */
export interface Methods {
  /** Initializes the connection: identifies the client and determines its authority. */
  "initialize": { params: InitializeParams; result: InitializeResult };
  /** Returns an empty result immediately. */
  "ping": { params: Empty; result: Empty };
  /** Shuts the connection down. Only the notification `exit` may follow. */
  "shutdown": { params: Empty; result: null };
  /** Gives up permissions or scope permanently. */
  "authority/narrow": { params: NarrowParams; result: NarrowResult };
  /**
   * Returns one page of the sessions on this machine as of the time of the call, by default newest first.
   * Needs `observe`.
   */
  "registry/list": { params: ListParams; result: ListResult };
  /**
   * Returns one entry with all known details.
   * Needs `observe`.
   */
  "registry/describe": { params: DescribeParams; result: DescribeResult };
  /**
   * Finds the one entry that a reference names: an id, a short id, a name, or words of a title.
   * Needs `observe`.
   */
  "registry/resolve": { params: ResolveParams; result: ResolveResult };
  /**
   * Returns the states of the live runtimes of the given conversations. Only these runtimes are contacted.
   * Needs `observe`.
   */
  "registry/states": { params: StatesParams; result: StatesResult };
  /**
   * Subscribes to the entries that match a query. All of them are sent first, then every change, as `registry/event`.
   * Needs `observe`.
   */
  "registry/watch": { params: WatchParams; result: WatchResult };
  /**
   * Ends a subscription of `registry/watch`.
   * Needs `observe`.
   */
  "registry/unwatch": { params: UnwatchParams; result: Empty };
  /**
   * Returns the locations that were searched for sessions, what was found there, and what was skipped and why.
   * Needs `observe`.
   */
  "registry/coverage": { params: CoverageParams; result: CoverageResult };
  /**
   * Returns one page of a session's messages in a common format, starting with the newest page.
   * Needs `observe`.
   */
  "session/load": { params: LoadParams; result: LoadResult };
  /**
   * Lists every published runtime without contacting any of them.
   * Needs `observe`.
   */
  "runtime/receipts": { params: Empty; result: ReceiptsResult };
  /**
   * Finds the newest runtime of a conversation that answers.
   * Needs `observe`.
   */
  "runtime/discover": { params: DiscoverParams; result: DiscoverResult };
  /**
   * Publishes a runtime of this client for as long as the client is connected.
   * Needs `register`.
   */
  "runtime/register": { params: RegisterParams; result: RegisterResult };
  /**
   * Withdraws a receipt that this client published with `runtime/register`.
   * Needs `register`.
   */
  "runtime/unregister": { params: UnregisterParams; result: Empty };
  /**
   * Removes one stale receipt and nothing else.
   * Needs `register`.
   */
  "runtime/forget": { params: ForgetParams; result: ForgetResult };
  /**
   * Attaches to a runtime: returns its history, then sends its events as `runtime/event`. A runtime denies requests for approval while no client observes it, and asks while one does.
   * Needs `observe`.
   */
  "runtime/attach": { params: AttachParams; result: AttachResult };
  /**
   * Detaches from a runtime and releases control immediately.
   * Needs `observe`.
   */
  "runtime/detach": { params: AttachmentParams; result: DetachResult };
  /**
   * Returns what a runtime reports about itself.
   * Needs `observe`.
   */
  "runtime/describe": { params: RuntimeDescribeParams; result: RuntimeDescribeResult };
  /**
   * Returns the controller and the observers of a runtime.
   * Needs `observe`.
   */
  "runtime/lease": { params: AttachmentParams; result: LeaseResult };
  /**
   * Renews the attachment and, if the client has it, control.
   * Needs `observe`.
   */
  "runtime/heartbeat": { params: AttachmentParams; result: LeaseResult };
  /**
   * Takes control of a runtime that no client controls.
   * Needs `interact`.
   */
  "runtime/acquireControl": { params: AttachmentParams; result: LeaseResult };
  /**
   * Takes control of a runtime, even from another client.
   * Needs `interact`.
   */
  "runtime/takeControl": { params: AttachmentParams; result: LeaseResult };
  /**
   * Runs a turn and waits until it ends. Cancelling the request ends the wait, never the turn.
   * Needs `interact`.
   */
  "runtime/submit": { params: SubmitParams; result: SubmitResult };
  /**
   * Starts a turn and returns without waiting for its end.
   * Needs `interact`.
   */
  "runtime/sendInput": { params: SubmitParams; result: AcceptedResult };
  /**
   * Sends a prompt to the running turn.
   * Needs `interact`.
   */
  "runtime/steer": { params: SteerParams; result: SteerResult };
  /**
   * Interrupts the running turn.
   * Needs `interact`.
   */
  "runtime/interrupt": { params: AttachmentParams; result: InterruptResult };
  /**
   * Runs one of the runtime's own operations and waits until it ends.
   * Needs `interact`.
   */
  "runtime/invoke": { params: InvokeParams; result: InvokeResult };
  /**
   * Answers a request of the runtime.
   * Needs `interact` and `approve`.
   */
  "runtime/respond": { params: RespondParams; result: AcceptedResult };
  /**
   * Starts an agent that the server's command line names, as a runtime that outlives this server.
   * Needs `start`.
   */
  "runtime/start": { params: StartParams; result: StartResult };
  /**
   * Ends a runtime.
   * Needs `terminate`.
   */
  "runtime/close": { params: AttachmentParams; result: CloseResult };
  /**
   * Subscribes to the new messages of a session, which are sent as `session/event`.
   * Needs `observe`.
   */
  "session/follow": { params: FollowParams; result: FollowResult };
  /**
   * Ends a subscription of `session/follow`.
   * Needs `observe`.
   */
  "session/unfollow": { params: UnfollowParams; result: Empty };
  /**
   * Lists live Claude Code sessions, from Claude Code's own process registry.
   * Needs `observe`.
   */
  "peer/list": { params: Empty; result: PeerListResult };
  /**
   * Finds one live Claude Code session by exactly one of id, session id, name or endpoint.
   * Needs `observe`.
   */
  "peer/resolve": { params: PeerSelector; result: PeerResult };
  /**
   * Delivers a text to a live Claude Code session and reports whether it was accepted, held or refused.
   * Needs `message`.
   */
  "peer/message": { params: MessageParams; result: MessageResult };
  /**
   * Returns how the user's own Claude Code settings treat messages of other sessions. Managed, project and command-line settings can override it.
   * Needs `observe`.
   */
  "settings/read": { params: SettingsReadParams; result: Settings };
  /**
   * Changes how the user's own Claude Code settings treat messages of other sessions, and nothing else in them.
   * Needs `configure`.
   */
  "settings/update": { params: SettingsUpdateParams; result: Settings };
  /**
   * Selects the pane of a live session in its terminal multiplexer.
   * Needs `reveal`.
   */
  "terminal/reveal": { params: RevealParams; result: RevealResult };
  /** Returns the OpenRPC document of this server. */
  "rpc.discover": { params: Empty; result: unknown };
}

/** The params of each notification that the server sends. */
export interface Notifications {
  "registry/event": RegistryEventParams;
  "session/event": SessionEventParams;
  "runtime/event": RuntimeEventParams;
  "$/progress": ProgressParams;
}

/** The word in an error that a program switches on. */
export type Reason =
  /** The frame is malformed, or its content is not JSON that the server can parse. (-32700) */
  | "parse_error"
  /** The message is not a valid request, or the request is not allowed in the connection's current state. (-32600) */
  | "invalid_request"
  /** The method does not exist. (-32601) */
  | "method_not_found"
  /** The params are not valid for the method. (-32602) */
  | "invalid_params"
  /** The server failed. This is a bug. (-32603) */
  | "internal"
  /** The first request must be `initialize`. (-32002) */
  | "not_initialized"
  /** The client cancelled the request or disconnected. (-32800) */
  | "cancelled"
  /** The client lacks a permission; `data.permission` names it. (-32000) */
  | "unauthorized"
  /** The named item does not exist, or it is outside the client's scope. (-32001) */
  | "not_found"
  /** No live session or runtime matches. (-32003) */
  | "not_live"
  /** The session or runtime that was found is not the one that was named. (-32004) */
  | "identity_mismatch"
  /** Two runtimes claim the same id. (-32005) */
  | "ambiguous_runtime"
  /** Another client has control; `data.holder` names it, and `data.expiresAtMs` is when its lease expires. (-32006) */
  | "controller_required"
  /** The client's lease expired; only `runtime/takeControl` regains control. (-32007) */
  | "lease_expired"
  /** The server or the named resource is in use or at capacity; try again later. (-32008) */
  | "busy"
  /** The runtime does not support this action. (-32009) */
  | "unsupported_action"
  /** The harness does not support this action. (-32010) */
  | "harness_unsupported"
  /** A required resource is not available now. (-32011) */
  | "unavailable"
  /** The operation did not complete in time. (-32012) */
  | "timeout"
  /** The connection failed. (-32013) */
  | "transport"
  /** The runtime or agent attempted the operation and failed. (-32014) */
  | "execution"
  /** The runtime or agent rejected an argument. (-32015) */
  | "invalid_argument"
  /** The runtime rejected the receipt's token. (-32016) */
  | "unauthenticated"
  /** A file could not be read or written. (-32017) */
  | "io"
  /** The text is not a valid endpoint. (-32018) */
  | "invalid_endpoint"
  /** The receipt is not valid. (-32019) */
  | "invalid_receipt"
  /** Another program changed the file; `data.expected` and `data.actual` are the revisions. (-32030) */
  | "changed_during_write"
  /** The settings file is not valid. (-32031) */
  | "invalid_settings"
  /** The message was not delivered, or its delivery is uncertain. `data.cause` is the cause: `empty` (the text is blank), `spawn` (the courier could not be started), `exit` (the courier failed), `report` (the courier did not do or report what it should) or `timeout`. After `exit`, `report` and `timeout` the message may have arrived. (-32032) */
  | "delivery_failed"
  /** A size limit was exceeded. (-32033) */
  | "too_large"
  /** A limit on the number of items was exceeded. (-32034) */
  | "limit"
  /** The reference matches several entries; `data.candidates` lists them, and `data.total` is their number. (-32035) */
  | "ambiguous"
  /** No terminal multiplexer that Tackroom can control displays this session. (-32036) */
  | "no_terminal";

/** An object with exactly one of these groups of its members. */
type OneOf<T, Way extends Array<keyof T>, Every extends Way = Way> = Omit<T, Every[number]> &
  (Way extends unknown
    ? Required<Pick<T, Way[number]>> & { [Other in Exclude<Every[number], Way[number]>]?: never }
    : never);

/** Result of `initialize`. */
export interface InitializeResult {
  /** The protocol version of the server: 1. */
  protocolVersion: number;
  /** Information about the server. */
  serverInfo: ServerInfo;
  /** The server's capabilities beyond its methods. */
  capabilities: ServerCapabilities;
  /** A random id of this server process. Revisions from one instance are not valid in another. */
  instanceId: string;
  /** The granted authority. */
  authority: Authority;
  /** Every request method of the server. The OpenRPC document lists the permissions that each requires. */
  methods: string[];
  /** Every notification that the server can send. */
  notifications: string[];
  /** The harnesses in scope and their store roots. */
  harnesses: HarnessInfo[];
  /** The limits that a client can reach. */
  limits: Limits;
}

/** Information about the server. */
export interface ServerInfo {
  /** `tackroom`. */
  name: string;
  /** The server's version. */
  version: string;
}

/** The server's capabilities beyond its methods. */
export interface ServerCapabilities {
  /** The names of the agents that `runtime/start` can start for this client. Absent if there are none. */
  start?: string[];
}

/** The permissions of a client and the entries that they apply to. */
export interface Authority {
  /** The permissions. */
  permissions: Permission[];
  /**
   * Directories in scope, each including all subdirectories. Absent: every workspace, and entries without a known
   * one.
   */
  workspaces?: string[];
  /** Harnesses in scope. Absent: all. */
  harnesses?: Harness[];
}

/** A permission that a client can have. */
export type Permission =
  /** See sessions, runtimes and peers. */
  | "observe"
  /** Take control of runtimes and run turns in them. */
  | "interact"
  /** Answer approval requests of runtimes. */
  | "approve"
  /** End runtimes. */
  | "terminate"
  /** Send messages to live sessions. */
  | "message"
  /** Change settings. */
  | "configure"
  /** Publish and remove receipts. */
  | "register"
  /** Start the agents that the server's command line names. */
  | "start"
  /** Select the pane of a live session in its terminal multiplexer. */
  | "reveal";

/** A harness: a coding-agent program, such as Claude Code, whose sessions Tackroom can read. */
export type Harness =
  /** Anthropic's Claude Code. */
  | "claude-code"
  /** OpenAI's Codex CLI. */
  | "codex"
  /** Google's Gemini CLI. */
  | "gemini"
  /** OpenCode. */
  | "opencode"
  /** Block's Goose. */
  | "goose"
  /** The pi coding agent. */
  | "pi"
  /** xAI's Grok CLI. */
  | "grok"
  /** OpenClaw. */
  | "openclaw"
  /** Hermes. */
  | "hermes"
  /** Supercode. */
  | "supercode"
  /** The Supercode orchestrator. */
  | "orchestrator"
  /**
   * Any other agent that speaks the Agent Client Protocol. It has no store, so its sessions are known only while
   * `tackroom host` runs it. Receipts written by other programs do not use this value.
   */
  | "acp";

/** A harness and the roots of its stores. */
export interface HarnessInfo {
  /** The harness. */
  id: Harness;
  /** The display name. */
  name: string;
  /** The directories that are searched for sessions, whether they exist or not. */
  roots: string[];
}

/** The limits that a client can reach. `--limit NAME=VALUE` lowers each of them. */
export interface Limits {
  /** Maximum size of a frame that the server reads, in bytes. */
  frameBytes: number;
  /** Maximum `limit` of a page. */
  pageMax: number;
  /** Maximum number of requests that are running or have unread responses; the next one fails with `busy`. */
  requestsInFlight: number;
  /** Maximum number of messages in a batch; a larger batch gets a single `limit` error. */
  batchMax: number;
  /** Maximum size of the text of `peer/message`, in bytes. */
  messageBytes: number;
  /** Maximum number of concurrent attachments to runtimes. */
  attachments: number;
  /** Maximum number of concurrent subscriptions of `registry/watch`. */
  subscriptions: number;
  /** Maximum number of directories watched at a time; changes in other directories are noticed later. */
  watches: number;
  /** Maximum duration of `peer/message`, in milliseconds. */
  courierMs: number;
}

/** An object without fields. */
export type Empty = Record<string, never>;

/** Result of `authority/narrow`. */
export interface NarrowResult {
  /** The remaining authority. */
  authority: Authority;
}

/** Result of `registry/list`: one page of the inventory. */
export interface ListResult {
  /** The entries, in the order that `query.sort` selects. */
  entries: Entry[];
  /** The cursor of the next page. Absent on the last page. */
  nextCursor?: string;
  /** The number of entries that match the query, on all pages. */
  total: number;
  /** The revision of the inventory. It changes whenever the inventory changes. */
  revision: string;
  /** The sources that could not be read. */
  problems?: Problem[];
}

/** An entry of the inventory: a stored session, a live session, or both merged if they are the same conversation. */
export interface Entry {
  /** The runtime's id while a live runtime runs the session, otherwise `<harness>:<session id>`. Opaque. */
  id: string;
  /** The harness that owns the session. */
  harness: Harness;
  /** The session's id in its harness. */
  sessionId: string;
  /** The entry's state. */
  state: State;
  /** The working directory. */
  workspace?: string;
  /** A title of one line: the user's name for the session, else the harness's, else the first prompt. */
  title?: string;
  /**
   * The name that a hosted agent reports for itself, if a live runtime hosts one that does. It distinguishes the
   * agents of the harness `acp`.
   */
  agent?: string;
  /** The model that wrote the last reply. */
  model?: string;
  /** The profile of the harness that the session belongs to. */
  profile?: string;
  /** When the session was created, in epoch milliseconds. */
  createdAtMs?: number;
  /** When the live process started, in epoch milliseconds. */
  startedAtMs?: number;
  /** The time of the newest user or assistant message, else the file's modification time, in epoch milliseconds. */
  updatedAtMs?: number;
  /** The number of user and assistant messages. Present only if requested with `include`. */
  messageCount?: number;
  /** The file that stores the session. */
  location?: string;
  /** True if the session is archived in its harness. */
  archived?: boolean;
  /** The session that this one was derived from or started by. */
  parent?: Parent;
  /** The number of sessions that name this one as the session that started them. */
  childCount?: number;
  /** Up to 8 opening user texts. Present only if requested with `include`. */
  topics?: string[];
  /** The newest message. Present only if requested with `include`. */
  lastMessage?: LastMessage;
  /** The excerpt that matched, for a query with `searchPreviews`. */
  match?: string;
  /** The repository that the workspace belongs to. Present only if requested with `include`. */
  repository?: Repository;
  /** The live runtime's id. */
  runtimeId?: string;
  /** The id of the stored session that the runtime runs, if there is one. */
  persistedId?: string;
  /** The ids of all live runtimes of the stored session, newest first. Absent if `runtimeId` is the only one. */
  runtimeIds?: string[];
  /** The endpoint of the runtime's receipt. */
  endpoint?: Endpoint;
  /** The protocols of the endpoint. */
  endpointCapabilities?: EndpointCapability[];
  /** The runtime's process and its controller. */
  owner?: Owner;
  /** The clients that observe the runtime. */
  observers?: Observer[];
  /** The actions that the runtime supports. */
  actions?: Actions;
  /** The program that the runtime runs in, such as a tmux session. */
  supervisor?: Supervisor;
  /** The activity of a live process. */
  activity?: Activity;
  /** The live session's peer address. */
  peer?: EntryPeer;
  /** The methods that reach the live session. */
  doors?: Door[];
  /** The terminal in which the live process runs. Present only if requested from `registry/describe` with `include`. */
  terminal?: Terminal;
  /** The command that resumes the session in its own program. */
  resume?: Resume;
}

/** The state of an entry, derived from all evidence. */
export type State =
  /** Stored; there is no evidence that it is running. */
  | "persisted"
  /** Running; its activity is unknown. */
  | "live"
  /** Running; no turn is in progress. */
  | "idle"
  /** A turn is in progress. */
  | "busy"
  /** Waiting for a person. */
  | "waiting"
  /** Shutting down. */
  | "shutting_down";

/** The parent of a session. */
export interface Parent {
  /**
   * The id of the parent's entry: its `id`, or its `persistedId` while a runtime runs it. Absent if no entry is in
   * scope.
   */
  id?: string;
  /** The parent's session id in its harness. Absent if unknown. */
  sessionId?: string;
  /** How the session relates to its parent. */
  relation: Relation;
}

/** How a session relates to its parent. */
export type Relation =
  /** The user continued from a copy of the conversation. */
  | "fork"
  /** A branch of the conversation that is stored as a separate session. */
  | "branch"
  /** The parent started this session for a part of its work. */
  | "subagent"
  /** The conversation continued in this session. */
  | "continuation"
  /** A copy made by a migration or an archive. */
  | "copy";

/** The newest message of a session. */
export interface LastMessage {
  /** The author's role. */
  role: Role;
  /** The text, shortened. */
  text: string;
  /** When it was written, in epoch milliseconds. */
  timestampMs?: number;
}

/** The author of a message. */
export type Role =
  /** The user. */
  | "user"
  /** The model. */
  | "assistant"
  /** The harness. */
  | "system"
  /** A tool, with its result. */
  | "tool";

/** The git repository that a workspace belongs to, as read from the repository's files. */
export interface Repository {
  /** The top directory of the checkout. */
  root: string;
  /** The branch that is checked out. */
  branch?: string;
  /** The URL of the remote `origin`, without credentials. */
  origin?: string;
}

/** The opaque identifier of a receipt: `supercode-live://` and 32 lower-case hexadecimal digits. It contains no secret. */
export type Endpoint = string;

/** A protocol of a runtime's endpoint. */
export type EndpointCapability =
  /** The HTTP API that `runtime/attach` uses. */
  | "http"
  /** The Agent Client Protocol. */
  | "acp";

/** The process that owns a runtime, and the runtime's controller. */
export interface Owner {
  /** The process id. */
  pid: number;
  /** The client that has control. Absent if no client has, or if unknown. */
  controller?: Controller;
}

/** The client that has control of a runtime. */
export interface Controller {
  /** The client's id at the runtime. */
  clientId: string;
  /** When control expires unless renewed, in epoch milliseconds. */
  expiresAtMs: number;
}

/** A client that observes a runtime. */
export interface Observer {
  /** The client's id at the runtime. */
  clientId: string;
  /** When the runtime last heard from the client, in epoch milliseconds. */
  lastSeenMs: number;
}

/** The actions that a runtime supports. An action that it does not report is false. */
export interface Actions {
  /** Run turns. */
  submit?: boolean;
  /** Interrupt the running turn. */
  interrupt?: boolean;
  /** Send prompts to the running turn. */
  steer?: boolean;
  /** Answer approval requests and other requests. */
  respond?: boolean;
  /** Detach. */
  detach?: boolean;
  /** End the runtime. */
  close?: boolean;
}

/** The program that a runtime runs in. */
export type Supervisor =
  /** A named tmux session. */
  | {
    kind: "tmux";
    /** The name of the tmux session. */
    sessionName: string;
  };

/** The activity of a live process. */
export interface Activity {
  /** What the process is doing. Absent if it is only known to be running. */
  status?: ActivityStatus;
  /** What the process is waiting for, as it describes it. */
  waitingFor?: string;
  /** When the current status began, in epoch milliseconds, as the harness records it. Absent if it does not. */
  sinceMs?: number;
  /** The question that a person is asked, if the runtime reports it. */
  question?: Question;
  /** The source of this information. */
  source: ActivitySource;
  /**
   * The process id. If several processes have the session: one that waits for a person, else one that is busy, else
   * idle, else of unknown activity; among equals, the one whose record changed last.
   */
  pid?: number;
  /** The ids of all live processes that have the session, if there are several. */
  pids?: number[];
  /** True while the process is stopped (SIGSTOP, Ctrl-Z); its activity is then unknown. */
  stopped?: boolean;
  /** When this activity was last observed, in epoch milliseconds. */
  observedAtMs?: number;
}

/** The activity of a live session. */
export type ActivityStatus =
  /** A turn is in progress. */
  | "busy"
  /** No turn is in progress. A background shell does not count. */
  | "idle"
  /** Waiting for a person. */
  | "waiting";

/** A question that a live session asks a person. */
export interface Question {
  /** The kind of answer that the question takes. */
  kind: QuestionKind;
  /** The question in one line of at most 200 characters, without control characters. */
  summary: string;
  /** The id of the request, for `runtime/respond`. */
  requestId?: number;
}

/** The kind of answer that a question takes. */
export type QuestionKind =
  /** A decision whether a tool may run. */
  | "approval"
  /** Text, a choice or a form. */
  | "input";

/** The source of an activity. */
export type ActivitySource =
  /** The runtime's own report. */
  | "runtime"
  /** Claude Code's own process registry. */
  | "claude-registry"
  /** A lock held by a live process. */
  | "lock"
  /** A process recognized as the session's. */
  | "process";

/** The address by which other sessions message a live session. */
export interface EntryPeer {
  /** The name by which other sessions address this one. */
  name: string;
  /** The peer endpoint. Absent if the session has no socket. */
  endpoint?: string;
}

/** A method that reaches a live session. */
export type Door =
  /** `runtime/attach`. */
  | "runtime"
  /**
   * `peer/message` with the session's id. Not listed if several live processes have that id, or if the session is in
   * a home that the client named.
   */
  | "peer";

/** The terminal in which a live session runs. */
export interface Terminal {
  /** The process id. */
  pid: number;
  /** The device of its controlling terminal. Absent if it has none, or none that can be determined. */
  tty?: string;
  /** The terminal multiplexer that displays it. Absent if Tackroom recognises none. */
  multiplexer?: Multiplexer;
  /** Whether the multiplexer has a client attached to that session. False without a multiplexer. */
  attached: boolean;
}

/** A position in a terminal multiplexer. */
export interface Multiplexer {
  /** The program. */
  kind: MultiplexerKind;
  /** The pane or window, in the program's own notation: `main:2.1` in tmux, `4211.main:2` in GNU screen. */
  target: string;
  /** The command that shows it in another terminal: program and arguments. */
  argv: string[];
  /**
   * Whether it is the active pane of a client whose terminal has the keyboard focus. Absent where the multiplexer
   * does not report that; tmux reports it with its option `focus-events`.
   */
  focused?: boolean;
}

/** A terminal multiplexer that Tackroom can control. Others (Zellij, WezTerm, kitty) are not recognised yet. */
export type MultiplexerKind =
  /** tmux. */
  | "tmux"
  /** GNU screen. */
  | "screen";

/** A command that resumes a session in its own program. */
export interface Resume {
  /** The program and its arguments. */
  argv: string[];
  /** The directory in which to run the command. */
  cwd?: string;
  /** Variables to add to the environment. */
  env?: Record<string, string>;
}

/** A source that could not be read or interpreted. The rest of the result is valid. */
export interface Problem {
  /** The harness concerned. */
  harness?: Harness;
  /** The file concerned. */
  path?: string;
  /** The id of the entry concerned. */
  id?: string;
  /** The endpoint of the receipt concerned. */
  endpoint?: string;
  /** A stable identifier of the problem, for programs. */
  reason: string;
  /** A description of the problem, for people. */
  message: string;
}

/** Result of `registry/describe`. */
export interface DescribeResult {
  /** The entry, with everything that the `include` of a query can add. */
  entry: Entry;
}

/** Result of `registry/resolve`. */
export interface ResolveResult {
  /** The id of the matching entry. */
  id: string;
  /** How the reference matched. */
  by: ResolvedBy;
}

/** How a reference matched an entry. */
export type ResolvedBy =
  /** A complete id. */
  | "id"
  /** The first characters of an id. */
  | "prefix"
  /** A name that the user chose. Case is ignored. */
  | "name"
  /** Consecutive words of the title. Case is ignored. Ask the user before you act on such a match. */
  | "title";

/** Result of `registry/states`. */
export interface StatesResult {
  /** One element per source, in the order of the request. */
  states: SourceState[];
}

/** The state of a conversation's runtime. */
export interface SourceState {
  /** The harness that owns the session. */
  harness: Harness;
  /** The session's id in its harness. */
  sessionId: string;
  /** The state of the newest runtime that answers. Absent if none answers. */
  state?: State;
}

/** Result of `registry/watch`. */
export interface WatchResult {
  /** The id of the subscription, for `registry/event` and `registry/unwatch`. */
  subscription: string;
  /** The current revision of the inventory. */
  revision: string;
}

/** Result of `registry/coverage`: the roots that were searched, and what was found and skipped there. */
export interface CoverageResult {
  /** One element per harness. */
  harnesses: HarnessCoverage[];
}

/** The search for the sessions of one harness. */
export interface HarnessCoverage {
  /** The harness. */
  id: Harness;
  /** Every root that was searched. */
  roots: RootCoverage[];
  /** How long the search took, in milliseconds. */
  elapsedMs: number;
}

/** The result of searching one root. */
export interface RootCoverage {
  /** The directory. */
  path: string;
  /** Why the root was searched. */
  origin: RootOrigin;
  /** Whether the directory exists. */
  exists: boolean;
  /** The number of files that could contain a session. Absent if the client's scope is limited to workspaces. */
  files?: number;
  /** The number of sessions read from these files. Absent if the client's scope is limited to workspaces. */
  sessions?: number;
  /** The files that were skipped, and why. Absent if the client's scope is limited to workspaces. */
  skipped?: Skipped[];
  /** True if `skipped` is incomplete. */
  truncated?: boolean;
}

/** Why a root was searched. */
export type RootOrigin =
  /** The harness's default. */
  | "default"
  /** An environment variable of the harness that replaces the default. */
  | "environment"
  /** The flag `--root`. */
  | "flag"
  /** The field `homes` of `initialize`. */
  | "client";

/** A file that was skipped. */
export interface Skipped {
  /** The file. */
  path: string;
  /** Why the file was skipped. */
  reason: string;
}

/** Result of `session/load`: one page of a conversation. The first page has the newest messages. */
export interface LoadResult {
  /** The session. */
  session: Entry;
  /** The messages, oldest first. */
  messages: Message[];
  /**
   * The cursor of the page with older messages. Absent at the beginning of the conversation. Appended messages do
   * not shift it.
   */
  nextCursor?: string;
  /** The sources that could not be read. */
  problems?: Problem[];
}

/** A message of a session, in the format common to all harnesses. */
export interface Message {
  /** The message's id in the store. */
  id?: string;
  /** The author's role. */
  role: Role;
  /** When the message was written, in epoch milliseconds. */
  timestampMs?: number;
  /** The model that wrote the message. */
  model?: string;
  /** The id of the message that this one follows, if the store records it. */
  parentId?: string;
  /** The content. */
  content: Block[];
  /** The store's own record, if the common format does not represent all of it. */
  raw?: unknown;
}

/** A part of a message. */
export type Block =
  /** Text. */
  | {
    type: "text";
    /** The text. */
    text: string;
  }
  /** Reasoning of a model. */
  | {
    type: "thinking";
    /** The text. Empty if the store contains only a signature. */
    text: string;
  }
  /** A tool call by a model. */
  | {
    type: "toolCall";
    /** The id of the call, which its result repeats. */
    id: string;
    /** The name of the tool. */
    name: string;
    /** The arguments: as JSON if they are valid JSON, otherwise a string. */
    arguments: unknown;
  }
  /** The result of a tool call. */
  | {
    type: "toolResult";
    /** The id of the call. */
    id: string;
    /** The name of the tool, if known. */
    name?: string;
    /** Whether the tool failed, if known. */
    isError?: boolean;
    /** The content of the result. */
    content: Block[];
  }
  /** An image, without its bytes. */
  | {
    type: "image";
    /** The media type. */
    mediaType?: string;
    /** The size in bytes, if the store contains the image. */
    bytes?: number;
    /** The location of the image, if the store contains only a reference. */
    uri?: string;
  }
  /** Content that Tackroom does not recognize, unchanged. */
  | {
    type: "other";
    /** The kind of content, as the store names it. */
    kind: string;
    /** The store's own record. */
    raw: unknown;
  };

/** Result of `runtime/receipts`. */
export interface ReceiptsResult {
  /** All valid receipts, newest first. */
  receipts: Receipt[];
  /** The files that are not valid receipts, and why. */
  problems?: Problem[];
}

/** A published runtime, without its token. The runtime was not contacted for this. */
export interface Receipt {
  /** The receipt's identifier for `runtime/attach`, `runtime/forget` and `runtime/unregister`. */
  endpoint: Endpoint;
  /** The runtime's id. */
  runtimeId: string;
  /** The conversation that the runtime runs. */
  source: Source;
  /** The id of the process that owns the runtime. */
  pid: number;
  /** When the runtime was published, in epoch milliseconds. */
  createdAtMs: number;
  /** Additional data. */
  metadata: RuntimeMetadata;
  /** Whether the runtime answered when this server last contacted it. Absent if this server has not contacted it. */
  reachable?: boolean;
}

/** A conversation that a runtime runs. */
export interface Source {
  /** The harness that owns the session. */
  harness: Harness;
  /** The session's id in its harness. */
  sessionId: string;
  /** The working directory, an absolute path. */
  workspace: string;
}

/** Additional data of a receipt. */
export interface RuntimeMetadata {
  /** The profile of the harness. */
  profile?: string | null;
  /** The path at which the conversation is stored. */
  persistenceLocation?: string | null;
  /** The protocols of the endpoint. Absent in params: both. */
  endpointCapabilities?: EndpointCapability[] | null;
  /** The program that the runtime runs in. */
  supervisor?: Supervisor | null;
}

/** Result of `runtime/discover`. */
export interface DiscoverResult {
  /** The newest runtime of the conversation that answers. Absent if none does. */
  endpoint?: Endpoint;
}

/** Result of `runtime/register`. */
export interface RegisterResult {
  /** The endpoint of the new receipt. The receipt exists for as long as the client is connected. */
  endpoint: Endpoint;
}

/** Result of `runtime/forget`. */
export interface ForgetResult {
  /** Whether a receipt was removed. False if it did not exist. */
  removed: boolean;
}

/** Result of `runtime/attach`. */
export interface AttachResult {
  /** The id of the attachment, for later requests and `runtime/event`. */
  attachment: string;
  /** The client's id at the runtime. */
  clientId: string;
  /** The runtime's description of itself, in the runtime's own spelling. */
  descriptor: Record<string, unknown>;
  /** The newest messages, oldest first, in the runtime's own spelling. */
  history: unknown[];
  /** The sequence number up to which `history` is complete. */
  historyCursor: number;
  /** The events after `historyCursor`, or after `after`. */
  replay: RuntimeEvent[];
  /** The controller and the observers. */
  lease: Lease;
}

/** The controller and the observers of a runtime. */
export interface Lease {
  /** The client that has control. Absent if no client has. */
  controller?: Controller;
  /** The clients that observe, sorted by client id. */
  observers: Observer[];
  /** How long control lasts without renewal, in milliseconds. */
  leaseTtlMs: number;
}

/** Result of `runtime/detach`. */
export interface DetachResult {
  /** The controller and the observers after detaching. Absent if the runtime does not report them. */
  lease?: Lease;
}

/** Result of `runtime/describe`. */
export interface RuntimeDescribeResult {
  /** The runtime's description of itself, in the runtime's own spelling. */
  descriptor: Record<string, unknown>;
}

/** Result of `runtime/lease`, `runtime/heartbeat`, `runtime/acquireControl` and `runtime/takeControl`. */
export interface LeaseResult {
  /** The controller and the observers. */
  lease: Lease;
}

/** Result of `runtime/submit`. */
export interface SubmitResult {
  /** The reply at the end of the turn. */
  reply: string;
}

/** Result of `runtime/sendInput` and `runtime/respond`. */
export interface AcceptedResult {
  /** Always true: the runtime accepted the request. */
  accepted: boolean;
}

/** Result of `runtime/steer`. */
export interface SteerResult {
  /** True if the running turn will receive the prompt. */
  queued: boolean;
}

/** Result of `runtime/interrupt`. */
export interface InterruptResult {
  /** Whether a turn was running. */
  interrupted: boolean;
}

/** Result of `runtime/invoke`. */
export interface InvokeResult {
  /** The result of the operation, in the runtime's own spelling. */
  result: unknown;
}

/** Result of `runtime/start`. */
export interface StartResult {
  /** The runtime's id. The runtime outlives this server; `runtime/close` ends it. */
  runtimeId: string;
  /** The endpoint of the runtime's receipt. */
  endpoint: Endpoint;
}

/** Result of `runtime/close`. */
export interface CloseResult {
  /** True if the runtime is closing. */
  closed: boolean;
}

/** Result of `session/follow`. */
export interface FollowResult {
  /** The id of the subscription, for `session/event` and `session/unfollow`. */
  subscription: string;
  /** The session. */
  session: Entry;
  /** A cursor for `session/load`: it returns the existing messages. Later messages are sent as `session/event`. */
  cursor: string;
}

/** Result of `peer/list`. */
export interface PeerListResult {
  /** The live sessions, sorted by name, then by process id. */
  peers: Peer[];
  /** The sources that could not be read. */
  problems?: Problem[];
}

/** A running Claude Code session, as recorded in Claude Code's process registry. */
export interface Peer {
  /** The process id. */
  pid: number;
  /** The id of the session that the process runs now. */
  sessionId: string;
  /** The name by which other sessions address this one. */
  name: string;
  /** The Claude Code home whose registry lists the session. */
  home: string;
  /** The working directory. */
  cwd?: string;
  /** The session's activity. Absent if it is not reported or the process is stopped. */
  status?: ActivityStatus;
  /** True while the process is stopped (SIGSTOP, Ctrl-Z). A stopped session does nothing, and no message reaches it. */
  stopped?: boolean;
  /** What the session is waiting for, as it describes it. */
  waitingFor?: string;
  /** The kind of session. Absent if unknown. */
  kind?: PeerKind;
  /** How the session was started: `cli`, `sdk-cli`, `claude-vscode`, and others. */
  entrypoint?: string;
  /** When the session's record last changed, in epoch milliseconds. */
  updatedAtMs?: number;
  /** The version of Claude Code. */
  version?: string;
  /** The tmux pane: `<session>:@<window>.%<pane>`. */
  tmux?: string;
  /** The path of the messaging socket, as recorded. */
  socketPath?: string;
  /**
   * Whether a process listens on the socket. `peer/message` does not reach sessions in a home that the client named,
   * even if this is true.
   */
  addressable: boolean;
  /** `cc-peer:v1:<pid>:<name>:<socket>`, derived from the other fields; it proves nothing. Absent without a socket. */
  endpoint?: string;
}

/** The kind of a Claude Code session. */
export type PeerKind =
  /** Runs in a terminal or an editor, or headless. */
  | "interactive"
  /** Runs as a background job. */
  | "background";

/** Result of `peer/resolve`. */
export interface PeerResult {
  /** The live session, read again for this call. */
  peer: Peer;
}

/** Result of `peer/message`. */
export interface MessageResult {
  /** The session, read again immediately before delivery. */
  peer: Peer;
  /** The outcome. */
  outcome: Outcome;
  /** The message's id in the session's transcript. Absent if Claude Code reported none. */
  messageId?: string;
  /**
   * Claude Code's reason for holding or refusing the message. For an accepted message: why a later rejection could
   * not have been received, for example because the courier exited early.
   */
  detail?: string;
}

/** The outcome of a message. */
export type Outcome =
  /** The message is in the session's inbox and was not rejected within three seconds. */
  | "accepted"
  /** The session holds the message until a person approves it there. It may expire. */
  | "held"
  /** The session refuses messages. The message was not delivered. */
  | "refused";

/**
 * Result of `settings/read` and `settings/update`: the user's settings. Managed settings and the command line override
 * them, and a project's settings can tighten them.
 */
export interface Settings {
  /** The path of the settings file, which may not exist. */
  path: string;
  /** The BLAKE3 hash of the file's exact bytes, in hexadecimal. If there is no file: the hash of zero bytes. */
  revision: string;
  /** The policy. Absent if none is set. */
  crossSessionInbound?: InboundPolicy;
  /** Whether the user's settings deliver all messages without asking, that is, whether the policy is `accept`. */
  userAllowsAutomaticDelivery: boolean;
  /** The source of these values. */
  evidence: SettingsEvidence;
}

/** How a Claude Code session handles messages from other sessions. */
export type InboundPolicy =
  /** Messages are delivered. */
  | "accept"
  /** Messages are held until a person approves them. */
  | "hold"
  /** Messages are discarded. */
  | "refuse";

/** The source of a setting, which determines how reliable it is. */
export type SettingsEvidence =
  /**
   * The user's settings file. Managed settings and the command line override it, and a project's settings can
   * tighten it, so it does not prove how a session behaves.
   */
  | "user";

/** Result of `terminal/reveal`. */
export interface RevealResult {
  /**
   * Whether a terminal displays the session now. False if the pane was selected but no client is attached to the
   * multiplexer: run the command in `terminal.multiplexer.argv`.
   */
  revealed: boolean;
  /** The terminal. */
  terminal: Terminal;
}

/** Params of `registry/event`. */
export interface RegistryEventParams {
  /** The id of the subscription. */
  subscription: string;
  /** The event is valid as of this revision or a later one. After `synced`, pass it as `since` to continue from here. */
  revision: string;
  /** The change. */
  event: RegistryEvent;
}

/** A change of the entries that match a subscription. */
export type RegistryEvent =
  /** An entry was added to the client's view. */
  | {
    kind: "added";
    /** The current entry. */
    entry: Entry;
  }
  /** An entry in the client's view changed. */
  | {
    kind: "updated";
    /** The current entry. */
    entry: Entry;
  }
  /** An entry was removed, or no longer matches the query. */
  | {
    kind: "removed";
    /** The entry's id. */
    id: string;
  }
  /** A source cannot be read or interpreted. Sent once. */
  | {
    kind: "error";
    /** The problem. */
    problem: Problem;
  }
  /** A source that could not be read or interpreted can be again, or was removed. */
  | {
    kind: "recovered";
    /** The problem, as sent in `error`. */
    problem: Problem;
  }
  /** The client's view is complete: all existing entries have been sent. */
  | {
    kind: "synced";
  }
  /** All entries are sent again. Entries that are not repeated before the next `synced` no longer exist. */
  | {
    kind: "resync";
  };

/** Params of the notification `session/event`. */
export interface SessionEventParams {
  /** The subscription's id, from the result of `session/follow`. */
  subscription: string;
  /** The change. */
  event: SessionEvent;
}

/** A change of a followed session. */
export type SessionEvent =
  /** Messages were appended. */
  | {
    kind: "appended";
    /** The new messages, oldest first. */
    messages: Message[];
  }
  /**
   * The messages loaded and sent so far are no longer valid: load the session again. Later messages follow as
   * `appended`.
   */
  | {
    kind: "rewritten";
    /** A cursor for `session/load`: it returns the current messages, which later `appended` events continue. */
    cursor: string;
  }
  /** The session was removed. If it reappears, `rewritten` is sent. */
  | {
    kind: "removed";
  }
  /** The session cannot be read. Sent once; messages follow when it can be read again. */
  | {
    kind: "error";
    /** The problem. */
    problem: Problem;
  };

/** Params of `runtime/event`. */
export interface RuntimeEventParams {
  /** The attachment's id, from the result of `runtime/attach`. */
  attachment: string;
  /** The event. */
  event: RuntimeEvent;
}

/** Params of the notification `$/progress`, which reports on requests with `_meta.progressToken`. */
export interface ProgressParams {
  /** The token from the request. */
  token: ProgressToken;
  /** The progress so far. */
  value: ProgressValue;
}

/** A token, chosen by the client, that identifies the request in `$/progress`. */
export type ProgressToken =
  /** A number. */
  | number
  /** A string. */
  | string;

/** The progress of a request. */
export interface ProgressValue {
  /** The current step, for people. */
  message: string;
  /** The units completed so far. */
  done: number;
  /** The total number of units. Absent if unknown; it can change while the request runs. */
  total?: number;
}

/** Params of `initialize`. */
export interface InitializeParams {
  /**
   * The protocol version of the client. The server answers 1 whatever the value; the client decides whether to
   * continue.
   */
  protocolVersion?: number | null;
  /** Information about the client. */
  clientInfo: ClientInfo;
  /** The client's process id. The server exits when that process has exited. */
  processId?: number | null;
  /** Narrows the maximum authority set on the command line. */
  authority?: AuthorityRequest | null;
  /** Additional store roots, by harness. Ignored unless the server was started with `--allow-homes`. */
  homes?: Record<string, string[]> | null;
  /** Reserved. The server ignores it. */
  capabilities?: unknown;
}

/** Information about the client. */
export interface ClientInfo {
  /** The client's short name. */
  name: string;
  /** The client's version. */
  version?: string | null;
  /** The display name. */
  title?: string | null;
}

/** A request to narrow a client's authority. An absent field leaves that part unchanged; no field can widen it. */
export interface AuthorityRequest {
  /** Keep only these permissions. */
  permissions?: Permission[] | null;
  /** Keep only these directories, each including all subdirectories. Absolute paths of at most 4096 bytes. */
  workspaces?: string[] | null;
  /** Keep only these harnesses. */
  harnesses?: Harness[] | null;
}

/** Params of `authority/narrow`. */
export interface NarrowParams {
  /** The authority to keep. */
  authority: AuthorityRequest;
}

/** Params of `registry/list`. */
export interface ListParams {
  /** The filter. Absent: all entries that an empty query returns. */
  query?: Query | null;
  /** `nextCursor` of the previous page; the query must be the same. */
  cursor?: string | null;
  /** Maximum number of entries. Default 50. With 0, only `total` and `revision` are returned. */
  limit?: number | null;
}

/** A filter for entries. All fields are optional; an absent field does not filter, except for the defaults stated here. */
export interface Query {
  /** If false, ignore live evidence and return all stored sessions as `persisted`. Default true. */
  live?: boolean | null;
  /** If false, return only entries with live evidence. Default true. */
  persisted?: boolean | null;
  /** If true, return a runtime and its stored session as two entries instead of one merged entry. Default false. */
  twins?: boolean | null;
  /** Only these harnesses. */
  harnesses?: Harness[] | null;
  /** Only these states. */
  states?: State[] | null;
  /** Only sessions in this directory. */
  workspace?: string | null;
  /** Whether `workspace` includes its subdirectories. Default false. */
  workspaceSubtree?: boolean | null;
  /**
   * Only sessions in the repository that this directory belongs to: its main checkout, worktrees, submodules, and
   * clones of the same origin.
   */
  workspaceFamily?: string | null;
  /**
   * Only entries whose title, id or peer name contains this text. Case and surrounding white space are ignored; a
   * blank text matches all entries.
   */
  text?: string | null;
  /**
   * Whether to search for `text` in the opening user texts and the last message too, and to return the excerpt as
   * `match`. Default false.
   */
  searchPreviews?: boolean | null;
  /** Only entries updated at or after this time, in epoch milliseconds. */
  updatedAfterMs?: number | null;
  /** Only entries updated before this time, in epoch milliseconds. */
  updatedBeforeMs?: number | null;
  /** Whether to include sessions that another session started (subagents). Default false. */
  includeChildren?: boolean | null;
  /** Only the entry with this id and its descendants. */
  rootId?: string | null;
  /** Only entries of this profile. */
  profile?: string | null;
  /** If true, return only archived sessions; if false, only others. Absent: both. */
  archived?: boolean | null;
  /** The order of the entries. Default `recent`. */
  sort?: Sort | null;
  /** Values to add to each entry. They require reading the sessions. */
  include?: Include[] | null;
}

/** An order of entries. */
export type Sort =
  /** By the time of the last update, newest first. */
  | "recent"
  /**
   * Waiting sessions first, the longest wait first; then busy, idle and other live ones, then stored ones, each newest
   * first. Entries whose state changes between two pages may be repeated or missed.
   */
  | "attention";

/** A value that is added to entries on request, because it requires reading the session. */
export type Include =
  /** Up to 8 opening user texts, oldest first, without injected context. */
  | "topics"
  /** The newest message. */
  | "lastMessage"
  /** The number of user and assistant messages. */
  | "messageCount"
  /** The repository that the workspace belongs to. */
  | "repository";

/** Params of `registry/describe`. */
export interface DescribeParams {
  /** The entry's id. */
  id: string;
  /** Values to add that are too expensive to determine for lists. */
  include?: DescribeInclude[] | null;
}

/** A value that `registry/describe` adds on request. */
export type DescribeInclude =
  /** The terminal in which a live session runs. */
  | "terminal";

/** Params of `registry/resolve`. */
export interface ResolveParams {
  /**
   * An id (of an entry, session or runtime, or an endpoint), the first four or more characters of one, a name that
   * the user chose, or consecutive words of a title.
   */
  ref: string;
  /** Maximum number of candidates in the error `ambiguous`. Default 10. */
  limit?: number | null;
}

/** Params of `registry/states`. */
export interface StatesParams {
  /** The conversations. */
  sources: StateSource[];
}

/** A conversation whose runtime state is requested. */
export interface StateSource {
  /** The harness that owns the session. */
  harness: Harness;
  /** The session's id in its harness. */
  sessionId: string;
}

/** Params of `registry/watch`. */
export interface WatchParams {
  /** The filter. Absent: all entries that an empty query returns. */
  query?: Query | null;
  /** A revision from this server: send only the changes after it. */
  since?: string | null;
}

/** Params of `registry/unwatch`. */
export interface UnwatchParams {
  /** The subscription's id, from the result of `registry/watch`. */
  subscription: string;
}

/** Params of `registry/coverage`. */
export interface CoverageParams {
  /** Only these harnesses. */
  harnesses?: Harness[] | null;
}

/** Params of `session/load`. */
export interface LoadParams {
  /** The entry's id. */
  id: string;
  /** `nextCursor` of the previous page, to continue with older messages. Absent: the newest page. */
  cursor?: string | null;
  /** Maximum number of messages. Default 200. */
  limit?: number | null;
}

/** Params of `runtime/discover`. */
export interface DiscoverParams {
  /** The conversation. */
  source: Source;
}

/** Params of `runtime/register`. */
export interface RegisterParams {
  /** The runtime's id. */
  runtimeId: string;
  /** The conversation that the runtime runs. */
  source: Source;
  /** The URL at which the runtime listens: `http://127.0.0.1:PORT`. */
  baseUrl: string;
  /** The bearer token that the runtime requires. */
  token: Token;
  /** The id of the process that owns the runtime. Absent: this server's. */
  pid?: number | null;
  /** Additional data for the receipt. */
  metadata?: RuntimeMetadata | null;
}

/** A bearer token. It is never shown and never sent to a client. */
export type Token = string;

/** Params of `runtime/unregister`. */
export interface UnregisterParams {
  /** The endpoint of a receipt that this client registered. */
  endpoint: string;
}

/** Params of `runtime/forget`. */
export interface ForgetParams {
  /** The endpoint of the receipt. */
  endpoint: string;
  /** Remove the receipt even if its owner, which may be suspended, is running; otherwise the call fails with `busy`. Default false. */
  force?: boolean | null;
}

/** Params of `runtime/attach`: either `id`, or `runtimeId`, or `endpoint` and `source`. */
export type AttachParams = OneOf<{
  /** An entry's id: the runtime's, or that of the session that it runs. */
  id?: string | null;
  /** The runtime's id. */
  runtimeId?: string | null;
  /** The endpoint of a receipt. The runtime must run `source`. */
  endpoint?: string | null;
  /** The conversation that the runtime must run. */
  source?: Source | null;
  /** The client id to use at the runtime: 1 to 128 characters of `[A-Za-z0-9._-]`. Absent: a new one is generated. */
  clientId?: string | null;
  /**
   * The permissions to use, out of `observe`, `interact`, `approve` and `terminate`. Absent: all that the client
   * has.
   */
  permissions?: Permission[] | null;
  /** Maximum number of messages of history; the newest are returned. Default 50. */
  historyLimit?: number | null;
  /** Replay only events after this sequence number: the `cursor` of `lagged`, or the last `sequence` received. */
  after?: number | null;
  /** Whether the server renews the controller lease while this attachment holds it. Default true. */
  autoRenew?: boolean | null;
}, ["id"] | ["runtimeId"] | ["endpoint","source"]>;

/** Params of methods that take only an attachment. */
export interface AttachmentParams {
  /** The attachment's id, from the result of `runtime/attach`. */
  attachment: string;
}

/** Params of `runtime/describe`: exactly one of the fields. */
export type RuntimeDescribeParams = OneOf<{
  /** The attachment's id, from the result of `runtime/attach`. */
  attachment?: string | null;
  /** An entry's id: the runtime's, or that of the session that it runs. */
  id?: string | null;
  /** The runtime's id. */
  runtimeId?: string | null;
}, ["attachment"] | ["id"] | ["runtimeId"]>;

/** Params of `runtime/submit` and `runtime/sendInput`. */
export interface SubmitParams {
  /** The attachment's id, from the result of `runtime/attach`. */
  attachment: string;
  /** The prompt. */
  prompt: string;
  /** Images of the prompt, as `data:image/...`, `https://` or `http://` URLs. At most 4. */
  images?: string[] | null;
}

/** Params of `runtime/steer`. */
export interface SteerParams {
  /** The attachment's id, from the result of `runtime/attach`. */
  attachment: string;
  /** The prompt for the running turn. */
  prompt: string;
}

/** Params of `runtime/invoke`. */
export interface InvokeParams {
  /** The attachment's id, from the result of `runtime/attach`. */
  attachment: string;
  /** An operation of the descriptor with its arguments, in the runtime's own spelling. */
  operation: Record<string, unknown>;
}

/** Params of `runtime/respond`. */
export interface RespondParams {
  /** The attachment's id, from the result of `runtime/attach`. */
  attachment: string;
  /** The answer to the request. */
  response: RuntimeResponse;
}

/**
 * An answer to a request of a runtime. The request arrived as an event `request`; `kind` is its
 * `payload.request.kind`.
 */
export type RuntimeResponse =
  /** An answer to a request for approval. */
  | {
    kind: "approval";
    /** The request's id: `payload.request.id` of the event `request`. */
    requestId: number;
    /** The decision. */
    decision: Decision;
  }
  /** An answer to a request for information. */
  | {
    kind: "elicitation";
  } & Elicited
  /** An answer to a request of any other kind. */
  | {
    kind: "other";
  } & Elicited;

/** A decision on an approval request. */
export type Decision =
  /** Deny the request. */
  | "deny"
  /** Allow the request, this time only. */
  | "allow"
  /** Allow this request and similar ones for the rest of the session. */
  | "allow_for_session";

/** Whether a person answered a request for information. */
export type ElicitedAction =
  /** The person answered; `content` is the answer. */
  | "accept"
  /** The person declined to answer. */
  | "decline"
  /** The person dismissed the request. */
  | "cancel";

/** A person's answer to a request for information. */
export interface Elicited {
  /** The request's id: `payload.request.id` of the event `request`. */
  requestId: number;
  /** Whether the person answered. */
  action: ElicitedAction;
  /** The answer to the request. */
  content?: unknown;
}

/** Params of `runtime/start`. */
export interface StartParams {
  /**
   * The name of an agent given with `--start` on the server's command line; `initialize` lists these names in
   * `capabilities.start`.
   */
  name: string;
  /** The agent's working directory, an absolute path. */
  workspace: string;
  /** The agent's id of a session to continue. Absent: a new session. */
  load?: string | null;
}

/** Params of `session/follow`. */
export interface FollowParams {
  /** The entry's id. For a runtime's id, its stored session is followed. */
  id: string;
}

/** Params of `session/unfollow`. */
export interface UnfollowParams {
  /** The subscription's id, from the result of `session/follow`. */
  subscription: string;
}

/** Params of `peer/resolve`: exactly one of the fields. */
export type PeerSelector = OneOf<{
  /** An entry id, `claude-code:<session id>`. */
  id?: string | null;
  /** A session id. */
  sessionId?: string | null;
  /** A name. Case is ignored. */
  name?: string | null;
  /** A peer endpoint. */
  endpoint?: string | null;
}, ["id"] | ["sessionId"] | ["name"] | ["endpoint"]>;

/** Params of `peer/message`: the text, and exactly one field that selects the recipient. */
export type MessageParams = OneOf<{
  /** An entry id, `claude-code:<session id>`. */
  id?: string | null;
  /** A session id. */
  sessionId?: string | null;
  /** A name. Case is ignored. */
  name?: string | null;
  /** A peer endpoint. */
  endpoint?: string | null;
  /** The text. It is delivered unchanged. */
  text: string;
}, ["id"] | ["sessionId"] | ["name"] | ["endpoint"]>;

/** Params of `settings/read`. */
export interface SettingsReadParams {
  /** One of the Claude Code homes that the server was started with. Absent: the first. */
  home?: string | null;
}

/** Params of `settings/update`. */
export interface SettingsUpdateParams {
  /** The new policy, or `null` to remove the setting. Required. */
  crossSessionInbound: InboundPolicy | null;
  /** The revision that the file must have before the update. Absent: any. */
  expectedRevision?: string | null;
  /** One of the Claude Code homes that the server was started with. Absent: the first. */
  home?: string | null;
}

/** Params of `terminal/reveal`. */
export interface RevealParams {
  /** The id of a live entry. */
  id: string;
  /**
   * The device of the user's terminal. If it is a client's terminal in the same multiplexer, or a pane in it, that
   * client is switched to the session.
   */
  clientTty?: string | null;
}

/** Params of `$/cancelRequest`. */
export interface CancelParams {
  /** The id of the request to cancel. */
  id: RequestId;
}

/** A JSON-RPC request id. */
export type RequestId =
  /** A number. */
  | number
  /** A string. */
  | string
  /** `null`. */
  | null;

/** Params of `$/cancel_request`. */
export interface CancelRequestParams {
  /** The id of the request to cancel. */
  requestId: RequestId;
}

/** The `_meta` field, which every params object may have. */
export interface RequestMeta {
  /** Narrows the authority for this request only. */
  authority?: AuthorityRequest | null;
  /** Requests `$/progress` notifications with this token. */
  progressToken?: ProgressToken | null;
}
