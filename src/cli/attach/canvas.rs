//! What is drawn on a terminal: lines that scroll away as in any program, and below them a few rows that are drawn anew.
//! Pure: it makes the bytes.

use crate::cli::line::Line;
use crate::cli::output::{Colour, Screen};
use crate::cli::table::{Give, fit, width};
use std::collections::VecDeque;

/// The rows below: what is being said, how things are, and what is typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Below {
    /// The line that is being said.
    pub partial: Option<Line>,
    /// How things are.
    pub status: String,
    /// Whether a person is needed.
    pub alert: bool,
    /// What is typed, as far as it can be seen.
    pub typed: String,
    /// The column of the cursor in it.
    pub column: usize,
}

/// A terminal that is drawn on.
pub(super) struct Canvas {
    screen: Screen,
    rows: usize,
    /// Bytes on their way to the terminal.
    pub out: Vec<u8>,
    /// The last lines, for when all must be drawn anew.
    lines: VecDeque<Line>,
    /// Rows of the line that is being said which scroll already.
    said: usize,
    /// How many rows are drawn above the one with the cursor; `None`: nothing is drawn below.
    above: Option<usize>,
}

/// What stands before what is typed.
const PROMPT: &str = "> ";
/// Lines that are kept: more than any terminal shows.
const KEPT: usize = 1_000;
/// What terminals send pastes apart by.
const OPEN: &str = "\x1b[?2004h";
/// What puts that back.
pub(super) const CLOSE: &str = "\x1b[?2004l\x1b[0m";

impl Canvas {
    /// A terminal of a size, of which nothing is drawn on.
    pub(super) fn new(screen: Screen, rows: usize) -> Self {
        let (out, lines) = (OPEN.as_bytes().to_vec(), VecDeque::new());
        Self { screen, rows, out, lines, said: 0, above: None }
    }

    /// Columns that can be written to; the last one is left alone, since terminals differ in what follows there.
    fn columns(&self) -> usize {
        self.screen.width.unwrap_or(80).saturating_sub(1).max(1)
    }

    /// Columns for what is typed.
    pub(super) fn room(&self) -> usize {
        self.columns().saturating_sub(width(PROMPT))
    }

    /// Lets lines scroll: the first goes on where the line that was being said ended.
    pub(super) fn print(&mut self, lines: Vec<Line>) {
        if lines.is_empty() {
            return;
        }
        self.erase();
        for line in lines {
            let rows = self.wrap(&line);
            let said = std::mem::take(&mut self.said).min(rows.len());
            rows.iter().skip(said).for_each(|row| self.row(row, line.colour));
            self.lines.push_back(line);
        }
        let surplus = self.lines.len().saturating_sub(KEPT);
        self.lines.drain(..surplus);
    }

    /// Lets lines scroll that have nothing to do with what is being said, which goes on below them.
    pub(super) fn put_between(&mut self, lines: Vec<Line>) {
        let said = std::mem::take(&mut self.said);
        self.print(lines);
        self.said = said;
    }

    /// Draws the rows below.
    pub(super) fn draw(&mut self, below: &Below) {
        self.erase();
        let partial = self.partial(below.partial.as_ref());
        let mut above = 0;
        if let Some((row, colour)) = partial.filter(|_| self.rows > 3) {
            self.row(&row, colour);
            above += 1;
        }
        if self.rows > 2 {
            let status = fit(&below.status, self.columns(), Give::End);
            self.row(&status, if below.alert { Colour::Alert } else { Colour::Dim });
            above += 1;
        }
        let row = fit(&format!("{PROMPT}{}", below.typed), self.columns(), Give::End);
        self.out.extend_from_slice(row.as_bytes());
        let column = (width(PROMPT) + below.column).min(self.columns().saturating_sub(1));
        self.out.extend_from_slice(b"\r");
        if column > 0 {
            self.out.extend_from_slice(format!("\x1b[{column}C").as_bytes());
        }
        self.above = Some(above);
    }

