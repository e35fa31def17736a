//! Signatures with a key pair: the pair follows from the secret of an access key, and whoever signs a chunk signs for many regions at once.

use hmac::{Hmac, KeyInit, Mac};
use p256::ecdsa::Signature;
use p256::elliptic_curve::group::Group as _;
use p256::elliptic_curve::ops::{Invert as _, Reduce as _};
use p256::elliptic_curve::point::AffineCoordinates as _;
use p256::{ProjectivePoint, Scalar, SecretKey};
use sha2::{Digest as _, Sha256};

use crate::auth::account::matches;
use crate::error::Error;
use crate::request::dialect::Dialect;

/// The order of the curve without two, most significant byte first: a private key is a number from 1 to one less than the order.
const ORDER_LESS_TWO: [u8; 32] = [
    0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
    0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x4F,
];
/// Bits of a private key, as its derivation names them.
const KEY_BITS: u32 = 256;
/// Fills up a signature of a chunk, so that all have one length.
const PADDING: char = '*';
/// The most bytes of a signature in DER.
const SIGNATURE_BYTES_MAX: usize = 72;

/// The private key that follows from a secret, in counter mode (NIST SP 800-108); `None` if no counter gives one, which no secret does.
fn private_key(dialect: Dialect, access_key: &str, secret: &str) -> Option<SecretKey> {
    let names = dialect.names();
    let input = zeroize::Zeroizing::new(format!("{}A{secret}", names.key_prefix));
    (1..=254_u8).find_map(|counter| {
        let mut mac = Hmac::<Sha256>::new_from_slice(input.as_bytes()).ok()?;
        mac.update(&1_u32.to_be_bytes());
        mac.update(names.asymmetric_algorithm.as_bytes());
        mac.update(&[0]);
        mac.update(access_key.as_bytes());
        mac.update(&[counter]);
        mac.update(&KEY_BITS.to_be_bytes());
        let mut number: [u8; 32] = mac.finalize().into_bytes().into();
        if number > ORDER_LESS_TWO {
            return None;
        }
        for byte in number.iter_mut().rev() {
            let (sum, carries) = byte.overflowing_add(1);
            *byte = sum;
            if !carries {
                break;
            }
        }
        let key = SecretKey::from_slice(&number).ok();
        zeroize::Zeroize::zeroize(&mut number);
        key
    })
}

/// The key pair that follows from the secret of an access key. Its public half is never needed: see [`KeyPair::verifies`].
#[derive(Clone, PartialEq, Eq)]
pub struct KeyPair(SecretKey);

impl std::fmt::Debug for KeyPair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeyPair").finish_non_exhaustive()
    }
}

impl KeyPair {
    /// The pair of this access key; `None` if its secret gives none, as no secret does.
    #[must_use]
    pub fn derive(dialect: Dialect, access_key: &str, secret: &str) -> Option<Self> {
        private_key(dialect, access_key, secret).map(Self)
    }

    /// Tells whether `signature`, hexadecimal digits of DER, is one of `text`.
    ///
    /// Who has the private key `d` finds the point of a signature, `(z / s) G + (r / s) d G`, as one multiple of the base point, for which
    /// there is a table; who has the public key alone multiplies a second point, which takes several times as long. That multiple is as
    /// secret as the key: only what the client sent itself takes a time that depends on its value.
    #[must_use]
    pub fn verifies(&self, text: &[u8], signature: &str) -> bool {
        let Some(signature) = read_signature(signature) else {
            return false;
        };
        let (r, s) = signature.split_scalars();
        let digest = Scalar::reduce(&Sha256::digest(text));
        let multiple = (digest + *r * *self.0.to_nonzero_scalar().as_ref()) * *s.invert_vartime();
        let point = ProjectivePoint::mul_by_generator(&multiple).to_affine();
        // The point at infinity has the coordinate zero, and no signature has that.
        Scalar::reduce(&point.x()) == *r
    }
}

/// Tells whether a set of regions takes `region`: names with commas between, in which `*` stands for any run of characters.
#[must_use]
pub fn takes_region(set: &str, region: &str) -> bool {
    let mut names = set.split(',').map(str::trim);
    names.any(|name| !name.is_empty() && !name.contains('?') && matches(name, region))
}

