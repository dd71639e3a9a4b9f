//! WatchRequest the inventory.

use super::{Context, Service, blocking, registry};
use crate::authority::Grant;
use crate::harness::NoProgress;
use crate::limits;
use crate::protocol::{
    Empty, Notification, Permission, Reason, RegistryEventParams, RpcError, UnwatchParams, WatchParams, WatchResult,
};
use crate::registry::{EventBatch, Registry, Subscription, WatchRequest};
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::sync::watch::Receiver;

impl Service {
    /// Why a client may have no subscription more.
    pub(super) fn too_many_subscriptions(&self) -> RpcError {
        let max = self.limits().subscriptions;
        RpcError::new(Reason::Limit, format!("a client has at most {max} subscriptions; end one first"))
    }

    /// Sees to it that changes are noticed.
    pub(super) fn ensure_engine(&self) -> Result<(), RpcError> {
        self.registry.ensure_engine(self.limits().watches, &self.handle).map_err(|error| {
            RpcError::new(Reason::Unavailable, format!("the system lets nothing be watched now: {error}"))
        })
    }
}

pub(super) async fn watch(
    service: Arc<Service>,
    context: Context,
    params: WatchParams,
) -> Result<WatchResult, RpcError> {
    let query = params.query.unwrap_or_default();
    registry::check_query(&query)?;
    let id = Service::new_handle("subscription")?;
    let (of, asking) = (service.clone(), context.clone());
    let (subscription, revision, opened) = blocking(move || -> Result<_, RpcError> {
        of.registry.snapshot_within(limits::PROBE_WATCH, &asking)?;
        asking.check()?;
        let request = WatchRequest { id, query, grant: asking.grant.clone(), since: params.since };
        let begun = of.registry.watch(request, of.limits().subscriptions);
        let (subscription, revision) = begun.ok_or_else(|| of.too_many_subscriptions())?;
        let opened = PendingSubscription::new(&of, Registry::unwatch, &subscription.id);
        // It may have been narrowed since this was asked.
        subscription.narrow(|known| narrowed(known, &asking));
        of.ensure_engine()?;
        Ok((subscription, revision, opened))
    })
    .await??;
    opened.commit();
    let id = subscription.id.clone();
    tokio::spawn(deliver(service, subscription, context.client.outgoing(), context.replied));
    Ok(WatchResult { subscription: id, revision })
}

/// What a request opened on another thread. It is ended again when nobody waits for the answer any more.
pub(super) struct PendingSubscription {
    service: Arc<Service>,
    end: fn(&Registry, &str, &Grant) -> bool,
    id: Option<String>,
}

impl PendingSubscription {
    pub(super) fn new(service: &Arc<Service>, end: fn(&Registry, &str, &Grant) -> bool, id: &str) -> Self {
        Self { service: service.clone(), end, id: Some(id.to_owned()) }
    }

    /// The request is answered with it.
    pub(super) fn commit(mut self) {
        self.id = None;
    }
}

impl Drop for PendingSubscription {
    fn drop(&mut self) {
        if let Some(id) = &self.id {
            (self.end)(&self.service.registry, id, &Grant::all());
        }
    }
}

/// What is left of what a request may see within what its client may see now.
pub(super) fn narrowed(known: &Grant, context: &Context) -> Option<Grant> {
    Some(known.within(&context.client.grant())).filter(|grant| grant.allows(Permission::Observe))
}

pub(super) fn unwatch(service: &Service, context: &Context, params: UnwatchParams) -> Result<Empty, RpcError> {
    if service.registry.unwatch(&params.subscription, &context.grant) {
        return Ok(Empty {});
    }
    let id: String = params.subscription.chars().take(200).collect();
    Err(RpcError::new(Reason::NotFound, format!("there is no subscription `{id}`, or it is over")))
}

/// Tells a subscription's events as the client takes them, from when it knows the subscription.
async fn deliver(
    service: Arc<Service>,
    subscription: Arc<Subscription>,
    outgoing: mpsc::Sender<Notification>,
    mut known: Receiver<bool>,
) {
    let ended = subscription.ended().clone();
    let work = async {
        if known.wait_for(|known| *known).await.is_err() {
            // The client will never hear of it.
            service.registry.unwatch(&subscription.id, &Grant::all());
            return;
        }
        loop {
            // First states are long: only so many are kept ready for a client that does not read.
            let turn = if subscription.is_synced() { None } else { service.first_states.acquire().await.ok() };
            send_events(&service, &subscription, &outgoing).await;
            drop(turn);
            subscription.woken().await;
        }
    };
    tokio::select! {
        () = ended.cancelled() => {}
        () = work => {}
    }
}

/// Tells all that there is to tell. What is told is made once the client has room for it, so that it is not old.
async fn send_events(service: &Arc<Service>, subscription: &Arc<Subscription>, outgoing: &mpsc::Sender<Notification>) {
    loop {
        let Ok(permit) = outgoing.reserve().await else { return };
        let count = if subscription.is_synced() { 1 } else { limits::FIRST_STATE_EVENTS };
        let batch = if subscription.may_block() || count > 1 {
            let (service, subscription) = (service.clone(), subscription.clone());
            blocking(move || service.registry.next(&subscription, count, &NoProgress)).await
        } else {
            Ok(service.registry.next(subscription, count, &NoProgress))
        };
        // Nobody cancels it; what panicked would do so again.
        let Ok(Ok(Some(EventBatch { void, events }))) = batch else { return };
        let mut permit = Some(permit);
        for (revision, event) in events {
            let params = RegistryEventParams { subscription: subscription.id.clone(), revision, event };
            let Ok(notification) = Notification::new("registry/event", &params) else { continue };
            let notification = notification.unless(&void);
            match permit.take() {
                Some(permit) => permit.send(notification),
                None if outgoing.send(notification).await.is_err() => return,
                None => {}
            }
        }
    }
}
