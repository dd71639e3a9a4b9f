//! What a courier says, as it may be shown: without secrets, in one line, bounded.

use crate::limits;
use std::cmp::Reverse;

/// What stands for a secret.
const REDACTED: &str = "[…]";
/// How the tokens of some providers begin.
const TOKEN: &str = "sk-";

/// Everything in the values of variables that could be a secret, the longest first, as one may stand in another: each as
/// a whole, its lines, the user and the password of a URL, and all of it as JSON spells it.
pub(super) fn secrets_of<'a>(values: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut secrets = Vec::new();
    for value in values {
        let lines = value.lines().map(str::trim);
        secrets.extend(lines.chain([value]).filter(|text| text.len() >= limits::COURIER_SECRET).map(str::to_owned));
        let parts = credentials(value).into_iter().flatten();
        secrets.extend(parts.filter(|text| text.len() >= limits::COURIER_PASSWORD).map(str::to_owned));
    }
    let as_json = |secret: &String| serde_json::to_string(secret).ok().map(|text| text[1..text.len() - 1].to_owned());
    secrets.extend(secrets.iter().filter_map(as_json).collect::<Vec<_>>());
    secrets.sort_unstable_by(|one, other| (Reverse(one.len()), one).cmp(&(Reverse(other.len()), other)));
    secrets.dedup();
    secrets
}

/// What a URL has before its host: all of it, and the password alone.
fn credentials(url: &str) -> Option<[&str; 2]> {
    let (_, rest) = url.split_once("://")?;
    let (user, _) = rest.split(['/', '?', '#']).next()?.rsplit_once('@')?;
    let (_, password) = user.split_once(':').unwrap_or_default();
    Some([user, password])
}

/// A text without these secrets, and without what looks like one.
pub(super) fn without(said: &str, secrets: &[String]) -> String {
    let said = secrets.iter().fold(said.to_owned(), |said, secret| said.replace(secret, REDACTED));
    let mut after_bearer = false;
    let word = |word: &str| {
        let end = word.trim_end().len();
        let (text, space) = word.split_at(end);
        let is_token = after_bearer && !text.is_empty();
        if !text.is_empty() {
            after_bearer = text.to_ascii_lowercase().ends_with("bearer");
        }
        if is_token { format!("{REDACTED}{space}") } else { without_tokens(text) + space }
    };
    said.split_inclusive(char::is_whitespace).map(word).collect()
}

/// A word without the tokens in it.
fn without_tokens(word: &str) -> String {
    let belongs = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let (mut told, mut rest) = (String::new(), word);
    while let Some(at) = rest.find(TOKEN) {
        let (before, token) = rest.split_at(at);
        let end = token.find(|c| !belongs(c)).unwrap_or(token.len());
        // Not `task-management`; a colour's code may stand right before it.
        let stands = !before.ends_with(belongs) || token[..end].contains(|c: char| c.is_ascii_digit());
        let is_token = stands && end >= TOKEN.len() + limits::COURIER_SECRET;
        told.push_str(before);
        told.push_str(if is_token { REDACTED } else { &token[..end] });
        rest = &token[end..];
    }
    told + rest
}

/// A text in one line that nothing in it can act on, and no longer than is shown.
pub(super) fn one_line(said: &str) -> String {
    let acts = |c: char| c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let said: String = said.chars().map(|c| if acts(c) { ' ' } else { c }).collect();
    let words: Vec<&str> = said.split_whitespace().collect();
    let mut said = words.join(" ");
    if let Some((end, _)) = said.char_indices().nth(limits::COURIER_SHOWN_CHARS) {
        said.truncate(end);
        said.push('…');
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(said: &str, values: &[&str]) -> String {
        without(said, &secrets_of(values.iter().copied()))
    }

    #[test]
    fn parts_of_a_secret_are_secrets() {
        let proxy = ["http://me:pass%40word@proxy:8080/a@b"];
        assert_eq!(told("me:pass%40word, pass%40word, proxy:8080, me", &proxy), "[…], […], proxy:8080, me");
        assert_eq!(told("token-only@host", &["https://token-only@host"]), "[…]@host");
        // So short a password is a word like others.
        assert_eq!(told("a b", &["http://a:b@proxy:8080"]), "a b");
        let key = ["-----BEGIN KEY-----\n  first-line \nsecond\tline\n-----END KEY-----\n"];
        assert_eq!(told("at first-line and second\tline", &key), "at […] and […]");
        assert_eq!(told(r"at second\tline", &key), "at […]");
        assert_eq!(told(r#"{"key":"quo\"ted\\secret"}"#, &[r#"quo"ted\secret"#]), r#"{"key":"[…]"}"#);
        assert_eq!(told("in secret-1-longer and secret-1", &["secret-1", "secret-1-longer"]), "in […] and […]");
        assert_eq!(told("on", &["on"]), "on");
    }

    #[test]
    fn what_looks_like_a_token_is_a_secret() {
        for (said, shown) in [
            ("key sk-ant-api03-abcDEF_123 is invalid", "key […] is invalid"),
            ("(sk-proj-abcdefgh)", "([…])"),
            ("\u{1b}[31msk-ant-0123456789\u{1b}[0m", "\u{1b}[31m[…]\u{1b}[0m"),
            ("sk-ant-0123456789,sk-ant-0123456789", "[…],[…]"),
            ("Authorization: Bearer  abc.def==\nnext", "Authorization: Bearer  […]\nnext"),
            ("\"authorization\":\"bearer abc\"", "\"authorization\":\"bearer […]"),
            ("task-management sk-short sk-", "task-management sk-short sk-"),
        ] {
            assert_eq!(told(said, &[]), shown, "{said}");
        }
    }
}
