//! Answers: what they are made of.

use super::super::fault::Fault;
use super::events::Events;
use crate::runtime::wire;
use http_body_util::{Either, Full};
use hyper::body::Bytes;
use hyper::header::{CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use serde_json::{Value, json};

/// An answer.
pub(super) type Answer = Response<Either<Full<Bytes>, Events>>;

/// A document. Only `/rpc` keeps its connection, and only where all is well.
pub(super) fn document(status: StatusCode, body: impl Into<Bytes>) -> Answer {
    with(status, "application/json", Either::Left(Full::new(body.into())))
}

/// A document after which the connection closes.
pub(super) fn last(status: StatusCode, body: impl Into<Bytes>) -> Answer {
    closing(document(status, body))
}

/// A refusal in the words of `/rpc`, for a request that was not read.
pub(super) fn refusal(status: StatusCode, fault: &Fault) -> Answer {
    last(status, json!({ "id": null, "error": fault }).to_string())
}

/// A refusal in plain words.
pub(super) fn plain(status: StatusCode, message: impl Into<Value>) -> Answer {
    last(status, json!({ "error": message.into() }).to_string())
}

/// A secret.
pub(super) fn secret(token: &str) -> Answer {
    closing(with(StatusCode::OK, "application/octet-stream", Either::Left(Full::new(token.to_owned().into()))))
}

/// A stream of events.
pub(super) fn stream(events: Events) -> Answer {
    let mut answer = with(StatusCode::OK, wire::EVENT_STREAM, Either::Right(events));
    answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    closing(answer)
}

fn closing(mut answer: Answer) -> Answer {
    answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    answer
}

fn with(status: StatusCode, kind: &'static str, body: Either<Full<Bytes>, Events>) -> Answer {
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}
