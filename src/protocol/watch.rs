use super::{Entry, Problem, Query};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Params of `registry/watch`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WatchParams {
    /// Which entries.
    #[serde(default, deserialize_with = "super::optional_object", skip_serializing_if = "Option::is_none")]
    pub query: Option<Query>,
    /// A revision of this server: tell only what came after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
}

/// Result of `registry/watch`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WatchResult {
    /// Names the subscription in its events and in `registry/unwatch`.
    pub subscription: String,
    /// The inventory's revision now.
    pub revision: String,
}

/// Params of `registry/unwatch`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnwatchParams {
    /// From `registry/watch`.
    pub subscription: String,
}

/// Params of `registry/event`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RegistryEventParams {
    /// The subscription.
    pub subscription: String,
    /// What is told is true at this revision or a later one; after `synced`, `since` goes on from here.
    pub revision: String,
    /// What happened.
    pub event: RegistryEvent,
}

/// A change of what a subscription sees.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum RegistryEvent {
    /// An entry that the client does not have.
    Added {
        /// As it is now.
        entry: Box<Entry>,
    },
    /// An entry that the client has is not as it was.
    Updated {
        /// As it is now.
        entry: Box<Entry>,
    },
    /// An entry is gone, or is not asked for any more.
    Removed {
        /// Its id.
        id: String,
    },
    /// Something cannot be read or judged. Told once.
    Error {
        /// What.
        problem: Problem,
    },
    /// What could not be read or judged can be again, or is gone.
    Recovered {
        /// As it was told.
        problem: Problem,
    },
    /// Everything there is has been told.
    Synced {},
    /// Everything is told again; what is not told until `synced` is gone.
    Resync {},
}
