//! What lies beside the logs: the summary of a session, the name of its directory, its subagents.

use super::{DIRECTORY, SUMMARY};
use crate::harness::{Remark, text};
use crate::limits;
use crate::platform::directory::entries;
use crate::platform::files::read_small;
use crate::protocol::{Parent, Relation};
use serde_json::Value;
use std::path::Path;

/// The program's own summary of a session; nothing of it is certain to be there.
pub(super) struct Summary(Value);

impl Summary {
    /// Reads it, as far as it can be read: it is rewritten in place.
    pub(super) fn read(directory: &Path) -> Self {
        let bytes = read_small(&directory.join(SUMMARY), limits::SIDE_FILE).unwrap_or_default();
        Self(serde_json::from_slice(&bytes).unwrap_or_default())
    }

    /// The name that the program made, else the one it began with.
    pub(super) fn title(&self) -> Option<Box<str>> {
        ["generated_title", "session_summary"].iter().find_map(|name| text::given_title(self.text(name)?))
    }

    /// The directory that it names, else the one that its place in the store stands for.
    pub(super) fn workspace(&self, directory: &Path) -> Option<Box<str>> {
        let named = self.0.pointer("/info/cwd").and_then(Value::as_str).and_then(text::workspace);
        named.or_else(|| placed(directory.parent()?))
    }

    /// The model that is chosen for it, perhaps by another name than the one it answers by.
    pub(super) fn model(&self) -> Option<Box<str>> {
        self.text("current_model_id").filter(|model| !model.is_empty()).map(Box::from)
    }

    pub(super) fn created_at_ms(&self) -> Option<i64> {
        text::time(self.text("created_at")?)
    }

    pub(super) fn active_at_ms(&self) -> Option<i64> {
        ["last_active_at", "updated_at"].iter().find_map(|name| text::time(self.text(name)?))
    }

    /// Where it came from. A subagent's own summary does not say whose it is.
    pub(super) fn parent(&self) -> Option<Parent> {
        if self.text("session_kind") == Some("subagent") {
            return Some(Parent { session_id: None, relation: Relation::Subagent });
        }
        let session_id = Some(self.text("parent_session_id")?.to_owned());
        Some(Parent { session_id, relation: Relation::Fork })
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }
}

/// The directory that a directory of the store stands for: its decoded name, or what a file in it says.
fn placed(place: &Path) -> Option<Box<str>> {
    if let Ok(named) = read_small(&place.join(DIRECTORY), limits::PATH_BYTES) {
        return text::workspace(std::str::from_utf8(&named).ok()?.trim_end_matches(['\n', '\r']));
    }
    text::workspace(&decode(place.file_name()?.to_str()?)?)
}

/// Takes back percent-encoding.
fn decode(name: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.bytes();
    while let Some(byte) = rest.next() {
        let mut digit = || char::from(rest.next()?).to_digit(16);
        bytes.push(if byte == b'%' { (digit()? * 16 + digit()?) as u8 } else { byte });
    }
    String::from_utf8(bytes).ok()
}

/// The sessions that a session started: only it tells whose they are.
pub(super) fn subagents(directory: &Path) -> Vec<Remark> {
    let Some(parent) = directory.file_name().and_then(|name| name.to_str()) else { return Vec::new() };
    let subagents = directory.join("subagents");
    let Ok(listing) = entries(&subagents) else { return Vec::new() };
    let children = listing.iter().take(limits::CHILDREN).filter_map(|entry| {
        let meta = read_small(&subagents.join(&entry.name).join("meta.json"), limits::SIDE_FILE).ok()?;
        let meta: Value = serde_json::from_slice(&meta).ok()?;
        Some(meta.get("child_session_id")?.as_str()?.to_owned())
    });
    let parent = Parent { session_id: Some(parent.to_owned()), relation: Relation::Subagent };
    let remark = |child: String| Remark { session: child.into(), parent: Some(parent.clone()), ..Remark::default() };
    let mut remarks: Vec<Remark> = children.map(remark).collect();
    // The order of a directory is not one to compare by.
    remarks.sort_unstable_by(|a, b| a.session.cmp(&b.session));
    remarks
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_decoded_or_are_none() {
        assert_eq!(decode("%2Fproj%2Fa%20b%C3%A9").as_deref(), Some("/proj/a bé"));
        for broken in ["%2", "%zz", "%C3", "%", "%+1"] {
            assert_eq!(decode(broken), None, "{broken}");
        }
    }

    proptest! {
        #[test]
        fn decoding_takes_back_what_encoding_did(path in "\\PC{0,30}") {
            let encoded: String = path.bytes().map(|byte| format!("%{byte:02X}")).collect();
            prop_assert_eq!(decode(&encoded), Some(path));
        }
    }
}
