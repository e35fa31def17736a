//! The page that says which tests cover which operation, made from the tests themselves.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use video_api::api::operation::Operation;
use video_api::resource::OPERATIONS;

/// Tests that a column names of an operation at most: those that cover the fewest others.
const NAMED_MAX: usize = 3;

/// The way in which the tests of a folder are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Language {
    /// Tests that send requests by their method and path.
    Wire,
    Python,
    Node,
    /// Tests of the client that is written in Rust.
    Client,
}

const COLUMNS: [(Language, &str, &str); 4] = [
    (Language::Wire, "crates/video-api/tests/wire", "Requests"),
    (Language::Python, "tests/video", "Python"),
    (Language::Node, "tests/video", "Node"),
    (Language::Client, "tests/rust/tests/google_youtube3", "Rust"),
];

/// A function of a file of tests.
struct Function {
    name: String,
    body: String,
    is_test: bool,
}

fn files(language: Language, folder: &Path) -> Vec<PathBuf> {
    let ending = match language {
        Language::Wire | Language::Client => ".rs",
        Language::Python => "_test.py",
        Language::Node => ".test.mjs",
    };
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The name of the function that a line begins, and whether it is a test.
fn begun(language: Language, line: &str, before: &str) -> Option<(String, bool)> {
    let name = |rest: &str, ends: &[char]| rest.split(ends).next().unwrap_or_default().to_owned();
    match language {
        Language::Wire | Language::Client => {
            let rest = line.trim_start();
            let rest = ["pub(crate) ", "pub(super) ", "pub "]
                .iter()
                .find_map(|start| rest.strip_prefix(start))
                .unwrap_or(rest);
            let rest = rest.strip_prefix("async ").unwrap_or(rest).strip_prefix("fn ")?;
            let is_test = before.trim_start().starts_with("#[") && before.contains("test");
            Some((name(rest, &['(', '<']), is_test))
        }
        Language::Python => {
            let name = name(line.trim_start().strip_prefix("def ")?, &['(']);
            let is_test = name.starts_with("test_");
            Some((name, is_test))
        }
        Language::Node => match line.strip_prefix("test('") {
            Some(rest) => Some((name(rest, &['\'']), true)),
            None => Some((name(line.strip_prefix("const ")?, &[' ', '=']), false)),
        },
    }
}

fn functions(language: Language, text: &str) -> Vec<Function> {
    let (mut found, mut before) = (Vec::<Function>::new(), "");
    for line in text.lines() {
        if let Some((name, is_test)) = begun(language, line, before) {
            found.push(Function { name, body: String::new(), is_test });
        }
        if let Some(function) = found.last_mut() {
            function.body.extend(line.chars().filter(|letter| !letter.is_whitespace()));
        }
        before = line;
    }
    found
}

fn snake(name: &str) -> String {
    let mut out = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
    }
    out
}

/// Returns whether the text of a function, without its blanks, asks for an operation.
fn asks(language: Language, body: &str, operation: &Operation) -> bool {
    let (resource, verb) = operation.name.split_once('.').unwrap();
    let holds = |texts: &[String]| texts.iter().any(|text| body.contains(text.as_str()));
    match language {
        Language::Wire => {
            let method = format!("\"{}\"", operation.method.name());
            let path = operation.path.split('{').next().unwrap();
            let is_path = body.match_indices(path).any(|(at, _)| {
                let (before, after) = (&body[..at], &body[at + path.len()..]);
                let starts = before.ends_with('"') || before.ends_with("/v3");
                starts && (path.ends_with('/') || after.starts_with(['?', '"']))
            });
            let reads = operation.method.name() == "GET"
                && (!["\"POST\"", "\"PUT\"", "\"DELETE\""]
                    .iter()
                    .any(|other| body.contains(other))
                    || holds(&[".list(".into(), "pages(".into(), "get(".into()]));
            is_path && (body.contains(&method) || reads)
        }
        Language::Python => holds(&[
            format!("{resource}().{verb}("),
            if verb == "list" { format!("{resource}(),") } else { "\0".into() },
        ]),
        Language::Node => holds(&[
            format!(".{resource}.{verb}("),
            if verb == "list" { format!(".{resource},") } else { "\0".into() },
        ]),
        Language::Client => {
            let resource = match resource {
                "i18nLanguages" => "i18n_languages".to_owned(),
                "i18nRegions" => "i18n_regions".to_owned(),
                other => snake(other),
            };
            holds(&[format!("{resource}().{}(", snake(verb))])
        }
    }
}

