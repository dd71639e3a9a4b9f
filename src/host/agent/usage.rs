//! What a session has used. Agents report it in several places: `usage_update` (the context and the cost of the session),
//! `usage` in the response to a prompt (OpenCode 1.18, Codex's adapter 2.6, Claude Code's 0.49, Copilot 1.0), `_meta.quota` in
//! the same response (Gemini CLI 0.61), or `_meta.usage` of a piece of a message (Qwen Code 0.15).
//!
//! ACP describes the `usage` of a response as that of all turns. All these agents report that of the turn, so turns are added.

use serde::Serialize;
use serde_json::Value;

/// Tokens and cost. What the agent does not report is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    #[serde(skip_serializing_if = "Option::is_none")]
    input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_read_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_write_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_usd: Option<f64>,
}

impl Usage {
    /// Takes in a `usage_update`.
    pub(super) fn update(&mut self, sent: &Value) {
        self.context_tokens = sent["used"].as_u64().or(self.context_tokens);
        let cost = Some(&sent["cost"]).filter(|cost| cost["currency"] == "USD");
        self.cost_usd = cost.and_then(|cost| cost["amount"].as_f64()).or(self.cost_usd);
    }

    /// What a piece of a message reports, if anything.
    pub(super) fn of_piece(sent: &Value) -> Self {
        Self::of(&sent["_meta"]["usage"], false)
    }

    /// What the response to a prompt reports, if anything.
    pub(super) fn of_turn(answer: &Value) -> Self {
        let known = Self::of(&answer["usage"], false);
        if known == Self::default() { Self::of(&answer["_meta"]["quota"]["token_count"], true) } else { known }
    }

    fn of(sent: &Value, is_snake: bool) -> Self {
        let number = |camel: &str, snake: &str| sent[if is_snake { snake } else { camel }].as_u64();
        Self {
            input_tokens: number("inputTokens", "input_tokens"),
            output_tokens: number("outputTokens", "output_tokens"),
            cache_read_tokens: number("cachedReadTokens", "cached_tokens"),
            cache_write_tokens: number("cachedWriteTokens", "cache_write_tokens"),
            reasoning_tokens: number("thoughtTokens", "thought_tokens"),
            ..Self::default()
        }
    }

    /// Adds what was used besides.
    pub(super) fn add(&mut self, more: &Self) {
        let add = |known: &mut Option<u64>, more: Option<u64>| {
            *known = more.map_or(*known, |more| Some(known.unwrap_or_default().saturating_add(more)));
        };
        add(&mut self.input_tokens, more.input_tokens);
        add(&mut self.output_tokens, more.output_tokens);
        add(&mut self.cache_read_tokens, more.cache_read_tokens);
        add(&mut self.cache_write_tokens, more.cache_write_tokens);
        add(&mut self.reasoning_tokens, more.reasoning_tokens);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn turns_are_added_and_session_values_replaced() {
        let mut usage = Usage::default();
        usage.update(&json!({ "used": 100, "size": 128000, "cost": { "amount": 0.5, "currency": "USD" } }));
        usage.update(&json!({ "used": 120, "size": 128000, "cost": { "amount": 9, "currency": "EUR" } }));
        let turn =
            Usage::of_turn(&json!({ "usage": { "inputTokens": 200, "outputTokens": 24, "cachedReadTokens": 7 } }));
        usage.add(&turn);
        usage.add(&turn);
        let expected = json!({ "inputTokens": 400, "outputTokens": 48, "cacheReadTokens": 14, "contextTokens": 120, "costUsd": 0.5 });
        assert_eq!(serde_json::to_value(&usage).unwrap(), expected);
    }

    #[test]
    fn extensions_of_agents_are_read() {
        let gemini = json!({ "_meta": { "quota": { "token_count": { "input_tokens": 100, "output_tokens": 10 } } } });
        let qwen = json!({ "_meta": { "usage": { "inputTokens": 100, "outputTokens": 10, "thoughtTokens": 0 } } });
        let (gemini, qwen) = (Usage::of_turn(&gemini), Usage::of_piece(&qwen));
        assert_eq!(serde_json::to_value(gemini).unwrap(), json!({ "inputTokens": 100, "outputTokens": 10 }));
        assert_eq!(qwen.reasoning_tokens, Some(0));
        assert_eq!(Usage::of_turn(&json!({ "stopReason": "end_turn" })), Usage::default());
    }
}
