//! A stream of events, as the body of an answer.

use super::super::conversation::Listener;
use super::socket::Socket;
use crate::limits;
use hyper::body::{Body, Bytes, Frame};
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};
use tokio_util::sync::WaitForCancellationFutureOwned;

const KEEP_ALIVE: &[u8] = b": keep-alive\n\n";

/// Events until the runtime or the credential ends, the client says anything or nothing more, or it lags.
pub(super) struct Events {
    listener: Option<Listener>,
    socket: Arc<Socket>,
    stopped: Pin<Box<WaitForCancellationFutureOwned>>,
    keep_alive: Interval,
}

impl Events {
    /// What `listener` is told.
    pub(super) fn new(listener: Listener, socket: Arc<Socket>) -> Self {
        let stopped = Box::pin(socket.stop.clone().cancelled_owned());
        let mut keep_alive = interval_at(Instant::now() + limits::HOST_KEEP_ALIVE, limits::HOST_KEEP_ALIVE);
        keep_alive.set_missed_tick_behavior(MissedTickBehavior::Skip);
        Self { listener: Some(listener), socket, stopped, keep_alive }
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let Some(listener) = &mut self.listener else { return Poll::Ready(None) };
        if self.socket.poll_heard(context).is_ready() {
            return Poll::Ready(None);
        }
        if let Poll::Ready(event) = listener.poll_next(context) {
            return Poll::Ready(event);
        }
        if self.stopped.as_mut().poll(context).is_ready() {
            return Poll::Ready(None);
        }
        self.keep_alive.poll_tick(context).map(|_| Some(Bytes::from_static(KEEP_ALIVE)))
    }
}

impl Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = self.poll_next(context);
        if matches!(next, Poll::Ready(None)) {
            // Its client is forgotten now, not only when hyper lets go of the body.
            self.listener = None;
        }
        next.map(|event| event.map(|bytes| Ok(Frame::data(bytes))))
    }
}
