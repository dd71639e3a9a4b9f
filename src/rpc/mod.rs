//! How messages cross: framing, envelope, requests in flight, outbox. Knows no harness.

mod connection;
mod frame;
mod inflight;
mod message;
mod outbox;

pub use connection::{End, serve};
pub use frame::Framing;
