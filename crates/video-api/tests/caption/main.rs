//! Caption files of another program and as people write them, and the corpora of the fuzz targets, which are replayed on stable.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected fails")]

mod ffmpeg;
mod fuzz;
#[path = "../../../../fuzz/replay.rs"]
mod replay;
mod wild;

use self::replay::replay;

#[test]
fn the_corpus_of_srt_holds() {
    replay("video_caption_srt", fuzz::srt);
}

#[test]
fn the_corpus_of_vtt_holds() {
    replay("video_caption_vtt", fuzz::vtt);
}

#[test]
fn the_corpus_of_sbv_holds() {
    replay("video_caption_sbv", fuzz::sbv);
}

#[test]
fn the_corpus_of_ttml_holds() {
    replay("video_caption_ttml", fuzz::ttml);
}

#[test]
fn the_corpus_of_scc_holds() {
    replay("video_caption_scc", fuzz::scc);
}
