//! An agent may read its host's receipt. What it says of it is told to everybody, but for the owner's credential.

use super::*;

#[tokio::test]
async fn the_owners_credential_is_taken_out_of_what_the_agent_says() {
    let (agent, mut script) = agent(facts(), vec![event("user_message", json!({ "text": format!("old {TOKEN}") }))]);
    let host = Host::start(agent, options()).await.unwrap();
    let client = Client::new(&host, "a");
    let (mut listening, mut news) = (client.listen().await, host.news());
    let (reply, ()) = tokio::join!(client.ok("submit", json!({ "prompt": "say it" })), async {
        script.prompted().await;
        script.say(&format!("it is {TOKEN}, ")).await;
        let (one, two) = TOKEN.split_at(20);
        script.say(one).await;
        script.say(two).await;
        script.event("native_event", json!({ "kind": "x", "raw": { TOKEN: [TOKEN] } })).await;
        script.tell(Told::Facts(Box::new(Facts { title: Some(TOKEN.to_owned()), ..facts() }))).await;
        listening.event("title_changed").await;
        let replay = client.ok("frontend.v2.attach", json!({})).await["replay"].to_string();
        assert!(!replay.contains(TOKEN), "{replay}");
        script.end().await;
    });
    assert_eq!(reply["reply"], "it is <token>, <token>");
    for method in ["frontend.v2.attach", "history", "frontend.v2.describe"] {
        let told = client.ok(method, json!({})).await.to_string();
        assert!(!told.contains(TOKEN) && told.contains("<token>"), "{method}: {told}");
    }
    let stderr = format!("my key is {TOKEN}");
    script.tell(Told::Gone(Gone { how: format!("it said {TOKEN}"), stderr })).await;
    let End::Gone(gone) = soon(host.ended()).await else { panic!("it is gone") };
    assert_eq!((gone.how.as_str(), gone.stderr.as_str()), ("it said <token>", "my key is <token>"));
    let told = json!(listening.rest().await).to_string();
    assert!(!told.contains(TOKEN) && told.contains("runtime_disconnected"), "{told}");
    while let Some(piece) = soon(news.next()).await {
        assert!(!format!("{piece:?}").contains(TOKEN), "{piece:?}");
    }
}
