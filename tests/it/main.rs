//! The server as its clients meet it: a process spoken to over its descriptors. One file a method or topic.

mod support;

mod authority;
mod bad_input;
mod base;
mod cancel;
mod cli;
mod day_in_the_life;
mod descriptors;
mod framing;
mod inflight;
mod life_of_a_runtime;
mod lifecycle;
mod params;
mod peer_list;
mod peer_resolve;
mod readme;
mod registry_coverage;
mod registry_describe;
mod registry_list;
mod registry_watch;
mod schema;
mod session_follow;
mod session_load;
mod stores;
mod test_runtime;
mod zero_touch;
