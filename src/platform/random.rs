//! Words that nobody could know.

use std::io;

/// So many random bytes, as hexadecimal digits. Fails when the system gives no randomness.
pub fn hex<const BYTES: usize>() -> io::Result<String> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
