//! The services as whole processes, the files of sled included: `strace` records every call of a real binary under load, over a kill, a stop and another
//! kill, and the binary is started on states that a kill or a power cut could have left at any of these calls. Part of `cargo xtask crash`, driven by
//! `crates/core/examples/process_states.rs` and by the writers of `tests/crash`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::run::at_once::at_once;
use crate::run::process::{has, watch};
use crate::run::progress;
use crate::run::service::{SERVICES, Service, tail};
use crate::run::workspace::{cargo, target};
use crate::run::{clients, features, writer};
use crate::task::e2e;

/// The program that records.
const STRACE: &str = "strace";
/// Writes of each of the recorded lives.
const WRITES: u64 = 40;
/// The same in the short form, and its states of each service.
const WRITES_SHORT: u64 = 8;
const STATES_SHORT: u64 = 4;
/// The states of each writer in the full form.
const STATES_FULL: u64 = 40;
/// States of one recording: there are several of a writer.
const STATES_OF_RECORDING: u64 = 20;
/// States within which a sync that is left out has to be missed.
const STATES_WITHOUT: u64 = 200;
/// Syncs that are left out in the full form, by the writer that misses them: those of the files and of the directories of every service.
const LEFT_OUT: [(&str, &str); 4] = [
    ("object_put", "a group of the journal"),
    ("object_put", "a pack of bodies"),
    ("object_put", "the name of a pack of bodies"),
    ("video_api", "a group of the journal"),
];
/// The time that a recording, or the looks at its states, may take.
const LIMIT: Duration = Duration::from_secs(60 * 60);

/// The states that are asked for.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// States of each writer.
    pub states: u64,
    /// One service alone.
    pub only: Option<String>,
    /// The seed of the first recording.
    pub seed: u64,
    /// The sync that is left out of the recording, and has to be missed.
    pub without: Option<String>,
}

/// Builds, and looks at so many states of each writer's process.
///
/// # Errors
/// Whatever was found, or that nothing can be recorded here.
pub(crate) fn run(asked: &Asked) -> Result<()> {
    if let Some(why) = hindrance() {
        bail!("not run: {why}");
    }
    e2e::build()?;
    clients::install()?;
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

/// The full form, of `soak`: states of every writer, and syncs that are left out.
///
/// # Errors
/// As [`run`].
pub(crate) fn full() -> Result<String> {
    run(&Asked { states: STATES_FULL, only: None, seed: 1, without: None })?;
    let left_out = LEFT_OUT.iter().filter_map(|(writer, sync)| {
        let (service, _) = all_writers().into_iter().find(|(_, own)| own == writer)?;
        Some(Job::without(service, writer, sync, 1, STATES_WITHOUT))
    });
    for said in at_once(left_out.collect(), |job| job.run())? {
        println!("ok      {said}");
    }
    Ok("no state of a process lost anything, and every sync that was left out was missed".into())
}

/// A few states of each service; where nothing can be recorded, that.
///
/// # Errors
/// Whatever was found.
pub(crate) fn short() -> Result<String> {
    if let Some(why) = hindrance() {
        return Ok(format!("states of whole processes NOT RUN: {why}"));
    }
    build()?;
    let own = SERVICES.iter().map(|service| Job {
        writes: WRITES_SHORT,
        ..Job::new(service, &writer::own(service), 1, STATES_SHORT)
    });
    let said = at_once(own.collect(), |job| job.run())?;
    Ok(said.join("; "))
}

/// The reason for which no process can be recorded here, if there is one.
fn hindrance() -> Option<String> {
    if !has(STRACE) {
        return Some("strace is not installed (apt-get install strace)".into());
    }
    let tried = Command::new(STRACE).args(["-f", "-o", "/dev/null", "true"]).output();
    match tried {
        Ok(tried) if tried.status.success() => None,
        Ok(tried) => {
            Some(format!("strace may not: {}", String::from_utf8_lossy(&tried.stderr).trim()))
        }
        Err(error) => Some(format!("strace does not start: {error}")),
    }
}

/// The program that makes the states; with the features of every other build, so that it shares theirs.
fn build() -> Result<()> {
    let features = features::local(None)?;
    let words = ["build", "--workspace", "--features", &features, "--locked", "--example", EXAMPLE];
    progress::build(&mut cargo(&words))
}

const EXAMPLE: &str = "process_states";

/// One recording, and the states that are made of it.
#[derive(Debug, Clone)]
struct Job {
    service: &'static Service,
    writer: String,
    writes: u64,
    states: u64,
    seed: u64,
    without: Option<String>,
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
            jobs.push(Job::without(service, &writer, sync, asked.seed, asked.states));
            continue;
        }
        let recordings = asked.states.div_ceil(STATES_OF_RECORDING);
        jobs.extend((0..recordings).map(|number| {
            let states = STATES_OF_RECORDING.min(asked.states - number * STATES_OF_RECORDING);
            Job::new(service, &writer, asked.seed + number, states)
        }));
    }
    jobs
}

