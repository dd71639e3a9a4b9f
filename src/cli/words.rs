//! Times, paths and numbers as a person reads them.

use crate::protocol::State;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Now, in epoch milliseconds.
pub(super) fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}

/// The name of a state for people.
pub(super) fn state(state: State) -> &'static str {
    match state {
        State::Persisted => "stored",
        state => state.id(),
    }
}

/// Reads a state as [`state`] names it, or as the protocol does.
pub(super) fn parse_state(name: &str) -> Result<State, String> {
    let found = State::ALL.into_iter().find(|known| name == state(*known) || name == known.id());
    found.ok_or_else(|| format!("the states are {}", State::ALL.map(state).join(", ")))
}

/// How long ago a time was, in its largest unit.
pub(super) fn age(now_ms: i64, then_ms: Option<i64>) -> String {
    const UNITS: [(i64, char); 6] =
        [(31_557_600, 'y'), (604_800, 'w'), (86_400, 'd'), (3_600, 'h'), (60, 'm'), (1, 's')];
    let Some(then_ms) = then_ms else { return "-".to_owned() };
    let seconds = now_ms.saturating_sub(then_ms).max(0) / 1_000;
    match UNITS.into_iter().find(|(unit, _)| seconds >= *unit) {
        Some((unit, letter)) => format!("{}{letter}", seconds / unit),
        None => "0s".to_owned(),
    }
}

/// A time of day where the user is, with the date unless that is today.
pub(super) fn clock(now_ms: i64, then_ms: i64) -> String {
    clock_in(&TimeZone::system(), now_ms, then_ms)
}

fn clock_in(zone: &TimeZone, now_ms: i64, then_ms: i64) -> String {
    let local = |ms| Timestamp::from_millisecond(ms).ok().map(|time| time.to_zoned_datetime(zone.clone()));
    let Some(then) = local(then_ms) else { return "-".to_owned() };
    let is_today = local(now_ms).is_some_and(|now| now.date() == then.date());
    then.strftime(if is_today { "%H:%M:%S" } else { "%Y-%m-%d %H:%M:%S" }).to_string()
}

/// The user's home directory, by which paths are shortened.
pub(super) fn home() -> Option<String> {
    let variable = |name: &str| std::env::var(name).ok().filter(|home| Path::new(home).is_absolute());
    variable("HOME").or_else(|| variable("USERPROFILE"))
}

/// A path with the home directory as `~`.
pub(super) fn path(path: &str, home: Option<&str>) -> String {
    let below = home.map(|home| home.trim_end_matches('/')).filter(|home| !home.is_empty());
    match below.and_then(|home| path.strip_prefix(home)) {
        Some("") => "~".to_owned(),
        Some(rest) if rest.starts_with(std::path::is_separator) => format!("~{rest}"),
        _ => path.to_owned(),
    }
}

/// A number of things: `1 file`, `2 files`.
pub(super) fn count(number: usize, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_told_in_their_largest_unit_and_the_future_is_now() {
        let ages = [-5, 0, 59, 60, 3_599, 3_600, 86_399, 86_400, 604_799, 604_800, 31_557_599, 63_115_200];
        let told = ages.map(|seconds| age(1_000_000, Some(1_000_000 - seconds * 1_000)));
        assert_eq!(told, ["0s", "0s", "59s", "1m", "59m", "1h", "23h", "1d", "6d", "1w", "52w", "2y"]);
        assert_eq!(age(0, None), "-");
        assert_eq!(age(i64::MAX, Some(i64::MIN)), "292271023y");
    }

    #[test]
    fn a_clock_shows_the_date_where_it_is_another() {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let second = |text: &str| text.parse::<Timestamp>().unwrap().as_millisecond();
        let now = second("2026-01-02T22:30:00Z");
        assert_eq!(clock_in(&zone, now, second("2026-01-02T22:29:59.999Z")), "00:29:59");
        assert_eq!(clock_in(&zone, now, second("2026-01-02T21:59:59Z")), "2026-01-02 23:59:59");
        assert_eq!(clock_in(&zone, now, i64::MAX), "-");
    }

    #[test]
    fn only_what_is_below_home_is_shortened() {
        let short = |text| path(text, Some("/home/dev"));
        assert_eq!(short("/home/dev"), "~");
        assert_eq!(short("/home/dev/x"), "~/x");
        assert_eq!(short("/home/developer"), "/home/developer");
        assert_eq!(path("/x", Some("/")), "/x");
        assert_eq!(path("/x", None), "/x");
    }
}
