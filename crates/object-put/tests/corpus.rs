//! The committed corpora of the fuzz targets, replayed on stable.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected fails")]

mod fuzz;
#[path = "../../../fuzz/replay.rs"]
mod replay;

use self::replay::replay;

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
fn the_corpus_of_forms_holds() {
    replay("object_form", fuzz::form);
}

#[test]
fn the_corpus_of_hosts_holds() {
    replay("object_host", fuzz::host);
}

#[test]
fn the_corpus_of_region_sets_holds() {
    replay("object_region_set", fuzz::region_set);
}

#[test]
fn the_corpus_of_policies_holds() {
    replay("object_policy", fuzz::policy);
}

#[test]
fn the_corpus_of_listings_holds() {
    replay("object_listing", fuzz::listing);
}

#[test]
fn the_corpus_of_session_tokens_holds() {
    replay("object_session", fuzz::session);
}

#[test]
fn the_corpus_of_part_lists_holds() {
    replay("object_part_list", fuzz::part_list);
}

#[test]
fn the_corpus_of_encryption_contexts_holds() {
    replay("object_encryption_context", fuzz::encryption_context);
}
