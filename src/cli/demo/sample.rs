//! The sample home: stores as the programs write them, with times that look recent, and one live session.

use super::{FAILED, Failure};
use crate::platform::process;
use jiff::Timestamp;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

macro_rules! file {
    ($path:literal) => {
        ($path, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/demo/", $path)))
    };
}

/// The sample's files, by their place in the home; only the dot before it is added.
const FILES: &[(&str, &str)] = &[
    file!("claude/projects/-home-demo-recipe-box/13deef86-ab10-41d0-b646-e1f40a097c97.jsonl"),
    file!("claude/projects/-home-demo-recipe-box/153e7c2a-26a2-40bd-bb12-87fff52ddf5d.jsonl"),
    file!("claude/projects/-home-demo-recipe-box/7f1b103c-df15-42b0-aab4-77d26415479c.jsonl"),
    file!("claude/projects/-home-demo-weather-station/6513270e-269e-4d37-b2a7-4de452e6b438.jsonl"),
    file!(
        "claude/projects/-home-demo-weather-station/6513270e-269e-4d37-b2a7-4de452e6b438/subagents/agent-a867347214cdd2055.jsonl"
    ),
    file!(
        "claude/projects/-home-demo-weather-station/6513270e-269e-4d37-b2a7-4de452e6b438/subagents/agent-a867347214cdd2055.meta.json"
    ),
    file!("codex/sessions/01a225f1-83b6-7d02-8e57-2b90c6f4a1d3.jsonl"),
    file!("codex/sessions/01a22b8c-5f20-7c41-9a3e-6d1f08b2c47a.jsonl"),
];
/// The time at which the times in the files are right.
const WRITTEN: &str = "2026-11-30T09:00:00Z";
/// The session that waits for a person, and where it works.
const WAITING: (&str, &str) = ("6513270e-269e-4d37-b2a7-4de452e6b438", "/home/demo/weather-station");
/// The directory that the client in the demo narrows itself to.
pub(super) const OTHER_WORKSPACE: &str = "/home/demo/recipe-box";

/// A private directory with the sample home, there until it is dropped.
pub(super) struct Sample(TempDir);

impl Sample {
    /// Writes the sample, as if its sessions had just been used.
    pub(super) fn unpack(now_ms: i64) -> Result<Self, Failure> {
        let sample = Self(tempfile::Builder::new().prefix("tackroom-demo-").tempdir()?);
        let written: Timestamp = WRITTEN.parse()?;
        let shift_ms = now_ms - written.as_millisecond();
        for (place, text) in FILES {
            let rows = text.lines().map(serde_json::from_str);
            let mut rows: Vec<Value> = rows.collect::<Result<_, _>>()?;
            rows.iter_mut().for_each(|row| shift(row, shift_ms));
            let place = match place.strip_prefix("codex/sessions/") {
                Some(id) => format!("codex/sessions/{}", rollout(id, &rows)?),
                None => (*place).to_owned(),
            };
            let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
            sample.put(&format!(".{place}"), &text)?;
        }
        sample.put_live(now_ms)?;
        Ok(sample)
    }

    /// The home.
    pub(super) fn home(&self) -> &Path {
        self.0.path()
    }

    /// Removes it.
    pub(super) fn remove(self) -> std::io::Result<()> {
        self.0.close()
    }

    /// A record of the process registry as Claude Code writes it. The process is this one, so it is alive.
    fn put_live(&self, now_ms: i64) -> Result<(), Failure> {
        let pid = std::process::id();
        let mark = i32::try_from(pid).ok().and_then(process::start_mark);
        let (session, workspace) = WAITING;
        let record = json!({
            "pid": pid, "sessionId": session, "cwd": workspace, "startedAt": now_ms - 21 * 60_000, "procStart": mark,
            "version": "2.1.332", "kind": "interactive", "entrypoint": "cli", "pidDomain": process::own_pid_domain(),
            "name": "rain-gauge", "nameSource": "user", "status": "waiting", "waitingFor": "permission prompt",
            "updatedAt": now_ms - 70_000, "statusUpdatedAt": now_ms - 70_000,
        });
        self.put(&format!(".claude/sessions/{pid}.json"), &record.to_string())
    }

    fn put(&self, place: &str, text: &str) -> Result<(), Failure> {
        let path = self.home().join(place);
        let failed =
            |error| Failure::new(FAILED, format!("cannot write the sample data to {}: {error}", path.display()));
        let directory = path.parent().unwrap_or(self.home());
        fs::create_dir_all(directory).and_then(|()| fs::write(&path, text)).map_err(failed)
    }
}

/// Moves every time in a record.
fn shift(value: &mut Value, by_ms: i64) {
    match value {
        Value::String(text) => {
            let moved = |time: Timestamp| Timestamp::from_millisecond(time.as_millisecond().saturating_add(by_ms));
            if let Ok(time) = text.parse::<Timestamp>().and_then(moved) {
                *text = time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| shift(item, by_ms)),
        Value::Object(members) => members.values_mut().for_each(|member| shift(member, by_ms)),
        _ => {}
    }
}

/// Where Codex keeps a rollout: by the day, with the time in its name.
fn rollout(id: &str, rows: &[Value]) -> Result<String, Failure> {
    let begun = rows.first().and_then(|row| row["timestamp"].as_str()).unwrap_or(WRITTEN);
    let begun: Timestamp = begun.parse()?;
    Ok(begun.strftime("%Y/%m/%d/rollout-%Y-%m-%dT%H-%M-%S-").to_string() + id)
}
