//! Bounds on what one caption file may ask for: with them, memory and time grow with the file and with nothing else.

/// The most bytes of a file: what an upload of captions may have.
pub const BYTES_MAX: usize = 100 * 1024 * 1024;
/// The most cues of a track: one each second for more than a hundred hours.
pub const CUES_MAX: usize = 500_000;
/// The most bytes of text of one cue.
pub const CUE_BYTES_MAX: usize = 64 * 1024;
/// The most bytes of text of a track. A Scenarist file shows one text many times, so its size alone is no bound.
pub const TEXT_BYTES_MAX: usize = BYTES_MAX;
/// The most tags of one cue; further ones are text without style.
pub const CUE_MARKS_MAX: usize = 8 * 1024;
/// The most tags of a track.
pub const MARKS_MAX: usize = 2_000_000;
/// The most tags that are open at once; deeper ones are left out.
pub const TAG_DEPTH_MAX: usize = 16;
/// The most XML elements in each other.
pub const ELEMENT_DEPTH_MAX: usize = 64;
/// The most regions of WebVTT: a picture has room for a few.
pub const REGIONS_MAX: usize = 256;
/// The most regions of TTML, and the most styles, of a file.
pub const DEFINITIONS_MAX: usize = 10_000;
/// The most blocks beside cues, such as comments.
pub const BLOCKS_MAX: usize = 100_000;
/// The last hour that a time code may name.
pub const HOURS_MAX: u64 = 1_000_000;
