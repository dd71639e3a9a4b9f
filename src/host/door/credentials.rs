//! The doors by which the owner makes credentials for others and takes them back.

use super::super::conversation::Conversation;
use super::super::credentials::Grants;
use super::answer::{Answer, last, plain, secret};
use crate::runtime::wire::is_client_id;
use hyper::StatusCode;
use serde_json::{Value, json};

/// Where one is made.
pub(super) const MINT: &str = "/_supercode/frontend-credentials/mint";
/// Where a client's are taken back.
pub(super) const REVOKE: &str = "/_supercode/frontend-credentials/revoke";

/// Answers at one of the doors; who asks is the owner.
pub(super) async fn answer(conversation: &Conversation, path: &str, body: &[u8]) -> Answer {
    let bad = |message: &str| plain(StatusCode::BAD_REQUEST, message);
    let is_mint = path == MINT;
    let Ok(asked) = serde_json::from_slice::<Value>(body) else { return bad("the request is not JSON") };
    let Some(client_id) = asked["clientId"].as_str() else {
        return bad(if is_mint { "mint request omitted clientId" } else { "revoke request omitted clientId" });
    };
    if !is_client_id(client_id) {
        return bad("clientId must be 1 to 128 of `[A-Za-z0-9._-]`");
    }
    if !is_mint {
        let revoked = conversation.revoke(client_id).await;
        return last(StatusCode::OK, json!({ "revoked": revoked }).to_string());
    }
    let grants = match asked["grant"].as_str() {
        Some("observer") => Grants::OBSERVER,
        Some("interactive") => Grants::INTERACTIVE,
        _ => return bad("grant must be observer or interactive"),
    };
    match conversation.mint(client_id, grants) {
        Ok(token) => secret(token.secret()),
        Err(error) => plain(StatusCode::SERVICE_UNAVAILABLE, error.to_string()),
    }
}
