//! Finding the one entry that a person means.

use super::Snapshot;
use super::item::Item;
use crate::authority::Grant;
use crate::limits;
use crate::protocol::{Candidate, Entry, Query, ResolveResult, ResolvedBy, Sort};
use std::collections::HashSet;

/// One step of [`Snapshot::resolve`]: whether an entry matches, and by what.
type Step<'s> = &'s dyn Fn(&Item<'_>) -> Option<ResolvedBy>;

/// What a reference means.
#[derive(Debug, PartialEq, Eq)]
pub enum Resolution {
    /// This one entry.
    One(ResolveResult),
    /// Several: the newest come first, and the total number of them.
    Several(Vec<Candidate>, usize),
    /// None in scope.
    Nothing,
}

impl Snapshot {
    /// Finds the entry that a reference means. The first of three steps that matches anything decides: whole ids; then
    /// beginnings of ids together with names that the user chose, so that a name cannot capture another session's short id;
    /// then consecutive words of a title. Only entries in scope take part, children and archived ones included.
    pub fn resolve(&self, reference: &str, limit: usize, grant: &Grant) -> Resolution {
        let query = Query { include_children: Some(true), ..Query::default() };
        let mut items = self.items(&query, grant);
        items.retain(|item| item.is_in_scope(grant));
        let reference = reference.trim();
        let words = words(reference);
        let steps: [Step<'_>; 3] = [
            &|item| self.ids(item).any(|id| id == reference).then_some(ResolvedBy::Id),
            &|item| self.prefix(item, reference).or_else(|| is_named(item, reference).then_some(ResolvedBy::Name)),
            &|item| has_words(item.title()?, &words).then_some(ResolvedBy::Title),
        ];
        for step in steps {
            let mut found: Vec<(&Item<'_>, ResolvedBy)> =
                items.iter().filter_map(|item| Some((item, step(item)?))).collect();
            found.sort_by(|(a, _), (b, _)| a.compare(b, Sort::Recent));
            // Several runtimes of one session are one session: the first counts.
            let mut sessions = HashSet::new();
            found.retain(|(item, _)| sessions.insert(item.session_entry_id()));
            match found.as_slice() {
                [] => {}
                [(item, by)] => return Resolution::One(ResolveResult { id: item.id(), by: *by }),
                several => {
                    let candidates = several.iter().take(limit).map(|(item, _)| candidate(self.entry(item, grant)));
                    return Resolution::Several(candidates.collect(), several.len());
                }
            }
        }
        Resolution::Nothing
    }

    /// Everything that identifies an entry: its own id, those of its sessions, runtimes and endpoints.
    fn ids<'a>(&'a self, item: &Item<'a>) -> impl Iterator<Item = String> {
        let runtime = item.runtime.map(|runtime| &runtime.receipt);
        let sessions = runtime.map(|receipt| self.sessions_of(receipt)).unwrap_or_default();
        let sessions = sessions.into_iter().flat_map(|(harness, id)| [id.to_owned(), format!("{}:{id}", harness.id())]);
        let own = [item.id(), item.session_id().to_owned(), item.session_entry_id()].into_iter();
        own.chain(sessions).chain(runtime.map(|receipt| receipt.endpoint.as_str().to_owned()))
    }

    fn prefix(&self, item: &Item<'_>, reference: &str) -> Option<ResolvedBy> {
        let is_long = reference.chars().count() >= limits::SHORT_ID;
        (is_long && self.ids(item).any(|id| id.starts_with(reference))).then_some(ResolvedBy::Prefix)
    }
}

/// Whether a user gave the session this name, in any case.
fn is_named(item: &Item<'_>, reference: &str) -> bool {
    let peer = item.live.and_then(|live| live.peer.as_ref()).map(|peer| peer.name.as_str());
    peer.is_some_and(|name| name.to_lowercase() == reference.to_lowercase())
}

/// Whether words stand next to each other in a title, whatever their case and the punctuation around them.
fn has_words(title: &str, wanted: &[String]) -> bool {
    !wanted.is_empty() && words(title).windows(wanted.len()).any(|window| window == wanted)
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

fn candidate(entry: Entry) -> Candidate {
    Candidate {
        id: entry.id,
        harness: entry.harness,
        title: entry.title,
        workspace: entry.workspace,
        state: entry.state,
    }
}

#[cfg(test)]
mod tests {
    use super::{has_words, words};

    #[test]
    fn title_matches_consecutive_words_in_any_case() {
        let title = "Fix the *Parser*: UTF-8 input";
        for (text, expected) in [
            ("fix the parser", true),
            ("PARSER utf", true),
            ("utf-8", true),
            ("fix parser", false),
            ("pars", false),
            ("parser the", false),
            ("", false),
            ("…", false),
        ] {
            assert_eq!(has_words(title, &words(text)), expected, "{text}");
        }
    }
}
