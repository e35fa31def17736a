use super::super::cue::Track;
use super::super::error::{Error, Problem};
use super::super::layout::{Align, Anchor, Line, Percent};
use super::*;

fn body(parameters: &str, body: &str) -> Result<Track, Error> {
    read(&format!(
        "<tt xmlns=\"http://www.w3.org/ns/ttml\" xmlns:tts=\"s\" xmlns:ttp=\"p\" {parameters}>\n<body>{body}</body></tt>"
    ))
}

fn shape(track: &Track) -> Vec<(u64, u64, &str)> {
    track.cues.iter().map(|cue| (cue.start.millis(), cue.end.millis(), cue.text.as_str())).collect()
}

fn time(parameters: &str, text: &str) -> Result<u64, Problem> {
    let track = body(parameters, &format!("<div><p begin=\"{text}\" dur=\"1s\">x</p></div>"));
    track.map(|track| track.cues[0].start.nanos()).map_err(|error| error.problem)
}

#[test]
fn times_are_read_in_clocks_offsets_frames_and_ticks() {
    let ntsc = "ttp:frameRate=\"30\" ttp:frameRateMultiplier=\"1000 1001\"";
    for (parameters, text, nanos) in [
        ("", "00:00:01.5", 1_500_000_000),
        ("", "123:00:01", 442_801_000_000_000),
        ("", "1.5h", 5_400_000_000_000),
        ("", "2m", 120_000_000_000),
        ("", "0.001s", 1_000_000),
        ("", "12.5ms", 12_500_000),
        ("", "00:00:01:15", 1_500_000_000),
        ("", "45f", 1_500_000_000),
        ("", "3t", 3_000_000_000),
        ("ttp:frameRate=\"25\"", "00:00:00:05", 200_000_000),
        ("ttp:frameRate=\"25\" ttp:subFrameRate=\"4\"", "00:00:00:05.2", 220_000_000),
        ("ttp:frameRate=\"25\" ttp:subFrameRate=\"2\"", "50t", 1_000_000_000),
        ("ttp:tickRate=\"10000000\"", "12345678t", 1_234_567_800),
        (ntsc, "30f", 1_001_000_000),
        ("ttp:frameRate=\"30\" ttp:frameRateMultiplier=\"1000:1001\"", "30f", 1_001_000_000),
        ("ttp:timeBase=\"smpte\" ttp:dropMode=\"dropNTSC\"", "00:01:00:02", 60_060_000_000),
        ("ttp:timeBase=\"smpte\" ttp:dropMode=\"dropNTSC\"", "01:00:00", 3_599_996_400_000),
        (
            "ttp:timeBase=\"smpte\" ttp:frameRateMultiplier=\"1000 1001\"",
            "01:00:00:00",
            3_603_600_000_000,
        ),
        (
            "ttp:timeBase=\"smpte\" ttp:frameRateMultiplier=\"1000 1001\"",
            "00:00:10.5",
            10_510_500_000,
        ),
        ("ttp:timeBase=\"smpte\" ttp:frameRate=\"25\"", "00:00:01:05", 1_200_000_000),
        (
            "ttp:timeBase=\"smpte\" ttp:frameRate=\"30\" ttp:dropMode=\"dropPAL\" ttp:frameRateMultiplier=\"1000 1001\"",
            "00:02:00:04",
            120_120_000_000,
        ),
    ] {
        assert_eq!(time(parameters, text), Ok(nanos), "{parameters} {text}");
    }
}

#[test]
fn times_and_rates_that_cannot_be_read_are_refused() {
    for text in [
        "",
        "1",
        "1x",
        "-1s",
        "1.s",
        "1:00",
        "00:60:00",
        "00:00:01,5",
        "99999999999999h",
        "1e3s",
        "wallclock(1)",
        "00:00:00:00:00",
    ] {
        assert_eq!(time("", text), Err(Problem::Time(text.chars().take(40).collect())), "{text}");
    }
    for rate in
        ["frameRate=\"0\"", "tickRate=\"-1\"", "frameRateMultiplier=\"1000\"", "subFrameRate=\"x\""]
    {
        assert!(matches!(time(&format!("ttp:{rate}"), "1s"), Err(Problem::Rate(_))), "{rate}");
    }
}

