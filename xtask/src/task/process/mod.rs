//! The services as whole processes, the files of sled and redb included: `strace` records every call of a real binary under load, over a kill, a stop and
//! another kill, and the binary is started on states that a kill or a power cut could have left at any of these calls. One of the cuts goes on: a second
//! recording begins on what it left. Part of `cargo xtask crash`, driven by `crates/core/examples/process_states.rs` and by the writers of `tests/crash`.

mod job;

use std::process::Command;

use anyhow::{Result, bail, ensure};

use self::job::{EXAMPLE, Job, LeftOut};
use crate::run::at_once::at_once;
use crate::run::progress;
use crate::run::service::{SERVICES, Service};
use crate::run::workspace::cargo;
use crate::run::{clients, features, writer};
use crate::task::e2e;

/// The program that records.
const STRACE: &str = "strace";
/// The trees of the records, of which the first is the services' own choice.
pub(crate) const TREES: [&str; 2] = ["sled", "redb"];
/// The states of each writer in the full form, on each tree.
const STATES_FULL: u64 = 20;
/// States of one recording and of that which goes on from it: there are several of a writer.
const STATES_OF_RECORDING: u64 = 20;
/// States within which a sync that is left out has to be missed.
const STATES_WITHOUT: u64 = 200;
/// Writes of each life in the short form, and its states of each service.
const WRITES_SHORT: u64 = 8;
const STATES_SHORT: u64 = 4;
/// The service that goes on after a cut in the short form, and its states of that: one that may lose nothing that it acknowledged, so that all of it has to
/// be there after the second cut.
const GOES_ON_SHORT: &str = "object";
const STATES_AFTER_CUT_SHORT: u64 = 2;
/// Syncs that are left out in the full form, with the writer that misses them: those of the files and of the directories of every service, of bases, and
/// after a cut. That of redb's file counts between a clean stop and the next start alone, which 200 states of a process did not meet: the explorer of the
/// simulated disk does.
const LEFT_OUT: [(&str, LeftOut); 8] = [
    ("object_put", LeftOut::of("a group of the journal", "sled")),
    ("object_put", LeftOut::of("a pack of bodies", "sled")),
    ("object_put", LeftOut::of("the name of a pack of bodies", "sled")),
    ("video_api", LeftOut::of("a group of the journal", "sled")),
    ("video_api", LeftOut::of("a pack of long values", "sled")),
    ("tabs_api", LeftOut::of("a base", "sled")),
    ("tabs_api", LeftOut::of("the name of a base", "sled")),
    ("object_put", LeftOut::of("a group of the journal", "sled").after_cut()),
];

/// The states that are asked for.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// States of each writer.
    pub states: u64,
    /// One service alone.
    pub only: Option<String>,
    /// The tree of the records.
    pub tree: &'static str,
    /// The seed of the first recording.
    pub seed: u64,
    /// The sync that is left out of the recording, and has to be missed.
    pub without: Option<String>,
    /// Set if that is the recording which goes on from a cut.
    pub after_cut: bool,
}

/// Builds, and looks at so many states of each writer's process.
///
/// # Errors
/// Whatever was found, or that nothing can be recorded here.
pub(crate) fn run(asked: &Asked) -> Result<()> {
    ensure_recordable()?;
    e2e::build()?;
    clients::install_packages()?;
    build()?;
    let jobs = jobs(asked);
    if jobs.is_empty() {
        bail!("no service has states to look at: --only {:?}, {} states", asked.only, asked.states);
    }
    for said in at_once(jobs, |job| job.run())? {
        println!("ok      {said}");
    }
    Ok(())
}

/// The full form, of `soak`: states of every writer on every tree, and syncs that are left out.
///
/// # Errors
/// As [`run`].
pub(crate) fn full() -> Result<String> {
    for tree in TREES {
        let (states, only, without) = (STATES_FULL, None, None);
        run(&Asked { states, only, tree, seed: 1, without, after_cut: false })?;
    }
    let left_out = LEFT_OUT.into_iter().filter_map(|(writer, left_out)| {
        let (service, _) = all_writers().into_iter().find(|(_, own)| own == writer)?;
        Some(Job::without(service, writer, left_out, 1, STATES_WITHOUT))
    });
    for said in at_once(left_out.collect(), |job| job.run())? {
        println!("ok      {said}");
    }
    Ok("no state of a process lost anything, and every sync that was left out was missed".into())
}

/// A few states of each service, and of one of them after a cut.
///
/// # Errors
/// As [`run`].
pub(crate) fn short() -> Result<String> {
    ensure_recordable()?;
    build()?;
    let said = at_once(short_jobs(), |job| job.run())?;
    Ok(said.join("; "))
}

