//! Files as they are met: written by hand, by other programs and by older ones, odd and legal, or not quite legal and read by every player.

use video_api::caption::{Format, Track, read};

/// A file, its format, and start, end and text of each cue.
struct File {
    what: &'static str,
    bytes: &'static [u8],
    format: Format,
    cues: &'static [(u64, u64, &'static str)],
}

const FILES: &[File] = &[
    // SubRip.
    File {
        what: "SubRip with a mark, CRLF, coordinates and no last line end",
        bytes: b"\xef\xbb\xbf1\r\n00:00:01,000 --> 00:00:02,500 X1:100 X2:200 Y1:1 Y2:2\r\nOne\r\ntwo\r\n\r\n2\r\n00:00:03,000 --> 00:00:04,000\r\nThree",
        format: Format::SubRip,
        cues: &[(1_000, 2_500, "One\ntwo"), (3_000, 4_000, "Three")],
    },
    File {
        what: "SubRip whose lines end twice",
        bytes: b"1\r\r\n00:00:01,000 --> 00:00:02,000\r\r\nOne\r\r\ntwo\r\r\n\r\r\n2\r\r\n00:00:03,000 --> 00:00:04,000\r\r\nThree\r\r\n",
        format: Format::SubRip,
        cues: &[(1_000, 2_000, "One\ntwo"), (3_000, 4_000, "Three")],
    },
    File {
        what: "SubRip with a blank line behind each line",
        bytes: b"1\n\n00:00:01,000 --> 00:00:02,000\n\nOne\n\n42\n\n2\n\n00:00:03,000 --> 00:00:04,000\n\nTwo\n\n",
        format: Format::SubRip,
        cues: &[(1_000, 2_000, "One\n\n42"), (3_000, 4_000, "Two")],
    },
    File {
        what: "SubRip with numbers that repeat, jump and are missing, and many blank lines",
        bytes: b"\n\n7\n0:0:1,0-->0:0:2,0\nOne\n\n\n\n7\n\n00:00:03.000 -->00:00:04.000\nTwo\n\n00:00:05,000 --> 00:00:06,000\n1984\n\n0\n00:00:07,000 --> 00:00:08,000\n\n\n3\n00:00:09,000 --> 00:00:10,000\nLast\n",
        format: Format::SubRip,
        cues: &[
            (1_000, 2_000, "One"),
            (3_000, 4_000, "Two"),
            (5_000, 6_000, "1984"),
            (7_000, 8_000, ""),
            (9_000, 10_000, "Last"),
        ],
    },
    File {
        what: "SubRip without blank lines",
        bytes: b"1\n00:00:01,000 --> 00:00:02,000\nOne\n2\n00:00:03,000 --> 00:00:04,000\nTwo\n00:00:05,000 --> 00:00:06,000\nThree\n",
        format: Format::SubRip,
        cues: &[(1_000, 2_000, "One"), (3_000, 4_000, "Two"), (5_000, 6_000, "Three")],
    },
    File {
        what: "SubRip with tags in any case, crossed and never closed, breaks and codes",
        bytes: b"1\n00:00:01,000 --> 00:00:02,000\n{\\an8}<I>One <B>two</i> three</B><br>{\\i1}four{\\i0} <FONT SIZE=2 COLOR='Red'>five\n\n2\n00:00:03,000 --> 00:00:04,000\n- <u>six\n- a < b > c & d <3\n",
        format: Format::SubRip,
        cues: &[
            (1_000, 2_000, "One two three\nfour five"),
            (3_000, 4_000, "- six\n- a < b > c & d <3"),
        ],
    },
    File {
        what: "SubRip of Windows in Latin-1",
        bytes: b"1\r\n00:00:01,000 --> 00:00:02,000\r\n\xa1Qu\xe9 \x93d\xeda\x94\x85!\r\n",
        format: Format::SubRip,
        cues: &[(1_000, 2_000, "¡Qué “día”…!")],
    },
    // WebVTT.
    File {
        what: "WebVTT of a live stream",
        bytes: b"WEBVTT\nX-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:900000\n\n00:01.000 --> 00:02.000\nOne\n\n00:00:03.000 --> 00:00:04.000\nTwo",
        format: Format::WebVtt,
        cues: &[(1_000, 2_000, "One"), (3_000, 4_000, "Two")],
    },
    File {
        what: "WebVTT with a mark, CR, identifiers, comments and settings of drafts",
        bytes: b"\xef\xbb\xbfWEBVTT\tby hand\r\rNOTE\rof two\rlines\r\rfirst one\r00:01.000\t-->\t00:02.000\talign:middle line:0 D:vertical T:50%\r<c.yellow.bg_blue>One</c>\r\rNOTE\r\r2\r00:03.000 --> 00:04.000\r",
        format: Format::WebVtt,
        cues: &[(1_000, 2_000, "One"), (3_000, 4_000, "")],
    },
    File {
        what: "WebVTT of a speech recognizer, with the time of each word",
        bytes: b"WEBVTT\nKind: captions\nLanguage: en\n\n00:00:00.240 --> 00:00:02.500 align:start position:0%\nso<00:00:00.480><c> here</c><00:00:00.880><c> we</c><00:00:01.000><c> are</c>\n\n00:00:02.500 --> 00:00:02.510 align:start position:0%\nso here we are\n \n",
        format: Format::WebVtt,
        cues: &[(240, 2_500, "so here we are"), (2_500, 2_510, "so here we are\n ")],
    },
    File {
        what: "WebVTT with escapes, voices, arrows and lines that only look like tags",
        bytes: b"WEBVTT\n\nSTYLE\n::cue(v[voice=\"Bob\"]) { color: #fff }\n\n1 - of all\n00:01.000 --> 00:02.000 region:nobody size:abc\n<v.loud Bob>1 &lt; 2 &amp;&amp; 3 &gt; 2&nbsp;&rlm;\nhe & she --- &bogus;\n\n00:03.000 --> 00:04.000\nleft --> right <ruby>a<rt>b</ruby> <unknown>c</unknown> <>d",
        format: Format::WebVtt,
        cues: &[
            (1_000, 2_000, "1 < 2 && 3 > 2\u{a0}\u{200f}\nhe & she --- &bogus;"),
            (3_000, 4_000, "left --> right ab c d"),
        ],
    },
    // SubViewer.
    File {
        what: "SubViewer with blanks beside the comma, long hours and two digits of a second's parts",
        bytes: b"0:00:01.000, 0:00:02.000\r\nOne\r\n>> two\r\n\r\n0:00:03.5,100:00:04.25\r\nThree, 1:00, 2:00\r\n\r\n",
        format: Format::SubViewer,
        cues: &[(1_000, 2_000, "One\n>> two"), (3_500, 360_004_250, "Three, 1:00, 2:00")],
    },
    File {
        what: "SubViewer 2 with its header",
        bytes: b"[INFORMATION]\n[TITLE]\n[AUTHOR]nobody\n[SOURCE]\n[PRG]\n[FILEPATH]\n[DELAY]0\n[CD TRACK]0\n[COMMENT]\n[END INFORMATION]\n[SUBTITLE]\n[COLF]&HFFFFFF,[STYLE]no,[SIZE]18,[FONT]Arial\n00:00:01.00,00:00:02.00\nOne[br]two\n\n00:00:03.00,00:00:04.00\nThree\n\n",
        format: Format::SubViewer,
        cues: &[(1_000, 2_000, "One\ntwo"), (3_000, 4_000, "Three")],
    },
    // TTML.
    File {
        what: "TTML of EBU, with prefixes, frames and nested spans",
        bytes: b"<?xml version='1.0' encoding='UTF-8' standalone='yes'?>\n<!-- made -->\n<tt:tt xmlns:tt='http://www.w3.org/ns/ttml' xmlns:ttp='http://www.w3.org/ns/ttml#parameter' xmlns:tts='http://www.w3.org/ns/ttml#styling' xmlns:ebuttm='urn:ebu:tt:metadata' ttp:timeBase='media' ttp:cellResolution='50 30' xml:lang='en-GB'><tt:head><tt:metadata><ebuttm:documentMetadata><ebuttm:conformsToStandard>urn:x</ebuttm:conformsToStandard></ebuttm:documentMetadata></tt:metadata><tt:styling><tt:style xml:id='s1' tts:color='rgba(255,255,0,255)'/></tt:styling><tt:layout><tt:region xml:id='bottom' tts:origin='10% 10%' tts:extent='80% 80%' tts:displayAlign='after'/></tt:layout></tt:head>\n<tt:body><tt:div><tt:p xml:id='p1' region='bottom' begin='00:00:01.000' end='00:00:02.040'>\n  <tt:span style='s1'>One</tt:span><tt:br/>\n  <tt:span style='s1'>two <tt:span tts:fontStyle='italic'>three</tt:span></tt:span>\n</tt:p></tt:div></tt:body></tt:tt>",
        format: Format::Ttml,
        cues: &[(1_000, 2_040, "One\ntwo three")],
    },
    File {
        what: "TTML in ticks",
        bytes: b"<tt xmlns=\"http://www.w3.org/2006/10/ttaf1\" xmlns:p=\"http://www.w3.org/2006/10/ttaf1#parameter\" p:tickRate=\"10000000\" p:version=\"2\"><body><div xml:space=\"preserve\"><p begin=\"10000000t\" end=\"20400000t\"><span style=\"none\">One</span>\n two</p><p begin=\"30000000t\" dur=\"1.5s\"/></div></body></tt>",
        format: Format::Ttml,
        cues: &[(1_000, 2_040, "One\n two"), (3_000, 4_500, "")],
    },
    File {
        what: "TTML with time codes that count frames",
        bytes: b"<tt xmlns=\"http://www.w3.org/ns/ttml\" xmlns:ttp=\"http://www.w3.org/ns/ttml#parameter\" ttp:timeBase=\"smpte\" ttp:frameRate=\"24\" ttp:frameRateMultiplier=\"1000 1001\" ttp:dropMode=\"nonDrop\"><body begin=\"00:00:10:00\"><div><p begin=\"00:00:00:12\" end=\"00:16:40:00\"><![CDATA[A & B]]></p></div></body></tt>",
        format: Format::Ttml,
        cues: &[(10_511, 1_011_010, "A & B")],
    },
    File {
        what: "TTML in UTF-16 that says so",
        bytes: b"\xff\xfe<\0?\0x\0m\0l\0 \0v\0e\0r\0s\0i\0o\0n\0=\0\"\x001\0.\x000\0\"\0 \0e\0n\0c\0o\0d\0i\0n\0g\0=\0\"\0U\0T\0F\0-\x001\x006\0\"\0?\0>\0<\0t\0t\0>\0<\0b\0o\0d\0y\0>\0<\0p\0 \0b\0e\0g\0i\0n\0=\0'\x001\0s\0'\0 \0e\0n\0d\0=\0'\x002\0s\0'\0>\0\xe9\0<\0/\0p\0>\0<\0/\0b\0o\0d\0y\0>\0<\0/\0t\0t\0>\0",
        format: Format::Ttml,
        cues: &[(1_000, 2_000, "é")],
    },
    // Scenarist.
    File {
        what: "Scenarist as it comes from a captioning desk, in capitals, with an erasure right before it is shown",
        bytes: b"Scenarist_SCC V1.0\r\n\r\n01:02:53:14\t94AE 94AE 9420 9420 9476 9476 97A2 97A2 A820 68EF F26E 2068 EF6E 6BE9 6E67 2029 942C 942C 8080 8080 942F 942F\r\n\r\n01:02:55:14\t942C 942C\r\n\r\n",
        format: Format::Scenarist,
        cues: &[(3_777_907, 3_779_242, "( horn honking )")],
    },
    File {
        what: "Scenarist that rolls up, parted by blanks",
        bytes: b"Scenarist_SCC V1.0\n\n00:00:01;00 9425 9425 94ad 94ad 9470 9470 3e3e 20c8 49ae\n\n00:00:03;00 9425 9425 94ad 94ad 9470 9470 c2d9 45ae\n\n00:00:05;00 942c 942c\n",
        format: Format::Scenarist,
        cues: &[(1_068, 3_070, ">> HI."), (3_070, 5_005, ">> HI.\nBYE.")],
    },
];

