//! `/rpc`: one request, one answer.

use super::super::conversation::{Caller, Conversation};
use super::super::fault::Fault;
use super::params::{Params, is_object};
use crate::limits;
use crate::protocol::Permission::{self, Approve, Interact, Observe, Terminate};
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;

/// A request. Other members are ignored, `jsonrpc` among them. What is not needed of it is never built.
#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct RpcRequest<'a> {
    id: &'a RawValue,
    method: String,
    params: Option<&'a RawValue>,
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
    let body = String::from_utf8_lossy(body);
    let request = match request(&body) {
        Ok(request) => request,
        Err(why) => {
            let fault = Fault::plain(-32700, format!("parse error: {why}"));
            return json!({ "id": null, "error": fault }).to_string().into_bytes();
        }
    };
    let id = request.id.get();
    let answer = match call(conversation, caller, &request.method, request.params).await {
        Ok(result) => [b"{\"id\":", id.as_bytes(), b",\"result\":", &result, b"}"].concat(),
        Err(fault) => {
            let fault = json!(fault).to_string();
            format!("{{\"id\":{id},\"error\":{fault}}}").into_bytes()
        }
    };
    // A secret that the agent said in pieces is whole here: in a reply, in the history.
    conversation.scrub().clean(answer)
}

/// The request of a body. An array is none, although it could be read as one.
fn request(body: &str) -> Result<RpcRequest<'_>, String> {
    if !is_object(body) {
        return Err("a request is one object".to_owned());
    }
    serde_json::from_str(body).map_err(|error| error.to_string())
}

/// The result of a call, as JSON.
async fn call(
    conversation: &Conversation,
    caller: &Caller,
    method: &str,
    params: Option<&RawValue>,
) -> Result<Vec<u8>, Fault> {
    let Some(row) = METHODS.iter().find(|row| row.names.contains(&method)) else {
        let method: String = method.chars().take(limits::RUNTIME_NAME_CHARS).collect();
        return Err(Fault::plain(-32601, format!("unknown method `{method}`")));
    };
    caller.must(row.needs)?;
    let client = caller.client_id.as_str();
    let params = Params::of(params)?;
    conversation.touch(client);
    match row.method {
        Method::Describe => json(&conversation.describe(caller)),
        Method::Attach => conversation.attach(caller, params.limit()?),
        Method::SendInput => {
            conversation.begin(caller, params.prompt("frontend.send_input")?)?;
            json(&json!({ "accepted": true }))
        }
        Method::Submit => {
            let reply = conversation.submit(caller, params.prompt("submit")?).await?;
            json(&json!({ "reply": reply }))
        }
        Method::Interrupt => json(&json!({ "interrupted": conversation.interrupt(caller).await? })),
        Method::Steer => {
            params.text("steer")?;
            Err(Fault::unsupported("steer", "SDK action `steer` is not supported by this runtime"))
        }
        Method::Respond => {
            conversation.respond(caller, &params.response()?)?;
            json(&json!({ "accepted": true }))
        }
        Method::Invoke => json(&conversation.invoke(caller, params.operation()?).await?),
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
            conversation.close(Some(client));
            json(&json!({ "closed": true }))
        }
        Method::Shutdown => {
            conversation.close(Some(client));
            json(&json!({ "shutting_down": true }))
        }
        Method::Status => json(&conversation.status()),
        Method::History => json(&conversation.history(params.limit()?)),
    }
}

fn json(result: &impl Serialize) -> Result<Vec<u8>, Fault> {
    serde_json::to_vec(result).map_err(|error| Fault::execution("discover", error.to_string()))
}
