//! The documents about the protocol, made from the method table and the types: JSON Schema, the list of methods,
//! OpenRPC.

use super::errors::errors_of;
use super::{Context, Direction, NOTIFICATIONS, Service, methods};
use crate::protocol::{Empty, PROTOCOL_VERSION, Reason, RequestMeta, RpcError};
use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

/// One real exchange for each method and notification, as the tests recorded it.
const EXAMPLES: &str = include_str!("examples.json");

fn generator(definitions: &'static str) -> SchemaGenerator {
    let mut settings = SchemaSettings::draft07();
    settings.definitions_path = definitions.into();
    settings.meta_schema = None;
    settings.into_generator()
}

/// Makes the schemas of both directions. What the server sends never holds `null` for what it leaves out; what it reads
/// may.
struct Generators {
    input: SchemaGenerator,
    output: SchemaGenerator,
}

impl Generators {
    fn new(definitions: &'static str) -> Self {
        Self { input: generator(definitions), output: generator(definitions) }
    }

    fn of(&mut self, direction: Direction) -> &mut SchemaGenerator {
        match direction {
            Direction::FromClient => &mut self.input,
            Direction::FromServer => &mut self.output,
        }
    }

    /// The definitions of both. A type that goes both ways has no member that may be left out.
    fn definitions(mut self) -> Map<String, Value> {
        let mut output = self.output.take_definitions(true);
        output.values_mut().for_each(without_null);
        output.extend(self.input.take_definitions(true));
        output
    }
}

/// Takes `null` out of what may be something else.
fn without_null(schema: &mut Value) {
    let is_null = |kind: &Value| *kind == json!("null") || *kind == json!({ "type": "null" });
    match schema {
        Value::Array(items) => items.iter_mut().for_each(without_null),
        Value::Object(members) => {
            if let Some(Value::Array(kinds)) = members.get_mut("type") {
                kinds.retain(|kind| !is_null(kind));
                if let [only] = &kinds[..] {
                    let only = only.clone();
                    members.insert("type".to_owned(), only);
                }
            }
            if let Some(Value::Array(kinds)) = members.get_mut("anyOf") {
                kinds.retain(|kind| !is_null(kind));
                if let [Value::Object(only)] = &kinds[..] {
                    let only = only.clone();
                    members.remove("anyOf");
                    members.extend(only);
                }
            }
            members.values_mut().for_each(without_null);
        }
        _ => {}
    }
}

/// Every type of the protocol as JSON Schema; `methods` and `notifications` name the ones of each.
pub fn schema() -> Value {
    let mut generators = Generators::new("/definitions");
    let requests: Map<String, Value> = methods()
        .iter()
        .map(|method| {
            let (params, result) = ((method.params)(&mut generators.input), (method.result)(&mut generators.output));
            (method.name.to_owned(), json!({ "params": params, "result": result }))
        })
        .collect();
    let notices: Map<String, Value> = NOTIFICATIONS
        .iter()
        .map(|notice| (notice.name.to_owned(), json!({ "params": (notice.params)(generators.of(notice.direction)) })))
        .collect();
    generators.input.subschema_for::<RequestMeta>();
    let mut definitions = generators.definitions();
    definitions.insert("Error".to_owned(), error_schema());
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Tackroom protocol",
        "protocolVersion": PROTOCOL_VERSION,
        "methods": requests,
        "notifications": notices,
        "definitions": definitions,
    })
}

fn error_schema() -> Value {
    json!({
        "description": "A JSON-RPC error object. `data.reason` is a stable identifier for programs.",
        "type": "object",
        "required": ["code", "message", "data"],
        "properties": {
            "code": { "type": "integer", "enum": Reason::ALL.iter().map(|reason| reason.code()).collect::<Vec<_>>() },
            "message": { "type": "string" },
            "data": {
                "type": "object",
                "required": ["reason"],
                "properties": { "reason": { "enum": Reason::ALL.iter().map(|reason| reason.word()).collect::<Vec<_>>() } },
            },
        },
    })
}

