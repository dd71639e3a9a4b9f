//! What the courier prints decides.

use super::{SECRET, World, no_directory, send};
use serde_json::json;
use tackroom::protocol::Outcome;

/// What becomes of a message, and the detail that is told.
fn outcome(courier: &str) -> (Outcome, Option<String>) {
    let (mut server, _target) = World::new(courier).open(&[]);
    let mut told = send(&mut server, "Hello there").result();
    no_directory(server.home.path());
    let detail = told.get("detail").map(|detail| detail.as_str().unwrap().to_owned());
    (serde_json::from_value(told["outcome"].take()).unwrap(), detail)
}

/// Why a message was not delivered.
fn failure(courier: &str) -> (String, String) {
    let (mut server, _target) = World::new(courier).open(&[]);
    let error = send(&mut server, "Hello there").error();
    error.is(-32032, "delivery_failed");
    no_directory(server.home.path());
    for secret in [SECRET, "proxy-sentinel"] {
        assert!(!error.message.contains(secret) && !server.log().contains(secret), "{}", error.message);
    }
    assert!(error.message.chars().count() < 500 && !error.message.contains(char::is_control), "{}", error.message);
    (error.data["cause"].as_str().unwrap().to_owned(), error.message)
}

#[track_caller]
fn fails(courier: &str, cause: &str, words: &str) {
    let (told, message) = failure(courier);
    assert_eq!(told, cause, "{message}");
    assert!(message.contains(words), "{message}");
}

#[test]
fn a_notice_tells_whether_it_was_held_or_refused() {
    let (held, detail) = outcome("call; sent; result SENT; notice 'held by the receiving session'; stay");
    assert_eq!(held, Outcome::Held);
    assert!(detail.unwrap().starts_with("Cross-session message held by the receiving session (recipient: uds:/"));
    assert_eq!(outcome("call; sent; notice refused; result SENT; stay").0, Outcome::Refused);
    // It comes when the courier has said its word, and begins another turn.
    assert_eq!(outcome("call; sent; result SENT; sleep 1; notice refused; result NOT_SENT; stay").0, Outcome::Refused);
}

#[test]
fn whatever_a_notice_calls_the_session_it_is_about_the_message() {
    for name in ["@fix (ci)", "@Reviewer", "@reviewer [dc94f8]", "@renamed"] {
        assert_eq!(
            outcome(&format!("call; sent; notice refused '{name}'; result SENT; stay")).0,
            Outcome::Refused,
            "{name}"
        );
    }
}

#[test]
fn a_notice_about_another_message_is_none() {
    assert_eq!(
        outcome("notice refused; call; sent; notice refused @other m-2; result SENT; stay"),
        (Outcome::Accepted, None)
    );
}

#[test]
fn what_is_in_the_inbox_was_accepted_whatever_became_of_the_courier() {
    for end in ["exit 1", "kill -9 $$", "result 'the API failed' true; exit 1", "result SENT"] {
        let (outcome, detail) = outcome(&format!("call; sent; {end}"));
        // Nobody heard what the session might say.
        assert_eq!(outcome, Outcome::Accepted, "{end}");
        assert!(detail.unwrap().starts_with("the courier ended before"), "{end}");
    }
    assert_eq!(
        outcome("trap '' TERM; call; sent; stay; sleep 600"),
        (Outcome::Accepted, None),
        "one that does not leave is killed"
    );
}

#[test]
fn a_version_that_tells_no_tool_results_is_judged_by_its_exact_word() {
    assert_eq!(outcome("call; answer '\"ok\"'; result SENT; stay").0, Outcome::Accepted);
    fails("call; answer '\"ok\"'; result 'I have SENT it'; stay", "report", "I have SENT it");
    fails("call; answer '\"ok\"'; result SENT; stay; exit 3", "exit", "it ended with 3");
    fails("result NOT_SENT; stay", "report", "NOT_SENT");
}

