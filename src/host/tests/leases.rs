use super::super::fault::Fault;
use super::super::leases::Leases;
use crate::limits::{HOST_OBSERVER, HOST_OBSERVERS};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

const TTL: u64 = 1_000;

fn leases() -> Leases {
    Leases::new(Duration::from_millis(TTL))
}

fn fault(fault: Fault) -> Value {
    json!(fault)
}

#[test]
fn control_is_held_lapses_and_comes_back_by_taking_it() {
    let mut leases = leases();
    leases.acquire("a", 0).unwrap();
    leases.acquire("a", 500).unwrap();
    let refused = fault(leases.acquire("b", 600).unwrap_err());
    assert_eq!((&refused["name"], &refused["holder"]), (&json!("controller_required"), &json!("a")));
    assert_eq!(refused["expiresAtMs"], 1_500);
    leases.heartbeat("a", false, 1_499);
    assert!(leases.snapshot(1_499).controller.is_some());
    assert!(leases.snapshot(1_500).controller.is_none(), "it lapses at that very time");
    leases.heartbeat("a", true, 1_501);
    assert!(leases.snapshot(1_501).controller.is_none(), "a heartbeat does not bring it back");
    assert_eq!(fault(leases.acquire("a", 1_502).unwrap_err())["code"], -32033);
    leases.take("a", 1_503);
    leases.acquire("a", 1_504).unwrap();
}

#[test]
fn what_lapsed_is_forgotten_when_somebody_else_drives_or_its_client_leaves() {
    let mut left = leases();
    left.acquire("a", 0).unwrap();
    left.detach("a", 2_000);
    left.acquire("a", 2_000).unwrap();
    let mut other = leases();
    other.acquire("a", 0).unwrap();
    other.acquire("b", 2_000).unwrap();
    other.detach("b", 2_001);
    other.acquire("a", 2_002).unwrap();
}

#[test]
fn an_observer_is_forgotten_unless_it_has_a_stream_and_with_its_last_one() {
    let ids = |leases: &mut Leases, now| -> Vec<String> {
        leases.snapshot(now).observers.into_iter().map(|observer| observer.client_id).collect()
    };
    let ttl = HOST_OBSERVER.as_millis() as u64;
    let mut leases = leases();
    leases.observe("calls", 0);
    leases.stream_began("streams", 0);
    leases.stream_began("streams", 0);
    leases.touch("stranger", 0);
    assert_eq!(ids(&mut leases, ttl - 1), ["calls", "streams"]);
    assert_eq!(ids(&mut leases, ttl), ["streams"]);
    leases.stream_ended("streams", ttl);
    assert_eq!(ids(&mut leases, ttl), ["streams"], "its other stream is open");
    leases.stream_ended("streams", ttl);
    assert!(ids(&mut leases, ttl).is_empty());
    for client in 0..=HOST_OBSERVERS {
        leases.observe(&client.to_string(), ttl + client as u64);
    }
    let left = ids(&mut leases, ttl + HOST_OBSERVERS as u64);
    assert_eq!(left.len(), HOST_OBSERVERS);
    assert!(!left.contains(&"0".to_owned()), "the one that was not heard of for the longest time");
}

#[derive(Clone, Debug)]
enum Act {
    Observe,
    Acquire,
    Take,
    Heartbeat(bool),
    Detach,
    Open,
    Close,
    Wait(u64),
}

/// The rules, as simply as they can be said.
#[derive(Default)]
struct Model {
    now: u64,
    control: Option<(u8, u64)>,
    lapsed: BTreeSet<u8>,
    observers: BTreeMap<u8, u64>,
    streams: BTreeMap<u8, usize>,
}

impl Model {
    fn claim(&mut self, client: u8) {
        self.control = Some((client, self.now + TTL));
        self.lapsed.clear();
    }

    fn forget(&mut self, client: u8) {
        self.observers.remove(&client);
        self.lapsed.remove(&client);
        if self.control.is_some_and(|(holder, _)| holder == client) {
            self.control = None;
        }
    }

    /// What an act comes to: the code of its error, or 0.
    fn act(&mut self, client: u8, act: &Act) -> i64 {
        let holder = self.control.map(|(holder, _)| holder);
        match act {
            Act::Wait(ms) => self.now += ms,
            Act::Observe => drop(self.observers.insert(client, self.now)),
            Act::Acquire if self.lapsed.contains(&client) => return -32033,
            Act::Acquire if holder.is_some_and(|holder| holder != client) => return -32032,
            Act::Acquire | Act::Take => self.claim(client),
            Act::Heartbeat(drives) => {
                self.observers.insert(client, self.now);
                if *drives && holder == Some(client) {
                    self.claim(client);
                }
            }
            Act::Detach => self.forget(client),
            Act::Open => {
                *self.streams.entry(client).or_default() += 1;
                self.observers.insert(client, self.now);
            }
            Act::Close => {
                let open = self.streams.remove(&client).unwrap_or_default();
                if open > 1 {
                    self.streams.insert(client, open - 1);
                } else {
                    self.forget(client);
                }
            }
        }
        if let Some((holder, until)) = self.control
            && self.now >= until
        {
            self.control = None;
            self.lapsed = BTreeSet::from([holder]);
        }
        let (now, streams) = (self.now, &self.streams);
        let kept = HOST_OBSERVER.as_millis() as u64;
        self.observers.retain(|client, seen| streams.contains_key(client) || now - *seen < kept);
        0
    }
}

fn acts() -> impl Strategy<Value = Vec<(u8, Act)>> {
    let act = prop_oneof![
        Just(Act::Observe),
        Just(Act::Acquire),
        Just(Act::Acquire),
        Just(Act::Take),
        any::<bool>().prop_map(Act::Heartbeat),
        Just(Act::Detach),
        Just(Act::Open),
        Just(Act::Close),
        prop_oneof![Just(1), Just(TTL - 1), Just(TTL), Just(200_000)].prop_map(Act::Wait),
    ];
    prop::collection::vec((0u8..3, act), 0..60)
}

proptest! {
    #[test]
    fn any_order_of_things_comes_to_what_the_rules_say(acts in acts()) {
        let (mut leases, mut model) = (leases(), Model::default());
        for (client, act) in acts {
            let id = client.to_string();
            let expected = model.act(client, &act);
            let now = model.now;
            let error = match &act {
                Act::Wait(_) => Ok(()),
                Act::Observe => { leases.observe(&id, now); Ok(()) }
                Act::Acquire => leases.acquire(&id, now),
                Act::Take => { leases.take(&id, now); Ok(()) }
                Act::Heartbeat(drives) => { leases.heartbeat(&id, *drives, now); Ok(()) }
                Act::Detach => { leases.detach(&id, now); Ok(()) }
                Act::Open => { leases.stream_began(&id, now); Ok(()) }
                Act::Close => { leases.stream_ended(&id, now); Ok(()) }
            };
            prop_assert_eq!(error.map_or_else(|error| fault(error)["code"].as_i64(), |()| Some(0)), Some(expected));
            let snapshot = leases.snapshot(now);
            let held = snapshot.controller.map(|held| (held.client_id, held.expires_at_ms));
            prop_assert_eq!(held, model.control.map(|(holder, until)| (holder.to_string(), until)));
            let observers: Vec<_> = snapshot.observers.into_iter().map(|one| (one.client_id, one.last_seen_ms)).collect();
            let expected: Vec<_> = model.observers.iter().map(|(id, seen)| (id.to_string(), *seen)).collect();
            prop_assert_eq!(observers, expected);
        }
    }
}
