//! Texts of an agent, within bounds.

use crate::limits;
use serde_json::Value;

/// The text, cut with a mark where it is over `max` bytes.
pub(super) fn cut(mut text: String, max: usize) -> String {
    if text.len() > max {
        let end = (0..=max).rev().find(|&at| text.is_char_boundary(at)).unwrap_or_default();
        let left_out = text.len() - end;
        text.truncate(end);
        text.push_str(&format!("… [{left_out} bytes were left out]"));
    }
    text
}

/// A name or an error for a person: one line, short, without control characters.
pub(super) fn short(text: &str) -> String {
    let clean = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut short: String = clean.take(limits::AGENT_WORDS).collect();
    if text.chars().nth(limits::AGENT_WORDS).is_some() {
        short.push('…');
    }
    short.trim().to_owned()
}

/// What the agent sent, unless it is too large to pass on: about its size as text, without making that.
pub(super) fn raw(sent: &Value) -> Option<Value> {
    fn left(value: &Value, budget: usize) -> Option<usize> {
        let own = |bytes: usize| budget.checked_sub(bytes + 2);
        match value {
            Value::String(text) => own(text.len()),
            Value::Array(items) => items.iter().try_fold(own(0)?, |budget, item| left(item, budget)),
            Value::Object(members) => members
                .iter()
                .try_fold(own(0)?, |budget, (name, value)| left(value, budget.checked_sub(name.len() + 3)?)),
            Value::Null | Value::Bool(_) | Value::Number(_) => own(4),
        }
    }
    left(sent, limits::AGENT_RAW).map(|_| sent.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_are_cut_at_whole_characters_with_a_mark() {
        assert_eq!(cut("häuser".to_owned(), 7), "häuser");
        assert_eq!(cut("häuser".to_owned(), 2), "h… [6 bytes were left out]");
        assert_eq!(short(" a\u{1b}[1m\nb "), "a [1m b");
        assert_eq!(short(&"x".repeat(2_000)).chars().count(), 1_001);
    }

    #[test]
    fn what_is_too_large_is_not_passed_on() {
        let small = json!({"a": ["b", 1, null, {"c": true}]});
        assert_eq!(raw(&small), Some(small));
        assert_eq!(raw(&json!({ "a": "x".repeat(limits::AGENT_RAW) })), None);
        assert_eq!(raw(&json!(vec![0; limits::AGENT_RAW])), None);
    }
}
