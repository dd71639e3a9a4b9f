//! The same methods for the command line's own user, without a connection.

use super::{
    Client, Config, Context, Service, blocking, follow, peer, registry, runtime, session, settings, start,
    watch as watching,
};
use crate::limits;
use crate::protocol::{
    AcceptedResult, AttachParams, AttachResult, AttachmentParams, CloseResult, CoverageParams, CoverageResult,
    DescribeParams, DescribeResult, DetachResult, DiscoverParams, DiscoverResult, Empty, Entry, FollowParams,
    FollowResult, ForgetParams, ForgetResult, Harness, InterruptResult, LeaseResult, ListParams, ListResult,
    LoadParams, LoadResult, MessageParams, MessageResult, Notification, PeerListResult, ReceiptsResult, RespondParams,
    RpcError, RuntimeDescribeParams, RuntimeDescribeResult, Settings, SettingsReadParams, SettingsUpdateParams,
    SteerParams, SteerResult, SubmitParams, SubmitResult, WatchParams, WatchResult,
};
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
    service: Arc<Service>,
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

    /// What the client is notifications unasked. `None` the second time.
    pub fn notifications(&mut self) -> Option<mpsc::Receiver<Notification>> {
        self.notifications.take()
    }

    /// Waits for what takes its time.
    pub fn wait<F: Future>(&self, work: F) -> F::Output {
        self.handle.block_on(work)
    }

    /// `registry/list`.
    pub fn list(&self, params: ListParams) -> Result<ListResult, RpcError> {
        registry::list(&self.user.service, &self.user.context(), params)
    }

    /// `registry/describe`.
    pub fn describe(&self, params: DescribeParams) -> Result<DescribeResult, RpcError> {
        registry::describe(&self.user.service, &self.user.context(), params)
    }

    /// The live session that has this id, of one harness or of any.
    pub fn live_session(&self, harness: Option<Harness>, id: &str) -> Result<Option<Entry>, RpcError> {
        start::live_session(&self.user.service, &self.user.context(), harness, id)
    }

    /// `registry/coverage`.
    pub fn coverage(&self, params: CoverageParams) -> Result<CoverageResult, RpcError> {
        registry::coverage(&self.user.service, &self.user.context(), params)
    }

    /// `peer/list`.
    pub fn peers(&self) -> Result<PeerListResult, RpcError> {
        peer::list(&self.user.service, &self.user.context(), Empty {})
    }

    /// `settings/read`.
    pub fn settings(&self, params: SettingsReadParams) -> Result<Settings, RpcError> {
        settings::read(&self.user.service, &self.user.context(), params)
    }

    /// `settings/update`.
    pub fn update_settings(&self, params: SettingsUpdateParams) -> Result<Settings, RpcError> {
        settings::update(&self.user.service, &self.user.context(), params)
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

/// The methods that wait, one a row.
macro_rules! methods {
    ($($wire:literal $module:ident::$name:ident($params:ty) -> $result:ty;)*) => {
        impl User {
            $(
                #[doc = concat!("`", $wire, "`.")]
                pub async fn $name(&self, params: $params) -> Result<$result, RpcError> {
                    $module::$name(self.service.clone(), self.context(), params).await
                }
            )*
        }
    };
}

methods! {
    "registry/watch" watching::watch(WatchParams) -> WatchResult;
    "session/follow" follow::follow(FollowParams) -> FollowResult;
    "runtime/receipts" runtime::receipts(Empty) -> ReceiptsResult;
    "runtime/discover" runtime::discover(DiscoverParams) -> DiscoverResult;
    "runtime/forget" runtime::forget(ForgetParams) -> ForgetResult;
    "runtime/describe" runtime::describe(RuntimeDescribeParams) -> RuntimeDescribeResult;
    "runtime/attach" runtime::attach(AttachParams) -> AttachResult;
    "runtime/detach" runtime::detach(AttachmentParams) -> DetachResult;
    "runtime/lease" runtime::lease(AttachmentParams) -> LeaseResult;
    "runtime/takeControl" runtime::take_control(AttachmentParams) -> LeaseResult;
    "runtime/submit" runtime::submit(SubmitParams) -> SubmitResult;
    "runtime/sendInput" runtime::send_input(SubmitParams) -> AcceptedResult;
    "runtime/steer" runtime::steer(SteerParams) -> SteerResult;
    "runtime/interrupt" runtime::interrupt(AttachmentParams) -> InterruptResult;
    "runtime/respond" runtime::respond(RespondParams) -> AcceptedResult;
    "runtime/close" runtime::close(AttachmentParams) -> CloseResult;
    "peer/message" peer::message(MessageParams) -> MessageResult;
}

impl User {
    /// `session/load`.
    pub async fn load(&self, params: LoadParams) -> Result<LoadResult, RpcError> {
        let (service, context) = (self.service.clone(), self.context());
        blocking(move || session::load(&service, &context, params)).await?
    }

    /// Ends the programs that were started for this client; back when they are gone.
    pub async fn end_couriers(&self) {
        self.service.end_couriers().await;
    }

    /// One request, which is answered to a caller that is there: it hears of what it opened from then on.
    fn context(&self) -> Context {
        let (_, answered) = watch::channel(true);
        Context::new(self.client.clone(), CancellationToken::new(), answered)
    }
}
