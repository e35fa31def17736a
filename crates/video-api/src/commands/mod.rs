//! Sub-commands that work on a data directory whose server is stopped: `generate`, `export` and `import`.

mod external_sort;

use std::fs::{self, File, OpenOptions};
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Arg, ArgMatches, Command, value_parser};
use indicatif::{ProgressBar, ProgressStyle};
use sha2::{Digest, Sha256};
use triptych_core::host::flags::Flags;
use triptych_core::host::storage::{self, Storage};
use triptych_core::id::SystemIds;
use triptych_core::time::{Clock, SystemClock};
use video_api::state::generate::{Generator, Plan};
use video_api::state::load::Loader;
use video_api::state::{export::export, import::import};

use external_sort::Spill;

/// The directory within a data directory in which a new store is made. What it holds is nothing until it is moved out.
const STAGE: &str = ".filling";
/// The most that a store which is filled takes for its cache: its rows come in the order of their keys, so that none is looked at again.
const FILL_CACHE_BYTES: u64 = 256 * 1024 * 1024;

/// Adds the sub-commands.
pub(crate) fn augment(command: Command) -> Command {
    let file = |help: &'static str| {
        Arg::new("file")
            .value_name("FILE")
            .required(true)
            .value_parser(value_parser!(PathBuf))
            .help(help)
    };
    let count = |id: &'static str, default: &'static str, help: &'static str| {
        Arg::new(id)
            .long(id)
            .value_name("N")
            .value_parser(value_parser!(u64))
            .default_value(default)
            .help(help)
    };
    command
        .subcommand(
            Command::new("generate")
                .about("Fill an empty data directory with channels, videos and playlists")
                .arg(count("channels", "100", "How many channels"))
                .arg(count("videos", "10000", "How many videos, spread over the channels"))
                .arg(
                    // Its parser is that of the common flag of this name, which reads a file; here any text is a seed.
                    Arg::new("seed")
                        .long("seed")
                        .value_name("SEED")
                        .value_parser(value_parser!(PathBuf))
                        .default_value("1")
                        .help("What everything follows from: the same seed gives the same data"),
                ),
        )
        .subcommand(
            Command::new("export")
                .about(
                    "Write everything that a data directory holds to a file; its server is stopped",
                )
                .arg(file("The file; - for standard output")),
        )
        .subcommand(
            Command::new("import")
                .about("Fill an empty data directory with what export wrote")
                .arg(file("The file; - for standard input")),
        )
}

/// Runs the sub-command of this name; `None` if it is none of these.
pub(crate) fn run(name: &str, matches: &ArgMatches) -> Option<ExitCode> {
    let work = match name {
        "generate" => generate,
        "export" => write_out,
        "import" => read_in,
        _ => return None,
    };
    let mut flags = Flags::from_matches(matches);
    flags.seed = None;
    let Some(data) = flags.data.clone() else {
        return Some(refused(name, "memory holds nothing: name a directory with --data"));
    };
    Some(match work(&flags, &data, matches) {
        Ok(done) => {
            let _ = writeln!(std::io::stderr(), "{done}");
            ExitCode::SUCCESS
        }
        Err(why) => refused(name, &why),
    })
}

fn refused(name: &str, why: &str) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "video-api {name}: {why}");
    ExitCode::FAILURE
}

fn generate(flags: &Flags, data: &Path, matches: &ArgMatches) -> Result<String, String> {
    let number = |id| matches.get_one::<u64>(id).copied().unwrap_or_default();
    let plan = Plan { channels: number("channels"), videos: number("videos"), seed: seed(matches) };
    if plan.channels == 0 && plan.videos > 0 {
        return Err("videos need a channel: --channels 1 or more".to_owned());
    }
    let stage = Stage::new(data)?;
    let runs = stage.0.join("runs");
    fs::create_dir(&runs).map_err(|error| at(&runs, &error))?;
    let mut spill = Spill::new(runs.clone());
    let mut generator = Generator::new(plan);
    let bar = bar("made", plan.videos);
    while let Some(rows) = generator.part().map_err(said)? {
        spill.extend(rows).map_err(|error| at(&runs, &error))?;
        bar.set_position(generator.videos());
    }
    bar.finish_and_clear();
    let stores = stage.open(flags)?;
    let mut loader = Loader::new(&*stores.kv, &mut SystemIds);
    let mut merged = spill.merged().map_err(|error| at(&runs, &error))?;
    let bar = self::bar("rows stored", 0);
    while let Some((key, value)) = merged.next().map_err(|error| at(&runs, &error))? {
        loader.put(key, value).map_err(said)?;
        if loader.rows().is_multiple_of(10_000) {
            bar.set_position(loader.rows());
        }
    }
    let rows = loader.finish().map_err(said)?;
    bar.finish_and_clear();
    drop(stores);
    fs::remove_dir_all(&runs).map_err(|error| at(&runs, &error))?;
    stage.settle(data)?;
    Ok(format!(
        "{} channels and {} videos, {rows} rows, are in {}",
        plan.channels,
        plan.videos,
        data.display()
    ))
}

