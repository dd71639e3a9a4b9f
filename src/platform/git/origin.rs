//! Where the URL of a remote leads, and what of it may be shown.

use std::path::PathBuf;

/// Where the URL of a remote leads.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// To a directory of this machine, perhaps a relative one.
    Local(PathBuf),
    /// To a server: `//host/path`, the same for all the ways by which one repository is reached.
    Remote(String),
}

/// The URL without passwords and tokens.
///
/// A token can stand in the place of a user's name, so where there is a scheme no name is left; also within the path,
/// for mirrors take a whole URL there. `git@host:path` has no place for a secret, and without its name it fails.
pub(super) fn without_credentials(url: &str) -> String {
    let mut parts = url.split("://");
    let mut clean = parts.next().unwrap_or_default().to_owned();
    // Servers take tokens in the query too, which is no part of a repository's name.
    let is_http = clean.get(..4).is_some_and(|scheme| scheme.eq_ignore_ascii_case("http"));
    for part in parts {
        let (authority, path) = part.split_at(part.find('/').unwrap_or(part.len()));
        clean += "://";
        clean += host(authority);
        clean += path;
    }
    if is_http && let Some(query) = clean.find(['?', '#']) {
        clean.truncate(query);
    }
    clean
}

/// Where a URL leads, by the rules by which git tells URLs, `host:path` and plain paths from each other.
pub(super) fn place(url: &str) -> Place {
    if let Some((scheme, rest)) = split_scheme(url) {
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        return match scheme.as_str() {
            "file" => Place::Local(file_path(path)),
            scheme => Place::Remote(remote(authority, path, default_port(scheme))),
        };
    }
    match split_scp(url) {
        Some((authority, path)) => Place::Remote(remote(authority, path, ":22")),
        None => Place::Local(PathBuf::from(url)),
    }
}

fn split_scheme(url: &str) -> Option<(String, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    let valid = !scheme.is_empty() && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    valid.then(|| (scheme.to_ascii_lowercase(), rest))
}

/// `[user@]host:path` and `[host:port]:path`. A colon behind a slash is a part of a path.
fn split_scp(url: &str) -> Option<(&str, &str)> {
    let before_slash = url.split('/').next().unwrap_or(url);
    let colon = match before_slash.find("]:") {
        Some(bracket) => bracket + 1,
        None => before_slash.find(':')?,
    };
    let is_drive = cfg!(windows) && colon == 1;
    if is_drive {
        return None;
    }
    let (host, path) = (host(&url[..colon]), &url[colon + 1..]);
    let is_ipv6 = host.matches(':').count() > 1;
    Some((if is_ipv6 { host } else { host.trim_matches(['[', ']']) }, path))
}

/// An authority without its user info.
fn host(authority: &str) -> &str {
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

fn remote(authority: &str, path: &str, default_port: &str) -> String {
    let host = host(authority).to_ascii_lowercase();
    let host = host.strip_suffix(default_port).unwrap_or(&host).trim_end_matches(':');
    let segments: Vec<_> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    let mut path = segments.join("/");
    while let Some(shorter) = path.strip_suffix(".git").or_else(|| path.strip_suffix('/')) {
        path.truncate(shorter.len());
    }
    format!("//{host}/{path}")
}

fn default_port(scheme: &str) -> &'static str {
    match scheme {
        "ssh" | "git+ssh" | "ssh+git" => ":22",
        "https" => ":443",
        "http" => ":80",
        "git" => ":9418",
        _ => ":",
    }
}

