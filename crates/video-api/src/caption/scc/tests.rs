use super::super::cue::{Cue, Track};
use super::super::layout::{Align, Anchor, Layout, Line};
use super::super::text::{Tag, Text, TextBuilder};
use super::super::time::MediaTime;
use super::*;

fn words(file: &str) -> Vec<&str> {
    file.lines().skip(1).flat_map(|line| line.split_ascii_whitespace()).collect()
}

fn cue(start: u64, end: u64, text: &str) -> Cue {
    Cue::new(MediaTime::from_millis(start), MediaTime::from_millis(end), Text::plain(text))
}

fn of(lines: &str) -> Track {
    read(&format!("{SIGNATURE}\n\n{lines}")).unwrap()
}

fn texts(track: &Track) -> Vec<&str> {
    track.cues.iter().map(|cue| cue.text.as_str()).collect()
}

#[test]
fn a_caption_is_written_in_doubled_codes_with_parity_and_shown_by_its_last_pair() {
    let file = write(&Track::of_cues(vec![cue(10_010, 12_012, "Hi!")]));
    assert_eq!(
        words(&file),
        [
            "00:00:09;20",
            "9420",
            "9420",
            "94ae",
            "94ae",
            "9476",
            "9476",
            "97a2",
            "97a2",
            "c8e9",
            "a180",
            "942f",
            "942f",
            "00:00:12;00",
            "942c",
            "942c"
        ]
    );
}

#[test]
fn what_is_written_is_read_with_its_times_to_the_frame() {
    let track = Track::of_cues(vec![
        cue(5_000, 7_000, "one"),
        cue(7_000, 9_000, "two\nlines"),
        cue(360_000_000, 360_001_000, "late"),
    ]);
    let again = read(&write(&track)).unwrap();
    assert_eq!(texts(&again), ["one", "two\nlines", "late"]);
    for (old, new) in track.cues.iter().zip(&again.cues) {
        assert!(old.start.nanos().abs_diff(new.start.nanos()) <= 16_700_000, "{new:?}");
        assert!(old.end.nanos().abs_diff(new.end.nanos()) <= 16_700_000, "{new:?}");
        assert_eq!(new.layout, None);
    }
}

#[test]
fn characters_of_all_sets_and_apostrophes_of_both_kinds_survive() {
    let all: String = "it's it’s ♪♪ ½ é Ñ █ ÀÀ «x» {ß} ┌┘ Ü\u{a0}ü à ®® *'~|\\^_".chars().collect();
    let again = read(&write(&Track::of_cues(vec![cue(10_000, 12_000, &all)]))).unwrap();
    let text: String = again.cues[0].text.as_str().replace('\n', " ");
    assert_eq!(text, all);
}

#[test]
fn characters_of_no_set_get_what_stands_for_them() {
    let again =
        read(&write(&Track::of_cues(vec![cue(10_000, 12_000, "wait… – 漢 x\u{200b}y 5€")])))
            .unwrap();
    assert_eq!(texts(&again), ["wait... - ? xy 5EUR"]);
}

#[test]
fn a_caption_that_cannot_be_sent_in_time_comes_later_and_whole() {
    let long = "A line of thirty characters ok\nand another of them right here";
    let track =
        Track::of_cues(vec![cue(0, 1_000, long), cue(1_000, 1_100, long), cue(1_100, 9_000, "x")]);
    let again = read(&write(&track)).unwrap();
    assert_eq!(texts(&again), [long, long, "x"]);
    assert!(again.cues[0].start.millis() > 1_000);
    assert_eq!(write(&again), write(&read(&write(&again)).unwrap()));
}

#[test]
fn an_erasure_goes_between_the_pairs_of_the_next_caption() {
    let long = "A line of thirty characters ok\nand another of them right here";
    let track = Track::of_cues(vec![cue(3_000, 6_000, "x"), cue(6_500, 9_000, long)]);
    let file = write(&track);
    let again = read(&file).unwrap();
    assert_eq!(texts(&again), ["x", long]);
    assert_eq!(again.cues[0].end.millis(), 6_006);
    assert_eq!(again.cues[1].start.millis(), 6_507);
    assert_eq!(write(&again), file);
}

