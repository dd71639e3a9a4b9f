//! The errors of the contract, as JSON.

use serde_json::{Map, Value, json};

#[derive(Clone, Debug)]
pub struct Fault(pub Value);

impl Fault {
    /// An error with a code and a message alone.
    pub fn plain(code: i64, message: impl Into<String>) -> Self {
        Self(json!({ "code": code, "message": message.into() }))
    }

    /// An error with a name.
    pub fn typed(code: i64, name: &str, operation: Option<&str>, message: impl Into<String>) -> Self {
        Self(json!({ "code": code, "name": name, "operation": operation, "message": message.into() }))
    }

    pub fn unauthenticated() -> Self {
        Self::typed(-32030, "unauthenticated", None, "SDK runtime authentication required")
    }

    pub fn unauthorized(permission: &str) -> Self {
        let message = format!("SDK runtime permission `{permission}` is required");
        Self::typed(-32031, "unauthorized", None, message).with("permission", permission)
    }

    pub fn controller_required(holder: &str, expires_at_ms: u64) -> Self {
        let fault = Self::typed(-32032, "controller_required", None, "controller lease required");
        fault.with("holder", holder).with("expiresAtMs", expires_at_ms)
    }

    pub fn lease_expired() -> Self {
        Self::typed(-32033, "lease_expired", None, "controller lease expired")
    }

    pub fn unsupported(code: i64, action: &str) -> Self {
        let message = format!("SDK action `{action}` is not supported by this runtime");
        Self::typed(code, "unsupported_action", Some(action), message)
    }

    fn with(mut self, member: &str, value: impl Into<Value>) -> Self {
        self.0[member] = value.into();
        self
    }

    /// The body of an answer that is this error.
    pub fn answer(self, id: Value) -> Value {
        let mut members = Map::new();
        members.insert("id".to_owned(), id);
        members.insert("error".to_owned(), self.0);
        members.into()
    }
}
