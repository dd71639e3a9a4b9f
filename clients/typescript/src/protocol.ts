// Generated from schema/ by `npm run generate`; not to be edited.
import type { RuntimeEvent } from "./events.js";

export const PROTOCOL_VERSION = 1;

/** The params and the result of each method. */
export interface Methods {
  /** Opens the connection: identifies the client and sets what it may do. */
  "initialize": { params: InitializeParams; result: InitializeResult };
  /** Answers immediately. */
  "ping": { params: Empty; result: Empty };
  /** Ends the conversation; only `exit` may follow. */
  "shutdown": { params: Empty; result: null };
  /** Gives up permissions or scope permanently. */
  "authority/narrow": { params: NarrowParams; result: NarrowResult };
  /**
   * Returns one page of the sessions on this machine, newest first, as of the time of the call.
   * Needs `observe`.
   */
  "registry/list": { params: ListParams; result: ListResult };
  /**
   * Returns one entry with every detail that is known.
   * Needs `observe`.
   */
  "registry/describe": { params: DescribeParams; result: DescribeResult };
  /**
   * Finds the one entry that a reference names: an id, a short id, a name, or words of a title.
   * Needs `observe`.
   */
  "registry/resolve": { params: ResolveParams; result: ResolveResult };
  /**
   * Returns the states of the live runtimes of the given conversations; only those runtimes are asked.
   * Needs `observe`.
   */
  "registry/states": { params: StatesParams; result: StatesResult };
  /**
   * Subscribes to the entries that match a query: first all of them, then each change, as `registry/event`.
   * Needs `observe`.
   */
  "registry/watch": { params: WatchParams; result: WatchResult };
  /**
   * Ends a subscription.
   * Needs `observe`.
   */
  "registry/unwatch": { params: UnwatchParams; result: Empty };
  /**
   * Reports where sessions were looked for, what was found, and what was skipped and why.
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
   * Withdraws what `runtime/register` published.
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
   * Returns which client controls a runtime and which clients observe it.
   * Needs `observe`.
   */
  "runtime/lease": { params: AttachmentParams; result: LeaseResult };
  /**
   * Renews the attachment and, if it has it, control.
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
   * Starts a turn.
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
   * Sends new messages of a session as they are written, as `session/event`.
   * Needs `observe`.
   */
  "session/follow": { params: FollowParams; result: FollowResult };
  /**
   * Ends following a session.
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
   * Changes that policy in the user's own settings, and nothing else in them.
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
  /** The frame is not JSON that can be read. (-32700) */
  | "parse_error"
  /** The message is no request that can be served now. (-32600) */
  | "invalid_request"
  /** There is no such method. (-32601) */
  | "method_not_found"
  /** The params do not fit the method. (-32602) */
  | "invalid_params"
  /** The server failed; this is a bug. (-32603) */
  | "internal"
  /** `initialize` comes first. (-32002) */
  | "not_initialized"
  /** The client cancelled the request, or went away. (-32800) */
  | "cancelled"
  /** A permission is missing; `data.permission` names it. (-32000) */
  | "unauthorized"
  /** There is no such thing, or it is out of scope. (-32001) */
  | "not_found"
  /** No live session answers to this. (-32003) */
  | "not_live"
  /** What was named is not what is there now. (-32004) */
  | "identity_mismatch"
  /** Two runtimes claim this id. (-32005) */
  | "ambiguous_runtime"
  /** Another client drives; `data.holder` and `data.expiresAtMs` say who and until when. (-32006) */
  | "controller_required"
  /** The lease ran out; only taking control helps. (-32007) */
  | "lease_expired"
  /** Too much is going on; try again. (-32008) */
  | "busy"
  /** This runtime cannot do that. (-32009) */
  | "unsupported_action"
  /** This harness cannot do that. (-32010) */
  | "harness_unsupported"
  /** What is needed is not there now. (-32011) */
  | "unavailable"
  /** It took too long. (-32012) */
  | "timeout"
  /** The connection failed. (-32013) */
  | "transport"
  /** The other side tried, and failed. (-32014) */
  | "execution"
  /** The other side refused an argument. (-32015) */
  | "invalid_argument"
  /** The other side does not accept the token. (-32016) */
  | "unauthenticated"
  /** A file could not be read or written. (-32017) */
  | "io"
  /** This is no endpoint. (-32018) */
  | "invalid_endpoint"
  /** The receipt does not hold. (-32019) */
  | "invalid_receipt"
  /** The file changed meanwhile; `data.expected` and `data.actual` are the revisions. (-32030) */
  | "changed_during_write"
  /** The settings file cannot be understood. (-32031) */
  | "invalid_settings"
  /** The message was not delivered, or not for certain; `data.cause` says why: `empty` (a blank text), `spawn` (no courier could be started), `exit` (it failed), `report` (it did not do, or say, what it should) or `timeout`. (-32032) */
  | "delivery_failed"
  /** A bound on size is passed. (-32033) */
  | "too_large"
  /** A bound on number is passed. (-32034) */
  | "limit"
  /** The reference matches several entries; `data.candidates` lists them, and `data.total` counts them. (-32035) */
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
  /** The version that the server speaks: 1. */
  protocolVersion: number;
  /** Who the server is. */
  serverInfo: ServerInfo;
  /** What it can do beyond its methods. */
  capabilities: ServerCapabilities;
  /** Random, new for each server process: revisions of one instance mean nothing to another. */
  instanceId: string;
  /** What was granted. */
  authority: Authority;
  /** Every request that the server knows; the OpenRPC document says which permissions each needs. */
  methods: string[];
  /** Every notification that the server may send. */
  notifications: string[];
  /** The harnesses within scope, and where their sessions are looked for. */
  harnesses: HarnessInfo[];
  /** The bounds that a client can run into. */
  limits: Limits;
}

/** Who the server is. */
export interface ServerInfo {
  /** `tackroom`. */
  name: string;
  /** The server's version. */
  version: string;
}

