//! What is asked for, of the params of `/rpc`. Members are found first, and read only by the method that takes them: of
//! what nobody takes nothing is built, however much it is.

use super::super::agent::Prompt;
use super::super::conversation::Operation;
use super::super::fault::Fault;
use crate::limits;
use crate::protocol::{Decision, ElicitedAction};
use crate::runtime::wire::{Answer, Response};
use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// The members that any method takes, not yet read. A `null` is as good as nothing.
#[derive(Default, Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub(super) struct Params<'a> {
    limit: Option<&'a RawValue>,
    prompt: Option<&'a RawValue>,
    image_urls: Option<&'a RawValue>,
    response: Option<&'a RawValue>,
    operation: Option<&'a RawValue>,
}

/// Whether this JSON is an object. Structs are read from arrays as well.
pub(super) fn is_object(json: &str) -> bool {
    json.trim_ascii_start().starts_with('{')
}

impl<'a> Params<'a> {
    /// Those of a request.
    pub(super) fn of(params: Option<&'a RawValue>) -> Result<Self, Fault> {
        let Some(params) = params else { return Ok(Self::default()) };
        object(params).ok_or_else(|| Fault::params("`params` must be an object that says nothing twice"))
    }

    /// How many messages are asked for.
    pub(super) fn limit(&self) -> Result<usize, Fault> {
        let Some(limit) = self.limit else { return Ok(limits::HISTORY_DEFAULT as usize) };
        let limit: u64 = read(limit).ok_or_else(|| Fault::params("`params.limit` must be a whole number from 0 up"))?;
        Ok(limit.clamp(1, limits::HISTORY_MAX.into()) as usize)
    }

    /// What somebody says.
    pub(super) fn text(&self, method: &str) -> Result<String, Fault> {
        let text = self.prompt.and_then(read);
        text.ok_or_else(|| Fault::params(format!("{method} requires a string `params.prompt`")))
    }

    /// What somebody says, with its images.
    pub(super) fn prompt(&self, method: &str) -> Result<Prompt, Fault> {
        let refused = |why: &str| Fault::params(format!("{method} {why}"));
        let text = self.text(method)?;
        let Images(images) = match self.image_urls {
            None => Images::default(),
            Some(images) => read(images).ok_or_else(|| refused("requires `params.image_urls` to be strings"))?,
        };
        if text.trim().is_empty() && images.is_empty() {
            return Err(refused("requires a `params.prompt` that says something"));
        }
        if images.len() > limits::HOST_IMAGES {
            return Err(refused(&format!("accepts at most {} images", limits::HOST_IMAGES)));
        }
        if !images.iter().all(|url| is_image(url)) {
            return Err(refused("accepts images as data:image/...;base64,... or http(s) addresses only"));
        }
        let is_larger = |url: &String| url.len() > limits::HOST_IMAGE_BYTES;
        if images.iter().any(is_larger) || images.iter().map(String::len).sum::<usize>() > limits::HOST_IMAGES_BYTES {
            return Err(refused("does not accept images of that size"));
        }
        Ok(Prompt { text, images })
    }

    /// An answer to what was asked.
    pub(super) fn response(&self) -> Result<Response, Fault> {
        let answered = self.response.and_then(object::<Answered>).and_then(Answered::response);
        answered.ok_or_else(|| Fault::params("invalid response"))
    }

    /// What is to be run.
    pub(super) fn operation(&self) -> Result<Operation, Fault> {
        let invoked = self.operation.and_then(object::<Invoked>).and_then(Invoked::operation);
        invoked.ok_or_else(|| Fault::params("invalid frontend operation"))
    }
}

/// An answer of any kind.
#[derive(Deserialize)]
struct Answered {
    kind: String,
    request_id: u64,
    decision: Option<Decision>,
    action: Option<ElicitedAction>,
    content: Option<Value>,
}

impl Answered {
    fn response(self) -> Option<Response> {
        let Self { kind, request_id, decision, action, content } = self;
        let answer = |action| Answer { request_id, action, content };
        match kind.as_str() {
            "approval" => Some(Response::Approval { request_id, decision: decision? }),
            "elicitation" => Some(Response::Elicitation(answer(action?))),
            "other" => Some(Response::Other(answer(action?))),
            _ => None,
        }
    }
}

/// An operation of any kind.
#[derive(Deserialize)]
struct Invoked {
    kind: String,
    operation_id: String,
    arguments: Option<String>,
    model: Option<String>,
}

impl Invoked {
    fn operation(self) -> Option<Operation> {
        let Self { kind, operation_id, arguments, model } = self;
        match kind.as_str() {
            "prompt" => Some(Operation::Prompt { operation_id, arguments: arguments? }),
            "context" => Some(Operation::Context { operation_id }),
            "model" => Some(Operation::Model { operation_id, model: model? }),
            "session" => Some(Operation::Session { operation_id }),
            _ => None,
        }
    }
}

/// The addresses of images: no more than is needed to know that there are too many.
#[derive(Default)]
struct Images(Vec<String>);

impl<'de> Deserialize<'de> for Images {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Addresses;

        impl<'de> Visitor<'de> for Addresses {
            type Value = Images;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("addresses of images")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut addresses: A) -> Result<Images, A::Error> {
                let mut images = Vec::new();
                while images.len() <= limits::HOST_IMAGES
                    && let Some(image) = addresses.next_element()?
                {
                    images.push(image);
                }
                while addresses.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Images(images))
            }
        }

        deserializer.deserialize_seq(Addresses)
    }
}

/// Whether an agent can be told of this image.
fn is_image(url: &str) -> bool {
    if url.starts_with("https://") || url.starts_with("http://") {
        return true;
    }
    let Some((kind, data)) = url.strip_prefix("data:image/").and_then(|data| data.split_once(";base64,")) else {
        return false;
    };
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    !kind.is_empty() && !data.is_empty() && data.bytes().all(is_base64)
}

fn read<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Option<T> {
    serde_json::from_str(raw.get()).ok()
}

fn object<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Option<T> {
    is_object(raw.get()).then(|| read(raw)).flatten()
}
