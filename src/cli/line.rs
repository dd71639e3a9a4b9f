//! What agents say and do, as lines for a person. Pure.

use super::clean::{clean, one_line};
use super::output::{Colour, Screen};
use super::words;

/// A line, however long: what is put before it says what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// What stands before it; before what of it does not fit on the first row stands as much room.
    pub lead: &'static str,
    /// Without control characters.
    pub text: String,
    /// The colour of it all.
    pub colour: Colour,
}

impl Line {
    /// A line in a colour, behind what stands before it. The text must be clean.
    pub(super) fn new(lead: &'static str, colour: Colour, text: impl Into<String>) -> Self {
        Self { lead, text: text.into(), colour }
    }

    /// Something that is not said by an agent.
    pub(super) fn note(text: &str) -> Self {
        Self::new("-- ", Colour::Dim, one_line(text))
    }

    /// Something that a person must see.
    pub(super) fn alert(text: &str) -> Self {
        Self::new("! ", Colour::Alert, one_line(text))
    }

    /// The line as a screen shows it, with its end.
    pub(super) fn shown(&self, screen: &Screen) -> String {
        screen.paint(&format!("{}{}", self.lead, self.text), self.colour) + "\n"
    }
}

/// Lines of what a tool said.
pub(super) const LINES_OF_TOOL: usize = 8;
/// Characters of a line that is shortened, and of a call's arguments.
pub(super) const CHARS: usize = 400;

/// A call of a tool, shortened.
pub(super) fn call(name: &str, arguments: &str) -> Line {
    Line::new("* ", Colour::Calm, cut(&format!("{} {}", one_line(name), one_line(arguments)), CHARS))
}

/// The lines of a text; of one that has more lines than may be shown, how many more.
pub(super) fn whole(lead: &'static str, colour: Colour, text: &str, at_most: usize) -> Vec<Line> {
    let text = clean(text);
    let mut rest = text.trim_end_matches('\n').lines();
    let longest = if at_most == usize::MAX { usize::MAX } else { CHARS };
    let mut lines: Vec<Line> = Vec::new();
    for line in rest.by_ref().take(at_most) {
        let lead = if lines.is_empty() || lead != "> " { lead } else { "  " };
        lines.push(Line::new(lead, colour, cut(line, longest)));
    }
    let more = rest.count();
    if more > 0 {
        lines.push(Line::new("  ", Colour::Dim, format!("… {}", words::count(more, "more line"))));
    }
    lines
}

/// A text, cut where it is longer.
pub(super) fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((end, _)) => format!("{}… {} more characters", &text[..end], text[end..].chars().count()),
        None => text.to_owned(),
    }
}
