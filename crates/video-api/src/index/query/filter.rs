//! The filters of a query, for a document that holds its words.

use super::Query;
use crate::index::Kind;
use crate::index::facet::Facet;
use crate::index::summary::{Flag, Summary};

/// A place on earth, and how far around it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GeoCircle {
    /// Degrees north.
    pub latitude: f64,
    /// Degrees east.
    pub longitude: f64,
    /// Metres, at most 1,000,000.
    pub metres: f64,
}

impl Query {
    /// Words that every result has beside those of its text: what a summary does not tell, and, where nothing else narrows the results,
    /// what it does.
    pub(super) fn required_facets(&self, has_words: bool) -> Vec<String> {
        let channels = self.channel.iter().chain(&self.mine);
        let mut facets: Vec<_> = channels.map(|channel| Facet::Channel(channel)).collect();
        facets.extend(self.topic.as_deref().map(Facet::Topic));
        facets.extend(self.broadcast.as_deref().map(Facet::Broadcast));
        facets.extend(self.form.as_deref().map(Facet::Form));
        facets.extend(self.category.as_deref().map(Facet::Category));
        facets.extend(self.near.map(|_| Facet::Place));
        if !has_words && facets.is_empty() {
            facets.extend(self.duration.map(|class| Facet::Duration(class.name())));
            facets.extend(self.high_definition.map(Facet::Definition));
            let asked = [
                (self.captions == Some(true), Facet::Captions),
                (self.three_d == Some(true), Facet::ThreeD),
                (self.creative_commons == Some(true), Facet::CreativeCommons),
                (self.sponsored, Facet::Sponsored),
            ];
            let asked = asked.into_iter().filter(|(is, _)| *is);
            facets.extend(asked.map(|(_, facet)| facet));
        }
        facets.into_iter().map(Facet::word).collect()
    }

    /// Words that no result has, if it asks for all but those: what is blocked in its region, what is for adults.
    pub(super) fn excluded_facets(&self) -> Vec<String> {
        let blocked = self.region.as_deref().map(Facet::Blocked);
        let restricted = self.strict.then_some(Facet::Restricted);
        let facets = blocked.into_iter().chain(restricted);
        facets.map(Facet::word).collect()
    }

    /// Tells whether a document that holds the words, those of the required facets among them, is a result.
    pub(super) fn passes_filters(&self, summary: &Summary) -> bool {
        let has = |flag| summary.flags.has(flag);
        let is = |asked: Option<bool>, flag| asked.is_none_or(|asked| asked == has(flag));
        let asks_for_videos = self.duration.is_some()
            || self.high_definition.is_some()
            || self.captions.is_some()
            || self.three_d.is_some()
            || self.creative_commons.is_some()
            || self.embeddable
            || self.syndicated
            || self.category.is_some()
            || self.near.is_some();
        // Whoever asks for what is theirs gets nothing else, as it is found by their channel.
        (self.mine.is_some() || has(Flag::Public))
            && (self.kinds.is_empty() || self.kinds.contains(&summary.kind))
            && (summary.kind == Kind::Video || !asks_for_videos)
            && self.published_after.is_none_or(|moment| summary.published >= moment)
            && self.published_before.is_none_or(|moment| summary.published < moment)
            && self.duration.is_none_or(|class| class == summary.duration)
            && is(self.high_definition, Flag::HighDefinition)
            && is(self.captions, Flag::Captions)
            && is(self.three_d, Flag::ThreeD)
            && is(self.creative_commons, Flag::CreativeCommons)
            && (!self.embeddable || has(Flag::Embeddable))
            && (!self.syndicated || has(Flag::Syndicated))
            && (!self.sponsored || has(Flag::Sponsored))
            && !(self.strict && has(Flag::Restricted))
    }
}

impl GeoCircle {
    /// Tells whether a place (degrees north, east) is within the radius, on a sphere.
    pub(super) fn holds(self, (latitude, longitude): (f64, f64)) -> bool {
        const EARTH_METRES: f64 = 6_371_008.8;
        let (from, to) = (self.latitude.to_radians(), latitude.to_radians());
        let turn = (longitude - self.longitude).to_radians();
        let haversine =
            ((to - from) / 2.0).sin().powi(2) + from.cos() * to.cos() * (turn / 2.0).sin().powi(2);
        2.0 * EARTH_METRES * haversine.sqrt().min(1.0).asin() <= self.metres
    }
}