/** What the server can do beyond its methods. */
export interface ServerCapabilities {
  /** The agents that `runtime/start` can start for this client, by name; absent where it can start none. */
  start?: string[];
}

/** What a client may do, and to which entries. */
export interface Authority {
  /** What the client may do. */
  permissions: Permission[];
  /** Directories, each with all below it. Absent: every workspace, and entries without a known one. */
  workspaces?: string[];
  /** Harnesses. Absent: all. */
  harnesses?: Harness[];
}

/** One thing that a client may be allowed to do. */
export type Permission =
  /** See sessions, runtimes and peers. */
  | "observe"
  /** Drive turns of a runtime. */
  | "interact"
  /** Answer approvals of a runtime. */
  | "approve"
  /** End runtimes. */
  | "terminate"
  /** Send a text into a live session. */
  | "message"
  /** Change settings. */
  | "configure"
  /** Publish or forget receipts. */
  | "register"
  /** Start what the spawner named. */
  | "start"
  /** Select the pane of a live session in its terminal multiplexer. */
  | "reveal";

/** A coding-agent program whose sessions Tackroom knows. */
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
   * An agent that is none of these and speaks the Agent Client Protocol. It is known only while `tackroom host` runs
   * it: it has no store. Receipts of other programs do not know this word.
   */
  | "acp";

/** A harness and the roots of its stores. */
export interface HarnessInfo {
  /** The harness. */
  id: Harness;
  /** The name that a person reads. */
  name: string;
  /** The directories that are looked into, whether they exist or not. */
  roots: string[];
}

/** The bounds that a client can run into; each can be lowered by `--limit NAME=VALUE`. */
export interface Limits {
  /** The longest frame that is read, in bytes. */
  frameBytes: number;
  /** The largest `limit` of a page. */
  pageMax: number;
  /** Requests at work or unread at a time; one more is answered `busy`. */
  requestsInFlight: number;
  /** The largest batch; a larger one is answered with one `limit` error. */
  batchMax: number;
  /** The longest text of `peer/message`, in bytes. */
  messageBytes: number;
  /** Attachments to runtimes at one time. */
  attachments: number;
  /** Subscriptions of `registry/watch` at one time. */
  subscriptions: number;
  /** Directories that are watched at one time; what changes in others is seen later. */
  watches: number;
  /** How long `peer/message` may take, in milliseconds. */
  courierMs: number;
}

/** Params or a result with nothing in it. */
export type Empty = Record<string, never>;

/** Result of `authority/narrow`. */
export interface NarrowResult {
  /** What is left. */
  authority: Authority;
}

/** Result of `registry/list`: one page of the inventory. */
export interface ListResult {
  /** The entries, newest first. */
  entries: Entry[];
  /** Leads to the next page; absent on the last. */
  nextCursor?: string;
  /** How many entries the query has in all. */
  total: number;
  /** The inventory's revision: it moves when anything changes. */
  revision: string;
  /** What could not be read. */
  problems?: Problem[];
}

/** One row of the inventory: a stored session, a live one, or what of these is the same conversation. */
export interface Entry {
  /** A runtime's own id where it runs, else `<harness>:<session id>`. */
  id: string;
  /** The program that owns the session. */
  harness: Harness;
  /** The harness's own id of the session. */
  sessionId: string;
  /** What it is doing. */
  state: State;
  /** The directory that it works in. */
  workspace?: string;
  /** One line that names it: as the user named it, else as its program did, else its first prompt. */
  title?: string;
  /**
   * What the program calls itself, where a live runtime hosts one that says so. It tells the agents of the harness `acp`
   * apart.
   */
  agent?: string;
  /** The model that answered last. */
  model?: string;
  /** The profile of its program that it belongs to. */
  profile?: string;
  /** When the session began, in epoch milliseconds. */
  createdAtMs?: number;
  /** When the live process began, in epoch milliseconds. */
  startedAtMs?: number;
  /** Its newest user or assistant message, else its file's time, in epoch milliseconds. */
  updatedAtMs?: number;
  /** How many messages people and models wrote; only where asked for. */
  messageCount?: number;
  /** The file that holds it. */
  location?: string;
  /** True where its program has put it away. */
  archived?: boolean;
  /** The session that it came from. */
  parent?: Parent;
  /** How many sessions name this one as the one that started them. */
  childCount?: number;
  /** Up to 8 opening user texts; only where asked for. */
  topics?: string[];
  /** The newest message; only where asked for. */
  lastMessage?: LastMessage;
  /** The excerpt that `searchPreviews` found. */
  match?: string;
  /** The repository that the workspace belongs to; only where asked for. */
  repository?: Repository;
  /** The live runtime's own id. */
  runtimeId?: string;
  /** The id of the stored session that the runtime runs, where there is one. */
  persistedId?: string;
  /** Every live runtime of the conversation, the newest first, where it is stored. */
  runtimeIds?: string[];
  /** The runtime's receipt. */
  endpoint?: Endpoint;
  /** What the endpoint speaks. */
  endpointCapabilities?: EndpointCapability[];
  /** The runtime's process, and who drives it. */
  owner?: Owner;
  /** Who looks at the runtime. */
  observers?: Observer[];
  /** What the runtime can do. */
  actions?: Actions;
  /** What the runtime runs in. */
  supervisor?: Supervisor;
  /** What is known of a live process. */
  activity?: Activity;
  /** The live session's address among its peers. */
  peer?: EntryPeer;
  /** The ways into the live session. */
  doors?: Door[];
  /** The terminal in which the live process runs; only where `registry/describe` asked for it. */
  terminal?: Terminal;
  /** How a person gets back into the session with its own program. */
  resume?: Resume;
}

/** The one derived word for what an entry is. */
export type State =
  /** Stored; nothing says that it lives. */
  | "persisted"
  /** Alive, doing unknown. */
  | "live"
  /** Alive, nothing to do. */
  | "idle"
  /** A turn runs. */
  | "busy"
  /** A person is waited for. */
  | "waiting"
  /** On its way out. */
  | "shutting_down";

