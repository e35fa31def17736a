//! PutObject without its transport: the look before the body, the record, and the answer.

use triptych_core::id::Ids;
use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use crate::auth::acl::Acl;
use crate::auth::object_owner;
use crate::auth::payload::Payload;
use crate::body::checksum::{Checksum, ChecksumType, Digested};
use crate::error::Error;
use crate::operation::append::{Append, GrowingObject};
use crate::operation::encryption::{self, EncryptionChoice, NewObjectKey};
use crate::operation::get_object::with_checksum;
use crate::operation::put_headers::PutHeaders;
use crate::operation::request_payer;
use crate::operation::{Call, Reply};
use crate::request::etag::quoted;
use crate::request::fields::Fields;
use crate::store::bucket::{Bucket, BucketKind};
use crate::store::key::Key;
use crate::store::lifecycle::{self, Lifecycle};
use crate::store::part_list::{ListedPart, Part, Parts, part_context};
use crate::store::precondition::Snapshot;
use crate::store::tables::{CURRENT, DELETE_GUARDS, bucket_slot, object_key};
use crate::store::version::{ObjectData, ObjectVersion, VersionId, encryption_context};

/// A PUT that may go on: its body is asked for now.
#[derive(Debug, Clone)]
pub struct Admission {
    /// The bucket as the start saw it.
    pub bucket: Bucket,
    /// The key.
    pub key: Key,
    /// The account that will own the object.
    pub owner: String,
    /// Its ACL.
    pub acl: Acl,
    /// True if the sender pays for the request.
    pub charged: bool,
    /// The time at which the request came.
    pub now: Timestamp,
    /// The headers.
    pub headers: PutHeaders,
    /// The encryption that the object gets.
    pub encryption: EncryptionChoice,
    /// The bucket's lifecycle rules, if it has any.
    pub lifecycle: Option<Lifecycle>,
    /// The key as the start saw it.
    pub snapshot: Snapshot,
    /// The version's random bytes: the body is encrypted for them.
    pub random: [u8; 12],
    /// The entity tag in a directory bucket, where it says nothing about the body.
    pub tag: Option<[u8; 16]>,
    /// The object that the body is appended to.
    pub growing: Option<Box<GrowingObject>>,
}

impl Admission {
    /// Looks at the request, the bucket and the key, and refuses what can be refused before the body.
    ///
    /// # Errors
    /// Those of [`PutHeaders::read`]; those of [`encryption::EncryptionRequest::choose`]; then those of [`crate::store::precondition::Precondition::check_at_start`].
    pub fn decide(
        call: &Call<'_>,
        payload: Payload,
        tx: &mut Tx<'_>,
        ids: &mut dyn Ids,
    ) -> Result<Self, Error> {
        let (bucket, key) = (call.bucket()?, call.key()?);
        let (owner, acl) = match bucket.kind {
            BucketKind::GeneralPurpose => {
                object_owner::of_put(call.fields, bucket, call.caller, tx)?
            }
            // The header table refuses every header of an ACL there.
            BucketKind::Directory | BucketKind::OnPremises => {
                (bucket.owner.clone(), Acl::default())
            }
        };
        let mut headers = PutHeaders::read(call.fields, bucket, payload, call.now)?;
        let encryption = headers.encryption.choose(call, tx)?;
        let current = CURRENT.get(tx, &object_key(bucket.id, key))?;
        headers.precondition.check_at_start(call.dialect(), key, current.as_ref())?;
        let growing = match headers.offset {
            Some(offset) => GrowingObject::find(
                call,
                &Append { offset, encryption: &encryption, current: current.as_ref() },
                &mut headers,
                tx,
            )?,
            None => None,
        };
        Ok(Self {
            bucket: bucket.clone(),
            key: key.clone(),
            owner,
            acl,
            charged: request_payer::pays(call.caller, bucket),
            now: call.now,
            headers,
            encryption,
            lifecycle: lifecycle::of_bucket(tx, bucket.id)?,
            snapshot: snapshot(tx, bucket.id, key, current.as_ref())?,
            random: VersionId::random_bytes(ids),
            tag: random_tag(bucket, ids),
            growing: growing.map(Box::new),
        })
    }

