//! The README and the guides show what the program really prints.

use crate::support::host::published;
use crate::support::runtime::{Options, Runtime, Step};
use crate::support::{DEADLINE, Home, receipts, uuid};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use tackroom::harness::{Environment, Store, stores};

/// A text of the project.
pub fn page(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

/// The first code block of a language.
pub fn block_in(text: &str, language: &str) -> String {
    let (_, rest) = text.split_once(&format!("```{language}\n")).expect(language);
    rest.split_once("```").unwrap().0.to_owned()
}

/// The first shell session of a page as it is printed there, and as it runs in this home.
fn session(name: &str, home: &Home) -> (String, String) {
    let bin = Path::new(env!("CARGO_BIN_EXE_tackroom")).parent().unwrap();
    let own = home.path().join("bin");
    let path = format!("{}:{}:{}", bin.display(), own.display(), std::env::var("PATH").unwrap_or_default());
    let (printed, mut actual) = (block_in(&page(name), "console"), String::new());
    for line in printed.lines().filter_map(|line| line.strip_prefix("$ ")) {
        let mut command = Command::new("sh");
        command.args(["-c", line]).env_clear().env("PATH", &path).env("HOME", home.path()).stdin(Stdio::null());
        command.current_dir(home.path());
        actual.push_str(&format!("$ {line}\n{}", shown(&command.output().unwrap())));
    }
    (printed, actual)
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
fn attach_guide_shows_real_output() {
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
    let (printed, actual) = session("docs/guides/attach.md", &home);
    assert_eq!(printed, actual);
}

/// Kills the hosts that are published in a home when dropped, so that a failing test leaves none.
struct KillHosts<'a>(&'a Home);

impl Drop for KillHosts<'_> {
    fn drop(&mut self) {
        for name in published(self.0) {
            let receipt = std::fs::read(receipts(self.0).join(name)).unwrap_or_default();
            let receipt: serde_json::Value = serde_json::from_slice(&receipt).unwrap_or_default();
            if let Some(pid) = receipt["pid"].as_i64() {
                let _ = kill(Pid::from_raw(pid as i32), Signal::SIGKILL);
            }
        }
    }
}

#[test]
fn host_guide_shows_real_output() {
    let home = Home::new();
    let hosts = KillHosts(&home);
    let (printed, actual) = session("docs/guides/host.md", &home);
    drop(hosts);
    let path = home.path().canonicalize().unwrap();
    let actual = actual.replace(path.to_str().unwrap(), "/home/demo");
    // Long hexadecimal words are random ids or prefixes of them.
    let is_random = |word: &str| word.len() >= 8 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let stable = |text: &str| -> Vec<String> {
        let is_age = |word: &str| word.strip_suffix('s').is_some_and(|seconds| seconds.parse::<u32>().is_ok());
        let normalized = |word| if is_random(word) || is_age(word) { "[random]" } else { word };
        let words = text.split([' ', '\n', '/']).map(normalized);
        words.map(str::to_owned).collect()
    };
    assert_eq!(stable(&printed), stable(&actual), "{actual}");
}

#[test]
fn tutorial_shows_real_output() {
    let home = Home::new();
    home.project("-home-demo-roof", "/home/demo/roof").session(&uuid(1), "Mend the roof", 10);
    home.peer("roofer", &uuid(1), "/home/demo/roof");
    let (printed, actual) = session("docs/tutorial.md", &home);
    // Times depend on the time zone and the day.
    let timeless = |text: &str| text.replace(|c: char| c.is_ascii_digit(), "0");
    assert_eq!(timeless(&printed), timeless(&actual));
}

#[test]
fn messages_guide_shows_real_output() {
    let home = Home::new();
    let bin = home.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    crate::peer_message::write_courier(home.path(), crate::peer_message::ACCEPTS);
    std::fs::rename(home.path().join("courier"), bin.join("claude")).unwrap();
    let change = json!({ "cwd": "/home/demo/roof", "updatedAt": now_ms() - 9_000_000 });
    let target = crate::peer_message::Target::start(&home, change);
    let (printed, actual) = session("docs/guides/messages.md", &home);
    // The width of a pid varies.
    let actual = actual.replace(&target.process.pid().to_string(), "81223");
    let words =
        |text: &str| text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>();
    assert_eq!(words(&printed), words(&actual));
}

fn now_ms() -> i64 {
    std::time::UNIX_EPOCH.elapsed().unwrap().as_millis() as i64
}

