//! Thumbnails: which sizes a resource has (facts: docs_thumbnails), and the text that names them.

use serde_json::{Map, Value, json};

/// Name, width and height of a size.
pub type Size = (&'static str, u32, u32);

/// Sizes of a video's picture; `standard` and `maxres` belong to HD videos and to pictures that are large enough for them.
pub const VIDEO: &[Size] = &[
    ("default", 120, 90),
    ("medium", 320, 180),
    ("high", 480, 360),
    ("standard", 640, 480),
    ("maxres", 1280, 720),
];
/// Sizes of a channel's picture.
pub const CHANNEL: &[Size] = &[("default", 88, 88), ("medium", 240, 240), ("high", 800, 800)];

/// Number of sizes that every video has.
const SIZES_ALWAYS: usize = 3;
/// The parameter that brings a picture's key, as the real service names it.
pub const KEY: &str = "rs";
/// The id in the place of a video or a channel that is not there: of a playlist without videos, of an author whose account was closed.
pub const NONE: &str = "none";

/// The facts that decide about the sizes of a video's picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Source<'v> {
    /// True if the video has 720 lines or more.
    pub high_definition: bool,
    /// Width and height of the picture that its owner set.
    pub own: Option<(u32, u32)>,
    /// The key that its addresses need, where not everybody may see it: a browser that loads a picture sends no token.
    pub key: Option<&'v str>,
}

impl Source<'_> {
    /// Returns whether there is a picture of this size.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        let at = VIDEO.iter().position(|(known, ..)| *known == name);
        at.zip(at.and_then(|at| VIDEO.get(at)))
            .is_some_and(|(at, size)| at < SIZES_ALWAYS || self.high_definition || self.fills(size))
    }

    /// Returns whether the owner's picture fills this size without being enlarged: one of its sides is as long as the size's.
    fn fills(&self, (_, width, height): &Size) -> bool {
        self.own.is_some_and(|(own_width, own_height)| own_width >= *width || own_height >= *height)
    }
}

/// `snippet.thumbnails` of a video.
#[must_use]
pub fn of_video(id: &str, source: Source<'_>) -> Value {
    let address = |name: &str| video_address(id, name, source.key);
    details(VIDEO.iter().filter(|(name, ..)| source.has(name)), address)
}

/// The address of a video's picture in a size, below the service's own.
#[must_use]
pub fn video_address(id: &str, size: &str, key: Option<&str>) -> String {
    let query = key.map(|key| format!("?{KEY}={key}")).unwrap_or_default();
    format!("vi/{id}/{size}.jpg{query}")
}

/// `snippet.thumbnails` of a channel.
#[must_use]
pub fn of_channel(id: &str) -> Value {
    details(CHANNEL.iter(), |name| format!("ytc/{id}/{name}.jpg"))
}

fn details<'s>(sizes: impl Iterator<Item = &'s Size>, address: impl Fn(&str) -> String) -> Value {
    let one = |(name, width, height): &Size| {
        let url = format!("\u{1}/{}", address(name));
        ((*name).to_owned(), json!({"url": url, "width": width, "height": height}))
    };
    Value::Object(sizes.map(one).collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_large_sizes_belong_to_hd_videos_and_to_pictures_that_fill_them() {
        let (three, four, five) = (3, 4, 5);
        for (high_definition, own, expected) in [
            (false, None, three),
            (true, None, five),
            (false, Some((320, 180)), three),
            (true, Some((320, 180)), five),
            (false, Some((639, 479)), three),
            (false, Some((640, 360)), four),
            (false, Some((360, 480)), four),
            (false, Some((1280, 720)), five),
            (false, Some((405, 720)), five),
            (false, Some((4000, 3000)), five),
        ] {
            let found = of_video("v", Source { high_definition, own, key: None });
            let names: Vec<_> = found.as_object().unwrap().keys().cloned().collect();
            assert_eq!(names.len(), expected, "{high_definition} {own:?}: {names:?}");
        }
        assert!(!Source::default().has("huge"));
    }
}
