//! The text of a comment: what may be written, and how it is shown.

use crate::api::error::{Error, Rule};
use crate::api::html::push_escaped;
use crate::record::json_fields::Body;
use crate::resource::comments::record::TEXT_CHARS_MAX;

/// The form of `textDisplay`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TextForm {
    /// As a page shows it.
    Html,
    /// As it was written.
    Plain,
}

/// Reads `textOriginal` of a snippet.
///
/// # Errors
/// [`Error::InvalidField`], and as [`check`].
pub fn read(snippet: Option<Body<'_>>, broken: &TextRules) -> Result<String, Error> {
    let text = snippet.map(|snippet| snippet.text("textOriginal")).transpose()?.flatten();
    let text = text.unwrap_or_default();
    check(&text, broken)?;
    Ok(text)
}

/// The rules that a text can break, with its place in the body that holds it.
#[derive(Debug)]
pub struct TextRules {
    /// It is missing, or blank.
    pub required: &'static Rule,
    /// It is too long.
    pub too_long: &'static Rule,
    /// It holds what no comment may hold.
    pub invalid: &'static Rule,
}

/// Checks the text of a comment.
///
/// # Errors
/// The [`TextRules`], in their order.
pub fn check(text: &str, broken: &TextRules) -> Result<(), Error> {
    if text.trim().is_empty() {
        return Err(Error::Rule(broken.required));
    }
    if text.chars().count() > TEXT_CHARS_MAX {
        return Err(Error::Rule(broken.too_long));
    }
    if text.chars().any(|letter| letter.is_control() && !['\n', '\r', '\t'].contains(&letter)) {
        return Err(Error::Rule(broken.invalid));
    }
    Ok(())
}

/// The text as it is shown in this form. HTML holds nothing of the author's but escaped text, line breaks and links to pages.
#[must_use]
pub fn display(text: &str, form: TextForm) -> String {
    if form == TextForm::Plain {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    let mut rest = text;
    while let Some((before, link, after)) = next_link(rest) {
        escape(&mut out, before);
        out.push_str("<a href=\"");
        escape(&mut out, link);
        out.push_str("\">");
        escape(&mut out, link);
        out.push_str("</a>");
        rest = after;
    }
    escape(&mut out, rest);
    out
}

fn escape(out: &mut String, text: &str) {
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            // One break, however the line ends.
            '\r' if letters.peek() == Some(&'\n') => {}
            '\n' | '\r' => out.push_str("<br>"),
            other => push_escaped(out, other),
        }
    }
}

/// The first address of a page in a text, with what stands before and after it.
fn next_link(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    loop {
        let colon = from + text.get(from..)?.find("://")?;
        from = colon + "://".len();
        let Some((before, rest)) =
            scheme_start(text, colon).and_then(|at| text.split_at_checked(at))
        else {
            continue;
        };
        if before.chars().next_back().is_some_and(char::is_alphanumeric) {
            continue;
        }
        let ends = |letter: char| letter.is_whitespace() || "<>\"'`".contains(letter);
        let end = rest.find(ends).unwrap_or(rest.len());
        let link = without_punctuation(rest.get(..end)?);
        if before.len() + link.len() > from {
            return Some((before, link, rest.get(link.len()..)?));
        }
    }
}

/// The begin of the scheme of a page that ends here, in any letter case.
fn scheme_start(text: &str, end: usize) -> Option<usize> {
    ["https", "http"].into_iter().find_map(|scheme| {
        let start = end.checked_sub(scheme.len())?;
        text.get(start..end)?.eq_ignore_ascii_case(scheme).then_some(start)
    })
}

/// An address without what ends the sentence that it stands in; a closing bracket belongs to it if an opening one does.
fn without_punctuation(mut link: &str) -> &str {
    while let Some(last) = link.chars().next_back() {
        let is_end = match last {
            ')' => link.matches(')').count() > link.matches('(').count(),
            _ => ".,;:!?]}*".contains(last),
        };
        if !is_end {
            break;
        }
        link = link.get(..link.len() - last.len_utf8()).unwrap_or_default();
    }
    link
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn html_is_escaped_and_has_breaks_and_links() {
        for (text, html) in [
            ("a < b & \"c\" 'd'", "a &lt; b &amp; &quot;c&quot; &#39;d&#39;"),
            ("one\ntwo\r\nthree\rfour", "one<br>two<br>three<br>four"),
            (
                "see https://a.example/x?y=1&z=(2).",
                "see <a href=\"https://a.example/x?y=1&amp;z=(2)\">https://a.example/x?y=1&amp;z=(2)</a>.",
            ),
            ("(http://a.b)", "(<a href=\"http://a.b\">http://a.b</a>)"),
            ("http:// xhttp://a https://!", "http:// xhttp://a https://!"),
            ("ftp://a HTTP://B", "ftp://a <a href=\"HTTP://B\">HTTP://B</a>"),
            ("javascript:alert(1)", "javascript:alert(1)"),
            ("http://a\"onclick=\"b", "<a href=\"http://a\">http://a</a>&quot;onclick=&quot;b"),
        ] {
            assert_eq!(display(text, TextForm::Html), html);
            assert_eq!(display(text, TextForm::Plain), text);
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_a_tag_of_its_own(text in "(<|>|\"|'|&|https?://|HTTPS?://|[a-z()./]|\n|é){0,40}") {
            let html = display(&text, TextForm::Html);
            let stripped = html.replace("<br>", "").replace("</a>", "");
            for piece in stripped.split('<').skip(1) {
                prop_assert!(piece.starts_with("a href=\"http") || piece.starts_with("a href=\"HTTP"), "{}", html);
                prop_assert_eq!(piece.split('>').next().unwrap().matches('"').count(), 2);
            }
        }
    }
}
