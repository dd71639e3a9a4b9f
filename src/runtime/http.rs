//! HTTP/1.1 to one runtime.
//!
//! The parsed loopback addresses are dialled here and each request goes over such a connection as it is. So by
//! construction there is no name resolution, no proxy, no redirect and no TLS, and the token goes nowhere else. Nothing is
//! sent before the other end of the connection is known to be a socket of this user: another one may take the port of a
//! runtime that is gone. hyper's own tracing is not built in, and nothing here logs.
//!
//! Deadlines are the caller's: every future may be dropped at any time, and its connection then closes.

#[cfg(test)]
mod tests;

use super::error::{Error, RemoteError};
use super::intake::Scrub;
use super::wire;
use crate::limits;
use crate::platform::connection::require_own_tcp_peer;
use crate::protocol::{Permission, Token};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes, Incoming};
use hyper::client::conn::http1::{Builder, SendRequest};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::io;
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tokio::time::Instant;

/// For whom a request is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The name by which the runtime knows the client: 1 to 128 of `[A-Za-z0-9._-]`.
    pub client_id: String,
    /// What the client may do; those that a runtime does not know are not told to it.
    pub permissions: Vec<Permission>,
}

/// Speaks to one runtime, over connections that are kept. Shared by reference or in an `Arc`.
pub struct Client {
    candidates: Vec<SocketAddr>,
    host: HeaderValue,
    bearer: HeaderValue,
    scrub: Scrub,
    idle: Mutex<Vec<Idle>>,
}

/// A connection that waits for its next request.
struct Idle {
    connection: Connection,
    since: Instant,
}

/// An open connection. It closes when this is dropped, whatever is on its way: hyper alone would have it finish in some
/// states, and hang in others.
pub(super) struct Connection {
    sender: SendRequest<Full<Bytes>>,
    driver: AbortHandle,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

#[derive(Serialize)]
struct Call<'a, P> {
    /// HTTP pairs answers with requests, so one number does for all.
    id: u8,
    method: &'a str,
    params: &'a P,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Answer<'a> {
    #[serde(default)]
    result: Option<&'a RawValue>,
    #[serde(default)]
    error: Option<&'a RawValue>,
}

impl Client {
    /// A client of the runtime at the first of `candidates` that takes a connection. `authority` is the host and port as
    /// the receipt spells them. Nothing is dialled yet.
    ///
    /// # Errors
    /// [`Error::Unsendable`] if the authority or the token cannot stand in a header.
    pub fn new(candidates: Vec<SocketAddr>, authority: String, token: Token) -> Result<Self, Error> {
        let host = HeaderValue::try_from(authority)
            .map_err(|_| Error::Unsendable("the address of the receipt cannot stand in an HTTP header"))?;
        let mut bearer = HeaderValue::try_from(format!("Bearer {}", token.secret()))
            .map_err(|_| Error::Unsendable("the token of the receipt cannot stand in an HTTP header"))?;
        bearer.set_sensitive(true);
        Ok(Self { candidates, host, bearer, scrub: Scrub::new(&token), idle: Mutex::default() })
    }

    /// Calls a method and waits for its result, of at most `max_bytes` with its envelope.
    pub async fn call(
        &self,
        caller: &Caller,
        method: &str,
        params: &impl Serialize,
        max_bytes: usize,
    ) -> Result<Box<RawValue>, Error> {
        let body = serde_json::to_vec(&Call { id: 1, method, params })
            .map_err(|_| Error::Unsendable("the request cannot be written as JSON"))?;
        if body.len() > limits::RUNTIME_REQUEST {
            return Err(Error::TooLarge("a request to a runtime"));
        }
        let mut request = self.request(caller, Method::POST, wire::RPC, "application/json", body)?;
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let (connection, response) = self.send(request).await?;
        if response.status() != StatusCode::OK {
            return Err(self.refusal(response).await);
        }
        let bytes = read(response.into_body(), max_bytes).await?;
        self.keep(connection);
        result(&self.json(bytes)?)
    }

    /// Opens a stream of events. The subscription stands when this returns, and ends when the connection is dropped.
    pub(super) async fn events(&self, caller: &Caller) -> Result<(Connection, Incoming), Error> {
        let request = self.request(caller, Method::GET, wire::EVENTS, wire::EVENT_STREAM, Vec::new())?;
        let mut connection = self.open().await?;
        let response = connection.sender.send_request(request).await?;
        if response.status() != StatusCode::OK {
            return Err(self.refusal(response).await);
        }
        let kind = response.headers().get(CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
        if !kind.to_ascii_lowercase().starts_with(wire::EVENT_STREAM.as_bytes()) {
            return Err(Error::malformed("it is no stream of events"));
        }
        Ok((connection, response.into_body()))
    }

    /// What the runtime sent, as JSON that may go on to a client.
    pub(super) fn json(&self, bytes: Vec<u8>) -> Result<Box<RawValue>, Error> {
        self.scrub.json(bytes)
    }

    /// A text of the runtime that may go on to a client.
    pub(super) fn clean(&self, text: String) -> Result<String, Error> {
        String::from_utf8(self.scrub.clean(text.into_bytes())).map_err(|_| Error::malformed("it is not valid UTF-8"))
    }

    fn request(
        &self,
        caller: &Caller,
        method: Method,
        path: &'static str,
        accept: &'static str,
        body: Vec<u8>,
    ) -> Result<Request<Full<Bytes>>, Error> {
        use Permission::{Approve, Interact, Observe, Terminate};
        let known = [Observe, Interact, Approve, Terminate].into_iter();
        let granted: Vec<_> = known.filter(|one| caller.permissions.contains(one)).map(Permission::id).collect();
        Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, self.host.clone())
            .header(AUTHORIZATION, self.bearer.clone())
            .header(ACCEPT, accept)
            .header(wire::CLIENT_ID, &caller.client_id)
            // Without permissions the header is there and empty: without the header everything is permitted.
            .header(wire::PERMISSIONS, granted.join(","))
            .body(Full::from(body))
            .map_err(|_| Error::Unsendable("a client id is 1 to 128 of `[A-Za-z0-9._-]`"))
    }

