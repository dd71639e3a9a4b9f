//! Live runtimes: processes that other programs can attach to over loopback HTTP.

mod address;
mod owner;
mod receipt;
mod receipts;
mod register;
#[cfg(test)]
mod tests;

pub use address::{Address, AddressError};
pub use receipt::{Record, Refusal};
pub use receipts::{Error, Listing, Receipts};
