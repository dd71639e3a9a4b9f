//! Receipts as files, held against real processes.

mod content;
mod files;
mod owners;
mod register;

use super::receipts::Error;
use super::*;
use crate::platform::process;
use crate::protocol::{Endpoint, Harness, Source};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// What must never show.
const SECRET: &str = "5e475e475e475e475e475e475e475e475e475e475e475e475e475e475e475e47";

fn own_pid() -> i32 {
    i32::try_from(std::process::id()).unwrap()
}

fn now_ms() -> u64 {
    u64::try_from(std::time::UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap()
}

fn id(number: u64) -> String {
    format!("{number:032x}")
}

fn endpoint(number: u64) -> Endpoint {
    Endpoint::of_receipt(&id(number)).unwrap()
}

/// A captured receipt.
fn captured(name: &str) -> Value {
    let path = format!("{}/tests/fixtures/runtime/receipt_{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// A captured receipt under another id, whose owner is this process.
fn receipt(number: u64) -> Value {
    let mut receipt = captured("serve");
    receipt["receipt_id"] = json!(id(number));
    receipt["runtime_session_id"] = json!(format!("runtime-{number}"));
    receipt["pid"] = json!(own_pid());
    receipt["created_at_ms"] = json!(now_ms() + number);
    receipt
}

/// The mark of a receipt that this server wrote for a process.
fn mark_of(pid: i32) -> Value {
    json!({
        "pid_domain": process::own_pid_domain().unwrap(),
        "start_mark": process::start_mark(pid).unwrap(),
        "server_pid": own_pid(),
        "server_start_mark": process::start_mark(own_pid()).unwrap(),
    })
}

/// A directory of receipts.
struct Place {
    home: tempfile::TempDir,
    receipts: Receipts,
}

impl Place {
    /// Without the directory itself.
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let receipts = Receipts::new(Some(home.path().join("home/live-runtimes")));
        Self { home, receipts }
    }

    fn made() -> Self {
        let place = Self::new();
        fs::DirBuilder::new().recursive(true).mode(0o700).create(place.directory()).unwrap();
        place
    }

    fn directory(&self) -> PathBuf {
        self.home.path().join("home/live-runtimes")
    }

    fn path(&self, number: u64) -> PathBuf {
        self.directory().join(format!("{}.json", id(number)))
    }

    fn put(&self, number: u64, receipt: &Value) -> PathBuf {
        let path = self.path(number);
        write_private(&path, receipt.to_string().as_bytes());
        path
    }

    /// The runtime ids that count, in order.
    fn listed(&self) -> Vec<String> {
        self.receipts.list().records.iter().map(|record| record.runtime_id.clone()).collect()
    }

    /// File names and words of what does not count.
    fn problems(&self) -> Vec<(String, String)> {
        let listing = self.receipts.list();
        assert!(!format!("{:?}", listing.problems).contains(SECRET));
        let name = |path: String| Path::new(&path).file_name().unwrap().to_str().unwrap().to_owned();
        listing.problems.into_iter().map(|row| (name(row.path.unwrap()), row.reason)).collect()
    }

    /// What `runtime/forget` does with a file.
    fn forget(&self, number: u64) -> Result<bool, Error> {
        match self.receipts.peek(&endpoint(number))? {
            Some(record) => self.receipts.forget(&record),
            None => Ok(false),
        }
    }

    /// The word for the one file that is there, which must be no receipt that counts, to nobody.
    fn refusal(&self, number: u64) -> String {
        let listed = self.receipts.list();
        assert!(listed.records.is_empty(), "{:?}", listed.records);
        let resolved = self.receipts.resolve(&endpoint(number)).unwrap_err();
        assert!(matches!(resolved, Error::InvalidReceipt(_)), "{resolved}");
        assert!(!format!("{resolved} {resolved:?}").contains(SECRET));
        let [(name, word)] = <[_; 1]>::try_from(self.problems()).unwrap();
        assert_eq!(name, format!("{}.json", id(number)));
        word
    }
}

fn write_private(path: &Path, content: &[u8]) {
    use std::io::Write;
    let mut file = fs::File::options().write(true).create(true).truncate(true).mode(0o600).open(path).unwrap();
    file.write_all(content).unwrap();
}

fn source() -> Source {
    Source { harness: Harness::Supercode, session_id: "session".to_owned(), workspace: "/home/dev/demo".to_owned() }
}
