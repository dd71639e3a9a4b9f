//! Who is let in, where to, and what of a request is read.

use super::super::conversation::Caller;
use super::super::credentials::Grants;
use super::super::fault::Fault;
use super::answer::{Answer, document, plain, refusal, stream};
use super::events::Events;
use super::socket::{Phase, Socket};
use super::{Door, credentials, rpc};
use crate::limits;
use crate::protocol::Permission::Observe;
use crate::runtime::wire::{self, is_client_id};
use crate::runtime::{self, Error};
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, CONTENT_ENCODING, HOST, HeaderName, HeaderValue, ORIGIN};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Request, StatusCode, Version};
use std::sync::Arc;
use tokio::time::timeout;

/// Whom callers are who do not say.
const LEGACY_OWNER: &str = "legacy-owner";
const CLIENT_ID: HeaderName = HeaderName::from_static(wire::CLIENT_ID);
const PERMISSIONS: HeaderName = HeaderName::from_static(wire::PERMISSIONS);

impl Door {
    /// Answers one request.
    pub(super) async fn answer(&self, socket: &Arc<Socket>, request: Request<Incoming>) -> Answer {
        socket.enter(Phase::Working);
        let answer = match self.route(socket, request).await {
            Ok(answer) => answer,
            Err((status, fault)) => refusal(status, &fault),
        };
        socket.enter(Phase::Answering);
        answer
    }

    async fn route(&self, socket: &Arc<Socket>, request: Request<Incoming>) -> Result<Answer, (StatusCode, Fault)> {
        let (head, body) = request.into_parts();
        let caller = self.admit(&head)?;
        socket.serves(&caller);
        let answer = match (&head.method, head.uri.path()) {
            (&Method::POST, wire::RPC) => match read(&head, body).await {
                Ok(body) => {
                    // While the body came its credential may have been taken back.
                    let caller = self.admit(&head)?;
                    document(StatusCode::OK, rpc::answer(&self.conversation, &caller, &body).await)
                }
                Err((status, message)) => plain(status, message),
            },
            (&Method::GET, wire::EVENTS) => {
                caller.must(&[Observe]).map_err(|fault| (StatusCode::FORBIDDEN, fault))?;
                let listener = self.conversation.subscribe(&caller, socket.stop.clone());
                let listener = listener.map_err(|fault| (StatusCode::TOO_MANY_REQUESTS, fault))?;
                stream(Events::new(listener, Arc::clone(socket)))
            }
            (&Method::POST, path @ (credentials::MINT | credentials::REVOKE)) => {
                if caller.is_minted || caller.grants != Grants::ALL {
                    return Err((StatusCode::FORBIDDEN, Fault::unauthorized("bootstrap")));
                }
                match read(&head, body).await {
                    Ok(body) => credentials::answer(&self.conversation, path, &body).await,
                    Err((status, message)) => plain(status, message),
                }
            }
            _ => plain(StatusCode::NOT_FOUND, "not found"),
        };
        Ok(answer)
    }

    /// Who asks. No web page does, under whatever name it found this port.
    fn admit(&self, head: &Parts) -> Result<Caller, (StatusCode, Fault)> {
        let headers = &head.headers;
        let forbidden = |fault| (StatusCode::FORBIDDEN, fault);
        if headers.contains_key(ORIGIN) {
            return Err(forbidden(Fault::refused("origin", "requests of web pages are refused")));
        }
        if !self.is_host(head.version, headers) {
            return Err(forbidden(Fault::refused("host", "the Host header must name this loopback address")));
        }
        let credential = single(headers, &AUTHORIZATION)
            .and_then(|value| value?.as_bytes().strip_prefix(b"Bearer "))
            .and_then(|token| self.conversation.credential(token))
            .ok_or_else(|| (StatusCode::UNAUTHORIZED, Fault::unauthenticated()))?;
        let named = |value: Option<&HeaderValue>| match value {
            None => Some(LEGACY_OWNER.to_owned()),
            Some(value) => value.to_str().ok().filter(|id| is_client_id(id)).map(str::to_owned),
        };
        let client_id = single(headers, &CLIENT_ID)
            .filter(|value| value.is_some() || credential.client_id.is_none())
            .and_then(named)
            .filter(|id| credential.client_id.as_ref().is_none_or(|bound| bound == id))
            .ok_or_else(|| forbidden(Fault::unauthorized("client_id")))?;
        let narrowed = |value: Option<&HeaderValue>| match value {
            None => Some(Grants::ALL),
            Some(value) => value.to_str().ok().and_then(Grants::parse),
        };
        let narrowed = single(headers, &PERMISSIONS)
            .and_then(narrowed)
            .ok_or_else(|| forbidden(Fault::unauthorized("authorization")))?;
        let (grants, is_minted) = (credential.grants.and(narrowed), credential.client_id.is_some());
        Ok(Caller { client_id, grants, is_minted })
    }

    /// Whether the client means us: a loopback literal, and our port where it names one. A page that had its own name
    /// lead here would send that.
    fn is_host(&self, version: Version, headers: &HeaderMap) -> bool {
        let Some(host) = single(headers, &HOST) else { return false };
        let Some(host) = host else { return version < Version::HTTP_11 };
        let Ok(host) = host.to_str() else { return false };
        ["127.0.0.1", "localhost", "[::1]"].iter().any(|name| {
            let Some((own, port)) = host.split_at_checked(name.len()) else { return false };
            own.eq_ignore_ascii_case(name) && (port.is_empty() || port == format!(":{}", self.port))
        })
    }
}

/// A header that may stand there once. `None`: it stands there more often.
fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<Option<&'a HeaderValue>> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    values.next().is_none().then_some(first)
}

/// The body of a request, within its bounds of size and time.
async fn read(head: &Parts, body: Incoming) -> Result<Vec<u8>, (StatusCode, &'static str)> {
    let is_coded = head.headers.get(CONTENT_ENCODING).is_some_and(|coding| coding != "identity");
    if is_coded {
        return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, "a coded body is not understood"));
    }
    match timeout(limits::HOST_BODY, runtime::read(body, limits::HOST_BODY_BYTES)).await {
        Ok(Ok(body)) => Ok(body),
        Ok(Err(Error::TooLarge(_))) => Err((StatusCode::PAYLOAD_TOO_LARGE, "the body is too large")),
        Ok(Err(_)) => Err((StatusCode::BAD_REQUEST, "the body is cut off")),
        Err(_) => Err((StatusCode::REQUEST_TIMEOUT, "the body took too long")),
    }
}
