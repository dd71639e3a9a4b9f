use super::*;

#[tokio::test]
async fn a_turn_is_held_until_its_end_and_told_to_all() {
    let (host, mut script) = host().await;
    let (client, other) = (Client::new(&host, "a"), Client::new(&host, "b"));
    let mut listening = other.listen().await;
    let submitting = client.call("submit", json!({ "prompt": "hello" }));
    let (answer, ()) = tokio::join!(submitting, async {
        assert_eq!(script.prompted().await, "hello");
        let busy = client.error("frontend.v2.send_input", json!({ "prompt": "x" })).await;
        let expected =
            json!({ "code": -32000, "name": "busy", "operation": "input", "message": "a turn is already in progress" });
        assert_eq!(busy, expected);
        let status = client.ok("status", json!({})).await;
        assert_eq!(
            status,
            json!({ "session_id": "native", "model": "fake-model", "busy": true, "shutting_down": false })
        );
        assert_eq!(client.ok("frontend.describe", json!({})).await["turn_state"], "busy");
        script.say("echo: ").await;
        script.event("reasoning", json!({ "text": "hm", "raw": {} })).await;
        script.say("hello").await;
        script.end().await;
    });
    assert_eq!(answer, json!({ "id": 1, "result": { "reply": "echo: hello" } }));
    listening.event("turn_succeeded").await;
    assert_eq!(
        json!(listening.events()),
        json!([
            { "sequence": 1, "kind": "user_message", "payload": { "type": "user_message", "text": "hello" } },
            { "sequence": 2, "kind": "turn_started", "payload": { "type": "turn_started", "schema_version": 1 } },
            { "sequence": 3, "kind": "text_delta", "payload": { "type": "text_delta", "text": "echo: " } },
            { "sequence": 4, "kind": "reasoning", "payload": { "type": "reasoning", "text": "hm", "raw": {} } },
            { "sequence": 5, "kind": "text_delta", "payload": { "type": "text_delta", "text": "hello" } },
            { "sequence": 6, "kind": "turn_succeeded", "payload": { "type": "turn_succeeded", "schema_version": 1, "reply": "echo: hello" } },
        ])
    );
    let attached = client.ok("frontend.v2.attach", json!({ "limit": 50 })).await;
    assert_eq!(attached["history_cursor"], 5);
    assert_eq!(attached["replay"].as_array().unwrap().len(), 1);
    let messages = json!([{ "role": "user", "content": "hello" }, { "role": "assistant", "content": "echo: hello" }]);
    assert_eq!(attached["history"], messages);
    assert_eq!(client.ok("history", json!({ "limit": 1 })).await, json!({ "messages": [messages[1]] }));
}

#[tokio::test]
async fn text_from_outside_a_turn_is_not_in_the_reply_of_one_that_just_began() {
    let (host, mut script) = host().await;
    let client = Client::new(&host, "a");
    let mut listening = client.listen().await;
    let (answer, ()) = tokio::join!(client.ok("submit", json!({ "prompt": "hello" })), async {
        script.prompted().await;
        script.say_outside("late news").await;
        script.say("hi").await;
        script.end().await;
    });
    assert_eq!(answer["reply"], "hi");
    listening.event("turn_succeeded").await;
    let expected = ["user_message", "turn_started", "text_delta", "text_delta", "turn_succeeded"];
    assert_eq!(kinds(&listening.events()), expected);
}

#[tokio::test]
async fn a_turn_goes_on_when_nobody_waits_for_it_any_more() {
    let (host, mut script) = host().await;
    let client = Client::new(&host, "a");
    let mut socket = dial(&host).await;
    let asked = json!({ "id": 1, "method": "submit", "params": { "prompt": "go on" } }).to_string();
    socket.write_all(client.write("POST /rpc", &asked).as_bytes()).await.unwrap();
    script.prompted().await;
    drop(socket);
    assert_eq!(client.ok("status", json!({})).await["busy"], true);
    assert!(script.asks.try_recv().is_err(), "nobody cancelled it");
    script.end().await;
    until_idle(&client).await;
}

