//! The inventory over real files that change between calls.

use crate::authority::Grant;
use crate::harness::NoProgress;
use crate::protocol::{AuthorityRequest, Entry, Query, Relation, State};
use crate::registry::*;
use proptest::prelude::*;
use std::collections::{BTreeMap as Map, BTreeSet};
use std::fs;
use tempfile::TempDir;

/// A home with Claude Code sessions, written as the program would.
struct Machine {
    home: TempDir,
    registry: Registry,
}

impl Machine {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut homes = Homes::default();
        homes.add_named(Harness::ClaudeCode, &home.path().join("projects"), RootOrigin::Flag);
        Self { registry: Registry::new(homes, "test".to_owned(), crate::runtime::testing::none()), home }
    }

    fn path(&self, id: &str) -> PathBuf {
        self.home.path().join("projects/-p").join(format!("{id}.jsonl"))
    }

    /// Writes a session whose newest message is of this second.
    fn write(&self, id: &str, second: i64, workspace: &str) {
        self.write_lines(id, &[message(second, workspace, id)]);
    }

    fn write_lines(&self, id: &str, lines: &[String]) {
        fs::create_dir_all(self.home.path().join("projects/-p")).unwrap();
        fs::write(self.path(id), lines.join("\n")).unwrap();
    }

    fn list_with(
        &self,
        query: &Query,
        cursor: Option<&str>,
        limit: usize,
        grant: &Grant,
    ) -> crate::protocol::ListResult {
        let snapshot = self.registry.snapshot(&NoProgress).unwrap();
        let roots = self.registry.roots();
        snapshot.list(&Request { query, cursor, limit, grant, roots: &roots }, &NoProgress).unwrap()
    }

    fn list(&self, query: &Query) -> Vec<Entry> {
        self.list_with(query, None, 1_000, &Grant::all()).entries
    }

    fn revision(&self) -> String {
        self.list_with(&Query::default(), None, 0, &Grant::all()).revision
    }
}

fn message(second: i64, workspace: &str, uuid: &str) -> String {
    let at = jiff::Timestamp::from_second(1_796_000_000 + second).unwrap();
    format!(
        r#"{{"type":"user","cwd":"{workspace}","timestamp":"{at}","uuid":"{uuid}","message":{{"role":"user","content":"ask {uuid}"}}}}"#
    )
}

fn id(number: u32) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}

fn numbers(entries: &[Entry]) -> Vec<u32> {
    entries.iter().map(|entry| entry.session_id[24..].parse().unwrap()).collect()
}

#[test]
fn a_list_is_true_at_the_time_of_the_call_and_its_revision_moves_only_with_it() {
    let machine = Machine::new();
    assert_eq!(numbers(&machine.list(&Query::default())), Vec::<u32>::new());
    machine.write(&id(1), 10, "/p");
    machine.write(&id(2), 20, "/p");
    assert_eq!(numbers(&machine.list(&Query::default())), [2, 1]);
    let before = machine.revision();
    assert_eq!(machine.revision(), before);
    // Of the same size, and moments later.
    machine.write(&id(1), 30, "/p");
    assert_eq!(numbers(&machine.list(&Query::default())), [1, 2]);
    assert_ne!(machine.revision(), before);
    fs::remove_file(machine.path(&id(1))).unwrap();
    assert_eq!(numbers(&machine.list(&Query::default())), [2]);
}

