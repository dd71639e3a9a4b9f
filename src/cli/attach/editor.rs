//! The line that a person types, with a cursor in it. Pure.

use crate::cli::table::width;
use crate::limits;

/// A text and a place in it. A letter and the marks that combine with it are one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Editor {
    text: String,
    /// In bytes; before a letter or at the end.
    cursor: usize,
}

impl Editor {
    /// Whether nothing stands there.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Takes the text away.
    pub fn take(&mut self) -> String {
        self.cursor = 0;
        std::mem::take(&mut self.text)
    }

    /// Puts another text there, with the cursor behind it.
    pub fn set(&mut self, text: String) {
        self.cursor = text.len();
        self.text = text;
    }

    /// Inserts a text at the cursor; no more than a message may have.
    pub fn insert(&mut self, text: &str) {
        let room = limits::DEFAULT.message_bytes.saturating_sub(self.text.len());
        let fits = text.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|end| *end <= room).last();
        let fits = &text[..fits.unwrap_or(0)];
        self.text.insert_str(self.cursor, fits);
        self.cursor += fits.len();
        // What was inserted may combine with what stands behind it.
        self.cursor = self.whole(self.cursor);
    }

    /// Takes the letter before the cursor away.
    pub fn backspace(&mut self) {
        let to = self.cursor;
        self.left();
        self.text.drain(self.cursor..to);
        self.cursor = self.whole(self.cursor);
    }

    /// Takes the letter at the cursor away.
    pub fn delete(&mut self) {
        let to = self.next();
        self.text.drain(self.cursor..to);
        self.cursor = self.whole(self.cursor);
    }

    /// Takes all before the cursor away.
    pub fn delete_to_start(&mut self) {
        self.text.drain(..self.cursor);
        self.cursor = self.whole(0);
    }

    /// Takes the word before the cursor away.
    pub fn delete_word(&mut self) {
        let before = &self.text[..self.cursor];
        let word = before.trim_end();
        let start =
            word.rfind(char::is_whitespace).map_or(0, |at| at + word[at..].chars().next().map_or(0, char::len_utf8));
        self.text.drain(start..self.cursor);
        self.cursor = self.whole(start);
    }

    /// A letter back.
    pub fn left(&mut self) {
        let before = self.text[..self.cursor].char_indices().rev();
        let mut letters = before.skip_while(|(_, c)| combines(*c));
        self.cursor = letters.next().map_or(0, |(at, _)| at);
    }

    /// A letter on.
    pub fn right(&mut self) {
        self.cursor = self.next();
    }

    /// To the beginning.
    pub fn home(&mut self) {
        self.cursor = 0;
    }

    /// To the end.
    pub fn end(&mut self) {
        self.cursor = self.text.len();
    }

    /// What of the text can be seen in so many columns, and the column of the cursor in it. Line ends are shown as one
    /// letter.
    pub fn visible(&self, room: usize) -> (String, usize) {
        let shown = |text: &str| text.replace('\n', "⏎");
        let (before, behind) = self.text.split_at(self.cursor);
        let (mut before, behind) = (shown(before), shown(behind));
        // The cursor needs a column of its own.
        let room = room.saturating_sub(1);
        let mut start = 0;
        let mut used = width(&before);
        for (at, c) in before.char_indices() {
            if used <= room && !combines(c) {
                start = at;
                break;
            }
            used -= width(c.encode_utf8(&mut [0; 4])).min(used);
            start = at + c.len_utf8();
        }
        before.drain(..start);
        let column = width(&before);
        let mut left = room - column.min(room);
        let fits = |c: &char| {
            let wide = width(c.encode_utf8(&mut [0; 4]));
            let fits = wide <= left;
            left = if fits { left - wide } else { 0 };
            fits
        };
        before.extend(behind.chars().take_while(fits));
        (before, column)
    }

    /// Where the letter at the cursor ends.
    fn next(&self) -> usize {
        let mut behind = self.text[self.cursor..].chars();
        let first = behind.next().map_or(0, char::len_utf8);
        self.whole(self.cursor + first)
    }

    /// The end of the letter that a place is in.
    fn whole(&self, place: usize) -> usize {
        let marks: usize = self.text[place..].chars().take_while(|c| combines(*c)).map(char::len_utf8).sum();
        // A mark at the very beginning has nothing to combine with.
        if place == 0 { 0 } else { place + marks }
    }
}

/// Whether a character takes no room of its own.
fn combines(c: char) -> bool {
    c != '\n' && width(c.encode_utf8(&mut [0; 4])) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn typed(text: &str) -> Editor {
        let mut editor = Editor::default();
        editor.insert(text);
        editor
    }

    #[test]
    fn words_letters_and_lines_go_as_wholes() {
        let mut editor = typed("mend the e\u{301} 東京");
        editor.backspace();
        assert_eq!(editor.text, "mend the e\u{301} 東");
        editor.left();
        editor.left();
        editor.backspace();
        assert_eq!(editor.text, "mend the  東");
        editor.delete_word();
        assert_eq!(editor.text, "mend  東");
        editor.delete();
        assert_eq!(editor.text, "mend 東");
        editor.end();
        editor.delete_to_start();
        assert_eq!(editor.take(), "");
    }

    #[test]
    fn the_cursor_stays_in_sight() {
        let mut editor = typed("one two 東京 three");
        assert_eq!(editor.visible(40), ("one two 東京 three".to_owned(), 18));
        assert_eq!(editor.visible(10), ("京 three".to_owned(), 8));
        editor.home();
        assert_eq!(editor.visible(10), ("one two ".to_owned(), 0));
        assert_eq!(typed("a\nb").visible(10), ("a⏎b".to_owned(), 3));
        assert_eq!(typed("abc").visible(0), (String::new(), 0));
    }

    #[derive(Clone, Debug)]
    enum Step {
        Insert(String),
        Do(u8),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let text = prop::collection::vec(
            prop::sample::select(vec!["a", " ", "\n", "東", "\u{301}", "👩\u{200d}💻", "é", "\u{fe0f}"]),
            0..4,
        );
        let step = prop_oneof![text.prop_map(|text| Step::Insert(text.concat())), (0u8..8).prop_map(Step::Do)];
        prop::collection::vec(step, 0..40)
    }

    proptest! {
        #[test]
        fn the_cursor_never_falls_into_a_letter(steps in steps(), room in 0usize..20) {
            let mut editor = Editor::default();
            for step in steps {
                match step {
                    Step::Insert(text) => editor.insert(&text),
                    Step::Do(0) => editor.backspace(),
                    Step::Do(1) => editor.delete(),
                    Step::Do(2) => editor.left(),
                    Step::Do(3) => editor.right(),
                    Step::Do(4) => editor.home(),
                    Step::Do(5) => editor.end(),
                    Step::Do(6) => editor.delete_word(),
                    Step::Do(_) => editor.delete_to_start(),
                }
                prop_assert!(editor.text.is_char_boundary(editor.cursor));
                let behind = editor.text[editor.cursor..].chars().next();
                prop_assert!(editor.cursor == 0 || !behind.is_some_and(combines), "{:?}", editor);
                let (shown, column) = editor.visible(room);
                prop_assert!(width(&shown) <= room.saturating_sub(1) && column <= width(&shown), "{:?} {:?}", shown, column);
            }
        }
    }
}
