use super::error::{Error, name};
use super::http::{Caller, Client, Connection, object};
use super::sse::{Decoder, TooLarge};
use super::wire::{self, AGENT, OURS, QUESTION, SINCE, TITLE, WAITING_FOR, WORKING};
use crate::limits::{self, RUNTIME_ANSWER, RUNTIME_EVENT, RUNTIME_SHORT_ANSWER};
use crate::protocol::{Actions, Lease, Question, RuntimeEvent, RuntimeResponse, State};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::Arc;

/// The sequence number of an event that a runtime's own client invents when its stream ends.
const SYNTHETIC: u64 = u64::MAX;

/// The methods of one runtime, for one caller. Deadlines are the caller's: each future may be dropped.
///
/// `status` and `history` are left out on purpose: runtimes answer them whatever the permissions are narrowed to.
#[derive(Clone)]
pub struct Api {
    client: Arc<Client>,
    caller: Caller,
}

/// What a runtime says of itself.
#[derive(Clone, Debug)]
pub struct Descriptor {
    /// All of it, as the runtime said it.
    pub raw: Box<RawValue>,
    /// The conversation that it runs.
    pub session_id: String,
    /// The program whose conversation it is; absent: not stated.
    pub source_harness: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The profile of its program.
    pub profile: Option<String>,
    /// The title of the conversation, where it says one.
    pub title: Option<String>,
    /// What the agent that it hosts calls itself, where it says so.
    pub agent: Option<String>,
    /// Busy, idle, waiting for a person or shutting down; live where it says something that is not known.
    pub state: State,
    /// What it waits for, where it says that it waits for a person.
    pub waiting_for: Option<String>,
    /// The open request that it describes.
    pub question: Option<Question>,
    /// When its state began, in epoch milliseconds, where it reports that.
    pub since_ms: Option<i64>,
    /// What it can do for this caller.
    pub actions: Actions,
}

/// What a runtime answers to a submit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// What the turn ended with.
    Text(String),
    /// A bare number, which may be what the turn ended with, or that of a request which only began.
    Number,
}

/// What a client that joins needs to know.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// What the runtime says of itself.
    pub descriptor: Descriptor,
    /// The newest messages, oldest first, as the runtime has them.
    pub history: Vec<Box<RawValue>>,
    /// The sequence number that `history` reaches to.
    pub history_cursor: u64,
    /// The events since then.
    pub replay: Vec<RuntimeEvent>,
}

/// The events of a runtime since it was opened. While it is open its caller is an observer; when it is dropped the
/// runtime forgets the caller and its control.
pub struct EventStream {
    client: Arc<Client>,
    _connection: Connection,
    body: Incoming,
    decoder: Decoder,
    ended: bool,
    reason: Option<String>,
}

#[derive(Serialize)]
struct Nothing {}

impl Api {
    /// The methods that `client` reaches, for `caller`.
    pub fn new(client: Arc<Client>, caller: Caller) -> Self {
        Self { client, caller }
    }

    /// What the runtime says of itself. It registers no observer.
    pub async fn describe(&self) -> Result<Descriptor, Error> {
        descriptor(self.call("frontend.v2.describe", &Nothing {}, RUNTIME_SHORT_ANSWER).await?)
    }

    /// Joins as an observer: at most `limit` messages of history, and the events since. Open [`Api::events`] before, and
    /// drop what both have.
    pub async fn attach(&self, limit: u32) -> Result<Snapshot, Error> {
        #[derive(Serialize)]
        struct Params {
            limit: u32,
        }
        #[derive(Deserialize)]
        struct Wire {
            descriptor: Box<RawValue>,
            history: Vec<Box<RawValue>>,
            history_cursor: u64,
            replay: Vec<WireEvent>,
        }
        let raw = self.call("frontend.v2.attach", &Params { limit }, RUNTIME_ANSWER).await?;
        let Wire { descriptor: own, history, history_cursor, replay } = object(&raw)?;
        if history_cursor == SYNTHETIC {
            return Err(Error::malformed("its history reaches to a number that no event has"));
        }
        let replay = replay.into_iter().filter(|event| event.sequence != SYNTHETIC).map(RuntimeEvent::from).collect();
        Ok(Snapshot { descriptor: descriptor(own)?, history, history_cursor, replay })
    }

