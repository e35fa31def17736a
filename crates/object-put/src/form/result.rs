//! The answer to a form: where the browser goes, or what it is told.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::form::fields::Form;
use crate::operation::{Reply, ReplyBody};
use crate::request::xml::XmlWriter;

/// Everything but letters, digits and `-._~` is encoded, the slash too, as in the real service.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// An object that a form made.
#[derive(Debug, Clone, Copy)]
pub struct Posted<'p> {
    /// The place of its bucket: scheme, host, and the bucket where the host does not name it.
    pub base: &'p str,
    /// The bucket.
    pub bucket: &'p str,
    /// The key.
    pub key: &'p str,
}

impl Posted<'_> {
    /// The answer to `form`, made of the one that the same upload would have as a PUT: where the form names a place to go on to, 303; else the
    /// status that it names, of 200, 201 and 204, and 204 without.
    #[must_use]
    pub fn answer(&self, form: &Form, mut reply: Reply) -> Reply {
        let encode = |text: &str| utf8_percent_encode(text, ENCODED).to_string();
        let etag = reply.headers.iter().find(|(name, _)| name == "etag");
        let etag = etag.map(|(_, value)| value.clone().into_owned()).unwrap_or_default();
        let next = form.get("success_action_redirect").or_else(|| form.get("redirect"));
        if let Some(next) = next.filter(|next| is_url(next)) {
            // What the page names by a fragment stays at the end.
            let (page, fragment) =
                next.split_once('#').map_or((next, None), |(page, rest)| (page, Some(rest)));
            let sign = if page.contains('?') { '&' } else { '?' };
            let mut url = format!(
                "{page}{sign}bucket={}&key={}&etag={}",
                encode(self.bucket),
                encode(self.key),
                encode(&etag)
            );
            if let Some(fragment) = fragment {
                url.push('#');
                url.push_str(fragment);
            }
            reply.status = 303;
            return reply.with("location", url);
        }
        let place = format!("{}/{}", self.base, encode(self.key));
        reply = reply.with("location", place.clone());
        reply.status = match form.get("success_action_status").map(str::trim) {
            Some("200") => 200,
            Some("201") => 201,
            _ => 204,
        };
        if reply.status == 201 {
            let text = XmlWriter::document("PostResponse", "", |writer| {
                writer.text("Location", &place);
                writer.text("Bucket", self.bucket);
                writer.text("Key", self.key);
                writer.text("ETag", &etag);
            });
            reply.body = ReplyBody::Text(text.into());
        }
        reply
    }
}

/// Tells whether a text is the address of a page, which a header can hold; any other is as if there were none.
fn is_url(text: &str) -> bool {
    let rest = ["http://", "https://"].iter().find_map(|start| {
        let (own, rest) = text.split_at_checked(start.len())?;
        own.eq_ignore_ascii_case(start).then_some(rest)
    });
    rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with(['/', '?', '#']))
        && text.bytes().all(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(fields: &[(&str, &str)]) -> (u16, String) {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let form = Form::new(fields.iter().map(own).collect());
        let posted = Posted { base: "http://b.localhost", bucket: "b", key: "a/b c" };
        let reply = posted.answer(&form, Reply::empty(200).with("etag", "\"1\""));
        let place = reply.headers.iter().find(|(name, _)| name == "location").unwrap();
        (reply.status, place.1.clone().into_owned())
    }

    #[test]
    fn a_browser_goes_on_to_the_page_that_the_form_names() {
        let query = "bucket=b&key=a%2Fb%20c&etag=%221%22";
        for (page, place) in [
            ("http://h/p", format!("http://h/p?{query}")),
            ("https://h/p?a=1", format!("https://h/p?a=1&{query}")),
            ("http://h#end", format!("http://h?{query}#end")),
        ] {
            assert_eq!(answer(&[("Success_Action_Redirect", page)]), (303, place.clone()));
            assert_eq!(answer(&[("redirect", page)]), (303, place));
        }
    }

    #[test]
    fn without_such_a_page_the_form_names_the_status() {
        let place = "http://b.localhost/a%2Fb%20c".to_owned();
        for (status, expected) in
            [("200", 200), ("201", 201), ("204", 204), ("404", 204), ("", 204)]
        {
            assert_eq!(answer(&[("success_action_status", status)]), (expected, place.clone()));
        }
        for page in ["", "javascript:x", "http://", "http:///x", "http://h/\r\nx", "h"] {
            assert_eq!(answer(&[("success_action_redirect", page)]), (204, place.clone()));
        }
    }
}
