//! Receipts, right and crooked.

use super::bad::edit;
use super::options::{Flavour, Options};
use super::state::epoch_ms;
use serde_json::{Value, json};
use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// A receipt before it is written.
#[derive(Clone, Debug)]
pub struct Receipt {
    members: Value,
    name: String,
    mode: u32,
}

impl Receipt {
    /// What a runtime that listens there would write.
    pub fn new(options: &Options, base_url: &str) -> Self {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).expect("random bytes");
        let id: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let pid = options.pid.unwrap_or_else(std::process::id);
        let child_pid = (options.flavour == Flavour::Hosted).then_some(pid);
        let members = json!({
            "schema": "supercode.live-runtime.v1",
            "receipt_id": id,
            "runtime_session_id": options.runtime_id,
            "source": {
                "harness": options.source.harness,
                "session_id": options.source.session_id,
                "workspace": options.source.workspace,
            },
            "base_url": base_url,
            "token": options.token,
            "pid": pid,
            "created_at_ms": epoch_ms(),
            "metadata": {
                "child_pid": child_pid,
                "profile": null,
                "persistence_location": null,
                "endpoint_capabilities": ["http", "acp"],
                "supervisor": null,
            },
        });
        Self { members, name: format!("{id}.json"), mode: 0o600 }
    }

    /// Replaces a member, by JSON pointer.
    pub fn with(mut self, pointer: &str, value: impl Into<Value>) -> Self {
        edit(&mut self.members, pointer, Some(value.into()));
        self
    }

    /// Removes a member, by JSON pointer.
    pub fn without(mut self, pointer: &str) -> Self {
        edit(&mut self.members, pointer, None);
        self
    }

    /// Gives it this id, and the name that goes with it.
    pub fn id(mut self, id: &str) -> Self {
        self.name = format!("{id}.json");
        self.with("/receipt_id", id)
    }

    /// Gives the file another name.
    pub fn named(mut self, name: &str) -> Self {
        self.name = name.to_owned();
        self
    }

    pub fn mode(mut self, mode: u32) -> Self {
        self.mode = mode;
        self
    }

    pub fn members(&self) -> &Value {
        &self.members
    }

    /// Its name on the wire.
    pub fn endpoint(&self) -> String {
        format!("supercode-live://{}", self.members["receipt_id"].as_str().unwrap_or_default())
    }

    /// Writes it as a real runtime does: into a private directory, aside and then into place.
    pub fn write(&self, directory: &Path) -> PathBuf {
        DirBuilder::new().recursive(true).mode(0o755).create(directory).expect("the receipts' directory");
        fs::set_permissions(directory, Permissions::from_mode(0o700)).expect("its mode");
        let stem = self.name.trim_end_matches(".json");
        let aside = directory.join(format!(".{stem}.{}.tmp", std::process::id()));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&aside).expect("a new file");
        file.write_all(self.members.to_string().as_bytes()).expect("a written receipt");
        file.set_permissions(Permissions::from_mode(self.mode)).expect("its mode");
        file.sync_all().expect("a durable receipt");
        let path = directory.join(&self.name);
        fs::rename(aside, &path).expect("the receipt in its place");
        path
    }
}
