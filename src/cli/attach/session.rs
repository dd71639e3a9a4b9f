//! One attachment as the command line keeps it: what is asked, what is answered, what is known of the runtime.

use super::asked::Asked;
use crate::protocol::{
    Actions, AttachParams, AttachResult, AttachmentParams, Lease, Notification, Reason, RespondParams, RpcError,
    RuntimeEvent, RuntimeEventParams, RuntimeResponse, SteerParams, SubmitParams,
};
use crate::runtime::wire::{OURS, WAITS, WORKING};
use crate::service::User;
use serde::Deserialize;
use serde_json::Value;
use std::collections::VecDeque;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// An attachment and what is known of its runtime.
pub(super) struct Session {
    user: User,
    told: mpsc::Receiver<Notification>,
    /// How it is joined, also again.
    params: AttachParams,
    attachment: String,
    /// The name by which the runtime knows this client.
    pub client_id: String,
    /// What the runtime says of itself.
    pub about: About,
    /// Whether a turn runs.
    pub running: bool,
    /// Whether the agent works outside of a turn.
    pub working: bool,
    /// Who drives.
    pub driver: Option<String>,
    /// What waits for an answer, the oldest first.
    pub asked: VecDeque<Asked>,
    last: u64,
    work: JoinSet<(Act, Result<Answer, RpcError>)>,
}

/// What a descriptor says that is of use here.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct About {
    pub model: Option<String>,
    pub source_harness: Option<String>,
    pub actions: Actions,
    turn_state: String,
    extensions: Value,
}

impl About {
    /// What runs there: what the agent calls itself, else its harness, and its model.
    pub(super) fn words(&self) -> Vec<&str> {
        let harness = self.source_harness.as_deref();
        let agent = self.extensions.pointer("/tackroom/agent/name").and_then(Value::as_str);
        let model = self.model.as_deref().filter(|model| Some(*model) != harness);
        agent.or(harness).into_iter().chain(model).collect()
    }

    fn says(&self, field: &str) -> bool {
        self.extensions[OURS][field] == true
    }

    /// Whether Tackroom hosts it.
    fn is_ours(&self) -> bool {
        self.extensions.get(OURS).is_some()
    }

    /// Whether a question waits while nobody is attached.
    pub(super) fn waits(&self) -> bool {
        self.says(WAITS)
    }
}

/// What can be asked of a runtime.
#[derive(Clone, Debug)]
pub(super) enum Act {
    /// Begin a turn.
    Say(String),
    /// Run a turn to its end.
    Submit(String),
    /// Say something to the turn that runs.
    Steer(String),
    /// Answer a request.
    Respond(RuntimeResponse),
    /// Stop the turn.
    Interrupt,
    /// Take control, whoever has it.
    Take,
    /// Leave and come back, so that control is free.
    Release,
    /// Come back after having fallen behind.
    Again,
    /// See who drives.
    Look,
}

/// What was answered.
#[derive(Debug)]
pub(super) enum Answer {
    /// That it was done.
    Done,
    /// Whether a turn was stopped.
    Interrupted(bool),
    /// Who drives.
    Lease(Lease),
    /// What there is for who comes back.
    Joined(Box<AttachResult>),
}

/// What came.
pub(super) enum Came {
    /// An event, or that the stream lags or is over.
    Event(RuntimeEvent),
    /// The answer to what was asked.
    Answer(Act, Result<Answer, RpcError>),
}

impl Session {
    /// Joins a runtime.
    pub(super) async fn join(
        user: User,
        told: mpsc::Receiver<Notification>,
        params: AttachParams,
    ) -> Result<(Self, AttachResult), RpcError> {
        let joined = user.attach(params.clone()).await?;
        let mut session = Self {
            user,
            told,
            params,
            attachment: String::new(),
            client_id: joined.client_id.clone(),
            about: About::default(),
            running: false,
            working: false,
            driver: None,
            asked: VecDeque::new(),
            last: 0,
            work: JoinSet::new(),
        };
        session.params.client_id = Some(joined.client_id.clone());
        session.joined(&joined);
        Ok((session, joined))
    }

    /// Whether this client drives.
    pub(super) fn drives(&self) -> bool {
        self.driver.as_ref() == Some(&self.client_id)
    }

    /// Leaves; the runtime goes on.
    pub(super) async fn leave(&mut self) {
        self.work.abort_all();
        // Who cannot be reached needs no farewell.
        let _ = self.user.detach(AttachmentParams { attachment: self.attachment.clone() }).await;
    }

