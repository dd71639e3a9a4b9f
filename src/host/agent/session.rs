//! One session of an agent: what it says is taken in, one message after the other, and what it asks is answered.

use super::answer::Answer;
use super::facts::{Known, STATE, Switch};
use super::files::Queue;
use super::history::History;
use super::message::{self, Message};
use super::outside::{self, Outside};
use super::permission::Undecided;
use super::process::Process;
use super::terminal::Terminals;
use super::tools::Tools;
use super::translate::{self, When};
use super::waits::Waits;
use super::words::short;
use super::{Ask, Facts, Gone, Options, Prompt, Told, TurnEnd, Usage, prompt};
use crate::limits;
use crate::platform::within::Root;
use agent_client_protocol_schema::v1;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// What a request of ours is for.
enum Waiting {
    /// A step on the way to being ready.
    Step,
    /// The turn.
    Turn,
    /// Something is switched.
    Switched {
        of: fn(&mut Facts) -> &mut Option<String>,
        to: String,
        reply: oneshot::Sender<Result<(), String>>,
        until: Instant,
    },
}

/// The turn that runs.
pub(super) struct Turn {
    /// The request that it is.
    request: u64,
    /// What it asked of a person is taken back when it ends.
    pub ended: CancellationToken,
    /// When it is given up, once it was cancelled.
    until: Option<Instant>,
    /// What its messages say that it used.
    used: Usage,
}

/// A session, or what is to become one.
pub(super) struct Session {
    pub process: Process,
    pub known: Known,
    pub options: Options,
    /// What was said before, while it is loaded.
    pub history: Option<History>,
    /// What is to be told, in order.
    pub told: VecDeque<Told>,
    /// The answer to the step that was taken.
    pub stepped: Option<Answer>,
    /// Whether it says how one logs in.
    pub can_log_in: bool,
    /// The facts that were told last.
    facts: Facts,
    pub(super) is_ready: bool,
    requests: u64,
    waiting: HashMap<u64, Waiting>,
    pub(super) turn: Option<Turn>,
    pub(super) outside: Outside,
    /// Calls outside of a turn that wait for a person, by the agent's request.
    pub(super) undecided: HashMap<String, Undecided>,
    pub(super) tools: Tools,
    pub(super) terminals: Terminals,
    pub(super) files: Queue,
    /// The agent's requests that wait for something.
    pub(super) waits: Waits,
}

impl Session {
    pub(super) fn new(process: Process, options: Options, root: Root) -> Self {
        let root = Arc::new(root);
        Self {
            process,
            known: Known::default(),
            terminals: Terminals::new(Arc::clone(&root)),
            files: Queue::new(root),
            options,
            history: None,
            told: VecDeque::new(),
            stepped: None,
            can_log_in: false,
            facts: Facts::default(),
            is_ready: false,
            requests: 0,
            waiting: HashMap::new(),
            turn: None,
            outside: Outside::default(),
            undecided: HashMap::new(),
            tools: Tools::default(),
            waits: Waits::default(),
        }
    }

    /// From now on questions are asked and changes told. Answers what is known now.
    pub(super) fn ready(&mut self) -> Facts {
        self.is_ready = true;
        self.facts = self.known.facts.clone();
        self.facts.clone()
    }

    fn request(&mut self, method: &str, params: &impl Serialize, waiting: Waiting) -> u64 {
        self.requests += 1;
        self.process.send(&message::request(self.requests, method, params));
        self.waiting.insert(self.requests, waiting);
        self.requests
    }

    /// Asks for a step on the way to being ready; its answer will stand in `stepped`.
    pub(super) fn step(&mut self, method: &str, params: &impl Serialize) {
        self.stepped = None;
        self.request(method, params, Waiting::Step);
    }

