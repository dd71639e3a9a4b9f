//! What is known of an agent and its session: what it can be switched to, and how.

use super::message::value;
use super::words::short;
use super::{Choice, Command, Facts};
use crate::limits;
use crate::protocol::Harness;
use agent_client_protocol_schema::MaybeUndefined;
use agent_client_protocol_schema::v1::{
    AvailableCommand, AvailableCommandInput, Implementation, SessionConfigKind, SessionConfigOption,
    SessionConfigOptionCategory, SessionConfigSelectOption, SessionConfigSelectOptions, SessionModeState,
    SessionUpdate,
};
use serde::Deserialize;
use serde_json::Value;
use std::ffi::OsString;
use std::path::Path;

/// How something is switched: by a method of its own, or as one of the session's options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Switch {
    /// `session/set_mode` or `session/set_model`.
    Method,
    /// The option with this id.
    Option(String),
}

/// What is known, and how what can be switched is.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub facts: Facts,
    pub mode: Option<Switch>,
    pub model: Option<Switch>,
}

/// Updates that say how the session is now, and are no part of what was said in it.
pub(super) const STATE: [&str; 5] =
    ["available_commands_update", "config_option_update", "current_mode_update", "session_info_update", "usage_update"];

/// What agents said of their models before these were options of the session; several still do.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Models {
    current_model_id: String,
    available_models: Vec<Model>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Model {
    model_id: String,
    #[serde(default)]
    name: String,
}

impl Known {
    /// Takes in what an agent answers when a session is made or loaded.
    pub(super) fn session(&mut self, answer: &Value) {
        if let Some(modes) = member::<SessionModeState>(answer, "modes") {
            let found = modes.available_modes.iter().map(|mode| choice(&mode.id.0, &mode.name));
            self.facts.modes = found.take(limits::AGENT_CHOICES).collect();
            self.facts.mode = Some(short(&modes.current_mode_id.0));
            self.mode = Some(Switch::Method);
        }
        if let Some(models) = member::<Models>(answer, "models") {
            let found = models.available_models.iter().map(|model| choice(&model.model_id, &model.name));
            self.facts.models = found.take(limits::AGENT_CHOICES).collect();
            self.facts.model = Some(short(&models.current_model_id));
            self.model = Some(Switch::Method);
        }
        self.options(answer);
    }

    /// Takes in the options of the session, where there are any.
    pub(super) fn options(&mut self, holder: &Value) {
        let Some(Value::Array(options)) = holder.get("configOptions") else { return };
        for option in options.iter().filter_map(|option| SessionConfigOption::deserialize(option).ok()) {
            let SessionConfigKind::Select(select) = &option.kind else { continue };
            let (current, choices) = (Some(short(&select.current_value.0)), choices(&select.options));
            let switch = Some(Switch::Option(option.id.0.to_string()));
            let category = option.category.or_else(|| match option.id.0.as_ref() {
                "mode" => Some(SessionConfigOptionCategory::Mode),
                "model" => Some(SessionConfigOptionCategory::Model),
                _ => None,
            });
            match category {
                Some(SessionConfigOptionCategory::Mode) => {
                    (self.facts.mode, self.facts.modes, self.mode) = (current, choices, switch);
                }
                Some(SessionConfigOptionCategory::Model) => {
                    (self.facts.model, self.facts.models, self.model) = (current, choices, switch);
                }
                _ => {}
            }
        }
    }

    /// Takes in what an update says.
    pub(super) fn update(&mut self, sent: &Value) {
        match SessionUpdate::deserialize(sent) {
            Ok(SessionUpdate::AvailableCommandsUpdate(update)) => {
                let commands = update.available_commands.iter().take(limits::AGENT_CHOICES);
                self.facts.commands = commands.map(command).collect();
            }
            Ok(SessionUpdate::CurrentModeUpdate(update)) => self.facts.mode = Some(short(&update.current_mode_id.0)),
            Ok(SessionUpdate::ConfigOptionUpdate(_)) => self.options(sent),
            Ok(SessionUpdate::UsageUpdate(_)) => self.facts.usage.update(sent),
            Ok(SessionUpdate::SessionInfoUpdate(update)) => match update.title {
                MaybeUndefined::Value(title) => {
                    self.facts.title = Some(short(&title)).filter(|title| !title.is_empty())
                }
                MaybeUndefined::Null => self.facts.title = None,
                MaybeUndefined::Undefined => {}
            },
            _ => {}
        }
    }
}

