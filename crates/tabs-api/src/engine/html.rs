//! HTML of pages: title, language, icon, frames, and the address that a page refreshes to.

use std::borrow::Cow;
use std::collections::BTreeMap;

use encoding_rs::{Encoding, UTF_8};
use html5gum::emitters::default::{DefaultEmitter, StartTag, Token};
use html5gum::{HtmlString, Spanned, Tokenizer};
use url::Url;

use crate::engine::page::Page;
use crate::engine::script::{refresh, refreshed};
use crate::engine::title::canonical;
use crate::url::join;

/// The most frames and the longest text that are read.
const FRAMES_MAX: usize = 64;
const TEXT_BYTES: usize = 8 * 1024;

/// A document while it is read.
#[derive(Debug, Default)]
struct Reading {
    page: Page,
    base: Option<Url>,
    text: String,
    title: Option<String>,
    within: Option<Within>,
}

/// The elements whose text is not that of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Within {
    Title,
    Hidden,
}

/// Reads a document that came from `url`, whose bytes are in the charset of its media type.
#[must_use]
pub fn read(url: &Url, media_type: &str, bytes: &[u8]) -> Page {
    let text = decoded(media_type, bytes);
    let mut reading = Reading { base: Some(url.clone()), ..Reading::default() };
    let mut emitter = DefaultEmitter::default();
    // Titles, scripts and styles hold text, and no tags.
    emitter.naively_switch_states(true);
    for Ok(token) in Tokenizer::new_with_emitter(&*text, emitter) {
        match token {
            Token::StartTag(tag) => reading.start(&tag),
            Token::EndTag(tag) if kind(&tag.name).is_some() => reading.end(),
            Token::String(text) => reading.text(&String::from_utf8_lossy(&text)),
            _ => {}
        }
    }
    reading.page.status = 200;
    reading.page.title =
        reading.title.map(|title| canonical(&title)).filter(|title| !title.is_empty());
    reading.page.text = Some(reading.text).filter(|text| !text.trim().is_empty());
    reading.page
}

fn kind(name: &[u8]) -> Option<Within> {
    match name {
        b"title" => Some(Within::Title),
        b"script" | b"style" | b"noscript" | b"template" | b"textarea" => Some(Within::Hidden),
        _ => None,
    }
}

impl Reading {
    fn start(&mut self, tag: &StartTag<()>) {
        if let Some(within) = kind(&tag.name).filter(|_| !tag.self_closing) {
            self.within = Some(within);
        }
        let get = |name: &str| attribute(&tag.attributes, name);
        match tag.name.as_slice() {
            b"html" if self.page.language.is_none() => {
                self.page.language =
                    get("lang").and_then(|tag| crate::engine::language::declared(&tag));
            }
            b"base" => {
                let base = get("href").and_then(|href| join(self.base.as_ref()?, &href).ok());
                self.base = base.or(self.base.take());
            }
            b"link" if self.page.icon.is_none() => {
                let is_icon = |rel: String| {
                    rel.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case("icon"))
                };
                if get("rel").is_some_and(is_icon) {
                    self.page.icon = get("href").and_then(|href| self.join(&href));
                }
            }
            b"iframe" | b"frame" if self.page.frames.len() < FRAMES_MAX => {
                let source = get("src").and_then(|source| self.join(&source));
                self.page.frames.push(source.unwrap_or_else(|| "about:blank".into()));
            }
            b"meta" => self.meta(get("http-equiv").as_deref(), get("content").as_deref()),
            _ => {}
        }
    }

    fn meta(&mut self, name: Option<&str>, content: Option<&str>) {
        let (Some(name), Some(content)) = (name, content) else {
            return;
        };
        if name.eq_ignore_ascii_case("content-language") && self.page.language.is_none() {
            self.page.language = crate::engine::language::declared(content);
        }
        if name.eq_ignore_ascii_case("refresh")
            && let Some((delay, target)) = refresh(content)
            && let Some(target) = self.join(&target)
        {
            self.page.script = Some((delay, refreshed(delay, target)));
        }
    }

    fn end(&mut self) {
        self.within = None;
    }

    fn text(&mut self, text: &str) {
        match self.within {
            Some(Within::Title) if self.title.is_none() => self.title = Some(text.to_owned()),
            Some(_) => {}
            None if self.text.len() < TEXT_BYTES => {
                self.text.push_str(text);
                self.text.push(' ');
            }
            None => {}
        }
    }

    fn join(&self, target: &str) -> Option<String> {
        let joined = join(self.base.as_ref()?, target.trim()).ok()?;
        let is_loadable = ["http", "https", "data", "about", "blob"].contains(&joined.scheme());
        is_loadable.then(|| joined.into())
    }
}

