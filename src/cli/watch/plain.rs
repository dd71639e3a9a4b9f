//! Watched without a terminal: each change is a line.

use super::board::Board;
use crate::cli::list::Row;
use crate::cli::output::{Failure, drain, json_line, plain};
use crate::cli::{FAILED, live, words};
use crate::platform::stdio::Output;
use crate::protocol::{Notification, Problem, RegistryEvent, RegistryEventParams, WatchParams};
use crate::service::User;
use serde::Serialize;
use std::process::ExitCode;
use tokio::sync::mpsc;

/// How many events are written at a time.
const AT_ONCE: usize = 64;

/// An event for a program: the subscription has no meaning outside of this process.
#[derive(Serialize)]
struct Told<'a> {
    revision: &'a str,
    event: &'a RegistryEvent,
}

pub(super) async fn run(
    user: &User,
    params: WatchParams,
    mut told: mpsc::Receiver<Notification>,
    json: bool,
    mut output: Output,
) -> Result<ExitCode, Failure> {
    user.watch(params).await.map_err(live::failure)?;
    let (mut board, home) = (Board::default(), words::home());
    let (mut came, mut out) = (Vec::with_capacity(AT_ONCE), Vec::new());
    while told.recv_many(&mut came, AT_ONCE).await > 0 {
        for told in came.drain(..) {
            let told: RegistryEventParams = serde_json::from_str(told.params.get())?;
            if json {
                let told = Told { revision: &told.revision, event: &told.event };
                out.extend_from_slice(json_line(&told)?.as_bytes());
                continue;
            }
            let clock = words::clock(words::now_ms(), words::now_ms());
            for line in lines(&mut board, told.event, home.as_deref()) {
                out.extend_from_slice(format!("{clock} {}\n", plain(&line)).as_bytes());
            }
        }
        drain(&mut output, &mut out).await?;
    }
    Err(Failure::new(FAILED, "the server stopped sending events"))
}

/// What an event says, in lines for a person.
fn lines(board: &mut Board, event: RegistryEvent, home: Option<&str>) -> Vec<String> {
    let said = match &event {
        RegistryEvent::Added { entry } | RegistryEvent::Updated { entry } => {
            let row = Row::of(entry);
            Some(line(words::state(row.state), &row, home))
        }
        RegistryEvent::Removed { .. } => None,
        RegistryEvent::Error { problem } => Some(format!("problem {}", trouble(problem, home))),
        RegistryEvent::Recovered { problem } => Some(format!("recovered {}", trouble(problem, home))),
        RegistryEvent::Synced {} => Some("synced".to_owned()),
        RegistryEvent::Resync {} => Some("resync".to_owned()),
    };
    let gone = board.take(event);
    gone.iter().map(|row| line("removed", row, home)).chain(said).collect()
}

fn line(word: &str, row: &Row, home: Option<&str>) -> String {
    let mark = row.mark.as_ref().map_or_else(String::new, |mark| format!("  {mark}"));
    format!("{word} {} {}  {}  \"{}\"{mark}", row.program, row.id(), row.place(home), row.title)
}

fn trouble(problem: &Problem, home: Option<&str>) -> String {
    let path = problem.path.as_deref().map(|path| words::path(path, home));
    let place = path.or_else(|| problem.endpoint.clone()).or_else(|| problem.id.clone());
    place.map_or_else(|| problem.message.clone(), |place| format!("{place}: {}", problem.message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn each_change_is_a_line_and_what_is_gone_is_named() {
        let mut board = Board::default();
        let mut said = |event: Value| lines(&mut board, serde_json::from_value(event).unwrap(), Some("/home/dev"));
        let entry = |state: &str| {
            json!({ "id": "claude-code:a", "harness": "claude-code", "sessionId": "a", "state": state,
                "workspace": "/home/dev/demo", "title": "Mend the roof",
                "activity": { "source": "claude-registry", "waitingFor": (state == "waiting").then_some("permission prompt") } })
        };
        let problem = json!({ "reason": "unreadable", "message": "no access", "path": "/home/dev/x" });
        let row = "claude-code a  ~/demo  \"Mend the roof\"";
        assert_eq!(said(json!({ "kind": "added", "entry": entry("busy") })), [format!("busy {row}")]);
        assert_eq!(said(json!({ "kind": "synced" })), ["synced"]);
        let waiting = said(json!({ "kind": "updated", "entry": entry("waiting") }));
        assert_eq!(waiting, [format!("waiting {row}  permission prompt")]);
        assert_eq!(said(json!({ "kind": "error", "problem": problem })), ["problem ~/x: no access"]);
        assert_eq!(said(json!({ "kind": "recovered", "problem": problem })), ["recovered ~/x: no access"]);
        assert_eq!(said(json!({ "kind": "resync" })), ["resync"]);
        let removed = format!("removed {row}  permission prompt");
        assert_eq!(said(json!({ "kind": "synced" })), [removed, "synced".to_owned()]);
        assert_eq!(said(json!({ "kind": "removed", "id": "claude-code:a" })), [""; 0]);
    }
}
