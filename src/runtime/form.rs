//! A form that an agent asks a person to fill in: the flat JSON Schema of ACP's and MCP's elicitation.

use jiff::Timestamp;
use jiff::civil::Date;
use regex_lite::Regex;
use serde_json::{Map, Number, Value};

/// The fields of a form, in the order in which the agent lists them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Form {
    fields: Vec<Field>,
}

/// One field of a form.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The key of its value in the answer.
    pub name: String,
    /// Its label: its title, else its name.
    pub label: String,
    /// What is asked, where the agent says more than the label.
    pub description: Option<String>,
    /// Whether an answer without it is invalid.
    pub required: bool,
    kind: Kind,
    /// Whether it takes a free text in place of a choice of the field before it (see [`Form::questions`]).
    is_other: bool,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Text {
        length: Range,
        pattern: Option<String>,
        format: Option<String>,
    },
    Number {
        range: Range,
        is_integer: bool,
    },
    Boolean,
    One(Vec<Choice>),
    Many {
        choices: Vec<Choice>,
        count: Range,
    },
    /// A type that is not known here. The agent judges its values.
    Unknown,
}

/// One of several values that a field takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The value.
    pub value: String,
    /// What a person reads.
    pub title: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Range {
    min: Option<f64>,
    max: Option<f64>,
}

impl Range {
    fn of(schema: &Value, min: &str, max: &str) -> Self {
        Self { min: schema[min].as_f64(), max: schema[max].as_f64() }
    }

    fn check(self, number: f64, what: &str) -> Result<(), String> {
        match (self.min, self.max) {
            (Some(min), _) if number < min => Err(format!("must have {what} {min} or more")),
            (_, Some(max)) if number > max => Err(format!("must have {what} {max} or less")),
            _ => Ok(()),
        }
    }
}

impl Form {
    /// The form of a schema. What the schema does not say in a known way is not checked.
    pub fn of(schema: &Value) -> Self {
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let mut fields: Vec<Field> = Vec::new();
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let mut field = Field::of(name, property, required.contains(&name.as_str()));
            let question = fields.iter().rev().find(|field| !field.is_other);
            field.is_other = question.is_some_and(|question| field.completes(question));
            fields.push(field);
        }
        // A required value that no property describes is required all the same.
        let undescribed = required.iter().filter(|name| schema["properties"].get(**name).is_none());
        fields.extend(undescribed.map(|name| Field::of(name, &Value::Null, true)));
        Self { fields }
    }

    /// The names of all fields, in order.
    pub fn field_names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|field| field.name.as_str())
    }

    /// The fields that a person is asked for. A free text field that belongs to the choice before it is not asked for by
    /// itself: what is no choice goes there. Claude Code's adapter has one for each question (`question_0_custom`).
    pub fn questions(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(|field| !field.is_other)
    }

    /// The value that a text gives to one of the [questions](Form::questions), under the key that takes it.
    ///
    /// # Errors
    /// Why no field takes the text.
    pub fn read<'a>(&'a self, question: &'a Field, text: &str) -> Result<(&'a str, Value), String> {
        let mut rest = self.fields.iter().skip_while(|field| field.name != question.name).skip(1);
        match (question.read(text), rest.next().filter(|field| field.is_other)) {
            (Ok(value), _) => Ok((&question.name, value)),
            (Err(_), Some(other)) => Ok((&other.name, other.read(text)?)),
            (Err(why), None) => Err(why),
        }
    }

    /// An answer as the agent takes it: an object, the value of the only question, or a text with the answers to all
    /// questions, `;` between them.
    ///
    /// # Errors
    /// What is wrong with the answer.
    pub fn complete(&self, answer: Option<&Value>) -> Result<Map<String, Value>, String> {
        let content = match answer {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(content)) => content.clone(),
            Some(answer) => self.typed(answer)?,
        };
        self.check(&content)?;
        Ok(content)
    }

    fn typed(&self, answer: &Value) -> Result<Map<String, Value>, String> {
        let questions: Vec<&Field> = self.questions().collect();
        let text = answer.as_str().map_or_else(|| answer.to_string(), str::to_owned);
        let parts: Vec<&str> = match questions.as_slice() {
            [question] if !answer.is_string() && question.check(answer).is_ok() => {
                return Ok(Map::from_iter([(question.name.clone(), answer.clone())]));
            }
            [_] => vec![&text],
            _ => text.split(';').map(str::trim).collect(),
        };
        if parts.len() != questions.len() {
            let count = questions.len();
            return Err(format!(
                "the form has {count} questions: answer all with `;` between, or give {}",
                self.names()
            ));
        }
        let given = questions.into_iter().zip(parts).filter(|(_, part)| !part.is_empty());
        let read = |(question, part)| self.read(question, part).map(|(name, value)| (name.to_owned(), value));
        given.map(read).collect()
    }

    fn check(&self, content: &Map<String, Value>) -> Result<(), String> {
        if let Some(unknown) = content.keys().find(|name| self.fields.iter().all(|field| field.name != **name)) {
            return Err(format!("the form has no field {unknown:?}; it has {}", self.names()));
        }
        for field in &self.fields {
            match content.get(&field.name) {
                Some(value) => field.check(value).map_err(|why| format!("{}: {why}", field.name))?,
                None if field.required => return Err(format!("{} is required", field.name)),
                None => {}
            }
        }
        Ok(())
    }

    fn names(&self) -> String {
        let names: Vec<&str> = self.fields.iter().map(|field| field.name.as_str()).collect();
        if names.is_empty() { "no fields".to_owned() } else { names.join(", ") }
    }
}

