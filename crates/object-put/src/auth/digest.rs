//! SHA-256, and HMAC with it and with SHA-1; and the comparison of what must be kept secret.

use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

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

/// Tells whether two secrets are the same, in a time that depends on their lengths alone: eight bytes a step, since each request of a session
/// brings a token of more than a hundred.
pub(crate) fn same_secret(one: &str, other: &str) -> bool {
    let (ones, end) = one.as_bytes().as_chunks::<8>();
    let (others, other_end) = other.as_bytes().as_chunks::<8>();
    let words = ones.iter().zip(others).fold(end.ct_eq(other_end), |same, (own, other)| {
        same & u64::from_ne_bytes(*own).ct_eq(&u64::from_ne_bytes(*other))
    });
    one.len() == other.len() && words.into()
}

#[cfg(test)]
mod tests {
    use super::same_secret;

    #[test]
    fn secrets_are_the_same_that_have_the_same_bytes_and_no_others() {
        let text = "0123456789abcdefghijklmnopqrstuvwxyz";
        for length in 0..=text.len() {
            let own = &text[..length];
            assert!(same_secret(own, own), "{length}");
            for other in 0..=text.len() {
                assert_eq!(same_secret(own, &text[..other]), length == other, "{length} {other}");
            }
            for place in 0..length {
                let mut changed = own.to_owned().into_bytes();
                changed[place] ^= 1;
                let changed = String::from_utf8(changed).unwrap();
                assert!(!same_secret(own, &changed), "{length} {place}");
            }
        }
    }
}
