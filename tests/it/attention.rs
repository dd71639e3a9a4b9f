//! What a session needs, since when, and the list in that order.

use crate::support::multiplexer::wait_for;
use crate::support::{Home, Server, Spawn, uuid};
use serde_json::{Value, json};
use std::fs;
use std::process::{Child, Command};
use tackroom::platform::process;

/// A process that stands for a live Claude Code session. It exits with the test.
struct Agent(Child);

impl Agent {
    fn start(home: &Home, number: usize, status: &str, since: i64) -> Self {
        let child = Command::new("sleep").arg("600").spawn().unwrap();
        let agent = Self(child);
        let pid = agent.0.id() as i32;
        let waiting_for = (status == "waiting").then_some("permission prompt");
        let record = json!({
            "pid": pid, "sessionId": uuid(number), "cwd": "/p", "name": format!("agent-{number}"), "status": status,
            "waitingFor": waiting_for, "statusUpdatedAt": since, "updatedAt": since + 5,
            "procStart": wait_for("a start", || process::start_mark(pid)), "pidDomain": process::own_pid_domain(),
        });
        let directory = home.claude().join("sessions");
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join(format!("{pid}.json")), record.to_string()).unwrap();
        agent
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn page(server: &mut Server, query: &Value, limit: i64, cursor: Option<&Value>) -> Value {
    let params = json!({ "query": query, "limit": limit, "cursor": cursor });
    server.request("registry/list", params).result()
}

#[test]
fn attention_lists_the_longest_wait_first_then_busy_idle_and_stored() {
    const T: i64 = 1_796_000_000_000;
    let home = Home::new();
    let project = home.project("-p", "/p");
    // The second orders the sessions of one state by their last update.
    for (number, second) in [(1, 10), (2, 20), (3, 30), (4, 40), (5, 50), (6, 60), (7, 70), (8, 80)] {
        project.session(&uuid(number), &format!("session {number}"), second);
    }
    let agents = [(1, "waiting", T + 300), (2, "waiting", T + 100), (3, "busy", T), (4, "idle", T), (5, "busy", T + 1)];
    let _agents = agents.map(|(number, status, since)| Agent::start(&home, number, status, since));
    let mut server = Spawn::new(home).open();
    let expected: Vec<String> =
        [2, 1, 5, 3, 4, 8, 7, 6].iter().map(|number| format!("claude-code:{}", uuid(*number))).collect();
    let query = json!({ "sort": "attention" });
    for limit in [1, 3, 100] {
        let (mut ids, mut cursor) = (Vec::new(), None);
        loop {
            let page = page(&mut server, &query, limit, cursor.as_ref());
            ids.extend(
                page["entries"].as_array().unwrap().iter().map(|entry| entry["id"].as_str().unwrap().to_owned()),
            );
            cursor = page.get("nextCursor").cloned();
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(ids, expected, "pages of {limit}");
    }
    let entries = page(&mut server, &query, 3, None)["entries"].clone();
    assert_eq!(
        (&entries[0]["activity"]["sinceMs"], &entries[2]["activity"]["sinceMs"]),
        (&json!(T + 100), &json!(T + 1))
    );
    // A cursor belongs to its order.
    let cursor = page(&mut server, &query, 3, None)["nextCursor"].clone();
    let params = json!({ "limit": 3, "cursor": cursor });
    server.request("registry/list", params).error().is(-32602, "invalid_params");
    let params = json!({ "query": { "sort": "oldest" } });
    server.request_unchecked("registry/list", params).error().is(-32602, "invalid_params");
}
