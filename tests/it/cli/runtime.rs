//! Live runtimes, one step at a time.

use super::Home;
use crate::support::runtime::{Bad, Options, Route, Runtime, Step};
use serde_json::{Value, json};
use std::io::Write;
use std::process::Stdio;

const ID: &str = "runtime-of-the-demo";

fn start(home: &Home) -> (Runtime, String) {
    let ask = Step::Approval { tool: "bash".into(), arguments: json!({}) };
    let options = Options::main(ID, home.path().join("proj").to_str().unwrap())
        .on("slow", [Step::Hold("slow".into())])
        .on("ask", [ask, Step::Text("{output}".into())]);
    let runtime = Runtime::start(options);
    let endpoint = runtime.publish(&home.path().join(".config/supercode/live-runtimes"));
    (runtime, endpoint)
}

fn json_of(home: &Home, words: &[&str]) -> Value {
    let run = home.run(&[&["runtime", "--json"], words].concat());
    assert_eq!((run.code, run.err.as_str()), (0, ""), "{words:?}");
    serde_json::from_str(&run.out).unwrap()
}

#[test]
fn what_is_published_is_listed_and_found() {
    let home = Home::new();
    let run = home.run(&["runtime", "receipts"]);
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (0, "", "No runtimes are published.\n"));
    let (_runtime, endpoint) = start(&home);
    let run = home.run(&["runtime", "receipts"]);
    let [names, row] = <[&str; 2]>::try_from(run.out.lines().collect::<Vec<_>>()).unwrap();
    assert_eq!(
        names.split_whitespace().collect::<Vec<_>>(),
        ["RUNTIME", "HARNESS", "SESSION", "PID", "AGE", "WORKSPACE"]
    );
    let words: Vec<&str> = row.split_whitespace().collect();
    let pid = std::process::id().to_string();
    assert_eq!((words[0], words[1], words[2], words[3], words[5]), (ID, "supercode", ID, pid.as_str(), "~/proj"));
    let found = json_of(&home, &["receipts"]);
    assert_eq!(found["receipts"][0]["endpoint"], endpoint.as_str());
    assert!(!found.to_string().contains("token"));

    let run = home.run(&["runtime", "discover", "supercode", ID, "--workspace", "proj"]);
    assert_eq!((run.code, run.out.as_str()), (0, format!("{endpoint}\n").as_str()));
    let run = home.run(&["runtime", "discover", "supercode", ID]);
    assert_eq!((run.code, run.err.as_str()), (3, "tackroom: no runtime of this session in this directory responds\n"));
}

#[test]
fn a_runtime_is_described_without_being_joined() {
    let home = Home::new();
    let (runtime, _) = start(&home);
    let run = home.run(&["runtime", "describe", ID]);
    assert!(run.out.contains("\nmodel: fake-model\nturn_state: idle\n"), "{}", run.out);
    assert_eq!(json_of(&home, &["describe", ID])["descriptor"]["session_id"], ID);
    assert_eq!(home.run(&["runtime", "lease", ID]).out, "no client has control\n");
    assert_eq!(json_of(&home, &["lease", ID]), json!({ "observers": [] }));
    assert_eq!(runtime.observers(), [""; 0]);
    assert!(home.run(&["list"]).out.contains("[hosted] "));
}

#[test]
fn who_drives_is_told_and_must_be_displaced() {
    let home = Home::new();
    let (runtime, _) = start(&home);
    let mut driver = home.command(&["attach", ID, "--client-id", "anna"]);
    let mut driver = driver.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    driver.stdin.as_mut().unwrap().write_all(b"slow\n").unwrap();
    runtime.wait_held("slow");
    let run = home.run(&["runtime", "lease", ID]);
    assert!(run.out.starts_with("anna has control\nanna observes, last seen "), "{}", run.out);
    let run = home.run(&["list"]);
    assert!(run.out.contains("busy ") && run.out.contains("[hosted, anna has control] "), "{}", run.out);
    let run = home.run(&["runtime", "interrupt", ID]);
    assert_eq!(
        (run.code, run.err.as_str()),
        (1, "tackroom: anna has control of this runtime; use --take to take control\n")
    );
    let run = home.run(&["runtime", "interrupt", ID, "--take"]);
    assert_eq!((run.code, run.out.as_str()), (0, "interrupted the turn\n"));
    drop(driver.stdin.take());
    assert_eq!(driver.wait().unwrap().code(), Some(1));
    assert_eq!(home.run(&["runtime", "interrupt", ID]).out, "no turn is running\n");
    assert_eq!(runtime.observers(), [""; 0]);
}

#[test]
fn a_prompt_is_submitted_and_what_it_asks_is_denied() {
    let home = Home::new();
    let (runtime, _) = start(&home);
    let run = home.run(&["runtime", "submit", ID, "hello"]);
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (0, "echo: hello\n", ""));
    assert_eq!(json_of(&home, &["submit", ID, "hello"]), json!({ "reply": "echo: hello" }));
    let run = home.run(&["runtime", "submit", ID, "ask"]);
    assert_eq!((run.code, run.out.as_str()), (0, "deny\n"));
    assert!(run.err.contains("nobody can answer it here"), "{}", run.err);
    runtime.prompt("slow");
    let run = home.run(&["runtime", "submit", ID, "hello"]);
    assert_eq!(run.code, 1);
    assert!(run.err.starts_with("tackroom: the runtime is busy"), "{}", run.err);
}

#[test]
fn a_runtime_is_closed_and_a_receipt_forgotten() {
    let home = Home::new();
    let (runtime, endpoint) = start(&home);
    let run = home.run(&["runtime", "forget", ID]);
    assert_eq!(run.code, 1);
    assert!(run.err.contains("lives and answers"), "{}", run.err);
    let run = home.run(&["runtime", "forget", ID, "--force"]);
    let expected = format!("removed the receipt {endpoint}; its process was not touched\n");
    assert_eq!((run.code, run.out.as_str()), (0, expected.as_str()));
    assert_eq!(home.run(&["runtime", "forget", ID]).code, 3);

    runtime.publish(&home.path().join(".config/supercode/live-runtimes"));
    let run = home.run(&["runtime", "close", ID]);
    assert_eq!((run.code, run.out.as_str()), (0, format!("closed the runtime {ID} for all clients\n").as_str()));
    assert_eq!(home.run(&["runtime", "close", ID]).code, 3);
    assert_eq!(home.run(&["runtime", "submit", ID, "x"]).code, 3);
}

#[test]
fn events_that_nobody_reads_do_not_keep_it() {
    let home = Home::new();
    let (runtime, _) = start(&home);
    runtime.misbehave_times(Route::Rpc("interrupt".into()), 1, Bad::Held("interrupt".into()));
    let child =
        home.command(&["runtime", "interrupt", ID]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    runtime.wait_held("interrupt");
    for number in 0..200 {
        runtime.emit("text_delta", json!({ "text": number.to_string() }));
    }
    runtime.release("interrupt");
    let run = home.told(child.wait_with_output().unwrap());
    assert_eq!((run.code, run.out.as_str()), (0, "no turn is running\n"));
}
