//! `export`: everything that a data directory holds, as a file; and `import`, a data directory from it.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use indicatif::{ProgressBar, ProgressStyle};
use object_put::maintenance::export::{ExportError, export, import};
use triptych_core::host::flags::Flags;
use triptych_core::host::launch::StagingDir;
use triptych_core::host::storage;
use triptych_core::id::SystemIds;
use triptych_core::time::{Clock as _, SystemClock};

/// Writes what `data` holds to the file that the command names.
pub(super) fn run(flags: &Flags, data: &Path, matches: &ArgMatches) -> Result<String, String> {
    if !data.join("kv").is_dir() {
        return Err(format!("{} holds no data: name its directory with --data", data.display()));
    }
    let file = file(matches);
    let stores = storage::open(flags).map_err(|error| error.to_string())?;
    let bar = progress("rows written");
    let write = |out: &mut dyn Write| {
        export(&*stores.kv, &*stores.blobs, out, |rows| bar.set_position(rows)).map_err(with_causes)
    };
    if file.as_os_str() == "-" {
        let rows = write(&mut BufWriter::new(std::io::stdout().lock()))?;
        return Ok(format!("{rows} rows are written"));
    }
    // The file is whole or not there: it is written beside, and only its owner can read it, since it holds the secrets of access keys.
    let mut beside = file.clone().into_os_string();
    beside.push(".part");
    let beside = PathBuf::from(beside);
    let made = private_file(&beside).map_err(|error| at_path(&beside, &error))?;
    let outcome = write(&mut BufWriter::with_capacity(256 * 1024, &made)).and_then(|rows| {
        made.sync_all().map_err(|error| at_path(&beside, &error))?;
        fs::rename(&beside, &file).map_err(|error| at_path(&file, &error))?;
        Ok(rows)
    });
    if outcome.is_err() {
        let _ = fs::remove_file(&beside);
    }
    let done = |rows| {
        format!(
            "{rows} rows are in {}. Its bodies open with the root keys of {} alone: keep a copy of them elsewhere",
            file.display(),
            data.display()
        )
    };
    outcome.map(done)
}

/// Fills `data` from the file that the command names.
pub(super) fn fill(flags: &Flags, data: &Path, matches: &ArgMatches) -> Result<String, String> {
    let file = file(matches);
    let staging = StagingDir::new(data)?;
    let stores = staging.open(flags)?;
    let bar = progress("rows read");
    let read = |text: &mut dyn BufRead| {
        let (kv, blobs, now) = (&*stores.kv, &*stores.blobs, SystemClock::new().now());
        import(kv, blobs, &mut SystemIds, now, text, |rows| bar.set_position(rows))
            .map_err(|error| format!("{}: {}", file.display(), with_causes(error)))
    };
    let rows = if file.as_os_str() == "-" {
        read(&mut BufReader::new(std::io::stdin().lock()))?
    } else {
        let opened = File::open(&file).map_err(|error| at_path(&file, &error))?;
        read(&mut BufReader::with_capacity(256 * 1024, opened))?
    };
    drop(stores);
    staging.publish(data)?;
    Ok(format!(
        "{rows} rows are in {}. Put the file root-key of the exported store there, or start with --root-key-file",
        data.display()
    ))
}

fn file(matches: &ArgMatches) -> PathBuf {
    matches.get_one::<PathBuf>("file").cloned().unwrap_or_default()
}

fn private_file(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(true).write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path)
}

fn at_path(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

/// An error with what caused it.
fn with_causes(error: ExportError) -> String {
    match std::error::Error::source(&error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

fn progress(what: &'static str) -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {human_pos} {msg}, {elapsed}");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner());
    ProgressBar::new_spinner().with_style(style).with_message(what)
}
