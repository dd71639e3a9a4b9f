mod approvals;
mod bounds;
mod captures;
mod client;
mod door;
mod leases;

mod narrowing;
mod ring;
mod secret;
mod streams;
mod turns;

use super::agent::{Agent, Approval, Ask, Choice, Command, Event, Facts, Gone, Told, TurnEnd};
use super::{End, Host, Options, Unattended};
use crate::protocol::{Decision, Harness, Token};
use crate::runtime::wire::{CLIENT_ID, PERMISSIONS};
use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::{Map, Value, json};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};

const TOKEN: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const PATIENCE: Duration = Duration::from_secs(60);

/// The other side of the channels: an agent that does what a test says.
struct Script {
    asks: mpsc::Receiver<Ask>,
    told: mpsc::Sender<Told>,
}

impl Script {
    async fn asked(&mut self) -> Ask {
        tokio::time::timeout(PATIENCE, self.asks.recv()).await.expect("in time").expect("the host is there")
    }

    async fn prompted(&mut self) -> String {
        match self.asked().await {
            Ask::Prompt(prompt) => prompt.text,
            other => panic!("{other:?}"),
        }
    }

    async fn tell(&self, told: Told) {
        self.told.send(told).await.expect("the host listens");
    }

    async fn event(&self, kind: &'static str, payload: Value) {
        self.tell(Told::Event(event(kind, payload))).await;
    }

    async fn say(&self, text: &str) {
        self.event("text_delta", json!({ "text": text })).await;
    }

    async fn end(&self) {
        self.tell(Told::TurnEnded(TurnEnd::Done("end_turn".to_owned()))).await;
    }

    /// Asks a person: where the decision arrives.
    async fn ask(&self, decisions: &[Decision]) -> oneshot::Receiver<Decision> {
        let (answer, decided) = oneshot::channel();
        let payload = members(json!({ "tool": "bash", "subject": "echo", "raw_args": { "command": "echo" } }));
        self.tell(Told::Approval(Approval { payload, decisions: decisions.to_vec(), of_turn: true, answer })).await;
        decided
    }

    /// Says something outside of a turn.
    async fn say_outside(&self, text: &str) {
        self.tell(Told::Outside(event("text_delta", json!({ "text": text })))).await;
    }
}

fn members(value: Value) -> Map<String, Value> {
    value.as_object().cloned().expect("an object")
}

fn event(kind: &'static str, payload: Value) -> Event {
    Event { kind, payload: members(payload) }
}

fn facts() -> Facts {
    Facts {
        harness: Some(Harness::Gemini),
        session_id: "native".to_owned(),
        model: Some("fake-model".to_owned()),
        commands: vec![
            Command { name: "review".to_owned(), description: "Reviews".to_owned(), hint: Some("[what]".to_owned()) },
            Command { name: "plain".to_owned(), description: String::new(), hint: None },
        ],
        models: vec![Choice { id: "other".to_owned(), name: "Other".to_owned() }],
        modes: vec![Choice { id: "plan".to_owned(), name: "Plan".to_owned() }],
        ..Facts::default()
    }
}

fn agent(facts: Facts, history: Vec<Event>) -> (Agent, Script) {
    let (asks, asked) = mpsc::channel(16);
    let (tell, told) = mpsc::channel(64);
    (Agent { pid: 1, facts, history, asks, told }, Script { asks: asked, told: tell })
}

fn options() -> Options {
    Options {
        runtime_id: "native".to_owned(),
        token: Token::new(TOKEN.to_owned()),
        lease_ttl: Duration::from_secs(30),
        unattended: Unattended::Deny,
        profile: None,
        port: 0,
    }
}

/// A host and its agent.
async fn host() -> (Host, Script) {
    with(options()).await
}

async fn with(options: Options) -> (Host, Script) {
    let (agent, script) = agent(facts(), Vec::new());
    (Host::start(agent, options).await.expect("a free port"), script)
}

fn address(host: &Host) -> String {
    host.base_url().strip_prefix("http://").expect("an address").to_owned()
}

async fn dial(host: &Host) -> TcpStream {
    TcpStream::connect(address(host)).await.expect("the door is open")
}

/// Sends bytes, and reads until the other side closes.
async fn exchange(host: &Host, bytes: impl AsRef<[u8]>) -> String {
    let mut socket = dial(host).await;
    // Who is refused early may not take all of it.
    let _ = socket.write_all(bytes.as_ref()).await;
    to_end(&mut socket).await
}

async fn to_end(socket: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    let read = socket.read_to_end(&mut answer);
    tokio::time::timeout(PATIENCE, read).await.expect("it closes").expect("it was read");
    String::from_utf8(answer).expect("UTF-8")
}

fn status(answer: &str) -> u16 {
    answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_else(|| panic!("no status: {answer:?}"))
}

fn body(answer: &str) -> Value {
    let (_, body) = answer.split_once("\r\n\r\n").expect("a head");
    serde_json::from_str(body).unwrap_or_else(|_| panic!("no JSON: {answer:?}"))
}

