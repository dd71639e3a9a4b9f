//! Cursors: they name a sort position, not a row, so a row that came, went or moved does not matter.

use crate::protocol::{Query, Sort};

/// Where an entry stands in the order of a list, apart from its id: a group, then the time within it. The smaller one comes
/// first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SortKey(u8, i64);

impl SortKey {
    /// In this group, the newest first; entries without a time come last.
    pub fn newest_first(group: u8, time: Option<i64>) -> Self {
        Self(group, time.map_or(i64::MAX, |time| !time))
    }

    /// In this group, the oldest first; entries without a time come last.
    pub fn oldest_first(group: u8, time: Option<i64>) -> Self {
        Self(group, time.unwrap_or(i64::MAX))
    }
}

/// A position in the order of a list: after this key, then after this id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ListPosition {
    /// What the entry is sorted by.
    pub key: SortKey,
    /// The entry's id.
    pub id: String,
}

/// A cursor that does not fit.
#[derive(Debug, thiserror::Error)]
pub enum CursorError {
    /// It was not made here.
    #[error("the cursor is none of this server's; begin again without one")]
    Malformed,
    /// It was made for another query.
    #[error("the cursor belongs to another query; begin again without one")]
    OtherQuery,
}

impl ListPosition {
    /// Whether an entry comes after this position.
    pub(super) fn precedes(&self, key: SortKey, id: &str) -> bool {
        (self.key, self.id.as_str()) < (key, id)
    }

    /// The cursor for this position in the answer to a query.
    pub(super) fn to_cursor(&self, query: &Query) -> String {
        let SortKey(group, order) = self.key;
        let text = format!("{}/{group}/{order}/{}", digest(query), self.id);
        text.bytes().fold(String::with_capacity(text.len() * 2), |mut hex, byte| {
            for digit in [byte >> 4, byte & 15] {
                hex.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
            }
            hex
        })
    }

    /// The position that a cursor names.
    pub(super) fn from_cursor(cursor: &str, query: &Query) -> Result<Self, CursorError> {
        let text = unhex(cursor).ok_or(CursorError::Malformed)?;
        let parts: Vec<&str> = text.splitn(4, '/').collect();
        let [of, group, order, id] = parts[..] else { return Err(CursorError::Malformed) };
        if of != digest(query) {
            return Err(CursorError::OtherQuery);
        }
        let (Ok(group), Ok(order)) = (group.parse(), order.parse()) else { return Err(CursorError::Malformed) };
        Ok(Self { key: SortKey(group, order), id: id.to_owned() })
    }
}

fn unhex(hex: &str) -> Option<String> {
    if !hex.len().is_multiple_of(2) || !hex.is_ascii() {
        return None;
    }
    let bytes = (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).ok());
    String::from_utf8(bytes.collect::<Option<Vec<u8>>>()?).ok()
}

/// What tells queries apart: not which costly members are added, nor whether a default is said or left out.
fn digest(query: &Query) -> String {
    let unless_default = |flag: Option<bool>, default: bool| flag.filter(|flag| *flag != default);
    let text = query.text.as_deref().map(|text| text.trim().to_lowercase()).filter(|text| !text.is_empty());
    let query = Query {
        live: unless_default(query.live, true),
        persisted: unless_default(query.persisted, true),
        twins: unless_default(query.twins, false),
        workspace_subtree: unless_default(query.workspace_subtree, false),
        search_previews: unless_default(query.search_previews, false),
        include_children: unless_default(query.include_children, false),
        sort: query.sort.filter(|sort| *sort != Sort::default()),
        text,
        include: None,
        ..query.clone()
    };
    let text = serde_json::to_string(&query).unwrap_or_default();
    blake3::hash(text.as_bytes()).to_hex()[..16].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn cursor_restores_its_position(group in any::<u8>(), time in any::<Option<i64>>(), id in "\\PC{0,40}") {
            let query = Query::default();
            let position = ListPosition { key: SortKey::newest_first(group, time), id };
            prop_assert_eq!(ListPosition::from_cursor(&position.to_cursor(&query), &query).unwrap(), position);
        }

        #[test]
        fn any_text_is_survived(text in "\\PC{0,60}") {
            prop_assert!(ListPosition::from_cursor(&text, &Query::default()).is_err());
        }
    }

    #[test]
    fn saying_a_default_makes_no_other_query() {
        let said = Query {
            live: Some(true),
            persisted: Some(true),
            twins: Some(false),
            include_children: Some(false),
            sort: Some(Sort::Recent),
            text: Some(" \t".to_owned()),
            ..Query::default()
        };
        let cursor =
            ListPosition { key: SortKey::newest_first(0, None), id: "a".to_owned() }.to_cursor(&Query::default());
        assert!(ListPosition::from_cursor(&cursor, &said).is_ok());
        let children = Query { include_children: Some(true), ..Query::default() };
        assert!(ListPosition::from_cursor(&cursor, &children).is_err());
    }

    #[test]
    fn a_cursor_of_another_query_is_refused() {
        let position = ListPosition { key: SortKey::newest_first(0, Some(1)), id: "a".to_owned() };
        let other = Query { text: Some("x".to_owned()), ..Query::default() };
        let cursor = position.to_cursor(&Query::default());
        assert!(matches!(ListPosition::from_cursor(&cursor, &other), Err(CursorError::OtherQuery)));
    }
}
