//! Rows that line up, and that fit the screen where there is one.

use super::output::{Colour, Screen, plain};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthChar;

/// A column: its name, and how its cells give way where there is too little room.
pub(super) struct Column(pub &'static str, pub Give);

/// How a cell gives way.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Give {
    /// Not at all.
    Nothing,
    /// Its beginning is left out: of a path the end tells most.
    Start,
    /// Its end is left out.
    End,
}

/// What stands in one place of a table.
pub(super) struct Cell {
    text: String,
    colour: Colour,
}

impl Cell {
    /// A cell with this text; what could act on a terminal is taken out.
    pub(super) fn new(text: &str) -> Self {
        Self { text: plain(text), colour: Colour::None }
    }

    /// The same in a colour.
    pub(super) fn in_colour(self, colour: Colour) -> Self {
        Self { colour, ..self }
    }
}

const GAP: usize = 2;

/// The table with a line of names above it.
pub(super) fn render(columns: &[Column], rows: &[Vec<Cell>], screen: &Screen) -> String {
    let widths = widths(columns, rows, screen.width);
    let names: Vec<Cell> = columns.iter().map(|column| Cell::new(column.0).in_colour(Colour::Dim)).collect();
    let lines = std::iter::once(&names).chain(rows).map(|row| line(columns, row, &widths, screen));
    lines.collect()
}

fn line(columns: &[Column], row: &[Cell], widths: &[usize], screen: &Screen) -> String {
    let mut line = String::new();
    let mut room = screen.width.unwrap_or(usize::MAX);
    for ((Column(_, give), cell), width_of_column) in columns.iter().zip(row).zip(widths) {
        let text = fit(&cell.text, (*width_of_column).min(room), *give);
        let used = width(&text);
        line.push_str(&screen.paint(&text, cell.colour));
        room -= used;
        let pad = (width_of_column + GAP).saturating_sub(used).min(room);
        line.extend(std::iter::repeat_n(' ', pad));
        room -= pad;
    }
    line.truncate(line.trim_end_matches(' ').len());
    line.push('\n');
    line
}

/// How wide each column is. The path may have a third of what the unyielding ones leave, and more where the other
/// column that gives way needs less.
fn widths(columns: &[Column], rows: &[Vec<Cell>], screen: Option<usize>) -> Vec<usize> {
    let widest = |at: usize| rows.iter().map(|row| width(&row[at].text)).max().unwrap_or(0);
    let mut widths: Vec<usize> = (0..columns.len()).map(|at| widest(at).max(width(columns[at].0))).collect();
    let Some(screen) = screen else { return widths };
    let place = |give: Give| columns.iter().position(|column| column.1 == give);
    let (start, end) = (place(Give::Start), place(Give::End));
    let yielding: usize = [start, end].into_iter().flatten().map(|at| widths[at]).sum();
    let unyielding = widths.iter().sum::<usize>() - yielding + GAP * (columns.len() - 1);
    let room = screen.saturating_sub(unyielding);
    let end_wants = end.map_or(0, |at| widths[at]);
    let for_start = start.map_or(0, |at| {
        let share = (room / 3).max(width(columns[at].0)).max(room.saturating_sub(end_wants));
        widths[at].min(share).min(room)
    });
    if let Some(at) = start {
        widths[at] = for_start;
    }
    if let Some(at) = end {
        widths[at] = end_wants.min(room - for_start);
    }
    widths
}

/// The columns that a text takes on a terminal.
pub(super) fn width(text: &str) -> usize {
    text.chars().filter_map(UnicodeWidthChar::width).sum()
}

/// As much of the text as fits, with a mark where some is left out.
pub(super) fn fit(text: &str, room: usize, give: Give) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let Some(mut left) = room.checked_sub(1) else { return String::new() };
    let clusters = text.graphemes(true);
    let fits = |cluster: &&str| match left.checked_sub(width(cluster)) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    if give != Give::Start {
        return clusters.take_while(fits).collect::<String>() + "…";
    }
    let kept: Vec<&str> = clusters.rev().take_while(fits).collect();
    let kept: String = kept.into_iter().rev().collect();
    // Half a directory's name says nothing.
    let whole = kept.find(std::path::is_separator).map_or(kept.as_str(), |at| &kept[at..]);
    format!("…{whole}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const COLUMNS: &[Column] =
        &[Column("STATE", Give::Nothing), Column("WORKSPACE", Give::Start), Column("TITLE", Give::End)];

    fn table(screen: &Screen) -> String {
        let row = |state: &str, colour, path: &str, title: &str| {
            vec![Cell::new(state).in_colour(colour), Cell::new(path), Cell::new(title)]
        };
        let rows = [
            row("waiting", Colour::Alert, "~/src/weather-station/firmware", "東京の天気を毎時間取得する"),
            row("persisted", Colour::None, "~/recipes", "clear the screen \x1b[2J and \u{202e}turn"),
        ];
        render(COLUMNS, &rows, screen)
    }

    #[test]
    fn a_pipe_gets_whole_rows() {
        let expected = "\
STATE      WORKSPACE                       TITLE
waiting    ~/src/weather-station/firmware  東京の天気を毎時間取得する
persisted  ~/recipes                       clear the screen \u{fffd}[2J and \u{fffd}turn
";
        assert_eq!(table(&Screen { width: None, colour: false }), expected);
    }

    #[test]
    fn a_terminal_gets_rows_that_fit_paths_shortened_from_the_left_and_wide_characters_whole() {
        let expected = "\
STATE      WORKSPACE  TITLE
waiting    …firmware  東京の天気を毎…
persisted  ~/recipes  clear the scree…
";
        assert_eq!(table(&Screen { width: Some(38), colour: false }), expected);
    }

    #[test]
    fn colours_take_no_room() {
        let screen = Screen { width: Some(38), colour: true };
        let table = table(&screen);
        assert!(table.contains("\x1b[1;33mwaiting\x1b[0m    …firmware"), "{table}");
        assert!(table.starts_with("\x1b[2mSTATE\x1b[0m      "), "{table}");
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_the_screen(screen in 0usize..60, texts in prop::collection::vec(".{0,40}", 3)) {
            let row: Vec<Cell> = texts.iter().map(|text| Cell::new(text)).collect();
            for line in render(COLUMNS, &[row], &Screen { width: Some(screen), colour: false }).lines() {
                prop_assert!(width(line) <= screen);
            }
        }
    }
}
