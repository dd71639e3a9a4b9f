//! What a client may do, and to which entries: only ever less.

use crate::support::{Home, Server, Spawn, uuid};
use serde_json::{Value, json};
use std::fs;

/// Two workspaces with sessions, one session without any, a file that cannot be understood, and a live session.
struct Scene {
    home: Home,
    ours: String,
    theirs: String,
}

impl Scene {
    fn new() -> Self {
        let home = Home::new();
        let workspace = |name: &str| {
            let path = home.path().join(name);
            fs::create_dir(&path).unwrap();
            path.display().to_string()
        };
        let (ours, theirs) = (workspace("ours"), workspace("theirs"));
        home.project("-ours", &ours).session(&uuid(1), "ours", 10);
        home.project("-ours-sub", &format!("{ours}/sub")).session(&uuid(2), "ours below", 20);
        let project = home.project("-theirs", &theirs);
        project.session(&uuid(3), "theirs", 30);
        fs::write(project.file(&uuid(8)), "no record at all\n").unwrap();
        home.project("-ours-2", &format!("{ours}-2")).session(&uuid(4), "a neighbour of ours", 40);
        home.project("-nowhere", "").session(&uuid(5), "nowhere", 50);
        home.peer("colleague", &uuid(3), &theirs);
        Self { home, ours, theirs }
    }
}

/// The numbers of the sessions that are listed, and the total.
fn listed(server: &mut Server, more: Value) -> (Vec<u64>, u64) {
    let answer = server.request("registry/list", more).result();
    let ids = answer["entries"].as_array().unwrap().iter().map(|entry| {
        let id = entry["sessionId"].as_str().unwrap();
        id.rsplit('-').next().unwrap().parse().unwrap()
    });
    (ids.collect(), answer["total"].as_u64().unwrap())
}

/// Everything that an answer could tell, in one text.
fn all_that_is_told(server: &mut Server) -> String {
    let mut told = String::new();
    for method in ["registry/list", "registry/coverage", "peer/list"] {
        told += &server.request(method, json!({})).result().to_string();
    }
    for number in 1..9 {
        let params = json!({ "id": format!("claude-code:{}", uuid(number)) });
        let answer = server.request("registry/describe", params);
        told += &answer.whole().to_string().replace(&uuid(number), "[id]");
    }
    told
}

#[test]
fn without_a_scope_all_is_there() {
    let mut server = Spawn::new(Scene::new().home).open();
    assert_eq!(listed(&mut server, json!({})), (vec![5, 4, 3, 2, 1], 5));
    let list = server.request("registry/list", json!({})).result();
    assert_eq!(list["problems"][0]["reason"], "unreadable");
    assert_eq!(server.request("peer/list", json!({})).result()["peers"][0]["name"], "colleague");
    let coverage = server.request("registry/coverage", json!({})).result();
    assert_eq!(coverage["harnesses"][0]["roots"][0]["files"], 6);
    assert_eq!(coverage["harnesses"][0]["roots"][0]["skipped"].as_array().unwrap().len(), 1);
}

/// Checks that a server is scoped to our workspace.
fn sees_only_ours(server: &mut Server, theirs: &str) {
    assert_eq!(listed(server, json!({})), (vec![2, 1], 2));
    assert_eq!(listed(server, json!({ "limit": 0 })), (vec![], 2));
    assert_eq!(listed(server, json!({ "query": { "workspace": theirs } })), (vec![], 0));
    assert_eq!(listed(server, json!({ "query": { "text": "theirs" } })), (vec![], 0));
    assert_eq!(listed(server, json!({ "query": { "rootId": format!("claude-code:{}", uuid(3)) } })), (vec![], 0));
    let told = all_that_is_told(server);
    for secret in [theirs, "colleague", "neighbour", "nowhere", "unreadable", "skipped", "files", "problems"] {
        assert!(!told.contains(secret), "{secret} is told: {told}");
    }
    let roots = server.request("registry/coverage", json!({})).result()["harnesses"][0]["roots"].clone();
    for root in roots.as_array().unwrap() {
        assert_eq!((root.get("files"), root.get("sessions"), root.get("skipped")), (None, None, None), "{root}");
    }
    // What is out of scope answers exactly as what does not exist.
    let mut describe = |number: usize| {
        let failure =
            server.request("registry/describe", json!({ "id": format!("claude-code:{}", uuid(number)) })).error();
        failure.is(-32001, "not_found");
        (failure.message.replace(&uuid(number), "[id]"), failure.data)
    };
    assert_eq!(describe(3), describe(777));
    let mut resolve = |name: &str| {
        let failure = server.request("peer/resolve", json!({ "name": name })).error();
        failure.is(-32003, "not_live");
        (failure.message.replace(name, "[name]"), failure.data)
    };
    assert_eq!(resolve("colleague"), resolve("nobody"));
    let entry = server.request("registry/describe", json!({ "id": format!("claude-code:{}", uuid(1)) })).result();
    assert_eq!(entry["entry"]["title"], "ours");
}