    /// Opens the stream of events; the subscription stands when this returns.
    pub async fn events(&self) -> Result<EventStream, Error> {
        let (connection, body) = self.client.events(&self.caller).await?;
        Ok(EventStream {
            client: Arc::clone(&self.client),
            _connection: connection,
            body,
            decoder: Decoder::new(RUNTIME_EVENT),
            ended: false,
            reason: None,
        })
    }

    /// Who drives and who looks.
    pub async fn lease(&self) -> Result<Lease, Error> {
        self.leases("frontend.v2.lease").await
    }

    /// Takes control if nobody has it, or renews it.
    pub async fn acquire_control(&self) -> Result<Lease, Error> {
        self.leases("frontend.v2.acquire_control").await
    }

    /// Takes control, whoever has it. After a lease ran out this alone helps.
    pub async fn take_control(&self) -> Result<Lease, Error> {
        self.leases("frontend.v2.take_control").await
    }

    /// Renews what the caller has. Control that ran out does not come back by it, which is no error.
    pub async fn heartbeat(&self) -> Result<Lease, Error> {
        self.leases("frontend.v2.heartbeat").await
    }

    /// Gives up observing and control.
    pub async fn detach(&self) -> Result<Lease, Error> {
        self.leases("frontend.v2.detach").await
    }

    /// Runs a turn and waits for what the runtime answers, however long. Most wait for the turn's end.
    pub async fn submit(&self, prompt: &str, images: &[String]) -> Result<Reply, Error> {
        #[derive(Deserialize)]
        struct Wire {
            reply: Value,
        }
        let raw = self.call("frontend.v2.submit", &Prompt { prompt, image_urls: images }, RUNTIME_ANSWER).await?;
        match object::<Wire>(&raw)?.reply {
            Value::Number(_) => Ok(Reply::Number),
            Value::String(text) if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) => {
                Ok(Reply::Number)
            }
            Value::String(text) => Ok(Reply::Text(text)),
            _ => Err(Error::malformed("the reply is not a text")),
        }
    }

    /// A text that is made of parts of what the runtime said, without its token.
    pub(super) fn clean(&self, text: String) -> Result<String, Error> {
        self.client.clean(text)
    }

    /// Starts a turn. True: the runtime took it.
    pub async fn send_input(&self, prompt: &str, images: &[String]) -> Result<bool, Error> {
        self.flag("frontend.v2.send_input", &Prompt { prompt, image_urls: images }).await
    }

    /// Says something to the turn that runs. True: it will see it.
    pub async fn steer(&self, prompt: &str) -> Result<bool, Error> {
        self.flag("frontend.v2.steer", &Prompt { prompt, image_urls: &[] }).await
    }

    /// Stops the turn. False: none ran.
    pub async fn interrupt(&self) -> Result<bool, Error> {
        self.flag("frontend.v2.interrupt", &Nothing {}).await
    }

    /// Answers a request of the runtime. True: it took the answer.
    pub async fn respond(&self, response: &RuntimeResponse) -> Result<bool, Error> {
        #[derive(Serialize)]
        struct Params {
            response: wire::Response,
        }
        self.flag("frontend.v2.respond", &Params { response: response.into() }).await
    }

    /// Runs one of the descriptor's operations, spelled as the runtime does; its result likewise.
    pub async fn invoke(&self, operation: &RawValue) -> Result<Box<RawValue>, Error> {
        #[derive(Serialize)]
        struct Params<'a> {
            operation: &'a RawValue,
        }
        self.call("frontend.v2.invoke", &Params { operation }, RUNTIME_ANSWER).await
    }

    /// Ends the runtime. True: it ends.
    pub async fn close(&self) -> Result<bool, Error> {
        self.flag("frontend.v2.close", &Nothing {}).await
    }

    async fn call(&self, method: &str, params: &impl Serialize, max_bytes: usize) -> Result<Box<RawValue>, Error> {
        self.client.call(&self.caller, method, params, max_bytes).await
    }

    async fn leases(&self, method: &str) -> Result<Lease, Error> {
        let raw = self.call(method, &Nothing {}, RUNTIME_SHORT_ANSWER).await?;
        object::<wire::Lease>(&raw).map(Lease::from)
    }

    /// Calls a method whose result is one word, yes or no.
    async fn flag(&self, method: &str, params: &impl Serialize) -> Result<bool, Error> {
        #[derive(Deserialize)]
        struct Wire {
            #[serde(alias = "queued", alias = "interrupted", alias = "closed")]
            accepted: bool,
        }
        let raw = self.call(method, params, RUNTIME_SHORT_ANSWER).await?;
        Ok(object::<Wire>(&raw)?.accepted)
    }
}