#[test]
fn wherever_an_erasure_falls_each_frame_has_one_pair_and_each_control_pair_its_repetition() {
    let text = "♪ a line of ♪♪ notes\nand ® another";
    let next = cue(10_000, 12_000, text);
    let alone = words(&write(&Track::of_cues(vec![next.clone()]))).len();
    for end in (8_000..9_930).step_by(11) {
        let file = write(&Track::of_cues(vec![cue(6_000, end, "first"), next.clone()]));
        let mut sent: Vec<(u64, &str)> = Vec::new();
        for line in file.lines().skip(1).filter(|line| !line.is_empty()) {
            let (start, words) = line.split_once('\t').unwrap();
            let start = timecode::Timecode::parse(start).unwrap();
            sent.extend((start..).zip(words.split(' ')));
        }
        assert!(sent.windows(2).all(|two| two[0].0 < two[1].0), "{end}: {file}");
        let mut rest = sent.as_slice();
        while let [(frame, word), after @ ..] = rest {
            rest = after;
            if word.starts_with(['1', '9']) {
                let [second, after @ ..] = after else { panic!("{end}: {file}") };
                assert_eq!(*second, (frame + 1, *word), "{end}: {file}");
                rest = after;
            }
        }
        let (shown, erased) = (sent.iter().filter(|(_, word)| *word == "942f").count(), "942c");
        assert_eq!((shown, sent.iter().filter(|(_, word)| *word == erased).count()), (4, 4));
        assert!(sent.len() > alone);
        let again = read(&file).unwrap();
        assert!(again.cues[1].start.millis().abs_diff(10_000) <= 17, "{end}: {file}");
    }
}

#[test]
fn italics_underline_and_colours_change_between_words() {
    let mut text = TextBuilder::default();
    text.push_str("a ");
    text.open(Tag::Italic);
    text.push_str("b c");
    text.close(|tag| *tag == Tag::Italic);
    text.push_str(" d\n");
    text.open(Tag::Underline);
    text.push_str("e");
    text.close(|tag| *tag == Tag::Underline);
    text.push_str(" ");
    text.open(Tag::Class("cyan".into()));
    text.push_str("f");
    let track = Track::of_cues(vec![Cue { text: text.finish(), ..cue(10_000, 12_000, "") }]);
    let again = read(&write(&track)).unwrap();
    let runs = again.cues[0].text.runs();
    let shape: Vec<Vec<_>> = runs
        .iter()
        .map(|line| {
            let mark = |run: &super::super::text::Run<'_>| {
                format!(
                    "{}{}{}{}",
                    run.text,
                    if run.style.italic { "/" } else { "" },
                    if run.style.underline { "_" } else { "" },
                    run.style.colour.map(|c| c.to_string()).unwrap_or_default()
                )
            };
            line.iter().map(mark).collect()
        })
        .collect();
    assert_eq!(shape, [vec!["a ", "b c/", " d"], vec!["e_", " ", "f#00ffff"]]);
}

#[test]
fn places_survive_to_the_row_and_the_column() {
    for row in [0, 6, 13] {
        for (align, column) in
            [(Align::Left, 0), (Align::Left, 7), (Align::Right, 25), (Align::Right, 32)]
        {
            let layout = Layout {
                line: Some(Line::At(grid::top(row), Anchor::Start)),
                position: Some((grid::left(column), None)),
                align: Some(align),
                ..Layout::default()
            };
            let text = "Some text\nof two rows, like this";
            let text = if align == Align::Left && column == 7 {
                "Some text\n\u{a0}\u{a0}indented"
            } else {
                text
            };
            let text = if row == 13 { text.lines().next().unwrap() } else { text };
            let mut track = Track::of_cues(vec![cue(10_000, 12_000, text)]);
            track.cues[0].layout = Some(Box::new(layout.clone()));
            let again = read(&write(&track)).unwrap();
            assert_eq!(texts(&again), [text]);
            let found = again.cues[0].layout.as_deref().unwrap();
            assert_eq!(found.line, layout.line);
            // One row alone has no edge that its text could keep to, so its left one is named.
            if row != 13 {
                assert_eq!(found, &layout, "{row} {column}");
            }
            assert_eq!(write(&again), write(&track));
        }
    }
}

