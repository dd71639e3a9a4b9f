//! Tackroom: sees every coding-agent session on this machine, for editors and agent hosts.
#![warn(missing_docs)]

pub mod limits;
pub mod peer;
pub mod platform;
pub mod protocol;
