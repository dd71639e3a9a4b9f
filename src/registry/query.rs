//! Which entries a query means, and one page of them.

use super::change_log::Id;
use super::cursor::ListPosition;
use super::item::{self, Item};
use super::scan::parallel;
use super::{Error, Progress, Snapshot};
use crate::authority::Grant;
use crate::harness::{Details, NoProgress, Root, Wanted};
use crate::limits;
use crate::platform::files::resolve;
use crate::platform::git::Family;
use crate::protocol::{Entry, Include, ListResult, Query};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// What a list is asked for.
pub struct Request<'a> {
    /// Which entries.
    pub query: &'a Query,
    /// Where to go on.
    pub cursor: Option<&'a str>,
    /// How many at most.
    pub limit: usize,
    /// What the client may see.
    pub grant: &'a Grant,
    /// Where the stores are.
    pub roots: &'a [Root],
}

impl Snapshot {
    /// One page of the entries that a query means.
    pub fn list(&self, request: &Request<'_>, progress: &dyn Progress) -> Result<ListResult, Error> {
        let query = request.query;
        let position = request.cursor.map(|cursor| ListPosition::from_cursor(cursor, query)).transpose()?;
        let (mut items, excerpts) = self.select(request, progress)?;
        // The stored rows are sorted already; only what lives may move.
        let sort = query.sort.unwrap_or_default();
        items.sort_by(|a, b| a.compare(b, sort));
        let total = items.len();
        let start = position
            .map_or(0, |position| items.partition_point(|item| !position.precedes(item.sort_key(sort), &item.id())));
        let page = &items[start..total.min(start + request.limit)];
        let last = page.last().filter(|_| start + page.len() < total);
        let next_cursor = last.map(|item| ListPosition { key: item.sort_key(sort), id: item.id() }.to_cursor(query));
        let mut entries: Vec<Entry> = page.iter().map(|item| self.entry(item, request.grant)).collect();
        for entry in &mut entries {
            entry.excerpt = excerpts.get(&entry.id).cloned();
        }
        self.include(page, &mut entries, request, progress)?;
        let problems = self.visible_problems(request.grant);
        Ok(ListResult { entries, next_cursor, total, revision: self.revision.clone(), problems })
    }

    /// One entry with the title that all of its records give it, if it is in scope.
    pub fn named_entry(&self, id: &str, grant: &Grant, progress: &dyn Progress) -> Option<Entry> {
        self.item(id, grant).map(|item| self.named(&item, grant, progress))
    }

    fn named(&self, item: &Item<'_>, grant: &Grant, progress: &dyn Progress) -> Entry {
        let mut entry = self.entry(item, grant);
        entry.title = item.late_title(progress).or(entry.title.take());
        entry
    }

    /// One entry with all that can be known, if it is in scope.
    pub fn describe(&self, id: &str, grant: &Grant, roots: &[Root], progress: &dyn Progress) -> Option<Entry> {
        let item = self.item(id, grant)?;
        let mut entry = self.named(&item, grant, progress);
        let wanted = Wanted { topics: true, last_message: true, message_count: true, ..no_details(progress) };
        if let Some(details) = item.details(&self.stored, grant, roots, wanted) {
            item::add_details(&mut entry, details, wanted);
        }
        entry.repository = entry.workspace.as_deref().and_then(item::repository);
        Some(entry)
    }

    fn select(
        &self,
        request: &Request<'_>,
        progress: &dyn Progress,
    ) -> Result<(Vec<Item<'_>>, HashMap<String, String>), Error> {
        let query = request.query;
        let mut filter = Filter::new(query, self, request.grant);
        let mut items = self.items(query, request.grant);
        items.retain(|item| filter.admits(item, progress));
        if progress.is_cancelled() {
            return Err(Error::Cancelled);
        }
        let Some(text) = filter.message_search() else { return Ok((items, HashMap::new())) };
        let found =
            parallel(&items, "searching sessions", progress, |_, item| self.search(item, text, request, progress))?;
        let mut excerpts = HashMap::new();
        let mut kept = Vec::new();
        for (item, found) in items.into_iter().zip(found) {
            if let Some(excerpt) = found {
                excerpts.extend(excerpt.map(|excerpt| (item.id(), excerpt)));
                kept.push(item);
            }
        }
        Ok((kept, excerpts))
    }

    /// Looks for a text in the opening user texts and the last message too; the excerpt around it, where it stands there.
    fn search(
        &self,
        item: &Item<'_>,
        text: &str,
        request: &Request<'_>,
        progress: &dyn Progress,
    ) -> Option<Option<String>> {
        let wanted = Wanted { topics: true, last_message: true, ..no_details(progress) };
        let details = item.details(&self.stored, request.grant, request.roots, wanted);
        let excerpt = details.and_then(|details| excerpt(&details, text));
        (excerpt.is_some() || names_contain(item, text, progress)).then_some(excerpt)
    }

