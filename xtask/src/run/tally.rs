//! Sums of what test runners say they ran, in which a skipped test is never a passed one.

use anyhow::{Result, bail};

/// Sums what `cargo test` says of each of its programs.
///
/// # Errors
/// If no test ran, or one was ignored.
pub(crate) fn cargo_tests(text: &str) -> Result<String> {
    let count = |word: &str| -> u64 {
        let results = text.lines().filter(|line| line.starts_with("test result: "));
        let parts = results.flat_map(|line| line.split([';', '.']));
        parts.filter_map(|part| part.trim().strip_suffix(word)?.trim().parse::<u64>().ok()).sum()
    };
    let (passed, ignored) = (count("passed"), count("ignored"));
    if passed == 0 {
        bail!("no test ran");
    }
    if ignored > 0 {
        bail!(
            "{passed} tests passed, but {ignored} were ignored: an ignored test is not a passed one"
        );
    }
    Ok(format!("{passed} tests passed"))
}

/// The number of checks that a run of unittest or of node's test runner passed.
///
/// # Errors
/// If a check was skipped or none ran: neither shows anything.
pub(crate) fn client_checks(text: &str) -> Result<u64> {
    let number = |start: &str| {
        text.lines().rev().find_map(|line| {
            line.strip_prefix(start)?
                .split(|c: char| !c.is_ascii_digit())
                .next()?
                .parse::<u64>()
                .ok()
        })
    };
    let skipped = text
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("OK (")?.split("skipped=").nth(1))
        .and_then(|rest| rest.trim_end_matches(')').parse().ok())
        .or_else(|| Some(number("# skipped ")? + number("# todo ")?))
        .unwrap_or(0);
    if skipped > 0 {
        bail!("{skipped} checks were skipped: a skipped check is not a passed one");
    }
    match number("Ran ").or_else(|| number("# pass ")) {
        None | Some(0) => bail!("no check ran"),
        Some(count) => Ok(count),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passed_tests_are_summed_and_an_ignored_one_is_a_failure() {
        let line = |passed, ignored| {
            format!(
                "test result: ok. {passed} passed; 0 failed; {ignored} ignored; 0 measured; 0 filtered out; finished in 0.01s\n"
            )
        };
        assert_eq!(cargo_tests(&(line(3, 0) + &line(4, 0))).unwrap(), "7 tests passed");
        assert!(cargo_tests(&(line(3, 0) + &line(4, 1))).is_err());
        assert!(cargo_tests("").is_err());
    }

    #[test]
    fn checks_are_counted_as_the_runner_says() {
        assert_eq!(client_checks("Ran 12 tests in 0.1s\n\nOK\n").unwrap(), 12);
        assert_eq!(
            client_checks("# tests 3\n# pass 3\n# fail 0\n# skipped 0\n# todo 0\n").unwrap(),
            3
        );
    }

    #[test]
    fn a_skipped_check_is_not_a_passed_one() {
        assert!(client_checks("Ran 12 tests in 0.1s\n\nOK (skipped=1)\n").is_err());
        assert!(client_checks("# pass 3\n# skipped 1\n# todo 0\n").is_err());
        assert!(client_checks("# pass 3\n# skipped 0\n# todo 2\n").is_err());
        assert!(client_checks("Ran 0 tests in 0.0s\n\nOK\n").is_err());
        assert!(client_checks("").is_err());
    }
}
