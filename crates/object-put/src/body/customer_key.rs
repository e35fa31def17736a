//! Keys that a customer brings with each request: they encrypt and decrypt, and nothing of them stays but a salted verifier.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest as _, Md5};
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;
use triptych_core::id::Ids;
use zeroize::Zeroizing;

use crate::body::encryption::MODE_HEADER;
use crate::body::object_key::{ObjectKey, SecretKey};
use crate::error::Error;
use crate::request::fields::Fields;

/// The one algorithm that there is.
pub const ALGORITHM: &str = "AES256";
/// Bytes of the salt of a verifier.
const SALT_BYTES: usize = 16;

/// The headers that bring a customer's key.
#[derive(Debug)]
pub struct CustomerKeyHeaders {
    /// The algorithm.
    pub algorithm: &'static str,
    /// The key, base64.
    pub key: &'static str,
    /// The MD5 of the key, base64.
    pub md5: &'static str,
}

/// The key of the object that a request is about.
pub static OWN: CustomerKeyHeaders = CustomerKeyHeaders {
    algorithm: "x-store-server-side-encryption-customer-algorithm",
    key: "x-store-server-side-encryption-customer-key",
    md5: "x-store-server-side-encryption-customer-key-md5",
};

/// The key of the object that is copied.
pub static COPY_SOURCE: CustomerKeyHeaders = CustomerKeyHeaders {
    algorithm: "x-store-copy-source-server-side-encryption-customer-algorithm",
    key: "x-store-copy-source-server-side-encryption-customer-key",
    md5: "x-store-copy-source-server-side-encryption-customer-key-md5",
};

impl CustomerKeyHeaders {
    /// Tells whether a request has any of them.
    #[must_use]
    pub fn are_named(&self, fields: &Fields<'_>) -> bool {
        [self.algorithm, self.key, self.md5].iter().any(|name| fields.has(name))
    }
}

/// Checks that a key that comes with a request does not pass where others can read it.
///
/// # Errors
/// `InvalidRequest` for a key on a way that is not `private`.
pub fn check_transport(fields: &Fields<'_>, private: bool) -> Result<(), Error> {
    if private || !(OWN.are_named(fields) || COPY_SOURCE.are_named(fields)) {
        return Ok(());
    }
    Err(Error::request(
        "Requests specifying Server Side Encryption with Customer provided keys must be made over a secure connection.",
    ))
}

/// A customer's key, for as long as its request lasts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomerKey {
    key: SecretKey,
    md5: [u8; 16],
}

/// All that the store keeps of a customer's key: enough to tell another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustomerSeal {
    #[serde(with = "crate::body::base64_array")]
    salt: [u8; SALT_BYTES],
    #[serde(with = "crate::body::base64_array")]
    verifier: [u8; 32],
}

impl CustomerKey {
    /// Reads the key that `headers` bring, if any of them is there.
    ///
    /// # Errors
    /// `InvalidArgument` for one without the others, for a key of another length than 32 bytes, and for one with another MD5;
    /// `InvalidEncryptionAlgorithm`.
    pub fn read(fields: &Fields<'_>, headers: &CustomerKeyHeaders) -> Result<Option<Self>, Error> {
        if !headers.are_named(fields) {
            return Ok(None);
        }
        let value = |name| fields.get(name).map(|found| found.filter(|value| !value.is_empty()));
        let refused = |reason: &'static str| Err(Error::argument(MODE_HEADER, None, reason));
        let (Some(algorithm), key, md5) =
            (value(headers.algorithm)?, value(headers.key)?, value(headers.md5)?)
        else {
            return refused(
                "Requests specifying Server Side Encryption with Customer provided keys must provide a valid encryption algorithm.",
            );
        };
        let Some(key) = key else {
            return refused(
                "Requests specifying Server Side Encryption with Customer provided keys must provide an appropriate secret key.",
            );
        };
        if algorithm != ALGORITHM {
            return Err(Error::InvalidEncryptionAlgorithm { value: algorithm.into_owned() });
        }
        let unfit = "The secret key was invalid for the specified algorithm.";
        let bytes = STANDARD.decode(key.as_bytes()).map(Zeroizing::new);
        let (Ok(bytes), Some(md5)) = (bytes, md5) else {
            return refused(unfit);
        };
        // As in the real service, a key of another length is told of its digest first.
        let own: [u8; 16] = Md5::digest(&*bytes).into();
        if STANDARD.decode(md5.as_bytes()).unwrap_or_default() != own {
            return refused(
                "The calculated MD5 hash of the key did not match the hash that was provided.",
            );
        }
        match SecretKey::of_slice(&bytes) {
            Some(key) => Ok(Some(Self { key, md5: own })),
            None => refused(unfit),
        }
    }