    /// The ids of all entries that a query may mean, as far as can be told without reading messages, in the order of its
    /// list.
    pub fn candidates(&self, query: &Query, grant: &Grant) -> Vec<Id> {
        let mut filter = Filter::new(query, self, grant);
        let mut items = self.items(query, grant);
        items.retain(|item| filter.admits(item, &NoProgress));
        let sort = query.sort.unwrap_or_default();
        items.sort_by(|a, b| a.compare(b, sort));
        items.iter().map(|item| item.id().into()).collect()
    }

    /// The entry that a list of this query has under an id, if it has one.
    pub fn entry_for_query<'a>(
        &'a self,
        id: &str,
        filter: &mut Filter<'a>,
        request: &Request<'_>,
        progress: &dyn Progress,
    ) -> Result<Option<Entry>, Error> {
        let item = self.item_for_query(id, request.query, request.grant);
        let item = item.filter(|item| filter.admits(item, progress));
        if progress.is_cancelled() {
            return Err(Error::Cancelled);
        }
        let Some(item) = item else { return Ok(None) };
        let excerpt = match filter.message_search() {
            None => None,
            Some(text) => match self.search(&item, text, request, progress) {
                Some(excerpt) => excerpt,
                None => return Ok(None),
            },
        };
        let mut entries = [self.entry(&item, request.grant)];
        self.include(&[item], &mut entries, request, progress)?;
        let [mut entry] = entries;
        entry.excerpt = excerpt;
        Ok(Some(entry))
    }

    fn include(
        &self,
        page: &[Item<'_>],
        entries: &mut [Entry],
        request: &Request<'_>,
        progress: &dyn Progress,
    ) -> Result<(), Error> {
        if page.iter().any(|item| item.session().is_some_and(|session| session.late_title)) {
            let titles = parallel(page, "reading names", progress, |_, item| item.late_title(progress))?;
            for (entry, title) in entries.iter_mut().zip(titles) {
                entry.title = title.or(entry.title.take());
            }
        }
        let include = request.query.include.as_deref().unwrap_or_default();
        let wanted = Wanted { progress: Some(progress), ..item::wanted(include) };
        if !wanted.is_nothing() {
            let details = parallel(page, "reading messages", progress, |_, item| {
                item.details(&self.stored, request.grant, request.roots, wanted)
            })?;
            for (entry, details) in entries.iter_mut().zip(details) {
                if let Some(details) = details {
                    item::add_details(entry, details, wanted);
                }
            }
        }
        if include.contains(&Include::Repository) {
            let mut known = HashMap::new();
            for entry in entries {
                let Some(workspace) = &entry.workspace else { continue };
                let repository = known.entry(workspace.clone()).or_insert_with(|| item::repository(workspace));
                entry.repository = repository.clone();
            }
        }
        Ok(())
    }
}

/// No details; the reads report to `progress`.
fn no_details(progress: &dyn Progress) -> Wanted<'_> {
    Wanted { progress: Some(progress), ..Wanted::default() }
}

/// A query made ready: what costs once is done once.
pub struct Filter<'a> {
    query: &'a Query,
    grant: &'a Grant,
    workspace: Option<PathBuf>,
    family: Option<Option<Family>>,
    text: Option<String>,
    below: Option<HashSet<usize>>,
    /// The entry that `rootId` names, where it has no row.
    root_id: Option<&'a str>,
    /// What was found of workspaces, of which many sessions share a few.
    workspace_results: HashMap<Option<&'a str>, bool>,
}

impl<'a> Filter<'a> {
    pub fn new(query: &'a Query, snapshot: &Snapshot, grant: &'a Grant) -> Self {
        let text = query.text.as_deref().map(|text| text.trim().to_lowercase()).filter(|text| !text.is_empty());
        Self {
            query,
            grant,
            workspace: query.workspace.as_deref().map(|path| resolve(Path::new(path))),
            // A directory out of scope has no family that could be told.
            family: query.workspace_family.as_deref().map(|path| match grant.reaches_workspace(Some(path)) {
                true => Some(Family::of(Path::new(path))),
                false => None,
            }),
            text,
            below: query.root_id.as_deref().map(|id| descendants(snapshot, id, grant)),
            root_id: query.root_id.as_deref(),
            workspace_results: HashMap::new(),
        }
    }

