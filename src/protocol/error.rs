//! The one table of errors: reason, code, and what it means. Code, schema and docs are read from it.

use serde_json::{Map, Value, json};

macro_rules! reasons {
    ($($variant:ident $code:literal $word:literal $meaning:literal,)*) => {
        /// Why a request failed: the stable word that a program switches on.
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

            /// What it means, for the docs.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)* }
            }
        }
    };
}

reasons! {
    ParseError -32700 "parse_error" "The frame is not JSON that can be read.",
    InvalidRequest -32600 "invalid_request" "The message is no request that can be served now.",
    MethodNotFound -32601 "method_not_found" "There is no such method.",
    InvalidParams -32602 "invalid_params" "The params do not fit the method.",
    Internal -32603 "internal" "The server failed; this is a bug.",
    NotInitialized -32002 "not_initialized" "`initialize` comes first.",
    Cancelled -32800 "cancelled" "The client cancelled the request, or went away.",
    Unauthorized -32000 "unauthorized" "A permission is missing; `data.permission` names it.",
    NotFound -32001 "not_found" "There is no such thing, or it is out of scope.",
    NotLive -32003 "not_live" "No live session answers to this.",
    IdentityMismatch -32004 "identity_mismatch" "What was named is not what is there now.",
    AmbiguousRuntime -32005 "ambiguous_runtime" "Two runtimes claim this id.",
    ControllerRequired -32006 "controller_required" "Another client drives; `data.holder` and `data.expiresAtMs` say who and until when.",
    LeaseExpired -32007 "lease_expired" "The lease ran out; only taking control helps.",
    Busy -32008 "busy" "Too much is going on; try again.",
    UnsupportedAction -32009 "unsupported_action" "This runtime cannot do that.",
    HarnessUnsupported -32010 "harness_unsupported" "This harness cannot do that.",
    Unavailable -32011 "unavailable" "What is needed is not there now.",
    Timeout -32012 "timeout" "It took too long.",
    Transport -32013 "transport" "The connection failed.",
    Execution -32014 "execution" "The other side tried, and failed.",
    InvalidArgument -32015 "invalid_argument" "The other side refused an argument.",
    Unauthenticated -32016 "unauthenticated" "The other side does not accept the token.",
    Io -32017 "io" "A file could not be read or written.",
    InvalidEndpoint -32018 "invalid_endpoint" "This is no endpoint.",
    InvalidReceipt -32019 "invalid_receipt" "The receipt does not hold.",
    ChangedDuringWrite -32030 "changed_during_write" "The file changed meanwhile; `data.expected` and `data.actual` are the revisions.",
    InvalidSettings -32031 "invalid_settings" "The settings file cannot be understood.",
    DeliveryFailed -32032 "delivery_failed" "The message was not delivered, or not for certain; `data.cause` says why: `empty` (a blank text), `spawn` (no courier could be started), `exit` (it failed), `report` (it did not do, or say, what it should) or `timeout`.",
    TooLarge -32033 "too_large" "A bound on size is passed.",
    Limit -32034 "limit" "A bound on number is passed.",
    Ambiguous -32035 "ambiguous" "The reference matches several entries; `data.candidates` lists them, and `data.total` counts them.",
    NoTerminal -32036 "no_terminal" "No terminal multiplexer that Tackroom can control displays this session.",
}

/// Characters of an error's message.
const MESSAGE_CHARS: usize = 1_000;

/// A message as it may go out: what others sent may stand in it, however long and whatever it does to a terminal.
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

/// An error answer: code, a message for a person, and `data` whose `reason` a program switches on.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct RpcError {
    reason: Reason,
    message: String,
    data: Map<String, Value>,
}

impl RpcError {
    /// An error with this reason; the message says what is wrong and what to do next.
    pub fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self { reason, message: presentable(message.into()), data: Map::new() }
    }

    /// Adds a member to `data`.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.data.insert(name.to_owned(), value.into());
        self
    }

    /// Why it failed.
    pub fn reason(&self) -> Reason {
        self.reason
    }

    /// `data` as it goes out, with its `reason`.
    pub fn data(&self) -> Value {
        let mut data = Map::from_iter([("reason".to_owned(), Value::from(self.reason.word()))]);
        data.extend(self.data.clone());
        Value::Object(data)
    }

    /// The error object of JSON-RPC.
    pub fn to_json(&self) -> Value {
        json!({ "code": self.reason.code(), "message": self.message, "data": self.data() })
    }
}

#[cfg(test)]
mod tests {
    use super::Reason;
    use std::collections::HashSet;

    #[test]
    fn codes_and_words_are_unique_and_within_the_published_ranges() {
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