/// The operations that each test of a file covers, by itself and by what it calls of its file.
fn covered(language: Language, text: &str) -> Vec<(String, BTreeSet<&'static str>)> {
    let functions = functions(language, text);
    let own = |function: &Function| {
        let asked = OPERATIONS.iter().filter(|row| asks(language, &function.body, row));
        asked.map(|operation| operation.name).collect::<BTreeSet<_>>()
    };
    let mut by_name: BTreeMap<&str, BTreeSet<&'static str>> = BTreeMap::new();
    for function in &functions {
        by_name.entry(&function.name).or_default().extend(own(function));
    }
    let mut tests = Vec::new();
    for test in functions.iter().filter(|function| function.is_test) {
        let (mut names, mut unread) = (BTreeSet::new(), vec![test]);
        let mut all = BTreeSet::new();
        while let Some(function) = unread.pop() {
            all.extend(&by_name[function.name.as_str()]);
            let called = functions.iter().filter(|other| {
                !other.is_test && function.body.contains(&format!("{}(", other.name))
            });
            unread.extend(called.filter(|other| names.insert(other.name.as_str())));
        }
        tests.push((test.name.clone(), all));
    }
    tests
}

/// The sentences of the specification beside those of its table of operations (section 4), and the test of each.
const SENTENCES: &[(&str, &str, &str)] = &[
    (
        "2",
        "activity: identifies the action type, the channel, and the related resources",
        "an_activity_identifies_the_action_type_the_channel_and_the_related_resources",
    ),
    (
        "2",
        "caption: associated with exactly one video",
        "a_caption_track_is_associated_with_exactly_one_video",
    ),
    (
        "2",
        "commentThread: does not necessarily contain all replies; comments.list retrieves all",
        "a_thread_does_not_necessarily_contain_all_replies_and_comments_list_retrieves_them",
    ),
    (
        "2",
        "comment: about a video or a channel, either top-level or a reply",
        "a_comment_is_about_a_video_or_a_channel_and_either_top_level_or_a_reply",
    ),
    (
        "2",
        "guideCategory, videoCategory, i18nLanguage, i18nRegion: the platform's alone",
        "categories_languages_and_regions_are_assigned_by_the_platform_alone",
    ),
    (
        "2",
        "playlist: ordered; playlistItem: how a video is used in it",
        "a_playlist_is_an_ordered_collection_and_an_item_says_how_its_video_is_used_in_it",
    ),
    (
        "2",
        "watermark: shown during playback, with an optional link and timing",
        "a_watermark_and_promotions_lie_over_the_video_with_their_times_and_links",
    ),
    (
        "2",
        "subscription: to a channel",
        "subscriptions_insert_adds_a_subscription_for_the_authenticated_users_channel",
    ),
    (
        "2",
        "channelSection: videos that a channel features, of every type",
        "every_type_has_its_rules_for_title_playlists_and_channels",
    ),
    (
        "2",
        "membershipsLevel: a pricing level of the creator",
        "levels_come_in_the_order_of_their_price_each_with_its_name",
    ),
    (
        "2",
        "member: a channel with what it has access to",
        "current_members_come_newest_first_with_what_they_have_access_to",
    ),
    (
        "2",
        "videoAbuseReportReason: used by videos.reportAbuse",
        "a_report_names_a_reason_of_the_list_and_is_kept",
    ),
    (
        "2",
        "i18nLanguage: the code is usable as hl of two lists",
        "a_language_code_is_usable_as_hl_of_both_lists_of_categories",
    ),
    (
        "2",
        "i18nRegion: the code is usable as regionCode of four lists",
        "a_region_code_is_usable_as_region_code_of_four_lists",
    ),
    (
        "2",
        "search result: points to a resource, has no persistent data of its own",
        "a_search_result_points_to_a_resource_and_has_no_data_of_its_own",
    ),
    (
        "2",
        "facts 1 to 3: names of sizes, width and height, sizes by type",
        "thumbnails_are_an_object_whose_members_name_sizes_with_width_and_height",
    ),
    (
        "2",
        "fact 3: typical default sizes of a video and of a channel",
        "the_typical_default_size_is_120_by_90_of_a_video_and_88_by_88_of_a_channel",
    ),
    (
        "2",
        "fact 3: sizes may differ within a type",
        "a_video_in_hd_has_all_sizes_without_a_picture_of_its_own",
    ),
    (
        "2",
        "fact 4: a picture is resized keeping its aspect ratio, with black bars",
        "a_picture_of_another_shape_gets_black_bars_and_is_not_cropped",
    ),
    (
        "2",
        "fact 5: brandingSettings with showBrowseView, and invideoPromotion",
        "a_channel_has_branding_settings_and_promotions",
    ),
    (
        "2",
        "fact 6: special playlists are read, and items added and removed",
        "items_of_the_special_playlists_are_read_added_and_removed",
    ),
    (
        "2",
        "fact 7: playlists are public by default and can be public or private",
        "playlists_are_publicly_visible_by_default_and_can_be_public_or_private",
    ),
    (
        "3",
        "playlist privacy",
        "playlists_are_publicly_visible_by_default_and_can_be_public_or_private",
    ),
    (
        "3",
        "caption draft status",
        "a_draft_status_changes_with_captions_update_and_a_new_file_may_come_in_the_same_call",
    ),
    (
        "3",
        "comment moderation status",
        "a_moderation_status_is_set_on_one_or_more_comments_by_the_owner",
    ),
    ("3", "video rating", "a_video_rating_is_like_dislike_or_none_as_videos_rate_requests"),
    (
        "3",
        "channel sections hidden",
        "channel_sections_hidden_become_visible_when_show_browse_view_is_set_to_true",
    ),
    (
        "4",
        "channelBanners.insert is the first two steps of three",
        "test_d_a_banner_takes_three_steps",
    ),
    (
        "4",
        "channels.update: only two parts and their children",
        "a_part_that_cannot_be_written_is_returned_beside_those_that_are",
    ),
    (
        "4",
        "channels.update: no other part",
        "of_a_channel_branding_settings_and_promotions_are_updatable_and_no_other_part",
    ),
    (
        "4",
        "captions.list: the response has no caption content",
        "a_list_of_captions_has_no_caption_content",
    ),
    (
        "4",
        "captions.download: the original unless tfmt and tlang are given",
        "captions_insert_uploads_a_caption_track_and_download_gives_the_bytes_that_came",
    ),
    (
        "4",
        "search.list: videos, channels and playlists by default, or one type",
        "a_search_gives_videos_channels_and_playlists_by_default_and_can_be_restricted_to_one_type",
    ),
    (
        "5.1",
        "every request carries a key or a token",
        "every_request_carries_an_api_key_or_a_token",
    ),
    (
        "5.2",
        "every insert, update and delete carries a token",
        "every_insert_update_and_delete_request_must_carry_a_token",
    ),
    (
        "5.3",
        "every request for private data carries a token",
        "every_request_for_private_data_must_carry_a_token",
    ),
    (
        "5.4",
        "a token is a parameter or a header",
        "a_token_is_sent_as_access_token_or_in_the_authorization_header",
    ),
    (
        "5.5",
        "some lists return extra data when authorized",
        "some_lists_return_extra_data_when_authorized",
    ),
    ("5.6", "moderation by the owner", "the_owner_alone_sets_the_status_of_comments_all_or_none"),
    (
        "5.6",
        "members and levels of the authorizing channel",
        "members_and_levels_are_those_of_the_authorizing_channel",
    ),
    (
        "8",
        "at most 10 sections per channel",
        "sections_per_channel_are_at_most_10_and_their_positions_stay_dense",
    ),
    (
        "9.1",
        "version 3 is the last segment of the base",
        "the_version_is_the_last_segment_of_the_base",
    ),
    (
        "9.2",
        "two operations are no longer supported",
        "deprecated_operations_are_no_longer_supported_and_leave_nothing",
    ),
];