/** Where a session came from. */
export interface Parent {
  /** The id of the parent's entry, where there is one in scope: its `id`, or its `persistedId` while a runtime runs it. */
  id?: string;
  /** The session that it came from, where known. */
  sessionId?: string;
  /** How it came from it. */
  relation: Relation;
}

/** How a session came from another. */
export type Relation =
  /** A person went on from a copy of the conversation. */
  | "fork"
  /** A branch of the conversation kept as a session of its own. */
  | "branch"
  /** Another session started it to do a part of its work. */
  | "subagent"
  /** The conversation went on here. */
  | "continuation"
  /** A copy that a migration or an archive made. */
  | "copy";

/** The newest message of a session. */
export interface LastMessage {
  /** Who wrote it. */
  role: Role;
  /** Its text, shortened. */
  text: string;
  /** When it was written, in epoch milliseconds. */
  timestampMs?: number;
}

/** Who wrote a message. */
export type Role =
  /** A person. */
  | "user"
  /** The model. */
  | "assistant"
  /** The harness. */
  | "system"
  /** A tool's result. */
  | "tool";

/** The repository that a workspace belongs to, read from its files. */
export interface Repository {
  /** The checkout's top directory. */
  root: string;
  /** The branch that is checked out now. */
  branch?: string;
  /** The URL of the remote `origin`, without credentials. */
  origin?: string;
}

/** The opaque name of a receipt, `supercode-live://` and 32 lower-case hexadecimal digits. It holds no secret. */
export type Endpoint = string;

/** What a runtime's endpoint speaks. */
export type EndpointCapability =
  /** The HTTP API that `runtime/attach` uses. */
  | "http"
  /** The Agent Client Protocol. */
  | "acp";

/** The process that owns a runtime, and who drives it. */
export interface Owner {
  /** The process. */
  pid: number;
  /** Who drives; absent: nobody, or not known. */
  controller?: Controller;
}

/** The one client that may drive. */
export interface Controller {
  /** Its name. */
  clientId: string;
  /** Until when, in epoch milliseconds. */
  expiresAtMs: number;
}

/** A client that looks. */
export interface Observer {
  /** Its name. */
  clientId: string;
  /** When it last said something, in epoch milliseconds. */
  lastSeenMs: number;
}

/** What a runtime can do; a member that it does not name is false. */
export interface Actions {
  /** Run a turn. */
  submit?: boolean;
  /** Stop a turn. */
  interrupt?: boolean;
  /** Say something while a turn runs. */
  steer?: boolean;
  /** Answer approvals and other requests. */
  respond?: boolean;
  /** Leave. */
  detach?: boolean;
  /** End the runtime. */
  close?: boolean;
}

/** What a runtime runs in. */
export type Supervisor =
  /** A named session of tmux. */
  | {
    kind: "tmux";
    /** Its name. */
    sessionName: string;
  };

/** What is known of a live process. */
export interface Activity {
  /** What it is doing; absent when only its life is known. */
  status?: ActivityStatus;
  /** What it waits for, in its own words. */
  waitingFor?: string;
  /** When the current status began, in epoch milliseconds, as the harness itself records it. Absent where it does not. */
  sinceMs?: number;
  /** What a person is asked, where the runtime reports it. */
  question?: Question;
  /** Where this comes from. */
  source: ActivitySource;
  /**
   * The process. Where several have the session, the one that waits for a person, else that is busy, else idle, else
   * unknown; of equal ones the one whose record changed last.
   */
  pid?: number;
  /** Every live process that has the session, where there are several. */
  pids?: number[];
  /** True while the process is stopped (SIGSTOP, Ctrl-Z): what it does is then unknown. */
  stopped?: boolean;
  /** When this was last seen to be so, in epoch milliseconds. */
  observedAtMs?: number;
}

/** What a live session is doing. */
export type ActivityStatus =
  /** A turn runs. */
  | "busy"
  /** Nothing runs; a background shell counts as nothing. */
  | "idle"
  /** A person is waited for. */
  | "waiting";

/** What a live session asks a person. */
export interface Question {
  /** What kind of answer it takes. */
  kind: QuestionKind;
  /** The question in one line of at most 200 characters, without control characters. */
  summary: string;
  /** The request that `runtime/respond` answers. */
  requestId?: number;
}

/** The kind of answer that a question takes. */
export type QuestionKind =
  /** A decision whether a tool may run. */
  | "approval"
  /** Text, a choice or a form. */
  | "input";

/** Where the knowledge of an activity comes from. */
export type ActivitySource =
  /** The runtime said so. */
  | "runtime"
  /** Claude Code's own process registry. */
  | "claude-registry"
  /** A lock that a live process holds. */
  | "lock"
  /** A process that was recognized. */
  | "process";

/** A live session's address among its peers. */
export interface EntryPeer {
  /** The name by which other sessions address it. */
  name: string;
  /** The peer endpoint; absent without a socket. */
  endpoint?: string;
}

/** A way into a live session. */
export type Door =
  /** `runtime/attach`. */
  | "runtime"
  /**
   * `peer/message` by the session's id. Not where several live processes have that id, nor in a home that the client
   * named.
   */
  | "peer";

/** The terminal in which a live session runs. */
export interface Terminal {
  /** The process. */
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
   * Whether it is the active pane of a client whose terminal has the keyboard focus. Absent where the multiplexer does
   * not report that; tmux reports it with its option `focus-events`.
   */
  focused?: boolean;
}

/** A terminal multiplexer that Tackroom can control. Others (Zellij, WezTerm, kitty) are not recognised yet. */
export type MultiplexerKind =
  /** tmux. */
  | "tmux"
  /** GNU screen. */
  | "screen";

/** A command that brings a person back into a session. */
export interface Resume {
  /** Program and arguments. */
  argv: string[];
  /** Where to run it. */
  cwd?: string;
  /** What to add to the environment. */
  env?: Record<string, string>;
}

