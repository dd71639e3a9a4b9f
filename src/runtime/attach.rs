//! Joining a runtime: first the stream, then the snapshot, so that nothing falls between them.

use super::api::{Api, EventStream, Snapshot};
use super::error::Error;
use super::http::{Caller, Client};
use super::receipt::Record;
use crate::limits;
use crate::protocol::{Endpoint, Lease};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Which names are in use at which runtimes: a runtime forgets a name when any stream of it ends, so each is used once.
#[derive(Clone, Default)]
pub struct Seats(Arc<Mutex<HashSet<Place>>>);

/// A runtime, and a client's name there.
type Place = (Endpoint, String);

/// A name in use at a runtime, until this is dropped.
pub struct Seat {
    seats: Seats,
    place: Place,
}

impl Seats {
    /// Takes a name, if it is free.
    pub fn take(&self, endpoint: &Endpoint, client_id: &str) -> Option<Seat> {
        let place = (endpoint.clone(), client_id.to_owned());
        self.taken().insert(place.clone()).then(|| Seat { seats: self.clone(), place })
    }

    fn taken(&self) -> MutexGuard<'_, HashSet<Place>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.seats.taken().remove(&self.place);
    }
}

/// What a client that joined has.
pub struct Joined {
    pub stream: EventStream,
    pub snapshot: Snapshot,
    pub lease: Lease,
}

/// Joins a runtime. When this is dropped or fails, the runtime is left without a stream and without an observer, and
/// the seat is free only then.
pub async fn join(
    record: &Record,
    client: &Arc<Client>,
    caller: &Caller,
    history: u32,
    seat: Seat,
) -> Result<(Joined, Seat), Error> {
    let api = Api::new(client.clone(), caller.clone());
    let mut presence = Presence { api: api.clone(), seat: Some(seat) };
    let stream = api.events().await?;
    let snapshot = api.attach(history).await?;
    record.agrees(&snapshot.descriptor)?;
    let lease = api.lease().await?;
    match presence.seat.take() {
        Some(seat) => Ok((Joined { stream, snapshot, lease }, seat)),
        None => Err(Error::Closed),
    }
}

/// Tells a runtime that a client is gone; who drives and who looks then, if it says so in time. The end of the stream
/// tells it too, but a request that was on its way may come after that.
pub async fn leave(api: &Api) -> Option<Lease> {
    tokio::time::timeout(limits::PROBE, api.detach()).await.ok()?.ok()
}

/// That a runtime may know a client that did not come to stay.
struct Presence {
    api: Api,
    seat: Option<Seat>,
}

impl Drop for Presence {
    fn drop(&mut self) {
        let (Some(seat), Ok(handle)) = (self.seat.take(), tokio::runtime::Handle::try_current()) else { return };
        let api = self.api.clone();
        handle.spawn(async move {
            leave(&api).await;
            drop(seat);
        });
    }
}
