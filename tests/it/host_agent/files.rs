//! The files that an agent reads and writes through its host.

use super::*;
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;

/// What it hears when it calls a method.
async fn call(hosted: &mut Hosted, method: &str, params: Value) -> Value {
    let said = hosted.says(&format!("call:{method}={params}")).await;
    serde_json::from_str(&said).unwrap()
}

#[tokio::test]
async fn files_of_the_workspace_are_read_and_written() {
    let mut hosted = Hosted::start(Setup::default()).await;
    let file = hosted.workspace().join("file");
    fs::write(&file, "1\n2\n3\n").unwrap();
    assert_eq!(call(&mut hosted, "read", json!({"path": file})).await, json!({"content": "1\n2\n3\n"}));
    assert_eq!(
        call(&mut hosted, "read", json!({"path": file, "line": 2, "limit": 1})).await,
        json!({"content": "2\n"})
    );
    assert_eq!(call(&mut hosted, "write", json!({"path": file, "content": "new"})).await, json!({}));
    assert_eq!(fs::read(&file).unwrap(), b"new");
    let new = hosted.workspace().join("new");
    assert_eq!(call(&mut hosted, "read", json!({"path": new})).await["code"], -32002);
    assert_eq!(call(&mut hosted, "write", json!({"path": new, "content": "made"})).await, json!({}));
    assert_eq!(fs::read(&new).unwrap(), b"made");
}

#[tokio::test]
async fn nothing_else_is() {
    let mut hosted = Hosted::start(Setup::default()).await;
    let (workspace, home) = (hosted.workspace(), hosted.home.path().canonicalize().unwrap());
    let secret = home.join("secret");
    fs::write(&secret, "outside").unwrap();
    fs::write(workspace.join("bytes"), [0xff]).unwrap();
    symlink(&secret, workspace.join("link")).unwrap();
    nix::unistd::mkfifo(&workspace.join("fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let outside = [secret.clone(), workspace.join("link"), workspace.join("../secret")];
    for path in outside {
        for (method, content) in [("read", None), ("write", Some("x"))] {
            let error = call(&mut hosted, method, json!({"path": path, "content": content})).await;
            let said = error["message"].as_str().unwrap();
            assert!(error["code"] == -32602 && said.ends_with("it is outside of the workspace"), "{error}");
        }
    }
    assert_eq!(fs::read(&secret).unwrap(), b"outside");
    for (name, why) in [("fifo", "not a regular file"), ("bytes", "not UTF-8 text"), ("", "not a regular file")] {
        let error = call(&mut hosted, "read", json!({"path": workspace.join(name)})).await;
        assert!(error["message"].as_str().unwrap().ends_with(why), "{error}");
    }
    assert_eq!(call(&mut hosted, "read", json!({"path": 1})).await["code"], -32602);
}

#[tokio::test]
async fn what_is_not_offered_or_not_known_is_refused() {
    let neither = |options: &mut Options| (options.files, options.terminals) = (false, false);
    let mut hosted = Hosted::start_with(Setup::default(), neither).await.unwrap();
    let file = hosted.workspace().join("file");
    for method in ["read", "write", "terminal/create", "elicitation/complete", "none"] {
        let error = call(&mut hosted, method, json!({"path": file, "content": "x", "command": "true"})).await;
        assert_eq!(error["code"], -32601, "{method}");
    }
    assert!(!file.exists());
}

#[tokio::test]
async fn files_are_used_in_the_order_in_which_it_asks() {
    let mut hosted = Hosted::start(Setup::default()).await;
    let file = hosted.workspace().join("file");
    assert_eq!(hosted.says(&format!("in-order:{}", file.display())).await, "odd: []");
}

#[tokio::test]
async fn what_is_asked_for_another_session_is_refused() {
    let mut hosted = Hosted::start(Setup::default()).await;
    let file = hosted.workspace().join("file");
    fs::write(&file, "x").unwrap();
    for method in ["read", "write", "terminal/create"] {
        let params = json!({"sessionId": "other", "path": file, "content": "y", "command": "true"});
        assert_eq!(call(&mut hosted, method, params).await["code"], -32602, "{method}");
    }
    assert_eq!(fs::read(&file).unwrap(), b"x");
}

#[tokio::test]
async fn another_directory_in_the_place_of_the_workspace_is_not_it() {
    let mut hosted = Hosted::start(Setup::default()).await;
    let workspace = hosted.workspace();
    fs::rename(&workspace, workspace.with_file_name("before")).unwrap();
    symlink("/etc", &workspace).unwrap();
    let error = call(&mut hosted, "read", json!({"path": workspace.join("passwd")})).await;
    assert!(error["message"].as_str().unwrap().ends_with("the workspace was moved or replaced"), "{error}");
    let error = call(&mut hosted, "terminal/create", json!({"command": "pwd"})).await;
    assert_eq!(error["code"], -32602, "{error}");
}
