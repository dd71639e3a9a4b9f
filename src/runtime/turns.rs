//! The turns of a runtime as its events report them, for a submit whose answer does not wait for the end of its turn.

use super::error::{Error, RemoteError};
use crate::limits;
use crate::protocol::RuntimeEvent;
use serde::Deserialize;

/// What was heard of turns.
#[derive(Debug, Default)]
pub(super) struct Turns {
    pub(super) started: u64,
    pub(super) ended: u64,
    /// What the agent said in the current turn, or in the last one.
    text: String,
    /// How the last turn ended: its reply, where its end holds one, or what went wrong.
    end: Option<Result<Option<String>, String>>,
}

impl Turns {
    pub(super) fn note(&mut self, event: &RuntimeEvent) {
        #[derive(Default, Deserialize)]
        struct Said {
            text: Option<String>,
            reply: Option<String>,
            message: Option<String>,
        }
        let said = || -> Said {
            let payload = event.payload.as_ref().and_then(|payload| serde_json::from_str(payload.get()).ok());
            payload.unwrap_or_default()
        };
        let end = match event.kind.as_str() {
            "turn_started" => {
                self.started += 1;
                return self.text.clear();
            }
            "text_delta" => {
                let text = said().text.filter(|text| self.text.len() + text.len() <= limits::RUNTIME_ANSWER);
                return self.text.push_str(&text.unwrap_or_default());
            }
            "turn_succeeded" => Ok(said().reply),
            "turn_interrupted" => Err("the turn was interrupted".to_owned()),
            "turn_failed" => Err(said().message.unwrap_or_default()),
            _ => return,
        };
        self.ended += 1;
        self.end = Some(end);
    }

    pub(super) fn reply(&self) -> Result<String, Error> {
        match &self.end {
            Some(Err(message)) => Err(Error::Remote(Box::new(RemoteError::execution(message)))),
            Some(Ok(Some(reply))) => Ok(reply.clone()),
            Some(Ok(None)) | None => Ok(self.text.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn after(events: &[(&str, Value)]) -> Turns {
        let mut turns = Turns::default();
        for (kind, payload) in events {
            turns.note(&serde_json::from_value(json!({ "sequence": 1, "kind": kind, "payload": payload })).unwrap());
        }
        turns
    }

    #[test]
    fn reply_is_that_of_the_end_or_all_that_was_said() {
        let started = ("turn_started", json!({}));
        let said = |text: &str| ("text_delta", json!({ "text": text }));
        let earlier = [started.clone(), said("earlier"), ("turn_succeeded", json!({}))];
        let turn = [started, said("part0 "), ("reasoning", json!({ "text": "no" })), said("part1")];
        let ended = |end: (&str, Value)| after(&[&earlier[..], &turn[..], &[end]].concat());
        assert_eq!(ended(("turn_succeeded", json!({}))).reply().unwrap(), "part0 part1");
        assert_eq!(ended(("turn_succeeded", json!({ "reply": "42" }))).reply().unwrap(), "42");
        assert_eq!(ended(("turn_succeeded", json!({}))).ended, 2);
        let failed = ended(("turn_failed", json!({ "message": "no model" }))).reply().unwrap_err();
        assert!(failed.to_string().contains("no model"), "{failed}");
        let interrupted = ended(("turn_interrupted", json!({}))).reply().unwrap_err();
        assert_eq!(interrupted.reason().word(), "execution");
        assert_eq!(after(&turn).ended, 0);
    }
}
