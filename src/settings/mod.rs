//! Claude Code's user settings: the policy for messages of other sessions, read and changed.
//!
//! The file is the user's and Claude Code's own. One key of it is changed and nothing else, as [`crate::platform::replace`] does it.
//! What it says is evidence of the user's level alone: managed settings and the command line override it, a project's
//! settings can tighten it.

mod document;
#[cfg(test)]
mod tests;

use crate::harness::Progress;
use crate::limits;
use crate::platform::links;
use crate::platform::private::Unfit;
use crate::platform::replace::{Place, Unreplaced, Version};
use crate::protocol::{InboundPolicy, Settings, SettingsEvidence};
use document::{Document, Malformed};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

/// The file in a home of Claude Code.
const FILE: &str = "settings.json";
/// What a new version is called before it takes the place of the old one. Only who has the lock uses that name.
const TEMPORARY: &str = ".settings.json.tackroom";
const KEY: &str = "crossSessionInbound";

/// Why settings were not read, or not changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be understood.
    #[error("{} cannot be understood: {why}; put it right by hand first", path.display())]
    Invalid {
        /// Which one.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The file or its directory is nothing that is read or replaced.
    #[error("{} is left alone: {unfit}", path.display())]
    Unfit {
        /// Which one.
        path: PathBuf,
        /// What is wrong with it.
        unfit: Unfit,
    },
    /// The file is not the one that was expected, or somebody else wrote it meanwhile.
    #[error("the settings changed meanwhile; read them again, then decide")]
    Changed {
        /// The revision that was expected.
        expected: String,
        /// The revision now, where it can be told.
        actual: Option<String>,
    },
    /// Others were changing the same settings all the time.
    #[error("others are changing these settings; try again")]
    Busy,
    /// Nobody wants it any more.
    #[error("the request was cancelled")]
    Cancelled,
}

/// Reads the settings in a home of Claude Code. Where there is no file nothing is set.
pub fn read(home: &Path) -> Result<Settings, Error> {
    let home = Home::of(home)?;
    let version = match home.open()? {
        Some(place) => home.version(&place)?,
        None => None,
    };
    home.settings(content(version.as_ref()))
}

/// Sets the policy, or takes it out. `expected` is the revision that the file must have. What would change nothing writes
/// nothing. Blocks while others change the same settings.
pub fn update(
    home: &Path,
    policy: Option<InboundPolicy>,
    expected: Option<&str>,
    progress: &dyn Progress,
) -> Result<Settings, Error> {
    let named = home;
    let home = Home::of(named)?;
    let place = match home.open()? {
        Some(place) => place,
        None => match home.edit(None, policy, expected)? {
            Some(_) => Place::create(&home.directory).map_err(|unfit| home.unfit_directory(unfit))?,
            None => return home.settings(&[]),
        },
    };
    home.lock(&place, progress)?;
    if Home::of(named)? != home {
        // Another file is meant by now.
        return Err(Error::Busy);
    }
    place.clear(TEMPORARY);
    let old = home.version(&place)?;
    let Some(new) = home.edit(old.as_ref(), policy, expected)? else {
        return home.settings(content(old.as_ref()));
    };
    if progress.is_cancelled() {
        return Err(Error::Cancelled);
    }
    match place.replace(&home.file, TEMPORARY, old.as_ref(), &new) {
        Ok(()) => home.settings(&new),
        Err(Unreplaced::Unfit(unfit)) => Err(home.unfit(unfit)),
        Err(Unreplaced::Changed) => {
            let now = place.read(&home.file, limits::SETTINGS_BYTES).ok();
            let actual = now.map(|version| revision(content(version.as_ref())));
            Err(Error::Changed { expected: revision(content(old.as_ref())), actual })
        }
    }
}

/// A home, and where its settings are: Claude Code follows links of the home and of the file, reads what they lead to, and
/// writes there.
#[derive(PartialEq, Eq)]
struct Home<'a> {
    named: &'a Path,
    directory: PathBuf,
    file: String,
}

impl<'a> Home<'a> {
    fn of(named: &'a Path) -> Result<Self, Error> {
        let unfit = |path: PathBuf| |unfit| Error::Unfit { path, unfit };
        let directory = links::follow(named).map_err(unfit(named.to_owned()))?;
        let file = links::follow(&directory.join(FILE)).map_err(unfit(named.join(FILE)))?;
        let name = file.file_name().and_then(|name| name.to_str()).ok_or(Unfit::NotRegular);
        let name = name.map_err(unfit(named.join(FILE)))?.to_owned();
        Ok(Self { named, directory: file.parent().unwrap_or(&directory).to_owned(), file: name })
    }

    fn path(&self) -> PathBuf {
        self.named.join(FILE)
    }

