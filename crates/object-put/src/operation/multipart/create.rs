//! CreateMultipartUpload without its transport: an upload begins with all that its object is beside its bytes.

use triptych_core::id::Ids;
use triptych_core::kv::Tx;

use crate::auth::acl::Acl;
use crate::auth::object_owner;
use crate::body::checksum::{Algorithm, ChecksumType};
use crate::error::Error;
use crate::operation::encryption::{self, EncryptionChoice};
use crate::operation::put_headers::PutHeaders;
use crate::operation::put_object::snapshot;
use crate::operation::request_payer;
use crate::operation::{Call, ReadCall, Reply};
use crate::request::xml::XmlWriter;
use crate::store::bucket::{Bucket, BucketKind};
use crate::store::commit::same_bucket;
use crate::store::key::Key;
use crate::store::lifecycle;
use crate::store::object_encryption::ObjectEncryption;
use crate::store::open_upload;
use crate::store::tables::{CURRENT, UPLOADS, object_key};
use crate::store::upload::{Upload, UploadChecksum};

const ALGORITHM: &str = "x-store-checksum-algorithm";
const TYPE: &str = "x-store-checksum-type";

/// An upload that may begin: its key is asked for now.
#[derive(Debug, Clone)]
pub struct UploadAdmission {
    /// The bucket as the start saw it.
    pub bucket: Bucket,
    /// The key.
    pub key: Key,
    /// The encryption that its object gets.
    pub encryption: EncryptionChoice,
    owner: String,
    acl: Acl,
    headers: PutHeaders,
    checksum: Option<UploadChecksum>,
}

impl UploadAdmission {
    /// Looks at the request and the bucket, and refuses what can be refused.
    ///
    /// # Errors
    /// `AnonymousUpload`; those of [`object_owner::of_put`] and of [`PutHeaders::of_upload`]; `InvalidRequest` for an algorithm that is none, and for a type
    /// that it does not have; those of the choice of the encryption.
    pub fn decide(call: &Call<'_>, tx: &mut Tx<'_>) -> Result<Self, Error> {
        if call.caller.account().is_none() {
            return Err(Error::AnonymousUpload);
        }
        let (bucket, key) = (call.bucket()?, call.key()?);
        let (owner, acl) = match bucket.kind {
            BucketKind::GeneralPurpose => {
                object_owner::of_put(call.fields, bucket, call.caller, tx)?
            }
            BucketKind::Directory | BucketKind::OnPremises => {
                (bucket.owner.clone(), Acl::default())
            }
        };
        let headers = PutHeaders::of_upload(call.fields, bucket, call.now)?;
        let checksum = checksum(call)?;
        let asked = &headers.encryption;
        let encryption = asked.choose(call, tx)?;
        let (bucket, key) = (bucket.clone(), key.clone());
        Ok(Self { bucket, key, encryption, owner, acl, headers, checksum })
    }

    /// Begins the upload, whose parts are encrypted as `encryption` says.
    ///
    /// # Errors
    /// `NoSuchBucket`; as reads of the store.
    pub fn commit(
        &self,
        call: &Call<'_>,
        encryption: &ObjectEncryption,
        tx: &mut Tx<'_>,
        ids: &mut dyn Ids,
    ) -> Result<Reply, Error> {
        let (bucket, key) = (same_bucket(tx, &self.bucket)?, &self.key);
        let current = CURRENT.get_shared(tx, &object_key(bucket.id, key))?;
        let headers = self.headers.clone();
        let mut seen = snapshot(tx, bucket.id, key, current.as_deref())?;
        seen.key_deletes = Some(open_upload::begin(tx, bucket.id, key)?);
        let upload = Upload {
            number: ids.next(),
            id: open_upload::new_id(tx, bucket.id, key, call.now, ids)?,
            initiated: call.now,
            initiator: call.caller.account().map(|account| account.id.clone()),
            owner: self.owner.clone(),
            checksum: self.checksum,
            encryption: encryption.clone(),
            content: headers.content,
            metadata: headers.metadata,
            class: headers.class,
            redirect: headers.redirect,
            tags: headers.tags,
            acl: self.acl.clone(),
            lock: headers.lock,
            snapshot: seen,
            replaced: 0,
        };
        UPLOADS.put(tx, &upload.place(bucket.id, key), &upload);
        let namespace = call.dialect().names().namespace;
        let text = XmlWriter::document("InitiateMultipartUploadResult", namespace, |writer| {
            writer.text("Bucket", call.bucket_name);
            writer.text("Key", key);
            writer.text("UploadId", upload.id.text(bucket.id, key));
        });
        let reply = Reply::xml(text);
        let reply = encryption::describe_written(reply, call.fields, &upload.encryption)?
            .with_some(ALGORITHM, self.checksum.map(|own| own.algorithm.row().name))
            .with_some(TYPE, self.checksum.map(|own| own.checksum_type.name()))
            .with_some(
                request_payer::CHARGED,
                request_payer::pays(call.caller, &bucket).then_some(request_payer::REQUESTER),
            );
        with_abort(call, tx, &upload, reply)
    }
}

/// Adds the headers that say when a lifecycle rule aborts an upload.
///
/// # Errors
/// Those of [`lifecycle::of_bucket`].
pub fn with_abort(
    call: &ReadCall<'_>,
    tx: &mut Tx<'_>,
    upload: &Upload,
    reply: Reply,
) -> Result<Reply, Error> {
    let rules = lifecycle::of_bucket(tx, call.bucket()?.id)?;
    let end = match &rules {
        Some(rules) => rules.end_of_upload(call.key()?, upload.initiated),
        None => None,
    };
    Ok(match end {
        Some((date, rule)) => reply
            .with("x-store-abort-date", date.http_date())
            .with("x-store-abort-rule-id", rule.to_owned()),
        None => reply,
    })
}

/// The checksum that the headers name: which pairs there are is the real service's.
fn checksum(call: &Call<'_>) -> Result<Option<UploadChecksum>, Error> {
    let (algorithm, named) = (call.fields.get(ALGORITHM)?, call.fields.get(TYPE)?);
    let Some(algorithm) = algorithm else {
        return match named {
            None => Ok(None),
            Some(_) => Err(Error::request(
                "The x-store-checksum-type header can only be used with the x-store-checksum-algorithm header.",
            )),
        };
    };
    let algorithm = Algorithm::parse(&algorithm).ok_or_else(|| {
        Error::request(
            "Checksum algorithm provided is unsupported. Please try again with any of the valid types: [CRC32, CRC32C, CRC64NVME, SHA1, SHA256]",
        )
    })?;
    let default = match algorithm {
        Algorithm::Crc64nvme => ChecksumType::FullObject,
        _ => ChecksumType::Composite,
    };
    let checksum_type = match named {
        None => default,
        Some(name) => ChecksumType::parse(&name.to_ascii_uppercase())
            .ok_or_else(|| Error::request(format!("Value for {TYPE} header is invalid.")))?,
    };
    let is_pair = match checksum_type {
        ChecksumType::Composite => algorithm != Algorithm::Crc64nvme,
        ChecksumType::FullObject => !matches!(algorithm, Algorithm::Sha1 | Algorithm::Sha256),
        ChecksumType::Unknown => false,
    };
    if !is_pair {
        let (of_type, name) = (checksum_type.name(), algorithm.row().name.to_ascii_lowercase());
        return Err(Error::request(format!(
            "The {of_type} checksum type cannot be used with the {name} checksum algorithm."
        )));
    }
    Ok(Some(UploadChecksum { algorithm, checksum_type }))
}
