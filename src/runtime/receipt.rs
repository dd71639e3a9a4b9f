//! One receipt: what a runtime published of itself, as far as it can be believed.

use super::address::{Address, AddressError};
use super::api::Descriptor;
use super::mark::Mark;
use crate::platform::files::{Stamp, resolve};
use crate::platform::private::Unfit;
use crate::protocol::{
    self, Endpoint, EndpointCapability, Harness, Receipt, RuntimeMetadata, Source, Supervisor, Token,
};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::path::Path;

pub(super) const SCHEMA: &str = "supercode.live-runtime.v1";
/// The member of `metadata` that holds our [`Mark`].
pub(super) const MARK: &str = "tackroom";

/// A receipt that holds by itself. Whether its owner lives is another question.
#[derive(Clone, Debug)]
pub struct Record {
    /// Its name.
    pub endpoint: Endpoint,
    /// The runtime's own id.
    pub runtime_id: String,
    /// The conversation that it runs.
    pub source: Source,
    /// Where it listens.
    pub address: Address,
    /// What it wants to be shown; for its address alone.
    pub token: Token,
    /// The process that owns it.
    pub pid: i32,
    /// When it was published, in epoch milliseconds.
    pub created_at_ms: u64,
    /// What it says besides.
    pub metadata: RuntimeMetadata,
    pub(super) mark: Option<Mark>,
    /// Which file it was read from.
    pub(super) stamp: Option<Stamp>,
}

/// Why a file is no receipt that counts.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The file or its directory is not ours alone.
    #[error("{0}")]
    Unfit(#[from] Unfit),
    /// The file's name is no id, or not the id that stands in it.
    #[error("its name is not `<receipt_id>.json` with 32 lower-case hexadecimal digits")]
    Name,
    /// It cannot be read as what its schema says.
    #[error("it is no receipt; what is wrong shows at line {line} column {column}")]
    Malformed {
        /// From 1.
        line: usize,
        /// From 1, in bytes.
        column: usize,
    },
    /// Another schema.
    #[error("its schema is not `{SCHEMA}`")]
    Schema,
    /// A harness that is not known here.
    #[error("its harness is not known here")]
    Harness,
    /// The workspace is no absolute path.
    #[error("its workspace is not an absolute path")]
    Workspace,
    /// An id is blank or holds control characters.
    #[error("its runtime's or its session's id is blank or holds control characters")]
    Id,
    /// The base URL is no loopback address.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The token cannot stand in a header.
    #[error("its token is empty or holds other than visible ASCII characters")]
    Token,
    /// The pid is none.
    #[error("its pid is not between 1 and 2147483647")]
    Pid,
    /// The pid says nothing here.
    #[error("its process is in another pid namespace and cannot be judged from here")]
    OtherPidDomain,
    /// Another process has the pid.
    #[error("the process that has its pid now began after the receipt was written")]
    NotItsOwner,
    /// The process that is to own the receipt is not there, or cannot be told from a later one.
    #[error("no running process that can be told from a later one has its pid")]
    NoProcess,
}

impl Refusal {
    /// The stable word for it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Unfit(unfit) => unfit.word(),
            Self::Name => "name",
            Self::Malformed { .. } => "malformed",
            Self::Schema => "schema",
            Self::Harness => "harness_unsupported",
            Self::Workspace => "workspace",
            Self::Id => "id",
            Self::Address(_) => "address",
            Self::Token => "token",
            Self::Pid => "pid",
            Self::OtherPidDomain => "pid_domain",
            Self::NotItsOwner => "pid_reused",
            Self::NoProcess => "no_process",
        }
    }
}

impl From<serde_json::Error> for Refusal {
    /// Where it went wrong, and not what stands there: that may be the token.
    fn from(error: serde_json::Error) -> Self {
        Self::Malformed { line: error.line(), column: error.column() }
    }
}

#[derive(Deserialize)]
struct Head {
    schema: String,
}

/// A receipt as it is written. A member that stands twice is refused.
#[derive(Deserialize)]
struct Content {
    receipt_id: String,
    runtime_session_id: String,
    #[serde(deserialize_with = "protocol::object")]
    source: SourceContent,
    base_url: String,
    token: String,
    pid: i64,
    created_at_ms: Box<RawValue>,
    #[serde(default)]
    metadata: Value,
}

#[derive(Deserialize)]
struct SourceContent {
    harness: String,
    session_id: String,
    workspace: String,
}

