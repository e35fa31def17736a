//! Time expressions of TTML, and the rates that they count in.

use super::super::error::Problem;
use super::super::limits::HOURS_MAX;
use super::super::time::{MediaTime, number};
use super::attribute::{Attributes, Name};

/// Digits of a number that still say something.
const DIGITS_MAX: usize = 12;
/// The largest rate, in frames or ticks a second.
const RATE_MAX: u64 = 10_000_000_000;

/// The units that a document counts its times in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    frame_rate: u64,
    sub_frame_rate: u64,
    /// Real frames a nominal one, as a fraction.
    multiplier: (u64, u64),
    tick_rate: u64,
    /// Clock times are SMPTE time codes, which count frames: where these are no whole number a second they do not keep to the clock.
    time_code: Option<DropMode>,
}

/// Frame numbers that time codes leave out, so as to keep to the clock.
#[derive(Debug, Clone, Copy)]
enum DropMode {
    /// None.
    NonDrop,
    /// Two a minute, unless it is a tenth one.
    Ntsc,
    /// Four in each second minute, unless it is a twentieth one.
    Pal,
}

impl Default for Clock {
    fn default() -> Self {
        Self {
            frame_rate: 30,
            sub_frame_rate: 1,
            multiplier: (1, 1),
            tick_rate: 1,
            time_code: None,
        }
    }
}

/// A number with a fraction: `value / scale`.
#[derive(Clone, Copy)]
struct Decimal {
    value: u128,
    scale: u128,
}

impl Clock {
    /// Reads the parameters of the root.
    pub(super) fn of(root: &Attributes<'_>) -> Result<Self, Problem> {
        let rate = |name: Name| match root.get(name) {
            None => Ok(None),
            Some(text) => number(text, RATE_MAX)
                .filter(|rate| *rate > 0)
                .map(Some)
                .ok_or_else(|| Problem::Rate(text.chars().take(40).collect())),
        };
        let mut clock = Self::default();
        let frame_rate = rate(Name::FrameRate)?;
        clock.frame_rate = frame_rate.unwrap_or(clock.frame_rate);
        clock.sub_frame_rate = rate(Name::SubFrameRate)?.unwrap_or(1);
        if let Some(text) = root.get(Name::FrameRateMultiplier) {
            let mut parts = text.split([' ', ':']).filter(|part| !part.is_empty());
            let parsed = parts.next().zip(parts.next()).and_then(|(above, below)| {
                Some((number(above, RATE_MAX)?, number(below, RATE_MAX)?))
            });
            clock.multiplier = parsed
                .filter(|(above, below)| *above > 0 && *below > 0)
                .ok_or_else(|| Problem::Rate(text.chars().take(40).collect()))?;
        }
        clock.tick_rate = match (rate(Name::TickRate)?, frame_rate) {
            (Some(rate), _) => rate,
            (None, Some(frames)) => frames.saturating_mul(clock.sub_frame_rate),
            (None, None) => 1,
        };
        clock.time_code =
            (root.get(Name::TimeBase) == Some("smpte")).then(|| match root.get(Name::DropMode) {
                Some("dropNTSC") => DropMode::Ntsc,
                Some("dropPAL") => DropMode::Pal,
                _ => DropMode::NonDrop,
            });
        if matches!(clock.time_code, Some(DropMode::Ntsc))
            && root.get(Name::FrameRateMultiplier).is_none()
        {
            // Numbers are dropped for this rate alone.
            clock.multiplier = (1_000, 1_001);
        }
        Ok(clock)
    }

    /// Reads a time: `hours:minutes:seconds` with a fraction or frames, or a number with one of the units h, m, s, ms, f and t.
    pub(super) fn parse(&self, text: &str) -> Result<MediaTime, Problem> {
        let found = if text.contains(':') { self.clock_time(text) } else { self.offset(text) };
        found.ok_or_else(|| Problem::Time(text.chars().take(40).collect()))
    }