#[test]
fn a_workspace_scope_of_the_spawner() {
    let scene = Scene::new();
    let mut server = Spawn::new(scene.home).args(["--workspace", &scene.ours]).open();
    sees_only_ours(&mut server, &scene.theirs);
}

#[test]
fn a_workspace_scope_through_a_link_is_the_same() {
    let scene = Scene::new();
    let link = scene.home.path().join("link");
    std::os::unix::fs::symlink(&scene.ours, &link).unwrap();
    let mut server = Spawn::new(scene.home).start();
    server.initialize(json!({ "authority": { "workspaces": [link] } }));
    sees_only_ours(&mut server, &scene.theirs);
}

#[test]
fn a_workspace_scope_that_the_client_asks_for() {
    let scene = Scene::new();
    let mut server = Spawn::new(scene.home).start();
    let answer = server.initialize(json!({ "authority": { "workspaces": [scene.ours] } }));
    assert_eq!(answer["authority"], json!({ "permissions": ["observe"], "workspaces": [scene.ours] }));
    sees_only_ours(&mut server, &scene.theirs);
}

#[test]
fn a_scope_is_narrowed_for_good_or_for_one_request() {
    let scene = Scene::new();
    let mut server = Spawn::new(scene.home).open();
    let ours = json!({ "workspaces": [scene.ours] });
    assert_eq!(listed(&mut server, json!({ "_meta": { "authority": ours } })), (vec![2, 1], 2));
    assert_eq!(listed(&mut server, json!({})).1, 5);
    let answer = server.request("authority/narrow", json!({ "authority": ours })).result();
    assert_eq!(answer["authority"]["workspaces"], json!([scene.ours]));
    sees_only_ours(&mut server, &scene.theirs);
    // Nothing widens again.
    let all = json!({ "permissions": ["observe", "configure"], "workspaces": ["/"] });
    let answer = server.request("authority/narrow", json!({ "authority": all })).result();
    assert_eq!(answer["authority"], json!({ "permissions": ["observe"], "workspaces": [scene.ours] }));
    assert_eq!(listed(&mut server, json!({ "_meta": { "authority": all } })), (vec![2, 1], 2));
    // Two lists that share nothing leave nothing.
    let theirs = json!({ "workspaces": [scene.theirs] });
    assert_eq!(listed(&mut server, json!({ "_meta": { "authority": theirs } })), (vec![], 0));
    let answer = server.request("authority/narrow", json!({ "authority": theirs })).result();
    assert_eq!(answer["authority"]["workspaces"], json!([]));
    assert_eq!(listed(&mut server, json!({})), (vec![], 0));
}

