//! What a runtime says of itself.

use super::options::{Flavour, Options};
use serde_json::{Value, json};

/// What the caller may do of it is masked in `actions`.
pub fn descriptor(options: &Options, may: impl Fn(&str) -> bool, is_busy: bool, is_ending: bool) -> Value {
    let is_main = options.flavour == Flavour::Main;
    let (modules, commands, operations) = if is_main { catalog() } else { (json!([]), json!([]), json!([])) };
    let drives = may("interact");
    json!({
        "schema_version": 2,
        "session_id": options.runtime_id,
        "source_harness": options.source_harness,
        "emulation_profile": null,
        "active_modules": modules,
        "commands": commands,
        "operations": operations,
        "actions": {
            "submit": drives,
            "interrupt": drives,
            "steer": drives && supports(options, "steer"),
            "respond": drives && may("approve") && supports(options, "respond"),
            "detach": may("observe"),
            "close": may("terminate") && supports(options, "close"),
        },
        "display": { "event_kinds": event_kinds(options.flavour), "opaque_fallback": true },
        "model": options.model,
        "turn_state": if is_busy { "busy" } else { "idle" },
        "connection_state": if is_ending { "shutting_down" } else { "connected" },
    })
}

/// Whether this runtime can do it at all, whoever asks.
pub fn supports(options: &Options, action: &str) -> bool {
    match (options.flavour, action) {
        (Flavour::Main, _) => true,
        (Flavour::Hosted, "respond") => options.source.harness == "claude-code",
        (Flavour::Hosted, action) => !matches!(action, "steer" | "close"),
    }
}

fn catalog() -> (Value, Value, Value) {
    let modules =
        json!(["tools_search", "tools_apply_patch", "tools_persistent_shell", "todos", "tui", "server", "notify"]);
    let usage = "context-window usage for this session";
    let commands = json!([{ "name": "code-review", "description": null }, { "name": "context", "description": usage }]);
    let review = json!({ "name": "code-review", "description": null, "argument_hint": "[arguments]" });
    let operations = json!([
        { "id": "prompt:code-review", "kind": "prompt", "command": review },
        { "id": "context:usage", "kind": "context", "command": { "name": "context", "description": usage } },
    ]);
    (modules, commands, operations)
}

fn event_kinds(flavour: Flavour) -> &'static [&'static str] {
    match flavour {
        Flavour::Main => &[
            "user_message",
            "turn_started",
            "turn_succeeded",
            "turn_interrupted",
            "turn_failed",
            "text_delta",
            "turn_completed",
            "tool_call_started",
            "tool_call_completed",
            "cache_warning",
            "usage",
            "background_output",
            "request",
            "request_resolved",
            "scheduled_prompt_started",
            "scheduled_prompt_deferred",
            "scheduled_prompt_completed",
            "scheduler_error",
        ],
        Flavour::Hosted => &[
            "user_message",
            "turn_started",
            "turn_succeeded",
            "turn_interrupted",
            "turn_failed",
            "text_delta",
            "reasoning",
            "tool_call_started",
            "tool_call_completed",
            "request",
            "native_event",
            "runtime_disconnected",
        ],
    }
}
