//! What somebody says, as an agent takes it.

use super::Prompt;
use agent_client_protocol_schema::v1::{ContentBlock, ImageContent, ResourceLink};

/// The blocks of a prompt; otherwise why the agent cannot be told.
pub(super) fn blocks(prompt: Prompt, takes_images: bool) -> Result<Vec<ContentBlock>, String> {
    let mut blocks = Vec::new();
    if !prompt.text.is_empty() || prompt.images.is_empty() {
        blocks.push(prompt.text.into());
    }
    for image in &prompt.images {
        blocks.push(block(image, takes_images)?);
    }
    Ok(blocks)
}

fn block(image: &str, takes_images: bool) -> Result<ContentBlock, String> {
    if image.starts_with("http://") || image.starts_with("https://") {
        let path = image.split(['?', '#']).next().unwrap_or_default();
        let name = path.rsplit('/').find(|name| !name.is_empty()).unwrap_or("image");
        return Ok(ContentBlock::ResourceLink(ResourceLink::new(name, image)));
    }
    let parts = image.strip_prefix("data:").and_then(|data| data.split_once(";base64,"));
    let Some((media_type, data)) = parts.filter(|(media_type, _)| media_type.starts_with("image/")) else {
        return Err("an image must be a data:image/...;base64,... URI or an http(s) address".to_owned());
    };
    if !takes_images {
        return Err("this agent takes no images; send the prompt without them".to_owned());
    }
    Ok(ContentBlock::Image(ImageContent::new(data, media_type)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::agent::message::value;
    use serde_json::json;

    #[test]
    fn images_are_sent_as_the_agent_takes_them() {
        let said = |text: &str, image: &str, takes_images| {
            let prompt = Prompt { text: text.to_owned(), images: vec![image.to_owned()] };
            blocks(prompt, takes_images).map(|blocks| value(&blocks))
        };
        let data = "data:image/png;base64,AAAA";
        let image = json!({"type": "image", "data": "AAAA", "mimeType": "image/png"});
        assert_eq!(said("look", data, true).unwrap(), json!([{"type": "text", "text": "look"}, image]));
        assert!(said("look", data, false).unwrap_err().contains("no images"));
        let link = json!([{"type": "resource_link", "name": "a.png", "uri": "https://example.invalid/x/a.png?b=/c"}]);
        assert_eq!(said("", "https://example.invalid/x/a.png?b=/c", false).unwrap(), link);
        for odd in ["file:///etc/passwd", "data:text/html;base64,AAAA", "data:image/png,AAAA"] {
            assert!(said("look", odd, true).is_err(), "{odd}");
        }
        assert_eq!(value(&blocks(Prompt::default(), true).unwrap()), json!([{"type": "text", "text": ""}]));
    }
}