fn shape(track: &Track) -> Vec<(u64, u64, &str)> {
    track
        .in_order()
        .into_iter()
        .map(|(_, cue)| (cue.start.millis(), cue.end.millis(), cue.text.as_str()))
        .collect()
}

#[test]
fn files_as_they_are_met_are_read() {
    for File { what, bytes, format, cues } in FILES {
        let (found, track) = read(bytes).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(found, *format, "{what}");
        assert_eq!(shape(&track), *cues, "{what}");
    }
}

#[test]
fn files_as_they_are_met_keep_their_lines_and_times_in_every_other_format() {
    let lines = |text: &str| -> Vec<String> {
        let lines = text.split('\n').map(|line| line.trim().replace(['\u{200b}', '\u{a0}'], ""));
        lines.filter(|line| !line.is_empty()).collect()
    };
    for File { what, bytes, cues, .. } in FILES {
        let (_, track) = read(bytes).unwrap();
        for to in [Format::SubRip, Format::WebVtt, Format::SubViewer, Format::Ttml] {
            let file = to.write(&track);
            let (found, again) =
                read(file.as_bytes()).unwrap_or_else(|e| panic!("{what}: {e}\n{file}"));
            assert_eq!(found, to, "{what}");
            let again = shape(&again);
            assert_eq!(again.len(), cues.len(), "{what} in {}", to.name());
            for (now, then) in again.iter().zip(*cues) {
                assert_eq!(
                    (now.0, now.1, lines(now.2)),
                    (then.0, then.1, lines(then.2)),
                    "{what} in {}",
                    to.name()
                );
            }
        }
    }
}

