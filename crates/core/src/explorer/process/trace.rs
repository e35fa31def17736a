//! The log of `strace -f -ttt -xx`: the calls of all threads of a process, each with its begin and its end.

use std::collections::BTreeMap;
use std::io::BufRead;

/// Microseconds since 1970, of the clock that clients read as well.
pub type Micros = u64;

/// One call of the system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) name: String,
    pub(super) arguments: Vec<Argument>,
    /// Its answer, negative where it failed; none where the process was killed in it.
    pub(super) result: Option<i64>,
    /// The line of the log with its begin.
    pub(super) line: usize,
}

/// An argument of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Argument {
    /// The bytes of a text or of a buffer.
    Bytes(Vec<u8>),
    /// A number, flags, or a structure, as the log has it.
    Word(String),
}

/// The begin or the end of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Event {
    /// The time at which the process stood still for it: what the call does is done after its begin.
    pub(super) at: Micros,
    /// The number of the call.
    pub(super) call: usize,
    pub(super) is_begin: bool,
}

/// All that one process called.
#[derive(Debug, Default)]
pub struct Trace {
    pub(super) calls: Vec<Call>,
    pub(super) events: Vec<Event>,
}

/// One line of the log.
#[derive(Debug, PartialEq, Eq)]
enum Line<'a> {
    /// A call, with its answer if it came before anything else happened.
    Begins { name: &'a str, arguments: &'a str, end: Option<i64> },
    /// The rest of one.
    Ends { name: &'a str, arguments: &'a str, end: Option<i64> },
    /// A signal, or the end of a thread.
    Other,
}

impl Trace {
    /// Reads a log.
    ///
    /// # Errors
    /// The first line that is none of such a log.
    pub fn read(log: impl BufRead) -> Result<Self, String> {
        let mut trace = Self::default();
        let mut open: BTreeMap<u32, (usize, String)> = BTreeMap::new();
        for (number, line) in (1..).zip(log.lines()) {
            let line = line.map_err(|error| format!("line {number}: {error}"))?;
            let odd = || format!("line {number} is none of strace: {}", shown(&line));
            let (thread, at, text) = stamped(&line).ok_or_else(odd)?;
            match Line::of(text).ok_or_else(odd)? {
                Line::Begins { name, arguments, end } => {
                    let call = trace.calls.len();
                    trace.events.push(Event { at, call, is_begin: true });
                    if end.is_some() {
                        trace.events.push(Event { at, call, is_begin: false });
                    } else {
                        open.insert(thread, (call, arguments.to_owned()));
                    }
                    let arguments = split(arguments);
                    trace.calls.push(Call {
                        name: name.into(),
                        arguments,
                        result: end,
                        line: number,
                    });
                }
                Line::Ends { name, arguments, end } => {
                    let (call, begun) = open.remove(&thread).ok_or_else(odd)?;
                    let whole = trace.calls.get_mut(call).ok_or_else(odd)?;
                    if whole.name != name {
                        return Err(odd());
                    }
                    if end.is_some() {
                        whole.arguments = split(&(begun + arguments));
                        whole.result = end;
                        trace.events.push(Event { at, call, is_begin: false });
                    }
                }
                Line::Other => {}
            }
        }
        Ok(trace)
    }
}

/// The thread, the time and the rest of a line.
fn stamped(line: &str) -> Option<(u32, Micros, &str)> {
    let (thread, rest) = line.split_once(' ')?;
    let (at, text) = rest.trim_start().split_once(' ')?;
    let (seconds, micros) = at.split_once('.')?;
    let at = seconds.parse::<u64>().ok()? * 1_000_000 + micros.parse::<u64>().ok()?;
    Some((thread.parse().ok()?, at, text.trim()))
}

impl<'a> Line<'a> {
    fn of(text: &'a str) -> Option<Self> {
        if text.starts_with("---") || text.starts_with("+++") {
            return Some(Self::Other);
        }
        if let Some(rest) = text.strip_prefix("<... ") {
            let (name, rest) = rest.split_once(" resumed>")?;
            let (arguments, end) = ended(rest)?;
            return Some(Self::Ends { name, arguments, end });
        }
        let (name, rest) = text.split_once('(')?;
        let (arguments, end) = ended(rest)?;
        Some(Self::Begins { name, arguments, end })
    }
}

