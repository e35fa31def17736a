//! The encryption of an upload in parts, as conditions see it: its beginning alone says how it is to be encrypted, and each part and the
//! completion are judged as if they said the same.

use crate::body::encryption::{KEY_HEADER, MODE_HEADER, SERVICE_MANAGED};
use crate::request::dialect::Dialect;
use crate::store::object_encryption::ObjectEncryption;

/// Tells whether a header stands in the request that begins an upload, and in none after it.
pub(super) fn is_told_once(header: &str) -> bool {
    [MODE_HEADER, KEY_HEADER].contains(&header)
}

/// The value of such a header for an upload that is encrypted so, in the words that conditions are kept in.
pub(super) fn value(encryption: &ObjectEncryption, header: &str) -> Option<String> {
    let names = Dialect::Store.names();
    match (header, encryption) {
        (MODE_HEADER, ObjectEncryption::ServiceManaged) => Some(SERVICE_MANAGED.to_owned()),
        (MODE_HEADER, ObjectEncryption::KeyManagement(seal)) if seal.outer.is_some() => {
            Some(names.kms_dual.to_owned())
        }
        (MODE_HEADER, ObjectEncryption::KeyManagement(_)) => Some(names.kms.to_owned()),
        (KEY_HEADER, ObjectEncryption::KeyManagement(seal)) => Some(seal.key.text(Dialect::Store)),
        _ => None,
    }
}
