//! `tackroom list`: the sessions of this machine as a table, what waits for a person first.

use super::output::{self, Colour, Failure, Screen, note};
use super::table::{Cell, Column, Give, render};
use super::{LookArgs, USAGE, own_config, words};
use crate::limits;
use crate::protocol::{CoverageParams, Door, Entry, Harness, ListParams, ListResult, Query, Relation, RpcError, State};
use crate::service::Local;
use clap::Args;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Which sessions.
#[derive(Args)]
pub(super) struct FilterArgs {
    /// Only sessions whose title, id or peer name contains TEXT, ignoring case
    text: Option<String>,
    /// Only sessions of these harnesses: claude-code, codex, gemini, opencode, goose, pi, grok, openclaw, hermes,
    /// supercode, orchestrator, acp
    #[arg(long = "harness", value_name = "HARNESSES", value_delimiter = ',')]
    harnesses: Vec<Harness>,
    /// Only sessions in DIR and below
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Only sessions in these states: waiting, busy, idle, live (running, activity unknown), shutting_down, stored (not
    /// running)
    #[arg(long = "state", value_name = "STATES", value_delimiter = ',', value_parser = words::parse_state)]
    states: Vec<State>,
    /// Include subagents
    #[arg(long)]
    all: bool,
    /// Only archived sessions
    #[arg(long)]
    archived: bool,
}

#[derive(Args)]
pub(super) struct ListArgs {
    #[command(flatten)]
    filter: FilterArgs,
    /// Maximum number of sessions; 0 for all
    #[arg(long, value_name = "N", default_value_t = limits::PAGE_DEFAULT)]
    limit: usize,
    /// Print the result of `registry/list` as JSON, in the order of the table
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    look: LookArgs,
}

pub(super) fn run(args: &ListArgs) -> Result<ExitCode, Failure> {
    let query = args.filter.query()?;
    let local = Local::new(own_config(&args.look))?;
    let found = gather(&local, &query, args.limit)?;
    if args.json {
        output::write_json(&found)?;
        return Ok(ExitCode::SUCCESS);
    }
    if found.entries.is_empty() {
        note(&nothing(&local, found.total)?);
    } else {
        let now = words::now_ms();
        let rows: Vec<Row> = found.entries.iter().map(Row::of).collect();
        let rows: Vec<&Row> = rows.iter().collect();
        output::write(&table(&rows, now, words::home().as_deref(), &Screen::of_stdout()))?;
    }
    let more = found.total.saturating_sub(found.entries.len());
    if more > 0 && !found.entries.is_empty() {
        note(&format!("{more} more; use --limit 0, or narrow the search"));
    }
    let files = found.problems.iter().filter(|problem| problem.path.is_some()).count();
    let runtimes = found.problems.len() - files;
    if files > 0 {
        note(&format!("{} could not be read; `tackroom doctor` shows which", words::count(files, "file")));
    }
    if runtimes > 0 {
        note(&format!("problems with {}; `tackroom doctor` shows which", words::count(runtimes, "runtime")));
    }
    Ok(ExitCode::SUCCESS)
}

impl FilterArgs {
    /// The same for the server.
    pub(super) fn query(&self) -> Result<Query, Failure> {
        let some = |list: bool| list.then_some(true);
        Ok(Query {
            harnesses: (!self.harnesses.is_empty()).then(|| self.harnesses.clone()),
            states: (!self.states.is_empty()).then(|| self.states.clone()),
            workspace: self.workspace.as_deref().map(absolute).transpose()?,
            workspace_subtree: Some(true),
            text: self.text.clone(),
            include_children: some(self.all),
            archived: some(self.archived),
            ..Query::default()
        })
    }
}

fn absolute(directory: &Path) -> Result<String, Failure> {
    let wrong = |why: String| Failure::new(USAGE, format!("--workspace {}: {why}", directory.display()));
    let path = std::path::absolute(directory).map_err(|error| wrong(error.to_string()))?;
    path.into_os_string().into_string().map_err(|_| wrong("the path is not UTF-8".to_owned()))
}

/// The entries in the order of the table: what lives by how much it needs a person, then the rest by time. A page
/// alone would not do, since a session that waits may have been silent for days.
fn gather(local: &Local, query: &Query, limit: usize) -> Result<ListResult, RpcError> {
    let limit = if limit == 0 { usize::MAX } else { limit };
    let at_most = |limit: usize| Some(i64::try_from(limit).unwrap_or(i64::MAX));
    let only_live = Query { persisted: Some(false), ..query.clone() };
    let live = local.list(ListParams { query: Some(only_live), cursor: None, limit: at_most(usize::MAX) })?;
    let page = local.list(ListParams { query: Some(query.clone()), cursor: None, limit: at_most(limit) })?;
    let known: HashSet<String> = live.entries.iter().map(|entry| entry.id.clone()).collect();
    let mut entries = live.entries;
    entries.extend(page.entries.into_iter().filter(|entry| !known.contains(&entry.id)));
    entries.sort_by_key(|entry| entry.state.rank());
    entries.truncate(limit);
    Ok(ListResult { entries, next_cursor: None, ..page })
}

const COLUMNS: &[Column] = &[
    Column("STATE", Give::Nothing),
    Column("HARNESS", Give::Nothing),
    Column("ID", Give::Nothing),
    Column("AGE", Give::Nothing),
    Column("WORKSPACE", Give::Start),
    Column("TITLE", Give::End),
];

/// Characters of a program's name.
const PROGRAM: usize = 24;

/// What a person sees of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// What it is doing.
    pub state: State,
    /// Its program: the harness, or what an agent that is none of them calls itself.
    pub program: String,
    /// The program's own id of it.
    pub session_id: String,
    /// When it last said something, else when it began, in epoch milliseconds.
    pub time_ms: Option<i64>,
    /// Where it works.
    pub workspace: Option<String>,
    /// What is special about it.
    pub mark: Option<String>,
    /// What it is called.
    pub title: String,
}

