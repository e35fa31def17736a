//! Reading of Scenarist files: a decoder of CEA-608 that makes a cue of what is shown, whenever that changes.

use super::super::cue::{Cue, Track};
use super::super::error::{Error, Problem};
use super::super::lines::{Lines, is_blank};
use super::super::time::MediaTime;
use super::code::{self, Code, Pen};
use super::screen::{Block, Screen};
use super::timecode::{Timecode, nominal_frames};
use super::{SIGNATURE, character};

/// The end of what is still shown.
const OPEN: MediaTime = MediaTime::MAX;
/// The time that the last caption is shown if nothing takes it away.
const LAST_MILLIS: u64 = 4_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Captions are loaded out of sight.
    PopOn,
    /// Captions are written where they are seen.
    PaintOn,
    /// Lines come from below, so many of them.
    RollUp(usize),
    /// Text that is no caption.
    Text,
}

struct Decoder {
    track: Track,
    mode: Mode,
    shown: Screen,
    loading: Screen,
    /// The frame since which the picture shows what it shows.
    since: u64,
    /// The part of it that began earlier: the cues that its blocks are.
    standing: Vec<usize>,
    /// Written where it is seen, and not yet a cue.
    is_changed: bool,
    /// A control pair that its own repetition does not follow yet.
    last: Option<[u8; 2]>,
    /// The channel that is listened to: that of the first control pair.
    channel: Option<u8>,
    listens: bool,
}

/// Reads a file.
///
/// # Errors
/// A file that does not begin as Scenarist's do, time codes and words that cannot be read, and more than a track takes.
pub fn read(text: &str) -> Result<Track, Error> {
    let mut lines = Lines::of(text).skip_while(|(_, line)| is_blank(line));
    let first = lines.next().map(|(_, line)| line.trim()).unwrap_or_default();
    if !first.get(..SIGNATURE.len()).is_some_and(|start| start.eq_ignore_ascii_case(SIGNATURE)) {
        return Err(Error::at(1, Problem::Signature(SIGNATURE)));
    }
    let mut decoder = Decoder::new();
    for (number, line) in lines.filter(|(_, line)| !is_blank(line)) {
        decoder.line(line).map_err(|problem| Error::at(number, problem))?;
    }
    decoder.commit(0).map_err(|problem| Error::at(1, problem))?;
    decoder.track.close_ends(OPEN, MediaTime::from_millis(LAST_MILLIS));
    Ok(decoder.track)
}

/// Each byte as a hexadecimal digit, and a number beyond them for what is none.
const DIGITS: [u8; 256] = {
    let mut table = [0xff; 256];
    let mut digit = 0;
    while digit < 16 {
        #[expect(
            clippy::indexing_slicing,
            reason = "the compiler runs it, and the loop ends at the number of digits"
        )]
        {
            table[b"0123456789abcdef"[digit] as usize] = digit as u8;
            table[b"0123456789ABCDEF"[digit] as usize] = digit as u8;
        }
        digit += 1;
    }
    table
};

/// The word of four hexadecimal digits.
fn word_of(digits: [u8; 4]) -> Option<u16> {
    let [a, b, c, d] =
        digits.map(|byte| DIGITS.get(usize::from(byte)).copied().unwrap_or(0xff)).map(u16::from);
    ((a | b | c | d) < 16).then_some(a << 12 | b << 8 | c << 4 | d)
}

/// Reads a word of four hexadecimal digits, and gives what follows it; none at the end.
fn next_word(text: &str) -> Result<Option<(u16, &str)>, Problem> {
    // Nearly all words have one space behind them.
    if let [a, b, c, d, b' ', ..] = text.as_bytes()
        && let Some(word) = word_of([*a, *b, *c, *d])
    {
        return Ok(text.get(5..).map(|after| (word, after)));
    }
    let text = text.trim_ascii_start();
    if text.is_empty() {
        return Ok(None);
    }
    let (word, after) = text.split_once(|c: char| c.is_ascii_whitespace()).unwrap_or((text, ""));
    let digits = <[u8; 4]>::try_from(word.as_bytes()).ok();
    let pair = digits.and_then(word_of);
    let pair = pair.ok_or_else(|| Problem::Word(word.chars().take(40).collect()))?;
    Ok(Some((pair, after)))
}