impl Record {
    /// Reads what stands in the file `<id>.json`.
    pub(super) fn read(content: &[u8], id: &str) -> Result<Self, Refusal> {
        let endpoint = Endpoint::of_receipt(id).ok_or(Refusal::Name)?;
        if !content.trim_ascii_start().starts_with(b"{") {
            return Err(Refusal::Malformed { line: 1, column: 1 });
        }
        // First: another schema may have other members.
        if serde_json::from_slice::<Head>(content)?.schema != SCHEMA {
            return Err(Refusal::Schema);
        }
        let content: Content = serde_json::from_slice(content)?;
        if content.receipt_id != id {
            return Err(Refusal::Name);
        }
        let SourceContent { harness, session_id, workspace } = content.source;
        if [&content.runtime_session_id, &session_id].into_iter().any(|id| !is_id(id)) {
            return Err(Refusal::Id);
        }
        if !Path::new(&workspace).is_absolute() {
            return Err(Refusal::Workspace);
        }
        let harness: Harness = harness.parse().map_err(|_| Refusal::Harness)?;
        Ok(Self {
            endpoint,
            runtime_id: content.runtime_session_id,
            source: Source { harness, session_id, workspace },
            address: Address::parse(&content.base_url)?,
            token: token(content.token)?,
            pid: pid(content.pid)?,
            created_at_ms: clamped(content.created_at_ms.get()).ok_or(Refusal::Malformed { line: 1, column: 1 })?,
            metadata: metadata(&content.metadata),
            mark: content.metadata.get(MARK).and_then(|mark| Mark::deserialize(mark).ok()),
            stamp: None,
        })
    }

    /// The receipt without its secret. `reachable` is whether the runtime answered, if it was asked.
    pub fn public(&self, reachable: Option<bool>) -> Receipt {
        Receipt {
            endpoint: self.endpoint.clone(),
            runtime_id: self.runtime_id.clone(),
            source: self.source.clone(),
            pid: self.pid,
            created_at_ms: self.created_at_ms,
            metadata: self.metadata.clone(),
            reachable,
        }
    }

    /// Whether both were read from one and the same state of a file.
    pub(super) fn is_same_file(&self, other: &Self) -> bool {
        self.endpoint == other.endpoint && self.stamp == other.stamp
    }

    /// Whether what answers at its address is the runtime that it names. A runtime need not state its harness.
    pub(super) fn agrees(&self, descriptor: &Descriptor) -> Result<(), super::Error> {
        let harness = descriptor.source_harness.as_deref();
        if descriptor.session_id != self.runtime_id {
            return Err(super::Error::Mismatch("another runtime answers at the address of the receipt"));
        }
        if harness.is_some_and(|harness| harness != self.source.harness.id()) {
            return Err(super::Error::Mismatch("the runtime is one of another harness than its receipt says"));
        }
        Ok(())
    }

    /// The ids of the session that it runs: its source's, and the one of the file that it writes to where that is named
    /// after another session.
    pub fn session_ids(&self) -> impl Iterator<Item = &str> {
        let written =
            self.metadata.persistence_location.as_deref().and_then(|file| Path::new(file).file_stem()?.to_str());
        written.into_iter().chain([&*self.source.session_id])
    }

    /// Whether this is the conversation that it runs. Workspaces are the same where they lead to the same place.
    pub fn runs(&self, source: &Source) -> bool {
        let place = |workspace: &str| resolve(Path::new(workspace));
        self.source.harness == source.harness
            && self.session_ids().any(|id| id == source.session_id)
            && Path::new(&source.workspace).is_absolute()
            && place(&self.source.workspace) == place(&source.workspace)
    }
}

fn is_id(id: &str) -> bool {
    !id.trim().is_empty() && !id.contains(char::is_control)
}

fn token(token: String) -> Result<Token, Refusal> {
    let fits = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    if fits { Ok(Token::new(token)) } else { Err(Refusal::Token) }
}

/// Zero and below, and what a system's own type would make of greater numbers, are process groups.
pub(super) fn pid(pid: i64) -> Result<i32, Refusal> {
    i32::try_from(pid).ok().filter(|pid| *pid > 0).ok_or(Refusal::Pid)
}

/// A JSON integer of any size.
fn clamped(number: &str) -> Option<u64> {
    let digits = number.strip_prefix('-').unwrap_or(number);
    let is_integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let nearest = if digits.len() < number.len() { 0 } else { number.parse().unwrap_or(u64::MAX) };
    // Every program can hold it.
    let nearest = nearest.min((1 << 53) - 1);
    is_integer.then_some(nearest)
}

/// What is not understood is left out.
fn metadata(content: &Value) -> RuntimeMetadata {
    let text = |name: &str| content.get(name)?.as_str().map(str::to_owned);
    let capabilities = match content.get("endpoint_capabilities").and_then(Value::as_array) {
        Some(words) => words.iter().filter_map(|word| EndpointCapability::deserialize(word).ok()).collect(),
        None => CAPABILITIES.to_vec(),
    };
    RuntimeMetadata {
        profile: text("profile"),
        persistence_location: text("persistence_location"),
        endpoint_capabilities: Some(capabilities),
        supervisor: content.get("supervisor").and_then(supervisor),
    }
}

/// What an endpoint speaks that does not say.
pub(super) const CAPABILITIES: [EndpointCapability; 2] = [EndpointCapability::Http, EndpointCapability::Acp];

fn supervisor(content: &Value) -> Option<Supervisor> {
    let session_name = content.get("session_name")?.as_str()?.to_owned();
    (content.get("kind")? == "tmux").then_some(Supervisor::Tmux { session_name })
}