#[test]
fn times_are_nested_and_limited_by_those_around_them() {
    let track = body(
        "",
        "<div begin=\"10s\" end=\"20s\"><p begin=\"1s\" end=\"3s\">a</p><p begin=\"5s\" dur=\"100s\">b</p><p>c</p>\
         <p begin=\"1s\" dur=\"5s\" end=\"2s\">d</p></div>",
    );
    assert_eq!(
        shape(&track.unwrap()),
        [
            (11_000, 13_000, "a"),
            (15_000, 20_000, "b"),
            (10_000, 20_000, "c"),
            (11_000, 12_000, "d")
        ]
    );
}

#[test]
fn children_of_a_sequence_follow_each_other() {
    let track = body(
        "",
        "<div timeContainer=\"seq\"><p dur=\"1s\">a</p><p begin=\"1s\" dur=\"1s\">b</p><p dur=\"2s\">c</p></div>\
         <div begin=\"10s\" timeContainer=\"seq\"><p timeContainer=\"seq\"><span dur=\"1s\">d</span><span dur=\"1s\">e</span></p>\
         <p dur=\"1s\">f</p></div>",
    );
    assert_eq!(
        shape(&track.unwrap()),
        [
            (0, 1_000, "a"),
            (2_000, 3_000, "b"),
            (3_000, 5_000, "c"),
            (10_000, 11_000, "d"),
            (11_000, 12_000, "e"),
            (12_000, 13_000, "f")
        ]
    );
}

#[test]
fn a_span_with_times_is_a_cue_of_its_own() {
    let track = body(
        "",
        "<div><p begin=\"1s\" end=\"9s\">all <span begin=\"2s\" end=\"3s\">now</span></p></div>",
    )
    .unwrap();
    assert_eq!(shape(&track), [(3_000, 4_000, "now"), (1_000, 9_000, "all")]);
}

#[test]
fn what_is_not_displayed_hidden_or_ended_by_what_is_around_it_is_no_cue() {
    let head = r#"<head><styling><style xml:id="off" tts:display="none"/></styling><layout>
        <region xml:id="gone" tts:display="none"/><region xml:id="dim"><style tts:visibility="hidden"/></region></layout></head>"#;
    let shown = |content: &str| {
        let text = format!(
            r#"<tt xmlns="http://www.w3.org/ns/ttml" xmlns:tts="http://www.w3.org/ns/ttml#styling">{head}<body>{content}</body></tt>"#
        );
        let track = read(&text).unwrap();
        track.cues.iter().map(|cue| cue.text.as_str().to_owned()).collect::<Vec<_>>()
    };
    for hidden in [
        r#"<div><p begin="1s" end="2s" tts:display="none">no</p></div>"#,
        r#"<div tts:display="none"><p begin="1s" end="2s" tts:display="auto">no</p></div>"#,
        r#"<div><p begin="1s" end="2s" style="off">no</p></div>"#,
        r#"<div><p begin="1s" end="2s" tts:visibility="hidden">no</p></div>"#,
        r#"<div><p begin="1s" end="2s"><span tts:visibility="hidden">no</span></p></div>"#,
        r#"<div region="gone"><p begin="1s" end="2s">no</p></div>"#,
        r#"<div><p begin="1s" end="2s" region="dim">no</p></div>"#,
        r#"<div end="10s"><p begin="20s" end="25s">no</p></div>"#,
        r#"<div end="10s"><p begin="10s"><span begin="1s">no</span></p></div>"#,
    ] {
        let beside = r#"<div><p begin="30s" end="31s">yes</p></div>"#;
        assert_eq!(shown(&format!("{hidden}{beside}")), ["yes"], "{hidden}");
    }
    let parts = r#"<div><p begin="1s" end="2s" tts:visibility="hidden">a<span tts:visibility="visible">b</span>c</p></div>"#;
    assert_eq!(shown(parts), ["b"]);
    let cut = r#"<div end="10s"><p begin="9s" end="25s">yes</p></div>"#;
    assert_eq!(shown(cut), ["yes"]);
    let brief = r#"<div><p begin="9s" end="9s"><span>without length</span></p></div>"#;
    assert_eq!(shown(brief), ["without length"], "as it was written");
}

#[test]
fn an_end_that_is_missing_is_the_next_start() {
    let track = body("", "<div><p begin=\"1s\">a</p><p begin=\"3s\">b</p></div>").unwrap();
    assert_eq!(shape(&track), [(1_000, 3_000, "a"), (3_000, 7_000, "b")]);
}