fn member<T: for<'a> Deserialize<'a>>(of: &Value, name: &str) -> Option<T> {
    T::deserialize(of.get(name)?).ok()
}

fn choice(id: &str, name: &str) -> Choice {
    let name = short(name);
    // An id is said back, so it stays as it is.
    Choice { id: id.to_owned(), name: if name.is_empty() { short(id) } else { name } }
}

fn choices(options: &SessionConfigSelectOptions) -> Vec<Choice> {
    let one = |option: &SessionConfigSelectOption| choice(&option.value.0, &option.name);
    let all: Vec<_> = match options {
        SessionConfigSelectOptions::Ungrouped(options) => options.iter().map(one).collect(),
        SessionConfigSelectOptions::Grouped(groups) => {
            groups.iter().flat_map(|group| &group.options).map(one).collect()
        }
        _ => Vec::new(),
    };
    all.into_iter().take(limits::AGENT_CHOICES).collect()
}

fn command(command: &AvailableCommand) -> Command {
    let hint = match &command.input {
        Some(AvailableCommandInput::Unstructured(input)) => Some(short(&input.hint)),
        Some(other) => value(other).get("hint").and_then(Value::as_str).map(short),
        None => None,
    };
    let name = short(command.name.trim_start_matches('/'));
    Command { name, description: short(&command.description), hint: hint.filter(|hint| !hint.is_empty()) }
}

/// Programs that run what is named behind them.
const LAUNCHERS: [&str; 12] =
    ["npx", "bunx", "pnpx", "node", "bun", "deno", "uvx", "uv", "python", "python3", "env", "run"];

/// The programs that a command may start, as far as their names tell: what is launched, then what launches it.
fn programs(command: &[OsString]) -> impl Iterator<Item = String> {
    let words =
        command.iter().filter_map(|word| word.to_str()).filter(|word| !word.starts_with('-') && !word.contains('='));
    let names: Vec<String> = words.map(base).collect();
    let launched = names.iter().take_while(|name| LAUNCHERS.contains(&name.as_str())).count();
    names.into_iter().take(launched + 1).rev()
}

/// What a person calls an agent: as it names itself, else the program that is started.
pub(super) fn called(agent: Option<&Implementation>, command: &[OsString]) -> String {
    let titles = agent.into_iter().flat_map(|agent| [agent.title.as_deref().unwrap_or_default(), &agent.name]);
    let title = titles.map(short).find(|title| !title.is_empty());
    title.or_else(|| programs(command).next()).unwrap_or_default()
}

/// Which harness an agent is, by what it says of itself or by the name of its program.
pub(super) fn harness(agent: Option<&Implementation>, command: &[OsString]) -> Option<Harness> {
    let said = agent.into_iter().flat_map(|agent| [Some(agent.name.as_str()), agent.title.as_deref()]).flatten();
    let names = said.map(base).chain(programs(command));
    names.into_iter().find_map(|name| named(&name))
}

/// What packages and programs add to the name of a harness.
const ENDINGS: [&str; 7] = ["-acp", "-agent", "-ai", "-cli", "-code", "-coding", "-adapter"];

fn named(name: &str) -> Option<Harness> {
    let name = name.replace(|c: char| !c.is_alphanumeric(), "-");
    let mut name = name.as_str();
    while let Some(shorter) = ENDINGS.iter().find_map(|end| name.strip_suffix(end)) {
        name = shorter;
    }
    match name {
        "claude" => Some(Harness::ClaudeCode),
        "codex" => Some(Harness::Codex),
        "gemini" => Some(Harness::Gemini),
        "opencode" => Some(Harness::OpenCode),
        "goose" => Some(Harness::Goose),
        "pi" => Some(Harness::Pi),
        "grok" => Some(Harness::Grok),
        "openclaw" => Some(Harness::OpenClaw),
        "hermes" => Some(Harness::Hermes),
        "supercode" => Some(Harness::Supercode),
        _ => None,
    }
}

