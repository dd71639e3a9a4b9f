//! Claude Code's user settings.

use super::{Context, Service};
use crate::platform::files::resolve;
use crate::platform::private::Unfit;
use crate::protocol::{
    Harness, Permission, Reason, RpcError, Settings, SettingsReadParams, SettingsUpdateParams, presentable,
};
use crate::settings::{self, Error};
use std::path::{Path, PathBuf};

impl From<Error> for RpcError {
    fn from(error: Error) -> Self {
        let reason = match &error {
            Error::Invalid { .. } => Reason::InvalidSettings,
            Error::Unfit { unfit: Unfit::TooLarge(_), .. } => Reason::TooLarge,
            Error::Unfit { unfit: Unfit::Io(_) | Unfit::ForeignOwner, .. } => Reason::Io,
            Error::Unfit { .. } => Reason::InvalidSettings,
            Error::Changed { .. } => Reason::ChangedDuringWrite,
            Error::Busy => Reason::Busy,
            Error::Cancelled => Reason::Cancelled,
        };
        let told = Self::new(reason, error.to_string());
        match error {
            Error::Changed { expected, actual } => {
                let told = told.with("expected", presentable(expected));
                actual.into_iter().fold(told, |told, actual| told.with("actual", actual))
            }
            _ => told,
        }
    }
}

pub(super) fn read(service: &Service, context: &Context, params: SettingsReadParams) -> Result<Settings, RpcError> {
    Ok(settings::read(&home(service, context, params.home.as_deref())?)?)
}

pub(super) fn update(service: &Service, context: &Context, params: SettingsUpdateParams) -> Result<Settings, RpcError> {
    let home = home(service, context, params.home.as_deref())?;
    if context.grant.has_workspace_scope() {
        let why = "these settings reach every workspace, so who is kept to some of them cannot change them";
        return Err(RpcError::new(Reason::Unauthorized, why).with("permission", Permission::Configure.id()));
    }
    Ok(settings::update(&home, params.cross_session_inbound, params.expected_revision.as_deref(), context)?)
}

/// The home that is meant, of those that the spawner named: what a client named does not count here.
fn home(service: &Service, context: &Context, named: Option<&str>) -> Result<PathBuf, RpcError> {
    let homes = match context.grant.reaches_harness(Harness::ClaudeCode) {
        true => service.config.homes.homes_of(Harness::ClaudeCode),
        false => Vec::new(),
    };
    let found = match named.map(Path::new) {
        Some(named) if named.is_absolute() => {
            let named = resolve(named);
            homes.into_iter().find(|home| resolve(home) == named)
        }
        Some(_) => None,
        None => homes.into_iter().next(),
    };
    found.ok_or_else(|| {
        let which = named.map_or_else(|| "no home of Claude Code".to_owned(), |path| format!("no home `{path}`"));
        let hint = "the server knows those that the environment and `--root claude-code=PATH` name";
        RpcError::new(Reason::NotFound, format!("there is {which}; {hint}"))
    })
}
