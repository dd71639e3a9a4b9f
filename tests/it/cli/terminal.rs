//! What a terminal gets, from a real one.

use super::three;
use std::fs::File;
use std::io::Read;
use std::os::fd::{FromRawFd, OwnedFd};

/// A terminal of some width: what is typed and read there, and what a program gets.
fn terminal(columns: u16) -> (File, OwnedFd) {
    let (mut outer, mut inner) = (-1, -1);
    let size = libc::winsize { ws_row: 50, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: both descriptors are written before they are read, and nobody else holds them.
    unsafe {
        let opened = libc::openpty(&mut outer, &mut inner, std::ptr::null_mut(), std::ptr::null(), &size);
        assert_eq!(opened, 0);
        (File::from_raw_fd(outer), OwnedFd::from_raw_fd(inner))
    }
}

/// What `tackroom list` shows on a terminal.
fn listed(columns: u16, variables: &[(&str, &str)]) -> String {
    let (home, _live) = three();
    let (mut outer, inner) = terminal(columns);
    let mut command = home.command(&["list"]);
    let status = command.env("TERM", "xterm").envs(variables.iter().copied()).stdout(inner).status().unwrap();
    // With it goes the last end that could still write.
    drop(command);
    assert!(status.success());
    let mut shown = Vec::new();
    let mut bytes = [0; 4096];
    while let Ok(count @ 1..) = outer.read(&mut bytes) {
        shown.extend_from_slice(&bytes[..count]);
    }
    String::from_utf8(shown).unwrap().replace('\r', "")
}

#[test]
fn rows_fit_and_ids_are_as_short_as_they_can_be() {
    let expected = "\
STATE    HARNESS      ID          AGE  WORKSPACE  TITLE
waiting  claude-code  11111111    5d   ~/proj     [permission prompt]…
stored   claude-code  22222222-a  30m  …/deep     東京の天気を取得する
stored   claude-code  22222222-b  2h   ~/proj     Turn \u{fffd}around
";
    let shown = listed(70, &[("NO_COLOR", "1")]);
    assert_eq!(shown, expected);
}

#[test]
fn colours_are_for_those_who_want_them() {
    assert!(listed(100, &[]).contains("\u{1b}[1;33mwaiting\u{1b}[0m"));
    assert!(!listed(100, &[("NO_COLOR", "1")]).contains('\u{1b}'));
    assert!(!listed(100, &[("TERM", "dumb")]).contains('\u{1b}'));
}