impl Row {
    /// What a person sees of this entry.
    pub(super) fn of(entry: &Entry) -> Self {
        Self {
            state: entry.state,
            program: program(entry),
            session_id: entry.session_id.clone(),
            time_ms: entry.updated_at_ms.or(entry.started_at_ms),
            workspace: entry.workspace.clone(),
            mark: mark(entry),
            title: title(entry).to_owned(),
        }
    }

    /// The id, or of a very long one the beginning, by which `resume` finds it too.
    pub(super) fn id(&self) -> &str {
        const LONG: usize = 80;
        let id = &self.session_id;
        id.char_indices().nth(LONG).map_or(id, |(end, _)| &id[..end])
    }

    /// Where it works, as a person reads it.
    pub(super) fn place(&self, home: Option<&str>) -> String {
        self.workspace.as_deref().map_or_else(|| "-".to_owned(), |path| words::path(path, home))
    }
}

/// The table of some rows. Where lines are cut, ids are too, as far as they stay apart.
pub(super) fn table(rows: &[&Row], now_ms: i64, home: Option<&str>, screen: &Screen) -> String {
    let ids: Vec<&str> = rows.iter().map(|row| row.session_id.as_str()).collect();
    let ids = if screen.width.is_some() { short_ids(&ids) } else { rows.iter().map(|row| row.id()).collect() };
    let cells = |(row, id): (&&Row, &str)| {
        let title = row.mark.as_ref().map_or_else(|| row.title.clone(), |mark| format!("[{mark}] {}", row.title));
        vec![
            Cell::new(words::state(row.state)).in_colour(colour(row.state)),
            Cell::new(&row.program),
            Cell::new(id).in_colour(Colour::Dim),
            Cell::new(&words::age(now_ms, row.time_ms)),
            Cell::new(&row.place(home)),
            Cell::new(&title),
        ]
    };
    let rows: Vec<Vec<Cell>> = rows.iter().zip(ids).map(cells).collect();
    render(COLUMNS, &rows, screen)
}

/// The program of an entry in one word.
fn program(entry: &Entry) -> String {
    let agent = entry.agent.as_deref().filter(|_| entry.harness == Harness::Acp).unwrap_or_default();
    let words: Vec<String> = output::plain(agent).split_whitespace().map(str::to_lowercase).collect();
    let name: String = words.join("-").chars().take(PROGRAM).collect();
    if name.is_empty() { entry.harness.id().to_owned() } else { name }
}

/// The colour of a state.
pub(super) fn colour(state: State) -> Colour {
    match state {
        State::Waiting => Colour::Alert,
        State::Busy => Colour::Work,
        State::Idle | State::Live | State::ShuttingDown => Colour::Calm,
        State::Persisted => Colour::None,
    }
}

