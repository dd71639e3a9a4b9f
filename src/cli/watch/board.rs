//! What is known of the sessions that are watched, and how it is shown. Pure.

use crate::cli::list::{Row, table};
use crate::cli::output::{Colour, Screen};
use crate::cli::table::{Give, fit};
use crate::cli::words;
use crate::protocol::{Entry, Problem, RegistryEvent, State};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Where a row stands: what needs a person first, then the newest.
type Place = (u8, Reverse<Option<i64>>, String);

/// The sessions that are watched.
#[derive(Default)]
pub(super) struct Board {
    rows: BTreeMap<Place, Row>,
    places: HashMap<String, Place>,
    problems: Vec<Problem>,
    /// What was told of a state that is told whole, while that is under way.
    telling: Option<HashSet<String>>,
    is_synced: bool,
}

impl Board {
    /// Takes an event; answers the rows that are gone by it.
    pub(super) fn take(&mut self, event: RegistryEvent) -> Vec<Row> {
        match event {
            RegistryEvent::Added { entry } | RegistryEvent::Updated { entry } => self.put(&entry),
            RegistryEvent::Removed { id } => return self.remove(&id).into_iter().collect(),
            RegistryEvent::Error { problem } => self.problems.push(problem),
            RegistryEvent::Recovered { problem } => self.problems.retain(|known| *known != problem),
            RegistryEvent::Resync {} => {
                (self.telling, self.is_synced) = (Some(HashSet::new()), false);
                self.problems.clear();
            }
            RegistryEvent::Synced {} => {
                self.is_synced = true;
                let Some(told) = self.telling.take() else { return Vec::new() };
                let gone: Vec<String> = self.places.keys().filter(|id| !told.contains(*id)).cloned().collect();
                return gone.iter().filter_map(|id| self.remove(id)).collect();
            }
        }
        Vec::new()
    }

    /// Whether everything there is has been told.
    pub(super) fn is_synced(&self) -> bool {
        self.is_synced
    }

    fn put(&mut self, entry: &Entry) {
        self.remove(&entry.id);
        self.telling.iter_mut().for_each(|told| _ = told.insert(entry.id.clone()));
        let row = Row::of(entry);
        let place = (row.state.rank(), Reverse(row.time_ms), entry.id.clone());
        self.places.insert(entry.id.clone(), place.clone());
        self.rows.insert(place, row);
    }

    fn remove(&mut self, id: &str) -> Option<Row> {
        self.rows.remove(&self.places.remove(id)?)
    }

    /// The lines of a screen with so many rows, of which none is wider than the screen.
    pub(super) fn lines(&self, now_ms: i64, home: Option<&str>, screen: &Screen, rows: usize) -> Vec<String> {
        // The names of the columns are worth a row where there are some.
        let above = if rows > 3 { 2 } else { 1 };
        let shown: Vec<&Row> = self.rows.values().take(rows.saturating_sub(above)).collect();
        let (status, colour) = self.status(shown.len());
        let status = screen.paint(&fit(&status, screen.width.unwrap_or(usize::MAX), Give::End), colour);
        let table = if shown.is_empty() { String::new() } else { table(&shown, now_ms, home, screen) };
        std::iter::once(status).chain(table.lines().skip(2 - above).map(str::to_owned)).collect()
    }

