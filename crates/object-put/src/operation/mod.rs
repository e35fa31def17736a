//! Operations: the row that each has in the table, the call that a handler is given, and the reply that it gives.

pub mod access_point;
pub mod additions;
pub mod append;
pub mod bucket;
pub mod bucket_config;
pub mod bucket_kinds;
pub mod copy_object;
pub mod delete_object;
pub mod directory_bucket;
pub mod directory_encryption;
pub mod encryption;
pub mod get_object;
pub mod list_buckets;
pub mod list_objects;
pub mod list_parameters;
pub mod multipart;
pub mod not_configured;
pub mod object_config;
pub mod parameters;
pub mod put_headers;
pub mod put_object;
mod region;
pub mod request_payer;
pub mod restore_object;
pub mod routing;
pub mod session;
pub mod strict;
pub mod subresource;
pub mod table;
pub mod wanted_bytes;

use std::borrow::Cow;
use std::ops::Deref;

use bytes::Bytes;
use std::num::NonZeroU32;

use triptych_core::id::Ids;
use triptych_core::kv::{RoundTrips, Tx};
use triptych_core::time::Timestamp;

use crate::auth::account::Caller;
use crate::auth::authorize::AccessRequest;
use crate::error::Error;
use crate::kms::key_manager::KeyServiceKind;
use crate::operation::directory_bucket::access_of;
use crate::request::arrival::Arrival;
use crate::request::dialect::Dialect;
use crate::request::fields::Fields;
use crate::request::host::HostTable;
use crate::request::location::Target;
use crate::request::query::Query;
use crate::store::access_point::AccessPoint;
use crate::store::bucket::{Bucket, Ownership};
use crate::store::key::Key;
use crate::store::part_list::ObjectRange;

/// The way in which an operation is done.
#[derive(Debug, Clone, Copy)]
pub enum Run {
    /// It reads: an answer to it may be given again as long as nothing was written that it rests on.
    Read(Read),
    /// It reads its whole body, and writes.
    Write(Write),
    /// It writes in steps, each a transaction of its own.
    Steps(Step),
    /// It stores an object, or a part of one, whose body is a stream.
    Upload(BodySource),
    /// It begins an upload in parts, for which a key service may be asked: CreateMultipartUpload.
    Begin,
    /// It makes an object of the parts that its document lists: CompleteMultipartUpload.
    Complete,
    /// It makes credentials, with a key that is no other operation's: CreateSession.
    Session,
    /// It stores an object whose head and body are those of a form: PostObject.
    Form,
    /// It is not there; the answer names it.
    NotImplemented,
}

impl Run {
    /// Tells whether it stores a part of an object.
    #[must_use]
    pub const fn is_of_part(&self) -> bool {
        matches!(self, Self::Upload(BodySource::PartOfRequest | BodySource::PartOfObject))
    }

    /// Tells whether it stores the body of its request as it streams by.
    #[must_use]
    pub const fn is_of_stream(&self) -> bool {
        matches!(self, Self::Upload(BodySource::Request | BodySource::PartOfRequest))
    }
}

/// The source of the body of a new object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodySource {
    /// The request: PutObject.
    Request,
    /// Another object: CopyObject.
    Object,
    /// The request, of a part: UploadPart.
    PartOfRequest,
    /// Another object, of a part: UploadPartCopy.
    PartOfObject,
}

/// A handler that reads. Its answer follows from the request and the store alone, or says that it follows from the time as well.
pub type Read = fn(&ReadCall<'_>, &mut Tx<'_>) -> Result<Reply, Error>;

/// A handler that writes. It may run twice: its only effects are what it does to `tx`, draws from `ids` and returns.
pub type Write = fn(&Call<'_>, &mut Tx<'_>, &mut dyn Ids) -> Result<Reply, Error>;

/// A handler of work that one batch does not hold. A step may run twice, as [`Write`] may.
pub type Step = fn(&Call<'_>, &mut Tx<'_>, &mut dyn Ids, &Progress) -> Result<StepOutcome, Error>;

/// The progress of an operation in steps.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Progress {
    /// Units that are done; the unit is the operation's own affair.
    pub done: usize,
    /// The part of the answer that is written.
    pub text: String,
}

/// The outcome of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepOutcome {
    /// Another step follows.
    Continue(Progress),
    /// The operation is done: this is the answer.
    Done(Reply),
}

/// The need of a document for a digest of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DigestNeed {
    /// It may.
    Optional,
    /// It must in the dialect of the real service, which asks for one; the specification does not.
    OfRealService,
    /// It must in both dialects.
    Required,
}

/// One row of the table.
#[derive(Debug)]
pub struct Operation {
    /// Its name, as clients and metrics know it.
    pub name: &'static str,
    /// The method of its requests.
    pub method: &'static str,
    /// The kind of thing that its path names.
    pub target: Target,
    /// The query parameters and the headers, `&` between, that tell it from the others of this method and target; empty for none.
    pub marker: &'static str,
    /// The permission that a key must hold for it; empty for none.
    pub permission: &'static str,
    /// True if the bucket must exist before it.
    pub needs_bucket: bool,
    /// True if it says what an object is beside its bytes: its list and its tags need permissions of their own.
    pub sets_properties: bool,
    /// The need of its document for a digest: a Content-MD5, or a checksum.
    pub digest: DigestNeed,
    /// The round trips to a store on another machine that a request costs at most, but for those of [`Operation::largest`].
    pub round_trips: RoundTrips,
    /// The cost of the largest request, where that is done in steps, and what makes it the largest.
    pub largest: Option<(RoundTrips, &'static str)>,
    /// The way in which it is done.
    pub run: Run,
}

impl Operation {
    /// The names that its marker has.
    pub fn markers(&self) -> impl Iterator<Item = &'static str> {
        self.marker.split('&').filter(|name| !name.is_empty())
    }
}

