//! The resources of the interface. Each owns its operations, its records, its rules, its tables and its sections of a seed file;
//! here they are listed, and what all of them have together follows from that list.

pub mod activities;
pub mod captions;
pub mod cascade;
pub mod channel_banners;
pub mod channel_sections;
pub mod channels;
pub mod comment_threads;
pub mod comments;
pub mod guide_categories;
pub mod i18n_languages;
pub mod i18n_regions;
pub mod members;
pub mod memberships_levels;
pub mod playlist_items;
pub mod playlists;
pub mod recount;
pub mod route;
pub mod search;
pub mod subscriptions;
pub mod thumbnails;
pub mod video_abuse_report_reasons;
pub mod video_categories;
pub mod videos;
pub mod watermarks;

use crate::api::error::Rule;
use crate::api::operation::Operation;
use crate::record::table_entry::TableEntry;
use crate::seed::section::SeedSection;

/// All that a resource brings along.
#[derive(Debug)]
pub struct Resource {
    /// Rows of its operations, in the order in which the interface lists them.
    pub operations: &'static [Operation],
    /// Rules that requests for it can break.
    pub rules: &'static [&'static Rule],
    /// Tables of its records, as an export names them.
    pub tables: &'static [TableEntry],
    /// Its sections of a seed file.
    pub seed: &'static [SeedSection],
}

impl Resource {
    /// A resource that brings nothing along.
    pub(crate) const EMPTY: Self = Self { operations: &[], rules: &[], tables: &[], seed: &[] };
}

/// Every resource (Spec §4), in the order of the interface.
pub static RESOURCES: &[&Resource] = &[
    &activities::RESOURCE,
    &captions::RESOURCE,
    &channel_banners::RESOURCE,
    &channel_sections::RESOURCE,
    &channels::RESOURCE,
    &comment_threads::RESOURCE,
    &comments::RESOURCE,
    &guide_categories::RESOURCE,
    &i18n_languages::RESOURCE,
    &i18n_regions::RESOURCE,
    &members::RESOURCE,
    &memberships_levels::RESOURCE,
    &playlist_items::RESOURCE,
    &playlists::RESOURCE,
    &search::RESOURCE,
    &subscriptions::RESOURCE,
    &thumbnails::RESOURCE,
    &video_abuse_report_reasons::RESOURCE,
    &video_categories::RESOURCE,
    &videos::RESOURCE,
    &watermarks::RESOURCE,
];

/// Number of operations.
#[expect(clippy::indexing_slicing, reason = "the compiler evaluates it")]
const OPERATION_COUNT: usize = {
    let (mut count, mut at) = (0, 0);
    while at < RESOURCES.len() {
        count += RESOURCES[at].operations.len();
        at += 1;
    }
    count
};

/// Every operation of the interface, in its order.
#[expect(clippy::indexing_slicing, reason = "the compiler evaluates it")]
pub static OPERATIONS: &[&Operation] = &{
    let mut all = [&RESOURCES[0].operations[0]; OPERATION_COUNT];
    let (mut count, mut resource) = (0, 0);
    while resource < RESOURCES.len() {
        let operations = RESOURCES[resource].operations;
        let mut at = 0;
        while at < operations.len() {
            all[count] = &operations[at];
            count += 1;
            at += 1;
        }
        resource += 1;
    }
    all
};

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use triptych_core::error::Coded;

    use super::*;
    use crate::account::Scopes;
    use crate::api::error::Error;
    use crate::api::operation::Method;

    #[test]
    fn the_table_has_the_51_operations_each_once() {
        assert_eq!(OPERATIONS.len(), 51);
        let names: BTreeSet<_> = OPERATIONS.iter().map(|operation| operation.name).collect();
        assert_eq!(names.len(), 51);
        let targets: BTreeSet<_> =
            OPERATIONS.iter().map(|operation| (operation.method.name(), operation.path)).collect();
        assert_eq!(targets.len(), 51);
    }

    #[test]
    fn every_row_is_complete() {
        for operation in OPERATIONS {
            let name = operation.name;
            assert!(operation.doc.ends_with('.'), "{name} has no sentence");
            assert!(operation.scopes != Scopes::of(&[]), "{name} has no scope");
            let listed = operation.params.iter().any(|param| param.name == "part");
            assert_eq!(listed, !operation.parts.is_empty(), "{name}: part and parts go together");
            assert_eq!(
                operation.upload.is_some(),
                operation.method != Method::Get
                    && [
                        "captions.insert",
                        "captions.update",
                        "channelBanners.insert",
                        "thumbnails.set",
                        "videos.insert",
                        "watermarks.set"
                    ]
                    .contains(&name),
                "{name}"
            );
        }
    }

    #[test]
    fn every_rule_has_a_status_that_refuses_and_a_sentence() {
        for rule in RESOURCES.iter().flat_map(|resource| resource.rules) {
            let error = Error::from(*rule);
            assert!((400..500).contains(&error.row().status), "{error:?}");
            assert!(!error.to_string().is_empty());
        }
    }
}
