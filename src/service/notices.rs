//! The notifications of the protocol, in both directions.

use crate::protocol::{Empty, ProgressParams, RegistryEventParams, RuntimeEventParams, SessionEventParams};
use schemars::{Schema, SchemaGenerator};

/// The sender of a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The client.
    FromClient,
    /// The server.
    FromServer,
}

/// A notification of the protocol.
pub struct Notice {
    /// The name on the wire.
    pub name: &'static str,
    /// The sender.
    pub direction: Direction,
    /// A summary in one sentence.
    pub summary: &'static str,
    /// Generates the schema of the params.
    pub params: fn(&mut SchemaGenerator) -> Schema,
}

/// Every notification of the protocol.
pub const NOTIFICATIONS: &[Notice] = &[
    Notice {
        name: "initialized",
        direction: Direction::FromClient,
        summary: "Confirms that the client received the result of `initialize`.",
        params: |generator| generator.subschema_for::<Empty>(),
    },
    Notice {
        name: "exit",
        direction: Direction::FromClient,
        summary: "Asks the server to exit: with exit code 0 after `shutdown`, otherwise with 1.",
        params: |generator| generator.subschema_for::<Empty>(),
    },
    Notice {
        name: "$/cancelRequest",
        direction: Direction::FromClient,
        summary: "Cancels a request, in the spelling of LSP. The request still gets exactly one response.",
        params: |generator| generator.subschema_for::<crate::protocol::CancelParams>(),
    },
    Notice {
        name: "$/cancel_request",
        direction: Direction::FromClient,
        summary: "Cancels a request, in the spelling of ACP. The request still gets exactly one response.",
        params: |generator| generator.subschema_for::<crate::protocol::CancelRequestParams>(),
    },
    Notice {
        name: "registry/event",
        direction: Direction::FromServer,
        summary: "Reports a change of the entries that match a subscription. While the client does not read, the server \
                  keeps only the latest state of each entry for it.",
        params: |generator| generator.subschema_for::<RegistryEventParams>(),
    },
    Notice {
        name: "session/event",
        direction: Direction::FromServer,
        summary: "Reports new messages of a session that the client follows, or that its messages must be loaded again.",
        params: |generator| generator.subschema_for::<SessionEventParams>(),
    },
    Notice {
        name: "runtime/event",
        direction: Direction::FromServer,
        summary: "Reports an event of a runtime that the client is attached to. Events are sent in order, each once.",
        params: |generator| generator.subschema_for::<RuntimeEventParams>(),
    },
    Notice {
        name: "$/progress",
        direction: Direction::FromServer,
        summary: "Reports the progress of a request that has a `_meta.progressToken`.",
        params: |generator| generator.subschema_for::<ProgressParams>(),
    },
];
