//! An agent that is hosted, and two clients that join it: each through a server of its own.

use super::tackroom;
use super::talk::{Talk, gone};
use crate::cli::FAILED;
use crate::cli::output::{self, Colour, Failure, Screen};
use crate::host::start::{Ready, Starting};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::Path;
use tokio::runtime::Handle;

const DRIVER: &str = "observe,interact,approve,terminate";

/// Hosts the demo's own agent, and shows what two clients hear of it.
pub(super) fn show(home: &Path, screen: &Screen) -> Result<(), Failure> {
    let heading = "A hosted agent: `tackroom host -- AGENT`";
    output::write(&format!("\n{}\n", screen.paint(heading, Colour::Bold)))?;
    // It ends with the demo, whatever ends that: it is never told to go on alone.
    let (_host, ready) = Handle::current().block_on(host(home))?;
    output::write(&format!("hosting {} as {}\n", ready.source.harness.name(), ready.endpoint))?;
    let mut anna = Client::join(home, screen, "anna ", &ready)?;
    let mut ben = Client::join(home, screen, "ben  ", &ready)?;

    anna.talk.tell(
        "Anna sends a prompt and gets control. The agent replies, and asks for approval before it uses a tool.",
    )?;
    anna.ask("runtime/sendInput", json!({ "prompt": "Water the tomatoes, please" }))?;
    let asked = anna.until("request")?;
    anna.show()?;

    ben.talk.tell("Ben received the same events. The list shows the agent as waiting.")?;
    ben.until("request")?;
    ben.same(&anna)?;
    ben.talk.request("registry/list", json!({ "query": { "persisted": false, "harnesses": ["acp"] } }))?;
    let mut listed = ben.answer()?;
    let entry = listed["result"]["entries"][0].take();
    ben.talk.heard(&json!({ "id": entry["id"], "state": entry["state"], "activity": entry["activity"] }))?;

    ben.talk.tell("Ben takes control during Anna's turn and approves. Both receive the end of the turn.")?;
    ben.ask("runtime/takeControl", json!({}))?;
    let response = json!({ "kind": "approval", "requestId": asked["payload"]["request"]["id"], "decision": "allow" });
    ben.ask("runtime/respond", json!({ "response": response }))?;
    ben.until("turn_succeeded")?;
    ben.show()?;
    anna.until("turn_succeeded")?;
    anna.same(&ben)?;

    ben.talk.tell("Ben closes the runtime for all clients.")?;
    ben.ask("runtime/close", json!({}))?;
    anna.until("disconnected")?;
    anna.show()?;
    anna.leave()?;
    ben.leave()
}

async fn host(home: &Path) -> Result<(Starting, Ready), Failure> {
    let mut program = tackroom(home)?;
    program.current_dir(home);
    let agent = [std::env::current_exe()?.into_os_string(), "demo-agent".into()];
    let arguments: Vec<OsString> = std::iter::once("--".into()).chain(agent).collect();
    let mut starting = Starting::of(program, &arguments)?;
    let ready = starting.ready().await?;
    Ok((starting, ready))
}

/// One who is attached.
struct Client<'a> {
    talk: Talk<'a>,
    attachment: Value,
    /// Messages that came before they were waited for.
    told: VecDeque<Value>,
    /// The events that were waited for last, without what says the same twice.
    heard: Vec<Value>,
}

impl<'a> Client<'a> {
    fn join(home: &Path, screen: &'a Screen, name: &'a str, ready: &Ready) -> Result<Self, Failure> {
        let mut talk = Talk::open(home, screen, name, DRIVER)?;
        talk.tell(&format!("{}attaches.", capital(name)))?;
        let mut client = {
            talk.request(
                "initialize",
                json!({ "clientInfo": { "name": name.trim() }, "processId": std::process::id() }),
            )?;
            Self { talk, attachment: Value::Null, told: VecDeque::new(), heard: Vec::new() }
        };
        client.answer()?;
        let params = json!({ "endpoint": ready.endpoint, "source": ready.source, "clientId": name.trim() });
        client.talk.request("runtime/attach", params)?;
        let joined = client.answer()?;
        client.attachment = joined["result"]["attachment"].clone();
        let lease = &joined["result"]["lease"];
        client.talk.heard(&json!({ "attachment": client.attachment, "lease": lease }))?;
        Ok(client)
    }

    /// Asks something of the attachment, and shows what is answered.
    fn ask(&mut self, method: &str, mut params: Value) -> Result<(), Failure> {
        params["attachment"] = self.attachment.clone();
        self.talk.request(method, params)?;
        let answer = self.answer()?;
        self.talk.heard(&answer)
    }

    /// The answer to the last request; what is told meanwhile waits.
    fn answer(&mut self) -> Result<Value, Failure> {
        loop {
            let message = self.talk.next()?;
            if message.get("method").is_none() {
                return match message.get("error") {
                    None => Ok(message),
                    Some(error) => Err(Failure::new(FAILED, format!("a request of the demo was refused: {error}"))),
                };
            }
            self.told.push_back(message);
        }
    }

    /// Hears the events up to one of this kind, and answers it.
    fn until(&mut self, kind: &str) -> Result<Value, Failure> {
        self.heard.clear();
        loop {
            let message = self.told.pop_front().map_or_else(|| self.talk.next(), Ok)?;
            let mut event = message["params"]["event"].clone();
            if let Some(payload) = event.get_mut("payload").and_then(Value::as_object_mut) {
                // What the agent itself sent, and what the kind says.
                ["raw", "type", "schema_version"].iter().for_each(|name| drop(payload.shift_remove(*name)));
            }
            if let Some(request) = event.pointer_mut("/payload/request/payload").and_then(Value::as_object_mut) {
                request.shift_remove("raw");
            }
            self.heard.push(event);
            if message["params"]["event"]["kind"] == kind {
                return Ok(message["params"]["event"].clone());
            }
            if message["params"]["event"]["kind"] == "disconnected" {
                return Err(gone("the runtime exited"));
            }
        }
    }

    /// Shows what was heard.
    fn show(&self) -> Result<(), Failure> {
        self.heard.iter().try_for_each(|event| self.talk.heard(event))
    }

    /// Says that the same was heard as by another one, which must be so.
    fn same(&self, other: &Self) -> Result<(), Failure> {
        if self.heard != other.heard {
            return Err(Failure::new(FAILED, "two clients received different events; please report this"));
        }
        let count = self.heard.len();
        output::write(&format!("{}<-- the same {count} events\n", self.talk.name))
    }

    fn leave(mut self) -> Result<(), Failure> {
        self.talk.request("shutdown", json!({}))?;
        self.answer()?;
        self.talk.notify("exit")?;
        self.talk.close()
    }
}

fn capital(name: &str) -> String {
    let mut letters = name.trim_end().chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect::<String>() + " ")
}
