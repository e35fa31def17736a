//! The dialects of the stock clients, cut into pieces of every length.

use super::*;
use proptest::prelude::*;

/// Metadata, media type, media, and the number of parts.
type Whole = (Vec<u8>, Option<String>, Vec<u8>, u8);

/// Metadata and media that a reader finds in `pieces`.
fn read<'p>(
    content_type: &str,
    pieces: impl IntoIterator<Item = &'p [u8]>,
) -> Result<Whole, RelatedError> {
    let mut reader = Related::new(content_type)?;
    let (mut metadata, mut media_type, mut media, mut parts) = (Vec::new(), None, Vec::new(), 9);
    for piece in pieces {
        reader.feed(Bytes::copy_from_slice(piece));
        while let Some(event) = reader.next_event()? {
            match event {
                Event::Metadata { body, .. } => metadata = body.to_vec(),
                Event::MediaStart { content_type, .. } => media_type = content_type,
                Event::Media(bytes) => media.extend_from_slice(&bytes),
                Event::End { parts: count } => parts = count,
            }
        }
    }
    reader.finish()?;
    Ok((metadata, media_type, media, parts))
}

const PYTHON: &str = "multipart/related; boundary=\"===============3094012239099241568==\"";
const RUST: &str = "multipart/related;boundary=MDuXWGyeE33QFXGchb2VFWc4Z7945d";
const NODE: &str = "multipart/related; boundary=c02f4cbf-bc30-459c-973c-2bb8a23bd6e2";

fn python(media: &[u8]) -> Vec<u8> {
    let mut body = b"--===============3094012239099241568==\nContent-Type: application/json\nMIME-Version: 1.0\n\n{\"a\": 1}\n\
        --===============3094012239099241568==\nContent-Type: video/mp4\nMIME-Version: 1.0\nContent-Transfer-Encoding: binary\n\n"
        .to_vec();
    body.extend_from_slice(media);
    body.extend_from_slice(b"\n--===============3094012239099241568==--\n");
    body
}

fn rust(media: &[u8]) -> Vec<u8> {
    let mut body = b"\r\n--MDuXWGyeE33QFXGchb2VFWc4Z7945d\r\ncontent-type: application/json\r\ncontent-length: 8\r\n\r\n{\"a\": 1}\r\n\
        --MDuXWGyeE33QFXGchb2VFWc4Z7945d\r\ncontent-type: video/mp4\r\ncontent-length: 300\r\n\r\n"
        .to_vec();
    body.extend_from_slice(media);
    body.extend_from_slice(b"\r\n--MDuXWGyeE33QFXGchb2VFWc4Z7945d--\r\n");
    body
}

fn node(media: &[u8]) -> Vec<u8> {
    let mut body = b"--c02f4cbf-bc30-459c-973c-2bb8a23bd6e2\r\ncontent-type: application/json\r\n\r\n{\"a\": 1}\r\n\
        --c02f4cbf-bc30-459c-973c-2bb8a23bd6e2\r\ncontent-type: video/mp4\r\n\r\n"
        .to_vec();
    body.extend_from_slice(media);
    body.extend_from_slice(b"\r\n--c02f4cbf-bc30-459c-973c-2bb8a23bd6e2--");
    body
}

#[test]
fn the_dialects_of_the_stock_clients_are_read_to_the_byte() {
    let tricky: &[&[u8]] = &[
        b"",
        b"VVVV",
        b"\r",
        b"\n",
        b"\r\n",
        b"ends in cr\r",
        b"ends in crlf\r\n",
        b"\n--",
        b"\r\n--MDuX",
        b"--MDuXWGyeE33QFXGchb2VFWc4Z7945d",
        b"x\n--===============3094012239099241568==x\ny",
        b"\n--c02f4cbf-bc30-459c-973c-2bb8a23bd6e2-not\n",
        b"\r\r\n\n\r",
    ];
    for media in tricky {
        // A delimiter at the start of a part's body is the end of it: that media must not hold one there.
        for (content_type, body) in
            [(PYTHON, python(media)), (RUST, rust(media)), (NODE, node(media))]
        {
            if media.starts_with(b"--MDuX") && content_type == RUST {
                continue;
            }
            let whole = read(content_type, [body.as_slice()]).unwrap();
            assert_eq!(
                whole,
                (b"{\"a\": 1}".to_vec(), Some("video/mp4".to_owned()), media.to_vec(), 2),
                "{content_type}"
            );
            assert_eq!(read(content_type, body.chunks(1)).unwrap(), whole);
        }
    }
}

