//! The line that the user types, with a cursor in it. Pure.
//!
//! The cursor moves over grapheme clusters: a letter with its combining marks, a flag, a family emoji.

use crate::cli::table::width;
use crate::limits;
use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

/// A text and a cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Editor {
    text: String,
    /// In bytes; before a grapheme cluster or at the end.
    cursor: usize,
}

impl Editor {
    /// Returns whether the text is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns the text and clears it.
    pub(super) fn take(&mut self) -> String {
        self.cursor = 0;
        std::mem::take(&mut self.text)
    }

    /// Replaces the text and moves the cursor to its end.
    pub(super) fn set(&mut self, text: String) {
        self.cursor = text.len();
        self.text = text;
    }

    /// Inserts a text at the cursor, as much of it as a message may hold.
    pub(super) fn insert(&mut self, text: &str) {
        let room = limits::DEFAULT.message_bytes.saturating_sub(self.text.len());
        let ends = text.grapheme_indices(true).map(|(at, cluster)| at + cluster.len());
        let fits = &text[..ends.take_while(|end| *end <= room).last().unwrap_or(0)];
        self.text.insert_str(self.cursor, fits);
        self.cursor += fits.len();
        // The inserted text may form one cluster with the text after it.
        self.cursor = self.boundary(self.cursor);
    }

    /// Deletes the cluster before the cursor.
    pub(super) fn backspace(&mut self) {
        self.delete_from(self.previous());
    }

    /// Deletes the cluster at the cursor.
    pub(super) fn delete(&mut self) {
        let from = self.cursor;
        self.right();
        self.delete_from(from);
    }

    /// Deletes everything before the cursor.
    pub(super) fn delete_to_start(&mut self) {
        self.delete_from(0);
    }

    /// Deletes the word before the cursor.
    pub(super) fn delete_word(&mut self) {
        let word = self.text[..self.cursor].trim_end();
        let space = word.char_indices().rev().find(|(_, c)| c.is_whitespace());
        self.delete_from(space.map_or(0, |(at, c)| at + c.len_utf8()));
    }

    /// Moves the cursor one cluster to the left.
    pub(super) fn left(&mut self) {
        self.cursor = self.previous();
    }

    /// Moves the cursor one cluster to the right.
    pub(super) fn right(&mut self) {
        self.cursor += self.text[self.cursor..].graphemes(true).next().map_or(0, str::len);
    }

    /// Moves the cursor to the start.
    pub(super) fn home(&mut self) {
        self.cursor = 0;
    }

    /// Moves the cursor to the end.
    pub(super) fn end(&mut self) {
        self.cursor = self.text.len();
    }

    /// Returns the part of the text that fits into `room` columns, and the column of the cursor in it. A line end is
    /// shown as one character.
    pub(super) fn visible(&self, room: usize) -> (String, usize) {
        let shown = |cluster| if cluster == "\n" { "⏎" } else { cluster };
        let (before, after) = self.text.split_at(self.cursor);
        // The cursor needs a column of its own.
        let mut left = room.saturating_sub(1);
        let mut fits = |cluster: &&str| match left.checked_sub(width(cluster)) {
            Some(rest) => {
                left = rest;
                true
            }
            None => false,
        };
        let mut clusters: Vec<&str> = before.graphemes(true).rev().map(shown).take_while(&mut fits).collect();
        clusters.reverse();
        let column = clusters.iter().copied().map(width).sum();
        clusters.extend(after.graphemes(true).map(shown).take_while(fits));
        (clusters.concat(), column)
    }

    /// Deletes the text between a position and the cursor.
    fn delete_from(&mut self, from: usize) {
        self.text.drain(from..self.cursor);
        // The two parts may form one cluster now.
        self.cursor = self.boundary(from);
    }

    /// Returns the start of the cluster before the cursor.
    fn previous(&self) -> usize {
        self.text[..self.cursor].grapheme_indices(true).next_back().map_or(0, |(at, _)| at)
    }

