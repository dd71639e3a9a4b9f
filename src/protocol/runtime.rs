use super::{Endpoint, Harness, Permission, Source, State};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Params of `runtime/attach`: one of `id`, `runtimeId`, and `endpoint` with `source`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AttachParams {
    /// An entry's id: a runtime's or that of the session that it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The runtime's own id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_id: Option<String>,
    /// A receipt; the runtime must run `source`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// The conversation that is meant.
    #[serde(default, deserialize_with = "super::optional_object", skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// The name by which the runtime knows this client: 1 to 128 of `[A-Za-z0-9._-]`. Absent: a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// Of `observe`, `interact`, `approve` and `terminate` only these. Absent: what the client may do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permissions: Option<Vec<Permission>>,
    /// How many messages of history at most, the newest. Default 50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 200))]
    pub history_limit: Option<i64>,
    /// Replay only what comes after this sequence number: the `cursor` of `lagged`, or the last number that was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// Keep the controller lease while this attachment holds it. Default true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_renew: Option<bool>,
}

/// Result of `runtime/attach`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AttachResult {
    /// Names the attachment in all that follows.
    pub attachment: String,
    /// The name by which the runtime knows this client.
    pub client_id: String,
    /// What the runtime says of itself, as it said it.
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub descriptor: Box<RawValue>,
    /// The newest messages, oldest first, as the runtime has them.
    #[schemars(with = "Vec<serde_json::Value>")]
    pub history: Vec<Box<RawValue>>,
    /// The sequence number that `history` reaches to.
    pub history_cursor: u64,
    /// The events since then, or since `after`.
    pub replay: Vec<RuntimeEvent>,
    /// Who drives and who looks.
    pub lease: Lease,
}

/// An event of a runtime, or one of two about its stream: `lagged` and `disconnected` have no sequence number, and
/// nothing follows them.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeEvent {
    /// The runtime's own number. Gaps are normal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence: Option<u64>,
    /// What happened. New kinds may come.
    pub kind: String,
    /// The event as the runtime told it, in its own spelling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub payload: Option<Box<RawValue>>,
    /// With `lagged`: attach again with this as `after`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<u64>,
    /// With `disconnected`: why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Params of `runtime/event`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeEventParams {
    /// The attachment.
    pub attachment: String,
    /// What happened.
    pub event: RuntimeEvent,
}

/// Who drives a runtime and who looks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Lease {
    /// Who drives; absent: nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controller: Option<Controller>,
    /// Who looks, by client id.
    pub observers: Vec<Observer>,
    /// How long control lasts without being renewed, in milliseconds.
    pub lease_ttl_ms: u64,
}

/// The one client that may drive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Controller {
    /// Its name.
    pub client_id: String,
    /// Until when, in epoch milliseconds.
    pub expires_at_ms: u64,
}

/// A client that looks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Observer {
    /// Its name.
    pub client_id: String,
    /// When it last said something, in epoch milliseconds.
    pub last_seen_ms: u64,
}

/// The process that owns a runtime, and who drives it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Owner {
    /// The process.
    pub pid: i32,
    /// Who drives; absent: nobody, or not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controller: Option<Controller>,
}

/// What a runtime can do; a member that it does not name is false.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct Actions {
    /// Run a turn.
    pub submit: bool,
    /// Stop a turn.
    pub interrupt: bool,
    /// Say something while a turn runs.
    pub steer: bool,
    /// Answer approvals and other requests.
    pub respond: bool,
    /// Leave.
    pub detach: bool,
    /// End the runtime.
    pub close: bool,
}

/// Params of the methods that need an attachment and nothing else.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AttachmentParams {
    /// From `runtime/attach`.
    pub attachment: String,
}

/// Result of `runtime/lease`, `runtime/heartbeat`, `runtime/acquireControl` and `runtime/takeControl`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LeaseResult {
    /// Who drives and who looks.
    pub lease: Lease,
}

/// Result of `runtime/detach`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DetachResult {
    /// Who drives and who looks now; absent where the runtime does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<Lease>,
}

/// Params of `runtime/describe`: exactly one.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeDescribeParams {
    /// From `runtime/attach`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attachment: Option<String>,
    /// An entry's id: a runtime's or that of the session that it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The runtime's own id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_id: Option<String>,
}

/// Result of `runtime/describe`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeDescribeResult {
    /// What the runtime says of itself, as it said it.
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub descriptor: Box<RawValue>,
}

