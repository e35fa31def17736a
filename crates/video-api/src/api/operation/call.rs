//! A request as its handler is given it.

use serde_json::{Map, Value};
use triptych_core::time::Timestamp;

use crate::account::Caller;
use crate::api::error::Error;
use crate::api::language;
use crate::api::operation::Operation;
use crate::api::page_token::{Binding, PageToken};
use crate::api::parameter::Params;
use crate::media::Media;

/// The input of a handler: a request that passed every check of its row.
#[derive(Debug)]
pub struct Call<'r> {
    /// Its row.
    pub operation: &'static Operation,
    /// Its parameters.
    pub params: &'r Params,
    /// The parts that it names; all known to the row.
    pub parts: Vec<&'static str>,
    /// The caller.
    pub caller: &'r Caller,
    /// The time.
    pub now: Timestamp,
    /// Its body; empty without one.
    pub body: &'r Map<String, Value>,
    /// Its media, on disk but not yet named by a record.
    pub media: Option<&'r Media>,
    /// The version that it expects to change.
    pub if_match: Option<&'r str>,
    /// `Accept-Language`.
    pub accept_language: Option<&'r str>,
}

impl Call<'_> {
    /// Returns whether it asks for this part.
    #[must_use]
    pub fn wants(&self, part: &str) -> bool {
        self.parts.contains(&part)
    }

    /// The value of a parameter, for what several operations share: not the row of each names it.
    #[must_use]
    pub fn given(&self, name: &str) -> Option<&str> {
        if self.params.takes(name) { self.params.get(name) } else { None }
    }

    /// The region that is asked for, as it is listed.
    #[must_use]
    pub fn region(&self) -> Option<&'static str> {
        self.params.get("regionCode").and_then(language::region)
    }

    /// The language of localized texts: `hl`, else what the client reads best.
    #[must_use]
    pub fn language(&self) -> Option<&str> {
        ["hl", "locale"]
            .into_iter()
            .find_map(|name| self.given(name))
            .or_else(|| self.accept_language.and_then(language::preferred))
    }

    /// Everything that the text of an item follows from beside the item itself and the caller.
    #[must_use]
    pub fn form(&self) -> impl std::hash::Hash + use<'_> {
        let side = |name| self.given(name);
        (&self.parts, self.language(), [side("maxWidth"), side("maxHeight")])
    }

    /// Number of items that a page has at most.
    #[must_use]
    pub fn page_size(&self) -> u32 {
        self.params.number("maxResults").unwrap_or_default()
    }

    /// The page that it asks for.
    ///
    /// # Errors
    /// [`Error::InvalidPageToken`].
    pub fn page_token(&self, binding: Binding) -> Result<Option<PageToken>, Error> {
        self.params.get("pageToken").map(|text| PageToken::parse(text, binding)).transpose()
    }

    /// Checks `If-Match` against the version that is stored. A weak etag names none (RFC 9110, section 13.1.1).
    ///
    /// # Errors
    /// [`Error::ConditionNotMet`].
    pub fn expect(&self, etag: &str) -> Result<(), Error> {
        let Some(expected) = self.if_match else {
            return Ok(());
        };
        let holds = expected
            .split(',')
            .map(|one| one.trim().trim_matches('"'))
            .any(|one| one == "*" || one == etag);
        if holds { Ok(()) } else { Err(Error::ConditionNotMet) }
    }
}
