//! `tackroom follow`: a session's messages as they are written.

use super::line::{LINES_OF_TOOL, Line, call, whole};
use super::output::{Colour, Failure, Screen, drain, json_line, note, until_left};
use super::{FAILED, LookArgs, USAGE, live, own_config, reference, words};
use crate::platform::stdio::Output;
use crate::protocol::{
    Block, FollowParams, LoadParams, Message, Notification, Problem, Role, SessionEvent, SessionEventParams,
};
use crate::service::{Local, User};
use clap::Args;
use std::process::ExitCode;
use tokio::sync::mpsc;

/// How many of the last messages of a rewritten session are shown at least.
const REWRITTEN_TAIL: u32 = 10;

#[derive(Args)]
pub(super) struct FollowArgs {
    /// Session: an id, its first 4 or more characters, a name, or words of its title
    id: String,
    /// Number of existing messages to print first
    #[arg(long, value_name = "N", default_value_t = 10)]
    tail: u32,
    /// Print each message as one line of JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    look: LookArgs,
}

pub(super) fn run(args: &FollowArgs) -> Result<ExitCode, Failure> {
    let mut local = Local::new(own_config(&args.look))?;
    let told = local.notifications().ok_or_else(|| Failure::new(USAGE, "followed already"))?;
    let (entry, _) = reference::find(&local, &args.id)?;
    // A runtime's own id is gone with the runtime.
    let id = entry.persisted_id.clone().unwrap_or(entry.id);
    let user = local.user();
    local.wait(until_left(async |output| {
        let (out, screen) = (Vec::new(), Screen::of_stdout());
        Follow { args, user, id, screen, has_shown: false, out, output }.run(told).await
    }))
}

struct Follow<'a> {
    args: &'a FollowArgs,
    user: User,
    id: String,
    screen: Screen,
    /// Whether a message was shown.
    has_shown: bool,
    /// Bytes on their way out.
    out: Vec<u8>,
    output: Output,
}

impl Follow<'_> {
    async fn run(mut self, mut told: mpsc::Receiver<Notification>) -> Result<ExitCode, Failure> {
        let followed = self.user.follow(FollowParams { id: self.id.clone() }).await.map_err(live::failure)?;
        self.print(&[Line::note(&opening(&self.id, followed.session.title.as_deref()))]);
        self.load(followed.cursor, self.args.tail).await?;
        loop {
            drain(&mut self.output, &mut self.out).await?;
            let Some(told) = told.recv().await else {
                return Err(Failure::new(FAILED, "the server stopped sending events"));
            };
            let told: SessionEventParams = serde_json::from_str(told.params.get())?;
            match told.event {
                SessionEvent::Appended { messages } => self.messages(&messages)?,
                SessionEvent::Rewritten { cursor } => {
                    // A session that nobody had written to has its first messages.
                    if self.has_shown {
                        self.say("the transcript was rewritten; its newest messages are:");
                    }
                    // Some of it is new, and which is not known.
                    self.load(cursor, self.args.tail.max(REWRITTEN_TAIL)).await?;
                }
                SessionEvent::Removed => self.say("the session was removed; if it returns, following continues"),
                SessionEvent::Error { problem } => self.trouble(&problem),
            }
        }
    }

    /// The last messages of those that lead up to here.
    async fn load(&mut self, cursor: String, count: u32) -> Result<(), Failure> {
        if count == 0 {
            return Ok(());
        }
        let limit = Some(count.into());
        let params = LoadParams { id: self.id.clone(), cursor: Some(cursor), limit };
        match self.user.load(params).await {
            Ok(page) => {
                page.problems.iter().for_each(|problem| self.trouble(problem));
                self.messages(&page.messages)
            }
            // What has changed since is told.
            Err(error) => {
                self.say(&error.to_string());
                Ok(())
            }
        }
    }

    fn messages(&mut self, messages: &[Message]) -> Result<(), Failure> {
        for message in messages {
            self.has_shown = true;
            if self.args.json {
                self.out.extend_from_slice(json_line(message)?.as_bytes());
            } else {
                self.print(&lines(message, words::now_ms()));
            }
        }
        Ok(())
    }

    fn trouble(&mut self, problem: &Problem) {
        self.say(&problem.message);
    }

    /// Something that is no message.
    fn say(&mut self, text: &str) {
        if self.args.json {
            note(&format!("tackroom: {}", Line::note(text).text));
        }
        self.print(&[Line::note(text)]);
    }

    fn print(&mut self, lines: &[Line]) {
        if !self.args.json {
            self.out.extend(lines.iter().flat_map(|line| line.shown(&self.screen).into_bytes()));
        }
    }
}

