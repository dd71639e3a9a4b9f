use super::{Home, NEWEST, OLDER, WAITER, three};
use crate::support::inventory::{hosting, receipts_in};
use crate::support::runtime::{Options, Runtime};
use serde_json::json;
use tackroom::protocol::{ListResult, State};

#[test]
fn what_waits_comes_first_and_says_for_what_then_the_newest() {
    let (home, _live) = three();
    let run = home.run(&["list"]);
    let expected = "\
STATE    HARNESS      ID                                    AGE  WORKSPACE     TITLE
waiting  claude-code  11111111-aaaa-4000-8000-000000000001  5d   ~/proj        [permission prompt] Move the database
stored   claude-code  22222222-aaaa-4000-8000-000000000002  30m  ~/other/deep  東京の天気を取得する
stored   claude-code  22222222-bbbb-4000-8000-000000000003  2h   ~/proj        Turn \u{fffd}around
";
    assert_eq!(run.out, expected);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
}

#[test]
fn among_the_live_the_one_that_needs_somebody_comes_before_the_newer() {
    let (home, _waiting) = three();
    let _idle = home.live(NEWEST, json!({"status": "idle"}));
    let _busy = home.live(OLDER, json!({"status": "busy"}));
    let run = home.run(&["list"]);
    let states: Vec<_> = run.out.lines().skip(1).map(|line| line.split_whitespace().next().unwrap()).collect();
    assert_eq!(states, ["waiting", "busy", "idle"]);
}

#[test]
fn what_runs_comes_before_what_is_stored_and_a_runtime_in_trouble_is_told() {
    let (home, _waiting) = three();
    let receipts = receipts_in(home.path());
    let busy = Runtime::start(hosting(OLDER, "runtime-of-the-older", "/w"));
    let idle = Runtime::start(Options::main("alone", "/w"));
    let refusing = Runtime::start(Options::main("refusing", "/w"));
    for runtime in [&busy, &idle, &refusing] {
        runtime.publish(&receipts);
    }
    busy.set_busy(true);
    refusing.refuse();
    let run = home.run(&["list"]);
    let rows: Vec<Vec<&str>> = run.out.lines().skip(1).map(|line| line.split_whitespace().take(3).collect()).collect();
    let expected = [
        ["waiting", "claude-code", WAITER],
        ["busy", "claude-code", OLDER],
        ["idle", "supercode", "alone"],
        ["stored", "claude-code", NEWEST],
    ];
    assert_eq!(rows, expected);
    assert_eq!(run.err, "problems with 1 runtime; `tackroom doctor` shows which\n");
    let run = home.run(&["doctor"]);
    assert!(run.out.contains("the runtime takes no connection"), "{}", run.out);
    assert!(run.out.contains("refusing"), "{}", run.out);
}

#[test]
fn what_waits_is_on_the_first_page_however_old_it_is_and_the_rest_is_counted() {
    let (home, _live) = three();
    let run = home.run(&["list", "--limit", "2"]);
    let ids: Vec<_> = run.out.lines().skip(1).map(|line| line.split_whitespace().nth(2).unwrap()).collect();
    assert_eq!(ids, [WAITER, NEWEST]);
    assert_eq!(run.err, "1 more; use --limit 0, or narrow the search\n");
    assert_eq!(home.run(&["list", "--limit", "0"]).out.lines().count(), 4);
}

#[test]
fn json_is_a_list_result_in_the_order_of_the_table_without_control_characters() {
    let (home, _live) = three();
    let run = home.run(&["list", "--json", "--limit", "2"]);
    let result: ListResult = serde_json::from_str(&run.out).unwrap();
    assert_eq!(result.entries.iter().map(|entry| entry.session_id.as_str()).collect::<Vec<_>>(), [WAITER, NEWEST]);
    assert_eq!((result.total, result.next_cursor, run.err.as_str()), (3, None, ""));
    assert_eq!(result.entries[0].state, State::Waiting);

    let run = home.run(&["list", "--json", OLDER]);
    assert!(run.out.contains(r"Turn \u202earound"), "{}", run.out);
    let result: ListResult = serde_json::from_str(&run.out).unwrap();
    assert_eq!(result.entries[0].title.as_deref(), Some("Turn \u{202e}around"));
}

#[test]
fn each_filter_filters() {
    let (home, _live) = three();
    let shown = |words: &[&str]| {
        let run = home.run(&[&["list"], words].concat());
        assert_eq!(run.code, 0, "{run:?}");
        run.out.lines().skip(1).map(|line| line.split_whitespace().nth(2).unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(shown(&["DATABASE"]), [WAITER]);
    assert_eq!(shown(&["reviewer"]), [WAITER]);
    assert_eq!(shown(&["--workspace", "other"]), [NEWEST]);
    // The protocol's name is accepted, too.
    for state in ["stored", "persisted"] {
        assert_eq!(shown(&["--state", state]), [NEWEST, OLDER]);
    }
    assert_eq!(shown(&["--state", "waiting,busy"]), [WAITER]);
    assert_eq!(shown(&["--harness", "codex"]), [""; 0]);
    assert_eq!(shown(&["--archived"]), [""; 0]);
}

#[test]
fn subagents_are_shown_only_when_asked_for_and_forks_are_marked() {
    let home = Home::with_fixture();
    let run = home.run(&["list", "--limit", "0"]);
    assert!(!run.out.contains("agent-"), "{}", run.out);
    assert!(run.out.contains("[fork] plain question"), "{}", run.out);
    let run = home.run(&["list", "--limit", "0", "--all"]);
    assert!(run.out.contains("agent-af3c0ecc70091ba7f"), "{}", run.out);
    assert!(run.out.contains("[subagent] bg look"), "{}", run.out);
}

#[test]
fn an_empty_home_says_where_was_looked() {
    let home = Home::new();
    let run = home.run(&["list"]);
    assert_eq!((run.code, run.out.as_str()), (0, ""));
    assert!(run.err.starts_with("No sessions found. Looked in:\n  ~/.claude/projects (does not exist): Claude Code\n"));
    assert!(run.err.contains("`tackroom doctor`"), "{}", run.err);

    let (home, _live) = three();
    let run = home.run(&["list", "no such words"]);
    assert_eq!(run.err, "No session matches; without these filters there are 3 sessions.\n");
}

#[test]
fn what_could_not_be_read_is_counted() {
    let (home, _live) = three();
    home.put(".claude/projects/proj/33333333-aaaa-4000-8000-000000000004.jsonl", "this is no record\n");
    let run = home.run(&["list"]);
    assert_eq!(run.out.lines().count(), 4);
    assert_eq!(run.err, "1 file could not be read; `tackroom doctor` shows which\n");
}
