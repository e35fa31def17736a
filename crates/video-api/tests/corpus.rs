//! The committed corpora of the fuzz targets, replayed on stable.

#![allow(clippy::unwrap_used, reason = "a test that meets the unexpected fails")]

mod fuzz;

use std::path::Path;

fn replay(target: &str, run: fn(&[u8])) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut inputs = 0;
    for entry in std::fs::read_dir(&corpus).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        run(&bytes);
        // Cut at every place, and with every 7th byte changed: cheap neighbours of what a client sends.
        for place in 0..bytes.len().min(1_500) {
            run(bytes.get(..place).unwrap_or_default());
            if place % 7 == 0 {
                let mut changed = bytes.clone();
                if let Some(byte) = changed.get_mut(place) {
                    *byte ^= 0x15;
                }
                run(&changed);
            }
        }
        inputs += 1;
    }
    assert!(inputs >= 3, "{target} has only {inputs} inputs");
}

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
