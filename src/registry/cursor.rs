//! Cursors: they name a sort position, not a row, so a row that came, went or moved does not matter.

use crate::protocol::Query;

/// A position in the order of a list: after this time, then after this id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListPosition {
    /// The time that the entry is sorted by, in epoch milliseconds.
    pub time: Option<i64>,
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
    /// Whether an entry comes after this position: newest first, then by id.
    pub fn precedes(&self, time: Option<i64>, id: &str) -> bool {
        (std::cmp::Reverse(self.time), self.id.as_str()) < (std::cmp::Reverse(time), id)
    }

    /// The cursor for this position in the answer to a query.
    pub fn to_cursor(&self, query: &Query) -> String {
        let time = self.time.map_or_else(String::new, |time| time.to_string());
        let text = format!("{}/{time}/{}", digest(query), self.id);
        text.bytes().fold(String::with_capacity(text.len() * 2), |mut hex, byte| {
            for digit in [byte >> 4, byte & 15] {
                hex.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
            }
            hex
        })
    }

    /// The position that a cursor names.
    pub fn from_cursor(cursor: &str, query: &Query) -> Result<Self, CursorError> {
        let text = unhex(cursor).ok_or(CursorError::Malformed)?;
        let mut parts = text.splitn(3, '/');
        let (Some(of), Some(time), Some(id)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(CursorError::Malformed);
        };
        if of != digest(query) {
            return Err(CursorError::OtherQuery);
        }
        let time = match time {
            "" => None,
            time => Some(time.parse().map_err(|_| CursorError::Malformed)?),
        };
        Ok(Self { time, id: id.to_owned() })
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
        fn a_cursor_leads_back_to_its_position(time in any::<Option<i64>>(), id in "\\PC{0,40}") {
            let query = Query::default();
            let position = ListPosition { time, id };
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
            text: Some(" \t".to_owned()),
            ..Query::default()
        };
        let cursor = ListPosition { time: None, id: "a".to_owned() }.to_cursor(&Query::default());
        assert!(ListPosition::from_cursor(&cursor, &said).is_ok());
        let children = Query { include_children: Some(true), ..Query::default() };
        assert!(ListPosition::from_cursor(&cursor, &children).is_err());
    }

    #[test]
    fn a_cursor_of_another_query_is_refused() {
        let position = ListPosition { time: Some(1), id: "a".to_owned() };
        let other = Query { text: Some("x".to_owned()), ..Query::default() };
        let cursor = position.to_cursor(&Query::default());
        assert!(matches!(ListPosition::from_cursor(&cursor, &other), Err(CursorError::OtherQuery)));
    }
}
