//! Rows of databases whose columns come and go with the versions of their programs.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use std::borrow::Cow;

/// The columns that a table has here; none where there is no such table.
#[derive(Default)]
pub struct Columns(Vec<String>);

impl Columns {
    /// Asks the database.
    pub fn of(connection: &Connection, table: &str) -> rusqlite::Result<Self> {
        let mut statement = connection.prepare("select name from pragma_table_info(?)")?;
        let names = statement.query_map([table], |row| row.get(0))?.collect::<Result<_, _>>()?;
        Ok(Self(names))
    }

    /// Whether there is a column.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|column| column == name)
    }

    /// Whether there are all of some columns.
    pub fn has_all(&self, names: &[&str]) -> bool {
        names.iter().all(|name| self.has(name))
    }

    /// Whether there is no such table.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A column, or `null` where there is none.
    pub fn or_null<'a>(&self, name: &'a str) -> &'a str {
        if self.has(name) { name } else { "null" }
    }
}

/// A text, whatever bytes it has. Empty is none.
pub fn text<'a>(row: &'a Row<'_>, at: usize) -> Option<Cow<'a, str>> {
    match row.get_ref(at).ok()? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) if !bytes.is_empty() => Some(String::from_utf8_lossy(bytes)),
        _ => None,
    }
}

/// A number.
pub fn real(row: &Row<'_>, at: usize) -> Option<f64> {
    match row.get_ref(at).ok()? {
        ValueRef::Integer(number) => Some(number as f64),
        ValueRef::Real(number) => Some(number),
        _ => None,
    }
}

/// A whole number.
pub fn integer(row: &Row<'_>, at: usize) -> Option<i64> {
    match row.get_ref(at).ok()? {
        ValueRef::Integer(number) => Some(number),
        ValueRef::Real(number) => Some(number as i64),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
