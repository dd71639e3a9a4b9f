//! Texts of others, before a terminal sees them: without escape sequences, line ends in one form, and what could act on
//! a terminal made visible. They come in pieces, and a piece may end anywhere.

use crate::cli::output::plain;

/// What is between two pieces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cleaner {
    state: State,
    /// A carriage return came, which ends a line unless a line feed does.
    returned: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// An escape came.
    Escape,
    /// Within a control sequence, up to its final letter.
    Control,
    /// Within a string for the terminal (a title, a link, a clipboard), up to its terminator or so many letters more.
    String { left: u16, escaped: bool },
}

/// Letters of a string for the terminal; a longer one is text that was not meant so.
const STRING: u16 = 4_096;
/// How wide a tab is.
const TAB: &str = "    ";

impl Cleaner {
    /// The next piece, clean: of control characters only line feeds are left.
    pub(super) fn clean(&mut self, piece: &str) -> String {
        let mut clean = String::with_capacity(piece.len());
        for c in piece.chars() {
            self.take(c, &mut clean);
        }
        clean
    }

    fn take(&mut self, c: char, clean: &mut String) {
        if std::mem::take(&mut self.returned) && self.state == State::Text {
            clean.push('\n');
            if c == '\n' {
                return;
            }
        }
        self.state = match (self.state, c) {
            (State::Text, '\x1b') => State::Escape,
            (State::Text, '\u{9b}') => State::Control,
            (State::Text, '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}') => State::String { left: STRING, escaped: false },
            (State::Text, _) => {
                self.text(c, clean);
                State::Text
            }
            (State::Escape, '[') => State::Control,
            (State::Escape, ']' | 'P' | 'X' | '^' | '_') => State::String { left: STRING, escaped: false },
            // Between an escape and its final letter.
            (State::Escape, '\x1b' | ' '..='/') | (State::Control, '\x1b') => State::Escape,
            (State::Control, ' '..='?') => State::Control,
            (State::String { .. }, '\x07' | '\u{9c}') => State::Text,
            (State::String { escaped: true, .. }, '\\') => State::Text,
            (State::String { left: 1.., .. }, '\x1b') => State::String { left: STRING, escaped: true },
            (State::String { left: left @ 1.., .. }, c) if c != '\n' => {
                State::String { left: left - 1, escaped: false }
            }
            // A line ends whatever was left open.
            (State::Escape | State::Control | State::String { .. }, '\n') => {
                clean.push('\n');
                State::Text
            }
            (State::Escape | State::Control | State::String { .. }, _) => State::Text,
        };
    }

    fn text(&mut self, c: char, clean: &mut String) {
        match c {
            '\n' => clean.push(c),
            '\r' => self.returned = true,
            '\t' => clean.push_str(TAB),
            // What draws a bell or goes back means nothing on a page.
            '\x07' | '\x08' | '\0' => {}
            c => clean.push_str(&plain(c.encode_utf8(&mut [0; 4]))),
        }
    }
}

/// A whole text, clean.
pub(super) fn clean(text: &str) -> String {
    Cleaner::default().clean(text)
}

/// A whole text as one line.
pub(super) fn one_line(text: &str) -> String {
    clean(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sequences_are_taken_out_and_the_rest_stays() {
        let cases = [
            ("\x1b[31mred\x1b[0m", "red"),
            ("\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b", "ab"),
            ("\u{9b}2Ja\u{9d}52;c;x\u{9c}b", "ab"),
            ("\x1b(Ba\x1bcb\x1b7", "ab"),
            ("1%\r50%\r\n100%\r\ndone\r", "1%\n50%\n100%\ndone"),
            ("a\tb\x07\x08", "a    b"),
            ("a\u{202e}b\u{85}", "a\u{fffd}b\u{fffd}"),
            ("a\u{200b}b\u{feff}c\u{2060}\u{ad}\u{e0041}", "a\u{fffd}b\u{fffd}c\u{fffd}\u{fffd}\u{fffd}"),
            ("open \x1b[\nnext \x1b]0;\nlast", "open \nnext \nlast"),
            ("東京 e\u{301}", "東京 e\u{301}"),
        ];
        for (text, expected) in cases {
            assert_eq!(clean(text), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn nothing_acts_on_a_terminal_however_it_is_cut(
            pieces in prop::collection::vec("(\\PC|[\u{0}-\u{1f}\u{80}-\u{9f}]|\u{1b}\\[|\u{1b}\\]|\u{202e}){0,12}", 0..8)
        ) {
            let whole = clean(&pieces.concat());
            let mut cleaner = Cleaner::default();
            let apart: String = pieces.iter().map(|piece| cleaner.clean(piece)).collect();
            prop_assert_eq!(&whole, &apart);
            prop_assert!(whole.lines().all(|line| plain(line) == line), "{:?}", whole);
        }
    }
}
