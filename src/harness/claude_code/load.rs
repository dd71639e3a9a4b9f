//! One page of a transcript: the current branch of its tree, from the newest row back.
//!
//! Rows are only ever appended, so a row's parent stands before it. The branch is followed upwards row by row; what hangs
//! elsewhere was abandoned. Two things beside the branch belong to it all the same: of an answer that the program wrote
//! in several rows any row may be the one that the branch goes on from, and so may be the result of any of its tool
//! calls. Where a parent is not found, as in a cycle, what stands before is taken in the order of the file. A row that
//! stands in the file again (see [`Firsts`]) counts where it stands first.

use super::message::Kind;
use super::repeated::Firsts;
use super::row::{Link, Row, text_of};
use crate::harness::backward::{Backward, Line, end_of_lines};
use crate::harness::pages::Gathered;
use crate::harness::{Page, PageRequest, Progress, ReadError};
use crate::limits;
use crate::platform::files::read_at;
use crate::protocol::{Block, Message};
use std::collections::{HashMap, HashSet, VecDeque};
use std::fs::File;
use std::str::FromStr;
use std::sync::Arc;

/// Which row comes next on the way up.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Chain {
    /// The first that is met and is a message: what the program keeps for itself may hang anywhere.
    Newest,
    /// The one of this name.
    At(Box<str>),
    /// None: the branch has begun.
    Begun,
    /// Each: a parent was not found.
    Broken,
}

/// A place from which older messages are found.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    /// Where it is in the file.
    end: u64,
    chain: Chain,
    /// How many of the messages that are found first were told already: a call and its results are read together.
    told: usize,
}

/// A row of the current branch.
struct Taken {
    at: u64,
    /// Whether more of the same answer is to come.
    goes_on: bool,
    bytes: u64,
    uuid: Option<Box<str>>,
    chain: Chain,
    kind: Kind,
    message: Message,
}

/// A row that hangs beside the current branch.
struct Beside {
    at: u64,
    length: u64,
    parent: Option<Box<str>>,
    kind: Kind,
}

/// An answer with the results of its calls, as far as it was read, the newest row first.
struct Unit {
    /// The place behind it.
    place: Place,
    id: Option<Box<str>>,
    rows: Vec<Taken>,
}

/// Reads one page. In a subagent's own transcript all rows are marked as a subagent's.
pub(super) fn page(file: &File, is_agent: bool, request: &PageRequest<'_>) -> Result<Page, ReadError> {
    let size = file.metadata()?.len();
    let place = match request.cursor {
        None => Place { end: size, chain: Chain::Newest, told: 0 },
        Some(cursor) => cursor.parse()?,
    };
    let mut lines = Backward::of(file, request.cursor.map(|_| place.end), request.progress)?;
    let is_late = place.chain != Chain::Newest;
    let mut walk = Walk::new(file, is_agent, place, request);
    if size <= limits::REPEATS_SOUGHT || is_late {
        walk.look_for_repeats()?;
    }
    loop {
        while !walk.gathered.is_full()
            && walk.chain != Chain::Begun
            && let Some(line) = lines.previous()?
        {
            walk.take(&line)?;
        }
        if walk.gathered.is_full() || !walk.is_lost() {
            break;
        }
        lines.seek(walk.from);
    }
    let ended = !walk.gathered.is_full();
    if ended {
        walk.close()?;
        walk.release();
    }
    let unfinished = walk.unfinished;
    let page = walk.gathered.into_placed(ended, |own| own.older.cursor(), |own| own.at.to_string());
    Ok(Page { unfinished, ..page })
}

/// The cursor that leads to all before a place behind which nothing counts.
pub(super) fn cursor(end: u64) -> String {
    Place { end, chain: Chain::Newest, told: 0 }.cursor()
}

struct Walk<'a> {
    file: &'a File,
    is_agent: bool,
    chain: Chain,
    /// Where the last row was taken.
    from: u64,
    progress: &'a dyn Progress,
    /// Where rows stand first, once that may matter.
    firsts: Option<Arc<Firsts>>,
    unit: Unit,
    /// Results above all rows of the unit: of its own calls, or of those of the answer before.
    above: Vec<Taken>,
    beside: VecDeque<Beside>,
    told: usize,
    gathered: Gathered<Own>,
    /// Whether the newest message is an answer of which more is to come.
    unfinished: bool,
}

/// Where a message lies, and from where older ones are found.
struct Own {
    at: u64,
    older: Place,
}

impl<'a> Walk<'a> {
    fn new(file: &'a File, is_agent: bool, place: Place, request: &PageRequest<'a>) -> Self {
        Self {
            file,
            is_agent,
            progress: request.progress,
            firsts: None,
            chain: place.chain.clone(),
            from: place.end,
            told: place.told,
            unit: Unit { place, id: None, rows: Vec::new() },
            above: Vec::new(),
            beside: VecDeque::new(),
            gathered: Gathered::new(request),
            unfinished: false,
        }
    }