impl EventStream {
    /// The next event; `None`: the stream has ended, and [`EventStream::reason`] may say why. May be dropped and called
    /// again, and nothing is lost.
    ///
    /// # Errors
    /// Where the stream ended within an event, or gave something that is none. Nothing follows an error.
    pub async fn next(&mut self) -> Result<Option<RuntimeEvent>, Error> {
        if self.ended {
            return Ok(None);
        }
        let next = self.event().await;
        self.ended = !matches!(next, Ok(Some(_)));
        next
    }

    /// What the runtime said for an end that it announced.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    async fn event(&mut self) -> Result<Option<RuntimeEvent>, Error> {
        let Some(data) = self.data().await? else { return Ok(None) };
        let raw = self.client.json(data)?;
        let event: WireEvent = object(&raw)?;
        if event.sequence == SYNTHETIC {
            self.reason = event.message();
            return Ok(None);
        }
        Ok(Some(event.into()))
    }

    /// The data of the next event that has any.
    async fn data(&mut self) -> Result<Option<Vec<u8>>, Error> {
        loop {
            while let Some(data) = self.decoder.next() {
                if !data.is_empty() {
                    return Ok(Some(data));
                }
            }
            match self.body.frame().await {
                Some(frame) => {
                    if let Ok(bytes) = frame?.into_data() {
                        self.decoder.feed(&bytes).map_err(|TooLarge| Error::TooLarge("an event of the runtime"))?;
                    }
                }
                None if self.decoder.is_inside_event() => return Err(Error::Closed),
                None => return Ok(None),
            }
        }
    }
}

#[derive(Serialize)]
struct Prompt<'a> {
    prompt: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    image_urls: &'a [String],
}

fn descriptor(raw: Box<RawValue>) -> Result<Descriptor, Error> {
    #[derive(Deserialize)]
    struct Wire {
        session_id: String,
        source_harness: Option<String>,
        #[serde(default, deserialize_with = "name")]
        model: Option<String>,
        #[serde(default, deserialize_with = "name")]
        emulation_profile: Option<String>,
        turn_state: String,
        connection_state: String,
        #[serde(default)]
        actions: Option<Actions>,
        #[serde(default)]
        extensions: Value,
    }
    let wire: Wire = object(&raw)?;
    let is_known = matches!(wire.turn_state.as_str(), "busy" | "idle");
    let waiting_for = waiting_for(&wire.extensions).filter(|_| is_known);
    let question = ours(&wire.extensions, QUESTION).filter(|_| waiting_for.is_some()).and_then(question);
    let is_working = ours(&wire.extensions, WORKING) == Some(&Value::Bool(true));
    let state = match (wire.connection_state.as_str(), wire.turn_state.as_str()) {
        ("shutting_down", _) => State::ShuttingDown,
        _ if waiting_for.is_some() => State::Waiting,
        (_, "busy") => State::Busy,
        (_, "idle") if is_working => State::Busy,
        (_, "idle") => State::Idle,
        _ => State::Live,
    };
    Ok(Descriptor {
        raw,
        session_id: wire.session_id,
        source_harness: wire.source_harness,
        model: wire.model,
        profile: wire.emulation_profile,
        title: ours(&wire.extensions, TITLE).and_then(Value::as_str).and_then(one_line),
        agent: ours(&wire.extensions, AGENT).and_then(|agent| one_line(agent["name"].as_str()?)),
        state,
        waiting_for,
        question,
        since_ms: ours(&wire.extensions, SINCE).and_then(Value::as_i64).filter(|since| *since > 0),
        actions: wire.actions.unwrap_or_default(),
    })
}

