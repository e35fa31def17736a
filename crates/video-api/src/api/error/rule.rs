//! Rules of resources: each stands beside its resource, with all that an error body says of it.

use super::{Detail, Error, Place};

/// A rule that a request can break: its status, domain, reason, place and sentence.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// The status of the answer.
    pub status: u16,
    domain: &'static str,
    reason: &'static str,
    place: Place,
    sentence: &'static str,
}

impl Rule {
    /// A rule whose reason belongs to `domain`.
    #[must_use]
    pub const fn new(
        status: u16,
        domain: &'static str,
        reason: &'static str,
        place: Place,
        sentence: &'static str,
    ) -> Self {
        Self { status, domain, reason, place, sentence }
    }

    /// The sentence for the client.
    #[must_use]
    pub const fn sentence(&self) -> &'static str {
        self.sentence
    }

    pub(super) fn detail(&self) -> Detail {
        Detail::new(self.status, self.domain, self.reason, self.place.clone())
    }
}

impl From<&'static Rule> for Error {
    fn from(rule: &'static Rule) -> Self {
        Self::Rule(rule)
    }
}

/// Names the rules of a resource, and lists them as `RULES`, so that none is left out of the walk over all.
macro_rules! rules {
    ($($(#[$doc:meta])* $name:ident = $rule:expr;)*) => {
        $($(#[$doc])* pub static $name: Rule = $rule;)*

        /// Every rule of the resource.
        pub static RULES: &[&Rule] = &[$(&$name),*];
    };
}

pub(crate) use rules;
