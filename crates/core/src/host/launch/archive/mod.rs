//! `export` and `import`, of every service whose store has a form as lines.

mod file;
mod progress;
mod served_copy;

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Arg, ArgMatches, Command, value_parser};

use self::progress::{Amount, Progress};
use self::served_copy::ServedCopy;
use super::copies;
use super::flags::{Flags, Product};
use super::output_file::{OutputFile, replaced_by};
use super::staging_dir::StagingDir;
use super::storage::{self, Storage, StorageError};
use crate::archive::{ArchiveError, Checkpoint, Codec, End, Import, Watch, export, give_up};
use crate::id::SystemIds;
use crate::kv::{OpenError, end_filling};
use crate::time::{Clock as _, SystemClock};

/// Bytes of an archive between two checkpoints: what an interrupted import reads again at most.
const STEP_BYTES: u64 = 8 * 1024 * 1024;
/// Bytes that are read of a file at once.
const READ_BYTES: usize = 256 * 1024;

/// The archives of a service.
pub struct Archive {
    /// Its rows as lines.
    pub codec: &'static dyn Codec,
    /// The words after an export, beside the number of rows.
    pub exported: &'static str,
    /// The words after an import, beside the number of rows.
    pub imported: &'static str,
}

impl Archive {
    /// Adds the sub-commands.
    pub fn augment(command: Command) -> Command {
        let file = |help: &'static str| {
            let file = Arg::new("file").value_name("FILE").required(true);
            file.value_parser(value_parser!(PathBuf)).help(help)
        };
        command
            .subcommand(
                Command::new("export")
                    .about(
                        "Write everything that a data directory, also while it is served, or a shared store holds to a file",
                    )
                    .arg(file("The file; - for standard output")),
            )
            .subcommand(
                Command::new("import")
                    .about("Fill an empty data directory or an empty shared store with what export wrote, or go on with that")
                    .arg(file("The file; - for standard input")),
            )
    }

    /// Runs the sub-command of this name; `None` if it is none of these.
    pub fn run(&self, product: &Product, name: &str, matches: &ArgMatches) -> Option<ExitCode> {
        let work = match name {
            "export" => Self::export,
            "import" => Self::import,
            "verify" if !matches.contains_id("backup") => {
                return Some(copies::run_verify(product, self.codec, matches));
            }
            _ => return None,
        };
        let mut flags = Flags::from_matches(product, matches);
        flags.seed = None;
        let file = matches.get_one::<PathBuf>("file").cloned().unwrap_or_default();
        let done = match flags.data.clone() {
            None => Err("memory holds nothing: name a directory with --data".to_owned()),
            Some(data) => storage::check_service(&flags)
                .map_err(|error| error.to_string())
                .and_then(|()| work(self, &flags, &data, &file)),
        };
        let (code, line) = match done {
            Ok(done) => (ExitCode::SUCCESS, done),
            Err(why) => {
                (ExitCode::FAILURE, format!("{} {name}: {why}", self.codec.format().service))
            }
        };
        let _ = writeln!(std::io::stderr(), "{line}");
        Some(code)
    }

    /// Writes what `data` holds to a file.
    fn export(&self, flags: &Flags, data: &Path, file: &Path) -> Result<String, String> {
        check_outside(data, file)?;
        match storage::open_existing(flags) {
            Ok(stores) => self.write_out(&stores, file),
            Err(StorageError::KeyValue(OpenError::Locked { .. })) => {
                let copy = ServedCopy::take(flags, data, self.codec.format().service)?;
                let stores =
                    storage::open(&copy.flags(flags)).map_err(|error| error.to_string())?;
                self.write_out(&stores, file)
            }
            Err(error) => Err(error.to_string()),
        }
    }

    /// Writes what stores hold to a file.
    fn write_out(&self, stores: &Storage, file: &Path) -> Result<String, String> {
        let mut progress = Progress::new("written", Amount::default());
        let mut write = |out: &mut dyn Write| {
            let (kv, blobs) = (&*stores.kv, &*stores.blobs);
            let told = |rows, bytes| progress.show(Amount { rows, bytes });
            export(self.codec, kv, blobs, &mut SystemIds, out, told).map_err(with_causes)
        };
        if file.as_os_str() == "-" {
            let rows = write(&mut BufWriter::new(std::io::stdout().lock()))?;
            return Ok(format!("{rows} rows are written"));
        }
        // A file is whole or not there, and only its owner can read it, since there are secrets in it.
        let mut out = OutputFile::create(file, 0o600).map_err(|error| at_path(file, &error))?;
        let rows = write(&mut BufWriter::with_capacity(READ_BYTES, &mut out))?;
        out.finish().map_err(|error| at_path(file, &error))?;
        Ok(format!("{rows} rows are in {}{}", file.display(), self.exported))
    }

    /// Fills `data` from a file, or goes on with that.
    fn import(&self, flags: &Flags, data: &Path, file: &Path) -> Result<String, String> {
        let failed = |error| format!("{}: {}", file.display(), with_causes(error));
        if file.as_os_str() == "-" {
            let text = &mut BufReader::with_capacity(READ_BYTES, std::io::stdin().lock());
            return self.fill(flags, data, text, None, Amount::default(), &failed);
        }
        let mut opened = File::open(file).map_err(|error| at_path(file, &error))?;
        let bytes = opened.metadata().map_err(|error| at_path(file, &error))?.len();
        let end = file::end(&mut opened, bytes).map_err(|error| at_path(file, &error))?;
        let all = Amount { rows: end.as_ref().map_or(0, |end| end.rows), bytes };
        let text = &mut BufReader::with_capacity(READ_BYTES, opened);
        self.fill(flags, data, text, end, all, &failed)
    }

    fn fill(
        &self,
        flags: &Flags,
        data: &Path,
        text: &mut dyn BufRead,
        end: Option<End>,
        all: Amount,
        failed: &dyn Fn(ArchiveError) -> String,
    ) -> Result<String, String> {
        let (mut staging, note) = StagingDir::resumed(data)?;
        let from = note.map(|note| serde_json::from_slice::<Checkpoint>(&note)).transpose();
        let from = from.map_err(|error| at_path(staging.path(), &error.into()))?;
        let is_whole = from.as_ref().is_some_and(|from| from.is_whole);
        let given_up = format!(
            ". What was read is kept: run the same command with the file that it began with, or remove {} to give it up",
            staging.path().display()
        );
        let mut witness = Witness { staging: &mut staging, progress: Progress::new("read", all) };
        let mut place = data.display().to_string();
        let rows = match from {
            Some(from) if is_whole => {
                let is_other = end.is_some_and(|end| Some(end.sha256) != from.archive);
                if is_other {
                    return Err(failed(ArchiveError::OtherArchive) + &given_up);
                }
                from.rows
            }
            from => {
                if let Some(from) = &from {
                    witness.progress.go_on(Amount { rows: from.rows, bytes: from.bytes });
                }
                let stores = storage::open_import(witness.staging, flags, from.is_some())
                    .map_err(|error| error.to_string())?;
                let import = Import {
                    codec: self.codec,
                    store: &*stores.kv,
                    blobs: &*stores.blobs,
                    ids: &mut SystemIds,
                    now: SystemClock::new().now(),
                    from,
                    end,
                    step_bytes: STEP_BYTES,
                };
                if stores.is_shared() {
                    place = stores.place();
                }
                let is_new = import.from.is_none();
                let outcome = import.run(text, &mut witness);
                if is_new && matches!(outcome, Err(ArchiveError::Refused { .. })) {
                    // Any line of it may be wrong.
                    if stores.is_shared() {
                        give_up(self.codec, &*stores.kv, &*stores.blobs, &mut SystemIds)
                            .map_err(with_causes)?;
                        end_filling(&*stores.kv, &mut SystemIds)
                            .map_err(|error| error.to_string())?;
                    }
                    staging.forget();
                }
                outcome.map_err(|error| {
                    let kept = if staging.has_note() { given_up.as_str() } else { "" };
                    failed(error) + kept
                })?
            }
        };
        storage::filled(&staging, flags).map_err(|error| error.to_string())?;
        staging.publish(data)?;
        Ok(format!("{rows} rows are in {place}{}", self.imported))
    }
}

