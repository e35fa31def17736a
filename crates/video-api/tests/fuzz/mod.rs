//! The work of the fuzz targets, shared with the test that replays their corpora.

use std::convert::Infallible;

use bytes::Bytes;
use video_api::api::fields::Mask;
use video_api::api::page_token::{Binding, PageToken};
use video_api::media;
use video_api::picture::Picture;
use video_api::upload::range::ContentRange;
use video_api::upload::related::{Event, Related};

/// A `fields` mask is read or refused, and one that was read can be applied.
pub(crate) fn fields(data: &[u8]) {
    if let Some(mask) = std::str::from_utf8(data).ok().and_then(|text| Mask::parse(text).ok()) {
        let _ = mask.apply(br#"{"kind":"k","items":[{"id":"a","snippet":{"title":"t"}}]}"#);
    }
}

/// A page token is read or refused.
pub(crate) fn page_token(data: &[u8]) {
    let _ = PageToken::parse(&String::from_utf8_lossy(data), Binding::of(&["search.list"]));
}

/// A `Content-Range` is read or refused, and its numbers hold together.
pub(crate) fn content_range(data: &[u8]) {
    if let Some(ContentRange::Piece { first, last, total }) =
        ContentRange::parse(&String::from_utf8_lossy(data))
    {
        assert!(first <= last && total.is_none_or(|total| last < total));
    }
}

/// A `multipart/related` body says the same in one piece and in many.
pub(crate) fn related(data: &[u8]) {
    assert_eq!(read_related(data, data.len().max(1)), read_related(data, 3));
}

fn read_related(data: &[u8], piece: usize) -> Option<(Vec<u8>, Vec<u8>)> {
    let mut reader = Related::new("multipart/related; boundary=b").ok()?;
    let (mut metadata, mut media) = (Vec::new(), Vec::new());
    for bytes in data.chunks(piece) {
        reader.feed(Bytes::copy_from_slice(bytes));
        while let Some(event) = reader.next_event().ok()? {
            match event {
                Event::Metadata { body, .. } => metadata = body.to_vec(),
                Event::Media(bytes) => media.extend_from_slice(&bytes),
                Event::MediaStart { .. } | Event::End { .. } => {}
            }
        }
    }
    reader.finish().ok().map(|()| (metadata, media))
}

/// A file is a video or has a reason why not.
pub(crate) fn media(data: &[u8]) {
    let file = Bytes::copy_from_slice(data);
    let read = |offset: u64, most: usize| {
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(file.len());
        Ok::<_, Infallible>(file.slice(start..start.saturating_add(most).min(file.len())))
    };
    if let Ok(Ok(facts)) = media::probe(file.len() as u64, read) {
        assert!(!facts.video.is_empty());
    }
}

/// A picture is decoded or refused.
pub(crate) fn picture(data: &[u8]) {
    let _ = Picture::decode(data);
}
