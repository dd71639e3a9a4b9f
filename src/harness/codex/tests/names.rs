//! The index and the database of names.

use super::*;
use rusqlite::Connection;
use std::collections::BTreeSet;

fn names(home: &Home) -> BTreeSet<(String, String, u8)> {
    let named = |name: crate::harness::Name| (name.session.into(), name.title.into(), name.rank);
    home.list().names.into_iter().map(named).collect()
}

fn named(id: &str, title: &str, rank: u8) -> (String, String, u8) {
    (id.to_owned(), title.to_owned(), rank)
}

fn database(home: &Home, name: &str, columns: &str) -> Connection {
    let connection = Connection::open(home.write(name, "")).unwrap();
    connection.pragma_update(None, "journal_mode", "wal").unwrap();
    connection.execute_batch(&format!("create table threads ({columns})")).unwrap();
    connection
}

#[test]
fn the_newest_line_of_the_index_counts_and_the_database_stands_above_it() {
    let home = Home::new();
    let line = |id: &str, name: &str| json!({"id": id, "thread_name": name, "updated_at": at(1)});
    let index = lines(&[line(ID, "old"), line(OTHER, "gone"), line(ID, "new"), line(OTHER, " ")]);
    home.write(INDEX, index + "{\"id\": \"torn");
    assert_eq!(names(&home), BTreeSet::from([named(ID, "new", 2)]));
    database(&home, "state_5.sqlite", "id, name")
        .execute("insert into threads values (?, 'in the database')", [ID])
        .unwrap();
    assert_eq!(names(&home), BTreeSet::from([named(ID, "in the database", 3), named(ID, "new", 2)]));
}

#[test]
fn of_a_row_only_counts_what_the_session_itself_does_not_say() {
    let home = Home::new();
    let connection = database(&home, "state_5.sqlite", "id, name, title, preview, first_user_message");
    let long = "a prompt ".repeat(100);
    for (id, name, title, preview, prompt) in [
        ("given", Some("Given"), "Made", "Preview", "Prompt"),
        ("made", None, "Made of it", "Prompt", "Prompt"),
        ("same", None, "  Prompt ", "Prompt", "Prompt"),
        ("cut", Some(""), "a prompt a...", "a prompt", &long),
        ("long", None, &long, "a prompt", &long),
        ("none", None, "", "Of the parent", ""),
        ("empty", None, "", "", ""),
    ] {
        let row = (id, name, title, preview, prompt);
        connection.execute("insert into threads values (?, ?, ?, ?, ?)", row).unwrap();
    }
    connection
        .execute("insert into threads values ('odd', x'00', x'00', x'00', x'00'), (null, 'x', '', '', '')", [])
        .unwrap();
    drop(connection);
    let expected = [named("given", "Given", 3), named("made", "Made of it", 1), named("none", "Of the parent", 0)];
    assert_eq!(names(&home), BTreeSet::from(expected));
}

#[test]
fn the_database_of_the_highest_generation_counts_and_its_log_is_part_of_it() {
    let home = Home::new();
    let old = database(&home, "state_4.sqlite", "id, name");
    old.execute("insert into threads values (?, 'old')", [ID]).unwrap();
    let live = Home::new();
    let writer = database(&live, "state_10.sqlite", "id, name, title");
    writer.execute_batch("pragma wal_checkpoint(truncate); pragma wal_autocheckpoint = 0").unwrap();
    writer.execute("insert into threads values (?, 'new', '')", [ID]).unwrap();
    for name in ["state_10.sqlite", "state_10.sqlite-wal"] {
        home.write(name, fs::read(live.0.path().join(name)).unwrap());
    }
    assert_eq!(names(&home), BTreeSet::from([named(ID, "new", 3)]));

    let mut finder = Finder::default();
    Codex.walk(&Codex.named_root(home.0.path()), &mut finder);
    let beside: Vec<_> = finder.sources.iter().map(|source| source.beside.map(|log| log.size)).collect();
    assert_eq!(beside, [Some(fs::metadata(home.0.path().join("state_10.sqlite-wal")).unwrap().len())]);
}

#[test]
fn a_database_that_is_broken_or_unknown_costs_only_itself() {
    let home = Home::new();
    home.write(FILE, lines(&[meta(ID), user(1, "first")]));
    home.write("state_7.sqlite", "no database at all");
    home.write("state_x.sqlite", "nor a generation");
    assert_eq!(home.list().reasons(), ["malformed"]);
    assert_eq!(&*home.one().id, ID);

    database(&home, "state_8.sqlite", "key, value");
    assert_eq!(home.list().reasons(), ["malformed"]);
    drop(database(&home, "state_9.sqlite", "id, title"));
    assert_eq!(home.list().reasons(), [""; 0]);
}