    /// Whether an entry is meant, as far as can be told without reading its messages.
    pub fn admits(&mut self, item: &Item<'a>, progress: &dyn Progress) -> bool {
        let query = self.query;
        let named = |text: &String| names_contain(item, text, progress);
        let among = |time: i64| {
            query.updated_after_ms.is_none_or(|after| time >= after)
                && query.updated_before_ms.is_none_or(|before| time < before)
        };
        let timed = query.updated_after_ms.is_some() || query.updated_before_ms.is_some();
        let archived = item.session().is_some_and(|session| session.archived);
        self.grant.reaches_harness(item.harness())
            && query.harnesses.as_ref().is_none_or(|harnesses| harnesses.contains(&item.harness()))
            && query.states.as_ref().is_none_or(|states| states.contains(&item.state()))
            && (query.persisted != Some(false) || item.is_live())
            && query.archived.is_none_or(|wanted| wanted == archived)
            && query.profile.as_deref().is_none_or(|wanted| item.profile() == Some(wanted))
            && (!timed || item.time().is_some_and(among))
            && (query.search_previews == Some(true) || self.text.as_ref().is_none_or(named))
            && self.admits_child(item)
            && self.admits_workspace(item.workspace())
    }

    /// The text that is to be looked for in messages, too.
    fn message_search(&self) -> Option<&str> {
        self.text.as_deref().filter(|_| self.query.search_previews == Some(true))
    }

    /// Children are hidden unless asked for; `rootId` asks for all below one entry.
    fn admits_child(&self, item: &Item<'_>) -> bool {
        match &self.below {
            None => self.query.include_children == Some(true) || !item.is_child(),
            Some(below) => match item.row {
                Some((row, _)) => below.contains(&row),
                None => self.root_id.is_some_and(|id| id == item.id() || id == item.session_entry_id()),
            },
        }
    }

    fn admits_workspace(&mut self, workspace: Option<&'a str>) -> bool {
        if self.workspace.is_none() && self.family.is_none() && !self.grant.has_workspace_scope() {
            return true;
        }
        if let Some(known) = self.workspace_results.get(&workspace) {
            return *known;
        }
        let admitted = self.grant.reaches_workspace(workspace)
            && self.workspace.as_ref().is_none_or(|wanted| {
                workspace.is_some_and(|workspace| {
                    let workspace = resolve(Path::new(workspace));
                    workspace == *wanted || self.query.workspace_subtree == Some(true) && workspace.starts_with(wanted)
                })
            })
            && self.family.as_ref().is_none_or(|family| {
                family.as_ref().zip(workspace).is_some_and(|(family, path)| family.shares(&Family::of(Path::new(path))))
            });
        self.workspace_results.insert(workspace, admitted);
        admitted
    }
}

/// The rows of an entry and of all below it, as far as they are in scope: what is out of scope leads nowhere.
fn descendants(snapshot: &Snapshot, id: &str, grant: &Grant) -> HashSet<usize> {
    let stored = &snapshot.stored;
    let root = snapshot.item(id, grant).and_then(|item| item.row);
    let mut found = HashSet::new();
    let mut open: Vec<usize> = root.into_iter().map(|(row, _)| row).collect();
    while let Some(row) = open.pop() {
        if Item::stored(stored, row).is_in_scope(grant) && found.insert(row) {
            open.extend(stored.children(row));
        }
    }
    found
}

/// Whether the title, an id or the peer's name holds the text.
fn names_contain(item: &Item<'_>, text: &str, progress: &dyn Progress) -> bool {
    let holds = |name: &str| name.to_lowercase().contains(text);
    holds(&item.id())
        || item.runtime.is_some() && holds(&item.session_entry_id())
        || item.live.and_then(|live| live.peer.as_ref()).is_some_and(|peer| holds(&peer.name))
        || item.title().is_some_and(holds)
        // The last, as it may cost more than all others.
        || item.late_title(progress).is_some_and(|title| holds(&title))
}

/// The part of the messages around the text.
fn excerpt(details: &Details, text: &str) -> Option<String> {
    let last = details.last_message.iter().map(|message| &message.text);
    let found = details.topics.iter().chain(last).find(|message| message.to_lowercase().contains(text))?;
    let chars: Vec<char> = found.chars().collect();
    // Lower case may have another length; the start is a hint for where to cut, no more.
    let at = found.to_lowercase().find(text).map_or(0, |byte| found.to_lowercase()[..byte].chars().count());
    let from = at.saturating_sub(limits::MATCH_CONTEXT).min(chars.len());
    let to = (at + text.chars().count() + limits::MATCH_CONTEXT).min(chars.len());
    Some(chars[from..to].iter().collect())
}
