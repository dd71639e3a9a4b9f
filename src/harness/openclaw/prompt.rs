//! What of a user's message a person wrote: the program puts context around it.

/// Openings of a line behind which a fenced block of context stands.
const CONTEXT: [&str; 2] = ["(untrusted metadata):", "(untrusted, for context):"];
/// Elements that hold context.
const ELEMENTS: [&str; 3] = ["relevant-memories", "relevant_memories", "system-reminder"];

/// The text without the context before it; `None` if nothing is left.
pub(super) fn written(text: &str) -> Option<&str> {
    let mut rest = text.trim();
    while let Some(after) = without_time(rest).or_else(|| without_fence(rest)).or_else(|| without_element(rest)) {
        rest = after.trim_start();
    }
    (!rest.is_empty()).then_some(rest)
}

/// Cuts off a mark like `[Mon 2026-11-30 08:46 UTC]`, in which a channel and a sender may stand too.
fn without_time(text: &str) -> Option<&str> {
    let (mark, rest) = text.strip_prefix('[')?.split_once(']')?;
    let is_date = |word: &str| {
        word.len() == 10
            && word
                .bytes()
                .enumerate()
                .all(|(at, byte)| if at == 4 || at == 7 { byte == b'-' } else { byte.is_ascii_digit() })
    };
    mark.split_whitespace().any(is_date).then_some(rest)
}

/// Cuts off a line that announces context, and the fenced block behind it.
fn without_fence(text: &str) -> Option<&str> {
    let (line, rest) = text.split_once('\n')?;
    if !CONTEXT.iter().any(|opening| line.trim_end().ends_with(opening)) {
        return None;
    }
    Some(rest.trim_start().strip_prefix("```")?.split_once("\n```")?.1)
}

fn without_element(text: &str) -> Option<&str> {
    ELEMENTS.iter().find_map(|name| {
        let inner = text.strip_prefix('<')?.strip_prefix(name)?.strip_prefix('>')?;
        Some(inner.split_once(&format!("</{name}>"))?.1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn context_before_a_prompt_is_cut_off() {
        let metadata = "Sender (untrusted metadata):\n```json\n{\"a\": 1}\n```\n";
        for (text, expected) in [
            ("[Mon 2026-11-30 08:46 UTC] say hello", Some("say hello")),
            ("[WhatsApp +1 2026-11-30 08:46] [x] say", Some("[x] say")),
            (&format!("{metadata}\n{metadata}\nsay"), Some("say")),
            ("<relevant-memories>\nold\n</relevant-memories>\n\nsay", Some("say")),
            ("<system-reminder>x</system-reminder>", None),
            ("[todo] say", Some("[todo] say")),
            ("Sender (untrusted metadata): no fence", Some("Sender (untrusted metadata): no fence")),
            (" \n", None),
        ] {
            assert_eq!(written(text), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_left_is_the_end_of_what_was_there(text in "[\\[\\]<>/a`: \n0-9-]{0,60}") {
            prop_assert!(written(&text).is_none_or(|rest| !rest.is_empty() && text.trim_end().ends_with(rest)));
        }
    }
}
