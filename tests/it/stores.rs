//! Every store of one home, listed by one server: what is in it was read off the raw records of each.

use crate::support::{Home, Server, Spawn, stores};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::process::{Command, Output};

/// Beginning of the id, title, workspace, relation to its parent, message count.
type Row = (&'static str, &'static str, Option<&'static str>, Option<&'static str>, u64);

const ALPHA: Option<&str> = Some("/proj/alpha");
const BETA: Option<&str> = Some("/proj/beta");
const DEMO: Option<&str> = Some("/proj/demo");
const SUB: Option<&str> = Some("/proj/demo/sub");
const GIT: Option<&str> = Some("/proj/demo-git");
const FORK: Option<&str> = Some("fork");
const BRANCH: Option<&str> = Some("branch");
const SUBAGENT: Option<&str> = Some("subagent");
const CONTINUATION: Option<&str> = Some("continuation");
const MADE: &str = "Fake generated title";
const SUMMARY: &str = "Fake answer to: Summarize the user's primary intent";
const GROK_MADE: &str = "Fake answer 19 to: <system-reminder>Generate";

/// All but those of Claude Code and Codex, which have a test of their own.
const ROWS: &[Row] = &[
    ("gemini:0114ae5f", "Plain session: say hello to the demo", DEMO, None, 2),
    ("gemini:2ca469ea", "Resumed session: first prompt", DEMO, None, 4),
    ("gemini:36a8357f", "USE_TOOL please run a command", DEMO, None, 3),
    ("gemini:f2ba51d0", "Subdirectory session: where am I", SUB, None, 2),
    ("gemini:7e8866fe", "USE_TOOL please run a command", DEMO, None, 3),
    ("gemini:b58c0248", "Plain session: say hello to the demo", DEMO, None, 2),
    ("gemini:11111111", "Session with a chosen id", DEMO, None, 2),
    ("gemini:d5889344", SUMMARY, DEMO, None, 2),
    ("gemini:ee40f1d6", "Extra plain session number 1", DEMO, None, 2),
    ("gemini:3daff51c", SUMMARY, SUB, None, 2),
    ("gemini:5440b584", "AAA first", DEMO, None, 4),
    ("opencode:ses_dd45fde0", MADE, DEMO, None, 2),
    ("opencode:ses_dd45ff5c", MADE, DEMO, None, 2),
    ("opencode:ses_dd4600be", MADE, DEMO, None, 2),
    ("opencode:ses_dd4604e4", "My chosen title", DEMO, None, 2),
    ("opencode:ses_dd460aae", MADE, Some("/proj/demo-git/sub"), None, 2),
    ("opencode:ses_dd461245", MADE, GIT, None, 2),
    ("opencode:ses_dd4615fa", "look around (@general subagent)", DEMO, SUBAGENT, 2),
    ("opencode:ses_dd4617e6", MADE, DEMO, None, 3),
    ("opencode:ses_dd461a83", MADE, SUB, None, 2),
    ("opencode:ses_dd461c97", "Fake generated title (fork #1)", DEMO, None, 4),
    ("opencode:ses_dd4627a7", MADE, DEMO, None, 4),
    ("opencode:ses_dd463001", MADE, DEMO, None, 3),
    ("opencode:ses_dd463689", MADE, DEMO, None, 2),
    ("opencode:ses_dd468c0c", MADE, DEMO, None, 2),
    ("opencode:ses_dd45d661", MADE, GIT, None, 2),
    ("opencode:ses_dd45d6a8", MADE, DEMO, None, 2),
    ("opencode:ses_dd45d6ff", MADE, DEMO, None, 2),
    // Its file of before lies beside the database that took it over.
    ("goose:20250801_101500", "Imported legacy chat", BETA, None, 2),
    ("goose:20260901_1", "Say hello to goose", ALPHA, None, 2),
    ("goose:20260901_2", "My named goose session", ALPHA, None, 5),
    ("goose:20260901_3", "Delegated child", ALPHA, SUBAGENT, 2),
    ("goose:20260902_1", "Archived beta chat", BETA, None, 2),
    ("goose:20260902_2", "My named goose session (copy)", ALPHA, None, 3),
    ("pi:01a22b97-be73", "say hello to pi", ALPHA, None, 2),
    ("pi:01a22b97-c19b", "Named pi session", ALPHA, None, 5),
    ("pi:01a22b97-c6e7", "Named pi session", ALPHA, FORK, 7),
    ("pi:my-own-id-1", "other folder", BETA, None, 2),
    ("grok:01a22b97-5e73", "say hello to grok", ALPHA, None, 2),
    ("grok:01a22b97-ace6", GROK_MADE, ALPHA, None, 5),
    ("grok:01a22b97-b2a7", GROK_MADE, ALPHA, FORK, 7),
    ("grok:01a22b97-b589", "other folder question", BETA, None, 2),
    ("grok:01a22b99-9115", "Fake answer 68 to: <system-reminder>Generate", BETA, None, 5),
    ("grok:01a22ba3-535d", "please SPAWN a helper", ALPHA, None, 3),
    ("grok:01a22ba3-53b7", "demo", ALPHA, SUBAGENT, 2),
    ("openclaw:1cecd97c", "say hello to openclaw", ALPHA, None, 7),
    ("openclaw:8fe64170", "My side task", ALPHA, None, 4),
    ("openclaw:a53207a9", "ops agent question", BETA, None, 2),
    ("openclaw:11111111", "second session", ALPHA, None, 2),
    ("openclaw:6c90e29a", "say hello to old openclaw", ALPHA, None, 5),
    ("hermes:20261130_083519", "say hello to hermes", ALPHA, None, 2),
    ("hermes:20261130_083608", "My hermes title", ALPHA, None, 5),
    ("hermes:20261130_083621", "other folder", BETA, None, 2),
    ("hermes:20261130_083705", "profile question", BETA, None, 2),
    ("hermes:20261130_084443", "Fake answer 18 to: User: hello from interactive", ALPHA, None, 2),
    ("hermes:20261130_084455", "side-idea", ALPHA, BRANCH, 4),
    ("hermes:20261130_084808", "please SPAWN a helper", ALPHA, None, 3),
    ("hermes:20261130_084813", "a delegated task", ALPHA, SUBAGENT, 1),
    ("supercode:b1d154e4964f197c-proud", "a fresh question in alpha", ALPHA, None, 2),
    ("supercode:b1d154e4964f197c-quiet", "please run TOOL now", ALPHA, None, 5),
    ("supercode:88675a32e3fcb6f9-brave", "a reduced question TOOL", BETA, None, 3),
    ("supercode:88675a32e3fcb6f9-ivory", "fork of a reduced question TOOL", BETA, FORK, 3),
    ("orchestrator:default/agent:main:slack:channel:C1", "slack/channel/C1", None, CONTINUATION, 0),
    ("orchestrator:default/agent:main:telegram:dm:7", "telegram/dm/7", None, None, 0),
    (
        "orchestrator:coder/agent:coder:discord:thread:D1:T1",
        "discord/thread/D1/T1",
        Some("/proj/beta"),
        CONTINUATION,
        0,
    ),
];

