//! The right to use a directory bucket. Its policy judges who may have a session; what is in it has no rules of its own.

use triptych_core::kv::Tx;

use crate::auth::account::Caller;
use crate::auth::policy::{self, Effect, PolicyRequest, PublicAccessBlock, access_point};
use crate::auth::session::{DirectoryAccess, Session, SessionMode};
use crate::error::Error;
use crate::request::arrival::Arrival;
use crate::request::fields::Fields;
use crate::request::query::Query;
use crate::store::access_point::AccessPoint;
use crate::store::bucket::Bucket;

/// The permission to have a session.
pub const CREATE_SESSION: &str = "express:CreateSession";

/// A request on a directory bucket.
#[derive(Debug, Clone, Copy)]
pub struct DirectoryRequest<'a> {
    /// The sender.
    pub caller: &'a Caller,
    /// Headers.
    pub fields: &'a Fields<'a>,
    /// Query parameters.
    pub query: &'a Query,
    /// The way and the time in which it came.
    pub arrival: Arrival,
    /// The access point that it came through.
    pub point: Option<&'a AccessPoint>,
}

impl DirectoryRequest<'_> {
    /// Checks the right to what an operation does.
    ///
    /// # Errors
    /// `InvalidToken` for a session of another bucket or access point, `AccessDenied`; as reads of the store.
    pub fn check(
        &self,
        access: DirectoryAccess,
        bucket: &Bucket,
        tx: &mut Tx<'_>,
    ) -> Result<(), Error> {
        let allowed = match (self.caller.session(), access) {
            (Some(session), _) if !self.is_of_bucket(session, bucket) => {
                return Err(Error::InvalidToken);
            }
            (Some(session), DirectoryAccess::Zonal(mode)) => session.mode >= mode,
            (Some(_), DirectoryAccess::Copy | DirectoryAccess::CreateSession) => false,
            // Stock clients that are given an endpoint sign these with a session too: it may do what its key may.
            (Some(session), DirectoryAccess::Regional(permission, writes)) => {
                (!writes || session.mode == SessionMode::ReadWrite)
                    && self.owns_and_may(permission, bucket, tx)?
            }
            (None, DirectoryAccess::Zonal(mode)) => self.may_have_session(mode, bucket, tx)?,
            (None, DirectoryAccess::Copy) => {
                self.may_have_session(SessionMode::ReadWrite, bucket, tx)?
            }
            // Which mode it gets is decided with the session.
            (None, DirectoryAccess::CreateSession) => true,
            (None, DirectoryAccess::Regional(permission, _)) => {
                self.owns_and_may(permission, bucket, tx)?
            }
        };
        if allowed { Ok(()) } else { Err(Error::AccessDenied) }
    }

    /// Tells whether the caller may have a session of this mode.
    ///
    /// # Errors
    /// As reads of the store.
    pub fn may_have_session(
        &self,
        mode: SessionMode,
        bucket: &Bucket,
        tx: &mut Tx<'_>,
    ) -> Result<bool, Error> {
        if !self.caller.has_permission(CREATE_SESSION) {
            return Ok(false);
        }
        let allowed = match self.policy_says(CREATE_SESSION, Some(mode), bucket, tx)? {
            Some(effect) => effect == Effect::Allow,
            None => self.owns(bucket),
        };
        Ok(allowed && self.passes_point(mode, bucket)?)
    }

    /// Tells whether the access point, if the request came through one, lets the caller have a session too.
    fn passes_point(&self, mode: SessionMode, bucket: &Bucket) -> Result<bool, Error> {
        let Some(point) = self.point else {
            return Ok(true);
        };
        let resource = point.resource();
        access_point::passes(point, self.caller, |policy| {
            Ok(policy.evaluate(&self.policy_request(CREATE_SESSION, &resource, Some(mode), bucket)))
        })
    }

    /// Tells whether a session is one of this bucket and of this way to it. To its owner one that was made since, or again, under the same
    /// name is the same: clients keep their sessions by the names of buckets.
    fn is_of_bucket(&self, session: &Session, bucket: &Bucket) -> bool {
        let is_made_again =
            session.bucket_name == bucket.name && session.key.is_none() && self.owns(bucket);
        let way = self.point.map(|point| point.bare_arn(&bucket.region));
        session.point == way && (session.bucket == Some(bucket.id) || is_made_again)
    }

    fn owns_and_may(
        &self,
        permission: &str,
        bucket: &Bucket,
        tx: &mut Tx<'_>,
    ) -> Result<bool, Error> {
        let denied = !policy::is_never_denied(self.caller, permission, &bucket.owner)
            && self.policy_says(permission, None, bucket, tx)? == Some(Effect::Deny);
        Ok(self.owns(bucket) && self.caller.has_permission(permission) && !denied)
    }

    fn policy_says(
        &self,
        permission: &str,
        mode: Option<SessionMode>,
        bucket: &Bucket,
        tx: &mut Tx<'_>,
    ) -> Result<Option<Effect>, Error> {
        let Some(policy) = policy::of_bucket(tx, bucket.id)? else {
            return Ok(None);
        };
        if !self.owns(bucket) && PublicAccessBlock::shuts_out_others(tx, bucket.id, &policy)? {
            return Ok(Some(Effect::Deny));
        }
        Ok(policy.evaluate(&self.policy_request(permission, &bucket.name, mode, bucket)))
    }

    fn policy_request<'a>(
        &'a self,
        permission: &'a str,
        resource: &'a str,
        mode: Option<SessionMode>,
        bucket: &'a Bucket,
    ) -> PolicyRequest<'a> {
        PolicyRequest {
            caller: self.caller,
            permission,
            resource,
            fields: self.fields,
            query: self.query,
            version: None,
            etag: None,
            request_object: None,
            arrival: self.arrival,
            owner: &bucket.owner,
            tags: None,
            upload: None,
            session_mode: mode.map(SessionMode::name),
            point: self.point,
            region: &bucket.region,
        }
    }

    fn owns(&self, bucket: &Bucket) -> bool {
        self.caller.account().is_some_and(|account| account.id == bucket.owner)
    }
}
