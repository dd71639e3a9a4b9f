//! From a program to an agent in a session.

use super::*;
use serde_json::json;
use tackroom::host::agent::{Choice, Command};
use tackroom::protocol::Harness;

fn choice(id: &str, name: &str) -> Choice {
    Choice { id: id.to_owned(), name: name.to_owned() }
}

async fn refused(setup: Setup, change: impl FnOnce(&mut Options)) -> Error {
    match Hosted::start_with(setup, change).await {
        Ok(_) => panic!("an agent"),
        Err(error) => error,
    }
}

#[tokio::test]
async fn what_an_agent_says_of_itself_is_known() {
    let setup = Setup { name: Some("@google/gemini-cli".to_owned()), images: true, ..Setup::default() };
    let hosted = Hosted::start(setup).await;
    let facts = &hosted.agent.facts;
    assert_eq!((facts.harness, facts.session_id.as_str(), facts.images), (Some(Harness::Gemini), "test-session", true));
    assert_eq!((facts.mode.as_deref(), facts.model.as_deref(), &facts.title), (Some("ask"), Some("small"), &None));
    assert_eq!(facts.modes, [choice("ask", "Ask"), choice("code", "Code")]);
    assert_eq!(facts.models, [choice("small", "Small"), choice("large", "Large")]);
    let web = Command { name: "web".into(), description: "Search the web".into(), hint: Some("what for".into()) };
    assert_eq!(facts.commands, [web]);
    assert_eq!(hosted.agent.history, []);
    let line = std::fs::read_to_string(format!("/proc/{}/cmdline", hosted.agent.pid)).unwrap();
    assert!(line.contains("support::agent::serves"), "{line}");
}

#[tokio::test]
async fn a_plain_agent_is_of_no_harness_and_cannot_be_switched() {
    let hosted = Hosted::start(Setup { is_fixed: true, ..Setup::default() }).await;
    let facts = &hosted.agent.facts;
    assert_eq!((facts.harness, &facts.mode, &facts.model, facts.images), (None, &None, &None, false));
    let (reply, replied) = tokio::sync::oneshot::channel();
    hosted.ask(Ask::Model("large".to_owned(), reply)).await;
    assert_eq!(soon(replied).await.unwrap(), Err("this agent's model cannot be switched".to_owned()));
}

#[tokio::test]
async fn a_loaded_session_has_its_history_and_its_title() {
    for repeats_late in [false, true] {
        let setup = Setup { loads: true, repeats_late, ..Setup::default() };
        let load = |options: &mut Options| options.load = Some("test-session".to_owned());
        let mut hosted = Hosted::start_with(setup, load).await.unwrap();
        let history = &hosted.agent.history;
        let history: Vec<_> = history.iter().map(|event| (event.kind, event.payload.get("text"))).collect();
        let (hello, hi) = (json!("hello"), json!("hi there"));
        let said = vec![("user_message", Some(&hello)), ("text_delta", Some(&hi))];
        let tool = ["tool_call_started", "tool_call_updated", "tool_call_completed"].map(|kind| (kind, None));
        assert_eq!(history, [said, tool.to_vec()].concat());
        let facts = &hosted.agent.facts;
        assert_eq!((facts.title.as_deref(), facts.mode.as_deref()), (Some("Of old"), Some("ask")));
        assert_eq!(hosted.says("say:on").await, "on");
    }
}

#[tokio::test]
async fn a_session_that_cannot_be_loaded_is_resumed_or_refused() {
    let load = |options: &mut Options| options.load = Some("of-old".to_owned());
    let resumed = Hosted::start_with(Setup { resumes: true, ..Setup::default() }, load).await.unwrap();
    assert_eq!((resumed.agent.facts.session_id.as_str(), resumed.agent.history.len()), ("of-old", 0));
    assert!(matches!(refused(Setup::default(), load).await, Error::LoadUnsupported));
    let failing = Setup { loads: true, fails_at: Some("session/load".to_owned()), ..Setup::default() };
    assert_eq!(refused(failing, load).await.to_string(), "the agent refused session/load: no such luck");
}