#[test]
fn cues_that_overlap_in_different_places_come_back_as_they_were() {
    let mut track = Track::of_cues(vec![cue(5_000, 15_000, "below"), cue(10_000, 20_000, "above")]);
    track.cues[1].layout = Some(Box::new(Layout { line: Some(Line::Row(0)), ..Layout::default() }));
    let again = read(&write(&track)).unwrap();
    assert_eq!(texts(&again), ["below", "above"]);
    let times: Vec<_> =
        again.cues.iter().map(|cue| (cue.start.millis(), cue.end.millis())).collect();
    assert_eq!(times, [(5_005, 15_015), (10_010, 19_987)]);
}

#[test]
fn long_lines_are_broken_and_long_texts_shown_in_turns() {
    let text = "word ".repeat(200);
    let again = read(&write(&Track::of_cues(vec![cue(60_000, 120_000, &text)]))).unwrap();
    assert_eq!(again.cues.len(), 3);
    let words: usize =
        again.cues.iter().map(|cue| cue.text.as_str().split_ascii_whitespace().count()).sum();
    assert_eq!(words, 200);
    let again =
        read(&write(&Track::of_cues(vec![cue(60_000, 120_000, &"x".repeat(100))]))).unwrap();
    assert_eq!(again.cues[0].text.as_str().replace('\n', ""), "x".repeat(100));
}

#[test]
fn captions_that_roll_up_are_cues_of_their_lines() {
    let track = of(
        "00:00:01:00\t9425 9425 94ad 94ad 9470 9470 e180\n\n00:00:02:00\t94ad 94ad 6280\n\n00:00:03:00\t942c 942c\n",
    );
    assert_eq!(texts(&track), ["a", "a\nb"]);
    assert_eq!(track.cues[1].end.millis(), 3_003);
}

#[test]
fn captions_that_are_painted_are_cues_from_their_first_character() {
    let track = of("00:00:01:00\t9429 9429 9470 9470 e162\n00:00:04:00\t942c\n");
    assert_eq!(texts(&track), ["ab"]);
    assert_eq!((track.cues[0].start.millis(), track.cues[0].end.millis()), (1_134, 4_004));
}

#[test]
fn other_channels_and_text_services_are_not_listened_to() {
    let track = of(
        "00:00:01:00\t9420 9420 9470 9470 e180 1c20 1c20 1c70 6262 942f 942f 942a 942a e3e3\n00:00:04:00\t942c\n",
    );
    assert_eq!(texts(&track), ["a"]);
}

#[test]
fn a_fault_is_named_with_its_line() {
    let error = |text: &str| read(text).unwrap_err().to_string();
    assert_eq!(error("x"), "line 1: the file does not begin with Scenarist_SCC V1.0");
    assert_eq!(
        error("Scenarist_SCC V1.0\n\n00:00:01\t9420"),
        "line 3: the time code `00:00:01` cannot be read"
    );
    assert_eq!(
        error("Scenarist_SCC V1.0\n\n00:00:01:00\t9420 94x0"),
        "line 3: `94x0` is no pair of bytes in four hexadecimal digits"
    );
}

#[test]
fn a_last_caption_that_nothing_takes_away_stays_four_seconds() {
    let track = of("00:00:01:00\t9420 9470 e180 942f");
    assert_eq!(track.cues[0].end.nanos() - track.cues[0].start.nanos(), 4_000_000_000);
}