/// All console blocks of a page, as lines.
fn console_blocks(name: &str) -> Vec<Vec<String>> {
    let text = page(name);
    let blocks = text.split("```console\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    blocks.map(|block| block.lines().map(str::to_owned).collect()).collect()
}

/// The columns of a table row, without ids and ages, which vary.
fn columns(row: &str) -> Vec<&str> {
    row.split("  ").map(str::trim).filter(|column| !column.is_empty()).collect()
}

#[test]
fn readme_list_is_what_the_demo_prints() {
    let demo = Command::new(env!("CARGO_BIN_EXE_tackroom")).arg("demo").env_clear().stdin(Stdio::null()).output();
    let demo = shown(&demo.unwrap());
    let (_, table) = demo.rsplit_once("\nSTATE ").unwrap();
    let block = console_blocks("README.md").into_iter().find(|block| block[0] == "$ tackroom list").unwrap();
    for (printed, actual) in block[2..].iter().zip(table.lines().skip(1)) {
        let (printed, actual) = (columns(printed), columns(actual));
        assert_eq!([printed[0], printed[1], printed[3]], [actual[0], actual[1], actual[3]]);
        assert!(actual[2].starts_with(printed[2]), "{printed:?} {actual:?}");
        assert!(actual[4].ends_with(printed[4].trim_start_matches('…')), "{printed:?} {actual:?}");
        let title = printed[5].trim_end_matches('…');
        assert!(actual[5].starts_with(title), "{printed:?} {actual:?}");
    }
}

/// The guides' sessions are compared with the program by the tests above.
#[test]
fn readme_sessions_are_excerpts_of_the_guides() {
    let guides = ["docs/tutorial.md", "docs/guides/attach.md", "docs/guides/host.md", "docs/guides/messages.md"];
    let tested: Vec<Vec<String>> = guides.iter().flat_map(|name| console_blocks(name)).collect();
    for block in console_blocks("README.md").iter().filter(|block| block[0] != "$ tackroom list") {
        let is_excerpt = |lines: &Vec<String>| lines.windows(block.len()).any(|window| window == block.as_slice());
        assert!(tested.iter().any(is_excerpt), "{block:#?}");
    }
}

/// The locations and variables of a store: what it looks up in an environment where only HOME is set.
fn locations(store: &dyn Store) -> (BTreeSet<String>, BTreeSet<String>) {
    let variables = RefCell::new(BTreeSet::new());
    let look_up = |name: &str| {
        variables.borrow_mut().insert(name.to_owned());
        (name == "HOME").then(|| PathBuf::from("/nowhere"))
    };
    let roots = store.roots(&Environment::of(&look_up));
    let code = |text: &str| format!("`{text}`");
    let homes = roots.iter().map(|root| code(&root.home.display().to_string().replace("/nowhere", "~"))).collect();
    // The user's home directory, and variables that exist on Windows only.
    let others = ["HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"];
    let variables = variables.into_inner();
    let variables = variables.iter().filter(|name| !others.contains(&name.as_str())).map(|name| code(name)).collect();
    (homes, variables)
}

/// Compares the generated part of a page with the expected text, or writes it if `UPDATE_EXAMPLES` is set.
fn check_generated(name: &str, marker: &str, expected: &str) {
    let text = page(name);
    let begin = format!("<!-- {marker}: generated by `docs/tools/refresh` -->\n");
    let (head, rest) = text.split_once(&begin).expect(name);
    let (current, tail) = rest.split_once("<!-- end -->").unwrap();
    if std::env::var_os("UPDATE_EXAMPLES").is_some() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
        std::fs::write(path, format!("{head}{begin}{expected}<!-- end -->{tail}")).unwrap();
    } else {
        assert_eq!(current, expected, "{name} is stale: run docs/tools/refresh");
    }
}

#[test]
fn harness_tables_are_current() {
    let joined = |items: BTreeSet<String>| items.into_iter().collect::<Vec<_>>().join(", ");
    let mut readme = "| Harness | Reads sessions in |\n|---|---|\n".to_owned();
    let mut reference = "| Harness | Identifier | Locations | Variables |\n|---|---|---|---|\n".to_owned();
    for store in stores() {
        let (id, name) = (store.harness().id(), store.harness().name());
        let (homes, variables) = locations(*store);
        let homes = joined(homes);
        readme.push_str(&format!("| {name} | {homes} |\n"));
        reference.push_str(&format!("| {name} | `{id}` | {homes} | {} |\n", joined(variables)));
    }
    check_generated("README.md", "harnesses", &readme);
    check_generated("docs/reference/locations.md", "locations", &reference);
}
