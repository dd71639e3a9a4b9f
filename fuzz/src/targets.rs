//! Targets in memory: frames, params, events of runtimes, lines of agents.

use serde_json::Value;
use tackroom::protocol::WithMeta;
use tackroom::rpc::Framing;

/// Client input: nothing panics, and frames do not depend on how the input is cut.
pub fn frames(input: &[u8]) {
    for framing in [None, Some(Framing::Lines), Some(Framing::Headers)] {
        let whole = tackroom::rpc::read_frames(framing, &[input]);
        let bytes: Vec<&[u8]> = input.chunks(1).collect();
        assert_eq!(tackroom::rpc::read_frames(framing, &bytes), whole);
    }
}

/// Params of a request: `_meta` is read or refused, and never overlooked.
pub fn params(input: &[u8]) {
    let Ok(value) = serde_json::from_slice::<Value>(input) else { return };
    let Some(fields) = value.as_object() else { return };
    let read = serde_json::from_slice::<WithMeta>(input);
    if fields.get("_meta").is_some_and(|meta| !meta.is_null()) {
        assert!(read.is_err() || read.is_ok_and(|read| read.meta.is_some()), "`_meta` was overlooked");
    }
}

/// Server-sent events of a runtime: nothing panics, and events do not depend on how the stream is cut.
pub fn events(input: &[u8]) {
    let whole = tackroom::runtime::read_events(&[input]);
    let bytes: Vec<&[u8]> = input.chunks(1).collect();
    assert_eq!(tackroom::runtime::read_events(&bytes), whole);
}

/// Lines of an ACP agent: nothing panics.
pub fn agent_lines(input: &[u8]) {
    for line in input.split(|byte| *byte == b'\n') {
        tackroom::host::agent::is_message(line);
    }
}
