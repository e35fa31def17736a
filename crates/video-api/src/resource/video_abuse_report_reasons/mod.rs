//! Reasons for which a video can be reported: a list of the service's own, or that of the seed file.

mod seed;

use serde::{Deserialize, Serialize};
use serde_json::json;
use triptych_core::id::Ids;
use triptych_core::kv::{JsonRecord, RoundTrips, Table, Tx};

use crate::account::{Scope, Scopes};
use crate::api::error::Error;
use crate::api::operation::call::Call;
use crate::api::operation::{Operation, Part, Run};
use crate::api::parameter::{HL, PART};
use crate::api::response::Reply;
use crate::api::snippet_list;
use crate::record::table_entry::{Form, TableEntry};
use crate::resource::Resource;

/// The resource.
pub static RESOURCE: Resource = Resource {
    operations: &[LIST],
    tables: &[TableEntry::new("videoAbuseReportReasons", &REASONS, Form::Json)],
    seed: seed::SECTIONS,
    ..Resource::EMPTY
};

/// Reasons that a seed file brought, in its order. While there are none, the built-in ones hold.
pub const REASONS: Table<u16, Reason> = Table::new(0xA0);

/// A list has at most so many reasons.
const REASONS_MAX: usize = 200;

/// A reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Reason {
    /// Its id.
    pub id: String,
    /// Its words.
    pub label: String,
    /// The reasons that it may be more exactly.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secondary_reasons: Vec<SecondaryReason>,
}

/// A reason within a reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SecondaryReason {
    /// Its id.
    pub id: String,
    /// Its words.
    pub label: String,
}

impl JsonRecord for Reason {}

/// A row of [`DEFAULTS`]: id, label, and the secondary reasons.
type DefaultReason = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// The service's own reasons. The real list is not published.
const DEFAULTS: &[DefaultReason] = &[
    (
        "N",
        "Sexual content",
        &[
            ("29", "Graphic sexual activity"),
            ("30", "Nudity"),
            ("31", "Suggestive, but without nudity"),
            ("32", "Content involving minors"),
            ("33", "Abusive title or description"),
        ],
    ),
    (
        "V",
        "Violent or repulsive content",
        &[
            ("24", "Adults fighting"),
            ("25", "Physical attack"),
            ("26", "Youth violence"),
            ("27", "Animal abuse"),
        ],
    ),
    (
        "H",
        "Hateful or abusive content",
        &[
            ("20", "Promotes hatred or violence"),
            ("21", "Bullying"),
            ("22", "Abusive title or description"),
        ],
    ),
    (
        "D",
        "Harmful or dangerous acts",
        &[
            ("15", "Pharmaceutical or drug abuse"),
            ("16", "Abuse of fire or explosives"),
            ("17", "Suicide or self injury"),
            ("18", "Other dangerous acts"),
        ],
    ),
    ("C", "Child abuse", &[]),
    (
        "S",
        "Spam or misleading",
        &[
            ("10", "Mass advertising"),
            ("11", "Misleading text"),
            ("12", "Misleading thumbnail"),
            ("13", "Scams or fraud"),
        ],
    ),
    ("R", "Infringes my rights", &[("40", "Copyright"), ("41", "Privacy"), ("42", "Trademark")]),
];

/// Parts of the resource.
const PARTS: &[Part] = &[Part::read("id"), Part::read("snippet")];

/// `videoAbuseReportReasons.list`.
const LIST: Operation = Operation {
    doc: "Reasons usable to report abuse.",
    params: &[PART, HL.default("en-US")],
    parts: PARTS,
    scopes: Scopes::of(&[Scope::Full, Scope::ForceSsl, Scope::ReadOnly]),
    response: Some("VideoAbuseReportReasonListResponse"),
    round_trips: RoundTrips::of(3, 0),
    ..Operation::list("videoAbuseReportReasons.list", "/videoAbuseReportReasons", Run::Call(list))
};

/// The reasons that hold.
///
/// # Errors
/// As the store.
pub fn all(tx: &mut Tx<'_>) -> Result<Vec<Reason>, Error> {
    let (rows, _) = REASONS.scan(tx, &REASONS.span(&()), REASONS_MAX)?;
    if !rows.is_empty() {
        return Ok(rows.into_iter().map(|(_, reason)| reason).collect());
    }
    let secondary = |(id, label): &(&str, &str)| SecondaryReason {
        id: (*id).to_owned(),
        label: (*label).to_owned(),
    };
    let defaults = DEFAULTS.iter().map(|(id, label, more)| Reason {
        id: (*id).to_owned(),
        label: (*label).to_owned(),
        secondary_reasons: more.iter().map(secondary).collect(),
    });
    Ok(defaults.collect())
}

fn list(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let reasons = all(tx)?;
    let rows = reasons.iter().map(|reason| {
        let mut snippet = json!({"label": reason.label});
        if let (false, Some(map)) = (reason.secondary_reasons.is_empty(), snippet.as_object_mut()) {
            map.insert("secondaryReasons".into(), json!(reason.secondary_reasons));
        }
        (reason.id.as_str(), snippet.to_string())
    });
    let list_kind = "videoAbuseReportReasonListResponse";
    Ok(snippet_list::reply(call, "videoAbuseReportReason", list_kind, rows))
}
