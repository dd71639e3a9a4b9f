//! The runtime that the tests attach to answers what real ones answered, and misbehaves as it is told.

mod bad;
mod captures;
mod client;
mod contract;
mod process;