fn opening(id: &str, title: Option<&str>) -> String {
    title.map_or_else(|| format!("following {id}"), |title| format!("following {id}: {title}"))
}

/// Lines of what a harness tells its model.
const LINES_OF_SYSTEM: usize = 2;

/// A message for a person: whose it is and when, then what it says; what tools do is shortened.
fn lines(message: &Message, now_ms: i64) -> Vec<Line> {
    let mut lines: Vec<Line> = message.content.iter().flat_map(|block| said(message.role, block)).collect();
    if !lines.is_empty() {
        let role = match message.role {
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::System => "system",
            Role::Tool => "tool",
        };
        let time = message.timestamp_ms.map(|time| words::clock(now_ms, time) + " ").unwrap_or_default();
        lines.insert(0, Line::new("", Colour::Dim, time + role));
    }
    lines
}

fn said(role: Role, block: &Block) -> Vec<Line> {
    match block {
        Block::Text { text } => match role {
            Role::User => whole("> ", Colour::Bold, text, usize::MAX),
            Role::Assistant => whole("", Colour::None, text, usize::MAX),
            Role::System => whole("-- ", Colour::Dim, text, LINES_OF_SYSTEM),
            Role::Tool => whole("  | ", Colour::Dim, text, LINES_OF_TOOL),
        },
        Block::Thinking { text } => whole("~ ", Colour::Dim, text, LINES_OF_TOOL),
        Block::ToolCall { name, arguments, .. } => {
            let arguments = arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned);
            vec![call(name, &arguments)]
        }
        Block::ToolResult { content, is_error, .. } => {
            let text = content.iter().map(text).collect::<Vec<_>>().join("\n");
            let colour = if *is_error == Some(true) { Colour::Alert } else { Colour::Dim };
            whole("  | ", colour, &text, LINES_OF_TOOL)
        }
        Block::Image { .. } | Block::Other { .. } => vec![Line::note(&text(block))],
    }
}

/// A part of what a tool answered.
fn text(block: &Block) -> String {
    match block {
        Block::Text { text } | Block::Thinking { text } => text.clone(),
        Block::Image { .. } => "[image]".to_owned(),
        Block::ToolCall { name, .. } => format!("[call of {name}]"),
        Block::ToolResult { .. } => "[result]".to_owned(),
        Block::Other { kind, .. } => format!("[{kind}]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn shown(message: Value) -> Vec<String> {
        let message: Message = serde_json::from_value(message).unwrap();
        lines(&message, 0).into_iter().map(|line| format!("{}{}", line.lead, line.text)).collect()
    }

    #[test]
    fn each_role_and_block_has_a_form() {
        let text = |text: &str| json!([{ "type": "text", "text": text }]);
        assert_eq!(shown(json!({ "role": "user", "content": text("Mend\nit\x1b[2J") })), ["user", "> Mend", "  it"]);
        let content = json!([
            { "type": "thinking", "text": "hm" },
            { "type": "text", "text": "I see." },
            { "type": "toolCall", "id": "1", "name": "bash", "arguments": { "command": "ls\n-l" } },
            { "type": "image", "mediaType": "image/png" },
            { "type": "other", "kind": "brand new\x07", "raw": {} },
        ]);
        let expected =
            ["assistant", "~ hm", "I see.", "* bash {\"command\":\"ls\\n-l\"}", "-- [image]", "-- [brand new]"];
        assert_eq!(shown(json!({ "role": "assistant", "content": content })), expected);
        let many: String = (0..20).map(|number| format!("{number}\n")).collect();
        let result = json!([{ "type": "toolResult", "id": "1", "isError": true, "content": text(&many) }]);
        let result = shown(json!({ "role": "tool", "content": result }));
        assert_eq!((result[1].as_str(), result[9].as_str(), result.len()), ("  | 0", "  … 12 more lines", 10));
        assert_eq!(shown(json!({ "role": "system", "content": text(&many) })).len(), 4);
    }

    #[test]
    fn what_says_nothing_is_left_out() {
        assert_eq!(shown(json!({ "role": "assistant", "content": [{ "type": "thinking", "text": "" }] })), [""; 0]);
    }
}
