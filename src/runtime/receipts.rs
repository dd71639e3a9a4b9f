//! The directory of the receipts: which of them count, publishing one, removing exactly one.

use super::receipt::{Record, Refusal};
use super::{owner::Owner, register};
use crate::authority::Grant;
use crate::limits;
use crate::platform::files::Stamp;
use crate::platform::private::{Directory, Unfit};
use crate::platform::{process, random};
use crate::protocol::{Endpoint, MalformedEndpoint, Problem, Reason, RegisterParams, Source};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Instant, SystemTime};

/// The receipts of one directory. What this server publishes there is gone when this value is.
pub struct Receipts {
    directory: Option<PathBuf>,
    published: Mutex<Publishing>,
}

/// What this server published, until it publishes no more.
#[derive(Default)]
struct Publishing {
    receipts: HashMap<Endpoint, Published>,
    closed: bool,
}

/// A receipt that this server published.
struct Published {
    directory: Directory,
    stamp: Stamp,
    source: Source,
}

/// What is in the directory.
#[derive(Debug, Default)]
pub struct Listing {
    /// The receipts that count, the newest first, then by runtime id. One runtime may have several.
    pub records: Vec<Arc<Record>>,
    /// What does not count for another reason than that its owner is gone.
    pub problems: Vec<Problem>,
}

