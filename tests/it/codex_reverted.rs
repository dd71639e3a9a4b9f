//! Codex threads whose user went back to an earlier message, over the wire.

use crate::support::{Home, Server, Spawn};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const TWICE: &str = "01a22e69-bf91-7800-a861-1e493817c631";
const FORK: &str = "01a22e69-c58b-7931-9aa9-9306762084b2";
const DAY: &str = ".codex/sessions/2026/11/30";

/// A home with a fixture as its `.codex`.
fn home(fixture: &str) -> Home {
    let home = Home::new();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/codex").join(fixture);
    copy(&from, &home.path().join(".codex"));
    home
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() { copy(&entry.path(), &to) } else { drop(fs::copy(entry.path(), to)) }
    }
}

fn rows(server: &mut Server, query: Value) -> BTreeMap<String, Value> {
    let mut query = query;
    query["include"] = json!(["messageCount", "topics", "lastMessage"]);
    let result = server.request("registry/list", json!({ "query": query })).result();
    let rows = result["entries"].as_array().unwrap().iter();
    rows.map(|entry| (entry["sessionId"].as_str().unwrap().to_owned(), entry.clone())).collect()
}

fn segment(home: &Home, suffix: &str) -> PathBuf {
    let files = fs::read_dir(home.path().join(DAY)).unwrap().map(|entry| entry.unwrap().path());
    let mut found = files.filter(|path| path.to_str().unwrap().ends_with(suffix));
    found.next().unwrap()
}

#[test]
fn reverted_threads_are_one_row_each_and_coverage_counts_sessions() {
    let mut server = Spawn::new(home("reverted-neighbours")).open();
    let rows = rows(&mut server, json!({}));
    let counts: BTreeMap<&str, (&str, u64)> = rows
        .iter()
        .map(|(id, row)| (&id[9..], (row["title"].as_str().unwrap(), row["messageCount"].as_u64().unwrap())))
        .collect();
    let expected = BTreeMap::from([
        (&TWICE[9..], ("Alpha: paint the fence", 6)),
        (&FORK[9..], ("Zeta: in the fork", 8)),
        ("c602-7172-b568-b4df688c4864", ("One: sweep the yard", 2)),
        ("c6fe-7112-a509-3e5baf153564", ("Tres: wash the boat", 2)),
        ("c869-7550-9f9b-5f8fceb57510", ("A1: feed the cat", 4)),
    ]);
    assert_eq!(counts, expected);
    let coverage = server.request("registry/coverage", json!({ "harnesses": ["codex"] })).result();
    let root = &coverage["harnesses"][0]["roots"][0];
    assert_eq!((&root["sessions"], &root["skipped"]), (&json!(5), &json!([])), "{root}");
}

#[test]
fn missing_base_is_a_problem_and_not_silent() {
    let home = home("reverted");
    fs::remove_file(segment(&home, "fdf8-72d0-a5c2-645ff374452c.jsonl")).unwrap();
    let mut server = Spawn::new(home).open();
    let result = server.request("registry/list", json!({})).result();
    assert_eq!(result["problems"][0]["reason"], "missing_part", "{result}");
    assert_eq!(result["problems"][0]["id"], "codex:01a22e68-fdf8-72d0-a5c2-645ff374452c");
}

#[test]
fn database_says_which_segment_is_the_current_one() {
    let home = home("reverted");
    let first = segment(&home, "fdf8-72d0-a5c2-645ff374452c.jsonl");
    let database = rusqlite::Connection::open(home.path().join(".codex/state_5.sqlite")).unwrap();
    database.execute_batch("create table threads (id, title, rollout_path)").unwrap();
    // The path is absolute, and in a copied home that of the original.
    let elsewhere = Path::new("/elsewhere").join(first.file_name().unwrap());
    let row = ["01a22e68-fdf8-72d0-a5c2-645ff374452c", "Alpha: paint the fence", elsewhere.to_str().unwrap()];
    database.execute("insert into threads values (?, ?, ?)", row).unwrap();
    drop(database);
    let mut server = Spawn::new(home).open();
    let rows = rows(&mut server, json!({}));
    let row = rows.values().next().unwrap();
    assert_eq!((rows.len(), row["location"].as_str()), (1, first.to_str()));
    assert_eq!(row["topics"], json!(["Alpha: paint the fence", "Beta: paint the gate", "Gamma: paint the shed"]));
}