/// The arguments of a call and its answer, if it has one.
fn ended(text: &str) -> Option<(&str, Option<i64>)> {
    // A line may have a million bytes: it is looked at from its end.
    if let Some(arguments) = unfinished(text) {
        return Some((arguments, None));
    }
    let (arguments, result) = text.rsplit_once(" = ")?;
    let arguments = arguments.trim_end().strip_suffix(')')?;
    // A fault has a name. What strace only has a number for it read from a thread that a kill had ended, whose call may have been made.
    let is_unnamed = result.starts_with("-1 (errno ");
    let result = result.split(' ').next()?;
    if result == "?" || is_unnamed {
        return Some((arguments, None));
    }
    Some((arguments, Some(number(result)?)))
}

/// The arguments of a call that has no answer yet, or never will: its thread went on, was let go, or was gone when strace turned to it.
fn unfinished(text: &str) -> Option<&str> {
    let text = text.strip_suffix(") = ?").unwrap_or(text);
    let (arguments, mark) = text.strip_suffix('>')?.rsplit_once('<')?;
    let is_mark = matches!(mark, "unfinished ..." | "detached ...") || mark.starts_with("ptrace(");
    is_mark.then_some(arguments)
}

/// A number as the log has it.
pub(super) fn number(text: &str) -> Option<i64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok().map(u64::cast_signed),
        None => text.parse().ok(),
    }
}

/// The arguments between the commas that no bracket is around.
fn split(text: &str) -> Vec<Argument> {
    let (mut found, mut word, mut depth, mut rest) = (Vec::new(), String::new(), 0_u32, text);
    while let Some(sign) = rest.chars().next() {
        if depth == 0
            && let Some((bytes, behind)) = quoted(rest)
        {
            found.push(Argument::Bytes(bytes));
            rest = behind.trim_start_matches([',', ' ']);
            continue;
        }
        match sign {
            '[' | '{' | '(' => depth += 1,
            ']' | '}' | ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => found.extend(as_word(&mut word)),
            _ => {}
        }
        if sign != ',' || depth > 0 {
            word.push(sign);
        }
        rest = rest.get(sign.len_utf8()..).unwrap_or_default();
    }
    found.extend(as_word(&mut word));
    found
}

fn as_word(word: &mut String) -> Option<Argument> {
    let word = std::mem::take(word);
    let word = word.trim();
    (!word.is_empty()).then(|| Argument::Word(word.to_owned()))
}

/// The bytes of the text that this begins with, each of them `\x` and two digits, and what is behind it. Nearly all of a log is such texts.
pub(super) fn quoted(text: &str) -> Option<(Vec<u8>, &str)> {
    let inner = text.strip_prefix('"')?;
    let mut bytes = Vec::with_capacity(inner.len() / 4);
    let mut groups = inner.as_bytes();
    while let [b'\\', b'x', high, low, behind @ ..] = groups {
        bytes.push(digit(*high)? << 4 | digit(*low)?);
        groups = behind;
    }
    let end = inner.len() - groups.len();
    Some((bytes, inner.get(end..)?.strip_prefix('"')?))
}

fn digit(sign: u8) -> Option<u8> {
    match sign {
        b'0'..=b'9' => Some(sign - b'0'),
        b'a'..=b'f' => Some(sign - b'a' + 10),
        _ => None,
    }
}