#[test]
fn a_harness_scope() {
    let scene = Scene::new();
    let mut server = Spawn::new(scene.home).args(["--harness", "codex,claude-code"]).start();
    let answer = server.initialize(json!({ "authority": { "harnesses": ["codex", "gemini"] } }));
    assert_eq!(answer["authority"]["harnesses"], json!(["codex"]));
    assert!(answer["harnesses"].as_array().unwrap().iter().all(|harness| harness["id"] != "claude-code"));
    assert_eq!(listed(&mut server, json!({})), (vec![], 0));
    let told = all_that_is_told(&mut server);
    for secret in ["claude-code/", "projects", "colleague", "theirs", "unreadable"] {
        assert!(!told.contains(secret), "{secret} is told: {told}");
    }
    server.request("peer/resolve", json!({ "name": "colleague" })).error().is(-32003, "not_live");
}

#[test]
fn permissions_are_what_spawner_and_client_both_name() {
    for (allow, ask, granted) in [
        ("observe", json!({}), json!(["observe"])),
        ("observe,message,start", json!({}), json!(["observe", "message", "start"])),
        ("start,observe", json!({}), json!(["observe", "start"])),
        ("observe,message", json!({ "permissions": ["message", "configure"] }), json!(["message"])),
        ("observe", json!({ "permissions": ["interact"] }), json!([])),
        ("observe", json!({ "permissions": [] }), json!([])),
        ("observe", json!({ "permissions": null, "workspaces": null, "harnesses": null }), json!(["observe"])),
    ] {
        let mut server = Spawn::empty().args(["--allow", allow]).start();
        let params = json!({ "clientInfo": { "name": "x" }, "authority": ask });
        let answer = server.request_unchecked("initialize", params).result();
        assert_eq!(answer["authority"], json!({ "permissions": granted }));
    }
}

#[test]
fn every_permission_of_the_table_is_asked_for_before_the_params_are_looked_at() {
    let mut server = Spawn::empty().open();
    let methods = server.request("rpc.discover", json!({})).result()["methods"].clone();
    let requests: Vec<&Value> =
        methods.as_array().unwrap().iter().filter(|method| method.get("x-notification").is_none()).collect();
    let mut guarded = 0;
    for request in requests {
        let method = request["name"].as_str().unwrap();
        let permissions = request["x-permissions"].as_array().unwrap();
        for missing in permissions {
            guarded += 1;
            let allow: Vec<&str> = permissions.iter().filter(|p| *p != missing).map(|p| p.as_str().unwrap()).collect();
            // All that it needs but one, by each way to be without it.
            let denied = |failure: crate::support::Failure| {
                failure.is(-32000, "unauthorized");
                assert_eq!(failure.data["permission"], *missing, "{method}");
            };
            let garbage =
                || json!({ "id": 5, "query": 7, "limit": "x", "clientInfo": [], "sources": {}, "harnesses": 1 });
            let mut narrow = Spawn::empty().args(["--allow", &permissions_of(permissions)]).start();
            narrow.initialize(json!({ "authority": { "permissions": allow } }));
            denied(narrow.request_unchecked(method, garbage()).error());
            denied(narrow.request_unchecked(method, Value::Null).error());
            let mut once = Spawn::empty().args(["--allow", &permissions_of(permissions)]).open();
            let mut params = garbage();
            params["_meta"] = json!({ "authority": { "permissions": allow } });
            denied(once.request_unchecked(method, params).error());
            once.request("authority/narrow", json!({ "authority": { "permissions": allow } })).result();
            denied(once.request_unchecked(method, garbage()).error());
        }
        if permissions.is_empty() && method != "initialize" && method != "shutdown" {
            let params = match method {
                "authority/narrow" => json!({ "authority": {} }),
                _ => json!({}),
            };
            let mut nothing = Spawn::empty().start();
            nothing.initialize(json!({ "authority": { "permissions": [] } }));
            nothing.request(method, params).result();
        }
    }
    assert!(guarded >= 25, "the walk found {guarded}");
}

fn permissions_of(list: &[Value]) -> String {
    list.iter().map(|permission| permission.as_str().unwrap()).collect::<Vec<_>>().join(",")
}

