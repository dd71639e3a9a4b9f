//! The table of errors: reason, code and meaning. The code, the schema and the reference are generated from it.

use serde_json::{Map, Value, json};

macro_rules! reasons {
    ($($variant:ident $code:literal $word:literal $meaning:literal,)*) => {
        /// Why a request failed: a stable identifier for programs.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Reason {
            $(#[doc = $meaning] $variant,)*
        }

        impl Reason {
            /// Every reason, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The JSON-RPC error code.
            pub fn code(self) -> i64 {
                match self { $(Self::$variant => $code,)* }
            }

            /// `data.reason` on the wire.
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// The meaning, for the reference.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)* }
            }
        }
    };
}

reasons! {
    ParseError -32700 "parse_error" "The frame is malformed, or its content is not JSON that the server can parse.",
    InvalidRequest -32600 "invalid_request" "The message is not a valid request, or the request is not allowed in the connection's current state.",
    MethodNotFound -32601 "method_not_found" "The method does not exist.",
    InvalidParams -32602 "invalid_params" "The params are not valid for the method.",
    Internal -32603 "internal" "The server failed. This is a bug.",
    NotInitialized -32002 "not_initialized" "The first request must be `initialize`.",
    Cancelled -32800 "cancelled" "The client cancelled the request or disconnected.",
    Unauthorized -32000 "unauthorized" "The client lacks a permission; `data.permission` names it.",
    NotFound -32001 "not_found" "The named item does not exist, or it is outside the client's scope.",
    NotLive -32003 "not_live" "No live session or runtime matches.",
    IdentityMismatch -32004 "identity_mismatch" "The session or runtime that was found is not the one that was named.",
    AmbiguousRuntime -32005 "ambiguous_runtime" "Two runtimes claim the same id.",
    ControllerRequired -32006 "controller_required" "Another client has control; `data.holder` names it, and `data.expiresAtMs` is when its lease expires.",
    LeaseExpired -32007 "lease_expired" "The client's lease expired; only `runtime/takeControl` regains control.",
    Busy -32008 "busy" "The server or the named resource is in use or at capacity; try again later.",
    UnsupportedAction -32009 "unsupported_action" "The runtime does not support this action.",
    HarnessUnsupported -32010 "harness_unsupported" "The harness does not support this action.",
    Unavailable -32011 "unavailable" "A required resource is not available now.",
    Timeout -32012 "timeout" "The operation did not complete in time.",
    Transport -32013 "transport" "The connection failed.",
    Execution -32014 "execution" "The runtime or agent attempted the operation and failed.",
    InvalidArgument -32015 "invalid_argument" "The runtime or agent rejected an argument.",
    Unauthenticated -32016 "unauthenticated" "The runtime rejected the receipt's token.",
    Io -32017 "io" "A file could not be read or written.",
    InvalidEndpoint -32018 "invalid_endpoint" "The text is not a valid endpoint.",
    InvalidReceipt -32019 "invalid_receipt" "The receipt is not valid.",
    ChangedDuringWrite -32030 "changed_during_write" "Another program changed the file; `data.expected` and `data.actual` are the revisions.",
    InvalidSettings -32031 "invalid_settings" "The settings file is not valid.",
    DeliveryFailed -32032 "delivery_failed" "The message was not delivered, or its delivery is uncertain. `data.cause` is the cause: `empty` (the text is blank), `spawn` (the courier could not be started), `exit` (the courier failed), `report` (the courier did not do or report what it should) or `timeout`. After `exit`, `report` and `timeout` the message may have arrived.",
    TooLarge -32033 "too_large" "A size limit was exceeded.",
    Limit -32034 "limit" "A limit on the number of items was exceeded.",
    Ambiguous -32035 "ambiguous" "The reference matches several entries; `data.candidates` lists them, and `data.total` is their number.",
    NoTerminal -32036 "no_terminal" "No terminal multiplexer that Tackroom can control displays this session.",
}

/// Maximum length of an error message, in characters.
const MESSAGE_CHARS: usize = 1_000;

/// Returns a message that is safe to send and print: text from other programs in it may be of any length and may
/// contain terminal control characters, so it is truncated and control characters become spaces.
pub fn presentable(mut message: String) -> String {
    if let Some((end, _)) = message.char_indices().nth(MESSAGE_CHARS) {
        message.truncate(end);
        message.push('…');
    }
    if message.contains(char::is_control) {
        message = message.replace(char::is_control, " ");
    }
    message
}

/// An error response: a code, a message for people, and `data`, whose `reason` is for programs.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct RpcError {
    reason: Reason,
    message: String,
    data: Map<String, Value>,
}

impl RpcError {
    /// Returns an error with this reason. The message states what is wrong and what to do next.
    pub fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self { reason, message: presentable(message.into()), data: Map::new() }
    }

    /// Adds a field to `data`.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.data.insert(name.to_owned(), value.into());
        self
    }

    /// The reason for the failure.
    pub fn reason(&self) -> Reason {
        self.reason
    }

    /// Returns `data` as sent, including `reason`.
    pub fn data(&self) -> Value {
        let mut data = Map::from_iter([("reason".to_owned(), Value::from(self.reason.word()))]);
        data.extend(self.data.clone());
        Value::Object(data)
    }

    /// Returns the JSON-RPC error object.
    pub fn to_json(&self) -> Value {
        json!({ "code": self.reason.code(), "message": self.message, "data": self.data() })
    }
}

#[cfg(test)]
mod tests {
    use super::Reason;
    use std::collections::HashSet;

    #[test]
    fn codes_and_reasons_are_unique_and_within_the_published_ranges() {
        let mut codes = HashSet::new();
        let mut words = HashSet::new();
        for reason in Reason::ALL {
            assert!(codes.insert(reason.code()), "code of {reason:?} stands twice");
            assert!(words.insert(reason.word()), "word of {reason:?} stands twice");
            let code = reason.code();
            let standard = (-32700..=-32600).contains(&code) || code == -32800;
            assert!(standard || (-32019..=-32000).contains(&code) || (-32039..=-32030).contains(&code));
        }
    }
}
