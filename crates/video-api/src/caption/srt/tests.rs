use super::super::layout::{Align, Line};
use super::*;

fn one(text: &str) -> Cue {
    let file = format!("1\n00:00:01,000 --> 00:00:02,000\n{text}\n");
    read(&file).unwrap().cues.remove(0)
}

fn again(file: &str) -> String {
    write(&read(file).unwrap())
}

#[test]
fn a_file_is_read_and_written_as_it_was() {
    let file = "1\n00:00:01,000 --> 00:00:03,500\nHello <i>world</i>\nsecond line\n\n\
                2\n100:00:04,000 --> 100:00:06,000\n{\\an8}<b>Top</b> & <u>under</u> <font color=\"#ff0000\">red</font>\n\n\
                17\n100:00:07,000 --> 100:00:07,000\n\n";
    assert_eq!(again(file), file);
}

#[test]
fn numbers_blank_lines_and_the_last_line_end_may_be_missing() {
    let track =
        read("00:01,5 --> 00:02.25 X1:1 X2:2\r\na\r\n2\r\n00:00:03,000 --> 00:00:04,000\r\nb\r\n\r\n\r\nc").unwrap();
    let texts: Vec<_> = track.cues.iter().map(|cue| cue.text.as_str()).collect();
    assert_eq!(texts, ["a", "b\n\n\nc"]);
    assert_eq!(track.cues[0].end.millis(), 2_250);
}

#[test]
fn a_time_line_begins_a_cue_right_behind_a_text() {
    let track = read(
        "1\n00:00:01,000 --> 00:00:02,000\na\n00:00:03,000 --> 00:00:04,000\nb\n0:99 --> 1:00\nc\n",
    )
    .unwrap();
    let texts: Vec<_> = track.cues.iter().map(|cue| cue.text.as_str()).collect();
    assert_eq!(texts, ["a", "b\n0:99 --> 1:00\nc"]);
}

#[test]
fn a_number_of_its_own_is_kept_and_a_running_one_is_none() {
    let track = read("1\n0:0:1,0 --> 0:0:2,0\na\n\n7\n0:0:1,0 --> 0:0:2,0\n42\n").unwrap();
    assert_eq!(track.cues[0].id, None);
    assert_eq!(track.cues[1].id.as_deref(), Some("7"));
    assert_eq!(track.cues[1].text.as_str(), "42");
}

#[test]
fn a_fault_is_named_with_its_line() {
    let error = |text: &str| read(text).unwrap_err().to_string();
    assert_eq!(
        error("1\n00:00:01,000 --> 00:00:61,000\nx\n"),
        "line 2: the time code `00:00:61,000` cannot be read"
    );
    assert_eq!(error("1\n\nhello\n"), "line 3: text stands before the first time code");
    assert_eq!(error("1\n\n"), "line 2: the file is a transcript without time codes");
    assert_eq!(error("1\n00:00:01,000 -->\n"), "line 2: the time code `` cannot be read");
}

#[test]
fn a_key_of_the_number_pad_is_a_place() {
    let layout = *one("{\\an7}x").layout.unwrap();
    assert_eq!((layout.line, layout.align), (Some(Line::Row(0)), Some(Align::Left)));
    assert_eq!(one("{\\an2}x").layout, None);
    assert!(one("<font face=\"Monospace\">{\\an8}x</font>").layout.is_some());
    // Players look for one in the whole text, and take the first.
    let behind = one("x{\\an8}{\\an1}");
    assert_eq!((behind.text.as_str(), behind.layout.unwrap().line), ("x", Some(Line::Row(0))));
}

#[test]
fn override_codes_are_styles_and_what_a_track_cannot_hold_is_left_out() {
    let cue = one(
        r"{\an8\i1}a{\i0} {\b1\c&H00FF00&}b{\r}c{\fad(100,200)\pos(1,2)\fnArial}d {\frac{1}{2}} {x} {\}",
    );
    assert_eq!(cue.text.as_str(), r"a bcd {\frac{1}{2}} {x} {\}");
    assert_eq!(cue.layout.unwrap().line, Some(Line::Row(0)));
    let runs = cue.text.runs();
    let looks: Vec<_> = runs[0]
        .iter()
        .map(|run| (run.text, run.style.italic, run.style.bold, run.style.colour.is_some()))
        .collect();
    assert_eq!(
        looks[..3],
        [("a", true, false, false), (" ", false, false, false), ("b", false, true, true)]
    );
}

