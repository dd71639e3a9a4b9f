//! One session of an agent: what it says is taken in, one message after the other, and what it asks is answered.

use super::facts::{Known, STATE, Switch};
use super::history::History;
use super::message::{self, Message};
use super::process::Process;
use super::terminal::Terminals;
use super::tools::Tools;
use super::translate::{self, When};
use super::words::short;
use super::{Ask, Facts, Gone, Options, Prompt, Told, TurnEnd, permission, prompt};
use crate::limits;
use agent_client_protocol_schema::v1;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use tokio::sync::oneshot;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// An answer to the agent.
pub(super) type Answer = Result<Value, v1::Error>;

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
struct Turn {
    /// The request that it is.
    request: u64,
    /// What it asked of a person is taken back when it ends.
    ended: CancellationToken,
    /// When it is given up, once it was cancelled.
    until: Option<Instant>,
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
    /// The facts that were told last.
    facts: Facts,
    is_ready: bool,
    requests: u64,
    waiting: HashMap<u64, Waiting>,
    turn: Option<Turn>,
    tools: Tools,
    pub(super) terminals: Terminals,
    /// The agent's requests that are worked on.
    work: JoinSet<Answer>,
    works: HashMap<tokio::task::Id, (Value, AbortHandle)>,
}

impl Session {
    pub fn new(process: Process, options: Options) -> Self {
        Self {
            process,
            known: Known::default(),
            terminals: Terminals::new(options.workspace.clone()),
            options,
            history: None,
            told: VecDeque::new(),
            stepped: None,
            facts: Facts::default(),
            is_ready: false,
            requests: 0,
            waiting: HashMap::new(),
            turn: None,
            tools: Tools::default(),
            work: JoinSet::new(),
            works: HashMap::new(),
        }
    }

    /// From now on questions are asked and changes told. Answers what is known now.
    pub fn ready(&mut self) -> Facts {
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
    pub fn step(&mut self, method: &str, params: &impl Serialize) {
        self.stepped = None;
        self.request(method, params, Waiting::Step);
    }

    /// Goes on until something happened: a message, an answer that is ready, a time that is up.
    pub async fn go_on(&mut self) -> Result<(), Gone> {
        let until = self.until();
        tokio::select! {
            message = self.process.next(self.told.is_empty() || !self.is_ready) => self.take(message?),
            Some(done) = self.work.join_next_with_id() => self.done(done),
            () = tokio::time::sleep_until(until.unwrap_or_else(Instant::now)), if until.is_some() => self.give_up(),
        }
        Ok(())
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Request { id, method, params } => self.requested(id, &method, params),
            Message::Notification { method, params } => self.notified(&method, &params),
            Message::Answer { id, result } => self.answered(&id, result),
        }
        if self.is_ready && self.facts != self.known.facts {
            self.facts = self.known.facts.clone();
            self.told.push_back(Told::Facts(self.facts.clone()));
        }
    }

    fn when(&self) -> When {
        match (&self.history, &self.turn) {
            (Some(_), _) => When::History,
            (None, Some(_)) => When::Turn,
            (None, None) => When::Between,
        }
    }

    fn tell(&mut self, event: super::Event) {
        let is_state = event.payload.get("kind").and_then(Value::as_str).is_some_and(|kind| STATE.contains(&kind));
        match &mut self.history {
            Some(history) if !is_state => history.push(event),
            // Nobody hears it yet, and it is not much that is said before there is a session.
            _ if !self.is_ready && self.told.len() == limits::AGENT_TOLD => {}
            _ => self.told.push_back(Told::Event(event)),
        }
    }