/** Something that could not be read or judged; the rest of the answer stands. */
export interface Problem {
  /** Whose it is. */
  harness?: Harness;
  /** The file. */
  path?: string;
  /** The entry. */
  id?: string;
  /** The receipt's endpoint. */
  endpoint?: string;
  /** The stable word for what is wrong. */
  reason: string;
  /** The same for a person. */
  message: string;
}

/** Result of `registry/describe`. */
export interface DescribeResult {
  /** The entry, with all that `include` can add. */
  entry: Entry;
}

/** Result of `registry/resolve`. */
export interface ResolveResult {
  /** The id of the one entry that is meant. */
  id: string;
  /** What matched. */
  by: ResolvedBy;
}

/** How a reference matched an entry. */
export type ResolvedBy =
  /** A whole id. */
  | "id"
  /** The beginning of an id. */
  | "prefix"
  /** A name that the user chose, in any case. */
  | "name"
  /** Consecutive words of the title, in any case. Do not act on such a match without asking the user. */
  | "title";

/** Result of `registry/states`. */
export interface StatesResult {
  /** One a source, in the order asked. */
  states: SourceState[];
}

/** What the runtime of a conversation does. */
export interface SourceState {
  /** The program that owns the session. */
  harness: Harness;
  /** The harness's own id of the session. */
  sessionId: string;
  /** What its newest runtime that answers does; absent: none answers. */
  state?: State;
}

/** Result of `registry/watch`. */
export interface WatchResult {
  /** Names the subscription in its events and in `registry/unwatch`. */
  subscription: string;
  /** The inventory's revision now. */
  revision: string;
}

/** Result of `registry/coverage`: where was looked, what was found, what was skipped. */
export interface CoverageResult {
  /** One row a harness. */
  harnesses: HarnessCoverage[];
}

/** Where the sessions of one harness were looked for. */
export interface HarnessCoverage {
  /** The harness. */
  id: Harness;
  /** Every root that was tried. */
  roots: RootCoverage[];
  /** How long looking took, in milliseconds. */
  elapsedMs: number;
}

/** What was found below one root. */
export interface RootCoverage {
  /** The directory. */
  path: string;
  /** How it came to be looked into. */
  origin: RootOrigin;
  /** Whether it is there. */
  exists: boolean;
  /** Files that could hold a session. Absent under a workspace scope. */
  files?: number;
  /** Sessions that were read from them. Absent under a workspace scope. */
  sessions?: number;
  /** What was passed over, and why. Absent under a workspace scope. */
  skipped?: Skipped[];
  /** True where `skipped` was cut short. */
  truncated?: boolean;
}

/** How a root came to be looked into. */
export type RootOrigin =
  /** The harness's own default. */
  | "default"
  /** An environment variable of the harness, which replaces the default. */
  | "environment"
  /** `--root`. */
  | "flag"
  /** `initialize.homes`. */
  | "client";

/** A file that was passed over. */
export interface Skipped {
  /** The file. */
  path: string;
  /** Why. */
  reason: string;
}

/** Result of `session/load`: one page of a conversation, the newest first asked for. */
export interface LoadResult {
  /** The session. */
  session: Entry;
  /** The messages, in time order. */
  messages: Message[];
  /** Leads to older messages; absent at the beginning. It does not shift when messages are appended. */
  nextCursor?: string;
  /** What could not be read. */
  problems?: Problem[];
}

