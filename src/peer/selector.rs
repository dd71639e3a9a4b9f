//! Which live session is meant: by its id, its name, or the endpoint that the list gave.

use super::Error;
use crate::protocol::{Harness, Peer, PeerSelector};

const SCHEME: &str = "cc-peer:v1:";

/// Holders that the message about an ambiguity names.
const HOLDERS_SHOWN: usize = 4;

/// `cc-peer:v1:<pid>:<name>:<socket>`.
pub(super) fn endpoint(pid: i32, name: &str, socket: &str) -> String {
    format!("{SCHEME}{pid}:{}:{}", escape(name), escape(socket))
}

/// Names are one when they differ in case alone.
pub(super) fn fold(name: &str) -> String {
    name.to_lowercase()
}

/// What a selector asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Target {
    SessionId(String),
    FoldedName(String),
    Endpoint { pid: i32, name: String, socket: String },
}

impl Target {
    pub(super) fn of(selector: &PeerSelector) -> Result<Self, Error> {
        let PeerSelector { id, session_id, name, endpoint } = selector;
        match (id, session_id, name, endpoint) {
            (Some(id), None, None, None) => match id.split_once(':') {
                Some((harness, session_id)) if harness == Harness::ClaudeCode.id() => {
                    Ok(Self::SessionId(session_id.to_owned()))
                }
                _ => Err(Error::NotLive("id")),
            },
            (None, Some(session_id), None, None) => Ok(Self::SessionId(session_id.clone())),
            (None, None, Some(name), None) => Ok(Self::FoldedName(fold(name))),
            (None, None, None, Some(endpoint)) => parse_endpoint(endpoint).ok_or(Error::InvalidEndpoint),
            _ => Err(Error::Selector),
        }
    }

    /// Chooses among those that live and may be seen.
    pub(super) fn pick(&self, peers: Vec<Peer>) -> Result<Peer, Error> {
        match self {
            Self::SessionId(id) => only("session id", peers.into_iter().filter(|peer| peer.session_id == *id)),
            Self::FoldedName(name) => only("name", peers.into_iter().filter(|peer| fold(&peer.name) == *name)),
            Self::Endpoint { pid, name, socket } => {
                let name = fold(name);
                let (exact, others): (Vec<_>, Vec<_>) = peers.into_iter().partition(|peer| {
                    peer.pid == *pid && fold(&peer.name) == name && peer.socket_path.as_ref() == Some(socket)
                });
                let related = others.iter().find(|peer| peer.pid == *pid || fold(&peer.name) == name);
                match related {
                    Some(now) if exact.is_empty() => {
                        Err(Error::Moved(format!("pid {} is now `{}`", now.pid, now.name)))
                    }
                    _ => only("endpoint", exact.into_iter()),
                }
            }
        }
    }
}

fn only(what: &'static str, hits: impl Iterator<Item = Peer>) -> Result<Peer, Error> {
    let mut hits: Vec<Peer> = hits.collect();
    match hits.len() {
        0 => Err(Error::NotLive(what)),
        1 => Ok(hits.remove(0)),
        count => {
            let show =
                |peer: &Peer| peer.endpoint.clone().unwrap_or_else(|| format!("pid {} in {}", peer.pid, peer.home));
            let holders = hits.iter().take(HOLDERS_SHOWN).map(show).collect::<Vec<_>>().join(", ");
            Err(Error::Ambiguous { what, count, holders })
        }
    }
}

fn parse_endpoint(text: &str) -> Option<Target> {
    let mut parts = text.strip_prefix(SCHEME)?.split(':');
    let pid = parse_pid(parts.next()?)?;
    let (name, socket) = (unescape(parts.next()?)?, unescape(parts.next()?)?);
    let whole = parts.next().is_none() && !name.is_empty() && !socket.is_empty();
    whole.then_some(Target::Endpoint { pid, name, socket })
}

/// A pid as the registry spells it: decimal, no leading zero, and a process that can be a session.
pub(super) fn parse_pid(text: &str) -> Option<i32> {
    let canonical = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    text.parse().ok().filter(|pid| canonical && *pid > 1)
}

