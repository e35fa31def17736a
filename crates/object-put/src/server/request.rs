//! A request whose head is read and whose sender is known.

use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts as Head;
use triptych_core::host::RequestContext;
use triptych_core::kv::KeyValue;
use triptych_core::time::Timestamp;

use crate::auth::account::Caller;
use crate::auth::authorize::AccessRequest;
use crate::auth::signature::Verified;
use crate::operation::directory_bucket::access_of;
use crate::operation::{Call, Operation, ReadCall, Settings};
use crate::request::arrival::Arrival;
use crate::request::fields::Fields;
use crate::request::location::Location;
use crate::request::query::Query;
use crate::store::access_point::AccessPoint;
use crate::store::bucket::Bucket;

/// The way in which the request of a head came at `now`.
pub(super) fn arrival(head: &Head, now: Timestamp) -> Arrival {
    let peer = head.extensions.get::<RequestContext>().map(|received| &received.peer);
    Arrival {
        secure: peer.is_some_and(|peer| peer.tls),
        address: peer.map(|peer| peer.address.ip().to_canonical()),
        now,
    }
}

/// A request whose head is read and whose sender is known.
pub(super) struct ParsedRequest<'r> {
    pub(super) operation: &'static Operation,
    pub(super) location: Location,
    pub(super) fields: Fields<'r>,
    pub(super) query: &'r Query,
    pub(super) caller: Caller,
    pub(super) verified: Verified,
    pub(super) now: Timestamp,
    pub(super) arrival: Arrival,
    /// The access point that it came through.
    pub(super) point: Option<Arc<AccessPoint>>,
    /// The store, as this request reads it.
    pub(super) store: Arc<dyn KeyValue>,
}

impl ParsedRequest<'_> {
    /// Says that its body has come in, which took its time: what was read before is used where its version is checked.
    pub(super) fn age(&self) {
        if let Some(prefetch) = self.store.prefetch() {
            prefetch.age();
        }
    }

    /// The access to a bucket that the request needs; `None` where the operation needs no bucket.
    pub(super) fn access(&self) -> Option<AccessRequest<'_>> {
        let bucket = self.location.bucket.as_deref().filter(|_| self.operation.needs_bucket)?;
        Some(AccessRequest {
            permission: self.operation.permission,
            target: self.operation.target,
            writes_object: self.operation.sets_properties,
            bucket,
            key: self.location.key.as_ref(),
            fields: &self.fields,
            query: self.query,
            version: self.query.get("versionId"),
            etag: None,
            request_object: None,
            caller: &self.caller,
            arrival: self.arrival,
            directory: access_of(self.operation.name),
            point: self.point.as_deref(),
        })
    }

    /// The call of a handler that reads.
    pub(super) fn read_call<'a>(
        &'a self,
        bucket: Option<&'a Bucket>,
        settings: &'a Settings,
    ) -> ReadCall<'a> {
        ReadCall {
            operation: self.operation,
            fields: &self.fields,
            query: self.query,
            caller: &self.caller,
            bucket_name: self.location.bucket.as_deref().unwrap_or_default(),
            is_aliased: self.location.is_aliased,
            bucket,
            key: self.location.key.as_ref(),
            point: self.point.as_deref(),
            settings,
            now: self.now,
            arrival: self.arrival,
        }
    }

    /// The call of a handler that writes.
    pub(super) fn call<'a>(
        &'a self,
        body: &'a Bytes,
        bucket: Option<&'a Bucket>,
        settings: &'a Settings,
    ) -> Call<'a> {
        Call { read: self.read_call(bucket, settings), body }
    }
}
