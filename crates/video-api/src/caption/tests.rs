//! Properties of all formats at once, on tracks made up.

use proptest::collection::vec;
use proptest::prelude::*;

use super::colour::Colour;
use super::layout::{Align, Anchor, Layout, Line, Percent, Vertical};
use super::scc::timecode::nominal_frames;
use super::text::{Style, Tag, TextBuilder};
use super::*;

/// Words that other formats might take for something else.
const ODD: &str = "ab1 <i></b>&amp;--> {\\an8}0:01,:#[br]NOTE\tß♪\u{a0}漢\n";
/// Words that Scenarist can hold.
const WORDS: [&str; 12] =
    ["it", "it’s", "'x'", "♪♪", "café", "Ñ", "<i>", "&amp;", "1", "a-b", "{\\an8}", "ÜBER"];
const COLOURS: [u32; 4] = [0xff_0000, 0x00_ff00, 0xff_00ff, 0x00_ffff];

fn tag() -> impl Strategy<Value = Tag> {
    prop_oneof![
        Just(Tag::Italic),
        Just(Tag::Bold),
        Just(Tag::Underline),
        Just(Tag::Colour(Colour::of(0xff_0000))),
        Just(Tag::Colour(Colour::of(0x12_3456))),
        Just(Tag::Class("red.big".into())),
        Just(Tag::Classes("loud.lime".into())),
        Just(Tag::Voice("Bob & Co".into())),
        Just(Tag::Language("fr".into())),
        Just(Tag::Ruby),
        Just(Tag::RubyText),
    ]
}

#[derive(Debug, Clone)]
enum Step {
    Text(String),
    Open(Tag),
    Close(Tag),
    At(u64),
}

fn odd_text() -> impl Strategy<Value = text::Text> {
    let chars = proptest::sample::select(ODD.chars().collect::<Vec<_>>());
    let step = prop_oneof![
        3 => vec(chars, 0..12).prop_map(|chars| Step::Text(chars.into_iter().collect())),
        1 => proptest::sample::select(vec!["<i>", "-->", "&lt;", "\n00:00:01,000 --> 00:00:02,000\n", "\n\n", "7\n"]).prop_map(|text| Step::Text(text.to_owned())),
        1 => tag().prop_map(Step::Open),
        1 => tag().prop_map(Step::Close),
        1 => (0_u64..100_000).prop_map(Step::At),
    ];
    vec(step, 0..8).prop_map(|steps| {
        let mut builder = TextBuilder::default();
        for step in steps {
            match step {
                Step::Text(text) => builder.push_str(&text),
                Step::Open(tag) => builder.open(tag),
                Step::Close(tag) => builder.close(|open| *open == tag),
                Step::At(millis) => builder.at(MediaTime::from_millis(millis)),
            }
        }
        builder.finish()
    })
}

fn share() -> impl Strategy<Value = Percent> {
    (0_i64..=200).prop_map(|halves| Percent::of(halves * 500))
}

fn layout() -> impl Strategy<Value = Option<Box<Layout>>> {
    let anchor = || proptest::sample::select(vec![Anchor::Start, Anchor::Center, Anchor::End]);
    let line = prop_oneof![
        (-20_i32..20).prop_map(Line::Row),
        (share(), anchor()).prop_map(|(at, anchor)| Line::At(at, anchor))
    ];
    let align = proptest::sample::select(Align::NAMES.map(|(align, _)| align).to_vec());
    let vertical = proptest::sample::select(vec![Vertical::RightToLeft, Vertical::LeftToRight]);
    let position = (share(), proptest::option::of(anchor()));
    let of = proptest::option::of::<BoxedStrategy<Line>>;
    (
        proptest::option::weighted(0.1, vertical),
        of(line.boxed()),
        proptest::option::of(position),
        proptest::option::of(share()),
        proptest::option::of(align),
    )
        .prop_map(|(vertical, line, position, size, align)| {
            Layout { vertical, line, position, size, align, region: None }.boxed()
        })
}