#[test]
fn base64_media_is_decoded_in_pieces() {
    let body = b"--b\r\nContent-Type: application/json\r\n\r\n{}\r\n--b\r\nContent-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\r\nSGVs\r\nbG8sIHdvcmxk\r\nIQ==\r\n--b--";
    for size in [1, 7, 1000] {
        let (.., media, parts) = read("multipart/related; boundary=b", body.chunks(size)).unwrap();
        assert_eq!((media.as_slice(), parts), (b"Hello, world!".as_slice(), 2));
    }
}

#[test]
fn a_body_that_is_not_two_parts_is_refused_or_says_how_many_it_has() {
    let b = "multipart/related; boundary=b";
    for (body, expected) in [
        ("", RelatedError::NoDelimiter),
        ("--b\r\n", RelatedError::Truncated),
        ("--b\r\n\r\n{}\r\n--b\r\n\r\nmedia", RelatedError::Truncated),
        ("--b\r\nnot a header\r\n\r\n", RelatedError::Head),
        ("--b\r\nContent-Transfer-Encoding: uuencode\r\n\r\n", RelatedError::Encoding),
        ("--b\r\n\r\n{}\r\n--b\r\n\r\nx\r\n--b\r\n\r\ny\r\n--b--", RelatedError::TooManyParts),
    ] {
        assert_eq!(read(b, [body.as_bytes()]).unwrap_err(), expected, "{body:?}");
    }
    assert_eq!(read(b, [b"--b\r\n\r\n{}\r\n--b--".as_slice()]).unwrap().0, b"{}");
    let long = format!("--b\r\n\r\n{}\r\n--b--", "x".repeat(METADATA_BYTES_MAX + 1));
    assert_eq!(read(b, [long.as_bytes()]).unwrap_err(), RelatedError::MetadataTooLarge);
}

#[test]
fn a_boundary_is_read_quoted_or_not_and_wherever_it_stands() {
    for (content_type, expected) in [
        ("multipart/related; boundary=abc", Some("abc")),
        ("multipart/related;boundary=\"a;b\\\"=c\"", Some("a;b\"=c")),
        ("multipart/related; type=\"application/json\"; BOUNDARY=x ; other=1", Some("x")),
        ("multipart/related", None),
        ("multipart/related; boundary=", None),
        ("multipart/related; boundary=\"open", None),
    ] {
        assert_eq!(boundary(content_type).as_deref(), expected, "{content_type}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_media_in_any_pieces_comes_out_as_it_went_in(media in proptest::collection::vec(prop_oneof![Just(b'\r'), Just(b'\n'), Just(b'-'), any::<u8>()], 0..300), size in 1_usize..80) {
        let body = python(&media);
        prop_assert_eq!(&read(PYTHON, body.chunks(size)).unwrap().2, &media);
        let body = rust(&media);
        prop_assert_eq!(&read(RUST, body.chunks(size)).unwrap().2, &media);
    }

    #[test]
    fn any_bytes_are_read_or_refused(body in "(--b|\r\n|\n|--|x|:|\r){0,40}", size in 1_usize..9) {
        let whole = read("multipart/related; boundary=b", [body.as_bytes()]);
        prop_assert_eq!(read("multipart/related; boundary=b", body.as_bytes().chunks(size)), whole);
    }
}
