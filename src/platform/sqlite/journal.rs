//! Rollback journals: what a half-done transaction has overwritten, from which the state before it is made in memory.
//!
//! SQLite would do it itself, but only in files, and it opens and even deletes what a journal names. The format is at
//! <https://www.sqlite.org/fileformat.html#the_rollback_journal>.

use crate::limits;
use crate::platform::files::{open_regular, read_at};
use std::ffi::{OsStr, c_char};
use std::path::Path;
use std::{fs, io};

const MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
/// Bytes of a header that mean something; it fills a sector.
const HEADER: usize = 28;
/// Bytes of the name of a super-journal at most, and of what stands behind it.
const SUPER_NAME: usize = 512;
const SUPER_END: usize = 16;
/// A number of records that says: as many as there are.
const UNCOUNTED: u32 = u32::MAX;

/// The database as it was before the transaction that a journal belongs to. Both files are read up to the given sizes.
pub(super) fn rolled_back(database: &Path, size: u64, journal: &Path, journal_size: u64) -> io::Result<Vec<u8>> {
    let mut image = read(database, size)?;
    let journal = read(journal, journal_size)?;
    // A transaction of several databases is committed once its super-journal is gone.
    if super_journal(&journal).is_none_or(exists) {
        roll_back(&mut image, &journal);
    }
    // An image has no log, whatever its header says.
    if let Some(versions) = image.get_mut(18..20) {
        versions.fill(1);
    }
    Ok(image)
}

fn read(path: &Path, size: u64) -> io::Result<Vec<u8>> {
    let mut content = vec![0; usize::try_from(size).map_err(io::Error::other)?];
    let length = read_at(&open_regular(path)?, &mut content, 0)?;
    content.truncate(length);
    Ok(content)
}

/// Whether a super-journal is there; it is not opened.
fn exists(name: &OsStr) -> bool {
    fs::metadata(name).is_ok_and(|metadata| !metadata.is_file() || metadata.len() > 0)
}

/// The name of the super-journal at the end of a journal.
#[cfg(unix)]
fn super_journal(journal: &[u8]) -> Option<&OsStr> {
    use std::os::unix::ffi::OsStrExt;
    Some(OsStr::from_bytes(super_name(journal)?))
}

#[cfg(not(unix))]
fn super_journal(journal: &[u8]) -> Option<&OsStr> {
    std::str::from_utf8(super_name(journal)?).ok().map(OsStr::new)
}

fn super_name(journal: &[u8]) -> Option<&[u8]> {
    let (rest, end) = journal.split_at_checked(journal.len().checked_sub(SUPER_END)?)?;
    let length = number(end, 0)? as usize;
    if end[8..] != MAGIC || length == 0 || length > SUPER_NAME {
        return None;
    }
    let name = &rest[rest.len().checked_sub(length)?..];
    let sum = name.iter().fold(0_u32, |sum, byte| sum.wrapping_add(i32::from(*byte as c_char) as u32));
    (number(end, 4)? == sum && !name.contains(&0)).then_some(name)
}

/// Puts the pages of a journal back. It ends where SQLite would: at the first thing that is not whole.
fn roll_back(image: &mut Vec<u8>, journal: &[u8]) {
    let Some(first) = Header::at(journal, 0) else { return };
    let (sector, page) = (first.sector, first.page);
    if !(512..=65_536).contains(&page) || !page.is_power_of_two() || !(32..=65_536).contains(&sector) {
        return;
    }
    image.truncate(page.saturating_mul(first.pages as usize));
    let mut at = 0;
    while let Some(header) = Header::at(journal, at) {
        let records = journal.get(at + sector..).unwrap_or_default().chunks_exact(page + 8);
        let counted = if header.records == UNCOUNTED { usize::MAX } else { header.records as usize };
        let mut taken = 0;
        for record in records.take(counted) {
            if !put_back(image, record, page, &header, first.pages) {
                return;
            }
            taken += 1;
        }
        if taken < counted {
            return;
        }
        at = (at + sector + taken * (page + 8)).next_multiple_of(sector);
    }
}

/// Puts one page back; false where the record does not hold.
fn put_back(image: &mut Vec<u8>, record: &[u8], page: usize, header: &Header, pages: u32) -> bool {
    let (Some(place), content, Some(sum)) = (number(record, 0), &record[4..page + 4], number(record, page + 4)) else {
        return false;
    };
    let samples = (1..).map(|step| page.checked_sub(200 * step)).map_while(|at| at.filter(|at| *at > 0));
    let expected = samples.fold(header.nonce, |sum, at| sum.wrapping_add(content[at].into()));
    // No page holds the byte that is locked; its number stands before the name of a super-journal.
    if place == 0 || place as usize == LOCKED / page + 1 || sum != expected {
        return false;
    }
    if place <= pages {
        let from = (place as usize - 1) * page;
        // No database that is copied has such a page.
        if from as u64 >= limits::DATABASE_COPY {
            return false;
        }
        if image.len() < from + page {
            image.resize(from + page, 0);
        }
        image[from..from + page].copy_from_slice(content);
    }
    true
}

/// The byte of a database that SQLite locks.
const LOCKED: usize = 1 << 30;

struct Header {
    records: u32,
    nonce: u32,
    /// Pages of the database before the transaction.
    pages: u32,
    sector: usize,
    page: usize,
}

impl Header {
    fn at(journal: &[u8], at: usize) -> Option<Self> {
        let bytes = journal.get(at..at.checked_add(HEADER)?)?;
        let word = |index: usize| number(bytes, 8 + 4 * index);
        let header = Self {
            records: word(0)?,
            nonce: word(1)?,
            pages: word(2)?,
            sector: word(3)? as usize,
            page: word(4)? as usize,
        };
        bytes.starts_with(&MAGIC).then_some(header)
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_that_no_copy_can_have_is_not_put_back() {
        let mut journal = MAGIC.to_vec();
        for number in [1, 0, u32::MAX, 512, 512] {
            journal.extend(u32::to_be_bytes(number));
        }
        journal.resize(512, 0);
        journal.extend(u32::to_be_bytes(u32::MAX - 1));
        journal.resize(512 + 512 + 8, 0);
        let mut image = vec![1; 1_024];
        roll_back(&mut image, &journal);
        assert_eq!(image, [1; 1_024]);
    }
}
