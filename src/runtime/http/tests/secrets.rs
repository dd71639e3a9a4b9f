use super::*;

#[tokio::test]
async fn a_token_that_the_runtime_says_back_goes_no_further() {
    let quoted = r#"quote"and\slash-0123456789"#;
    let spelled = r#"quote\"and\\slash-0123456789"#;
    for (token, echo) in [(TOKEN, TOKEN), (quoted, spelled)] {
        let descriptor = format!(
            r#"{{"session_id":"{echo}","turn_state":"idle","connection_state":"connected","x":["{echo}{echo}","a{echo}"]}}"#
        );
        let event = format!("data: {{\"sequence\":1,\"kind\":\"k\",\"payload\":{{\"text\":\"{echo}\"}}}}\n\n");
        let stream = format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n{event}");
        let server = Server::answering([
            ok(&format!(r#"{{"result":{descriptor}}}"#)),
            ok(&format!(r#"{{"error":{{"code":-32002,"name":"{echo}","message":"no {echo}","holder":"{echo}"}}}}"#)),
            ok(&format!(r#"{{"error":{{"code":"{echo}"}}}}"#)),
            http("403 Forbidden", &format!(r#"{{"error":"not {echo}"}}"#)),
            stream.into_bytes(),
        ]);
        let client = Client::new(vec![server.address], "127.0.0.1:1".into(), Token::new(token.into())).unwrap();
        let api = Api::new(Arc::new(client), caller());

        let described = within(api.describe()).await.unwrap();
        assert_eq!(described.session_id, "<token>");
        assert!(described.raw.get().ends_with(r#""x":["<token><token>","a<token>"]}"#), "{}", described.raw);
        let mut texts = Vec::new();
        for _ in 0..3 {
            let error = within(api.describe()).await.unwrap_err();
            texts.push(format!("{error:?} {error}"));
            texts.push(crate::protocol::RpcError::from(error).to_json().to_string());
        }
        let event = within(async { api.events().await.unwrap().next().await }).await.unwrap().unwrap();
        texts.push(format!("{event:?}"));
        for text in texts {
            assert!(text.contains("<token>") && !text.contains(token) && !text.contains(echo), "{text}");
        }
    }
}

#[tokio::test]
async fn a_short_token_is_no_reason_to_spoil_a_text() {
    let server = Server::answering([ok(r#"{"result":{"a":"secret"}}"#)]);
    let client = Client::new(vec![server.address], "127.0.0.1:1".into(), Token::new("secret".into())).unwrap();
    assert_eq!(call(&client).await.unwrap(), r#"{"a":"secret"}"#);
}
