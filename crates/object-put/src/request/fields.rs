//! The header fields of a request, looked up by the spec's names.

use std::borrow::Cow;

use triptych_core::time::Timestamp;

use crate::error::Error;
use crate::request::dialect::Dialect;
use crate::request::query::Query;

/// The header fields of a request: lower-case names and raw values, in the order they came.
#[derive(Debug, Clone, Default)]
pub struct Fields<'r> {
    entries: Vec<(&'r str, &'r [u8])>,
    /// The number of entries that came as headers; the rest came as parameters of a presigned URL, which its signature covers.
    sent: usize,
    dialect: Dialect,
}

impl<'r> Fields<'r> {
    /// The fields with these lower-case names and values, read in the spec's dialect until told otherwise.
    pub fn of(entries: impl IntoIterator<Item = (&'r str, &'r [u8])>) -> Self {
        let entries: Vec<_> = entries.into_iter().collect();
        Self { sent: entries.len(), entries, dialect: Dialect::Store }
    }

    /// The same fields, and the parameters of a presigned URL that count as headers. A header of the same name must say the same.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`], which names the header.
    pub fn with_parameters(mut self, query: &'r Query) -> Result<Self, Error> {
        if query.headers().next().is_none() {
            return Ok(self);
        }
        for (name, _) in query.headers() {
            let sent = self.iter().filter(|(own, _)| *own == name);
            let sent = joined(sent.map(|(_, value)| value));
            let meant = query.headers().filter(|(own, _)| *own == name);
            let meant = joined(meant.map(|(_, value)| value.as_bytes()));
            if sent.is_some() && sent != meant {
                return Err(Error::request(format!(
                    "The header {name} and the query parameter of that name say different things."
                )));
            }
        }
        let is_sent = |name: &str| !query.headers().any(|(own, _)| own == name);
        self.entries.retain(|(name, _)| is_sent(name));
        self.sent = self.entries.len();
        self.entries.extend(query.headers().map(|(name, value)| (name, value.as_bytes())));
        Ok(self)
    }

    /// The same fields without conditions on a time that is still to come at `now`: they say nothing (RFC 9110 §13.1.3).
    #[must_use]
    pub fn without_future_dates(mut self, now: Timestamp) -> Self {
        let conditions = ["if-modified-since", "x-store-copy-source-if-modified-since"]
            .map(|name| self.dialect.spelling(name));
        let is_future = |(name, value): &(&str, &[u8])| {
            conditions.iter().any(|own| own.is(name))
                && std::str::from_utf8(value)
                    .ok()
                    .and_then(|text| Timestamp::from_http_date(text.trim()))
                    .is_some_and(|date| date > now)
        };
        let sent = self.entries.iter().take(self.sent).filter(|entry| !is_future(entry)).count();
        self.entries.retain(|entry| !is_future(entry));
        self.sent = sent;
        self
    }

    /// The fields that came as headers alone.
    pub fn sent(&self) -> impl Iterator<Item = (&'r str, &'r [u8])> + Clone {
        self.iter().take(self.sent)
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

/// Values without outer blanks, commas between; `None` if there is none.
fn joined<'v>(values: impl Iterator<Item = &'v [u8]>) -> Option<String> {
    let texts = values.map(|value| String::from_utf8_lossy(value).trim().to_owned());
    texts.reduce(|joined, next| format!("{joined},{next}"))
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
    fn a_condition_on_a_time_to_come_is_passed_over() {
        let date = "Thu, 01 Jan 1970 00:00:10 GMT";
        let fields = Fields::of([("if-modified-since", date.as_bytes()), ("a", &b"1"[..])]);
        let left = |seconds| {
            let fields = fields.clone().without_future_dates(Timestamp::from_seconds(seconds));
            (fields.has("if-modified-since"), fields.sent().count())
        };
        assert_eq!(left(9), (false, 1));
        assert_eq!(left(10), (true, 2));
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
