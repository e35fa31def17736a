//! One recording of a service's process, that which goes on from a cut of it, and the looks at the states of both.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::TREES;
use crate::run::process::watch;
use crate::run::service::{Service, tail};
use crate::run::workspace::target;
use crate::run::{clients, writer};

/// The program that makes the states of a recording.
pub(super) const EXAMPLE: &str = "process_states";
/// Writes of each of the recorded lives.
const WRITES: u64 = 40;
/// Bytes of a file of the journal that is so short that each life has several, and bases of what they hold.
const SEGMENT_BYTES_SHORT: u64 = 16 * 1024;
/// States of a recording that is there for the one which goes on from it.
const STATES_BEFORE_CUT: u64 = 4;
/// The time that a recording, or the looks at its states, may take.
const LIMIT: Duration = Duration::from_secs(60 * 60);

/// A sync that is left out, and has to be missed.
#[derive(Debug, Clone)]
pub(super) struct LeftOut {
    pub(super) sync: Cow<'static, str>,
    pub(super) tree: &'static str,
    /// Set if it is left out of the recording that goes on from a cut alone.
    pub(super) is_after_cut: bool,
}

impl LeftOut {
    pub(super) const fn of(sync: &'static str, tree: &'static str) -> Self {
        Self { sync: Cow::Borrowed(sync), tree, is_after_cut: false }
    }

    pub(super) const fn after_cut(mut self) -> Self {
        self.is_after_cut = true;
        self
    }
}

/// Two recordings, the second of which begins on what a cut of the first left, and the states that are made of them.
#[derive(Debug, Clone)]
pub(super) struct Job {
    pub(super) service: &'static Service,
    pub(super) writer: String,
    pub(super) tree: &'static str,
    pub(super) has_short_segments: bool,
    pub(super) writes: u64,
    /// The states of each; without any of the second there is only the first.
    pub(super) states: [u64; 2],
    pub(super) seed: u64,
    pub(super) left_out: Option<LeftOut>,
}

impl Job {
    pub(super) fn new(
        service: &'static Service,
        writer: &str,
        seed: u64,
        states: [u64; 2],
    ) -> Self {
        Self {
            service,
            writer: writer.to_owned(),
            tree: TREES[0],
            has_short_segments: true,
            writes: WRITES,
            states,
            seed,
            left_out: None,
        }
    }

    pub(super) fn without(
        service: &'static Service,
        writer: &str,
        left_out: LeftOut,
        seed: u64,
        states: u64,
    ) -> Self {
        let own = if left_out.is_after_cut { [STATES_BEFORE_CUT, states] } else { [states, 0] };
        let tree = left_out.tree;
        Self { tree, left_out: Some(left_out), ..Self::new(service, writer, seed, own) }
    }

    /// The name of its logs, and of its failure.
    pub(super) fn name(&self) -> String {
        let left_out = self.left_out.iter().map(|left_out| {
            let when = if left_out.is_after_cut { "-after-cut" } else { "" };
            format!("-without-{}{when}", left_out.sync.replace(' ', "-"))
        });
        let left_out = left_out.collect::<String>();
        format!("process-{}-{}-{}{left_out}", self.writer, self.tree, self.seed)
    }

    /// Records, and looks at the states; recordings in which something was found are kept.
    pub(super) fn run(&self) -> Result<String> {
        let memory = Path::new(writer::MEMORY);
        let folder =
            if memory.is_dir() { tempfile::tempdir_in(memory)? } else { tempfile::tempdir()? };
        match self.explored(folder.path()) {
            Ok(said) => Ok(said),
            Err(found) => {
                let kept = folder.keep();
                Err(found).context(format!("the recording is kept in {}", kept.display()))
            }
        }
    }

    fn explored(&self, folder: &Path) -> Result<String> {
        let [first, second] = ["first", "second"].map(|name| folder.join(name));
        std::fs::create_dir(&first)?;
        let next = (self.states[1] > 0).then_some(&*second);
        let before = self.looked_at(&first, self.states[0], false, next)?;
        let on = format!("{} on {}", self.writer, self.tree);
        if next.is_none() {
            return Ok(format!("{on}, {before}"));
        }
        let after = self.looked_at(&second, self.states[1], true, None)?;
        Ok(format!("{on}, {before}; then {after}"))
    }

    /// Records in a folder, and looks at states of that, of which a cut is left in the folder of the next one.
    fn looked_at(
        &self,
        folder: &Path,
        states: u64,
        is_after_cut: bool,
        next: Option<&Path>,
    ) -> Result<String> {
        let which = if is_after_cut { "-after-cut" } else { "" };
        let mut record = Command::new(clients::python());
        record.args(self.script(folder, "record")).arg(self.writes.to_string());
        let recorded = self.watched(&mut record, &format!("record{which}"))?;
        let mut explore = Command::new(target().join("debug/examples").join(EXAMPLE));
        explore.arg(folder).args([states.to_string(), self.seed.to_string()]);
        let left_out = self.left_out.iter().find(|left_out| left_out.is_after_cut == is_after_cut);
        if let Some(left_out) = left_out {
            explore.args(["--without", &*left_out.sync]);
        }
        if let Some(next) = next {
            explore.arg("--leave").arg(next);
        }
        explore.arg(clients::python()).args(self.script(folder, "look"));
        let explored = self.watched(&mut explore, &format!("states{which}"))?;
        Ok(format!("{recorded}: {explored}"))
    }

    /// The writer's script, that records or looks.
    fn script(&self, folder: &Path, how: &str) -> [PathBuf; 3] {
        [writer::script(&self.writer), how.into(), folder.to_owned()]
    }

    fn watched(&self, command: &mut Command, how: &str) -> Result<String> {
        let log = target().join("xtask").join(format!("{}-{how}.log", self.name()));
        writer::tell(command, self.service);
        command.env(self.service.flag_variable("TREE"), self.tree);
        if self.has_short_segments {
            let bytes = SEGMENT_BYTES_SHORT.to_string();
            command.env(self.service.flag_variable("SEGMENT_BYTES"), bytes);
        }
        let ended = watch(command, &log, LIMIT, |_| {})?;
        if !ended.success {
            bail!("{} {how}{}", self.name(), tail(&log, 40));
        }
        Ok(ended.text.trim().to_owned())
    }
}
