//! How subcommands end, and how they write: standard output may be closed at any time, and that is no error.

use super::FAILED;
use crate::platform::signals::Signals;
use crate::platform::stdio::{self, Output};
use serde::Serialize;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use tokio::io::AsyncWriteExt;

/// Why a subcommand did not do what it was told.
pub(super) enum Failure {
    /// Nobody reads standard output any more, as behind `| head`: there is nothing to complain about.
    Unread,
    /// What the user is told, and the exit code.
    Told {
        /// The exit code.
        code: u8,
        /// What went wrong, and what to do next.
        message: String,
    },
}

impl Failure {
    /// A failure with its exit code.
    pub(super) fn new(code: u8, message: impl Into<String>) -> Self {
        Self::Told { code, message: message.into() }
    }
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::new(FAILED, error.to_string())
    }
}

/// Writes to standard output, at once.
pub(super) fn write(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Failure::Unread),
        Err(error) => Err(Failure::new(FAILED, format!("cannot write to standard output: {error}"))),
    }
}

/// Writes what waits. May be dropped and called again, and nothing is written twice.
pub(super) async fn drain(output: &mut Output, bytes: &mut Vec<u8>) -> Result<(), Failure> {
    let written = async {
        while !bytes.is_empty() {
            let count = output.write(bytes).await?;
            bytes.drain(..count);
        }
        output.flush().await
    };
    match written.await {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Failure::Unread),
        result => Ok(result?),
    }
}

/// Talks on standard output until that is over, a signal comes or nobody reads it any more.
pub(super) async fn until_left(
    talk: impl AsyncFnOnce(Output) -> Result<ExitCode, Failure>,
) -> Result<ExitCode, Failure> {
    let mut signals = Signals::new()?;
    let (_, output) = stdio::open()?;
    let closed = output.closed();
    tokio::select! {
        biased;
        signal = signals.next() => Ok(ExitCode::from(128 + signal)),
        () = closed => Err(Failure::Unread),
        end = talk(output) => end,
    }
}

/// Asks a person at the terminal a question, and returns whether the answer is yes. Without a terminal it is no.
pub(super) fn confirms(question: &str) -> Result<bool, Failure> {
    let (input, error) = (io::stdin(), io::stderr());
    if !input.is_terminal() || !error.is_terminal() {
        return Ok(false);
    }
    write!(error.lock(), "tackroom: {question} [y/N] ")?;
    let mut answer = String::new();
    input.read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Writes a value to standard output as JSON for programs.
pub(super) fn write_json(value: &impl Serialize) -> Result<(), Failure> {
    write(&(harmless(&serde_json::to_string_pretty(value)?) + "\n"))
}

/// A value as one line of JSON for programs.
pub(super) fn json_line(value: &impl Serialize) -> Result<String, Failure> {
    Ok(harmless(&serde_json::to_string(value)?) + "\n")
}

/// The JSON with what could act on a terminal as an escape, which means the same to programs.
fn harmless(json: &str) -> String {
    let mut safe = String::with_capacity(json.len() + 1);
    for c in json.chars() {
        match c {
            '\n' => safe.push(c),
            c if acts_on_terminal(c) => {
                c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| safe.push_str(&format!("\\u{unit:04x}")));
            }
            c => safe.push(c),
        }
    }
    safe
}

/// Says something to the person on standard error, as one line. Where nobody listens, nothing is lost.
pub(super) fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// The text without what could act on a terminal or reorder its line.
pub(super) fn plain(text: &str) -> String {
    text.chars().map(|c| if acts_on_terminal(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

fn acts_on_terminal(c: char) -> bool {
    c.is_control()
        // Direction marks, other separators of lines, and characters that show nothing. The joiners U+200C and U+200D
        // stay: scripts and emoji need them.
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}')
        || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
        || matches!(c, '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e007f}')
}

/// What standard output can show.
pub(super) struct Screen {
    /// Columns that a line must fit in; a pipe or a file takes any line.
    pub width: Option<usize>,
    /// Whether colours are wanted.
    pub colour: bool,
}

impl Screen {
    /// What is there now.
    pub(super) fn of_stdout() -> Self {
        let out = io::stdout();
        let terminal = out.is_terminal();
        let size = terminal.then(|| terminal_size::terminal_size_of(&out)).flatten();
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { width: size.map(|(width, _)| usize::from(width.0)), colour: terminal && !refused && !is_dumb() }
    }

    /// The text in a colour, where colours are wanted.
    pub(super) fn paint(&self, text: &str, colour: Colour) -> String {
        match colour.code() {
            Some(code) if self.colour && !text.is_empty() => format!("\x1b[{code}m{text}\x1b[0m"),
            _ => text.to_owned(),
        }
    }
}

/// Whether the terminal only ever shows the next line.
pub(super) fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// The few colours that are used, each for a meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Colour {
    /// The terminal's own.
    #[default]
    None,
    /// A person is needed.
    Alert,
    /// Something is at work.
    Work,
    /// Something is there and quiet.
    Calm,
    /// Less important than the rest.
    Dim,
    /// More important than the rest.
    Bold,
}

impl Colour {
    fn code(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Alert => Some("1;33"),
            Self::Work => Some("32"),
            Self::Calm => Some("36"),
            Self::Dim => Some("2"),
            Self::Bold => Some("1"),
        }
    }
}
