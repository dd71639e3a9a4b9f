//! Where a runtime listens. Its bearer token goes there, so what is dialled is what was parsed, and that is this machine.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// A port on a loopback address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    authority: String,
    candidates: Vec<SocketAddr>,
}

/// Why a text is no address of a runtime. It never holds the text, which may hold a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// It does not begin with `http://`.
    #[error("the base URL must begin with `http://`")]
    Scheme,
    /// The host is no loopback literal.
    #[error("the base URL's host must be a loopback address: `127.0.0.1`, `[::1]` or `localhost`")]
    Host,
    /// There is no port, or something else stands there or behind it.
    #[error("the base URL must end with a port from 1 to 65535, and nothing behind it")]
    Port,
}

impl Address {
    /// Parses `http://HOST:PORT`, with one slash behind it or none. Nothing else is taken: no user, path, query or
    /// fragment, no other spelling of a number, no name but `localhost`.
    pub fn parse(base_url: &str) -> Result<Self, AddressError> {
        let rest = base_url.strip_prefix("http://").ok_or(AddressError::Scheme)?;
        let authority = rest.strip_suffix('/').unwrap_or(rest);
        let (host, port) = authority.rsplit_once(':').ok_or(AddressError::Port)?;
        let hosts = loopback(host).ok_or(AddressError::Host)?;
        let port = parse_port(port).ok_or(AddressError::Port)?;
        let candidates = hosts.into_iter().map(|host| SocketAddr::new(host, port)).collect();
        Ok(Self { authority: authority.to_owned(), candidates })
    }

    /// What is dialled, in this order.
    pub fn candidates(&self) -> &[SocketAddr] {
        &self.candidates
    }

    /// `HOST:PORT`, for the `Host` header.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// The base URL without a slash behind it.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.authority)
    }
}

/// The addresses of a loopback literal. A name is never looked up.
fn loopback(host: &str) -> Option<Vec<IpAddr>> {
    match host {
        "localhost" => Some(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]),
        "[::1]" => Some(vec![Ipv6Addr::LOCALHOST.into()]),
        _ => host.parse().ok().filter(Ipv4Addr::is_loopback).map(|address| vec![address.into()]),
    }
}

fn parse_port(port: &str) -> Option<u16> {
    let plain = port.bytes().all(|byte| byte.is_ascii_digit()) && !port.starts_with('0');
    plain.then(|| port.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use AddressError::{Host, Port, Scheme};
    use proptest::prelude::*;

    #[test]
    fn loopback_literals_with_a_port_are_dialled_as_they_stand() {
        for (base_url, authority, candidates) in [
            ("http://127.0.0.1:45745", "127.0.0.1:45745", vec!["127.0.0.1:45745"]),
            ("http://127.0.0.1:1/", "127.0.0.1:1", vec!["127.0.0.1:1"]),
            ("http://127.0.0.2:1", "127.0.0.2:1", vec!["127.0.0.2:1"]),
            ("http://127.255.255.255:65535", "127.255.255.255:65535", vec!["127.255.255.255:65535"]),
            ("http://[::1]:80", "[::1]:80", vec!["[::1]:80"]),
            ("http://localhost:8080/", "localhost:8080", vec!["127.0.0.1:8080", "[::1]:8080"]),
        ] {
            let address = Address::parse(base_url).unwrap();
            assert_eq!(address.authority(), authority);
            assert_eq!(address.candidates(), candidates.iter().map(|it| it.parse().unwrap()).collect::<Vec<_>>());
            assert_eq!(Address::parse(&address.base_url()).unwrap(), address);
        }
    }

    #[test]
    fn everything_else_is_refused() {
        for (base_url, error) in [
            ("http://127.0.0.1@evil", Port),
            ("http://127.0.0.1@evil:80", Host),
            ("http://localhost:80@evil/", Port),
            ("http://127.0.0.1:1@evil:80/", Host),
            ("http://127.0.0.1:a@evil/", Port),
            ("http://[::1]@evil/", Host),
            ("http://[::1]@evil:80/", Host),
            ("http://[::1]evil", Host),
            ("http://[::1]evil:80", Host),
            ("http://[::1", Host),
            ("http://[::1]", Host),
            ("http://127.0.0.1.evil.com", Port),
            ("http://127.0.0.1.evil.com:80", Host),
            ("http://127.0.0.1:80\\@evil", Port),
            ("http://127.0.0.1:80?@evil/", Port),
            ("http://127.0.0.1:80#@evil/", Port),
            ("http://127.0.0.1:99999", Port),
            ("http://127.0.0.1:65536", Port),
            ("http://127.0.0.1:0", Port),
            ("http://127.0.0.1:", Port),
            ("http://127.0.0.1", Port),
            ("http://127.0.0.1:080", Port),
            ("http://127.0.0.1:+80", Port),
            ("http://127.0.0.1:１", Port),
            ("http://127.0.0.1:1/path?q#f", Port),
            ("http://127.0.0.1:1//", Port),
            ("http://127.0.0.1:1/ ", Port),
            ("http://127.0.0.1:1\n", Port),
            ("http://127.0.0.1:1\r\nX: y", Host),
            ("http://127.0.0.1 :1", Host),
            ("http:// 127.0.0.1:1", Host),
            (" http://127.0.0.1:1", Scheme),
            ("http://127.0.0.1%00:1", Host),
            ("http://localhost", Port),
            ("http://localhost.:1", Host),
            ("http://LOCALHOST:1", Host),
            ("HTTP://127.0.0.1:1", Scheme),
            ("http://127.1:1", Host),
            ("http://0177.0.0.1:1", Host),
            ("http://127.0.0.01:1", Host),
            ("http://2130706433:1", Host),
            ("http://0.0.0.0:1", Host),
            ("http://[::]:1", Host),
            ("http://[::ffff:127.0.0.1]:1", Host),
            ("http://[::1%lo]:1", Host),
            ("http://::1:1", Host),
            ("http://user@127.0.0.1:1", Host),
            ("https://127.0.0.1:1", Scheme),
            ("http:/127.0.0.1:1", Scheme),
            ("http:///127.0.0.1:1", Host),
            ("http://", Port),
            ("", Scheme),
        ] {
            assert_eq!(Address::parse(base_url).err(), Some(error), "{base_url:?}");
        }
    }

    proptest! {
        #[test]
        fn whatever_parses_is_dialled_at_loopback_alone(
            base_url in "(http://)?(localhost|127\\.0\\.0\\.1|127\\.[0-9.]{1,6}|\\[::1\\]|[a-z.]{1,4})?[:@/\\\\?#%. a-z0-9]{0,8}(:[0-9]{1,5})?/?",
        ) {
            if let Ok(address) = Address::parse(&base_url) {
                prop_assert!(!address.candidates().is_empty());
                for candidate in address.candidates() {
                    prop_assert!(candidate.ip().is_loopback() && candidate.port() > 0);
                }
                prop_assert!(!address.authority().contains(['@', '/', '\\', '?', '#', '%', ' ']));
            }
        }
    }
}
