//! The row of an operation: all that routing, checks, authentication, quota, metrics, discovery and documents are made from.

pub mod call;

use triptych_core::id::Ids;
use triptych_core::kv::{Plan, RoundTrips, Tx};

use crate::account::{Scope, Scopes};
use crate::api::error::{Error, Rule};
use crate::api::operation::call::Call;
use crate::api::parameter::Param;
use crate::api::response::Reply;
use crate::media::Processing;

/// The start of every path of the interface (Spec §9: the version is the last segment).
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

/// The filters of an operation, and how many of them a request has.
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
    /// True if insert and update take it.
    pub writable: bool,
    /// True if the owner alone sees it.
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

/// The credentials that a request needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// An API key or a token; parameters that ask for private data need a token (Spec §5).
    KeyOrToken,
    /// A token.
    Token,
}

/// The cost of a request in the two models of quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// Units of the one daily sum.
    pub units: u32,
    /// True if it has a bucket of its own where there are buckets.
    pub own_bucket: bool,
}

/// The media that an operation takes.
#[derive(Debug, Clone, Copy)]
pub struct Upload {
    /// Media types.
    pub accept: &'static [&'static str],
    /// Bytes at most.
    pub bytes_max: u64,
    /// True if a request without media is refused.
    pub required: bool,
    /// The processing of the media before the handler runs.
    pub processing: Processing,
}

/// A handler. It may run twice: its only effects are what it does to `tx`, draws from `ids` and returns.
pub type Handler = fn(&Call<'_>, &mut Tx<'_>, &mut dyn Ids) -> Result<Reply, Error>;

/// A request before its parameters are checked: what its rows can be guessed from.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'r> {
    /// Its row.
    pub operation: &'static Operation,
    /// The pairs of its query and of its path.
    pub pairs: &'r [(String, String)],
    /// The caller's channel, once that is known.
    pub channel: Option<&'r str>,
}

impl Asked<'_> {
    /// Values that are looked at of a parameter that takes several.
    const VALUES_MAX: usize = 50;

    /// The value of a parameter.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The values of a parameter that takes several.
    pub fn list(&self, name: &str) -> impl Iterator<Item = String> {
        let named = self.pairs.iter().filter(move |(known, _)| known == name);
        let values = named.flat_map(|(_, value)| value.split(','));
        values.take(Self::VALUES_MAX).map(str::to_owned)
    }

    /// Returns whether a part may be asked for.
    #[must_use]
    pub fn wants(&self, part: &str) -> bool {
        self.list("part").any(|known| known == part)
    }

    /// Number of items that a page has at most.
    #[must_use]
    pub fn page_size(&self) -> u32 {
        self.get("maxResults").and_then(|text| text.parse().ok()).unwrap_or(5).min(50)
    }
}

/// Names the rows that a request will read, as far as it says which: see [`Tx::plan`].
pub type PlanRows = fn(&Asked<'_>, &mut Plan<'_>);

/// The way in which an operation is done.
#[derive(Debug, Clone, Copy)]
pub enum Run {
    /// A plain function of the request and the store.
    Call(Handler),
    /// Not built yet: the answer is 501 and names it.
    NotImplemented,
    /// Withdrawn from the interface: the answer is 410.
    Withdrawn,
}

/// The meaning of `part` in a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedParts {
    /// It names what is written and returned; a part that cannot be written is returned alone.
    WrittenOrReturned,
    /// It names what is written, and a part that cannot be is refused.
    Written,
    /// It names what is returned alone, and the whole body is written.
    Returned,
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
    /// Parameters that the interface withdrew and without which the answer would be another one.
    pub withdrawn_params: &'static [&'static str],
    /// Its filters.
    pub filters: Filters,
    /// The refusal of two filters where one is taken, if it is the resource's own.
    pub clash: Option<&'static Rule>,
    /// The parts of its resource.
    pub parts: &'static [Part],
    /// The parts that `part` of a write may name, and what it names them for.
    pub named_parts: NamedParts,
    /// The credentials that it needs.
    pub access: Access,
    /// A token needs one of these.
    pub scopes: Scopes,
    /// Its cost.
    pub cost: Cost,
    /// The schema of its body.
    pub request: Option<&'static str>,
    /// The schema of its answer.
    pub response: Option<&'static str>,
    /// The media that it takes.
    pub upload: Option<Upload>,
    /// True if `alt=media` gives bytes.
    pub download: bool,
    /// True if the work is more than microseconds, so that it runs on a blocking thread.
    pub heavy: bool,
    /// The rows that it will read.
    pub plan: PlanRows,
    /// The round trips to a store on another machine that a request costs at most.
    pub round_trips: RoundTrips,
    /// The way in which it is done.
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
        withdrawn_params: &[],
        filters: Filters::None,
        clash: None,
        parts: &[],
        named_parts: NamedParts::WrittenOrReturned,
        access: Access::Token,
        scopes: Scopes::of(&[]),
        cost: Cost { units: 50, own_bucket: false },
        request: None,
        response: None,
        upload: None,
        download: false,
        heavy: false,
        plan: |_, _| {},
        round_trips: RoundTrips::of(0, 0),
        run: Run::NotImplemented,
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

    /// Returns whether the body is JSON that the handler reads.
    #[must_use]
    pub const fn takes_json(&self) -> bool {
        self.request.is_some()
    }
}

/// Scopes that let a token read what is not public.
pub(crate) const READ: Scopes =
    Scopes::of(&[Scope::Full, Scope::ForceSsl, Scope::ReadOnly, Scope::Partner]);
/// Scopes that let a token write.
pub(crate) const WRITE: Scopes = Scopes::of(&[Scope::Full, Scope::ForceSsl, Scope::Partner]);
/// Scopes that let a token upload.
pub(crate) const UPLOAD: Scopes =
    Scopes::of(&[Scope::Full, Scope::ForceSsl, Scope::Upload, Scope::Partner]);
