use super::{Endpoint, Harness, Permission, Source, State};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Params of `runtime/attach`: either `id`, or `runtimeId`, or `endpoint` and `source`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AttachParams {
    /// An entry's id: the runtime's, or that of the session that it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The runtime's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_id: Option<String>,
    /// The endpoint of a receipt. The runtime must run `source`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// The conversation that the runtime must run.
    #[serde(default, deserialize_with = "super::optional_object", skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// The client id to use at the runtime: 1 to 128 characters of `[A-Za-z0-9._-]`. Absent: a new one is generated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// The permissions to use, out of `observe`, `interact`, `approve` and `terminate`. Absent: all that the client
    /// has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permissions: Option<Vec<Permission>>,
    /// Maximum number of messages of history; the newest are returned. Default 50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 200))]
    pub history_limit: Option<i64>,
    /// Replay only events after this sequence number: the `cursor` of `lagged`, or the last `sequence` received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// Whether the server renews the controller lease while this attachment holds it. Default true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_renew: Option<bool>,
}

/// Result of `runtime/attach`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AttachResult {
    /// The id of the attachment, for later requests and `runtime/event`.
    pub attachment: String,
    /// The client's id at the runtime.
    pub client_id: String,
    /// The runtime's description of itself, in the runtime's own spelling.
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub descriptor: Box<RawValue>,
    /// The newest messages, oldest first, in the runtime's own spelling.
    #[schemars(with = "Vec<serde_json::Value>")]
    pub history: Vec<Box<RawValue>>,
    /// The sequence number up to which `history` is complete.
    pub history_cursor: u64,
    /// The events after `historyCursor`, or after `after`.
    pub replay: Vec<RuntimeEvent>,
    /// The controller and the observers.
    pub lease: Lease,
}

/// An event of a runtime. `lagged` and `disconnected` come from the server instead, without a sequence number, and are
/// the last events of an attachment.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeEvent {
    /// The runtime's sequence number. Gaps are normal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence: Option<u64>,
    /// The kind of event. New kinds may be added.
    pub kind: String,
    /// The event, in the runtime's own spelling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub payload: Option<Box<RawValue>>,
    /// In `lagged`: pass this as `after` when you attach again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<u64>,
    /// In `disconnected`: why the stream ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Params of `runtime/event`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeEventParams {
    /// The attachment's id, from the result of `runtime/attach`.
    pub attachment: String,
    /// The event.
    pub event: RuntimeEvent,
}

/// The controller and the observers of a runtime.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Lease {
    /// The client that has control. Absent if no client has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controller: Option<Controller>,
    /// The clients that observe, sorted by client id.
    pub observers: Vec<Observer>,
    /// How long control lasts without renewal, in milliseconds.
    pub lease_ttl_ms: u64,
}

/// The client that has control of a runtime.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Controller {
    /// The client's id at the runtime.
    pub client_id: String,
    /// When control expires unless renewed, in epoch milliseconds.
    pub expires_at_ms: u64,
}

/// A client that observes a runtime.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Observer {
    /// The client's id at the runtime.
    pub client_id: String,
    /// When the runtime last heard from the client, in epoch milliseconds.
    pub last_seen_ms: u64,
}

/// The process that owns a runtime, and the runtime's controller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Owner {
    /// The process id.
    pub pid: i32,
    /// The client that has control. Absent if no client has, or if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controller: Option<Controller>,
}

/// The actions that a runtime supports. An action that it does not report is false.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct Actions {
    /// Run turns.
    pub submit: bool,
    /// Interrupt the running turn.
    pub interrupt: bool,
    /// Send prompts to the running turn.
    pub steer: bool,
    /// Answer approval requests and other requests.
    pub respond: bool,
    /// Detach.
    pub detach: bool,
    /// End the runtime.
    pub close: bool,
}

/// Params of methods that take only an attachment.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AttachmentParams {
    /// The attachment's id, from the result of `runtime/attach`.
    pub attachment: String,
}

/// Result of `runtime/lease`, `runtime/heartbeat`, `runtime/acquireControl` and `runtime/takeControl`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LeaseResult {
    /// The controller and the observers.
    pub lease: Lease,
}

/// Result of `runtime/detach`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DetachResult {
    /// The controller and the observers after detaching. Absent if the runtime does not report them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<Lease>,
}

/// Params of `runtime/describe`: exactly one of the fields.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeDescribeParams {
    /// The attachment's id, from the result of `runtime/attach`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attachment: Option<String>,
    /// An entry's id: the runtime's, or that of the session that it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The runtime's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_id: Option<String>,
}