    /// Reads where rows stand first, of the whole file so that the next page need not.
    fn look_for_repeats(&mut self) -> Result<(), ReadError> {
        if self.firsts.is_none() {
            self.firsts = Some(Firsts::read(self.file, end_of_lines(self.file, self.progress)?, self.progress)?);
        }
        Ok(())
    }

    /// At the start of the file: whether a parent was looked for in vain. Then the order of the file counts.
    fn is_lost(&mut self) -> bool {
        let lost = matches!(self.chain, Chain::At(_));
        if lost {
            self.chain = Chain::Broken;
            self.beside.retain(|beside| beside.at >= self.from);
        }
        lost
    }

    fn take(&mut self, line: &Line<'_>) -> Result<(), ReadError> {
        let text = text_of(line);
        let Some(row) = Row::read(self.file, line, &text) else { return Ok(()) };
        if row.is_sidechain() && !self.is_agent {
            return Ok(());
        }
        let uuid = row.uuid();
        if self.firsts.as_ref().is_some_and(|firsts| firsts.is_repeated(&row, line.at)) {
            // What hangs on it comes behind all that stands before it.
            if matches!(&self.chain, Chain::At(name) if uuid.as_ref() == Some(name)) {
                self.chain = Chain::Newest;
            }
            return Ok(());
        }
        let current = match &self.chain {
            Chain::Newest | Chain::Broken => true,
            Chain::At(name) => uuid.as_ref() == Some(name),
            Chain::Begun => false,
        };
        if !current {
            self.keep_beside(line, &row, &text);
            return Ok(());
        }
        let message = row.message();
        if self.chain == Chain::Newest && message.is_none() {
            return Ok(());
        }
        // A row without a name is on no branch: it is told only where that does not matter.
        if uuid.is_some() && self.chain != Chain::Broken {
            self.chain = match row.link(&text) {
                Link::To(name) => Chain::At(name),
                Link::Root => Chain::Begun,
                Link::Untold => Chain::Broken,
            };
        }
        self.from = line.at;
        if row.is_boundary() {
            self.look_for_repeats()?;
        }
        let Some((kind, message)) = message else { return Ok(()) };
        let bytes = line.text.map_or(0, |text| text.len() as u64);
        let goes_on = row.goes_on(&message);
        self.add(Taken { at: line.at, goes_on, bytes, uuid, chain: self.chain.clone(), kind, message })
    }

    fn keep_beside(&mut self, line: &Line<'_>, row: &Row<'_>, text: &str) {
        if let Some(kind) = row.part(text) {
            // Parts of one answer stand close together: what is furthest from the place that is looked at can go.
            if self.beside.len() == limits::BESIDE {
                self.beside.pop_front();
            }
            self.beside.push_back(Beside { at: line.at, length: line.length, parent: row.parent(), kind });
        }
    }

    fn add(&mut self, row: Taken) -> Result<(), ReadError> {
        match &row.kind {
            Kind::Results => self.above.push(row),
            Kind::Answer(id) => {
                if id.is_none() || self.unit.id != *id {
                    self.close()?;
                }
                self.unit.id = id.clone();
                self.unit.rows.append(&mut self.above);
                self.unit.rows.push(row);
            }
            Kind::Alone => {
                self.close()?;
                self.release();
                self.tell_alone(row);
            }
        }
        Ok(())
    }

    /// The answer is whole: tells it and the results of its calls.
    fn close(&mut self) -> Result<(), ReadError> {
        let mut rows = std::mem::take(&mut self.unit.rows);
        let id = self.unit.id.take();
        let Some(first) = rows.last() else { return Ok(()) };
        let older = Place { end: first.at, chain: first.chain.clone(), told: 0 };
        self.adopt(&mut rows, id, older.end)?;
        rows.sort_by_key(|row| row.at);
        let bytes = rows.iter().map(|row| row.bytes).sum::<u64>() / rows.len() as u64;
        if self.gathered.count() == 0 {
            self.unfinished = rows.last().is_some_and(|row| row.goes_on);
        }
        let messages = join(rows);
        let count = messages.len();
        for (index, (at, message)) in messages.into_iter().rev().enumerate() {
            let told = index + 1;
            let place = if told == count { older.clone() } else { Place { told, ..self.unit.place.clone() } };
            self.tell(message, bytes, Own { at, older: place });
        }
        (self.unit.place, self.told) = (older, 0);
        Ok(())
    }

