//! The operations: one table that routing, checks, authentication, quota, metrics, discovery and documents are made from,
//! and what a handler is given.

use serde_json::{Map, Value};
use triptych_core::id::Ids;
use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use crate::account::{Caller, Scope, Scopes};
use crate::api::error::Error;
use crate::api::language;
use crate::api::page_token::{Binding, PageToken};
use crate::api::parameter::{Kind, Param, Params};
use crate::api::response::Reply;
use crate::media::{Media, Treatment};

/// What the paths of the interface start with (Spec §9: the version is the last segment).
pub const VERSION_PATH: &str = "/youtube/v3";

/// The method of an operation's requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    Get,
    /// Creates, or acts.
    Post,
    /// Replaces.
    Put,
    /// Deletes.
    Delete,
}

impl Method {
    /// As it stands in a request.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
        }
    }
}

/// How many of an operation's filters a request has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filters {
    /// There are none.
    None,
    /// Exactly one of these.
    One(&'static [&'static str]),
    /// At most one of these.
    AtMostOne(&'static [&'static str]),
}

/// A part of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Its name.
    pub name: &'static str,
    /// Whether insert and update take it.
    pub writable: bool,
    /// Whether the owner alone sees it.
    pub owner_only: bool,
}

impl Part {
    /// A part that is only read.
    #[must_use]
    pub const fn read(name: &'static str) -> Self {
        Self { name, writable: false, owner_only: false }
    }

    /// A part that insert and update take.
    #[must_use]
    pub const fn written(name: &'static str) -> Self {
        Self { name, writable: true, owner_only: false }
    }

    /// A part that the owner alone sees.
    #[must_use]
    pub const fn owner(name: &'static str) -> Self {
        Self { name, writable: false, owner_only: true }
    }
}

/// Which credentials a request needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// An API key or a token; parameters that ask for private data need a token (Spec §5).
    KeyOrToken,
    /// A token.
    Token,
}

/// What a request costs in the two models of quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// Units of the one daily sum.
    pub units: u32,
    /// Whether it has a bucket of its own where there are buckets.
    pub own_bucket: bool,
}

/// What an operation takes as media.
#[derive(Debug, Clone, Copy)]
pub struct Upload {
    /// Media types.
    pub accept: &'static [&'static str],
    /// Bytes at most.
    pub bytes_max: u64,
    /// Whether a request without media is refused.
    pub required: bool,
    /// What is made of the media before the handler runs.
    pub treatment: Treatment,
}

/// A handler. It may run twice: its only effects are what it does to `tx`, draws from `ids` and returns.
pub type Handler = fn(&Call<'_>, &mut Tx<'_>, &mut dyn Ids) -> Result<Reply, Error>;

/// How an operation is done.
#[derive(Debug, Clone, Copy)]
pub enum Run {
    /// A plain function of the request and the store.
    Call(Handler),
    /// It is not built yet; the answer names it.
    Absent,
    /// It was withdrawn from the interface.
    Unsupported,
}

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Operation {
    /// Its name, as clients and metrics know it.
    pub name: &'static str,
    /// One sentence.
    pub doc: &'static str,
    /// The method.
    pub method: Method,
    /// The path after [`VERSION_PATH`]; `{id}` is one segment.
    pub path: &'static str,
    /// Its own parameters, the required ones first.
    pub params: &'static [Param],
    /// Its filters.
    pub filters: Filters,
    /// The parts of its resource.
    pub parts: &'static [Part],
    /// Whether a write that names a part which it cannot write is refused. Else such a part is only returned.
    pub written_parts_only: bool,
    /// Which credentials it needs.
    pub access: Access,
    /// A token needs one of these.
    pub scopes: Scopes,
    /// What it costs.
    pub cost: Cost,
    /// The schema of its body.
    pub request: Option<&'static str>,
    /// The schema of its answer.
    pub response: Option<&'static str>,
    /// What it takes as media.
    pub upload: Option<Upload>,
    /// Whether `alt=media` gives bytes.
    pub download: bool,
    /// Whether the work is more than microseconds, so that it runs on a blocking thread.
    pub heavy: bool,
    /// How it is done.
    pub run: Run,
}

