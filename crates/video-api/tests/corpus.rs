//! The committed corpora of the fuzz targets, replayed on stable.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected fails")]

mod fuzz;
#[path = "../../../fuzz/replay.rs"]
mod replay;

use self::replay::replay;

#[test]
fn the_corpus_of_fields_holds() {
    replay("video_fields", fuzz::fields);
}

#[test]
fn the_corpus_of_page_token_holds() {
    replay("video_page_token", fuzz::page_token);
}

#[test]
fn the_corpus_of_content_range_holds() {
    replay("video_content_range", fuzz::content_range);
}

#[test]
fn the_corpus_of_related_holds() {
    replay("video_related", fuzz::related);
}

#[test]
fn the_corpus_of_media_holds() {
    replay("video_media", fuzz::media);
}

#[test]
fn the_corpus_of_picture_holds() {
    replay("video_picture", fuzz::picture);
}
