//! Threads whose user went back to an earlier message: each time a segment of its own, with the id of the thread. The
//! expected values are what `thread/read` of the program (0.166 and 0.171) returned for the same homes.

use super::*;
use crate::protocol::Role;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

const REVERTED: &str = "01a22e68-fdf8-72d0-a5c2-645ff374452c";
const TWICE: &str = "01a22e69-bf91-7800-a861-1e493817c631";
const FORK: &str = "01a22e69-c58b-7931-9aa9-9306762084b2";
const SILENT: &str = "01a22e69-c602-7172-b568-b4df688c4864";
const BEGUN_AGAIN: &str = "01a22e69-c6fe-7112-a509-3e5baf153564";
const ARCHIVED_ONE: &str = "01a22e69-c869-7550-9f9b-5f8fceb57510";

/// What people said in a session, after it was checked that all ways of reading it agree.
fn prompts(listing: &Listing, id: &str) -> Vec<String> {
    let messages = listing.load(id);
    let text = |message: &crate::protocol::Message| match &message.content[0] {
        crate::protocol::Block::Text { text } => text.clone(),
        other => panic!("{other:?}"),
    };
    let of = |role| messages.iter().filter(|message| message.role == role).map(text).collect::<Vec<String>>();
    let said = of(Role::User);
    let details = listing.details(id);
    assert_eq!(details.topics, said, "{id}");
    assert_eq!(details.message_count as usize, said.len() + of(Role::Assistant).len(), "{id}");
    assert_eq!(of(Role::Assistant), said.iter().map(|said| format!("Fake answer to: {said}")).collect::<Vec<_>>());
    said
}

fn assert_neighbours(listing: &Listing) {
    assert_eq!(listing.ids(), [TWICE, FORK, SILENT, BEGUN_AGAIN, ARCHIVED_ONE]);
    assert_eq!(listing.reasons(), [""; 0]);
    for (id, title, said) in [
        (
            TWICE,
            "Alpha: paint the fence",
            &["Alpha: paint the fence", "Beta: paint the gate", "Epsilon: paint the roof"][..],
        ),
        (
            FORK,
            "Zeta: in the fork",
            &["Alpha: paint the fence", "Beta: paint the gate", "Epsilon: paint the roof", "Zeta: in the fork"],
        ),
        (SILENT, "One: sweep the yard", &["One: sweep the yard"]),
        (BEGUN_AGAIN, "Tres: wash the boat", &["Tres: wash the boat"]),
        (ARCHIVED_ONE, "A1: feed the cat", &["A1: feed the cat", "A3: feed the fish"]),
    ] {
        let session = listing.of(id);
        assert_eq!(session.title.as_deref(), Some(title), "{id}");
        assert_eq!(session.model.as_deref(), Some("fake-model"), "{id}");
        assert_eq!(prompts(listing, id), said, "{id}");
    }
    let archived: Vec<&str> = listing.sessions.iter().filter(|s| s.archived).map(|s| &*s.id).collect();
    assert_eq!(archived, [ARCHIVED_ONE]);
}

#[test]
fn reverted_thread_is_one_session_with_what_still_stands() {
    let listing = list(&fixture("reverted"));
    let session = listing.one();
    assert_eq!((&*session.id, session.title.as_deref()), (REVERTED, Some("Alpha: paint the fence")));
    // 2026-11-30T21:42:42.429Z by the first line of its first segment, 21:42:43.970Z by its last message.
    assert_eq!((session.created_at_ms, session.updated_at_ms), (Some(1_796_074_962_429), Some(1_796_074_963_970)));
    assert_eq!(
        prompts(&listing, REVERTED),
        ["Alpha: paint the fence", "Beta: paint the gate", "Delta: paint the door instead"]
    );
    assert_eq!(listing.details(REVERTED).last_message.unwrap().text, "Fake answer to: Delta: paint the door instead");
    assert_eq!(listing.reasons(), [""; 0]);
}