/// Each child, and the parent that it names.
const PARENTS: &[(&str, &str)] = &[
    ("opencode:ses_dd4615fa", "ses_dd4617e62ffeJHJRNvpsnwW45D"),
    ("goose:20260901_3", "20260901_2"),
    ("pi:01a22b97-c6e7", "01a22b97-c19b-7283-b6e9-d232154819cd"),
    ("grok:01a22b97-b2a7", "01a22b97-ace6-7f61-ab22-adaccff21639"),
    ("grok:01a22ba3-53b7", "01a22ba3-535d-7690-8703-ab51b9cc435a"),
    ("hermes:20261130_084455", "20261130_084443_b38e5d"),
    ("hermes:20261130_084813", "20261130_084808_3374f1"),
    ("supercode:88675a32e3fcb6f9-ivory", "88675a32e3fcb6f9-brave-moose"),
    ("orchestrator:default/agent:main:slack", "claude-code:11111111-1111-4111-8111-111111111111"),
    ("orchestrator:coder/", "pi:my-own-id-1"),
];

const ARCHIVED: &[&str] = &["opencode:ses_dd4600be", "goose:20260902_1", "supercode:88675a32e3fcb6f9-ivory"];

/// The sessions of Claude Code and of Codex, which have a test of their own.
const OTHERS: usize = 12 + 17;

/// Every entry of a query.
fn list(server: &mut Server, query: Value) -> Vec<Value> {
    let mut query = query;
    query["includeChildren"] = json!(true);
    let answer = server.request("registry/list", json!({ "query": query, "limit": 1000 })).result();
    assert_eq!((answer.get("problems"), answer.get("nextCursor")), (None, None));
    answer["entries"].as_array().unwrap().clone()
}

fn text<'a>(entry: &'a Value, member: &str) -> &'a str {
    entry[member].as_str().unwrap_or_default()
}

