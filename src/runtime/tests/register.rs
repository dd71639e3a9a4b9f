//! Receipts of our own, and removing exactly one.

use super::*;
use crate::authority::Grant;
use crate::limits;
use crate::platform::testing::Sleeper;
use crate::protocol::{RegisterParams, RuntimeMetadata, Supervisor, Token};
use std::fs::{File, FileTimes, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::time::{Duration, SystemTime};

fn params() -> RegisterParams {
    RegisterParams {
        runtime_id: "runtime".to_owned(),
        source: source(),
        base_url: "http://127.0.0.1:4000/".to_owned(),
        token: Token::new(SECRET.to_owned()),
        pid: None,
        metadata: None,
    }
}

fn files(place: &Place) -> Vec<String> {
    let entries = fs::read_dir(place.directory()).into_iter().flatten();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn path_of(place: &Place, endpoint: &Endpoint) -> PathBuf {
    place.directory().join(format!("{}.json", endpoint.receipt_id()))
}

#[test]
fn what_is_registered_is_written_as_the_existing_readers_know_it() {
    let place = Place::new();
    let owner = Sleeper::start();
    let endpoint = place.receipts.register(&RegisterParams { pid: Some(owner.pid().into()), ..params() }).unwrap();
    let path = path_of(&place, &endpoint);
    let metadata = fs::metadata(&path).unwrap();
    assert_eq!((metadata.mode() & 0o7777, metadata.nlink()), (0o600, 1));
    assert_eq!(files(&place), [path.file_name().unwrap().to_str().unwrap()]);
    let written = fs::read_to_string(&path).unwrap();
    let created_at_ms = place.receipts.resolve(&endpoint).unwrap().created_at_ms;
    let expected = json!({
        "schema": "supercode.live-runtime.v1",
        "receipt_id": endpoint.receipt_id(),
        "runtime_session_id": "runtime",
        "source": {"harness": "supercode", "session_id": "session", "workspace": "/home/dev/demo"},
        "base_url": "http://127.0.0.1:4000",
        "token": SECRET,
        "pid": owner.pid(),
        "created_at_ms": created_at_ms,
        "metadata": {
            "child_pid": null, "profile": null, "persistence_location": null,
            "endpoint_capabilities": ["http", "acp"], "supervisor": null, "tackroom": mark_of(owner.pid()),
        },
    });
    assert_eq!(written, expected.to_string());
    assert_eq!(place.listed(), ["runtime"]);
    drop(owner);
    assert_eq!(place.listed(), [""; 0]);
    assert_eq!(files(&place), [""; 0]);
}

#[test]
fn metadata_is_read_back_as_it_was_given() {
    let place = Place::new();
    let metadata = RuntimeMetadata {
        profile: Some("p".to_owned()),
        persistence_location: Some("/a".to_owned()),
        endpoint_capabilities: Some(vec![]),
        supervisor: Some(Supervisor::Tmux { session_name: "main".to_owned() }),
    };
    let endpoint = place.receipts.register(&RegisterParams { metadata: Some(metadata.clone()), ..params() }).unwrap();
    let record = place.receipts.resolve(&endpoint).unwrap();
    assert_eq!((record.pid, &record.metadata), (own_pid(), &metadata));
    let written: Value = serde_json::from_slice(&fs::read(path_of(&place, &endpoint)).unwrap()).unwrap();
    assert_eq!(written["metadata"]["supervisor"], json!({"kind": "tmux", "session_name": "main"}));
}

#[test]
fn what_could_not_be_read_back_is_not_written() {
    let place = Place::new();
    let refused = |params: RegisterParams, word: &str| {
        let error = place.receipts.register(&params).unwrap_err();
        assert!(matches!(&error, Error::InvalidReceipt(refusal) if refusal.word() == word), "{word}: {error}");
        assert!(!format!("{error} {error:?}").contains(SECRET));
        assert_eq!(error.reason().word(), "invalid_receipt");
    };
    refused(RegisterParams { runtime_id: " ".to_owned(), ..params() }, "id");
    refused(RegisterParams { base_url: format!("http://localhost:80@{SECRET}/"), ..params() }, "address");
    for token in ["", "a b", "a\nb"] {
        refused(RegisterParams { token: Token::new(token.to_owned()), ..params() }, "token");
    }
    refused(RegisterParams { token: Token::new(SECRET.repeat(1100)), ..params() }, "too_large");
    for pid in [0, -1, 2_147_483_648, i64::MIN] {
        refused(RegisterParams { pid: Some(pid), ..params() }, "pid");
    }
    refused(RegisterParams { pid: Some(i32::MAX.into()), ..params() }, "no_process");
    for workspace in ["", "demo", "."] {
        let source = Source { workspace: workspace.to_owned(), ..source() };
        refused(RegisterParams { source, ..params() }, "workspace");
    }
    refused(RegisterParams { source: Source { session_id: String::new(), ..source() }, ..params() }, "id");
    assert!(!place.directory().exists());
    assert_eq!(Receipts::new(None).register(&params()).unwrap_err().reason().word(), "unavailable");
}

#[test]
fn a_directory_that_is_not_ours_alone_takes_no_receipt_and_stays_as_it_is() {
    let place = Place::made();
    fs::set_permissions(place.directory(), Permissions::from_mode(0o777)).unwrap();
    let error = place.receipts.register(&params()).unwrap_err();
    assert_eq!(error.reason().word(), "unavailable");
    assert!(error.to_string().contains("live-runtimes"), "{error}");
    assert_eq!(fs::metadata(place.directory()).unwrap().mode() & 0o7777, 0o777);
    let target = place.home.path().join("target");
    fs::rename(place.directory(), &target).unwrap();
    symlink(&target, place.directory()).unwrap();
    place.receipts.register(&params()).unwrap_err();
    assert_eq!(fs::read_dir(&target).unwrap().count(), 0);
    assert_eq!(fs::metadata(&target).unwrap().mode() & 0o7777, 0o777);
}

#[test]
fn a_receipt_goes_when_it_is_unregistered_by_whom_it_belongs_to() {
    let place = Place::new();
    let endpoint = place.receipts.register(&params()).unwrap();
    let stranger = Receipts::new(Some(place.directory()));
    assert_eq!(stranger.unregister(&endpoint, &Grant::all()).unwrap_err().reason().word(), "not_found");
    drop(stranger);
    assert_eq!(place.listed(), ["runtime"]);
    place.receipts.unregister(&endpoint, &Grant::all()).unwrap();
    assert_eq!(files(&place), [""; 0]);
    assert_eq!(place.receipts.unregister(&endpoint, &Grant::all()).unwrap_err().reason().word(), "not_found");
}

#[test]
fn all_receipts_go_with_the_server_also_when_others_changed_their_mode_or_the_directory() {
    let place = Place::new();
    let kept = place.put_other();
    let receipts = Receipts::new(Some(place.directory()));
    let touched = receipts.register(&params()).unwrap();
    receipts.register(&params()).unwrap();
    assert_eq!(place.listed(), ["runtime", "runtime", "runtime-7"]);
    fs::set_permissions(path_of(&place, &touched), Permissions::from_mode(0o644)).unwrap();
    fs::set_permissions(place.directory(), Permissions::from_mode(0o777)).unwrap();
    drop(receipts);
    assert_eq!(files(&place), [kept.file_name().unwrap().to_str().unwrap()]);
}

impl Place {
    /// A receipt that is not ours, older than any of ours.
    fn put_other(&self) -> PathBuf {
        use std::os::unix::fs::DirBuilderExt;
        fs::DirBuilder::new().recursive(true).mode(0o700).create(self.directory()).unwrap();
        let mut other = receipt(7);
        other["created_at_ms"] = json!(now_ms() - 1);
        self.put(7, &other)
    }
}

#[test]
fn what_took_the_place_of_a_receipt_stays() {
    let place = Place::new();
    let endpoint = place.receipts.register(&params()).unwrap();
    let path = path_of(&place, &endpoint);
    let record = place.receipts.resolve(&endpoint).unwrap();
    let successor = place.directory().join("successor");
    write_private(&successor, &fs::read(&path).unwrap());
    fs::rename(&successor, &path).unwrap();
    assert!(!place.receipts.forget(&record).unwrap());
    place.receipts.unregister(&endpoint, &Grant::all()).unwrap();
    assert!(path.exists());
    // The very same content, and yet another file until it is read again.
    assert!(place.receipts.forget(&place.receipts.resolve(&endpoint).unwrap()).unwrap());
    assert!(!path.exists());
    assert!(!place.receipts.forget(&record).unwrap());
}

#[test]
fn a_receipt_that_was_written_anew_in_its_place_stays_too() {
    let place = Place::made();
    let path = place.put(1, &receipt(1));
    // Older than the clock's grain, so that the times differ.
    let long_ago = SystemTime::now() - Duration::from_secs(60);
    File::open(&path).unwrap().set_times(FileTimes::new().set_modified(long_ago)).unwrap();
    let record = place.receipts.resolve(&endpoint(1)).unwrap();
    // It is still the same inode.
    place.put(1, &receipt(1));
    assert!(!place.receipts.forget(&record).unwrap());
    assert!(path.exists());
}

#[test]
fn forgetting_takes_one_receipt_and_nothing_else() {
    let place = Place::made();
    assert!(!place.forget(1).unwrap());
    place.put(1, &receipt(1));
    let kept = place.put(2, &receipt(2));
    write_private(&place.path(3), b"{");
    assert!(place.forget(1).unwrap());
    assert!(!place.forget(1).unwrap());
    assert_eq!(place.forget(3).unwrap_err().reason().word(), "invalid_receipt");
    assert!(kept.exists() && place.path(3).exists());
    assert!(Receipts::new(None).peek(&endpoint(1)).unwrap().is_none());
}

#[test]
fn texts_that_lead_elsewhere_are_no_endpoints() {
    for text in [
        "supercode-live://../../x",
        "supercode-live://",
        "supercode-live://0123456789abcdef0123456789ABCDEF",
        "supercode-live://0123456789abcdef0123456789abcde",
        "supercode-live://0123456789abcdef0123456789abcdef0",
        "supercode-live://0123456789abcdef0123456789abcdef/",
        "SUPERCODE-LIVE://0123456789abcdef0123456789abcdef",
        "0123456789abcdef0123456789abcdef",
        "/etc/passwd",
    ] {
        let error = Error::from(text.parse::<Endpoint>().unwrap_err());
        assert_eq!(error.reason().word(), "invalid_endpoint", "{text}");
        assert!(serde_json::from_value::<Endpoint>(json!(text)).is_err());
    }
}

#[test]
fn sweeping_takes_old_unfinished_files_of_processes_that_are_gone() {
    let place = Place::made();
    let owner = Sleeper::start();
    let put = |name: &str, seconds_ago: u64| {
        let path = place.directory().join(name);
        write_private(&path, SECRET.as_bytes());
        let time = SystemTime::now() - Duration::from_secs(seconds_ago);
        File::open(&path).unwrap().set_times(FileTimes::new().set_modified(time)).unwrap();
    };
    let gone = i32::MAX;
    put(&format!(".{}.{gone}.tmp", id(1)), 61);
    let mut kept = vec![
        format!(".{}.{gone}.tmp", id(2)),
        format!(".{}.{}.tmp", id(3), owner.pid()),
        format!(".{}.0.tmp", id(4)),
        format!(".{}.tmp", id(5)),
        format!(".x.{gone}.tmp"),
        format!("{}.{gone}.tmp", id(6)),
        "note.tmp".to_owned(),
    ];
    for name in &kept {
        put(name, if *name == kept[0] { 30 } else { 3_600 });
    }
    let link = format!(".{}.{gone}.tmp", id(7));
    symlink("/etc/hostname", place.directory().join(&link)).unwrap();
    kept.push(link);
    place.receipts.sweep().unwrap();
    kept.sort();
    let mut found = files(&place);
    found.sort();
    assert_eq!(found, kept);
    assert!(Receipts::new(None).sweep().is_ok() && Place::new().receipts.sweep().is_ok());
}

#[test]
fn a_server_publishes_only_so_many() {
    let place = Place::new();
    for _ in 0..limits::RECEIPTS_PUBLISHED {
        place.receipts.register(&params()).unwrap();
    }
    assert_eq!(place.receipts.register(&params()).unwrap_err().reason().word(), "limit");
    place.receipts.close();
    assert_eq!(files(&place), [""; 0]);
    // What came late would outlive the client.
    assert_eq!(place.receipts.register(&params()).unwrap_err().reason().word(), "unavailable");
}
