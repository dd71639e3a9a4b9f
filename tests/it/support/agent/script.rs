//! What the words of a prompt make the test agent do, one after the other. A word may have an argument behind a colon, in
//! which `_` stands for a space.

use super::wire::Wire;
use serde_json::{Value, json};
use std::process::Command;
use std::sync::OnceLock;

/// What the client declared that it can do.
pub static DECLARED: OnceLock<Value> = OnceLock::new();

/// Plays a turn.
pub fn play(wire: &Wire, id: &Value, prompt: &Value) {
    let text = prompt[0]["text"].as_str().unwrap_or_default();
    let mut has_ended = false;
    for word in text.split_whitespace() {
        let (word, argument) = word.split_once(':').unwrap_or((word, ""));
        let argument = argument.replace('_', " ");
        let number = || argument.parse::<usize>().expect("a number");
        match word {
            "say" => wire.say(&argument),
            "think" => wire.update(json!({
                "sessionUpdate": "agent_thought_chunk", "content": { "type": "text", "text": argument } })),
            "plan" => wire.update(json!({
                "sessionUpdate": "plan", "entries": [{ "content": "first", "priority": "high", "status": "pending" }] })),
            "picture" => wire.update(json!({
                "sessionUpdate": "agent_message_chunk", "content": { "type": "image", "data": "AAAA", "mimeType": "image/png" } })),
            "odd" => wire.update(json!({ "sessionUpdate": "of_the_future", "much": 1 })),
            "note" => wire.notify("_mine/note", json!({ "text": argument })),
            "mode" => wire.update(json!({ "sessionUpdate": "current_mode_update", "currentModeId": argument })),
            "title" => wire.update(json!({ "sessionUpdate": "session_info_update", "title": argument })),
            "usage" => wire.update(json!({ "sessionUpdate": "usage_update", "used": 10, "size": 100 })),
            "echo" => wire.say(&prompt.to_string()),
            "env" => wire.say(&std::env::var(argument).unwrap_or_else(|_| "unset".to_owned())),
            "tool" => tool(wire, "completed"),
            "fail-tool" => tool(wire, "failed"),
            "done-tool" => wire.update(json!({
                "sessionUpdate": "tool_call", "toolCallId": "t", "title": "Read file", "kind": "read", "status": "completed",
                "content": [{ "type": "content", "content": { "type": "text", "text": "read" } }] })),
            "ask" => wire.say(&permission(wire, "p", &argument).recv().expect("an answer")["result"]["outcome"].to_string()),
            "ask-two" => ask_two(wire),
            "capabilities" => wire.say(&DECLARED.get().expect("what the client declared").to_string()),
            "form" => wire.say(&form(wire)),
            "terminal" => terminal(wire, &argument),
            "ask-withdraw" => ask_withdraw(wire),
            "call" => {
                let (method, params) = argument.split_once('=').expect("params");
                let method = match method {
                    "read" => "fs/read_text_file",
                    "write" => "fs/write_text_file",
                    other => other,
                };
                wire.say(&wire.call(method, serde_json::from_str(params).expect("params")).to_string());
            }
            "run" => wire.say(&run(wire, &argument).to_string()),
            "run-forever" => {
                let terminal = wire.call("terminal/create", json!({ "command": "sh", "args": ["-c", argument] }));
                wire.say(terminal["terminalId"].as_str().expect("an id"));
            }
            "child" => {
                let started = Command::new("sh").args(["-c", "sleep 600 >&- 2>&- & echo $!"]).output().expect("a child");
                wire.say(String::from_utf8_lossy(&started.stdout).trim());
            }
            "flood" => (0..number()).for_each(|n| wire.say(&format!("{n} "))),
            "large" => wire.say(&"x".repeat(number())),
            "nonsense" => wire.nonsense(number()),
            "giant" => wire.line(&vec![b'x'; number()]),
            "babble" => (0..number()).for_each(|_| wire.line(&vec![b'x'; 1 << 20])),
            "line" => wire.line(argument.as_bytes()),
            "call-by" => wire.say(&wire.call_by(argument.as_bytes()).to_string()),
            "many-parts" => {
                let parts = vec![json!({ "a": 1 }); number()];
                wire.update(json!({ "sessionUpdate": "wat", "x": parts }));
            }
            "reads" => reads(wire, &argument),
            "ask-reads" => drop(ask_reads(wire, &argument)),
            "stop" => {
                // SAFETY: it touches no memory of ours.
                unsafe { libc::raise(libc::SIGSTOP) };
            }
            "in-order" => in_order(wire, &argument),
            "ask-many" => {
                let asked: Vec<_> = (0..number()).map(|n| permission(wire, &n.to_string(), "")).collect();
                let refused = asked.last().and_then(|last| last.recv().ok());
                wire.say(&refused.expect("an answer")["error"]["message"].to_string());
            }
            "wait-many" => {
                let wait = || wire.ask("terminal/wait_for_exit", json!({ "terminalId": argument })).1;
                let waits: Vec<_> = (0..500).map(|_| wait()).collect();
                wire.call("terminal/kill", json!({ "terminalId": argument }));
                let ended = waits.iter().filter(|wait| wait.recv().is_ok_and(|wait| wait.get("result").is_some()));
                wire.say(&ended.count().to_string());
            }
            "stderr" => (0..number()).for_each(|n| eprintln!("line {n} of a log")),
            "crash" => std::process::abort(),
            "exit" => std::process::exit(9),
            "close" => {
                // SAFETY: nothing of ours uses the descriptor afterwards.
                unsafe { libc::close(1) };
            }
            "slow" => {
                wire.await_cancel();
                wire.say("stopping");
                return wire.answer(id, json!({ "stopReason": "cancelled" }));
            }
            "rude" => {
                wire.await_cancel();
                return wire.fail(id, -32603, "aborted");
            }
            "deaf" => return,
            "refuse" => return wire.answer(id, json!({ "stopReason": "refusal" })),
            "fail" => return wire.fail(id, -32603, "the model is down"),
            // The turn ends, and the words that follow are played outside of it.
            "then" => {
                wire.answer(id, json!({ "stopReason": "end_turn" }));
                has_ended = true;
            }
            "begin-tool" => wire.update(json!({ "sessionUpdate": "tool_call", "toolCallId": argument, "title": "Build",
                "kind": "execute", "status": "in_progress", "rawInput": { "command": "make" } })),
            "end-tool" => wire.update(json!({ "sessionUpdate": "tool_call_update", "toolCallId": argument,
                "status": "completed", "content": [{ "type": "content", "content": { "type": "text", "text": "built" } }] })),
            "result" => wire.update(json!({ "sessionUpdate": "usage_update", "used": 10, "size": 100,
                "cost": { "amount": 0.1, "currency": "USD" } })),
            _ => {}
        }
    }
    if !has_ended {
        wire.answer(id, json!({ "stopReason": "end_turn" }));
    }
}