#[test]
fn blanks_collapse_unless_they_are_to_be_preserved() {
    let text = |inner: &str| {
        body("", &format!("<div><p begin=\"1s\">{inner}</p></div>")).unwrap().cues[0]
            .text
            .as_str()
            .to_owned()
    };
    assert_eq!(text("\n  a\n  b <br/>\n <span> c</span> <span> d </span>  "), "a b\nc d");
    assert_eq!(text("<span xml:space=\"preserve\"> a  b\n</span> c"), " a  b\nc");
    assert_eq!(
        text("a<!-- x -->b<![CDATA[<c>]]>&amp;&#x41;&#10;<metadata>no</metadata>"),
        "ab<c>&A"
    );
    assert_eq!(text("a<br/><br/>b"), "a\n\nb");
}

#[test]
fn styles_come_from_attributes_references_regions_and_parents() {
    let file = r##"<tt xmlns="http://www.w3.org/ns/ttml" xmlns:tts="s" xml:lang="en"><head><styling>
        <style xml:id="b" style="a" tts:fontWeight="bold"/><style xml:id="a" tts:fontStyle="italic" tts:color="#ff0000"/>
        <style xml:id="loop" style="loop b"/></styling>
        <layout><region xml:id="r" tts:textDecoration="underline"><style tts:color="blue"/></region></layout></head>
        <body><div tts:fontStyle="oblique"><p begin="1s">x<span style="b" tts:fontStyle="normal">y</span></p></div>
        <div><p begin="2s" style="loop">x</p><p begin="3s" region="r">x<span tts:textDecoration="noUnderline" xml:lang="fr">y</span></p></div></body></tt>"##;
    let track = read(file).unwrap();
    let style = |cue: usize, run: usize| {
        let style = track.cues[cue].text.runs()[0][run].style;
        (style.italic, style.bold, style.underline, style.colour.map(|colour| colour.to_string()))
    };
    assert_eq!(style(0, 0), (true, false, false, None));
    assert_eq!(style(0, 1), (false, true, false, Some("#ff0000".to_owned())));
    assert_eq!(style(1, 0), (true, true, false, Some("#ff0000".to_owned())));
    assert_eq!(style(2, 0), (false, false, true, Some("#0000ff".to_owned())));
    assert_eq!(style(2, 1), (false, false, false, Some("#0000ff".to_owned())));
    assert!(write(&track).contains("<span xml:lang=\"fr\" tts:color=\"#0000ff\">y</span>"));
}

#[test]
fn regions_are_places_in_percent_pixels_and_cells() {
    let layout = |root: &str, region: &str, p: &str| {
        let file = format!(
            "<tt xmlns:tts=\"s\" {root}><head><layout><region xml:id=\"r\" {region}/></layout></head>\
             <body><div><p begin=\"1s\" region=\"r\" {p}>x</p></div></body></tt>"
        );
        read(&file).unwrap().cues.remove(0).layout.map(|layout| *layout)
    };
    let top = layout("", "tts:origin=\"10% 10%\" tts:extent=\"80% 20%\"", "tts:textAlign=\"left\"")
        .unwrap();
    assert_eq!(top.line, Some(Line::At(Percent::of(10_000), Anchor::Start)));
    assert_eq!(top.position, Some((Percent::of(10_000), None)));
    assert_eq!((top.size, top.align), (Some(Percent::of(80_000)), Some(Align::Left)));
    let pixels = layout(
        "tts:extent=\"200px 100px\"",
        "tts:origin=\"0px 50px\" tts:extent=\"200px 40px\" tts:displayAlign=\"after\"",
        "",
    )
    .unwrap();
    assert_eq!(pixels.line, Some(Line::At(Percent::of(90_000), Anchor::End)));
    let cells = layout(
        "ttp:cellResolution=\"40 20\"",
        "tts:origin=\"0c 5c\" tts:extent=\"40c 10c\" tts:displayAlign=\"center\"",
        "",
    )
    .unwrap();
    assert_eq!(cells.line, Some(Line::At(Percent::of(50_000), Anchor::Center)));
    let placed = "tts:position=\"center bottom 10%\" tts:origin=\"0% 0%\" tts:extent=\"80% 20%\"";
    let placed = layout("", placed, "").unwrap();
    assert_eq!(placed.line, Some(Line::At(Percent::of(72_000), Anchor::Start)));
    assert_eq!(placed.position, Some((Percent::of(50_000), None)));
    assert_eq!(layout("", "tts:displayAlign=\"after\"", "tts:textAlign=\"center\""), None);
}

