//! JSON-RPC 2.0 itself: ids, batches, params, and the specification's own examples with our methods.

use crate::support::{Framing, Spawn};
use proptest::prelude::*;
use serde_json::{Value, json};

fn ping(id: impl Into<Value>) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": "ping" })
}

fn pong(id: impl Into<Value>) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "result": {} })
}

#[test]
fn every_legal_id_goes_back_as_it_came() {
    let ids = [
        "0",
        "-1",
        "-9223372036854775808",
        "2147483648",
        "9007199254740993",
        "18446744073709551616",
        "123456789012345678901234567890",
        "1.5",
        "-0.25",
        "1e3",
        "null",
        "\"\"",
        "\"1\"",
        "\"a b\"",
        "\"\u{e9}\u{1F600}\"",
        "\"quote \\\" and \\\\ and \\n\"",
    ];
    for framing in Framing::BOTH {
        let mut server = Spawn::empty().framing(framing).open();
        for id in ids {
            server.frame(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
            let answer = String::from_utf8(server.next_bytes().unwrap()).unwrap();
            // Compared as text: a JSON reader of ours could round what the server rounded.
            assert_eq!(answer, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
        }
    }
}

#[test]
fn any_string_is_an_id_and_comes_back() {
    let server = std::cell::RefCell::new(Spawn::empty().open());
    proptest!(|(id in "\\PC{0,20}|[\\x00-\\x20\"\\\\\u{2028}]{1,5}")| {
        let mut server = server.borrow_mut();
        server.send(&ping(id.as_str()));
        prop_assert_eq!(server.expect_frame(), pong(id));
    });
}

#[test]
fn what_is_no_id_is_refused() {
    let mut server = Spawn::empty().open();
    for id in ["true", "{}", "[1]", r#""\ud800""#] {
        server.frame(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
        server.expect_refusal().is(-32600, "invalid_request");
    }
    server.pong();
}

/// <https://www.jsonrpc.org/specification#examples>, with our methods in the place of `subtract` and `sum`.
#[test]
fn the_specification_s_examples() {
    for framing in Framing::BOTH {
        let mut server = Spawn::empty().framing(framing).open();
        // Positional params, in both orders: every method of ours takes them by name.
        for params in ["[42,23]", "[23,42]"] {
            server.frame(format!(r#"{{"jsonrpc":"2.0","method":"ping","params":{params},"id":1}}"#));
            server.answer(1).error().is(-32602, "invalid_params");
        }
        // Named params, in both orders.
        for params in [r#"{"limit":0,"query":{}}"#, r#"{"query":{},"limit":0}"#] {
            server.frame(format!(r#"{{"jsonrpc":"2.0","method":"registry/list","params":{params},"id":3}}"#));
            assert_eq!(server.answer(3).result()["total"], 0);
        }
        // Notifications, with params and without.
        server.frame(r#"{"jsonrpc":"2.0","method":"update","params":[1,2,3,4,5]}"#);
        server.frame(r#"{"jsonrpc":"2.0","method":"foobar"}"#);
        server.frame(r#"{"jsonrpc":"2.0","method":"ping"}"#);
        server.pong();
        // A method that does not exist.
        server.frame(r#"{"jsonrpc":"2.0","method":"foobar","id":"1"}"#);
        server.answer("1").error().is(-32601, "method_not_found");
        // Invalid JSON.
        server.frame(r#"{"jsonrpc":"2.0","method":"foobar,"params":"bar","baz]"#);
        server.expect_refusal().is(-32700, "parse_error");
        // No request.
        server.frame(r#"{"jsonrpc":"2.0","method":1,"params":"bar"}"#);
        server.expect_refusal().is(-32600, "invalid_request");
        // A batch of invalid JSON.
        server.frame(r#"[{"jsonrpc":"2.0","method":"sum","params":[1,2,4],"id":"1"},{"jsonrpc":"2.0","method"]"#);
        server.expect_refusal().is(-32700, "parse_error");
        // An empty one.
        server.frame("[]");
        server.expect_refusal().is(-32600, "invalid_request");
        // Invalid batches, not empty.
        for count in [1, 3] {
            server.frame(json!(vec![1; count]).to_string());
            let answers = server.expect_frame();
            assert_eq!(answers.as_array().unwrap().len(), count);
            for answer in answers.as_array().unwrap() {
                assert_eq!((&answer["id"], &answer["error"]["code"]), (&Value::Null, &json!(-32600)));
            }
        }
        // A mixed batch.
        server.send(&json!([
            { "jsonrpc": "2.0", "method": "ping", "params": [1, 2, 4], "id": "1" },
            { "jsonrpc": "2.0", "method": "notify_hello", "params": [7] },
            { "jsonrpc": "2.0", "method": "registry/list", "params": { "limit": 0 }, "id": "2" },
            { "foo": "boo" },
            { "jsonrpc": "2.0", "method": "foo.get", "params": { "name": "myself" }, "id": "5" },
            { "jsonrpc": "2.0", "method": "ping", "id": "9" },
        ]));
        let mut answers = server.expect_frame().as_array().unwrap().clone();
        answers.sort_by_key(|answer| answer["id"].to_string());
        let told: Vec<_> = answers.iter().map(|a| (a["id"].clone(), a["error"]["code"].clone())).collect();
        let code = |id: Value, code: i64| (id, json!(code));
        assert_eq!(
            told,
            [
                code(json!("1"), -32602),
                (json!("2"), Value::Null),
                code(json!("5"), -32601),
                (json!("9"), Value::Null),
                code(Value::Null, -32600)
            ]
        );
        // A batch of notifications alone.
        server.frame(r#"[{"jsonrpc":"2.0","method":"notify_sum","params":[1]},{"jsonrpc":"2.0","method":"ping"}]"#);
        server.pong();
    }
}

#[test]
fn answers_of_errors_in_full() {
    let mut server = Spawn::empty().open();
    let mut whole = |message: &str| {
        server.frame(message);
        server.expect_frame()
    };
    insta::assert_json_snapshot!([
        whole(r#"{"jsonrpc":"2.0","id":1,"method":"nothing/such"}"#),
        whole(r#"{"jsonrpc":"2.0","id":2,"method":"ping","params":[1]}"#),
        whole(r#"{"jsonrpc":"2.0","id":3,"method":"ping","params":"x"}"#),
        whole(r#"{"jsonrpc":"1.0","id":4,"method":"ping"}"#),
        whole(r#"{"jsonrpc":"2.0","id":5}"#),
        whole(r#"{"jsonrpc":"2.0","id":6,"method":"initialize","params":{"clientInfo":{"name":"again"}}}"#),
        whole(r#"{"jsonrpc":"2.0","id":7,"method":"registry/list","params":{"limit":-1}}"#),
        whole(r#"{"jsonrpc":"2.0","id":8,"method":"registry/list","params":{"query":{"states":["asleep"]}}}"#),
        whole(r#"{"jsonrpc":"2.0","id":9,"method":"registry/describe","params":{"id":"claude-code:none"}}"#),
        whole(r#"{"jsonrpc":"2.0","id":10,"method":"registry/describe"}"#),
        whole("{"),
        whole("1"),
    ]);
}

#[test]
fn params_may_be_absent_null_or_empty_and_other_members_are_ignored() {
    let mut server = Spawn::empty().open();
    for params in ["", r#","params":null"#, r#","params":{}"#, r#","params":[]"#, r#","params":[ ]"#] {
        server.frame(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping"{params}}}"#));
        assert_eq!(server.expect_frame(), pong(1));
    }
    server.frame(
        r#"{"trace":{"a":[1]},"id":1,"_meta":{},"method":"ping","jsonrpc":"2.0","params":{"x":1,"_meta":{"y":2}}}"#,
    );
    assert_eq!(server.expect_frame(), pong(1));
    server.frame(r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#);
    server.expect_refusal().is(-32600, "invalid_request");
    server.pong();
}

#[test]
fn a_batch_is_answered_whole_and_holds_no_more_than_the_bound() {
    for framing in Framing::BOTH {
        let mut server = Spawn::empty().framing(framing).args(["--limit", "batchMax=5"]).open();
        let batch = |count: i64| -> Value { (0..count).map(ping).collect() };
        server.send(&batch(5));
        assert_eq!(server.expect_frame(), (0..5).map(pong).collect::<Value>());
        server.send(&batch(6));
        server.expect_refusal().is(-32034, "limit");
        // One answer is still a list of one.
        server.send(&batch(1));
        assert_eq!(server.expect_frame(), json!([pong(0)]));
        // Fast and slow ones: one answer with all.
        let list = |id: i64| json!({ "jsonrpc": "2.0", "id": id, "method": "registry/list" });
        server.send(&json!([list(1), ping(2), list(3), ping(4)]));
        let answers = server.expect_frame();
        let mut ids: Vec<i64> = answers.as_array().unwrap().iter().map(|a| a["id"].as_i64().unwrap()).collect();
        ids.sort_unstable();
        assert_eq!(ids, [1, 2, 3, 4]);
        // Batches do not nest.
        server.send(&json!([[ping(1)], ping(2)]));
        let answers = server.expect_frame();
        assert_eq!((&answers[0]["error"]["code"], &answers[1]), (&json!(-32600), &pong(2)));
        server.pong();
    }
}

#[test]
fn a_batch_as_large_as_may_be_by_default_is_served() {
    let mut server = Spawn::empty().open();
    let batch: Value = (0..64).map(ping).collect();
    server.send(&batch);
    assert_eq!(server.expect_frame().as_array().unwrap().len(), 64);
    let lists: Value = (0..64).map(|id| json!({ "jsonrpc": "2.0", "id": id, "method": "registry/list" })).collect();
    server.send(&lists);
    let answers = server.expect_frame();
    assert!(answers.as_array().unwrap().iter().all(|answer| answer.get("result").is_some()), "{answers:#}");
    server.pong();
}

#[test]
fn batch_beyond_the_limit_is_refused_at_its_first_message_too_many() {
    let mut server = Spawn::empty().args(["--limit", "batchMax=5"]).open();
    // What follows the sixth element is not JSON: it was not read.
    server.frame("[1, 1, 1, 1, 1, 1, nonsense");
    server.expect_refusal().is(-32034, "limit");
    server.frame("[1, 1, 1, 1, 1, nonsense");
    server.expect_refusal().is(-32700, "parse_error");
    let before = server.peak_memory();
    server.frame(format!("[{}1]", "1,".repeat(4_000_000)));
    server.expect_refusal().is(-32034, "limit");
    let kilobytes = server.peak_memory() - before;
    assert!(kilobytes < 64 << 10, "{kilobytes} kB for a batch of 8 MB that is refused");
    server.pong();
}

#[test]
fn ids_and_progress_tokens_have_a_limit() {
    let mut server = Spawn::empty().open();
    let request = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
    let text = |bytes: usize| format!("\"{}\"", "x".repeat(bytes - 2));
    for longest in [text(4096), "1".repeat(300)] {
        server.frame(request(&longest));
        assert!(server.expect_frame().get("result").is_some());
    }
    for longer in [text(4097), "1".repeat(4097), text(15 << 20), "1".repeat(15 << 20)] {
        server.frame(request(&longer));
        server.expect_refusal().is(-32600, "invalid_request");
    }
    let longer = json!({ "_meta": { "progressToken": "x".repeat(4097) } });
    server.request("registry/list", longer).error().is(-32602, "invalid_params");
    server.pong();
}

#[test]
fn an_id_that_stands_twice_in_a_batch_is_answered_once_and_refused_once() {
    let mut server = Spawn::empty().open();
    let twice = json!({ "jsonrpc": "2.0", "id": "x", "method": "registry/list" });
    server.send(&json!([twice, twice, ping("y")]));
    let answers = server.expect_frame();
    let of_x = answers.as_array().unwrap().iter().filter(|answer| answer["id"] == "x");
    let mut codes: Vec<Value> = of_x.map(|answer| answer["error"]["code"].clone()).collect();
    codes.sort_by_key(Value::to_string);
    assert_eq!(codes, [json!(-32600), Value::Null], "{answers:#}");
    // The id is free again.
    assert!(server.request("registry/list", json!({})).result()["entries"].is_array());
    server.send(&json!({ "jsonrpc": "2.0", "id": "x", "method": "ping" }));
    assert_eq!(server.expect_frame(), pong("x"));
}

#[test]
fn responses_of_the_client_are_ignored() {
    let mut server = Spawn::empty().open();
    server.frame(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    server.frame(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"no"}}"#);
    server.frame(r#"[{"jsonrpc":"2.0","id":1,"result":{}}]"#);
    server.pong();
}
