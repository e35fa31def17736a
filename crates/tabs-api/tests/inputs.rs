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
fn the_corpus_of_match_patterns_holds() {
    replay("tabs_pattern", fuzz::pattern);
}

#[test]
fn the_corpus_of_title_patterns_holds() {
    replay("tabs_title", fuzz::title);
}

#[test]
fn the_corpus_of_urls_holds() {
    replay("tabs_url", fuzz::url);
}

#[test]
fn the_corpus_of_manifests_holds() {
    replay("tabs_manifest", fuzz::manifest);
}

#[test]
fn the_corpus_of_arguments_holds() {
    replay("tabs_arguments", fuzz::arguments);
}
