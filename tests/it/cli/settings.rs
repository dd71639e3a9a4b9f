use super::Home;
use std::fs;
use tackroom::protocol::{InboundPolicy, Settings};

const OVERRIDE: &str = "This is the user's own setting; managed, project and command-line settings can override it.\n";

#[test]
fn the_policy_is_shown_set_and_taken_out() {
    let home = Home::new();
    let path = home.put(".claude/settings.json", "{\n  \"a\": 1\n}\n");
    for (words, shown) in [
        (&["settings"][..], "not set"),
        (&["settings", "set", "hold"], "hold"),
        (&["settings", "get"], "hold"),
        (&["settings", "reset"], "not set"),
    ] {
        let run = home.run(words);
        assert_eq!((run.code, run.out, run.err.as_str()), (0, format!("{shown}  ~/.claude/settings.json\n"), OVERRIDE));
    }
    assert_eq!(fs::read_to_string(path).unwrap(), "{\n  \"a\": 1\n}\n");
}

#[test]
fn a_revision_guards_and_a_home_is_chosen() {
    let home = Home::new();
    home.put(".claude/settings.json", "{}");
    let other = home.put("other/settings.json", "{}");
    fs::create_dir(other.with_file_name("projects")).unwrap();
    let run = home.run(&["settings", "--json", "--home", "other", "--root", "claude-code=other"]);
    let settings: Settings = serde_json::from_str(&run.out.replace("$HOME", home.path().to_str().unwrap())).unwrap();
    assert_eq!((settings.path.as_str(), run.err.as_str()), (other.to_str().unwrap(), ""));
    let set = |revision: &str| {
        let words = ["settings", "set", "accept", "--json", "--home", "other", "--root", "claude-code=other"];
        home.run(&[&words[..], &["--expect", revision]].concat())
    };
    let run = set("stale");
    assert_eq!((run.code, run.out.as_str()), (1, ""));
    assert!(run.err.contains("changed meanwhile"), "{}", run.err);
    let told: Settings = serde_json::from_str(&set(&settings.revision).out).unwrap();
    assert_eq!(told.cross_session_inbound, Some(InboundPolicy::Accept));
    assert_eq!(fs::read(home.path().join(".claude/settings.json")).unwrap(), b"{}");
}

#[test]
fn what_cannot_be_done_says_why() {
    let home = Home::new();
    let path = home.put(".claude/settings.json", "[]");
    let run = home.run(&["settings", "set", "hold"]);
    assert_eq!(run.code, 1);
    assert!(run.err.contains("$HOME/.claude/settings.json cannot be understood"), "{}", run.err);
    assert_eq!(fs::read(path).unwrap(), b"[]");
    assert_eq!(home.run(&["settings", "--home", "/nowhere"]).code, 3);
    let run = home.run(&["settings", "set", "ask"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("unknown policy `ask`; known: accept, hold, refuse"), "{}", run.err);
}
