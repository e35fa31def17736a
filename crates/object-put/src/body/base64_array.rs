//! Byte arrays as base64 text in records.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

pub(crate) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&STANDARD_NO_PAD.encode(bytes))
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>, T: TryFrom<Vec<u8>>>(
    from: D,
) -> Result<T, D::Error> {
    let text = String::deserialize(from)?;
    let bytes = STANDARD_NO_PAD.decode(text).map_err(D::Error::custom)?;
    T::try_from(bytes).map_err(|_| D::Error::custom("a byte array of another length"))
}
