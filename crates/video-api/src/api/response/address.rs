//! The sign that stands for the address of the service in stored and rendered text, bare and as JSON writes it.

use bytes::Bytes;

/// Stands for the address of the service. JSON never holds this byte by itself.
pub const BASE: u8 = 0x01;

/// The escape by which JSON writes the character.
pub(crate) const ESCAPED_BASE: &[u8] = b"\\u0001";

/// The text as JSON that any reader takes: no string of JSON holds the bare character.
pub(crate) fn escape_base(text: &[u8]) -> Vec<u8> {
    let pieces: Vec<&[u8]> = text.split(|byte| *byte == BASE).collect();
    pieces.join(ESCAPED_BASE)
}

/// The text with the bare character in place of its escape.
pub(crate) fn unescape_base(text: Bytes) -> Bytes {
    if !text.windows(ESCAPED_BASE.len()).any(|window| window == ESCAPED_BASE) {
        return text;
    }
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_ref();
    while let Some((&byte, after)) = rest.split_first() {
        if let Some(after) = rest.strip_prefix(ESCAPED_BASE) {
            out.push(BASE);
            rest = after;
            continue;
        }
        out.push(byte);
        rest = after;
        // What follows a backslash belongs to it: a backslash that is meant stands twice, and starts no escape.
        if let (b'\\', Some((&meant, after))) = (byte, rest.split_first()) {
            out.push(meant);
            rest = after;
        }
    }
    out.into()
}