/// Params of `runtime/submit` and `runtime/sendInput`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubmitParams {
    /// From `runtime/attach`.
    pub attachment: String,
    /// What to say.
    pub prompt: String,
    /// Images: `data:image/...`, `https://` or `http://` URLs. At most 4.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub images: Option<Vec<String>>,
}

/// Result of `runtime/submit`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubmitResult {
    /// What the turn ended with.
    pub reply: String,
}

/// Result of `runtime/sendInput` and `runtime/respond`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AcceptedResult {
    /// True: the runtime took it.
    pub accepted: bool,
}

/// Params of `runtime/steer`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SteerParams {
    /// From `runtime/attach`.
    pub attachment: String,
    /// What to say while the turn runs.
    pub prompt: String,
}

/// Result of `runtime/steer`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SteerResult {
    /// True: the running turn will see it.
    pub queued: bool,
}

/// Result of `runtime/interrupt`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InterruptResult {
    /// Whether a turn ran.
    pub interrupted: bool,
}

/// Params of `runtime/invoke`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InvokeParams {
    /// From `runtime/attach`.
    pub attachment: String,
    /// One of the descriptor's operations with its arguments, as the runtime spells it.
    #[serde(deserialize_with = "super::object")]
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub operation: Box<RawValue>,
}

/// Result of `runtime/invoke`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InvokeResult {
    /// What the operation gave, as the runtime spells it.
    #[schemars(with = "serde_json::Value")]
    pub result: Box<RawValue>,
}

/// Params of `runtime/respond`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RespondParams {
    /// From `runtime/attach`.
    pub attachment: String,
    /// The answer.
    #[serde(deserialize_with = "super::object")]
    pub response: RuntimeResponse,
}

/// An answer to a request of a runtime, which an event `request` told; `kind` is that of its `payload.request`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum RuntimeResponse {
    /// To a request for approval.
    Approval {
        /// The request's own number: `payload.request.id` of the event `request`.
        request_id: u64,
        /// What is decided.
        decision: Decision,
    },
    /// To a request for information.
    Elicitation(Elicited),
    /// To a request of another kind.
    Other(Elicited),
}

/// What is decided about something that needs approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It must not be done.
    Deny,
    /// It may be done this once.
    Allow,
    /// It and its like may be done in this session.
    AllowForSession,
}

impl Decision {
    /// The word that stands for this decision on the wire.
    pub fn id(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Allow => "allow",
            Self::AllowForSession => "allow_for_session",
        }
    }
}

/// What a person answered to a request for information.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Elicited {
    /// The request's own number: `payload.request.id` of the event `request`.
    pub request_id: u64,
    /// Whether there is an answer.
    pub action: ElicitedAction,
    /// The answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<serde_json::Value>,
}

/// Whether there is an answer to a request for information.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ElicitedAction {
    /// Here it is.
    Accept,
    /// There will be none.
    Decline,
    /// The question is dropped.
    Cancel,
}

/// Result of `runtime/close`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CloseResult {
    /// True: the runtime ends.
    pub closed: bool,
}

/// Params of `runtime/start`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StartParams {
    /// One of the names that the spawner gave by `--start`; `initialize` tells them in `capabilities.start`.
    pub name: String,
    /// The directory in which the agent works: an absolute path.
    pub workspace: String,
    /// The agent's own id of a session to go on with. Absent: a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<String>,
}

/// Result of `runtime/start`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StartResult {
    /// The runtime's own id. It outlives this server; `runtime/close` ends it.
    pub runtime_id: String,
    /// Its receipt.
    pub endpoint: Endpoint,
}

/// Params of `registry/states`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatesParams {
    /// The conversations.
    #[serde(deserialize_with = "super::objects")]
    pub sources: Vec<StateSource>,
}

/// A conversation whose runtime is asked for its state.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StateSource {
    /// The program that owns the session.
    pub harness: Harness,
    /// The harness's own id of the session.
    pub session_id: String,
}

/// Result of `registry/states`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatesResult {
    /// One a source, in the order asked.
    pub states: Vec<SourceState>,
}

/// What the runtime of a conversation does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourceState {
    /// The program that owns the session.
    pub harness: Harness,
    /// The harness's own id of the session.
    pub session_id: String,
    /// What its newest runtime that answers does; absent: none answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
}
