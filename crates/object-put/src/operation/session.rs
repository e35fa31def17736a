//! `CreateSession`: temporary credentials for one directory bucket, or for one access point to it.

use triptych_core::id::Ids;
use triptych_core::kv::Tx;

use crate::auth::directory::DirectoryRequest;
use crate::auth::session::{SESSION_TIME, Session, SessionMode};
use crate::auth::session_token::{SessionKey, key_check};
use crate::error::Error;
use crate::operation::directory_encryption::describe_session;
use crate::operation::encryption::EncryptionRequest;
use crate::operation::{Call, Reply};
use crate::request::xml::XmlWriter;

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
    let asked = match call.fields.get(MODE)? {
        None => None,
        Some(name) => Some(SessionMode::parse(&name).ok_or_else(|| {
            Error::argument(MODE, Some(&name), "The mode is neither ReadOnly nor ReadWrite")
        })?),
    };
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
        bucket: bucket.id,
        bucket_name: bucket.name.clone(),
        point: call.point.map(|point| point.bare_arn(&bucket.region)),
        mode: mode.ok_or(Error::AccessDenied)?,
        key: EncryptionRequest::read(call.fields)?.of_session(call, tx)?,
        expires: call.now.plus(SESSION_TIME),
    };
    let made = key.seal(&session, ids).ok_or(Error::Internal)?;
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
