//! Pages that are written into their own addresses, `data:`.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use percent_encoding::percent_decode_str;
use url::{Position, Url};

use crate::engine::html;
use crate::engine::page::Page;

/// The form of bytes as letters, as forgivingly as Fetch reads it.
const FORGIVING: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// The media types of documents that say something about themselves.
const DOCUMENTS: [&str; 2] = ["text/html", "application/xhtml+xml"];

/// The page of an address; `None` if nothing can be read from it.
pub(super) fn page(url: &Url) -> Option<Page> {
    let (head, body) = url[Position::BeforePath..Position::AfterQuery].split_once(',')?;
    let body = percent_decode_str(body).collect::<Vec<u8>>();
    let (media_type, body) = match in_letters(head) {
        Some(media_type) => {
            let letters = body.into_iter().filter(|byte| !byte.is_ascii_whitespace());
            (media_type, FORGIVING.decode(letters.collect::<Vec<_>>()).ok()?)
        }
        None => (head, body),
    };
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    if !is_shown(essence) {
        return Some(Page { is_download: true, ..Page::empty() });
    }
    Some(if DOCUMENTS.iter().any(|kind| essence.eq_ignore_ascii_case(kind)) {
        html::read(url, media_type, &body)
    } else {
        Page::empty()
    })
}

/// True for what a tab shows; anything else is kept as a file.
fn is_shown(media_type: &str) -> bool {
    let lower = media_type.to_ascii_lowercase();
    // What is no media type counts as one of text.
    let Some((family, kind)) = lower.split_once('/') else { return true };
    let kind = kind.rsplit('+').next().unwrap_or(kind);
    ["text", "image", "audio", "video"].contains(&family)
        || ["xml", "json", "javascript", "pdf"].contains(&kind)
}

/// The media type of what is written in letters that stand for its bytes.
fn in_letters(head: &str) -> Option<&str> {
    let (media_type, form) = head.trim_end().rsplit_once(';')?;
    form.trim().eq_ignore_ascii_case("base64").then_some(media_type)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_from_its_address() {
        for (url, title, language) in [
            ("data:text/html,<title>A%26amp;B</title>x", Some("A&B"), None),
            ("data:text/html,<title>A%2FB%23C</title>x#<title>", Some("A/B#C"), None),
            ("data:text/html;base64,PHRpdGxlPkI8L3RpdGxlPng", Some("B"), None),
            ("data:Text/HTML;charset=utf-8,<html lang=de><title>%C3%A4", Some("ä"), Some("de")),
            ("data:text/plain,<title>D</title>", None, None),
            ("data:,<title>D</title>", None, None),
        ] {
            let page = page(&Url::parse(url).unwrap()).unwrap();
            assert_eq!(
                (page.title.as_deref(), page.language.as_deref()),
                (title, language),
                "{url}"
            );
        }
        for url in ["data:text/html", "data:text/html;base64,?"] {
            assert_eq!(page(&Url::parse(url).unwrap()), None, "{url}");
        }
    }

    #[test]
    fn what_no_tab_shows_is_kept_as_a_file() {
        for (url, is_download) in [
            ("data:application/octet-stream,x", true),
            ("data:application/zip;base64,AA==", true),
            ("data:application/ld+json,{}", false),
            ("data:image/png,x", false),
            ("data:,x", false),
        ] {
            assert_eq!(page(&Url::parse(url).unwrap()).unwrap().is_download, is_download, "{url}");
        }
    }
}
