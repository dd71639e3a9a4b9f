//! JSON for a person: as much on a line as fits, long lists and texts cut with a mark, nothing added.

use crate::cli::output::plain;
use crate::cli::table::{Give, fit, width};
use serde_json::Value;

/// Items of a list that are shown.
const ITEMS: usize = 4;

/// The value in lines of at most `room` columns.
pub(super) fn json(value: &Value, room: usize) -> String {
    let mut text = String::new();
    write(&mut text, value, 0, room);
    text
}

fn write(text: &mut String, value: &Value, indent: usize, room: usize) {
    let flat = flat(value);
    // Behind the value a comma may follow.
    let left = room.saturating_sub(width(text.rsplit('\n').next().unwrap_or_default()) + 1);
    if width(&flat) <= left {
        text.push_str(&flat);
        return;
    }
    let inner = indent + 2;
    match value {
        Value::Array(items) => {
            text.push('[');
            for (at, item) in items.iter().take(ITEMS).enumerate() {
                open_line(text, at, inner);
                write(text, item, inner, room);
            }
            if let Some(more) = more(items) {
                open_line(text, 1, inner);
                text.push_str(&more);
            }
            close_line(text, indent, ']');
        }
        Value::Object(members) => {
            text.push('{');
            for (at, (name, member)) in members.iter().enumerate() {
                open_line(text, at, inner);
                text.push_str(&format!("\"{}\": ", plain(name)));
                write(text, member, inner, room);
            }
            close_line(text, indent, '}');
        }
        Value::String(_) => text.push_str(&(fit(&flat, left.saturating_sub(1), Give::End) + "\"")),
        _ => text.push_str(&flat),
    }
}

fn open_line(text: &mut String, at: usize, indent: usize) {
    text.push_str(if at == 0 { "\n" } else { ",\n" });
    text.extend(std::iter::repeat_n(' ', indent));
}

fn close_line(text: &mut String, indent: usize, bracket: char) {
    text.push('\n');
    text.extend(std::iter::repeat_n(' ', indent));
    text.push(bracket);
}

fn flat(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let shown = items.iter().take(ITEMS).map(flat).chain(more(items));
            format!("[{}]", shown.collect::<Vec<_>>().join(", "))
        }
        Value::Object(members) => {
            let shown = members.iter().map(|(name, member)| format!("\"{}\": {}", plain(name), flat(member)));
            format!("{{{}}}", shown.collect::<Vec<_>>().join(", "))
        }
        other => plain(&other.to_string()),
    }
}

/// How many items of a list are not shown.
fn more(items: &[Value]) -> Option<String> {
    let more = items.len().saturating_sub(ITEMS);
    (more > 0).then(|| format!("… {more} more"))
}

#[cfg(test)]
mod tests {
    use super::json;
    use serde_json::json;

    #[test]
    fn what_fits_stands_on_one_line_and_what_is_cut_is_marked() {
        let value = json!({"name": "a", "list": [1, 2, 3, 4, 5, 6], "deep": {"text": "x".repeat(100), "none": null}});
        let text = format!("{}…", "x".repeat(44));
        let expected = format!(
            "{{\n  \"name\": \"a\",\n  \"list\": [1, 2, 3, 4, … 2 more],\n  \"deep\": {{\n    \"text\": \"{text}\",\n    \
             \"none\": null\n  }}\n}}"
        );
        assert_eq!(json(&value, 60), expected);
        assert_eq!(json(&json!({"a": [1]}), 60), r#"{"a": [1]}"#);
    }
}