/// Any cue, also one that nobody would write.
fn odd_cue() -> impl Strategy<Value = Cue> {
    let time =
        prop_oneof![4 => 0_u64..100_000, 1 => Just(0), 1 => 360_000_000_u64..400_000_000_000];
    let id = proptest::option::of("[a-z7 ]{0,3}");
    (time, 0_u64..5_000, id, odd_text(), layout()).prop_map(|(start, length, id, text, layout)| {
        let (start, end) = (MediaTime::from_millis(start), MediaTime::from_millis(start + length));
        Cue { id: id.map(Into::into), layout, ..Cue::new(start, end, text) }
    })
}

/// Lines of words, each in one style, that fit on the picture of Scenarist.
fn plain_lines() -> impl Strategy<Value = text::Text> {
    let style = prop_oneof![
        4 => Just(Style::default()),
        1 => Just(Style { italic: true, ..Style::default() }),
        1 => Just(Style { underline: true, ..Style::default() }),
        1 => Just(Style { bold: true, ..Style::default() }),
        1 => proptest::sample::select(COLOURS.to_vec()).prop_map(|rgb| Style { colour: Some(Colour::of(rgb)), ..Style::default() }),
    ];
    let line = vec((proptest::sample::select(WORDS.to_vec()), style), 1..5);
    vec(line, 1..4).prop_map(|lines| {
        let mut builder = TextBuilder::default();
        for (number, line) in lines.into_iter().enumerate() {
            for (place, (word, style)) in line.into_iter().enumerate() {
                builder.set_style(Style::default(), None);
                builder.push_str(if place > 0 {
                    " "
                } else if number > 0 {
                    "\n"
                } else {
                    ""
                });
                builder.set_style(style, None);
                builder.push_str(word);
            }
        }
        builder.finish()
    })
}

/// Cues with room between them, so that Scenarist can send them in time.
fn spaced_track() -> impl Strategy<Value = Track> {
    let cue = (0_u64..3_000, 3_000_u64..10_000, plain_lines(), layout());
    vec(cue, 1..6).prop_map(|cues| {
        let cues = (1_u64..).zip(cues).map(|(number, (offset, length, text, layout))| {
            let start = number * 20_000 + offset;
            let times = (MediaTime::from_millis(start), MediaTime::from_millis(start + length));
            Cue { layout, ..Cue::new(times.0, times.1, text) }
        });
        Track::of_cues(cues.collect())
    })
}

/// The part of a cue that two formats both hold, so that it survives the way through both.
#[derive(Debug, PartialEq)]
struct Held {
    times: (u64, u64),
    lines: Vec<Vec<(String, Style)>>,
    place: Option<Place>,
}

/// The box, the side of the text in it, the place across the lines, and vertical text.
type Place = ((i64, i64), Anchor, (Percent, Anchor), Option<Vertical>);

fn held(track: &Track, formats: [Format; 2]) -> Vec<Held> {
    let has = |format: Format| formats.contains(&format);
    let has_colour =
        |style: Style| !(has(Format::SubViewer) || style.italic && has(Format::Scenarist));
    let keep = |style: Style| Style {
        italic: style.italic && !has(Format::SubViewer),
        bold: style.bold && !has(Format::SubViewer) && !has(Format::Scenarist),
        underline: style.underline && !has(Format::SubViewer),
        // Italics of Scenarist are in the colour of the word before.
        colour: style.colour.filter(|_| has_colour(style)),
    };
    let time = |time: MediaTime| {
        if !has(Format::Scenarist) {
            return time.millis();
        }
        let frames = (time.nanos() + 16_683_333) * 3 / 100_100_000;
        nominal_frames(frames).millis()
    };
    // Lines of Scenarist that share no edge keep their places by spaces of this kind.
    let indent = if has(Format::Scenarist) { '\u{a0}' } else { '\u{200b}' };
    let is_placed = formats.iter().all(|format| matches!(format, Format::WebVtt | Format::Ttml));
    track
        .in_order()
        .into_iter()
        .map(|(_, cue)| {
            let text = cue.text.without_blank_lines();
            let words = |line: Vec<text::Run<'_>>| {
                let mut words: Vec<(String, Style)> = vec![(String::new(), Style::default())];
                for run in line {
                    for (number, part) in
                        run.text.replace(['\u{200b}', indent], "").split(' ').enumerate()
                    {
                        if number > 0 {
                            words.push((String::new(), Style::default()));
                        }
                        let word = words.last_mut().unwrap();
                        if word.0.is_empty() {
                            word.1 = keep(run.style);
                        }
                        word.0.push_str(part);
                    }
                }
                words
            };
            let layout = cue.layout.as_deref().cloned().unwrap_or_default();
            let line = layout.line.map_or((Percent::FULL, Anchor::End), Line::place);
            let place = (layout.extent(), layout.alignment().side(), line, layout.vertical);
            Held {
                times: (time(cue.start), time(cue.end)),
                lines: text.runs().into_iter().map(words).collect(),
                place: is_placed.then_some(place),
            }
        })
        .collect()
}