impl Decoder {
    fn new() -> Self {
        Self {
            track: Track::default(),
            mode: Mode::PopOn,
            shown: Screen::default(),
            loading: Screen::default(),
            since: 0,
            standing: Vec::new(),
            is_changed: false,
            last: None,
            channel: None,
            listens: true,
        }
    }

    fn line(&mut self, line: &str) -> Result<(), Problem> {
        let line = line.trim();
        let (timecode, words) = line.split_once([' ', '\t']).unwrap_or((line, ""));
        let first_frame = Timecode::parse(timecode)
            .ok_or_else(|| Problem::Time(timecode.chars().take(40).collect()))?;
        self.last = None;
        let mut rest = words;
        for frame in first_frame.. {
            let Some((pair, after)) = next_word(rest)? else { break };
            rest = after;
            let [first, second] = (pair & 0x7f7f).to_be_bytes();
            self.pair(first, second, frame)?;
        }
        Ok(())
    }

    fn pair(&mut self, first: u8, second: u8, frame: u64) -> Result<(), Problem> {
        if !(0x10..=0x1f).contains(&first) {
            if self.listens && self.mode != Mode::Text {
                for byte in [first, second].into_iter().filter(|byte| *byte >= 0x20) {
                    self.put(character::basic(byte), frame)?;
                }
            }
            if (first, second) != (0, 0) {
                self.last = None;
            }
            return Ok(());
        }
        let channel = first & 0x08;
        self.listens = *self.channel.get_or_insert(channel) == channel;
        if self.last.take() == Some([first, second]) {
            return Ok(());
        }
        self.last = Some([first, second]);
        if self.listens { self.code(Code::of(first & !0x08, second), frame) } else { Ok(()) }
    }

    fn code(&mut self, code: Code, frame: u64) -> Result<(), Problem> {
        if let Code::Misc(word) = code {
            return self.misc(word, frame);
        }
        if self.mode == Mode::Text {
            return Ok(());
        }
        match code {
            Code::Special(second) => {
                if let Some(c) = character::special(second) {
                    self.put(c, frame)?;
                }
            }
            Code::Extended(first, second) => {
                if let Some(c) = character::extended(first, second) {
                    self.memory().backspace();
                    self.put(c, frame)?;
                }
            }
            Code::MidRow(colour, italic, underline) => {
                let memory = self.memory();
                let kept = memory.pen.colour;
                // The code itself takes a column, which shows as a space.
                memory.pen = Pen::default();
                self.put(' ', frame)?;
                let colour = if italic { kept } else { colour };
                self.memory().pen = Pen { colour, italic, underline };
            }
            Code::Preamble(row, column, pen) => {
                if let Mode::RollUp(height) = self.mode {
                    self.shown.move_base(row, height);
                }
                let memory = self.memory();
                (memory.row, memory.column, memory.pen) = (row, column, pen);
            }
            Code::Tab(columns) => {
                let memory = self.memory();
                memory.column = (memory.column + columns).min(super::grid::COLUMNS - 1);
            }
            Code::Misc(_) | Code::Other => {}
        }
        Ok(())
    }

