//! What is new in a stored session since it was looked at last.
//!
//! A follower reads as `load` does, from the newest message back, until it meets the last one that it told; so what it
//! tells is in the very form in which it is loaded. It knows a message by where it lies and by what it says: where the
//! last ones are not found again as they were, the conversation was rewritten, and whoever follows loads it anew.
//!
//! | store | what is read when something came | what is held back | what is loaded anew |
//! |---|---|---|---|
//! | lines (Claude Code, Codex, pi, Grok, OpenClaw's older form, Supercode) | from the end back to the last two told messages, and on to what those read lack: a call's tool, a turn's model | a line without its end; in Claude Code a thought, or a text before a call; in Grok an answer that comes in pieces | another branch, turns taken back, an answer that grew after it was told, a log cut or written anew, Grok's other log |
//! | Gemini's log | what was appended | an answer that says nothing yet | any message written down anew, dropped or replaced |
//! | Gemini's one record | all of it, as it is written | while it is half written | any message changed |
//! | databases (OpenCode, Goose, Hermes) | the last rows, and how many there are | in OpenCode an answer that is not completed | a change among the last rows; rows that went or came before them |
//! | OpenClaw's database | the last rows of the current branch | | another branch |
//! | files of old programs (OpenCode, Goose) | the last messages; Goose's file whole | | a change among them |
//!
//! What is held back is told all the same when it stood still for [`limits::FOLLOW_HOLD`], or something follows it. More
//! than [`limits::FOLLOW_MESSAGES`] or [`limits::FOLLOW_BYTES`] at once are loaded anew. Not noticed is a change in
//! place of what lies before the messages that are compared: nobody's program does that to a log.

use super::{PageRequest, Progress, ReadError, Root, Session, Store};
use crate::limits;
use crate::platform::files::Stamp;
use crate::protocol::Message;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The place behind all that a session holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct End {
    /// The cursor that leads to all messages before it.
    pub cursor: String,
    /// How many messages these are, where rows between others can vanish.
    pub count: Option<u64>,
}

/// Reads a session again and again. What it keeps between two readings is its own affair.
pub trait Tail: Send {
    /// The place behind what there is now. What is still being written does not count.
    fn end(&mut self, session: &Session, progress: &dyn Progress) -> Result<End, ReadError>;

