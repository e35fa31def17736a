//! A PUT with an offset: the object that its body is appended to.

use triptych_core::kv::Tx;

use crate::body::body_headers::ChecksumPlan;
use crate::body::checksum::Checksum;
use crate::error::Error;
use crate::kms::key_name::KeyName;
use crate::operation::Call;
use crate::operation::encryption::{EncryptedObject, EncryptionChoice};
use crate::operation::put_headers::PutHeaders;
use crate::store::object_encryption::{KeyOpening, ObjectEncryption};
use crate::store::part_cursor::last_part;
use crate::store::part_list::PARTS_MAX;
use crate::store::version::{ObjectVersion, VersionId};

/// An object that grows, as the start of an append saw it.
#[derive(Debug, Clone)]
pub struct GrowingObject {
    /// Its version: it changes with each append.
    pub version: VersionId,
    /// The way to its key.
    pub opening: KeyOpening,
    /// The number of the part that the body becomes.
    pub number: u32,
}

/// An append: where, how its request would encrypt, and what is there.
#[derive(Debug, Clone, Copy)]
pub struct Append<'a> {
    /// The offset.
    pub offset: u64,
    /// The encryption that the request, or its session, asks for.
    pub encryption: &'a EncryptionChoice,
    /// The object that is there.
    pub current: Option<&'a ObjectVersion>,
}

impl GrowingObject {
    /// Finds the object that a body is appended to, and settles its checksum; `None` where it is the first of a new object.
    ///
    /// # Errors
    /// `InvalidRequest` for an empty body, for user metadata and for a checksum of another algorithm than the object's;
    /// `InvalidWriteOffset`, `TooManyParts`, `EncryptionTypeMismatch`; those of opening the object.
    pub fn find(
        call: &Call<'_>,
        append: &Append<'_>,
        headers: &mut PutHeaders,
        tx: &mut Tx<'_>,
    ) -> Result<Option<Self>, Error> {
        if headers.body.length == Some(0) {
            return Err(Error::request(
                "Request body cannot be empty when 'write offset' is specified.",
            ));
        }
        let Some(object) = append.current else {
            return match append.offset {
                0 => Ok(None),
                _ => Err(Error::InvalidWriteOffset),
            };
        };
        if !headers.metadata.is_empty() {
            return Err(Error::request(
                "Cannot specify both a write offset value and user-defined object metadata for existing objects.",
            ));
        }
        let data = object.data.as_deref().ok_or(Error::InvalidWriteOffset)?;
        if append.offset != data.size {
            return Err(Error::InvalidWriteOffset);
        }
        if data.parts.count() >= PARTS_MAX {
            return Err(Error::TooManyParts { most: PARTS_MAX });
        }
        settle_checksum(headers, &data.checksum)?;
        if !is_same(append.encryption, &data.encryption) {
            return Err(Error::EncryptionTypeMismatch);
        }
        let encrypted = EncryptedObject {
            bucket: call.bucket_name,
            key: call.key()?.as_str(),
            encryption: &data.encryption,
        };
        Ok(Some(Self {
            version: object.version,
            opening: encrypted.open(call)?,
            number: last_part(tx, &data.parts)?.shown_number() + 1,
        }))
    }
}

/// A body that brings a checksum brings one of the object's algorithm; for one that brings none it is computed.
fn settle_checksum(headers: &mut PutHeaders, of_object: &Checksum) -> Result<(), Error> {
    let plan = &mut headers.body.checksum;
    if *plan == ChecksumPlan::Default {
        *plan = ChecksumPlan::Computed(of_object.algorithm);
        return Ok(());
    }
    let (expected, actual) = (of_object.algorithm, plan.algorithm());
    if expected == actual {
        return Ok(());
    }
    let [expected, actual] =
        [expected, actual].map(|algorithm| algorithm.row().name.to_ascii_lowercase());
    Err(Error::request(format!(
        "Checksum Type mismatch occurred, expected checksum Type: {expected}, actual checksum Type: {actual}"
    )))
}

/// Tells whether a body would be encrypted as an object is.
fn is_same(choice: &EncryptionChoice, object: &ObjectEncryption) -> bool {
    match (choice, object) {
        (EncryptionChoice::ServiceManaged, ObjectEncryption::ServiceManaged) => true,
        (EncryptionChoice::KeyManagement(choice), ObjectEncryption::KeyManagement(seal)) => {
            choice.key == KeyName::Arn(seal.key.clone())
        }
        _ => false,
    }
}