    fn misc(&mut self, word: u16, frame: u64) -> Result<(), Problem> {
        match word {
            code::RCL => self.mode = Mode::PopOn,
            code::RDC => self.mode = Mode::PaintOn,
            code::RU2..=code::RU4 => {
                self.start_roll_up(usize::from(word - code::RU2) + 2, frame)?
            }
            code::TR | code::RTD => self.mode = Mode::Text,
            code::EDM => {
                self.commit(frame)?;
                self.shown.clear();
                self.show(frame)?;
            }
            code::ENM => self.loading.clear(),
            code::EOC => {
                self.mode = Mode::PopOn;
                self.commit(frame)?;
                std::mem::swap(&mut self.shown, &mut self.loading);
                self.show(frame)?;
            }
            code::CR => {
                if let Mode::RollUp(height) = self.mode {
                    self.commit(frame)?;
                    self.shown.roll_up(height);
                    self.shown.column = 0;
                    // The row that comes in belongs to the picture from here on.
                    self.is_changed = true;
                }
            }
            code::BS if self.mode != Mode::Text => self.memory().backspace(),
            code::DER if self.mode != Mode::Text => self.memory().erase_rest(),
            _ => {}
        }
        Ok(())
    }

    fn start_roll_up(&mut self, height: usize, frame: u64) -> Result<(), Problem> {
        if !matches!(self.mode, Mode::RollUp(_)) {
            self.commit(frame)?;
            self.shown.clear();
            self.show(frame)?;
            self.shown.row = super::grid::ROWS - 1;
        }
        self.mode = Mode::RollUp(height);
        (self.shown.column, self.shown.pen) = (0, Pen::default());
        Ok(())
    }

    /// The memory that characters go to.
    fn memory(&mut self) -> &mut Screen {
        if self.mode == Mode::PopOn { &mut self.loading } else { &mut self.shown }
    }

    fn put(&mut self, c: char, frame: u64) -> Result<(), Problem> {
        if self.mode == Mode::PopOn {
            self.loading.put(c);
            return Ok(());
        }
        if !self.is_changed {
            // What is painted or rolled in is a cue from its first character on.
            if c == ' ' {
                self.memory().put(c);
                return Ok(());
            }
            self.is_changed = true;
            self.since = frame;
        }
        self.memory().put(c);
        Ok(())
    }

    /// Makes cues of what was written where it is seen, before that changes at once.
    fn commit(&mut self, frame: u64) -> Result<(), Problem> {
        if std::mem::take(&mut self.is_changed) {
            let since = self.since;
            self.show(since)?;
        }
        self.since = frame;
        Ok(())
    }

    /// Ends the cues that the picture does not show any more and begins those that are new, at a frame.
    fn show(&mut self, frame: u64) -> Result<(), Problem> {
        if self.shown.is_empty() && self.standing.is_empty() {
            return Ok(());
        }
        let blocks = self.shown.blocks();
        let mut before = std::mem::take(&mut self.standing);
        // The same picture once more is another caption, since otherwise nobody would have sent it.
        let is_same = blocks.len() == before.len()
            && blocks.iter().zip(&before).all(|(new, old)| self.is_cue(new, *old));
        for block in blocks {
            let kept = before.iter().position(|old| self.is_cue(&block, *old)).filter(|_| !is_same);
            let index = match kept {
                Some(at) => before.swap_remove(at),
                None => {
                    let mut cue = Cue::new(nominal_frames(frame), OPEN, block.text);
                    cue.layout = block.layout.map(Box::new);
                    self.track.push(cue)?;
                    self.track.cues.len() - 1
                }
            };
            self.standing.push(index);
        }
        self.end(&before, frame);
        Ok(())
    }

    /// Tells whether a block is what a cue shows.
    fn is_cue(&self, block: &Block, index: usize) -> bool {
        let cue = self.track.cues.get(index);
        cue.is_some_and(|cue| {
            cue.text == block.text && cue.layout.as_deref() == block.layout.as_ref()
        })
    }

    fn end(&mut self, cues: &[usize], frame: u64) {
        for index in cues {
            if let Some(cue) = self.track.cues.get_mut(*index) {
                cue.end = nominal_frames(frame).max(cue.start);
            }
        }
    }
}
