use super::{Entry, Problem, Query};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Params of `registry/watch`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WatchParams {
    /// The filter. Absent: all entries that an empty query returns.
    #[serde(default, deserialize_with = "super::optional_object", skip_serializing_if = "Option::is_none")]
    pub query: Option<Query>,
    /// A revision from this server: send only the changes after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
}

/// Result of `registry/watch`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WatchResult {
    /// The id of the subscription, for `registry/event` and `registry/unwatch`.
    pub subscription: String,
    /// The current revision of the inventory.
    pub revision: String,
}

/// Params of `registry/unwatch`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnwatchParams {
    /// The subscription's id, from the result of `registry/watch`.
    pub subscription: String,
}

/// Params of `registry/event`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RegistryEventParams {
    /// The id of the subscription.
    pub subscription: String,
    /// The event is valid as of this revision or a later one. After `synced`, pass it as `since` to continue from here.
    pub revision: String,
    /// The change.
    pub event: RegistryEvent,
}

/// A change of the entries that match a subscription.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum RegistryEvent {
    /// An entry was added to the client's view.
    Added {
        /// The current entry.
        entry: Box<Entry>,
    },
    /// An entry in the client's view changed.
    Updated {
        /// The current entry.
        entry: Box<Entry>,
    },
    /// An entry was removed, or no longer matches the query.
    Removed {
        /// The entry's id.
        id: String,
    },
    /// A source cannot be read or interpreted. Sent once.
    Error {
        /// The problem.
        problem: Problem,
    },
    /// A source that could not be read or interpreted can be again, or was removed.
    Recovered {
        /// The problem, as sent in `error`.
        problem: Problem,
    },
    /// The client's view is complete: all existing entries have been sent.
    Synced {},
    /// All entries are sent again. Entries that are not repeated before the next `synced` no longer exist.
    Resync {},
}
