//! Categories of videos, which owners choose, and of channels, which the service assigns.

use serde_json::json;
use triptych_core::id::Ids;
use triptych_core::kv::Tx;

use crate::account::{Scope, Scopes};
use crate::api::error::{Absent, Error};
use crate::api::language;
use crate::api::operation::{Call, Filters, HL, IDS, Operation, PART, Part, READ, Run};
use crate::api::parameter::Param;
use crate::api::response::Reply;
use crate::resource::i18n::{check_language, check_region, list};

/// The channel that categories belong to in the real service.
const CATEGORY_CHANNEL: &str = "UCBR8-60-B28hp2BmDPdntcQ";

/// The parts of a guideCategory.
const GUIDE_CATEGORY_PARTS: &[Part] = &[Part::read("id"), Part::read("snippet")];

/// The parts of a videoCategory.
const VIDEO_CATEGORY_PARTS: &[Part] = &[Part::read("id"), Part::read("snippet")];

/// `guideCategories.list`.
pub(crate) const GUIDE_LIST: Operation = Operation {
    doc: "Categories assignable to channels; accepts hl.",
    params: &[
        PART,
        HL.default("en-US"),
        IDS,
        Param::text("regionCode", "A country (i18nRegions.list)."),
    ],
    filters: Filters::One(&["id", "regionCode"]),
    parts: GUIDE_CATEGORY_PARTS,
    scopes: Scopes::of(&[Scope::Full, Scope::ForceSsl, Scope::ReadOnly]),
    response: Some("GuideCategoryListResponse"),
    ..Operation::list("guideCategories.list", "/guideCategories", Run::Call(guide_list))
};

/// `videoCategories.list`.
pub(crate) const VIDEO_LIST: Operation = Operation {
    doc: "Categories assignable to videos; accepts hl and regionCode.",
    params: &[
        PART,
        HL.default("en-US"),
        IDS,
        Param::text("regionCode", "A country (i18nRegions.list)."),
    ],
    filters: Filters::One(&["id", "regionCode"]),
    parts: VIDEO_CATEGORY_PARTS,
    scopes: READ,
    response: Some("VideoCategoryListResponse"),
    ..Operation::list("videoCategories.list", "/videoCategories", Run::Call(video_list))
};

fn video_list(call: &Call<'_>, _tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    check(call, Absent::VideoCategory, |id| {
        language::VIDEO_CATEGORIES.iter().any(|(known, _, _)| *known == id)
    })?;
    let ids = call.params.list("id");
    let rows = language::VIDEO_CATEGORIES
        .iter()
        .filter(|(id, _, _)| ids.is_empty() || ids.iter().any(|wanted| wanted == id));
    let rows = rows.map(|(id, title, assignable)| {
        (
            *id,
            json!({"title": title, "assignable": assignable, "channelId": CATEGORY_CHANNEL})
                .to_string(),
        )
    });
    Ok(list(call, "videoCategory", "videoCategoryListResponse", rows))
}

fn guide_list(call: &Call<'_>, _tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    check(call, Absent::GuideCategory, |id| {
        language::GUIDE_CATEGORIES.iter().any(|(known, _)| *known == id)
    })?;
    let ids = call.params.list("id");
    let rows = language::GUIDE_CATEGORIES
        .iter()
        .filter(|(id, _)| ids.is_empty() || ids.iter().any(|wanted| wanted == id));
    let rows = rows.map(|(id, title)| {
        (*id, json!({"title": title, "channelId": CATEGORY_CHANNEL}).to_string())
    });
    Ok(list(call, "guideCategory", "guideCategoryListResponse", rows))
}

fn check(call: &Call<'_>, absent: Absent, is_known: impl Fn(&str) -> bool) -> Result<(), Error> {
    check_language(call)?;
    check_region(call)?;
    if call.params.list("id").iter().any(|id| !is_known(id)) {
        return Err(absent.into());
    }
    Ok(())
}
