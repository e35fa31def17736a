//! Compact JSON as clients get it: its splices filled, indented, the address of the service in its places.

use bytes::Bytes;

use super::{BASE, Served, Splice};

/// Compact JSON as the real service's answers look, indented by two blanks a level and with a blank after colons, and with `base` in every
/// place that stands for it. Its splices are filled.
#[must_use]
pub fn pretty(json: &[u8], base: &str, splices: &[Splice]) -> Vec<u8> {
    let mut out = printed(json, base.as_bytes(), 0, splices);
    out.push(b'\n');
    out
}

/// A value as it looks at this depth of an indented answer, with the sign of the address still in its place.
#[must_use]
pub fn indented(json: &[u8], depth: usize) -> Bytes {
    printed(json, &[BASE], depth, &[]).into()
}

/// The same with `base` in its places, and with what stands in its splices.
pub(super) fn printed(json: &[u8], base: &[u8], depth: usize, splices: &[Splice]) -> Vec<u8> {
    let served = splices.iter().map(|splice| splice.served.indented.len());
    let served: usize = served.map(|length| length + 8 * base.len()).sum();
    let mut printer = Printer {
        out: Vec::with_capacity(2 * json.len() + served + 64),
        base,
        depth,
        is_empty: false,
    };
    let mut at = 0;
    for splice in splices {
        printer.print(json.get(at..splice.at).unwrap_or_default());
        match &splice.served {
            Served { text, indented } if indented.is_empty() => printer.print(text),
            Served { indented, .. } => put_base(indented, base, &mut printer.out),
        }
        at = splice.at;
    }
    printer.print(json.get(at..).unwrap_or_default());
    printer.out
}

/// A text with what stands in its splices.
#[must_use]
pub fn filled(json: &[u8], splices: &[Splice]) -> Vec<u8> {
    let served: usize = splices.iter().map(|splice| splice.served.text.len()).sum();
    let mut out = Vec::with_capacity(json.len() + served);
    let mut at = 0;
    for splice in splices {
        out.extend_from_slice(json.get(at..splice.at).unwrap_or_default());
        out.extend_from_slice(&splice.served.text);
        at = splice.at;
    }
    out.extend_from_slice(json.get(at..).unwrap_or_default());
    out
}

/// Compact JSON on its way to indented text. It may come in pieces, which do not end within a string.
struct Printer<'b> {
    out: Vec<u8>,
    base: &'b [u8],
    depth: usize,
    /// True if the brace or bracket that was opened last is closed at once.
    is_empty: bool,
}

impl Printer<'_> {
    fn print(&mut self, json: &[u8]) {
        let mut rest = json;
        while let Some((&byte, after)) = rest.split_first() {
            rest = after;
            match byte {
                b'"' => {
                    self.out.push(byte);
                    rest = copy_string(after, self.base, &mut self.out);
                }
                b'{' | b'[' => {
                    self.out.push(byte);
                    self.depth += 1;
                    self.is_empty = matches!(rest.first(), Some(b'}' | b']'));
                    if !self.is_empty {
                        line(&mut self.out, self.depth);
                    }
                }
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if !std::mem::take(&mut self.is_empty) {
                        line(&mut self.out, self.depth);
                    }
                    self.out.push(byte);
                }
                b',' => {
                    self.out.push(byte);
                    line(&mut self.out, self.depth);
                }
                b':' => self.out.extend_from_slice(b": "),
                _ => self.out.push(byte),
            }
        }
    }
}

/// Begins a line.
fn line(out: &mut Vec<u8>, depth: usize) {
    const LINE: &[u8] = b"\n                                ";
    match LINE.get(..=depth * 2) {
        Some(line) => out.extend_from_slice(line),
        None => {
            out.push(b'\n');
            out.resize(out.len() + depth * 2, b' ');
        }
    }
}

/// Copies a string whose first quotation mark is over, and gives what follows its last one.
fn copy_string<'t>(mut text: &'t [u8], base: &[u8], out: &mut Vec<u8>) -> &'t [u8] {
    while let Some(at) = memchr::memchr3(b'"', b'\\', BASE, text) {
        let (before, from) = text.split_at(at);
        out.extend_from_slice(before);
        let taken = match from {
            [BASE, ..] => {
                out.extend_from_slice(base);
                1
            }
            [b'\\', escaped, ..] => {
                out.extend_from_slice(&[b'\\', *escaped]);
                2
            }
            _ => {
                out.push(b'"');
                return from.get(1..).unwrap_or_default();
            }
        };
        text = from.get(taken..).unwrap_or_default();
    }
    out.extend_from_slice(text);
    &[]
}

/// `json` with `base` in every place that stands for it.
#[must_use]
pub fn with_base(json: Vec<u8>, base: &str) -> Vec<u8> {
    if memchr::memchr(BASE, &json).is_none() {
        return json;
    }
    let mut out = Vec::with_capacity(json.len() + 8 * base.len());
    put_base(&json, base.as_bytes(), &mut out);
    out
}

/// Appends `json` with `base` in every place that stands for it.
fn put_base(json: &[u8], base: &[u8], out: &mut Vec<u8>) {
    let mut copied = 0;
    for at in memchr::memchr_iter(BASE, json) {
        out.extend_from_slice(json.get(copied..at).unwrap_or_default());
        out.extend_from_slice(base);
        copied = at + 1;
    }
    out.extend_from_slice(json.get(copied..).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pretty_text_says_the_same_as_compact_text() {
        let json = br#"{"a":"x,{\"}:","b":[],"c":{},"d":[1,{"e":null}]}"#;
        let pretty = pretty(json, "", &[]);
        let (a, b): (serde_json::Value, serde_json::Value) =
            (serde_json::from_slice(json).unwrap(), serde_json::from_slice(&pretty).unwrap());
        assert_eq!(a, b);
        assert!(
            String::from_utf8(pretty)
                .unwrap()
                .starts_with("{\n  \"a\": \"x,{\\\"}:\",\n  \"b\": [],\n")
        );
    }

    #[test]
    fn the_address_is_put_in_its_places() {
        let indented = pretty(b"{\"a\":\"\x01/a\\\"\x01\"}", "http://h", &[]);
        assert_eq!(indented, b"{\n  \"a\": \"http://h/a\\\"http://h\"\n}\n");
        assert_eq!(
            with_base(b"\"\x01/a\",\"\x01\"".to_vec(), "http://h"),
            b"\"http://h/a\",\"http://h\""
        );
    }
}
