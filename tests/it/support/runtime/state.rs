//! What a runtime's threads share: one state behind one lock, and one condition on which all of them wait.

use super::bad::Rule;
use super::lease::Leases;
use super::options::{Flavour, Options};
use super::ring::Ring;
use super::script::{Outcome, Request, Turn};
use super::stream::Stream;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Which connection it came over, counted from 1.
    pub connection: u64,
    /// Method and target, without what follows `?`.
    pub line: String,
    /// The method of the envelope, without `frontend.v2.`.
    pub rpc: Option<String>,
    pub client: Option<String>,
    pub permissions: Option<String>,
    /// Whether an Authorization header came.
    pub authorization: bool,
    /// All headers but Authorization, their names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

pub struct State {
    pub leases: Leases,
    pub ring: Ring,
    /// What the agent has before it.
    pub history: Vec<Value>,
    /// What an attaching client is shown of it: as it was at the end of the last turn.
    pub snapshot: Vec<Value>,
    pub turn: Option<Turn>,
    pub turns: u64,
    pub outcomes: HashMap<u64, Outcome>,
    pub requests: BTreeMap<u64, Request>,
    pub last_request: u64,
    pub streams: BTreeMap<u64, Stream>,
    pub sockets: BTreeMap<u64, TcpStream>,
    pub connections: u64,
    pub seen: Vec<Seen>,
    pub rules: Vec<Rule>,
    pub scripts: Vec<(String, Vec<super::Step>)>,
    pub echoes_token: bool,
    /// Where threads are held, and which of these places are open.
    pub held: BTreeSet<String>,
    pub released: BTreeSet<String>,
    /// How many bytes slow answers may still write.
    pub allowance: u64,
    /// How many bytes an endless or oversize answer has written.
    pub excess: u64,
    pub is_busy: bool,
    pub is_suspended: bool,
    pub is_ending: bool,
    pub is_stopped: bool,
    pub listener: Option<socket2::Socket>,
    pub receipts: Vec<PathBuf>,
    started_ms: u64,
    advanced_ms: u64,
}

pub struct Shared {
    pub options: Options,
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    pub fn new(options: Options) -> Self {
        let state = State {
            leases: Leases::new(options.lease_ttl_ms),
            ring: Ring::new(options.ring_size),
            history: options.history.clone(),
            snapshot: options.history.clone(),
            turn: None,
            turns: 0,
            outcomes: HashMap::new(),
            requests: BTreeMap::new(),
            last_request: 0,
            streams: BTreeMap::new(),
            sockets: BTreeMap::new(),
            connections: 0,
            seen: vec![],
            rules: vec![],
            scripts: options.scripts.clone(),
            echoes_token: false,
            held: BTreeSet::new(),
            released: BTreeSet::new(),
            allowance: 0,
            excess: 0,
            is_busy: false,
            is_suspended: false,
            is_ending: false,
            is_stopped: false,
            listener: None,
            receipts: vec![],
            started_ms: epoch_ms(),
            advanced_ms: 0,
        };
        Self { options, state: Mutex::new(state), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at the state or changes it, and wakes whoever waits for a change.
    pub fn change<R>(&self, change: impl FnOnce(&mut State) -> R) -> R {
        let result = change(&mut self.lock());
        self.changed.notify_all();
        result
    }

    /// Waits until there is what `look` looks for; `None` once the runtime is stopped.
    pub fn wait<R>(&self, mut look: impl FnMut(&mut State) -> Option<R>) -> Option<R> {
        let mut state = self.lock();
        while !state.is_stopped {
            if let Some(found) = look(&mut state) {
                return Some(found);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        None
    }

    /// The same, for so long.
    pub fn wait_for<R>(&self, time: Duration, mut look: impl FnMut(&mut State) -> Option<R>) -> Option<R> {
        let mut found = None;
        let state = self.lock();
        let look = |state: &mut State| {
            found = look(state);
            found.is_none() && !state.is_stopped
        };
        drop(self.changed.wait_timeout_while(state, time, look));
        found
    }

    /// Holds the thread until the test releases it, or the turn that it plays is interrupted; says whether it goes on.
    pub fn hold(&self, name: &str, is_turn: bool) -> bool {
        self.change(|state| state.held.insert(name.to_owned()));
        let goes_on = self.wait(|state| {
            let is_interrupted = is_turn && state.is_interrupted();
            (is_interrupted || state.released.contains(name)).then_some(!is_interrupted)
        });
        self.change(|state| state.held.remove(name));
        goes_on == Some(true)
    }

    pub fn now_ms(&self, state: &State) -> u64 {
        let base = if self.options.manual_clock { state.started_ms } else { epoch_ms() };
        base + state.advanced_ms
    }

    pub fn advance(&self, ms: u64) {
        self.change(|state| state.advanced_ms += ms);
    }

    /// Numbers an event, keeps it, and sends it to who listens.
    pub fn publish(&self, state: &mut State, kind: &str, members: Value) {
        let mut payload = serde_json::json!({ "type": kind });
        if let (Value::Object(payload), Value::Object(members)) = (&mut payload, members) {
            payload.extend(members);
        }
        let event = state.ring.push(kind, payload);
        for stream in state.streams.values_mut() {
            stream.tell(&event);
        }
    }

    pub fn is_main(&self) -> bool {
        self.options.flavour == Flavour::Main
    }
}

impl State {
    pub fn is_interrupted(&self) -> bool {
        self.turn.as_ref().is_some_and(|turn| turn.is_interrupted)
    }

    /// How many clients hear of events that may ask for an answer.
    pub fn subscribers(&self) -> usize {
        self.streams.values().filter(|stream| !stream.is_raw).count()
    }
}

pub fn epoch_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("a time after 1970").as_millis() as u64
}
