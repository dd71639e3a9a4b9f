//! Where the operating system shows: files, processes, descriptors. The only place for `cfg` and `unsafe`.

mod attributes;
pub mod child;
pub mod connection;
pub mod detach;
pub mod directory;
pub mod exec;
pub mod files;
pub mod git;
pub mod lines;
pub mod links;
pub mod locks;
pub mod memory;
pub mod private;
pub mod process;
pub mod random;
pub mod replace;
pub mod signals;
pub mod socket;
pub mod sqlite;
pub mod stdio;
pub mod terminal;
#[cfg(test)]
pub mod testing;
pub mod tty;
pub mod watch;
pub mod within;
