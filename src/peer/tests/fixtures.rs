//! The recorded files: what the real program wrote, and what nobody should write, each given to a live process.

use super::{Home, Sleeper};
use crate::limits;
use crate::peer::Found;
use crate::platform::process;
use crate::protocol::{ActivityStatus, Peer, PeerKind};
use ActivityStatus::{Busy, Idle, Waiting};
use PeerKind::{Background, Interactive};
use std::fs;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

fn replace(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    let mut rest = bytes;
    let mut out = vec![];
    while let Some(at) = memchr::memmem::find(rest, from.as_bytes()) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(to.as_bytes());
        rest = &rest[at + from.len()..];
    }
    out.extend_from_slice(rest);
    out
}

/// Gives a recorded file to a live process of this machine; all else stays byte for byte.
fn transplant(raw: &[u8], pid: i32, start: &str, live: i32, sockets: &Path) -> Vec<u8> {
    let mark = process::start_mark(live).unwrap();
    let domain = process::own_pid_domain().unwrap();
    let sockets = format!("{}/", sockets.display());
    [
        (format!("\"pid\":{pid},"), format!("\"pid\":{live},")),
        (format!("\"pid\": {pid},"), format!("\"pid\": {live},")),
        (format!("\"pid\":\"{pid}\""), format!("\"pid\":\"{live}\"")),
        (format!("\"{start}\""), format!("\"{mark}\"")),
        (format!("\"procStart\":{start}"), format!("\"procStart\":{mark}")),
        ("linux:0123456789abcdef0123456789abcdef:pid:[4026531836]".to_owned(), domain),
        ("\"/tmp/cc-socks/".to_owned(), format!("\"{sockets}")),
        ("\"/run/user/1000/cc-socks/".to_owned(), format!("\"{sockets}")),
    ]
    .iter()
    .fold(raw.to_vec(), |bytes, (from, to)| replace(&bytes, from, to))
}

fn fixtures(set: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/claude-code").join(set)
}

/// A row of what the real program wrote: pid, start, then what is to be listed of it.
struct Real {
    file: &'static str,
    pid: i32,
    start: &'static str,
    name: &'static str,
    session_id: &'static str,
    cwd: &'static str,
    status: Option<ActivityStatus>,
    waiting_for: Option<&'static str>,
    kind: PeerKind,
    entrypoint: &'static str,
    tmux: Option<&'static str>,
    socket: bool,
    started_at_ms: i64,
    updated_at_ms: i64,
}

