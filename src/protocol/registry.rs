use super::{Entry, Harness, Problem, State};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A value that is added to entries on request, because it requires reading the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Include {
    /// Up to 8 opening user texts, oldest first, without injected context.
    Topics,
    /// The newest message.
    LastMessage,
    /// The number of user and assistant messages.
    MessageCount,
    /// The repository that the workspace belongs to.
    Repository,
}

/// A filter for entries. All fields are optional; an absent field does not filter, except for the defaults stated here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Query {
    /// If false, ignore live evidence and return all stored sessions as `persisted`. Default true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live: Option<bool>,
    /// If false, return only entries with live evidence. Default true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persisted: Option<bool>,
    /// If true, return a runtime and its stored session as two entries instead of one merged entry. Default false.
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
    /// Only sessions in this directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 4096))]
    pub workspace: Option<String>,
    /// Whether `workspace` includes its subdirectories. Default false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_subtree: Option<bool>,
    /// Only sessions in the repository that this directory belongs to: its main checkout, worktrees, submodules, and
    /// clones of the same origin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 4096))]
    pub workspace_family: Option<String>,
    /// Only entries whose title, id or peer name contains this text. Case and surrounding white space are ignored; a
    /// blank text matches all entries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 4096))]
    pub text: Option<String>,
    /// Whether to search for `text` in the opening user texts and the last message too, and to return the excerpt as
    /// `match`. Default false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search_previews: Option<bool>,
    /// Only entries updated at or after this time, in epoch milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_after_ms: Option<i64>,
    /// Only entries updated before this time, in epoch milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_before_ms: Option<i64>,
    /// Whether to include sessions that another session started (subagents). Default false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_children: Option<bool>,
    /// Only the entry with this id and its descendants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 4096))]
    pub root_id: Option<String>,
    /// Only entries of this profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 4096))]
    pub profile: Option<String>,
    /// If true, return only archived sessions; if false, only others. Absent: both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
    /// The order of the entries. Default `recent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort: Option<Sort>,
    /// Values to add to each entry. They require reading the sessions.
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
    /// The filter. Absent: all entries that an empty query returns.
    #[serde(default, deserialize_with = "super::optional_object", skip_serializing_if = "Option::is_none")]
    pub query: Option<Query>,
    /// `nextCursor` of the previous page; the query must be the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Maximum number of entries. Default 50. With 0, only `total` and `revision` are returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1000))]
    pub limit: Option<i64>,
}

/// Result of `registry/list`: one page of the inventory.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListResult {
    /// The entries, in the order that `query.sort` selects.
    pub entries: Vec<Entry>,
    /// The cursor of the next page. Absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// The number of entries that match the query, on all pages.
    pub total: usize,
    /// The revision of the inventory. It changes whenever the inventory changes.
    pub revision: String,
    /// The sources that could not be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}

/// Params of `registry/describe`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DescribeParams {
    /// The entry's id.
    pub id: String,
    /// Values to add that are too expensive to determine for lists.
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
    /// An id (of an entry, session or runtime, or an endpoint), the first four or more characters of one, a name that
    /// the user chose, or consecutive words of a title.
    #[serde(rename = "ref")]
    #[schemars(length(max = 4096))]
    pub reference: String,
    /// Maximum number of candidates in the error `ambiguous`. Default 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub limit: Option<i64>,
}

/// Result of `registry/resolve`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResolveResult {
    /// The id of the matching entry.
    pub id: String,
    /// How the reference matched.
    pub by: ResolvedBy,
}

/// How a reference matched an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ResolvedBy {
    /// A complete id.
    Id,
    /// The first characters of an id.
    Prefix,
    /// A name that the user chose. Case is ignored.
    Name,
    /// Consecutive words of the title. Case is ignored. Ask the user before you act on such a match.
    Title,
}

/// An entry that matches an ambiguous reference, in `data.candidates` of the error `ambiguous`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Candidate {
    /// The entry's id.
    pub id: String,
    /// The harness that owns the session.
    pub harness: Harness,
    /// The title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// The entry's state.
    pub state: State,
}

/// Result of `registry/describe`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DescribeResult {
    /// The entry, with everything that the `include` of a query can add.
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

/// Result of `registry/coverage`: the roots that were searched, and what was found and skipped there.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CoverageResult {
    /// One element per harness.
    pub harnesses: Vec<HarnessCoverage>,
}

/// The search for the sessions of one harness.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HarnessCoverage {
    /// The harness.
    pub id: Harness,
    /// Every root that was searched.
    pub roots: Vec<RootCoverage>,
    /// How long the search took, in milliseconds.
    pub elapsed_ms: u64,
}

/// The result of searching one root.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RootCoverage {
    /// The directory.
    pub path: String,
    /// Why the root was searched.
    pub origin: RootOrigin,
    /// Whether the directory exists.
    pub exists: bool,
    /// The number of files that could contain a session. Absent if the client's scope is limited to workspaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<usize>,
    /// The number of sessions read from these files. Absent if the client's scope is limited to workspaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<usize>,
    /// The files that were skipped, and why. Absent if the client's scope is limited to workspaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<Vec<Skipped>>,
    /// True if `skipped` is incomplete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncated: Option<bool>,
}

/// Why a root was searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RootOrigin {
    /// The harness's default.
    Default,
    /// An environment variable of the harness that replaces the default.
    Environment,
    /// The flag `--root`.
    Flag,
    /// The field `homes` of `initialize`.
    Client,
}

/// A file that was skipped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Skipped {
    /// The file.
    pub path: String,
    /// Why the file was skipped.
    pub reason: String,
}
