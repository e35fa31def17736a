//! The one model that every format is read into and written from: a track of cues.

use std::borrow::Cow;

use super::error::Problem;
use super::layout::{Layout, Region};
use super::limits::{CUE_BYTES_MAX, CUES_MAX, MARKS_MAX, TEXT_BYTES_MAX};
use super::text::Text;
use super::time::MediaTime;

/// A cue: a text that is shown from one time to another.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cue {
    /// The time at which it appears.
    pub start: MediaTime,
    /// The time at which it goes; never before `start`.
    pub end: MediaTime,
    /// A name of its own. The running numbers of SubRip are none.
    pub id: Option<Box<str>>,
    /// The text.
    pub text: Text,
    /// A place on the picture, if it is not at the bottom in the middle.
    pub layout: Option<Box<Layout>>,
}

/// A block of a file that is no cue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The index of the cue that it stands before.
    pub before: usize,
    /// A style sheet, or else a comment.
    pub is_style: bool,
    /// The text.
    pub text: String,
}

/// A caption track.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Track {
    /// A title, in one line.
    pub title: Option<String>,
    /// The language's tag.
    pub language: Option<String>,
    /// Further lines of a WebVTT header.
    pub header: Vec<String>,
    /// Regions that cues name.
    pub regions: Vec<Region>,
    /// Comments and style sheets, in order.
    pub blocks: Vec<Block>,
    /// The cues, in the order of the file.
    pub cues: Vec<Cue>,
    text_bytes: usize,
    marks: usize,
}

impl Cue {
    /// A cue at the usual place. One that would end before it starts has no length.
    #[must_use]
    pub fn new(start: MediaTime, end: MediaTime, text: Text) -> Self {
        Self { start, end: end.max(start), text, ..Self::default() }
    }
}

impl Track {
    /// A track of these cues.
    #[must_use]
    pub fn of_cues(cues: Vec<Cue>) -> Self {
        Self { cues, ..Self::default() }
    }

    /// Appends a cue, within the limits of a track.
    ///
    /// # Errors
    /// [`Problem::TooManyCues`], [`Problem::CueTooLong`] or [`Problem::TooMuchText`].
    pub fn push(&mut self, cue: Cue) -> Result<(), Problem> {
        if self.cues.len() >= CUES_MAX {
            return Err(Problem::TooManyCues);
        }
        if cue.text.as_str().len() > CUE_BYTES_MAX {
            return Err(Problem::CueTooLong);
        }
        self.text_bytes += cue.text.as_str().len();
        self.marks += cue.text.mark_count();
        if self.text_bytes > TEXT_BYTES_MAX || self.marks > MARKS_MAX {
            return Err(Problem::TooMuchText);
        }
        self.cues.push(cue);
        Ok(())
    }

    /// The cues by their start, each with its index; those that start together stay in the order of the file.
    #[must_use]
    pub fn in_order(&self) -> Vec<(usize, &Cue)> {
        let mut order: Vec<_> = self.cues.iter().enumerate().collect();
        order.sort_by_key(|(_, cue)| cue.start);
        order
    }

    /// The place of a cue: its own, or what its region gives it.
    pub(super) fn place<'t>(&'t self, cue: &'t Cue) -> Option<Cow<'t, Layout>> {
        let layout = cue.layout.as_deref()?;
        let region = layout.region.as_deref().filter(|_| layout.line.is_none());
        let found = region.and_then(|id| self.regions.iter().find(|region| region.id == id));
        Some(found.map_or(Cow::Borrowed(layout), |region| Cow::Owned(region.layout(layout.align))))
    }

    /// Gives an end to the cues that have `open` in its place: the start of the next one, or `last` after their start.
    pub(super) fn close_ends(&mut self, open: MediaTime, last: MediaTime) {
        if self.cues.iter().all(|cue| cue.end != open) {
            return;
        }
        let mut starts: Vec<_> = self.cues.iter().map(|cue| cue.start).collect();
        starts.sort_unstable();
        for cue in self.cues.iter_mut().filter(|cue| cue.end == open) {
            let next = starts.partition_point(|start| *start <= cue.start);
            cue.end = starts.get(next).copied().unwrap_or_else(|| cue.start.plus(last));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cue(start: u64, end: u64) -> Cue {
        Cue::new(MediaTime::from_millis(start), MediaTime::from_millis(end), Text::plain("x"))
    }

    #[test]
    fn a_cue_that_ends_before_it_starts_has_no_length() {
        assert_eq!(cue(10, 5).end, MediaTime::from_millis(10));
    }

    #[test]
    fn cues_are_ordered_by_their_start_and_otherwise_as_they_came() {
        let track = Track::of_cues(vec![cue(5, 6), cue(1, 9), cue(5, 5), cue(0, 1)]);
        let order: Vec<_> = track.in_order().into_iter().map(|(index, _)| index).collect();
        assert_eq!(order, [3, 1, 0, 2]);
    }

    #[test]
    fn an_open_end_is_the_next_start_or_a_while_later() {
        let mut track = Track::of_cues(vec![cue(1, 2), cue(3, 3), cue(5, 6)]);
        for cue in &mut track.cues {
            cue.end = MediaTime::MAX;
        }
        track.close_ends(MediaTime::MAX, MediaTime::from_millis(4));
        let ends: Vec<_> = track.cues.iter().map(|cue| cue.end.millis()).collect();
        assert_eq!(ends, [3, 5, 9]);
    }

    #[test]
    fn a_track_takes_no_more_than_its_limits() {
        let mut track = Track::default();
        let long = Text::plain("x".repeat(CUE_BYTES_MAX + 1));
        assert_eq!(
            track.push(Cue::new(MediaTime::ZERO, MediaTime::ZERO, long)),
            Err(Problem::CueTooLong)
        );
        track.cues = vec![Cue::default(); CUES_MAX];
        assert_eq!(track.push(cue(0, 1)), Err(Problem::TooManyCues));
    }
}
