//! Limits of Claude Code's settings.

use std::time::Duration;

/// Bytes of Claude Code's settings.
pub const SETTINGS_BYTES: usize = 4 << 20;
/// Symbolic links that are followed one after the other, as many as Linux follows.
pub const LINKS: u32 = 40;
/// How long the server waits for other programs that change the same settings.
pub const SETTINGS_LOCK: Duration = Duration::from_secs(10);
/// How often the server checks whether they are done.
pub const SETTINGS_LOCK_PAUSE: Duration = Duration::from_millis(2);
/// How often settings are read again that another program seems to be writing.
pub const SETTINGS_AGAIN: u32 = 3;
/// How long is waited before.
pub const SETTINGS_AGAIN_PAUSE: Duration = Duration::from_millis(20);
/// How often a file that another process has open for writing is checked before it counts as being written.
pub const WRITER_LOOKS: u32 = 50;
/// How long is waited between.
pub const WRITER_PAUSE: Duration = Duration::from_millis(2);
/// How often what others wrote is put back while they go on writing.
pub const PUT_BACK: u32 = 64;
/// How long is waited between.
pub const PUT_BACK_PAUSE: Duration = Duration::from_millis(1);
