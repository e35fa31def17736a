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
        for place in 0..bytes.len().min(2_000) {
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
fn the_corpus_of_signatures_holds() {
    replay("object_signature", fuzz::signature);
}

#[test]
fn the_corpus_of_chunked_bodies_holds() {
    replay("object_chunked", fuzz::chunked);
}

#[test]
fn the_corpus_of_headers_holds() {
    replay("object_headers", fuzz::headers);
}

#[test]
fn the_corpus_of_tags_holds() {
    replay("object_tagging", fuzz::tagging);
}

#[test]
fn the_corpus_of_keys_holds() {
    replay("object_key", fuzz::key);
}

#[test]
fn the_corpus_of_documents_holds() {
    replay("object_xml", fuzz::xml);
}

#[test]
fn the_corpus_of_policies_holds() {
    replay("object_policy", fuzz::policy);
}

#[test]
fn the_corpus_of_listings_holds() {
    replay("object_listing", fuzz::listing);
}
