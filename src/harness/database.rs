//! Rows of databases whose columns come and go with the versions of their programs.

use super::{Progress, ReadError, Session, Source};
use crate::limits;
use crate::platform::sqlite::{self, Budget};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, ffi};
use std::borrow::Cow;

/// Reads what a list needs of a database; `None` of the query means that its tables are unknown ones.
pub(super) fn read_list<T>(
    source: &Source,
    query: impl Fn(&Connection) -> rusqlite::Result<Option<T>>,
) -> Result<Option<T>, ReadError> {
    Ok(sqlite::read(&source.path, &Budget::of_list(), query)?)
}

/// Reads what is asked of one session, until it is no longer wanted.
pub(super) fn read_session<T>(
    session: &Session,
    progress: Option<&dyn Progress>,
    query: impl Fn(&Connection) -> rusqlite::Result<T>,
) -> Result<T, ReadError> {
    let is_cancelled = || progress.is_some_and(Progress::is_cancelled);
    Ok(sqlite::read(&session.location, &Budget::of_session(&is_cancelled), query)?)
}

/// Visits the rows of a query for a list, as many as the database can hold: pages that lead back to each other make more.
pub(super) fn each_listed(
    connection: &Connection,
    source: &Source,
    query: &str,
    mut visit: impl FnMut(&Row<'_>) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let bytes = source.stamp.size.saturating_add(source.beside.map_or(0, |log| log.size));
    let room = usize::try_from(bytes / limits::DATABASE_SESSION_BYTES).unwrap_or(usize::MAX);
    let mut statement = connection.prepare(query)?;
    let mut rows = statement.query([])?;
    let mut visited = 0;
    while let Some(row) = rows.next()? {
        visited += 1;
        if visited > room.min(limits::DATABASE_SESSIONS) {
            let message = format!("it claims more than {} sessions", visited - 1);
            return Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_CORRUPT), Some(message)));
        }
        visit(row)?;
    }
    Ok(())
}

/// The columns that a table holds here; none where there is no such table. A view or a virtual table is none, and what is
/// computed is not a column: reading those runs what the file's author wrote.
#[derive(Default)]
pub(super) struct Columns(Vec<String>);

impl Columns {
    /// Asks the database.
    pub(super) fn of(connection: &Connection, table: &str) -> rusqlite::Result<Self> {
        let mut statement = connection.prepare(
            "select name from pragma_table_xinfo(?1) where hidden = 0 and exists
               (select 1 from pragma_table_list(?1) where schema = 'main' and type = 'table')",
        )?;
        let names = statement.query_map([table], |row| row.get(0))?.collect::<Result<_, _>>()?;
        Ok(Self(names))
    }

    /// Whether there is a column.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|column| column == name)
    }

    /// Whether there are all of some columns.
    pub(super) fn has_all(&self, names: &[&str]) -> bool {
        names.iter().all(|name| self.has(name))
    }

    /// Whether there is no such table.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A column, or `null` where there is none.
    pub(super) fn or_null<'a>(&self, name: &'a str) -> &'a str {
        if self.has(name) { name } else { "null" }
    }
}

/// Whether a table has a row of this id.
pub(super) fn has_row(connection: &Connection, table: &str, id: &str) -> rusqlite::Result<bool> {
    Ok(Columns::of(connection, table)?.has("id")
        && connection.prepare(&format!("select 1 from {table} where id = ?1"))?.exists([id])?)
}

/// A column of ids, names or paths; one that is too long is null.
pub(super) fn short(column: &str) -> String {
    format!("case when octet_length({column}) <= {} then {column} end", limits::DATABASE_NAME)
}

/// A column of texts of any size: one that is longer than so many bytes is not loaded, and stands there as its size,
/// negative to tell it from what is kept. SQLite knows the size of a cell without reading all of its pages.
pub(super) fn bounded(column: &str, max: usize) -> String {
    format!("case when octet_length({column}) <= {max} then {column} else -octet_length({column}) end")
}