/// The track as it comes back from a file of that format.
fn through(format: Format, track: &Track) -> Track {
    let file = format.write(track);
    format.read(&file).unwrap_or_else(|error| panic!("{}: {error} in\n{file}", format.name()))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    #[test]
    fn what_two_formats_hold_survives_the_way_through_both(track in spaced_track()) {
        for from in Format::ALL {
            let first = through(from, &track);
            prop_assert_eq!(held(&first, [from, from]), held(&track, [from, from]));
            for to in Format::ALL {
                let second = through(to, &first);
                prop_assert_eq!(held(&second, [from, to]), held(&track, [from, to]), "{} to {}", from.name(), to.name());
            }
        }
    }

    #[test]
    fn what_was_read_is_written_as_it_was(cues in vec(odd_cue(), 1..6)) {
        let track = Track::of_cues(cues);
        for format in Format::ALL {
            // Scenarist puts cues that overlap on one picture, so the first file may differ from the second, and no later one.
            let file = match format {
                Format::Scenarist => format.write(&through(format, &track)),
                _ => format.write(&track),
            };
            let again = format.write(&format.read(&file).unwrap());
            prop_assert_eq!(&again, &file, "{}", format.name());
            if format != Format::Scenarist {
                prop_assert_eq!(Detected::of(&file), Detected::Captions(format));
            }
        }
    }

    #[test]
    fn captions_of_scenarist_come_back_from_webvtt_and_ttml_byte_for_byte(track in spaced_track()) {
        let file = Format::Scenarist.write(&track);
        let read = Format::Scenarist.read(&file).unwrap();
        prop_assert_eq!(&Format::Scenarist.write(&read), &file);
        for format in [Format::WebVtt, Format::Ttml] {
            let back = Format::Scenarist.write(&through(format, &read));
            prop_assert_eq!(&back, &file, "{}", format.name());
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused_and_what_is_read_is_written_in_every_format(
        start in proptest::sample::select(vec!["", "WEBVTT\n\n", "Scenarist_SCC V1.0\n\n", "<tt><body><div>", "0:00:01.0,0:00:02.0\n", "1\n0:01 --> 0:02\n"]),
        rest in vec(proptest::sample::select(b"<>/&;ptb=\"' \n\r\t0129:.,-{}an8begin9420\xe9\xff\x00".to_vec()), 0..200),
    ) {
        let bytes = [start.as_bytes(), &rest].concat();
        if let Ok((_, track)) = read(&bytes) {
            for format in Format::ALL {
                let file = format.write(&track);
                prop_assert!(format.read(&file).is_ok());
            }
        }
    }
}

#[test]
fn a_track_without_cues_is_a_file_of_its_format_that_shows_nothing() {
    for format in Format::ALL {
        let file = format.write(&Track::default());
        assert_eq!(FileForm::of(file.as_bytes()), FileForm::Captions(format), "{file}");
        let (_, track) = read(file.as_bytes()).unwrap();
        assert!(track.cues.iter().all(|cue| cue.text.is_empty() && cue.start == cue.end));
        assert_eq!(format.write(&track), file);
    }
}

#[test]
fn a_line_that_begins_in_the_right_half_of_the_picture_keeps_its_column() {
    let position = Some((Percent::of(86_000), None));
    let layout = Layout { position, ..Layout::default() }.boxed();
    let times = [20_000, 23_000].map(MediaTime::from_millis);
    let text = text::Text::plain("Ñ\nit {\\an8} <i> &amp;");
    let track = Track::of_cues(vec![Cue { layout, ..Cue::new(times[0], times[1], text) }]);
    let file = Format::Scenarist.write(&track);
    let read = Format::Scenarist.read(&file).unwrap();
    for format in [Format::Scenarist, Format::WebVtt, Format::Ttml] {
        assert_eq!(Format::Scenarist.write(&through(format, &read)), file, "{}", format.name());
    }
}

#[test]
fn every_encoding_and_line_end_gives_the_same_track() {
    let text = "1\r\n00:00:01,000 --> 00:00:02,000\r\nCafé\r\n\r\n2\r\n00:00:03,000 --> 00:00:04,000\r\n½ of it";
    let expected = read(text.as_bytes()).unwrap().1;
    assert_eq!(expected.cues.len(), 2);
    let units = |bytes: fn(u16) -> [u8; 2], mark: [u8; 2]| {
        mark.into_iter().chain(text.encode_utf16().flat_map(bytes)).collect::<Vec<_>>()
    };
    for bytes in [
        [b"\xef\xbb\xbf", text.as_bytes()].concat(),
        units(u16::to_le_bytes, [0xff, 0xfe]),
        units(u16::to_be_bytes, [0xfe, 0xff]),
        text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect(),
        text.replace("\r\n", "\r").into_bytes(),
        text.replace("\r\n", "\n").into_bytes(),
    ] {
        assert_eq!(read(&bytes).unwrap().1, expected);
    }
}

#[test]
fn files_that_only_begin_cues_or_settings_or_elements_are_read_or_refused() {
    let many = 70_000;
    let styles: String =
        (0..=limits::DEFINITIONS_MAX).map(|number| format!("<style id='{number}'/>")).collect();
    for (file, problem) in [
        ("0:00:00.0,0:00:01.0\n\n".repeat(limits::CUES_MAX + 1), Some(Problem::TooManyCues)),
        (format!("WEBVTT\n\n00:01.000 --> 00:02.000{}", " line:1".repeat(1_000_000)), None),
        (
            format!("WEBVTT\n\n00:01.000 --> 00:02.000\n{}", "<i>".repeat(5 * many)),
            Some(Problem::CueTooLong),
        ),
        (format!("WEBVTT\n\n00:01.000 --> 00:02.000\n{}", "<".repeat(many)), None),
        (format!("1\n0:00 --> 0:01\n{}", "<".repeat(many)), Some(Problem::CueTooLong)),
        (format!("0:00 --> 0:01\n{}", "0:00 --> 0:01\n".repeat(many)), None),
        (format!("<tt {}/>", "a='1' ".repeat(many)), None),
        (format!("<tt><body>{}", "<div>".repeat(many)), Some(Problem::TooDeep)),
        (format!("<tt><head>{}", "<x>".repeat(many)), Some(Problem::TooDeep)),
        (format!("<tt><head><styling>{styles}"), Some(Problem::TooManyDefinitions)),
        (
            format!("WEBVTT\n\n{}", "NOTE\n\n".repeat(limits::BLOCKS_MAX + 1)),
            Some(Problem::TooManyDefinitions),
        ),
        (
            format!("WEBVTT\n\n{}", "REGION\nid:a\n\n".repeat(limits::REGIONS_MAX + 1)),
            Some(Problem::TooManyDefinitions),
        ),
    ] {
        assert_eq!(
            read(file.as_bytes()).err().map(|error| error.problem),
            problem,
            "{}",
            &file[..60]
        );
    }
}