impl Operation {
    /// The defaults of a row.
    pub(crate) const BASE: Self = Self {
        name: "",
        doc: "",
        method: Method::Get,
        path: "",
        params: &[],
        filters: Filters::None,
        parts: &[],
        written_parts_only: false,
        access: Access::Token,
        scopes: Scopes::of(&[]),
        cost: Cost { units: 50, own_bucket: false },
        request: None,
        response: None,
        upload: None,
        download: false,
        heavy: false,
        run: Run::Absent,
    };

    /// A row that lists resources: GET, key or token, one unit.
    pub(crate) const fn list(name: &'static str, path: &'static str, run: Run) -> Self {
        Self {
            name,
            path,
            run,
            access: Access::KeyOrToken,
            cost: Cost { units: 1, own_bucket: false },
            ..Self::BASE
        }
    }

    /// A row that creates something: POST, a token, 50 units.
    pub(crate) const fn insert(name: &'static str, path: &'static str, run: Run) -> Self {
        Self { name, path, run, method: Method::Post, ..Self::BASE }
    }

    /// A row that replaces: PUT, a token, 50 units.
    pub(crate) const fn update(name: &'static str, path: &'static str, run: Run) -> Self {
        Self { name, path, run, method: Method::Put, ..Self::BASE }
    }

    /// A row that deletes: DELETE, a token, 50 units.
    pub(crate) const fn delete(name: &'static str, path: &'static str, run: Run) -> Self {
        Self { name, path, run, method: Method::Delete, ..Self::BASE }
    }

    /// Whether the body is JSON that the handler reads.
    #[must_use]
    pub const fn takes_json(&self) -> bool {
        self.request.is_some()
    }
}

pub(crate) const PART: Param = Param::text(
    "part",
    "The parts of the resource: which are returned, and for a write which are written.",
)
.required()
.repeated();
pub(crate) const MAX_RESULTS: Param =
    Param::of("maxResults", Kind::Unsigned(0, 50), "How many items a page has at most.")
        .default("5");
pub(crate) const PAGE_TOKEN: Param = Param::text(
    "pageToken",
    "The page, as nextPageToken or prevPageToken of another answer named it.",
);
pub(crate) const HL: Param =
    Param::text("hl", "The language of localized texts (i18nLanguages.list).");
pub(crate) const OWNER: Param = Param::text(
    "onBehalfOfContentOwner",
    "The content owner on whose behalf a partner acts; read and not needed here.",
);
pub(crate) const OWNER_CHANNEL: Param = Param::text(
    "onBehalfOfContentOwnerChannel",
    "The channel on whose behalf a partner acts; read and not needed here.",
);
/// Scopes that let a token read what is not public.
pub(crate) const READ: Scopes =
    Scopes::of(&[Scope::Full, Scope::ForceSsl, Scope::ReadOnly, Scope::Partner]);
/// Scopes that let a token write.
pub(crate) const WRITE: Scopes = Scopes::of(&[Scope::Full, Scope::ForceSsl, Scope::Partner]);
/// Scopes that let a token upload.
pub(crate) const UPLOAD: Scopes =
    Scopes::of(&[Scope::Full, Scope::ForceSsl, Scope::Upload, Scope::Partner]);
pub(crate) const ID: Param = Param::text("id", "The id of the resource.").required();
pub(crate) const IDS: Param = Param::text("id", "Ids, at most 50.").repeated();

