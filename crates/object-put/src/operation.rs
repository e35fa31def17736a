//! The operations: one table that routing, permissions, metrics and documents are made from, and what a handler is given.

pub mod bucket;
pub mod object;

use std::borrow::Cow;
use std::ops::Range;

use bytes::Bytes;
use triptych_core::id::Ids;
use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use crate::account::Caller;
use crate::bucket::Bucket;
use crate::dialect::Dialect;
use crate::error::Error;
use crate::key::Key;
use crate::object::{ObjectVersion, Part};
use crate::request::{Fields, Query};

/// What the path of a request names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The service itself: `/`.
    Service,
    /// A bucket.
    Bucket,
    /// A key in a bucket.
    Object,
}

impl Target {
    /// How error bodies call it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Service => "SERVICE",
            Self::Bucket => "BUCKET",
            Self::Object => "OBJECT",
        }
    }
}

/// How an operation is done.
#[derive(Debug, Clone, Copy)]
pub enum Run {
    /// A plain function of the request, its whole body and the store.
    Call(Handler),
    /// PutObject: the body is a stream.
    Put,
    /// CopyObject: the body is another object's.
    Copy,
    /// It is not there; the answer names it.
    Absent,
}

/// A handler. It may run twice: its only effects are what it does to `tx`, draws from `ids` and returns.
pub type Handler = fn(&Call<'_>, &mut Tx<'_>, &mut dyn Ids) -> Result<Reply, Error>;

/// One row of the table.
#[derive(Debug)]
pub struct Operation {
    /// Its name, as clients and metrics know it.
    pub name: &'static str,
    /// The method of its requests.
    pub method: &'static str,
    /// What its path names.
    pub target: Target,
    /// The query parameter, or the header, that tells it from the others of this method and target; empty for none.
    pub marker: &'static str,
    /// The permission that a key must hold for it; empty for none.
    pub permission: &'static str,
    /// Whether the bucket must exist before it.
    pub needs_bucket: bool,
    /// How it is done.
    pub run: Run,
}

impl Operation {
    /// A row for an operation on an object.
    #[must_use]
    pub const fn object(
        name: &'static str,
        method: &'static str,
        marker: &'static str,
        permission: &'static str,
        handler: Handler,
    ) -> Self {
        let run = Run::Call(handler);
        Self {
            name,
            method,
            target: Target::Object,
            marker,
            permission,
            needs_bucket: true,
            run,
        }
    }

    /// A row for an operation on a bucket that exists.
    #[must_use]
    pub const fn bucket(
        name: &'static str,
        method: &'static str,
        marker: &'static str,
        permission: &'static str,
        handler: Handler,
    ) -> Self {
        let run = Run::Call(handler);
        Self {
            name,
            method,
            target: Target::Bucket,
            marker,
            permission,
            needs_bucket: true,
            run,
        }
    }

    /// A row for an operation that is not there.
    #[must_use]
    pub const fn absent(
        name: &'static str,
        method: &'static str,
        target: Target,
        marker: &'static str,
    ) -> Self {
        let run = Run::Absent;
        Self {
            name,
            method,
            target,
            marker,
            permission: "",
            needs_bucket: false,
            run,
        }
    }

    fn is_meant(&self, method: &str, target: Target, fields: &Fields<'_>, query: &Query) -> bool {
        self.method == method
            && self.target == target
            && (self.marker.is_empty()
                || if self.marker.starts_with("x-store-") {
                    fields.has(self.marker)
                } else {
                    query.has(self.marker)
                })
    }
}

/// The operation that a request means: the first row that fits, and rows with a marker come first.
///
/// # Errors
/// [`Error::MethodNotAllowed`]; [`Error::OperationNotImplemented`], which names it.
pub fn route(
    method: &str,
    target: Target,
    fields: &Fields<'_>,
    query: &Query,
) -> Result<&'static Operation, Error> {
    let found = OPERATIONS
        .iter()
        .find(|row| row.is_meant(method, target, fields, query));
    let Some(operation) = found else {
        return Err(Error::MethodNotAllowed {
            method: method.to_owned(),
            resource: target.name(),
        });
    };
    match operation.run {
        Run::Absent => Err(Error::OperationNotImplemented {
            operation: operation.name,
        }),
        _ => Ok(operation),
    }
}

