//! Signatures with a key pair: the pair follows from the secret of an access key, and whoever signs a chunk signs for many regions at once.

use hmac::{Hmac, KeyInit, Mac};
use p256::ecdsa::signature::Verifier as _;
use p256::ecdsa::{Signature, SigningKey, VerifyingKey};
use sha2::Sha256;

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
fn private_key(dialect: Dialect, access_key: &str, secret: &str) -> Option<SigningKey> {
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
        let key = SigningKey::from_slice(&number).ok();
        zeroize::Zeroize::zeroize(&mut number);
        key
    })
}

/// The public half of the pair that follows from the secret of an access key.
#[must_use]
pub fn public_key(dialect: Dialect, access_key: &str, secret: &str) -> Option<VerifyingKey> {
    private_key(dialect, access_key, secret).map(|key| *key.verifying_key())
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

/// Tells whether `signature`, hexadecimal digits of DER, is one of `text`.
#[must_use]
pub fn verifies(key: &VerifyingKey, text: &[u8], signature: &str) -> bool {
    read_signature(signature).is_some_and(|signature| key.verify(text, &signature).is_ok())
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
    /// The key.
    pub key: VerifyingKey,
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
        let holds = |text: &String| verifies(&self.key, text.as_bytes(), &self.signature);
        if self.texts.iter().any(holds) { Ok(()) } else { Err(self.refusal) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use p256::ecdsa::signature::Signer as _;

    fn pair() -> (SigningKey, VerifyingKey) {
        let key =
            private_key(Dialect::Amz, "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
                .unwrap();
        let public = *key.verifying_key();
        (key, public)
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
        let key = public_key(Dialect::Amz, id, secret).unwrap();
        let point = hex::encode(key.to_sec1_point(false).as_bytes());
        let x = "15d242ceebf8d8169fd6a8b5a746c41140414c3b07579038da06af89190fffcb";
        let y = "0515242cedd82e94799482e4c0514b505afccf2c0c98d6a553bf539f424c5ec0";
        assert_eq!(point, format!("04{x}{y}"));
    }

    #[test]
    fn a_signature_verifies_and_no_other_does() {
        let (key, public) = pair();
        let signature: Signature = key.sign(b"text");
        let good = hex::encode(der(&signature));
        assert!(verifies(&public, b"text", &good));
        assert!(!verifies(&public, b"next", &good));
        assert!(!verifies(&public, b"text", &good[..good.len() - 2]));
        assert!(!verifies(&public, b"text", &format!("{good}00")));
        let other = public_key(Dialect::Store, "AKIDEXAMPLE", "secret").unwrap();
        assert!(!verifies(&other, b"text", &good));
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
