//! The same methods for the command line's own user, without a connection.

use super::{Client, Config, Context, Service, registry, start, terminal};
use crate::limits;
use crate::protocol::{Entry, Harness, Notification, ResolveParams, ResolvedBy, RpcError, Terminal};
use std::sync::Arc;
use tokio::runtime::{Handle, Runtime};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

/// A server in this process, with its only client.
pub struct Local {
    /// Where connections are served while this is there.
    runtime: Option<Runtime>,
    handle: Handle,
    user: User,
    notifications: Option<mpsc::Receiver<Notification>>,
}

/// That client: what it asks that takes its time, as over the wire.
#[derive(Clone)]
pub struct User {
    pub(super) service: Arc<Service>,
    client: Arc<Client>,
}

impl Local {
    /// A server as its user set it. Fails when the system gives no randomness.
    pub fn new(config: Config) -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let handle = runtime.handle().clone();
        let service = Arc::new(Service::new(config, handle.clone())?);
        let (outgoing, notifications) = mpsc::channel(limits::NOTIFICATIONS_QUEUED);
        let client = Arc::new(Client::new(&service, outgoing));
        Ok(Self { runtime: Some(runtime), handle, user: User { service, client }, notifications: Some(notifications) })
    }

    /// The client, for what waits for runtimes.
    pub fn user(&self) -> User {
        self.user.clone()
    }

    /// Returns the notifications that the client receives; `None` the second time.
    pub fn notifications(&mut self) -> Option<mpsc::Receiver<Notification>> {
        self.notifications.take()
    }

    /// Waits for what takes its time.
    pub fn wait<F: Future>(&self, work: F) -> F::Output {
        self.handle.block_on(work)
    }

    /// Returns the entry that a reference names, as `registry/resolve` finds it, without the details that would need its
    /// messages, and what matched.
    pub fn find(&self, params: ResolveParams) -> Result<(Entry, ResolvedBy), RpcError> {
        registry::find(&self.user.service, &self.user.context(), params)
    }

    /// The live session that has this id, of one harness or of any.
    pub fn live_session(&self, harness: Option<Harness>, id: &str) -> Result<Option<Entry>, RpcError> {
        start::live_session(&self.user.service, &self.user.context(), harness, id)
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // A thread that waits for a file or for a terminal cannot be cancelled; it must not keep the process.
            runtime.shutdown_background();
        }
    }
}

impl User {
    /// Returns the terminal of an entry; `None` if no live process of it is known.
    pub async fn terminal(&self, entry: &Entry) -> Option<Terminal> {
        terminal::of_entry(entry).await
    }

    /// Ends the programs that were started for this client; back when they are gone.
    pub async fn end_couriers(&self) {
        self.service.end_couriers().await;
    }

    /// One request, which is answered to a caller that is there: it hears of what it opened from then on.
    pub(super) fn context(&self) -> Context {
        let (_, answered) = watch::channel(true);
        Context::new(self.client.clone(), CancellationToken::new(), answered)
    }
}
