//! What is fuzzed: one function for each target, which fails when something that must hold does not.

mod stores;
mod targets;

pub use stores::stores;
pub use targets::{agent_lines, events, frames, params};
