//! What may go wrong between a change and the one who is to hear of it.

use super::world::demo;
use super::{append, message};
use crate::support::{Folded, Home, Server, Spawn, uuid};
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

fn id(number: usize) -> String {
    format!("claude-code:{}", uuid(number))
}

/// Takes events until these are the entries.
fn becomes(folded: &mut Folded, server: &mut Server, numbers: &[usize]) {
    let ids: Vec<String> = numbers.iter().map(|number| id(*number)).collect();
    while folded.ids() != ids {
        folded.take(server);
    }
}

#[test]
fn a_root_may_come_late_go_and_come_back() {
    let mut server = Spawn::empty().open();
    let claude = server.home.claude();
    let (projects, aside) = (claude.join("projects"), claude.join("aside"));
    let mut folded = Folded::watch(&mut server, json!({}));
    assert_eq!(folded.ids(), [""; 0]);
    // Nothing of the way to it was there.
    demo(&server.home).session(&uuid(1), "First", 60);
    becomes(&mut folded, &mut server, &[1]);
    // It is renamed away, and made anew.
    fs::rename(&projects, &aside).unwrap();
    becomes(&mut folded, &mut server, &[]);
    demo(&server.home).session(&uuid(2), "Second", 60);
    becomes(&mut folded, &mut server, &[2]);
    // It is a link to where it was, then to elsewhere.
    fs::remove_dir_all(&projects).unwrap();
    symlink(&aside, &projects).unwrap();
    becomes(&mut folded, &mut server, &[1]);
    append(&aside.join(format!("-home-dev-demo/{}.jsonl", uuid(1))), &message(&uuid(1), "/home/dev/demo", "More", 90));
    assert_eq!(folded.take(&mut server)["kind"], "updated");
    let elsewhere = Home::new();
    demo(&elsewhere).session(&uuid(3), "Third", 60);
    let link = claude.join("link");
    symlink(elsewhere.claude().join("projects"), &link).unwrap();
    fs::rename(&link, &projects).unwrap();
    becomes(&mut folded, &mut server, &[3]);
    // What is watched is what it leads to now.
    demo(&elsewhere).session(&uuid(4), "Fourth", 60);
    becomes(&mut folded, &mut server, &[3, 4]);
    // The home goes whole, and comes back.
    let away = server.home.path().join("away");
    fs::rename(&claude, &away).unwrap();
    becomes(&mut folded, &mut server, &[]);
    fs::rename(&away, &claude).unwrap();
    becomes(&mut folded, &mut server, &[3, 4]);
    demo(&elsewhere).session(&uuid(5), "Fifth", 60);
    becomes(&mut folded, &mut server, &[3, 4, 5]);
}

#[test]
fn a_project_that_is_a_link_is_watched_where_it_leads_to() {
    let home = Home::new();
    let (one, two) = (Home::new(), Home::new());
    demo(&one).session(&uuid(1), "First", 60);
    demo(&two).session(&uuid(2), "Second", 60);
    let project = demo(&home).path().to_owned();
    let put = |target: &Home| {
        let link = target.path().join("link");
        symlink(demo(target).path(), &link).unwrap();
        fs::rename(link, &project).unwrap();
    };
    fs::remove_dir(&project).unwrap();
    put(&one);
    let mut server = Spawn::new(home).open();
    let mut folded = Folded::watch(&mut server, json!({}));
    becomes(&mut folded, &mut server, &[1]);
    put(&two);
    becomes(&mut folded, &mut server, &[2]);
    demo(&two).session(&uuid(3), "Third", 60);
    becomes(&mut folded, &mut server, &[2, 3]);
}