#[test]
fn a_font_without_a_colour_ends_no_colour() {
    let cue = one("<font color=red>a<font size=9>b</font>c</font>d");
    let runs = cue.text.runs();
    let red: Vec<_> = runs[0].iter().map(|run| (run.text, run.style.colour.is_some())).collect();
    assert_eq!(red, [("abc", true), ("d", false)]);
}

#[test]
fn breaks_part_lines_and_what_is_struck_out_stays() {
    assert_eq!(one("a<br>b<BR/>c<br />d <s>e</s>").text.as_str(), "a\nb\nc\nd e");
}

#[test]
fn tags_of_any_case_and_order_are_read_and_others_are_text() {
    let cue = one(
        "<I>a<B>b</i>c</b> <x> 1 < 2 <font size=\"3\">d</font><FONT face=\"x\" COLOR='lime'>e</font><",
    );
    assert_eq!(cue.text.as_str(), "abc <x> 1 < 2 de<");
    let runs = cue.text.runs();
    let styles: Vec<_> = runs[0].iter().map(|run| (run.style.italic, run.style.bold)).collect();
    assert_eq!(&styles[..3], [(true, false), (true, true), (false, true)]);
    assert!(runs[0].iter().any(|run| run.text == "e"
        && run.style.colour == Some(super::super::colour::Colour::of(0x00_ff00))));
}

#[test]
fn text_that_looks_like_a_tag_or_a_time_line_stays_text() {
    for literal in [
        "<i>x</i>",
        "</B>",
        "{\\an8}x",
        "{\\i1}x{\\i0}",
        "<br/>x",
        "a<br>b</s>",
        "<font color=\"red\">",
        "1 < 2",
        "0:01 --> 0:02",
        "00:00:01,0 --> x",
    ] {
        let cue = Cue::new(
            MediaTime::ZERO,
            MediaTime::from_millis(1),
            super::super::text::Text::plain(format!("{literal}\n7\n{literal}")),
        );
        let written = write(&Track::of_cues(vec![cue]));
        let track = read(&written).unwrap();
        assert_eq!(track.cues.len(), 1, "{literal}");
        assert_eq!(
            track.cues[0].text.as_str().replace('\u{200b}', ""),
            format!("{literal}\n7\n{literal}")
        );
        assert_eq!(track.cues[0].text.mark_count(), 0);
        assert_eq!(write(&track), written);
    }
}

#[test]
fn a_hard_space_is_one_where_it_stands_and_a_backslash_of_a_path_is_none() {
    for (written, text) in [
        (r"\hnbsp\h", "\u{a0}nbsp\u{a0}"),
        (r"{\an7}\h\hindented", "\u{a0}\u{a0}indented"),
        (r"one\h\htwo", "one\u{a0}\u{a0}two"),
        (r"<i>\hslanted\h</i>", "\u{a0}slanted\u{a0}"),
        ("a\n\\hb", "a\n\u{a0}b"),
        (r"C:\home", r"C:\home"),
        (r"C:\h", r"C:\h"),
        (r"dir\home\x", r"dir\home\x"),
        (r"\\host\hall", r"\\host\hall"),
    ] {
        assert_eq!(one(written).text.as_str(), text, "{written}");
    }
    for text in [r"\hi", r"x\h", r"a\h\hb", r"\h\h\h", r"C:\home", "é\n\\h"] {
        let cue = Cue::new(
            MediaTime::ZERO,
            MediaTime::from_millis(1),
            super::super::text::Text::plain(text),
        );
        let track = Track::of_cues(vec![cue]);
        let read = read(&write(&track)).unwrap().cues.remove(0);
        assert_eq!(read.text.as_str().replace('\u{200b}', ""), text);
    }
}
