//! What the tests share: a server to talk to, homes to show it, and the schema that holds for every frame.

pub mod agent;
mod answer;
mod attach;
pub mod folded;
mod home;
pub mod host;
pub mod inventory;
pub mod multiplexer;
mod pty;
pub mod runtime;
mod schema;
mod server;
mod spawn;
pub mod stores;
mod wire;

pub use answer::{Answer, Failure};
pub use attach::{DRIVER, WORKSPACE, beside, plain, receipts, serve, with_runtime};
pub use folded::Folded;
pub use home::{Home, Project, uuid};
pub use pty::Pty;
pub use server::{Server, initialize_params};
pub use spawn::{Spawn, Transport, bytes_in};
pub use wire::Framing;

use std::time::Duration;

/// After this long a test has failed. A guard against waiting for ever, never a measure of anything.
pub const DEADLINE: Duration = Duration::from_secs(30);

/// One megabyte, as `/proc` counts.
pub const MIB: u64 = 1024;
