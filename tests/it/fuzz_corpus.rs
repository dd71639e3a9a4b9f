//! What was found by fuzzing and by attacks: every file of `fuzz/corpus` goes through its target.

#[path = "../../fuzz/src/stores.rs"]
mod stores;
#[path = "../../fuzz/src/targets.rs"]
mod targets;

use std::fs;
use std::path::Path;

#[track_caller]
fn run(target: &str, check: impl Fn(&[u8])) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let mut count = 0;
    for file in fs::read_dir(corpus).unwrap() {
        check(&fs::read(file.unwrap().path()).unwrap());
        count += 1;
    }
    assert!(count > 0, "{target} has no corpus");
}

#[test]
fn corpus_of_frames_passes() {
    run("frames", targets::frames);
}

#[test]
fn corpus_of_params_passes() {
    run("params", targets::params);
}

#[test]
fn corpus_of_events_passes() {
    run("events", targets::events);
}

#[test]
fn corpus_of_agent_lines_passes() {
    run("agent_lines", targets::agent_lines);
}

#[test]
fn corpus_of_stores_passes() {
    run("stores", stores::stores);
}
