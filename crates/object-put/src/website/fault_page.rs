//! The page that a browser is shown for a fault, where the website has none of its own.

use std::fmt::Write as _;

use crate::request::xml::escape;

/// A fault, as a page shows it.
#[derive(Debug, Clone, Copy)]
pub struct FaultPage<'f> {
    /// Status and its words.
    pub status: &'f str,
    /// Names and texts: code, message, what belongs to them, and the ids of the request.
    pub fields: &'f [(&'f str, &'f str)],
    /// The same of the fault that hid the website's own page.
    pub of_error_page: Option<&'f [(&'f str, &'f str)]>,
}

impl FaultPage<'_> {
    /// The page.
    #[must_use]
    pub fn html(&self) -> String {
        let mut page =
            format!("<html>\n<head><title>{0}</title></head>\n<body>\n<h1>{0}</h1>\n", self.status);
        push_list(self.fields, &mut page);
        if let Some(fields) = self.of_error_page {
            page.push_str(
                "<h3>An Error Occurred While Attempting to Retrieve a Custom Error Document</h3>\n",
            );
            push_list(fields, &mut page);
        }
        page.push_str("<hr/>\n</body>\n</html>\n");
        page
    }
}

fn push_list(fields: &[(&str, &str)], page: &mut String) {
    page.push_str("<ul>\n");
    for (name, text) in fields {
        // Writing to a String never fails.
        let _ = write!(page, "<li>{name}: ");
        escape(text, page);
        page.push_str("</li>\n");
    }
    page.push_str("</ul>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_of_a_request_becomes_markup() {
        let fields = [("Code", "NoSuchKey"), ("Key", "<script>alert(1)</script>")];
        let page = FaultPage { status: "404 Not Found", fields: &fields, of_error_page: None };
        let html = page.html();
        assert!(html.contains("<li>Key: &lt;script&gt;alert(1)&lt;/script&gt;</li>"), "{html}");
        assert!(!html.contains("<h3>"));
    }
}
