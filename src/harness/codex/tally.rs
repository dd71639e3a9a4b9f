//! How many messages a conversation has, how it began and how it ended, by the same rules by which it is loaded.

use super::item::Long;
use super::record::{Family, Message, NEEDLES, Record};
use super::rollout::{Placed, Rollout};
use crate::harness::backward::{Backward, parse_long};
use crate::harness::{NoProgress, ReadError, Wanted, text};
use crate::limits;
use crate::protocol::{LastMessage, Role};
use std::collections::VecDeque;

/// What was counted of a conversation, from its newest rollout back.
#[derive(Default)]
pub(super) struct Tally {
    /// How many messages people and models wrote.
    pub count: u64,
    /// The opening prompts of what was read, the oldest first.
    pub topics: VecDeque<String>,
    /// The newest message with text.
    pub last: Option<LastMessage>,
    /// How many turns before this were taken back.
    rolled_back: u64,
}

impl Tally {
    /// Adds the rollout before those that were added.
    pub(super) fn add(&mut self, rollout: &Rollout, wanted: &Wanted<'_>) -> Result<(), ReadError> {
        let progress = wanted.progress.unwrap_or(&NoProgress);
        let only_last = !wanted.topics && !wanted.message_count;
        let mut families: [Tally; 3] = Default::default();
        families.iter_mut().for_each(|family| family.rolled_back = self.rolled_back);
        let mut met = [false; 3];
        let text = Placed::new(rollout, progress);
        let mut lines = Backward::new(&text, text.end()?, progress);
        while let Some(line) = lines.previous()? {
            let Some(bytes) = line.text else {
                let long: Option<Long> = parse_long(&text, &line);
                let spoken = long.is_some_and(|long| long.is_spoken());
                let family = &mut families[Family::Response as usize];
                family.count += u64::from(spoken && family.rolled_back == 0);
                continue;
            };
            // Where anything is told in this form, the conversation is.
            met[Family::Response as usize] |= NEEDLES.response.find(bytes).is_some();
            if NEEDLES.message.find(bytes).is_none() && NEEDLES.rolled_back.find(bytes).is_none() {
                continue;
            }
            let Some(record) = Record::parse(bytes) else { continue };
            if let Some(turns) = record.turns_rolled_back() {
                families.iter_mut().for_each(|family| family.rolled_back = family.rolled_back.saturating_add(turns));
            }
            let Some(message) = record.message() else { continue };
            met[message.family as usize] = true;
            families[message.family as usize].take(&message);
            if only_last && families[Family::Response as usize].last.is_some() {
                break;
            }
        }
        let told = [Family::Response, Family::Item, Family::Event].map(|family| family as usize);
        let of = told.into_iter().find(|family| met[*family]).unwrap_or(Family::Response as usize);
        let family = std::mem::take(&mut families[of]);
        self.count += family.count;
        self.rolled_back = family.rolled_back;
        family.topics.into_iter().rev().for_each(|topic| self.topics.push_front(topic));
        self.topics.truncate(limits::TOPICS);
        self.last = self.last.take().or(family.last);
        Ok(())
    }

    /// Takes the next older message.
    fn take(&mut self, message: &Message<'_>) {
        if !message.is_genuine() {
            return;
        }
        let prompt = message.prompt();
        if self.rolled_back > 0 {
            self.rolled_back -= u64::from(message.role == Role::User);
            return;
        }
        self.count += 1;
        if let Some(topic) = prompt.as_deref().and_then(text::excerpt) {
            self.topics.push_front(topic);
            self.topics.truncate(limits::TOPICS);
        }
        if self.last.is_none() {
            let said = prompt.or_else(|| message.text()).and_then(|said| text::excerpt(&said));
            let of = |text| LastMessage { role: message.role, text, timestamp_ms: message.time() };
            self.last = said.map(of);
        }
    }
}
