//! What the tests of runtimes in the inventory put into a home, and ask of a server.

use super::runtime::Options;
use super::{Home, Server};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Where runtimes are published in a home.
pub fn receipts_in(home: &Path) -> PathBuf {
    home.join(".config/supercode/live-runtimes")
}

/// The names of what lies where runtimes are published.
pub fn files_in(home: &Path) -> Vec<String> {
    let Ok(files) = std::fs::read_dir(receipts_in(home)) else { return vec![] };
    let mut names: Vec<String> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A hosted runtime that runs this session of Claude Code.
pub fn hosting(session: &str, runtime_id: &str, workspace: &str) -> Options {
    let mut options = Options::hosted("claude-code", runtime_id, workspace);
    options.source.session_id = session.to_owned();
    options
}

/// The source of a runtime, as a client names it.
pub fn source(options: &Options) -> Value {
    let source = &options.source;
    json!({ "harness": source.harness, "sessionId": source.session_id, "workspace": source.workspace })
}

/// The answer of `registry/list`.
#[track_caller]
pub fn list(server: &mut Server, query: Value) -> Value {
    server.request("registry/list", json!({ "query": query })).result()
}

/// The ids of a list's entries.
pub fn ids(list: &Value) -> Vec<String> {
    list["entries"].as_array().unwrap().iter().map(|entry| entry["id"].as_str().unwrap().to_owned()).collect()
}

/// The ids of the entries that a query means.
#[track_caller]
pub fn listed(server: &mut Server, query: Value) -> Vec<String> {
    ids(&list(server, query))
}

/// The problems of an answer.
pub fn problems(answer: &Value) -> Vec<Value> {
    answer.get("problems").map_or_else(Vec::new, |problems| problems.as_array().unwrap().clone())
}

/// Another server that looks at the same home.
pub fn beside(home: &Home, args: &[&str]) -> Server {
    let environment = [("HOME".into(), home.path().into())];
    super::Spawn::empty().only_env(environment).args(args.iter().copied()).open()
}