impl Field {
    fn of(name: &str, schema: &Value, required: bool) -> Self {
        let text = |name: &str| schema[name].as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned);
        let kind = match schema["type"].as_str().unwrap_or_default() {
            "string" => match choices(schema) {
                Some(choices) => Kind::One(choices),
                None => Kind::Text {
                    length: Range::of(schema, "minLength", "maxLength"),
                    pattern: text("pattern"),
                    format: text("format"),
                },
            },
            kind @ ("number" | "integer") => {
                Kind::Number { range: Range::of(schema, "minimum", "maximum"), is_integer: kind == "integer" }
            }
            "boolean" => Kind::Boolean,
            "array" => Kind::Many {
                choices: choices(&schema["items"]).unwrap_or_default(),
                count: Range::of(schema, "minItems", "maxItems"),
            },
            _ => Kind::Unknown,
        };
        let label = text("title").unwrap_or_else(|| name.to_owned());
        Self { name: name.to_owned(), label, description: text("description"), required, kind, is_other: false }
    }

    /// Whether this takes a free text in place of a choice of `question`.
    fn completes(&self, question: &Self) -> bool {
        let is_choice = matches!(question.kind, Kind::One(_) | Kind::Many { .. });
        let rest = self.name.strip_prefix(&question.name);
        is_choice
            && !self.required
            && matches!(self.kind, Kind::Text { .. })
            && rest.is_some_and(|rest| rest.starts_with('_'))
    }

    /// What a person reads of it: what is asked, then the values that it takes.
    pub fn lines(&self) -> Vec<String> {
        let optional = if self.required { "" } else { " (optional)" };
        let what = self.description.as_ref().map_or_else(String::new, |description| format!(" - {description}"));
        let choices = self.choices().iter().enumerate().map(|(at, choice)| format!("  {}. {}", at + 1, choice.title));
        std::iter::once(format!("{}{optional}{what}", self.label)).chain(choices).collect()
    }

    /// The values that it takes, where these are listed.
    fn choices(&self) -> &[Choice] {
        match &self.kind {
            Kind::One(choices) | Kind::Many { choices, .. } => choices,
            _ => &[],
        }
    }

    /// What is typed for it, in a few words.
    pub fn hint(&self) -> &'static str {
        match self.kind {
            Kind::One(_) => "a number or a name",
            Kind::Many { .. } => "numbers or names with commas between",
            Kind::Number { is_integer: true, .. } => "a whole number",
            Kind::Number { .. } => "a number",
            Kind::Boolean => "yes or no",
            Kind::Text { .. } | Kind::Unknown => "a text",
        }
    }

    fn read(&self, text: &str) -> Result<Value, String> {
        let text = text.trim();
        let value = match &self.kind {
            Kind::Text { .. } | Kind::Unknown => Value::from(text),
            Kind::Number { .. } => {
                let whole = text.parse().ok().map(|number: i64| Number::from(number));
                let number = whole.or_else(|| Number::from_f64(text.parse().ok()?));
                number.map(Value::Number).ok_or_else(|| "must be a number".to_owned())?
            }
            Kind::Boolean => match text.to_lowercase().as_str() {
                "yes" | "y" | "true" => Value::Bool(true),
                "no" | "n" | "false" => Value::Bool(false),
                _ => return Err("must be yes or no".to_owned()),
            },
            Kind::One(choices) => Value::from(chosen(choices, text)?),
            // A name may hold a comma.
            Kind::Many { choices, .. } => match chosen(choices, text) {
                Ok(one) => Value::from(vec![one]),
                Err(_) => {
                    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
                    parts.map(|part| chosen(choices, part).map(Value::from)).collect::<Result<Vec<_>, _>>()?.into()
                }
            },
        };
        self.check(&value)?;
        Ok(value)
    }

    fn check(&self, value: &Value) -> Result<(), String> {
        match &self.kind {
            Kind::Text { length, pattern, format } => {
                let text = value.as_str().ok_or("must be a text")?;
                length.check(text.chars().count() as f64, "a length of")?;
                if let Some(format) = format.as_deref().filter(|format| !fits(format, text)) {
                    return Err(format!("must have the format {format}"));
                }
                // A pattern that is not understood here is for the agent to judge.
                let pattern = pattern.as_ref().and_then(|pattern| Regex::new(pattern).ok());
                match pattern.filter(|pattern| !pattern.is_match(text)) {
                    Some(pattern) => Err(format!("must match {pattern}")),
                    None => Ok(()),
                }
            }
            Kind::Number { range, is_integer } => {
                let number = value.as_f64().ok_or("must be a number")?;
                if *is_integer && number.fract() != 0.0 {
                    return Err("must be a whole number".to_owned());
                }
                range.check(number, "a value of")
            }
            Kind::Boolean if value.is_boolean() => Ok(()),
            Kind::Boolean => Err("must be true or false".to_owned()),
            Kind::One(choices) => listed(choices, value),
            Kind::Many { choices, count } => {
                let values = value.as_array().ok_or("must be a list")?;
                count.check(values.len() as f64, "a count of")?;
                values.iter().try_for_each(|value| listed(choices, value))
            }
            Kind::Unknown if value.is_object() || value.is_null() => Err("must be a plain value".to_owned()),
            Kind::Unknown => Ok(()),
        }
    }
}

