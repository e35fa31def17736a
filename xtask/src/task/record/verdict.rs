//! Differences of the engine from the browser, by class; and those among them that the browser itself has now so and now so.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Result, bail};

use super::chromium::Chromium;
use super::contract::Contract;
use super::mismatch::Mismatch;
use super::recording::Recording;
use super::scenario::Scenario;
use super::trace::Trace;
use super::{Arguments, record_once, show, shrink};

/// Mismatches by the place of their recording.
type Mismatches = BTreeMap<usize, Mismatch>;

/// Replays what is stable, records again what differs, and prints mismatches by class, the shortest scenario first. Of what was recorded once, all is
/// replayed, and nothing recorded again.
///
/// # Errors
/// If the browser cannot be asked again, or says how many scenarios the engine does otherwise.
pub(super) fn judge(
    recordings: &mut [Recording],
    engine: &Contract,
    arguments: &Arguments,
    out: &Path,
) -> Result<()> {
    let judged = judged(recordings, arguments.runs);
    let mut mismatches = mismatches(recordings, &judged, engine);
    let word = if arguments.runs > 1 { "stable" } else { "recorded once" };
    let share = share(judged.len(), mismatches.len());
    println!("{} scenarios, {} {word}, {share}", recordings.len(), judged.len());
    if arguments.runs > 1 && arguments.again > 0 && !mismatches.is_empty() {
        let unsteady = ask_again(recordings, &mismatches, arguments.again, out)?;
        for place in &unsteady {
            mismatches.remove(place);
        }
        let stable = judged.len() - unsteady.len();
        let share = self::share(stable, mismatches.len());
        println!("recorded {} times more: {stable} stable, {share}", arguments.again);
    }
    let mut classes: Classes<'_> = BTreeMap::new();
    for (place, mismatch) in &mismatches {
        let Some(recording) = recordings.get(*place) else { continue };
        let class = classes.entry(mismatch.class.as_str()).or_default();
        class.push((&recording.scenario, mismatch));
    }
    report(classes, engine, arguments.shrink)?;
    if !mismatches.is_empty() {
        bail!("the engine does {} scenarios otherwise than the browser", mismatches.len());
    }
    Ok(())
}

/// The places of what is judged: of what was recorded several times, that which the browser did the same each time.
fn judged(recordings: &[Recording], runs: usize) -> Vec<usize> {
    let mut judged = Vec::new();
    for (place, recording) in recordings.iter().enumerate().filter(|(_, one)| !one.runs.is_empty())
    {
        if runs > 1 && !recording.is_stable() {
            println!("not stable: {}", recording.scenario.name);
        } else {
            judged.push(place);
        }
    }
    judged
}

fn mismatches(recordings: &[Recording], places: &[usize], engine: &Contract) -> Mismatches {
    let of = |place: &usize| {
        let recording = recordings.get(*place)?;
        Some((*place, mismatch(&recording.scenario, recording.runs.first()?, engine)?))
    };
    places.iter().filter_map(of).collect()
}

/// The first difference of what the engine does from a recorded run.
fn mismatch(scenario: &Scenario, run: &Trace, engine: &Contract) -> Option<Mismatch> {
    match Trace::take(engine, scenario) {
        Ok(replayed) => Mismatch::first(scenario, run, &replayed),
        Err(error) => {
            let (wanted, got) = ("a recording".to_owned(), error.to_string());
            Some(Mismatch { class: "not replayed".to_owned(), step: 0, wanted, got })
        }
    }
}

/// Records again what differs, by a fresh browser each time. Gives the places of those that the browser then did in another way.
fn ask_again(
    recordings: &mut [Recording],
    mismatches: &Mismatches,
    times: usize,
    out: &Path,
) -> Result<Vec<usize>> {
    let mut places: Vec<_> = mismatches.keys().copied().collect();
    for time in 0..times {
        record_once(recordings, &places, out, &format!("again {} of {times}", time + 1))?;
        places.reverse();
    }
    places.sort_unstable();
    let unsteady = |place: &usize| recordings.get(*place).is_some_and(|one| !one.is_stable());
    places.retain(unsteady);
    for recording in places.iter().filter_map(|place| recordings.get(*place)) {
        println!("not stable after all: {}", recording.scenario.name);
    }
    Ok(places)
}

/// The share of what passes, in words.
fn share(judged: usize, missed: usize) -> String {
    let passed = judged - missed;
    let permille = (passed * 1_000 + judged / 2).checked_div(judged).unwrap_or(0);
    format!("{passed} pass: {}.{} %", permille / 10, permille % 10)
}

type Classes<'recordings> =
    BTreeMap<&'recordings str, Vec<(&'recordings Scenario, &'recordings Mismatch)>>;

fn report(classes: Classes<'_>, engine: &Contract, shrinks: usize) -> Result<()> {
    let mut classes: Vec<_> = classes.into_iter().collect();
    for (_, found) in &mut classes {
        found.sort_by_key(|(scenario, mismatch)| (mismatch.step, scenario.name.clone()));
    }
    classes.sort_by_key(|(_, found)| found.first().map(|(_, mismatch)| mismatch.step));
    let browser = if shrinks > 0 && !classes.is_empty() { Some(Chromium::start()?) } else { None };
    for (at, (class, found)) in classes.iter().enumerate() {
        let names: Vec<_> = found
            .iter()
            .map(|(scenario, mismatch)| format!("{}#{}", scenario.name, mismatch.step))
            .collect();
        println!("\n{} x {class}\n  in {}", found.len(), names.join(", "));
        let Some((scenario, mismatch)) = found.first() else { continue };
        let mut shown = ((*scenario).clone(), (*mismatch).clone());
        if let Some(browser) = browser.as_ref().filter(|_| at < shrinks) {
            let judge = |candidate: &Scenario| {
                let wanted = Trace::take(&browser.contract, candidate)?;
                let got = Trace::take(engine, candidate)?;
                Ok(Mismatch::first(candidate, &wanted, &got))
            };
            shown = shrink::shrink(scenario, mismatch, judge)?;
        }
        let (scenario, mismatch) = shown;
        println!(
            "{}\n  step {}:\n    browser {}\n    engine  {}",
            show::steps(&scenario),
            mismatch.step,
            mismatch.wanted,
            mismatch.got
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_rounded_to_a_tenth() {
        assert_eq!(share(0, 0), "0 pass: 0.0 %");
        assert_eq!(share(109, 1), "108 pass: 99.1 %");
        assert_eq!(share(3, 1), "2 pass: 66.7 %");
        assert_eq!(share(4, 0), "4 pass: 100.0 %");
    }
}
