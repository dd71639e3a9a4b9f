use super::*;
use crate::platform::process;
use nix::unistd::{Pid, getsid, gettid};
use std::path::PathBuf;
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};

const DEADLINE: Duration = Duration::from_secs(30);

fn shell(script: &str) -> (Group, Lines<BufReader<ChildStdout>>) {
    let mut command = Command::new("sh");
    command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut group = start(command, Stop::Kill).unwrap();
    let lines = BufReader::new(group.child.stdout.take().unwrap()).lines();
    (group, lines)
}

/// A shell that says its own pid and that of a process which it started.
async fn family(script: &str) -> (Group, [i32; 2]) {
    let (group, mut lines) = shell(&format!("{script} sleep 600 & echo $$; echo $!; wait; wait"));
    let mut pids = [0; 2];
    for pid in &mut pids {
        *pid = lines.next_line().await.unwrap().unwrap().parse().unwrap();
    }
    (group, pids)
}

async fn all_gone(pids: [i32; 2]) {
    for pid in pids {
        tokio::time::timeout(DEADLINE, process::exited(pid)).await.expect("it should end");
    }
}

#[tokio::test]
async fn what_it_started_ends_with_it() {
    let (group, pids) = family("").await;
    group.end(DEADLINE).await;
    all_gone(pids).await;
    // Who does not listen is killed.
    let (group, pids) = family("trap '' TERM;").await;
    group.end(Duration::from_millis(50)).await;
    all_gone(pids).await;
    let (group, pids) = family("").await;
    drop(group);
    all_gone(pids).await;
}

#[tokio::test]
async fn what_it_leaves_behind_is_killed_when_it_ends() {
    let (mut group, mut lines) = shell("sleep 600 & echo $!; exit 7");
    let left: i32 = lines.next_line().await.unwrap().unwrap().parse().unwrap();
    assert_eq!(group.ended().await.unwrap().code(), Some(7));
    all_gone([left, left]).await;
    assert_eq!(group.ended().await.unwrap().code(), Some(7), "it may be asked again");
}

#[tokio::test]
async fn a_waiting_that_is_given_up_goes_on_where_it_was() {
    let (mut group, mut lines) = shell("sleep 600 & echo $!; read word; exit 7");
    let left: i32 = lines.next_line().await.unwrap().unwrap().parse().unwrap();
    let (mut input, ..) = group.pipes();
    assert!(tokio::time::timeout(Duration::ZERO, group.ended()).await.is_err());
    input.take().unwrap().write_all(b"end\n").await.unwrap();
    let status = async {
        loop {
            // Dropped after each step.
            if let Ok(status) = tokio::time::timeout(Duration::ZERO, group.ended()).await {
                return status;
            }
            tokio::task::yield_now().await;
        }
    };
    let status = tokio::time::timeout(DEADLINE, status).await.expect("it should end");
    assert_eq!(status.unwrap().code(), Some(7));
    all_gone([left, left]).await;
}

#[tokio::test]
async fn it_is_a_session_of_its_own() {
    let (group, [pid, _]) = family("").await;
    let session = getsid(Some(Pid::from_raw(pid))).unwrap();
    assert_eq!(session.as_raw(), pid);
    group.end(DEADLINE).await;
}

#[tokio::test]
async fn it_outlives_the_thread_that_started_it() {
    let runtime = tokio::runtime::Handle::current();
    let begin = move || {
        let _runtime = runtime.enter();
        (shell("read word; echo $word"), PathBuf::from(format!("/proc/self/task/{}", gettid())))
    };
    let ((mut group, mut lines), thread) = std::thread::spawn(begin).join().unwrap();
    let gone = async {
        while thread.exists() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(DEADLINE, gone).await.expect("the thread should end");
    let (mut input, ..) = group.pipes();
    input.take().unwrap().write_all(b"there\n").await.unwrap();
    assert_eq!(lines.next_line().await.unwrap().as_deref(), Some("there"));
    assert!(group.ended().await.unwrap().success());
}
