//! Texts of what an agent sends that is more than text.

use super::message::value;
use super::words::cut;
use crate::limits;
use agent_client_protocol_schema::v1::{ContentBlock, Diff, EmbeddedResourceResource, ToolCallContent};

/// The text of a piece of a message; `None` where it is not said in words.
pub(super) fn text(block: &ContentBlock) -> Option<String> {
    match block {
        ContentBlock::Text(text) => Some(text.text.clone()),
        ContentBlock::ResourceLink(link) => Some(format!("[{}]({})", link.name, link.uri)),
        _ => None,
    }
}

/// The content of a tool call, in words.
pub(super) fn output<'a>(content: impl IntoIterator<Item = &'a ToolCallContent>) -> String {
    let said: Vec<_> = content.into_iter().map(piece).filter(|piece| !piece.is_empty()).collect();
    cut(said.join("\n"), limits::AGENT_TEXT)
}

fn piece(content: &ToolCallContent) -> String {
    match content {
        ToolCallContent::Content(content) => text(&content.content).unwrap_or_else(|| named(&content.content)),
        ToolCallContent::Diff(change) => diff(change),
        ToolCallContent::Terminal(terminal) => format!("[terminal {}]", terminal.terminal_id),
        other => value(other).to_string(),
    }
}

/// What is no text, by its name.
fn named(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Image(image) => format!("[{}]", image.mime_type),
        ContentBlock::Audio(audio) => format!("[{}]", audio.mime_type),
        ContentBlock::Resource(embedded) => match &embedded.resource {
            EmbeddedResourceResource::TextResourceContents(text) => text.text.clone(),
            EmbeddedResourceResource::BlobResourceContents(blob) => format!("[{}]", blob.uri),
            other => value(other).to_string(),
        },
        other => value(other).to_string(),
    }
}

/// The lines that changed, as `diff` shows them; those that are the same at both ends are left out.
fn diff(change: &Diff) -> String {
    let old: Vec<_> = change.old_text.as_deref().unwrap_or_default().lines().collect();
    let new: Vec<_> = change.new_text.lines().collect();
    let same = |pair: &(&&str, &&str)| pair.0 == pair.1;
    let before = old.iter().zip(&new).take_while(same).count();
    let shortest = old.len().min(new.len()) - before;
    let behind = old.iter().rev().zip(new.iter().rev()).take(shortest).take_while(same).count();
    let changed = |lines: &[&str], mark: char| -> String {
        let lines = lines.get(before..lines.len() - behind).unwrap_or_default();
        lines.iter().map(|line| format!("\n{mark}{line}")).collect()
    };
    let path = change.path.display();
    let from = if change.old_text.is_some() { path.to_string() } else { "/dev/null".to_owned() };
    format!("--- {from}\n+++ {path}{}{}", changed(&old, '-'), changed(&new, '+'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_client_protocol_schema::v1::{Content, ImageContent, ResourceLink};

    #[test]
    fn diffs_are_readable() {
        let change = Diff::new("/w/file", "one\n2\nthree\n").old_text("one\ntwo\nthree\n".to_owned());
        assert_eq!(diff(&change), "--- /w/file\n+++ /w/file\n-two\n+2");
        assert_eq!(diff(&Diff::new("/w/new", "a\nb")), "--- /dev/null\n+++ /w/new\n+a\n+b");
        let repeated = Diff::new("/w/file", "a\na\na").old_text("a\na".to_owned());
        assert_eq!(diff(&repeated), "--- /w/file\n+++ /w/file\n+a");
    }

    #[test]
    fn what_a_tool_said_is_told_in_words() {
        let block = |block: ContentBlock| ToolCallContent::Content(Content::new(block));
        let link = ContentBlock::ResourceLink(ResourceLink::new("notes", "file:///w/notes"));
        let content =
            [block("hello".into()), block(link), block(ContentBlock::Image(ImageContent::new("AA", "image/png")))];
        assert_eq!(output(&content), "hello\n[notes](file:///w/notes)\n[image/png]");
        assert_eq!(output(&[]), "");
    }
}