pub fn commands() -> Value {
    json!({ "sessionUpdate": "available_commands_update", "availableCommands": [
        { "name": "web", "description": "Search the web", "input": { "hint": "what for" } }] })
}

/// Asks for a form to be filled in: the whole answer.
fn form(wire: &Wire) -> String {
    let schema = json!({ "type": "object", "properties": { "port": { "type": "integer", "minimum": 1 } }, "required": ["port"] });
    let (_, answer) =
        wire.ask("elicitation/create", json!({ "mode": "form", "message": "Which port?", "requestedSchema": schema }));
    answer.recv().expect("an answer").to_string()
}

/// A command whose output comes in `_meta` under this key, as Codex's adapter 2.6.0 and Claude Code's 0.49.0 send it.
fn terminal(wire: &Wire, key: &str) {
    let key = key.replace(' ', "_");
    wire.update(json!({ "sessionUpdate": "tool_call", "toolCallId": "c", "title": "make", "kind": "execute",
        "status": "in_progress", "content": [{ "type": "terminal", "terminalId": "c" }], "rawInput": { "command": "make" } }));
    for piece in ["one\n", "two\n"] {
        wire.update(json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c",
            "_meta": { (key.as_str()): { "terminal_id": "c", "data": piece } } }));
    }
    wire.update(json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "failed",
        "_meta": { "terminal_exit": { "terminal_id": "c", "exit_code": 2, "signal": null } } }));
}

/// What is repeated when a session is loaded.
pub fn history(wire: &Wire) {
    let said = |kind: &str, text: &str| {
        wire.update(json!({ "sessionUpdate": kind, "content": { "type": "text", "text": text } }));
    };
    said("user_message_chunk", "hel");
    said("user_message_chunk", "lo");
    said("agent_message_chunk", "hi ");
    said("agent_message_chunk", "there");
    tool(wire, "completed");
    wire.update(json!({ "sessionUpdate": "session_info_update", "title": "Of old" }));
}

