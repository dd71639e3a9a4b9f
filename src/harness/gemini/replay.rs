//! What is left of a log when all that it says was done.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The messages of a chat, in their order. Instead of their ids hashes of them are kept: a chat can have very many.
pub(super) struct Replay<T> {
    messages: Vec<(Option<u64>, T)>,
    places: HashMap<u64, usize>,
}

impl<T> Default for Replay<T> {
    fn default() -> Self {
        Self { messages: Vec::new(), places: HashMap::new() }
    }
}

impl<T> Replay<T> {
    /// Adds a message. One of an id that is there takes that one's place.
    pub(super) fn put(&mut self, key: Option<u64>, message: T) {
        match key.and_then(|key| self.places.get(&key)) {
            Some(place) => self.messages[*place].1 = message,
            None => {
                self.places.extend(key.map(|key| (key, self.messages.len())));
                self.messages.push((key, message));
            }
        }
    }

    /// Drops a message and all after it; all that there are, where it is not known.
    pub(super) fn rewind(&mut self, key: u64) {
        let place = self.places.get(&key).copied().unwrap_or_default();
        for key in self.messages.drain(place..).filter_map(|(key, _)| key) {
            self.places.remove(&key);
        }
    }

    /// Puts these in the place of all that there are.
    pub(super) fn replace(&mut self, messages: impl IntoIterator<Item = (Option<u64>, T)>) {
        *self = Self::default();
        for (key, message) in messages {
            self.put(key, message);
        }
    }

    /// The messages.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.messages.iter().map(|(_, message)| message)
    }

    /// The messages, taken out.
    pub(super) fn into_messages(self) -> Vec<T> {
        self.messages.into_iter().map(|(_, message)| message).collect()
    }
}

/// What stands for an id.
pub(super) fn key(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}
