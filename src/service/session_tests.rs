//! `session/load`, over the stores that the real programs wrote.

use super::{Client, Config, Context, Service, methods, registry, session};
use crate::authority::Grant;
use crate::harness::Homes;
use crate::harness::testing::{Tree, copy, fixture};
use crate::limits;
use crate::peer::courier::Program;
use crate::platform::process;
use crate::protocol::{
    AuthorityRequest, Entry, Harness, ListParams, LoadParams, LoadResult, Permission, ProgressToken, Query, Reason,
    RootOrigin, RpcError,
};
use serde_json::json;
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

const TOOLS: &str = "claude-code:990cebda-6561-469d-88b4-03a913c4535d";
const SUB: &str = "claude-code:aa9ed7a3-c203-4a72-a531-4a3945daf9b2";
const FORK: &str = "codex:01a22b99-3342-79f2-9dc6-b256af1670c4";

struct Server {
    home: Tree,
    service: Service,
    context: Context,
    outgoing: mpsc::Receiver<crate::protocol::Notification>,
}

impl Server {
    fn new() -> Self {
        let home = Tree::new();
        copy(&fixture("claude-code/projects"), &home.path().join("claude/projects"));
        copy(&fixture("codex/v0.171.0"), &home.path().join("codex"));
        let mut homes = Homes::default();
        homes.add_named(Harness::ClaudeCode, &home.path().join("claude"), RootOrigin::Flag);
        homes.add_named(Harness::Codex, &home.path().join("codex"), RootOrigin::Flag);
        let courier = Program::new("no-courier".into(), "none".into(), std::iter::empty());
        let config = Config {
            ceiling: Grant::all(),
            homes,
            allow_homes: false,
            limits: limits::DEFAULT,
            agents: Vec::new(),
            courier,
        };
        let service = Service::new(config, crate::runtime::testing::handle()).unwrap();
        let (sender, outgoing) = mpsc::channel(8);
        let context =
            Context::new(Arc::new(Client::new(&service, sender)), CancellationToken::new(), watch::channel(false).1);
        Self { home, service, context, outgoing }
    }

    fn load(&self, id: &str, cursor: Option<&str>, limit: Option<i64>) -> Result<LoadResult, RpcError> {
        let params = LoadParams { id: id.to_owned(), cursor: cursor.map(str::to_owned), limit };
        session::load(&self.service, &self.context, params)
    }

    fn reason(&self, id: &str, cursor: Option<&str>, limit: Option<i64>) -> Reason {
        self.load(id, cursor, limit).unwrap_err().reason()
    }

    fn listed(&self, id: &str) -> Entry {
        let query = Query { include_children: Some(true), ..Query::default() };
        let params = ListParams { query: Some(query), ..ListParams::default() };
        let list = registry::list(&self.service, &self.context, params).unwrap();
        list.entries.into_iter().find(|entry| entry.id == id).unwrap()
    }
}