fn tool(wire: &Wire, status: &str) {
    wire.update(
        json!({ "sessionUpdate": "tool_call", "toolCallId": "t", "title": "bash", "kind": "execute", "rawInput": {} }),
    );
    wire.update(json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "in_progress",
        "title": "Run ls", "rawInput": { "command": "ls" } }));
    wire.update(json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t", "status": status, "content": [
        { "type": "content", "content": { "type": "text", "text": "ran" } },
        { "type": "diff", "path": "/w/a", "oldText": "1\n2\n", "newText": "1\n3\n" }] }));
}

/// Asks for permission for a tool call that was not told before. The argument names the options that are offered.
fn permission(wire: &Wire, tool: &str, offered: &str) -> std::sync::mpsc::Receiver<Value> {
    let kinds = if offered.is_empty() { "allow once,allow always,reject once" } else { offered };
    let option = |kind: String| json!({ "optionId": format!("option-{kind}"), "name": kind, "kind": kind });
    let options: Vec<_> = kinds.split(',').map(|kind| option(kind.replace(' ', "_"))).collect();
    let call = json!({ "toolCallId": tool, "title": format!("Run {tool}"), "kind": "execute", "status": "pending",
        "rawInput": { "command": "rm x" }, "locations": [{ "path": "/w/x" }] });
    wire.ask("session/request_permission", json!({ "toolCall": call, "options": options })).1
}

fn ask_reads(wire: &Wire, argument: &str) -> Vec<std::sync::mpsc::Receiver<Value>> {
    let (count, path) = argument.split_once('=').expect("a path");
    let read = |_| wire.ask("fs/read_text_file", json!({ "path": path })).1;
    (0..count.parse::<usize>().expect("a number")).map(read).collect()
}

/// Asks for a file many times at once, and says how many bytes came.
fn reads(wire: &Wire, argument: &str) {
    let reads = ask_reads(wire, argument);
    let bytes = |read: std::sync::mpsc::Receiver<Value>| {
        read.recv().expect("an answer")["result"]["content"].as_str().map_or(0, str::len)
    };
    wire.say(&reads.into_iter().map(bytes).sum::<usize>().to_string());
}

/// Writes a file many times without waiting, and says what is read in between and what was not as it should be.
fn in_order(wire: &Wire, path: &str) {
    let ask = |n: usize| {
        wire.ask("fs/write_text_file", json!({ "path": path, "content": n.to_string() }));
        wire.ask("fs/read_text_file", json!({ "path": path })).1
    };
    let reads: Vec<_> = (0..100).map(ask).collect();
    let read = |read: std::sync::mpsc::Receiver<Value>| read.recv().expect("an answer")["result"]["content"].clone();
    let odd = reads.into_iter().map(read).enumerate().filter(|(n, read)| read.as_str() != Some(&*n.to_string()));
    wire.say(&format!("odd: {:?}", odd.collect::<Vec<_>>()));
}

fn ask_two(wire: &Wire) {
    let answers = [permission(wire, "one", ""), permission(wire, "two", "")];
    for (name, answer) in ["one", "two"].into_iter().zip(answers) {
        let answer = answer.recv().expect("an answer");
        wire.say(&format!("{name}: {} ", answer["result"]["outcome"]["optionId"].as_str().unwrap_or("cancelled")));
    }
}

fn ask_withdraw(wire: &Wire) {
    let options = json!([{ "optionId": "a", "name": "a", "kind": "allow_once" }]);
    let params = json!({ "toolCall": { "toolCallId": "w", "title": "Wait" }, "options": options });
    let (id, answer) = wire.ask("session/request_permission", params);
    wire.notify("$/cancel_request", json!({ "requestId": id }));
    wire.say(&answer.recv().expect("an answer")["error"]["code"].to_string());
}

/// Runs a command in a terminal, as agents do.
fn run(wire: &Wire, command: &str) -> Value {
    let created = wire.call(
        "terminal/create",
        json!({ "command": "sh", "args": ["-c", command],
        "env": [{ "name": "GREETING", "value": "hello" }], "outputByteLimit": 20 }),
    );
    let Some(id) = created.get("terminalId") else { return created };
    let exit = wire.call("terminal/wait_for_exit", json!({ "terminalId": id }));
    let output = wire.call("terminal/output", json!({ "terminalId": id }));
    let released = wire.call("terminal/release", json!({ "terminalId": id }));
    let gone = wire.call("terminal/output", json!({ "terminalId": id }));
    json!({ "exit": exit, "output": output, "released": released, "gone": gone["code"] })
}