/// A request as it is written.
fn request(line: &str, headers: &[&str], body: &str) -> String {
    let own: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    let length = if body.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
    format!("{line} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n{own}{length}\r\n{body}")
}

fn bearer() -> String {
    format!("Authorization: Bearer {TOKEN}")
}

/// A client by its name. It calls methods with reqwest, so that the server is not only tested against requests and a
/// parser of our own.
struct Client<'a> {
    http: reqwest::Client,
    host: &'a Host,
    id: &'a str,
    permissions: Option<&'a str>,
}

impl<'a> Client<'a> {
    fn new(host: &'a Host, id: &'a str) -> Self {
        let http = reqwest::Client::builder().no_proxy().build().expect("a client");
        Self { http, host, id, permissions: None }
    }

    fn headers(&self) -> Vec<String> {
        let narrowed = self.permissions.map(|permissions| format!("x-supercode-permissions: {permissions}"));
        [bearer(), format!("x-supercode-client-id: {}", self.id)].into_iter().chain(narrowed).collect()
    }

    fn write(&self, line: &str, body: &str) -> String {
        let headers = self.headers();
        request(line, &headers.iter().map(String::as_str).collect::<Vec<_>>(), body)
    }

    /// A call: its envelope.
    async fn call(&self, method: &str, params: Value) -> Value {
        let asked = json!({ "id": 1, "method": method, "params": params });
        let answer = soon(self.ask(Method::POST, "/rpc").json(&asked).send()).await.expect("an answer");
        assert_eq!(answer.status(), StatusCode::OK, "{method}");
        answer.json().await.expect("JSON")
    }

    fn ask(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.host.base_url())).bearer_auth(TOKEN);
        let request = request.header(CLIENT_ID, self.id);
        self.permissions.into_iter().fold(request, |request, permissions| request.header(PERMISSIONS, permissions))
    }

    /// A call that succeeds: its result.
    async fn ok(&self, method: &str, params: Value) -> Value {
        let answer = self.call(method, params).await;
        answer.get("result").unwrap_or_else(|| panic!("{method}: {answer}")).clone()
    }

    /// A call that fails: its error.
    async fn error(&self, method: &str, params: Value) -> Value {
        let answer = self.call(method, params).await;
        answer.get("error").unwrap_or_else(|| panic!("{method}: {answer}")).clone()
    }

    /// Opens a stream of events.
    async fn listen(&self) -> Listening {
        let mut socket = dial(self.host).await;
        socket.write_all(self.write("GET /frontend/events", "").as_bytes()).await.expect("sent");
        let mut listening = Listening { socket, read: String::new() };
        listening.until("\r\n\r\n").await;
        assert!(listening.read.starts_with("HTTP/1.1 200 OK\r\n"), "{}", listening.read);
        listening.read.clear();
        listening
    }
}

/// An open stream of events.
struct Listening {
    socket: TcpStream,
    read: String,
}

impl Listening {
    async fn until(&mut self, text: &str) {
        while !self.read.contains(text) {
            assert!(self.more().await, "it ended before {text:?}");
        }
    }

    async fn more(&mut self) -> bool {
        let mut bytes = [0; 64 << 10];
        let read = self.socket.read(&mut bytes);
        let read = tokio::time::timeout(PATIENCE, read).await.expect("in time").unwrap_or_default();
        self.read.push_str(std::str::from_utf8(&bytes[..read]).expect("texts of one byte a character"));
        read > 0
    }

    /// The events so far.
    fn events(&self) -> Vec<Value> {
        let lines = self.read.lines().filter_map(|line| line.strip_prefix("data: "));
        lines.filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Reads until an event of this kind is there: it.
    async fn event(&mut self, kind: &str) -> Value {
        loop {
            if let Some(event) = self.events().into_iter().find(|event| event["kind"] == kind) {
                return event;
            }
            assert!(self.more().await, "it ended before {kind}: {:?}", kinds(&self.events()));
        }
    }

    /// Reads to the end: all events.
    async fn rest(mut self) -> Vec<Value> {
        while self.more().await {}
        self.events()
    }
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["kind"].as_str().expect("a kind")).collect()
}

/// What comes in time.
async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, what).await.expect("in time")
}

/// Asks again until it is so.
async fn until(mut is_so: impl AsyncFnMut() -> bool) {
    soon(async { while !is_so().await {} }).await;
}

/// Waits until no turn runs.
async fn until_idle(client: &Client<'_>) {
    until(async || client.ok("status", json!({})).await["busy"] == false).await;
}

/// Waits until who attaches is told of so many events.
async fn until_replayed(client: &Client<'_>, count: usize) {
    let replayed = async || client.ok("frontend.v2.attach", json!({})).await["replay"].as_array().map(Vec::len);
    until(async || replayed().await >= Some(count)).await;
}

/// Waits until the leases are so.
async fn until_lease(client: &Client<'_>, is_so: impl Fn(&Value) -> bool) {
    until(async || is_so(&client.ok("frontend.v2.lease", json!({})).await)).await;
}

/// How the agent's end looks.
fn gone() -> Gone {
    Gone { how: "exit code 3".to_owned(), stderr: "out of tea".to_owned() }
}