    /// Takes another size, and draws the last lines anew: nobody knows what a terminal did with its rows meanwhile.
    pub(super) fn redraw(&mut self, screen: Screen, rows: usize) {
        (self.screen, self.rows) = (screen, rows);
        self.out.extend_from_slice(OPEN.as_bytes());
        self.out.extend_from_slice(b"\x1b[0m\x1b[H\x1b[J");
        (self.said, self.above) = (0, None);
        let mut last: VecDeque<(String, Colour)> = VecDeque::new();
        for line in self.lines.iter().rev() {
            for row in self.wrap(line).into_iter().rev() {
                last.push_front((row, line.colour));
            }
            if last.len() >= self.rows {
                break;
            }
        }
        let surplus = last.len().saturating_sub(self.rows);
        last.drain(..surplus);
        last.iter().for_each(|(row, colour)| self.row(row, *colour));
    }

    /// Takes the rows below away and gives the terminal back.
    pub(super) fn close(&mut self) {
        self.erase();
        self.out.extend_from_slice(CLOSE.as_bytes());
    }

    /// The row of the line that is being said; those before it scroll.
    fn partial(&mut self, line: Option<&Line>) -> Option<(String, Colour)> {
        let line = line?;
        let mut rows = self.wrap(line);
        let last = rows.pop()?;
        rows.iter().skip(self.said).for_each(|row| self.row(row, line.colour));
        self.said = self.said.max(rows.len());
        Some((last, line.colour))
    }

    fn erase(&mut self) {
        let Some(above) = self.above.take() else { return };
        self.out.extend_from_slice(b"\r");
        if above > 0 {
            self.out.extend_from_slice(format!("\x1b[{above}A").as_bytes());
        }
        self.out.extend_from_slice(b"\x1b[J");
    }

    fn row(&mut self, row: &str, colour: Colour) {
        let painted = self.screen.paint(row, colour);
        self.out.extend_from_slice(painted.as_bytes());
        self.out.extend_from_slice(b"\r\n");
    }

    fn wrap(&self, line: &Line) -> Vec<String> {
        wrap(line.lead, &line.text, self.columns())
    }
}

