//! Answers, taken apart.

use serde_json::Value;

/// The answer to one request.
pub struct Answer(Value);

/// An error answer.
#[derive(Debug)]
pub struct Failure {
    pub code: i64,
    pub reason: String,
    pub message: String,
    pub data: Value,
}

impl Answer {
    pub fn of(frame: Value) -> Self {
        Self(frame)
    }

    /// The whole message.
    pub fn whole(self) -> Value {
        self.0
    }

    #[track_caller]
    pub fn result(mut self) -> Value {
        assert!(self.0.get("error").is_none(), "an error: {}", self.0);
        self.0["result"].take()
    }

    #[track_caller]
    pub fn error(self) -> Failure {
        let error = self.0.get("error").unwrap_or_else(|| panic!("no error: {}", self.0));
        let text = |value: &Value| value.as_str().expect("a string").to_owned();
        Failure {
            code: error["code"].as_i64().expect("a code"),
            reason: text(&error["data"]["reason"]),
            message: text(&error["message"]),
            data: error["data"].clone(),
        }
    }
}

impl Failure {
    /// Its code and its reason must agree with the table.
    #[track_caller]
    pub fn is(&self, code: i64, reason: &str) -> &Self {
        assert_eq!((self.code, self.reason.as_str()), (code, reason), "{self:?}");
        self
    }
}