    /// Goes on until something happened: a message, an answer that is ready, a time that is up.
    pub(super) async fn go_on(&mut self) -> Result<(), Gone> {
        let until = self.until();
        tokio::select! {
            message = self.process.next(self.told.is_empty() || !self.is_ready) => {
                if let Some(message) = message? {
                    self.take(message);
                }
            }
            (id, answer) = self.files.done() => self.answer(&id, answer),
            Some((id, answer)) = self.waits.done() => self.waited(&id, answer),
            () = tokio::time::sleep_until(until.unwrap_or_else(Instant::now)), if until.is_some() => self.give_up(),
        }
        if self.files.waits() && self.process.has_room() {
            self.files.begin();
        }
        Ok(())
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Request { id, method, params } => self.requested(id, &method, params),
            Message::Notification { method, params } => self.notified(&method, &params),
            Message::Answer { id, result } => self.answered(&id, result),
            Message::Nonsense { lines, bytes, first } if self.is_ready => {
                let sent = json!({ "lines": lines, "bytes": bytes, "first": first });
                self.tell(translate::native("lines that are no messages", &sent));
            }
            // A banner is nobody's news.
            Message::Nonsense { .. } => {}
            Message::Unfit { id, error, what } => {
                self.answer(&id, Err(error));
                self.tell(translate::native(&what, &Value::Null));
            }
        }
        self.tell_facts();
    }

    fn tell_facts(&mut self) {
        if self.is_ready && self.facts != self.known.facts {
            self.facts = self.known.facts.clone();
            self.told.push_back(Told::Facts(Box::new(self.facts.clone())));
        }
    }

    fn when(&self) -> When {
        match (&self.history, &self.turn) {
            (Some(_), _) => When::History,
            (None, Some(_)) => When::Turn,
            (None, None) => When::Between,
        }
    }

    pub(super) fn tell(&mut self, event: super::Event) {
        let is_state = event.payload.get("kind").and_then(Value::as_str).is_some_and(|kind| STATE.contains(&kind));
        match &mut self.history {
            Some(history) if !is_state => history.push(event),
            // Nobody hears it yet, and it is not much that is said before there is a session.
            _ if !self.is_ready && self.told.len() == limits::AGENT_TOLD => {}
            _ => self.happened(event),
        }
    }

    fn happened(&mut self, event: super::Event) {
        let in_turn = self.turn.is_some();
        if self.is_ready && self.outside.note(&event, in_turn, Instant::now()) {
            self.told.push_back(Told::Working(true));
        }
        self.told.push_back(if in_turn { Told::Event(event) } else { Told::Outside(event) });
    }

    fn works_no_more(&mut self) {
        if self.outside.end() {
            self.told.push_back(Told::Working(false));
        }
    }

    /// Whether a message is about this session, as far as that is known.
    pub(super) fn is_ours(&self, params: &Value) -> bool {
        let ours = &self.known.facts.session_id;
        // A form may be about one of our own requests instead.
        let of_request = || params.get("sessionId").is_none() && params.get("requestId").is_some();
        ours.is_empty() || params.get("sessionId").and_then(Value::as_str) == Some(ours) || of_request()
    }

    fn notified(&mut self, method: &str, params: &Value) {
        match (method, params.get("update")) {
            ("$/cancel_request", _) => self.take_back(params.get("requestId").unwrap_or(&Value::Null)),
            ("session/update", Some(update)) if self.is_ours(params) => {
                self.known.update(update);
                if let Some(turn) = &mut self.turn {
                    turn.used.add(&Usage::of_piece(update));
                }
                for event in translate::events(update, self.when(), &mut self.tools, &self.terminals) {
                    self.tell(event);
                }
                if self.turn.is_none() && outside::is_result(update) {
                    self.works_no_more();
                }
            }
            _ => self.tell(translate::native(method, params)),
        }
    }

    fn answered(&mut self, id: &Value, result: Answer) {
        // What nobody waits for any more is let go.
        let Some(id) = id.as_u64() else { return };
        match self.waiting.remove(&id) {
            Some(Waiting::Step) => self.stepped = Some(result),
            Some(Waiting::Turn) => self.turn_ended(id, result),
            Some(Waiting::Switched { of, to, reply, .. }) => {
                let switched = result.map_err(|error| self.said(&error));
                if let Ok(answer) = &switched {
                    *of(&mut self.known.facts) = Some(short(&to));
                    self.known.options(answer);
                }
                // Who asked may have gone.
                let _ = reply.send(switched.map(|_| ()));
            }
            None => {}
        }
    }

    /// Does what the host asks.
    pub(super) fn ask(&mut self, ask: Ask) {
        match ask {
            Ask::Prompt(prompt) => self.prompt(prompt),
            Ask::Cancel => self.cancel(),
            Ask::Mode(id, reply) => self.switch("mode", self.known.mode.clone(), id, |facts| &mut facts.mode, reply),
            Ask::Model(id, reply) => {
                self.switch("model", self.known.model.clone(), id, |facts| &mut facts.model, reply)
            }
        }
    }

    fn prompt(&mut self, prompt: Prompt) {
        match prompt::blocks(prompt, self.known.facts.images) {
            Ok(blocks) => {
                let params = v1::PromptRequest::new(self.known.facts.session_id.clone(), blocks);
                let request = self.request("session/prompt", &params, Waiting::Turn);
                self.turn =
                    Some(Turn { request, ended: CancellationToken::new(), until: None, used: Usage::default() });
            }
            Err(why) => self.told.push_back(Told::TurnEnded(TurnEnd::Failed(why))),
        }
    }

    fn cancel(&mut self) {
        match &mut self.turn {
            Some(turn) if turn.until.is_some() => return,
            Some(turn) => {
                turn.until = Some(Instant::now() + limits::AGENT_CANCEL);
                turn.ended.cancel();
            }
            None if self.outside.is_working() => self.works_no_more(),
            None => return,
        }
        let params = v1::CancelNotification::new(self.known.facts.session_id.clone());
        self.process.send(&message::notification("session/cancel", &params));
    }

    fn turn_ended(&mut self, request: u64, result: Answer) {
        let Some(turn) = self.turn.take_if(|turn| turn.request == request) else { return };
        turn.ended.cancel();
        let reported = result.as_ref().map(Usage::of_turn).unwrap_or_default();
        let used = if reported == Usage::default() { &turn.used } else { &reported };
        self.known.facts.usage.add(used);
        self.tell_facts();
        let end = match result {
            Ok(answer) => match answer.get("stopReason").and_then(Value::as_str) {
                Some("cancelled") => TurnEnd::Interrupted,
                reason => TurnEnd::Done(short(reason.unwrap_or("end_turn"))),
            },
            // Some agents fail when they are cancelled.
            Err(_) if turn.until.is_some() => TurnEnd::Interrupted,
            Err(error) => TurnEnd::Failed(self.said(&error)),
        };
        self.told.push_back(Told::TurnEnded(end));
    }

    fn switch(
        &mut self,
        what: &str,
        switch: Option<Switch>,
        to: String,
        of: fn(&mut Facts) -> &mut Option<String>,
        reply: oneshot::Sender<Result<(), String>>,
    ) {
        let session = &self.known.facts.session_id;
        let (method, params) = match switch {
            None => {
                let _ = reply.send(Err(format!("this agent's {what} cannot be switched")));
                return;
            }
            Some(Switch::Method) => {
                (format!("session/set_{what}"), json!({ "sessionId": session, (format!("{what}Id")): to }))
            }
            Some(Switch::Option(id)) => {
                ("session/set_config_option".to_owned(), json!({ "sessionId": session, "configId": id, "value": to }))
            }
        };
        let until = Instant::now() + limits::AGENT_ANSWER;
        self.request(&method, &params, Waiting::Switched { of, to, reply, until });
    }

    /// When the next time is up that something was given.
    fn until(&self) -> Option<Instant> {
        let switched = self.waiting.values().filter_map(|waiting| match waiting {
            Waiting::Switched { until, .. } => Some(*until),
            Waiting::Step | Waiting::Turn => None,
        });
        switched.chain(self.turn.as_ref().and_then(|turn| turn.until)).chain(self.outside.until()).min()
    }

    fn give_up(&mut self) {
        let now = Instant::now();
        if self.outside.until().is_some_and(|until| until <= now) {
            self.works_no_more();
        }
        if let Some(turn) = self.turn.take_if(|turn| turn.until.is_some_and(|until| until <= now)) {
            self.withdraw(turn.request);
            self.told.push_back(Told::TurnEnded(TurnEnd::Interrupted));
        }
        let is_up = |waiting: &Waiting| matches!(waiting, Waiting::Switched { until, .. } if *until <= now);
        let up: Vec<_> = self.waiting.iter().filter(|(_, waiting)| is_up(waiting)).map(|(id, _)| *id).collect();
        for id in up {
            if let Some(Waiting::Switched { reply, .. }) = self.withdraw(id) {
                let _ = reply.send(Err("the agent did not answer in time".to_owned()));
            }
        }
    }

    /// Waits no more for an answer, and says so.
    fn withdraw(&mut self, request: u64) -> Option<Waiting> {
        self.process.send(&message::notification("$/cancel_request", &json!({ "requestId": request })));
        self.waiting.remove(&request)
    }

    /// The agent's words for what went wrong, and what a person does.
    fn said(&self, error: &v1::Error) -> String {
        let words = said(error);
        let wants_login = self.can_log_in && error.code == v1::ErrorCode::AuthRequired;
        if wants_login { format!("{words}; log in with the agent's own program") } else { words }
    }

    /// What is told last: nobody waits any more for what will not come.
    pub(super) fn ended(&mut self, gone: Gone) {
        for (_, waiting) in self.waiting.drain() {
            if let Waiting::Switched { reply, .. } = waiting {
                let _ = reply.send(Err(format!("the agent is gone: {}", gone.how)));
            }
        }
        self.told.push_back(Told::Gone(gone));
    }
}

/// The agent's words for what went wrong.
pub(super) fn said(error: &v1::Error) -> String {
    match &error.data {
        None | Some(Value::Null) => short(&error.message),
        Some(Value::String(data)) => short(&format!("{}: {data}", error.message)),
        Some(data) => short(&format!("{}: {data}", error.message)),
    }
}
