//! Texts that an agent sends in pieces. The owner's token may be split between two of them, where no single event shows it: so
//! the end of a piece that may be the start of the token waits for the next piece, or for the end of the message.

use super::agent::Event;
use crate::runtime::Scrub;
use serde_json::Value;

/// The ends of pieces that wait.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    scrub: Scrub,
    held: Vec<Piece>,
}

/// A piece of a text.
#[derive(Debug)]
struct Piece {
    event: Event,
    /// The field of the payload that holds the text.
    field: &'static str,
    /// Whether it was sent outside of a turn.
    is_outside: bool,
}

impl Pieces {
    pub(super) fn new(scrub: Scrub) -> Self {
        Self { scrub, held: Vec::new() }
    }

    /// Takes the next event of the agent. Returns the events that can be published now, each with whether it was sent outside
    /// of a turn.
    pub(super) fn take(&mut self, event: Event, is_outside: bool) -> Vec<(Event, bool)> {
        let Some(field) = field_of(&event) else {
            let mut events = self.release(|held| is_end_of(&event, &held.event));
            events.push((event, is_outside));
            return events;
        };
        let mut piece = Piece { event, field, is_outside };
        let mut events = Vec::new();
        if piece.event.kind == "user_message" {
            events = self.release(|held| held.event.kind != "user_message" && held.call().is_none());
        }
        if let Some(at) = self.held.iter().position(|held| held.continues_in(&piece)) {
            let held = self.held.remove(at);
            piece.set_text(&(held.text().to_owned() + piece.text()));
        }
        let clean = String::from_utf8_lossy(&self.scrub.clean(piece.text().into())).into_owned();
        if clean != piece.text() {
            piece.set_text(&clean);
        }
        let waiting = self.scrub.start_at_end(&clean);
        if waiting > 0 {
            let (now, later) = clean.split_at(clean.len() - waiting);
            let mut held = Piece { event: piece.event.clone(), field, is_outside };
            held.set_text(later);
            held.event.payload.remove("output");
            self.held.push(held);
            piece.set_text(now);
        }
        let is_empty = piece.text().is_empty();
        if is_empty && field == "text" {
            return events;
        }
        if is_empty {
            piece.event.payload.remove(field);
        }
        events.push((piece.event, is_outside));
        events
    }

    /// Returns what waits: every message is at its end.
    pub(super) fn flush(&mut self) -> Vec<(Event, bool)> {
        self.release(|_| true)
    }

    fn release(&mut self, is_due: impl Fn(&Piece) -> bool) -> Vec<(Event, bool)> {
        self.held.extract_if(.., |held| is_due(held)).map(|held| (held.event, held.is_outside)).collect()
    }
}

impl Piece {
    fn text(&self) -> &str {
        self.event.payload.get(self.field).and_then(Value::as_str).unwrap_or_default()
    }

    /// Changes the text. What the agent sent has the text as it was, and goes.
    fn set_text(&mut self, text: &str) {
        self.event.payload.insert(self.field.to_owned(), text.into());
        self.event.payload.remove("raw");
    }

    /// The tool call whose output it is.
    fn call(&self) -> Option<&Value> {
        self.event.payload.get("id")
    }

    fn continues_in(&self, next: &Self) -> bool {
        (self.event.kind, self.call(), self.is_outside) == (next.event.kind, next.call(), next.is_outside)
    }
}

/// The field of an event that holds a piece of a text, if it holds one.
fn field_of(event: &Event) -> Option<&'static str> {
    let field = match event.kind {
        "text_delta" | "reasoning" | "user_message" => "text",
        "tool_call_updated" => "output_delta",
        _ => return None,
    };
    event.payload.contains_key(field).then_some(field)
}

/// Whether an event ends the text of which a piece waits.
fn is_end_of(event: &Event, held: &Event) -> bool {
    match event.kind {
        "tool_call_started" => !held.payload.contains_key("id"),
        "tool_call_completed" => held.payload.get("id") == event.payload.get("id"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Token;
    use serde_json::json;

    const TOKEN: &str = "abcdefghijklmnopqrstuvwxyz-abcda";

    fn event(kind: &'static str, payload: Value) -> Event {
        let Value::Object(payload) = payload else { panic!("no object") };
        Event { kind, payload }
    }

    fn said(kind: &'static str, text: &str) -> Event {
        event(kind, json!({ "text": text, "raw": { "text": text } }))
    }

    fn output(call: &str, text: &str) -> Event {
        event("tool_call_updated", json!({ "id": call, "output_delta": text, "raw": text }))
    }

    /// The texts of all events, joined as a client joins them, and all of them as JSON.
    fn published(events: Vec<Event>) -> (Vec<(String, String)>, String) {
        let mut pieces = Pieces::new(Scrub::new(&Token::new(TOKEN.to_owned())));
        let mut all: Vec<Event> =
            events.into_iter().flat_map(|event| pieces.take(event, false)).map(|it| it.0).collect();
        all.extend(pieces.flush().into_iter().map(|it| it.0));
        let mut joined: Vec<(String, String)> = Vec::new();
        for event in &all {
            let name = format!("{}{}", event.kind, event.payload.get("id").map(Value::to_string).unwrap_or_default());
            let text = ["text", "output_delta"].iter().find_map(|field| event.payload.get(*field)?.as_str());
            match joined.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => known.push_str(text.unwrap_or_default()),
                None => joined.push((name, text.unwrap_or_default().to_owned())),
            }
        }
        (joined, all.iter().map(|event| Value::Object(event.payload.clone()).to_string()).collect())
    }

    #[test]
    fn token_in_pieces_of_any_size_is_replaced() {
        let text = format!("the token {TOKEN}{TOKEN} and abc");
        for size in 1..text.len() {
            let chunks = text.as_bytes().chunks(size).map(|chunk| std::str::from_utf8(chunk).unwrap());
            let (joined, all) = published(chunks.map(|chunk| said("text_delta", chunk)).collect());
            let expected = ("text_delta".to_owned(), "the token <token><token> and abc".to_owned());
            assert_eq!(joined, [expected], "in pieces of {size}");
            assert!(!all.contains(TOKEN));
        }
    }

    #[test]
    fn other_events_between_two_pieces_do_not_hide_the_token() {
        let (start, end) = TOKEN.split_at(9);
        let events = vec![
            said("text_delta", start),
            output("one", start),
            said("reasoning", "hm"),
            output("two", "other"),
            event("native_event", json!({ "kind": "usage" })),
            output("one", end),
            said("text_delta", end),
        ];
        let (joined, _) = published(events);
        let of = |name: &str| joined.iter().find(|(known, _)| known == name).unwrap().1.as_str();
        assert_eq!((of("text_delta"), of("tool_call_updated\"one\"")), ("<token>", "<token>"));
        assert_eq!((of("reasoning"), of("tool_call_updated\"two\"")), ("hm", "other"));
    }

    #[test]
    fn end_of_a_message_releases_what_waits_and_nothing_else_changes() {
        let mut pieces = Pieces::new(Scrub::new(&Token::new(TOKEN.to_owned())));
        let whole = said("text_delta", "no start of it");
        assert_eq!(pieces.take(whole.clone(), false), [(whole, false)], "with what the agent sent");
        assert_eq!(pieces.take(said("text_delta", "ab"), false), []);
        let call = event("tool_call_started", json!({ "id": "one" }));
        let expected = [(event("text_delta", json!({ "text": "ab" })), false), (call.clone(), false)];
        assert_eq!(pieces.take(call, false), expected);
        assert_eq!(pieces.flush(), []);
    }
}
