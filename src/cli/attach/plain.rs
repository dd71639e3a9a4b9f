//! Attached without a terminal: each line of standard input is a prompt, what happens is text or JSON, line by line.

use super::AttachArgs;
use super::session::{Act, Answer, Came, Session, payload};
use super::view::View;
use crate::cli::line::Line;
use crate::cli::output::{Failure, drain, json_line, note, plain};
use crate::cli::{FAILED, live};
use crate::limits;
use crate::platform::signals::Signals;
use crate::platform::stdio::{self, Input, Output};
use crate::protocol::{AttachResult, Reason, RpcError};
use serde::Serialize;
use serde_json::Value;
use std::process::ExitCode;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::time::{Instant, sleep_until};

/// How long a busy runtime is left alone before it is asked again.
const BUSY: Duration = Duration::from_millis(500);
/// How long the output has for what was said before a signal.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// Bytes that wait to be read, over which no more events are taken.
const WAITING: usize = 64 << 10;

struct Plain<'a> {
    args: &'a AttachArgs,
    session: &'a mut Session,
    view: View,
    out: Vec<u8>,
    turn: Option<Turn>,
    /// A prompt that the runtime was too busy for, and when it is tried again.
    refused: Option<(String, Instant)>,
    failed: bool,
}

/// The turn of a prompt of ours: over when it was answered and its end was told.
#[derive(Default)]
struct Turn {
    started: bool,
    ended: bool,
    replied: Option<Instant>,
    /// What went wrong, which the turn's end tells, if there is one.
    error: Option<String>,
}

/// Lines as they come.
struct Lines {
    input: Input,
    bytes: Vec<u8>,
    ended: bool,
}

pub(super) async fn run(
    args: &AttachArgs,
    session: &mut Session,
    joined: &AttachResult,
    signals: &mut Signals,
) -> Result<ExitCode, Failure> {
    let (input, mut output) = stdio::open()?;
    let mut lines = Lines { input, bytes: Vec::new(), ended: false };
    let (view, out) = (View::new(args.verbose), Vec::new());
    let mut plain = Plain { args, session, view, out, turn: None, refused: None, failed: false };
    plain.open(joined)?;
    let end = plain.follow(&mut lines, &mut output, signals).await;
    // However it ended, what was said is printed, also the line that was not yet at its end.
    let rest = plain.view.finish();
    plain.print(&rest);
    match end {
        Err(Failure::Unread) => {}
        Ok(Stop::Signal(signal)) => {
            // The reader may be stuck, which must not keep this process from ending.
            tokio::select! {
                _ = drain(&mut output, &mut plain.out) => {}
                _ = signals.next() => {}
                () = tokio::time::sleep(LAST_WORDS) => {}
            }
            return Ok(ExitCode::from(128 + signal));
        }
        _ => drain(&mut output, &mut plain.out).await?,
    }
    end.map(|_| if plain.failed { ExitCode::from(FAILED) } else { ExitCode::SUCCESS })
}

/// Why it stops where nothing failed.
enum Stop {
    Done,
    Signal(u8),
}

