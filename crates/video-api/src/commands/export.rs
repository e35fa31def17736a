//! `export`: everything that a data directory holds, as a file.

use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use triptych_core::host::flags::Flags;
use triptych_core::host::storage;
use triptych_core::id::SystemIds;
use video_api::state::export::export;

use super::{at_path, file, progress, with_causes};

/// Writes what `data` holds to the file that the command names.
pub(super) fn run(flags: &Flags, data: &Path, matches: &ArgMatches) -> Result<String, String> {
    if !data.join("kv").is_dir() {
        return Err(format!("{} holds no data: name its directory with --data", data.display()));
    }
    let file = file(matches);
    let stores = storage::open(flags).map_err(|error| error.to_string())?;
    let bar = progress("rows written", 0);
    let write = |out: &mut dyn Write| {
        let (kv, blobs) = (&*stores.kv, &*stores.blobs);
        export(kv, blobs, &mut SystemIds, out, |rows| bar.set_position(rows)).map_err(with_causes)
    };
    if file.as_os_str() == "-" {
        let rows = write(&mut BufWriter::new(std::io::stdout().lock()))?;
        return Ok(format!("{rows} rows are written"));
    }
    // The file is whole or not there: it is written beside, and only its owner can read it, since it holds a signing key.
    let mut beside = file.clone().into_os_string();
    beside.push(".part");
    let beside = PathBuf::from(beside);
    let made = private_file(&beside).map_err(|error| at_path(&beside, &error))?;
    let outcome = write(&mut BufWriter::new(&made)).and_then(|rows| {
        made.sync_all().map_err(|error| at_path(&beside, &error))?;
        fs::rename(&beside, &file).map_err(|error| at_path(&file, &error))?;
        Ok(rows)
    });
    if outcome.is_err() {
        let _ = fs::remove_file(&beside);
    }
    outcome.map(|rows| format!("{rows} rows are in {}", file.display()))
}

fn private_file(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(true).write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path)
}
