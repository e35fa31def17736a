//! Transcripts: text without time codes, spread over the length of a video; and captions whose time codes are replaced.
//!
//! No sound is listened to. Each cue is shown for as long as its share of the characters, which is what speech at an even pace takes.

use super::cue::{Cue, Track};
use super::error::{Error, Problem};
use super::lines::Lines;
use super::text::Text;
use super::time::MediaTime;

/// The most characters of a line of a caption.
const LINE_CHARS_MAX: usize = 42;
/// The most lines of a caption.
const LINES_MAX: usize = 2;

/// Makes a track of a transcript: each line is a cue, or several if it is longer than two lines of 42 characters.
///
/// # Errors
/// More lines, or longer words, than a track takes.
pub fn spread(text: &str, length: MediaTime) -> Result<Track, Error> {
    let mut track = Track::default();
    for (number, line) in Lines::of(text) {
        let at = |problem: Problem| Error::at(number, problem);
        let mut cue = String::new();
        let (mut lines, mut column) = (1, 0);
        for word in line.split_whitespace() {
            let chars = word.chars().count();
            if column > 0 && column + 1 + chars > LINE_CHARS_MAX {
                if lines == LINES_MAX {
                    push(&mut track, &mut cue).map_err(at)?;
                    lines = 1;
                } else {
                    cue.push('\n');
                    lines += 1;
                }
                column = 0;
            }
            if column > 0 {
                cue.push(' ');
                column += 1;
            }
            cue.push_str(word);
            column += chars;
        }
        push(&mut track, &mut cue).map_err(at)?;
    }
    retime(&mut track, length);
    Ok(track)
}

fn push(track: &mut Track, text: &mut String) -> Result<(), Problem> {
    if text.is_empty() {
        return Ok(());
    }
    track.push(Cue::new(MediaTime::ZERO, MediaTime::ZERO, Text::plain(std::mem::take(text))))
}

/// Replaces the times of all cues: in the order of the file they fill the length of the video, each by its share of the characters.
pub fn retime(track: &mut Track, length: MediaTime) {
    let weight =
        |cue: &Cue| 1 + cue.text.as_str().chars().filter(|c| !c.is_whitespace()).count() as u128;
    let total: u128 = track.cues.iter().map(weight).sum();
    let mut passed = 0;
    for cue in &mut track.cues {
        let place = |passed: u128| {
            let nanos =
                (u128::from(length.nanos()) * passed).checked_div(total).unwrap_or_default();
            // Every format can hold a whole millisecond.
            MediaTime::from_millis(u64::try_from(nanos / 1_000_000).unwrap_or(u64::MAX))
        };
        cue.start = place(passed);
        passed += weight(cue);
        cue.end = place(passed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(track: &Track) -> Vec<(u64, u64, &str)> {
        track
            .cues
            .iter()
            .map(|cue| (cue.start.millis(), cue.end.millis(), cue.text.as_str()))
            .collect()
    }

    #[test]
    fn a_transcript_fills_the_length_of_the_video_by_its_characters() {
        let track = spread("one\n\nlonger 1\r\n", MediaTime::from_millis(12_000)).unwrap();
        assert_eq!(shape(&track), [(0, 4_000, "one"), (4_000, 12_000, "longer 1")]);
    }

    #[test]
    fn a_long_line_becomes_several_captions_of_two_lines() {
        let words = "word ".repeat(50);
        let track = spread(&words, MediaTime::from_millis(60_000)).unwrap();
        assert!(track.cues.len() > 2);
        for cue in &track.cues {
            assert!(cue.text.as_str().lines().count() <= LINES_MAX);
            assert!(cue.text.as_str().lines().all(|line| line.chars().count() <= LINE_CHARS_MAX));
        }
        assert_eq!(track.cues.last().unwrap().end.millis(), 60_000);
    }

    #[test]
    fn times_that_are_replaced_leave_everything_else() {
        let file = "WEBVTT\n\nNOTE kept\n\na\n00:05.000 --> 00:06.000 line:0\n<i>x</i>\n\n00:01.000 --> 00:02.000\nabc\n";
        let mut track = super::super::vtt::read(file).unwrap();
        retime(&mut track, MediaTime::from_millis(6_000));
        assert_eq!(shape(&track), [(0, 2_000, "x"), (2_000, 6_000, "abc")]);
        assert!(
            super::super::vtt::write(&track)
                .contains("NOTE kept\n\na\n00:00:00.000 --> 00:00:02.000 line:0\n<i>x</i>")
        );
    }

    #[test]
    fn a_track_without_cues_and_a_video_without_length_are_fine() {
        assert_eq!(spread("", MediaTime::MAX).unwrap().cues, []);
        assert_eq!(shape(&spread("a", MediaTime::ZERO).unwrap()), [(0, 0, "a")]);
    }
}
