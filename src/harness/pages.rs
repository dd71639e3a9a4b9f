//! One page of messages, made of what was read from the newest back.

use super::messages::name_results;
use super::{Page, PageRequest};
use crate::limits;
use crate::protocol::{Block, Message};

/// What stands for a record that is too long to be told.
pub(super) fn long_block(kind: &str, bytes: u64) -> Block {
    Block::Other { kind: kind.to_owned(), raw: serde_json::json!({ "bytes": bytes }) }
}

/// The messages of one page, gathered from the newest back, each with the place that older ones are found from.
pub(super) struct Gathered<P> {
    messages: Vec<(Message, P)>,
    limit: usize,
    bytes: u64,
}

impl<P> Gathered<P> {
    /// Nothing yet of what is asked for.
    pub(super) fn new(request: &PageRequest<'_>) -> Self {
        Self { messages: Vec::new(), limit: request.limit.max(1), bytes: 0 }
    }

    /// Takes the next older message, which takes so many bytes in its store.
    pub(super) fn push(&mut self, message: Message, bytes: u64, older: P) {
        self.messages.push((message, older));
        self.bytes += bytes;
    }

    /// Whether there is enough: one message more than a page holds shows that there is another page.
    pub(super) fn is_full(&self) -> bool {
        self.messages.len() > self.limit || (self.bytes >= limits::PAGE_BYTES && !self.messages.is_empty())
    }

    /// How many messages there are.
    pub(super) fn count(&self) -> usize {
        self.messages.len()
    }

    /// A message that was taken.
    pub(super) fn message(&mut self, index: usize) -> &mut Message {
        &mut self.messages[index].0
    }

    /// The page. `ended` tells that there is nothing older than what was taken.
    pub(super) fn into_page(self, ended: bool, cursor: impl Fn(&P) -> String) -> Page {
        self.into_placed(ended, &cursor, &cursor)
    }

    /// The same, where the place that older ones are found from is not the message's own.
    pub(super) fn into_placed(
        mut self,
        ended: bool,
        cursor: impl Fn(&P) -> String,
        own: impl Fn(&P) -> String,
    ) -> Page {
        let more = self.messages.len() > self.limit || !ended;
        self.messages.truncate(self.limit);
        let next = self.messages.last().filter(|_| more).map(|(_, older)| cursor(older));
        let places = self.messages.iter().rev().map(|(_, place)| own(place)).collect();
        let messages = self.messages.into_iter().rev().map(|(message, _)| message).collect();
        Page { messages, places, next, unfinished: false }
    }
}

/// The page of what was read newest first. More than is asked for means that there are older ones; `place` names the
/// place of each, from which older ones are found. Results have the names of their calls.
pub(super) fn page<T>(
    newest_first: Vec<T>,
    request: &PageRequest<'_>,
    place: impl Fn(&T) -> String,
    message: impl Fn(T) -> Message,
) -> Page {
    let mut gathered = Gathered::new(request);
    let ended = newest_first.len() <= request.limit;
    for stored in newest_first.into_iter().take(request.limit) {
        let place = place(&stored);
        gathered.push(message(stored), 0, place);
    }
    let mut page = gathered.into_page(ended, String::clone);
    name_results(&mut page.messages, &[]);
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::NoProgress;
    use crate::protocol::Role;

    #[test]
    fn a_page_is_in_time_order_and_leads_on_only_where_there_is_more() {
        let message = |row: u32| Message {
            id: Some(row.to_string()),
            role: Role::User,
            timestamp_ms: None,
            model: None,
            parent_id: None,
            content: Vec::new(),
            raw: None,
        };
        let request = PageRequest { cursor: None, limit: 2, progress: &NoProgress, own_only: false };
        let made = |rows: &[u32]| page(rows.to_vec(), &request, u32::to_string, message);
        let ids = |page: &Page| page.messages.iter().map(|m| m.id.clone().unwrap()).collect::<Vec<_>>();
        assert_eq!(
            (ids(&made(&[9, 8, 7])), made(&[9, 8, 7]).next),
            (vec!["8".into(), "9".into()], Some("8".to_owned()))
        );
        assert_eq!(made(&[9, 8]).next, None);
        assert_eq!(made(&[]), Page::default());
    }
}
