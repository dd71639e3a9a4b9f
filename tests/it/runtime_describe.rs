//! What a runtime says of itself.

use crate::support::runtime::{Bad, Options, Route};
use crate::support::{WORKSPACE, with_runtime};
use serde_json::json;

#[test]
fn by_attachment_by_id_and_by_runtime_id() {
    for options in [Options::main("main-1", WORKSPACE), Options::hosted("gemini", "main-1", WORKSPACE)] {
        let (runtime, mut server) = with_runtime(options);
        let joined = server.attach(&runtime, json!({ "permissions": ["observe", "interact"] }));
        let at = &joined["attachment"];
        let own = server.at(at, "describe", json!({})).result();
        assert_eq!(own["descriptor"], joined["descriptor"]);
        assert_eq!(own["descriptor"]["actions"]["submit"], true);
        // Who only looks can do nothing, and is no observer by it.
        for by in [json!({ "id": "main-1" }), json!({ "runtimeId": "main-1" })] {
            let looked = server.request("runtime/describe", by).result();
            assert_eq!(looked["descriptor"]["actions"]["submit"], false);
            assert_eq!(looked["descriptor"]["session_id"], "main-1");
        }
        assert_eq!(runtime.observers().len(), 1);
        for wrong in
            [json!({}), json!({ "id": "main-1", "runtimeId": "main-1" }), json!({ "attachment": at, "id": "main-1" })]
        {
            server.request("runtime/describe", wrong).error().is(-32602, "invalid_params");
        }
        server.request("runtime/describe", json!({ "id": "main-2" })).error().is(-32001, "not_found");
        server.request("runtime/describe", json!({ "attachment": "main-1" })).error().is(-32001, "not_found");
    }
}

#[test]
fn members_that_nobody_knows_are_passed_on_and_what_is_no_descriptor_is_not() {
    let (runtime, mut server) = with_runtime(Options::main("main-1", WORKSPACE));
    let route = || Route::Rpc("describe".to_owned());
    runtime.misbehave_times(route(), 1, Bad::lie("/result/extensions", json!({ "x": [1, null, "ä"] })));
    let described = server.request("runtime/describe", json!({ "id": "main-1" })).result();
    assert_eq!(described["descriptor"]["extensions"], json!({ "x": [1, null, "ä"] }));
    for bad in [
        Bad::lie("/result", json!([])),
        Bad::lie("/result", json!(null)),
        Bad::lack("/result/session_id"),
        Bad::lack("/result/turn_state"),
    ] {
        runtime.misbehave_times(route(), 1, bad);
        server.request("runtime/describe", json!({ "id": "main-1" })).error().is(-32013, "transport");
    }
    // Another's descriptor is not that of the runtime that was named.
    runtime.misbehave_times(route(), 1, Bad::lie("/result/session_id", json!("main-2")));
    server.request("runtime/describe", json!({ "id": "main-1" })).error().is(-32004, "identity_mismatch");
}