/// Result of `runtime/describe`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeDescribeResult {
    /// The runtime's description of itself, in the runtime's own spelling.
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub descriptor: Box<RawValue>,
}

/// Params of `runtime/submit` and `runtime/sendInput`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubmitParams {
    /// The attachment's id, from the result of `runtime/attach`.
    pub attachment: String,
    /// The prompt.
    pub prompt: String,
    /// Images of the prompt, as `data:image/...`, `https://` or `http://` URLs. At most 4.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub images: Option<Vec<String>>,
}

/// Result of `runtime/submit`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubmitResult {
    /// The reply at the end of the turn.
    pub reply: String,
}

/// Result of `runtime/sendInput` and `runtime/respond`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AcceptedResult {
    /// Always true: the runtime accepted the request.
    pub accepted: bool,
}

/// Params of `runtime/steer`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SteerParams {
    /// The attachment's id, from the result of `runtime/attach`.
    pub attachment: String,
    /// The prompt for the running turn.
    pub prompt: String,
}

/// Result of `runtime/steer`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SteerResult {
    /// True if the running turn will receive the prompt.
    pub queued: bool,
}

/// Result of `runtime/interrupt`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InterruptResult {
    /// Whether a turn was running.
    pub interrupted: bool,
}

/// Params of `runtime/invoke`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InvokeParams {
    /// The attachment's id, from the result of `runtime/attach`.
    pub attachment: String,
    /// An operation of the descriptor with its arguments, in the runtime's own spelling.
    #[serde(deserialize_with = "super::object")]
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub operation: Box<RawValue>,
}

/// Result of `runtime/invoke`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InvokeResult {
    /// The result of the operation, in the runtime's own spelling.
    #[schemars(with = "serde_json::Value")]
    pub result: Box<RawValue>,
}

/// Params of `runtime/respond`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RespondParams {
    /// The attachment's id, from the result of `runtime/attach`.
    pub attachment: String,
    /// The answer to the request.
    #[serde(deserialize_with = "super::object")]
    pub response: RuntimeResponse,
}

/// An answer to a request of a runtime. The request arrived as an event `request`; `kind` is its
/// `payload.request.kind`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum RuntimeResponse {
    /// An answer to a request for approval.
    Approval {
        /// The request's id: `payload.request.id` of the event `request`.
        request_id: u64,
        /// The decision.
        decision: Decision,
    },
    /// An answer to a request for information.
    Elicitation(Elicited),
    /// An answer to a request of any other kind.
    Other(Elicited),
}

/// A decision on an approval request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Deny the request.
    Deny,
    /// Allow the request, this time only.
    Allow,
    /// Allow this request and similar ones for the rest of the session.
    AllowForSession,
}

impl Decision {
    /// The value of this decision on the wire.
    pub fn id(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Allow => "allow",
            Self::AllowForSession => "allow_for_session",
        }
    }
}

/// A person's answer to a request for information.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Elicited {
    /// The request's id: `payload.request.id` of the event `request`.
    pub request_id: u64,
    /// Whether the person answered.
    pub action: ElicitedAction,
    /// The answer to the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<serde_json::Value>,
}

/// Whether a person answered a request for information.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ElicitedAction {
    /// The person answered; `content` is the answer.
    Accept,
    /// The person declined to answer.
    Decline,
    /// The person dismissed the request.
    Cancel,
}

/// Result of `runtime/close`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CloseResult {
    /// True if the runtime is closing.
    pub closed: bool,
}

/// Params of `runtime/start`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StartParams {
    /// The name of an agent given with `--start` on the server's command line; `initialize` lists these names in
    /// `capabilities.start`.
    pub name: String,
    /// The agent's working directory, an absolute path.
    pub workspace: String,
    /// The agent's id of a session to continue. Absent: a new session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<String>,
}

/// Result of `runtime/start`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StartResult {
    /// The runtime's id. The runtime outlives this server; `runtime/close` ends it.
    pub runtime_id: String,
    /// The endpoint of the runtime's receipt.
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

/// A conversation whose runtime state is requested.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StateSource {
    /// The harness that owns the session.
    pub harness: Harness,
    /// The session's id in its harness.
    pub session_id: String,
}

/// Result of `registry/states`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatesResult {
    /// One element per source, in the order of the request.
    pub states: Vec<SourceState>,
}

/// The state of a conversation's runtime.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourceState {
    /// The harness that owns the session.
    pub harness: Harness,
    /// The session's id in its harness.
    pub session_id: String,
    /// The state of the newest runtime that answers. Absent if none answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
}
