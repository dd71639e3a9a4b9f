//! The events of one attachment on their way to the client.

use super::api::EventStream;
use super::attach::{Seat, leave};
use super::attachment::Attachment;
use super::error::Error;
use super::merge::Merge;
use crate::limits;
use crate::protocol::{Notification, RuntimeEvent, RuntimeEventParams};
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::{mpsc, watch};

/// What stands between a runtime's stream and the client.
pub struct Pump {
    pub attachment: Arc<Attachment>,
    pub merge: Merge,
    pub outgoing: mpsc::Sender<Notification>,
    /// True once the client knows the attachment; closed where it never will.
    pub known: watch::Receiver<bool>,
}

/// Events that wait for the client.
#[derive(Default)]
struct Queue {
    events: VecDeque<RuntimeEvent>,
    bytes: usize,
}

impl Queue {
    fn push(&mut self, event: RuntimeEvent) {
        self.bytes += weight(&event);
        self.events.push_back(event);
    }

    fn pop(&mut self) -> Option<RuntimeEvent> {
        let event = self.events.pop_front()?;
        self.bytes -= weight(&event);
        Some(event)
    }

    fn is_full(&self) -> bool {
        self.bytes >= limits::EVENTS_WAITING_BYTES || self.events.len() >= limits::EVENTS_WAITING
    }
}

fn weight(event: &RuntimeEvent) -> usize {
    event.kind.len() + event.payload.as_ref().map_or(0, |payload| payload.get().len())
}

impl Pump {
    /// Passes events on until the stream or the attachment is over; the runtime forgets the client, and only then the
    /// client is told of the end, so that it can come back under the same name.
    pub async fn run(mut self, stream: EventStream, seat: Seat) {
        let ended = self.attachment.ended().clone();
        let attachment = self.attachment.clone();
        let mut queue = Queue::default();
        let last = tokio::select! {
            () = ended.cancelled() => None,
            () = unknown(self.known.clone()) => None,
            () = attachment.renew() => None,
            last = self.follow(stream, &mut queue) => Some(last),
        };
        let lease = leave(&attachment.api(|_| true), attachment.calls(), seat).await;
        attachment.left(lease);
        if let Some(last) = last {
            queue.push(last);
            tokio::select! {
                () = ended.cancelled() => {}
                () = unknown(self.known.clone()) => {}
                () = self.pass_on_all(&mut queue) => {}
            }
        }
    }

    /// Passes events on until the stream is over: what is to be told then.
    async fn follow(&mut self, mut stream: EventStream, queue: &mut Queue) -> RuntimeEvent {
        loop {
            let waits = !queue.events.is_empty();
            let event = tokio::select! {
                biased;
                () = self.pass_on(queue), if waits => continue,
                event = next(&mut stream, waits) => event,
            };
            match event {
                // What waits is told; what came after it is there for who attaches again.
                Ok(Some(_)) if queue.is_full() => return lagged(self.merge.cursor()),
                Ok(Some(event)) => {
                    if event.sequence.is_some_and(|sequence| self.merge.admits(sequence)) {
                        queue.push(event);
                    }
                }
                Ok(None) => return disconnected(stream.reason()),
                Err(error) => return disconnected(Some(&error.to_string())),
            }
        }
    }

    async fn pass_on_all(&mut self, queue: &mut Queue) {
        while !queue.events.is_empty() {
            self.pass_on(queue).await;
        }
    }

    /// Passes the first event on once the client takes it.
    async fn pass_on(&mut self, queue: &mut Queue) {
        let _ = self.known.wait_for(|known| *known).await;
        let Ok(permit) = self.outgoing.reserve().await else {
            // Nobody is there to be told.
            return self.attachment.ended().cancel();
        };
        let Some(event) = queue.pop() else { return };
        let params = RuntimeEventParams { attachment: self.attachment.id.clone(), event };
        if let Ok(notification) = Notification::new("runtime/event", &params) {
            permit.send(notification.unless(self.attachment.ended()));
        }
    }
}

/// The next event of a stream. Thousands may be there at once, so where others wait, the client is first given the time to
/// take one: only one that does not read may lag.
async fn next(stream: &mut EventStream, waits: bool) -> Result<Option<RuntimeEvent>, Error> {
    for _ in 0..if waits { limits::EVENT_TURNS } else { 0 } {
        tokio::task::yield_now().await;
    }
    stream.next().await
}

/// Waits until it is certain that the client will never know of the attachment.
async fn unknown(mut known: watch::Receiver<bool>) {
    if known.wait_for(|known| *known).await.is_ok() {
        std::future::pending().await
    }
}

fn lagged(cursor: u64) -> RuntimeEvent {
    let kind = "lagged".to_owned();
    RuntimeEvent { sequence: None, kind, payload: None, cursor: Some(cursor), reason: None }
}

fn disconnected(reason: Option<&str>) -> RuntimeEvent {
    let reason = reason.unwrap_or("the runtime ended the stream of events; attach again").to_owned();
    let kind = "disconnected".to_owned();
    RuntimeEvent { sequence: None, kind, payload: None, cursor: None, reason: Some(reason) }
}
