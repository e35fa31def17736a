//! Video categories, which owners choose.

use serde_json::json;
use triptych_core::id::Ids;
use triptych_core::kv::{RoundTrips, Tx};

use crate::api::error::{Error, Place, Rule, rules};
use crate::api::operation::call::Call;
use crate::api::operation::{Filters, Operation, Part, READ, Run};
use crate::api::parameter::{HL, IDS, PART, REGION_CODE};
use crate::api::response::Reply;
use crate::api::snippet_list;
use crate::resource::Resource;

/// The resource.
pub static RESOURCE: Resource = Resource { operations: &[LIST], rules: RULES, ..Resource::EMPTY };

rules! {
    /// A video category by its id.
    NOT_FOUND = Rule::new(404, "youtube.videoCategory", "videoCategoryNotFound", Place::parameter("id"), "The video category identified by the <code>id</code> parameter cannot be found. Use the videoCategories.list method to retrieve a list of valid values.");
}

/// The channel that categories belong to in the real service.
const CATEGORY_CHANNEL: &str = "UCBR8-60-B28hp2BmDPdntcQ";

/// Video categories: id, title, and whether a video may be assigned to it.
pub const CATEGORIES: &[(&str, &str, bool)] = &[
    ("1", "Film & Animation", true),
    ("2", "Autos & Vehicles", true),
    ("10", "Music", true),
    ("15", "Pets & Animals", true),
    ("17", "Sports", true),
    ("18", "Short Movies", false),
    ("19", "Travel & Events", true),
    ("20", "Gaming", true),
    ("21", "Videoblogging", false),
    ("22", "People & Blogs", true),
    ("23", "Comedy", true),
    ("24", "Entertainment", true),
    ("25", "News & Politics", true),
    ("26", "Howto & Style", true),
    ("27", "Education", true),
    ("28", "Science & Technology", true),
    ("29", "Nonprofits & Activism", true),
    ("30", "Movies", false),
    ("31", "Anime/Animation", false),
    ("32", "Action/Adventure", false),
    ("33", "Classics", false),
    ("34", "Comedy", false),
    ("35", "Documentary", false),
    ("36", "Drama", false),
    ("37", "Family", false),
    ("38", "Foreign", false),
    ("39", "Horror", false),
    ("40", "Sci-Fi/Fantasy", false),
    ("41", "Thriller", false),
    ("42", "Shorts", false),
    ("43", "Shows", false),
    ("44", "Trailers", false),
];

/// The title of an assignable video category.
#[must_use]
pub fn assignable(id: &str) -> Option<&'static str> {
    CATEGORIES
        .iter()
        .find(|(known, _, assignable)| *known == id && *assignable)
        .map(|(_, title, _)| *title)
}

/// Parts of the resource.
const PARTS: &[Part] = &[Part::read("id"), Part::read("snippet")];

/// `videoCategories.list`.
const LIST: Operation = Operation {
    doc: "Categories assignable to videos; accepts hl and regionCode.",
    params: &[PART, HL.default("en-US"), IDS, REGION_CODE],
    filters: Filters::One(&["id", "regionCode"]),
    parts: PARTS,
    scopes: READ,
    response: Some("VideoCategoryListResponse"),
    round_trips: RoundTrips::of(1, 0),
    ..Operation::list("videoCategories.list", "/videoCategories", Run::Call(list))
};

fn list(call: &Call<'_>, _tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let ids = call.params.list("id");
    if ids.iter().any(|id| !CATEGORIES.iter().any(|(known, _, _)| *known == id)) {
        return Err(Error::Rule(&NOT_FOUND));
    }
    let rows = CATEGORIES
        .iter()
        .filter(|(known, _, _)| ids.is_empty() || ids.iter().any(|wanted| wanted == known));
    let rows = rows.map(|(id, title, assignable)| {
        (
            *id,
            json!({"title": title, "assignable": assignable, "channelId": CATEGORY_CHANNEL})
                .to_string(),
        )
    });
    Ok(snippet_list::reply(call, "videoCategory", "videoCategoryListResponse", rows))
}