#[test]
fn reverts_of_every_kind_and_forks_of_them_keep_what_they_inherit() {
    let listing = list(&fixture("reverted-neighbours"));
    assert_neighbours(&listing);
    // By the first lines of their first segments.
    let created = |id: &str| listing.of(id).created_at_ms.unwrap() - 1_796_075_000_000;
    assert_eq!([TWICE, SILENT, BEGUN_AGAIN, ARCHIVED_ONE].map(created), [11_989, 13_637, 13_890, 14_252]);
    assert_eq!(listing.of(SILENT).updated_at_ms, Some(1_796_075_013_865), "by its last record");
    let fork = listing.of(FORK);
    assert_eq!(fork.parent.as_ref().unwrap().session_id.as_deref(), Some(TWICE));
    assert_eq!(fork.continues.as_deref(), Some("01a22e69-c51f-7253-ac51-c8b1334d2793"));
    assert_eq!(listing.details(SILENT).last_message.unwrap().text, "Fake answer to: One: sweep the yard");
}

#[test]
fn segments_are_read_compressed_and_in_either_directory() {
    let files = || {
        let listing = list(&fixture("reverted-neighbours"));
        let parts =
            listing.sessions.iter().flat_map(|session| session.parts.iter().map(|part| part.path.to_path_buf()));
        parts.collect::<Vec<_>>()
    };
    let from = fixture("reverted-neighbours");
    for which in 0..=files().len() {
        let tree = Tree::copy_of(&from);
        for (at, path) in files().iter().enumerate().filter(|(at, _)| which == files().len() || *at == which) {
            let copy = tree.path().join(path.strip_prefix(&from).unwrap());
            let packed = compress_to_vec(&*fs::read(&copy).unwrap(), CompressionLevel::Fastest);
            fs::remove_file(&copy).unwrap();
            let name = format!("{}.zst", copy.file_name().unwrap().to_str().unwrap());
            // The base of a session may be archived while the session is not.
            let moved = at == 0 && which == 0;
            let directory = if moved { tree.path().join(ARCHIVED) } else { copy.parent().unwrap().to_owned() };
            fs::write(directory.join(name), packed).unwrap();
        }
        assert_neighbours(&list(tree.path()));
    }
}

/// The file of a segment.
fn file(thread: &str, segment: &str) -> String {
    let suffix = if segment == thread { String::new() } else { format!("_{segment}") };
    format!("sessions/2026/11/30/rollout-2026-11-30T08-36-22-{thread}{suffix}.jsonl")
}

fn numbered(records: &[Value], first: u64) -> String {
    let number = |(at, record): (usize, &Value)| {
        let mut record = record.clone();
        record["ordinal"] = (first + at as u64).into();
        record
    };
    lines(&records.iter().enumerate().map(number).collect::<Vec<_>>())
}

fn segment_meta(thread: &str, base: &str, end_ordinal: u64, end: usize) -> Value {
    let mut first = meta(thread);
    first["payload"]["timestamp"] = at(30).into();
    first["payload"]["history_base"] =
        json!({"thread_id": base, "end_ordinal_exclusive": end_ordinal, "end_byte_offset": end});
    first
}

const SEGMENT: &str = "01a22b99-5000-7000-8000-000000000001";

fn texts(listing: &Listing, id: &str) -> Vec<String> {
    let said = |message: crate::protocol::Message| match message.content.into_iter().next() {
        Some(crate::protocol::Block::Text { text }) => text,
        other => format!("{other:?}"),
    };
    listing.load(id).into_iter().map(said).collect()
}

#[test]
fn ordinals_find_the_cut_where_byte_offsets_do_not_fit() {
    let first = numbered(
        &[meta(ID), response(1, "user", &["one"]), response(2, "assistant", &["two"]), response(3, "user", &["gone"])],
        0,
    );
    let exact = numbered(&[meta(ID), response(1, "user", &["one"]), response(2, "assistant", &["two"])], 0).len();
    for end in [exact, exact + 20, exact - 20, 10, first.len(), 1 << 30] {
        let home = Home::new();
        home.write(&file(ID, ID), &first);
        home.write(&file(ID, SEGMENT), numbered(&[segment_meta(ID, ID, 3, end), response(4, "user", &["new"])], 3));
        assert_eq!(texts(&home.list(), ID), ["one", "two", "new"], "{end}");
    }
}

