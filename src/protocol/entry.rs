use super::{Actions, ActivityStatus, Endpoint, EndpointCapability, Harness, Observer, Owner, Supervisor};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The one derived word for what an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Stored; nothing says that it lives.
    Persisted,
    /// Alive, doing unknown.
    Live,
    /// Alive, nothing to do.
    Idle,
    /// A turn runs.
    Busy,
    /// A person is waited for.
    Waiting,
    /// On its way out.
    ShuttingDown,
}

impl State {
    /// Every state, what needs a person first.
    pub const ALL: [Self; 6] = [Self::Waiting, Self::Busy, Self::Idle, Self::Live, Self::ShuttingDown, Self::Persisted];

    /// The word that stands for this state on the wire.
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

/// One row of the inventory: a stored session, a live one, or what of these is the same conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// A runtime's own id where it runs, else `<harness>:<session id>`.
    pub id: String,
    /// The program that owns the session.
    pub harness: Harness,
    /// The harness's own id of the session.
    pub session_id: String,
    /// What it is doing.
    pub state: State,
    /// The directory that it works in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// One line that names it: as the user named it, else as its program did, else its first prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the program calls itself, where a live runtime hosts one that says so. It tells the agents of the harness `acp`
    /// apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The model that answered last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The profile of its program that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// When the session began, in epoch milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at_ms: Option<i64>,
    /// When the live process began, in epoch milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at_ms: Option<i64>,
    /// Its newest user or assistant message, else its file's time, in epoch milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at_ms: Option<i64>,
    /// How many messages people and models wrote; only where asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_count: Option<u64>,
    /// The file that holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// True where its program has put it away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
    /// The session that it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<EntryParent>,
    /// How many sessions name this one as the one that started them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child_count: Option<u64>,
    /// Up to 8 opening user texts; only where asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topics: Option<Vec<String>>,
    /// The newest message; only where asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_message: Option<LastMessage>,
    /// The excerpt that `searchPreviews` found.
    #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<String>,
    /// The repository that the workspace belongs to; only where asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<Repository>,
    /// The live runtime's own id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_id: Option<String>,
    /// The id of the stored session that the runtime runs, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persisted_id: Option<String>,
    /// Every live runtime of the conversation, the newest first, where it is stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_ids: Option<Vec<String>>,
    /// The runtime's receipt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<Endpoint>,
    /// What the endpoint speaks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint_capabilities: Option<Vec<EndpointCapability>>,
    /// The runtime's process, and who drives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Owner>,
    /// Who looks at the runtime.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observers: Option<Vec<Observer>>,
    /// What the runtime can do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actions: Option<Actions>,
    /// What the runtime runs in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supervisor: Option<Supervisor>,
    /// What is known of a live process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activity: Option<Activity>,
    /// The live session's address among its peers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<EntryPeer>,
    /// The ways into the live session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doors: Option<Vec<Door>>,
    /// The terminal in which the live process runs; only where `registry/describe` asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal: Option<super::Terminal>,
    /// How a person gets back into the session with its own program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<Resume>,
}

/// Where a session came from, by the harness's own id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parent {
    /// The session that it came from, where known.
    pub session_id: Option<String>,
    /// How it came from it.
    pub relation: Relation,
}

/// Where a session came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Parent")]
pub struct EntryParent {
    /// The id of the parent's entry, where there is one in scope: its `id`, or its `persistedId` while a runtime runs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The session that it came from, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// How it came from it.
    pub relation: Relation,
}

impl From<Parent> for EntryParent {
    fn from(parent: Parent) -> Self {
        Self { id: None, session_id: parent.session_id, relation: parent.relation }
    }
}

/// How a session came from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Relation {
    /// A person went on from a copy of the conversation.
    Fork,
    /// A branch of the conversation kept as a session of its own.
    Branch,
    /// Another session started it to do a part of its work.
    Subagent,
    /// The conversation went on here.
    Continuation,
    /// A copy that a migration or an archive made.
    Copy,
}

/// The newest message of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LastMessage {
    /// Who wrote it.
    pub role: Role,
    /// Its text, shortened.
    pub text: String,
    /// When it was written, in epoch milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp_ms: Option<i64>,
}

/// Who wrote a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Role {
    /// A person.
    User,
    /// The model.
    Assistant,
    /// The harness.
    System,
    /// A tool's result.
    Tool,
}

/// The repository that a workspace belongs to, read from its files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Repository {
    /// The checkout's top directory.
    pub root: String,
    /// The branch that is checked out now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The URL of the remote `origin`, without credentials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
}

/// What is known of a live process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Activity {
    /// What it is doing; absent when only its life is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ActivityStatus>,
    /// What it waits for, in its own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting_for: Option<String>,
    /// When the current status began, in epoch milliseconds, as the harness itself records it. Absent where it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_ms: Option<i64>,
    /// What a person is asked, where the runtime reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<Question>,
    /// Where this comes from.
    pub source: ActivitySource,
    /// The process. Where several have the session, the one that waits for a person, else that is busy, else idle, else
    /// unknown; of equal ones the one whose record changed last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<i32>,
    /// Every live process that has the session, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pids: Option<Vec<i32>>,
    /// True while the process is stopped (SIGSTOP, Ctrl-Z): what it does is then unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<bool>,
    /// When this was last seen to be so, in epoch milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_at_ms: Option<i64>,
}

/// What a live session asks a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// What kind of answer it takes.
    pub kind: QuestionKind,
    /// The question in one line of at most 200 characters, without control characters.
    pub summary: String,
    /// The request that `runtime/respond` answers.
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

/// Where the knowledge of an activity comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ActivitySource {
    /// The runtime said so.
    Runtime,
    /// Claude Code's own process registry.
    ClaudeRegistry,
    /// A lock that a live process holds.
    Lock,
    /// A process that was recognized.
    Process,
}

/// A live session's address among its peers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EntryPeer {
    /// The name by which other sessions address it.
    pub name: String,
    /// The peer endpoint; absent without a socket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
}

/// A way into a live session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Door {
    /// `runtime/attach`.
    Runtime,
    /// `peer/message` by the session's id. Not where several live processes have that id, nor in a home that the client
    /// named.
    Peer,
}

/// A command that brings a person back into a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Resume {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Where to run it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// What to add to the environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<BTreeMap<String, String>>,
}

/// Something that could not be read or judged; the rest of the answer stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// Whose it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harness: Option<Harness>,
    /// The file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The receipt's endpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// The stable word for what is wrong.
    pub reason: String,
    /// The same for a person.
    pub message: String,
}