/// The one entry whose id begins so.
fn of<'a>(entries: &'a [Value], id: &str) -> &'a Value {
    let found: Vec<&Value> = entries.iter().filter(|entry| text(entry, "id").starts_with(id)).collect();
    assert_eq!(found.len(), 1, "{id}");
    found[0]
}

#[test]
fn every_session_of_every_store_has_its_right_values() {
    let mut server = Spawn::new(Home::with_every_store()).open();
    let entries = list(&mut server, json!({ "include": ["messageCount"] }));
    assert_eq!(entries.len(), ROWS.len() + OTHERS);
    for (id, title, workspace, relation, count) in ROWS {
        let entry = of(&entries, id);
        assert!(text(entry, "title").starts_with(title), "{id}: {}", entry["title"]);
        assert_eq!(entry["workspace"].as_str(), *workspace, "{id}");
        assert_eq!(entry["parent"]["relation"].as_str(), *relation, "{id}");
        let parent = PARENTS.iter().find(|(child, _)| id.starts_with(child)).map(|(_, parent)| *parent);
        assert_eq!(entry["parent"]["sessionId"].as_str(), parent, "{id}");
        assert_eq!(entry["messageCount"].as_u64(), Some(*count), "{id}");
        assert_eq!(entry["archived"].as_bool(), ARCHIVED.contains(id).then_some(true), "{id}");
        assert_eq!(entry["state"], "persisted", "{id}");
        let harness = id.split_once(':').unwrap().0;
        assert_eq!(text(entry, "harness"), harness);
        assert_eq!(text(entry, "id"), format!("{harness}:{}", text(entry, "sessionId")));
    }
    assert!(entries.is_sorted_by_key(|entry| std::cmp::Reverse(entry["updatedAtMs"].as_i64())));
}

#[test]
fn every_entry_says_how_to_get_back_in_or_there_is_no_way() {
    let mut server = Spawn::new(Home::with_every_store()).open();
    for entry in list(&mut server, json!({})) {
        let id = text(&entry, "id");
        let relation = text(&entry["parent"], "relation");
        let no_way = match text(&entry, "harness") {
            // It points to conversations of others.
            "orchestrator" => true,
            // A subagent is no session of its own there.
            "claude-code" => relation == "subagent",
            // Its program looks only into the database that it would use itself, and not into files any more.
            "opencode" => text(&entry, "location").ends_with(".json"),
            // Its oldest versions did not say where they worked, and newer ones do not open what they wrote.
            "codex" => entry.get("workspace").is_none(),
            _ => false,
        };
        assert_eq!(entry.get("resume").is_none(), no_way, "{id}");
        if let Some(resume) = entry.get("resume") {
            assert!(!resume["argv"][0].as_str().unwrap().is_empty());
            assert_eq!(resume["cwd"], entry["workspace"], "{id}");
        }
    }
}

#[test]
fn a_directory_that_a_store_keeps_only_a_mark_of_is_found_through_other_stores() {
    let with = |all: &[&[stores::Placed]]| {
        let entries = list(&mut Spawn::new(Home::with(all)).open(), json!({}));
        let of = |harness: &str| -> BTreeSet<String> {
            let entries = entries.iter().filter(|entry| text(entry, "harness") == harness);
            entries.map(|entry| text(entry, "workspace").to_owned()).collect()
        };
        (of("gemini"), of("supercode"))
    };
    let set = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<BTreeSet<_>>();
    // Codex knows of one pair of directories, pi of the other.
    let marks: &[&[stores::Placed]] = &[stores::OLD_GEMINI, stores::SUPERCODE];
    assert_eq!(with(marks), (set(&[""]), set(&[""])));
    let found = (set(&["/proj/demo", "/proj/demo/sub"]), set(&[""]));
    assert_eq!(with(&[marks, &[stores::CODEX]].concat()), found);
    let found = (set(&[""]), set(&["/proj/alpha", "/proj/beta"]));
    assert_eq!(with(&[marks, &[stores::PI]].concat()), found);
}