#[test]
fn every_sentence_of_the_specification_has_a_test_of_its_name() {
    let mut names = BTreeSet::new();
    for (language, folder, _) in COLUMNS {
        for file in files(language, &root().join(folder)) {
            let text = std::fs::read_to_string(file).unwrap();
            let tests = functions(language, &text).into_iter().filter(|function| function.is_test);
            names.extend(tests.map(|test| test.name));
        }
    }
    for file in files(Language::Wire, &root().join("crates/video-api/src")) {
        let text = std::fs::read_to_string(file).unwrap();
        let tests =
            functions(Language::Wire, &text).into_iter().filter(|function| function.is_test);
        names.extend(tests.map(|test| test.name));
    }
    for (section, sentence, test) in SENTENCES {
        assert!(names.contains(*test), "{section}, {sentence}: there is no test {test}");
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// By column and operation: tests, each with the number of operations that it covers.
fn coverage() -> BTreeMap<(usize, &'static str), BTreeSet<(usize, String)>> {
    let mut coverage = BTreeMap::<_, BTreeSet<_>>::new();
    for (column, (language, folder, _)) in COLUMNS.into_iter().enumerate() {
        for file in files(language, &root().join(folder)) {
            let text = std::fs::read_to_string(&file).unwrap();
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            let name = name.split('.').next().unwrap().trim_end_matches("_test").to_owned();
            for (test, operations) in covered(language, &text) {
                for operation in &operations {
                    let test = (
                        operations.len(),
                        format!("{name}: {}", test.trim_start_matches("test_").replace('_', " ")),
                    );
                    coverage.entry((column, *operation)).or_default().insert(test);
                }
            }
        }
    }
    coverage
}

fn page() -> String {
    let coverage = coverage();
    let mut out = String::from(
        "# Tests of the operations of video-api\n\nMade from the tests, and compared with them by one. Of each kind, those three are named that cover the fewest operations\n\
         beside. Requests are those of `crates/video-api/tests/wire`; the clients are google-api-python-client and @googleapis/youtube in `tests/video`, and google-youtube3 in\n\
         `tests/rust`. What every operation has in common (credentials, parameters, parts, schemas, wrong types) is walked through for all 51 there as well.\n\n\
         | Operation | Requests | Python | Node | Rust |\n|---|---|---|---|---|\n",
    );
    for operation in OPERATIONS {
        out.push_str(&format!("| {} |", operation.name));
        for column in 0..COLUMNS.len() {
            let tests = coverage.get(&(column, operation.name)).cloned().unwrap_or_default();
            let named: Vec<_> =
                tests.iter().take(NAMED_MAX).map(|(_, name)| name.as_str()).collect();
            out.push_str(&format!(" {} |", named.join("; ")));
        }
        out.push('\n');
    }
    out.push_str(
        "\n## Sentences of the specification\n\n| Section | Sentence | Test |\n|---|---|---|\n",
    );
    for (section, sentence, test) in SENTENCES {
        let test = test.trim_start_matches("test_").replace('_', " ");
        out.push_str(&format!("| {section} | {sentence} | {test} |\n"));
    }
    out
}

#[test]
fn every_operation_is_covered_by_requests_and_by_the_clients_that_know_it() {
    let coverage = coverage();
    // The published descriptions that Node's and Rust's clients are made from lost two operations.
    let lost = ["activities.insert", "guideCategories.list"];
    // Pictures are made by the clients; their requests are walked through with all others.
    let pictures = ["channelBanners.insert", "watermarks.unset"];
    for operation in OPERATIONS {
        for (column, (_, _, title)) in COLUMNS.iter().enumerate() {
            let has_tests = coverage.contains_key(&(column, operation.name));
            let knows = match *title {
                "Requests" => !pictures.contains(&operation.name),
                "Python" => true,
                _ => !lost.contains(&operation.name),
            };
            assert!(has_tests || !knows, "{} has no test of {title}", operation.name);
        }
    }
}

#[test]
fn the_page_of_tests_is_what_the_tests_are() {
    let path = root().join("docs/operations/video-api-tests.md");
    let told = std::fs::read_to_string(&path).unwrap_or_default();
    let made = page();
    if std::env::var_os("UPDATE_PAGES").is_some() {
        std::fs::write(&path, &made).unwrap();
        return;
    }
    assert!(
        told == made,
        "docs/operations/video-api-tests.md is not what the tests are any more; with UPDATE_PAGES=1 this test writes it"
    );
}