    /// How things are, in one line; `shown` rows are seen.
    fn status(&self, shown: usize) -> (String, Colour) {
        if !self.is_synced {
            return ("-- looking for sessions - q quits".to_owned(), Colour::Dim);
        }
        let in_state = |state: State| {
            let from = (state.rank(), Reverse(Some(i64::MAX)), String::new());
            self.rows.range(from..).take_while(|(_, row)| row.state == state).count()
        };
        let always = [State::Waiting, State::Busy, State::Idle];
        let live =
            State::ALL.into_iter().filter(|state| *state != State::Persisted).map(|state| (state, in_state(state)));
        let live: Vec<(State, usize)> = live.filter(|(state, count)| *count > 0 || always.contains(state)).collect();
        let counts: Vec<String> =
            live.iter().map(|(state, count)| format!("{count} {}", words::state(*state))).collect();
        let mut status = format!("-- {}", counts.join(", "));
        let unseen = live.iter().map(|(_, count)| count).sum::<usize>().saturating_sub(shown);
        if unseen > 0 {
            status.push_str(&format!(" - {unseen} more"));
        }
        if !self.problems.is_empty() {
            status.push_str(&format!(" - {}: `tackroom doctor`", words::count(self.problems.len(), "problem")));
        }
        let waits = live.iter().any(|(state, count)| *state == State::Waiting && *count > 0);
        (status + " - q quits", if waits { Colour::Alert } else { Colour::Dim })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::table::width;
    use proptest::prelude::*;
    use serde_json::json;

    fn event(kind: &str, id: &str, state: &str, time_ms: Option<i64>, title: &str) -> RegistryEvent {
        let entry = json!({ "id": format!("claude-code:{id}"), "harness": "claude-code", "sessionId": id,
            "state": state, "workspace": "/home/dev/roof", "title": title, "updatedAtMs": time_ms });
        serde_json::from_value(json!({ "kind": kind, "entry": entry })).unwrap()
    }

    fn removed(id: &str) -> RegistryEvent {
        RegistryEvent::Removed { id: format!("claude-code:{id}") }
    }

    fn problem(message: &str) -> Problem {
        serde_json::from_value(json!({ "reason": "unreadable", "message": message })).unwrap()
    }

    fn screen(columns: usize) -> Screen {
        Screen { width: Some(columns), colour: false }
    }

    fn shown(board: &Board, rows: usize) -> Vec<String> {
        board.lines(100_000, Some("/home/dev"), &screen(80), rows)
    }

    /// The ids in the order in which they stand.
    fn ids(board: &Board) -> Vec<&str> {
        board.rows.values().map(|row| row.session_id.as_str()).collect()
    }

    fn full() -> Board {
        let mut board = Board::default();
        for (id, state, time) in [
            ("stored-old", "persisted", Some(10_000)),
            ("stored-new", "persisted", Some(90_000)),
            ("unknown-time", "persisted", None),
            ("live", "live", Some(99_000)),
            ("idle", "idle", Some(20_000)),
            ("busy", "busy", Some(30_000)),
            ("waits-since-long", "waiting", Some(1_000)),
        ] {
            board.take(event("added", id, state, time, "A title"));
        }
        board.take(RegistryEvent::Synced {});
        board
    }

    #[test]
    fn what_needs_a_person_is_first_and_then_the_newest() {
        let mut board = full();
        let expected = ["waits-since-long", "busy", "idle", "live", "stored-new", "stored-old", "unknown-time"];
        assert_eq!(ids(&board), expected);
        board.take(event("updated", "stored-old", "persisted", Some(95_000), "A title"));
        board.take(event("updated", "idle", "waiting", Some(20_000), "A title"));
        assert_eq!(board.take(removed("busy"))[0].session_id, "busy");
        assert_eq!(board.take(removed("busy")), []);
        let expected = ["idle", "waits-since-long", "live", "stored-old", "stored-new", "unknown-time"];
        assert_eq!(ids(&board), expected);
    }

    #[test]
    fn the_counts_stand_above_as_many_rows_as_fit() {
        let board = full();
        let all = shown(&board, 50);
        assert_eq!(all[0], "-- 1 waiting, 1 busy, 1 idle, 1 live - q quits");
        assert_eq!(all[1], "STATE    HARNESS      ID        AGE  WORKSPACE  TITLE");
        assert_eq!(all[2], "waiting  claude-code  waits-si  1m   ~/roof     A title");
        assert_eq!(all.len(), 9);
        let few = shown(&board, 4);
        assert_eq!(few[0], "-- 1 waiting, 1 busy, 1 idle, 1 live - 2 more - q quits");
        assert_eq!((few[1].get(..5), few.len()), (Some("STATE"), 4));
        let fewer = shown(&board, 3);
        assert_eq!((fewer[1].get(..7), fewer.len()), (Some("waiting"), 3));
        assert_eq!(shown(&board, 1), ["-- 1 waiting, 1 busy, 1 idle, 1 live - 4 more - q quits"]);
        assert_eq!(shown(&Board::default(), 9), ["-- looking for sessions - q quits"]);
    }

    #[test]
    fn problems_are_counted_while_they_last() {
        let mut board = Board::default();
        board.take(RegistryEvent::Error { problem: problem("one") });
        board.take(RegistryEvent::Error { problem: problem("two") });
        board.take(RegistryEvent::Synced {});
        assert_eq!(shown(&board, 9), ["-- 0 waiting, 0 busy, 0 idle - 2 problems: `tackroom doctor` - q quits"]);
        board.take(RegistryEvent::Recovered { problem: problem("one") });
        assert_eq!(shown(&board, 9), ["-- 0 waiting, 0 busy, 0 idle - 1 problem: `tackroom doctor` - q quits"]);
        board.take(RegistryEvent::Resync {});
        board.take(RegistryEvent::Synced {});
        assert_eq!(shown(&board, 9), ["-- 0 waiting, 0 busy, 0 idle - q quits"]);
    }

    #[test]
    fn what_is_not_told_again_is_gone() {
        let mut board = full();
        board.take(RegistryEvent::Resync {});
        assert!(!board.is_synced());
        board.take(event("added", "idle", "busy", Some(1), "Another"));
        board.take(event("added", "new", "idle", Some(1), "New"));
        assert_eq!(board.take(RegistryEvent::Synced {}).len(), 6);
        assert_eq!(ids(&board), ["idle", "new"]);
        assert_eq!(board.take(RegistryEvent::Synced {}), []);
    }

    proptest! {
        #[test]
        fn no_screen_is_too_small_for_any_text(titles in prop::collection::vec(".{0,40}", 0..6), columns in 1usize..90, rows in 1usize..9) {
            let mut board = Board::default();
            for (number, title) in titles.iter().enumerate() {
                board.take(event("added", &format!("{number}"), "busy", Some(number as i64), title));
            }
            board.take(RegistryEvent::Synced {});
            let lines = board.lines(0, None, &screen(columns), rows);
            prop_assert!(lines.len() <= rows, "{:?}", lines);
            for line in lines {
                prop_assert!(width(&line) <= columns && !line.contains(char::is_control), "{:?}", line);
            }
        }
    }
}
