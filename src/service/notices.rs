//! The notifications of the protocol, in both directions.

use crate::protocol::{Empty, ProgressParams, RegistryEventParams, RuntimeEventParams, SessionEventParams};
use schemars::{Schema, SchemaGenerator};

/// Who sends a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The client.
    FromClient,
    /// The server.
    FromServer,
}

/// A notification that is part of the protocol.
pub struct Notice {
    /// Its name on the wire.
    pub name: &'static str,
    /// Who sends it.
    pub direction: Direction,
    /// What it says, in one sentence.
    pub summary: &'static str,
    /// Makes the schema of its params.
    pub params: fn(&mut SchemaGenerator) -> Schema,
}

/// Every notification of the protocol.
pub const NOTIFICATIONS: &[Notice] = &[
    Notice {
        name: "initialized",
        direction: Direction::FromClient,
        summary: "The client has read the answer to `initialize`.",
        params: |generator| generator.subschema_for::<Empty>(),
    },
    Notice {
        name: "exit",
        direction: Direction::FromClient,
        summary: "The server ends: with exit code 0 after `shutdown`, else 1.",
        params: |generator| generator.subschema_for::<Empty>(),
    },
    Notice {
        name: "$/cancelRequest",
        direction: Direction::FromClient,
        summary: "The answer to a request is not wanted any more, as LSP spells it.",
        params: |generator| generator.subschema_for::<crate::protocol::CancelParams>(),
    },
    Notice {
        name: "$/cancel_request",
        direction: Direction::FromClient,
        summary: "The answer to a request is not wanted any more, as ACP spells it.",
        params: |generator| generator.subschema_for::<crate::protocol::CancelRequestParams>(),
    },
    Notice {
        name: "registry/event",
        direction: Direction::FromServer,
        summary: "Something changed of what a subscription sees. While the client does not read, only the latest state \
                  of each entry is kept for it.",
        params: |generator| generator.subschema_for::<RegistryEventParams>(),
    },
    Notice {
        name: "session/event",
        direction: Direction::FromServer,
        summary: "Messages of a session that the client follows were written, or what it has does not stand any more.",
        params: |generator| generator.subschema_for::<SessionEventParams>(),
    },
    Notice {
        name: "runtime/event",
        direction: Direction::FromServer,
        summary: "Something happened at a runtime that the client is attached to. In order, each event once.",
        params: |generator| generator.subschema_for::<RuntimeEventParams>(),
    },
    Notice {
        name: "$/progress",
        direction: Direction::FromServer,
        summary: "How far the work of a request is that carried `_meta.progressToken`.",
        params: |generator| generator.subschema_for::<ProgressParams>(),
    },
];