/// A number as it is, any other text by its digest.
fn seed(matches: &ArgMatches) -> u64 {
    let text = matches.get_one::<PathBuf>("seed");
    let text = text.map(|text| text.to_string_lossy()).unwrap_or_default();
    text.parse().unwrap_or_else(|_| {
        let digest = Sha256::digest(text.as_bytes());
        digest.first_chunk().map_or(0, |first| u64::from_be_bytes(*first))
    })
}

fn write_out(flags: &Flags, data: &Path, matches: &ArgMatches) -> Result<String, String> {
    if !data.join("kv").is_dir() {
        return Err(format!("{} holds no data: name its directory with --data", data.display()));
    }
    let file = file(matches);
    let stores = storage::open(flags).map_err(|error| error.to_string())?;
    let bar = bar("rows written", 0);
    let write = |out: &mut dyn Write| {
        let (kv, blobs) = (&*stores.kv, &*stores.blobs);
        export(kv, blobs, &mut SystemIds, out, |rows| bar.set_position(rows)).map_err(said)
    };
    if file.as_os_str() == "-" {
        let rows = write(&mut BufWriter::new(std::io::stdout().lock()))?;
        return Ok(format!("{rows} rows are written"));
    }
    // The file is whole or not there: it is written beside, and only its owner can read it, since it holds a signing key.
    let mut beside = file.clone().into_os_string();
    beside.push(".part");
    let beside = PathBuf::from(beside);
    let made = private_file(&beside).map_err(|error| at(&beside, &error))?;
    let outcome = write(&mut BufWriter::new(&made)).and_then(|rows| {
        made.sync_all().map_err(|error| at(&beside, &error))?;
        fs::rename(&beside, &file).map_err(|error| at(&file, &error))?;
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

fn read_in(flags: &Flags, data: &Path, matches: &ArgMatches) -> Result<String, String> {
    let file = file(matches);
    let stage = Stage::new(data)?;
    let stores = stage.open(flags)?;
    let bar = bar("rows read", 0);
    let read = |text: &mut dyn std::io::BufRead| {
        let (kv, blobs, now) = (&*stores.kv, &*stores.blobs, SystemClock::new().now());
        import(kv, blobs, &mut SystemIds, now, text, |rows| bar.set_position(rows))
            .map_err(|error| format!("{}: {}", file.display(), said(error)))
    };
    let rows = if file.as_os_str() == "-" {
        read(&mut BufReader::new(std::io::stdin().lock()))?
    } else {
        let opened = File::open(&file).map_err(|error| at(&file, &error))?;
        read(&mut BufReader::with_capacity(256 * 1024, opened))?
    };
    drop(stores);
    stage.settle(data)?;
    Ok(format!("{rows} rows are in {}", data.display()))
}

fn file(matches: &ArgMatches) -> PathBuf {
    matches.get_one::<PathBuf>("file").cloned().unwrap_or_default()
}

fn at(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

/// An error with what caused it.
fn said(error: impl std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

fn bar(what: &'static str, most: u64) -> ProgressBar {
    let bar = if most > 0 {
        let style =
            ProgressStyle::with_template("{bar:32} {human_pos}/{human_len} {msg}, {eta} left");
        ProgressBar::new(most).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
    } else {
        let style = ProgressStyle::with_template("{spinner} {human_pos} {msg}, {elapsed}");
        ProgressBar::new_spinner()
            .with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
    };
    bar.with_message(what)
}

/// A store that is being made within its data directory. Dropped before it is settled, it leaves nothing.
struct Stage(PathBuf);

impl Stage {
    /// A stage in `data`, which has to be empty or absent; what an interrupted run left in it is removed.
    fn new(data: &Path) -> Result<Self, String> {
        let stage = data.join(STAGE);
        match fs::remove_dir_all(&stage) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(at(&stage, &error));
            }
            _ => {}
        }
        fs::create_dir_all(data).map_err(|error| at(data, &error))?;
        let mut entries = fs::read_dir(data).map_err(|error| at(data, &error))?;
        if entries.next().is_some() {
            return Err(format!(
                "{} is not empty, and nothing is ever written over data: name another directory with --data",
                data.display()
            ));
        }
        fs::create_dir(&stage).map_err(|error| at(&stage, &error))?;
        Ok(Self(stage))
    }

    fn open(&self, flags: &Flags) -> Result<Storage, String> {
        let flags = Flags {
            data: Some(self.0.clone()),
            cache_bytes: flags.cache_bytes.min(FILL_CACHE_BYTES),
            ..flags.clone()
        };
        storage::open(&flags).map_err(|error| error.to_string())
    }

    /// Moves the finished store into its place. The records come last: without them a directory holds no store.
    fn settle(self, data: &Path) -> Result<(), String> {
        for name in ["blobs", "kv"] {
            let from = self.0.join(name);
            fs::rename(&from, data.join(name)).map_err(|error| at(&from, &error))?;
            sync(data).map_err(|error| at(data, &error))?;
        }
        Ok(())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn sync(directory: &Path) -> std::io::Result<()> {
    File::open(directory)?.sync_all()
}
