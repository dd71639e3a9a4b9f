//! Live runtimes: other programs that run a conversation and can be attached to over loopback HTTP.

mod api;
mod error;
mod http;
mod intake;
mod sse;

pub use api::{Api, Descriptor, EventStream, Snapshot};
pub use error::{Error, RemoteError};
pub use http::{Caller, Client};
