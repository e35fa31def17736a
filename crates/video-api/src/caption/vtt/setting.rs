//! Settings of WebVTT cues and regions.

use super::super::layout::{Align, Anchor, Layout, Line, Percent, Region, Vertical};
use super::super::time::number;
use super::single_line;

/// Reads the settings of a cue. What cannot be read says nothing, as the format wants it; the last of one name counts.
pub(super) fn parse(text: &str, names_region: impl Fn(&str) -> bool) -> Layout {
    let mut layout = Layout::default();
    for (name, value) in text.split([' ', '\t']).filter_map(|setting| setting.split_once(':')) {
        match name {
            "region" if names_region(value) => layout.region = Some(value.into()),
            "vertical" => {
                layout.vertical = match value {
                    "rl" => Some(Vertical::RightToLeft),
                    "lr" => Some(Vertical::LeftToRight),
                    _ => layout.vertical,
                }
            }
            "line" => layout.line = line(value).or(layout.line),
            "position" => layout.position = position(value).or(layout.position),
            "size" => layout.size = Percent::parse(value).or(layout.size),
            "align" => layout.align = align(value).or(layout.align),
            _ => {}
        }
    }
    layout
}

fn line(value: &str) -> Option<Line> {
    let (place, anchor) =
        value.split_once(',').map_or((value, None), |(place, anchor)| (place, Some(anchor)));
    let anchor = match anchor {
        None | Some("start") => Anchor::Start,
        Some("center") => Anchor::Center,
        Some("end") => Anchor::End,
        Some(_) => return None,
    };
    if place.ends_with('%') {
        return Percent::parse(place).map(|share| Line::At(share, anchor));
    }
    // Players ignore the anchor of a row: it lies on the grid of lines.
    let (digits, sign) = place.strip_prefix('-').map_or((place, 1), |digits| (digits, -1));
    let row = i32::try_from(number(digits, 100_000)?).ok()?;
    Some(Line::Row(sign * row))
}

fn position(value: &str) -> Option<(Percent, Option<Anchor>)> {
    let (share, anchor) =
        value.split_once(',').map_or((value, None), |(share, anchor)| (share, Some(anchor)));
    let anchor = match anchor {
        None => None,
        Some("line-left" | "start") => Some(Anchor::Start),
        Some("center" | "middle") => Some(Anchor::Center),
        Some("line-right" | "end") => Some(Anchor::End),
        Some(_) => return None,
    };
    Some((Percent::parse(share)?, anchor))
}

fn align(value: &str) -> Option<Align> {
    // The name that drafts had, which old files have.
    if value == "middle" { Some(Align::Center) } else { Align::parse(value) }
}

/// Writes the settings of a cue, each after a blank.
pub(super) fn write(layout: &Layout, names_region: impl Fn(&str) -> bool, out: &mut String) {
    let mut setting = |name: &str, value: &str| {
        out.push(' ');
        out.push_str(name);
        out.push(':');
        out.push_str(value);
    };
    if let Some(id) = layout.region.as_deref().filter(|id| names_region(id)) {
        setting("region", id);
    }
    match layout.vertical {
        Some(Vertical::RightToLeft) => setting("vertical", "rl"),
        Some(Vertical::LeftToRight) => setting("vertical", "lr"),
        None => {}
    }
    match layout.line {
        Some(Line::Row(row)) => setting("line", &row.to_string()),
        Some(Line::At(share, anchor)) => {
            let anchor = match anchor {
                Anchor::Start => "",
                Anchor::Center => ",center",
                Anchor::End => ",end",
            };
            setting("line", &format!("{share}{anchor}"));
        }
        None => {}
    }
    if let Some((share, anchor)) = layout.position {
        let anchor = match anchor {
            None => "",
            Some(Anchor::Start) => ",line-left",
            Some(Anchor::Center) => ",center",
            Some(Anchor::End) => ",line-right",
        };
        setting("position", &format!("{share}{anchor}"));
    }
    if let Some(size) = layout.size {
        setting("size", &size.to_string());
    }
    if let Some(align) = layout.align {
        setting("align", align.name());
    }
}

/// Reads the settings of a region. What cannot be read says nothing, as in the settings of a cue, and a region without a name is none: no
/// cue could be in it.
pub(super) fn parse_region(text: &str) -> Option<Region> {
    let mut region = Region::new(String::new());
    let settings = text.split(['\n', ' ', '\t']).filter_map(|setting| setting.split_once(':'));
    for (name, value) in settings {
        match name {
            "id" => value.clone_into(&mut region.id),
            "width" => region.width = Percent::parse(value).unwrap_or(region.width),
            "lines" => {
                let lines = number(value, 100_000).and_then(|lines| u32::try_from(lines).ok());
                region.lines = lines.unwrap_or(region.lines);
            }
            "regionanchor" => region.anchor = pair(value).unwrap_or(region.anchor),
            "viewportanchor" => {
                region.viewport_anchor = pair(value).unwrap_or(region.viewport_anchor);
            }
            "scroll" => region.scroll |= value == "up",
            _ => {}
        }
    }
    (!region.id.is_empty()).then_some(region)
}

fn pair(value: &str) -> Option<(Percent, Percent)> {
    let (x, y) = value.split_once(',')?;
    Some((Percent::parse(x)?, Percent::parse(y)?))
}

/// Writes a region and the blank line after it.
pub(super) fn write_region(region: &Region, out: &mut String) {
    let Region { id, width, lines, anchor, viewport_anchor, scroll } = region;
    out.push_str("REGION\nid:");
    out.push_str(&single_line(id));
    out.push_str(&format!(
        "\nwidth:{width}\nlines:{lines}\nregionanchor:{},{}\nviewportanchor:{},{}\n",
        anchor.0, anchor.1, viewport_anchor.0, viewport_anchor.1
    ));
    if *scroll {
        out.push_str("scroll:up\n");
    }
    out.push('\n');
}
