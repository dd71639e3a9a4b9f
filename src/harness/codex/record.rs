//! The lines of a rollout, in every generation of the format.
//!
//! The oldest files hold bare response items; all later ones wrap each record in `{timestamp, type, payload}`. A message
//! is told in up to two of three families: as the item that went to the model, and for people as an event, which
//! newer versions write as a completed item.

use crate::harness::{ids, text};
use crate::protocol::{Parent, Relation, Role};
use memchr::memmem::Finder;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::sync::LazyLock;

/// What the lines that matter contain, to leave the others unparsed.
pub(super) struct Needles {
    /// A message, of any family.
    pub message: Finder<'static>,
    /// What a turn runs with.
    pub turn: Finder<'static>,
    /// A turn that began.
    pub started: Finder<'static>,
    /// A turn that began or was completed.
    pub task: Finder<'static>,
    /// A turn that was cut short.
    pub aborted: Finder<'static>,
    /// What went to the model or came back.
    pub response: Finder<'static>,
    /// Turns that were taken back.
    pub rolled_back: Finder<'static>,
}

/// See [`Needles`].
pub(super) static NEEDLES: LazyLock<Needles> = LazyLock::new(|| Needles {
    message: Finder::new("essage\""),
    turn: Finder::new("\"turn_context\""),
    started: Finder::new("_started\""),
    task: Finder::new("\"task_"),
    aborted: Finder::new("\"turn_aborted\""),
    response: Finder::new("\"response_item\""),
    rolled_back: Finder::new("\"thread_rolled_back\""),
});

/// One line.
#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub(super) struct Record<'a> {
    #[serde(default)]
    timestamp: Option<&'a RawValue>,
    #[serde(default)]
    ordinal: Option<&'a RawValue>,
    #[serde(default, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(default)]
    payload: Option<Payload<'a>>,
    #[serde(skip)]
    bare: bool,
}

/// What a record is about: the members of all kinds together.
#[derive(Default, Deserialize)]
#[serde(default)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Payload<'a> {
    #[serde(rename = "type")]
    kind: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    timestamp: Option<&'a RawValue>,
    cwd: Option<&'a RawValue>,
    model: Option<&'a RawValue>,
    source: Option<&'a RawValue>,
    thread_source: Option<&'a RawValue>,
    forked_from_id: Option<&'a RawValue>,
    parent_thread_id: Option<&'a RawValue>,
    history_base: Option<&'a RawValue>,
    attached_thread: Option<&'a RawValue>,
    num_turns: Option<&'a RawValue>,
    replacement_history: Option<&'a RawValue>,
    role: Option<&'a RawValue>,
    message: Option<&'a RawValue>,
    content: Option<&'a RawValue>,
    item: Option<&'a RawValue>,
    internal_chat_message_metadata_passthrough: Option<&'a RawValue>,
}

/// What a session says of itself at its start.
pub(super) struct Meta {
    /// Its id.
    pub id: Option<Box<str>>,
    /// When it began.
    pub created_at_ms: Option<i64>,
    /// Where it works.
    pub workspace: Option<Box<str>>,
    /// Where it came from.
    pub parent: Option<Parent>,
    /// The part of another rollout that comes before it.
    pub base: Option<Base>,
    /// Whether it is of the oldest generation, which the program opens no more.
    pub bare: bool,
}

/// The beginning of an earlier segment that a fork or a reverted thread continues from.
#[derive(Clone, Debug)]
pub(super) struct Base {
    /// Which segment: the field is called `thread_id`, but only a thread's first segment has the id of its thread.
    pub segment: Box<str>,
    /// Where the part ends, in bytes of the segment as text.
    pub end: u64,
    /// The ordinal of the first record behind it.
    pub end_ordinal: Option<u64>,
}

/// What a turn runs with.
pub(super) struct Turn {
    /// The model that answers.
    pub model: Option<Box<str>>,
    /// Where it works.
    pub workspace: Option<Box<str>>,
}

/// Where a turn stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TurnMark {
    /// It began.
    Began,
    /// It is over, whichever way.
    Ended,
}

/// The form in which a message is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// A completed item.
    Item,
    /// An event.
    Event,
    /// What went to the model and came back.
    Response,
}

/// A record that may be a message of a person or a model.
pub(super) struct Message<'a> {
    /// The form in which it is told.
    pub family: Family,
    /// Who wrote it.
    pub role: Role,
    time: Option<&'a RawValue>,
    body: &'a RawValue,
    kinds: Option<&'a RawValue>,
}

impl<'a> Record<'a> {
    /// The record of a line; `None` where there is none, as in a line that is torn.
    pub(super) fn parse(line: &'a [u8]) -> Option<Self> {
        let mut record: Self = serde_json::from_slice(line).ok()?;
        if record.payload.is_none() {
            record.payload = serde_json::from_slice(line).ok();
            record.bare = true;
        }
        Some(record)
    }