fn short_jobs() -> Vec<Job> {
    let own = SERVICES.iter().map(|service| {
        let goes_on = service.short == GOES_ON_SHORT;
        let after_cut = if goes_on { STATES_AFTER_CUT_SHORT } else { 0 };
        let job = Job::new(service, &writer::own(service), 1, [STATES_SHORT, after_cut]);
        Job { writes: WRITES_SHORT, ..job }
    });
    own.collect()
}

/// Fails with the reason for which no process can be recorded here.
fn ensure_recordable() -> Result<()> {
    clients::need(&[(STRACE, STRACE)])?;
    let tried = Command::new(STRACE).args(["-f", "-o", "/dev/null", "true"]).output()?;
    let said = String::from_utf8_lossy(&tried.stderr);
    ensure!(
        tried.status.success(),
        "strace may not trace here (a container wants the capability SYS_PTRACE): {}",
        said.trim()
    );
    Ok(())
}

/// The program that makes the states; with the features of every other build, so that it shares theirs.
fn build() -> Result<()> {
    let features = features::local(None)?;
    let words = ["build", "--workspace", "--features", &features, "--locked", "--example", EXAMPLE];
    progress::build(&mut cargo(&words))
}

fn all_writers() -> Vec<(&'static Service, String)> {
    let of = |service| writer::all(service).into_iter().map(move |writer| (service, writer));
    SERVICES.iter().flat_map(of).collect()
}

fn jobs(asked: &Asked) -> Vec<Job> {
    let is_chosen =
        |service: &Service| asked.only.as_deref().is_none_or(|only| only == service.short);
    let mut jobs = Vec::new();
    for (service, writer) in all_writers().into_iter().filter(|(service, _)| is_chosen(service)) {
        if let Some(sync) = &asked.without {
            let (sync, tree, is_after_cut) = (sync.clone().into(), asked.tree, asked.after_cut);
            let left_out = LeftOut { sync, tree, is_after_cut };
            jobs.push(Job::without(service, &writer, left_out, asked.seed, asked.states));
            continue;
        }
        let recordings = asked.states.div_ceil(STATES_OF_RECORDING);
        jobs.extend((0..recordings).map(|number| {
            let states = STATES_OF_RECORDING.min(asked.states - number * STATES_OF_RECORDING);
            let after_cut = states / 2;
            let states = [states - after_cut, after_cut];
            // One in two is as the service is without the flag.
            let has_short_segments = number.is_multiple_of(2);
            let job = Job::new(service, &writer, asked.seed + number, states);
            Job { tree: asked.tree, has_short_segments, ..job }
        }));
    }
    jobs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(states: u64) -> Asked {
        Asked { states, only: None, tree: TREES[1], seed: 7, without: None, after_cut: false }
    }

    #[test]
    fn every_writer_has_its_states_in_recordings_of_other_seeds_half_of_them_after_a_cut() {
        let jobs = jobs(&asked(50));
        for (_, writer) in all_writers() {
            let own: Vec<_> = jobs.iter().filter(|job| job.writer == writer).collect();
            let states: Vec<_> = own.iter().map(|job| job.states).collect();
            assert_eq!(states, [[10, 10], [10, 10], [5, 5]]);
            assert_eq!(own.iter().map(|job| job.seed).collect::<Vec<_>>(), [7, 8, 9]);
            let short: Vec<_> = own.iter().map(|job| job.has_short_segments).collect();
            assert_eq!(short, [true, false, true]);
            assert!(own.iter().all(|job| job.tree == TREES[1]));
        }
        let mut names: Vec<_> = jobs.iter().map(Job::name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), jobs.len());
    }

    #[test]
    fn the_short_form_has_each_service_and_goes_on_with_one() {
        let jobs = short_jobs();
        assert_eq!(jobs.len(), SERVICES.len());
        let going_on = jobs.iter().filter(|job| job.states[1] > 0);
        assert_eq!(going_on.map(|job| job.service.short).collect::<Vec<_>>(), [GOES_ON_SHORT]);
    }

    #[test]
    fn each_sync_that_is_left_out_has_a_writer_and_a_name_of_its_own() {
        let writers = all_writers();
        let mut names = Vec::new();
        for (writer, left_out) in LEFT_OUT {
            let found = writers.iter().find(|(_, own)| own == writer);
            let (service, _) = found.unwrap_or_else(|| panic!("{writer}"));
            names.push(Job::without(service, writer, left_out, 1, 1).name());
        }
        names.sort();
        names.dedup();
        assert_eq!(names.len(), LEFT_OUT.len());
    }
}
