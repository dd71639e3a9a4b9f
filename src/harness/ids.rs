//! Ids that others chose.

/// Whether an id can be handed on: shown, and given to a program as an argument without being taken for an option.
pub(super) fn is_usable(id: &str) -> bool {
    !id.is_empty() && !id.starts_with('-') && !id.chars().any(char::is_control)
}

/// Whether an id can also be a part of a file's name.
pub(super) fn is_part_of_name(id: &str) -> bool {
    id.len() <= 128
        && id.starts_with(|c: char| c.is_ascii_alphanumeric())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

/// Whether a name has the form of a UUID.
pub(super) fn is_uuid(name: &str) -> bool {
    name.len() == 36
        && name.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_id_is_no_option_and_one_line() {
        for id in ["ses_1", "my-own-id-1", "agent:main:slack"] {
            assert!(is_usable(id), "{id}");
        }
        for id in ["", "--help", "--yolo", "a\nb", "\u{1b}", "\u{1b}[31m"] {
            assert!(!is_usable(id), "{id:?}");
        }
    }

    #[test]
    fn what_is_part_of_a_name_leads_nowhere_else() {
        let id = "01a22b99-1497-7823-892b-1bc4d693a950";
        assert!(is_part_of_name(id) && is_uuid(id));
        for id in ["", ".", "..", "../a", "a/b", "a\\b", "-a", "a b", "\u{e4}", &"a".repeat(129)] {
            assert!(!is_part_of_name(id) && !is_uuid(id), "{id:?}");
        }
    }

    proptest! {
        #[test]
        fn a_part_of_a_name_can_be_handed_on(id in "[-._a-z/ \\n]{0,6}") {
            prop_assert!(is_usable(&id) || !is_part_of_name(&id));
        }
    }
}
