//! The events of one attachment on their way to the client.

use super::api::EventStream;
use super::attach::{Seat, leave};
use super::attachment::Attachment;
use super::merge::Merge;
use crate::limits;
use crate::protocol::{Notification, RuntimeEvent, RuntimeEventParams};
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::{mpsc, watch};

/// The kind of event that ends an attachment.
const DISCONNECTED: &str = "disconnected";

/// What stands between a runtime's stream and the client.
pub(super) struct Pump {
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

    /// How much of the way to the client the first event takes: a large one all of it, so that only one is on it.
    fn places(&self) -> usize {
        match self.events.front() {
            Some(event) if weight(event) > limits::NOTIFICATION_SMALL => limits::NOTIFICATIONS_QUEUED,
            _ => 1,
        }
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
    pub(super) async fn run(mut self, stream: EventStream, seat: Seat) {
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
        if attachment.is_dismissed() {
            return self.tell_end("it is out of the client's scope now, or may not be observed any more").await;
        }
        if let Some(mut last) = last {
            if last.kind == DISCONNECTED {
                last.reason = attachment.why_closed().or(last.reason);
            }
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
        // Whether the runtime was kept waiting, and the client has not caught up.
        let mut behind = false;
        loop {
            let (full, empty) = (queue.is_full(), queue.events.is_empty());
            behind = (behind || full) && !empty;
            tokio::select! {
                event = stream.next(), if !full => match event {
                    Ok(Some(event)) => {
                        if event.sequence.is_some_and(|sequence| self.merge.admits(sequence)) {
                            self.attachment.note_event(&event);
                            queue.push(event);
                        }
                    }
                    // A runtime ends the stream of one for whom it waited too long, and says nothing.
                    Ok(None) if behind => return lagged(self.merge.cursor()),
                    Ok(None) => return disconnected(stream.reason()),
                    Err(error) => return disconnected(Some(&error.to_string())),
                },
                () = self.pass_on(queue), if !empty => {}
                // What waits is told; what came after it is there for who attaches again.
                () = tokio::time::sleep(limits::EVENTS_PATIENCE), if full => return lagged(self.merge.cursor()),
            }
        }
    }

    /// Tells a client that knows the attachment of an end that it did not ask for.
    async fn tell_end(&self, reason: &str) {
        let known = *self.known.borrow();
        let event = disconnected(Some(reason));
        let params = RuntimeEventParams { attachment: self.attachment.id.clone(), event };
        if let (true, Ok(notification)) = (known, Notification::new("runtime/event", &params)) {
            // It fails where nobody is there to be told.
            let _ = self.outgoing.send(notification).await;
        }
    }

    async fn pass_on_all(&mut self, queue: &mut Queue) {
        while !queue.events.is_empty() {
            self.pass_on(queue).await;
        }
    }

    /// Passes the first event on once the client takes it, and as many behind it as the client takes then.
    async fn pass_on(&mut self, queue: &mut Queue) {
        let _ = self.known.wait_for(|known| *known).await;
        let Ok(mut places) = self.outgoing.reserve_many(queue.places()).await else {
            // Nobody is there to be told, so nothing waits: the loop that calls this must come to its end.
            *queue = Queue::default();
            return self.attachment.ended().cancel();
        };
        while let (Some(event), Some(place)) = (queue.pop(), places.next()) {
            let params = RuntimeEventParams { attachment: self.attachment.id.clone(), event };
            if let Ok(notification) = Notification::new("runtime/event", &params) {
                place.send(notification.unless(self.attachment.ended()));
            }
            drop(places);
            match self.outgoing.try_reserve_many(queue.places()) {
                Ok(next) if !queue.events.is_empty() => places = next,
                _ => return,
            }
        }
    }
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
    let kind = DISCONNECTED.to_owned();
    RuntimeEvent { sequence: None, kind, payload: None, cursor: None, reason: Some(reason) }
}
