//! The header fields of a request, looked up by the spec's names.

use std::borrow::Cow;

use crate::error::Error;
use crate::request::dialect::Dialect;

/// The header fields of a request: lower-case names and raw values, in the order they came.
#[derive(Debug, Clone, Default)]
pub struct Fields<'r> {
    entries: Vec<(&'r str, &'r [u8])>,
    dialect: Dialect,
}

impl<'r> Fields<'r> {
    /// The fields with these lower-case names and values, read in the spec's dialect until told otherwise.
    pub fn of(entries: impl IntoIterator<Item = (&'r str, &'r [u8])>) -> Self {
        Self { entries: entries.into_iter().collect(), dialect: Dialect::Store }
    }

    /// The same fields, read in `dialect`.
    #[must_use]
    pub fn in_dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// The dialect in which names are looked up.
    #[must_use]
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// All fields, with names as they were sent (in lower case).
    pub fn iter(&self) -> impl Iterator<Item = (&'r str, &'r [u8])> + Clone {
        self.entries.iter().copied()
    }

    /// Tells whether the header that the spec calls `name` is there.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        let own = self.dialect.spelling(name);
        self.iter().any(|(sent, _)| own.is(sent))
    }

    /// The value of the header that the spec calls `name`, without outer blanks. A header that is repeated is one whose
    /// values are joined with commas, as signatures see it: the grammar of the value then decides.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for bytes that are no visible text.
    pub fn get(&self, name: &str) -> Result<Option<Cow<'r, str>>, Error> {
        let own = self.dialect.spelling(name);
        let mut found: Option<Cow<'r, str>> = None;
        for (sent, value) in self.iter() {
            if !own.is(sent) {
                continue;
            }
            let text = std::str::from_utf8(value)
                .map_err(|_| {
                    let reason = "Header value cannot be represented using UTF-8.";
                    Error::argument(name.to_owned(), None, reason)
                })?
                .trim_matches([' ', '\t']);
            found = Some(match found {
                None => Cow::Borrowed(text),
                Some(first) => Cow::Owned(format!("{first},{text}")),
            });
        }
        Ok(found)
    }

    /// The fields whose spec name starts with `prefix`: what follows it, and the raw value.
    pub fn starting_with<'p>(
        &'p self,
        prefix: &'p str,
    ) -> impl Iterator<Item = (&'r str, &'r [u8])> + 'p {
        let prefix = self.dialect.header(prefix);
        self.iter().filter_map(move |(sent, value)| Some((sent.strip_prefix(&*prefix)?, value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_header_is_joined_with_commas() {
        let fields = Fields::of([("if-match", &b" a "[..]), ("if-match", &b"b"[..])]);
        assert_eq!(fields.get("if-match").unwrap().unwrap(), "a,b");
        assert_eq!(fields.get("if-none-match").unwrap(), None);
    }

    #[test]
    fn headers_are_found_by_their_spec_name_in_either_dialect() {
        let fields = Fields::of([("x-amz-acl", &b"private"[..]), ("x-amz-meta-a", &b"1"[..])])
            .in_dialect(Dialect::Amz);
        assert_eq!(fields.get("x-store-acl").unwrap().unwrap(), "private");
        let meta: Vec<_> = fields.starting_with("x-store-meta-").collect();
        assert_eq!(meta, [("a", &b"1"[..])]);
    }
}
