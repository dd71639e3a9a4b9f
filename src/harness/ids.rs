//! Ids that others chose.

/// Whether an id can be handed on: shown, and given to a program as an argument without being taken for an option.
pub fn is_usable(id: &str) -> bool {
    !id.is_empty() && !id.starts_with('-') && !id.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::is_usable;

    #[test]
    fn an_id_is_no_option_and_one_line() {
        for id in ["ses_1", "my-own-id-1", "agent:main:slack"] {
            assert!(is_usable(id), "{id}");
        }
        for id in ["", "--help", "--yolo", "a\nb", "\u{1b}", "\u{1b}[31m"] {
            assert!(!is_usable(id), "{id:?}");
        }
    }
}
