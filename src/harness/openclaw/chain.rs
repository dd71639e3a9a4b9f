//! The way from the newest event of a conversation back to its first: events form a tree, of which one branch is current.

use super::event::Event;

/// What is looked for while events are seen from the newest to the oldest.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Chain {
    /// The event that the conversation ends with.
    Leaf,
    /// An event by its id.
    Event(String),
    /// Any: events of an old form have no ids, and no branches.
    Any,
    /// Nothing: the first was found.
    Complete,
}

impl Chain {
    /// Whether an event is on the way; looks on for the one before it.
    pub(super) fn take(&mut self, event: &Event<'_>) -> bool {
        let id = event.id();
        let found = match (&*self, &id) {
            (Self::Complete, _) => false,
            (Self::Any, _) => true,
            (Self::Event(wanted), Some(id)) => wanted == id,
            (Self::Event(_), None) => false,
            (Self::Leaf, _) if event.is("leaf") => {
                *self = event.target().map_or(Self::Complete, |id| Self::Event(id.into_owned()));
                return false;
            }
            // What was written beside the conversation is never its end.
            (Self::Leaf, Some(_)) => !event.is_aside() && !event.is("session"),
            (Self::Leaf, None) if event.is("message") => {
                *self = Self::Any;
                return true;
            }
            (Self::Leaf, None) => false,
        };
        if found && *self != Self::Any {
            *self = event.parent().map_or(Self::Complete, |id| Self::Event(id.into_owned()));
        }
        found
    }

    /// As a part of a cursor.
    pub(super) fn to_cursor(&self) -> String {
        match self {
            Self::Leaf => "leaf".to_owned(),
            Self::Any => "any".to_owned(),
            Self::Complete => "none".to_owned(),
            Self::Event(id) => format!("={id}"),
        }
    }

    /// From a part of a cursor.
    pub(super) fn from_cursor(text: &str) -> Option<Self> {
        match text {
            "leaf" => Some(Self::Leaf),
            "any" => Some(Self::Any),
            "none" => Some(Self::Complete),
            _ => text.strip_prefix('=').map(|id| Self::Event(id.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    /// Which of some events are on the way, by their ids.
    fn way(events: &[Value]) -> Vec<String> {
        let mut chain = Chain::Leaf;
        let mut way = Vec::new();
        for event in events.iter().rev() {
            let line = event.to_string();
            if chain.take(&Event::parse(line.as_bytes()).unwrap()) {
                way.insert(0, event["id"].as_str().unwrap_or("-").to_owned());
            }
        }
        way
    }

    fn event(id: &str, parent: Option<&str>) -> Value {
        json!({"type": "message", "id": id, "parentId": parent})
    }

    #[test]
    fn a_second_child_begins_the_current_branch() {
        let events = [event("a", None), event("b", Some("a")), event("c", Some("b")), event("d", Some("a"))];
        assert_eq!(way(&events), ["a", "d"]);
    }

    #[test]
    fn a_leaf_leads_elsewhere_and_what_stands_aside_is_no_end() {
        let mut events = vec![event("a", None), event("b", Some("a")), event("c", Some("b"))];
        events.push(json!({"type": "leaf", "id": "l", "parentId": "c", "targetId": "b"}));
        assert_eq!(way(&events), ["a", "b"]);
        events.push(json!({"type": "message", "id": "s", "parentId": "c", "appendMode": "side"}));
        assert_eq!(way(&events), ["a", "b"]);
        events.push(event("d", Some("b")));
        assert_eq!(way(&events), ["a", "b", "d"]);
        events.push(json!({"type": "leaf", "id": "m", "targetId": null}));
        assert_eq!(way(&events), [""; 0]);
    }

    #[test]
    fn events_without_ids_are_all_on_the_way() {
        let events = [json!({"type": "session", "id": "s"}), json!({"type": "message"}), json!({"type": "message"})];
        assert_eq!(way(&events), ["s", "-", "-"]);
    }

    proptest! {
        #[test]
        fn the_way_leads_from_the_last_event_to_a_root(parents in prop::collection::vec(any::<prop::sample::Index>(), 1..30)) {
            let mut events = vec![event("0", None)];
            let mut above = vec![None];
            for parent in parents {
                let parent = parent.index(events.len());
                above.push(Some(parent));
                events.push(event(&events.len().to_string(), Some(&parent.to_string())));
            }
            let mut expected = Vec::new();
            let mut at = Some(events.len() - 1);
            while let Some(index) = at {
                expected.insert(0, index.to_string());
                at = above[index];
            }
            prop_assert_eq!(way(&events), expected);
        }

        #[test]
        fn a_cursor_leads_back(id in "\\PC{0,20}") {
            for chain in [Chain::Leaf, Chain::Any, Chain::Complete, Chain::Event(id)] {
                prop_assert_eq!(Chain::from_cursor(&chain.to_cursor()), Some(chain));
            }
        }
    }
}
