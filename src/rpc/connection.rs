//! One client: reads frames, admits calls, writes answers, and knows when it is over. All on one task, so that no
//! lock and no second queue stands between a request and its answer.

use super::frame::{Bad, Frame, FrameDecoder, Framing, encode};
use super::inflight::{Inflight, Place, WholeBatch};
use super::message::{self, Call, Id, Incoming, Message};
use super::outbox::{Kind, Outbox};
use crate::limits;
use crate::platform::stdio::{Input, Output};
use crate::protocol::{Notification, Reason, RpcError};
use crate::service::{self, Client, Context, INITIALIZE, Phase, Scheduling, Service};
use futures_core::Stream;
use jsonrpsee::core::server::{ConnectionId, MethodCallback, MethodResponse};
use jsonrpsee::types::{Id as InnerId, Params};
use jsonrpsee::{Extensions, RpcModule};
use serde_json::value::RawValue;
use std::collections::{HashMap, VecDeque};
use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use tokio_util::codec::FramedRead;
use tokio_util::sync::CancellationToken;

/// How a conversation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// `exit` after `shutdown`.
    Exit,
    /// `exit` without `shutdown`.
    ExitWithoutShutdown,
    /// The input ended, and what was asked before is answered.
    Input,
    /// Nobody reads the output any more.
    Output,
    /// The process that `initialize` named is gone.
    ClientGone,
    /// The caller of [`serve`] said so.
    Stopped,
}

/// Serves one client until it is over. `stop` ends it early.
pub async fn serve(
    service: Arc<Service>,
    framing: Option<Framing>,
    input: Input,
    output: Output,
    stop: impl Future<Output = ()>,
) -> io::Result<End> {
    let module = service::module(service.clone()).map_err(io::Error::other)?;
    let (outgoing, notifications) = mpsc::channel(limits::NOTIFICATIONS_QUEUED);
    let (finished, results) = mpsc::unbounded_channel();
    let closed = output.closed();
    let mut connection = Connection {
        client: Arc::new(Client::new(&service, outgoing)),
        frames: FramedRead::new(input, FrameDecoder::new(framing, service.limits().frame_bytes)),
        service,
        module,
        outbox: Outbox::default(),
        inflight: Inflight::default(),
        output,
        finished,
        exit: None,
        queued: VecDeque::new(),
        waits: false,
        read_first: false,
    };
    let end = connection.run(notifications, results, closed, stop).await;
    connection.service.end(&connection.client);
    connection.inflight.cancel_all();
    // Nothing that was started for the client outlives its server.
    connection.service.end_couriers().await;
    end
}

/// What a call at work sends when it is done.
struct Done {
    id: Option<Id>,
    place: Place,
    answer: Answer,
    replied: watch::Sender<bool>,
    /// Whether what came behind the call waits for it.
    is_exclusive: bool,
}

/// What was read and is to be taken in.
enum Queued {
    Message(Message, Place),
    EndOfBatch(u64),
}

/// What is sent in the end whatever happens, also when the call panics.
struct Owed {
    finished: mpsc::UnboundedSender<Done>,
    done: Option<Done>,
}

impl Drop for Owed {
    fn drop(&mut self) {
        if let Some(done) = self.done.take() {
            // Nobody listens any more when the conversation is over.
            let _ = self.finished.send(done);
        }
    }
}

enum Answer {
    Response(MethodResponse),
    Error(RpcError),
}

struct Connection {
    service: Arc<Service>,
    module: RpcModule<Service>,
    client: Arc<Client>,
    frames: FramedRead<Input, FrameDecoder>,
    outbox: Outbox,
    inflight: Inflight,
    output: Output,
    finished: mpsc::UnboundedSender<Done>,
    exit: Option<End>,
    queued: VecDeque<Queued>,
    /// Whether a call is at work that changes what the calls behind it may do: they wait for it.
    waits: bool,
    /// Whether the client's bytes come before notifications this time: they take turns, so that neither flood stops
    /// the other.
    read_first: bool,
}

/// What the connection waited for.
enum Came {
    Notification(Notification),
    /// `None` at the end of input.
    Frame(Option<Frame>),
}

