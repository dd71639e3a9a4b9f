//! The conversation with the agent, and all who take part in it: one short lock, never held while anything is waited for.

mod asked;
mod news;
mod streams;
mod turns;

use super::agent::{Agent, Ask, Event, Facts, Gone, Told};
use super::approvals::{Approvals, Payload};
use super::credentials::{Credential, Credentials, Grants};
use super::descriptor::{Described, model};
use super::fault::Fault;
use super::feed::{Feed, payload};
use super::leases::Leases;
use super::pieces::Pieces;
use super::{End, Options, Unattended};
use crate::limits;
use crate::protocol::Permission;
use crate::runtime::Scrub;
use crate::runtime::wire::Lease;
pub use news::{News, Piece};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};
pub(super) use streams::Listener;
use streams::Stream;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
pub(super) use turns::Operation;
use turns::Turn;

/// Who asks, and what it may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Caller {
    /// The name by which its leases are kept.
    pub(super) client_id: String,
    /// What it may do.
    pub(super) grants: Grants,
    /// Whether it came with a credential that was made for it.
    pub(super) is_minted: bool,
}

impl Caller {
    /// Refuses who lacks one of these, in their order.
    pub(super) fn must(&self, permissions: &[Permission]) -> Result<(), Fault> {
        let lacking = permissions.iter().find(|permission| !self.grants.has(**permission));
        lacking.map_or(Ok(()), |permission| Err(Fault::lacks(*permission)))
    }
}

/// The conversation.
#[derive(Debug)]
pub(super) struct Conversation {
    state: Mutex<State>,
    clock: Clock,
    runtime_id: String,
    profile: Option<String>,
    unattended: Unattended,
    /// Takes the owner's credential out of what the agent says: it may have read the receipt.
    scrub: Scrub,
    /// Cancelled when the runtime has ended.
    over: CancellationToken,
    /// Told each time that a stream ended.
    left: watch::Sender<()>,
}

#[derive(Debug)]
struct State {
    /// Where the agent is asked; gone with the end of the runtime.
    asks: Option<mpsc::Sender<Ask>>,
    facts: Facts,
    feed: Feed,
    pieces: Pieces,
    leases: Leases,
    approvals: Approvals,
    credentials: Credentials,
    streams: BTreeMap<u64, Stream>,
    last_stream: u64,
    turn: Option<Turn>,
    /// Whether the agent works outside of a turn.
    is_working: bool,
    /// The first prompt, which names a conversation that the agent does not name.
    first_prompt: Option<String>,
    end: Option<End>,
    /// What it did after the last change, and when that began, in epoch milliseconds.
    status: (Status, u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Waiting,
    Busy,
    Idle,
}

impl State {
    fn status(&self) -> Status {
        match (self.approvals.waiting_for(), self.turn.is_some() || self.is_working) {
            (Some(_), _) => Status::Waiting,
            (None, true) => Status::Busy,
            (None, false) => Status::Idle,
        }
    }
}

/// Epoch time that never runs backwards.
#[derive(Debug)]
struct Clock {
    epoch_ms: u64,
    since: Instant,
}

impl Clock {
    fn new() -> Self {
        let epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { epoch_ms: u64::try_from(epoch.as_millis()).unwrap_or_default(), since: Instant::now() }
    }

    fn now_ms(&self) -> u64 {
        let passed = u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.epoch_ms.saturating_add(passed)
    }
}

impl Conversation {
    /// A conversation with an agent, and what it tells: to be given to [`Conversation::listen`].
    pub(super) fn new(agent: Agent, options: Options) -> (Self, mpsc::Receiver<Told>) {
        let Agent { facts, history, asks, told, pid: _ } = agent;
        let scrub = Scrub::new(&options.token);
        let first_prompt = history.iter().find(|event| event.kind == "user_message");
        let first_prompt = first_prompt.and_then(|event| title_of(event.payload.get("text")?.as_str()?));
        let clock = Clock::new();
        let state = State {
            asks: Some(asks),
            facts,
            feed: Feed::new(&history, scrub.clone()),
            pieces: Pieces::new(scrub.clone()),
            leases: Leases::new(options.lease_ttl),
            approvals: Approvals::default(),
            credentials: Credentials::new(&options.token),
            streams: BTreeMap::new(),
            last_stream: 0,
            turn: None,
            is_working: false,
            first_prompt,
            end: None,
            status: (Status::Idle, clock.now_ms()),
        };
        let conversation = Self {
            state: Mutex::new(state),
            clock,
            runtime_id: options.runtime_id,
            profile: options.profile,
            unattended: options.unattended,
            scrub,
            over: CancellationToken::new(),
            left: watch::Sender::new(()),
        };
        (conversation, told)
    }

