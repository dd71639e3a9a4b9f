//! The databases that lie elsewhere: the state's own database registers them.

use super::take_database;
use crate::harness::Finder;
use crate::harness::database::{Columns, bounded, text};
use crate::harness::walk::stamp;
use crate::limits;
use crate::platform::sqlite::{self, Budget};
use rusqlite::Connection;
use std::borrow::Cow;
use std::path::Path;

const REGISTER: &str = "state/openclaw.sqlite";
/// How many databases one register may name.
const REGISTERED: u32 = 1_000;

/// Takes the databases of the register as sources. This is the one thing that a walk must open to know where to look.
pub(super) fn walk(home: &Path, finder: &mut Finder) {
    let register = home.join(REGISTER);
    if stamp(&register).is_none() {
        return;
    }
    match sqlite::read(&register, &Budget::of_list(), paths) {
        // An absolute path stays as it is.
        Ok(paths) => paths.into_iter().for_each(|path| take_database(finder, home.join(path))),
        Err(error) => finder.skipped.push((register, error.into())),
    }
}

fn paths(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    if !Columns::of(connection, "agent_databases")?.has("path") {
        return Ok(Vec::new());
    }
    let mut statement = connection.prepare(&format!(
        "select {} from agent_databases order by path limit ?1",
        bounded("path", limits::PATH_BYTES)
    ))?;
    let mut rows = statement.query([REGISTERED])?;
    let mut paths = Vec::new();
    while let Some(row) = rows.next()? {
        paths.extend(text(row, 0).map(Cow::into_owned));
    }
    Ok(paths)
}
