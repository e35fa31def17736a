use std::collections::BTreeSet;

use super::*;

/// A log in words: a line for each call, and the bytes of texts as they are.
fn trace(calls: &str) -> Trace {
    let mut log = String::new();
    for (number, call) in calls.trim().lines().enumerate() {
        let mut is_text = false;
        log += &format!("7 {number}.000000 ");
        for sign in call.trim().chars() {
            is_text ^= sign == '"';
            let is_plain = sign == '"' || !is_text;
            log += &if is_plain { sign.to_string() } else { format!("\\x{:02x}", sign as u32) };
        }
        log.push('\n');
    }
    Trace::read(log.as_bytes()).unwrap()
}

fn content(files: &[(&str, Option<&str>)]) -> Content {
    let own = files.iter().map(|(path, bytes)| (path.into(), bytes.map(|bytes| bytes.into())));
    own.collect()
}

/// Calls, and what is there after them.
type Life<'a> = (&'a str, &'a [(&'a str, Option<&'a str>)]);

fn recording(lives: &[Life<'_>]) -> Recording {
    let lives = lives.iter().map(|(calls, after)| RecordedLife {
        trace: trace(calls),
        ready: 0,
        after: content(after),
    });
    Recording { data: "/tmp/x/data".into(), begins: None, lives: lives.collect() }
}

const FIRST: &str = r#"
    mkdir("/tmp/x/data", 0777) = 0
    openat(AT_FDCWD, "/tmp/x", O_RDONLY) = 4
    fsync(4) = 0
    mkdir("/tmp/x/data/kv", 0777) = 0
    openat(AT_FDCWD, "/tmp/x/data", O_RDONLY) = 5
    fsync(5) = 0
    openat(AT_FDCWD, "/tmp/x/data/kv/journal-1", O_RDWR|O_CREAT|O_EXCL, 0666) = 6
    openat(AT_FDCWD, "/tmp/x/data/kv", O_RDONLY) = 7
    fsync(7) = 0
    pwrite64(6, "one", 3, 0) = 3
    fdatasync(6) = 0
    write(1, "acknowledged", 12) = 12
"#;
/// The second at which the answer is read.
const ACKNOWLEDGED: Micros = 11 * 1_000_000;

fn exploration(states: u64, without: Option<&str>) -> Exploration {
    let without = without.map(|name| MissingSync::named(name).unwrap());
    Exploration { seed: 1, states, without }
}

/// The look at the journal, which is whole where it was acknowledged.
fn look(ended: &Ended) -> Result<(), String> {
    let journal = ended.content.as_ref().and_then(|all| all.get(&PathBuf::from("kv/journal-1")));
    match journal {
        Some(Some(bytes)) if bytes.starts_with(b"one") => Ok(()),
        _ if ended.at < ACKNOWLEDGED => Ok(()),
        other => Err(format!("{other:?}")),
    }
}

/// A first life, and one that writes more, with a call that a kill comes into.
fn two_lives() -> Recording {
    let second = r#"
        openat(AT_FDCWD, "/tmp/x/data/kv/journal-1", O_RDWR) = 6
        pwrite64(6, "two", 3, 3) = 3
        pwrite64(6, "three", 5, 6) = ?
    "#;
    let mut recorded = recording(&[
        (FIRST, &[("kv", None), ("kv/journal-1", Some("one"))]),
        (second, &[("kv", None), ("kv/journal-1", Some("onetwoth"))]),
    ]);
    for event in &mut recorded.lives[1].trace.events {
        event.at += 60 * 1_000_000;
    }
    recorded
}

#[test]
fn what_was_synced_before_it_was_acknowledged_is_in_every_state() {
    let explored = explore_process(&two_lives(), &exploration(200, None), &mut look).unwrap();
    assert_eq!((explored.states, explored.kills), (200, 50));
    assert!(explored.later_lives > 20 && explored.pending_changes > 20, "{explored}");
}

/// A life that begins on a journal of which a cut has left a part of its last frame, and that its start writes anew without it.
fn second_recording(start: &str) -> Recording {
    let begins: &[_] = &[("kv", None), ("kv/journal-1", Some("onetw"))];
    let after: &[_] = &[("kv", None), ("kv/journal-1", Some("one"))];
    let mut recorded = recording(&[(start, after)]);
    recorded.begins = Some(content(begins));
    recorded.lives[0].ready = 60 * 1_000_000;
    recorded
}

/// The look at what was acknowledged before the recording began.
fn look_from_before(ended: &Ended) -> Result<(), String> {
    look(&Ended { end: ended.end, at: ACKNOWLEDGED, content: ended.content.clone() })
}

#[test]
fn a_start_on_what_a_cut_left_keeps_it_wherever_it_is_cut() {
    let start = r#"
        openat(AT_FDCWD, "/tmp/x/data/kv/journal-1.new", O_RDWR|O_CREAT, 0666) = 5
        pwrite64(5, "one", 3, 0) = 3
        fdatasync(5) = 0
        rename("/tmp/x/data/kv/journal-1.new", "/tmp/x/data/kv/journal-1") = 0
    "#;
    let recorded = second_recording(start);
    let explored = explore_process(&recorded, &exploration(100, None), &mut look_from_before);
    assert_eq!(explored.unwrap().starts, 100);
}

#[test]
fn a_start_that_loses_what_an_earlier_cut_left_is_found_where_it_is_cut() {
    let start = r#"
        openat(AT_FDCWD, "/tmp/x/data/kv/journal-1", O_RDWR|O_TRUNC) = 5
        pwrite64(5, "one", 3, 0) = 3
        fdatasync(5) = 0
        write(1, "ready", 5) = 5
    "#;
    let recorded = second_recording(start);
    let found = explore_process(&recorded, &exploration(100, None), &mut look_from_before);
    let lost = found.unwrap_err().lost;
    assert!(lost.iter().all(|lost| lost.change.contains("3 bytes written at 0")), "{lost:?}");
}

#[test]
fn the_cut_in_the_middle_is_one_that_another_recording_may_begin_on() {
    let explored = explore_process(&two_lives(), &exploration(200, None), &mut look).unwrap();
    let middle = explored.middle.unwrap();
    // The sixth of ten: the sync of the name of the journal.
    assert_eq!((middle.end, middle.at), (End::Cut, 8 * 1_000_000));
    let none = explore_process(&two_lives(), &exploration(1, None), &mut look).unwrap();
    assert!(none.middle.is_none(), "the only state is that of a kill");
}

#[test]
fn states_of_a_base_are_those_within_its_making_and_the_going_of_what_it_holds() {
    let base = |number: u32| format!("/tmp/x/data/kv/base-{number:020}");
    let calls = format!(
        r#"{}
        openat(AT_FDCWD, "{old}", O_RDWR|O_CREAT, 0666) = 8
        openat(AT_FDCWD, "{new}.new", O_RDWR|O_CREAT, 0666) = 9
        pwrite64(9, "one", 3, 0) = 3
        fdatasync(9) = 0
        rename("{new}.new", "{new}") = 0
        fsync(7) = 0
        unlink("{old}") = 0
        pwrite64(6, "two", 3, 3) = 3
        rename("/tmp/x/data/kv/journal-1", "/tmp/x/data/kv/journal-1.spare") = 0"#,
        FIRST.trim(),
        old = base(0),
        new = base(1),
    );
    let after: &[_] = &[
        ("kv", None),
        ("kv/journal-1.spare", Some("onetwo")),
        ("kv/base-00000000000000000001", Some("one")),
    ];
    let recorded = recording(&[(&calls, after)]);
    let mut seen = BTreeSet::new();
    let explored = explore_process(&recorded, &exploration(300, None), &mut |ended| {
        seen.insert(ended.at / 1_000_000);
        Ok(())
    })
    .unwrap();
    let outside = seen.len() as u64;
    assert!(outside > 10 && (150..250).contains(&explored.bases), "{outside}, {explored}");
}

#[test]
fn a_sync_that_is_left_out_is_missed_with_the_change_that_is_lost() {
    for (sync, change) in [
        ("a group of the journal", "/data/kv/journal-1: 3 bytes written at 0"),
        ("the name of a segment", "/data/kv: +journal-1"),
        ("the name of the data directory", "/: +data"),
    ] {
        let found = explore_process(&two_lives(), &exploration(200, Some(sync)), &mut look);
        let lost = found.expect_err(sync).lost;
        assert_eq!(lost.iter().map(|lost| &*lost.change).collect::<Vec<_>>(), [change]);
    }
}

#[test]
fn states_have_what_the_seed_lets_survive_of_calls_that_are_under_way() {
    let mut seen = BTreeSet::new();
    explore_process(&two_lives(), &exploration(400, None), &mut |ended| {
        if let Some(all) = &ended.content {
            seen.extend(all.get(&PathBuf::from("kv/journal-1")).cloned());
        }
        Ok(())
    })
    .unwrap();
    let seen: Vec<_> = seen.into_iter().flatten().collect();
    for expected in [&b""[..], b"one", b"onetwo"] {
        assert!(seen.iter().any(|bytes| bytes == expected), "{expected:?} in {seen:?}");
    }
}

#[test]
fn a_sync_covers_what_was_written_before_it_began_and_nothing_later() {
    let calls = format!(
        "{}\n{}",
        FIRST.trim(),
        r#"pwrite64(6, "two", 3, 3) = 3
        fdatasync(6 <unfinished ...>
        pwrite64(6, "three", 5, 6) = 5
        <... fdatasync resumed>) = 0
        pwrite64(6, "four", 4, 11) = 4"#
    );
    // The call within the sync is that of another thread.
    let after: &[_] = &[("kv", None), ("kv/journal-1", Some("onetwothreefour"))];
    let recorded = recording(&[(&calls, after)]);
    let mut shortest = usize::MAX;
    explore_process(&recorded, &exploration(600, None), &mut |ended| {
        if ended.at == 16 * 1_000_000 {
            let all = ended.content.as_ref().unwrap();
            let journal = all.get(&PathBuf::from("kv/journal-1")).unwrap();
            shortest = shortest.min(journal.as_ref().unwrap().len());
        }
        Ok(())
    })
    .unwrap();
    assert_eq!(shortest, 6, "the third write may be missing, and the second not");
}

#[test]
fn a_sync_of_a_number_that_stands_for_another_file_now_covers_nothing() {
    let calls = format!(
        "{}\n{}",
        FIRST.trim(),
        r#"pwrite64(6, "two", 3, 3) = 3
        dup2(1, 6) = 6
        fdatasync(6) = 0
        mkdir("/tmp/x/data/later", 0777) = 0"#
    );
    let after: &[_] = &[("kv", None), ("kv/journal-1", Some("onetwo")), ("later", None)];
    let recorded = recording(&[(&calls, after)]);
    let mut shortest = usize::MAX;
    explore_process(&recorded, &exploration(200, None), &mut |ended| {
        let all = ended.content.iter().flatten();
        let journals = all.filter(|(path, _)| path.ends_with("journal-1"));
        let lengths = journals.filter_map(|(_, bytes)| Some(bytes.as_ref()?.len()));
        shortest = lengths.filter(|_| ended.at == 15 * 1_000_000).fold(shortest, usize::min);
        Ok(())
    })
    .unwrap();
    assert_eq!(shortest, 3, "the second write may be missing");
}

#[test]
fn a_file_that_is_opened_to_be_empty_may_be_that_where_a_kill_comes_into_the_call() {
    for left in ["one", ""] {
        let calls = format!(
            "{}\nopenat(AT_FDCWD, \"/tmp/x/data/kv/journal-1\", O_RDWR|O_TRUNC) = ?",
            FIRST.trim()
        );
        let after: &[_] = &[("kv", None), ("kv/journal-1", Some(left))];
        let recorded = recording(&[(&calls, after)]);
        let mut seen = BTreeSet::new();
        explore_process(&recorded, &exploration(200, None), &mut |ended| {
            let journal =
                ended.content.iter().flatten().find(|(path, _)| path.ends_with("journal-1"));
            seen.extend(journal.and_then(|(_, bytes)| bytes.clone()));
            Ok(())
        })
        .unwrap();
        assert!(seen.contains(&b""[..]) && seen.contains(&b"one"[..]), "{left:?}: {seen:?}");
    }
}

#[test]
fn a_file_with_two_names_is_whole_under_the_one_that_is_on_disk_wherever_it_is_cut() {
    let calls = format!(
        "{}\n{}",
        FIRST.trim(),
        r#"openat(AT_FDCWD, "/tmp/x/data/kv/mark.new", O_RDWR|O_CREAT|O_EXCL, 0600) = 8
        pwrite64(8, "whole", 5, 0) = 5
        fdatasync(8) = 0
        linkat(AT_FDCWD, "/tmp/x/data/kv/mark.new", AT_FDCWD, "/tmp/x/data/kv/mark", 0) = 0
        unlink("/tmp/x/data/kv/mark.new") = 0
        fsync(7) = 0
        write(1, "ready", 5) = 5"#
    );
    let after: &[_] = &[("kv", None), ("kv/journal-1", Some("one")), ("kv/mark", Some("whole"))];
    let mut seen = BTreeSet::new();
    explore_process(&recording(&[(&calls, after)]), &exploration(400, None), &mut |ended| {
        let bytes = |end: &str| {
            let mut all = ended.content.iter().flatten();
            all.find(|(path, _)| path.ends_with(end)).and_then(|(_, bytes)| bytes.clone())
        };
        let (mark, first) = (bytes("kv/mark"), bytes("kv/mark.new"));
        if mark.as_ref().is_some_and(|bytes| bytes != b"whole") {
            return Err("a mark that is not whole".into());
        }
        if ended.at > 17 * 1_000_000 && mark.is_none() {
            return Err("a mark whose name was synced is gone".into());
        }
        seen.insert((mark.is_some(), first.is_some()));
        Ok(())
    })
    .unwrap();
    assert_eq!(seen.len(), 4, "either of its names, both or none: {seen:?}");
}

#[test]
fn a_kill_may_come_into_a_call_that_would_have_failed() {
    for call in [
        r#"unlink("/tmp/x/data/kv/snap.1") = ?"#,
        r#"mkdir("/tmp/x/data/kv", 0777) = ?"#,
        r#"linkat(AT_FDCWD, "/tmp/x/data/kv/gone", AT_FDCWD, "/tmp/x/data/kv/journal-1", 0) = ?"#,
        r#"rename("/tmp/x/data/kv/gone", "/tmp/x/data/kv/journal-1") = ?"#,
    ] {
        let calls = format!("{}\n{call}", FIRST.trim());
        let recorded = recording(&[(&calls, &[("kv", None), ("kv/journal-1", Some("one"))])]);
        explore_process(&recorded, &exploration(20, None), &mut look).expect(call);
    }
}

#[test]
fn a_recording_that_does_not_lead_to_what_is_there_is_refused() {
    let recorded = recording(&[(FIRST, &[("kv", None), ("kv/journal-1", Some("onX"))])]);
    let found = explore_process(&recorded, &exploration(1, None), &mut look).unwrap_err();
    assert!(found.what.contains("kv/journal-1 has 3 bytes"), "{found}");
}

#[test]
fn a_call_without_a_rule_is_refused_where_it_is_about_the_data_directory() {
    for (call, is_refused) in [
        ("mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_SHARED, 6, 0) = 0x7f0000000000", true),
        ("mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_SHARED, 9, 0) = 0x7f0000000000", false),
        ("linkat(AT_FDCWD, \"/tmp/x/data/a\", AT_FDCWD, \"/tmp/x/b\", 0) = 0", true),
        ("linkat(AT_FDCWD, \"/tmp/a\", AT_FDCWD, \"/tmp/b\", 0) = 0", false),
    ] {
        let calls = format!("{}\n{call}", FIRST.trim());
        let recorded = recording(&[(&calls, &[("kv", None), ("kv/journal-1", Some("one"))])]);
        let explored = explore_process(&recorded, &exploration(1, None), &mut look);
        assert_eq!(explored.is_err(), is_refused, "{call}: {explored:?}");
    }
}
