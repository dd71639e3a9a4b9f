use super::{Home, NEWEST, three};
use serde_json::Value;

#[test]
fn each_place_tells_where_it_comes_from_and_what_was_in_it() {
    let (home, _live) = three();
    home.put(".claude/projects/proj/33333333-aaaa-4000-8000-000000000004.jsonl", "this is no record\n");
    for name in ["a", "b", "c", "d"] {
        home.put(&format!(".claude/projects/proj/{name}.jsonl"), "{}");
    }
    let run = home.run(&["doctor"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    let claude = "
Claude Code
  ~/.claude/projects  (default)
    4 files, 3 sessions
    4 skipped: not the name of a session file
      proj/a.jsonl
      proj/b.jsonl
      proj/c.jsonl
      and 1 more; --verbose lists them
    1 skipped: no readable record at its start or end
      proj/33333333-aaaa-4000-8000-000000000004.jsonl
  ~/.claude/sessions  (default)
    1 file, 1 session
";
    assert!(run.out.contains(claude), "{}", run.out);
    let end = "
Claude Code is running 1 session; see `tackroom peers`.
1 problem
  ~/.claude/projects/proj/33333333-aaaa-4000-8000-000000000004.jsonl: no readable record at its start or end
";
    assert!(run.out.ends_with(end), "{}", run.out);
    assert!(home.run(&["doctor", "--verbose"]).out.contains("proj/d.jsonl\n"));
}

#[test]
fn a_variable_and_a_flag_are_named() {
    let (home, _live) = three();
    let elsewhere = Home::new();
    let root = format!("claude-code={}", home.path().join(".claude").display());
    let mut command = elsewhere.command(&["doctor", "--root", &root]);
    let run = home.told(command.env("CLAUDE_CONFIG_DIR", elsewhere.path().join("c")).output().unwrap());
    assert!(run.out.contains("  ~/c/projects  (CLAUDE_CONFIG_DIR)\n    does not exist\n"), "{}", run.out);
    assert!(run.out.contains("  $HOME/.claude/projects  (--root)\n    3 files, 3 sessions\n"), "{}", run.out);
}

#[test]
fn without_a_home_it_says_what_is_missing() {
    let home = Home::new();
    let run = home.told(home.command(&["doctor"]).env_remove("HOME").output().unwrap());
    assert_eq!(run.code, 0);
    assert!(run.out.contains("nowhere to look: HOME is not set"), "{}", run.out);
    assert!(run.out.ends_with("No Claude Code session is running.\nEverything found could be read.\n"));
}

#[test]
fn json_holds_the_same() {
    let (home, _live) = three();
    let found: Value = serde_json::from_str(&home.run(&["doctor", "--json"]).out).unwrap();
    assert_eq!(found["harnesses"][0]["roots"][0]["sessions"], 3);
    assert_eq!(found["livePeers"], 1);
    assert_eq!(found["problems"], Value::Array(vec![]));
    assert!(!found.to_string().contains(NEWEST));
}