/// What a runtime of ours says besides.
fn ours<'a>(extensions: &'a Value, name: &str) -> Option<&'a Value> {
    extensions.get(OURS)?.get(name)
}

/// That its agent waits for a person, and for what.
fn waiting_for(extensions: &Value) -> Option<String> {
    let said = ours(extensions, WAITING_FOR)?.as_str()?;
    Some(said.chars().filter(|c| !c.is_control()).take(limits::PEER_NAME_CHARS).collect())
}

/// An open request. Its summary is cleaned like everything that a terminal may show.
fn question(value: &Value) -> Option<Question> {
    let mut question = Question::deserialize(value).ok()?;
    let clean = question.summary.chars().map(|c| if c.is_control() { ' ' } else { c });
    question.summary = clean.take(limits::QUESTION_CHARS).collect::<String>().trim().to_owned();
    Some(question)
}

/// A name or a title in one line, shortened.
fn one_line(text: &str) -> Option<String> {
    let clean = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let short: String = clean.take(limits::TITLE_CHARS).collect();
    Some(short.trim().to_owned()).filter(|text| !text.is_empty())
}

#[derive(Deserialize)]
struct WireEvent {
    sequence: u64,
    kind: String,
    payload: Option<Box<RawValue>>,
}

impl WireEvent {
    /// `payload.message`, where there is one.
    fn message(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct Said {
            message: String,
        }
        object::<Said>(self.payload.as_ref()?).ok().map(|said| said.message)
    }
}

impl From<WireEvent> for RuntimeEvent {
    fn from(WireEvent { sequence, kind, payload }: WireEvent) -> Self {
        Self { sequence: Some(sequence), kind, payload, cursor: None, reason: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_runtime_waits_only_where_it_says_for_what() {
        let state = |turn: &str, connection: &str, ours: Value| {
            let told = json!({ "session_id": "s", "source_harness": null, "turn_state": turn,
                "connection_state": connection, "extensions": { OURS: ours } });
            let descriptor = descriptor(serde_json::value::to_raw_value(&told).unwrap()).unwrap();
            (descriptor.state, descriptor.waiting_for)
        };
        let waits = json!({ WAITING_FOR: "app\u{1b}roval" });
        assert_eq!(state("busy", "connected", waits.clone()), (State::Waiting, Some("approval".to_owned())));
        assert_eq!(state("idle", "connected", waits.clone()), (State::Waiting, Some("approval".to_owned())));
        assert_eq!(state("odd", "connected", waits.clone()), (State::Live, None));
        assert_eq!(state("idle", "connected", json!({ WORKING: true })), (State::Busy, None));
        assert_eq!(state("idle", "connected", json!({ WORKING: "true" })), (State::Idle, None));
        assert_eq!(state("busy", "shutting_down", waits).0, State::ShuttingDown);
        for other in [json!(null), json!({}), json!({ WAITING_FOR: null }), json!({ WAITING_FOR: true }), json!([])] {
            assert_eq!(state("busy", "connected", other), (State::Busy, None));
        }
    }
}