#[tokio::test]
async fn who_must_log_in_is_told_how() {
    let logins = |ids: &[&str]| Setup { logins: ids.iter().map(|&id| id.to_owned()).collect(), ..Setup::default() };
    let error = refused(logins(&["browser", "good-api-key", "other_api_key"]), |_| {}).await;
    let said = "the agent wants its user to log in first (Log in with browser, Log in with good-api-key, \
                Log in with other_api_key); log in with the agent's own program, then start it again";
    assert_eq!(error.to_string(), said);
    // One that asks nobody is tried.
    let hosted = Hosted::start(logins(&["browser", "good-api-key"])).await;
    assert_eq!(hosted.agent.facts.session_id, "test-session");
    let error = refused(logins(&["browser", "wrong-api-key"]), |_| {}).await.to_string();
    assert!(error.ends_with("its method wrong-api-key failed: bad key"), "{error}");
}

#[tokio::test]
async fn what_is_no_agent_is_refused_with_its_reason() {
    let error = refused(Setup::default(), |options| options.command = vec!["/nonexistent/agent".into()]).await;
    assert!(matches!(&error, Error::Spawn { program, .. } if program == "/nonexistent/agent"), "{error}");
    assert!(matches!(refused(Setup::default(), |options| options.command.clear()).await, Error::NoCommand));
    let elsewhere = |options: &mut Options| options.workspace = "relative".into();
    assert!(matches!(refused(Setup::default(), elsewhere).await, Error::Workspace(_)));
    let error = refused(Setup { exits_at: Some("initialize".into()), ..Setup::default() }, |_| {}).await.to_string();
    assert!(error.contains("(exit code 7)") && error.contains("the agent starts[31m\nno such luck"), "{error}");
    let error = refused(Setup { version: Some(7), ..Setup::default() }, |_| {}).await.to_string();
    assert!(error.contains("it speaks version 7"), "{error}");
    let error = refused(Setup { fails_at: Some("session/new".into()), ..Setup::default() }, |_| {}).await.to_string();
    assert_eq!(error, "the agent refused session/new: no such luck");
    // Who offers no way to log in is not told to.
    for method in ["initialize", "session/new"] {
        let setup = Setup { fails_at: Some(method.into()), failure: Some(-32000), ..Setup::default() };
        assert_eq!(refused(setup, |_| {}).await.to_string(), format!("the agent refused {method}: no such luck"));
    }
    let silent = |options: &mut Options| options.command = vec!["true".into()];
    assert!(matches!(refused(Setup::default(), silent).await, Error::Exited { .. }));
}

#[tokio::test]
async fn a_log_on_the_wrong_pipe_does_no_harm_unless_it_is_a_flood() {
    let hosted = Hosted::start(Setup { nonsense: 1_000, ..Setup::default() }).await;
    assert_eq!(hosted.agent.facts.session_id, "test-session");
    let flood = |options: &mut Options| {
        options.command = ["sh", "-c", "yes $(head -c 100000 /dev/zero | tr '\\0' x)"].map(Into::into).to_vec();
    };
    let error = refused(Setup::default(), flood).await.to_string();
    assert!(error.contains("lines in a row that are no messages"), "{error}");
}

#[tokio::test]
async fn an_agent_that_says_nothing_is_given_up() {
    // Where nothing else happens the clock goes on to what is waited for.
    tokio::time::pause();
    let home = tempfile::tempdir().unwrap();
    let mut options = options(&Setup::default(), home.path());
    options.command = ["sleep", "600"].map(Into::into).to_vec();
    let error = start(&options).await.expect_err("no agent");
    assert!(matches!(error, Error::Timeout { method: "initialize", .. }), "{error}");
}

#[tokio::test]
async fn an_agent_does_not_take_itself_for_the_child_of_another() {
    let name = "host_agent::start::an_agent_does_not_take_itself_for_the_child_of_another";
    if std::env::var_os("CLAUDECODE").is_none() {
        let mut again = std::process::Command::new(std::env::current_exe().unwrap());
        let run = again.args(["--exact", name]).env("CLAUDECODE", "1").output().unwrap();
        let said = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    let mut hosted = Hosted::start(Setup::default()).await;
    assert_eq!(hosted.says("env:CLAUDECODE").await, "unset");
    assert_eq!(hosted.says("env:PATH").await, std::env::var("PATH").unwrap());
}
