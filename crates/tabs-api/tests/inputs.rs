//! The committed corpora of the fuzz targets, replayed on stable.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected fails")]

mod fuzz;
#[path = "../../../fuzz/replay.rs"]
mod replay;

use self::replay::replay;

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
