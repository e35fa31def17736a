//! The encryption of an upload in parts, as conditions see it: its beginning alone says how it is to be encrypted, and each part and the
//! completion are judged as if they said the same.

use crate::body::encryption::SERVICE_MANAGED;
use crate::request::dialect::Dialect;
use crate::store::object_encryption::ObjectEncryption;

const MODE: &str = "x-store-server-side-encryption";
/// The header that names a key of a key service.
pub(super) const KEY: &str = "x-store-server-side-encryption-kms-key-id";

/// Tells whether a header stands in the request that begins an upload, and in none after it.
pub(super) fn is_told_once(header: &str) -> bool {
    [MODE, KEY].contains(&header)
}

/// The value of such a header for an upload that is encrypted so, in the words that conditions are kept in.
pub(super) fn value(encryption: &ObjectEncryption, header: &str) -> Option<String> {
    let names = Dialect::Store.names();
    match (header, encryption) {
        (MODE, ObjectEncryption::ServiceManaged) => Some(SERVICE_MANAGED.to_owned()),
        (MODE, ObjectEncryption::KeyManagement(seal)) if seal.outer.is_some() => {
            Some(names.kms_dual.to_owned())
        }
        (MODE, ObjectEncryption::KeyManagement(_)) => Some(names.kms.to_owned()),
        (KEY, ObjectEncryption::KeyManagement(seal)) => Some(seal.key.text(Dialect::Store)),
        _ => None,
    }
}
