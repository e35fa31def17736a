//! Thumbnails: which sizes a resource has (facts: docs_thumbnails), and the text that names them.

use serde_json::{Map, Value, json};

/// Name, width and height of a size.
pub type Size = (&'static str, u32, u32);

/// Sizes of a video's picture; `standard` and `maxres` are there only where a picture is large enough.
pub const VIDEO: &[Size] = &[
    ("default", 120, 90),
    ("medium", 320, 180),
    ("high", 480, 360),
    ("standard", 640, 480),
    ("maxres", 1280, 720),
];
/// Sizes of a channel's picture.
pub const CHANNEL: &[Size] = &[("default", 88, 88), ("medium", 240, 240), ("high", 800, 800)];

/// Number of sizes that a video without a picture of its own has.
const DEFAULT_SIZES: usize = 3;

/// `snippet.thumbnails` of a video.
#[must_use]
pub fn of_video(id: &str, has_own: bool) -> Value {
    let sizes = VIDEO.iter().take(if has_own { VIDEO.len() } else { DEFAULT_SIZES });
    details(sizes, "vi", id)
}

/// `snippet.thumbnails` of a channel.
#[must_use]
pub fn of_channel(id: &str) -> Value {
    details(CHANNEL.iter(), "ytc", id)
}

fn details<'s>(sizes: impl Iterator<Item = &'s Size>, folder: &str, id: &str) -> Value {
    let one = |(name, width, height): &Size| {
        let url = format!("\u{1}/{folder}/{id}/{name}.jpg");
        ((*name).to_owned(), json!({"url": url, "width": width, "height": height}))
    };
    Value::Object(sizes.map(one).collect::<Map<_, _>>())
}