/// A signature in hexadecimal digits, which may be padded as those of chunks are.
#[must_use]
pub fn without_padding(signature: &str) -> &str {
    signature.trim_end_matches(PADDING)
}

/// Reads a sequence of two numbers in DER: each in its shortest form and positive, and nothing after them.
fn read_signature(text: &str) -> Option<Signature> {
    if text.len() > 2 * SIGNATURE_BYTES_MAX {
        return None;
    }
    let bytes = hex::decode(text).ok()?;
    let (numbers, rest) = tagged(&bytes, 0x30)?;
    let (r, after) = tagged(numbers, 0x02)?;
    let (s, end) = tagged(after, 0x02)?;
    if !rest.is_empty() || !end.is_empty() {
        return None;
    }
    let (r, s) = (number(r)?, number(s)?);
    // Refuses zero and what is not less than the order.
    Signature::from_scalars(r, s).ok()
}

/// The content of the element with this tag that `bytes` begin with, and what follows it.
fn tagged(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (own, rest) = bytes.split_first()?;
    let (length, rest) = rest.split_first()?;
    // Longer lengths have another form, and no signature needs it.
    if *own != tag || *length >= 0x80 {
        return None;
    }
    rest.split_at_checked(usize::from(*length))
}

fn number(bytes: &[u8]) -> Option<[u8; 32]> {
    let digits = match bytes {
        [0, next, ..] if *next >= 0x80 => bytes.get(1..)?,
        [first, ..] if *first != 0 && *first < 0x80 => bytes,
        _ => return None,
    };
    let mut whole = [0; 32];
    let start = whole.len().checked_sub(digits.len())?;
    whole.get_mut(start..)?.copy_from_slice(digits);
    Some(whole)
}

/// The claim of a request: one of these texts has this signature. Verifying it takes a while, and threads that read and write have no
/// time for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The key pair.
    pub key: KeyPair,
    /// The texts that may have been signed.
    pub texts: Vec<String>,
    /// The signature.
    pub signature: String,
    /// The answer if none of them was.
    pub refusal: Error,
}

impl Claim {
    /// Verifies it.
    ///
    /// # Errors
    /// Its refusal.
    pub fn check(self) -> Result<(), Error> {
        let holds = |text: &String| self.key.verifies(text.as_bytes(), &self.signature);
        if self.texts.iter().any(holds) { Ok(()) } else { Err(self.refusal) }
    }
}

#[cfg(test)]
mod tests {
    use p256::ecdsa::SigningKey;
    use p256::ecdsa::signature::{Signer as _, Verifier as _};
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn pair() -> KeyPair {
        let secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
        KeyPair::derive(Dialect::Amz, "AKIDEXAMPLE", secret).unwrap()
    }

    /// The pair as its client has it.
    fn signer(pair: &KeyPair) -> SigningKey {
        SigningKey::from(&pair.0)
    }

    fn der(signature: &Signature) -> Vec<u8> {
        let number = |bytes: &[u8]| {
            let start = bytes.iter().position(|byte| *byte != 0).unwrap_or(0);
            let digits = &bytes[start..];
            let sign: &[u8] = if digits[0] >= 0x80 { &[0] } else { &[] };
            [&[0x02, u8::try_from(sign.len() + digits.len()).unwrap()], sign, digits].concat()
        };
        let (r, s) = signature.split_bytes();
        let numbers = [number(&r), number(&s)].concat();
        [vec![0x30, u8::try_from(numbers.len()).unwrap()], numbers].concat()
    }

    #[test]
    fn the_pair_of_a_secret_is_the_one_that_clients_derive() {
        // The vector that the clients' own tests have.
        let (id, secret) = ("AKISORANDOMAASORANDOM", "q+jcrXGc+0zWN6uzclKVhvMmUsIfRPa4rlRandom");
        let pair = KeyPair::derive(Dialect::Amz, id, secret).unwrap();
        let point = hex::encode(signer(&pair).verifying_key().to_sec1_point(false).as_bytes());
        let x = "15d242ceebf8d8169fd6a8b5a746c41140414c3b07579038da06af89190fffcb";
        let y = "0515242cedd82e94799482e4c0514b505afccf2c0c98d6a553bf539f424c5ec0";
        assert_eq!(point, format!("04{x}{y}"));
    }

