//! The snippet of a search result, which shows less of a resource than the resource itself does.

use serde_json::{Map, Value};

use crate::api::html::escaped;
use crate::record::json_fields::text_of;

/// The sizes of pictures that a result has.
const SIZES: [&str; 3] = ["default", "medium", "high"];
/// Characters of a description that is shown whole.
const WHOLE_CHARS_MAX: usize = 161;
/// The end of a description that is not.
const ENDING: &str = " ...";

/// The snippet of a result that shows a resource with this snippet, of a channel with this id and title. As with the real service, titles are
/// text within HTML, and a description is its beginning in one line.
pub fn snippet(
    snippet: &Map<String, Value>,
    channel: &str,
    channel_title: &str,
    mut thumbnails: Value,
) -> Map<String, Value> {
    if let Some(sizes) = thumbnails.as_object_mut() {
        sizes.retain(|size, _| SIZES.contains(&size.as_str()));
    }
    let broadcast = match text_of(snippet, "liveBroadcastContent") {
        content if content.is_empty() => "none".to_owned(),
        content => content,
    };
    let published = text_of(snippet, "publishedAt");
    Map::from_iter([
        ("publishedAt".to_owned(), published.into()),
        ("channelId".to_owned(), channel.into()),
        ("title".to_owned(), escaped(&text_of(snippet, "title")).into()),
        ("description".to_owned(), beginning(&text_of(snippet, "description")).into()),
        ("thumbnails".to_owned(), thumbnails),
        ("channelTitle".to_owned(), escaped(channel_title).into()),
        ("liveBroadcastContent".to_owned(), broadcast.into()),
    ])
}

/// A text in one line; of a long one the first words, or what fits of the first one.
fn beginning(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().nth(WHOLE_CHARS_MAX).is_none() {
        return line;
    }
    let end = line.char_indices().nth(WHOLE_CHARS_MAX - ENDING.len());
    let (fits, rest) = end.and_then(|(at, _)| line.split_at_checked(at)).unwrap_or((&line, ""));
    let words = match fits.rsplit_once(' ') {
        Some((words, _)) if !rest.starts_with(' ') => words,
        _ => fits,
    };
    format!("{}{ENDING}", words.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_description_ends_behind_a_word_and_a_short_one_is_whole() {
        assert_eq!(beginning(" one\n\ntwo\t three "), "one two three");
        for (text, expected) in [
            ("x".repeat(161), "x".repeat(161)),
            ("ä".repeat(162), format!("{} ...", "ä".repeat(157))),
            (format!("{} y", "x".repeat(159)), format!("{} y", "x".repeat(159))),
            (format!("{} yyyyy", "x".repeat(157)), format!("{} ...", "x".repeat(157))),
            (format!("{} yyyyy", "x".repeat(156)), format!("{} ...", "x".repeat(156))),
            (format!("a {}", "x".repeat(170)), "a ...".to_owned()),
            ("it's ".repeat(40), format!("{} ...", "it's ".repeat(31).trim_end())),
        ] {
            assert_eq!(beginning(&text), expected);
        }
    }
}