    /// The next of what comes. May be dropped and called again, and nothing is lost. `None`: nothing comes any more.
    pub(super) async fn next(&mut self) -> Option<Came> {
        loop {
            tokio::select! {
                biased;
                Some(done) = self.work.join_next() => {
                    if let Ok((act, answer)) = done {
                        self.answered(&answer);
                        return Some(Came::Answer(act, answer));
                    }
                }
                told = self.told.recv() => {
                    let params: Option<RuntimeEventParams> = serde_json::from_str(told?.params.get()).ok();
                    // What an attachment before this one still had to say was told again.
                    if let Some(told) = params.filter(|told| told.attachment == self.attachment) {
                        self.note(&told.event);
                        return Some(Came::Event(told.event));
                    }
                }
            }
        }
    }

    /// Asks something; its answer comes.
    pub(super) fn act(&mut self, act: Act) {
        let (user, attachment) = (self.user.clone(), self.attachment.clone());
        let again = AttachParams { after: Some(self.last), ..self.params.clone() };
        self.work.spawn(async move {
            let answer = ask(&user, attachment, again, &act).await;
            (act, answer)
        });
    }

    fn answered(&mut self, answer: &Result<Answer, RpcError>) {
        match answer {
            Ok(Answer::Lease(lease)) => self.driver = driver(lease),
            Ok(Answer::Joined(joined)) => self.joined(joined),
            Ok(Answer::Done | Answer::Interrupted(_)) => self.driver = Some(self.client_id.clone()),
            Err(error) if error.reason() == Reason::ControllerRequired => {
                self.driver = error.data()["holder"].as_str().map(str::to_owned);
            }
            Err(error) if error.reason() == Reason::LeaseExpired => self.driver = None,
            Err(_) => {}
        }
    }

    fn joined(&mut self, joined: &AttachResult) {
        self.attachment.clone_from(&joined.attachment);
        self.about = serde_json::from_str(joined.descriptor.get()).unwrap_or_default();
        self.driver = driver(&joined.lease);
        self.running = self.about.turn_state == "busy";
        self.last = self.last.max(joined.history_cursor);
        self.asked.clear();
        joined.replay.iter().for_each(|event| self.note(event));
        self.working = self.about.says(WORKING);
    }

    fn note(&mut self, event: &RuntimeEvent) {
        self.last = self.last.max(event.sequence.unwrap_or_default());
        match event.kind.as_str() {
            "turn_started" => (self.running, self.working) = (true, false),
            // Others do not report when they are done with it.
            "text_delta" | "reasoning" | "tool_call_started" if !self.running && self.about.is_ours() => {
                self.working = true;
            }
            "turn_completed" => self.working = false,
            "turn_succeeded" | "turn_interrupted" | "turn_failed" => {
                (self.running, self.working) = (false, false);
                // A host reports each request that is over; what was asked outside of the turn stays open.
                if !self.about.is_ours() {
                    self.asked.clear();
                }
            }
            "request" => self.asked.extend(Asked::of(&payload(event))),
            "request_resolved" => {
                let settled = payload(event)["request_id"].as_u64();
                self.asked.retain(|asked| Some(asked.id) != settled);
            }
            "lagged" => {
                self.last = event.cursor.unwrap_or(self.last);
                self.act(Act::Again);
            }
            _ => {}
        }
    }
}

/// What an event says.
pub(super) fn payload(event: &RuntimeEvent) -> Value {
    event.payload.as_ref().and_then(|payload| serde_json::from_str(payload.get()).ok()).unwrap_or_default()
}

fn driver(lease: &Lease) -> Option<String> {
    lease.controller.as_ref().map(|controller| controller.client_id.clone())
}

async fn ask(user: &User, attachment: String, again: AttachParams, act: &Act) -> Result<Answer, RpcError> {
    let own = AttachmentParams { attachment: attachment.clone() };
    let submit =
        |prompt: &str| SubmitParams { attachment: attachment.clone(), prompt: prompt.to_owned(), images: None };
    Ok(match act {
        Act::Say(prompt) => user.send_input(submit(prompt)).await.map(|_| Answer::Done)?,
        Act::Submit(prompt) => user.submit(submit(prompt)).await.map(|_| Answer::Done)?,
        Act::Steer(prompt) => {
            user.steer(SteerParams { attachment, prompt: prompt.clone() }).await.map(|_| Answer::Done)?
        }
        Act::Respond(response) => {
            user.respond(RespondParams { attachment, response: response.clone() }).await.map(|_| Answer::Done)?
        }
        Act::Interrupt => Answer::Interrupted(user.interrupt(own).await?.interrupted),
        Act::Take => Answer::Lease(user.take_control(own).await?.lease),
        Act::Look => Answer::Lease(user.lease(own).await?.lease),
        Act::Release => {
            user.detach(own).await?;
            Answer::Joined(Box::new(user.attach(again).await?))
        }
        Act::Again => Answer::Joined(Box::new(user.attach(again).await?)),
    })
}
