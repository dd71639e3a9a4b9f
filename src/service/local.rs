//! The same methods for the command line's own user, without a connection.

use super::{Client, Config, Context, Service, peer, registry, settings};
use crate::protocol::{
    CoverageParams, CoverageResult, DescribeParams, DescribeResult, Empty, ListParams, ListResult, PeerListResult,
    RpcError, Settings, SettingsReadParams, SettingsUpdateParams,
};
use std::sync::Arc;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

/// A server in this process, with its only client.
pub struct Local {
    /// Where connections are served while this is there.
    _runtime: tokio::runtime::Runtime,
    service: Service,
    context: Context,
}

impl Local {
    /// A server as its user set it. Fails when the system gives no randomness.
    pub fn new(config: Config) -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let service = Service::new(config, runtime.handle().clone())?;
        // Nobody listens to notifications: without a progress token there are none.
        let (outgoing, _) = mpsc::channel(1);
        let client = Arc::new(Client::new(&service, outgoing));
        let context = Context::new(client, CancellationToken::new(), watch::channel(false).1);
        Ok(Self { _runtime: runtime, service, context })
    }

    /// `registry/list`.
    pub fn list(&self, params: ListParams) -> Result<ListResult, RpcError> {
        registry::list(&self.service, &self.context, params)
    }

    /// `registry/describe`.
    pub fn describe(&self, params: DescribeParams) -> Result<DescribeResult, RpcError> {
        registry::describe(&self.service, &self.context, params)
    }

    /// `registry/coverage`.
    pub fn coverage(&self, params: CoverageParams) -> Result<CoverageResult, RpcError> {
        registry::coverage(&self.service, &self.context, params)
    }

    /// `peer/list`.
    pub fn peers(&self) -> Result<PeerListResult, RpcError> {
        peer::list(&self.service, &self.context, Empty {})
    }

    /// `settings/read`.
    pub fn settings(&self, params: SettingsReadParams) -> Result<Settings, RpcError> {
        settings::read(&self.service, &self.context, params)
    }

    /// `settings/update`.
    pub fn update_settings(&self, params: SettingsUpdateParams) -> Result<Settings, RpcError> {
        settings::update(&self.service, &self.context, params)
    }
}