    /// The MD5 of the key as answers repeat it.
    #[must_use]
    pub fn md5(&self) -> String {
        STANDARD.encode(self.md5)
    }

    /// A new object's key that follows from this one, and all that is kept of it.
    pub fn seal(&self, ids: &mut dyn Ids) -> (ObjectKey, CustomerSeal) {
        let mut salt = [0; SALT_BYTES];
        ids.fill(&mut salt);
        let seal = CustomerSeal { salt, verifier: self.verifier(&salt) };
        (self.object_key(&salt), seal)
    }

    /// The key of the object that was sealed with this one.
    ///
    /// # Errors
    /// [`Error::WrongCustomerKey`] if it was another.
    pub fn open(&self, seal: &CustomerSeal) -> Result<ObjectKey, Error> {
        match bool::from(self.verifier(&seal.salt).ct_eq(&seal.verifier)) {
            true => Ok(self.object_key(&seal.salt)),
            false => Err(Error::WrongCustomerKey),
        }
    }

    fn verifier(&self, salt: &[u8]) -> [u8; 32] {
        *self.key.derive("verifier of a customer's key", &[salt]).reveal()
    }

    fn object_key(&self, salt: &[u8]) -> ObjectKey {
        ObjectKey::new(self.key.derive("object key", &[salt]), None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use triptych_core::id::SeededIds;

    fn read(algorithm: &str, key: &str, md5: &str) -> Result<Option<CustomerKey>, Error> {
        let all = [(OWN.algorithm, algorithm), (OWN.key, key), (OWN.md5, md5)];
        let sent = all.iter().filter(|(_, value)| *value != "-");
        CustomerKey::read(&Fields::of(sent.map(|(name, value)| (*name, value.as_bytes()))), &OWN)
    }

    fn key(byte: u8) -> CustomerKey {
        let bytes = [byte; 32];
        let md5 = STANDARD.encode(Md5::digest(bytes));
        read("AES256", &STANDARD.encode(bytes), &md5).unwrap().unwrap()
    }

    #[test]
    fn algorithm_key_and_digest_come_together_or_not_at_all() {
        let good = STANDARD.encode([1; 32]);
        let md5_of = |length| STANDARD.encode(Md5::digest(vec![1; length]));
        let md5 = md5_of(32);
        assert_eq!(read("-", "-", "-"), Ok(None));
        assert!(read("AES256", &good, &md5).unwrap().is_some());
        for (algorithm, key, digest, says) in [
            ("-", good.as_str(), md5.as_str(), "valid encryption algorithm"),
            ("-", "-", &md5, "valid encryption algorithm"),
            ("AES256", "-", &md5, "appropriate secret key"),
            ("AES256", "", "", "appropriate secret key"),
            ("KMS", &good, &md5, "Supported value: AES256"),
            ("aes256", &good, &md5, "Supported value: AES256"),
            ("AES256", &good, "-", "secret key was invalid"),
            ("AES256", &STANDARD.encode([1; 31]), &md5_of(31), "secret key was invalid"),
            ("AES256", &STANDARD.encode([1; 33]), &md5_of(33), "secret key was invalid"),
            ("AES256", &STANDARD.encode([1; 24]), &md5, "did not match the hash"),
            ("AES256", "no base64", &md5, "secret key was invalid"),
            ("AES256", &good, "AAAA", "did not match the hash"),
            ("AES256", &good, "no base64", "did not match the hash"),
        ] {
            let refused = read(algorithm, key, digest).unwrap_err().to_string();
            assert!(refused.contains(says), "{algorithm} {key} {digest}: {refused}");
            assert!(!refused.contains(&good), "{refused}");
        }
    }

    #[test]
    fn another_key_is_told_apart_and_nothing_of_either_is_kept() {
        let (own, seal) = key(1).seal(&mut SeededIds::from_number(1));
        assert_eq!(key(1).open(&seal), Ok(own));
        assert_eq!(key(2).open(&seal), Err(Error::WrongCustomerKey));
        let kept = serde_json::to_string(&seal).unwrap();
        assert!(!kept.contains(&STANDARD.encode([1; 32])) && !kept.contains(&key(1).md5()));
        let (_, again) = key(1).seal(&mut SeededIds::from_number(2));
        assert_ne!(seal, again, "equal keys do not show that they are");
    }

    #[test]
    fn a_key_passes_where_nobody_listens_alone() {
        let named = Fields::of([(COPY_SOURCE.key, &b"x"[..])]);
        assert!(check_transport(&named, true).is_ok());
        assert!(check_transport(&named, false).is_err());
        assert!(check_transport(&Fields::default(), false).is_ok());
    }
}
