//! Turns: begun by one client, told to all, ended by the agent.

use super::super::agent::{Ask, Prompt, TurnEnd};
use super::super::descriptor::{MODE, MODEL, PROMPT, model};
use super::super::fault::Fault;
use super::super::history::append;
use super::{Caller, Conversation, Locked, members};
use crate::limits;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::oneshot;

/// The turn that runs.
#[derive(Debug, Default)]
pub(super) struct Turn {
    reply: String,
    client_id: String,
    /// Where its client waits for the answer, if it does.
    submitted: Option<oneshot::Sender<Ended>>,
    /// Whoever else waits for its end.
    waiting: Vec<oneshot::Sender<Ended>>,
}

/// How a turn ended: what was answered, or why not.
#[derive(Clone, Debug)]
enum Ended {
    Done(String),
    Interrupted,
    Failed(String),
}

impl Turn {
    /// Its client, while that waits for the answer: it need not say otherwise that it is there.
    pub(super) fn submitter(&self) -> Option<&str> {
        let waits = self.submitted.as_ref().is_some_and(|submitted| !submitted.is_closed());
        waits.then_some(self.client_id.as_str())
    }

    /// The agent said more.
    pub(super) fn answered(&mut self, text: &str) {
        append(&mut self.reply, text, limits::HOST_REPLY);
    }
}

/// What a client has run that the descriptor lists.
#[derive(Debug)]
pub(in super::super) enum Operation {
    /// A command of the agent.
    Prompt { operation_id: String, arguments: String },
    /// What the conversation takes of the model's context. No agent tells.
    Context { operation_id: String },
    /// The model: another one, or which it is where it is empty.
    Model { operation_id: String, model: String },
    /// The mode.
    Session { operation_id: String },
}

impl Conversation {
    /// Begins a turn; it goes on whether or not anybody waits for it.
    pub(in super::super) fn begin(&self, caller: &Caller, prompt: Prompt) -> Result<(), Fault> {
        self.start(caller, prompt, None)
    }

    /// Runs a turn: what the agent answered.
    pub(in super::super) async fn submit(&self, caller: &Caller, prompt: Prompt) -> Result<String, Fault> {
        let (waiting, ended) = oneshot::channel();
        self.start(caller, prompt, Some(waiting))?;
        match ended.await {
            Ok(Ended::Done(reply)) => Ok(reply),
            Ok(Ended::Interrupted) => Err(Fault::interrupted()),
            Ok(Ended::Failed(message)) => Err(Fault::execution("input", message)),
            Err(_) => Err(Fault::ended("input")),
        }
    }

    /// Stops the turn, and waits a while for its end. False: none ran.
    pub(in super::super) async fn interrupt(&self, caller: &Caller) -> Result<bool, Fault> {
        let ended = {
            let mut state = self.lock();
            state.leases.acquire(&caller.client_id, self.clock.now_ms())?;
            let (waiting, ended) = oneshot::channel();
            let Some(turn) = &mut state.turn else {
                if state.is_working {
                    state.ask(Ask::Cancel, "interrupt")?;
                    state.withdraw_all("interrupted");
                }
                return Ok(state.is_working);
            };
            turn.waiting.push(waiting);
            state.ask(Ask::Cancel, "interrupt")?;
            state.withdraw_turn("interrupted");
            ended
        };
        let _ = tokio::time::timeout(limits::HOST_INTERRUPT, ended).await;
        Ok(true)
    }

    /// Runs an operation of the descriptor.
    pub(in super::super) async fn invoke(&self, caller: &Caller, operation: Operation) -> Result<Value, Fault> {
        match operation {
            Operation::Prompt { operation_id, arguments } => {
                let name = operation_id.strip_prefix(PROMPT).unwrap_or_default();
                let is_known = self.lock().facts.commands.iter().any(|command| command.name == name);
                if !is_known {
                    return Err(unknown(&operation_id));
                }
                let text = format!("/{name} {arguments}").trim_end().to_owned();
                let reply = self.submit(caller, Prompt { text, images: Vec::new() }).await?;
                Ok(json!({ "kind": "prompt", "reply": reply }))
            }
            Operation::Context { operation_id } => Err(unknown(&operation_id)),
            Operation::Model { operation_id, model } => self.switch_model(caller, &operation_id, model).await,
            Operation::Session { operation_id } => self.switch_mode(caller, operation_id).await,
        }
    }

