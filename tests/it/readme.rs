//! What README.md says is what the program does.

use crate::support::runtime::{Options, Runtime, Step};
use crate::support::{DEADLINE, Home, uuid};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use tackroom::harness::{Environment, stores};

fn readme() -> String {
    page("README.md")
}

/// A text of the project.
pub fn page(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

/// The first code block of a language.
pub fn block_in(text: &str, language: &str) -> String {
    let (_, rest) = text.split_once(&format!("```{language}\n")).expect(language);
    rest.split_once("```").unwrap().0.to_owned()
}

/// What a shell session of a section promises, and what is said in this home.
fn session(section: &str, home: &Home) -> (String, String) {
    let text = readme();
    let (_, section) = text.split_once(&format!("\n## {section}\n")).expect(section);
    let bin = Path::new(env!("CARGO_BIN_EXE_tackroom")).parent().unwrap();
    let own = home.path().join("bin");
    let path = format!("{}:{}:{}", bin.display(), own.display(), std::env::var("PATH").unwrap_or_default());
    let (promised, mut said) = (block_in(section, "console"), String::new());
    for line in promised.lines().filter_map(|line| line.strip_prefix("$ ")) {
        let mut command = Command::new("sh");
        command.args(["-c", line]).env_clear().env("PATH", &path).env("HOME", home.path()).stdin(Stdio::null());
        said.push_str(&format!("$ {line}\n{}", shown(&command.output().unwrap())));
    }
    (promised, said)
}

/// A home with one session, which is idle.
pub fn home_with_one() -> Home {
    let home = Home::new();
    home.project("-p", "/p").session(&uuid(1), "the only session", 10);
    home.peer("writer", &uuid(1), "/p");
    home
}

/// Runs a program in this home, where `tackroom` is in the path; `None` where there is no such program.
pub fn run_in(home: &Home, program: &str, args: &[&str]) -> Option<Output> {
    let bin = Path::new(env!("CARGO_BIN_EXE_tackroom")).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new(program);
    command.args(args).env_clear().env("PATH", path).env("HOME", home.path()).stdin(Stdio::null());
    let child = match command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn() {
        Ok(child) => child,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        Err(error) => panic!("{program}: {error}"),
    };
    let pid = Pid::from_raw(child.id() as i32);
    let (done, ended) = mpsc::channel::<()>();
    thread::spawn(move || {
        (ended.recv_timeout(DEADLINE) == Err(RecvTimeoutError::Timeout)).then(|| kill(pid, Signal::SIGKILL))
    });
    let output = child.wait_with_output().unwrap();
    drop(done);
    Some(output)
}

pub fn shown(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn the_shell_snippet_lists_what_waits() {
    let output = run_in(&home_with_one(), "sh", &["-c", &block_in(&readme(), "sh")]);
    let output = output.expect("every system has a shell");
    let answers: Vec<serde_json::Value> =
        shown(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 2);
    assert_eq!(answers[0]["result"]["serverInfo"]["name"], "tackroom");
    assert_eq!(answers[1]["result"]["total"], 0, "the only session is idle");
}

#[test]
fn the_shell_session_with_a_runtime_says_what_it_says() {
    let home = Home::new();
    let tool = Step::Tool {
        id: "t1".to_owned(),
        name: "bash".to_owned(),
        arguments: json!({ "command": "rm roof.old" }).to_string(),
        output: "exit code: 0".to_owned(),
        asks: true,
    };
    let options = Options::main("demo-1", "/home/demo/roof")
        .on("Mend", [tool, Step::Text("The old one stays, then. It is mended.".to_owned())])
        .on("Say", [Step::Text("It is mended.".to_owned())]);
    let runtime = Runtime::start(options);
    runtime.publish(&home.path().join(".config/supercode/live-runtimes"));
    let (promised, said) = session("Join a running agent", &home);
    assert_eq!(promised, said);
}

#[test]
fn what_is_watched_and_followed_is_told_as_the_readme_tells_it() {
    let home = Home::new();
    home.project("-home-demo-roof", "/home/demo/roof").session(&uuid(1), "Mend the roof", 10);
    home.peer("roofer", &uuid(1), "/home/demo/roof");
    let (promised, said) = session("Watch and follow", &home);
    // Times are those of the place and the day.
    let timeless = |text: &str| text.replace(|c: char| c.is_ascii_digit(), "0");
    assert_eq!(timeless(&promised), timeless(&said));
}

#[test]
fn the_shell_session_with_messages_says_what_it_says() {
    let home = Home::new();
    let bin = home.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    crate::peer_message::write_courier(home.path(), crate::peer_message::ACCEPTS);
    std::fs::rename(home.path().join("courier"), bin.join("claude")).unwrap();
    let change = json!({ "cwd": "/home/demo/roof", "updatedAt": now_ms() - 9_000_000 });
    let target = crate::peer_message::Target::start(&home, change);
    let (promised, said) = session("Message a running session", &home);
    // A pid is as wide as it is.
    let told = said.replace(&target.process.pid().to_string(), "81223");
    let words =
        |text: &str| text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>();
    assert_eq!(words(&promised), words(&told));
}

fn now_ms() -> i64 {
    std::time::UNIX_EPOCH.elapsed().unwrap().as_millis() as i64
}

/// A line without what differs from run to run: numbers, and the width of a column.
fn lasting(line: &str) -> String {
    let mut kept = String::new();
    for c in line.chars().filter(|c| !c.is_ascii_digit()) {
        if !(c == ' ' && kept.ends_with(' ')) {
            kept.push(c);
        }
    }
    kept.trim().to_owned()
}

#[test]
fn the_demo_shows_what_the_readme_shows_in_that_order() {
    let text = readme();
    let (_, section) = text.split_once("## What the demo shows").unwrap();
    let (section, _) = section.split_once("\nLines that say").unwrap();
    let demo = Command::new(env!("CARGO_BIN_EXE_tackroom")).arg("demo").env_clear().stdin(Stdio::null()).output();
    let demo = shown(&demo.unwrap());
    let (spoken, table) = section.split_once("\n    STATE ").unwrap();
    let is_shown = |line: &&str| line.starts_with("    ") && line.trim() != "...";
    // A long line is cut to fit, and where depends on what stands before it.
    let uncut = |line: &str| lasting(line).split('…').next().unwrap().trim().to_owned();
    let mut lines = demo.lines().map(lasting);
    for promised in spoken.lines().filter(is_shown).map(uncut) {
        assert!(lines.any(|line| line.starts_with(&promised)), "the demo does not show: {promised}");
    }
    // The table is as wide as the terminal: its last column is what is the same everywhere.
    for row in table.lines().skip(1) {
        let promised = uncut(row.rsplit("  ").next().unwrap());
        assert!(lines.any(|line| line.contains(&promised)), "the demo does not list: {promised}");
    }
}

#[test]
fn every_harness_is_there_with_the_variables_that_its_store_asks_for() {
    let text = readme();
    for store in stores() {
        let asked = RefCell::new(BTreeSet::new());
        let look = |name: &str| {
            asked.borrow_mut().insert(name.to_owned());
            (name == "HOME").then(|| PathBuf::from("/nowhere"))
        };
        store.roots(&Environment::of(&look));
        // The user's own home, and what only Windows has.
        let others = ["HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"];
        let asked: BTreeSet<String> =
            asked.into_inner().into_iter().filter(|name| !others.contains(&name.as_str())).collect();
        let (id, name) = (store.harness().id(), store.harness().name());
        assert!(text.contains(&format!("**{name}**")), "{name}");
        let row = text.lines().find(|line| line.starts_with(&format!("| `{id}` |"))).expect(id);
        let is_variable = |word: &&str| word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase() || c == '_');
        let told: BTreeSet<String> = row.split('`').filter(is_variable).map(str::to_owned).collect();
        assert_eq!(told, asked, "{id}");
    }
}