    /// The record of a body that was checked, lies in `parts`, and was encrypted with `key`.
    #[must_use]
    pub fn object_data(&self, digested: &Digested, parts: Parts, key: &NewObjectKey) -> ObjectData {
        ObjectData {
            size: digested.size,
            etag: hex::encode(
                self.tag.unwrap_or_else(|| {
                    key.key.entity_tag(&self.encryption_context(), digested.md5)
                }),
            ),
            checksum: digested.checksum.clone(),
            checksum_type: ChecksumType::FullObject,
            parts,
            encryption: key.encryption.clone(),
            content: self.headers.content.clone(),
            metadata: self.headers.metadata.clone(),
            class: self.headers.class,
            redirect: self.headers.redirect.clone(),
            tags: self.headers.tags.clone(),
            acl: self.acl.clone(),
            lock: self.headers.lock,
            restored_from: None,
            restored_until: None,
        }
    }

    /// The answer to a PUT with these header fields that was committed as `object`.
    ///
    /// # Errors
    /// Those of [`encryption::describe_written`].
    pub fn reply(&self, fields: &Fields<'_>, object: &ObjectVersion) -> Result<Reply, Error> {
        let Some(data) = object.data.as_deref() else {
            return Ok(Reply::empty(200));
        };
        let version = (!object.version.null).then(|| object.version.to_string());
        let rules = self.lifecycle.as_ref();
        let expiration = match self.bucket.kind {
            BucketKind::GeneralPurpose | BucketKind::OnPremises => {
                rules.and_then(|rules| rules.header(&self.key, object, data))
            }
            BucketKind::Directory => Some(lifecycle::NOT_SHOWN.to_owned()),
        };
        let reply = Reply::empty(200).with("etag", quoted(&data.etag));
        let reply = with_checksum(reply, data);
        Ok(encryption::describe_written(reply, fields, &data.encryption)?
            .with_some("x-store-version-id", version)
            .with_some("x-store-expiration", expiration)
            .with_some(request_payer::CHARGED, self.charged.then_some(request_payer::REQUESTER)))
    }

    /// The context that the body is bound to.
    #[must_use]
    pub fn encryption_context(&self) -> Vec<u8> {
        encryption_context(self.bucket.id, &self.key, self.random)
    }
}

impl Admission {
    /// The context that the body of an append is bound to.
    #[must_use]
    pub fn context_of_part(&self, growing: &GrowingObject) -> Vec<u8> {
        let whole = encryption_context(self.bucket.id, &self.key, growing.version.random);
        part_context(&whole, growing.number)
    }

    /// The row of the part that the body of an append is.
    #[must_use]
    pub fn appended_part(&self, digested: &Digested, part: Part) -> ListedPart {
        ListedPart { part, tag: self.tag.unwrap_or_default(), checksum: digested.checksum.clone() }
    }

    /// The answer to an append that made `object`, whose own bytes have the checksum `of_part`.
    ///
    /// # Errors
    /// Those of [`Admission::reply`].
    pub fn append_reply(
        &self,
        fields: &Fields<'_>,
        object: &ObjectVersion,
        of_part: &Checksum,
    ) -> Result<Reply, Error> {
        let reply = self.reply(fields, object)?;
        let Some(data) = object.data.as_deref() else {
            return Ok(reply);
        };
        let reply = match data.shown_checksum() {
            Some(_) => reply,
            // That of the whole is not known: what was sent can still be compared.
            None => reply.with(of_part.algorithm.row().header, of_part.base64()),
        };
        Ok(reply.with("x-store-object-size", data.size.to_string()))
    }
}

/// A new entity tag for a directory bucket: random, since it is never the MD5 there (spec §4); `None` for another bucket.
pub(super) fn random_tag(bucket: &Bucket, ids: &mut dyn Ids) -> Option<[u8; 16]> {
    (bucket.kind == BucketKind::Directory).then(|| {
        let mut tag = [0; 16];
        ids.fill(&mut tag);
        tag
    })
}

/// The key as it is now, with its `current` version.
///
/// # Errors
/// As reads of the store.
pub(super) fn snapshot(
    tx: &mut Tx<'_>,
    bucket: u64,
    key: &Key,
    current: Option<&ObjectVersion>,
) -> Result<Snapshot, Error> {
    let (slot, _) = bucket_slot(bucket, key);
    let deletes = DELETE_GUARDS.get(tx, &slot)?.map_or(0, |deletes| deletes.count);
    let current = current.map(|current| current.version);
    Ok(Snapshot { current, delete_count: deletes, key_deletes: None })
}