    /// Takes in what belongs to an answer but hangs beside the branch.
    fn adopt(&mut self, rows: &mut Vec<Taken>, id: Option<Box<str>>, from: u64) -> Result<(), ReadError> {
        let (parts, results): (Vec<_>, Vec<_>) =
            self.passed(from).partition(|beside| matches!(beside.kind, Kind::Answer(_)));
        for part in parts.iter().filter(|part| id.is_some() && part.kind == Kind::Answer(id.clone())) {
            rows.extend(self.read_again(part)?);
        }
        let names: HashSet<_> = rows.iter().filter_map(|row| row.uuid.clone()).collect();
        let mut answered: HashSet<String> = rows.iter().flat_map(|row| results_in(&row.message)).collect();
        for result in results.iter().filter(|result| result.parent.as_ref().is_some_and(|name| names.contains(name))) {
            let row = self.read_again(result)?.filter(|row| row.kind == Kind::Results);
            rows.extend(row.filter(|row| results_in(&row.message).all(|id| answered.insert(id))));
        }
        Ok(())
    }

    /// Takes away the rows beside the branch that stand behind a place which was told.
    fn passed(&mut self, from: u64) -> impl Iterator<Item = Beside> {
        let count = self.beside.iter().take_while(|beside| beside.at > from).count();
        self.beside.drain(..count)
    }

    fn read_again(&self, beside: &Beside) -> Result<Option<Taken>, ReadError> {
        let (at, length) = (beside.at, beside.length);
        let mut bytes = vec![0; if length > limits::LINE_MAX as u64 { 0 } else { length as usize }];
        let read = read_at(self.file, &mut bytes, at)?;
        let text = (read as u64 == length).then_some(&bytes[..]);
        let line = Line { at, length, text };
        let text = text_of(&line);
        let row = Row::read(self.file, &line, &text);
        let message = row.as_ref().and_then(Row::message);
        let uuid = row.and_then(|row| row.uuid());
        let chain = Chain::Begun;
        Ok(message.map(|(kind, message)| Taken { at, goes_on: false, bytes: length, uuid, chain, kind, message }))
    }

    /// Tells the results above, which are of no answer.
    fn release(&mut self) {
        for row in std::mem::take(&mut self.above) {
            self.tell_alone(row);
        }
    }

    fn tell_alone(&mut self, row: Taken) {
        drop(self.passed(row.at));
        self.unit.place = Place { end: row.at, chain: row.chain, told: 0 };
        self.tell(row.message, row.bytes, Own { at: row.at, older: self.unit.place.clone() });
        self.told = 0;
    }

    fn tell(&mut self, message: Message, bytes: u64, own: Own) {
        if self.told > 0 {
            self.told -= 1;
        } else {
            self.gathered.push(message, bytes, own);
        }
    }
}

/// The rows of an answer as one message, and those of its results, with the names of the tools; each with its place.
fn join(rows: Vec<Taken>) -> Vec<(u64, Message)> {
    let (parts, results): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| matches!(row.kind, Kind::Answer(_)));
    let mut parts = parts.into_iter();
    let Some(Taken { at, message: mut answer, .. }) = parts.next() else { return Vec::new() };
    for part in parts.map(|row| row.message) {
        answer.model = answer.model.or(part.model);
        answer.content.extend(part.content);
    }
    let names: HashMap<String, String> = answer
        .content
        .iter()
        .filter_map(|block| match block {
            Block::ToolCall { id, name, .. } => Some((id.clone(), name.clone())),
            _ => None,
        })
        .collect();
    let id = answer.id.clone();
    let mut messages = vec![(at, answer)];
    for Taken { at, message: mut result, .. } in results {
        for block in &mut result.content {
            if let Block::ToolResult { id, name, .. } = block {
                *name = names.get(id).cloned();
            }
        }
        result.parent_id.clone_from(&id);
        messages.push((at, result));
    }
    messages
}

/// The calls that a message answers.
fn results_in(message: &Message) -> impl Iterator<Item = String> {
    message.content.iter().filter_map(|block| match block {
        Block::ToolResult { id, .. } => Some(id.clone()),
        _ => None,
    })
}

impl Place {
    fn cursor(&self) -> String {
        let chain = match &self.chain {
            Chain::Newest => "newest".to_owned(),
            Chain::At(name) => format!("at.{name}"),
            Chain::Begun => "begun".to_owned(),
            Chain::Broken => "broken".to_owned(),
        };
        format!("{}.{}.{chain}", self.end, self.told)
    }
}

impl FromStr for Place {
    type Err = ReadError;

    fn from_str(cursor: &str) -> Result<Self, ReadError> {
        let parse = || {
            let (end, rest) = cursor.split_once('.')?;
            let (told, chain) = rest.split_once('.')?;
            let chain = match (chain, chain.strip_prefix("at.")) {
                ("newest", _) => Chain::Newest,
                ("begun", _) => Chain::Begun,
                ("broken", _) => Chain::Broken,
                (_, name) => Chain::At(name?.into()),
            };
            Some(Self { end: end.parse().ok()?, chain, told: told.parse().ok()? })
        };
        parse().ok_or(ReadError::Cursor)
    }
}
