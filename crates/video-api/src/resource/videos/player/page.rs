//! The text of the page. Its addresses are relative, so that a proxy may serve it under a path of its own. Whatever comes from the store is escaped, and nothing of it becomes markup.

use std::fmt::Write as _;

use triptych_core::kv::Tx;

use super::overlay::{self, Face, Overlay};
use crate::api::error::Error;
use crate::api::html::escaped;
use crate::record::json_fields::text_of;
use crate::record::stored::Stored;
use crate::record::thumbnail;
use crate::resource::videos::record::Video;

/// A track of captions as the page offers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subtitles {
    /// Its id.
    pub id: String,
    /// The tag of its language.
    pub language: String,
    /// The words by which a viewer chooses it.
    pub label: String,
}

/// The page that plays a video. `query` goes on with every address of it that needs the same ticket; `next` is the address of the page of
/// what plays after it.
///
/// # Errors
/// As the store.
pub fn page(
    tx: &mut Tx<'_>,
    id: &str,
    video: &Stored<Video>,
    tracks: &[Subtitles],
    query: &str,
    next: Option<&str>,
) -> Result<String, Error> {
    let mut overlays = overlay::promotions(tx, &video.head.channel)?;
    overlays.extend(overlay::watermark(tx, &video.head.channel)?);
    let title = text_of(&video.value("snippet"), "title");
    let mut body = String::new();
    if video.head.media.is_some() {
        let key = video.head.picture_source().key;
        let poster = format!("../{}", thumbnail::video_address(id, "high", key));
        let source = format!("{id}/video{query}");
        let play = format!("{id}/play{query}");
        let _ = write!(
            body,
            "<video controls playsinline preload=\"metadata\" aria-label=\"{}\" poster=\"{}\" src=\"{}\" data-play=\"{}\">",
            escaped(&title),
            escaped(&poster),
            escaped(&source),
            escaped(&play)
        );
        for (at, track) in tracks.iter().enumerate() {
            let address = format!("{id}/captions/{}.vtt{query}", track.id);
            let _ = write!(
                body,
                "<track kind=\"captions\" src=\"{}\" srclang=\"{}\" label=\"{}\"{}>",
                escaped(&address),
                escaped(&track.language),
                escaped(&track.label),
                if at == 0 { " default" } else { "" }
            );
        }
        body.push_str("</video>");
        overlays.iter().for_each(|overlay| write_overlay(&mut body, overlay));
    } else {
        body.push_str("<p>This video has no file here: it came with a seed file.</p>");
    }
    if let Some(next) = next {
        let _ = write!(body, "<a class=\"next\" href=\"{}\">Next</a>", escaped(next));
    }
    Ok(document(&title, &body))
}

/// The page in the place of a video that cannot be played.
#[must_use]
pub fn refusal(sentence: &str) -> String {
    document("Video unavailable", &format!("<p role=\"alert\">{}</p>", escaped(sentence)))
}

fn write_overlay(out: &mut String, overlay: &Overlay) {
    let (class, face) = match &overlay.face {
        Face::Watermark(channel) => {
            let address = format!("../watermark/{channel}");
            ("watermark", format!("<img src=\"{}\" alt=\"Channel\">", escaped(&address)))
        }
        Face::Words(words) => ("promotion", escaped(words)),
    };
    let length = overlay
        .length
        .as_ref()
        .map(|length| format!(" data-length=\"{}\"", escaped(length)))
        .unwrap_or_default();
    let _ = write!(
        out,
        "<a class=\"overlay {class} {}\" href=\"{}\" target=\"_blank\" rel=\"noopener noreferrer\" data-type=\"{}\" data-offset=\"{}\"{length} hidden>{face}</a>",
        escaped(&overlay.corner),
        escaped(&overlay.link),
        escaped(&overlay.kind),
        escaped(&overlay.offset),
    );
}

fn document(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
        <title>{}</title><link rel=\"stylesheet\" href=\"player.css\">\
        <script type=\"module\" src=\"player.js\"></script></head><body><main>{body}</main></body></html>\n",
        escaped(title)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_never_becomes_markup() {
        let overlay = Overlay {
            corner: "topLeft\" onclick=\"x".into(),
            kind: "offsetFromStart".into(),
            offset: "0".into(),
            length: Some("1\"".into()),
            link: "https://x/\"><script>".into(),
            face: Face::Words("<img src=x onerror=alert(1)>".into()),
        };
        let mut out = String::new();
        write_overlay(&mut out, &overlay);
        assert_eq!(out.matches('<').count(), 2, "{out}");
        assert!(!out.contains("onclick=\"") && !out.contains("<script"), "{out}");
        let page = refusal("<b>'\"&");
        assert!(page.contains("&lt;b&gt;&#39;&quot;&amp;"), "{page}");
    }
}