    fn open(&self) -> Result<Option<Place>, Error> {
        Place::open(&self.directory).map_err(|unfit| self.unfit_directory(unfit))
    }

    fn lock(&self, place: &Place, progress: &dyn Progress) -> Result<(), Error> {
        let began = Instant::now();
        while !place.try_lock().map_err(|error| self.unfit_directory(error.into()))? {
            if progress.is_cancelled() {
                return Err(Error::Cancelled);
            }
            if began.elapsed() > limits::SETTINGS_LOCK {
                return Err(Error::Busy);
            }
            thread::sleep(limits::SETTINGS_LOCK_PAUSE);
        }
        Ok(())
    }

    /// The file as it is now. One that somebody seems to be in the middle of writing, as Claude Code does it, is read
    /// again.
    fn version(&self, place: &Place) -> Result<Option<Version>, Error> {
        let mut version = self.version_once(place)?;
        for _ in 0..limits::SETTINGS_AGAIN {
            let torn = |version: &Version| Document::parse(&version.content).is_err() && !version.stamp.is_settled();
            if !version.as_ref().is_some_and(torn) {
                break;
            }
            thread::sleep(limits::SETTINGS_AGAIN_PAUSE);
            version = self.version_once(place)?;
        }
        Ok(version)
    }

    fn version_once(&self, place: &Place) -> Result<Option<Version>, Error> {
        place.read(&self.file, limits::SETTINGS_BYTES).map_err(|unfit| self.unfit(unfit))
    }

    /// What the file says.
    fn settings(&self, content: &[u8]) -> Result<Settings, Error> {
        let policy = match self.document(content)?.as_ref().and_then(|document| document.value(KEY)) {
            Some(value) => Some(policy(value).ok_or_else(|| {
                let known = InboundPolicy::ALL.map(InboundPolicy::word).join(", ");
                // What is no word at all counts as not set.
                let so = if value.starts_with('"') { ", so messages are held back" } else { "" };
                self.invalid(format!("`{KEY}` is none of {known}{so}; `settings/update` may replace it"))
            })?),
            None => None,
        };
        Ok(Settings {
            path: self.path().display().to_string(),
            revision: revision(content),
            cross_session_inbound: policy,
            user_allows_automatic_delivery: policy == Some(InboundPolicy::Accept),
            evidence: SettingsEvidence::User,
        })
    }

    /// The new content, or `None` where nothing is to be changed.
    fn edit(
        &self,
        old: Option<&Version>,
        wanted: Option<InboundPolicy>,
        expected: Option<&str>,
    ) -> Result<Option<Vec<u8>>, Error> {
        let actual = revision(content(old));
        if let Some(expected) = expected.filter(|expected| *expected != actual) {
            return Err(Error::Changed { expected: expected.to_owned(), actual: Some(actual) });
        }
        let document = self.document(content(old))?;
        let value = document.as_ref().and_then(|document| document.value(KEY));
        let new = match (document, wanted) {
            (None, None) => None,
            (None, Some(wanted)) if old.is_some() => Some(of_empty(wanted.word())),
            (None, Some(wanted)) => Some(format!("{{\n  \"{KEY}\": \"{}\"\n}}\n", wanted.word())),
            (Some(document), None) => value.map(|value| match policy(value) {
                Some(now) if content(old) == of_empty(now.word()).as_bytes() => String::new(),
                _ => document.without(KEY),
            }),
            (Some(_), Some(wanted)) if value.and_then(policy) == Some(wanted) => None,
            (Some(document), Some(wanted)) => Some(document.with(KEY, wanted.word())),
        };
        Ok(new.map(String::into_bytes))
    }

    /// `None` for an empty file, which Claude Code takes for an empty object.
    fn document<'b>(&self, content: &'b [u8]) -> Result<Option<Document<'b>>, Error> {
        if content.is_empty() {
            return Ok(None);
        }
        Document::parse(content).map(Some).map_err(|error: Malformed| self.invalid(error.to_string()))
    }

    fn invalid(&self, why: String) -> Error {
        Error::Invalid { path: self.path(), why }
    }

    fn unfit(&self, unfit: Unfit) -> Error {
        Error::Unfit { path: self.path(), unfit }
    }

    fn unfit_directory(&self, unfit: Unfit) -> Error {
        Error::Unfit { path: self.named.to_owned(), unfit }
    }
}

/// The setting in a file that was empty: written as nothing else writes it, so that resetting leaves it empty again.
fn of_empty(word: &str) -> String {
    format!("{{ \"{KEY}\": \"{word}\"}}")
}

fn policy(value: &str) -> Option<InboundPolicy> {
    serde_json::from_str(value).ok()
}

fn content(version: Option<&Version>) -> &[u8] {
    version.map_or(&[], |version| &version.content)
}

fn revision(content: &[u8]) -> String {
    blake3::hash(content).to_hex().to_string()
}