/// What stays the same for all requests.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The region of the service; scopes of signatures must name it.
    pub region: String,
    /// Whether headers and parameters that are not known are refused.
    pub strict: bool,
}

/// A request whose sender is known, for an operation whose bucket was found.
#[derive(Debug)]
pub struct Call<'r> {
    /// The operation.
    pub operation: &'static Operation,
    /// Header fields, looked up by the spec's names.
    pub fields: &'r Fields<'r>,
    /// Query parameters.
    pub query: &'r Query,
    /// The whole body, for operations that take one; empty for PutObject.
    pub body: &'r Bytes,
    /// Who asks.
    pub caller: &'r Caller,
    /// The name of the bucket; empty if the path names none.
    pub bucket_name: &'r str,
    /// The bucket, where the operation needs it.
    pub bucket: Option<&'r Bucket>,
    /// The key, where the path names one.
    pub key: Option<&'r Key>,
    /// When the request came.
    pub now: Timestamp,
    /// Whether it came over TLS.
    pub secure: bool,
    /// What stays the same.
    pub settings: &'r Settings,
}

impl Call<'_> {
    /// The dialect that the request speaks.
    #[must_use]
    pub const fn dialect(&self) -> Dialect {
        self.fields.dialect()
    }

    /// The bucket.
    ///
    /// # Errors
    /// [`Error::Internal`] if the operation's row does not say that it needs one.
    pub fn bucket(&self) -> Result<&Bucket, Error> {
        self.bucket.ok_or(Error::Internal)
    }

    /// The key.
    ///
    /// # Errors
    /// [`Error::Internal`] if the operation's row does not target an object.
    pub fn key(&self) -> Result<&Key, Error> {
        self.key.ok_or(Error::Internal)
    }
}

/// The body of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplyBody {
    /// None.
    Empty,
    /// A text: XML unless a Content-Type header says otherwise.
    Text(Bytes),
    /// Bytes `range` of an object.
    Object {
        /// The number of its bucket.
        bucket: u64,
        /// Its key.
        key: Key,
        /// Its record.
        object: Box<ObjectVersion>,
        /// Its parts, in order.
        parts: Vec<Part>,
        /// Which bytes.
        range: Range<u64>,
    },
}

/// What a handler answers. Headers have the spec's names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// Header names of the spec, and values.
    pub headers: Vec<(Cow<'static, str>, String)>,
    /// The body.
    pub body: ReplyBody,
}

impl Reply {
    /// A reply without a body.
    #[must_use]
    pub const fn empty(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: ReplyBody::Empty,
        }
    }

    /// A 200 with this XML.
    #[must_use]
    pub fn xml(text: String) -> Self {
        Self {
            status: 200,
            headers: Vec::new(),
            body: ReplyBody::Text(text.into()),
        }
    }

    /// The same reply with one more header.
    #[must_use]
    pub fn with(mut self, name: impl Into<Cow<'static, str>>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// The same reply with one more header if there is a value for it.
    #[must_use]
    pub fn with_some(self, name: &'static str, value: Option<impl Into<String>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }
}

/// All operations. Rows with a marker stand before those without.
pub static OPERATIONS: &[Operation] = &[
    Operation {
        needs_bucket: false,
        ..Operation::bucket(
            "CreateBucket",
            "PUT",
            "",
            "store:CreateBucket",
            bucket::create,
        )
    },
    Operation::bucket("HeadBucket", "HEAD", "", "store:ListBucket", bucket::head),
    Operation::object("GetObject", "GET", "", "store:GetObject", object::get),
    Operation::object("HeadObject", "HEAD", "", "store:GetObject", object::head),
    Operation {
        name: "PutObject",
        method: "PUT",
        target: Target::Object,
        marker: "",
        permission: "store:PutObject",
        needs_bucket: true,
        run: Run::Put,
    },
];
