//! Trees that a model of the program makes, and trees that nothing makes.

use super::load::{session_at, told, whole};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fs;

/// What happens in a conversation.
#[derive(Clone, Debug)]
enum Step {
    /// A prompt, and an answer in so many rows with a call each. The results come in the order of `order`, before or
    /// between the answer's rows; the next row hangs on the result that came last.
    Turn { calls: usize, order: u64, between: bool },
    /// The last so many turns are taken back.
    Rewind(usize),
    /// A record of the program.
    Attachment,
    /// The same, on an older row.
    Stray,
    /// The conversation is compacted.
    Compact,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        5 => (0_usize..4, any::<u64>(), any::<bool>())
            .prop_map(|(calls, order, between)| Step::Turn { calls, order, between }),
        1 => (1_usize..3).prop_map(Step::Rewind),
        1 => Just(Step::Attachment),
        1 => Just(Step::Stray),
        1 => Just(Step::Compact),
    ];
    prop::collection::vec(step, 0..14)
}

/// The program in small: the rows that it writes, and what a reader is to see.
#[derive(Default)]
struct Model {
    rows: Vec<Value>,
    tip: Option<String>,
    seen: Vec<String>,
    /// Before each turn: the tip, and how much was to be seen.
    turns: Vec<(Option<String>, usize)>,
}

impl Model {
    fn row(&mut self, mut row: Value, parent: Option<String>) -> String {
        let uuid = format!("r{}", self.rows.len());
        row["uuid"] = json!(uuid);
        row["parentUuid"] = json!(parent);
        self.rows.push(row);
        uuid
    }

    fn turn(&mut self, calls: usize, mut order: u64, between: bool) {
        self.turns.push((self.tip.clone(), self.seen.len()));
        let prompt = self.row(json!({"type": "user", "message": {"content": "p"}}), self.tip.clone());
        self.seen.push(format!("User {prompt} p"));
        let id = format!("m{prompt}");
        let answer = |block: Value| json!({"type": "assistant", "message": {"id": id, "content": [block]}});
        let mut tip = self.row(answer(json!({"type": "text", "text": "a"})), Some(prompt));
        let (first, at) = (tip.clone(), self.seen.len());
        let mut said = format!("Assistant {first} a");
        let mut open = Vec::new();
        for call in 0..calls {
            let tool = format!("t{call}{first}");
            tip = self.row(answer(json!({"type": "tool_use", "id": tool, "name": "T", "input": {}})), Some(tip));
            said += &format!(" + T#{tool}");
            open.push((tool, tip.clone()));
            if between && order % 2 == 1 {
                tip = self.results(&mut open, &mut order);
            }
        }
        if !open.is_empty() {
            tip = self.results(&mut open, &mut order);
        }
        self.seen.insert(at, said);
        self.tip = Some(tip);
    }

    fn results(&mut self, open: &mut Vec<(String, String)>, order: &mut u64) -> String {
        let mut last = String::new();
        while !open.is_empty() {
            let (tool, part) = open.swap_remove((*order % open.len() as u64) as usize);
            *order /= 3;
            let content = json!([{"type": "tool_result", "tool_use_id": tool, "content": "r"}]);
            last = self.row(json!({"type": "user", "message": {"content": content}}), Some(part));
            self.seen.push(format!("Tool {last} T#{tool}: r"));
        }
        last
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Turn { calls, order, between } => self.turn(calls, order, between),
            Step::Rewind(count) => {
                let at = self.turns.len().saturating_sub(count);
                if let Some((tip, seen)) = self.turns.get(at).cloned() {
                    self.turns.truncate(at);
                    self.seen.truncate(seen);
                    self.tip = tip;
                    // Nothing is written until the next prompt.
                    self.turn(0, 0, false);
                }
            }
            Step::Attachment => {
                let row = json!({"type": "attachment", "attachment": {"type": "date"}});
                self.tip = Some(self.row(row, self.tip.clone()));
            }
            Step::Stray => {
                self.row(json!({"type": "attachment", "attachment": {"type": "date"}}), Some("r0".to_owned()));
            }
            Step::Compact => {
                let row = json!({"type": "system", "content": "c", "logicalParentUuid": self.tip});
                let uuid = self.row(row, None);
                self.seen.push(format!("System {uuid} c"));
                self.tip = Some(uuid);
            }
        }
    }
}

proptest! {
    #[test]
    fn of_any_conversation_the_current_branch_is_told_in_any_pages(steps in steps()) {
        let mut model = Model::default();
        steps.iter().for_each(|step| model.step(step));
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("11111111-2222-4333-8444-555555555555.jsonl");
        fs::write(&path, model.rows.iter().map(|row| format!("{row}\n")).collect::<String>()).unwrap();
        prop_assert_eq!(told(&whole(&session_at(path))), model.seen);
    }

    #[test]
    fn any_tree_is_survived_and_told_alike_in_any_pages(
        parents in prop::collection::vec((0_usize..12, 0_usize..4), 0..12)
    ) {
        let rows: String = parents.iter().enumerate().map(|(at, (parent, kind))| {
            let parent = (*parent > 0).then(|| format!("r{parent}"));
            let (kind, content) = match kind {
                0 => ("user", json!("p")),
                1 => ("user", json!([{"type": "tool_result", "tool_use_id": "t", "content": "r"}])),
                2 => ("assistant", json!([{"type": "tool_use", "id": "t", "name": "T", "input": {}}])),
                _ => ("attachment", json!(null)),
            };
            let message = json!({"id": "m", "content": content});
            format!("{}\n", json!({"uuid": format!("r{at}"), "parentUuid": parent, "type": kind, "message": message}))
        }).collect();
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("11111111-2222-4333-8444-555555555555.jsonl");
        fs::write(&path, rows).unwrap();
        whole(&session_at(path));
    }
}
