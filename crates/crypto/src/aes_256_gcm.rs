//! AES-256-GCM (NIST SP 800-38D) of a buffer in place, the tag beside it.

use std::sync::Arc;

use aes_gcm::aead::{AeadInOut, KeyInit};
use aes_gcm::{Nonce, Tag};

/// Bytes of a key.
pub const KEY_BYTES: usize = 32;
/// Bytes of a nonce.
pub const NONCE_BYTES: usize = 12;
/// Bytes of a tag.
pub const TAG_BYTES: usize = 16;

/// A buffer that no cipher of GCM takes, being longer than 64 GiB, or one that does not open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CipherError;

impl std::fmt::Display for CipherError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(
            "it was not encrypted with this key, nonce and bound data, or was changed since",
        )
    }
}

impl std::error::Error for CipherError {}

/// The longest buffer that one nonce serves (SP 800-38D, section 5.2.1.1).
const BUFFER_BYTES_MAX: u64 = (1 << 36) - 32;

/// A key, ready to encrypt and decrypt: by the vector instructions of the processor where it has them, and the same bytes where it has not.
#[derive(Clone)]
pub struct Aes256Gcm(Engine);

#[derive(Clone)]
enum Engine {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    Vectors(Arc<graviola::aead::AesGcm>),
    Portable(Arc<aes_gcm::Aes256Gcm>),
}

impl std::fmt::Debug for Aes256Gcm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Aes256Gcm").finish_non_exhaustive()
    }
}

impl Aes256Gcm {
    /// The cipher of a key.
    #[must_use]
    pub fn new(key: &[u8; KEY_BYTES]) -> Self {
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        if graviola::util::is_cpu_supported() {
            return Self(Engine::Vectors(Arc::new(graviola::aead::AesGcm::new(key))));
        }
        Self::portable(key)
    }

    /// The cipher of a key on any processor.
    fn portable(key: &[u8; KEY_BYTES]) -> Self {
        Self(Engine::Portable(Arc::new(aes_gcm::Aes256Gcm::new(key.into()))))
    }

    /// Encrypts `buffer` in place; gives the tag that proves it and `bound`. A nonce serves once.
    ///
    /// # Errors
    /// [`CipherError`] for a buffer of more than 64 GiB.
    pub fn encrypt(
        &self,
        nonce: [u8; NONCE_BYTES],
        bound: &[u8],
        buffer: &mut [u8],
    ) -> Result<[u8; TAG_BYTES], CipherError> {
        check_length(buffer)?;
        match &self.0 {
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            Engine::Vectors(cipher) => {
                let mut tag = [0; TAG_BYTES];
                cipher.encrypt(&nonce, bound, buffer, &mut tag);
                Ok(tag)
            }
            Engine::Portable(cipher) => {
                let tag = cipher.encrypt_inout_detached(&Nonce::from(nonce), bound, buffer.into());
                tag.map(Into::into).map_err(|_| CipherError)
            }
        }
    }

    /// Decrypts `buffer` in place, once `tag` proves it and `bound`; what does not open is of no use after it.
    ///
    /// # Errors
    /// [`CipherError`] if any bit of them, or the key or the nonce, is not that of the encryption.
    pub fn decrypt(
        &self,
        nonce: [u8; NONCE_BYTES],
        bound: &[u8],
        buffer: &mut [u8],
        tag: [u8; TAG_BYTES],
    ) -> Result<(), CipherError> {
        check_length(buffer)?;
        match &self.0 {
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            Engine::Vectors(cipher) => {
                cipher.decrypt(&nonce, bound, buffer, &tag).map_err(|_| CipherError)
            }
            Engine::Portable(cipher) => {
                let (nonce, tag) = (Nonce::from(nonce), Tag::from(tag));
                let opened = cipher.decrypt_inout_detached(&nonce, bound, buffer.into(), &tag);
                opened.map_err(|_| CipherError)
            }
        }
    }
}

