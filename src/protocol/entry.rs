use super::{Actions, ActivityStatus, Endpoint, EndpointCapability, Harness, Observer, Owner, Supervisor};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The state of an entry, derived from all evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Stored; there is no evidence that it is running.
    Persisted,
    /// Running; its activity is unknown.
    Live,
    /// Running; no turn is in progress.
    Idle,
    /// A turn is in progress.
    Busy,
    /// Waiting for a person.
    Waiting,
    /// Shutting down.
    ShuttingDown,
}

impl State {
    /// Every state; those that need a person first.
    pub const ALL: [Self; 6] = [Self::Waiting, Self::Busy, Self::Idle, Self::Live, Self::ShuttingDown, Self::Persisted];

    /// Where this state stands in [`State::ALL`]: the smaller, the more it needs a person.
    pub fn rank(self) -> u8 {
        Self::ALL.into_iter().zip(0..).find_map(|(state, rank)| (state == self).then_some(rank)).unwrap_or(u8::MAX)
    }

    /// The value of this state on the wire.
    pub fn id(self) -> &'static str {
        match self {
            Self::Persisted => "persisted",
            Self::Live => "live",
            Self::Idle => "idle",
            Self::Busy => "busy",
            Self::Waiting => "waiting",
            Self::ShuttingDown => "shutting_down",
        }
    }
}

impl std::str::FromStr for State {
    type Err = super::UnknownWord;

    fn from_str(word: &str) -> Result<Self, super::UnknownWord> {
        super::parse_word("state", word, &Self::ALL, Self::id)
    }
}

/// An entry of the inventory: a stored session, a live session, or both merged if they are the same conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// The runtime's id while a live runtime runs the session, otherwise `<harness>:<session id>`. Opaque.
    pub id: String,
    /// The harness that owns the session.
    pub harness: Harness,
    /// The session's id in its harness.
    pub session_id: String,
    /// The entry's state.
    pub state: State,
    /// The working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// A title of one line: the user's name for the session, else the harness's, else the first prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The name that a hosted agent reports for itself, if a live runtime hosts one that does. It distinguishes the
    /// agents of the harness `acp`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The model that wrote the last reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The profile of the harness that the session belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// When the session was created, in epoch milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at_ms: Option<i64>,
    /// When the live process started, in epoch milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at_ms: Option<i64>,
    /// The time of the newest user or assistant message, else the file's modification time, in epoch milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at_ms: Option<i64>,
    /// The number of user and assistant messages. Present only if requested with `include`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_count: Option<u64>,
    /// The file that stores the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// True if the session is archived in its harness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
    /// The session that this one was derived from or started by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<EntryParent>,
    /// The number of sessions that name this one as the session that started them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child_count: Option<u64>,
    /// Up to 8 opening user texts. Present only if requested with `include`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topics: Option<Vec<String>>,
    /// The newest message. Present only if requested with `include`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_message: Option<LastMessage>,
    /// The excerpt that matched, for a query with `searchPreviews`.
    #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<String>,
    /// The repository that the workspace belongs to. Present only if requested with `include`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<Repository>,
    /// The live runtime's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_id: Option<String>,
    /// The id of the stored session that the runtime runs, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persisted_id: Option<String>,
    /// The ids of all live runtimes of the stored session, newest first. Absent if `runtimeId` is the only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_ids: Option<Vec<String>>,
    /// The endpoint of the runtime's receipt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<Endpoint>,
    /// The protocols of the endpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint_capabilities: Option<Vec<EndpointCapability>>,
    /// The runtime's process and its controller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Owner>,
    /// The clients that observe the runtime.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observers: Option<Vec<Observer>>,
    /// The actions that the runtime supports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actions: Option<Actions>,
    /// The program that the runtime runs in, such as a tmux session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supervisor: Option<Supervisor>,
    /// The activity of a live process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activity: Option<Activity>,
    /// The live session's peer address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<EntryPeer>,
    /// The methods that reach the live session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doors: Option<Vec<Door>>,
    /// The terminal in which the live process runs. Present only if requested from `registry/describe` with `include`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal: Option<super::Terminal>,
    /// The command that resumes the session in its own program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<Resume>,
}

