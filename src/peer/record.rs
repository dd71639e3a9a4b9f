//! One record of the process registry: what it says, as far as it can be believed.

use super::courier::is_courier;
use super::selector;
use crate::limits;
use crate::protocol::{ActivityStatus, Peer, PeerKind};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::io;
use std::path::Path;

/// A clock may be off by this much.
const A_DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// A record, as its program wrote it. Of a key that stands twice the last counts.
pub(super) struct Record(Map<String, Value>);

impl Record {
    /// Reads a record, a second time where the first text was none: it may have been met in the middle of a write.
    pub(super) fn read(bytes: impl Fn() -> io::Result<Vec<u8>>) -> io::Result<Self> {
        let attempt = || Self::parse(&bytes()?);
        attempt().or_else(|_| attempt())
    }

    /// Reads the first JSON value and ignores what follows: the program writes a new text over the older one and cuts
    /// it to length afterwards, so the tail of the older one can be met. Invalid UTF-8 is replaced, as the program
    /// itself does.
    fn parse(bytes: &[u8]) -> io::Result<Self> {
        if bytes.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let text = String::from_utf8_lossy(bytes);
        // Where it went wrong, and not what stands there: that is somebody's text.
        let unreadable = |error: serde_json::Error| {
            let place = format!("no JSON object, seen at line {} column {}", error.line(), error.column());
            io::Error::new(io::ErrorKind::InvalidData, place)
        };
        Map::deserialize(&mut serde_json::Deserializer::from_str(&text)).map(Self).map_err(unreadable)
    }

    /// Whether the record names another process than its file does. No pid at all is no contradiction.
    pub(super) fn contradicts(&self, pid: i32) -> bool {
        match self.0.get("pid") {
            None | Some(Value::Null) => false,
            Some(Value::Number(number)) => number.as_f64() != Some(f64::from(pid)),
            Some(Value::String(text)) => text.parse() != Ok(pid),
            Some(_) => true,
        }
    }

    /// Why nobody can be talking to this process now, though it lives.
    pub(super) fn set_aside(&self) -> Option<&'static str> {
        if self.0.get("parkedJobId").is_some_and(|job| !job.is_null()) {
            // The job has a record of its own, under the same name.
            return Some("its window is parked; the conversation goes on in a background job");
        }
        let spare = self.0.get("spare") == Some(&Value::Bool(true));
        spare.then_some("it was started ahead of its use, and has no conversation yet")
    }

    /// Whether it is a courier's.
    pub(super) fn is_courier(&self) -> bool {
        is_courier(self.text("name"), self.text("cwd"), self.text("entrypoint"))
    }

    /// When the process started, as `platform::process::start_mark` spells it.
    pub(super) fn start_mark(&self) -> Option<String> {
        match self.0.get("procStart")? {
            Value::String(mark) => Some(mark.clone()),
            Value::Number(ticks) => Some(ticks.to_string()),
            _ => None,
        }
    }

    /// Where its pid means something.
    pub(super) fn pid_domain(&self) -> Option<&str> {
        self.text("pidDomain")
    }

    /// When the session started, in epoch milliseconds.
    pub(super) fn started_at_ms(&self, now_ms: i64) -> Option<i64> {
        self.time("startedAt", now_ms)
    }

    /// When the status began, in epoch milliseconds.
    pub(super) fn since_ms(&self, now_ms: i64) -> Option<i64> {
        self.time("statusUpdatedAt", now_ms)
    }

    /// The session that the record tells of, or why it tells of none. Whether its socket answers is not known here.
    pub(super) fn peer(&self, pid: i32, home: &Path, now_ms: i64) -> Result<Peer, &'static str> {
        let name = self.shown("name").ok_or("it has no name")?;
        let session_id = self.exact("sessionId").ok_or("it has no session id")?;
        let status = self.status();
        let waiting = status == Some(ActivityStatus::Waiting);
        Ok(Peer {
            pid,
            session_id,
            name,
            home: home.to_string_lossy().into_owned(),
            cwd: self.exact("cwd").filter(|cwd| Path::new(cwd).is_absolute()),
            status,
            stopped: None,
            waiting_for: self.shown("waitingFor").filter(|_| waiting),
            kind: self.kind(),
            entrypoint: self.shown("entrypoint"),
            updated_at_ms: self.time("updatedAt", now_ms),
            version: self.shown("version"),
            tmux: self.shown("tmux"),
            socket_path: self.exact("messagingSocketPath"),
            addressable: false,
            endpoint: None,
        })
    }

    fn status(&self) -> Option<ActivityStatus> {
        match self.text("status")? {
            "busy" => Some(ActivityStatus::Busy),
            // The turn is over; a shell that it left behind needs nobody.
            "idle" | "shell" => Some(ActivityStatus::Idle),
            "waiting" => Some(ActivityStatus::Waiting),
            _ => None,
        }
    }

    fn kind(&self) -> Option<PeerKind> {
        match self.text("kind")? {
            "interactive" => Some(PeerKind::Interactive),
            "bg" => Some(PeerKind::Background),
            _ => None,
        }
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.as_str()
    }

    /// A text that must stay as it is to mean anything: left out where it cannot be shown.
    fn exact(&self, key: &str) -> Option<String> {
        let text = self.text(key)?;
        (!text.trim().is_empty() && !text.contains(char::is_control)).then(|| text.to_owned())
    }

    /// A text for people: whatever could act on their terminal or reorder their line is taken out.
    fn shown(&self, key: &str) -> Option<String> {
        let bounded: String = plain(self.text(key)?).trim().chars().take(limits::PEER_NAME_CHARS).collect();
        (!bounded.is_empty()).then_some(bounded)
    }

    fn time(&self, key: &str, now_ms: i64) -> Option<i64> {
        self.0.get(key)?.as_i64().filter(|time| (0..=now_ms.saturating_add(A_DAY_MS)).contains(time))
    }
}

/// Says that a message can reach the session, and how to name it.
pub(super) fn make_addressable(peer: &mut Peer) {
    peer.endpoint = peer.socket_path.as_deref().map(|socket| selector::endpoint(peer.pid, &peer.name, socket));
    peer.addressable = peer.endpoint.is_some();
}

/// A text without what could act on a terminal or reorder its line.
pub(super) fn plain(text: &str) -> String {
    text.chars().filter(|c| !is_bidi_control(*c)).map(blank_if_control).collect()
}

fn blank_if_control(c: char) -> char {
    if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') { ' ' } else { c }
}

fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn a_record_met_in_the_middle_of_a_write_is_read_again_once() {
        let read = |texts: &[&'static str]| {
            let texts = RefCell::new(texts.iter());
            Record::read(|| {
                texts.borrow_mut().next().map(|text| text.as_bytes().to_vec()).ok_or(io::Error::other("end"))
            })
        };
        assert!(read(&[r#"{"pid":7,"na"#, r#"{"pid":7}"#]).is_ok_and(|record| !record.contradicts(7)));
        assert!(read(&["", "{}"]).is_ok());
        assert!(read(&["{}"]).is_ok());
        assert_eq!(read(&["", "{", "{}"]).err().unwrap().kind(), io::ErrorKind::InvalidData);
        assert_eq!(read(&["{", "", "{}"]).err().unwrap().kind(), io::ErrorKind::UnexpectedEof);
    }
}