#[rustfmt::skip]
const REAL: [Real; 16] = [
    Real {
        file: "bare-no-socket", pid: 16585, start: "152062", name: "proj-ae",
        session_id: "f049d568-92df-49d3-8023-0e5945b244a7", cwd: "/proj/proj",
        status: Some(Idle), waiting_for: None, kind: Interactive, entrypoint: "cli",
        tmux: Some("x4:@35.%35"), socket: false, started_at_ms: 1796028420399, updated_at_ms: 1796028420502,
    },
    Real {
        file: "bg-idle", pid: 3266, start: "119741", name: "bgjob",
        session_id: "3f7b85de-2277-4542-bf05-a35b8eb84ea6", cwd: "/proj/proj",
        status: Some(Idle), waiting_for: None, kind: Background, entrypoint: "cli",
        tmux: None, socket: true, started_at_ms: 1796028098448, updated_at_ms: 1796028107820,
    },
    Real {
        file: "busy", pid: 15295, start: "68675", name: "demo-07",
        session_id: "ae599677-a5d6-4074-8789-01603b84160b", cwd: "/proj/demo",
        status: Some(Busy), waiting_for: None, kind: Interactive, entrypoint: "cli",
        tmux: Some("a:@0.%0"), socket: true, started_at_ms: 1796027586790, updated_at_ms: 1796027609214,
    },
    Real {
        file: "entrypoint-claude-vscode", pid: 17060, start: "152822", name: "proj-a5",
        session_id: "69602476-8a75-4633-b0e0-1d8ecbe44543", cwd: "/proj/proj",
        status: Some(Idle), waiting_for: None, kind: Interactive, entrypoint: "claude-vscode",
        tmux: None, socket: true, started_at_ms: 1796028428312, updated_at_ms: 1796028428298,
    },
    Real {
        file: "headless-p-busy", pid: 18937, start: "82382", name: "demo-40",
        session_id: "7b11084d-75c7-4fcf-8c59-a5ec4ad03226", cwd: "/proj/demo",
        status: Some(Busy), waiting_for: None, kind: Interactive, entrypoint: "sdk-cli",
        tmux: None, socket: true, started_at_ms: 1796027723902, updated_at_ms: 1796027723858,
    },
    Real {
        file: "headless-stream-json-idle", pid: 16741, start: "152218", name: "proj-7b",
        session_id: "b16dd8e9-7610-43bd-968e-1bf0d2858c96", cwd: "/proj/proj",
        status: Some(Idle), waiting_for: None, kind: Interactive, entrypoint: "sdk-cli",
        tmux: None, socket: true, started_at_ms: 1796028422863, updated_at_ms: 1796028422847,
    },
    Real {
        file: "idle-derived-name", pid: 15295, start: "68675", name: "demo-07",
        session_id: "ae599677-a5d6-4074-8789-01603b84160b", cwd: "/proj/demo",
        status: Some(Idle), waiting_for: None, kind: Interactive, entrypoint: "cli",
        tmux: Some("a:@0.%0"), socket: true, started_at_ms: 1796027586790, updated_at_ms: 1796027617967,
    },
    Real {
        file: "idle-name-collision", pid: 336, start: "111821", name: "reviewer-dynamic-marshmallow",
        session_id: "97d50930-cc47-44ce-a039-e74c21a005a5", cwd: "/proj/demo",
        status: Some(Idle), waiting_for: None, kind: Interactive, entrypoint: "cli",
        tmux: Some("d:@11.%11"), socket: true, started_at_ms: 1796028018574, updated_at_ms: 1796028018872,
    },
    Real {
        file: "idle-renamed-formerNames", pid: 17409, start: "77725", name: "second-name",
        session_id: "9c055097-98f5-40bb-ac7a-c9306fe7f365", cwd: "/proj/demo",
        status: Some(Idle), waiting_for: None, kind: Interactive, entrypoint: "cli",
        tmux: Some("b:@1.%1"), socket: true, started_at_ms: 1796027677024, updated_at_ms: 1796028537272,
    },
    Real {
        file: "parked-bg-job", pid: 4202, start: "122842", name: "parkme2",
        session_id: "3f1bcd9e-a912-4fc2-b6fd-9981e41f8d90", cwd: "/proj/proj",
        status: Some(Idle), waiting_for: None, kind: Background, entrypoint: "cli",
        tmux: None, socket: true, started_at_ms: 1796028174143, updated_at_ms: 1796028175582,
    },
    Real {
        file: "shell", pid: 17409, start: "77725", name: "reviewer",
        session_id: "9c055097-98f5-40bb-ac7a-c9306fe7f365", cwd: "/proj/demo",
        status: Some(Idle), waiting_for: None, kind: Interactive, entrypoint: "cli",
        tmux: Some("b:@1.%1"), socket: true, started_at_ms: 1796027677024, updated_at_ms: 1796027714539,
    },
    // Its process was killed; here it lives, and the record is as good as any.
    Real {
        file: "stale-after-kill9", pid: 336, start: "111821", name: "reviewer-dynamic-marshmallow",
        session_id: "97d50930-cc47-44ce-a039-e74c21a005a5", cwd: "/proj/demo",
        status: Some(Idle), waiting_for: None, kind: Interactive, entrypoint: "cli",
        tmux: Some("d:@11.%11"), socket: true, started_at_ms: 1796028018574, updated_at_ms: 1796028049073,
    },
    Real {
        file: "starting-no-status-xdg-socket", pid: 15584, start: "150064", name: "xdg",
        session_id: "8278aebf-43d8-4f5c-8d42-fce1843a4e80", cwd: "/proj/proj",
        status: None, waiting_for: None, kind: Interactive, entrypoint: "cli",
        tmux: Some("x1:@31.%31"), socket: true, started_at_ms: 1796028400766, updated_at_ms: 1796028400767,
    },
    Real {
        file: "waiting-held-peer-message", pid: 24028, start: "91709", name: "bypass",
        session_id: "fc29e557-aabc-4883-98db-f0ada14edcf5", cwd: "/proj/demo",
        status: Some(Waiting), waiting_for: Some("permission prompt"), kind: Interactive, entrypoint: "cli",
        tmux: Some("c:@2.%2"), socket: true, started_at_ms: 1796027844593, updated_at_ms: 1796027848730,
    },
    Real {
        file: "waiting-input-needed", pid: 17409, start: "77725", name: "reviewer",
        session_id: "9c055097-98f5-40bb-ac7a-c9306fe7f365", cwd: "/proj/demo",
        status: Some(Waiting), waiting_for: Some("input needed"), kind: Interactive, entrypoint: "cli",
        tmux: Some("b:@1.%1"), socket: true, started_at_ms: 1796027677024, updated_at_ms: 1796027677930,
    },
    Real {
        file: "waiting-permission", pid: 17409, start: "77725", name: "reviewer",
        session_id: "9c055097-98f5-40bb-ac7a-c9306fe7f365", cwd: "/proj/demo",
        status: Some(Waiting), waiting_for: Some("permission prompt"), kind: Interactive, entrypoint: "cli",
        tmux: Some("b:@1.%1"), socket: true, started_at_ms: 1796027677024, updated_at_ms: 1796027707072,
    },
];

