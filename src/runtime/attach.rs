//! Joining a runtime: first the stream, then the snapshot, so that nothing falls between them. And leaving it: what is
//! said to it last is that the client is gone.

use super::api::{Api, EventStream, Snapshot};
use super::error::Error;
use super::http::{Caller, Client};
use super::receipt::Record;
use crate::limits;
use crate::protocol::{Endpoint, Lease};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, Semaphore};

/// Which names are in use at which runtimes: a runtime forgets a name when any stream of it ends, so each is used once.
#[derive(Clone, Default)]
pub(super) struct Seats(Arc<Taken>);

#[derive(Default)]
struct Taken {
    seats: Mutex<HashMap<Place, Use>>,
    freed: Notify,
}

/// A runtime, and a client's name there.
type Place = (Endpoint, String);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Attached,
    /// The runtime is being told that the client is gone.
    Leaving,
}

/// A name in use at a runtime, until this is dropped.
pub struct Seat {
    seats: Seats,
    place: Place,
}

impl Seats {
    /// Takes a name, if it is free; one that is being given up is waited for.
    pub(super) async fn take(&self, endpoint: &Endpoint, client_id: &str) -> Option<Seat> {
        let place = (endpoint.clone(), client_id.to_owned());
        loop {
            let mut freed = std::pin::pin!(self.0.freed.notified());
            freed.as_mut().enable();
            match self.seats().entry(place.clone()) {
                Entry::Vacant(free) => {
                    free.insert(Use::Attached);
                    return Some(Seat { seats: self.clone(), place });
                }
                Entry::Occupied(taken) if *taken.get() == Use::Attached => return None,
                Entry::Occupied(_) => {}
            }
            freed.await;
        }
    }

    fn seats(&self) -> MutexGuard<'_, HashMap<Place, Use>> {
        self.0.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seat {
    fn is_leaving(&self) {
        self.seats.seats().insert(self.place.clone(), Use::Leaving);
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.seats.seats().remove(&self.place);
        self.seats.0.freed.notify_waiters();
    }
}

/// The requests of one client that are on their way to its runtime. Each is carried to its end though nobody waits for it
/// any more: one that came after the client's leave would make the runtime know the client again.
#[derive(Clone)]
pub(super) struct Calls {
    places: Arc<Semaphore>,
    /// Rung when one has come to its end.
    ended: Arc<Notify>,
}

impl Calls {
    fn new() -> Self {
        let places = Arc::new(Semaphore::new(limits::ATTACHMENT_CALLS as usize));
        Self { places, ended: Arc::default() }
    }

    /// Carries a request to its end, or that of its time.
    pub(super) async fn carry<T: Send + 'static>(
        &self,
        time: Duration,
        request: impl Future<Output = Result<T, Error>> + Send + 'static,
    ) -> Result<T, Error> {
        let on_its_way = self.places.clone().acquire_owned().await.map_err(|_| Error::Left)?;
        let ended = self.ended.clone();
        let carried = tokio::spawn(async move {
            let answer = timely(time, request).await;
            drop(on_its_way);
            ended.notify_waiters();
            answer
        });
        carried.await.map_err(|_| Error::Left)?
    }

    /// Lets none begin, and waits until none is on its way, but not for longer than this; whether that is so.
    async fn end(&self, time: Duration) -> bool {
        self.places.close();
        let all = async {
            loop {
                let mut ended = std::pin::pin!(self.ended.notified());
                ended.as_mut().enable();
                if self.places.available_permits() == limits::ATTACHMENT_CALLS as usize {
                    return;
                }
                ended.await;
            }
        };
        tokio::time::timeout(time, all).await.is_ok()
    }
}

/// Waits for a runtime no longer than this.
pub async fn timely<T>(time: Duration, work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    tokio::time::timeout(time, work).await.unwrap_or(Err(Error::Silent(time)))
}

/// What a client that joined has.
pub(super) struct Joined {
    pub stream: EventStream,
    pub snapshot: Snapshot,
    pub lease: Lease,
    pub calls: Calls,
    pub seat: Seat,
}

/// Joins a runtime. When this is dropped or fails, the runtime is left without a stream and without an observer, and
/// the seat is free only then.
pub(super) async fn join(
    record: &Record,
    client: &Arc<Client>,
    caller: &Caller,
    history: u32,
    seat: Seat,
) -> Result<Joined, Error> {
    let api = Api::new(client.clone(), caller.clone());
    let calls = Calls::new();
    let mut presence = Presence { api: api.clone(), calls: calls.clone(), seat: Some(seat) };
    let stream = api.events().await?;
    let joining = api.clone();
    let snapshot = calls.carry(limits::ATTACH, async move { joining.attach(history).await }).await?;
    record.agrees(&snapshot.descriptor)?;
    let lease = calls.carry(limits::ATTACH, async move { api.lease().await }).await?;
    let seat = presence.seat.take().ok_or(Error::Left)?;
    Ok(Joined { stream, snapshot, lease, calls, seat })
}

/// Tells a runtime that a client is gone, after all else that it is told of the client: who drives and who looks then, if
/// it says so in time. The end of the stream tells it too, and sooner.
pub(super) async fn leave(api: &Api, calls: &Calls, seat: Seat) -> Option<Lease> {
    seat.is_leaving();
    let all_ended = calls.end(limits::PROBE).await;
    let lease = timely(limits::PROBE, api.detach()).await;
    if !all_ended {
        // What a slow runtime takes up only now makes it know the client again.
        let (api, calls) = (api.clone(), calls.clone());
        tokio::spawn(async move {
            calls.end(limits::ATTACH).await;
            let _ = timely(limits::PROBE, api.detach()).await;
            drop(seat);
        });
    }
    lease.ok()
}

/// That a runtime may know a client that did not come to stay.
struct Presence {
    api: Api,
    calls: Calls,
    seat: Option<Seat>,
}

impl Drop for Presence {
    fn drop(&mut self) {
        let (Some(seat), Ok(handle)) = (self.seat.take(), tokio::runtime::Handle::try_current()) else { return };
        // Who comes back at once waits for it.
        seat.is_leaving();
        let (api, calls) = (self.api.clone(), self.calls.clone());
        handle.spawn(async move { leave(&api, &calls, seat).await });
    }
}
