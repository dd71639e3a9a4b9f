//! `tackroom host`: an agent of the Agent Client Protocol as a runtime that many can join.

mod agent;
mod bad;
mod detach;
mod join;
mod life;
mod outside;
mod start;
mod tmux;

use crate::support::Server;
use serde_json::{Value, json};

/// The one entry that a server lists.
#[track_caller]
fn entry(server: &mut Server) -> Value {
    let listed = server.request("registry/list", json!({})).result();
    let [entry] = <[Value; 1]>::try_from(listed["entries"].as_array().unwrap().clone()).unwrap();
    entry
}

/// Attaches under a name: the attachment.
#[track_caller]
fn join(server: &mut Server, id: &Value, name: &str) -> Value {
    server.request("runtime/attach", json!({ "runtimeId": id, "clientId": name })).result()["attachment"].take()
}

/// Begins a turn of the demo's agent and waits until it asks: the id of what it asks.
#[track_caller]
fn until_asked(server: &mut Server, attachment: &Value) -> Value {
    server.at(attachment, "sendInput", json!({ "prompt": "water" })).result();
    let events = server.events_to(attachment, "request");
    events.last().unwrap()["payload"]["request"]["id"].clone()
}

/// What answers that.
fn allow(request: &Value) -> Value {
    json!({ "response": { "kind": "approval", "requestId": request, "decision": "allow" } })
}