#[test]
fn what_is_no_caption_document_is_refused_with_its_line() {
    let error = |text: &str| read(text).unwrap_err();
    assert_eq!(error("<x/>").problem, Problem::Root);
    assert_eq!(error("").problem, Problem::Root);
    assert_eq!(error("<tt/><tt/>").problem, Problem::Root);
    assert_eq!(
        error("<?xml version=\"1.0\"?>\n<!DOCTYPE tt [<!ENTITY a \"b\">]>\n<tt/>"),
        Error { line: 2, problem: Problem::DocumentType }
    );
    assert_eq!(
        error("<tt><body><div>\n<p begin='1s'>&lol;</p></div></body></tt>"),
        Error { line: 2, problem: Problem::Entity("lol".to_owned()) }
    );
    assert!(matches!(error("<tt>\n\n<body></tt>"), Error { line: 3, problem: Problem::Xml(_) }));
    assert!(matches!(error("<tt><body>").problem, Problem::Xml(_)));
    assert_eq!(error(&"<tt>".repeat(1_000)).problem, Problem::TooDeep);
    assert_eq!(error("<tt><body><div>\n<p>x</p></div></body></tt>").problem, Problem::NoTimeCodes);
    assert_eq!(
        error("<tt><body><div>\n<p\nbegin='1'>x</p></div></body></tt>"),
        Error { line: 2, problem: Problem::Time("1".to_owned()) }
    );
}

#[test]
fn styles_that_name_each_other_many_times_cost_no_more_than_their_names() {
    let styles: String = (0..60)
        .map(|n| {
            format!("<style xml:id=\"s{n}\" style=\"{}\"/>", format!("s{} ", n + 1).repeat(10))
        })
        .collect();
    let file = format!(
        "<tt><head><styling>{styles}<style xml:id=\"s60\" fontStyle=\"italic\"/></styling></head>\
         <body><div><p begin=\"1s\" style=\"s0\">x</p></div></body></tt>"
    );
    assert!(read(&file).unwrap().cues[0].text.runs()[0][0].style.italic);
}

#[test]
fn a_document_is_written_with_its_title_language_identifiers_and_regions() {
    let vtt = "WEBVTT The \"title\"\nLanguage: en\n\nREGION\nid:fred\nwidth:40%\nlines:3\nregionanchor:0%,100%\nviewportanchor:10%,90%\n\n\
               one\n00:01.000 --> 00:02.000 line:10% position:20% align:start\na <i>b &lt;</i>\n\n\
               one\n00:03.000 --> 00:04.000 region:fred\n  spaced  \n\n1st\n00:05.000 --> 00:06.000 vertical:rl line:70%,end\nx\n";
    let track = super::super::vtt::read(vtt).unwrap();
    let written = write(&track);
    for part in [
        "xml:lang=\"en\"",
        "<ttm:title>The &quot;title&quot;</ttm:title>",
        "<region xml:id=\"region.1\" tts:origin=\"20% 10%\" tts:extent=\"80% 90%\" tts:displayAlign=\"before\"/>",
        "<p xml:id=\"one\" begin=\"00:00:01.000\" end=\"00:00:02.000\" region=\"region.1\" tts:textAlign=\"start\">a <span tts:fontStyle=\"italic\">b &lt;</span></p>",
        "xml:space=\"preserve\">  spaced  </p>",
        "tts:writingMode=\"tbrl\"",
    ] {
        assert!(written.contains(part), "{part} is not in\n{written}");
    }
    let again = read(&written).unwrap();
    assert_eq!(again.title.as_deref(), Some("The \"title\""));
    assert_eq!(write(&again), written);
    assert_eq!(
        again.cues[0].layout.as_ref().unwrap().extent(),
        track.cues[0].layout.as_ref().unwrap().extent()
    );
    assert_eq!(
        again.cues[2].layout.as_ref().unwrap().line,
        track.cues[2].layout.as_ref().unwrap().line
    );
}