/// How long a text is that [`bounded`] left out.
pub(super) fn left_out(row: &Row<'_>, at: usize) -> Option<u64> {
    match row.get_ref(at).ok()? {
        ValueRef::Integer(size) if size < 0 => Some(size.unsigned_abs()),
        _ => None,
    }
}

/// A text of a [`bounded`] column; in the place of one that was left out, a JSON object with its size.
pub(super) fn text_or_size<'a>(row: &'a Row<'_>, at: usize) -> Option<Cow<'a, str>> {
    text(row, at).or_else(|| Some(size(left_out(row, at)?).to_string().into()))
}

/// What stands for a text of so many bytes that was left out, as in [`super::pages::long_block`].
pub(super) fn size(bytes: u64) -> serde_json::Value {
    serde_json::json!({ "bytes": bytes })
}

/// A text, whatever bytes it has. Empty is none.
pub(super) fn text<'a>(row: &'a Row<'_>, at: usize) -> Option<Cow<'a, str>> {
    match row.get_ref(at).ok()? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) if !bytes.is_empty() => Some(String::from_utf8_lossy(bytes)),
        _ => None,
    }
}

/// A number.
pub(super) fn real(row: &Row<'_>, at: usize) -> Option<f64> {
    match row.get_ref(at).ok()? {
        ValueRef::Integer(number) => Some(number as f64),
        ValueRef::Real(number) => Some(number),
        _ => None,
    }
}

/// A whole number; one that is too large for that is none.
pub(super) fn integer(row: &Row<'_>, at: usize) -> Option<i64> {
    match row.get_ref(at).ok()? {
        ValueRef::Integer(number) => Some(number),
        ValueRef::Real(number) if number.abs() < i64::MAX as f64 => Some(number as i64),
        _ => None,
    }
}

#[cfg(test)]
mod agree;
#[cfg(test)]
mod hostile;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_cell_stands_there_as_its_size() {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch("create table t (a); insert into t values ('four'), ('fives'), (x''), (null)")
            .unwrap();
        let mut statement = connection.prepare(&format!("select {}, 1e300 from t", bounded("a", 4))).unwrap();
        let cells = statement.query_map([], |row| {
            assert_eq!(integer(row, 1), None);
            Ok((text(row, 0).map(Cow::into_owned), left_out(row, 0), text_or_size(row, 0).map(Cow::into_owned)))
        });
        let (four, size) = (|| Some("four".to_owned()), Some("{\"bytes\":5}".to_owned()));
        let expected = [(four(), None, four()), (None, Some(5), size), (None, None, None), (None, None, None)];
        assert_eq!(cells.unwrap().map(Result::unwrap).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn columns_that_are_missing_are_null_and_cells_of_another_kind_are_none() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("create table t (a, b)").unwrap();
        let columns = Columns::of(&connection, "t").unwrap();
        assert_eq!((columns.or_null("a"), columns.or_null("c")), ("a", "null"));
        assert!(columns.has_all(&["b", "a"]) && !columns.has_all(&["a", "c"]) && !columns.is_empty());
        let none = Columns::of(&connection, "u").unwrap();
        assert!(!none.has("a") && none.is_empty());
        connection
            .query_row("select 'x', x'ff', '', 7, 7.9, null", [], |row| {
                let texts: Vec<_> = (0..6).map(|at| text(row, at).map(Cow::into_owned)).collect();
                assert_eq!(texts, [Some("x".to_owned()), Some("\u{fffd}".to_owned()), None, None, None, None]);
                assert_eq!((integer(row, 3), integer(row, 4), integer(row, 0)), (Some(7), Some(7), None));
                assert_eq!((real(row, 3), real(row, 4), real(row, 5)), (Some(7.0), Some(7.9), None));
                Ok(())
            })
            .unwrap();
    }
}