#[test]
fn revert_while_following_is_reported_as_a_rewrite() {
    let home = home("reverted");
    let newer = segment(&home, "ffa2-7dc3-93e3-faf737d0b29e.jsonl");
    let parked = home.path().join("parked");
    fs::rename(&newer, &parked).unwrap();
    let mut server = Spawn::new(home).open();
    let id = "codex:01a22e68-fdf8-72d0-a5c2-645ff374452c";
    let followed = server.request("session/follow", json!({ "id": id })).result();
    let before = server.request("session/load", json!({ "id": id, "cursor": followed["cursor"] })).result();
    assert_eq!(last_text(&before), "Fake answer to: Gamma: paint the shed");
    fs::rename(&parked, &newer).unwrap();
    let params = server.expect_notification("session/event");
    assert_eq!(params["event"]["kind"], "rewritten", "{params}");
    let after = server.request("session/load", json!({ "id": id, "cursor": params["event"]["cursor"] })).result();
    assert_eq!(last_text(&after), "Fake answer to: Delta: paint the door instead");
}

fn last_text(page: &Value) -> &str {
    page["messages"].as_array().unwrap().last().unwrap()["content"][0]["text"].as_str().unwrap()
}

#[test]
fn inherited_turns_of_a_thread_out_of_scope_are_not_shown() {
    let home = home("reverted-neighbours");
    let fork = segment(&home, &format!("{FORK}.jsonl"));
    let text = fs::read_to_string(&fork).unwrap().replace("/proj/proj/demo", "/elsewhere/demo");
    fs::write(&fork, text).unwrap();
    let mut server = Spawn::new(home).args(["--workspace", "/elsewhere/demo"]).open();
    let rows = rows(&mut server, json!({}));
    assert_eq!(rows.keys().collect::<Vec<_>>(), [FORK]);
    assert_eq!((&rows[FORK]["topics"], &rows[FORK]["messageCount"]), (&json!(["Zeta: in the fork"]), &json!(2)));
    assert_eq!(rows[FORK]["parent"], json!({ "relation": "fork" }));
    let page = server.request("session/load", json!({ "id": format!("codex:{FORK}") })).result();
    assert!(!page.to_string().contains("Alpha"), "{page}");
}

#[test]
fn side_chat_is_hidden_from_the_plain_list_and_inherits_only_in_scope() {
    let home = home("reverted-neighbours");
    let fork = segment(&home, &format!("{FORK}.jsonl"));
    let text = fs::read_to_string(&fork).unwrap();
    let side = text.replace(
        "\"forked_from_id\"",
        "\"attached_thread\":true,\"thread_source\":\"tui_side_chat\",\"forked_from_id\"",
    );
    assert_ne!(text, side);
    fs::write(&fork, side.replace("/proj/proj/demo", "/elsewhere/demo")).unwrap();
    let mut server = Spawn::new(home).open();
    assert!(!rows(&mut server, json!({})).contains_key(FORK));
    let all = rows(&mut server, json!({ "includeChildren": true }));
    let parent = json!({ "relation": "subagent", "sessionId": TWICE, "id": format!("codex:{TWICE}") });
    assert_eq!(all[FORK]["parent"], parent);
    assert_eq!(all[FORK]["messageCount"], 8);
    let scope = json!({ "query": { "includeChildren": true, "include": ["messageCount"] },
        "_meta": { "authority": { "workspaces": ["/elsewhere/demo"] } } });
    let scoped = server.request("registry/list", scope).result();
    assert_eq!(scoped["entries"][0]["messageCount"], 2, "{scoped}");
}
