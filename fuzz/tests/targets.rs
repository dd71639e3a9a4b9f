//! The targets with random input, or with that of a fuzzer: `docs/testing.md` says how.

use bolero::check;

#[test]
fn frames() {
    check!().for_each(|input: &[u8]| tackroom_fuzz::frames(input));
}

#[test]
fn params() {
    check!().for_each(|input: &[u8]| tackroom_fuzz::params(input));
}

#[test]
fn events() {
    check!().for_each(|input: &[u8]| tackroom_fuzz::events(input));
}

#[test]
fn agent_lines() {
    check!().for_each(|input: &[u8]| tackroom_fuzz::agent_lines(input));
}

#[test]
fn stores() {
    check!().with_iterations(200).for_each(|input: &[u8]| tackroom_fuzz::stores(input));
}
