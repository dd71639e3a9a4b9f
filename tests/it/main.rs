//! The server as its clients meet it: a process spoken to over its descriptors. One file a method or topic.

mod support;

mod authority;
mod bad_input;
mod base;
mod cancel;
mod descriptors;
mod framing;
mod inflight;
mod lifecycle;
mod schema;