/// Every operation of the interface (Spec §4), in its order.
pub static OPERATIONS: &[Operation] = &[
    crate::resource::absent::ACTIVITIES_LIST,
    crate::resource::absent::ACTIVITIES_INSERT,
    crate::resource::absent::CAPTIONS_DELETE,
    crate::resource::absent::CAPTIONS_DOWNLOAD,
    crate::resource::absent::CAPTIONS_INSERT,
    crate::resource::absent::CAPTIONS_LIST,
    crate::resource::absent::CAPTIONS_UPDATE,
    crate::resource::channel_banners::INSERT,
    crate::resource::absent::CHANNEL_SECTIONS_DELETE,
    crate::resource::absent::CHANNEL_SECTIONS_INSERT,
    crate::resource::absent::CHANNEL_SECTIONS_LIST,
    crate::resource::absent::CHANNEL_SECTIONS_UPDATE,
    crate::resource::channels::LIST,
    crate::resource::channels::UPDATE,
    crate::resource::absent::COMMENT_THREADS_LIST,
    crate::resource::absent::COMMENT_THREADS_INSERT,
    crate::resource::absent::COMMENTS_LIST,
    crate::resource::absent::COMMENTS_SET_MODERATION_STATUS,
    crate::resource::absent::COMMENTS_INSERT,
    crate::resource::absent::COMMENTS_MARK_AS_SPAM,
    crate::resource::absent::COMMENTS_DELETE,
    crate::resource::absent::COMMENTS_UPDATE,
    crate::resource::categories::GUIDE_LIST,
    crate::resource::i18n::LANGUAGES_LIST,
    crate::resource::i18n::REGIONS_LIST,
    crate::resource::absent::MEMBERS_LIST,
    crate::resource::absent::MEMBERSHIPS_LEVELS_LIST,
    crate::resource::playlist_items::DELETE,
    crate::resource::playlist_items::INSERT,
    crate::resource::playlist_items::LIST,
    crate::resource::playlist_items::UPDATE,
    crate::resource::playlists::DELETE,
    crate::resource::playlists::LIST,
    crate::resource::playlists::INSERT,
    crate::resource::playlists::UPDATE,
    crate::resource::search::LIST,
    crate::resource::absent::SUBSCRIPTIONS_DELETE,
    crate::resource::absent::SUBSCRIPTIONS_INSERT,
    crate::resource::absent::SUBSCRIPTIONS_LIST,
    crate::resource::thumbnails::SET,
    crate::resource::absent::VIDEO_ABUSE_REPORT_REASONS_LIST,
    crate::resource::categories::VIDEO_LIST,
    crate::resource::videos::INSERT,
    crate::resource::videos::LIST,
    crate::resource::videos::DELETE,
    crate::resource::videos::UPDATE,
    crate::resource::videos::RATE,
    crate::resource::videos::GET_RATING,
    crate::resource::absent::VIDEOS_REPORT_ABUSE,
    crate::resource::watermarks::SET,
    crate::resource::watermarks::UNSET,
];

/// How a path fits the table.
#[derive(Debug)]
pub enum Fit {
    /// This operation, and the values of its path.
    Operation(&'static Operation, Vec<(String, String)>),
    /// These methods alone are served there.
    OtherMethod(Vec<&'static str>),
    /// Nothing is served there.
    None,
}

/// The operation of `method` at `path`, which is relative to the version.
#[must_use]
pub fn find(method: &str, path: &str) -> Fit {
    let mut served = Vec::new();
    for operation in OPERATIONS {
        let Some(values) = values_of(operation.path, path) else {
            continue;
        };
        if operation.method.name() == method {
            return Fit::Operation(operation, values);
        }
        served.push(operation.method.name());
    }
    if served.is_empty() { Fit::None } else { Fit::OtherMethod(served) }
}

/// The values of `{name}` segments, or `None` if the path is another.
fn values_of(pattern: &'static str, path: &str) -> Option<Vec<(String, String)>> {
    if !pattern.ends_with('}') {
        return (pattern == path).then(Vec::new);
    }
    let (fixed, name) = pattern.split_once("/{")?;
    let value = path.strip_prefix(fixed)?.strip_prefix('/')?;
    let name = name.trim_end_matches('}').to_owned();
    (!value.is_empty() && !value.contains('/')).then(|| vec![(name, value.to_owned())])
}

/// What a handler is given: a request that passed every check of its row.
#[derive(Debug)]
pub struct Call<'r> {
    /// Its row.
    pub operation: &'static Operation,
    /// Its parameters.
    pub params: &'r Params,
    /// The parts that it names; all known to the row.
    pub parts: Vec<&'static str>,
    /// Who asks.
    pub caller: &'r Caller,
    /// When.
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
    /// Whether it asks for this part.
    #[must_use]
    pub fn wants(&self, part: &str) -> bool {
        self.parts.contains(&part)
    }

    /// The language of localized texts: `hl`, else what the client reads best.
    #[must_use]
    pub fn language(&self) -> Option<&str> {
        let named = self.params.get("hl").or_else(|| self.params.get("locale"));
        named.or_else(|| self.accept_language.and_then(language::preferred))
    }

    /// What the text of an item follows from beside the item itself and the caller.
    #[must_use]
    pub fn form(&self) -> impl std::hash::Hash + use<'_> {
        let side = |name| self.params.get(name);
        (&self.parts, self.language(), [side("maxWidth"), side("maxHeight")])
    }

