//! Live runtimes: processes that other programs can attach to over loopback HTTP.

mod observed;
mod outage;

pub use observed::{Observed, Runtime, Trouble};
