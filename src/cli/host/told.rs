//! What goes on, for the person before the terminal: short lines, which wait for nobody.

use crate::cli::clean::one_line;
use crate::cli::output::note;
use crate::cli::table::{Give, fit};
use crate::host::{Host, Piece};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

/// Lines that wait for a terminal that does not take them; what comes then is not told.
const WAITING: usize = 256;
/// How long the last ones are waited for.
const LAST: Duration = Duration::from_secs(1);

/// Says lines on standard error, from a thread of its own: a terminal that is stopped stops no runtime.
pub(super) struct Told {
    lines: SyncSender<String>,
    written: Receiver<()>,
}

impl Told {
    pub(super) fn new() -> Self {
        let (lines, to_write) = sync_channel::<String>(WAITING);
        let (done, written) = sync_channel(1);
        std::thread::spawn(move || {
            to_write.into_iter().for_each(|line| note(&line));
            let _ = done.send(());
        });
        Self { lines, written }
    }

    pub(super) fn say(&self, line: &str) {
        // A person who reads nothing misses nothing that is not to be found by attaching.
        let _ = self.lines.try_send(line.to_owned());
    }

    /// Says what goes on at a host.
    pub(super) async fn listen(&self, host: &Host) -> Infallible {
        let (mut news, mut people) = (host.news(), People::default());
        while let Some(piece) = news.next().await {
            match piece {
                Piece::Event { kind, payload } => event(&kind, &payload).iter().for_each(|line| self.say(line)),
                Piece::People { observers, controller } => {
                    people.now(observers, controller).iter().for_each(|line| self.say(line));
                }
            }
        }
        std::future::pending().await
    }

    /// Waits for the last lines, for a while.
    pub(super) fn close(self) {
        let Self { lines, written } = self;
        drop(lines);
        let _ = written.recv_timeout(LAST);
    }
}

/// Columns of a line, beyond which it is cut.
const WIDTH: usize = 100;

/// An event as a line, if it is worth one.
fn event(kind: &str, payload: &Map<String, Value>) -> Option<String> {
    let text = |name: &str| payload.get(name).and_then(Value::as_str).map(one_line).unwrap_or_default();
    let request = payload.get("request");
    let line = match kind {
        "user_message" => format!("> {}", text("text")),
        "request" => {
            let tool = request.and_then(|request| request.pointer("/payload/tool")?.as_str()).map(one_line);
            format!("? approval requested: {}", tool.unwrap_or_default())
        }
        "request_resolved" => {
            let decision = payload.get("response").and_then(|response| response.get("decision")?.as_str());
            format!("-- decided: {}", decision.unwrap_or_default().replace('_', " "))
        }
        "turn_succeeded" => "-- turn finished".to_owned(),
        "turn_interrupted" => "-- turn interrupted".to_owned(),
        "turn_failed" => format!("-- turn failed: {}", text("message")),
        _ => return None,
    };
    Some(fit(&line, WIDTH, Give::End))
}

/// Who is there, as it was said last.
#[derive(Default)]
struct People {
    observers: BTreeSet<String>,
    controller: Option<String>,
}

impl People {
    /// Says what is another now.
    fn now(&mut self, observers: BTreeSet<String>, controller: Option<String>) -> Vec<String> {
        let joined = observers.difference(&self.observers).map(|name| format!("-- {name} attached"));
        let left = self.observers.difference(&observers).map(|name| format!("-- {name} detached"));
        let mut lines: Vec<String> = joined.chain(left).collect();
        if controller != self.controller {
            lines.push(match &controller {
                Some(name) => format!("-- {name} has control"),
                None => "-- no client has control".to_owned(),
            });
        }
        *self = Self { observers, controller };
        lines
    }
}