#[test]
fn pages_lead_from_the_newest_to_the_first_message() {
    let server = Server::new();
    for (id, count) in [(TOOLS, 24), (SUB, 4), (FORK, 6)] {
        let whole = server.load(id, None, None).unwrap();
        assert_eq!((whole.messages.len(), &whole.next_cursor, whole.problems.len()), (count, &None, 0));
        assert_eq!(whole.session, server.listed(id));
        let (mut messages, mut cursor) = (Vec::new(), None);
        loop {
            let page = server.load(id, cursor.as_deref(), Some(5)).unwrap();
            messages.splice(0..0, page.messages);
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(messages, whole.messages);
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let server = Server::new();
    for limit in [0, -1, 1_001, i64::MIN, i64::MAX] {
        assert_eq!(server.reason(TOOLS, None, Some(limit)), Reason::InvalidParams);
    }
    assert!(server.load(TOOLS, None, Some(1_000)).is_ok());
    let cursor = server.load(TOOLS, None, Some(1)).unwrap().next_cursor.unwrap();
    for (id, cursor) in [(TOOLS, "x"), (TOOLS, ""), (SUB, &cursor), (FORK, &cursor), (TOOLS, &cursor[..20])] {
        assert_eq!(server.reason(id, Some(cursor), None), Reason::InvalidParams, "{cursor}");
    }
    for id in [
        "",
        "claude-code",
        "claude-code:",
        "claude-code:none",
        "nobody:x",
        "codex:990cebda-6561-469d-88b4-03a913c4535d",
    ] {
        assert_eq!(server.reason(id, None, None), Reason::NotFound, "{id}");
    }
    server.context.cancel.cancel();
    assert_eq!(server.reason(TOOLS, None, None), Reason::Cancelled);
    let row = methods().iter().find(|method| method.name == "session/load").unwrap();
    assert_eq!(row.permissions, [Permission::Observe]);
}

#[test]
fn what_is_out_of_scope_answers_like_what_is_not_there() {
    let mut server = Server::new();
    let told =
        |server: &Server, id: &str| server.load(id, None, None).unwrap_err().to_json().to_string().replace(id, "");
    let nowhere = told(&server, "claude-code:nowhere");
    let all = server.context.grant.clone();
    let request = AuthorityRequest { workspaces: Some(vec!["/proj/proj/sub".to_owned()]), ..Default::default() };
    server.context.grant = all.narrow(&request).unwrap();
    assert!(server.load(SUB, None, None).is_ok());
    assert_eq!(told(&server, TOOLS), nowhere);
    assert_eq!(told(&server, FORK), nowhere);
    let request = AuthorityRequest { harnesses: Some(vec![Harness::Codex]), ..Default::default() };
    server.context.grant = all.narrow(&request).unwrap();
    assert!(server.load(FORK, None, None).is_ok());
    assert_eq!(told(&server, SUB), nowhere);
}

#[test]
fn a_live_session_without_a_transcript_has_no_messages_yet() {
    let server = Server::new();
    let pid = i32::try_from(std::process::id()).unwrap();
    let record = json!({"pid": pid, "sessionId": "not-written-yet", "cwd": "/proj/live", "name": "live",
        "procStart": process::start_mark(pid).unwrap().to_string(), "kind": "interactive", "entrypoint": "cli"});
    let sessions = server.home.path().join("claude/sessions");
    fs::create_dir(&sessions).unwrap();
    fs::write(sessions.join(format!("{pid}.json")), record.to_string()).unwrap();
    let loaded = server.load("claude-code:not-written-yet", None, None).unwrap();
    assert_eq!(loaded.session.workspace.as_deref(), Some("/proj/live"));
    assert_eq!((loaded.messages.len(), loaded.next_cursor, loaded.problems.len()), (0, None, 0));
    assert_eq!(server.reason("claude-code:not-written-yet", Some("0123456789abcdef.1"), None), Reason::InvalidParams);
}

#[test]
fn a_file_that_went_is_not_found_and_one_that_cannot_be_read_is_a_problem() {
    let server = Server::new();
    let entry = server.listed(TOOLS);
    let snapshot = server.service.registry.snapshot(&server.context).unwrap();
    let location = entry.location.clone().unwrap();
    let load = || {
        let request =
            crate::harness::PageRequest { cursor: None, limit: 9, progress: &server.context, own_only: false };
        snapshot.load(TOOLS, &server.context.grant, &server.service.registry.roots(), &request).unwrap()
    };
    fs::remove_file(&location).unwrap();
    assert!(load().is_none());
    fs::create_dir(&location).unwrap();
    let loaded = load().unwrap();
    let problem = &loaded.problems[0];
    assert_eq!((problem.reason.as_str(), problem.path.as_deref()), ("io", Some(location.as_str())));
    assert_eq!((problem.id.as_deref(), loaded.messages.len()), (Some(TOOLS), 0));
    assert_eq!(loaded.session, entry);
    fs::remove_dir(&location).unwrap();
    fs::write(&location, "").unwrap();
    let loaded = load().unwrap();
    assert_eq!((loaded.messages.len(), loaded.problems.len()), (0, 0));
}

#[test]
fn who_asks_for_it_hears_how_far_the_reading_is() {
    let mut server = Server::new();
    // What the inventory reads is told too; here it has been read before.
    server.listed(TOOLS);
    server.context.report_to(ProgressToken::Number(7), "session/load");
    let before = Instant::now().checked_sub(Duration::from_secs(9)).unwrap();
    server.context.progress.as_ref().unwrap().last().at = before;
    server.load(TOOLS, None, None).unwrap();
    let notification = server.outgoing.try_recv().unwrap();
    assert_eq!(notification.method, "$/progress");
    assert!(notification.params.get().contains("\"token\":7"), "{}", notification.params);
}

#[test]
fn loading_changes_nothing_on_disk() {
    let server = Server::new();
    let before = crate::harness::testing::seen(server.home.path());
    let query = Query { include_children: Some(true), ..Query::default() };
    let params = ListParams { query: Some(query), limit: Some(1_000), ..ListParams::default() };
    for entry in registry::list(&server.service, &server.context, params).unwrap().entries {
        registry::described(&server.service, &server.context, &entry.id).unwrap();
        assert!(!server.load(&entry.id, None, None).unwrap().messages.is_empty(), "{}", entry.id);
    }
    assert_eq!(crate::harness::testing::seen(server.home.path()), before);
}
