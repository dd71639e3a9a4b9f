//! Where the operating system shows: files, processes, descriptors. The only place for `cfg` and `unsafe`.

pub mod files;
pub mod sqlite;