    /// Returns the first boundary between clusters at or after a position.
    fn boundary(&self, position: usize) -> usize {
        let mut cursor = GraphemeCursor::new(position, self.text.len(), true);
        // The whole text is given, so neither call can ask for another part of it.
        match cursor.is_boundary(&self.text, 0) {
            Ok(true) => position,
            _ => cursor.next_boundary(&self.text, 0).ok().flatten().unwrap_or(self.text.len()),
        }
    }
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
    fn backspace_deletes_one_grapheme_cluster() {
        for (cluster, what) in [
            ("e\u{301}\u{323}", "combining marks"),
            ("👨\u{200d}👩\u{200d}👧\u{200d}👦", "family"),
            ("🇩🇪", "flag"),
            ("👍🏽", "skin tone"),
            ("❤\u{fe0f}", "presentation"),
            ("각", "syllable of three letters"),
            ("नि", "vowel sign"),
        ] {
            let mut editor = typed(&format!("a{cluster}"));
            editor.backspace();
            assert_eq!(editor.text, "a", "{what}");

            let mut editor = typed(&format!("{cluster}{cluster}z"));
            editor.left();
            editor.left();
            assert_eq!(&editor.text[editor.cursor..], format!("{cluster}z"), "{what}");
            editor.delete();
            assert_eq!(editor.text, format!("{cluster}z"), "{what}");
            editor.home();
            editor.right();
            assert_eq!(editor.cursor, cluster.len(), "{what}");
        }
    }

    #[test]
    fn cursor_leaves_cluster_that_an_edit_forms() {
        let mut editor = typed("e x\u{301}");
        editor.home();
        editor.right();
        editor.delete();
        editor.delete();
        // The mark belonged to the `x` that is gone, so both went.
        assert_eq!((editor.take().as_str(), editor.cursor), ("e", 0));

        let mut editor = typed("🇪");
        editor.home();
        editor.insert("🇩");
        assert_eq!((editor.text.as_str(), editor.cursor), ("🇩🇪", "🇩🇪".len()));

        let mut editor = typed("👩\u{200d}|💻");
        editor.left();
        editor.backspace();
        assert_eq!((editor.text.as_str(), editor.cursor), ("👩\u{200d}💻", "👩\u{200d}💻".len()));
    }

    #[test]
    fn narrow_line_cuts_between_clusters() {
        let mut editor = typed("🇩🇪🇫🇷e\u{301}");
        assert_eq!(editor.visible(4), ("🇫🇷e\u{301}".to_owned(), 3));
        assert_eq!(editor.visible(3), ("e\u{301}".to_owned(), 1));
        editor.home();
        assert_eq!(editor.visible(4), ("🇩🇪".to_owned(), 0));
    }

    #[test]
    fn words_and_lines_are_deleted_whole() {
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
    fn cursor_stays_visible() {
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
            prop::sample::select(vec![
                "a",
                " ",
                "\n",
                "東",
                "\u{301}",
                "👩\u{200d}💻",
                "\u{200d}",
                "🇩",
                "é",
                "\u{fe0f}",
            ]),
            0..4,
        );
        let step = prop_oneof![text.prop_map(|text| Step::Insert(text.concat())), (0u8..8).prop_map(Step::Do)];
        prop::collection::vec(step, 0..40)
    }

    proptest! {
        #[test]
        fn cursor_is_always_between_clusters(steps in steps(), room in 0usize..20) {
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
                let mut boundaries = editor.text.grapheme_indices(true).map(|(at, _)| at).chain([editor.text.len()]);
                prop_assert!(boundaries.any(|at| at == editor.cursor), "{:?}", editor);
                let (shown, column) = editor.visible(room);
                prop_assert!(width(&shown) <= room.saturating_sub(1) && column <= width(&shown), "{:?} {:?}", shown, column);
            }
        }
    }
}
