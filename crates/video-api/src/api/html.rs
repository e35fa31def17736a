//! Text within pages of HTML.

/// Text as it stands in markup and in attributes.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    text.chars().for_each(|letter| push_escaped(&mut out, letter));
    out
}

/// Adds a letter of a text to markup.
pub fn push_escaped(out: &mut String, letter: char) {
    match letter {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '"' => out.push_str("&quot;"),
        '\'' => out.push_str("&#39;"),
        other => out.push(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_sign_of_markup_is_left_and_other_text_stays() {
        assert_eq!(escaped("<a href=\"x\">'&ä"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;ä");
    }
}