impl Connection {
    async fn run(
        &mut self,
        mut notifications: mpsc::Receiver<Notification>,
        mut results: mpsc::UnboundedReceiver<Done>,
        closed: impl Future<Output = ()>,
        stop: impl Future<Output = ()>,
    ) -> io::Result<End> {
        let mut gone: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(std::future::pending());
        let mut watched = None;
        let mut drain: Option<Instant> = None;
        tokio::pin!(closed, stop);
        loop {
            self.take_queued().await;
            if let Some(end) = self.exit {
                self.flush_last().await;
                return Ok(end);
            }
            if drain.is_some() && self.inflight.is_empty() && results.is_empty() && self.outbox.is_empty() {
                // An output that is a file is written by a thread, which may not be done.
                self.flush_last().await;
                return Ok(End::Input);
            }
            if watched != self.client.process_id() {
                watched = self.client.process_id();
                if let Some(pid) = watched {
                    gone = Box::pin(crate::platform::process::exited(pid));
                }
            }
            let may_read = drain.is_none() && self.takes_messages();
            let may_notify = drain.is_none() && self.outbox.bytes() < limits::NOTIFICATIONS_WAITING;
            self.read_first = !self.read_first;
            let (outbox, output, frames) = (&mut self.outbox, &mut self.output, &mut self.frames);
            let (waiting, read_first) = (!outbox.is_empty(), self.read_first);
            let mut read = |cx: &mut TaskContext<'_>| match may_read {
                true => poll_frame(frames, cx).map(Came::Frame),
                false => Poll::Pending,
            };
            let mut notification = |cx: &mut TaskContext<'_>| match may_notify {
                true => match notifications.poll_recv(cx) {
                    Poll::Ready(Some(notification)) => Poll::Ready(Came::Notification(notification)),
                    _ => Poll::Pending,
                },
                false => Poll::Pending,
            };
            let came = poll_fn(|cx| match read_first {
                true => first(read(cx), || notification(cx)),
                false => first(notification(cx), || read(cx)),
            });
            tokio::select! {
                biased;
                () = &mut stop => return Ok(End::Stopped),
                () = &mut gone => { self.flush_last().await; return Ok(End::ClientGone) }
                written = poll_fn(|cx| outbox.poll_flush(output, cx)), if waiting => {
                    if written.is_err() {
                        return Ok(End::Output);
                    }
                }
                Some(done) = results.recv() => self.finish(done),
                came = came => match came {
                    Came::Notification(notification) => {
                        self.notify(&notification);
                        // What has come with it is written with it.
                        for _ in 1..limits::NOTIFICATIONS_QUEUED {
                            if self.outbox.bytes() >= limits::NOTIFICATIONS_WAITING {
                                break;
                            }
                            let Ok(next) = notifications.try_recv() else { break };
                            self.notify(&next);
                        }
                    }
                    Came::Frame(frame) => if !self.take_frames(frame).await {
                        self.service.end(&self.client);
                        drain = Some(Instant::now() + limits::DRAIN);
                    }
                },
                () = &mut closed => return Ok(End::Output),
                () = tokio::time::sleep_until(drain.unwrap_or_else(Instant::now)), if drain.is_some() => {
                    if self.inflight.is_empty() {
                        return Ok(End::Input);
                    }
                    // What took too long is answered, too: that it was given up.
                    self.inflight.cancel_late();
                    drain = Some(Instant::now() + limits::DRAIN);
                }
            }
        }
    }

    /// Whether the next message may be taken now.
    fn takes_messages(&self) -> bool {
        !self.waits && self.outbox.refusal_bytes() < limits::REFUSAL_BYTES
    }

    /// Serves a frame and those that arrived with it, so that their answers are written together. False at the end of input.
    async fn take_frames(&mut self, mut next: Option<Frame>) -> bool {
        let mut taken = 0;
        while let Some(frame) = next {
            self.take_frame(frame);
            self.take_queued().await;
            taken += 1;
            if taken == limits::FRAMES_TOGETHER || self.exit.is_some() || !self.takes_messages() {
                return true;
            }
            match poll_fn(|cx| Poll::Ready(poll_frame(&mut self.frames, cx))).await {
                Poll::Ready(more) => next = more,
                Poll::Pending => return true,
            }
        }
        false
    }

    fn take_frame(&mut self, frame: Frame) {
        let bytes = match frame {
            Frame::Bad(bad) => return self.refuse_frame(&bad),
            Frame::Message(bytes) => bytes,
        };
        match message::parse(&bytes, self.service.limits().batch_max) {
            Err(error) => {
                if error.reason() == Reason::ParseError {
                    self.frames.decoder_mut().last_was_bad();
                }
                self.push(message::error_answer(&Id::Null, &error), Kind::Refusal);
            }
            Ok(Incoming::Single(message)) => self.queued.push_back(Queued::Message(message, Place::Alone)),
            Ok(Incoming::Batch(messages)) => self.take_batch(messages),
        }
    }

    /// Serves the messages of the frames that were taken, up to a call that the others wait for.
    async fn take_queued(&mut self) {
        while self.takes_messages() {
            match self.queued.pop_front() {
                Some(Queued::Message(message, place)) => self.take(message, place).await,
                Some(Queued::EndOfBatch(batch)) => {
                    if let Some(whole) = self.inflight.close_batch(batch) {
                        self.push_batch(whole);
                    }
                }
                None => return,
            }
        }
    }

    fn refuse_frame(&mut self, bad: &Bad) {
        let reason = match bad {
            Bad::TooLarge(_) => Reason::TooLarge,
            Bad::Header | Bad::Cut => Reason::ParseError,
        };
        self.push(message::error_answer(&Id::Null, &RpcError::new(reason, bad.to_string())), Kind::Refusal);
    }

    fn take_batch(&mut self, messages: Vec<Message>) {
        let batch = self.inflight.open_batch();
        self.queued.extend(messages.into_iter().map(|message| Queued::Message(message, Place::Batch(batch))));
        self.queued.push_back(Queued::EndOfBatch(batch));
    }

    /// A batch of which nothing was admitted counts under no other bound than that of refusals.
    fn push_batch(&mut self, batch: WholeBatch) {
        let admitted = batch.replied.len();
        self.push(batch.answer, if admitted == 0 { Kind::Refusal } else { Kind::Answer(admitted) });
        batch.replied.into_iter().for_each(told);
    }

    async fn take(&mut self, message: Message, place: Place) {
        match message {
            Message::Response => {}
            Message::Invalid(id, error) => self.refuse(&id, &error, place),
            Message::Notification(call) => self.take_notification(call, place).await,
            Message::Request { id, call } => {
                if let Err(error) = self.admit(&id, &call).await {
                    return self.refuse(&id, &error, place);
                }
                self.begin(Some(id), call, place);
            }
        }
    }

    /// Whether a request can be served now; the order of the checks is part of the protocol.
    async fn admit(&mut self, id: &Id, call: &Call) -> Result<(), RpcError> {
        let invalid = |why: &str| Err(RpcError::new(Reason::InvalidRequest, why));
        match (self.client.phase(), call.method.as_str()) {
            (Phase::New, INITIALIZE) | (Phase::Open, _) => {}
            (Phase::New, _) => return Err(RpcError::new(Reason::NotInitialized, "send `initialize` first")),
            (Phase::ShutDown, _) => return invalid("the server was shut down; only `exit` may follow"),
        }
        if self.client.phase() == Phase::Open && call.method == INITIALIZE {
            return invalid("the conversation was initialized already");
        }
        if self.module.method(&call.method).is_none() {
            let name: String = call.method.chars().take(100).collect();
            return Err(RpcError::new(Reason::MethodNotFound, format!("there is no method `{name}`")));
        }
        if self.inflight.contains(id) {
            return invalid("a request with this id is in flight");
        }
        if !self.has_room().await {
            let max = self.service.limits().requests_in_flight;
            return Err(RpcError::new(Reason::Busy, format!("{max} requests are in flight; read answers, then retry")));
        }
        Ok(())
    }

    /// Whether one more may be at work. Answers that were not read count too, but first the client is given the
    /// chance to take what is waiting.
    async fn has_room(&mut self) -> bool {
        let max = self.service.limits().requests_in_flight;
        if self.inflight.len() + self.outbox.answers() >= max && self.outbox.answers() > 0 {
            self.flush_now().await;
        }
        self.inflight.len() + self.outbox.answers() < max
    }

    async fn take_notification(&mut self, call: Call, place: Place) {
        match call.method.as_str() {
            "exit" => {
                let in_order = self.client.phase() == Phase::ShutDown;
                self.exit = Some(if in_order { End::Exit } else { End::ExitWithoutShutdown });
            }
            _ if self.client.phase() != Phase::Open => {}
            "$/cancelRequest" => self.cancel(&call, "id"),
            "$/cancel_request" => self.cancel(&call, "requestId"),
            INITIALIZE => {}
            // A known method runs and is not answered; what cannot run now is dropped, as nobody would hear of it.
            name if self.module.method(name).is_some() && self.has_room().await => self.begin(None, call, place),
            _ => {}
        }
    }

    fn cancel(&self, call: &Call, field: &str) {
        let params = call.params.as_ref();
        let fields = params.and_then(|params| serde_json::from_str::<HashMap<String, &RawValue>>(params.get()).ok());
        if let Some(id) = fields.and_then(|fields| Id::from_raw(fields.get(field)?)) {
            self.inflight.cancel(&id);
        }
    }

    /// Starts a call: one that takes no time is done at once.
    fn begin(&mut self, id: Option<Id>, call: Call, place: Place) {
        let scheduling = service::scheduling(&call.method);
        let cancel = self.inflight.begin(id.as_ref(), place, scheduling == Scheduling::OutlastsInput);
        let (replied, known) = watch::channel(false);
        let mut extensions = Extensions::new();
        extensions.insert(Context::new(self.client.clone(), cancel.clone(), known));
        let params = Params::new(call.params.as_ref().map(|params| params.get()));
        match self.module.method(&call.method) {
            Some(MethodCallback::Sync(callback)) => {
                let answer = Answer::Response(callback(InnerId::Null, params, usize::MAX, extensions));
                self.finish(Done { id, place, answer, replied, is_exclusive: false });
            }
            Some(MethodCallback::Async(callback)) => {
                let work = callback(InnerId::Null, params.into_owned(), ConnectionId(0), usize::MAX, extensions);
                let failed = RpcError::new(Reason::Internal, "the server failed; please report this");
                self.waits = scheduling == Scheduling::Exclusive;
                let is_exclusive = self.waits;
                let done = Done { id, place, answer: Answer::Error(failed), replied, is_exclusive };
                let mut owed = Owed { finished: self.finished.clone(), done: Some(done) };
                tokio::spawn(async move {
                    let answer = answer_of(work, cancel).await;
                    if let Some(done) = &mut owed.done {
                        done.answer = answer;
                    }
                });
            }
            _ => {
                let answer = Answer::Error(RpcError::new(Reason::Internal, "the method cannot be called"));
                self.finish(Done { id, place, answer, replied, is_exclusive: false });
            }
        }
    }

    fn finish(&mut self, done: Done) {
        self.inflight.end(done.id.as_ref());
        self.waits &= !done.is_exclusive;
        let Some(id) = done.id else { return };
        let answer = match done.answer {
            Answer::Response(response) => with_id(&id, response),
            Answer::Error(error) => message::error_answer(&id, &error),
        };
        match done.place {
            Place::Alone => {
                self.push(answer, Kind::Answer(1));
                told(done.replied);
            }
            Place::Batch(batch) => {
                if let Some(whole) = self.inflight.answer(batch, answer, Some(done.replied)) {
                    self.push_batch(whole);
                }
            }
        }
    }

    fn refuse(&mut self, id: &Id, error: &RpcError, place: Place) {
        let answer = message::error_answer(id, error);
        match place {
            Place::Alone => self.push(answer, Kind::Refusal),
            Place::Batch(batch) => drop(self.inflight.answer(batch, answer, None)),
        }
    }

    fn notify(&mut self, notification: &Notification) {
        if !notification.holds() {
            return;
        }
        let (method, params) = (notification.method, notification.params.get());
        let text = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{method}\",\"params\":{params}}}");
        self.push(text.into_bytes(), Kind::Notification);
    }

    fn push(&mut self, message: Vec<u8>, kind: Kind) {
        self.outbox.push(encode(self.frames.decoder().framing(), message), kind);
    }

    /// Writes what the client takes now, without waiting for it.
    async fn flush_now(&mut self) {
        let (outbox, output) = (&mut self.outbox, &mut self.output);
        // An error shows again at the next write, where it is handled.
        poll_fn(|cx| {
            let _ = outbox.poll_flush(output, cx);
            Poll::Ready(())
        })
        .await;
    }

    /// Writes what is left before the end, for as long as the client takes it.
    async fn flush_last(&mut self) {
        let (outbox, output) = (&mut self.outbox, &mut self.output);
        let all = poll_fn(|cx| outbox.poll_flush(output, cx));
        // The client may have gone without reading: then nothing is lost.
        let _ = tokio::time::timeout(limits::DRAIN, all).await;
    }
}