    /// Takes what the agent tells, until the runtime ends.
    pub(super) async fn listen(self: std::sync::Arc<Self>, mut told: mpsc::Receiver<Told>) {
        loop {
            let next = tokio::select! {
                () = self.over.cancelled() => return,
                next = told.recv() => next,
            };
            match next {
                Some(Told::Event(event)) => self.lock().happened(event, false),
                Some(Told::Outside(event)) => self.lock().happened(event, true),
                Some(Told::Working(is_working)) => self.lock().works(is_working),
                Some(Told::Approval(approval)) => self.asked(approval),
                Some(Told::Elicitation(elicitation)) => self.elicited(elicitation),
                Some(Told::Facts(facts)) => self.lock().learned(*facts),
                Some(Told::TurnEnded(end)) => self.lock().turn_ended(end),
                Some(Told::Gone(gone)) => self.gone(gone),
                None => self.gone(Gone { how: "nothing more is heard of it".to_owned(), stderr: String::new() }),
            }
        }
    }

    /// Ends the runtime, for a client where one asked for it. What was asked is over, and every client is told.
    pub(super) fn close(&self, client: Option<&str>) {
        let by = client.map_or_else(String::new, |client| format!(" by `{client}`"));
        self.lock().finish(End::Closed, &format!("the runtime was closed{by}"));
        self.over.cancel();
    }

    /// Cancelled once the runtime has ended.
    pub(super) fn over(&self) -> &CancellationToken {
        &self.over
    }

    /// What takes the owner's credential out of what is told.
    pub(super) fn scrub(&self) -> &Scrub {
        &self.scrub
    }

    /// Why the runtime ended, if it did.
    pub(super) fn end(&self) -> Option<End> {
        self.lock().end.clone()
    }

    /// What is known of the agent.
    pub(super) fn facts(&self) -> Facts {
        self.lock().facts.clone()
    }

    /// What the runtime says of itself to this caller.
    pub(super) fn describe(&self, caller: &Caller) -> Value {
        self.described(&self.lock()).to(caller.grants)
    }

    /// Joins: everything that there is to know, as JSON. The caller is an observer.
    pub(super) fn attach(&self, caller: &Caller, limit: usize) -> Result<Vec<u8>, Fault> {
        let mut state = self.lock();
        state.leases.observe(&caller.client_id, self.clock.now_ms());
        let mut snapshot = format!("{{\"descriptor\":{},", self.described(&state).to(caller.grants)).into_bytes();
        let written = state.feed.write(&mut snapshot, limit);
        written.map_err(|error| Fault::execution("events", error.to_string()))?;
        snapshot.push(b'}');
        Ok(snapshot)
    }

    /// How the runtime is, in short.
    pub(super) fn status(&self) -> Value {
        let state = self.lock();
        json!({
            "session_id": self.runtime_id,
            "model": model(&state.facts),
            "busy": state.turn.is_some() || state.is_working,
            "shutting_down": state.end.is_some(),
        })
    }

    /// The newest messages.
    pub(super) fn history(&self, limit: usize) -> Value {
        json!({ "messages": self.lock().feed.history(limit) })
    }

    /// What a token stands for.
    pub(super) fn credential(&self, token: &[u8]) -> Option<Credential> {
        self.lock().credentials.find(token)
    }

    /// A client was heard of.
    pub(super) fn touch(&self, client_id: &str) {
        self.lock().leases.touch(client_id, self.clock.now_ms());
    }

    /// Who drives and who looks, after `change`.
    pub(super) fn leases<R>(&self, change: impl FnOnce(&mut Leases, u64) -> Result<R, Fault>) -> Result<Lease, Fault> {
        let now_ms = self.clock.now_ms();
        let leases = &mut self.lock().leases;
        change(leases, now_ms)?;
        Ok(leases.snapshot(now_ms))
    }

    fn described<'a>(&'a self, state: &'a State) -> Described<'a> {
        Described {
            facts: &state.facts,
            title: state.facts.title.as_deref().or(state.first_prompt.as_deref()),
            runtime_id: &self.runtime_id,
            profile: self.profile.as_deref(),
            is_busy: state.turn.is_some(),
            is_working: state.is_working,
            has_ended: state.end.is_some(),
            waiting_for: state.approvals.waiting_for(),
            question: state.approvals.question(),
            since_ms: state.status.1,
            unattended: self.unattended,
        }
    }

    fn gone(&self, gone: Gone) {
        let clean = |text: String| String::from_utf8_lossy(&self.scrub.clean(text.into_bytes())).into_owned();
        let gone = Gone { how: clean(gone.how), stderr: clean(gone.stderr) };
        let mut message = format!("the agent is gone: {}", gone.how);
        if !gone.stderr.is_empty() {
            message = format!("{message}; it last said: {}", gone.stderr);
        }
        self.lock().finish(End::Gone(gone), &message);
        self.over.cancel();
    }

