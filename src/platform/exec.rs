//! Running another program in the place of this one.

use std::io;
use std::process::{Command, ExitCode};

/// Becomes the program: it keeps the terminal, the process id and the signals. Returns only where that fails.
#[cfg(unix)]
pub fn become_program(command: &mut Command) -> io::Result<ExitCode> {
    use std::os::unix::process::CommandExt;
    Err(command.exec())
}

/// Runs the program and ends as it does.
#[cfg(not(unix))]
pub fn become_program(command: &mut Command) -> io::Result<ExitCode> {
    let code = command.status()?.code().unwrap_or(1);
    Ok(ExitCode::from(u8::try_from(code).unwrap_or(1)))
}
