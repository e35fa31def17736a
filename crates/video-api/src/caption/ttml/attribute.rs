//! Attributes of an element by their local names.

use std::borrow::Cow;

use quick_xml::XmlVersion;
use quick_xml::events::BytesStart;

use super::super::error::Problem;

/// The attributes that TTML gives a meaning here, each with its value.
pub(super) struct Attributes<'e>(Vec<(&'static str, Cow<'e, str>)>);

/// Local names that are looked at. What else an element has is not kept, however much it is.
const NAMES: [&str; 26] = [
    "begin",
    "end",
    "dur",
    "timeContainer",
    "id",
    "region",
    "style",
    "space",
    "lang",
    "fontStyle",
    "fontWeight",
    "textDecoration",
    "color",
    "textAlign",
    "displayAlign",
    "origin",
    "extent",
    "writingMode",
    "frameRate",
    "subFrameRate",
    "frameRateMultiplier",
    "tickRate",
    "timeBase",
    "dropMode",
    "cellResolution",
    "position",
];

impl<'e> Attributes<'e> {
    /// Reads the attributes of a tag; the first of a name counts.
    pub(super) fn of(tag: &'e BytesStart<'_>) -> Result<Self, Problem> {
        let mut found: Vec<(&'static str, Cow<'e, str>)> = Vec::new();
        // The library's own check for names given twice compares each with each.
        for attribute in tag.attributes().with_checks(false) {
            let attribute = attribute.map_err(|error| Problem::Xml(error.to_string()))?;
            let local = attribute.key.local_name();
            let Some(name) = NAMES.iter().find(|name| **name == local.as_ref()) else { continue };
            if found.iter().any(|(own, _)| own == name) {
                continue;
            }
            let value = attribute
                .normalized_value(XmlVersion::Implicit1_0)
                .map_err(|error| Problem::Xml(error.to_string()))?;
            found.push((name, value));
        }
        Ok(Self(found))
    }

    /// The value of an attribute.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(own, _)| *own == name).map(|(_, value)| value.trim())
    }
}
