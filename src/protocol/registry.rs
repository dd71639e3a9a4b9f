use super::{Entry, Harness, Problem, State};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What may be asked for beyond the common members, because it costs reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Include {
    /// Up to 8 opening user texts, oldest first, without injected context.
    Topics,
    /// The newest message.
    LastMessage,
    /// How many messages there are.
    MessageCount,
    /// The repository that the workspace belongs to.
    Repository,
}

/// Which entries are meant. Absent members filter nothing, but for the defaults that are named.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Query {
    /// False: look at no live evidence; every stored session, as `persisted`. Default true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live: Option<bool>,
    /// False: only what has live evidence. Default true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persisted: Option<bool>,
    /// True: a runtime and its stored session as two rows. Default false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub twins: Option<bool>,
    /// Only these harnesses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100))]
    pub harnesses: Option<Vec<Harness>>,
    /// Only these states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100))]
    pub states: Option<Vec<State>>,
    /// Only sessions of this directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 4096))]
    pub workspace: Option<String>,
    /// Widens `workspace` to all below it. Default false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_subtree: Option<bool>,
    /// Only sessions of the repository that this directory belongs to: main checkout, worktrees, submodules, clones of
    /// one origin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 4096))]
    pub workspace_family: Option<String>,
    /// Only entries whose title, id or peer name holds this text, in any case. Trimmed; blank means all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 4096))]
    pub text: Option<String>,
    /// Look for `text` in the opening user texts and the last message too, and answer the excerpt as `match`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search_previews: Option<bool>,
    /// Only entries updated at or after this time, in epoch milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_after_ms: Option<i64>,
    /// Only entries updated before this time, in epoch milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_before_ms: Option<i64>,
    /// Sessions that another one started (subagents) too. Default false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_children: Option<bool>,
    /// This entry and all below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 4096))]
    pub root_id: Option<String>,
    /// Only entries of this profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 4096))]
    pub profile: Option<String>,
    /// Only archived ones, or only others. Absent: both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
    /// The order of the entries. Default `recent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort: Option<Sort>,
    /// What to add to each entry, at the cost of reading it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100))]
    pub include: Option<Vec<Include>>,
}

/// An order of entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Sort {
    /// By the time of the last update, newest first.
    #[default]
    Recent,
    /// Waiting sessions first, the longest wait first; then busy, idle and other live ones, then stored ones, each newest
    /// first. Entries whose state changes between two pages may be repeated or missed.
    Attention,
}

/// Params of `registry/list`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListParams {
    /// Which entries.
    #[serde(default, deserialize_with = "super::optional_object", skip_serializing_if = "Option::is_none")]
    pub query: Option<Query>,
    /// `nextCursor` of the page before, with the same query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// How many entries at most. Default 50; 0 gives `total` and `revision` alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1000))]
    pub limit: Option<i64>,
}

/// Result of `registry/list`: one page of the inventory.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListResult {
    /// The entries, newest first.
    pub entries: Vec<Entry>,
    /// Leads to the next page; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// How many entries the query has in all.
    pub total: usize,
    /// The inventory's revision: it moves when anything changes.
    pub revision: String,
    /// What could not be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}

/// Params of `registry/describe`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DescribeParams {
    /// The entry's id.
    pub id: String,
    /// Values to add that are expensive to determine and are not part of lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100))]
    pub include: Option<Vec<DescribeInclude>>,
}

/// A value that `registry/describe` adds on request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum DescribeInclude {
    /// The terminal in which a live session runs.
    Terminal,
}

/// Params of `registry/resolve`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResolveParams {
    /// An id (of an entry, session or runtime, or an endpoint), the first four or more characters of one, a name that the
    /// user chose, or consecutive words of a title.
    #[serde(rename = "ref")]
    #[schemars(length(max = 4096))]
    pub reference: String,
    /// How many candidates the error `ambiguous` lists at most. Default 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub limit: Option<i64>,
}

/// Result of `registry/resolve`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResolveResult {
    /// The id of the one entry that is meant.
    pub id: String,
    /// What matched.
    pub by: ResolvedBy,
}

/// How a reference matched an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ResolvedBy {
    /// A whole id.
    Id,
    /// The beginning of an id.
    Prefix,
    /// A name that the user chose, in any case.
    Name,
    /// Consecutive words of the title, in any case. Do not act on such a match without asking the user.
    Title,
}

/// One of the entries that a reference may mean, in `data.candidates` of the error `ambiguous`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Candidate {
    /// The entry's id.
    pub id: String,
    /// The program that owns the session.
    pub harness: Harness,
    /// Its title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// What it is doing.
    pub state: State,
}

/// Result of `registry/describe`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DescribeResult {
    /// The entry, with all that `include` can add.
    pub entry: Entry,
}

/// Params of `registry/coverage`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CoverageParams {
    /// Only these harnesses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100))]
    pub harnesses: Option<Vec<Harness>>,
}

/// Result of `registry/coverage`: where was looked, what was found, what was skipped.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CoverageResult {
    /// One row a harness.
    pub harnesses: Vec<HarnessCoverage>,
}

/// Where the sessions of one harness were looked for.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HarnessCoverage {
    /// The harness.
    pub id: Harness,
    /// Every root that was tried.
    pub roots: Vec<RootCoverage>,
    /// How long looking took, in milliseconds.
    pub elapsed_ms: u64,
}

/// What was found below one root.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RootCoverage {
    /// The directory.
    pub path: String,
    /// How it came to be looked into.
    pub origin: RootOrigin,
    /// Whether it is there.
    pub exists: bool,
    /// Files that could hold a session. Absent under a workspace scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<usize>,
    /// Sessions that were read from them. Absent under a workspace scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<usize>,
    /// What was passed over, and why. Absent under a workspace scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<Vec<Skipped>>,
    /// True where `skipped` was cut short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncated: Option<bool>,
}

/// How a root came to be looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RootOrigin {
    /// The harness's own default.
    Default,
    /// An environment variable of the harness, which replaces the default.
    Environment,
    /// `--root`.
    Flag,
    /// `initialize.homes`.
    Client,
}

/// A file that was passed over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Skipped {
    /// The file.
    pub path: String,
    /// Why.
    pub reason: String,
}
