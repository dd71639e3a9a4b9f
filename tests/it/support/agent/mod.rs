//! An agent of the Agent Client Protocol in a process of its own, which does what the words of a prompt say: the current
//! program, started once more.

mod script;
mod wire;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::ffi::OsString;
use wire::Wire;

/// The variable that tells a started process what to be.
const ASKED: &str = "TACKROOM_TEST_AGENT";

/// What an agent is like. `Setup::default()` is a plain one.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Setup {
    /// The name that it gives itself.
    pub name: Option<String>,
    /// The version of the protocol that it speaks instead of 1.
    pub version: Option<u64>,
    /// A method that it never answers.
    pub hangs_at: Option<String>,
    /// A method at which it ends with exit code 7.
    pub exits_at: Option<String>,
    /// A method that it answers with an error.
    pub fails_at: Option<String>,
    /// The code of that error, where it is not that of an internal one.
    pub failure: Option<i32>,
    /// The ids of the ways to log in, of which one must be used before there is a session.
    pub logins: Vec<String>,
    /// Whether prompts may hold images.
    pub images: bool,
    /// Whether it loads sessions, and repeats what was said in them.
    pub loads: bool,
    /// Whether it repeats them only after it has answered.
    pub repeats_late: bool,
    /// Whether it resumes sessions without repeating anything.
    pub resumes: bool,
    /// Whether it can be switched by the session's options rather than by methods of their own.
    pub has_options: bool,
    /// Whether it can be switched at all.
    pub is_fixed: bool,
    /// Lines of nonsense that it writes before its first answer.
    pub nonsense: usize,
    /// Whether it goes on when its input ends and when it is asked to end.
    pub is_stubborn: bool,
}

/// The command line that starts such an agent.
pub fn command(setup: &Setup) -> Vec<OsString> {
    let (_, test) = module_path!().split_once("::").expect("a module of a program");
    let asked = format!("{ASKED}={}", serde_json::to_string(setup).expect("a setup"));
    let program = std::env::current_exe().expect("this program").into_os_string();
    let words = ["--exact", &format!("{test}::serves"), "--ignored", "--nocapture"].map(OsString::from);
    ["env".into(), asked.into(), program].into_iter().chain(words).collect()
}

#[test]
#[ignore = "is the program of `command`, and nothing without it"]
fn serves() {
    let Ok(setup) = std::env::var(ASKED) else { return };
    serve(serde_json::from_str(&setup).expect("a setup"));
    std::process::exit(0);
}

/// Is an agent until its input ends.
fn serve(setup: Setup) {
    if setup.is_stubborn {
        // SAFETY: to ignore a signal runs no code of ours.
        unsafe { libc::signal(libc::SIGTERM, libc::SIG_IGN) };
    }
    eprintln!("the agent starts\u{1b}[31m");
    let wire = Wire::default();
    wire.nonsense(setup.nonsense);
    let mut is_logged_in = setup.logins.is_empty();
    for line in std::io::stdin().lines() {
        let message: Value = serde_json::from_str(&line.expect("a line")).expect("a message");
        let Some(method) = message["method"].as_str() else {
            wire.answered(message);
            continue;
        };
        let (id, params) = (message["id"].clone(), message["params"].clone());
        let is_at = |at: &Option<String>| at.as_deref() == Some(method);
        match method {
            _ if is_at(&setup.exits_at) => {
                eprintln!("no such luck");
                std::process::exit(7);
            }
            _ if is_at(&setup.hangs_at) => {}
            _ if is_at(&setup.fails_at) => wire.fail(&id, setup.failure.unwrap_or(-32603), "no such luck"),
            "initialize" => {
                let _ = script::DECLARED.set(params["clientCapabilities"].clone());
                wire.answer(&id, capabilities(&setup));
            }
            "authenticate" => {
                is_logged_in = params["methodId"].as_str().is_some_and(|method| method.contains("good"));
                if is_logged_in { wire.answer(&id, json!({})) } else { wire.fail(&id, -32603, "bad key") }
            }
            "session/new" | "session/load" | "session/resume" if !is_logged_in => {
                wire.fail(&id, -32000, "Authentication required");
            }
            "session/new" => {
                assert_eq!(params["mcpServers"], json!([]));
                wire.update(script::commands());
                wire.answer(&id, session(&setup, true));
            }
            "session/load" => {
                if setup.repeats_late {
                    wire.answer(&id, session(&setup, false));
                }
                script::history(&wire);
                if !setup.repeats_late {
                    wire.answer(&id, session(&setup, false));
                }
            }
            "session/resume" => wire.answer(&id, session(&setup, false)),
            "session/prompt" => {
                wire.begin();
                let wire = wire.clone();
                std::thread::spawn(move || script::play(&wire, &id, &params["prompt"]));
            }
            "session/cancel" => wire.cancel(),
            "session/set_mode" if params["modeId"] == "bad" => wire.fail(&id, -32602, "no such mode"),
            "session/set_mode" | "session/set_model" => wire.answer(&id, json!({})),
            "session/set_config_option" => {
                wire.answer(&id, json!({ "configOptions": options(params["value"].as_str().expect("a value")) }));
            }
            "$/cancel_request" => eprintln!("withdrawn: {}", params["requestId"]),
            _ => wire.fail(&id, -32601, "Method not found"),
        }
    }
    if setup.is_stubborn {
        loop {
            std::thread::park();
        }
    }
}

fn capabilities(setup: &Setup) -> Value {
    let logins: Vec<_> =
        setup.logins.iter().map(|id| json!({ "id": id, "name": format!("Log in with {id}") })).collect();
    let resume = setup.resumes.then(|| json!({}));
    json!({
        "protocolVersion": setup.version.unwrap_or(1),
        "agentCapabilities": {
            "loadSession": setup.loads,
            "promptCapabilities": { "image": setup.images },
            "sessionCapabilities": { "resume": resume },
        },
        "agentInfo": setup.name.as_ref().map(|name| json!({ "name": name, "version": "1" })),
        "authMethods": logins,
    })
}

fn session(setup: &Setup, is_new: bool) -> Value {
    let mut session = match setup {
        Setup { is_fixed: true, .. } => json!({}),
        Setup { has_options: true, .. } => json!({ "configOptions": options("small") }),
        _ => json!({
            "modes": { "currentModeId": "ask", "availableModes": [{ "id": "ask", "name": "Ask" }, { "id": "code", "name": "Code" }] },
            "models": { "currentModelId": "small", "availableModels": [{ "modelId": "small", "name": "Small" }, { "modelId": "large", "name": "Large" }] },
        }),
    };
    if is_new {
        session["sessionId"] = "test-session".into();
    }
    session
}

fn options(model: &str) -> Value {
    json!([{
        "id": "the-model", "name": "Model", "category": "model", "type": "select", "currentValue": model,
        "options": [{ "value": "small", "name": "Small" }, { "value": "large", "name": "Large" }],
    }])
}