#[tokio::test]
async fn an_interruption_reaches_the_agent_and_its_turn_says_so() {
    let (host, mut script) = host().await;
    let client = Client::new(&host, "a");
    assert_eq!(client.ok("interrupt", json!({})).await, json!({ "interrupted": false }));
    let mut listening = client.listen().await;
    let (failed, interrupted, ()) = tokio::join!(
        client.error("submit", json!({ "prompt": "slow" })),
        async {
            listening.event("turn_started").await;
            client.ok("frontend.v2.interrupt", json!({})).await
        },
        async {
            script.prompted().await;
            assert!(matches!(script.asked().await, Ask::Cancel));
            script.tell(Told::TurnEnded(TurnEnd::Interrupted)).await;
        }
    );
    assert_eq!(interrupted, json!({ "interrupted": true }));
    assert_eq!((&failed["code"], &failed["name"]), (&json!(-32001), &json!("execution")));
    let told = listening.event("turn_interrupted").await;
    assert_eq!(told["payload"], json!({ "type": "turn_interrupted", "schema_version": 1 }));
    assert_eq!(client.ok("status", json!({})).await["busy"], false, "it was waited for");
}

#[tokio::test]
async fn a_failure_is_told_in_the_words_of_the_agent() {
    let (host, mut script) = host().await;
    let client = Client::new(&host, "a");
    let (failed, ()) = tokio::join!(client.error("submit", json!({ "prompt": "x" })), async {
        script.prompted().await;
        script.tell(Told::TurnEnded(TurnEnd::Failed("no credit".to_owned()))).await;
    });
    assert_eq!(failed, json!({ "code": -32002, "name": "execution", "operation": "input", "message": "no credit" }));
    let replay = client.ok("frontend.v2.attach", json!({})).await["replay"].clone();
    let payload = json!({ "type": "turn_failed", "schema_version": 1, "message": "no credit" });
    assert_eq!(replay[0]["payload"].to_string(), payload.to_string());
}

#[tokio::test]
async fn steering_and_images_are_not_what_every_agent_takes() {
    let (host, mut script) = host().await;
    let client = Client::new(&host, "a");
    let steer = client.error("frontend.v2.steer", json!({ "prompt": "left" })).await;
    let message = "SDK action `steer` is not supported by this runtime";
    assert_eq!(
        steer,
        json!({ "code": -32020, "name": "unsupported_action", "operation": "steer", "message": message })
    );
    for method in ["submit", "frontend.v2.send_input"] {
        let with = async |images: Value| client.error(method, json!({ "prompt": "x", "image_urls": images })).await;
        assert_eq!(with(json!(["http://a"])).await["name"], "unsupported_action");
        assert_eq!(with(json!(vec!["http://a"; 5])).await["code"], -32602);
        for bad in [json!("http://a"), json!([1]), json!(["file:///etc/passwd"])] {
            assert_eq!(with(bad.clone()).await["code"], -32602, "{bad}");
        }
        for bad in
            ["text/html,x", "image/png,AAAA", "image/;base64,AAAA", "image/png;base64,", "image/png;base64,\u{e4}"]
        {
            assert_eq!(with(json!([format!("data:{bad}")])).await["code"], -32602, "{bad}");
        }
        let large = format!("data:image/png;base64,{}", "A".repeat(13 << 20));
        assert_eq!(with(json!([large])).await["code"], -32602);
        assert_eq!(client.error(method, json!({ "prompt": 1 })).await["code"], -32602);
    }
    assert!(script.asks.try_recv().is_err());
    let seeing = Facts { images: true, ..facts() };
    script.tell(Told::Facts(Box::new(seeing))).await;
    let image = "data:image/png;base64,AAAA";
    let params = json!({ "prompt": "look", "image_urls": [image] });
    until(async || client.call("frontend.send_input", params.clone()).await["error"].is_null()).await;
    let Ask::Prompt(prompt) = script.asked().await else { panic!("no prompt") };
    assert_eq!((prompt.text.as_str(), prompt.images), ("look", vec![image.to_owned()]));
}