/// The values that a schema lists: plain, or with titles; `None` where it lists none.
fn choices(schema: &Value) -> Option<Vec<Choice>> {
    let titled = |options: &Vec<Value>| -> Vec<Choice> {
        let one = |option: &Value| {
            let value = option["const"].as_str()?.to_owned();
            let title = option["title"].as_str().unwrap_or(&value).to_owned();
            Some(Choice { value, title })
        };
        options.iter().filter_map(one).collect()
    };
    if let Some(options) = schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array()) {
        return Some(titled(options));
    }
    let values = schema["enum"].as_array()?.iter().filter_map(Value::as_str);
    let title = |at: usize| schema["enumNames"][at].as_str();
    let one =
        |(at, value): (usize, &str)| Choice { value: value.to_owned(), title: title(at).unwrap_or(value).to_owned() };
    Some(values.enumerate().map(one).collect())
}

/// The value that a text stands for: it, its title, or its number in the list.
fn chosen(choices: &[Choice], text: &str) -> Result<String, String> {
    if choices.is_empty() {
        return Ok(text.to_owned());
    }
    let is = |word: &str| word.to_lowercase() == text.to_lowercase();
    let exact = choices.iter().find(|choice| choice.value == text || choice.title == text);
    let same = || choices.iter().find(|choice| is(&choice.value) || is(&choice.title));
    let numbered = || choices.get(text.parse::<usize>().ok()?.checked_sub(1)?);
    let choice = exact.or_else(same).or_else(numbered).ok_or_else(|| one_of(choices))?;
    Ok(choice.value.clone())
}

