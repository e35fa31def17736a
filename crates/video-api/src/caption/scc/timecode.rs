//! SMPTE time codes at 30000/1001 frames a second, with and without dropped numbers.

use super::super::limits::HOURS_MAX;
use super::super::time::{MediaTime, number, push_padded};

/// Frame numbers a second.
const RATE: u64 = 30;
/// Frame numbers that a minute leaves out, unless it is a tenth one.
const DROPPED: u64 = 2;
const FRAMES_A_MINUTE: u64 = 60 * RATE - DROPPED;
const FRAMES_IN_TEN_MINUTES: u64 = 10 * FRAMES_A_MINUTE + DROPPED;

/// A time code of a Scenarist file.
pub(super) struct Timecode;

/// The time of a frame, counted from 0.
pub(in super::super) fn nominal_frames(frames: u64) -> MediaTime {
    MediaTime::of_ratio(u128::from(frames) * 1_001, 30_000).unwrap_or(MediaTime::MAX)
}

/// The frame nearest to a time.
pub(super) fn frames_of(time: MediaTime) -> u64 {
    let thirds = u128::from(time.nanos()) * 3;
    u64::try_from((thirds + 50_050_000) / 100_100_000).unwrap_or(u64::MAX)
}

impl Timecode {
    /// Reads `hours:minutes:seconds:frames` as a count of frames. A semicolon, a dot or a comma before the frames says that numbers are
    /// dropped.
    pub(super) fn parse(text: &str) -> Option<u64> {
        let (clock, frames) = text.rsplit_once([':', ';', '.', ','])?;
        let drops = !text.get(clock.len()..)?.starts_with(':');
        let mut fields = clock.split([':', ';']);
        let (hours, minutes, seconds) = (fields.next()?, fields.next()?, fields.next()?);
        let frames = number(frames, RATE - 1).filter(|_| fields.next().is_none())?;
        Some(Self::parse_fields(hours, minutes, seconds, drops)? + frames)
    }

    /// The count of frames at the start of a second.
    fn parse_fields(hours: &str, minutes: &str, seconds: &str, drops: bool) -> Option<u64> {
        let hours = number(hours, HOURS_MAX)?;
        let (minutes, seconds) = (hours * 60 + number(minutes, 59)?, number(seconds, 59)?);
        let dropped = if drops { DROPPED * (minutes - minutes / 10) } else { 0 };
        Some(((minutes * 60 + seconds) * RATE).saturating_sub(dropped))
    }

    /// Writes a count of frames with dropped numbers.
    pub(super) fn write(frames: u64, out: &mut String) {
        let (tens, rest) = (frames / FRAMES_IN_TEN_MINUTES, frames % FRAMES_IN_TEN_MINUTES);
        // The first minute of ten has all its numbers.
        let minutes = rest.saturating_sub(DROPPED) / FRAMES_A_MINUTE;
        let numbered = frames + DROPPED * (9 * tens + minutes);
        let seconds = numbered / RATE;
        push_padded(out, seconds / 3600, 2);
        out.push(':');
        push_padded(out, seconds / 60 % 60, 2);
        out.push(':');
        push_padded(out, seconds % 60, 2);
        out.push(';');
        push_padded(out, numbered % RATE, 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_code_without_dropped_numbers_runs_slower_than_the_clock() {
        assert_eq!(Timecode::parse("00:00:01:00"), Some(30));
        assert_eq!(nominal_frames(Timecode::parse("01:00:00:00").unwrap()).millis(), 3_603_600);
    }

    #[test]
    fn a_time_code_with_dropped_numbers_keeps_to_the_clock() {
        assert_eq!(Timecode::parse("00:01:00;02"), Some(1_800));
        assert_eq!(Timecode::parse("00:00:59;29"), Some(1_799));
        assert_eq!(Timecode::parse("00:10:00;00"), Some(17_982));
        assert_eq!(Timecode::parse("01:00:00;00"), Some(107_892));
        assert_eq!(nominal_frames(107_892).millis(), 3_599_996);
        assert_eq!(Timecode::parse("01;00;00.00"), Some(107_892));
    }

    #[test]
    fn every_frame_is_written_as_it_is_read() {
        let steps =
            (0..40_000).chain((100_000..3_000_000).step_by(997)).chain([40_000_000, 400_000_000]);
        for frame in steps {
            let mut out = String::new();
            Timecode::write(frame, &mut out);
            assert_eq!(Timecode::parse(&out), Some(frame), "{out}");
            assert_eq!(frames_of(nominal_frames(frame)), frame);
        }
    }

    #[test]
    fn what_is_no_time_code_is_refused() {
        for text in [
            "",
            "00:00:00",
            "00:00:00:30",
            "00:60:00:00",
            "00:00:00:00:00",
            "aa:00:00:00",
            "00:00:00:-1",
        ] {
            assert_eq!(Timecode::parse(text), None, "{text}");
        }
    }
}