#[test]
fn files_of_a_newer_ffmpeg_have_the_styles_and_places_that_it_wrote() {
    let (_, srt) = read(include_bytes!("files/styled.srt")).unwrap();
    let (_, ttml) = read(include_bytes!("files/styled.ttml")).unwrap();
    let (_, vtt) = read(include_bytes!("files/styled.vtt")).unwrap();
    let times = |track: &Track| -> Vec<_> {
        shape(track).into_iter().map(|(start, end, _)| (start, end)).collect()
    };
    assert_eq!(times(&srt), times(&ttml));
    assert_eq!(times(&srt), times(&vtt));
    let texts: Vec<_> = srt.cues.iter().map(|cue| cue.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "Plain italic bold under red",
            "Styled top\nsecond line & <tag> > \"q\"",
            "mid overlap",
            "\u{a0}nbsp\u{a0}\n\nblank line",
            "late strike big"
        ]
    );
    // A place that stands within tags, and one before the text.
    let keeps_to = |track: &Track, cue: usize| track.cues[cue].layout.is_some();
    assert!(keeps_to(&srt, 1) && keeps_to(&srt, 2) && !keeps_to(&srt, 4));
    assert!(keeps_to(&ttml, 1));
    let looks = srt.cues[1].text.runs();
    assert!(looks[0][0].style.bold && looks[0][0].style.italic);
    assert_eq!(
        looks[0][0].style.colour.map(|colour| colour.to_string()).as_deref(),
        Some("#ffff00")
    );
}
