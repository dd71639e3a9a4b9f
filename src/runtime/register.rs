//! What is written when this server publishes a receipt: what the existing readers know, in the order in which the
//! existing writer has it, and the mark of the owner.

use super::address::Address;
use super::mark::Mark;
use super::receipt::{CAPABILITIES, Refusal, SCHEMA, pid};
use crate::platform::files::resolve;
use crate::protocol::{EndpointCapability, Harness, RegisterParams, Supervisor, Token};
use serde::Serialize;
use std::path::Path;
use std::time::SystemTime;

#[derive(Serialize)]
struct Content<'a> {
    schema: &'static str,
    receipt_id: &'a str,
    runtime_session_id: &'a str,
    source: SourceContent<'a>,
    base_url: String,
    token: &'a Token,
    pid: i32,
    created_at_ms: u64,
    metadata: Metadata<'a>,
}

#[derive(Serialize)]
struct SourceContent<'a> {
    harness: Harness,
    session_id: &'a str,
    workspace: String,
}

#[derive(Serialize)]
struct Metadata<'a> {
    child_pid: Option<i32>,
    profile: Option<&'a str>,
    persistence_location: Option<&'a str>,
    endpoint_capabilities: &'a [EndpointCapability],
    supervisor: Option<SupervisorContent<'a>>,
    tackroom: Mark,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum SupervisorContent<'a> {
    Tmux { session_name: &'a str },
}

/// The receipt `id` of a runtime whose owner runs. That it can be read back is for the caller to see.
pub(super) fn content(id: &str, params: &RegisterParams, child_pid: Option<i32>) -> Result<Vec<u8>, Refusal> {
    let pid = pid(params.pid.unwrap_or_else(|| std::process::id().into()))?;
    let metadata = params.metadata.as_ref();
    let supervisor = metadata.and_then(|metadata| metadata.supervisor.as_ref());
    let content = Content {
        schema: SCHEMA,
        receipt_id: id,
        runtime_session_id: &params.runtime_id,
        source: SourceContent {
            harness: params.source.harness,
            session_id: &params.source.session_id,
            workspace: workspace(&params.source.workspace),
        },
        base_url: Address::parse(&params.base_url)?.base_url(),
        token: &params.token,
        pid,
        created_at_ms: SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_millis() as u64),
        metadata: Metadata {
            child_pid,
            profile: metadata.and_then(|metadata| metadata.profile.as_deref()),
            persistence_location: metadata.and_then(|metadata| metadata.persistence_location.as_deref()),
            endpoint_capabilities: metadata
                .and_then(|metadata| metadata.endpoint_capabilities.as_deref())
                .unwrap_or(&CAPABILITIES),
            supervisor: supervisor.map(|Supervisor::Tmux { session_name }| SupervisorContent::Tmux { session_name }),
            tackroom: Mark::of(pid).ok_or(Refusal::NoProcess)?,
        },
    };
    Ok(serde_json::to_vec(&content)?)
}

/// The workspace by its own name, if it has one that can be written.
fn workspace(workspace: &str) -> String {
    let path = Path::new(workspace);
    let resolved = path.is_absolute().then(|| resolve(path).into_os_string().into_string().ok()).flatten();
    resolved.unwrap_or_else(|| workspace.to_owned())
}
