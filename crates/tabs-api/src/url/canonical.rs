//! Addresses as the browser writes them: what it escapes beyond the URL standard's reader.

use url::{ParseError, Url};

/// The characters of paths that the browser escapes and the reader leaves.
const IN_PATHS: &[(&str, &str)] = &[("^", "%5E"), ("|", "%7C")];
/// Those of the names and passwords of users.
const IN_USERS: &[(&str, &str)] = &[("'", "%27")];

/// A text as an address.
///
/// # Errors
/// If it is none.
pub fn parse(text: &str) -> Result<Url, ParseError> {
    Url::parse(text).map(canonical)
}

/// The address that a text leads to from a page.
///
/// # Errors
/// If it leads nowhere.
pub(super) fn join(base: &Url, text: &str) -> Result<Url, ParseError> {
    base.join(text).map(canonical)
}

/// An address with all the escapes that the browser gives it. One that is all path, as those of data are, has none of them.
pub(super) fn canonical(mut url: Url) -> Url {
    if url.cannot_be_a_base() {
        return url;
    }
    if let Some(path) = escaped(url.path(), IN_PATHS) {
        url.set_path(&path);
    }
    // An address with a user has a host, and so takes another one.
    if let Some(name) = escaped(url.username(), IN_USERS) {
        let _ = url.set_username(&name);
    }
    if let Some(password) = url.password().and_then(|password| escaped(password, IN_USERS)) {
        let _ = url.set_password(Some(&password));
    }
    url
}

/// A part with characters of a table escaped; `None` if it has none of them.
fn escaped(part: &str, table: &[(&str, &str)]) -> Option<String> {
    let is_in = |(sign, _): &&(&str, &str)| part.contains(sign);
    table.iter().find(is_in)?;
    Some(table.iter().fold(part.to_owned(), |part, (sign, escape)| part.replace(sign, escape)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every sign that may stand in a part of an address and ends none.
    const SIGNS: &str = "!$%&'()*+,-.09;=AZ[]^_`az{|}~";

    #[test]
    fn each_part_of_an_address_escapes_what_the_browser_escapes_there() {
        for (given, read) in [
            ("http://a.test/", "http://a.test/!$%&'()*+,-.09;=AZ[]%5E_%60az%7B%7C%7D~"),
            ("chrome://version/", "chrome://version/!$%&'()*+,-.09;=AZ[]%5E_%60az%7B%7C%7D~"),
            ("file:///", "file:///!$%&'()*+,-.09;=AZ[]%5E_%60az%7B%7C%7D~"),
            ("foo://h/", "foo://h/!$%&'()*+,-.09;=AZ[]%5E_%60az%7B%7C%7D~"),
            ("http://a.test/?", "http://a.test/?!$%&%27()*+,-.09;=AZ[]^_`az{|}~"),
            ("http://a.test/#", "http://a.test/#!$%&'()*+,-.09;=AZ[]^_%60az{|}~"),
            ("data:", "data:!$%&'()*+,-.09;=AZ[]^_`az{|}~"),
        ] {
            assert_eq!(parse(&format!("{given}{SIGNS}")).map(String::from).as_deref(), Ok(read));
        }
        for scheme in ["http", "foo"] {
            let user = parse(&format!("{scheme}://u{SIGNS}:p{SIGNS}@h/")).map(String::from);
            let escaped = "!$%&%27()*+,-.09%3B%3DAZ%5B%5D%5E_%60az%7B%7C%7D~";
            assert_eq!(user, Ok(format!("{scheme}://u{escaped}:p{escaped}@h/")));
        }
    }

    #[test]
    fn what_leads_on_from_a_page_is_escaped_as_well() {
        let base = parse("http://a.test/x/").unwrap();
        assert_eq!(join(&base, "y|z").map(String::from).as_deref(), Ok("http://a.test/x/y%7Cz"));
    }
}