#[test]
fn unknown_names_are_refused_and_not_skipped() {
    let mut server = Spawn::empty().open();
    for authority in [
        json!({ "permissions": ["observe", "root"] }),
        json!({ "permissions": ["Observe"] }),
        json!({ "permissions": "observe" }),
        json!({ "harnesses": ["claude-code", "claude"] }),
        json!({ "workspaces": ["relative"] }),
        json!({ "workspaces": [""] }),
        json!({ "workspaces": ["/fine", "./not"] }),
        json!({ "workspaces": [7] }),
    ] {
        server
            .request_unchecked("authority/narrow", json!({ "authority": authority }))
            .error()
            .is(-32602, "invalid_params");
        let params = json!({ "_meta": { "authority": authority } });
        server.request_unchecked("registry/list", params).error().is(-32602, "invalid_params");
        // Nothing was narrowed by halves.
        assert_eq!(
            server.request("authority/narrow", json!({ "authority": {} })).result(),
            json!({ "authority": { "permissions": ["observe"] } })
        );
    }
    server.request_unchecked("authority/narrow", json!({})).error().is(-32602, "invalid_params");
    for query in
        [json!({ "states": ["sleeping"] }), json!({ "harnesses": ["emacs"] }), json!({ "include": ["secrets"] })]
    {
        server.request_unchecked("registry/list", json!({ "query": query })).error().is(-32602, "invalid_params");
    }
}

#[test]
fn narrowing_does_not_reach_into_the_next_conversation_of_the_flags() {
    for (args, what) in [
        (["--allow", "everything"], "permission"),
        (["--harness", "emacs"], "harness"),
        (["--limit", "frameBytes=0"], "frameBytes"),
        (["--limit", "frameBytes=99999999999"], "frameBytes"),
        (["--limit", "unheard=1"], "unheard"),
    ] {
        let mut server = Spawn::empty().args(args).start();
        assert_eq!(server.exit_code(), 2);
        assert!(server.log().contains(what), "{}", server.log());
    }
}

#[test]
fn homes_of_a_client_count_only_where_the_spawner_allows_it() {
    let elsewhere = Scene::new().home;
    let homes = json!({ "homes": { "claude-code": [elsewhere.claude()] } });
    let mut server = Spawn::empty().start();
    server.initialize(homes.clone());
    assert_eq!(listed(&mut server, json!({})), (vec![], 0));

    let mut server = Spawn::empty().args(["--allow-homes"]).start();
    let answer = server.initialize(homes.clone());
    let root = elsewhere.claude().join("projects");
    assert_eq!(answer["harnesses"][0]["roots"][1], json!(root));
    assert_eq!(listed(&mut server, json!({})).1, 5);
    let coverage = server.request("registry/coverage", json!({ "harnesses": ["claude-code"] })).result();
    let rows = coverage["harnesses"][0]["roots"].as_array().unwrap();
    let origin = rows.iter().find(|row| row["path"] == json!(root)).map(|row| row["origin"].clone());
    assert_eq!(origin, Some(json!("client")));

    for homes in [json!({ "emacs": ["/x"] }), json!({ "claude-code": "/x" }), json!({ "claude-code": ["x"] })] {
        let mut server = Spawn::empty().args(["--allow-homes"]).start();
        let params = json!({ "clientInfo": { "name": "x" }, "homes": homes });
        server.request_unchecked("initialize", params).error().is(-32602, "invalid_params");
    }
}