    /// See [`Store::load`].
    fn page(&mut self, roots: &[Root], session: &Session, request: &PageRequest<'_>) -> Result<super::Page, ReadError>;
}

/// A store that keeps nothing between two readings.
struct Plain(&'static dyn Store);

impl Tail for Plain {
    fn end(&mut self, session: &Session, progress: &dyn Progress) -> Result<End, ReadError> {
        self.0.end(session, progress)
    }

    fn page(&mut self, roots: &[Root], session: &Session, request: &PageRequest<'_>) -> Result<super::Page, ReadError> {
        self.0.load(roots, session, request)
    }
}

/// What happened to a session.
#[derive(Debug)]
pub enum Followed {
    /// Nothing that could be told.
    Nothing,
    /// These messages came, in time order.
    Appended(Vec<Message>),
    /// What was told does not stand any more, or too much came at once. What comes next follows on the messages that
    /// this cursor leads to; none where there is none.
    Rewritten(Option<String>),
    /// It is not where it was.
    Removed,
    /// It cannot be read. Told once, until it can be.
    Trouble(ReadError),
}

/// A message that was told.
#[derive(Clone, PartialEq, Eq)]
struct Told {
    place: String,
    digest: blake3::Hash,
}

/// A message that was read.
struct Fresh {
    told: Told,
    bytes: usize,
    message: Message,
}

/// Follows one session.
pub struct Follower {
    store: &'static dyn Store,
    tail: Box<dyn Tail>,
    session: Session,
    own_only: bool,
    /// The state of its files when they were read last; `None` where they must be read again whatever it is.
    seen: Option<Vec<Option<Stamp>>>,
    /// The newest messages that were told, the newest last.
    told: VecDeque<Told>,
    /// Whether these are all that were told.
    whole: bool,
    count: Option<u64>,
    gone: bool,
    trouble: Option<&'static str>,
    /// A newest message that is not finished, and since when it stands like this.
    held: Option<(Told, Instant)>,
    /// How long such a message is held back.
    hold: Duration,
    busy: bool,
    /// How large its files were when they were read last.
    size: u64,
    /// The state of files that were cut, and since when they stand like this: their program may be rewriting them.
    cut: Option<(Vec<Option<Stamp>>, Instant)>,
    /// How long that is waited for.
    settles: Duration,
}

/// What was found of the newest messages.
struct Found {
    end: End,
    /// The newest first.
    fresh: Vec<Fresh>,
    /// Whether there is nothing before them.
    whole: bool,
    /// How many of them were not told, where the others are as they were.
    new: Option<usize>,
    unfinished: bool,
}

impl Follower {
    /// Begins to follow a session behind what it holds now; answers the cursor that leads to that, `None` where that is
    /// nothing. `own_only` as in [`PageRequest`].
    pub fn begin(
        store: &'static dyn Store,
        roots: &[Root],
        session: Session,
        own_only: bool,
        progress: &dyn Progress,
    ) -> Result<(Self, Option<String>), ReadError> {
        let mut follower = Self {
            store,
            tail: store.tail().unwrap_or_else(|| Box::new(Plain(store))),
            session,
            own_only,
            seen: None,
            told: VecDeque::new(),
            whole: false,
            count: None,
            gone: false,
            trouble: None,
            held: None,
            hold: limits::FOLLOW_HOLD,
            busy: false,
            size: 0,
            cut: None,
            settles: limits::REWRITE_SETTLES,
        };
        let stamps = store.stamps(&follower.session);
        let cursor = follower.restart(roots, progress)?;
        follower.size = size(&stamps);
        follower.note(stamps);
        Ok((follower, cursor))
    }

    /// The session as it was when it was found.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// When it should be read even if nothing tells that anything changed: a message is held back, or its program kept
    /// the store to itself.
    pub fn due(&self) -> Option<Duration> {
        let busy = self.busy.then_some(limits::FOLLOW_AGAIN);
        let held = self.held.as_ref().map(|(_, since)| self.hold.saturating_sub(since.elapsed()));
        let cut = self.cut.as_ref().map(|(_, since)| self.settles.saturating_sub(since.elapsed()));
        busy.into_iter().chain(held).chain(cut).min()
    }

    /// Returns what is new. If nothing is, it only reads the files' timestamps.
    ///
    /// # Errors
    /// Only [`ReadError::Cancelled`]; every other failure is reported as [`Followed::Trouble`].
    pub fn read(&mut self, roots: &[Root], progress: &dyn Progress) -> Result<Followed, ReadError> {
        let stamps = self.store.stamps(&self.session);
        if self.seen.as_ref() == Some(&stamps) && self.due() != Some(Duration::ZERO) {
            return Ok(Followed::Nothing);
        }
        self.seen = None;
        self.busy = false;
        let missing = !stamps.is_empty() && stamps.iter().all(Option::is_none);
        let outcome = if missing {
            Err(ReadError::Vanished)
        } else if self.gone {
            self.restart(roots, progress).map(Followed::Rewritten)
        } else {
            self.look(roots, &stamps, progress)
        };
        match outcome {
            Ok(followed) => {
                (self.gone, self.trouble) = (false, None);
                if self.cut.is_none() {
                    self.size = size(&stamps);
                }
                self.note(stamps);
                Ok(followed)
            }
            Err(ReadError::Cancelled) => Err(ReadError::Cancelled),
            Err(ReadError::Busy(_)) => {
                self.busy = true;
                Ok(Followed::Nothing)
            }
            Err(ReadError::Vanished) => {
                self.held = None;
                self.trouble = None;
                Ok(if std::mem::replace(&mut self.gone, true) { Followed::Nothing } else { Followed::Removed })
            }
            Err(skip) if self.trouble == Some(skip.reason()) => Ok(Followed::Nothing),
            Err(skip) => {
                self.trouble = Some(skip.reason());
                Ok(Followed::Trouble(skip))
            }
        }
    }

    /// Goes on with the same session as it lies elsewhere now, or with another share of it.
    pub fn move_to(
        &mut self,
        roots: &[Root],
        session: Session,
        own_only: bool,
        progress: &dyn Progress,
    ) -> Result<Followed, ReadError> {
        if self.own_only == own_only && self.session.location == session.location {
            self.session = session;
            return self.read(roots, progress);
        }
        self.tail = self.store.tail().unwrap_or_else(|| Box::new(Plain(self.store)));
        (self.session, self.own_only, self.gone, self.seen) = (session, own_only, true, None);
        self.read(roots, progress)
    }

    /// Takes note of the state that the files had before they were read, unless another change may have left them the
    /// same times.
    fn note(&mut self, stamps: Vec<Option<Stamp>>) {
        let settled = !stamps.is_empty() && stamps.iter().flatten().all(Stamp::is_settled);
        self.seen = settled.then_some(stamps);
    }

    fn look(
        &mut self,
        roots: &[Root],
        stamps: &[Option<Stamp>],
        progress: &dyn Progress,
    ) -> Result<Followed, ReadError> {
        let found = self.find(roots, progress, true)?;
        let Some(mut new) = found.new.filter(|new| self.counts(&found, *new)) else {
            if self.is_being_rewritten(stamps) {
                return Ok(Followed::Nothing);
            }
            return Ok(Followed::Rewritten(self.anchor(found)));
        };
        self.cut = None;
        let mut fresh = found.fresh;
        fresh.truncate(new);
        let newest = fresh.first().map(|fresh| fresh.told.clone());
        let held = newest.filter(|newest| found.unfinished && !self.has_stood(newest));
        if held.is_some() {
            fresh.remove(0);
            new -= 1;
        } else {
            self.held = None;
        }
        let kept = u64::from(held.is_some());
        self.count = found.end.count.map(|count| count.saturating_sub(kept));
        if new == 0 {
            return Ok(Followed::Nothing);
        }
        fresh.reverse();
        self.told.extend(fresh.iter().map(|fresh| fresh.told.clone()));
        self.shorten();
        Ok(Followed::Appended(fresh.into_iter().map(|fresh| fresh.message).collect()))
    }

    /// Whether the files were cut a moment ago. Supercode 0.5.150 cuts its transcript with each turn and writes all of
    /// it again, mostly as it was.
    fn is_being_rewritten(&mut self, stamps: &[Option<Stamp>]) -> bool {
        let now = self.store.stamps(&self.session);
        if size(stamps).min(size(&now)) >= self.size {
            self.cut = None;
            return false;
        }
        let since = match &self.cut {
            Some((known, since)) if *known == now => *since,
            _ => Instant::now(),
        };
        self.cut = Some((now, since));
        since.elapsed() < self.settles
    }

    /// Whether an unfinished message stood so long as it is that it is told all the same.
    fn has_stood(&mut self, newest: &Told) -> bool {
        let now = Instant::now();
        let since = match &self.held {
            Some((held, since)) if held == newest => *since,
            _ => now,
        };
        self.held = Some((newest.clone(), since));
        now.duration_since(since) >= self.hold
    }

    /// Whether as many messages more are there as came behind the told ones.
    fn counts(&self, found: &Found, new: usize) -> bool {
        match (self.count, found.end.count) {
            (Some(before), Some(now)) => before + new as u64 == now,
            _ => true,
        }
    }

    /// Begins anew behind what there is now.
    fn restart(&mut self, roots: &[Root], progress: &dyn Progress) -> Result<Option<String>, ReadError> {
        let found = self.find(roots, progress, false)?;
        Ok(self.anchor(found))
    }

    fn anchor(&mut self, found: Found) -> Option<String> {
        self.whole = found.whole;
        self.told = found.fresh.into_iter().rev().map(|fresh| fresh.told).collect();
        self.shorten();
        (self.held, self.cut) = (None, None);
        self.count = found.end.count;
        (!self.told.is_empty()).then_some(found.end.cursor)
    }

    fn shorten(&mut self) {
        let surplus = self.told.len().saturating_sub(limits::FOLLOW_KEPT);
        self.told.drain(..surplus);
        self.whole &= surplus == 0;
    }

    /// Reads from the newest message back: to `meet` those that were told, or until there is more than can be told.
    fn find(&mut self, roots: &[Root], progress: &dyn Progress, meet: bool) -> Result<Found, ReadError> {
        let new = self.told.is_empty().then_some(0);
        let nothing = |end| Found { end, fresh: Vec::new(), whole: true, new, unfinished: false };
        let end = match self.tail.end(&self.session, progress) {
            Ok(end) => end,
            Err(ReadError::Empty | ReadError::NoMessages) => return Ok(nothing(End::default())),
            Err(skip) => return Err(skip),
        };
        let depth = self.store.unsettled(&self.session);
        let (mut fresh, mut bytes, mut unfinished): (Vec<Fresh>, usize, bool) = (Vec::new(), 0, false);
        let (mut cursor, mut limit) = (end.cursor.clone(), depth + limits::FOLLOW_FIRST);
        loop {
            let request = PageRequest { cursor: Some(&cursor), limit, own_only: self.own_only, progress };
            let page = match self.tail.page(roots, &self.session, &request) {
                // The place was of a state that is none any more.
                Err(ReadError::Cursor) => return Err(ReadError::Busy("it changed while it was read".to_owned())),
                Err(ReadError::Empty | ReadError::NoMessages) if fresh.is_empty() => return Ok(nothing(end)),
                page => page?,
            };
            unfinished |= fresh.is_empty() && page.unfinished;
            for (message, place) in page.messages.into_iter().zip(page.places).rev() {
                let read = Fresh::new(message, place);
                bytes += read.bytes;
                fresh.push(read);
            }
            let met = self.met(&fresh, page.next.is_none());
            let enough = match met {
                Met::All | Met::Changed => true,
                Met::Some(count) => count >= depth || bytes >= limits::FOLLOW_BYTES,
                Met::None => fresh.len() >= limits::FOLLOW_MESSAGES || bytes >= limits::FOLLOW_BYTES,
            };
            match page.next {
                Some(next) if meet && !enough => (cursor, limit) = (next, limits::MESSAGES_DEFAULT),
                next => {
                    let whole = next.is_none();
                    let new = matches!(met, Met::All | Met::Some(_)).then(|| self.place_of_last(&fresh));
                    return Ok(Found { end, fresh, whole, new, unfinished });
                }
            }
        }
    }

    fn place_of_last(&self, fresh: &[Fresh]) -> usize {
        let last = self.told.back();
        last.and_then(|last| fresh.iter().position(|fresh| fresh.told.place == last.place)).unwrap_or(fresh.len())
    }

    /// How what was read fits to what was told. `whole` tells that there is nothing before it.
    fn met(&self, fresh: &[Fresh], whole: bool) -> Met {
        let at = self.place_of_last(fresh);
        let (read, told) = (fresh.len() - at, self.told.len());
        if read == 0 {
            return if whole && told == 0 { Met::All } else { Met::None };
        }
        let pairs = fresh[at..].iter().zip(self.told.iter().rev());
        if pairs.into_iter().any(|(fresh, told)| fresh.told != *told) {
            return Met::Changed;
        }
        // There is less before than was told, or more.
        if (whole && read < told) || (self.whole && read > told) {
            return Met::Changed;
        }
        if read >= told || whole { Met::All } else { Met::Some(read) }
    }
}

/// How many bytes files have.
fn size(stamps: &[Option<Stamp>]) -> u64 {
    stamps.iter().flatten().map(|stamp| stamp.size).sum()
}

enum Met {
    /// Nothing of what was told.
    None,
    /// So many of the last messages that were told, unchanged.
    Some(usize),
    /// All that is remembered, unchanged.
    All,
    /// Something else than what was told.
    Changed,
}

impl Fresh {
    fn new(message: Message, place: String) -> Self {
        let json = serde_json::to_vec(&message).unwrap_or_default();
        Self { told: Told { place, digest: blake3::hash(&json) }, bytes: json.len(), message }
    }
}

#[cfg(test)]
mod tests;
