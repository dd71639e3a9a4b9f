//! One page of a session: its current segment from the newest line back, then those that it continues from.

use super::item::{self, Long, Told};
use super::lineage::Lineage;
use super::record::Family;
use super::rollout::{Placed, Rollout};
use crate::harness::backward::{Backward, Line, begins_line, parse_long};
use crate::harness::pages::Gathered;
use crate::harness::{End, Page, PageRequest, Progress, ReadError, Root, Session};
use crate::limits;
use crate::protocol::{Block, Message, Role};
use std::collections::VecDeque;
use std::str::FromStr;

/// A place from which older messages are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    /// How many segments up.
    depth: usize,
    /// Where in that rollout's text.
    end: u64,
    /// In which form that rollout's messages are told; `None` where that is still to be found out.
    family: Option<Family>,
}

/// The place behind all lines that are whole. A compressed rollout does not grow any more.
pub(super) fn end(session: &Session, progress: &dyn Progress) -> Result<End, ReadError> {
    let rollout = Rollout::open(&session.location)?;
    let end = rollout.end_of_lines(progress)?;
    Ok(End { cursor: Place { depth: 0, end, family: None }.cursor(), count: None })
}

/// Reads one page.
pub(super) fn page(roots: &[Root], session: &Session, request: &PageRequest<'_>) -> Result<Page, ReadError> {
    let start: Option<Place> = request.cursor.map(str::parse).transpose()?;
    let (mut rollout, mut ancestors) = Lineage::of(roots, session, request.own_only)?;
    let mut walk = Walk::new(request);
    for _ in 0..start.map_or(0, |start| start.depth) {
        rollout = ancestors.next().and_then(Result::ok).ok_or(ReadError::Cursor)?;
        walk.depth += 1;
    }
    match start {
        None => walk.read_all(&rollout, None, request)?,
        Some(Place { end, family: None, .. }) => walk.read_all(&rollout, Some(end), request)?,
        Some(Place { end, family: Some(family), .. }) => {
            walk.family = family;
            walk.read(&rollout, Some(end), request)?;
        }
    }
    while !walk.gathered.is_full()
        && let Some(ancestor) = ancestors.next()
    {
        walk.depth += 1;
        match ancestor {
            Ok(rollout) => walk.read_all(&rollout, None, request)?,
            Err(base) => walk.gathered.push(item::gone(&base), 0, walk.place(0)),
        }
    }
    let ended = !walk.gathered.is_full();
    Ok(walk.gathered.into_page(ended, Place::cursor))
}

struct Walk {
    depth: usize,
    family: Family,
    /// Which families were met in the present rollout.
    met: [bool; 3],
    /// How many turns before this were taken back.
    rolled_back: u64,
    wanting: VecDeque<Wanting>,
    gathered: Gathered<Place>,
}

/// What an older line is to tell of a message that was taken: the tool that a result is of, or the model of a turn.
struct Wanting {
    index: usize,
    at: u64,
    call: Option<String>,
}

impl Walk {
    fn new(request: &PageRequest<'_>) -> Self {
        Self {
            depth: 0,
            family: Family::Response,
            met: [false; 3],
            rolled_back: 0,
            wanting: VecDeque::new(),
            gathered: Gathered::new(request),
        }
    }

    /// Reads a rollout from its end on, or from a place before which nothing was read yet. What went to the model tells
    /// most; a rollout without it is told by its events.
    fn read_all(&mut self, rollout: &Rollout, end: Option<u64>, request: &PageRequest<'_>) -> Result<(), ReadError> {
        (self.family, self.met) = (Family::Response, [false; 3]);
        let rolled_back = self.rolled_back;
        self.read(rollout, end, request)?;
        let met = |family: Family| self.met[family as usize];
        let other = [Family::Item, Family::Event].into_iter().find(|family| met(*family));
        if let Some(family) = other.filter(|_| !met(Family::Response)) {
            (self.family, self.rolled_back) = (family, rolled_back);
            self.read(rollout, end, request)?;
        }
        Ok(())
    }

    fn place(&self, end: u64) -> Place {
        Place { depth: self.depth, end, family: Some(self.family) }
    }