    #[test]
    fn a_signature_verifies_and_no_other_does() {
        let pair = pair();
        let signature: Signature = signer(&pair).sign(b"text");
        let good = hex::encode(der(&signature));
        assert!(pair.verifies(b"text", &good));
        assert!(!pair.verifies(b"next", &good));
        assert!(!pair.verifies(b"text", &good[..good.len() - 2]));
        assert!(!pair.verifies(b"text", &format!("{good}00")));
        let other = KeyPair::derive(Dialect::Store, "AKIDEXAMPLE", "secret").unwrap();
        assert!(!other.verifies(b"text", &good));
    }

    proptest! {
        #[test]
        fn who_has_the_private_key_judges_as_one_who_has_the_public_one(
            signed in vec(any::<u8>(), 0..80),
            other in vec(any::<u8>(), 0..80),
            flipped in 0..64_usize,
            bit in 0..8_u8,
        ) {
            let pair = pair();
            let signer = signer(&pair);
            let signature: Signature = signer.sign(&signed);
            // As some clients sign, and as others do.
            let high = Signature::from_scalars(signature.r(), -*signature.s()).unwrap();
            let mut bytes = signature.to_bytes();
            bytes[flipped] ^= 1 << bit;
            for text in [&signed, &other] {
                for signature in [Some(signature), Some(high), Signature::from_slice(&bytes).ok()] {
                    let Some(signature) = signature else { continue };
                    let expected = signer.verifying_key().verify(text, &signature).is_ok();
                    prop_assert_eq!(pair.verifies(text, &hex::encode(der(&signature))), expected);
                }
            }
        }
    }

    #[test]
    fn numbers_that_make_the_point_at_infinity_are_no_signature() {
        let pair = pair();
        // The text's digest and r times the key add up to nothing: the multiple is zero for every s.
        let digest = Scalar::reduce(&Sha256::digest(b"text"));
        let key = *pair.0.to_nonzero_scalar().as_ref();
        let r = -digest * key.invert_vartime().unwrap();
        let signature = Signature::from_scalars(r, Scalar::ONE).unwrap();
        assert!(!pair.verifies(b"text", &hex::encode(der(&signature))));
    }

    #[test]
    fn what_is_no_signature_is_none() {
        let number = |bytes: &[u8]| [&[0x02, u8::try_from(bytes.len()).unwrap()], bytes].concat();
        let sequence = |numbers: &[Vec<u8>]| {
            let all = numbers.concat();
            hex::encode([vec![0x30, u8::try_from(all.len()).unwrap()], all].concat())
        };
        let one = number(&[1]);
        assert!(read_signature(&sequence(&[one.clone(), one.clone()])).is_some());
        let order = [&[0][..], &ORDER_LESS_TWO[..31], &[0x51]].concat();
        for wrong in [
            sequence(&[number(&[0]), one.clone()]),
            sequence(&[one.clone(), number(&[0])]),
            sequence(&[number(&[]), one.clone()]),
            sequence(&[number(&[0, 1]), one.clone()]),
            sequence(&[number(&[0x80]), one.clone()]),
            sequence(&[number(&order), one.clone()]),
            sequence(&[number(&[1; 34]), one.clone()]),
            sequence(std::slice::from_ref(&one)),
            sequence(&[one.clone(), one.clone(), one.clone()]),
            String::new(),
            "3006".to_owned(),
            "zz".to_owned(),
            "30".repeat(5_000),
        ] {
            assert_eq!(read_signature(&wrong), None, "{}", wrong.get(..40).unwrap_or(&wrong));
        }
    }

    #[test]
    fn a_set_of_regions_takes_what_one_of_its_names_fits() {
        for (set, takes) in [
            ("*", true),
            ("us-east-1", true),
            ("us-*", true),
            ("eu-west-1, us-east-1", true),
            ("*-east-*", true),
            ("", false),
            (",", false),
            ("us-east-2", false),
            ("us", false),
            ("eu-*,ap-*", false),
            ("us-east-?", false),
        ] {
            assert_eq!(takes_region(set, "us-east-1"), takes, "{set}");
        }
        assert!(!takes_region(&"*a".repeat(4_096), "us-east-1"));
    }
}