#[test]
fn a_file_may_be_replaced_cut_and_written_anew() {
    let home = Home::new();
    let project = demo(&home);
    let file = project.session(&uuid(1), "First", 60);
    let mut server = Spawn::new(home).open();
    let mut folded = Folded::watch(&mut server, json!({}));
    let mut title = |folded: &mut Folded, title: Option<&str>| {
        while folded.entries.get(&id(1)).and_then(|entry| entry["title"].as_str()) != title {
            folded.take(&mut server);
        }
    };
    let text = fs::read_to_string(&file).unwrap();
    // In place, in the same number of bytes.
    fs::write(&file, text.replace("First", "Other")).unwrap();
    title(&mut folded, Some("Other"));
    let aside = file.with_extension("new");
    fs::write(&aside, text.replace("First", "Third")).unwrap();
    fs::rename(&aside, &file).unwrap();
    title(&mut folded, Some("Third"));
    fs::write(&file, "").unwrap();
    title(&mut folded, None);
    fs::write(&file, &text).unwrap();
    title(&mut folded, Some("First"));
    fs::remove_file(&file).unwrap();
    title(&mut folded, None);
}

#[test]
fn a_directory_that_is_newer_than_its_watch_is_looked_into() {
    let mut server = Spawn::empty().open();
    let projects = server.home.claude().join("projects");
    let mut folded = Folded::watch(&mut server, json!({ "query": { "includeChildren": true } }));
    for number in 1..=20 {
        let directory = projects.join(format!("p{number}"));
        let agents = directory.join(uuid(number)).join("subagents");
        fs::create_dir_all(&agents).unwrap();
        let line = |text: &str| format!("{}\n", message(&uuid(number), "/w", text, 60));
        fs::write(directory.join(format!("{}.jsonl", uuid(number))), line("First")).unwrap();
        fs::write(agents.join(format!("agent-{number}.jsonl")), line("Child")).unwrap();
    }
    while folded.entries.len() < 40 {
        folded.take(&mut server);
    }
}

#[test]
fn where_the_system_watches_no_more_it_is_told_once_and_the_answer_is_right_all_the_same() {
    let home = Home::new();
    for number in 0..20 {
        home.project(&format!("p{number}"), "/w").session(&uuid(number), "First", 60);
    }
    let mut server = Spawn::new(home).args(["--limit", "watches=8"]).open();
    let mut folded = Folded::watch(&mut server, json!({}));
    while folded.problems.is_empty() {
        folded.take(&mut server);
    }
    let mut told = folded.problems.clone();
    for number in 20..23 {
        server.home.project(&format!("p{number}"), "/w").session(&uuid(number), "Late", 60);
        while folded.entries.len() <= number {
            let event = folded.take(&mut server);
            told.extend(event.get("problem").cloned());
        }
    }
    let mut places: Vec<&str> = told.iter().map(|problem| problem["path"].as_str().unwrap_or("processes")).collect();
    assert!(told.iter().all(|problem| problem["reason"] == "watch_limit"), "{told:?}");
    places.sort_unstable();
    assert!(places.windows(2).all(|two| two[0] != two[1]), "told twice: {places:?}");
    for number in 0..23 {
        fs::remove_dir_all(server.home.claude().join(format!("projects/p{number}"))).unwrap();
    }
    while !folded.entries.is_empty() || !folded.problems.is_empty() {
        folded.take(&mut server);
    }
    // Who watches no more leaves no problem behind.
    server.request("registry/unwatch", json!({ "subscription": folded.subscription })).result();
    assert_eq!(server.request("registry/list", json!({})).result().get("problems"), None);
}

#[test]
fn a_storm_of_events_ends_in_the_last_state() {
    let home = Home::new();
    let project = demo(&home);
    let file = project.session(&uuid(1), "First", 60);
    let mut server = Spawn::new(home).open();
    let mut folded = Folded::watch(&mut server, json!({}));
    for second in 0..2_000 {
        append(&file, &message(&uuid(1), "/home/dev/demo", "more", 100 + second));
        touch(&project.path().join(format!("noise-{second}")));
    }
    let last = 1_767_398_400_000_i64 + (100 + 1_999) * 1_000;
    while folded.entries[&id(1)]["updatedAtMs"] != last {
        folded.take(&mut server);
    }
}

fn touch(path: &Path) {
    fs::write(path, "").unwrap();
    fs::remove_file(path).unwrap();
}
