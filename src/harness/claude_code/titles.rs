//! The names that the records of a transcript give it.

use super::record::Record;
use crate::harness::text::{self, member};
use serde_json::value::RawValue;

/// The names that records give. An empty one takes an earlier one away.
#[derive(Clone, Default)]
pub(super) struct Titles {
    pub custom: Option<Box<str>>,
    pub ai: Option<Box<str>>,
}

impl Titles {
    /// Returns what one record says.
    pub(super) fn of(record: &Record<'_>) -> Self {
        let title = |raw: Option<&RawValue>| member(raw).map(|title| text::title(&title).unwrap_or_default());
        Self {
            custom: title(record.custom_title.filter(|_| record.is("custom-title"))),
            ai: title(record.ai_title.filter(|_| record.is("ai-title"))),
        }
    }

    /// Adds what was said before: the last name of each kind counts.
    pub(super) fn or(self, earlier: Self) -> Self {
        Self { custom: self.custom.or(earlier.custom), ai: self.ai.or(earlier.ai) }
    }
}