/// The witness of an import: it keeps the checkpoints beside the store, and shows how far it came.
struct Witness<'s> {
    staging: &'s mut StagingDir,
    progress: Progress,
}

impl Watch for Witness<'_> {
    fn progress(&mut self, rows: u64, bytes: u64) {
        self.progress.show(Amount { rows, bytes });
    }

    fn save(&mut self, checkpoint: &Checkpoint) -> std::io::Result<()> {
        self.staging.keep(&serde_json::to_vec(checkpoint)?)
    }
}

impl std::fmt::Debug for Archive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Archive").field(self.codec.format()).finish()
    }
}

/// Refuses an archive that would stand among the records or the bodies of what it is made of, or replace one of their files.
fn check_outside(data: &Path, file: &Path) -> Result<(), String> {
    let Some(target) = replaced_by(file).map_err(|error| at_path(file, &error))? else {
        return Ok(());
    };
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).canonicalize();
    let stores = ["kv", "blobs"].map(|store| data.join(store).canonicalize());
    let is_within =
        |folder: &PathBuf| stores.iter().flatten().any(|store| folder.starts_with(store));
    match folder.is_ok_and(|folder| is_within(&folder)) {
        true => Err(format!("{} is in the data directory: name a file beside it", file.display())),
        false => Ok(()),
    }
}

fn at_path(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

/// An error with what caused it.
fn with_causes(error: ArchiveError) -> String {
    match std::error::Error::source(&error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_never_stands_among_the_records_and_bodies_of_its_data_directory() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        for store in ["kv", "blobs/large"] {
            std::fs::create_dir_all(data.join(store)).unwrap();
        }
        std::fs::write(data.join("kv/format"), "6").unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("data/kv/format", &link).unwrap();
        for within in ["kv/format", "kv/new", "blobs/large/new", "kv/../blobs/new"] {
            assert!(check_outside(&data, &data.join(within)).is_err(), "{within}");
        }
        assert!(check_outside(&data, &link).is_err());
        for outside in ["data/export.jsonl", "export.jsonl", "kv"] {
            assert_eq!(check_outside(&data, &folder.path().join(outside)), Ok(()), "{outside}");
        }
        assert_eq!(check_outside(&data, Path::new("/dev/null")), Ok(()));
        assert_eq!(check_outside(&data, Path::new("-")), Ok(()));
    }
}
