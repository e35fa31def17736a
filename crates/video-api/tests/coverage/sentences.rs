//! The sentences of the specification, and the tests that would fail if they were false.

/// The sentences of the specification, each operation of section 4 among them, and the test of each.
pub(crate) const SENTENCES: &[(&str, &str, &str)] = &[
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
        "channelBanner: the URL that sets a newly uploaded image as a channel's banner",
        "test_d_a_banner_takes_three_steps",
    ),
    (
        "2",
        "thumbnail: the sizes of a resource's picture",
        "a_large_picture_has_all_sizes_and_a_small_one_those_that_it_fills",
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
        "4",
        "activities.list: activities of a channel, or the user's own",
        "what_a_channel_does_is_listed_latest_first_and_what_it_undoes_is_not",
    ),
    (
        "4",
        "activities.insert: unsupported",
        "deprecated_operations_are_no_longer_supported_and_leave_nothing",
    ),
    ("4", "captions.delete", "test_a_track_is_deleted_and_what_is_wrong_is_refused"),
    (
        "4",
        "captions.insert",
        "captions_insert_uploads_a_caption_track_and_download_gives_the_bytes_that_came",
    ),
    (
        "4",
        "captions.download: in the language of tlang",
        "captions_download_gives_the_language_of_tlang",
    ),
    (
        "4",
        "captions.download: in the format of tfmt",
        "test_a_track_comes_back_as_it_was_and_in_every_format",
    ),
    (
        "4",
        "captions.list: tracks of a video",
        "captions_list_gives_the_tracks_of_a_video_without_their_content",
    ),
    (
        "4",
        "captions.update: draft status, file, or both",
        "captions_update_changes_the_draft_status_uploads_a_new_caption_file_or_both",
    ),
    (
        "4",
        "channelSections.delete",
        "channel_sections_update_changes_a_section_and_delete_takes_it_away",
    ),
    (
        "4",
        "channelSections.insert: to the user's channel",
        "channel_sections_insert_adds_a_section_to_the_authenticated_users_channel",
    ),
    (
        "4",
        "channelSections.list",
        "channel_sections_hidden_become_visible_when_show_browse_view_is_set_to_true",
    ),
    (
        "4",
        "channelSections.update",
        "channel_sections_update_changes_a_section_and_delete_takes_it_away",
    ),
    (
        "4",
        "channels.list: zero or more",
        "channels_list_gives_zero_or_more_channels_matching_criteria",
    ),
    (
        "4",
        "commentThreads.list",
        "threads_come_newest_first_or_most_liked_first_in_pages_of_their_own_list",
    ),
    (
        "4",
        "commentThreads.insert: a top-level comment",
        "a_thread_is_shown_with_its_comment_its_author_and_its_replies",
    ),
    (
        "4",
        "comments.list",
        "a_thread_does_not_necessarily_contain_all_replies_and_comments_list_retrieves_them",
    ),
    (
        "4",
        "comments.setModerationStatus: one or more",
        "fifty_comments_are_moderated_at_once_with_their_replies",
    ),
    (
        "4",
        "comments.insert: a reply",
        "a_thread_is_shown_with_its_comment_its_author_and_its_replies",
    ),
    (
        "4",
        "comments.markAsSpam: unsupported",
        "deprecated_operations_are_no_longer_supported_and_leave_nothing",
    ),
    ("4", "comments.delete", "authors_and_the_owner_delete_and_a_thread_goes_with_its_replies"),
    ("4", "comments.update", "comments_update_modifies_a_comment"),
    (
        "4",
        "guideCategories.list: accepts hl",
        "a_language_code_is_usable_as_hl_of_both_lists_of_categories",
    ),
    (
        "4",
        "i18nLanguages.list",
        "i18n_languages_list_and_i18n_regions_list_give_each_code_with_its_name",
    ),
    (
        "4",
        "i18nRegions.list",
        "i18n_languages_list_and_i18n_regions_list_give_each_code_with_its_name",
    ),
    ("4", "members.list", "current_members_come_newest_first_with_what_they_have_access_to"),
    (
        "4",
        "membershipsLevels.list: in implicit order",
        "levels_come_in_the_order_of_their_price_each_with_its_name",
    ),
    ("4", "playlistItems.delete", "playlist_items_delete_deletes_an_item"),
    (
        "4",
        "playlistItems.insert",
        "test_c_items_keep_dense_positions_through_inserts_moves_and_deletes",
    ),
    (
        "4",
        "playlistItems.list: all items, or by ids",
        "a_playlist_is_an_ordered_collection_and_an_item_says_how_its_video_is_used_in_it",
    ),
    (
        "4",
        "playlistItems.update: its position",
        "test_c_items_keep_dense_positions_through_inserts_moves_and_deletes",
    ),
    ("4", "playlists.delete", "playlists_delete_deletes_a_playlist_with_its_items"),
    (
        "4",
        "playlists.list: the user's own, or by ids",
        "playlists_list_gives_those_of_the_authenticated_user_or_of_unique_ids",
    ),
    ("4", "playlists.insert", "test_a_playlist_is_inserted_and_listed"),
    (
        "4",
        "playlists.update: title, description, privacy",
        "playlists_update_modifies_title_description_and_privacy_status",
    ),
    (
        "4",
        "search.list: accepts regionCode",
        "a_region_code_is_usable_as_region_code_of_four_lists",
    ),
    ("4", "subscriptions.delete", "subscriptions_delete_is_the_subscribers_alone"),
    (
        "4",
        "subscriptions.insert",
        "subscriptions_insert_adds_a_subscription_for_the_authenticated_users_channel",
    ),
    (
        "4",
        "subscriptions.list",
        "subscriptions_list_gives_both_sides_in_every_order_and_page_by_page",
    ),
    ("4", "thumbnails.set", "a_large_picture_has_all_sizes_and_a_small_one_those_that_it_fills"),
    ("4", "videoAbuseReportReasons.list", "every_reason_of_the_list_is_usable_to_report_abuse"),
    (
        "4",
        "videoCategories.list: accepts hl",
        "a_language_code_is_usable_as_hl_of_both_lists_of_categories",
    ),
    (
        "4",
        "videoCategories.list: accepts regionCode",
        "a_region_code_is_usable_as_region_code_of_four_lists",
    ),
    (
        "4",
        "videos.insert: optionally with metadata",
        "a_video_without_metadata_is_named_as_its_file_is",
    ),
    (
        "4",
        "videos.list: accepts regionCode",
        "a_chart_of_a_region_leaves_out_what_is_closed_there_and_its_pages_are_full",
    ),
    (
        "4",
        "videos.delete",
        "nothing_of_a_deleted_video_is_found_at_once_and_nothing_is_left_in_the_end",
    ),
    ("4", "videos.update", "an_update_overwrites_the_named_parts_and_deletes_what_they_leave_out"),
    (
        "4",
        "videos.rate: a like, a dislike, or neither",
        "a_video_rating_is_like_dislike_or_none_as_videos_rate_requests",
    ),
    (
        "4",
        "videos.getRating: of a list of videos",
        "videos_get_rating_gives_the_ratings_that_the_user_gave_to_a_list_of_videos",
    ),
    (
        "4",
        "videos.reportAbuse: with a reason of the list",
        "a_report_names_a_reason_of_the_list_and_is_kept",
    ),
    (
        "4",
        "watermarks.set",
        "a_watermark_and_promotions_lie_over_the_video_with_their_times_and_links",
    ),
    ("4", "watermarks.unset", "watermarks_unset_deletes_the_image_of_a_channel"),
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