/// The path of a `file://` URL, which is percent-encoded.
fn file_path(path: &str) -> PathBuf {
    let mut decoded = if cfg!(windows) { Vec::new() } else { vec![b'/'] };
    let mut rest = path.as_bytes();
    while let [first, after @ ..] = rest {
        let digit = |at: usize| after.get(at).and_then(|byte| (*byte as char).to_digit(16));
        let code = if *first == b'%' { digit(0).zip(digit(1)) } else { None };
        match code {
            Some((high, low)) => decoded.push((high << 4 | low) as u8),
            None => decoded.push(*first),
        }
        rest = if code.is_some() { &after[2..] } else { after };
    }
    PathBuf::from(String::from_utf8_lossy(&decoded).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn remote_of(url: &str) -> Option<String> {
        match place(url) {
            Place::Remote(key) => Some(key),
            Place::Local(_) => None,
        }
    }

    #[test]
    fn one_repository_has_one_key_by_whatever_way_it_is_reached() {
        for url in [
            "https://example.com/team/app",
            "https://example.com/team/app.git",
            "https://example.com/team/app/",
            "https://example.com/team/app.git/",
            "https://example.com/team//app/.git",
            "https://Example.COM:443/team/app",
            "https://someone:token@example.com/team/app.git",
            "HTTP://example.com:80/team/app",
            "http://example.com:/team/app",
            "ssh://git@example.com/team/app.git",
            "ssh://git@example.com:22/team/app.git",
            "git+ssh://example.com:22/team/app.git",
            "git://example.com:9418/team/app.git",
            "git@example.com:team/app.git",
            "example.com:team/app",
            "example.com:/team/app.git",
            "git@[example.com]:team/app",
            "[git@example.com:22]:team/app",
        ] {
            assert_eq!(remote_of(url).as_deref(), Some("//example.com/team/app"), "{url}");
        }
    }

    #[test]
    fn other_repositories_have_other_keys() {
        let urls = [
            "https://example.com/team/app",
            "https://example.com/Team/app",
            "https://example.com/team/app2",
            "https://example.org/team/app",
            "https://example.com:8443/team/app",
            "https://example.com:22/team/app",
            "ssh://[::1]/team/app",
        ];
        for (at, url) in urls.iter().enumerate() {
            for other in &urls[at + 1..] {
                assert_ne!(place(url), place(other));
            }
        }
        assert_eq!(place("[::1]:team/app"), place("ssh://[::1]:22/team/app"));
        assert_eq!(place("[example.com:2222]:team/app"), place("ssh://example.com:2222/team/app"));
    }

    #[test]
    fn a_path_is_no_server() {
        for (url, path) in [
            ("/srv/app.git", "/srv/app.git"),
            ("../app", "../app"),
            ("./odd:name", "./odd:name"),
            ("/srv/a@b:c://d", "/srv/a@b:c://d"),
            #[cfg(unix)]
            ("file:///srv/my%20app%2g%", "/srv/my app%2g%"),
            #[cfg(unix)]
            ("File://localhost/srv/app", "/srv/app"),
        ] {
            assert_eq!(place(url), Place::Local(path.into()), "{url}");
        }
    }

    #[test]
    fn secrets_are_left_out() {
        for (url, shown) in [
            ("https://someone:token@example.com/app.git", "https://example.com/app.git"),
            ("https://token@example.com/app.git", "https://example.com/app.git"),
            ("https://someone:to@ken#1@example.com:8443/app", "https://example.com:8443/app"),
            ("https://example.com/app?private_token=token", "https://example.com/app"),
            (
                "https://mirror.example/https://someone:token@example.com/app",
                "https://mirror.example/https://example.com/app",
            ),
            ("hg::https://someone:token@example.com/app", "hg::https://example.com/app"),
            ("ssh://git:token@example.com/app", "ssh://example.com/app"),
            ("https://example.com/app@v2", "https://example.com/app@v2"),
            ("git@example.com:team/app.git", "git@example.com:team/app.git"),
            ("/srv/app@v2?.git", "/srv/app@v2?.git"),
        ] {
            assert_eq!(without_credentials(url), shown);
        }
    }

    proptest! {
        #[test]
        fn a_key_is_its_own_key(url in "([a-z+]{0,5}://)?[a-zA-Z@:/.\\[\\]%?#0-9\\PC]{0,40}(:22|:443)?/?(\\.git|/|.){0,4}") {
            if let Some(key) = remote_of(&url) {
                prop_assert_eq!(remote_of(&format!("x:{key}")), Some(key));
            }
        }

        #[test]
        fn hiding_hides_all_at_once(url in "([a-zA-Z:@/?#.]|://|\\PC){0,40}") {
            let clean = without_credentials(&url);
            prop_assert_eq!(without_credentials(&clean), clean);
        }

        #[test]
        fn no_token_is_shown(scheme in "[a-z]{1,6}", user in "[a-z:@%#?]{0,8}", token in "[A-Z0-9@:%#?]{8}") {
            let clean = without_credentials(&format!("{scheme}://{user}{token}@example.com/app.git"));
            prop_assert_eq!(clean, format!("{scheme}://example.com/app.git"));
        }
    }
}
