//! Attached in a terminal: what happens scrolls by, and a line is typed below it.

use super::canvas::{Below, CLOSE, Canvas};
use super::editor::Editor;
use super::session::{Act, Answer, Came, Session, payload};
use super::typed::{self, Typed};
use super::view::View;
use super::{AttachArgs, opening};
use crate::cli::keys::{Key, Keys};
use crate::cli::line::Line;
use crate::cli::output::{self, Failure, drain};
use crate::cli::terminal::{FAREWELL, Taken, gone, size};
use crate::cli::{FAILED, clean, live};
use crate::platform::signals::{Redraws, Signals};
use crate::platform::stdio;
use crate::platform::terminal::Raw;
use crate::protocol::{AttachResult, RpcError, RuntimeEvent};
use std::process::ExitCode;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::time::{MissedTickBehavior, interval, timeout};

/// How often who drives is asked: a runtime tells nobody.
const LOOK: Duration = Duration::from_secs(2);
/// Bytes on their way to the terminal, over which no more events are taken.
const WAITING: usize = 64 << 10;
/// How control is taken here.
const TAKE: &str = "/take for control";

struct Terminal<'a> {
    args: &'a AttachArgs,
    session: &'a mut Session,
    raw: Taken,
    canvas: Canvas,
    view: View,
    editor: Editor,
    /// The request that a line would answer, and what was being typed when the first one came.
    asking: Option<u64>,
    draft: String,
    /// Whether something was being typed when a question came, and no line was ended since.
    in_mid_word: bool,
    keys: Keys,
    /// Whether the rows below are not as they should be.
    stale: bool,
}

/// How it ends.
enum End {
    Left,
    Over(String),
}

pub(super) async fn run(
    args: &AttachArgs,
    raw: Raw,
    session: &mut Session,
    joined: &AttachResult,
    signals: &mut Signals,
) -> Result<ExitCode, Failure> {
    let mut redraws = Redraws::new()?;
    let (mut input, mut output) = stdio::open()?;
    let (screen, rows) = size();
    let mut terminal = Terminal {
        args,
        session,
        raw: Taken::new(raw, CLOSE),
        canvas: Canvas::new(screen, rows),
        view: View::new(args.verbose),
        editor: Editor::default(),
        asking: None,
        draft: String::new(),
        in_mid_word: false,
        keys: Keys::default(),
        stale: true,
    };
    terminal.open(joined);
    let mut look = interval(LOOK);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut bytes = Vec::with_capacity(4096);
    let end = loop {
        if terminal.stale && terminal.canvas.out.is_empty() {
            terminal.draw();
        }
        let waits = !terminal.canvas.out.is_empty();
        bytes.clear();
        tokio::select! {
            biased;
            signal = signals.next() => break Ok(Err(signal)),
            written = drain(&mut output, &mut terminal.canvas.out), if waits => if written.is_err() {
                break Ok(gone(signals).await.map_or(Ok(End::Left), Err));
            },
            () = redraws.next() => if terminal.redraw().is_err() {
                break Ok(gone(signals).await.map_or(Ok(End::Left), Err));
            },
            count = input.read_buf(&mut bytes) => match count {
                Ok(1..) => match terminal.typed(&bytes) {
                    Ok(None) => {}
                    Ok(Some(end)) => break Ok(Ok(end)),
                    Err(failure) => break Err(failure),
                },
                Ok(0) | Err(_) => break Ok(gone(signals).await.map_or(Ok(End::Left), Err)),
            },
            came = terminal.session.next(), if terminal.canvas.out.len() < WAITING => {
                let end = match came {
                    Some(Came::Event(event)) => terminal.event(&event),
                    Some(Came::Answer(act, answer)) => terminal.answer(act, answer),
                    None => Some(End::Over("the attachment has ended".to_owned())),
                };
                if let Some(end) = end { break Ok(Ok(end)) }
            },
            _ = look.tick() => terminal.session.act(Act::Look),
        }
    };
    let rest = terminal.view.finish();
    terminal.canvas.print(rest);
    terminal.canvas.close();
    // Where nobody reads it any more, nothing is lost.
    let _ = timeout(FAREWELL, drain(&mut output, &mut terminal.canvas.out)).await;
    drop(terminal);
    match end? {
        Err(signal) => Ok(ExitCode::from(128 + signal)),
        Ok(End::Left) => Ok(ExitCode::SUCCESS),
        Ok(End::Over(why)) => Err(Failure::new(FAILED, output::plain(&why))),
    }
}

