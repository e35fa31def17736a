use super::super::layout::{Align, Anchor, Layout, Line, Percent, Vertical};
use super::super::text::{Piece, Tag};
use super::*;

const WHOLE: &str = "WEBVTT A title
Language: en
Kind: captions

REGION
id:fred
width:40%
lines:3
regionanchor:0%,100%
viewportanchor:10%,90%
scroll:up

STYLE
::cue(b) {
  color: red;
}

NOTE one line

intro & more
00:00:01.000 --> 00:00:03.500 region:fred align:start
<v.loud.lime Bob & Co>Hello</v> &amp; <i>it</i> &lt;3
a <c.red.big>line</c> <lang en-GB>colour</lang> <b.b1>x <u.u1><i.i1>y</i></u></b>

NOTE
two
lines

100:00:04.000 --> 100:00:05.000 vertical:rl line:10.5%,end position:20%,line-left size:50% align:right
<ruby>base<rt>text</rt></ruby> <100:00:04.500>later

00:00:09.000 --> 00:00:09.000 line:-2

NOTE last
";

#[test]
fn a_file_with_everything_is_written_as_it_was_but_for_the_order_of_times() {
    let track = read(WHOLE).unwrap();
    assert_eq!(track.title.as_deref(), Some("A title"));
    assert_eq!(track.language.as_deref(), Some("en"));
    assert_eq!(track.header, ["Kind: captions"]);
    assert_eq!(track.cues.len(), 3);
    assert_eq!(track.cues[0].id.as_deref(), Some("intro & more"));
    let written = write(&track);
    let (late, last) = (written.find("NOTE\ntwo").unwrap(), written.find("line:-2").unwrap());
    assert!(last < late, "{written}");
    let sorted: std::collections::BTreeSet<_> = WHOLE.lines().collect();
    let expected: Vec<_> =
        written.lines().map(|line| line.replace("Bob &amp; Co", "Bob & Co")).collect();
    assert_eq!(
        expected.iter().map(String::as_str).collect::<std::collections::BTreeSet<_>>(),
        sorted
    );
    assert_eq!(write(&read(&written).unwrap()), written);
}

#[test]
fn settings_are_read_and_those_that_cannot_be_say_nothing() {
    let layout = |text: &str| setting::parse(text, |id| id == "r");
    assert_eq!(
        layout("line:5,end position:10%,center  size:30%\talign:middle vertical:lr region:r"),
        Layout {
            vertical: Some(Vertical::LeftToRight),
            line: Some(Line::Row(5)),
            position: Some((Percent::of(10_000), Some(Anchor::Center))),
            size: Some(Percent::of(30_000)),
            align: Some(Align::Center),
            region: Some("r".into()),
        }
    );
    assert_eq!(
        layout("line: line:x line:-% position:110% size:5 align:up region:s colour:red :: a"),
        Layout::default()
    );
    assert_eq!(layout("line:1 line:2 line:x").line, Some(Line::Row(2)));
}

#[test]
fn a_fault_is_named_with_its_line() {
    let error = |text: &str| read(text).unwrap_err().to_string();
    assert_eq!(error(""), "line 1: the file does not begin with WEBVTT");
    assert_eq!(error("WEBVTTX\n"), "line 1: the file does not begin with WEBVTT");
    assert_eq!(
        error("WEBVTT\n\na\n00:01.0 -> 00:02.0\n\nb\n00:61.0 --> 0"),
        "line 7: the time code `00:61.0` cannot be read"
    );
}

#[test]
fn a_setting_of_a_region_that_cannot_be_read_says_nothing() {
    let of = |settings: &str| {
        let file = format!("WEBVTT\n\nREGION\n{settings}\n\n00:01.000 --> 00:02.000 region:a\nx\n");
        let track = read(&file).unwrap();
        assert_eq!(track.cues.len(), 1, "{settings}");
        (track.regions, track.cues[0].layout.as_ref().and_then(|layout| layout.region.clone()))
    };
    let plain = of("id:a");
    assert_eq!(plain.1.as_deref(), Some("a"));
    for bad in ["width:140%", "lines:x", "regionanchor:1%", "viewportanchor:1,2", "scroll:down"] {
        assert_eq!(of(&format!("id:a {bad}")), plain, "{bad}");
        let (good, _) = of(&format!("id:a width:40% lines:2 {bad}"));
        assert_eq!((good[0].width.to_string(), good[0].lines), ("40%".to_owned(), 2), "{bad}");
    }
    assert_eq!(of("width:40%"), (Vec::new(), None), "a region without a name is none");
}

#[test]
fn an_arrow_in_a_comment_or_a_style_sheet_makes_no_time_line_of_words() {
    let cue = "00:01.000 --> 00:02.000\na\n";
    for (aside, text) in [
        ("NOTE a --> b", "a --> b"),
        ("NOTE\na --> b", "a --> b"),
        ("NOTE a\nb --> c --> d", "a\nb --> c --> d"),
        ("STYLE\n::cue { /* --> */ }", "::cue { /* --> */ }"),
        ("STYLE \n/* a */\n/* --> */", "/* a */\n/* --> */"),
    ] {
        let track = read(&format!("WEBVTT\n\n{aside}\n\n{cue}")).unwrap();
        assert_eq!((track.cues.len(), track.blocks.len()), (1, 1), "{aside}");
        assert_eq!(track.blocks[0].text, text);
        assert_eq!(read(&write(&track)).unwrap().cues, track.cues, "{aside}");
    }
    // Behind a cue there is no style sheet, and a time within a comment is one.
    assert!(read(&format!("WEBVTT\n\n{cue}\nSTYLE\n/* --> */\n")).is_err());
    assert_eq!(read(&format!("WEBVTT\n\nNOTE\n{cue}")).unwrap().cues.len(), 1);
}