fn shown(line: &str) -> String {
    line.chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &str) -> Argument {
        Argument::Word(text.into())
    }

    fn read(log: &str) -> Trace {
        Trace::read(log.as_bytes()).unwrap()
    }

    #[test]
    fn a_call_has_its_arguments_its_answer_and_its_time() {
        let trace = read("7 1700000000.000012 pwrite64(16, \"\\x61\\x2c\\x22\", 3, 4096) = 3\n");
        let bytes = Argument::Bytes(b"a,\"".to_vec());
        let arguments = vec![word("16"), bytes, word("3"), word("4096")];
        let call = Call { name: "pwrite64".into(), arguments, result: Some(3), line: 1 };
        assert_eq!(trace.calls, [call]);
        let at = 1_700_000_000_000_012;
        let events = [true, false].map(|is_begin| Event { at, call: 0, is_begin });
        assert_eq!(trace.events, events);
    }

    #[test]
    fn a_call_that_others_came_into_begins_and_ends_where_the_log_says() {
        let trace = read(
            "7 1.000001 fsync(14 <unfinished ...>\n8 1.000002 close(3)   = 0\n7 1.000003 <... fsync resumed>) = -1 EIO (Input/output error)\n",
        );
        let calls: Vec<_> = trace.events.iter().map(|event| (event.call, event.is_begin)).collect();
        assert_eq!(calls, [(0, true), (1, true), (1, false), (0, false)]);
        assert_eq!(trace.calls[0].result, Some(-1));
        assert_eq!(trace.calls[0].arguments, [word("14")]);
    }

    #[test]
    fn the_arguments_of_a_call_are_those_of_its_begin_and_those_of_its_end() {
        let trace = read(
            "7 1.000001 read(14,  <unfinished ...>\n7 1.000003 <... read resumed>\"\\x61\", 1024) = 1\n",
        );
        let bytes = Argument::Bytes(b"a".to_vec());
        assert_eq!(trace.calls[0].arguments, [word("14"), bytes, word("1024")]);
    }

    #[test]
    fn what_a_kill_came_into_has_no_answer() {
        let trace = read(
            "7 1.000001 pwrite64(3, \"\\x00\", 1, 0) = ?\n8 1.000002 fsync(4 <unfinished ...>) = ?\n9 1.000002 fsync(5 <unfinished ...>\n9 1.000003 <... fsync resumed> <unfinished ...>) = ?\n8 1.000004 +++ killed by SIGKILL +++\n",
        );
        assert_eq!(trace.calls.len(), 3);
        assert!(trace.calls.iter().all(|call| call.result.is_none()));
        assert!(trace.events.iter().all(|event| event.is_begin));
    }

    #[test]
    fn a_fault_without_a_name_is_no_answer_and_one_with_a_name_is() {
        let trace = read(
            "7 1.000001 pwrite64(3, \"\\x00\", 1, 0 <unfinished ...>\n7 1.000002 <... pwrite64 resumed>) = -1 (errno 18446744073709551598)\n8 1.000003 fsync(4) = -1 EIO (Input/output error)\n",
        );
        assert_eq!((trace.calls[0].result, trace.calls[1].result), (None, Some(-1)));
    }

    #[test]
    fn a_thread_that_strace_has_lost_leaves_its_call_without_an_answer() {
        for mark in ["detached ...", "ptrace(SYSCALL):No such process"] {
            let lost = read(&format!("7 1.000001 pwrite64(3, \"\\x00\", 1, 0 <{mark}>\n"));
            let bytes = Argument::Bytes(vec![0]);
            assert_eq!(lost.calls[0].arguments, [word("3"), bytes, word("1"), word("0")], "{mark}");
            assert_eq!((lost.calls[0].result, lost.events.len()), (None, 1), "{mark}");
            let resumed = format!(
                "7 1.000001 fsync(3 <unfinished ...>\n7 1.000002 <... fsync resumed> <{mark}>\n"
            );
            assert_eq!(read(&resumed).calls[0].result, None, "{mark}");
        }
    }

    #[test]
    fn brackets_and_flags_are_one_argument_each() {
        let iov = "[{iov_base=\"\\x61\", iov_len=1}, {iov_base=\"\\x62\", iov_len=1}]";
        let trace = read(&format!("7 1.000001 writev(3, {iov}, 2) = 2 (DELAYED)\n"));
        assert_eq!(trace.calls[0].arguments, [word("3"), word(iov), word("2")]);
        let open = "7 1.000001 openat(AT_FDCWD, \"\\x2f\\x61\", O_RDWR|O_CREAT, 0666) = 3\n";
        let path = Argument::Bytes(b"/a".to_vec());
        let expected = [word("AT_FDCWD"), path, word("O_RDWR|O_CREAT"), word("0666")];
        assert_eq!(read(open).calls[0].arguments, expected);
    }

    #[test]
    fn a_line_that_is_none_of_such_a_log_is_told() {
        for line in ["nonsense", "7 1.5 fsync", "7 1.000001 <... fsync resumed>) = 0"] {
            assert!(Trace::read(line.as_bytes()).unwrap_err().contains("line 1"), "{line}");
        }
    }
}