/// A program's or a package's name without its directory, its scope, its version and its kind of file.
fn base(word: &str) -> String {
    let name = Path::new(word).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let name = name.split('@').next().unwrap_or_default();
    let name = [".exe", ".cmd", ".js", ".mjs"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
    name.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn harnesses_are_known_by_their_own_word_or_their_program() {
        let words = |command: &str| command.split(' ').map(OsString::from).collect::<Vec<_>>();
        let of = |said: Option<&str>, command: &str| {
            harness(said.map(|name| Implementation::new(name, "1")).as_ref(), &words(command))
        };
        assert_eq!(of(Some("@agentclientprotocol/claude-agent-acp"), "x"), Some(Harness::ClaudeCode));
        assert_eq!(of(Some("OpenCode"), "x"), Some(Harness::OpenCode));
        assert_eq!(of(None, "/usr/bin/gemini --acp"), Some(Harness::Gemini));
        assert_eq!(of(None, "npx -y @google/gemini-cli@1.2 --acp"), Some(Harness::Gemini));
        assert_eq!(of(Some("mine"), "codex-acp"), Some(Harness::Codex));
        assert_eq!(of(None, "mine --like gemini"), None);
        assert_eq!(of(None, "mine goose"), None);
        assert_eq!(of(None, "env A=b /x/supercode acp"), Some(Harness::Supercode));
        assert_eq!(of(Some("supercode-cli"), "x"), Some(Harness::Supercode));
        assert_eq!(of(None, "npx @mariozechner/pi-coding-agent"), Some(Harness::Pi));
        assert_eq!(of(Some("hermes-agent"), "python3 -m acp"), Some(Harness::Hermes));
        assert_eq!(of(Some("qwen-code"), "qwen --acp"), None);
        assert_eq!(of(Some("Claude Agent"), "x"), Some(Harness::ClaudeCode));
    }

    #[test]
    fn agents_are_called_by_their_title_or_name_or_program() {
        let command = ["npx", "-y", "@example/my-agent@2"].map(OsString::from);
        assert_eq!(
            called(Some(&Implementation::new("qwen-code", "1").title("Qwen Code".to_owned())), &command),
            "Qwen Code"
        );
        assert_eq!(called(Some(&Implementation::new("Copilot", "1")), &command), "Copilot");
        assert_eq!(called(None, &command), "my-agent");
    }

    #[test]
    fn options_say_more_than_the_older_members() {
        let mut known = Known::default();
        known.session(&json!({
            "modes": {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": ""}]},
            "models": {"currentModelId": "m1", "availableModels": [{"modelId": "m1", "name": "One"}]},
        }));
        let names = |choices: &[Choice]| choices.iter().map(|c| c.name.clone()).collect::<Vec<_>>();
        assert_eq!(
            (known.facts.mode.as_deref(), names(&known.facts.modes)),
            (Some("ask"), vec!["Ask".into(), "code".into()])
        );
        assert_eq!((known.facts.model.as_deref(), &known.model), (Some("m1"), &Some(Switch::Method)));
        known.update(&json!({"sessionUpdate": "config_option_update", "configOptions": [
            {"id": "model", "name": "Model", "category": "model", "type": "select", "currentValue": "m2",
             "options": [{"group": "g", "name": "G", "options": [{"value": "m2", "name": "Two"}]}]},
            {"id": "odd", "type": "select"},
        ]}));
        assert_eq!((known.facts.model.as_deref(), names(&known.facts.models)), (Some("m2"), vec!["Two".into()]));
        assert_eq!((known.model, known.mode), (Some(Switch::Option("model".into())), Some(Switch::Method)));
    }

    #[test]
    fn updates_change_what_they_name() {
        let mut known = Known::default();
        known.update(&json!({"sessionUpdate": "session_info_update", "title": "A\ntitle"}));
        known.update(&json!({"sessionUpdate": "session_info_update", "updatedAt": "2026-01-01T00:00:00Z"}));
        known.update(&json!({"sessionUpdate": "current_mode_update", "currentModeId": "code"}));
        known.update(&json!({"sessionUpdate": "available_commands_update", "availableCommands": [
            {"name": "web", "description": "Search", "input": {"hint": "what"}}, {"name": "/plain", "description": ""}]}));
        assert_eq!((known.facts.title.as_deref(), known.facts.mode.as_deref()), (Some("A title"), Some("code")));
        let command = |name: &str, description: &str, hint: Option<&str>| Command {
            name: name.into(),
            description: description.into(),
            hint: hint.map(str::to_owned),
        };
        assert_eq!(known.facts.commands, [command("web", "Search", Some("what")), command("plain", "", None)]);
        known.update(&json!({"sessionUpdate": "session_info_update", "title": null}));
        assert_eq!(known.facts.title, None);
    }
}
