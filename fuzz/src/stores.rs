//! Stores of every harness, each with one file damaged: nothing panics or hangs, and nothing is written.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tackroom::authority::Grant;
use tackroom::harness::{Homes, NoProgress, PageRequest};
use tackroom::protocol::{Harness, Include, Query, RootOrigin};
use tackroom::registry::{Registry, Request};
use tackroom::runtime::{Receipts, Runtimes};

/// A store that a real program wrote, below `tests/fixtures`, and whose it is.
const STORES: &[(Harness, &str)] = &[
    (Harness::ClaudeCode, "claude-code/projects"),
    (Harness::Codex, "codex/v0.171.0"),
    (Harness::Gemini, "gemini/v0.61.0"),
    (Harness::OpenCode, "opencode/v1.18.33-checkpointed"),
    (Harness::OpenCode, "opencode/v1.0.185"),
    (Harness::Goose, "goose/xdg-data/goose/sessions"),
    (Harness::Goose, "goose/legacy-jsonl/goose/sessions"),
    (Harness::Pi, "pi/v1.6.0/sessions"),
    (Harness::Grok, "grok/.grok"),
    (Harness::OpenClaw, "openclaw/v2026.9.6/.openclaw"),
    (Harness::OpenClaw, "openclaw/v2026.5.7/.openclaw"),
    (Harness::Hermes, "hermes/.hermes"),
    (Harness::Supercode, "supercode/.config/supercode"),
    (Harness::Orchestrator, "orchestrator/.supercode/orchestrator"),
];

/// The first bytes choose the store, the file and where it is damaged; the others take the place of what is there.
pub fn stores(input: &[u8]) {
    let [store, file, at @ ..] = input else { return };
    let [high, low, bytes @ ..] = at else { return };
    let (harness, fixture) = STORES[usize::from(*store) % STORES.len()];
    let home = tempfile::tempdir().expect("a directory");
    let root = home.path().join(Path::new(fixture).file_name().expect("a name"));
    // It is compiled from here and, with the corpus, from the project's own tests.
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().find(|above| above.join("tests/fixtures").is_dir());
    copy(&project.expect("the project").join("tests/fixtures").join(fixture), &root);
    let files: Vec<PathBuf> = content(&root).into_keys().collect();
    let damaged = &files[usize::from(*file) % files.len()];
    let mut content_of = fs::read(damaged).expect("a file");
    let at = usize::from(u16::from_be_bytes([*high, *low])) % (content_of.len() + 1);
    let end = (at + bytes.len()).min(content_of.len());
    content_of.splice(at..end, bytes.iter().copied());
    fs::write(damaged, content_of).expect("a file");

    let before = content(&root);
    read_all(harness, &root);
    assert!(before == content(&root), "something was written");
}

fn read_all(harness: Harness, root: &Path) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().expect("threads");
    let mut homes = Homes::default();
    homes.add_named(harness, root, RootOrigin::Flag);
    let grant = Grant::all();
    let runtimes = Runtimes::new(Receipts::new(None), grant.clone(), runtime.handle().clone());
    let registry = Registry::new(homes, "fuzz".to_owned(), Arc::new(runtimes));
    let snapshot = registry.snapshot_of_files(&NoProgress).expect("nobody cancels it");
    let include = vec![Include::Topics, Include::LastMessage, Include::MessageCount];
    let query = Query { include_children: Some(true), include: Some(include), ..Query::default() };
    let roots = registry.roots();
    let request = Request { query: &query, cursor: None, limit: usize::MAX, grant: &grant, roots: &roots };
    let list = snapshot.list(&request, &NoProgress).expect("nobody cancels it");
    assert_eq!(list.total, list.entries.len());
    for entry in &list.entries {
        assert!(snapshot.describe(&entry.id, &grant, &roots, &NoProgress).is_some(), "{} is listed", entry.id);
        let page = PageRequest { cursor: None, limit: 100, progress: &NoProgress, own_only: false };
        let _ = snapshot.load(&entry.id, &grant, &roots, &page);
    }
}

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).expect("a directory");
        for entry in fs::read_dir(from).expect("a directory") {
            let name = entry.expect("an entry").file_name();
            copy(&from.join(&name), &to.join(&name));
        }
    } else {
        fs::copy(from, to).expect("a file");
    }
}

/// Every file below a directory, and what is in it.
fn content(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            match path.is_dir() {
                true => open.push(path),
                false => drop(found.insert(path.clone(), fs::read(path).expect("a file"))),
            }
        }
    }
    found
}