#[test]
fn fully_reverted_thread_keeps_its_first_prompt_as_title() {
    let home = Home::new();
    home.write(&file(ID, ID), lines(&[meta(ID), response(1, "user", &["one"])]));
    let mut again = meta(ID);
    again["payload"]["timestamp"] = at(30).into();
    home.write(&file(ID, SEGMENT), lines(&[again]));
    let session = home.one();
    assert_eq!((session.title.as_deref(), session.created_at_ms), (Some("one"), at_ms(0)));
    assert_eq!(texts(&home.list(), ID), [""; 0]);
    assert_eq!(home.list().details(ID).message_count, 0);
}

#[test]
fn segment_that_is_being_written_leaves_the_thread_as_it_was() {
    let home = Home::new();
    home.write(&file(ID, ID), lines(&[meta(ID), response(1, "user", &["one"])]));
    for torn in ["", "{\"timestamp\":\"2026"] {
        home.write(&file(ID, SEGMENT), torn);
        assert_eq!(texts(&home.list(), ID), ["one"]);
        assert_eq!(home.list().reasons(), [""; 0]);
    }
    home.write(&file(ID, SEGMENT), "no record\n");
    assert_eq!(texts(&home.list(), ID), ["one"]);
    assert_eq!(home.list().reasons(), ["unreadable"]);
}

#[test]
fn missing_base_is_noted_in_the_conversation_and_on_the_session() {
    let home = Home::new();
    home.write(&file(ID, SEGMENT), lines(&[segment_meta(ID, ID, 3, 77), response(4, "user", &["new"])]));
    let session = home.one();
    assert_eq!((session.continues.as_deref(), session.created_at_ms), (Some(ID), None));
    assert!(texts(&home.list(), ID)[0].contains("history_base"));
}

#[test]
fn own_segments_count_where_other_threads_are_out_of_scope() {
    let listing = list(&fixture("reverted-neighbours"));
    let own = |id: &str| {
        let wanted = Wanted { topics: true, own_only: true, ..Wanted::default() };
        Codex.details(std::slice::from_ref(&listing.root), listing.of(id), wanted).unwrap().topics
    };
    assert_eq!(own(FORK), ["Zeta: in the fork"]);
    assert_eq!(own(TWICE), ["Alpha: paint the fence", "Beta: paint the gate", "Epsilon: paint the roof"]);
}

#[test]
fn many_reverts_in_a_row_are_followed() {
    let home = Home::new();
    let ids: Vec<String> = (0..100).map(|at| format!("01a22b99-7000-7000-8000-{at:012}")).collect();
    home.write(&file(ID, ID), numbered(&[meta(ID), response(1, "user", &["one"])], 0));
    let mut before = (ID, 2, numbered(&[meta(ID), response(1, "user", &["one"])], 0).len());
    for id in &ids {
        let first = segment_meta(ID, before.0, before.1, before.2);
        let header = numbered(std::slice::from_ref(&first), before.1);
        home.write(&file(ID, id), numbered(&[first, response(4, "user", &[id])], before.1));
        before = (id, before.1 + 1, header.len());
    }
    let listing = home.list();
    assert_eq!(
        (listing.one().title.as_deref(), texts(&listing, ID)),
        (Some("one"), vec!["one".to_owned(), ids[99].clone()])
    );
}

#[test]
fn copies_of_a_rollout_have_the_same_beginning() {
    let home = Home::new();
    let text = lines(&[meta(ID), response(1, "user", &["one"])]);
    home.write(&file(ID, ID), &text);
    home.write(&file(ID, ID).replace("11/30", "12/01"), text + &lines(&[response(2, "assistant", &["two"])]));
    let listing = home.list();
    let [a, b] = &listing.sessions[..] else { panic!("{:?}", listing.ids()) };
    assert_eq!((a.beginning, a.beginning.is_some()), (b.beginning, true));
    assert!(a.parts.is_empty() && b.parts.is_empty());
}

#[test]
fn side_chat_is_a_child_of_the_thread_that_it_is_attached_to() {
    let home = Home::new();
    for (field, value) in [("attached_thread", json!(true)), ("thread_source", json!("tui_side_chat"))] {
        let mut first = meta(ID);
        first["payload"]["forked_from_id"] = OTHER.into();
        first["payload"][field] = value;
        home.write(FILE, lines(&[first, response(1, "user", &["aside"])]));
        let parent = home.one().parent.unwrap();
        assert_eq!((parent.session_id.as_deref(), parent.relation), (Some(OTHER), Relation::Subagent));
    }
}