    fn notified(&mut self, method: &str, params: &Value) {
        let session = params.get("sessionId").and_then(Value::as_str).unwrap_or_default();
        let ours = &self.known.facts.session_id;
        match (method, params.get("update")) {
            ("$/cancel_request", _) => self.take_back(params.get("requestId").unwrap_or(&Value::Null)),
            ("session/update", Some(update)) if ours.is_empty() || ours == session => {
                self.known.update(update);
                for event in translate::events(update, self.when(), &mut self.tools) {
                    self.tell(event);
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
                let switched = result.map_err(|error| said(&error));
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
    pub fn ask(&mut self, ask: Ask) {
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
                self.turn = Some(Turn { request, ended: CancellationToken::new(), until: None });
            }
            Err(why) => self.told.push_back(Told::TurnEnded(TurnEnd::Failed(why))),
        }
    }

    fn cancel(&mut self) {
        let Some(turn) = self.turn.as_mut().filter(|turn| turn.until.is_none()) else { return };
        turn.until = Some(Instant::now() + limits::AGENT_CANCEL);
        turn.ended.cancel();
        let params = v1::CancelNotification::new(self.known.facts.session_id.clone());
        self.process.send(&message::notification("session/cancel", &params));
    }

    fn turn_ended(&mut self, request: u64, result: Answer) {
        let Some(turn) = self.turn.take_if(|turn| turn.request == request) else { return };
        turn.ended.cancel();
        let end = match result {
            Ok(answer) => match answer.get("stopReason").and_then(Value::as_str) {
                Some("cancelled") => TurnEnd::Interrupted,
                reason => TurnEnd::Done(short(reason.unwrap_or("end_turn"))),
            },
            // Some agents fail when they are cancelled.
            Err(_) if turn.until.is_some() => TurnEnd::Interrupted,
            Err(error) => TurnEnd::Failed(said(&error)),
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
        switched.chain(self.turn.as_ref().and_then(|turn| turn.until)).min()
    }

    fn give_up(&mut self) {
        let now = Instant::now();
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

    fn requested(&mut self, id: Value, method: &str, params: Value) {
        if self.work.len() >= limits::AGENT_REQUESTS {
            let busy = v1::Error::new(-32603, format!("{} requests are being worked on", limits::AGENT_REQUESTS));
            return self.answer(&id, Err(busy));
        }
        match method {
            "session/request_permission" => self.permission(id, params),
            "fs/read_text_file" | "fs/write_text_file" if self.options.files => self.file(id, method, params),
            "terminal/wait_for_exit" if self.options.terminals => {
                let exit = parsed::<v1::WaitForTerminalExitRequest>(&params);
                match exit.and_then(|exit| self.terminals.exit(&exit.terminal_id)) {
                    Ok(exit) => self.work_on(id, exit),
                    Err(error) => self.answer(&id, Err(error)),
                }
            }
            _ => {
                let answer = self.terminal(method, &params);
                self.answer(&id, answer);
            }
        }
    }

    fn terminal(&mut self, method: &str, params: &Value) -> Answer {
        let terminals = &mut self.terminals;
        match method {
            _ if !self.options.terminals => Err(v1::Error::method_not_found()),
            "terminal/create" => terminals.create(&parsed(params)?),
            "terminal/output" => terminals.output(&parsed::<v1::TerminalOutputRequest>(params)?.terminal_id),
            "terminal/kill" => terminals.kill(&parsed::<v1::KillTerminalRequest>(params)?.terminal_id),
            "terminal/release" => terminals.release(&parsed::<v1::ReleaseTerminalRequest>(params)?.terminal_id),
            _ => Err(v1::Error::method_not_found()),
        }
    }

    fn file(&mut self, id: Value, method: &str, params: Value) {
        let (is_read, workspace) = (method == "fs/read_text_file", self.options.workspace.clone());
        let work = tokio::task::spawn_blocking(move || {
            if is_read {
                super::files::read(&workspace, &parsed(&params)?)
            } else {
                super::files::write(&workspace, &parsed(&params)?)
            }
        });
        self.work_on(id, async { work.await.unwrap_or_else(|_| Err(v1::Error::internal_error())) });
    }

    fn permission(&mut self, id: Value, params: Value) {
        let request = match parsed::<v1::RequestPermissionRequest>(&params) {
            Ok(request) => request,
            Err(error) => return self.answer(&id, Err(error)),
        };
        let ended = self.turn.as_ref().map(|turn| turn.ended.clone()).unwrap_or_default();
        if !self.is_ready || ended.is_cancelled() {
            return self.answer(&id, Ok(permission::cancelled()));
        }
        for event in translate::asked(&request.tool_call, &mut self.tools) {
            self.tell(event);
        }
        let (id_of_call, fields) = (request.tool_call.tool_call_id.0.as_ref(), &request.tool_call.fields);
        let name = translate::name(fields).or_else(|| self.tools.name(id_of_call));
        let (approval, question) = permission::ask(request, name, &params);
        self.told.push_back(Told::Approval(approval));
        self.work_on(id, async { Ok(question.answered(ended).await) });
    }

    fn work_on(&mut self, id: Value, work: impl Future<Output = Answer> + Send + 'static) {
        let task = self.work.spawn(work);
        self.works.insert(task.id(), (id, task));
    }

    fn done(&mut self, done: Result<(tokio::task::Id, Answer), tokio::task::JoinError>) {
        let (task, answer) = match done {
            Ok((task, answer)) => (task, answer),
            Err(error) if error.is_cancelled() => (error.id(), Err(v1::Error::request_cancelled())),
            Err(error) => (error.id(), Err(v1::Error::internal_error())),
        };
        if let Some((id, _)) = self.works.remove(&task) {
            self.answer(&id, answer);
        }
    }

    /// The agent wants no answer any more to what it asked.
    fn take_back(&mut self, id: &Value) {
        if let Some((_, task)) = self.works.values().find(|(request, _)| request == id) {
            task.abort();
        }
    }

    fn answer(&mut self, id: &Value, answer: Answer) {
        self.process.send(&message::answer(id, answer));
    }

    /// What is told last: nobody waits any more for what will not come.
    pub fn ended(&mut self, gone: Gone) {
        for (_, waiting) in self.waiting.drain() {
            if let Waiting::Switched { reply, .. } = waiting {
                let _ = reply.send(Err(format!("the agent is gone: {}", gone.how)));
            }
        }
        self.told.push_back(Told::Gone(gone));
    }
}

fn parsed<T: for<'a> Deserialize<'a>>(params: &Value) -> Result<T, v1::Error> {
    T::deserialize(params).map_err(|error| super::files::invalid(error.to_string()))
}

/// The agent's words for what went wrong.
pub(super) fn said(error: &v1::Error) -> String {
    match &error.data {
        _ if error.code == v1::ErrorCode::AuthRequired => {
            format!("{}; log in with the agent's own program", short(&error.message))
        }
        None | Some(Value::Null) => short(&error.message),
        Some(Value::String(data)) => short(&format!("{}: {data}", error.message)),
        Some(data) => short(&format!("{}: {data}", error.message)),
    }
}
