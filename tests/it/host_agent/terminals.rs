//! The commands that an agent runs through its host.

use super::*;
use crate::host_agent::ends::is_alive;
use serde_json::json;
use std::fs;

#[tokio::test]
async fn a_command_runs_in_the_workspace_and_its_last_output_is_kept() {
    let mut hosted = Hosted::start(Setup::default()).await;
    fs::write(hosted.workspace().join("file"), "of the workspace").unwrap();
    let run = async |hosted: &mut Hosted, command: &str| -> Value {
        serde_json::from_str(&hosted.says(&format!("run:{command}")).await).unwrap()
    };
    let ran = run(&mut hosted, "cat_file;exit_3").await;
    let exit = json!({"exitCode": 3});
    let output = json!({"output": "of the workspace", "truncated": false, "exitStatus": exit});
    assert_eq!(ran, json!({"exit": exit, "output": output, "released": {}, "gone": -32002}));
    let ran = run(&mut hosted, "echo_begin;echo_$GREETING>&2;echo_there;printf_'ü_end'>&2").await;
    assert_eq!(ran["output"]["output"], "n\nhello\nthere\nü end");
    assert_eq!(ran["output"]["truncated"], true);
    let ran = run(&mut hosted, "kill_-9_$$").await;
    assert_eq!(ran["exit"], json!({"signal": "SIGKILL"}));
}

#[tokio::test]
async fn a_command_outside_of_the_workspace_is_refused() {
    let mut hosted = Hosted::start(Setup::default()).await;
    for params in [json!({"command": "true", "cwd": "/"}), json!({"command": "/nonexistent"})] {
        let said = hosted.says(&format!("call:terminal/create={params}")).await;
        assert_eq!(serde_json::from_str::<Value>(&said).unwrap()["code"], -32602, "{said}");
    }
    for method in ["kill", "release", "output"] {
        let said = hosted.says(&format!(r#"call:terminal/{method}={{"terminalId":"none"}}"#)).await;
        assert_eq!(serde_json::from_str::<Value>(&said).unwrap()["code"], -32002, "{said}");
    }
}

/// The process that such a command started and that writes its number down.
async fn started(hosted: &Hosted) -> i32 {
    let file = hosted.workspace().join("pid");
    soon(async {
        loop {
            if let Some(pid) = fs::read_to_string(&file).ok().and_then(|pid| pid.trim().parse().ok()) {
                return pid;
            }
            tokio::task::yield_now().await;
        }
    })
    .await
}

#[tokio::test]
async fn commands_end_with_all_that_they_started() {
    let forever = "run-forever:sleep_600&_echo_$!>pid.new;mv_pid.new_pid;wait".replace("&_", "&");
    let mut hosted = Hosted::start(Setup::default()).await;
    let terminal = hosted.says(&forever).await;
    let pid = started(&hosted).await;
    assert!(is_alive(pid));
    assert_eq!(hosted.says(&format!(r#"call:terminal/kill={{"terminalId":"{terminal}"}}"#)).await, "{}");
    soon(tackroom::platform::process::exited(pid)).await;
    // What it wrote and how it ended is still there.
    let ended = hosted.says(&format!(r#"call:terminal/output={{"terminalId":"{terminal}"}}"#)).await;
    assert!(ended.contains("output"), "{ended}");

    fs::remove_file(hosted.workspace().join("pid")).unwrap();
    hosted.says(&forever).await;
    let pid = started(&hosted).await;
    drop(hosted.agent);
    soon(tackroom::platform::process::exited(pid)).await;
    assert!(!is_alive(pid));
}

#[tokio::test]
async fn a_line_for_the_shell_is_run_by_it() {
    let mut hosted = Hosted::start(Setup::default()).await;
    let said = hosted.says(r#"call:terminal/create={"command":"echo\u0020$$>pid"}"#).await;
    assert!(said.contains("terminal-1"), "{said}");
    started(&hosted).await;
}

#[tokio::test]
async fn there_are_only_so_many() {
    let mut hosted = Hosted::start(Setup::default()).await;
    let all = hosted.says(&"run-forever:true ".repeat(32)).await;
    assert_eq!(all.matches("terminal-").count(), 32);
    let said = hosted.says(r#"call:terminal/create={"command":"true"}"#).await;
    assert!(said.contains("release one first"), "{said}");
}

#[tokio::test]
async fn who_waits_for_a_command_does_not_keep_it_from_being_ended() {
    let mut hosted = Hosted::start(Setup::default()).await;
    let terminal = hosted.says("run-forever:sleep_600").await;
    assert_eq!(hosted.says(&format!("wait-many:{terminal}")).await, "256");
}

#[tokio::test]
async fn what_is_no_name_of_a_variable_is_refused() {
    let mut hosted = Hosted::start(Setup::default()).await;
    for name in ["", "A=B"] {
        let params = json!({"command": "true", "env": [{"name": name, "value": "x"}]});
        let said = hosted.says(&format!("call:terminal/create={params}")).await;
        assert!(said.contains("is no name of a variable"), "{said}");
    }
}