impl Terminal<'_> {
    fn open(&mut self, joined: &AttachResult) {
        let mut lines = opening(self.args, self.session, joined, &mut self.view);
        lines.push(Line::note("/help lists commands; Ctrl-D detaches and leaves the runtime running"));
        self.canvas.print(lines);
        self.put_aside();
    }

    fn draw(&mut self) {
        let (typed, column) = self.editor.visible(self.canvas.room());
        let alert = self.question().is_some();
        let below = Below { partial: self.view.partial(), status: self.status(), alert, typed, column };
        self.canvas.draw(&below);
        self.stale = false;
    }

    fn redraw(&mut self) -> Result<(), Failure> {
        self.raw.again()?;
        let (screen, rows) = size();
        self.canvas.redraw(screen, rows);
        self.stale = true;
        Ok(())
    }

    /// What waits for an answer of ours.
    fn question(&self) -> Option<&super::asked::Asked> {
        self.session.asked.front().filter(|_| self.session.about.actions.respond)
    }

    fn status(&self) -> String {
        if let Some(asked) = self.question() {
            return asked.choices();
        }
        let session = &*self.session;
        let is_busy = session.running || session.working;
        let doing = if is_busy { "busy" } else { "idle" };
        let who = match &session.driver {
            _ if self.args.observe => "observing".to_owned(),
            Some(_) if session.drives() => "you have control".to_owned(),
            Some(other) => format!("{} has control, {TAKE}", clean::one_line(other)),
            None => "no client has control; typing takes it".to_owned(),
        };
        let stop = if is_busy && session.drives() { " - Ctrl-C interrupts" } else { "" };
        format!("-- {doing} - {who}{stop}")
    }

    fn say(&mut self, line: Line) {
        self.canvas.put_between(vec![line]);
        self.stale = true;
    }

    fn event(&mut self, event: &RuntimeEvent) -> Option<End> {
        self.stale = true;
        match event.kind.as_str() {
            "lagged" => {}
            "disconnected" => return Some(End::Over(event.reason.clone().unwrap_or_default())),
            kind => {
                let lines = self.view.event(kind, &payload(event));
                self.canvas.print(lines);
                self.put_aside();
            }
        }
        None
    }

    /// What was being typed before something was asked is no answer to it; it comes back when all is answered.
    fn put_aside(&mut self) {
        let asking = self.question().map(|asked| asked.id);
        match (std::mem::replace(&mut self.asking, asking), asking) {
            (before, now) if before == now => {}
            (None, _) => {
                self.draft = self.editor.take();
                self.in_mid_word = !self.draft.is_empty();
            }
            // Half an answer to another request.
            (Some(_), Some(_)) => self.in_mid_word = !self.editor.take().is_empty(),
            (Some(_), None) if self.editor.is_empty() => self.editor.set(std::mem::take(&mut self.draft)),
            (Some(_), None) => {}
        }
    }

    fn answer(&mut self, act: Act, answer: Result<Answer, RpcError>) -> Option<End> {
        self.stale = true;
        let note = match (act, answer) {
            (Act::Again, Err(error)) => return Some(End::Over(error.to_string())),
            (Act::Release, Err(error)) => return Some(End::Over(error.to_string())),
            (act @ (Act::Again | Act::Release), Ok(Answer::Joined(joined))) => {
                let word = if matches!(act, Act::Again) { "fell behind; attached again" } else { "released control" };
                self.say(Line::note(word));
                return joined.replay.iter().find_map(|event| self.event(event));
            }
            // It is asked again and again.
            (Act::Look, _) => return None,
            (Act::Take, Ok(_)) => Line::note("you have control"),
            (Act::Interrupt, Ok(Answer::Interrupted(false))) => Line::note("no turn is running"),
            (Act::Say(text) | Act::Steer(text), Err(error)) => {
                if self.editor.is_empty() {
                    self.editor.set(text);
                }
                Line::alert(&live::refusal(&error, TAKE))
            }
            (_, Err(error)) => Line::alert(&live::refusal(&error, TAKE)),
            (Act::Steer(text), Ok(_)) => Line::note(&format!("steered: {text}")),
            (_, Ok(_)) => return None,
        };
        self.say(note);
        None
    }

    fn typed(&mut self, bytes: &[u8]) -> Result<Option<End>, Failure> {
        self.stale = true;
        for key in self.keys.take(bytes) {
            match key {
                Key::Ctrl('d') if self.editor.is_empty() => return Ok(Some(End::Left)),
                Key::Ctrl('c') => self.interrupt(),
                Key::Ctrl('z') => {
                    self.canvas.close();
                    output::write(&String::from_utf8_lossy(&std::mem::take(&mut self.canvas.out)))?;
                    self.raw.stop()?;
                    self.redraw()?;
                }
                Key::Ctrl('l') => self.redraw()?,
                Key::Enter => {
                    if let Some(end) = self.enter() {
                        return Ok(Some(end));
                    }
                }
                key => self.edit(key),
            }
        }
        Ok(None)
    }

    fn edit(&mut self, key: Key) {
        let editor = &mut self.editor;
        match key {
            Key::Text(c) => editor.insert(c.encode_utf8(&mut [0; 4])),
            Key::Paste(text) => editor.insert(&text),
            Key::Backspace | Key::Ctrl('h') => editor.backspace(),
            Key::Delete | Key::Ctrl('d') => editor.delete(),
            Key::Left | Key::Ctrl('b') => editor.left(),
            Key::Right | Key::Ctrl('f') => editor.right(),
            Key::Home | Key::Ctrl('a') => editor.home(),
            Key::End | Key::Ctrl('e') => editor.end(),
            Key::Ctrl('u') => editor.delete_to_start(),
            Key::Ctrl('w') => editor.delete_word(),
            Key::Enter | Key::Up | Key::Down | Key::Ctrl(_) => {}
        }
    }

    fn interrupt(&mut self) {
        if (self.session.running || self.session.working) && !self.args.observe {
            self.session.act(Act::Interrupt);
        } else if self.editor.is_empty() {
            self.say(Line::note("Ctrl-D detaches"));
        } else {
            self.editor.take();
        }
    }

    fn enter(&mut self) -> Option<End> {
        let line = self.editor.take();
        let meant = typed::read(&line, self.question());
        let in_mid_word = std::mem::take(&mut self.in_mid_word);
        match meant {
            Typed::Nothing => {}
            // Fingers do not stop when a question appears: this may be the rest of a word that was being typed.
            Typed::Answer(_) if in_mid_word => {
                self.say(Line::note(
                    "you were typing when the request arrived; type the answer again if it was meant for it",
                ));
            }
            Typed::Quit => return Some(End::Left),
            Typed::Help => {
                let help = typed::help(self.session.about.actions.steer);
                self.canvas.put_between(help.into_iter().map(Line::note).collect());
            }
            Typed::Unanswered if self.session.about.actions.steer => {
                self.say(Line::note("answer the request first, or use /steer TEXT"));
            }
            Typed::Unanswered => self.say(Line::note("answer the request first")),
            Typed::Unknown(word) => {
                self.say(Line::note(&format!("unknown command /{word}; /help lists commands, //TEXT sends /TEXT")));
            }
            _ if self.args.observe => self.say(Line::note("attached with --observe; attach without it to send input")),
            Typed::Say(text) if !self.session.running => self.session.act(Act::Say(text)),
            Typed::Say(text) | Typed::Steer(text) if self.session.about.actions.steer => {
                self.session.act(Act::Steer(text));
            }
            Typed::Say(text) | Typed::Steer(text) => {
                self.editor.set(text);
                self.say(Line::note(
                    "this runtime does not support steering; wait for the end of the turn, or interrupt it with Ctrl-C",
                ));
            }
            Typed::Answer(response) => self.session.act(Act::Respond(response)),
            Typed::Take => self.session.act(Act::Take),
            Typed::Release => self.session.act(Act::Release),
        }
        None
    }
}