    /// How many items a page has at most.
    #[must_use]
    pub fn page_size(&self, default: u32) -> u32 {
        self.params.number("maxResults", default)
    }

    /// The page that it asks for.
    ///
    /// # Errors
    /// [`Error::InvalidPageToken`].
    pub fn page_token(&self, binding: Binding) -> Result<Option<PageToken>, Error> {
        self.params.get("pageToken").map(|text| PageToken::parse(text, binding)).transpose()
    }

    /// Checks `If-Match` against the version that is stored.
    ///
    /// # Errors
    /// [`Error::ConditionNotMet`].
    pub fn expect(&self, etag: &str) -> Result<(), Error> {
        let Some(expected) = self.if_match else {
            return Ok(());
        };
        let holds = expected
            .split(',')
            .map(|one| one.trim().trim_start_matches("W/").trim_matches('"'))
            .any(|one| one == "*" || one == etag);
        if holds { Ok(()) } else { Err(Error::ConditionNotMet) }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_table_has_the_51_operations_each_once() {
        assert_eq!(OPERATIONS.len(), 51);
        let names: BTreeSet<_> = OPERATIONS.iter().map(|operation| operation.name).collect();
        assert_eq!(names.len(), 51);
        let targets: BTreeSet<_> =
            OPERATIONS.iter().map(|operation| (operation.method.name(), operation.path)).collect();
        assert_eq!(targets.len(), 51);
    }

    #[test]
    fn every_operation_is_found_at_its_own_path() {
        for operation in OPERATIONS {
            let path = operation.path.replace("{id}", "x");
            let Fit::Operation(found, _) = find(operation.method.name(), &path) else {
                panic!("{}", operation.name)
            };
            assert_eq!(found.name, operation.name);
        }
        let Fit::OtherMethod(served) = find("PATCH", "/videos") else {
            panic!("videos are not served with PATCH")
        };
        assert_eq!(served, ["POST", "GET", "DELETE", "PUT"]);
        assert!(matches!(find("GET", "/captions/a/b"), Fit::None));
        assert!(matches!(find("GET", "/nothing"), Fit::None));
    }

    #[test]
    fn every_row_is_complete() {
        for operation in OPERATIONS {
            let name = operation.name;
            assert!(operation.doc.ends_with('.'), "{name} has no sentence");
            assert!(operation.scopes != Scopes::of(&[]), "{name} has no scope");
            let listed = operation.params.iter().any(|param| param.name == "part");
            assert_eq!(listed, !operation.parts.is_empty(), "{name}: part and parts go together");
            assert_eq!(
                operation.upload.is_some(),
                operation.method != Method::Get
                    && [
                        "captions.insert",
                        "captions.update",
                        "channelBanners.insert",
                        "thumbnails.set",
                        "videos.insert",
                        "watermarks.set"
                    ]
                    .contains(&name),
                "{name}"
            );
        }
    }
}
