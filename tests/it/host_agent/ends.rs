//! How agents end, and that nothing of them is left.

use super::*;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::process::Stdio;
use tackroom::platform::process::{alive, exited};

pub fn is_alive(pid: i32) -> bool {
    alive(pid)
}

#[tokio::test]
async fn an_agent_that_ends_says_how_and_its_last_words() {
    for (prompt, how) in [("say:a exit", "exit code 9"), ("say:a crash", "SIGABRT"), ("close", "it closed its output")]
    {
        let mut hosted = Hosted::start(Setup::default()).await;
        hosted.prompt(prompt).await;
        let gone = hosted.gone().await;
        assert_eq!(gone.how, how);
        assert!(gone.stderr.starts_with("the agent starts[31m"), "{gone:?}");
        soon(exited(hosted.agent.pid)).await;
    }
}

#[tokio::test]
async fn what_was_said_before_the_end_is_told_first() {
    let mut hosted = Hosted::start(Setup::default()).await;
    hosted.prompt("flood:5000 exit").await;
    let mut count = 0;
    while let Told::Event(_) = hosted.told().await {
        count += 1;
    }
    assert_eq!(count, 5_000);
}

#[tokio::test]
async fn a_flood_of_nonsense_ends_it() {
    let mut hosted = Hosted::start(Setup::default()).await;
    hosted.prompt("babble:100 slow").await;
    let told = event(hosted.told().await).unwrap();
    assert_eq!(told.payload["kind"], "lines that are no messages");
    let gone = hosted.gone().await;
    assert!(gone.how.starts_with("it wrote 64 lines in a row that are no messages, the last one: xxx"), "{gone:?}");
    soon(exited(hosted.agent.pid)).await;
}

#[tokio::test]
async fn only_the_end_of_a_long_log_is_kept() {
    let mut hosted = Hosted::start(Setup::default()).await;
    hosted.prompt("stderr:20000 exit").await;
    let gone = hosted.gone().await;
    assert!(gone.stderr.len() <= 8 << 10 && gone.stderr.ends_with("line 19999 of a log"), "{gone:?}");
}

#[tokio::test]
async fn an_agent_ends_when_it_is_no_longer_asked_and_says_so() {
    let mut hosted = Hosted::start(Setup::default()).await;
    let child: i32 = hosted.says("child").await.parse().unwrap();
    let pid = hosted.agent.pid;
    assert!(is_alive(child));
    drop(std::mem::replace(&mut hosted.agent.asks, tokio::sync::mpsc::channel(1).0));
    let gone = hosted.gone().await;
    assert_eq!(gone.how, "exit code 0");
    assert!(!is_alive(pid));
    soon(exited(child)).await;
}

#[tokio::test]
async fn an_agent_that_will_not_end_is_killed_with_what_it_started() {
    let mut hosted = Hosted::start(Setup { is_stubborn: true, ..Setup::default() }).await;
    let child: i32 = hosted.says("child").await.parse().unwrap();
    let pid = hosted.agent.pid;
    drop(hosted.agent);
    soon(exited(pid)).await;
    soon(exited(child)).await;
}

#[tokio::test]
async fn who_failed_to_start_is_not_left_behind() {
    let home = tempfile::tempdir().unwrap();
    let note = home.path().join("pid");
    let mut options =
        options(&Setup { fails_at: Some("session/new".into()), is_stubborn: true, ..Setup::default() }, home.path());
    let script = format!("echo $$ > {}; exec \"$@\"", note.display());
    let wrapped = ["sh", "-c", &script, "sh"].map(std::ffi::OsString::from);
    options.command = wrapped.into_iter().chain(options.command).collect();
    assert!(matches!(soon(start(&options)).await, Err(Error::Refused { .. })));
    let pid = std::fs::read_to_string(note).unwrap().trim().parse().unwrap();
    soon(exited(pid)).await;
    assert!(!is_alive(pid));
}

#[test]
fn an_agent_ends_with_its_runtime() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let hosted = runtime.block_on(Hosted::start(Setup { is_stubborn: true, ..Setup::default() }));
    let pid = hosted.agent.pid;
    drop(runtime);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(soon(exited(pid)));
    drop(hosted);
}

/// The variable that makes this very test a host.
const HOST: &str = "TACKROOM_TEST_HOST";

#[test]
fn an_agent_ends_with_a_host_that_is_killed() {
    let name = "host_agent::ends::an_agent_ends_with_a_host_that_is_killed";
    let runtime = tokio::runtime::Runtime::new().unwrap();
    if std::env::var_os(HOST).is_some() {
        runtime.block_on(async {
            let hosted = Hosted::start(Setup { is_stubborn: true, ..Setup::default() }).await;
            println!("\nhosts {}", hosted.agent.pid);
            std::future::pending::<()>().await;
        });
    }
    let program = std::env::current_exe().unwrap();
    let mut host = std::process::Command::new(program);
    let host = host.args(["--exact", name, "--nocapture"]).env(HOST, "1").stdout(Stdio::piped());
    let mut host = host.spawn().unwrap();
    let lines = std::io::BufRead::lines(std::io::BufReader::new(host.stdout.take().unwrap()));
    let agent = lines.map_while(Result::ok).find_map(|line| line.strip_prefix("hosts ")?.parse::<i32>().ok()).unwrap();
    assert!(is_alive(agent));
    kill(Pid::from_raw(i32::try_from(host.id()).unwrap()), Signal::SIGKILL).unwrap();
    host.wait().unwrap();
    runtime.block_on(soon(exited(agent)));
}