/** A message, in the one normal form. */
export interface Message {
  /** The store's own id of it. */
  id?: string;
  /** Who wrote it. */
  role: Role;
  /** When it was written, in epoch milliseconds. */
  timestampMs?: number;
  /** The model that wrote it. */
  model?: string;
  /** The message that it follows, where the store says so. */
  parentId?: string;
  /** What it says. */
  content: Block[];
  /** The store's own record, where the normal form does not hold it all. */
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
  /** What a model thought. */
  | {
    type: "thinking";
    /** The text; empty where the store keeps only a signature. */
    text: string;
  }
  /** A model calls a tool. */
  | {
    type: "toolCall";
    /** The call's id, by which its result is found. */
    id: string;
    /** The tool. */
    name: string;
    /** Its arguments, as JSON where they are. */
    arguments: unknown;
  }
  /** What a tool answered. */
  | {
    type: "toolResult";
    /** The call's id. */
    id: string;
    /** The tool, where known. */
    name?: string;
    /** Whether the tool failed, where known. */
    isError?: boolean;
    /** What it answered. */
    content: Block[];
  }
  /** An image. Its bytes do not travel. */
  | {
    type: "image";
    /** Its media type. */
    mediaType?: string;
    /** Its size in bytes, where the store holds it. */
    bytes?: number;
    /** Where it is, where the store only says that. */
    uri?: string;
  }
  /** What is not understood, kept as it is. */
  | {
    type: "other";
    /** The store's own word for it. */
    kind: string;
    /** The store's own record. */
    raw: unknown;
  };

/** Result of `runtime/receipts`. */
export interface ReceiptsResult {
  /** Every receipt that counts, the newest first. */
  receipts: Receipt[];
  /** Files that are no receipts that count, and why. */
  problems?: Problem[];
}

/** A published runtime, without its secret and without having been asked whether it answers. */
export interface Receipt {
  /** Its name for `runtime/attach`, `runtime/forget` and `runtime/unregister`. */
  endpoint: Endpoint;
  /** The runtime's own id. */
  runtimeId: string;
  /** The conversation that it runs. */
  source: Source;
  /** The process that owns it. */
  pid: number;
  /** When it was published, in epoch milliseconds. */
  createdAtMs: number;
  /** What it says besides. */
  metadata: RuntimeMetadata;
  /** Whether it answered when it was last asked; absent where this server has not asked. */
  reachable?: boolean;
}

/** The conversation that a runtime runs. */
export interface Source {
  /** The program that owns the session. */
  harness: Harness;
  /** The harness's own id of the session. */
  sessionId: string;
  /** The directory that it works in: an absolute path. */
  workspace: string;
}

/** What a receipt says besides. */
export interface RuntimeMetadata {
  /** The profile of its program. */
  profile?: string | null;
  /** Where the conversation is stored. */
  persistenceLocation?: string | null;
  /** What the endpoint speaks. Absent on input: both. */
  endpointCapabilities?: EndpointCapability[] | null;
  /** What the runtime runs in. */
  supervisor?: Supervisor | null;
}

/** Result of `runtime/discover`. */
export interface DiscoverResult {
  /** The newest runtime of the conversation that answers; absent where none does. */
  endpoint?: Endpoint;
}

/** Result of `runtime/register`. */
export interface RegisterResult {
  /** The receipt's name. The receipt is there for as long as the client is. */
  endpoint: Endpoint;
}

/** Result of `runtime/forget`. */
export interface ForgetResult {
  /** Whether there was such a receipt. */
  removed: boolean;
}

/** Result of `runtime/attach`. */
export interface AttachResult {
  /** Names the attachment in all that follows. */
  attachment: string;
  /** The name by which the runtime knows this client. */
  clientId: string;
  /** What the runtime says of itself, as it said it. */
  descriptor: Record<string, unknown>;
  /** The newest messages, oldest first, as the runtime has them. */
  history: unknown[];
  /** The sequence number that `history` reaches to. */
  historyCursor: number;
  /** The events since then, or since `after`. */
  replay: RuntimeEvent[];
  /** Who drives and who looks. */
  lease: Lease;
}

/** Who drives a runtime and who looks. */
export interface Lease {
  /** Who drives; absent: nobody. */
  controller?: Controller;
  /** Who looks, by client id. */
  observers: Observer[];
  /** How long control lasts without being renewed, in milliseconds. */
  leaseTtlMs: number;
}

/** Result of `runtime/detach`. */
export interface DetachResult {
  /** Who drives and who looks now; absent where the runtime does not say. */
  lease?: Lease;
}

/** Result of `runtime/describe`. */
export interface RuntimeDescribeResult {
  /** What the runtime says of itself, as it said it. */
  descriptor: Record<string, unknown>;
}

/** Result of `runtime/lease`, `runtime/heartbeat`, `runtime/acquireControl` and `runtime/takeControl`. */
export interface LeaseResult {
  /** Who drives and who looks. */
  lease: Lease;
}

/** Result of `runtime/submit`. */
export interface SubmitResult {
  /** What the turn ended with. */
  reply: string;
}

/** Result of `runtime/sendInput` and `runtime/respond`. */
export interface AcceptedResult {
  /** True: the runtime took it. */
  accepted: boolean;
}

/** Result of `runtime/steer`. */
export interface SteerResult {
  /** True: the running turn will see it. */
  queued: boolean;
}

/** Result of `runtime/interrupt`. */
export interface InterruptResult {
  /** Whether a turn ran. */
  interrupted: boolean;
}

/** Result of `runtime/invoke`. */
export interface InvokeResult {
  /** What the operation gave, as the runtime spells it. */
  result: unknown;
}

/** Result of `runtime/start`. */
export interface StartResult {
  /** The runtime's own id. It outlives this server; `runtime/close` ends it. */
  runtimeId: string;
  /** Its receipt. */
  endpoint: Endpoint;
}

/** Result of `runtime/close`. */
export interface CloseResult {
  /** True: the runtime ends. */
  closed: boolean;
}

/** Result of `session/follow`. */
export interface FollowResult {
  /** Names what was opened, in `session/event` and `session/unfollow`. */
  subscription: string;
  /** The session. */
  session: Entry;
  /** A cursor of `session/load`: it leads to the messages that were there, and what comes after them is told. */
  cursor: string;
}

/** Result of `peer/list`. */
export interface PeerListResult {
  /** Live sessions, by name and then pid. */
  peers: Peer[];
  /** What could not be read. */
  problems?: Problem[];
}

/** A running Claude Code session, as its own process registry tells it. */
export interface Peer {
  /** The process. */
  pid: number;
  /** The session that it runs now. */
  sessionId: string;
  /** The name by which other sessions address it. */
  name: string;
  /** The Claude Code home whose registry holds it. */
  home: string;
  /** Its working directory. */
  cwd?: string;
  /** What it is doing; absent when it does not say, or is stopped. */
  status?: ActivityStatus;
  /** True while its process is stopped (SIGSTOP, Ctrl-Z): it does nothing, and no message reaches it. */
  stopped?: boolean;
  /** What it waits for, in its own words. */
  waitingFor?: string;
  /** How it runs; absent when unknown. */
  kind?: PeerKind;
  /** What started it: `cli`, `sdk-cli`, `claude-vscode`, ... */
  entrypoint?: string;
  /** When its record last changed, in epoch milliseconds. */
  updatedAtMs?: number;
  /** Its program's version. */
  version?: string;
  /** Where it is in tmux: `<session>:@<window>.%<pane>`. */
  tmux?: string;
  /** Its messaging socket, as the record names it. */
  socketPath?: string;
  /**
   * Whether somebody listens at its socket. In a home that the client named it takes no messages from here all the
   * same.
   */
  addressable: boolean;
  /** `cc-peer:v1:<pid>:<name>:<socket>`, a projection and never an authority. Absent without a socket. */
  endpoint?: string;
}

/** How a Claude Code session runs. */
export type PeerKind =
  /** In a terminal, an editor, or headless. */
  | "interactive"
  /** As a background job. */
  | "background";

/** Result of `peer/resolve`. */
export interface PeerResult {
  /** The live session, read again for this call. */
  peer: Peer;
}

/** Result of `peer/message`. */
export interface MessageResult {
  /** The session, read again right before the message went out. */
  peer: Peer;
  /** What became of the message. */
  outcome: Outcome;
  /** The message's id in the session's transcript, where Claude Code gave one. */
  messageId?: string;
  /**
   * What Claude Code said against it, or why an accepted message may be held or refused all the same: nobody could hear
   * of it, or the courier ended too early to.
   */
  detail?: string;
}

/** What became of a message. */
export type Outcome =
  /** It is in the session's inbox, and nothing was said against it within three seconds. */
  | "accepted"
  /** The session keeps it back until a person there lets it through; it may expire. */
  | "held"
  /** The session takes no messages: it was not delivered. */
  | "refused";

/**
 * Result of `settings/read` and `settings/update`: what the user's own settings say. Managed settings and the command
 * line override it, a project's settings can tighten it.
 */
export interface Settings {
  /** The file, which need not be there. */
  path: string;
  /** The BLAKE3 of its exact bytes, in hex; of none where there is no file. */
  revision: string;
  /** The policy; absent where none is set. */
  crossSessionInbound?: InboundPolicy;
  /** Whether the user's own settings let every message in without asking: the policy is `accept`. */
  userAllowsAutomaticDelivery: boolean;
  /** How far this can be relied on. */
  evidence: SettingsEvidence;
}

/** What a Claude Code session does with a message of another session. */
export type InboundPolicy =
  /** It is delivered. */
  | "accept"
  /** It waits for a person. */
  | "hold"
  /** It is thrown away. */
  | "refuse";

/** How far a setting can be relied on. */
export type SettingsEvidence =
  /**
   * It is what the user's own file says. Managed settings and the command line override it, a project's settings can
   * tighten it: it does not prove what a session does.
   */
  | "user";

/** Result of `terminal/reveal`. */
export interface RevealResult {
  /**
   * Whether a terminal shows the session now. False if the pane was selected in a multiplexer that no client is attached
   * to: run the command in `terminal.multiplexer.argv`.
   */
  revealed: boolean;
  /** The terminal. */
  terminal: Terminal;
}

/** Params of `registry/event`. */
export interface RegistryEventParams {
  /** The subscription. */
  subscription: string;
  /** What is told is true at this revision or a later one; after `synced`, `since` goes on from here. */
  revision: string;
  /** What happened. */
  event: RegistryEvent;
}

/** A change of what a subscription sees. */
export type RegistryEvent =
  /** An entry that the client does not have. */
  | {
    kind: "added";
    /** As it is now. */
    entry: Entry;
  }
  /** An entry that the client has is not as it was. */
  | {
    kind: "updated";
    /** As it is now. */
    entry: Entry;
  }
  /** An entry is gone, or is not asked for any more. */
  | {
    kind: "removed";
    /** Its id. */
    id: string;
  }
  /** Something cannot be read or judged. Told once. */
  | {
    kind: "error";
    /** What. */
    problem: Problem;
  }
  /** What could not be read or judged can be again, or is gone. */
  | {
    kind: "recovered";
    /** As it was told. */
    problem: Problem;
  }
  /** Everything there is has been told. */
  | {
    kind: "synced";
  }
  /** Everything is told again; what is not told until `synced` is gone. */
  | {
    kind: "resync";
  };

/** Params of the notification `session/event`. */
export interface SessionEventParams {
  /** That of the result of `session/follow`. */
  subscription: string;
  /** What happened. */
  event: SessionEvent;
}

/** What happened to a session that is followed. */
export type SessionEvent =
  /** Messages were written. */
  | {
    kind: "appended";
    /** They, in time order. */
    messages: Message[];
  }
  /** What was loaded and told does not stand any more: load anew. Later messages follow as `appended`. */
  | {
    kind: "rewritten";
    /** A cursor of `session/load`: it leads to the messages that later ones follow on. */
    cursor: string;
  }
  /** The session is gone. Should it come back, `rewritten` tells. */
  | {
    kind: "removed";
  }
  /** It cannot be read. Told once; messages follow when it can be. */
  | {
    kind: "error";
    /** Why. */
    problem: Problem;
  };

/** Params of `runtime/event`. */
export interface RuntimeEventParams {
  /** The attachment. */
  attachment: string;
  /** What happened. */
  event: RuntimeEvent;
}

/** Params of the notification `$/progress`, sent for requests that carried `_meta.progressToken`. */
export interface ProgressParams {
  /** The token as the request carried it. */
  token: ProgressToken;
  /** How far the work is. */
  value: ProgressValue;
}

/** What a client gave to tell the progress of its requests apart. */
export type ProgressToken =
  /** A number. */
  | number
  /** A string. */
  | string;

/** How far a request's work is. */
export interface ProgressValue {
  /** What is being done, for a person. */
  message: string;
  /** Units done. */
  done: number;
  /** Units in all, as far as known now. */
  total?: number;
}

/** Params of `initialize`. */
export interface InitializeParams {
  /** The version that the client speaks; any other than 1 is answered with 1, and the client decides. */
  protocolVersion?: number | null;
  /** Who the client is. */
  clientInfo: ClientInfo;
  /** The client's process; when it is gone the server ends. */
  processId?: number | null;
  /** Ask for less than the spawner allowed. */
  authority?: AuthorityRequest | null;
  /** More store roots, by harness. Counted only when the server was started with `--allow-homes`. */
  homes?: Record<string, string[]> | null;
  /** Reserved: nothing is read from it. */
  capabilities?: unknown;
}

/** Who a client is. */
export interface ClientInfo {
  /** The client's short name. */
  name: string;
  /** The client's version. */
  version?: string | null;
  /** The name that a person reads. */
  title?: string | null;
}

/** An authority that a client asks for. An absent member means "leave as it is"; nothing here can widen. */
export interface AuthorityRequest {
  /** Keep only these permissions. */
  permissions?: Permission[] | null;
  /** Keep only these directories, each with all below it. Absolute paths of at most 4096 bytes. */
  workspaces?: string[] | null;
  /** Keep only these harnesses. */
  harnesses?: Harness[] | null;
}

/** Params of `authority/narrow`. */
export interface NarrowParams {
  /** What to keep. */
  authority: AuthorityRequest;
}

/** Params of `registry/list`. */
export interface ListParams {
  /** Which entries. */
  query?: Query | null;
  /** `nextCursor` of the page before, with the same query. */
  cursor?: string | null;
  /** How many entries at most. Default 50; 0 gives `total` and `revision` alone. */
  limit?: number | null;
}

/** Which entries are meant. Absent members filter nothing, but for the defaults that are named. */
export interface Query {
  /** False: look at no live evidence; every stored session, as `persisted`. Default true. */
  live?: boolean | null;
  /** False: only what has live evidence. Default true. */
  persisted?: boolean | null;
  /** True: a runtime and its stored session as two rows. Default false. */
  twins?: boolean | null;
  /** Only these harnesses. */
  harnesses?: Harness[] | null;
  /** Only these states. */
  states?: State[] | null;
  /** Only sessions of this directory. */
  workspace?: string | null;
  /** Widens `workspace` to all below it. Default false. */
  workspaceSubtree?: boolean | null;
  /**
   * Only sessions of the repository that this directory belongs to: main checkout, worktrees, submodules, clones of
   * one origin.
   */
  workspaceFamily?: string | null;
  /** Only entries whose title, id or peer name holds this text, in any case. Trimmed; blank means all. */
  text?: string | null;
  /** Look for `text` in the opening user texts and the last message too, and answer the excerpt as `match`. */
  searchPreviews?: boolean | null;
  /** Only entries updated at or after this time, in epoch milliseconds. */
  updatedAfterMs?: number | null;
  /** Only entries updated before this time, in epoch milliseconds. */
  updatedBeforeMs?: number | null;
  /** Sessions that another one started (subagents) too. Default false. */
  includeChildren?: boolean | null;
  /** This entry and all below it. */
  rootId?: string | null;
  /** Only entries of this profile. */
  profile?: string | null;
  /** Only archived ones, or only others. Absent: both. */
  archived?: boolean | null;
  /** The order of the entries. Default `recent`. */
  sort?: Sort | null;
  /** What to add to each entry, at the cost of reading it. */
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

/** What may be asked for beyond the common members, because it costs reading. */
export type Include =
  /** Up to 8 opening user texts, oldest first, without injected context. */
  | "topics"
  /** The newest message. */
  | "lastMessage"
  /** How many messages there are. */
  | "messageCount"
  /** The repository that the workspace belongs to. */
  | "repository";

/** Params of `registry/describe`. */
export interface DescribeParams {
  /** The entry's id. */
  id: string;
  /** Values to add that are expensive to determine and are not part of lists. */
  include?: DescribeInclude[] | null;
}

/** A value that `registry/describe` adds on request. */
export type DescribeInclude =
  /** The terminal in which a live session runs. */
  | "terminal";

/** Params of `registry/resolve`. */
export interface ResolveParams {
  /**
   * An id (of an entry, session or runtime, or an endpoint), the first four or more characters of one, a name that the
   * user chose, or consecutive words of a title.
   */
  ref: string;
  /** How many candidates the error `ambiguous` lists at most. Default 10. */
  limit?: number | null;
}

/** Params of `registry/states`. */
export interface StatesParams {
  /** The conversations. */
  sources: StateSource[];
}

/** A conversation whose runtime is asked for its state. */
export interface StateSource {
  /** The program that owns the session. */
  harness: Harness;
  /** The harness's own id of the session. */
  sessionId: string;
}

/** Params of `registry/watch`. */
export interface WatchParams {
  /** Which entries. */
  query?: Query | null;
  /** A revision of this server: tell only what came after it. */
  since?: string | null;
}

/** Params of `registry/unwatch`. */
export interface UnwatchParams {
  /** From `registry/watch`. */
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
  /** `nextCursor` of the page before: leads to older messages. */
  cursor?: string | null;
  /** How many messages at most. Default 200. */
  limit?: number | null;
}

/** Params of `runtime/discover`. */
export interface DiscoverParams {
  /** The conversation. */
  source: Source;
}

/** Params of `runtime/register`. */
export interface RegisterParams {
  /** The runtime's own id. */
  runtimeId: string;
  /** The conversation that it runs. */
  source: Source;
  /** `http://127.0.0.1:PORT`: where it listens. */
  baseUrl: string;
  /** What it wants to be shown. */
  token: Token;
  /** The process that owns it; absent: this server. */
  pid?: number | null;
  /** What the receipt says besides. */
  metadata?: RuntimeMetadata | null;
}

/** A bearer token: never shown, never sent to a client. */
export type Token = string;

/** Params of `runtime/unregister`. */
export interface UnregisterParams {
  /** A receipt that this client registered. */
  endpoint: string;
}

/** Params of `runtime/forget`. */
export interface ForgetParams {
  /** The receipt. */
  endpoint: string;
  /** Remove it even if its owner lives and answers. Default false. */
  force?: boolean | null;
}

/** Params of `runtime/attach`: one of `id`, `runtimeId`, and `endpoint` with `source`. */
export type AttachParams = OneOf<{
  /** An entry's id: a runtime's or that of the session that it runs. */
  id?: string | null;
  /** The runtime's own id. */
  runtimeId?: string | null;
  /** A receipt; the runtime must run `source`. */
  endpoint?: string | null;
  /** The conversation that is meant. */
  source?: Source | null;
  /** The name by which the runtime knows this client: 1 to 128 of `[A-Za-z0-9._-]`. Absent: a new one. */
  clientId?: string | null;
  /** Of `observe`, `interact`, `approve` and `terminate` only these. Absent: what the client may do. */
  permissions?: Permission[] | null;
  /** How many messages of history at most, the newest. Default 50. */
  historyLimit?: number | null;
  /** Replay only what comes after this sequence number: the `cursor` of `lagged`, or the last number that was seen. */
  after?: number | null;
  /** Keep the controller lease while this attachment holds it. Default true. */
  autoRenew?: boolean | null;
}, ["id"] | ["runtimeId"] | ["endpoint","source"]>;

/** Params of the methods that need an attachment and nothing else. */
export interface AttachmentParams {
  /** From `runtime/attach`. */
  attachment: string;
}

/** Params of `runtime/describe`: exactly one. */
export type RuntimeDescribeParams = OneOf<{
  /** From `runtime/attach`. */
  attachment?: string | null;
  /** An entry's id: a runtime's or that of the session that it runs. */
  id?: string | null;
  /** The runtime's own id. */
  runtimeId?: string | null;
}, ["attachment"] | ["id"] | ["runtimeId"]>;

/** Params of `runtime/submit` and `runtime/sendInput`. */
export interface SubmitParams {
  /** From `runtime/attach`. */
  attachment: string;
  /** What to say. */
  prompt: string;
  /** Images: `data:image/...`, `https://` or `http://` URLs. At most 4. */
  images?: string[] | null;
}

/** Params of `runtime/steer`. */
export interface SteerParams {
  /** From `runtime/attach`. */
  attachment: string;
  /** What to say while the turn runs. */
  prompt: string;
}

/** Params of `runtime/invoke`. */
export interface InvokeParams {
  /** From `runtime/attach`. */
  attachment: string;
  /** One of the descriptor's operations with its arguments, as the runtime spells it. */
  operation: Record<string, unknown>;
}

/** Params of `runtime/respond`. */
export interface RespondParams {
  /** From `runtime/attach`. */
  attachment: string;
  /** The answer. */
  response: RuntimeResponse;
}

/** An answer to a request of a runtime, which an event `request` told; `kind` is that of its `payload.request`. */
export type RuntimeResponse =
  /** To a request for approval. */
  | {
    kind: "approval";
    /** The request's own number: `payload.request.id` of the event `request`. */
    requestId: number;
    /** What is decided. */
    decision: Decision;
  }
  /** To a request for information. */
  | {
    kind: "elicitation";
  } & Elicited
  /** To a request of another kind. */
  | {
    kind: "other";
  } & Elicited;

/** What is decided about something that needs approval. */
export type Decision =
  /** It must not be done. */
  | "deny"
  /** It may be done this once. */
  | "allow"
  /** It and its like may be done in this session. */
  | "allow_for_session";

/** Whether there is an answer to a request for information. */
export type ElicitedAction =
  /** Here it is. */
  | "accept"
  /** There will be none. */
  | "decline"
  /** The question is dropped. */
  | "cancel";

/** What a person answered to a request for information. */
export interface Elicited {
  /** The request's own number: `payload.request.id` of the event `request`. */
  requestId: number;
  /** Whether there is an answer. */
  action: ElicitedAction;
  /** The answer. */
  content?: unknown;
}

/** Params of `runtime/start`. */
export interface StartParams {
  /** One of the names that the spawner gave by `--start`; `initialize` tells them in `capabilities.start`. */
  name: string;
  /** The directory in which the agent works: an absolute path. */
  workspace: string;
  /** The agent's own id of a session to go on with. Absent: a new one. */
  load?: string | null;
}

/** Params of `session/follow`. */
export interface FollowParams {
  /** The entry's id. That of a runtime follows its stored session. */
  id: string;
}

/** Params of `session/unfollow`. */
export interface UnfollowParams {
  /** That of the result of `session/follow`. */
  subscription: string;
}

/** Params of `peer/resolve`: exactly one member. */
export type PeerSelector = OneOf<{
  /** An entry id, `claude-code:<session id>`. */
  id?: string | null;
  /** A session id. */
  sessionId?: string | null;
  /** A name, in any case. */
  name?: string | null;
  /** A peer endpoint. */
  endpoint?: string | null;
}, ["id"] | ["sessionId"] | ["name"] | ["endpoint"]>;

/** Params of `peer/message`: who is meant, by exactly one member, and what is said. */
export type MessageParams = OneOf<{
  /** An entry id, `claude-code:<session id>`. */
  id?: string | null;
  /** A session id. */
  sessionId?: string | null;
  /** A name, in any case. */
  name?: string | null;
  /** A peer endpoint. */
  endpoint?: string | null;
  /** The text, which arrives as it is. */
  text: string;
}, ["id"] | ["sessionId"] | ["name"] | ["endpoint"]>;

/** Params of `settings/read`. */
export interface SettingsReadParams {
  /** One of the Claude Code homes that the server was started with. Absent: the first. */
  home?: string | null;
}

/** Params of `settings/update`. */
export interface SettingsUpdateParams {
  /** The policy from now on; `null` takes the setting out. Required. */
  crossSessionInbound: InboundPolicy | null;
  /** The revision that the file must have. Absent: any. */
  expectedRevision?: string | null;
  /** One of the Claude Code homes that the server was started with. Absent: the first. */
  home?: string | null;
}

/** Params of `terminal/reveal`. */
export interface RevealParams {
  /** The id of a live entry. */
  id: string;
  /**
   * The terminal that the user looks at. If it is a terminal of the same multiplexer, or a pane in it, that client is
   * switched to the session.
   */
  clientTty?: string | null;
}

/** Params of `$/cancelRequest`. */
export interface CancelParams {
  /** The request's id. */
  id: RequestId;
}

/** An id of a request, as JSON-RPC allows it. */
export type RequestId =
  /** A number. */
  | number
  /** A string. */
  | string
  /** `null`. */
  | null;

/** Params of `$/cancel_request`. */
export interface CancelRequestParams {
  /** The request's id. */
  requestId: RequestId;
}

/** The `_meta` member that every params object may carry. */
export interface RequestMeta {
  /** Narrows the authority of this request alone. */
  authority?: AuthorityRequest | null;
  /** Asks for `$/progress` with this token. */
  progressToken?: ProgressToken | null;
}
