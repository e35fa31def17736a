//! The query parameters of a request.

use crate::error::Error;
use crate::request::percent::decoded_query;

/// The query parameters of a request, decoded once, in the order they came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query(Vec<(String, String)>);

impl Query {
    /// The parameters of a raw query string. A name without `=` has an empty value.
    ///
    /// # Errors
    /// [`Error::InvalidUri`] for percent-encoding that is no UTF-8.
    pub fn parse(raw: &str) -> Result<Self, Error> {
        let decode = |text: &str| decoded_query(text).ok_or(Error::InvalidUri);
        let pairs = raw.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Ok((decode(name)?, decode(value)?))
        });
        Ok(Self(pairs.collect::<Result<_, Error>>()?))
    }

    /// The value of the first parameter with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|(own, _)| *own == name).map(|(_, value)| value)
    }

    /// Tells whether there is a parameter with this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The value of the first parameter whose name is `prefix` and then `name`.
    #[must_use]
    pub fn get_prefixed(&self, prefix: &str, name: &str) -> Option<&str> {
        self.iter().find(|(own, _)| own.strip_prefix(prefix) == Some(name)).map(|(_, value)| value)
    }

    /// All parameters.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> + Clone {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The names of all parameters.
    pub fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.iter().map(|(name, _)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_parameters_are_decoded_once() {
        let query = Query::parse("acl&prefix=a%2Fb+c&empty=").unwrap();
        assert!(query.has("acl"));
        assert_eq!(query.get("prefix"), Some("a/b c"));
        assert_eq!(query.get("empty"), Some(""));
        assert_eq!(Query::parse("a=%ff"), Err(Error::InvalidUri));
    }
}