    async fn switch_model(&self, caller: &Caller, operation_id: &str, to: String) -> Result<Value, Fault> {
        let (previous, answer) = {
            let mut state = self.lock();
            if operation_id != MODEL || state.facts.models.is_empty() {
                return Err(unknown(operation_id));
            }
            state.leases.acquire(&caller.client_id, self.clock.now_ms())?;
            let previous = model(&state.facts);
            if to.is_empty() {
                return Ok(json!({ "kind": "model", "model": previous, "previous": previous }));
            }
            if !state.facts.models.iter().any(|known| known.id == to) {
                return Err(Fault::operation(format!("the agent has no model `{to}`")));
            }
            let (answer, answered) = oneshot::channel();
            state.ask(Ask::Model(to.clone(), answer), "invoke")?;
            (previous, answered)
        };
        switched(answer).await?;
        Ok(json!({ "kind": "model", "model": to, "previous": previous }))
    }

    async fn switch_mode(&self, caller: &Caller, operation_id: String) -> Result<Value, Fault> {
        let answer = {
            let mut state = self.lock();
            let to = operation_id.strip_prefix(MODE).unwrap_or_default().to_owned();
            if !state.facts.modes.iter().any(|known| known.id == to) {
                return Err(unknown(&operation_id));
            }
            state.leases.acquire(&caller.client_id, self.clock.now_ms())?;
            let (answer, answered) = oneshot::channel();
            state.ask(Ask::Mode(to, answer), "invoke")?;
            answered
        };
        switched(answer).await?;
        Ok(json!({ "kind": "session", "operation_id": operation_id }))
    }

    fn start(&self, caller: &Caller, prompt: Prompt, submitted: Option<oneshot::Sender<Ended>>) -> Result<(), Fault> {
        let mut state = self.lock();
        state.leases.acquire(&caller.client_id, self.clock.now_ms())?;
        if !prompt.images.is_empty() && !state.facts.images {
            return Err(Fault::unsupported("input", "this agent takes no images"));
        }
        if state.turn.is_some() {
            return Err(Fault::busy());
        }
        if state.first_prompt.is_none() {
            state.first_prompt = super::title_of(&prompt.text);
        }
        let mut said = members(json!({ "text": prompt.text }));
        if !prompt.images.is_empty() {
            said.insert("images".to_owned(), prompt.images.len().into());
        }
        state.ask(Ask::Prompt(prompt), "input")?;
        state.flush();
        state.turn = Some(Turn { client_id: caller.client_id.clone(), submitted, ..Turn::default() });
        state.tell("user_message", said);
        state.tell("turn_started", versioned());
        Ok(())
    }
}

impl Locked<'_> {
    /// Asks the agent. It takes what it is asked, or it is stuck.
    fn ask(&mut self, ask: Ask, operation: &'static str) -> Result<(), Fault> {
        let Some(asks) = &self.asks else { return Err(Fault::ended(operation)) };
        asks.try_send(ask).map_err(|error| match error {
            TrySendError::Full(_) => Fault::execution(operation, "the agent does not take what it is asked"),
            TrySendError::Closed(_) => Fault::ended(operation),
        })
    }

    /// Makes everything that happened part of the history, which holds no questions: those that were answered since this was
    /// last done are kept as events. The caller publishes or keeps the open ones.
    pub(super) fn settle(&mut self) {
        self.feed.fold();
        self.feed.lost_requests();
        for (kind, payload) in self.approvals.take_answered() {
            self.feed.keep(kind, payload);
        }
    }

    /// The turn is over: all of it becomes history, what was asked in it can still be seen, and its end is told.
    pub(super) fn turn_ended(&mut self, end: TurnEnd) {
        self.flush();
        let Some(turn) = self.turn.take() else { return };
        self.withdraw_turn("turn_ended");
        self.settle();
        let mut told = versioned();
        let (kind, ended) = match end {
            TurnEnd::Done(reason) => {
                told.insert("reply".to_owned(), turn.reply.as_str().into());
                if reason != "end_turn" {
                    told.insert("stop_reason".to_owned(), reason.into());
                }
                ("turn_succeeded", Ended::Done(turn.reply))
            }
            TurnEnd::Interrupted => ("turn_interrupted", Ended::Interrupted),
            TurnEnd::Failed(message) => {
                told.insert("message".to_owned(), message.as_str().into());
                ("turn_failed", Ended::Failed(message))
            }
        };
        self.tell(kind, told);
        // For clients that attach later: the history holds no questions. Those that listen have them already.
        for request in self.approvals.requests() {
            self.feed.keep("request", request);
        }
        for waiting in turn.submitted.into_iter().chain(turn.waiting) {
            // Who waited may have gone.
            let _ = waiting.send(ended.clone());
        }
    }
}

async fn switched(answer: oneshot::Receiver<Result<(), String>>) -> Result<(), Fault> {
    match answer.await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(message)) => Err(Fault::operation(message)),
        Err(_) => Err(Fault::ended("invoke")),
    }
}

fn unknown(operation_id: &str) -> Fault {
    Fault::operation(format!("SDK operation `{operation_id}` is not supported by this runtime"))
}

fn versioned() -> Map<String, Value> {
    members(json!({ "schema_version": 1 }))
}