/// The last `statusUpdatedAt` in the text of a record.
fn status_time(record: &[u8]) -> Option<i64> {
    let text = String::from_utf8_lossy(record);
    let (_, behind) = text.rsplit_once("\"statusUpdatedAt\":")?;
    behind.trim_start().split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[test]
fn every_record_of_the_real_program_is_listed_as_it_was() {
    let live = Sleeper::start();
    for row in REAL {
        let home = Home::new();
        let raw = fs::read(fixtures("sessions-real").join(format!("{}.json", row.file))).unwrap();
        home.put(live.pid(), transplant(&raw, row.pid, row.start, live.pid(), home.0.path()));
        let socket = home.0.path().join(format!("{}.sock", row.pid)).to_str().unwrap().to_owned();
        let _listener = UnixListener::bind(&socket).unwrap();
        let peer = Peer {
            pid: live.pid(),
            session_id: row.session_id.to_owned(),
            name: row.name.to_owned(),
            home: home.text(),
            cwd: Some(row.cwd.to_owned()),
            status: row.status,
            stopped: None,
            waiting_for: row.waiting_for.map(str::to_owned),
            kind: Some(row.kind),
            entrypoint: Some(row.entrypoint.to_owned()),
            updated_at_ms: Some(row.updated_at_ms),
            version: Some("2.1.332".to_owned()),
            tmux: row.tmux.map(str::to_owned),
            socket_path: row.socket.then(|| socket.clone()),
            addressable: row.socket,
            endpoint: row.socket.then(|| format!("cc-peer:v1:{}:{}:{socket}", live.pid(), row.name)),
        };
        let listing = home.list();
        let since_ms = status_time(&raw).filter(|_| peer.status.is_some());
        let expected = Found { peer, started_at_ms: Some(row.started_at_ms), since_ms };
        assert_eq!(listing.peers, [expected], "{}", row.file);
        assert_eq!((listing.registries[0].files, listing.registries[0].sessions), (1, 1));
    }
    // The parked window is the one that is not listed; its job is above.
    let home = Home::new();
    let raw = fs::read(fixtures("sessions-real").join("parked-window.json")).unwrap();
    home.put(live.pid(), transplant(&raw, 5235, "126604", live.pid(), home.0.path()));
    assert!(home.hidden().contains("parked"));
    assert_eq!(fs::read_dir(fixtures("sessions-real")).unwrap().count(), REAL.len() + 1);
}

/// What becomes of a record that nobody should write.
enum Fate {
    /// Listed, but for this as if nothing were odd.
    Listed(fn(&mut Peer)),
    /// Not listed; the reason says this.
    Hidden(&'static str),
    /// Told as a problem with this reason.
    Problem(&'static str),
}

#[rustfmt::skip]
const HOSTILE: [(&str, Fate); 36] = [
    ("array", Fate::Problem("invalid_record")),
    ("crlf-pretty", Fate::Listed(|_| {})),
    ("cwd-newline", Fate::Listed(|peer| peer.cwd = None)),
    ("cwd-relative", Fate::Listed(|peer| peer.cwd = None)),
    ("dup-pid-key", Fate::Listed(|_| {})),
    ("invalid-utf8", Fate::Listed(|peer| peer.name = "de\u{fffd}mo".to_owned())),
    ("kind-unknown", Fate::Listed(|peer| peer.kind = None)),
    ("name-4k", Fate::Listed(|peer| peer.name = "n".repeat(limits::PEER_NAME_CHARS))),
    ("name-bidi", Fate::Listed(|peer| peer.name = "abcgnp.exe".to_owned())),
    ("name-empty", Fate::Hidden("no name")),
    ("name-missing", Fate::Hidden("no name")),
    ("name-null", Fate::Hidden("no name")),
    ("name-osc-title", Fate::Listed(|peer| peer.name = "]0;owned x".to_owned())),
    ("name-uds-prefix", Fate::Listed(|peer| peer.name = "uds:/tmp/cc-socks/1.sock".to_owned())),
    ("nul-inside", Fate::Problem("invalid_record")),
    ("number", Fate::Problem("invalid_record")),
    ("parkedJobId-null", Fate::Listed(|_| {})),
    ("pid-huge", Fate::Hidden("another pid than")),
    ("pid-missing", Fate::Listed(|_| {})),
    ("pid-null", Fate::Listed(|_| {})),
    ("pid-string", Fate::Listed(|_| {})),
    ("pid-zero", Fate::Hidden("another pid than")),
    ("pidDomain-other", Fate::Hidden("namespace")),
    ("procStart-macos", Fate::Hidden("another has its pid")),
    ("procStart-number", Fate::Listed(|_| {})),
    ("sessionId-empty", Fate::Hidden("no session id")),
    ("sessionId-not-uuid", Fate::Listed(|peer| peer.session_id = "hello world".to_owned())),
    ("socket-empty", Fate::Listed(|peer| peer.socket_path = None)),
    ("socket-missing", Fate::Listed(|peer| peer.socket_path = None)),
    ("socket-too-long", Fate::Listed(|peer| peer.socket_path = Some(format!("/tmp/{}", "a".repeat(300))))),
    ("status-number", Fate::Listed(|peer| peer.status = None)),
    ("status-uppercase", Fate::Listed(|peer| peer.status = None)),
    ("torn-trailing-garbage", Fate::Listed(|_| {})),
    ("unknown-fields", Fate::Listed(|_| {})),
    ("updatedAt-far-future", Fate::Listed(|peer| peer.updated_at_ms = None)),
    ("updatedAt-negative", Fate::Listed(|peer| peer.updated_at_ms = None)),
];

#[test]
fn every_hostile_record_has_its_fate() {
    let live = Sleeper::start();
    for (file, fate) in HOSTILE {
        let home = Home::new();
        let raw = fs::read(fixtures("hostile/sessions").join(format!("{file}.json"))).unwrap();
        home.put(live.pid(), transplant(&raw, 15295, "68675", live.pid(), home.0.path()));
        let listing = home.list();
        match fate {
            Fate::Hidden(reason) => assert!(home.hidden().contains(reason), "{file}: {listing:?}"),
            Fate::Problem(reason) => {
                assert!(listing.peers.is_empty() && listing.registries[0].hidden.is_empty(), "{file}: {listing:?}");
                let path = home.record_path(live.pid()).to_str().unwrap().to_owned();
                let [problem] = &listing.problems[..] else { panic!("{file}: {listing:?}") };
                assert_eq!((problem.reason.as_str(), &problem.path), (reason, &Some(path)));
            }
            Fate::Listed(odd) => {
                let mut peer = Peer {
                    pid: live.pid(),
                    session_id: "ae599677-a5d6-4074-8789-01603b84160b".to_owned(),
                    name: "demo-07".to_owned(),
                    home: home.text(),
                    cwd: Some("/proj/demo".to_owned()),
                    status: Some(Idle),
                    stopped: None,
                    waiting_for: None,
                    kind: Some(Interactive),
                    entrypoint: Some("cli".to_owned()),
                    updated_at_ms: Some(1796027617967),
                    version: Some("2.1.332".to_owned()),
                    tmux: Some("a:@0.%0".to_owned()),
                    socket_path: Some(format!("{}/15295.sock", home.text())),
                    addressable: false,
                    endpoint: None,
                };
                odd(&mut peer);
                let since_ms = status_time(&raw).filter(|_| peer.status.is_some());
                let expected = Found { peer, started_at_ms: Some(1796027586790), since_ms };
                assert_eq!(listing.peers, [expected], "{file}");
            }
        }
    }
    assert_eq!(fs::read_dir(fixtures("hostile/sessions")).unwrap().count(), HOSTILE.len());
}
