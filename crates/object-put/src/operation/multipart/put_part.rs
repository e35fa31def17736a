//! UploadPart without its transport: the look before the body, the record, and the answer.

use std::sync::Arc;

use triptych_core::id::Ids;
use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use crate::auth::payload::Payload;
use crate::body::body_headers::{BodyHeaders, ChecksumPlan};
use crate::body::checksum::{Algorithm, Checksum, Digested};
use crate::body::object_key::BodyKey;
use crate::error::Error;
use crate::operation::encryption;
use crate::operation::multipart::{encrypted, named_upload, part_number};
use crate::operation::put_headers::BODY_BYTES_MAX;
use crate::operation::put_object::random_tag;
use crate::operation::request_payer;
use crate::operation::{Call, Reply};
use crate::request::etag::quoted;
use crate::request::fields::Fields;
use crate::store::bucket::Bucket;
use crate::store::key::Key;
use crate::store::lock::missing_digest;
use crate::store::object_encryption::KeyOpening;
use crate::store::part_list::{ListedPart, Part, part_context};
use crate::store::precondition::check_of_uploads;
use crate::store::upload::{Upload, UploadPart};
use crate::store::version::encryption_context;

/// A part that may be taken: its body is asked for now.
#[derive(Debug, Clone)]
pub struct PartAdmission {
    /// The bucket as the start saw it.
    pub bucket: Bucket,
    /// The key.
    pub key: Key,
    /// The upload as the start saw it.
    pub upload: Arc<Upload>,
    /// The number of the part.
    pub number: u32,
    /// The headers about the body.
    pub body: BodyHeaders,
    /// The algorithm to compute beside that of the body: the whole is put together from it.
    pub second: Option<Algorithm>,
    /// The way to the key that its data key comes from.
    pub opening: KeyOpening,
    pub(super) charged: bool,
    /// Its entity tag in a directory bucket, where it says nothing about the body.
    tag: Option<[u8; 16]>,
}

/// Tells whether the object of an upload will be locked: by what its upload was begun with, or by its bucket's default.
fn is_to_be_locked(upload: &Upload, bucket: &Bucket) -> bool {
    !upload.lock.is_none() || (bucket.object_lock && bucket.default_retention.is_some())
}

impl PartAdmission {
    /// Looks at the request and the upload, and refuses what can be refused before the body.
    ///
    /// # Errors
    /// Those of [`check_of_uploads`], of [`encryption::refuse_choice`] and of [`encryption::check_upload_not_blocked`]; `InvalidArgument` for the number, `NoSuchUpload`; those of [`BodyHeaders::read`] and of [`BodyHeaders::told_length`]; `EntityTooLarge`;
    /// `InvalidRequest` for a body without a digest that is to be locked, and for a checksum of another algorithm than the upload's; those of opening the upload.
    pub fn decide(
        call: &Call<'_>,
        payload: Payload,
        tx: &mut Tx<'_>,
        ids: &mut dyn Ids,
    ) -> Result<Self, Error> {
        let (upload, number) = Self::named(call, tx)?;
        let body = BodyHeaders::read(call.fields, payload)?;
        let proposed = body.told_length(call.fields)?;
        if proposed > BODY_BYTES_MAX {
            return Err(Error::EntityTooLarge { proposed, most: BODY_BYTES_MAX });
        }
        Self::new(call, upload, number, body, ids)
    }

    /// The upload and the number that a request names, which makes no condition.
    pub(super) fn named(call: &Call<'_>, tx: &mut Tx<'_>) -> Result<(Arc<Upload>, u32), Error> {
        check_of_uploads(call.fields)?;
        encryption::refuse_choice(call.fields)?;
        encryption::check_upload_not_blocked(call, tx)?;
        let number = part_number(call.query.get("partNumber"))?;
        Ok((named_upload(call, tx)?, number))
    }

    /// That of a body with these headers.
    pub(super) fn new(
        call: &Call<'_>,
        upload: Arc<Upload>,
        number: u32,
        mut body: BodyHeaders,
        ids: &mut dyn Ids,
    ) -> Result<Self, Error> {
        let has_digest = body.md5.is_some() || body.checksum != ChecksumPlan::Default;
        if !has_digest && is_to_be_locked(&upload, call.bucket()?) {
            return Err(missing_digest("Put Part"));
        }
        let brings = (body.checksum != ChecksumPlan::Default).then(|| body.checksum.algorithm());
        let second = match (upload.checksum, brings) {
            (Some(begun), None) if begun.checksum_type.is_full_object() => {
                body.checksum = ChecksumPlan::Computed(begun.algorithm);
                None
            }
            (Some(begun), brings) if brings != Some(begun.algorithm) => {
                let actual = brings.map_or("null", |algorithm| algorithm.row().name);
                return Err(Error::request(format!(
                    "Checksum Type mismatch occurred, expected checksum Type: {}, actual checksum Type: {}",
                    begun.algorithm.row().name.to_ascii_lowercase(),
                    actual.to_ascii_lowercase()
                )));
            }
            (None, Some(brings)) if brings != Algorithm::default() => Some(Algorithm::default()),
            _ => None,
        };
        Ok(Self {
            bucket: call.bucket()?.clone(),
            key: call.key()?.clone(),
            opening: encrypted(call, &upload)?.open_upload(call)?,
            upload,
            number,
            body,
            second,
            charged: request_payer::pays(call.caller, call.bucket()?),
            tag: random_tag(call.bucket()?, ids),
        })
    }

    /// The context that the body is bound to.
    #[must_use]
    pub fn context(&self) -> Vec<u8> {
        let body = encryption_context(self.bucket.id, &self.key, self.upload.id.random);
        part_context(&body, self.number)
    }

    /// The record of a body that was checked, was encrypted with a data key of `key`, and is `part`.
    #[must_use]
    pub fn part(
        &self,
        digested: &Digested,
        key: &BodyKey,
        part: Part,
        modified: Timestamp,
    ) -> UploadPart {
        let of_body = || key.entity_tag(&self.context(), digested.md5);
        let tag = self.tag.unwrap_or_else(of_body);
        let checksum = digested.second.clone().unwrap_or_else(|| digested.checksum.clone());
        UploadPart { listed: ListedPart { part, tag, checksum }, modified }
    }

    /// The checksum of a body that the answer shows: one that the request or the upload asked for.
    #[must_use]
    pub fn shown_checksum<'d>(&self, digested: &'d Digested) -> Option<&'d Checksum> {
        let asked = self.upload.checksum.is_some() || self.body.checksum != ChecksumPlan::Default;
        asked.then_some(&digested.checksum)
    }

    /// Adds the headers that answers about a part have.
    ///
    /// # Errors
    /// Those of [`encryption::describe`].
    pub fn with_headers(&self, reply: Reply, fields: &Fields<'_>) -> Result<Reply, Error> {
        let reply = encryption::describe(reply, fields, &self.upload.encryption)?;
        Ok(reply
            .with_some(request_payer::CHARGED, self.charged.then_some(request_payer::REQUESTER)))
    }

    /// The answer to a `part` that was stored.
    ///
    /// # Errors
    /// Those of [`encryption::describe`].
    pub fn reply(
        &self,
        fields: &Fields<'_>,
        digested: &Digested,
        part: &UploadPart,
    ) -> Result<Reply, Error> {
        let reply = Reply::empty(200).with("etag", quoted(&part.listed.etag()));
        let reply = self.with_headers(reply, fields)?;
        Ok(match self.shown_checksum(digested) {
            Some(checksum) => reply.with(checksum.algorithm.row().header, checksum.base64()),
            None => reply,
        })
    }
}
