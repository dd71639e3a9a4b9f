//! The rollouts that make up a session: a fork's file holds only its own turns, and names the part of another that comes
//! before them.

use super::record::{Base, Record};
use super::rollout::Rollout;
use crate::harness::{Root, Session, Skip};
use crate::limits;
use std::ops::ControlFlow;

/// The ancestors of a session, the nearest first; one that is gone is told by what names it, and ends them.
pub struct Lineage<'a> {
    roots: &'a [Root],
    seen: Vec<Box<str>>,
    base: Option<Base>,
}

impl<'a> Lineage<'a> {
    /// The rollout of a session, and its ancestors unless only its own turns are wanted.
    pub fn of(roots: &'a [Root], session: &Session, own_only: bool) -> Result<(Rollout, Self), Skip> {
        let own = Rollout::open(&session.location, u64::MAX)?;
        let base = if own_only { None } else { base(&own)? };
        Ok((own, Self { roots, seen: vec![session.id.clone()], base }))
    }
}

impl Iterator for Lineage<'_> {
    type Item = Result<Rollout, Base>;

    fn next(&mut self) -> Option<Self::Item> {
        let base = self.base.take()?;
        if self.seen.len() >= limits::ANCESTRY || self.seen.contains(&base.thread) {
            return Some(Err(base));
        }
        let path = super::locate(self.roots, &base.thread);
        let Some(Ok(ancestor)) = path.map(|path| Rollout::open(&path, base.end)) else { return Some(Err(base)) };
        self.base = self::base(&ancestor).ok().flatten();
        self.seen.push(base.thread);
        Some(Ok(ancestor))
    }
}

/// The part of another rollout that one goes on from: its first line tells.
fn base(rollout: &Rollout) -> Result<Option<Base>, Skip> {
    let mut base = None;
    rollout.lines(limits::LINE_MAX as u64, None, |line| {
        base = Record::parse(line).and_then(|record| record.meta()?.base);
        ControlFlow::Break(())
    })?;
    Ok(base)
}
