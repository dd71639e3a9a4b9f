//! `/rpc`: one request, one answer.

use super::super::agent::Prompt;
use super::super::conversation::{Caller, Conversation, Operation, limit};
use super::super::fault::Fault;
use crate::limits;
use crate::protocol::Permission::{self, Approve, Interact, Observe, Terminate};
use crate::runtime::wire::Response;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// A request. Other members are ignored, `jsonrpc` among them.
#[derive(Deserialize)]
struct RpcRequest {
    id: Box<RawValue>,
    method: String,
    #[serde(default)]
    params: Value,
}

/// What a client may ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Method {
    Describe,
    Attach,
    SendInput,
    Submit,
    Interrupt,
    Steer,
    Respond,
    Invoke,
    Lease,
    Acquire,
    Take,
    Heartbeat,
    Detach,
    Close,
    Shutdown,
    Status,
    History,
}

/// A method, the names by which it is called, and what one must be permitted for it.
pub(in super::super) struct Row {
    pub(in super::super) method: Method,
    pub(in super::super) names: &'static [&'static str],
    pub(in super::super) needs: &'static [Permission],
}

#[rustfmt::skip]
pub(in super::super) const METHODS: [Row; 17] = [
    Row { method: Method::Describe, names: &["frontend.v2.describe", "frontend.describe"], needs: &[Observe] },
    Row { method: Method::Attach, names: &["frontend.v2.attach", "frontend.attach"], needs: &[Observe] },
    Row { method: Method::SendInput, names: &["frontend.v2.send_input", "frontend.send_input"], needs: &[Observe, Interact] },
    Row { method: Method::Submit, names: &["frontend.v2.submit", "submit"], needs: &[Observe, Interact] },
    Row { method: Method::Interrupt, names: &["frontend.v2.interrupt", "interrupt"], needs: &[Observe, Interact] },
    Row { method: Method::Steer, names: &["frontend.v2.steer", "steer"], needs: &[Observe, Interact] },
    Row { method: Method::Respond, names: &["frontend.v2.respond", "respond"], needs: &[Observe, Interact, Approve] },
    Row { method: Method::Invoke, names: &["frontend.v2.invoke", "frontend.invoke"], needs: &[Observe, Interact] },
    Row { method: Method::Lease, names: &["frontend.v2.lease", "frontend.lease"], needs: &[Observe] },
    Row { method: Method::Acquire, names: &["frontend.v2.acquire_control", "frontend.acquire_control"], needs: &[Observe, Interact] },
    Row { method: Method::Take, names: &["frontend.v2.take_control", "frontend.take_control"], needs: &[Observe, Interact] },
    Row { method: Method::Heartbeat, names: &["frontend.v2.heartbeat", "frontend.heartbeat"], needs: &[Observe] },
    Row { method: Method::Detach, names: &["frontend.v2.detach", "frontend.detach"], needs: &[Observe] },
    Row { method: Method::Close, names: &["frontend.v2.close", "frontend.close"], needs: &[Terminate] },
    Row { method: Method::Shutdown, names: &["shutdown"], needs: &[Terminate] },
    Row { method: Method::Status, names: &["status"], needs: &[Observe] },
    Row { method: Method::History, names: &["history"], needs: &[Observe] },
];

/// Answers a request, which is the whole body.
pub(super) async fn answer(conversation: &Conversation, caller: &Caller, body: &[u8]) -> Vec<u8> {
    let request: RpcRequest = match serde_json::from_str(&String::from_utf8_lossy(body)) {
        Ok(request) => request,
        Err(error) => {
            let fault = Fault::plain(-32700, format!("parse error: {error}"));
            return json!({ "id": null, "error": fault }).to_string().into_bytes();
        }
    };
    let id = request.id.get();
    match call(conversation, caller, &request.method, request.params).await {
        Ok(result) => [b"{\"id\":", id.as_bytes(), b",\"result\":", &result, b"}"].concat(),
        Err(fault) => {
            let fault = json!(fault).to_string();
            format!("{{\"id\":{id},\"error\":{fault}}}").into_bytes()
        }
    }
}