#[test]
fn no_word_stands_for_what_the_tool_did_not_say() {
    for before in ["", "call", "call; answer '{\"success\":false}' other", "call; answer '{\"success\":\"true\"}'"] {
        fails(&format!("{before}\nresult SENT; stay"), "report", "its tool did not; it may have arrived");
    }
    fails("call; answer '\"Error: nope\"' t true; result SENT; stay", "report", "could not be sent");
}

#[test]
fn an_id_that_is_none_is_left_out() {
    for id in ["$ANTHROPIC_API_KEY", "a b", "$(printf '%0100d' 7)"] {
        let courier = format!("call; answer '{{\"success\":true,\"msg_id\":\"'\"{id}\"'\"}}'; notice held; stay");
        let (mut server, _target) = World::new(&courier).open(&[]);
        let told = send(&mut server, "Hello there").result();
        assert_eq!((&told["outcome"], told.get("messageId")), (&json!("held"), None), "{id}");
    }
}

#[test]
fn a_courier_that_sends_something_else_is_stopped() {
    fails("call 'Hello there!'; ready; stay", "report", "something else");
    fails("call \"$text\" uds:/other.sock; ready; stay", "report", "something else");
    fails("call \"$text\" reviewer; sent; result SENT; stay", "report", "something else");
}

#[test]
fn a_tool_that_cannot_send_says_why() {
    fails("call; unsent; result NOT_SENT; stay", "report", "No agent is reachable");
}

#[test]
fn a_failed_run_says_what_it_printed() {
    fails("result 'Invalid API key' true; stay; exit 1", "exit", "it ended with 1: Invalid API key");
    fails("result 'Something broke' true; stay", "report", "Something broke");
    fails("echo 'error: unknown option --safe-mode' >&2; exit 1", "exit", "unknown option --safe-mode");
    fails("kill -9 $$", "exit", "a signal ended it");
    fails("exit 0", "report", "without a word");
    fails("printf '\\377\\376 \\033[31mred' >&2; exit 2", "exit", "[31mred");
    fails("printf '\\377\\376\\n{\\n[]\\nnull\\n'; exit 2", "exit", "it ended with 2");
    fails("env >&2; exit 1", "exit", "it ended with 1");
    fails(
        "echo \"key $ANTHROPIC_API_KEY$ANTHROPIC_API_KEY proxy $HTTPS_PROXY\" >&2; exit 1",
        "exit",
        "key […][…] proxy […]",
    );
    fails(
        "echo 'as me:proxy-sentinel, proxy-sentinel, sk-ant-0123456789abc, Bearer abc' >&2; exit 1",
        "exit",
        "as […], […], […], Bearer […]",
    );
}

#[test]
fn the_captured_failure_of_a_login_is_told() {
    let captured = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/claude-code/courier/result-api-401.json");
    fails(&format!("cat {captured}; stay; exit 1"), "exit", "Invalid API key · Fix external API key");
}

#[test]
fn a_flood_is_not_waited_out() {
    fails("head -c 5000000 /dev/zero; stay", "report", "more than is read");
    fails("yes '{}'", "report", "more than is read");
    // What it complains about is not read for ever, and kept only in part.
    fails("yes complaint | head -n 100000 >&2; exit 1", "exit", "complaint complaint");
}

#[test]
fn one_that_never_answers_is_given_up() {
    for courier in ["stay; sleep 600", "trap '' TERM; sleep 600", "exec >&-; sleep 600"] {
        let (mut server, _target) = World::new(courier).open(&["--limit", "courierMs=700"]);
        let error = send(&mut server, "Hello there").error();
        error.is(-32032, "delivery_failed");
        let causes = if courier.starts_with("exec") { json!("report") } else { json!("timeout") };
        assert!(error.data["cause"] == "timeout" || error.data["cause"] == causes, "{courier}: {error:?}");
        no_directory(server.home.path());
    }
}