    fn clock_time(&self, text: &str) -> Option<MediaTime> {
        if let Some(drop_mode) = self.time_code {
            return self.time_code(drop_mode, text);
        }
        if let Some((time, b'.')) = MediaTime::parse_usual(text) {
            return Some(time);
        }
        let mut fields = text.splitn(4, ':');
        let (hours, minutes, seconds) = (fields.next()?, fields.next()?, fields.next()?);
        let Some(frames) = fields.next() else {
            return MediaTime::parse_clock(text).filter(|_| !text.contains(','));
        };
        let whole = MediaTime::parse_clock(&format!("{hours}:{minutes}:{seconds}"))?;
        Some(whole.plus(self.of_frames(self.frames(frames)?)?))
    }

    /// Reads `hours:minutes:seconds` and frames, if there are any, as a count of frames.
    fn time_code(&self, drop_mode: DropMode, text: &str) -> Option<MediaTime> {
        let mut fields = text.splitn(4, ':');
        let (hours, minutes, seconds) = (fields.next()?, fields.next()?, fields.next()?);
        let frames = self.frames(fields.next().unwrap_or("0"))?;
        let minutes = number(hours, HOURS_MAX)? * 60 + number(minutes, 59)?;
        let seconds =
            Decimal::parse(seconds).filter(|Decimal { value, scale }| *value < 60 * scale)?;
        let rate = u128::from(self.frame_rate);
        let counted = (u128::from(minutes) * 60 * rate)
            .saturating_sub(u128::from(drop_mode.dropped(minutes)));
        let scale = seconds.scale * frames.scale;
        let value = counted
            .checked_mul(scale)?
            .checked_add(seconds.value.checked_mul(rate * frames.scale)?)?
            .checked_add(frames.value.checked_mul(seconds.scale)?)?;
        self.of_frames(Decimal { value, scale })
    }

    /// Reads frames, with parts of one behind a dot.
    fn frames(&self, text: &str) -> Option<Decimal> {
        let (frames, parts) = text.split_once('.').unwrap_or((text, "0"));
        let (frames, parts) = (number(frames, RATE_MAX)?, number(parts, RATE_MAX)?);
        let scale = u128::from(self.sub_frame_rate);
        Some(Decimal { value: u128::from(frames) * scale + u128::from(parts), scale })
    }

    fn offset(&self, text: &str) -> Option<MediaTime> {
        let unit = text.find(|c: char| c.is_ascii_alphabetic())?;
        let (digits, unit) = text.split_at(unit);
        let decimal = Decimal::parse(digits)?;
        let Decimal { value, scale } = decimal;
        match unit {
            "h" => MediaTime::of_ratio(value * 3600, scale),
            "m" => MediaTime::of_ratio(value * 60, scale),
            "s" => MediaTime::of_ratio(value, scale),
            "ms" => MediaTime::of_ratio(value, scale * 1_000),
            "f" => self.of_frames(decimal),
            "t" => MediaTime::of_ratio(value, scale * u128::from(self.tick_rate)),
            _ => None,
        }
    }

    fn of_frames(&self, Decimal { value, scale }: Decimal) -> Option<MediaTime> {
        let (above, below) = self.multiplier;
        let rate = u128::from(self.frame_rate) * u128::from(above);
        MediaTime::of_ratio(value.checked_mul(u128::from(below))?, scale.checked_mul(rate)?)
    }
}

impl DropMode {
    /// Numbers that are left out in so many minutes.
    const fn dropped(self, minutes: u64) -> u64 {
        match self {
            Self::NonDrop => 0,
            Self::Ntsc => 2 * (minutes - minutes / 10),
            Self::Pal => 4 * (minutes / 2 - minutes / 20),
        }
    }
}

impl Decimal {
    fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let fraction = fraction.get(..DIGITS_MAX).unwrap_or(fraction);
        if whole.len() > DIGITS_MAX || (fraction.is_empty() && text.contains('.')) {
            return None;
        }
        let scale = 10_u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
        let part = if fraction.is_empty() { 0 } else { number(fraction, u64::MAX)? };
        Some(Self { value: u128::from(number(whole, u64::MAX)?) * scale + u128::from(part), scale })
    }
}