    /// Reads a rollout back until there is enough, and on for what is wanting.
    fn read(&mut self, rollout: &Rollout, end: Option<u64>, request: &PageRequest<'_>) -> Result<(), ReadError> {
        let text = Placed::new(rollout, request.progress);
        let end = match end {
            None => text.end()?,
            Some(end) if text.may_hold(end)? && begins_line(&text, end)? => end,
            Some(_) => return Err(ReadError::Cursor),
        };
        let mut lines = Backward::new(&text, end, request.progress);
        while !(self.gathered.is_full() && self.wanting.is_empty())
            && let Some(line) = lines.previous()?
        {
            while self.wanting.front().is_some_and(|wanting| wanting.at - line.at > limits::LOOK_BACK) {
                self.wanting.pop_front();
            }
            self.take(&text, &line);
        }
        self.wanting.clear();
        Ok(())
    }

    fn take(&mut self, text: &Placed<'_>, line: &Line<'_>) {
        let told = match line.text {
            Some(text) => {
                let text = String::from_utf8_lossy(text);
                if !self.met[Family::Response as usize]
                    && let Some(family) = item::family(&text)
                {
                    self.met[family as usize] = true;
                }
                item::read(&text, self.family)
            }
            None => {
                let long: Long = parse_long(text, line).unwrap_or_default();
                long.message(line.length).map(|message| Told::Message(Box::new(message), false))
            }
        };
        match told {
            Some(Told::Message(message, opens_turn)) => {
                self.name_results(&message);
                if self.gathered.is_full() {
                    return;
                }
                if self.rolled_back > 0 {
                    self.rolled_back -= u64::from(opens_turn);
                    return;
                }
                self.want(&message, line.at);
                let bytes = line.text.map_or(0, |text| text.len() as u64);
                self.gathered.push(*message, bytes, self.place(line.at));
            }
            Some(Told::Turn(model)) => {
                for wanting in self.wanting.iter().filter(|wanting| wanting.call.is_none()) {
                    self.gathered.message(wanting.index).model = model.as_deref().map(String::from);
                }
                self.wanting.retain(|wanting| wanting.call.is_some());
            }
            Some(Told::RolledBack(turns)) => self.rolled_back = self.rolled_back.saturating_add(turns),
            None => {}
        }
    }

    fn want(&mut self, message: &Message, at: u64) {
        let index = self.gathered.count();
        for block in &message.content {
            if let Block::ToolResult { id, .. } = block {
                self.wanting.push_back(Wanting { index, at, call: Some(id.clone()) });
            }
        }
        if message.role == Role::Assistant {
            self.wanting.push_back(Wanting { index, at, call: None });
        }
    }

    /// Gives the results of a call the name of its tool.
    fn name_results(&mut self, message: &Message) {
        for block in &message.content {
            let Block::ToolCall { id, name: tool, .. } = block else { continue };
            for wanting in self.wanting.iter().filter(|wanting| wanting.call.as_ref() == Some(id)) {
                for block in &mut self.gathered.message(wanting.index).content {
                    if let Block::ToolResult { name, .. } = block {
                        *name = Some(tool.clone());
                    }
                }
            }
            self.wanting.retain(|wanting| wanting.call.as_ref() != Some(id));
        }
    }
}

impl Place {
    fn cursor(&self) -> String {
        let family = self.family.map_or("any".to_owned(), |family| (family as usize).to_string());
        format!("{}.{}.{family}", self.depth, self.end)
    }
}

impl FromStr for Place {
    type Err = ReadError;

    fn from_str(cursor: &str) -> Result<Self, ReadError> {
        let parse = || {
            let (depth, rest) = cursor.split_once('.')?;
            let (end, family) = rest.split_once('.')?;
            let families = [Family::Item, Family::Event, Family::Response];
            let family = match family {
                "any" => None,
                family => Some(families.into_iter().find(|known| (*known as usize).to_string() == family)?),
            };
            Some(Self { depth: depth.parse().ok()?, end: end.parse().ok()?, family })
        };
        parse().ok_or(ReadError::Cursor)
    }
}