impl Job {
    fn new(service: &'static Service, writer: &str, seed: u64, states: u64) -> Self {
        Self { service, writer: writer.to_owned(), writes: WRITES, states, seed, without: None }
    }

    fn without(
        service: &'static Service,
        writer: &str,
        sync: &str,
        seed: u64,
        states: u64,
    ) -> Self {
        Self { without: Some(sync.to_owned()), ..Self::new(service, writer, seed, states) }
    }

    /// The name of its logs, and of its failure.
    fn name(&self) -> String {
        let left_out =
            self.without.iter().map(|sync| format!("-without-{}", sync.replace(' ', "-")));
        format!("process-{}-{}{}", self.writer, self.seed, left_out.collect::<String>())
    }

    /// Records, and looks at the states; a recording in which something was found is kept.
    fn run(&self) -> Result<String> {
        let memory = Path::new(writer::MEMORY);
        let folder =
            if memory.is_dir() { tempfile::tempdir_in(memory)? } else { tempfile::tempdir()? };
        let recorded = self.looker(folder.path(), "record");
        let mut record = Command::new(clients::python());
        record.args(recorded).arg(self.writes.to_string());
        self.watched(&mut record, "record")?;
        let mut explore = Command::new(target().join("debug/examples").join(EXAMPLE));
        explore.arg(folder.path()).args([self.states.to_string(), self.seed.to_string()]);
        if let Some(sync) = &self.without {
            explore.args(["--without", sync]);
        }
        explore.arg(clients::python()).args(self.looker(folder.path(), "look"));
        match self.watched(&mut explore, "states") {
            Ok(said) => Ok(format!("{}: {said}", self.writer)),
            Err(found) => {
                let kept = folder.keep();
                Err(found).context(format!("the recording is kept in {}", kept.display()))
            }
        }
    }

    /// The writer's script, that records or looks.
    fn looker(&self, folder: &Path, how: &str) -> [PathBuf; 3] {
        [writer::script(&self.writer), how.into(), folder.to_owned()]
    }

    fn watched(&self, command: &mut Command, how: &str) -> Result<String> {
        let log = target().join("xtask").join(format!("{}-{how}.log", self.name()));
        writer::tell(command, self.service);
        let ended = watch(command, &log, LIMIT, |_| {})?;
        if !ended.success {
            bail!("{} {how}{}", self.name(), tail(&log, 40));
        }
        Ok(ended.text.trim().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_writer_has_its_states_in_recordings_of_other_seeds() {
        let asked = Asked { states: 50, only: None, seed: 7, without: None };
        let jobs = jobs(&asked);
        for (_, writer) in all_writers() {
            let own: Vec<_> = jobs.iter().filter(|job| job.writer == writer).collect();
            assert_eq!(own.iter().map(|job| job.states).collect::<Vec<_>>(), [20, 20, 10]);
            assert_eq!(own.iter().map(|job| job.seed).collect::<Vec<_>>(), [7, 8, 9]);
        }
        let mut names: Vec<_> = jobs.iter().map(Job::name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), jobs.len());
    }

    #[test]
    fn each_sync_that_is_left_out_has_a_writer() {
        let writers = all_writers();
        for (writer, _) in LEFT_OUT {
            assert!(writers.iter().any(|(_, own)| own == writer), "{writer}");
        }
    }
}
