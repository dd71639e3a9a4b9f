use super::*;
use crate::harness::NoProgress;
use std::fs;

fn home() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn text(home: &tempfile::TempDir) -> String {
    fs::read_to_string(home.path().join(FILE)).unwrap()
}

fn set(home: &tempfile::TempDir, policy: Option<InboundPolicy>) -> Settings {
    update(home.path(), policy, None, &NoProgress).unwrap()
}

#[test]
fn setting_and_resetting_gives_back_every_file_as_it_was() {
    for before in
        ["", "{}", "{ }", "{\n}\n", "\n{ \"a\": 1}", "{\n\t\"a\": 1\n}\n", "\u{feff}{\r\n    \"a\": 1\r\n}\r\n"]
    {
        let home = home();
        fs::write(home.path().join(FILE), before).unwrap();
        for policy in [InboundPolicy::Hold, InboundPolicy::Accept] {
            let settings = set(&home, Some(policy));
            assert_eq!(settings, read(home.path()).unwrap());
            assert_eq!(settings.cross_session_inbound, Some(policy));
        }
        assert_eq!(set(&home, None).cross_session_inbound, None);
        assert_eq!(text(&home), before);
    }
}

#[test]
fn a_new_file_is_written_as_claude_code_writes_it() {
    let home = home();
    set(&home, Some(InboundPolicy::Refuse));
    assert_eq!(text(&home), "{\n  \"crossSessionInbound\": \"refuse\"\n}\n");
    set(&home, None);
    assert_eq!(text(&home), "{\n}\n");
}

#[test]
fn what_the_real_program_reads_is_changed_and_what_it_does_not_is_left_alone() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/claude-code/settings");
    let mut seen = (0, 0);
    for fixture in fs::read_dir(fixtures).unwrap() {
        let fixture = fixture.unwrap();
        let before = fs::read(fixture.path()).unwrap();
        let home = home();
        let path = home.path().join(FILE);
        fs::write(&path, &before).unwrap();
        let readable = before.is_empty()
            || std::str::from_utf8(&before).is_ok_and(|text| {
                serde_json::from_str::<std::collections::BTreeMap<String, serde_json::Value>>(
                    text.trim_start_matches('\u{feff}'),
                )
                .is_ok()
            });
        let wanted = Some(InboundPolicy::Refuse);
        if readable || fixture.file_name() == "big-numbers.json" {
            assert_eq!(update(home.path(), wanted, None, &NoProgress).unwrap().cross_session_inbound, wanted);
            assert_ne!(fs::read(&path).unwrap(), before);
            seen.0 += 1;
        } else {
            let refused = update(home.path(), wanted, None, &NoProgress);
            assert!(matches!(refused, Err(Error::Invalid { .. })), "{fixture:?}: {refused:?}");
            assert!(matches!(read(home.path()), Err(Error::Invalid { .. })));
            assert_eq!(fs::read(&path).unwrap(), before);
            seen.1 += 1;
        }
    }
    assert!(seen.0 > 8 && seen.1 > 4, "{seen:?}");
}