#[test]
fn filters_by_profile_and_by_harness() {
    let mut server = Spawn::new(Home::with_every_store()).open();
    let mut ids = |query: Value| -> Vec<String> {
        let entries = list(&mut server, query);
        let mut ids: Vec<String> = entries.iter().map(|entry| text(entry, "id").to_owned()).collect();
        ids.sort();
        ids
    };
    let coder = ["hermes:20261130_083705_605f1c", "orchestrator:coder/agent:coder:discord:thread:D1:T1"];
    assert_eq!(ids(json!({ "profile": "coder" })), coder);
    assert_eq!(ids(json!({ "profile": "coder", "harnesses": ["hermes"] })), coder[..1]);
    assert_eq!(ids(json!({ "profile": "ops" })), ["openclaw:a53207a9-e482-4daf-be91-7af9bcff156c"]);
    assert_eq!(ids(json!({ "profile": "nobody" })), [""; 0]);
    for harness in ["gemini", "opencode", "goose", "pi", "grok", "openclaw", "hermes", "supercode", "orchestrator"] {
        let expected = ROWS.iter().filter(|row| row.0.split(':').next() == Some(harness)).count();
        let found = ids(json!({ "harnesses": [harness] }));
        assert_eq!(found.len(), expected, "{harness}");
        assert!(found.iter().all(|id| id.starts_with(harness)));
    }
    let both = ids(json!({ "harnesses": ["pi", "goose"] }));
    assert_eq!(both.len(), 4 + 6);
}

/// For each root: harness, place in the home, origin, whether it is there, sessions.
fn coverage(server: &mut Server) -> Vec<(String, String, String, bool, u64)> {
    let answer = server.request("registry/coverage", json!({})).result();
    let home = format!("{}/", server.home.path().display());
    let mut rows = Vec::new();
    for harness in answer["harnesses"].as_array().unwrap() {
        for root in harness["roots"].as_array().unwrap() {
            let place = text(root, "path").replace(&home, "");
            let exists = root["exists"].as_bool().unwrap();
            let sessions = root["sessions"].as_u64().unwrap();
            rows.push((text(harness, "id").to_owned(), place, text(root, "origin").to_owned(), exists, sessions));
        }
    }
    rows
}

#[test]
fn coverage_names_each_place_and_how_it_came_to_be_looked_into() {
    let found = coverage(&mut Spawn::new(Home::with_every_store()).open());
    let expected = [
        ("claude-code", ".claude/projects", true, 12),
        ("claude-code", ".claude/sessions", false, 0),
        ("codex", ".codex", true, 17),
        ("gemini", ".gemini", true, 11),
        ("opencode", ".local/share/opencode", true, 17),
        // One of them is in a file of before and in the database.
        ("goose", ".local/share/goose/sessions", true, 6),
        ("goose", "Library/Application Support/Block/goose/sessions", false, 0),
        ("pi", ".pi/agent/sessions", true, 4),
        ("grok", ".grok/sessions", true, 7),
        ("openclaw", ".openclaw", true, 5),
        ("openclaw", ".clawdbot", false, 0),
        ("openclaw", ".moltbot", false, 0),
        ("openclaw", ".moldbot", false, 0),
        ("openclaw", ".qclaw", false, 0),
        ("hermes", ".hermes", true, 8),
        ("supercode", ".config/supercode/sessions", true, 4),
        ("orchestrator", ".supercode/orchestrator", true, 3),
    ];
    let default = |(harness, place, exists, sessions): (&str, &str, bool, u64)| {
        (harness.to_owned(), place.to_owned(), "default".to_owned(), exists, sessions)
    };
    assert_eq!(found, expected.map(default));
}

#[test]
fn each_programs_own_variable_replaces_its_default() {
    let there = Home::with_every_store();
    let at = |place: &str| there.path().join(place).into_os_string();
    let elsewhere = Home::new();
    let env = [
        ("HOME", elsewhere.path().into()),
        ("CLAUDE_CONFIG_DIR", at(".claude")),
        ("CODEX_HOME", at(".codex")),
        ("GEMINI_CLI_HOME", at("")),
        ("XDG_DATA_HOME", at(".local/share")),
        ("PI_CODING_AGENT_SESSION_DIR", at(".pi/agent/sessions")),
        ("GROK_HOME", at(".grok")),
        ("OPENCLAW_STATE_DIR", at(".openclaw")),
        ("HERMES_HOME", at(".hermes")),
        ("SUPERCODE_HOME", at(".config/supercode")),
        ("SUPERCODE_ORCHESTRATOR_HOME", at(".supercode/orchestrator")),
    ];
    let env = env.map(|(name, value)| (name.into(), value));
    let mut server = Spawn::new(elsewhere).only_env(env).open();
    assert_eq!(list(&mut server, json!({})).len(), ROWS.len() + OTHERS);
    let looked = coverage(&mut server);
    let by_default: Vec<_> = looked.iter().filter(|row| row.2 != "environment").map(|row| row.1.as_str()).collect();
    assert_eq!(by_default, ["Library/Application Support/Block/goose/sessions"], "{looked:#?}");
}

