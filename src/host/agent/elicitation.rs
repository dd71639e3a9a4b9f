//! A form that the agent asks a person to fill in: `elicitation/create`.

use super::answer::{Answer, invalid};
use super::session::Session;
use super::words::{cut, raw};
use super::{Elicitation, FormAnswer, Told};
use crate::limits;
use crate::runtime::form::Form;
use agent_client_protocol_schema::v1;
use serde_json::{Map, Value, json};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

impl Session {
    /// Asks a person. A form that nobody can be shown is cancelled: while a session is made, and once its turn is.
    pub(super) fn elicit(&mut self, id: Value, params: &Value) {
        let is_outside = params["toolCallId"].as_str().is_some_and(|call| self.outside.is_open(call));
        let turn = self.turn.as_ref().filter(|_| !is_outside);
        let (of_turn, ended) = (turn.is_some(), turn.map(|turn| turn.ended.clone()).unwrap_or_default());
        match self.room_for_question().and_then(|()| asked(params)) {
            Err(error) => self.answer(&id, Err(error)),
            Ok(_) if !self.is_ready || ended.is_cancelled() => self.answer(&id, Ok(sent(&FormAnswer::Cancel))),
            Ok((payload, form)) => {
                let (answer, answered) = oneshot::channel();
                self.told.push_back(Told::Elicitation(Elicitation { payload, form, of_turn, answer }));
                self.wait_for_person(id, answered_by(answered, ended));
            }
        }
    }
}

async fn answered_by(answer: oneshot::Receiver<FormAnswer>, cancelled: CancellationToken) -> Answer {
    let answer = tokio::select! {
        biased;
        () = cancelled.cancelled() => None,
        answer = answer => answer.ok(),
    };
    Ok(sent(&answer.unwrap_or(FormAnswer::Cancel)))
}

/// The payload of the event that asks, and the form.
fn asked(params: &Value) -> Result<(Map<String, Value>, Form), v1::Error> {
    let member = |name: &str| params.get(name).ok_or_else(|| invalid(format!("{name} is missing")));
    // Without a mode it is a form: that is all there was before modes.
    if params.get("mode").is_some_and(|mode| mode != "form") {
        return Err(invalid("only forms are supported".to_owned()));
    }
    let message = member("message")?.as_str().ok_or_else(|| invalid("message must be a string".to_owned()))?;
    let schema = member("requestedSchema")?;
    if !schema.is_object() {
        return Err(invalid("requestedSchema must be an object".to_owned()));
    }
    let schema = raw(schema).ok_or_else(|| invalid("requestedSchema is too large".to_owned()))?;
    let form = Form::of(&schema);
    let mut payload = Map::new();
    payload.insert("message".to_owned(), cut(message.to_owned(), limits::AGENT_TEXT).into());
    payload.insert("requested_schema".to_owned(), schema);
    // The order in which answers separated by `;` are read. Many JSON libraries do not keep the order of object keys.
    payload.insert("field_order".to_owned(), form.field_names().collect());
    Ok((payload, form))
}

/// An answer as the agent takes it.
fn sent(answer: &FormAnswer) -> Value {
    match answer.parts() {
        (action, Some(content)) => json!({ "action": action, "content": content }),
        (action, None) => json!({ "action": action }),
    }
}