    /// When it was written.
    pub(super) fn time(&self) -> Option<i64> {
        time(self.timestamp)
    }

    /// Its number in the conversation; new versions number all records, over segments and forks.
    pub(super) fn ordinal(&self) -> Option<u64> {
        serde_json::from_str(self.ordinal?.get()).ok()
    }

    /// How many turns were taken back here, as versions before segments did it.
    pub(super) fn turns_rolled_back(&self) -> Option<u64> {
        let payload = self.payload.as_ref()?;
        let is_meant = word(self.kind) == "event_msg" && word(payload.kind) == "thread_rolled_back";
        serde_json::from_str(payload.num_turns.filter(|_| is_meant)?.get()).ok()
    }

    /// The items that a compaction went on with, each a bare response item.
    pub(super) fn replacement_history(&self) -> Vec<&'a RawValue> {
        let payload = self.payload.as_ref().filter(|_| word(self.kind) == "compacted");
        payload.and_then(|payload| inner(payload.replacement_history)).unwrap_or_default()
    }

    /// What the session says of itself, if this is where it does.
    pub(super) fn meta(&self) -> Option<Meta> {
        let payload = self.payload.as_ref()?;
        let oldest = self.bare && self.kind.is_none() && payload.id.is_some() && payload.timestamp.is_some();
        (oldest || word(self.kind) == "session_meta").then(|| Meta {
            id: text::member(payload.id).filter(|id| ids::is_part_of_name(id)).map(Box::from),
            created_at_ms: time(payload.timestamp),
            workspace: text::member(payload.cwd).and_then(|cwd| text::workspace(&cwd)),
            parent: payload.parent(),
            base: payload.base(),
            bare: self.bare,
        })
    }

    /// What a turn runs with, if this tells it.
    pub(super) fn turn(&self) -> Option<Turn> {
        let payload = self.payload.as_ref().filter(|_| word(self.kind) == "turn_context")?;
        Some(Turn {
            model: text::member(payload.model).and_then(|model| text::title(&model)),
            workspace: text::member(payload.cwd).and_then(|cwd| text::workspace(&cwd)),
        })
    }

    /// Whether a turn began or ended here.
    pub(super) fn turn_mark(&self) -> Option<TurnMark> {
        match (word(self.kind), word(self.payload.as_ref()?.kind)) {
            ("event_msg", "task_started") => Some(TurnMark::Began),
            ("event_msg", "task_complete" | "turn_aborted") => Some(TurnMark::Ended),
            _ => None,
        }
    }

    /// The message that this is.
    pub(super) fn message(&self) -> Option<Message<'a>> {
        let payload = self.payload.as_ref()?;
        let (family, role, body) = match (word(self.kind), word(payload.kind)) {
            ("event_msg", "item_completed") => {
                let item: Payload<'a> = inner(payload.item)?;
                let role = match word(item.kind) {
                    "UserMessage" => Role::User,
                    "AgentMessage" => Role::Assistant,
                    _ => return None,
                };
                (Family::Item, role, item.content)
            }
            ("event_msg", "user_message") => (Family::Event, Role::User, payload.message),
            ("event_msg", "agent_message") => (Family::Event, Role::Assistant, payload.message),
            ("response_item" | "message", "message") => {
                let role = match word(payload.role) {
                    "user" => Role::User,
                    "assistant" => Role::Assistant,
                    _ => return None,
                };
                (Family::Response, role, payload.content)
            }
            _ => return None,
        };
        #[derive(Deserialize)]
        struct Passthrough<'a> {
            #[serde(borrow, default)]
            content_item_kinds: Option<&'a RawValue>,
        }
        let kinds = inner(payload.internal_chat_message_metadata_passthrough)
            .and_then(|metadata: Passthrough<'a>| metadata.content_item_kinds);
        Some(Message { family, role, time: self.timestamp, body: body?, kinds })
    }
}