/// The program, run in a home by hand.
fn run(home: &Home, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tackroom"));
    command.env_clear().env("HOME", home.path()).current_dir(home.path()).args(words).output().unwrap()
}

/// What the program says, where all goes well.
fn told(home: &Home, words: &[&str]) -> String {
    let output = run(home, words);
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{words:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_command_line_leads_back_in_or_says_why_not() {
    let home = Home::with(&[stores::OPENCODE, stores::PI, stores::HERMES, stores::ORCHESTRATOR]);
    let print = told(&home, &["resume", "--print", "20261130_083705"]);
    assert_eq!(print, "cd /proj/beta && hermes --profile coder --resume 20261130_083705_605f1c\n");
    for (id, why) in [
        ("coder/agent", "record of another program's session: run `tackroom resume pi:my-own-id-1`"),
        ("default/agent:main:telegram", "has no session yet"),
        ("ses_dd45d661", "has a format that OpenCode no longer opens"),
    ] {
        let output = run(&home, &["resume", id]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(why) && output.stdout.is_empty(), "{id}: {said}");
    }
    let alone = Home::with(&[stores::OLD_GEMINI]);
    let said = String::from_utf8(run(&alone, &["resume", "0114ae5f"]).stderr).unwrap();
    assert!(said.contains("opens only in its own directory"), "{said}");
}

#[test]
fn the_command_line_lists_every_store_in_one_table() {
    let home = Home::with_every_store();
    let table = told(&home, &["list", "--limit", "0"]);
    let lines: Vec<String> = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(lines[0], "STATE HARNESS ID AGE WORKSPACE TITLE");
    let subagents = ROWS.iter().filter(|row| row.3 == SUBAGENT).count() + 4;
    assert_eq!(lines.len(), 1 + ROWS.len() + OTHERS - subagents);
    for (harness, rest) in [
        ("gemini 5440b584-2b49-4047-b18b-b243ffd5a807", "/proj/demo AAA first"),
        ("opencode ses_dd4604e49ffezzxhUzcM8K6yci", "/proj/demo My chosen title"),
        ("goose 20260902_1", "/proj/beta [archived] Archived beta chat"),
        ("pi 01a22b97-c6e7-77fa-845e-e879ea06d1dc", "/proj/alpha [fork] Named pi session"),
        ("grok 01a22b97-5e73-7d53-aeb8-8df6b15a2f58", "/proj/alpha say hello to grok"),
        ("openclaw 8fe64170-22d0-47a7-b3a5-0736ac81ae36", "/proj/alpha My side task"),
        ("hermes 20261130_084455_f28443", "/proj/alpha [branch] side-idea"),
        ("supercode b1d154e4964f197c-proud-falcon", "/proj/alpha a fresh question in alpha"),
        ("orchestrator default/agent:main:telegram:dm:7", "- telegram/dm/7"),
    ] {
        let is_it = |line: &&String| line.starts_with(&format!("stored {harness} ")) && line.ends_with(rest);
        assert_eq!(lines.iter().filter(is_it).count(), 1, "{harness}: {table}");
    }
}

#[test]
fn the_doctor_tells_of_every_store_where_it_is_and_what_is_in_it() {
    let home = Home::with_every_store();
    let report = told(&home, &["doctor"]);
    for (name, place, sessions) in [
        ("Claude Code", "~/.claude/projects", "12 sessions"),
        ("Codex", "~/.codex", "17 sessions"),
        ("Gemini CLI", "~/.gemini", "11 sessions"),
        ("OpenCode", "~/.local/share/opencode", "17 sessions"),
        ("Goose", "~/.local/share/goose/sessions", "6 sessions"),
        ("pi", "~/.pi/agent/sessions", "4 sessions"),
        ("Grok", "~/.grok/sessions", "7 sessions"),
        ("OpenClaw", "~/.openclaw", "5 sessions"),
        ("Hermes", "~/.hermes", "8 sessions"),
        ("Supercode", "~/.config/supercode/sessions", "4 sessions"),
        ("Supercode orchestrator", "~/.supercode/orchestrator", "3 sessions"),
    ] {
        let (_, section) = report.split_once(&format!("\n{name}\n")).unwrap_or_else(|| panic!("{name}: {report}"));
        let mut lines = section.lines();
        assert_eq!(lines.next(), Some(format!("  {place}  (default)").as_str()), "{name}");
        let counts = lines.next().unwrap();
        assert!(counts.starts_with("    ") && counts.ends_with(&format!(", {sessions}")), "{name}: {counts}");
    }
    assert!(report.ends_with("Everything found could be read.\n"), "{report}");
}
