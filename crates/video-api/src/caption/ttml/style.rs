//! Styling of TTML: what elements declare by themselves and by the styles that they name.

use std::collections::HashMap;

use super::super::colour::Colour;
use super::super::error::Problem;
use super::super::layout::{Align, Anchor, Vertical};
use super::super::limits::{DEFINITIONS_MAX, ELEMENT_DEPTH_MAX};
use super::super::text::Style;
use super::attribute::{Attributes, Name};
use super::frame::Frame;
use super::position::Position;

/// The part of a style that the elements within inherit.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Inherited {
    italic: Option<bool>,
    bold: Option<bool>,
    underline: Option<bool>,
    colour: Option<Colour>,
    /// The alignment of lines.
    pub(super) align: Option<Align>,
    is_visible: Option<bool>,
}

/// The style that an element declares.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Declared {
    /// The part that goes on to the elements within.
    pub(super) inherited: Inherited,
    /// False if it is not shown, nor anything within it.
    pub(super) is_displayed: Option<bool>,
    /// The place of lines in a region: at its first edge, in the middle, at its last.
    pub(super) display: Option<Anchor>,
    /// A region's corner, in thousandths of a percent.
    pub(super) origin: Option<(i64, i64)>,
    /// A region's place, which counts for more than its corner.
    pub(super) position: Option<Position>,
    /// A region's width and height, in thousandths of a percent.
    pub(super) extent: Option<(i64, i64)>,
    /// Vertical text, or text that is said to be not.
    pub(super) vertical: Option<Option<Vertical>>,
}

impl Inherited {
    fn of(attributes: &Attributes<'_>) -> Self {
        let get = |name: Name| attributes.get(name);
        Self {
            italic: get(Name::FontStyle)
                .map(|value| matches!(value, "italic" | "oblique" | "reverseOblique")),
            bold: get(Name::FontWeight).map(|value| value == "bold"),
            underline: get(Name::TextDecoration).and_then(underline),
            colour: get(Name::Color).and_then(Colour::parse),
            align: get(Name::TextAlign).and_then(Align::parse),
            is_visible: get(Name::Visibility).and_then(|value| match value {
                "visible" => Some(true),
                "hidden" => Some(false),
                _ => None,
            }),
        }
    }

    /// These declarations, with those of `over` in their place where it has any.
    pub(super) fn merge(self, over: Self) -> Self {
        Self {
            italic: over.italic.or(self.italic),
            bold: over.bold.or(self.bold),
            underline: over.underline.or(self.underline),
            colour: over.colour.or(self.colour),
            align: over.align.or(self.align),
            is_visible: over.is_visible.or(self.is_visible),
        }
    }

    /// Tells whether text is hidden, though its place is kept.
    pub(super) fn is_hidden(self) -> bool {
        self.is_visible == Some(false)
    }

    /// The look of text.
    pub(super) fn style(self) -> Style {
        Style {
            italic: self.italic.unwrap_or_default(),
            bold: self.bold.unwrap_or_default(),
            underline: self.underline.unwrap_or_default(),
            colour: self.colour,
        }
    }
}

/// The attributes that declare a style.
const DECLARING: [Name; 12] = [
    Name::FontStyle,
    Name::FontWeight,
    Name::TextDecoration,
    Name::Color,
    Name::TextAlign,
    Name::DisplayAlign,
    Name::Origin,
    Name::Position,
    Name::Extent,
    Name::WritingMode,
    Name::Display,
    Name::Visibility,
];

impl Declared {
    /// Tells whether an element may declare a style, by itself or by the styles that it names.
    pub(super) fn may_be_of(attributes: &Attributes<'_>) -> bool {
        attributes.has(&[Name::Style]) || attributes.has(&DECLARING)
    }