fn check_length(buffer: &[u8]) -> Result<(), CipherError> {
    if buffer.len() as u64 > BUFFER_BYTES_MAX { Err(CipherError) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_instructions_of_a_processor_change_no_byte(
            key: [u8; KEY_BYTES],
            nonce: [u8; NONCE_BYTES],
            bound in proptest::collection::vec(any::<u8>(), 0..80),
            plain in proptest::collection::vec(any::<u8>(), 0..5_000),
        ) {
            let (chosen, portable) = (Aes256Gcm::new(&key), Aes256Gcm::portable(&key));
            let (mut one, mut other) = (plain.clone(), plain.clone());
            let tag = chosen.encrypt(nonce, &bound, &mut one).unwrap();
            prop_assert_eq!(portable.encrypt(nonce, &bound, &mut other), Ok(tag));
            prop_assert_eq!(&one, &other);
            prop_assert_eq!(portable.decrypt(nonce, &bound, &mut one, tag), Ok(()));
            prop_assert_eq!(chosen.decrypt(nonce, &bound, &mut other, tag), Ok(()));
            prop_assert_eq!((&one, &other), (&plain, &plain));
        }
    }

    #[test]
    fn records_of_every_length_around_theirs_are_the_same_by_both() {
        let (chosen, portable) = (Aes256Gcm::new(&[5; 32]), Aes256Gcm::portable(&[5; 32]));
        for length in (65_500..65_560).chain([131_072, 1_048_577]) {
            let (mut one, mut other) = (vec![6; length], vec![6; length]);
            let tag = chosen.encrypt([7; NONCE_BYTES], &[8; 41], &mut one);
            assert_eq!(tag, portable.encrypt([7; NONCE_BYTES], &[8; 41], &mut other));
            assert_eq!(one, other, "{length}");
        }
    }

    /// Test case 16 of the GCM submission to NIST: a key of 256 bits with bound data.
    #[test]
    fn a_published_example_is_encrypted_as_published() {
        let key: [u8; 32] = std::array::from_fn(|at| match at % 16 {
            0..8 => [0xfe, 0xff, 0xe9, 0x92, 0x86, 0x65, 0x73, 0x1c][at % 8],
            _ => [0x6d, 0x6a, 0x8f, 0x94, 0x67, 0x30, 0x83, 0x08][at % 8],
        });
        let nonce = [0xca, 0xfe, 0xba, 0xbe, 0xfa, 0xce, 0xdb, 0xad, 0xde, 0xca, 0xf8, 0x88];
        let bound = [
            0xfe, 0xed, 0xfa, 0xce, 0xde, 0xad, 0xbe, 0xef, 0xfe, 0xed, 0xfa, 0xce, 0xde, 0xad,
            0xbe, 0xef, 0xab, 0xad, 0xda, 0xd2,
        ];
        let mut buffer = [0xd9, 0x31, 0x32, 0x25, 0xf8, 0x84, 0x06, 0xe5];
        Aes256Gcm::new(&key).encrypt(nonce, &bound, &mut buffer).unwrap();
        assert_eq!(buffer, [0x52, 0x2d, 0xc1, 0xf0, 0x99, 0x56, 0x7d, 0x07]);
    }

    #[test]
    fn a_changed_bit_of_anything_is_found() {
        let (cipher, nonce, bound) = (Aes256Gcm::new(&[7; 32]), [1; NONCE_BYTES], [2; 20]);
        let mut sealed = *b"a buffer of some bytes";
        let tag = cipher.encrypt(nonce, &bound, &mut sealed).unwrap();
        let opens = |cipher: &Aes256Gcm, nonce, bound: &[u8], mut sealed: [u8; 22], tag| {
            cipher.decrypt(nonce, bound, &mut sealed, tag).map(|()| sealed)
        };
        assert_eq!(opens(&cipher, nonce, &bound, sealed, tag), Ok(*b"a buffer of some bytes"));
        let mut other = sealed;
        other[21] ^= 1;
        assert_eq!(opens(&cipher, nonce, &bound, other, tag), Err(CipherError));
        assert_eq!(opens(&cipher, nonce, &bound[..19], sealed, tag), Err(CipherError));
        assert_eq!(opens(&cipher, [3; NONCE_BYTES], &bound, sealed, tag), Err(CipherError));
        assert_eq!(opens(&cipher, nonce, &bound, sealed, [0; TAG_BYTES]), Err(CipherError));
        assert_eq!(opens(&Aes256Gcm::new(&[8; 32]), nonce, &bound, sealed, tag), Err(CipherError));
    }
}