#[test]
fn a_character_reference_of_html_is_its_character_in_every_format() {
    let file =
        "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Andr&eacute;>caf&eacute; &#146;&hellip; &bogus;\n";
    let track = read(file).unwrap();
    assert_eq!(track.cues[0].text.as_str(), "café ’… &bogus;");
    assert!(write(&track).contains("<v André>café ’… &amp;bogus;</v>"));
}

#[test]
fn a_time_line_opens_a_cue_without_a_blank_line_before_it() {
    let track = read("WEBVTT\n00:01.000 --> 00:02.000\na\n00:03.000 --> 00:04.000\nb\n\nNOTE x\ny\n00:05.000 --> 00:06.000\nc").unwrap();
    let texts: Vec<_> = track.cues.iter().map(|cue| cue.text.as_str()).collect();
    assert_eq!(texts, ["a", "b", "c"]);
    assert_eq!(track.blocks[0].text, "x\ny");
}

#[test]
fn an_identifier_may_be_the_word_of_a_block() {
    let track =
        read("WEBVTT\n\nSTYLE\n00:01.000 --> 00:02.000\na\n\nREGION\n00:03.000 --> 00:04.000\n")
            .unwrap();
    assert_eq!(track.cues[0].id.as_deref(), Some("STYLE"));
    assert_eq!(track.cues[1].id.as_deref(), Some("REGION"));
}

#[test]
fn escapes_are_read_and_unknown_ones_are_text() {
    let text = markup::Tags::default()
        .parse("a &amp;&lt;&gt;&nbsp;&lrm;&#65;&#x42;&quot; &x; & &#0; &#10;&#xD800; AT&T");
    assert_eq!(text.as_str(), "a &<>\u{a0}\u{200e}AB\" &x; & \u{fffd} \u{fffd}\u{fffd} AT&T");
    let mut out = String::new();
    markup::write(&text, &mut out);
    assert_eq!(markup::Tags::default().parse(&out), text);
}

#[test]
fn tags_of_other_names_and_tags_without_an_end_say_nothing() {
    let text = markup::Tags::default().parse("<x>a</x><b.big>b</b><1:2:3>c<i");
    assert_eq!(text.as_str(), "abc");
    assert!(text.pieces().any(|piece| piece == Piece::Open(&Tag::Bold)));
}

#[test]
fn classes_stay_on_the_tag_that_they_stand_on() {
    for file in [
        "<v.first.loud Esme>It</v> is <i.a><b.c>a</b> <u.d>blue</u></i> <lang.x en>tree</lang>",
        "<ruby.r>a<rt.t>b</rt></ruby> <c.c><i.i>d</i></c>",
        "<i.lime>a</i><i>b</i>",
    ] {
        let text = markup::Tags::default().parse(file);
        let mut out = String::new();
        markup::write(&text, &mut out);
        assert_eq!(out, file);
    }
    // Tags that cross each keep their own.
    let mut out = String::new();
    markup::write(&markup::Tags::default().parse("<i.a>1<b.c>2</i>3</b>4</i>"), &mut out);
    assert_eq!(out, "<i.a>1<b.c>2</b></i><b.c>3</b>4");
    let lime = markup::Tags::default().parse("<v.lime Esme>x</v>y");
    let colours: Vec<_> = lime.runs()[0].iter().map(|run| run.style.colour).collect();
    assert_eq!(colours, [Some(super::super::colour::Colour::of(0x00_ff00)), None]);
}

#[test]
fn an_annotation_ends_with_its_base() {
    let text = markup::Tags::default().parse("<ruby>a<rt>b</ruby>c");
    let mut out = String::new();
    markup::write(&text, &mut out);
    assert_eq!(out, "<ruby>a<rt>b</rt></ruby>c");
}

#[test]
fn an_arrow_within_a_text_or_a_comment_that_follows_no_time_is_text() {
    let track = read(
        "WEBVTT\n\nNOTE\nthis --> that\n\n00:01.000 --> 00:02.000\nleft --> right\nb\n\n00:03.000 --> 00:04.000\n- x -->\n",
    )
    .unwrap();
    let texts: Vec<_> = track.cues.iter().map(|cue| cue.text.as_str()).collect();
    assert_eq!(texts, ["left --> right\nb", "- x -->"]);
    assert_eq!(track.blocks[0].text, "this --> that");
    let again = read(&write(&track)).unwrap();
    assert_eq!(again.cues[0].text, track.cues[0].text);
    assert!(read("WEBVTT\n\nfoo --> bar\nx\n").is_err());
}

#[test]
fn a_name_that_ends_in_hyphens_makes_no_arrow() {
    let track = read("WEBVTT\n\n00:01.000 --> 00:02.000\n<v a--\n><c.b--\n>x\n").unwrap();
    let written = write(&track);
    assert!(written.contains("<v a-- ><c.b-- >x"), "{written}");
    assert_eq!(write(&read(&written).unwrap()), written);
}

#[test]
fn titles_identifiers_and_comments_never_make_a_time_line() {
    let mut track = read("WEBVTT\n\n00:01.000 --> 00:02.000\na\n").unwrap();
    track.title = Some("a --> b\nc".to_owned());
    track.cues[0].id = Some("x --> y".into());
    track.blocks.push(Block {
        before: 0,
        is_style: false,
        text: "00:01.000 --> 00:02.000\n\nx".to_owned(),
    });
    let again = read(&write(&track)).unwrap();
    assert_eq!(again.cues.len(), 1);
    assert_eq!(again.blocks.len(), 1);
}