#[test]
fn sessions_that_begin_with_one_message_are_forks_as_far_as_that_is_known() {
    let machine = Machine::new();
    let copied = message(5, "/p", "first");
    machine.write_lines(&id(1), &[copied.clone(), message(6, "/p", "own")]);
    let began = |second| message(second, "/p", "unused").replace(r#""type":"user""#, r#""type":"queue-operation""#);
    machine.write_lines(&id(2), &[began(50), copied.clone(), message(51, "/p", "other")]);
    let entries = machine.list(&Query::default());
    let parent = entries[0].parent.clone().unwrap();
    assert_eq!((parent.session_id, parent.relation), (Some(id(1)), Relation::Fork));
    assert_eq!(entries[1].parent, None);
    // With a third one nobody can tell which of the two it came from.
    machine.write_lines(&id(3), &[began(70), copied, message(71, "/p", "third")]);
    let parent = machine.list(&Query::default())[0].parent.clone().unwrap();
    assert_eq!((parent.session_id, parent.relation), (None, Relation::Fork));
}

#[test]
fn a_session_that_goes_on_elsewhere_is_the_parent_of_that_one() {
    let machine = Machine::new();
    let next = format!(r#"{{"type":"continued-in","continuedInSessionId":"{}"}}"#, id(2));
    machine.write_lines(&id(1), &[message(1, "/p", "a"), next]);
    machine.write(&id(2), 2, "/p");
    let parent = machine.list(&Query::default())[0].parent.clone().unwrap();
    assert_eq!((parent.session_id, parent.relation), (Some(id(1)), Relation::Continuation));
}

#[test]
fn children_are_hidden_unless_asked_for_and_found_below_their_root() {
    let machine = Machine::new();
    machine.write(&id(1), 1, "/p");
    let agents = machine.home.path().join("projects/-p").join(id(1)).join("subagents");
    fs::create_dir_all(&agents).unwrap();
    fs::write(agents.join("agent-a.jsonl"), message(9, "/elsewhere", "x")).unwrap();
    let alone = machine.list(&Query::default());
    assert_eq!((alone.len(), alone[0].child_count), (1, Some(1)));
    let all = Query { include_children: Some(true), ..Query::default() };
    assert_eq!(machine.list(&all).len(), 2);
    let below = |root: &str| Query { root_id: Some(format!("claude-code:{root}")), ..Query::default() };
    assert_eq!(machine.list(&below(&id(1))).len(), 2);
    assert_eq!(machine.list(&below("agent-a")).len(), 1);
    assert_eq!(machine.list(&below("nobody")).len(), 0);
    // A child that is out of scope does not count, and does not name its parent when that is.
    let narrow = |workspace: &str| {
        let request = AuthorityRequest { workspaces: Some(vec![workspace.to_owned()]), ..Default::default() };
        machine.list_with(&all, None, 9, &Grant::all().narrow(&request).unwrap()).entries
    };
    assert_eq!(narrow("/p")[0].child_count, None);
    assert_eq!(narrow("/elsewhere")[0].parent.as_ref().unwrap().session_id, None);
}

#[test]
fn each_filter_keeps_what_it_says() {
    let machine = Machine::new();
    machine.write(&id(1), 1, "/p/one");
    machine.write(&id(2), 2, "/p/one/sub");
    machine.write(&id(3), 3, "/p/one-more");
    let kept = |query: Query| numbers(&machine.list(&query));
    let place = Some("/p/one".to_owned());
    assert_eq!(kept(Query { workspace: place.clone(), ..Query::default() }), [1]);
    let subtree = Query { workspace: place.clone(), workspace_subtree: Some(true), ..Query::default() };
    assert_eq!(kept(subtree), [2, 1]);
    assert_eq!(kept(Query { workspace_family: place, ..Query::default() }), [2, 1]);
    assert_eq!(
        kept(Query { text: Some("  ASK 00000000-0000-4000-8000-000000000003 ".into()), ..Query::default() }),
        [3]
    );
    assert_eq!(kept(Query { text: Some("claude-code:0".into()), ..Query::default() }), [3, 2, 1]);
    assert_eq!(kept(Query { text: Some(" \t".into()), ..Query::default() }), [3, 2, 1]);
    let second = |second: i64| Some((1_796_000_000 + second) * 1_000);
    assert_eq!(kept(Query { updated_after_ms: second(2), ..Query::default() }), [3, 2]);
    assert_eq!(kept(Query { updated_before_ms: second(2), ..Query::default() }), [1]);
    assert_eq!(kept(Query { persisted: Some(false), ..Query::default() }), Vec::<u32>::new());
    assert_eq!(kept(Query { states: Some(vec![State::Busy]), ..Query::default() }), Vec::<u32>::new());
    assert_eq!(kept(Query { archived: Some(true), ..Query::default() }), Vec::<u32>::new());
    assert_eq!(kept(Query { archived: Some(false), ..Query::default() }), [3, 2, 1]);
    assert_eq!(kept(Query { harnesses: Some(vec![Harness::Codex]), ..Query::default() }), Vec::<u32>::new());
    assert_eq!(kept(Query { profile: Some("x".into()), ..Query::default() }), Vec::<u32>::new());
}

#[test]
fn previews_are_searched_and_the_excerpt_is_told() {
    let machine = Machine::new();
    let long = format!("{} the needle stands here {}", "x".repeat(500), "y".repeat(400));
    machine.write_lines(&id(1), &[message(1, "/p", "a"), message(2, "/p", "b").replace("ask b", &long)]);
    machine.write(&id(2), 3, "/p");
    let text = Some("NEEDLE".to_owned());
    assert_eq!(machine.list(&Query { text: text.clone(), ..Query::default() }).len(), 0);
    let found = machine.list(&Query { text, search_previews: Some(true), ..Query::default() });
    assert_eq!(numbers(&found), [1]);
    assert!(found[0].excerpt.as_ref().unwrap().contains("the needle stands here"));
    assert!(found[0].excerpt.as_ref().unwrap().chars().count() < 250);
}

#[derive(Clone, Debug)]
enum Edit {
    Write(u32, i64),
    Remove(u32),
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let edit = prop_oneof![
        (0_u32..24, 0_i64..40).prop_map(|(number, second)| Edit::Write(number, second)),
        (0_u32..24).prop_map(Edit::Remove),
    ];
    prop::collection::vec(edit, 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever comes, goes or moves between pages: what stayed where it was is seen once, and nothing in no order.
    #[test]
    fn paging_neither_skips_nor_repeats_what_stayed(
        first in prop::collection::btree_map(0_u32..24, 0_i64..40, 0..20),
        limit in 1_usize..6,
        between in prop::collection::vec(edits(), 30),
    ) {
        let machine = Machine::new();
        let mut present: Map<u32, i64> = first.clone();
        for (number, second) in &first {
            machine.write(&id(*number), *second, "/p");
        }
        let mut touched = BTreeSet::new();
        let mut seen = Vec::new();
        let mut cursor: Option<String> = None;
        for edits in &between {
            let page = machine.list_with(&Query::default(), cursor.as_deref(), limit, &Grant::all());
            prop_assert_eq!(page.total, present.len());
            let mut expected: Vec<(std::cmp::Reverse<i64>, u32)> =
                present.iter().map(|(number, second)| (std::cmp::Reverse(*second), *number)).collect();
            expected.sort_unstable();
            let shown = numbers(&page.entries);
            let at = |number: &u32| expected.iter().position(|(_, known)| known == number);
            prop_assert!(shown.windows(2).all(|pair| at(&pair[0]) < at(&pair[1])));
            seen.extend(shown);
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
            for edit in edits {
                match edit {
                    Edit::Write(number, second) => {
                        machine.write(&id(*number), *second, "/p");
                        if present.insert(*number, *second) != Some(*second) {
                            touched.insert(*number);
                        }
                    }
                    Edit::Remove(number) => {
                        if present.remove(number).is_some() {
                            fs::remove_file(machine.path(&id(*number))).unwrap();
                            touched.insert(*number);
                        }
                    }
                }
            }
        }
        prop_assert_eq!(cursor, None);
        for number in first.keys().filter(|number| !touched.contains(number)) {
            prop_assert_eq!(seen.iter().filter(|shown| *shown == number).count(), 1, "{}", number);
        }
    }
}