#[tokio::test]
async fn operations_are_run_as_the_descriptor_lists_them() {
    let (host, mut script) = host().await;
    let client = Client::new(&host, "a");
    let operations = client.ok("frontend.v2.describe", json!({})).await["operations"].clone();
    let ids: Vec<_> = operations.as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["prompt:review", "prompt:plain", "model:switch", "mode:plan"]);
    let run = async |operation: Value| client.call("frontend.v2.invoke", json!({ "operation": operation })).await;
    let (reply, ()) = tokio::join!(
        run(json!({ "kind": "prompt", "operation_id": "prompt:review", "arguments": "all of it" })),
        async {
            assert_eq!(script.prompted().await, "/review all of it");
            script.say("fine").await;
            script.end().await;
        }
    );
    assert_eq!(reply["result"], json!({ "kind": "prompt", "reply": "fine" }));
    let model = |model: &str| json!({ "kind": "model", "operation_id": "model:switch", "model": model });
    let same = json!({ "kind": "model", "model": "fake-model", "previous": "fake-model" });
    assert_eq!(run(model("")).await["result"], same);
    let (switched, ()) = tokio::join!(run(model("other")), async {
        let Ask::Model(to, answer) = script.asked().await else { panic!("no model") };
        assert_eq!(to, "other");
        answer.send(Ok(())).unwrap();
    });
    assert_eq!(switched["result"], json!({ "kind": "model", "model": "other", "previous": "fake-model" }));
    let mode = json!({ "kind": "session", "operation_id": "mode:plan" });
    let (refused, ()) = tokio::join!(run(mode), async {
        let Ask::Mode(to, answer) = script.asked().await else { panic!("no mode") };
        assert_eq!(to, "plan");
        answer.send(Err("not now".to_owned())).unwrap();
    });
    assert_eq!((&refused["error"]["code"], &refused["error"]["message"]), (&json!(-32023), &json!("not now")));
    for unknown in [
        json!({ "kind": "prompt", "operation_id": "prompt:x", "arguments": "" }),
        json!({ "kind": "prompt", "operation_id": "review", "arguments": "" }),
        json!({ "kind": "context", "operation_id": "context:usage" }),
        json!({ "kind": "session", "operation_id": "mode:x" }),
        json!({ "kind": "model", "operation_id": "model:x", "model": "other" }),
        model("nope"),
    ] {
        let error = run(unknown.clone()).await["error"].clone();
        assert_eq!((&error["code"], &error["name"]), (&json!(-32023), &json!("unsupported_action")), "{unknown}");
    }
    for bad in [json!({ "kind": "file" }), json!({ "kind": "prompt" }), json!(1), Value::Null] {
        assert_eq!(run(bad).await["error"], json!({ "code": -32602, "message": "invalid frontend operation" }));
    }
}

#[tokio::test]
async fn what_becomes_known_of_the_agent_is_told() {
    let (host, script) = host().await;
    let client = Client::new(&host, "a");
    let mut listening = client.listen().await;
    let mut known = facts();
    known.model = Some("other".to_owned());
    known.title = Some("A talk".to_owned());
    known.mode = Some("plan".to_owned());
    known.commands.clear();
    script.tell(Told::Facts(Box::new(known))).await;
    listening.event("operations_changed").await;
    let told = listening.events();
    assert_eq!(kinds(&told), ["model_changed", "mode_changed", "title_changed", "operations_changed"]);
    assert_eq!(told[0]["payload"]["from"], "fake-model");
    assert_eq!(told[0]["payload"]["to"], "other");
    let described = client.ok("frontend.v2.describe", json!({})).await;
    assert_eq!((&described["model"], &described["commands"]), (&json!("other"), &json!([])));
    assert_eq!(described["extensions"]["tackroom"]["title"], "A talk");
    assert_eq!(host.facts().title.as_deref(), Some("A talk"));
}