impl Payload<'_> {
    /// The parent. A subagent may be a fork too: what it is for counts. A side chat of the TUI is a fork that Codex
    /// hides in its list.
    fn parent(&self) -> Option<Parent> {
        #[derive(Deserialize)]
        struct Source<'a> {
            #[serde(borrow, default)]
            subagent: Option<&'a RawValue>,
        }
        #[derive(Deserialize)]
        struct Subagent<'a> {
            #[serde(borrow, default)]
            thread_spawn: Option<&'a RawValue>,
        }
        let id = |raw| text::member(raw).filter(|id| ids::is_part_of_name(id)).map(Cow::into_owned);
        let subagent = inner(self.source).and_then(|source: Source<'_>| source.subagent);
        let spawn = inner(subagent).and_then(|subagent: Subagent<'_>| subagent.thread_spawn);
        let spawn: Option<Payload<'_>> = inner(spawn);
        let starter = id(self.parent_thread_id).or_else(|| id(spawn?.parent_thread_id));
        if starter.is_some() || subagent.is_some() || word(self.thread_source) == "subagent" {
            return Some(Parent { session_id: starter, relation: Relation::Subagent });
        }
        let origin = id(self.forked_from_id);
        if text::is_true(self.attached_thread) || word(self.thread_source) == "tui_side_chat" {
            return Some(Parent { session_id: origin, relation: Relation::Subagent });
        }
        Some(Parent { session_id: Some(origin?), relation: Relation::Fork })
    }

    fn base(&self) -> Option<Base> {
        #[derive(Deserialize)]
        struct HistoryBase<'a> {
            #[serde(borrow)]
            thread_id: Cow<'a, str>,
            end_byte_offset: u64,
            #[serde(default)]
            end_ordinal_exclusive: Option<u64>,
        }
        let base: HistoryBase<'_> = inner(self.history_base)?;
        ids::is_part_of_name(&base.thread_id).then(|| Base {
            segment: base.thread_id.into(),
            end: base.end_byte_offset,
            end_ordinal: base.end_ordinal_exclusive,
        })
    }
}

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
}

impl Message<'_> {
    /// When it was written; the oldest generation does not tell.
    pub(super) fn time(&self) -> Option<i64> {
        time(self.time)
    }

    /// Whether a person or a model wrote it.
    pub(super) fn is_genuine(&self) -> bool {
        self.role == Role::Assistant || self.text().is_some()
    }

    /// What a person asked for, without what an editor put before it; `None` where the editor's part is all.
    pub(super) fn prompt(&self) -> Option<String> {
        const PREAMBLE: &str = "# Context from my IDE setup:";
        const REQUEST: &str = "## My request for Codex:";
        let text = self.text().filter(|_| self.role == Role::User)?;
        Some(match text.split_once(REQUEST) {
            Some((_, request)) => request.trim().to_owned(),
            None if text.trim_start().starts_with(PREAMBLE) => return None,
            None => text,
        })
    }

    /// Its text, empty where it has only images; `None` where the harness wrote it in a person's name.
    pub(super) fn text(&self) -> Option<String> {
        if let Some(text) = text::string(self.body) {
            return (self.role == Role::Assistant || !is_injected(&text)).then(|| text.into_owned());
        }
        let mut genuine = self.role == Role::Assistant;
        let mut whole = String::new();
        for (raw, own) in self.parts()? {
            genuine |= own;
            let text = inner(Some(raw)).and_then(|part: Part<'_>| text::member(part.text)).filter(|_| own);
            if let Some(text) = text {
                if !whole.is_empty() {
                    whole.push('\n');
                }
                whole.push_str(&text);
            }
        }
        genuine.then_some(whole)
    }

    /// Its parts, and whether each is its author's own and not the harness's in a person's name; `None` where it is a
    /// text alone.
    pub(super) fn parts(&self) -> Option<Vec<(&RawValue, bool)>> {
        let parts: Vec<&RawValue> = serde_json::from_str(self.body.get()).ok()?;
        let kinds: Vec<Cow<'_, str>> = inner(self.kinds).unwrap_or_default();
        let own = |at: usize, raw: &RawValue| {
            let Some(text) = inner(Some(raw)).and_then(|part: Part<'_>| text::member(part.text)) else { return true };
            let told = kinds.get(at).filter(|kind| **kind != "unknown").map(|kind| kind.starts_with("user."));
            self.role == Role::Assistant || told.unwrap_or_else(|| !is_injected(&text))
        };
        Some(parts.into_iter().enumerate().map(|(at, raw)| (raw, own(at, raw))).collect())
    }
}

/// How texts begin that the harness writes in a person's name, and the frames that it puts around images.
const INJECTED: &[&str] = &[
    "<environment_context>",
    "# AGENTS.md instructions",
    "<user_instructions>",
    "<skills_instructions>",
    "<permissions instructions>",
    "<turn_aborted>",
    "<subagent_notification>",
    "<user_shell_command>",
    "<skill>",
    "<recommended_plugins>",
    "<goal_context>",
    "<hook_prompt",
    "<internal_model_context>",
    "<additional_context>",
    "<image>",
    "<image name=",
    "</image>",
];

fn is_injected(text: &str) -> bool {
    let text = text.trim_start();
    INJECTED.iter().any(|start| text.starts_with(start))
}

/// The content of a string of which only known words matter.
fn word(raw: Option<&RawValue>) -> &str {
    raw.map_or("", |raw| raw.get().trim_matches('"'))
}

fn time(raw: Option<&RawValue>) -> Option<i64> {
    text::member(raw).and_then(|time| text::time(&time))
}

/// A value within a record; one of another shape is none.
fn inner<'a, T: Deserialize<'a>>(raw: Option<&'a RawValue>) -> Option<T> {
    serde_json::from_str(raw?.get()).ok()
}
