//! Attributes of an element by their local names.

use std::borrow::Cow;

use quick_xml::XmlVersion;
use quick_xml::events::BytesStart;

use super::super::error::Problem;

/// The attributes that TTML gives a meaning here. What else an element has is not kept, however much it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    Begin,
    End,
    Dur,
    TimeContainer,
    Id,
    Region,
    Style,
    Space,
    Lang,
    FontStyle,
    FontWeight,
    TextDecoration,
    Color,
    TextAlign,
    DisplayAlign,
    Origin,
    Extent,
    WritingMode,
    FrameRate,
    SubFrameRate,
    FrameRateMultiplier,
    TickRate,
    TimeBase,
    DropMode,
    CellResolution,
    Position,
    Display,
    Visibility,
}

/// The attributes of an element, each with its value.
pub(super) struct Attributes<'e> {
    values: Vec<(Name, Cow<'e, str>)>,
    /// The bits of those that are there, which most are not.
    present: u32,
}

impl Name {
    /// The attribute of a local name.
    fn of(local: &str) -> Option<Self> {
        Some(match local {
            "begin" => Self::Begin,
            "end" => Self::End,
            "dur" => Self::Dur,
            "timeContainer" => Self::TimeContainer,
            "id" => Self::Id,
            "region" => Self::Region,
            "style" => Self::Style,
            "space" => Self::Space,
            "lang" => Self::Lang,
            "fontStyle" => Self::FontStyle,
            "fontWeight" => Self::FontWeight,
            "textDecoration" => Self::TextDecoration,
            "color" => Self::Color,
            "textAlign" => Self::TextAlign,
            "displayAlign" => Self::DisplayAlign,
            "origin" => Self::Origin,
            "extent" => Self::Extent,
            "writingMode" => Self::WritingMode,
            "frameRate" => Self::FrameRate,
            "subFrameRate" => Self::SubFrameRate,
            "frameRateMultiplier" => Self::FrameRateMultiplier,
            "tickRate" => Self::TickRate,
            "timeBase" => Self::TimeBase,
            "dropMode" => Self::DropMode,
            "cellResolution" => Self::CellResolution,
            "position" => Self::Position,
            "display" => Self::Display,
            "visibility" => Self::Visibility,
            _ => return None,
        })
    }

    const fn bit(self) -> u32 {
        1 << self as u32
    }
}

impl<'e> Attributes<'e> {
    /// Reads the attributes of a tag; the first of a name counts.
    pub(super) fn of(tag: &'e BytesStart<'_>) -> Result<Self, Problem> {
        let (mut values, mut present) = (Vec::new(), 0);
        // The library's own check for names given twice compares each with each.
        for attribute in tag.attributes().with_checks(false) {
            let attribute = attribute.map_err(|error| Problem::Xml(error.to_string()))?;
            let local = attribute.key.local_name();
            let Some(name) = Name::of(local.as_ref()) else { continue };
            if present & name.bit() != 0 {
                continue;
            }
            let value = attribute
                .normalized_value(XmlVersion::Implicit1_0)
                .map_err(|error| Problem::Xml(error.to_string()))?;
            present |= name.bit();
            values.push((name, value));
        }
        Ok(Self { values, present })
    }

    /// The value of an attribute.
    pub(super) fn get(&self, name: Name) -> Option<&str> {
        if !self.has(&[name]) {
            return None;
        }
        self.values.iter().find(|(own, _)| *own == name).map(|(_, value)| value.trim())
    }

    /// Tells whether one of these is there.
    pub(super) fn has(&self, names: &[Name]) -> bool {
        names.iter().any(|name| self.present & name.bit() != 0)
    }
}
