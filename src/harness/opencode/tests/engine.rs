//! Messages of the second engine. The values were read off the rows that OpenCode 1.18.33 wrote.

use super::*;

const SECOND: &str = "ses_dd0f83845ffeDXZeE15yRhcH7C";
const BOTH: &str = "ses_dd0f83138ffeqF84qFmHGSyPHb";
const WAITING: &str = "ses_dd0f82d98ffeRfwNVWh1xlmsW8";
const REVERTED: &str = "ses_dd0f82d30ffeaSgXeNoE3FozLh";
const FORK: &str = "ses_dd0f8277effeG0Ad00RBI1VA33";

fn second_engine() -> Listing {
    list(&fixture("opencode/v1.18.33-second-engine"))
}

fn said_in(listing: &Listing, id: &str) -> Vec<String> {
    let text = |block: &crate::protocol::Block| match block {
        crate::protocol::Block::Text { text } => Some(text.clone()),
        _ => None,
    };
    listing.load(id).iter().flat_map(|message| message.content.iter().filter_map(text)).collect()
}

#[test]
fn sessions_of_both_engines_have_their_values() {
    let listing = second_engine();
    assert_eq!(listing.skipped(), []);
    for (id, title, created, updated, count) in [
        (SECOND, "Second engine: paint the fence", 1_796_085_368_763, 1_796_085_370_363, 5),
        (BOTH, "Fake generated title", 1_796_085_370_567, 1_796_085_371_306, 6),
        (WAITING, "This prompt waits", 1_796_085_371_562, 1_796_085_371_562, 0),
        (REVERTED, "Keep: sweep the yard", 1_796_085_371_601, 1_796_085_372_796, 2),
        // Its messages keep the times that they had in the session which it was made of.
        (FORK, "Fake generated title (fork #1)", 1_796_085_373_057, 1_796_085_373_057, 4),
    ] {
        let session = listing.of(id);
        assert_eq!(session.title.as_deref(), Some(title), "{id}");
        assert_eq!(session.created_at_ms, Some(created), "{id}");
        assert_eq!(session.updated_at_ms, Some(updated), "{id}");
        assert_eq!(session.workspace.as_deref(), Some("/proj/demo"), "{id}");
        assert_eq!(listing.details(id).message_count, count, "{id}");
        let genuine = listing.load(id).len() as u64;
        assert_eq!(genuine, count, "{id}: count and load");
        listing.assert_pages_agree(id);
    }
}

#[test]
fn messages_of_both_engines_are_in_the_order_of_their_times() {
    let listing = second_engine();
    let said = ["First engine: wash the car", "Second engine: wax the car", "First engine again: dry the car"];
    let expected = said.iter().flat_map(|said| [(*said).to_owned(), format!("Fake answer to: {said}")]);
    assert_eq!(said_in(&listing, BOTH), expected.collect::<Vec<_>>());
    let details = listing.details(BOTH);
    assert_eq!(details.topics, said);
    assert_eq!(details.last_message.unwrap().text, "Fake answer to: First engine again: dry the car");
}

#[test]
fn what_was_taken_back_is_hidden_and_a_waiting_prompt_is_not_yet_a_message() {
    let listing = second_engine();
    assert_eq!(said_in(&listing, REVERTED), ["Keep: sweep the yard", "Fake answer to: Keep: sweep the yard"]);
    assert_eq!(listing.load(WAITING), []);
    assert_eq!(listing.details(WAITING), Details::default());
}

#[test]
fn tool_of_the_second_engine_is_loaded_with_its_answer() {
    let said = |text: &str| json!([{"type": "text", "text": text}]);
    let (prompt, answer) = ("Second engine: paint the fence", "Fake answer to: Second engine: paint the fence");
    let arguments = json!({"command": "echo tool-ran", "description": "Prints a word"});
    let expected = json!([
        {"id": "msg_22f07c7d10015LmeuqEE7BXZ04", "role": "user", "timestampMs": 1_796_085_368_786_i64, "content": said(prompt)},
        {"id": "msg_22f07c957001egz0KtsVgFqIe2", "role": "assistant", "timestampMs": 1_796_085_369_175_i64,
         "model": "fake-model", "content": said(answer)},
        {"id": "msg_22f07ca2d001x3FEWZDNU7nNYp", "role": "user", "timestampMs": 1_796_085_369_393_i64,
         "content": said("USE_TOOL please run a command")},
        {"id": "msg_22f07cc07001GlO02poCsR04Z3", "role": "assistant", "timestampMs": 1_796_085_369_863_i64, "model": "fake-model",
         "content": [
            {"type": "toolCall", "id": "call_6", "name": "bash", "arguments": arguments},
            {"type": "toolResult", "id": "call_6", "name": "bash", "isError": false, "content": [
                {"type": "text", "text": "tool-ran\n"}, {"type": "text", "text": "Command exited with code 0."}]}]},
        {"id": "msg_22f07cdfb001bWtSzVKr9nH8hC", "role": "assistant", "timestampMs": 1_796_085_370_363_i64,
         "model": "fake-model", "content": said("Fake answer to: USE_TOOL please run a command")},
    ]);
    assert_eq!(second_engine().loaded(SECOND), expected);
}

