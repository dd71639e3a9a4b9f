//! Sessions that change for ten minutes, against a client that folds what a watch tells it.
//!
//!     cargo test --release --test soak               ten minutes
//!     cargo test --release --test soak -- 120        two minutes
//!
//! Now and then the changes pause. Then what the client has must be what a list says, and the server must have no more
//! descriptors and hardly more memory than after the first such pause. It is not part of `cargo test`.
#![allow(unreachable_pub, clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod client;
mod sessions;

use client::Client;
use serde_json::json;
use sessions::Sessions;
use std::time::{Duration, Instant};

/// Changes between two pauses.
const CHANGES: usize = 400;
/// Descriptors that may be open at a pause and were not at the first one: idle threads and connections come and go.
const DESCRIPTORS: usize = 8;
/// Memory that may have been added, in KiB.
const MEMORY: u64 = 48 << 10;

fn main() {
    // What `cargo test` itself passes begins with a dash.
    let seconds = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(600);
    let until = Instant::now() + Duration::from_secs(seconds);
    let home = tempfile::tempdir().expect("a directory");
    let mut sessions = Sessions::new(home.path());
    let mut client = Client::start(home.path());
    client.watch();
    let (mut rounds, mut first) = (0, None);
    while Instant::now() < until {
        for number in 0..CHANGES {
            sessions.change();
            match number % 40 {
                0 => client.follow(sessions.any()),
                20 => client.unfollow(),
                30 => client.list_and_cancel(),
                _ => {}
            }
        }
        if rounds % 10 == 9 {
            client.unwatch();
            client.watch();
        }
        client.settle();
        client.unfollow();
        let (descriptors, memory) = client.usage();
        let (descriptors_first, memory_first) = *first.get_or_insert((descriptors, memory));
        rounds += 1;
        let changes = rounds * CHANGES;
        println!("{changes} changes, {} sessions, {descriptors} descriptors, {memory} KiB", client.count());
        assert!(descriptors <= descriptors_first + DESCRIPTORS, "descriptors leak: {descriptors_first} at first");
        assert!(memory <= memory_first + MEMORY, "memory leaks: {memory_first} KiB at first");
    }
    client.call("shutdown", json!({}));
    println!("the view held for {seconds} s");
}