/// The parent of a session, by its id in the harness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parent {
    /// The parent's session id in its harness. Absent if unknown.
    pub session_id: Option<String>,
    /// How the session relates to its parent.
    pub relation: Relation,
}

/// The parent of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Parent")]
pub struct EntryParent {
    /// The id of the parent's entry: its `id`, or its `persistedId` while a runtime runs it. Absent if no entry is in
    /// scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The parent's session id in its harness. Absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// How the session relates to its parent.
    pub relation: Relation,
}

impl From<Parent> for EntryParent {
    fn from(parent: Parent) -> Self {
        Self { id: None, session_id: parent.session_id, relation: parent.relation }
    }
}

/// How a session relates to its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Relation {
    /// The user continued from a copy of the conversation.
    Fork,
    /// A branch of the conversation that is stored as a separate session.
    Branch,
    /// The parent started this session for a part of its work.
    Subagent,
    /// The conversation continued in this session.
    Continuation,
    /// A copy made by a migration or an archive.
    Copy,
}

/// The newest message of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LastMessage {
    /// The author's role.
    pub role: Role,
    /// The text, shortened.
    pub text: String,
    /// When it was written, in epoch milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp_ms: Option<i64>,
}

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Role {
    /// The user.
    User,
    /// The model.
    Assistant,
    /// The harness.
    System,
    /// A tool, with its result.
    Tool,
}

/// The git repository that a workspace belongs to, as read from the repository's files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Repository {
    /// The top directory of the checkout.
    pub root: String,
    /// The branch that is checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The URL of the remote `origin`, without credentials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
}

/// The activity of a live process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Activity {
    /// What the process is doing. Absent if it is only known to be running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ActivityStatus>,
    /// What the process is waiting for, as it describes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting_for: Option<String>,
    /// When the current status began, in epoch milliseconds, as the harness records it. Absent if it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_ms: Option<i64>,
    /// The question that a person is asked, if the runtime reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<Question>,
    /// The source of this information.
    pub source: ActivitySource,
    /// The process id. If several processes have the session: one that waits for a person, else one that is busy, else
    /// idle, else of unknown activity; among equals, the one whose record changed last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<i32>,
    /// The ids of all live processes that have the session, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pids: Option<Vec<i32>>,
    /// True while the process is stopped (SIGSTOP, Ctrl-Z); its activity is then unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<bool>,
    /// When this activity was last observed, in epoch milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_at_ms: Option<i64>,
}

/// A question that a live session asks a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// The kind of answer that the question takes.
    pub kind: QuestionKind,
    /// The question in one line of at most 200 characters, without control characters.
    pub summary: String,
    /// The id of the request, for `runtime/respond`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<u64>,
}

/// The kind of answer that a question takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum QuestionKind {
    /// A decision whether a tool may run.
    Approval,
    /// Text, a choice or a form.
    Input,
}

/// The source of an activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ActivitySource {
    /// The runtime's own report.
    Runtime,
    /// Claude Code's own process registry.
    ClaudeRegistry,
    /// A lock held by a live process.
    Lock,
    /// A process recognized as the session's.
    Process,
}

/// The address by which other sessions message a live session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EntryPeer {
    /// The name by which other sessions address this one.
    pub name: String,
    /// The peer endpoint. Absent if the session has no socket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
}

/// A method that reaches a live session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Door {
    /// `runtime/attach`.
    Runtime,
    /// `peer/message` with the session's id. Not listed if several live processes have that id, or if the session is in
    /// a home that the client named.
    Peer,
}

/// A command that resumes a session in its own program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Resume {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// The directory in which to run the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Variables to add to the environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<BTreeMap<String, String>>,
}

/// A source that could not be read or interpreted. The rest of the result is valid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// The harness concerned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harness: Option<Harness>,
    /// The file concerned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The id of the entry concerned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The endpoint of the receipt concerned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// A stable identifier of the problem, for programs.
    pub reason: String,
    /// A description of the problem, for people.
    pub message: String,
}
