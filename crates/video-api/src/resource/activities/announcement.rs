//! Activities that no operation makes: recommendations, bulletins, promoted items and what was shared elsewhere. The seed file and
//! `POST /_ops/activities` do.

use serde::Deserialize;
use serde_json::{Map, Value};
use triptych_core::id::Ids;
use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use crate::api::error::Error;
use crate::api::schema;
use crate::resource::activities::record::{self, Event, Thing};
use crate::resource::activities::rules;
use crate::resource::channels::record::CHANNELS;
use crate::resource::playlists::record::PLAYLISTS;
use crate::resource::videos::record::VIDEOS;
use crate::seed::section::{channel_of, moment};

/// Types of such activities.
const KINDS: [&str; 4] = ["social", "recommendation", "bulletin", "promotedItem"];

/// An activity to be made.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Announcement {
    /// The account, or its channel.
    pub account: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// `contentDetails`, with the member of the type.
    pub content_details: Map<String, Value>,
    /// The time; now if it is left out.
    pub published_at: Option<String>,
}

/// Makes an activity, and gives its id.
///
/// # Errors
/// [`rules::TYPE_UNSUPPORTED`], [`Error::InvalidField`].
pub fn make(
    tx: &mut Tx<'_>,
    ids: &mut dyn Ids,
    announcement: &Announcement,
    now: Timestamp,
) -> Result<String, Error> {
    let Announcement { account, kind, content_details, published_at } = announcement;
    if !KINDS.contains(&kind.as_str()) {
        return Err(Error::Rule(&rules::TYPE_UNSUPPORTED));
    }
    let details = content_details.get(kind).and_then(Value::as_object);
    let (Some(details), 1) = (details, content_details.len()) else {
        return Err(Error::InvalidField {
            path: format!("contentDetails.{kind}"),
            expected: "an object, and no other member beside it",
        });
    };
    let whole = Value::Object(content_details.clone());
    schema::check("ActivityContentDetails", &whole, "contentDetails")
        .map_err(|(path, expected)| Error::InvalidField { path, expected })?;
    check_named(tx, kind, details)?;
    let channel = channel_of(tx, account, "account")?;
    let at = moment("publishedAt", published_at.as_deref(), now)?;
    let event = Event::Other { kind: kind.clone(), number: ids.next(), details: details.clone() };
    let id = event.id(&channel);
    record::note(tx, &channel, at, event, true)?;
    Ok(id)
}

/// Checks that the details name what the activity is about, and that all that they name is there.
fn check_named(tx: &mut Tx<'_>, kind: &str, details: &Map<String, Value>) -> Result<(), Error> {
    let subject = if kind == "promotedItem" { "videoId" } else { "resourceId" };
    let promoted = details.get("videoId").and_then(Value::as_str);
    let mut named = vec![("videoId", promoted.map(|id| Thing::Video(id.to_owned())))];
    for member in ["resourceId", "seedResourceId"] {
        named.push((member, details.get(member).and_then(Thing::of_resource_id)));
    }
    for (member, thing) in named {
        let is_there = match thing {
            None => member != subject,
            Some(Thing::Video(id)) => VIDEOS.peek(tx, &id)?.is_some(),
            Some(Thing::Channel(id)) => CHANNELS.peek(tx, &id)?.is_some(),
            Some(Thing::Playlist(id)) => PLAYLISTS.peek(tx, &id)?.is_some(),
        };
        if !is_there {
            let path = format!("contentDetails.{kind}.{member}");
            return Err(Error::InvalidField { path, expected: "a resource that is there" });
        }
    }
    Ok(())
}