/// What a session is called.
fn title(entry: &Entry) -> &str {
    let peer = || entry.peer.as_ref().map(|peer| peer.name.as_str());
    entry.title.as_deref().or_else(peer).unwrap_or("(no title)")
}

/// What is special about a session.
fn mark(entry: &Entry) -> Option<String> {
    let waiting_for = entry.activity.as_ref().and_then(|activity| activity.waiting_for.as_deref());
    let archived = entry.archived.and_then(|archived| archived.then_some("archived"));
    let relation = entry.parent.as_ref().map(|parent| relation(parent.relation));
    runtime(entry, waiting_for).or(waiting_for.map(str::to_owned)).or(archived.or(relation).map(str::to_owned))
}

/// For a runtime: what it waits for, its controller, and the number of its other observers.
fn runtime(entry: &Entry, waiting_for: Option<&str>) -> Option<String> {
    entry.doors.as_ref().filter(|doors| doors.contains(&Door::Runtime))?;
    let controller = entry.owner.as_ref().and_then(|owner| owner.controller.as_ref()).map(|one| one.client_id.as_str());
    let observing = entry.observers.iter().flatten().filter(|one| Some(one.client_id.as_str()) != controller).count();
    let control = controller.map(|controller| format!("{controller} has control"));
    let observers = (observing > 0).then(|| words::count(observing, "observer"));
    if entry.state == State::Live && entry.observers.is_none() {
        return Some("hosted, not responding".to_owned());
    }
    let hosted = Some("hosted".to_owned()).into_iter();
    let parts: Vec<String> = hosted.chain(waiting_for.map(str::to_owned)).chain(control).chain(observers).collect();
    Some(parts.join(", "))
}

fn relation(relation: Relation) -> &'static str {
    match relation {
        Relation::Fork => "fork",
        Relation::Branch => "branch",
        Relation::Subagent => "subagent",
        Relation::Continuation => "continuation",
        Relation::Copy => "copy",
    }
}

/// The beginning of each id, long enough to tell it from the others.
fn short_ids<'a>(ids: &[&'a str]) -> Vec<&'a str> {
    const SHORT: usize = 8;
    let mut sorted = ids.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let shared = |a: &str, b: &str| a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let short = |id: &'a str| {
        let at = sorted.partition_point(|other| *other < id);
        let before = at.checked_sub(1).and_then(|at| sorted.get(at));
        let alike = [before, sorted.get(at + 1)].into_iter().flatten().map(|other| shared(id, other)).max();
        let length = SHORT.max(alike.map_or(0, |alike| alike + 1));
        id.char_indices().nth(length).map_or(id, |(end, _)| &id[..end])
    };
    ids.iter().map(|id| short(id)).collect()
}

/// Why there is nothing to show, and what to do about it.
fn nothing(local: &Local, matching: usize) -> Result<String, RpcError> {
    let everything = local.list(ListParams { limit: Some(0), ..ListParams::default() })?;
    if everything.total > matching {
        let sessions = words::count(everything.total, "session");
        return Ok(format!("No session matches; without these filters there are {sessions}."));
    }
    let home = words::home();
    let coverage = local.coverage(CoverageParams::default())?;
    let roots = coverage.harnesses.iter().flat_map(|harness| harness.roots.iter().map(move |root| (harness.id, root)));
    if coverage.harnesses.iter().all(|harness| harness.roots.is_empty()) {
        return Ok("No sessions found, and nowhere to look: HOME is not set to an absolute path. \
                   `--root HARNESS=PATH` names a place."
            .to_owned());
    }
    let mut text = String::from("No sessions found. Looked in:\n");
    for (harness, root) in roots {
        let missing = if root.exists { "" } else { " (does not exist)" };
        let path = output::plain(&words::path(&root.path, home.as_deref()));
        text.push_str(&format!("  {path}{missing}: {}\n", harness.name()));
    }
    text.push_str("`tackroom doctor` shows details; `--root HARNESS=PATH` adds a location.");
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::short_ids;

    #[test]
    fn short_ids_stay_apart() {
        let ids = ["01a22b99-1497-7823", "01a22b99-14c0-7023", "990cebda-6561", "short", "990cebda-6561"];
        let expected = ["01a22b99-149", "01a22b99-14c", "990cebda", "short", "990cebda"];
        assert_eq!(short_ids(&ids), expected);
    }
}