/// The rows of a line, broken between words where that is possible. What follows does not change the rows before the
/// last.
fn wrap(lead: &str, text: &str, columns: usize) -> Vec<String> {
    // A wide character must fit beside it.
    let indent = if width(lead) + 2 <= columns { width(lead) } else { 0 };
    let mut rows = Vec::new();
    let mut row = if indent > 0 { lead.to_owned() } else { String::new() };
    let mut used = indent;
    // Where the last word of the row begins.
    let mut word: Option<usize> = None;
    for c in text.chars() {
        let wide = width(c.encode_utf8(&mut [0; 4]));
        if used + wide > columns && used > indent {
            // A word goes on in the next row, if there is room for it.
            let fits = |at: &usize| c != ' ' && indent + width(&row[*at..]) + wide <= columns;
            let moved = word.filter(fits).map_or_else(String::new, |at| row.split_off(at));
            // Spaces at the end of a row are not seen.
            row.truncate(row.trim_end_matches(' ').len());
            let next = " ".repeat(indent) + &moved;
            rows.push(std::mem::replace(&mut row, next));
            (used, word) = (width(&row), None);
            if c == ' ' {
                continue;
            }
        }
        row.push(c);
        used += wide;
        if c == ' ' {
            word = Some(row.len());
        }
    }
    rows.push(row);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::num::NonZero;

    #[test]
    fn words_stay_whole_where_they_can() {
        assert_eq!(wrap("", "one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("> ", "one two three", 9), ["> one two", "  three"]);
        assert_eq!(wrap("", "onetwothree", 4), ["onet", "woth", "ree"]);
        assert_eq!(wrap("", "東京の天気", 5), ["東京", "の天", "気"]);
        assert_eq!(wrap("", "", 5), [""]);
        assert_eq!(wrap("", "one  two", 4), ["one", "two"]);
    }

    fn screen(columns: usize) -> Screen {
        Screen { width: Some(columns), colour: false }
    }

    fn some(count: u16) -> NonZero<u16> {
        NonZero::new(count).unwrap()
    }

    fn terminal(rows: u16, columns: u16) -> vt100::Parser {
        vt100::Parser::new(some(rows), some(columns), 0)
    }

    /// What a terminal shows after these bytes, without empty rows at the end.
    fn shown(terminal: &mut vt100::Parser, canvas: &mut Canvas) -> String {
        terminal.process(&std::mem::take(&mut canvas.out));
        terminal.screen().contents().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
    }

    fn line(text: &str) -> Line {
        Line { lead: "", text: text.to_owned(), colour: Colour::None }
    }

    fn below(partial: Option<&str>, typed: &str) -> Below {
        let partial = partial.map(line);
        Below { partial, status: "-- idle".to_owned(), typed: typed.to_owned(), column: width(typed), alert: false }
    }

    #[test]
    fn what_is_said_grows_and_scrolls_above_what_is_typed() {
        let mut terminal = terminal(6, 11);
        let mut canvas = Canvas::new(screen(11), 6);
        canvas.print(vec![line("first")]);
        canvas.draw(&below(None, ""));
        assert_eq!(shown(&mut terminal, &mut canvas), "first\n-- idle\n>");
        canvas.draw(&below(Some("so it"), "東"));
        assert_eq!(shown(&mut terminal, &mut canvas), "first\nso it\n-- idle\n> 東");
        assert_eq!(terminal.screen().cursor_position(), (3, 4));
        canvas.draw(&below(Some("so it begins and goes"), "東"));
        assert_eq!(shown(&mut terminal, &mut canvas), "first\nso it\nbegins and\ngoes\n-- idle\n> 東");
        canvas.print(vec![line("so it begins and goes on"), line("next")]);
        canvas.draw(&below(None, "東"));
        assert_eq!(shown(&mut terminal, &mut canvas), "so it\nbegins and\ngoes on\nnext\n-- idle\n> 東");
        canvas.close();
        assert_eq!(shown(&mut terminal, &mut canvas), "so it\nbegins and\ngoes on\nnext");
        assert_eq!(terminal.screen().cursor_position(), (4, 0));
    }

    #[test]
    fn another_size_shows_the_last_lines_anew() {
        let mut terminal = terminal(6, 30);
        let mut canvas = Canvas::new(screen(30), 6);
        canvas.print((0..9).map(|number| line(&format!("this is line {number}"))).collect());
        canvas.draw(&below(Some("and more of it"), "x"));
        shown(&mut terminal, &mut canvas);
        terminal.screen_mut().set_size(some(5), some(12));
        canvas.redraw(screen(12), 5);
        canvas.draw(&below(Some("and more of it"), "x"));
        assert_eq!(shown(&mut terminal, &mut canvas), "line 8\nand more of\nit\n-- idle\n> x");
    }

    proptest! {
        #[test]
        fn no_row_is_wider_than_the_terminal_and_nothing_is_lost(text in "(\\PC| ){0,60}", columns in 2usize..20) {
            let rows = wrap("> ", &text, columns);
            prop_assert!(rows.iter().all(|row| width(row) <= columns), "{:?}", rows);
            let letters = |text: &str| text.chars().filter(|c| *c != ' ').collect::<String>();
            let lead = if columns > 3 { ">" } else { "" };
            prop_assert_eq!(letters(&rows.concat()), lead.to_owned() + &letters(&text));
        }

        #[test]
        fn rows_before_the_last_stay_as_they_are(text in "([a-c東]| ){0,60}", more in "([a-c東]| ){0,20}", columns in 3usize..20) {
            let (before, after) = (wrap("", &text, columns), wrap("", &(text + &more), columns));
            prop_assert_eq!(&before[..before.len() - 1], &after[..before.len() - 1]);
        }
    }
}
