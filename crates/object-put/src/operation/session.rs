//! `CreateSession`: temporary credentials for one directory bucket, or for one access point to it.

use triptych_core::id::Ids;
use triptych_core::kv::Tx;

use crate::auth::directory::{CREATE_SESSION, DirectoryRequest};
use crate::auth::session::{SESSION_TIME, Session, SessionMode};
use crate::auth::session_token::{SessionKey, key_check};
use crate::error::Error;
use crate::operation::directory_bucket::CREATE_BUCKET;
use crate::operation::directory_encryption::describe_session;
use crate::operation::encryption::EncryptionRequest;
use crate::operation::{Call, Reply};
use crate::request::xml::XmlWriter;
use crate::store::bucket::check_name;
use crate::store::bucket_encryption::BucketMode;

const MODE: &str = "x-store-create-session-mode";

/// `CreateSession`. Without a mode it is the most that the caller may have.
///
/// # Errors
/// `AccessDenied`; `InvalidArgument` for a mode that is none; those of [`EncryptionRequest::read`] and of
/// [`EncryptionRequest::of_session`].
pub fn create(
    call: &Call<'_>,
    key: &SessionKey,
    tx: &mut Tx<'_>,
    ids: &mut dyn Ids,
) -> Result<Reply, Error> {
    let bucket = call.bucket()?;
    let principal = call.caller.principal().ok_or(Error::AccessDenied)?;
    let asked = asked_mode(call)?;
    let request = DirectoryRequest {
        caller: call.caller,
        fields: call.fields,
        query: call.query,
        arrival: call.arrival,
        point: call.point,
    };
    let mut mode = None;
    for own in [SessionMode::ReadWrite, SessionMode::ReadOnly] {
        let is_asked = asked.is_none_or(|asked| asked == own);
        if is_asked && mode.is_none() && request.may_have_session(own, bucket, tx)? {
            mode = Some(own);
        }
    }
    let session = Session {
        access_key: principal.id.clone(),
        key_check: key_check(&principal.key),
        bucket: Some(bucket.id),
        bucket_name: bucket.name.clone(),
        point: call.point.map(|point| point.bare_arn(&bucket.region)),
        mode: mode.ok_or(Error::AccessDenied)?,
        key: EncryptionRequest::read(call.fields)?.of_session(call, tx)?,
        expires: call.now.plus(SESSION_TIME),
    };
    answer(call, &session, key, ids)
}

/// `CreateSession` for a directory bucket that is not there. Stock clients that are given an endpoint ask for a session before they make the
/// bucket: who may make it gets one, for that and for what its owner then does there. All others are told that it is not there.
///
/// # Errors
/// `NoSuchBucket`; `InvalidArgument` for a mode that is none; those of [`EncryptionRequest::read`].
pub fn create_ahead(call: &Call<'_>, key: &SessionKey, ids: &mut dyn Ids) -> Result<Reply, Error> {
    let may_make =
        [CREATE_SESSION, CREATE_BUCKET].iter().all(|own| call.caller.has_permission(own));
    let can_be_made = call.point.is_none() && check_name(call.bucket_name).is_ok();
    let is_new = call.caller.session().is_none() && can_be_made;
    let principal = call.caller.principal().filter(|_| may_make && is_new);
    let absent = || Error::NoSuchBucket { bucket: call.bucket_name.to_owned() };
    let principal = principal.ok_or_else(absent)?;
    let mode = asked_mode(call)?.unwrap_or(SessionMode::ReadWrite);
    // It has no key yet that a session could name.
    if !matches!(
        EncryptionRequest::read(call.fields)?.mode,
        None | Some(BucketMode::ServiceManaged)
    ) {
        return Err(absent());
    }
    let session = Session {
        access_key: principal.id.clone(),
        key_check: key_check(&principal.key),
        bucket: None,
        bucket_name: call.bucket_name.to_owned(),
        point: None,
        mode,
        key: None,
        expires: call.now.plus(SESSION_TIME),
    };
    answer(call, &session, key, ids)
}

fn asked_mode(call: &Call<'_>) -> Result<Option<SessionMode>, Error> {
    let Some(name) = call.fields.get(MODE)? else {
        return Ok(None);
    };
    let none = || Error::argument(MODE, Some(&name), "The mode is neither ReadOnly nor ReadWrite");
    SessionMode::parse(&name).ok_or_else(none).map(Some)
}

/// The answer with the credentials of a session.
fn answer(
    call: &Call<'_>,
    session: &Session,
    key: &SessionKey,
    ids: &mut dyn Ids,
) -> Result<Reply, Error> {
    let made = key.seal(session, ids).ok_or(Error::Internal)?;
    let namespace = call.dialect().names().namespace;
    let text = XmlWriter::document("CreateSessionResult", namespace, |writer| {
        writer.element("Credentials", |writer| {
            writer.text("SessionToken", &made.token);
            writer.text("SecretAccessKey", made.secret.reveal());
            writer.text("AccessKeyId", &made.access_key);
            writer.text("Expiration", session.expires.rfc3339());
        });
    });
    Ok(describe_session(Reply::xml(text), call.dialect(), session.key.as_ref()))
}