#[tokio::test]
async fn a_session_that_was_loaded_has_its_history() {
    let past = vec![event("user_message", json!({ "text": "then" })), event("text_delta", json!({ "text": "and so" }))];
    let (agent, _script) = agent(facts(), past);
    let host = Host::start(agent, options()).await.unwrap();
    let attached = Client::new(&host, "a").ok("frontend.attach", json!({ "limit": 50 })).await;
    assert_eq!(
        attached["history"],
        json!([{ "role": "user", "content": "then" }, { "role": "assistant", "content": "and so" }])
    );
    assert_eq!((&attached["history_cursor"], &attached["replay"]), (&json!(0), &json!([])));
}

#[tokio::test]
async fn closing_answers_then_ends_turn_and_streams_and_says_why() {
    for method in ["frontend.v2.close", "shutdown"] {
        let (host, mut script) = host().await;
        let client = Client::new(&host, "a");
        let listening = client.listen().await;
        let key = if method == "shutdown" { "shutting_down" } else { "closed" };
        let (failed, closed, _) = tokio::join!(
            client.error("submit", json!({ "prompt": "x" })),
            async {
                script.prompted().await;
                client.ok(method, json!({})).await
            },
            async { host.ended().await }
        );
        assert_eq!(closed, json!({ key: true }));
        assert_eq!(failed["code"], -32001);
        let events = listening.rest().await;
        assert_eq!(kinds(&events)[2..], ["turn_interrupted", "runtime_disconnected"]);
        assert_eq!(host.ended().await, super::super::End::Closed);
        assert!(script.asks.recv().await.is_none(), "the agent is let go");
        assert!(TcpStream::connect(address(&host)).await.is_err(), "the door is shut");
        host.close();
    }
}

#[tokio::test]
async fn an_agent_that_dies_takes_its_turn_and_its_streams_along() {
    let (host, mut script) = host().await;
    let client = Client::new(&host, "a");
    let listening = client.listen().await;
    let (failed, decided) = tokio::join!(client.error("submit", json!({ "prompt": "x" })), async {
        script.prompted().await;
        let decided = script.ask(&[Decision::Allow, Decision::Deny]).await;
        script.tell(Told::Gone(gone())).await;
        soon(decided).await
    });
    assert!(decided.is_err(), "the question is over");
    let message = failed["message"].as_str().unwrap();
    assert!(failed["code"] == -32002 && message.contains("exit code 3") && message.contains("out of tea"), "{failed}");
    let events = listening.rest().await;
    assert_eq!(kinds(&events)[2..], ["request", "request_resolved", "turn_failed", "runtime_disconnected"]);
    assert!(events.last().unwrap()["payload"]["message"].as_str().unwrap().contains("exit code 3"));
    assert_eq!(host.ended().await, super::super::End::Gone(gone()));
}

#[tokio::test]
async fn an_agent_that_takes_nothing_more_is_no_hang() {
    let (host, _script) = host().await;
    let client = Client::new(&host, "a");
    client.ok("frontend.v2.send_input", json!({ "prompt": "x" })).await;
    for _ in 0..15 {
        let asked = json!({ "id": 1, "method": "interrupt" }).to_string();
        dial(&host).await.write_all(client.write("POST /rpc", &asked).as_bytes()).await.unwrap();
    }
    until(async || client.call("interrupt", json!({})).await["error"]["code"] == -32002).await;
}

#[tokio::test]
async fn who_waits_for_its_turn_drives_until_it_ends() {
    let (host, mut script) = with(Options { lease_ttl: Duration::from_millis(1), ..options() }).await;
    let (client, other) = (Client::new(&host, "a"), Client::new(&host, "b"));
    let (reply, ()) = tokio::join!(client.ok("submit", json!({ "prompt": "slow" })), async {
        script.prompted().await;
        for _ in 0..50 {
            let lease = other.ok("frontend.v2.lease", json!({})).await;
            assert_eq!(lease["controller"]["client_id"], "a");
        }
        assert_eq!(other.error("interrupt", json!({})).await["name"], "controller_required");
        script.end().await;
    });
    assert_eq!(reply["reply"], "");
    until_lease(&other, |lease| lease["controller"].is_null()).await;
}