/// Why something could not be done with a receipt.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such receipt, or its owner is gone.
    #[error("no live runtime has the endpoint {0}; `runtime/receipts` shows those that there are")]
    NotLive(Endpoint),
    /// The runtime runs another conversation.
    #[error("the runtime at {0} runs another conversation; `runtime/receipts` says which")]
    IdentityMismatch(Endpoint),
    /// The text is no endpoint.
    #[error(transparent)]
    InvalidEndpoint(#[from] MalformedEndpoint),
    /// The receipt does not hold.
    #[error("the receipt does not hold: {0}")]
    InvalidReceipt(#[from] Refusal),
    /// The directory is not ours alone.
    #[error("receipts cannot be kept in {}: {unfit}", directory.display())]
    Directory {
        /// Which one.
        directory: PathBuf,
        /// What is wrong with it.
        unfit: Unfit,
    },
    /// This server did not publish it.
    #[error("the receipt {0} was not registered by this client")]
    NotRegistered(Endpoint),
    /// It publishes no more.
    #[error("the client is gone, and a receipt would outlive it")]
    Closed,
    /// Another live runtime runs the session.
    #[error("this session is live: attach with `tackroom attach {0}`")]
    AlreadyLive(String),
    /// Another process keeps the directory locked.
    #[error("another process keeps {} locked; try again", _0.display())]
    Locked(PathBuf),
    /// Too many are published.
    #[error("a client may have {} receipts; unregister one first", limits::RECEIPTS_PUBLISHED)]
    Limit,
    /// The environment names no home.
    #[error("there is no directory for receipts: set SUPERCODE_HOME or HOME to an absolute path")]
    NoHome,
    /// The system refused.
    #[error("the receipt could not be written or removed: {0}")]
    Io(#[from] io::Error),
}

impl Error {
    /// The reason by which a client tells it.
    pub fn reason(&self) -> Reason {
        match self {
            Self::NotLive(_) => Reason::NotLive,
            Self::IdentityMismatch(_) => Reason::IdentityMismatch,
            Self::InvalidEndpoint(_) => Reason::InvalidEndpoint,
            Self::Directory { unfit: Unfit::Io(_), .. } | Self::InvalidReceipt(Refusal::Unfit(Unfit::Io(_))) => {
                Reason::Io
            }
            Self::InvalidReceipt(_) => Reason::InvalidReceipt,
            Self::Directory { .. } | Self::NoHome | Self::Closed => Reason::Unavailable,
            Self::NotRegistered(_) => Reason::NotFound,
            Self::Limit => Reason::Limit,
            Self::AlreadyLive(_) => Reason::InvalidArgument,
            Self::Locked(_) => Reason::Busy,
            Self::Io(_) => Reason::Io,
        }
    }
}

const SUFFIX: &str = ".json";

fn file_name(endpoint: &Endpoint) -> String {
    format!("{}{SUFFIX}", endpoint.receipt_id())
}

impl Receipts {
    /// The receipts in `directory`, which need not be there; without one there are none and none can be published.
    pub fn new(directory: Option<PathBuf>) -> Self {
        Self { directory, published: Mutex::default() }
    }

    /// Every receipt, held against its process. One whose owner is gone for certain is removed.
    pub fn list(&self) -> Listing {
        let mut listing = Listing::default();
        let Some(path) = &self.directory else {
            return listing;
        };
        match Directory::open(path).and_then(|directory| directory.map(|it| Ok((names(&it)?, it))).transpose()) {
            Ok(None) => {}
            Ok(Some((names, directory))) => listing.read(path, &directory, names),
            Err(unfit) => listing.problems.push(problem(path, None, &unfit.into())),
        }
        listing.records.sort_by(|a, b| {
            let by_age = b.created_at_ms.cmp(&a.created_at_ms);
            by_age.then_with(|| a.runtime_id.cmp(&b.runtime_id)).then_with(|| a.endpoint.cmp(&b.endpoint))
        });
        listing
    }

    /// The receipt of an endpoint, read again for this call.
    pub fn resolve(&self, endpoint: &Endpoint) -> Result<Arc<Record>, Error> {
        let not_live = || Error::NotLive(endpoint.clone());
        let directory = self.existing()?.ok_or_else(not_live)?;
        live(&directory, &file_name(endpoint))?.map(Arc::new).ok_or_else(not_live)
    }

    /// The same, where the runtime must run this conversation.
    pub fn resolve_source(&self, endpoint: &Endpoint, source: &Source) -> Result<Arc<Record>, Error> {
        let record = self.resolve(endpoint)?;
        if record.runs(source) { Ok(record) } else { Err(Error::IdentityMismatch(endpoint.clone())) }
    }

    /// Publishes a runtime. Its receipt stays until it is unregistered, or this value or the owner is gone.
    pub fn register(&self, params: &RegisterParams) -> Result<Endpoint, Error> {
        self.publish(params, None)
    }

    /// The same for a runtime whose work another process does, the owner's child. What counts is whether the owner lives.
    pub fn publish(&self, params: &RegisterParams, child: Option<i32>) -> Result<Endpoint, Error> {
        let mut published = self.published();
        if published.closed {
            return Err(Error::Closed);
        }
        if published.receipts.len() >= limits::RECEIPTS_PUBLISHED {
            return Err(Error::Limit);
        }
        let id = random::hex::<16>()?;
        let content = register::content(&id, params, child)?;
        if content.len() > limits::RECEIPT_BYTES {
            return Err(Refusal::from(Unfit::TooLarge(limits::RECEIPT_BYTES)).into());
        }
        let path = self.directory.as_deref().ok_or(Error::NoHome)?;
        // What could not be read back is not written.
        let Record { endpoint, source, .. } = Record::read(&content, &id)?;
        let directory = Directory::create(path).map_err(|unfit| unusable(path, unfit))?;
        let temporary = format!(".{id}.{}.tmp", std::process::id());
        let stamp = directory.publish(&file_name(&endpoint), &temporary, &content)?;
        published.receipts.insert(endpoint.clone(), Published { directory, stamp, source });
        Ok(endpoint)
    }

    /// Publishes the host of a session that it loaded, unless another live runtime runs that session. Two hosts that load
    /// one session at the same time both find it free before they start the agent, so this decides: under the directory's
    /// lock, the first one wins.
    pub fn publish_loaded(&self, params: &RegisterParams, child: i32) -> Result<Endpoint, Error> {
        let path = self.directory.as_deref().ok_or(Error::NoHome)?;
        let directory = Directory::create(path).map_err(|unfit| unusable(path, unfit))?;
        let began = Instant::now();
        while !directory.try_lock()? {
            if began.elapsed() > limits::RECEIPTS_LOCK {
                return Err(Error::Locked(path.to_owned()));
            }
            thread::sleep(limits::RECEIPTS_LOCK_PAUSE);
        }
        let runs = |record: &&Arc<Record>| {
            record.source.harness == params.source.harness && record.source.session_id == params.source.session_id
        };
        match self.list().records.iter().find(runs) {
            Some(other) => Err(Error::AlreadyLive(other.runtime_id.clone())),
            None => self.publish(params, Some(child)),
        }
    }

    /// Removes a receipt that this server published, if it is still there and within `grant`.
    pub fn unregister(&self, endpoint: &Endpoint, grant: &Grant) -> Result<(), Error> {
        let mut published = self.published();
        let receipt = published.receipts.get(endpoint).filter(|receipt| grant.reaches_source(&receipt.source));
        let receipt = receipt.ok_or_else(|| Error::NotRegistered(endpoint.clone()))?;
        receipt.remove(endpoint)?;
        published.receipts.remove(endpoint);
        Ok(())
    }

    /// The receipt of an endpoint, whatever became of its owner.
    pub fn peek(&self, endpoint: &Endpoint) -> Result<Option<Record>, Error> {
        let Some(directory) = self.existing()? else {
            return Ok(None);
        };
        Ok(read(&directory, &file_name(endpoint))?)
    }

    /// Removes the very file that this receipt was read from, and none that took its place.
    pub fn forget(&self, record: &Record) -> Result<bool, Error> {
        match self.existing()? {
            Some(directory) => Ok(remove(&directory, record)?),
            None => Ok(false),
        }
    }

    /// Removes what servers that are gone left behind: their receipts, and files that they had not finished.
    pub fn sweep(&self) -> Result<(), Error> {
        self.list();
        let Some(directory) = self.existing()? else {
            return Ok(());
        };
        let abandoned = |name: &str| writer(name).is_some_and(|pid| !process::alive(pid));
        let now_ms = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_millis() as i64);
        let is_old = |stamp: &Stamp| {
            u128::try_from(now_ms - stamp.modified_ms())
                .is_ok_and(|age| age > limits::RECEIPT_TEMPORARY_AGE.as_millis())
        };
        for name in directory.names(limits::RECEIPTS, abandoned)? {
            directory.remove(&name, is_old)?;
        }
        Ok(())
    }

    /// Removes all that this server published; it publishes no more.
    pub fn close(&self) {
        let mut published = self.published();
        published.closed = true;
        for (endpoint, receipt) in published.receipts.drain() {
            // Nobody is left who could be told, and a reader will find the owner gone.
            let _ = receipt.remove(&endpoint);
        }
    }

    fn published(&self) -> MutexGuard<'_, Publishing> {
        self.published.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn existing(&self) -> Result<Option<Directory>, Error> {
        let Some(path) = &self.directory else {
            return Ok(None);
        };
        Directory::open(path).map_err(|unfit| unusable(path, unfit))
    }
}

impl Drop for Receipts {
    fn drop(&mut self) {
        self.close();
    }
}

impl Published {
    /// By the file alone: what others did to its times or its mode does not make it theirs.
    fn remove(&self, endpoint: &Endpoint) -> io::Result<bool> {
        self.directory.remove(&file_name(endpoint), |now| now.is_same_file(&self.stamp))
    }
}

impl Listing {
    fn read(&mut self, path: &Path, directory: &Directory, mut names: Vec<String>) {
        if names.len() > limits::RECEIPTS {
            names.truncate(limits::RECEIPTS);
            let message = format!("only {} of its receipts are read", limits::RECEIPTS);
            self.problems.push(row(path, None, "limit", message));
        }
        names.sort_unstable();
        for name in names {
            match live(directory, &name) {
                Ok(record) => self.records.extend(record.map(Arc::new)),
                Err(refusal) => self.problems.push(problem(&path.join(&name), Some(&name), &refusal)),
            }
        }
    }
}

/// One name more than are read where there are too many.
fn names(directory: &Directory) -> io::Result<Vec<String>> {
    directory.names(limits::RECEIPTS + 1, |name| name.ends_with(SUFFIX))
}

/// Reads the receipt in a file; `None` where there is no such file.
fn read(directory: &Directory, name: &str) -> Result<Option<Record>, Refusal> {
    let id = name.strip_suffix(SUFFIX).filter(|id| Endpoint::of_receipt(id).is_some()).ok_or(Refusal::Name)?;
    let Some((content, stamp)) = directory.read(name, limits::RECEIPT_BYTES)? else {
        return Ok(None);
    };
    Ok(Some(Record { stamp: Some(stamp), ..Record::read(&content, id)? }))
}

/// Reads the receipt in a file if its owner lives. If that is gone for certain, the file goes, too.
fn live(directory: &Directory, name: &str) -> Result<Option<Record>, Refusal> {
    let Some(record) = read(directory, name)? else {
        return Ok(None);
    };
    match record.owner()? {
        Owner::Lives => Ok(Some(record)),
        Owner::Gone { certain } => {
            if certain {
                // One that stays is passed over again.
                let _ = remove(directory, &record);
            }
            Ok(None)
        }
    }
}

fn remove(directory: &Directory, record: &Record) -> io::Result<bool> {
    directory.remove(&file_name(&record.endpoint), |now| Some(*now) == record.stamp)
}

/// The process that a name of an unfinished receipt tells: `.<id>.<pid>.tmp`.
fn writer(name: &str) -> Option<i32> {
    let (id, pid) = name.strip_prefix('.')?.strip_suffix(".tmp")?.split_once('.')?;
    Endpoint::of_receipt(id)?;
    pid.parse().ok().filter(|pid| *pid > 0)
}

fn unusable(path: &Path, unfit: Unfit) -> Error {
    Error::Directory { directory: path.to_owned(), unfit }
}

fn problem(path: &Path, name: Option<&str>, refusal: &Refusal) -> Problem {
    let endpoint = name.and_then(|name| Endpoint::of_receipt(name.strip_suffix(SUFFIX)?));
    row(path, endpoint, refusal.word(), refusal.to_string())
}

fn row(path: &Path, endpoint: Option<Endpoint>, reason: &str, message: String) -> Problem {
    Problem {
        harness: None,
        path: Some(path.to_string_lossy().into_owned()),
        id: None,
        endpoint: endpoint.map(|endpoint| endpoint.to_string()),
        reason: reason.to_owned(),
        message,
    }
}
