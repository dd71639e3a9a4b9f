//! Live runtimes: processes that other programs can attach to over loopback HTTP.

mod address;
mod api;
mod attach;
mod attachment;
mod error;
mod http;
mod intake;
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
pub mod wire;

pub use address::{Address, AddressError};
pub use api::{Api, Descriptor, EventStream, Snapshot};
pub use attach::timely;
pub use attachment::Attachment;
pub use error::{Error, RemoteError};
pub use http::{Caller, Client, read};
pub use intake::Scrub;
pub use observed::{Observed, Runtime, Trouble};
pub use probe::Known;
pub use receipt::{Record, Refusal};
pub use receipts::{Error as ReceiptError, Listing, Receipts};
pub use runtimes::{Joining, Look, Published, Runtimes};

#[cfg(test)]
pub(crate) use runtimes::testing;
