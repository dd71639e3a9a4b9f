//! `registry/watch`: what a client makes of the events is what a list answers.

mod edits;
mod faults;
mod life;
mod peers;
mod property;
mod revisions;
mod scope;
mod stalls;
mod world;

use serde_json::{Value, json};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

fn append(path: &Path, line: &Value) {
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    writeln!(file, "{line}").unwrap();
}

/// A message of a Claude Code session; the `second` is that of a day.
fn message(session: &str, workspace: &str, text: &str, second: u32) -> Value {
    let time = format!("2026-01-03T{:02}:{:02}:{:02}.000Z", second / 3600, second / 60 % 60, second % 60);
    json!({ "type": "user", "uuid": text, "sessionId": session, "cwd": workspace, "timestamp": time,
        "message": { "role": "user", "content": text } })
}