/// The names: methods with their permissions, notifications by direction, errors.
pub fn meta() -> Value {
    let notices = |direction| -> Vec<&str> {
        NOTIFICATIONS.iter().filter(|notice| notice.direction == direction).map(|notice| notice.name).collect()
    };
    let requests: Map<String, Value> =
        methods().iter().map(|m| (m.name.to_owned(), json!({ "permissions": m.permissions }))).collect();
    let errors: Vec<Value> = Reason::ALL
        .iter()
        .map(|reason| json!({ "reason": reason.word(), "code": reason.code(), "meaning": reason.meaning() }))
        .collect();
    json!({
        "version": PROTOCOL_VERSION,
        "methods": requests,
        "clientNotifications": notices(Direction::FromClient),
        "serverNotifications": notices(Direction::FromServer),
        "errors": errors,
    })
}

/// The OpenRPC document.
pub fn openrpc() -> Value {
    let mut generators = Generators::new("/components/schemas");
    let recorded: Value = serde_json::from_str(EXAMPLES).unwrap_or_default();
    let mut rows: Vec<Value> = methods()
        .iter()
        .map(|method| {
            let result = (method.result)(&mut generators.output);
            json!({
                "name": method.name,
                "summary": method.summary,
                "paramStructure": "by-name",
                "params": params_by_name(&(method.params)(&mut generators.input), &generators.input),
                "result": { "name": "result", "schema": result },
                "errors": errors_of(method).into_iter().map(error_ref).collect::<Vec<_>>(),
                "examples": examples(method.name, &recorded),
                "x-permissions": method.permissions,
            })
        })
        .collect();
    rows.extend(NOTIFICATIONS.iter().map(|notice| {
        let generator = generators.of(notice.direction);
        let params = (notice.params)(generator);
        json!({
            "name": notice.name,
            "summary": notice.summary,
            "paramStructure": "by-name",
            "params": params_by_name(&params, generator),
            "examples": examples(notice.name, &recorded),
            "x-notification": match notice.direction {
                Direction::FromClient => "client",
                Direction::FromServer => "server",
            },
        })
    }));
    generators.input.subschema_for::<Empty>();
    generators.input.subschema_for::<RequestMeta>();
    let errors: Map<String, Value> = Reason::ALL
        .iter()
        .map(|reason| {
            let error = json!({
                "code": reason.code(),
                "message": reason.meaning(),
                "data": { "reason": reason.word() },
            });
            (reason.word().to_owned(), error)
        })
        .collect();
    json!({
        "openrpc": "1.3.2",
        "info": {
            "title": "Tackroom",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Lists, watches, attaches to and messages coding-agent sessions on this machine, over stdio.",
            "license": { "name": "MIT OR Apache-2.0" },
        },
        "methods": rows,
        "components": { "schemas": generators.definitions(), "errors": errors },
    })
}

fn error_ref(reason: Reason) -> Value {
    json!({ "$ref": format!("#/components/errors/{}", reason.word()) })
}

/// What was recorded of a method or notification, in the form of OpenRPC.
fn examples(name: &str, recorded: &Value) -> Vec<Value> {
    let Some(example) = recorded.get(name) else { return Vec::new() };
    let members = example["params"].as_object().into_iter().flatten();
    let params: Vec<Value> = members.map(|(name, value)| json!({ "name": name, "value": value })).collect();
    let mut pairing = json!({ "name": name, "params": params });
    if let Some(result) = example.get("result") {
        pairing["result"] = json!({ "name": "result", "value": result });
    }
    vec![pairing]
}

/// The members of a params type, as OpenRPC lists them.
fn params_by_name(schema: &Schema, generator: &SchemaGenerator) -> Vec<Value> {
    let name = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next());
    let Some(object) = name.and_then(|name| generator.definitions().get(name)) else { return Vec::new() };
    let required: Vec<&str> = object["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let Some(members) = object["properties"].as_object() else { return Vec::new() };
    let mut params: Vec<Value> = members
        .iter()
        .map(|(name, schema)| {
            let mut param = json!({ "name": name, "required": required.contains(&name.as_str()), "schema": schema });
            if let Some(description) = schema.get("description") {
                param["description"] = description.clone();
            }
            param
        })
        .collect();
    // OpenRPC wants required members first.
    params.sort_by_key(|param| param["required"] != json!(true));
    params
}

pub(super) fn discover(_: &Service, _: &Context, _: Empty) -> Result<Value, RpcError> {
    Ok(openrpc())
}