fn escape(part: &str) -> String {
    part.replace('%', "%25").replace(':', "%3A")
}

/// Undoes `escape`; any other use of `%` is malformed.
fn unescape(part: &str) -> Option<String> {
    let mut pieces = part.split('%');
    let mut plain = pieces.next()?.to_owned();
    for piece in pieces {
        let (code, rest) = piece.split_at_checked(2)?;
        plain.push(match code {
            "25" => '%',
            "3A" | "3a" => ':',
            _ => return None,
        });
        plain.push_str(rest);
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peer::record::make_addressable;
    use proptest::prelude::*;

    fn peer(pid: i32, name: &str, home: &str) -> Peer {
        let mut peer = Peer {
            pid,
            session_id: format!("session-{pid}"),
            name: name.to_owned(),
            home: home.to_owned(),
            cwd: None,
            status: None,
            stopped: None,
            waiting_for: None,
            kind: None,
            entrypoint: None,
            updated_at_ms: None,
            version: None,
            tmux: None,
            socket_path: Some(format!("/socks/{pid}.sock")),
            addressable: false,
            endpoint: None,
        };
        make_addressable(&mut peer);
        peer
    }

    fn pick(selector: PeerSelector, peers: &[Peer]) -> Result<i32, Error> {
        Target::of(&selector)?.pick(peers.to_vec()).map(|peer| peer.pid)
    }

    fn id(id: &str) -> PeerSelector {
        PeerSelector { id: Some(id.to_owned()), ..PeerSelector::default() }
    }

    fn session(id: &str) -> PeerSelector {
        PeerSelector { session_id: Some(id.to_owned()), ..PeerSelector::default() }
    }

    fn name(name: &str) -> PeerSelector {
        PeerSelector { name: Some(name.to_owned()), ..PeerSelector::default() }
    }

    fn at(endpoint: &str) -> PeerSelector {
        PeerSelector { endpoint: Some(endpoint.to_owned()), ..PeerSelector::default() }
    }

    #[test]
    fn exactly_one_member_selects() {
        let both = PeerSelector { id: Some("claude-code:a".to_owned()), ..name("b") };
        assert_eq!(pick(both, &[]), Err(Error::Selector));
        assert_eq!(pick(PeerSelector::default(), &[]), Err(Error::Selector));
    }

    #[test]
    fn ids_of_this_harness_and_session_ids_select() {
        let peers = [peer(7, "a", "/h"), peer(8, "b", "/h")];
        assert_eq!(pick(id("claude-code:session-8"), &peers), Ok(8));
        assert_eq!(pick(session("session-8"), &peers), Ok(8));
        for other in ["codex:session-8", "session-8", "claude-code:", ""] {
            assert!(matches!(pick(id(other), &peers), Err(Error::NotLive(_))), "{other}");
        }
        assert_eq!(pick(session("SESSION-8"), &peers), Err(Error::NotLive("session id")));
    }

    #[test]
    fn a_session_on_two_processes_is_ambiguous() {
        let twin = Peer { session_id: "session-7".to_owned(), ..peer(8, "b", "/h") };
        let picked = pick(session("session-7"), &[peer(7, "a", "/h"), twin]);
        assert!(matches!(picked, Err(Error::Ambiguous { count: 2, .. })), "{picked:?}");
    }

    #[test]
    fn names_select_in_any_case_and_only_when_they_are_unique() {
        let peers = [peer(7, "Prüfer-É", "/h"), peer(8, "twin", "/h"), peer(9, "Twin", "/h"), peer(10, "c", "/h")];
        assert_eq!(pick(name("PRÜFER-é"), &peers), Ok(7));
        assert_eq!(pick(name("prüfer"), &peers), Err(Error::NotLive("name")));
        assert!(matches!(pick(name("TWIN"), &peers), Err(Error::Ambiguous { count: 2, .. })));
        let homes = [peer(7, "a", "/h"), peer(8, "a", "/other")];
        let RpcErrorParts { reason, message } = RpcErrorParts::of(pick(name("a"), &homes).unwrap_err());
        assert_eq!(reason, "identity_mismatch");
        assert!(message.contains("cc-peer:v1:7:a:/socks/7.sock, cc-peer:v1:8:a:/socks/8.sock"), "{message}");
    }

    #[test]
    fn an_endpoint_selects_while_process_name_and_socket_are_one() {
        let peers = [peer(7, "a:%b", "/h"), peer(8, "twin", "/h"), peer(9, "TWIN", "/h")];
        assert_eq!(peers[0].endpoint.as_deref(), Some("cc-peer:v1:7:a%3A%25b:/socks/7.sock"));
        for peer in &peers {
            assert_eq!(pick(at(peer.endpoint.as_ref().unwrap()), &peers), Ok(peer.pid));
        }
        assert_eq!(pick(at("cc-peer:v1:8:Twin:/socks/8.sock"), &peers), Ok(8));
        let renamed = pick(at("cc-peer:v1:7:old:/socks/7.sock"), &peers);
        assert_eq!(renamed, Err(Error::Moved("pid 7 is now `a:%b`".to_owned())));
        let name_moved = pick(at("cc-peer:v1:55:A%3a%25B:/socks/55.sock"), &peers);
        assert_eq!(name_moved, Err(Error::Moved("pid 7 is now `a:%b`".to_owned())));
        assert!(matches!(pick(at("cc-peer:v1:7:a%3A%25b:/other.sock"), &peers), Err(Error::Moved(_))));
        assert_eq!(pick(at("cc-peer:v1:55:gone:/socks/55.sock"), &peers), Err(Error::NotLive("endpoint")));
    }

    #[test]
    fn malformed_endpoints_are_told_from_dead_ones() {
        for text in [
            "",
            "cc-peer:v1:",
            "cc-peer:v2:7:a:/s",
            "CC-PEER:v1:7:a:/s",
            "cc-peer:v1:7:a",
            "cc-peer:v1:7:a:/s:x",
            "cc-peer:v1:7::/s",
            "cc-peer:v1:7:a:",
            "cc-peer:v1::a:/s",
            "cc-peer:v1:07:a:/s",
            "cc-peer:v1:+7:a:/s",
            "cc-peer:v1:-7:a:/s",
            "cc-peer:v1:0:a:/s",
            "cc-peer:v1:1:a:/s",
            "cc-peer:v1:2147483648:a:/s",
            "cc-peer:v1:7:a%:/s",
            "cc-peer:v1:7:a%2:/s",
            "cc-peer:v1:7:a%20b:/s",
            "cc-peer:v1:7:a%é:/s",
            " cc-peer:v1:7:a:/s",
        ] {
            assert_eq!(pick(at(text), &[]), Err(Error::InvalidEndpoint), "{text}");
        }
    }

    #[test]
    fn each_error_has_its_reason_on_the_wire() {
        let reason = |selector, peers: &[Peer]| RpcErrorParts::of(pick(selector, peers).unwrap_err()).reason;
        assert_eq!(reason(PeerSelector::default(), &[]), "invalid_params");
        assert_eq!(reason(at("x"), &[]), "invalid_endpoint");
        assert_eq!(reason(name("x"), &[]), "not_live");
        assert_eq!(reason(at("cc-peer:v1:7:old:/s"), &[peer(7, "a", "/h")]), "identity_mismatch");
    }

    struct RpcErrorParts {
        reason: &'static str,
        message: String,
    }

    impl RpcErrorParts {
        fn of(error: Error) -> Self {
            let error = crate::protocol::RpcError::from(error);
            Self { reason: error.reason().word(), message: error.to_string() }
        }
    }

    proptest! {
        #[test]
        fn endpoints_give_back_what_went_in(
            pid in 2..i32::MAX,
            name in "[%:a25A3\\PC]{1,20}",
            socket in "/[%:a25A3\\PC]{0,20}",
        ) {
            let parsed = parse_endpoint(&endpoint(pid, &name, &socket));
            prop_assert_eq!(parsed, Some(Target::Endpoint { pid, name, socket }));
        }
    }
}