impl Plain<'_> {
    /// Takes prompts and events until there are no more.
    async fn follow(&mut self, lines: &mut Lines, output: &mut Output, signals: &mut Signals) -> Result<Stop, Failure> {
        let mut closed = Box::pin(output.closed());
        while !(lines.ended && self.is_done()) {
            let (is_idle, due, waits) = (self.is_idle(), self.due(), !self.out.is_empty());
            tokio::select! {
                biased;
                signal = signals.next() => return Ok(Stop::Signal(signal)),
                () = &mut closed => return Err(Failure::Unread),
                written = drain(output, &mut self.out), if waits => written?,
                () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => self.try_again(),
                line = lines.next(), if is_idle && !lines.ended => self.take(line?),
                came = self.session.next(), if self.out.len() < WAITING => match came {
                    Some(Came::Event(event)) if event.kind == "disconnected" => {
                        self.event(&event)?;
                        return Err(Failure::new(FAILED, super::super::output::plain(&event.reason.unwrap_or_default())));
                    }
                    Some(Came::Event(event)) => self.event(&event)?,
                    Some(Came::Answer(act, answer)) => self.answer(act, answer)?,
                    None => return Err(Failure::new(FAILED, "the attachment has ended")),
                },
            }
        }
        Ok(Stop::Done)
    }

    fn open(&mut self, joined: &AttachResult) -> Result<(), Failure> {
        if self.args.json {
            return self.json(joined);
        }
        let lines = super::opening(self.args, self.session, joined, &mut self.view);
        self.print(&lines);
        Ok(())
    }

    fn print(&mut self, lines: &[Line]) {
        if !self.args.json {
            self.out.extend(lines.iter().flat_map(|line| format!("{}{}\n", line.lead, line.text).into_bytes()));
        }
    }

    fn json(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        self.out.extend_from_slice(json_line(value)?.as_bytes());
        Ok(())
    }

    /// Whether the next prompt can be taken.
    fn is_idle(&self) -> bool {
        self.turn.is_none() && self.refused.is_none()
    }

    fn is_done(&self) -> bool {
        self.is_idle() && !self.session.running && self.out.is_empty()
    }

    /// When something is to be done although nothing comes.
    fn due(&self) -> Option<Instant> {
        let silent = self.turn.as_ref().and_then(|turn| turn.replied).map(|at| at + limits::RUNTIME_CALL);
        silent.or(self.refused.as_ref().map(|(_, at)| *at))
    }

    fn try_again(&mut self) {
        // A turn that was answered long ago is over, even if nobody told its end.
        if let Some(error) = self.turn.take().and_then(|turn| turn.error) {
            self.fail(&error);
        }
        if let Some((prompt, _)) = self.refused.take() {
            self.submit(prompt);
        }
    }

    fn take(&mut self, line: Option<String>) {
        let prompt = line.unwrap_or_default();
        if prompt.trim().is_empty() {
            return;
        }
        if self.args.observe {
            self.fail("--observe sends nothing to the agent");
        } else {
            self.submit(prompt);
        }
    }

    fn submit(&mut self, prompt: String) {
        self.turn = Some(Turn::default());
        self.session.act(Act::Submit(prompt));
    }

    fn fail(&mut self, why: &str) {
        self.failed = true;
        note(&format!("tackroom: {why}"));
    }

    fn event(&mut self, event: &crate::protocol::RuntimeEvent) -> Result<(), Failure> {
        let said = payload(event);
        if self.args.json {
            self.json(event)?;
        } else if event.sequence.is_some() {
            let lines = self.view.event(&event.kind, &said);
            self.print(&lines);
        }
        let Some(turn) = &mut self.turn else { return Ok(()) };
        match event.kind.as_str() {
            "turn_started" => turn.started = true,
            "turn_succeeded" | "turn_interrupted" | "turn_failed" => {
                turn.ended = turn.started;
                self.failed |= turn.started && event.kind != "turn_succeeded";
            }
            "request" if self.session.about.actions.respond => self.refuse(&said),
            _ => {}
        }
        self.end_turn();
        Ok(())
    }

    /// Nobody is here to be asked, so what a turn of ours asks is answered as where nobody watches.
    fn refuse(&mut self, request: &Value) {
        if let Some(asked) = super::asked::Asked::of(request) {
            note(&format!("tackroom: request {} is denied: nobody can answer it here", asked.id));
            self.session.act(Act::Respond(asked.refusal()));
        }
    }

    fn answer(&mut self, act: Act, answer: Result<Answer, RpcError>) -> Result<(), Failure> {
        match (act, answer) {
            (Act::Submit(_), Ok(_)) => self.replied(),
            (Act::Submit(prompt), Err(error)) => match error.reason() {
                Reason::Busy => {
                    self.turn = None;
                    self.refused = Some((prompt, Instant::now() + BUSY));
                }
                Reason::Execution => {
                    self.failed = true;
                    if let Some(turn) = &mut self.turn {
                        turn.error = Some(plain(&error.to_string()));
                    }
                    self.replied();
                }
                _ => {
                    self.turn = None;
                    self.fail(&live::refusal(&error, "in a terminal, `tackroom attach` takes control with /take"));
                }
            },
            (Act::Again, Ok(Answer::Joined(joined))) => {
                note("tackroom: fell behind; attached again");
                joined.replay.iter().try_for_each(|event| self.event(event))?;
            }
            (Act::Again, Err(error)) => return Err(live::failure(error)),
            (_, Err(error)) => note(&format!("tackroom: {}", plain(&error.to_string()))),
            (_, Ok(_)) => {}
        }
        Ok(())
    }

    fn replied(&mut self) {
        if let Some(turn) = &mut self.turn {
            turn.replied = Some(Instant::now());
        }
        self.end_turn();
    }

    fn end_turn(&mut self) {
        if self.turn.as_ref().is_some_and(|turn| turn.ended && turn.replied.is_some()) {
            self.turn = None;
        }
    }
}

impl Lines {
    /// The next line; `None` at the end. May be dropped and called again, and nothing is lost.
    async fn next(&mut self) -> Result<Option<String>, Failure> {
        loop {
            let end = memchr::memchr(b'\n', &self.bytes);
            if let Some(end) =
                end.map(|end| end + 1).or((self.ended && !self.bytes.is_empty()).then_some(self.bytes.len()))
            {
                let line: Vec<u8> = self.bytes.drain(..end).collect();
                let line =
                    String::from_utf8(line).map_err(|_| Failure::new(FAILED, "a line of the input is not UTF-8"))?;
                return Ok(Some(line.trim_end_matches(['\n', '\r']).to_owned()));
            }
            if self.ended {
                return Ok(None);
            }
            if self.bytes.len() > limits::RUNTIME_REQUEST {
                return Err(Failure::new(FAILED, "a line of the input is too long for a runtime"));
            }
            // Whatever is wrong with the input, no more comes.
            self.ended = !matches!(self.input.read_buf(&mut self.bytes).await, Ok(1..));
        }
    }
}