    fn lock(&self) -> Locked<'_> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { turn, leases, .. } = &mut *state;
        if let Some(client) = turn.as_ref().and_then(Turn::submitter) {
            leases.keep(client, self.clock.now_ms());
        }
        Locked { state, unattended: self.unattended, clock: &self.clock }
    }
}

/// The state, and what must hold after each change of it.
struct Locked<'a> {
    state: MutexGuard<'a, State>,
    unattended: Unattended,
    clock: &'a Clock,
}

impl Drop for Locked<'_> {
    /// Records when what it does changed.
    fn drop(&mut self) {
        let status = self.state.status();
        if status != self.state.status.0 {
            self.state.status = (status, self.clock.now_ms());
        }
    }
}

impl std::ops::Deref for Locked<'_> {
    type Target = State;

    fn deref(&self) -> &State {
        &self.state
    }
}

impl std::ops::DerefMut for Locked<'_> {
    fn deref_mut(&mut self) -> &mut State {
        &mut self.state
    }
}

impl Locked<'_> {
    /// Something happened in the conversation, in a turn or outside of one.
    fn happened(&mut self, event: Event, is_outside: bool) {
        let events = self.pieces.take(event, is_outside);
        self.tell_pieces(events);
    }

    /// Every message is at its end: what waited for its next piece is told.
    fn flush(&mut self) {
        let events = self.pieces.flush();
        self.tell_pieces(events);
    }

    fn tell_pieces(&mut self, events: Vec<(Event, bool)>) {
        for (Event { kind, payload }, is_outside) in events {
            if let (Some(turn), "text_delta", false, Some(text)) =
                (&mut self.turn, kind, is_outside, payload.get("text").and_then(Value::as_str))
            {
                turn.answered(text);
            }
            self.tell(kind, payload);
        }
    }

    /// The agent began to work outside of a turn, or is done with that.
    fn works(&mut self, is_working: bool) {
        self.is_working = is_working;
        if !is_working && self.turn.is_none() {
            self.flush();
            self.settle();
            for request in self.approvals.requests() {
                self.feed.keep("request", request);
            }
            self.tell("turn_completed", Map::new());
        }
    }

    /// Tells everybody. Who is left behind by it may have been the last who could approve.
    fn tell(&mut self, kind: &str, members: Payload) {
        self.publish(kind, payload(kind, members));
    }

    fn publish(&mut self, kind: &str, payload: Payload) {
        let all_there = self.feed.publish(kind, payload);
        self.keep_requests();
        if !all_there {
            self.attend();
        }
    }

    /// A request that is still asked must not be gone from what who attaches is told: the history holds none.
    fn keep_requests(&mut self) {
        for id in self.feed.lost_requests() {
            if let Some(request) = self.approvals.request(id) {
                self.feed.keep("request", request);
            }
        }
    }

    fn learned(&mut self, facts: Facts) {
        // A receipt says which conversation this is, so that does not change any more.
        let (harness, session_id) = (self.facts.harness, self.facts.session_id.clone());
        let old = std::mem::replace(&mut self.facts, Facts { harness, session_id, ..facts });
        let new = self.facts.clone();
        if model(&old) != model(&new) {
            let told = json!({ "from": model(&old), "to": model(&new), "reason": "reported by the agent" });
            self.tell("model_changed", members(told));
        }
        if old.mode != new.mode {
            self.tell("mode_changed", members(json!({ "from": old.mode, "to": new.mode })));
        }
        if old.title != new.title {
            self.tell("title_changed", members(json!({ "title": new.title })));
        }
        if (&old.commands, &old.models, &old.modes) != (&new.commands, &new.models, &new.modes) {
            self.tell("operations_changed", Map::new());
        }
    }

    /// The runtime is over: its turn, what is asked, its streams.
    fn finish(&mut self, end: End, message: &str) {
        if self.end.is_some() {
            return;
        }
        let turn = match &end {
            End::Closed => super::agent::TurnEnd::Interrupted,
            End::Gone(_) => super::agent::TurnEnd::Failed(message.to_owned()),
        };
        self.asks = None;
        self.flush();
        self.withdraw_all("runtime_ended");
        self.turn_ended(turn);
        self.is_working = false;
        self.end = Some(end);
        self.tell("runtime_disconnected", members(json!({ "message": message })));
        self.feed.end();
    }
}

/// A prompt as a title: in one line, without control characters. `None` where nothing is left.
fn title_of(prompt: &str) -> Option<String> {
    let clean: String =
        prompt.chars().take(limits::HOST_TITLE_OF).map(|c| if c.is_control() { ' ' } else { c }).collect();
    let words: Vec<&str> = clean.split_whitespace().collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// The members of an object.
fn members(object: Value) -> Payload {
    match object {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}
