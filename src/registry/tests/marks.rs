//! Directories of which a store keeps only a mark.

use super::*;
use crate::platform::process;

#[test]
fn a_mark_is_resolved_against_every_directory_that_is_known() {
    let marked = |id: &str, of: &str| json!({"id": id, "mark": format!("mark of {of}"), "updated": 1});
    let world = world(&[
        &[
            sessions(&[marked("a", "/session"), marked("b", "/told"), marked("c", "/live"), marked("d", "/unknown")]),
            json!({"workspaces": ["/told"]}),
        ],
        &[sessions(&[
            json!({"id": "e", "workspace": "/session"}),
            json!({"id": "f", "workspace": "/own", "mark": "mark of /told"}),
        ])],
    ]);
    let resolved = |directories: &[String]| {
        let stored = Stored::join(&world.scans.iter().collect::<Vec<_>>(), &[], directories);
        assert!(stored.has_workspace_marks);
        ["a", "b", "c", "d", "e", "f"].map(|id| {
            let row = stored.find(Harness::Goose, id).unwrap();
            stored.rows[row].workspace().map(str::to_owned)
        })
    };
    let expected = |live: Option<&str>| {
        [Some("/session"), Some("/told"), live, None, Some("/session"), Some("/own")]
            .map(|path| path.map(str::to_owned))
    };
    assert_eq!(resolved(&[]), expected(None));
    assert_eq!(resolved(&["/live".to_owned()]), expected(Some("/live")));
}

#[test]
fn without_marks_no_directory_matters() {
    let world = world(&[&[sessions(&[json!({"id": "a", "workspace": "/w", "mark": "m"}), json!({"id": "b"})])]]);
    assert!(!join(&world).has_workspace_marks);
}

#[test]
fn where_something_lives_now_is_known_too() {
    let marked = world(&[&[sessions(&[json!({"id": "1", "mark": "mark of /live", "updated": 1})])]]);
    let claude = TempDir::new().unwrap();
    let registrations = claude.path().join("sessions");
    fs::create_dir(&registrations).unwrap();
    let mut homes = Homes::default();
    homes.add_named(Harness::ClaudeCode, claude.path(), RootOrigin::Flag);
    let (_home, registry) = registry_of(marked, homes);
    let query = Query { harnesses: Some(vec![Harness::Goose]), ..Query::default() };
    assert_eq!(listed(&registry, &query), [("goose:1".to_owned(), None)]);
    let pid = i32::try_from(std::process::id()).unwrap();
    let record = json!({"pid": pid, "sessionId": "s", "cwd": "/live", "name": "live", "kind": "interactive",
        "procStart": process::start_mark(pid).unwrap().to_string()});
    fs::write(registrations.join(format!("{pid}.json")), record.to_string()).unwrap();
    assert_eq!(listed(&registry, &query), [("goose:1".to_owned(), Some("/live".to_owned()))]);
}