    /// Reads the declarations that stand on an element itself.
    pub(super) fn of(attributes: &Attributes<'_>, frame: &Frame) -> Self {
        if !attributes.has(&DECLARING) {
            return Self::default();
        }
        let get = |name: Name| attributes.get(name);
        Self {
            inherited: Inherited::of(attributes),
            is_displayed: get(Name::Display).map(|value| value != "none"),
            display: get(Name::DisplayAlign).and_then(|value| match value {
                "before" => Some(Anchor::Start),
                "center" => Some(Anchor::Center),
                "after" => Some(Anchor::End),
                _ => None,
            }),
            origin: get(Name::Origin).and_then(|value| frame.pair(value)),
            position: get(Name::Position).and_then(|value| Position::parse(value, frame)),
            extent: get(Name::Extent).and_then(|value| frame.pair(value)),
            vertical: get(Name::WritingMode).map(|value| match value {
                "tbrl" | "tb" => Some(Vertical::RightToLeft),
                "tblr" => Some(Vertical::LeftToRight),
                _ => None,
            }),
        }
    }

    /// These declarations, with those of `over` in their place where it has any.
    pub(super) fn merge(self, over: Self) -> Self {
        Self {
            inherited: self.inherited.merge(over.inherited),
            is_displayed: over.is_displayed.or(self.is_displayed),
            display: over.display.or(self.display),
            origin: over.origin.or(self.origin),
            position: over.position.or(self.position),
            extent: over.extent.or(self.extent),
            vertical: over.vertical.or(self.vertical),
        }
    }
}

fn underline(value: &str) -> Option<bool> {
    value.split_ascii_whitespace().find_map(|word| match word {
        "underline" => Some(true),
        "noUnderline" | "none" => Some(false),
        _ => None,
    })
}

/// A named style.
#[derive(Debug)]
struct Named {
    own: Declared,
    references: String,
    /// The style that it comes to with those that it names, once that is known.
    computed: Option<Declared>,
}

/// The styles of a document by name.
#[derive(Debug, Default)]
pub(super) struct Styles {
    styles: Vec<Named>,
    names: HashMap<String, usize>,
}

impl Styles {
    /// Defines a style; the first of a name counts.
    pub(super) fn define(
        &mut self,
        attributes: &Attributes<'_>,
        own: Declared,
    ) -> Result<(), Problem> {
        let Some(id) = attributes.get(Name::Id) else { return Ok(()) };
        if self.styles.len() >= DEFINITIONS_MAX {
            return Err(Problem::TooManyDefinitions);
        }
        if !self.names.contains_key(id) {
            self.names.insert(id.to_owned(), self.styles.len());
            let references = attributes.get(Name::Style).unwrap_or_default().to_owned();
            self.styles.push(Named { own, references, computed: None });
        }
        Ok(())
    }

    /// The sum of the named styles, later ones over earlier ones. Names of no style, and circles, say nothing.
    pub(super) fn resolve(&mut self, references: &str) -> Declared {
        self.resolve_at(references, 0)
    }

    fn resolve_at(&mut self, references: &str, depth: usize) -> Declared {
        let mut all = Declared::default();
        for name in references.split_ascii_whitespace() {
            if let Some(index) = self.names.get(name).copied() {
                all = all.merge(self.compute(index, depth));
            }
        }
        all
    }

    /// Each style is computed once, so that styles that name each other many times cost no more than their names.
    fn compute(&mut self, index: usize, depth: usize) -> Declared {
        let Some(style) = self.styles.get_mut(index) else { return Declared::default() };
        if let Some(computed) = style.computed {
            return computed;
        }
        let own = style.own;
        if depth >= ELEMENT_DEPTH_MAX {
            return own;
        }
        // A circle finds the style without what it names.
        style.computed = Some(own);
        let references = std::mem::take(&mut style.references);
        let computed = self.resolve_at(&references, depth + 1).merge(own);
        if let Some(style) = self.styles.get_mut(index) {
            style.computed = Some(computed);
        }
        computed
    }
}
