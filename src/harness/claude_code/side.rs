//! The small files beside a transcript, and those of its team.

use super::{ARCHIVED_FILE, TITLE_FILE};
use crate::harness::jsonl::HeadTail;
use crate::harness::text;
use crate::limits;
use crate::platform::files::read_small;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};

/// Returns what a subagent was started for.
pub(super) fn description(transcript: &Path) -> Option<Box<str>> {
    #[derive(Deserialize)]
    struct Meta {
        description: String,
    }
    let meta: Meta = read(&transcript.with_extension("meta.json"))?;
    text::title(&meta.description)
}

/// Returns the name that `/rename` left beside a session.
pub(super) fn renamed(transcript: &Path) -> Option<Box<str>> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Title {
        custom_title: String,
    }
    let title: Title = read(&transcript.with_extension("").join(TITLE_FILE))?;
    text::title(&title.custom_title)
}

/// Returns when a session was archived, in epoch milliseconds; `None` where it is not, or was taken out again.
pub(super) fn archived(transcript: &Path) -> Option<i64> {
    #[derive(Deserialize)]
    struct Archived {
        archived: bool,
        at: String,
    }
    let record: Archived = read(&transcript.with_extension("").join(ARCHIVED_FILE))?;
    text::time(&record.at).filter(|_| record.archived)
}

/// Returns the session that leads a team, as the team's own file in the home says.
pub(super) fn team_lead(transcript: &Path, team: &str, ends: &mut HeadTail) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Team {
        lead_session_id: String,
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.@".contains(c);
    if team.starts_with('.') || !team.chars().all(is_name) {
        return None;
    }
    let home = transcript.ancestors().nth(3)?;
    let file: PathBuf = [home, Path::new("teams"), Path::new(team), Path::new("config.json")].iter().collect();
    let team: Team = serde_json::from_slice(ends.beside(&file, limits::SIDE_FILE)?).ok()?;
    Some(team.lead_session_id)
}

fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&read_small(path, limits::SIDE_FILE).ok()?).ok()
}
