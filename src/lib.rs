//! Tackroom: one JSON-RPC server over stdio through which editors and agent hosts see, watch, join and message every
//! coding-agent session on this machine.
//!
//! The map of the house, from the wire down; a room imports only rooms below it:
//!
//! | room | what it holds |
//! |---|---|
//! | [`cli`] | one file per subcommand; the only place that prints |
//! | [`rpc`] | how messages cross: framing, envelope, requests in flight, outbox |
//! | [`service`] | what a method does: the method table, authorization, delegation |
//! | [`registry`] | the inventory: scanning, joining, queries, pages |
//! | [`settings`] | Claude Code's user settings: read, and one key of them changed |
//! | [`host`] | makes any ACP agent a live runtime: its child process, the conversation, the HTTP door |
//! | [`runtime`] | live runtimes: receipts, HTTP client, probes, attachments |
//! | [`harness`] | the stores: one file per harness behind one trait |
//! | [`terminal`] | the terminal in which a process runs, in tmux or GNU screen |
//! | [`peer`] | live Claude Code sessions, from their process registry |
//! | [`enclosing`] | what is kept from programs that we start: marks of a session that we run in |
//! | [`authority`] | permissions and scope |
//! | [`platform`] | files, processes, descriptors, databases: the only place for `cfg` and `unsafe` |
//! | [`protocol`] | the types that cross the wire, and the table of errors |
//! | [`limits`] | every bound |

pub mod authority;
pub mod cli;
pub mod enclosing;
pub mod harness;
pub mod host;
pub mod limits;
pub mod peer;
pub mod platform;
pub mod protocol;
pub mod registry;
pub mod rpc;
pub mod runtime;
pub mod service;
pub mod settings;
pub mod terminal;