/// Settings that are the same for all requests.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The region of the service; scopes of signatures must name it.
    pub region: String,
    /// Refuses headers and parameters that are not known.
    pub strict: bool,
    /// The ownership of buckets that are made without a word about it.
    pub ownership: Ownership,
    /// True if new buckets block public access.
    pub blocks_public_access: bool,
    /// The dialect of requests that name nothing of the service.
    pub dialect: Dialect,
    /// Names under which the service is reached.
    pub hosts: HostTable,
    /// The least bytes of a part that is not the last of its object.
    pub part_bytes_min: u64,
    /// Restorations of archived objects take the usual time divided by this.
    pub restore_speed: NonZeroU32,
    /// The key service: it says what the id or the alias of a key means.
    pub key_service: KeyServiceKind,
}

/// The least bytes of a part that is not the last of its object, as the real service has it.
pub const PART_BYTES_MIN: u64 = 5 * 1024 * 1024;

impl Default for Settings {
    fn default() -> Self {
        Self {
            region: String::new(),
            strict: false,
            ownership: Ownership::default(),
            blocks_public_access: true,
            dialect: Dialect::default(),
            hosts: HostTable::default(),
            part_bytes_min: PART_BYTES_MIN,
            restore_speed: NonZeroU32::MIN,
            key_service: KeyServiceKind::default(),
        }
    }
}

/// A request that reads. Its sender is known, and its bucket was found.
#[derive(Debug)]
pub struct ReadCall<'r> {
    /// The operation.
    pub operation: &'static Operation,
    /// Header fields, looked up by the spec's names.
    pub fields: &'r Fields<'r>,
    /// Query parameters.
    pub query: &'r Query,
    /// The sender.
    pub caller: &'r Caller,
    /// The name of the bucket; empty if the path names none.
    pub bucket_name: &'r str,
    /// True if the request names it by the alias of an access point.
    pub is_aliased: bool,
    /// The bucket, where the operation needs it.
    pub bucket: Option<&'r Bucket>,
    /// The key, where the path names one.
    pub key: Option<&'r Key>,
    /// The access point that the request came through.
    pub point: Option<&'r AccessPoint>,
    /// Settings of the service.
    pub settings: &'r Settings,
    /// The time at which the request came. An answer that follows from it says so: see [`Reply::at_this_time`].
    pub now: Timestamp,
    /// The way and the time in which it came.
    pub arrival: Arrival,
}

impl ReadCall<'_> {
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

    /// The access to one key of the bucket, to be looked at beside that of the operation.
    pub fn access<'a>(&'a self, key: &'a Key, version: Option<&'a str>) -> AccessRequest<'a> {
        AccessRequest {
            permission: "",
            target: Target::Object,
            writes_object: false,
            bucket: self.bucket_name,
            key: Some(key),
            fields: self.fields,
            query: self.query,
            version,
            etag: None,
            request_object: None,
            caller: self.caller,
            arrival: self.arrival,
            directory: access_of(self.operation.name),
            point: self.point,
        }
    }
}

/// A request that writes: all that a read is given, and the body.
#[derive(Debug)]
pub struct Call<'r> {
    /// The part that reads have too.
    pub read: ReadCall<'r>,
    /// The whole body, for operations that take one; empty for uploads.
    pub body: &'r Bytes,
}

impl<'r> Deref for Call<'r> {
    type Target = ReadCall<'r>;

    fn deref(&self) -> &ReadCall<'r> {
        &self.read
    }
}

/// The body of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplyBody {
    /// None.
    Empty,
    /// A text: XML unless a Content-Type header says otherwise.
    Text(Bytes),
    /// Bytes of an object.
    Object(Box<ObjectRange>),
}

/// The answer of a handler. Headers have the spec's names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// Header names of the spec, and values.
    pub headers: Vec<(Cow<'static, str>, Cow<'static, str>)>,
    /// The body.
    pub body: ReplyBody,
    /// True if it follows from the time too: it is not given again.
    pub is_of_this_time: bool,
}

impl Reply {
    /// A reply without a body.
    #[must_use]
    pub const fn empty(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: ReplyBody::Empty, is_of_this_time: false }
    }

    /// A 200 with this XML.
    #[must_use]
    pub fn xml(text: String) -> Self {
        Self { body: ReplyBody::Text(text.into()), ..Self::empty(200) }
    }

    /// The same reply, which follows from the time as well.
    #[must_use]
    pub const fn at_this_time(mut self) -> Self {
        self.is_of_this_time = true;
        self
    }

    /// The same reply with one more header.
    #[must_use]
    pub fn with(
        mut self,
        name: impl Into<Cow<'static, str>>,
        value: impl Into<Cow<'static, str>>,
    ) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// The same reply with one more header if there is a value for it.
    #[must_use]
    pub fn with_some(
        self,
        name: &'static str,
        value: Option<impl Into<Cow<'static, str>>>,
    ) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }
}
