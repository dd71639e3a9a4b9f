//! Watched in a terminal: a table that keeps itself true.

use super::board::Board;
use crate::cli::keys::{Key, Keys};
use crate::cli::output::{self, Failure, Screen, drain};
use crate::cli::terminal::{FAREWELL, Taken, gone, size};
use crate::cli::{FAILED, live, words};
use crate::platform::signals::{Redraws, Signals};
use crate::platform::stdio;
use crate::platform::terminal::Raw;
use crate::protocol::{Notification, RegistryEventParams, WatchParams};
use crate::service::User;
use std::process::ExitCode;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval, timeout};

/// How often ages are drawn anew though nothing changed.
const AGES: Duration = Duration::from_secs(60);
/// How many events are taken before the table is drawn.
const AT_ONCE: usize = 64;
/// Takes the terminal's other screen.
const OPEN: &str = "\x1b[?1049h";
/// Shows no cursor.
const NO_CURSOR: &str = "\x1b[?25l";
/// Gives back the screen as it was.
const CLOSE: &str = "\x1b[0m\x1b[?25h\x1b[?1049l";

struct Table {
    raw: Taken,
    board: Board,
    screen: Screen,
    rows: usize,
    home: Option<String>,
    keys: Keys,
    /// Bytes on their way to the terminal.
    out: Vec<u8>,
    /// What was drawn last.
    drawn: Vec<u8>,
    /// Whether that may not be true any more.
    stale: bool,
}

pub(super) async fn run(
    user: &User,
    params: WatchParams,
    mut told: mpsc::Receiver<Notification>,
) -> Result<ExitCode, Failure> {
    let mut signals = Signals::new()?;
    let mut redraws = Redraws::new()?;
    let mut table = Table::new(Raw::enter()?);
    let (mut input, mut output) = stdio::open()?;
    let mut ages = interval(AGES);
    ages.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let watching = user.watch(params);
    tokio::pin!(watching);
    let (mut bytes, mut came, mut is_watched) = (Vec::with_capacity(4096), Vec::with_capacity(AT_ONCE), false);
    let end = loop {
        if table.stale && table.out.is_empty() {
            table.draw();
        }
        let waits = !table.out.is_empty();
        bytes.clear();
        tokio::select! {
            biased;
            signal = signals.next() => break Ok(left(Some(signal))),
            written = drain(&mut output, &mut table.out), if waits => if written.is_err() {
                break Ok(left(gone(&mut signals).await));
            },
            () = redraws.next() => if table.redraw().is_err() {
                break Ok(left(gone(&mut signals).await));
            },
            count = input.read_buf(&mut bytes) => match count {
                Ok(1..) => match table.typed(&bytes) {
                    Ok(false) => {}
                    Ok(true) => break Ok(left(None)),
                    Err(failure) => break Err(failure),
                },
                Ok(0) | Err(_) => break Ok(left(gone(&mut signals).await)),
            },
            result = &mut watching, if !is_watched => match result {
                Ok(_) => is_watched = true,
                Err(error) => break Err(live::failure(error)),
            },
            count = told.recv_many(&mut came, AT_ONCE) => {
                if count == 0 {
                    break Err(Failure::new(FAILED, "the server stopped sending events"));
                }
                for told in came.drain(..) {
                    table.take(&told);
                }
            }
            _ = ages.tick() => table.stale = true,
        }
    };
    table.out.extend_from_slice(CLOSE.as_bytes());
    // Where nobody reads it any more, nothing is lost.
    let _ = timeout(FAREWELL, drain(&mut output, &mut table.out)).await;
    end
}

/// How it ends with a signal, or without.
fn left(signal: Option<u8>) -> ExitCode {
    ExitCode::from(signal.map_or(0, |signal| 128 + signal))
}

impl Table {
    fn new(raw: Raw) -> Self {
        let (screen, rows) = size();
        Self {
            raw: Taken::new(raw, CLOSE),
            board: Board::default(),
            screen: within(screen),
            rows,
            home: words::home(),
            keys: Keys::default(),
            out: [OPEN, NO_CURSOR].concat().into_bytes(),
            drawn: Vec::new(),
            stale: true,
        }
    }

    fn take(&mut self, told: &Notification) {
        if let Ok(told) = serde_json::from_str::<RegistryEventParams>(told.params.get()) {
            self.board.take(told.event);
            // A state that is told whole is drawn when all of it is there.
            self.stale |= self.board.is_synced();
        }
    }

    /// Draws all rows over those that are there: each where it belongs, so that none can shift another.
    fn draw(&mut self) {
        let lines = self.board.lines(words::now_ms(), self.home.as_deref(), &self.screen, self.rows);
        let mut drawn = Vec::new();
        for (number, line) in lines.iter().enumerate() {
            drawn.extend_from_slice(format!("\x1b[{};1H{line}\x1b[K", number + 1).as_bytes());
        }
        if lines.len() < self.rows {
            drawn.extend_from_slice(format!("\x1b[{};1H\x1b[J", lines.len() + 1).as_bytes());
        }
        if drawn != self.drawn {
            self.out.extend_from_slice(&drawn);
            self.drawn = drawn;
        }
        self.stale = false;
    }

    /// Takes another size: nobody knows what a terminal did with its rows meanwhile.
    fn redraw(&mut self) -> Result<(), Failure> {
        self.raw.again()?;
        let (screen, rows) = size();
        (self.screen, self.rows) = (within(screen), rows);
        self.drawn.clear();
        self.out.extend_from_slice(NO_CURSOR.as_bytes());
        self.stale = true;
        Ok(())
    }

    /// Whether that was to leave.
    fn typed(&mut self, bytes: &[u8]) -> Result<bool, Failure> {
        for key in self.keys.take(bytes) {
            match key {
                Key::Text('q') | Key::Ctrl('c' | 'd') => return Ok(true),
                Key::Ctrl('z') => {
                    self.out.extend_from_slice(CLOSE.as_bytes());
                    output::write(&String::from_utf8_lossy(&std::mem::take(&mut self.out)))?;
                    self.raw.stop()?;
                    self.out.extend_from_slice(OPEN.as_bytes());
                    self.redraw()?;
                }
                Key::Ctrl('l') => self.redraw()?,
                _ => {}
            }
        }
        Ok(false)
    }
}

/// The screen without its last column, since terminals differ in what follows there.
fn within(screen: Screen) -> Screen {
    Screen { width: Some(screen.width.unwrap_or(80).saturating_sub(1).max(1)), ..screen }
}