#[test]
fn a_request_is_narrowed_however_its_fields_are_spelled() {
    let scene = Scene::new();
    let ours = scene.ours.clone();
    let mut server = Spawn::new(scene.home).args(["--allow", "observe,configure"]).open();
    let mut ask = |method: &str, params: &str| {
        server.frame(format!(r#"{{"jsonrpc":"2.0","id":"a","method":"{method}","params":{params}}}"#));
        server.answer("a")
    };
    let plain = ask("registry/list", &format!(r#"{{"_meta":{{"authority":{{"workspaces":["{ours}"]}}}}}}"#)).result();
    for scope in [
        format!(r#"{{"\u005fmeta":{{"authority":{{"workspaces":["{ours}"]}}}}}}"#),
        format!(r#"{{"_m\u0065ta":{{"auth\u006frity":{{"work\u0073paces":["{ours}"]}}}}}}"#),
    ] {
        assert_eq!(ask("registry/list", &scope).result()["entries"], plain["entries"], "{scope}");
    }
    for nothing in [
        r#"{"\u005fmeta":{"authority":{"permissions":[]}}}"#,
        r#"{"_meta":{"authority":{"p\u0065rmissions":[]}}}"#,
        r#"{"_meta":{"authority":{"permissions":["message"]}},"query":7}"#,
    ] {
        ask("registry/list", nothing).error().is(-32000, "unauthorized");
    }
    let update = r#"{"crossSessionInbound":"accept","\u005fmeta":{"authority":{"permissions":["observe"]}}}"#;
    ask("settings/update", update).error().is(-32000, "unauthorized");
    // A field that stands twice is ambiguous, whichever of the two is the narrower one.
    for twice in [
        r#"{"_meta":{"authority":{"permissions":[]}},"_meta":{}}"#,
        r#"{"_meta":{},"\u005fmeta":{"authority":{"permissions":[]}}}"#,
        r#"{"_meta":{"authority":{"permissions":[]},"auth\u006frity":{}}}"#,
        r#"{"_meta":{"authority":{"permissions":[],"permissions":["observe"]}}}"#,
        r#"{"_meta":null,"_meta":null}"#,
    ] {
        ask("registry/list", twice).error().is(-32602, "invalid_params");
    }
}

#[test]
fn a_permission_is_checked_before_any_param() {
    let mut server = Spawn::empty().args(["--allow", "observe"]).open();
    for params in [
        json!([1]),
        json!({}),
        json!({ "_meta": [] }),
        json!({ "_meta": { "progressToken": [] } }),
        json!({ "_meta": { "authority": { "permissions": ["everything"] } } }),
        json!({ "_meta": { "authority": { "workspaces": ["relative"] } } }),
    ] {
        server.request_unchecked("runtime/close", params.clone()).error().is(-32000, "unauthorized");
        server.request_unchecked("no/such", params).error().is(-32601, "method_not_found");
    }
    server.request_unchecked("registry/list", json!([1])).error().is(-32602, "invalid_params");
    server.request_unchecked("ping", json!([1])).error().is(-32602, "invalid_params");
}

#[test]
fn a_narrowed_request_ends_nothing_outside_its_scope() {
    let scene = Scene::new();
    let mut server = Spawn::new(scene.home).open();
    let theirs = format!("claude-code:{}", uuid(3));
    let mut open = |method: &str, params: Value| server.request(method, params).result()["subscription"].take();
    let all = open("registry/watch", json!({}));
    let meta = |scope: Value| json!({ "authority": scope });
    let ours = meta(json!({ "workspaces": [scene.ours] }));
    let narrow = open("registry/watch", json!({ "_meta": ours }));
    let followed = open("session/follow", json!({ "id": theirs }));
    for scope in [json!({ "workspaces": [scene.ours] }), json!({ "workspaces": [] }), json!({ "harnesses": ["codex"] })]
    {
        for (method, id) in [("registry/unwatch", &all), ("session/unfollow", &followed)] {
            let params = json!({ "subscription": id, "_meta": meta(scope.clone()) });
            server.request(method, params).error().is(-32001, "not_found");
        }
    }
    // Within its scope it may end what it finds.
    server.request("registry/unwatch", json!({ "subscription": narrow, "_meta": ours })).result();
    let theirs = meta(json!({ "workspaces": [scene.theirs] }));
    server.request("session/unfollow", json!({ "subscription": followed, "_meta": theirs })).result();
    // What the client gave up for good is out of its reach; a watch was narrowed with it.
    let followed = server.request("session/follow", json!({ "id": format!("claude-code:{}", uuid(3)) })).result();
    server.request("authority/narrow", json!({ "authority": { "workspaces": [scene.ours] } })).result();
    let ended = json!({ "subscription": followed["subscription"] });
    server.request("session/unfollow", ended).error().is(-32001, "not_found");
    server.request("registry/unwatch", json!({ "subscription": all })).result();
}