fn attribute(
    attributes: &BTreeMap<HtmlString, Spanned<HtmlString, ()>>,
    name: &str,
) -> Option<String> {
    let value = attributes.get(name.as_bytes())?;
    Some(String::from_utf8_lossy(value).into_owned())
}

/// The text of bytes in the charset of a byte order mark, else of the media type, else in UTF-8; wrong bytes are replaced.
fn decoded<'b>(media_type: &str, bytes: &'b [u8]) -> Cow<'b, str> {
    let lower = media_type.to_ascii_lowercase();
    let charset = lower.split("charset=").nth(1).and_then(|rest| rest.split(';').next());
    let label = charset.unwrap_or_default().trim_matches(['"', '\'', ' ']);
    let encoding = Encoding::for_label(label.as_bytes()).unwrap_or(UTF_8);
    encoding.decode(bytes).0
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::engine::script::Script;

    fn page(html: &str) -> Page {
        read(
            &Url::parse("https://a.test/dir/page").unwrap(),
            "text/html; charset=utf-8",
            html.as_bytes(),
        )
    }

    #[test]
    fn a_page_says_what_it_is() {
        let page = page(
            "<!doctype html><html lang=de-AT><head><title> Ein\n <b>Titel</b> &amp; mehr </title>
             <script>document.write('<title>no</title>')</script>
             <link rel='shortcut ICON' href=i.png><base href=/other/>
             <meta http-equiv=Refresh content=\"2.5; URL='next'\"></head>
             <body>Text<iframe src=frame.html></iframe><iframe></iframe><style>p{}</style></body></html>",
        );
        assert_eq!(page.title.as_deref(), Some("Ein <b>Titel</b> & mehr"));
        assert_eq!(page.language.as_deref(), Some("de"));
        assert_eq!(page.icon.as_deref(), Some("https://a.test/dir/i.png"));
        assert_eq!(page.frames, ["https://a.test/other/frame.html", "about:blank"]);
        assert_eq!(
            page.script,
            Some((Duration::from_millis(2_500), Script::Go("https://a.test/other/next".into())))
        );
        assert_eq!(page.text.as_deref().map(str::trim), Some("Text"));
    }

    #[test]
    fn an_empty_or_broken_page_is_a_page() {
        for html in [
            "",
            "<",
            "<title>",
            "<html lang>",
            "<meta http-equiv=refresh content=x>",
            "<link rel=icon href='javascript:1'>",
            "\u{0}\u{fffd}<!--",
        ] {
            let page = page(html);
            assert_eq!((page.status, page.icon, page.script), (200, None, None), "{html}");
        }
    }

    #[test]
    fn latin_is_read_where_it_is_said() {
        let url = Url::parse("https://a.test/").unwrap();
        let page = read(&url, "text/html; charset=ISO-8859-1", b"<title>caf\xe9</title>");
        assert_eq!(page.title.as_deref(), Some("café"));
    }

    #[test]
    fn a_charset_of_the_media_type_or_a_byte_order_mark_is_followed() {
        let url = Url::parse("https://a.test/").unwrap();
        let rows: [(&str, &[u8], &str); 4] = [
            (
                "text/html; charset=\"windows-1251\"; x=y",
                b"<title>\xcf\xf0\xe8\xe2\xe5\xf2</title>",
                "Привет",
            ),
            ("text/html; charset=shift_jis", b"<title>\x93\xfa\x96{</title>", "日本"),
            ("text/html; charset=iso-8859-1", b"\xef\xbb\xbf<title>caf\xc3\xa9</title>", "café"),
            ("text/html; charset=nothing", b"<title>caf\xc3\xa9</title>", "café"),
        ];
        for (media_type, bytes, title) in rows {
            assert_eq!(read(&url, media_type, bytes).title.as_deref(), Some(title), "{media_type}");
        }
    }
}
