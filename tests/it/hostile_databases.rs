//! Databases that are made to harm, or half written: one costs itself alone, and nothing of it is left anywhere.

use crate::support::{Home, Spawn, uuid};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

const SESSIONS: &str = "create table sessions (id text primary key, name text, description text, working_dir text);
    create table messages (id integer primary key, message_id text, session_id text, role text, content_json text,
      created_timestamp integer);
    insert into sessions values ('20260101_1', 'hi', 'd', '/tmp');
    insert into messages values (1, 'm', '20260101_1', 'user', '[{\"type\":\"text\",\"text\":\"hi\"}]', 1767225600);";

/// Where Goose's database is in a home.
fn database(home: &Home) -> PathBuf {
    let directory = home.path().join(".local/share/goose/sessions");
    fs::create_dir_all(&directory).unwrap();
    directory.join("sessions.db")
}

fn reasons(listed: &Value) -> Vec<&str> {
    let problems = listed["problems"].as_array().map(Vec::as_slice).unwrap_or_default();
    problems.iter().map(|problem| problem["reason"].as_str().unwrap()).collect()
}

#[test]
fn endless_database_is_a_problem_and_the_others_are_listed() {
    let home = Home::new();
    home.project("-p", "/p").session(&uuid(1), "fine", 10);
    let endless = "create view sessions as with recursive c(x) as (select 1 union all select x + 1 from c)
          select 'a' as id, printf('%0200d', x) as name, 'd' as description, '/tmp' as working_dir from c;
        create view messages as select 1 as id, 'm' as message_id, 'a' as session_id, 'user' as role,
          '[]' as content_json, 1767225600 as created_timestamp;";
    Connection::open(database(&home)).unwrap().execute_batch(endless).unwrap();
    let mut server = Spawn::new(home).open();
    let listed = server.request("registry/list", json!({})).result();
    assert_eq!((listed["total"].as_u64(), reasons(&listed)), (Some(1), vec!["malformed"]));
}

#[test]
fn fifo_beside_a_database_is_a_problem_until_it_is_removed() {
    let home = Home::new();
    let path = database(&home);
    let program = Connection::open(&path).unwrap();
    program.pragma_update(None, "journal_mode", "wal").unwrap();
    program.execute_batch(SESSIONS).unwrap();
    let log = fs::read(path.with_extension("db-wal")).unwrap();
    let main = fs::read(&path).unwrap();
    drop(program);
    fs::write(&path, main).unwrap();
    fs::write(path.with_extension("db-wal"), log).unwrap();
    let fifo = path.with_extension("db-shm");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let mut server = Spawn::new(home).open();
    for _ in 0..2 {
        let listed = server.request("registry/list", json!({})).result();
        assert_eq!((listed["total"].as_u64(), reasons(&listed)), (Some(0), vec!["malformed"]));
    }
    fs::remove_file(&fifo).unwrap();
    let listed = server.request("registry/list", json!({})).result();
    assert_eq!((listed["total"].as_u64(), reasons(&listed)), (Some(1), vec![]));
}

/// The journal of a transaction that overwrote the first page, as SQLite writes it before it does.
fn write_hot_journal(database: &std::path::Path) {
    let pages = fs::read(database).unwrap();
    let page = usize::from(u16::from_be_bytes([pages[16], pages[17]]));
    let samples = (1..).map_while(|step| page.checked_sub(200 * step)).take_while(|at| *at > 0);
    let sum: u32 = 1 + samples.map(|at| u32::from(pages[at])).sum::<u32>();
    let mut journal = vec![0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    for number in [1, 1, (pages.len() / page) as u32, 512, page as u32] {
        journal.extend(number.to_be_bytes());
    }
    journal.resize(512, 0);
    journal.extend(1_u32.to_be_bytes());
    journal.extend(&pages[..page]);
    journal.extend(sum.to_be_bytes());
    fs::write(database.with_extension("db-journal"), journal).unwrap();
    // What the transaction had written already: the schema is gone.
    let file = fs::File::options().write(true).open(database).unwrap();
    file.write_all_at(&vec![0; page - 100], 100).unwrap();
}

#[test]
fn half_done_transaction_is_undone_without_a_temporary_file() {
    let home = Home::new();
    let path = database(&home);
    Connection::open(&path).unwrap().execute_batch(SESSIONS).unwrap();
    write_hot_journal(&path);
    let variable = |name: &str, value: PathBuf| (name.into(), value.into_os_string());
    let nowhere = home.path().join("nowhere");
    let variables = [variable("HOME", home.path().to_owned()), variable("TMPDIR", nowhere)];
    let mut server = Spawn::new(home).only_env(variables).open();
    let listed = server.request("registry/list", json!({})).result();
    assert_eq!((listed["total"].as_u64(), reasons(&listed)), (Some(1), vec![]));
    assert_eq!(listed["entries"][0]["title"], "hi");
}

#[test]
fn file_whose_session_is_listed_from_another_one_is_in_the_coverage() {
    let home = Home::new();
    let path = database(&home);
    Connection::open(&path).unwrap().execute_batch(SESSIONS).unwrap();
    let old = path.with_file_name("20260101_1.jsonl");
    let message = json!({"role": "user", "created": 1_767_225_600, "content": [{"type": "text", "text": "older"}]});
    fs::write(&old, format!("{}\n{message}\n", json!({"working_dir": "/tmp", "description": "before"}))).unwrap();
    let second = home.path().join("second.db");
    for (database, title) in [(home.path().join(".local/share/opencode/opencode.db"), "one"), (second.clone(), "two")] {
        fs::create_dir_all(database.parent().unwrap()).unwrap();
        let create = "create table session (id text primary key, directory text, title text, time_created integer);
            create table message (id text primary key, session_id text, time_created integer, data text);
            insert into message values ('msg_1', 'ses_1', 1000, '{\"role\":\"user\"}')";
        let connection = Connection::open(database).unwrap();
        connection.execute_batch(create).unwrap();
        connection.execute("insert into session values ('ses_1', '/p', ?1, 1000)", [title]).unwrap();
    }
    let variable = |name: &str, value: PathBuf| (name.into(), value.into_os_string());
    let variables = [variable("HOME", home.path().to_owned()), variable("OPENCODE_DB", second)];
    let mut server = Spawn::new(home).only_env(variables).open();
    let listed = server.request("registry/list", json!({})).result();
    let mut ids: Vec<&str> = listed["entries"].as_array().unwrap().iter().map(|e| e["id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    let coverage = server.request("registry/coverage", json!({ "harnesses": ["goose", "opencode"] })).result();
    let skipped = coverage["harnesses"].as_array().unwrap().iter().flat_map(|harness| {
        let roots = harness["roots"].as_array().unwrap().iter();
        roots.flat_map(|root| root["skipped"].as_array().cloned().unwrap_or_default())
    });
    let skipped: Vec<Value> = skipped.collect();
    let of = |ending: &str| skipped.iter().filter(|one| one["path"].as_str().unwrap().ends_with(ending)).count();
    // Goose's ids are not unique: the file of before began when its first message was written.
    assert!(ids.contains(&"opencode:ses_1") && ids.contains(&"goose:20260101_1"), "{ids:?}");
    assert_eq!(ids.iter().filter(|id| id.starts_with("opencode:")).count(), 1);
    assert_eq!(of("/opencode.db") + of("/second.db"), 1, "{skipped:?}");
    let goose = ids.iter().filter(|id| id.starts_with("goose:")).count();
    assert_eq!(goose + of("20260101_1.jsonl"), 2, "listed, or reported: {ids:?} {skipped:?}");
}
