//! Any agent of the Agent Client Protocol as a live runtime that many can join: a receipt, the runtime's HTTP API, one
//! controller, many observers.
//!
//! Three parts, each of which knows the next one only: `door` (HTTP: who may ask what), the conversation (turns, events,
//! history, leases, what is asked of a person), and `agent` (the child process and its protocol).

pub mod agent;
pub mod start;
