//! SHA-256, and HMAC with it and with SHA-1.

use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use sha2::{Digest, Sha256};

/// The lower-case digits of a digest, which a signature is compared with at each request.
pub(crate) fn digits(digest: &[u8; 32]) -> [u8; 64] {
    let mut digits = [0; 64];
    let written = hex::encode_to_slice(digest, &mut digits);
    debug_assert!(written.is_ok(), "there are two digits a byte");
    digits
}

pub(crate) fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

pub(crate) fn hmac_sha256<'p>(key: &[u8], parts: impl IntoIterator<Item = &'p [u8]>) -> [u8; 32] {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else {
        return [0; 32]; // HMAC takes keys of any length.
    };
    parts.into_iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().into()
}

pub(crate) fn hmac_sha1(key: &[u8], text: &[u8]) -> [u8; 20] {
    let Ok(mut mac) = Hmac::<Sha1>::new_from_slice(key) else {
        return [0; 20]; // HMAC takes keys of any length.
    };
    mac.update(text);
    mac.finalize().into_bytes().into()
}
