//! The guides for contributors: the files that they list are those that name every harness or every method.

use std::collections::BTreeSet;
use std::path::Path;
use std::{fs, process};

/// The files in the table under "Every file that changes".
fn listed(guide: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(guide)).unwrap();
    let (_, table) = text.split_once("## Every file that changes").unwrap();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    rows.map(|(path, _)| path.to_owned()).collect()
}

/// The tracked files that name all of these; captured data and changelogs apart.
fn naming_all(spellings: &[Vec<String>]) -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = process::Command::new("git").arg("ls-files").current_dir(root).output().unwrap();
    let names_all = |path: &&str| {
        let text = fs::read_to_string(root.join(path)).unwrap_or_default();
        spellings.iter().all(|spellings| spellings.iter().any(|name| text.contains(name)))
    };
    let files = String::from_utf8(output.stdout).unwrap();
    let is_data = |path: &&str| ["tests/fixtures/", "fuzz/corpus/", "CHANGELOG"].iter().any(|at| path.starts_with(at));
    files.lines().filter(|path| !is_data(path)).filter(names_all).map(str::to_owned).collect()
}

#[test]
fn harness_guide_lists_every_file_that_names_all_harnesses() {
    let spellings = |store: &&'static dyn tackroom::harness::Store| {
        let harness = store.harness();
        let id = harness.id();
        vec![id.to_owned(), id.replace('-', "_"), format!("{harness:?}")]
    };
    let all: Vec<Vec<String>> = tackroom::harness::stores().iter().map(spellings).collect();
    assert_eq!(naming_all(&all), listed("docs/guides/harness.md"));
}

#[test]
fn method_guide_lists_every_file_that_names_all_methods() {
    let all: Vec<Vec<String>> =
        tackroom::service::methods().iter().map(|method| vec![method.name.to_owned()]).collect();
    assert_eq!(naming_all(&all), listed("docs/guides/method.md"));
}
