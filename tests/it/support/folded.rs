//! What a client makes of the events of one subscription.

use super::Server;
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub struct Folded {
    pub subscription: Value,
    pub entries: BTreeMap<String, Value>,
    pub problems: Vec<Value>,
    /// Entries that were not told again since a `resync`.
    stale: BTreeMap<String, Value>,
    pub revision: Value,
    pub synced: bool,
    /// Whether it began behind what another view knew: then it may be told of what it does not have.
    lenient: bool,
}

impl Folded {
    /// Begins to watch; nothing is taken yet.
    #[track_caller]
    pub fn begin(server: &mut Server, params: Value) -> Self {
        let lenient = params.get("since").is_some();
        let result = server.request("registry/watch", params).result();
        Self {
            lenient,
            revision: if lenient { Value::Null } else { result["revision"].clone() },
            ..Self::opened(&result)
        }
    }

    /// The view that this answer opens.
    pub fn opened(result: &Value) -> Self {
        Self {
            subscription: result["subscription"].clone(),
            entries: BTreeMap::new(),
            problems: Vec::new(),
            stale: BTreeMap::new(),
            revision: result["revision"].clone(),
            synced: false,
            lenient: false,
        }
    }

    /// Begins to watch, and takes the first state.
    #[track_caller]
    pub fn watch(server: &mut Server, params: Value) -> Self {
        let mut folded = Self::begin(server, params);
        while !folded.synced {
            folded.take(server);
        }
        folded
    }

    /// Takes the next event, which must be of this subscription.
    #[track_caller]
    pub fn take(&mut self, server: &mut Server) -> Value {
        let params = server.expect_notification("registry/event");
        assert_eq!(params["subscription"], self.subscription, "{params}");
        self.fold(&params)
    }

    /// Takes events until one is of this kind, and answers it.
    #[track_caller]
    pub fn until(&mut self, server: &mut Server, kind: &str) -> Value {
        loop {
            let event = self.take(server);
            if event["kind"] == kind {
                return event;
            }
        }
    }

    /// Makes of an event what a client does.
    #[track_caller]
    pub fn fold(&mut self, params: &Value) -> Value {
        let event = params["event"].clone();
        assert!(number(&params["revision"]) >= number(&self.revision), "{params} after {}", self.revision);
        self.revision = params["revision"].clone();
        let id = |entry: &Value| entry["id"].as_str().unwrap().to_owned();
        match event["kind"].as_str().unwrap() {
            kind @ ("added" | "updated") => {
                let known = self.entries.insert(id(&event["entry"]), still(&event["entry"])).is_some();
                self.stale.remove(&id(&event["entry"]));
                assert!(self.lenient || known == (kind == "updated"), "{event}");
            }
            "removed" => {
                let known = self.entries.remove(&id(&event)).is_some();
                assert!(self.lenient || known, "{event}");
            }
            "resync" => {
                self.stale = std::mem::take(&mut self.entries);
                self.problems.clear();
                (self.synced, self.lenient) = (false, false);
            }
            "synced" => {
                assert!(!self.synced, "{event}");
                self.synced = true;
                self.stale.clear();
            }
            "error" => {
                assert!(!self.problems.contains(&event["problem"]), "{event}");
                self.problems.push(event["problem"].clone());
            }
            "recovered" => {
                let at = self.problems.iter().position(|problem| *problem == event["problem"]);
                self.problems.remove(at.unwrap_or_else(|| panic!("never told: {event}")));
            }
            kind => panic!("an event of kind {kind}"),
        }
        event
    }

    /// Ids and states, by id.
    pub fn states(&self) -> Vec<(&str, &str)> {
        self.entries.iter().map(|(id, entry)| (id.as_str(), entry["state"].as_str().unwrap())).collect()
    }

    pub fn ids(&self) -> Vec<&str> {
        self.entries.keys().map(String::as_str).collect()
    }
}

/// What a list of all entries answers: by id, without clocks.
#[track_caller]
pub fn listed(server: &mut Server, mut params: Value) -> BTreeMap<String, Value> {
    params["limit"] = json!(1_000);
    let mut entries = BTreeMap::new();
    loop {
        let list = server.request("registry/list", params.clone()).result();
        let page = list["entries"].as_array().unwrap().iter();
        entries.extend(page.map(|entry| (entry["id"].as_str().unwrap().to_owned(), still(entry))));
        match list.get("nextCursor") {
            Some(cursor) => params["cursor"] = cursor.clone(),
            None => return entries,
        }
    }
}

/// An entry without what may move alone.
pub fn still(entry: &Value) -> Value {
    let mut entry = entry.clone();
    let clocks = [("/activity", "observedAtMs"), ("/owner/controller", "expiresAtMs")];
    for (place, clock) in clocks {
        if let Some(object) = entry.pointer_mut(place).and_then(Value::as_object_mut) {
            object.remove(clock);
        }
    }
    for observer in entry.get_mut("observers").and_then(Value::as_array_mut).into_iter().flatten() {
        observer.as_object_mut().unwrap().remove("lastSeenMs");
    }
    entry
}

/// The number in a revision; 0 where there is none.
pub fn number(revision: &Value) -> u64 {
    revision.as_str().map_or(0, |revision| revision.rsplit_once('.').unwrap().1.parse().unwrap())
}
