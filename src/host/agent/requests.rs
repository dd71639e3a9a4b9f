//! What an agent asks of its host. What is done at once is answered at once; what takes time waits among its own kind, so that
//! nothing that only waits keeps anything else from being done.

use super::answer::{Answer, invalid};
use super::files::Job;
use super::message;
use super::permission::Undecided;
use super::session::Session;
use super::waits::Kind;
use super::{Told, permission, translate};
use agent_client_protocol_schema::v1;
use serde::Deserialize;
use serde_json::Value;
use tokio::time::Instant;

impl Session {
    pub(super) fn requested(&mut self, id: Value, method: &str, params: Value) {
        let done = match method {
            _ if !self.is_offered(method) => Err(v1::Error::method_not_found()),
            _ if !self.is_ours(&params) => Err(invalid("it is of another session".to_owned())),
            "session/request_permission" => return self.permission(id, params),
            "elicitation/create" => return self.elicit(id, &params),
            "fs/read_text_file" | "fs/write_text_file" => {
                match Job::of(method, &params).and_then(|job| self.files.push(&id, job)) {
                    Ok(()) => return,
                    Err(error) => Err(error),
                }
            }
            "terminal/wait_for_exit" => match self.exit(&params) {
                Ok(exit) => return self.waits.push(id, Kind::Exit, exit),
                Err(error) => Err(error),
            },
            _ => self.terminal(method, &params),
        };
        self.answer(&id, done);
    }

    fn is_offered(&self, method: &str) -> bool {
        match method.split_once('/') {
            Some(("fs", _)) => self.options.files,
            Some(("terminal", _)) => self.options.terminals,
            _ => matches!(method, "session/request_permission" | "elicitation/create"),
        }
    }

    fn terminal(&mut self, method: &str, params: &Value) -> Answer {
        let terminals = &mut self.terminals;
        match method {
            "terminal/create" => terminals.create(&parsed(params)?),
            "terminal/output" => terminals.output(&parsed::<v1::TerminalOutputRequest>(params)?.terminal_id),
            "terminal/kill" => terminals.kill(&parsed::<v1::KillTerminalRequest>(params)?.terminal_id),
            "terminal/release" => terminals.release(&parsed::<v1::ReleaseTerminalRequest>(params)?.terminal_id),
            _ => Err(v1::Error::method_not_found()),
        }
    }

    fn exit(&self, params: &Value) -> Result<impl Future<Output = Answer> + Send + use<>, v1::Error> {
        self.waits.room(Kind::Exit)?;
        self.terminals.exit(&parsed::<v1::WaitForTerminalExitRequest>(params)?.terminal_id)
    }

    fn permission(&mut self, id: Value, params: Value) {
        let request = self.room_for_question().and_then(|()| parsed(&permission::known(&params)));
        let request: v1::RequestPermissionRequest = match request {
            Ok(request) => request,
            Err(error) => return self.answer(&id, Err(error)),
        };
        // Work outside of a turn may ask while one runs, and goes on after it.
        let is_outside = self.outside.is_open(request.tool_call.tool_call_id.0.as_ref());
        let turn = self.turn.as_ref().filter(|_| !is_outside);
        let (of_turn, ended) = (turn.is_some(), turn.map(|turn| turn.ended.clone()).unwrap_or_default());
        if !self.is_ready || ended.is_cancelled() {
            return self.answer(&id, Ok(permission::cancelled()));
        }
        for event in translate::asked(&request.tool_call, &mut self.tools, &self.terminals) {
            self.tell(event);
        }
        let known = self.tools.get(request.tool_call.tool_call_id.0.as_ref());
        if self.outside.is_open(request.tool_call.tool_call_id.0.as_ref()) {
            self.undecided.insert(id.to_string(), Undecided::new(&request));
        }
        let (approval, question) = permission::ask(request, known, of_turn, &params);
        self.told.push_back(Told::Approval(approval));
        self.wait_for_person(id, async { Ok(question.answered(ended).await) });
    }

    /// Whether one more question may be put to a person.
    pub(super) fn room_for_question(&self) -> Result<(), v1::Error> {
        self.waits.room(Kind::Question)
    }

    /// Answers a request once a person has.
    pub(super) fn wait_for_person(&mut self, id: Value, answer: impl Future<Output = Answer> + Send + 'static) {
        self.waits.push(id, Kind::Question, answer);
    }

    /// A request that waited is over: answered, or taken back by the agent.
    pub(super) fn waited(&mut self, id: &Value, answer: Answer) {
        if let Some(undecided) = self.undecided.remove(&id.to_string())
            && !undecided.is_allowed_by(&answer)
        {
            self.outside.refuse(&undecided.call, Instant::now());
        }
        self.answer(id, answer);
    }

    /// The agent wants no answer any more to what it asked.
    pub(super) fn take_back(&mut self, id: &Value) {
        if self.files.take_back(id) {
            return self.answer(id, Err(v1::Error::request_cancelled()));
        }
        self.waits.take_back(id);
    }

    pub(super) fn answer(&mut self, id: &Value, answer: Answer) {
        self.process.send(&message::answer(id, answer));
    }
}

fn parsed<T: for<'a> Deserialize<'a>>(params: &Value) -> Result<T, v1::Error> {
    T::deserialize(params).map_err(|error| invalid(error.to_string()))
}