fn listed(choices: &[Choice], value: &Value) -> Result<(), String> {
    let value = value.as_str().ok_or("must be a text")?;
    if choices.is_empty() || choices.iter().any(|choice| choice.value == value) { Ok(()) } else { Err(one_of(choices)) }
}

fn one_of(choices: &[Choice]) -> String {
    let values: Vec<String> = choices.iter().map(|choice| format!("{:?}", choice.value)).collect();
    format!("must be one of {}", values.join(", "))
}

/// Whether a text has a format that JSON Schema names. One that is not known here is for the agent to judge.
fn fits(format: &str, text: &str) -> bool {
    match format {
        "email" => {
            text.split_once('@').is_some_and(|(name, host)| !name.is_empty() && !host.is_empty() && !host.contains('@'))
        }
        "uri" => text.split_once(':').is_some_and(|(scheme, rest)| {
            let is_scheme = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
            !scheme.is_empty()
                && scheme.bytes().all(is_scheme)
                && !rest.is_empty()
                && !rest.contains(char::is_whitespace)
        }),
        "date" => text.len() == "2026-01-31".len() && text.parse::<Date>().is_ok(),
        "date-time" => text.parse::<Timestamp>().is_ok(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// As Claude Code's adapter 0.49.0 asks for two questions of `AskUserQuestion`.
    fn two_questions() -> Form {
        let option = |label: &str, what: &str| json!({ "const": label, "title": format!("{label} — {what}") });
        let other = json!({ "type": "string", "title": "Other" });
        Form::of(&json!({ "type": "object", "properties": {
            "question_0": { "type": "string", "title": "Colour", "oneOf": [option("Red", "warm"), option("Blue", "cold")] },
            "question_0_custom": other,
            "question_1": { "type": "array", "items": { "anyOf": [option("A", "one"), option("B", "two")] } },
            "question_1_custom": other,
        }}))
    }

    fn one(schema: Value) -> Form {
        Form::of(&json!({ "properties": { "x": schema }, "required": ["x"] }))
    }

    #[test]
    fn text_becomes_value_of_field_that_takes_it() {
        let form = two_questions();
        let questions: Vec<&Field> = form.questions().collect();
        assert_eq!(questions.iter().map(|field| field.label.as_str()).collect::<Vec<_>>(), ["Colour", "question_1"]);
        let read = |at: usize, text: &str| form.read(questions[at], text);
        for text in ["Red", "red", "1", "Red — warm"] {
            assert_eq!(read(0, text), Ok(("question_0", json!("Red"))), "{text}");
        }
        assert_eq!(read(0, "Purple"), Ok(("question_0_custom", json!("Purple"))));
        assert_eq!(read(1, "2, a"), Ok(("question_1", json!(["B", "A"]))));
        assert_eq!(read(1, "A, C"), Ok(("question_1_custom", json!("A, C"))));
    }

    #[test]
    fn answer_is_checked_against_schema() {
        let object = |value: Value| json!({ "x": value });
        for (schema, good, bad) in [
            (json!({ "type": "string", "enum": ["a", "b"] }), json!("a"), json!("c")),
            (json!({ "type": "string", "oneOf": [{ "const": "a", "title": "A" }] }), json!("a"), json!("A")),
            (json!({ "type": "string", "minLength": 2 }), json!("hä"), json!("h")),
            (json!({ "type": "string", "maxLength": 2 }), json!("hä"), json!("häh")),
            (json!({ "type": "string", "pattern": "^v[0-9]+$" }), json!("v1"), json!("x1")),
            (json!({ "type": "string", "format": "email" }), json!("a@b"), json!("a")),
            (json!({ "type": "string", "format": "uri" }), json!("https://a.invalid/x"), json!("no address")),
            (json!({ "type": "string", "format": "date" }), json!("2026-02-28"), json!("2026-02-30")),
            (json!({ "type": "string", "format": "date-time" }), json!("2026-02-28T10:00:00Z"), json!("2026-02-28")),
            (json!({ "type": "string" }), json!(""), json!(1)),
            (json!({ "type": "integer", "minimum": 1, "maximum": 3 }), json!(3), json!(4)),
            (json!({ "type": "integer" }), json!(1.0), json!(1.5)),
            (json!({ "type": "number", "minimum": 0.5 }), json!(0.5), json!(0.4)),
            (json!({ "type": "boolean" }), json!(false), json!("false")),
            (json!({ "type": "array", "items": { "enum": ["a", "b"] } }), json!(["a"]), json!(["c"])),
            (json!({ "type": "array", "minItems": 1, "items": { "enum": ["a"] } }), json!(["a"]), json!([])),
            (json!({ "type": "of the future" }), json!([1]), json!({})),
        ] {
            let form = one(schema.clone());
            assert_eq!(form.complete(Some(&object(good.clone()))).map(Value::Object), Ok(object(good)), "{schema}");
            assert!(form.complete(Some(&object(bad))).is_err(), "{schema}");
        }
    }

    #[test]
    fn missing_and_unknown_fields_are_refused() {
        let form = one(json!({ "type": "string" }));
        assert_eq!(form.complete(Some(&json!({}))), Err("x is required".to_owned()));
        assert_eq!(form.complete(None), Err("x is required".to_owned()));
        let undescribed = Form::of(&json!({ "properties": { "x": { "type": "string" } }, "required": ["y"] }));
        assert_eq!(undescribed.complete(Some(&json!({ "x": "1" }))), Err("y is required".to_owned()));
        assert!(undescribed.complete(Some(&json!({ "y": 1 }))).is_ok());
        let unknown = form.complete(Some(&json!({ "x": "a", "y": "b" })));
        assert_eq!(unknown, Err("the form has no field \"y\"; it has x".to_owned()));
        assert_eq!(two_questions().complete(None), Ok(Map::new()));
    }

    #[test]
    fn form_with_one_question_takes_plain_value() {
        let complete =
            |schema: Value, answer: Value| one(schema).complete(Some(&answer)).map(|content| content["x"].clone());
        assert_eq!(complete(json!({ "type": "integer" }), json!("8080")), Ok(json!(8080)));
        assert_eq!(complete(json!({ "type": "integer" }), json!(8080)), Ok(json!(8080)));
        assert_eq!(complete(json!({ "type": "string" }), json!(8080)), Ok(json!("8080")));
        assert_eq!(complete(json!({ "type": "boolean" }), json!("yes")), Ok(json!(true)));
        assert_eq!(complete(json!({ "type": "string", "enum": ["a", "b"] }), json!("2")), Ok(json!("b")));
        assert!(complete(json!({ "type": "integer" }), json!("many")).is_err());
        let several = two_questions();
        let one = several.complete(Some(&json!("Red"))).unwrap_err();
        assert!(one.contains("2 questions") && one.contains("question_0"), "{one}");
        let both = Value::Object(several.complete(Some(&json!("Red; 1, 2"))).unwrap());
        assert_eq!(both, json!({ "question_0": "Red", "question_1": ["A", "B"] }));
        let second = Value::Object(several.complete(Some(&json!("; none of these"))).unwrap());
        assert_eq!(second, json!({ "question_1_custom": "none of these" }));
    }
}
