//! The time that a caption file of 1 MiB takes from each format to each other, and that bad files of 100 MiB take to be read or refused.
//!
//! `cargo run --release -p video-api --no-default-features --example caption`

#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use std::time::{Duration, Instant};

use video_api::caption::limits::BYTES_MAX;
use video_api::caption::text::Text;
use video_api::caption::{Cue, Format, MediaTime, Track, convert, read};

const FILE_BYTES: usize = 1024 * 1024;
const ROUNDS: usize = 20;

/// Files by what they hold: how they begin, and what follows again and again.
const BOMBS: [(&str, &str, &str); 17] = [
    ("cue starts of SubRip", "", "1\n0:00 --> 0:01\n\n"),
    ("time lines of SubRip", "1\n0:00 --> 0:01\n", "0:00 --> 0:01\n"),
    ("arrows", "", "-->"),
    ("line ends", "", "\n"),
    ("cue starts of WebVTT", "WEBVTT\n\n", "00:01.0 --> 00:02.0\n"),
    ("settings on one line", "WEBVTT\n\n00:01.000 --> 00:02.000", " line:1"),
    ("tags", "WEBVTT\n\n", "00:01.000 --> 00:02.000\n<i>a</i><b>a</b><u>a</u><i>a</i>\n\n"),
    ("cue starts of SubViewer", "", "0:00:01.0,0:00:02.0\n\n"),
    ("elements in each other", "<tt><body>", "<div>"),
    ("paragraphs", "<tt><body><div>", "<p begin='1s'/>"),
    ("spans", "<tt><body><div><p begin='1s'>", "<span begin='1s'>a</span>"),
    ("attributes", "<tt ", "a='1' "),
    ("comments", "<tt>", "<!---->"),
    (
        "captions of Scenarist",
        "Scenarist_SCC V1.0\n\n00:00:01:00\t9470 e180 942f 9470 e180",
        " 942f 8080",
    ),
    ("time codes of Scenarist", "Scenarist_SCC V1.0\n\n", "00:00:00:00\t942c\n"),
    ("rolling up", "Scenarist_SCC V1.0\n\n00:00:00:00\t9425", " 94ad e1e1 9470 9440"),
    ("text", "", "word word\n"),
];

#[expect(clippy::disallowed_methods, reason = "it measures")]
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed())
}

fn main() {
    println!("| from \\ to | {} |", Format::ALL.map(Format::name).join(" | "));
    for from in Format::ALL {
        let (cues, file) = file_of(from);
        let times = Format::ALL.map(|to| {
            let rounds = (0..ROUNDS).map(|_| timed(|| convert(file.as_bytes(), to)).1);
            format!("{:.1} ms", rounds.min().unwrap_or_default().as_secs_f64() * 1e3)
        });
        println!("| {} ({cues} cues) | {} |", from.name(), times.join(" | "));
    }
    for (name, head, piece) in BOMBS {
        let mut file = head.to_owned();
        file.push_str(&piece.repeat((BYTES_MAX - head.len()) / piece.len()));
        let (result, time) = timed(|| read(file.as_bytes()));
        let said = match result {
            Ok((format, track)) => format!("{} cues of {}", track.cues.len(), format.name()),
            Err(error) => error.to_string(),
        };
        println!("{name}: {} ms: {said}", time.as_millis());
    }
}

/// A file of that format, of a little more than 1 MiB, and the number of its cues.
fn file_of(format: Format) -> (usize, String) {
    let mut cues = Vec::new();
    loop {
        for number in cues.len()..cues.len() + 1_000 {
            let start = 10_000 + number as u64 * 3_000;
            let times = (MediaTime::from_millis(start), MediaTime::from_millis(start + 2_500));
            let text =
                format!("It is caption number {number}, & so on,\nwith a second line of text.");
            cues.push(Cue::new(times.0, times.1, Text::plain(text)));
        }
        let file = format.write(&Track::of_cues(cues.clone()));
        if file.len() >= FILE_BYTES {
            return (cues.len(), file);
        }
    }
}
