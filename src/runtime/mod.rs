//! Live runtimes: processes that other programs can attach to over loopback HTTP.

mod address;
mod api;
mod attach;
mod attachment;
mod error;
pub mod form;
mod http;
mod intake;
mod mark;
mod merge;
mod observed;
mod outage;
mod owner;
mod probe;
mod pump;
mod receipt;
mod receipts;
mod register;
mod runtimes;
mod sse;
#[cfg(test)]
mod tests;
mod turns;
pub mod wire;

pub use address::{Address, AddressError};
pub use api::{Api, Descriptor, EventStream, Reply, Snapshot};
pub use attach::timely;
pub use attachment::Attachment;
pub use error::{Error, RemoteError};
pub use http::{Caller, Client, read};
pub use intake::Scrub;
pub use observed::{Observed, Runtime, Trouble};
pub use probe::Known;
pub use receipt::{Record, Refusal};
pub use receipts::{Error as ReceiptError, Listing, Receipts};
pub use runtimes::{Joining, Look, Published, Round, Runtimes};

/// The events of a stream that comes in these parts, for tests and fuzzing. `None` where one is too large.
#[doc(hidden)]
pub fn read_events(parts: &[&[u8]]) -> Option<Vec<Vec<u8>>> {
    let mut decoder = sse::Decoder::new(crate::limits::RUNTIME_EVENT);
    for part in parts {
        decoder.feed(part).ok()?;
    }
    Some(std::iter::from_fn(|| decoder.next()).collect())
}

#[cfg(test)]
pub(crate) use runtimes::testing;