    /// Sends a request over an idle connection, or else a new one. What hyper gives back was not sent and is sent anew;
    /// nothing else is ever repeated.
    async fn send(&self, mut request: Request<Full<Bytes>>) -> Result<(Connection, Response<Incoming>), Error> {
        if let Some(mut connection) = self.take_idle().await {
            match connection.sender.try_send_request(request).await {
                Ok(response) => return Ok((connection, response)),
                Err(mut failed) => match failed.take_message() {
                    Some(unsent) => request = unsent,
                    None => return Err(failed.into_error().into()),
                },
            }
        }
        let mut connection = self.open().await?;
        let response = connection.sender.send_request(request).await?;
        Ok((connection, response))
    }

    /// Dials the candidates in their order.
    async fn open(&self) -> Result<Connection, Error> {
        let mut refused = None;
        for candidate in &self.candidates {
            match dial(*candidate).await {
                Ok(stream) => return Connection::over(stream).await,
                // The first counts: where `localhost` is dialled, the second protocol may not be there at all.
                Err(error) => drop(refused.get_or_insert(error)),
            }
        }
        Err(refused.unwrap_or_else(|| Error::Refused(io::ErrorKind::AddrNotAvailable.into())))
    }

    async fn take_idle(&self) -> Option<Connection> {
        if self.idle().is_empty() {
            return None;
        }
        // The tasks of the connections see first what happened to them meanwhile: one that was closed gives a request back.
        tokio::task::yield_now().await;
        let mut idle = self.idle();
        idle.retain(|kept| kept.since.elapsed() < limits::RUNTIME_IDLE);
        idle.pop().map(|kept| kept.connection)
    }

    /// Keeps a connection whose answer was read to its end. One that is not ready then never may be: its request was
    /// answered before it was read.
    fn keep(&self, connection: Connection) {
        let mut idle = self.idle();
        if connection.sender.is_ready() && idle.len() < limits::RUNTIME_IDLE_CONNECTIONS {
            idle.push(Idle { connection, since: Instant::now() });
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why a status is not 200, from whichever body the listener gives.
    async fn refusal(&self, response: Response<Incoming>) -> Error {
        #[derive(Deserialize)]
        struct Plain {
            error: String,
        }
        let status = response.status().as_u16();
        let bytes = read(response.into_body(), limits::RUNTIME_ERROR_BODY).await.unwrap_or_default();
        let Ok(body) = self.json(bytes) else { return Error::Http { status, message: None } };
        if let Err(Error::Remote(error)) = result(&body) {
            return Error::Remote(error);
        }
        let message = serde_json::from_str(body.get()).ok().map(|Plain { error }| error);
        Error::Http { status, message }
    }
}

impl Connection {
    async fn over(stream: TcpStream) -> Result<Self, Error> {
        let (sender, driver) = Builder::new()
            .max_header_size(limits::RUNTIME_HEAD)
            .max_buf_size(limits::RUNTIME_HEAD)
            .max_headers(limits::RUNTIME_HEADERS)
            .handshake(TokioIo::new(stream))
            .await?;
        let driver = tokio::spawn(async {
            // Its error reaches the request, or there is none to reach.
            let _ = driver.await;
        });
        Ok(Self { sender, driver: driver.abort_handle() })
    }
}

/// Connects to a process of this user.
async fn dial(address: SocketAddr) -> Result<TcpStream, Error> {
    let stream = TcpStream::connect(address).await.map_err(Error::Refused)?;
    let local = stream.local_addr().map_err(Error::Refused)?;
    // A port that nobody listens on may be given to this very connection, which is then connected to itself.
    if local == address {
        return Err(Error::Refused(io::ErrorKind::ConnectionRefused.into()));
    }
    let checked = tokio::task::spawn_blocking(move || require_own_tcp_peer(local, address)).await;
    match checked.map_err(io::Error::other).flatten() {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Err(Error::Foreign),
        Err(error) => return Err(Error::Refused(error)),
    }
    stream.set_nodelay(true).map_err(Error::Refused)?;
    Ok(stream)
}

/// Reads a body of at most `max` bytes to its end. What its head claims allocates nothing.
///
/// # Errors
/// [`Error::TooLarge`] where it has more, another one where it is cut off.
pub async fn read(mut body: Incoming, max: usize) -> Result<Vec<u8>, Error> {
    let too_large = Error::TooLarge("the runtime's answer");
    if body.size_hint().lower() > max as u64 {
        return Err(too_large);
    }
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        // Trailers mean nothing here.
        let Ok(data) = frame?.into_data() else { continue };
        if data.len() > max - bytes.len() {
            return Err(too_large);
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes)
}

/// Opens the envelope of an answer.
fn result(answer: &RawValue) -> Result<Box<RawValue>, Error> {
    let answer: Answer<'_> = object(answer)?;
    match (answer.error, answer.result) {
        (Some(error), _) => Err(Error::Remote(Box::new(object::<RemoteError>(error)?))),
        (None, Some(result)) => Ok(result.to_owned()),
        (None, None) => Err(Error::malformed("it has neither a result nor an error")),
    }
}

/// Reads an object. What is derived would take an array for one, member by member.
pub(super) fn object<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Result<T, Error> {
    if !raw.get().starts_with('{') {
        return Err(Error::malformed("an object is missing"));
    }
    serde_json::from_str(raw.get()).map_err(|error| Error::malformed(error.to_string()))
}