/// The result of a call, as JSON.
async fn call(conversation: &Conversation, caller: &Caller, method: &str, params: Value) -> Result<Vec<u8>, Fault> {
    let Some(row) = METHODS.iter().find(|row| row.names.contains(&method)) else {
        let method: String = method.chars().take(limits::RUNTIME_NAME_CHARS).collect();
        return Err(Fault::plain(-32601, format!("unknown method `{method}`")));
    };
    caller.must(row.needs)?;
    let client = caller.client_id.as_str();
    conversation.touch(client);
    match row.method {
        Method::Describe => json(&conversation.describe(caller)),
        Method::Attach => conversation.attach(caller, limit(&params)),
        Method::SendInput => {
            conversation.begin(caller, prompt("frontend.send_input", &params)?)?;
            json(&json!({ "accepted": true }))
        }
        Method::Submit => {
            let reply = conversation.submit(caller, prompt("submit", &params)?).await?;
            json(&json!({ "reply": reply }))
        }
        Method::Interrupt => json(&json!({ "interrupted": conversation.interrupt(caller).await? })),
        Method::Steer => {
            text("steer", &params)?;
            Err(Fault::unsupported("steer", "SDK action `steer` is not supported by this runtime"))
        }
        Method::Respond => {
            let response: Response = member(&params, "response").ok_or_else(|| Fault::params("invalid response"))?;
            conversation.respond(caller, &response)?;
            json(&json!({ "accepted": true }))
        }
        Method::Invoke => {
            let operation: Option<Operation> = member(&params, "operation");
            let operation = operation.ok_or_else(|| Fault::params("invalid frontend operation"))?;
            json(&conversation.invoke(caller, operation).await?)
        }
        Method::Lease => json(&conversation.leases(|_, _| Ok(()))?),
        Method::Acquire => json(&conversation.leases(|leases, now_ms| {
            leases.acquire(client, now_ms)?;
            leases.observe(client, now_ms);
            Ok(())
        })?),
        Method::Take => json(&conversation.leases(|leases, now_ms| {
            leases.take(client, now_ms);
            leases.observe(client, now_ms);
            Ok(())
        })?),
        Method::Heartbeat => json(&conversation.leases(|leases, now_ms| {
            leases.heartbeat(client, caller.grants.has(Interact), now_ms);
            Ok(())
        })?),
        Method::Detach => json(&conversation.leases(|leases, now_ms| {
            leases.detach(client, now_ms);
            Ok(())
        })?),
        Method::Close => {
            conversation.close();
            json(&json!({ "closed": true }))
        }
        Method::Shutdown => {
            conversation.close();
            json(&json!({ "shutting_down": true }))
        }
        Method::Status => json(&conversation.status()),
        Method::History => json(&conversation.history(limit(&params))),
    }
}

fn json(result: &impl Serialize) -> Result<Vec<u8>, Fault> {
    serde_json::to_vec(result).map_err(|error| Fault::execution("discover", error.to_string()))
}

/// A member of the params, if it is what it should be.
fn member<T: for<'de> Deserialize<'de>>(params: &Value, name: &str) -> Option<T> {
    T::deserialize(params.get(name)?).ok()
}

fn text(method: &str, params: &Value) -> Result<String, Fault> {
    let prompt = params.get("prompt").and_then(Value::as_str).map(str::to_owned);
    prompt.ok_or_else(|| Fault::params(format!("{method} requires a string `params.prompt`")))
}

/// What somebody says, with its images.
fn prompt(method: &str, params: &Value) -> Result<Prompt, Fault> {
    let text = text(method, params)?;
    let images = match params.get("image_urls") {
        None | Some(Value::Null) => Vec::new(),
        Some(_) => member::<Vec<String>>(params, "image_urls")
            .ok_or_else(|| Fault::params(format!("{method} requires `params.image_urls` to be strings")))?,
    };
    if images.len() > limits::HOST_IMAGES {
        return Err(Fault::params(format!("{method} accepts at most {} images", limits::HOST_IMAGES)));
    }
    let is_image = |url: &String| ["data:image/", "https://", "http://"].iter().any(|start| url.starts_with(start));
    if !images.iter().all(is_image) {
        return Err(Fault::params(format!("{method} accepts images as data:image/, https:// or http:// only")));
    }
    let is_larger = |url: &String| url.len() > limits::HOST_IMAGE_BYTES;
    if images.iter().any(is_larger) || images.iter().map(String::len).sum::<usize>() > limits::HOST_IMAGES_BYTES {
        return Err(Fault::params(format!("{method} does not accept images of that size")));
    }
    Ok(Prompt { text, images })
}
