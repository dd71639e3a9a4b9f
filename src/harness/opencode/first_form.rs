//! Messages of the second engine in the form of the first.

use serde_json::{Value, json};

/// A message's record and its parts, in the form of the first engine.
pub(super) fn in_first_form(kind: &str, mut data: Value) -> (Value, Vec<Value>) {
    let mut record = json!({"role": kind, "time": data["time"].take()});
    let said = |text: &mut Value| text.is_string().then(|| json!({"type": "text", "text": text.take()}));
    let parts = match kind {
        "user" | "system" => said(&mut data["text"]).into_iter().chain(files(&mut data)).collect(),
        "compaction" => said(&mut data["summary"]).into_iter().collect(),
        "assistant" => {
            record["modelID"] = data["model"]["id"].take();
            if !data["error"].is_null() {
                record["error"] = data["error"].take();
            }
            let content = data["content"].as_array_mut().map(std::mem::take);
            content.unwrap_or_default().into_iter().map(part).collect()
        }
        _ => {
            data["type"] = kind.into();
            vec![data]
        }
    };
    (record, parts)
}

fn files(data: &mut Value) -> Vec<Value> {
    let files = data["files"].as_array_mut().map(std::mem::take).unwrap_or_default();
    let file = |mut file: Value| json!({"type": "file", "mime": file["mime"].take(), "url": file["uri"].take(), "filename": file["name"].take()});
    files.into_iter().filter(Value::is_object).map(file).collect()
}

fn part(mut part: Value) -> Value {
    if part["type"] != "tool" {
        return part;
    }
    json!({"type": "tool", "callID": part["id"].take(), "tool": part["name"].take(), "state": part["state"].take()})
}
