//! The values here were read off the raw records.

use super::*;

/// Milliseconds at the start of the day on which the fixtures were written.
const MIDNIGHT: i64 = 1_795_996_800_000;

fn ms(hour: i64, minute: i64, millisecond: i64) -> Option<i64> {
    Some(MIDNIGHT + (hour * 60 + minute) * 60_000 + millisecond)
}

struct Expected {
    id: &'static str,
    title: &'static str,
    workspace: &'static str,
    created: Option<i64>,
    updated: Option<i64>,
    messages: u64,
}

const fn expected(
    id: &'static str,
    title: &'static str,
    created: Option<i64>,
    updated: Option<i64>,
    messages: u64,
) -> Expected {
    Expected { id, title, workspace: "/proj/demo", created, updated, messages }
}

fn check(listing: &Listing, expected: &[Expected]) {
    assert_eq!(listing.sessions.len(), expected.len());
    for row in expected {
        let session = listing.of(row.id);
        assert_eq!(session.title.as_deref(), Some(row.title));
        assert_eq!(session.workspace.as_deref(), Some(row.workspace), "{}", row.title);
        assert_eq!(session.model.as_deref(), Some("fake-model"), "{}", row.title);
        assert_eq!(session.created_at_ms, row.created, "{}", row.title);
        assert_eq!(session.updated_at_ms, row.updated, "{}", row.title);
        assert_eq!(listing.details(row.id).message_count, row.messages, "{}", row.title);
        assert!(session.resumable);
        assert!(session.location.to_str().unwrap().ends_with(&format!("{}.jsonl", row.id)));
    }
}

#[test]
fn sessions_of_0_171() {
    let at = |millisecond| ms(8, 36, millisecond);
    let listing = list(&fixture("v0.171.0"));
    check(
        &listing,
        &[
            expected(ID, "Plain session: say hello to the demo", at(22_308), at(22_505), 2),
            expected(
                "01a22b99-17e7-7890-9e91-ce3431ad9cd2",
                "USE_TOOL please run a command",
                at(23_165),
                at(23_516),
                2,
            ),
            expected(
                "01a22b99-1afc-7723-ad8d-ac5af32e5021",
                "Resumed session: first prompt",
                at(23_947),
                at(24_618),
                4,
            ),
            Expected {
                workspace: "/proj/demo/sub",
                ..expected(
                    "01a22b99-1f30-7f33-9c70-27afe0796760",
                    "Subdirectory session: where am I",
                    at(25_022),
                    at(25_168),
                    2,
                )
            },
            expected("01a22b99-21d8-7823-a305-7fdfc980f63c", "Named session: to be renamed", at(25_699), at(25_869), 2),
            expected(
                "01a22b99-2414-7cd1-805f-80160db672db",
                "Archived session: to be archived",
                at(26_284),
                at(26_468),
                2,
            ),
            expected(
                "01a22b99-2671-7c80-bcf1-052617ed506e",
                "USE_SUBAGENT spawn one please",
                at(26_878),
                at(27_212),
                2,
            ),
            expected("01a22b99-272c-76b2-bb1b-d4d390fdb081", "Say hi from the child", at(27_063), at(27_151), 2),
            expected("01a22b99-2a97-7203-8aef-682ec910c682", "Extra plain session number 1", at(27_943), at(28_155), 2),
            expected("01a22b99-2ddf-73c1-8548-5b92bbcbe0a3", "Extra plain session number 2", at(28_786), at(28_933), 2),
            expected("01a22b99-3084-7190-8391-f8ca0890dd52", "Extra plain session number 3", at(29_457), at(29_592), 2),
            // Two of its parent and two of its own.
            expected(OTHER, "Forked: a new prompt in the fork", at(30_158), at(30_340), 4),
            expected(
                "01a22ba4-d6f4-70b2-866d-630a8982df88",
                "SLOW live evidence session",
                ms(8, 49, 12_963),
                ms(8, 49, 21_108),
                2,
            ),
        ],
    );
    for session in &listing.sessions {
        let parent = session.parent.as_ref().map(|parent| (parent.session_id.as_deref().unwrap(), parent.relation));
        let expected = match &*session.id {
            OTHER => Some((ID, Relation::Fork)),
            "01a22b99-272c-76b2-bb1b-d4d390fdb081" => {
                Some(("01a22b99-2671-7c80-bcf1-052617ed506e", Relation::Subagent))
            }
            _ => None,
        };
        assert_eq!(parent, expected);
        assert_eq!(session.archived, &*session.id == "01a22b99-2414-7cd1-805f-80160db672db");
    }
}

#[test]
fn names_of_0_171() {
    let mut names: Vec<_> =
        list(&fixture("v0.171.0")).names.into_iter().map(|name| (name.session, name.title, name.rank)).collect();
    names.sort();
    let named = |rank| ("01a22b99-21d8-7823-a305-7fdfc980f63c".into(), "My chosen name".into(), rank);
    assert_eq!(names, [named(2), named(3)]);
}

#[test]
fn details_of_a_fork_of_0_171_begin_with_its_parents() {
    let details = list(&fixture("v0.171.0")).details(OTHER);
    assert_eq!(details.topics, ["Plain session: say hello to the demo", "Forked: a new prompt in the fork"]);
    let last = details.last_message.unwrap();
    assert_eq!(last.text, "Fake answer to: Forked: a new prompt in the fork");
    assert_eq!(last.timestamp_ms, ms(8, 36, 30_340));
}

#[test]
fn sessions_of_0_45() {
    let at = |millisecond| ms(8, 46, millisecond);
    let listing = list(&fixture("v0.45.0"));
    let plain = "01a22ba2-6e85-7cd2-b856-f6dee1314564";
    check(
        &listing,
        &[
            expected(plain, "Plain old session", at(35_141), at(35_365), 2),
            expected("01a22ba2-7026-7492-91f0-eacc8695d6ad", "USE_TOOL please old", at(35_558), at(35_785), 2),
        ],
    );
    assert!(listing.sessions.iter().all(|session| session.parent.is_none() && !session.archived));
    assert_eq!(listing.details(plain).topics, ["Plain old session"]);
}

#[test]
fn sessions_of_0_20_know_neither_workspace_nor_model_nor_times_of_messages() {
    let listing = list(&fixture("v0.20.0"));
    assert_eq!(listing.sessions.len(), 2);
    for (id, title, created) in [
        ("2c7edb82-21bd-4819-951b-ed4a6a1a2b9b", "Plain old session", ms(8, 46, 34_456)),
        ("66e6ba12-0c3e-4b12-a3e5-477df28d1c7a", "USE_TOOL please old", ms(8, 46, 34_660)),
    ] {
        let session = listing.of(id);
        let file_time = fs::metadata(&session.location).unwrap().modified().unwrap();
        let file_time = file_time.duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() as i64;
        let expected = Session {
            title: Some(title.into()),
            created_at_ms: created,
            updated_at_ms: Some(file_time),
            resumable: false,
            ..session.clone()
        };
        assert_eq!(*session, expected);
        assert_eq!((&session.workspace, &session.model, &session.parent), (&None, &None, &None));
        assert!(Codex.resume(&listing.root, session).is_none());
        let details = listing.details(id);
        assert_eq!((details.topics, details.message_count), (vec![title.to_owned()], 2));
        assert_eq!(details.last_message.unwrap().text, format!("Fake answer to: {title}"));
    }
}