/// A database with the tables of the second engine, and two messages of each engine in one session.
fn mixed() -> (Data, Database) {
    let data = Data::new();
    let database = data.database("opencode.db");
    database
        .0
        .execute_batch(
            "create table session_message (id text primary key, session_id text, type text, seq integer,
               time_created integer, time_updated integer, data text)",
        )
        .unwrap();
    database.session("ses_1", "New session - 2026-12-01T00:36:08.763Z");
    database.message("ses_1", "msg_a", 2_000, user(), &[said("first")]);
    database.message("ses_1", "msg_d", 6_000, user(), &[said("fourth")]);
    (data, database)
}

impl Database {
    fn second(&self, id: &str, kind: &str, seq: i64, at: i64, data: Value) {
        let row = (id, kind, seq, at, data.to_string());
        let insert = "insert into session_message values (?1, 'ses_1', ?2, ?3, ?4, ?4, ?5)";
        self.0.execute(insert, row).unwrap();
    }
}

#[test]
fn prompt_that_waited_keeps_its_place_behind_what_came_before_it_was_taken_in() {
    let (data, database) = mixed();
    let answer = |text: &str| json!({"content": [{"type": "text", "text": text}], "model": {"id": "m"}});
    database.second("msg_c", "assistant", 5, 5_000, answer("second"));
    // Written at 3 s, while the model answered, and taken in when that was done.
    database.second("msg_b", "user", 6, 3_000, json!({"text": "third"}));
    let listing = data.list();
    assert_eq!(said_in(&listing, "ses_1"), ["first", "second", "third", "fourth"]);
    assert_eq!(listing.of("ses_1").updated_at_ms, Some(6_000));
    listing.assert_pages_agree("ses_1");
}

#[test]
fn every_kind_of_the_second_engine_is_kept_and_only_people_and_models_count() {
    let (data, database) = mixed();
    database.second("msg_1", "synthetic", 1, 2_100, json!({"text": "for the model"}));
    database.second("msg_2", "shell", 2, 2_200, json!({"command": "ls", "output": "a"}));
    database.second("msg_3", "compaction", 3, 2_300, json!({"summary": "what was", "reason": "auto"}));
    database.second("msg_4", "model-switched", 4, 2_400, json!({"model": {"id": "m"}}));
    let picture = format!("data:image/png;base64,{}", "A".repeat(3 << 20));
    let files = json!([{"uri": picture, "mime": "image/png"}]);
    database.second("msg_5", "user", 5, 2_500, json!({"text": "look", "files": files}));
    database.second("msg_6", "assistant", 6, 2_600, json!({"error": {"message": "no"}, "content": []}));
    database.second("msg_7", "user", 7, 2_700, Value::String("torn".to_owned()));
    let listing = data.list();
    assert_eq!(listing.load("ses_1").len(), 9);
    let details = listing.details("ses_1");
    assert_eq!((details.message_count, details.topics), (4, vec!["first".into(), "look".into(), "fourth".into()]));
}

#[test]
fn first_prompt_beside_a_huge_picture_is_the_title() {
    let (data, database) = mixed();
    database.0.execute("delete from message", []).unwrap();
    let picture = format!("data:image/png;base64,{}", "A".repeat(3 << 20));
    let files = json!([{"uri": picture, "mime": "image/png"}]);
    database.second("msg_1", "user", 1, 2_500, json!({"files": files, "text": "look at this"}));
    database.second("msg_2", "user", 2, 2_600, json!({"text": "and then"}));
    assert_eq!(data.list().of("ses_1").title.as_deref(), Some("look at this"));
}
