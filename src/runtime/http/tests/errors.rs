use super::*;
use crate::protocol::{Reason, RpcError};
use crate::runtime::Error;
use crate::runtime::outage::Sign;
use serde_json::json;

/// The error that comes of an answer.
async fn error(answer: Vec<u8>) -> Error {
    let server = Server::answering([answer]);
    within(server.client().call(&caller(), "m", &(), 1 << 20)).await.unwrap_err()
}

#[tokio::test]
async fn every_error_of_the_contract_has_its_reason() {
    for (code, name, reason) in [
        (-32700, None, Reason::Execution),
        (-32601, None, Reason::UnsupportedAction),
        (-32602, None, Reason::InvalidArgument),
        (-32000, Some("busy"), Reason::Busy),
        (-32000, None, Reason::Busy),
        (-32001, Some("execution"), Reason::Execution),
        (-32002, Some("execution"), Reason::Execution),
        (-32002, Some("transport"), Reason::Transport),
        (-32002, Some("unsupported_action"), Reason::UnsupportedAction),
        (-32002, None, Reason::Execution),
        (-32010, Some("transport"), Reason::Transport),
        (-32010, None, Reason::Execution),
        (-32020, Some("unsupported_action"), Reason::UnsupportedAction),
        (-32020, None, Reason::UnsupportedAction),
        (-32021, None, Reason::NotFound),
        (-32022, Some("not_found"), Reason::NotFound),
        (-32022, Some("invalid_argument"), Reason::InvalidArgument),
        (-32023, Some("unsupported_action"), Reason::UnsupportedAction),
        (-32023, None, Reason::UnsupportedAction),
        (-32030, Some("unauthenticated"), Reason::Unauthenticated),
        (-32030, None, Reason::Unauthenticated),
        (-32031, Some("unauthorized"), Reason::Unauthorized),
        (-32031, None, Reason::Unauthorized),
        (-32032, Some("controller_required"), Reason::ControllerRequired),
        (-32032, None, Reason::ControllerRequired),
        (-32033, Some("lease_expired"), Reason::LeaseExpired),
        (-32033, None, Reason::LeaseExpired),
        (-32033, Some("of the future"), Reason::Execution),
        (-1, None, Reason::Execution),
    ] {
        let mut body = json!({"id": 1, "error": {"code": code, "message": "so it is"}});
        if let Some(name) = name {
            body["error"]["name"] = name.into();
        }
        let error = error(ok(&body.to_string())).await;
        assert_eq!(error.reason(), reason, "{body}");
        assert_eq!(error.sign(), Sign::Contact);
    }
}

#[tokio::test]
async fn data_keeps_what_a_program_needs_and_the_text_says_what_to_do() {
    let text = |body: &'static str| async move {
        let error = error(ok(body)).await;
        (error.to_string(), RpcError::from(error).data())
    };
    let (said, data) = text(
        r#"{"error":{"code":-32032,"name":"controller_required","operation":null,"message":"m","holder":"cap-2","expiresAtMs":18446744073709551615}}"#,
    )
    .await;
    assert!(said.contains("`cap-2`") && said.contains("runtime/takeControl"), "{said}");
    assert_eq!(data, json!({"reason": "controller_required", "holder": "cap-2", "expiresAtMs": u64::MAX}));

    let (said, data) =
        text(r#"{"error":{"code":-32031,"name":"unauthorized","message":"m","permission":"approve"}}"#).await;
    assert!(said.contains("`approve`"), "{said}");
    assert_eq!(data, json!({"reason": "unauthorized", "permission": "approve"}));

    let (said, data) = text(r#"{"error":{"code":-32033,"name":"lease_expired","message":"m"}}"#).await;
    assert!(said.contains("only `runtime/takeControl` helps"), "{said}");
    assert_eq!(data, json!({"reason": "lease_expired"}));

    let (said, data) = text(r#"{"error":{"code":-32601,"message":"unknown method `status`"}}"#).await;
    assert!(said.contains("unknown method `status`"), "{said}");
    assert_eq!(data, json!({"reason": "unsupported_action"}));
}

#[tokio::test]
async fn every_status_has_its_reason() {
    let main = r#"{"id":null,"error":{"code":-32031,"name":"unauthorized","operation":null,"message":"m","permission":"client_id"}}"#;
    for (status, body, reason) in [
        (
            "401 Unauthorized",
            r#"{"id":null,"error":{"code":-32030,"name":"unauthenticated","message":"m"}}"#,
            Reason::Unauthenticated,
        ),
        ("401 Unauthorized", r#"{"error":"missing or invalid bearer token"}"#, Reason::Unauthenticated),
        ("403 Forbidden", main, Reason::Unauthorized),
        ("403 Forbidden", "no", Reason::Unauthorized),
        ("400 Bad Request", r#"{"error":"invalid runtime client id"}"#, Reason::Transport),
        ("404 Not Found", r#"{"error":"not found"}"#, Reason::Transport),
        ("500 Internal Server Error", "<html>", Reason::Execution),
        ("502 Bad Gateway", "", Reason::Transport),
        ("503 Service Unavailable", "", Reason::Transport),
    ] {
        let error = error(http(status, body)).await;
        assert_eq!((error.reason(), error.sign()), (reason, Sign::Contact), "{status} {body}");
        if let Error::Http { message: Some(message), .. } = &error {
            assert!(error.to_string().contains(message.as_str()), "{error}");
        }
    }
}

#[test]
fn what_keeps_this_process_from_connecting_says_nothing_of_the_runtime() {
    use std::io::{Error as Io, ErrorKind};
    const EMFILE: i32 = 24;
    for error in
        [ErrorKind::PermissionDenied.into(), ErrorKind::NetworkUnreachable.into(), Io::from_raw_os_error(EMFILE)]
    {
        assert_eq!(Error::Refused(error).sign(), Sign::Untried);
    }
    assert_eq!(Error::Refused(ErrorKind::ConnectionRefused.into()).sign(), Sign::Failure);
}
