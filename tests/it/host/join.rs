//! Many at one host: two servers, a client of plain HTTP, and everybody who looks.

use super::{allow, join, until_asked};
use crate::support::host::Host;
use crate::support::{DEADLINE, Home, Server, beside, serve};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// A client of plain HTTP with the owner's token.
pub struct Raw {
    address: String,
    token: String,
    name: &'static str,
}

impl Raw {
    pub fn new(host: &Host, name: &'static str) -> Self {
        let receipt = host.receipt();
        let address = receipt["base_url"].as_str().unwrap().trim_start_matches("http://").to_owned();
        Self { address, token: receipt["token"].as_str().unwrap().to_owned(), name }
    }

    fn send(&self, line: &str, body: &str) -> BufReader<TcpStream> {
        let mut socket = TcpStream::connect(&self.address).unwrap();
        socket.set_read_timeout(Some(DEADLINE)).unwrap();
        let Self { token, name, address } = self;
        let request = format!(
            "{line} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nx-supercode-client-id: {name}\r\n\
             Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        socket.write_all(request.as_bytes()).unwrap();
        BufReader::new(socket)
    }

    #[track_caller]
    fn call(&self, method: &str, params: Value) -> Value {
        let body = json!({ "id": 7, "method": format!("frontend.v2.{method}"), "params": params }).to_string();
        let mut answer = String::new();
        self.send("POST /rpc", &body).read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        serde_json::from_str(body).unwrap()
    }

    pub fn listen(&self) -> BufReader<TcpStream> {
        self.send("GET /frontend/events", "")
    }
}

/// The next event of a stream.
#[track_caller]
fn heard(stream: &mut BufReader<TcpStream>) -> Value {
    let mut line = String::new();
    loop {
        line.clear();
        assert!(stream.read_line(&mut line).unwrap() > 0, "the stream ended");
        if let Some(at) = line.find("data: ") {
            return serde_json::from_str(&line[at + "data: ".len()..]).unwrap();
        }
    }
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["kind"].as_str().unwrap()).collect()
}

#[test]
fn control_is_handed_over_in_the_middle_of_a_turn() {
    let home = Home::new();
    let host = Host::demo(&home);
    let mut anna = serve(home);
    let mut ben = beside(&anna);
    let raw = Raw::new(&host, "carl");
    let (of_anna, of_ben) = (join(&mut anna, host.id(), "anna"), join(&mut ben, host.id(), "ben"));
    let mut stream = raw.listen();
    let request = until_asked(&mut anna, &of_anna);

    let refused = ben.at(&of_ben, "respond", allow(&request)).error();
    assert_eq!(refused.is(-32006, "controller_required").data["holder"], "anna");
    let refused =
        raw.call("respond", json!({ "response": { "kind": "approval", "request_id": request, "decision": "deny" } }));
    assert_eq!(refused["error"]["name"], "controller_required");
    let lease = ben.at(&of_ben, "takeControl", json!({})).result();
    assert_eq!(lease["lease"]["controller"]["clientId"], "ben");
    let observers: Vec<&Value> =
        lease["lease"]["observers"].as_array().unwrap().iter().map(|one| &one["clientId"]).collect();
    assert_eq!(observers, ["anna", "ben", "carl"]);
    // The turn went on, and who drives now answers it.
    ben.at(&of_ben, "respond", allow(&request)).result();
    let told = anna.events_to(&of_anna, "turn_succeeded");
    assert!(kinds(&told).contains(&"request_resolved"), "{told:?}");
    let reply = told.last().unwrap()["payload"]["reply"].as_str().unwrap();
    assert!(reply.ends_with("Watered, in this demo at least."), "{reply}");

    // All were told the same, in the same order.
    let mut last = Value::Null;
    let mut numbers = vec![];
    while last["kind"] != "turn_succeeded" {
        last = heard(&mut stream);
        numbers.push(last["sequence"].as_u64().unwrap());
    }
    assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
    assert_eq!(last, told.last().cloned().unwrap());
}

#[test]
fn twenty_look_and_all_see_the_same() {
    let home = Home::new();
    let host = Host::demo(&home);
    let mut servers: Vec<Server> = vec![serve(home)];
    servers.extend((0..3).map(|_| beside(&servers[0])).collect::<Vec<_>>());
    let attachments: Vec<(usize, Value)> = (0..20)
        .map(|number| (number % 4, join(&mut servers[number % 4], host.id(), &format!("client-{number}"))))
        .collect();
    let (driver, at) = &attachments[0];
    let request = until_asked(&mut servers[*driver], at);
    servers[*driver].at(at, "respond", allow(&request)).result();
    let first = servers[*driver].events_to(at, "turn_succeeded");
    for (server, at) in &attachments[1..] {
        let all = servers[*server].events_to(at, "turn_succeeded");
        assert!(all.ends_with(&first), "{all:?} {first:?}");
    }
    let lease = servers[*driver].at(at, "lease", json!({})).result();
    assert_eq!(lease["lease"]["observers"].as_array().unwrap().len(), 20);
}

#[test]
fn who_comes_later_is_told_what_was() {
    let home = Home::new();
    let host = Host::demo(&home);
    let mut anna = serve(home);
    let at = join(&mut anna, host.id(), "anna");
    let request = until_asked(&mut anna, &at);
    let mut ben = beside(&anna);
    let joined = ben.request("runtime/attach", json!({ "runtimeId": host.id(), "clientId": "ben" })).result();
    let replayed = kinds(joined["replay"].as_array().unwrap());
    assert!(
        replayed.starts_with(&["user_message", "turn_started"]) && replayed.ends_with(&["request"]),
        "{replayed:?}"
    );
    assert_eq!(joined["descriptor"]["turn_state"], "busy");
    anna.at(&at, "respond", allow(&request)).result();
    ben.events_to(&joined["attachment"], "turn_succeeded");
    // After the turn it is history.
    let mut carl = beside(&anna);
    let joined = carl.request("runtime/attach", json!({ "runtimeId": host.id() })).result();
    let history = joined["history"].to_string();
    assert!(history.contains("water") && history.contains("Watered, in this demo at least."), "{history}");
}

#[test]
fn while_nobody_watches_what_is_asked_is_denied_or_waits_as_it_was_told() {
    for (flags, waits) in [(&[] as &[&str], false), (&["--unattended", "wait"], true)] {
        let home = Home::new();
        let host = Host::start(&home, flags, &crate::support::host::DEMO_AGENT);
        let raw = Raw::new(&host, "carl");
        assert_eq!(raw.call("send_input", json!({ "prompt": "water" }))["result"], json!({ "accepted": true }));
        let mut server = serve(home);
        if waits {
            while super::entry(&mut server)["state"] != "waiting" {}
            let joined =
                server.request("runtime/attach", json!({ "runtimeId": host.id(), "clientId": "carl" })).result();
            let replay = joined["replay"].as_array().unwrap();
            let request = &replay.iter().find(|event| event["kind"] == "request").unwrap()["payload"]["request"]["id"];
            server.at(&joined["attachment"], "respond", allow(request)).result();
        } else {
            while super::entry(&mut server)["state"] != "idle" {}
        }
        let said = loop {
            let snapshot = raw.call("attach", json!({}))["result"].to_string();
            if snapshot.contains("atered") {
                break snapshot;
            }
        };
        assert_eq!(said.contains("Not watered"), !waits, "{said}");
    }
}
