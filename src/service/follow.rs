//! Following a session's messages.

use super::watch::{PendingSubscription, narrowed};
use super::{Context, Service, blocking, registry};
use crate::authority::Grant;
use crate::harness::Progress;
use crate::protocol::{
    Empty, FollowParams, FollowResult, Notification, Reason, RpcError, SessionEvent, SessionEventParams, UnfollowParams,
};
use crate::registry::{ClientView, FollowOutcome, FollowWaker, FollowedSession, Refresh, Registry};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc;
use tokio::sync::watch::Receiver;
use tokio_util::sync::CancellationToken;

pub(super) async fn follow(
    service: Arc<Service>,
    context: Context,
    params: FollowParams,
) -> Result<FollowResult, RpcError> {
    let id = Service::new_handle("subscription")?;
    let (of, asking) = (service.clone(), context.clone());
    let (result, following, waker, opened) = blocking(move || -> Result<_, RpcError> {
        let snapshot = of.registry.snapshot(&asking)?;
        let opened = snapshot.follow(&params.id, &asking.grant, &of.registry.roots(), &asking)?;
        let (following, session, cursor) =
            opened.ok_or_else(|| registry::missing_of(&snapshot, &params.id, &asking.grant))?;
        asking.check()?;
        let (grant, max) = (asking.grant.clone(), of.limits().subscriptions);
        let waker = of.registry.follow(id.clone(), &following, grant, max);
        let waker = waker.ok_or_else(|| of.too_many_subscriptions())?;
        let opened = PendingSubscription::new(&of, Registry::unfollow, &id);
        // It may have been narrowed since this was asked.
        waker.narrow(|known| narrowed(known, &asking));
        of.ensure_engine()?;
        Ok((FollowResult { subscription: id, session, cursor }, following, waker, opened))
    })
    .await??;
    opened.commit();
    let following = Arc::new(Mutex::new(following));
    let task = FollowTask { service, following, waker, subscription: result.subscription.clone() };
    tokio::spawn(task.run(context.client.outgoing(), context.replied));
    Ok(result)
}

pub(super) fn unfollow(service: &Service, context: &Context, params: UnfollowParams) -> Result<Empty, RpcError> {
    if service.registry.unfollow(&params.subscription, &context.grant) {
        return Ok(Empty {});
    }
    let id: String = params.subscription.chars().take(200).collect();
    Err(RpcError::new(Reason::NotFound, format!("there is no subscription `{id}`, or it is over")))
}

/// One session that is followed for a client.
struct FollowTask {
    service: Arc<Service>,
    following: Arc<Mutex<FollowedSession>>,
    waker: Arc<FollowWaker>,
    subscription: String,
}

impl FollowTask {
    async fn run(self, outgoing: mpsc::Sender<Notification>, known: Receiver<bool>) {
        tokio::select! {
            () = self.waker.ended().cancelled() => {}
            () = self.deliver(outgoing, known) => {}
        }
    }

    /// Tells what is new once the client has room for it: what is written meanwhile comes together.
    async fn deliver(&self, outgoing: mpsc::Sender<Notification>, mut known: Receiver<bool>) {
        if known.wait_for(|known| *known).await.is_err() {
            // The client will never hear of it.
            self.service.registry.unfollow(&self.subscription, &Grant::all());
            return;
        }
        loop {
            let Ok(permit) = outgoing.reserve().await else { return };
            let Ok(Some((event, void))) = self.next_event().await else {
                drop(permit);
                self.wait().await;
                continue;
            };
            let params = SessionEventParams { subscription: self.subscription.clone(), event };
            if let Ok(notification) = Notification::new("session/event", &params) {
                permit.send(notification.unless(&void));
            }
        }
    }

    async fn wait(&self) {
        let due = lock(&self.following).due();
        tokio::select! {
            () = self.waker.woken() => {}
            () = async { tokio::time::sleep(due.unwrap_or_default()).await }, if due.is_some() => {}
        }
    }

    /// What is new, if anything is, and what is set when it is not to be told any more.
    async fn next_event(&self) -> Result<Option<(SessionEvent, CancellationToken)>, RpcError> {
        let (service, following, waker) = (self.service.clone(), self.following.clone(), self.waker.clone());
        let until = UntilEnded(waker.ended().clone());
        blocking(move || {
            let registry = &service.registry;
            let (mut following, roots) = (lock(&following), registry.roots());
            let needs_review = waker.take_review_request();
            let ClientView { grant, void } = waker.view();
            let review = |following: &mut FollowedSession, refresh: Refresh| -> Result<_, RpcError> {
                let outcome = following.review(&*registry.latest_snapshot(refresh)?, &grant, &roots, &until)?;
                waker.set_location(following);
                Ok(outcome)
            };
            // What fell out of scope is not read any more.
            if needs_review && let FollowOutcome::Event(event) = review(&mut following, Refresh::No)? {
                return Ok(Some((event, void)));
            }
            let outcome = match following.read(&roots, &until)? {
                FollowOutcome::Lost => review(&mut following, Refresh::Yes)?,
                outcome => outcome,
            };
            Ok(match outcome {
                FollowOutcome::Event(event) => Some((event, void)),
                FollowOutcome::Nothing | FollowOutcome::Lost => None,
            })
        })
        .await?
    }
}

/// Reads until the subscription ends.
struct UntilEnded(CancellationToken);

impl Progress for UntilEnded {
    fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    fn report(&self, _: &str, _: u64, _: Option<u64>) {}
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