/// Tells that an answer went out. Most calls open nothing that waits for it.
fn told(replied: watch::Sender<bool>) {
    let _ = replied.send(true);
}

/// The next frame, or `None` at the end of input. An error of the input ends it, too.
fn poll_frame(frames: &mut FramedRead<Input, FrameDecoder>, cx: &mut TaskContext<'_>) -> Poll<Option<Frame>> {
    Pin::new(frames).poll_next(cx).map(|item| item.and_then(Result::ok))
}

/// The first of two that is ready.
fn first<T>(one: Poll<T>, other: impl FnOnce() -> Poll<T>) -> Poll<T> {
    if one.is_ready() { one } else { other() }
}

/// The answer of a call at work, or that it was cancelled.
async fn answer_of(work: impl Future<Output = MethodResponse>, cancel: CancellationToken) -> Answer {
    tokio::select! {
        biased;
        () = cancel.cancelled() => Answer::Error(RpcError::new(Reason::Cancelled, "the request was cancelled")),
        response = work => Answer::Response(response),
    }
}

/// jsonrpsee's ids cannot carry every legal id, so calls go in with `null` and the real id is put back here.
fn with_id(id: &Id, response: MethodResponse) -> Vec<u8> {
    const HEAD: &str = "{\"jsonrpc\":\"2.0\",\"id\":";
    let json = response.into_json();
    match json.get().strip_prefix(HEAD).and_then(|rest| rest.strip_prefix("null")) {
        Some(rest) => format!("{HEAD}{id}{rest}").into_bytes(),
        None => message::error_answer(id, &RpcError::new(Reason::Internal, "the answer has no known form")),
    }
}
